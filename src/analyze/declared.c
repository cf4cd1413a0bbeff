/* See declared.h. */
#include "analyze/declared.h"

#include "analyze/symbols.h"
uint64_t rs_name_key(const char *name)
{
    return (rs_name_hash(name) & 0x7fffffffffffffffu) | (uint64_t)1 << 63;
}

uint64_t rs_declared_key(const rs_syntax_declaration *declared)
{
    return declared->is_main ? (uint64_t)declared->place & 0xffffffffu
                             : rs_name_key(declared->name);
}

bool rs_variable_lasts(const rs_syntax_declaration *declared)
{
    return rs_is_declared(declared, RS_DECLARATION_VARIABLE) &&
           (declared->is_static || declared->is_extern || declared->is_global);
}

bool rs_variable_is_constant(const rs_syntax_declaration *declared)
{
    const rs_syntax_type *type = rs_declared_type(declared);
    return type->is_const || type->space == RS_SYNTAX_SPACE_CONSTANT ||
           declared->space == RS_SYNTAX_SPACE_CONSTANT;
}

bool rs_variable_is_shared(const rs_syntax_declaration *declared)
{
    return declared->space == RS_SYNTAX_SPACE_SHARED &&
           rs_declared_type(declared)->space != RS_SYNTAX_SPACE_SHARED;
}

bool rs_variable_is_open(const rs_syntax_declaration *declared)
{
    const bool shared =
        !declared->is_global && !declared->is_extern && rs_variable_is_shared(declared);
    return rs_variable_lasts(declared) && !shared;
}
