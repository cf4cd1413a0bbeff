/* See nodes.h. */
#include "syntax/nodes.h"

const rs_syntax_type rs_type_none = {.kind = RS_TYPE_OTHER,
                                     .name = "",
                                     .size = -1,
                                     .align = -1,
                                     .plain = &rs_type_none,
                                     .count = -1};

const rs_syntax_declaration rs_declared_none = {.kind = RS_DECLARATION_OTHER,
                                                .name = "",
                                                .qualified = "",
                                                .written_type = "",
                                                .type = &rs_type_none};

bool rs_type_is_integer(const rs_syntax_type *type)
{
    return type->kind == RS_TYPE_BOOL || type->kind == RS_TYPE_INTEGER;
}

bool rs_type_is_unsigned(const rs_syntax_type *type)
{
    return rs_type_is_integer(type) && !type->is_signed;
}

bool rs_type_is_address(const rs_syntax_type *type)
{
    return type->kind == RS_TYPE_POINTER || type->kind == RS_TYPE_ARRAY;
}

bool rs_type_is_record(const rs_syntax_type *type)
{
    return type->kind == RS_TYPE_RECORD || type->kind == RS_TYPE_VECTOR;
}

bool rs_type_is_union(const rs_syntax_type *type)
{
    return type->kind == RS_TYPE_RECORD && type->declaration != NULL && type->declaration->is_union;
}

bool rs_type_is_fixed_array(const rs_syntax_type *type)
{
    return type->kind == RS_TYPE_ARRAY && type->count >= 0;
}

bool rs_type_is_pointer(const rs_syntax_type *type)
{
    return type->kind == RS_TYPE_POINTER || rs_type_is_fixed_array(type) ||
           (type->kind == RS_TYPE_ARRAY && type->is_unbounded);
}

const rs_syntax_type *rs_type_below(const rs_syntax_type *type)
{
    const bool leads =
        rs_type_is_address(type) || type->kind == RS_TYPE_REFERENCE || type->kind == RS_TYPE_VECTOR;
    return leads && type->of != NULL ? type->of : &rs_type_none;
}

const rs_syntax_type *rs_type_element(const rs_syntax_type *type)
{
    while (type->kind == RS_TYPE_ARRAY)
        type = rs_type_below(type);
    return type;
}

long long rs_type_bytes(const rs_syntax_type *type)
{
    return type->kind == RS_TYPE_FUNCTION ? 1 : type->size;
}

bool rs_type_is_plain(const rs_syntax_type *type)
{
    const rs_syntax_type *element = rs_type_element(type);
    if (element->kind == RS_TYPE_RECORD)
        return element->declaration != NULL && element->declaration->is_plain;
    return element->kind != RS_TYPE_OTHER && element->kind != RS_TYPE_REFERENCE &&
           element->kind != RS_TYPE_FUNCTION && element->kind != RS_TYPE_VOID;
}

bool rs_is_declared(const rs_syntax_declaration *declared, rs_syntax_declaration_kind kind)
{
    return declared != NULL && declared->kind == kind;
}

bool rs_is_variable(const rs_syntax_declaration *declared)
{
    return rs_is_declared(declared, RS_DECLARATION_VARIABLE) ||
           rs_is_declared(declared, RS_DECLARATION_PARAMETER);
}

const rs_syntax_type *rs_declared_type(const rs_syntax_declaration *declared)
{
    return declared == NULL || declared->type == NULL ? &rs_type_none : declared->type;
}

const rs_syntax_type *rs_result_type(const rs_syntax_declaration *function)
{
    const rs_syntax_type *type = rs_declared_type(function);
    return type->kind == RS_TYPE_FUNCTION && type->of != NULL ? type->of : &rs_type_none;
}

const rs_syntax_declaration *rs_parameter(const rs_syntax_declaration *function, int which)
{
    return which >= 0 && (size_t)which < function->parameter_count ? function->parameters[which]
                                                                   : &rs_declared_none;
}
