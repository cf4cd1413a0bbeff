/* What clang adds to an expression without a word in the source. */
#include "syntax/clang/expressions.h"

#include <ctype.h>
#include <string.h>

static bool is_number(const rs_syntax_type *type)
{
    return type->kind == RS_TYPE_INTEGER || type->kind == RS_TYPE_FLOAT ||
           type->kind == RS_TYPE_ENUM || type->kind == RS_TYPE_BOOL;
}

rs_syntax_conversion rs_find_conversion(const rs_syntax_type *from, const rs_syntax_type *to)
{
    const bool from_pointer = from->kind == RS_TYPE_POINTER || from->kind == RS_TYPE_NULLPTR;
    if (from == to)
        return RS_CONVERSION_NONE;
    if (to->kind == RS_TYPE_POINTER &&
        (from->kind == RS_TYPE_ARRAY || from->kind == RS_TYPE_FUNCTION))
        return RS_CONVERSION_DECAY;
    if (to->kind == RS_TYPE_BOOL && (is_number(from) || from_pointer))
        return RS_CONVERSION_TRUTH;
    if (is_number(from) && is_number(to))
        return RS_CONVERSION_ARITHMETIC;
    if (from_pointer && to->kind == RS_TYPE_POINTER)
        return RS_CONVERSION_POINTER;
    if ((is_number(from) && to->kind == RS_TYPE_POINTER) || (from_pointer && is_number(to)))
        return RS_CONVERSION_ADDRESS;
    if (from->kind == RS_TYPE_RECORD && to->kind == RS_TYPE_RECORD)
        return RS_CONVERSION_BASE;
    if (is_number(from) && to->kind == RS_TYPE_VECTOR)
        return RS_CONVERSION_SPLAT;
    if (from->kind == RS_TYPE_VECTOR && to->kind == RS_TYPE_VECTOR && from->size == to->size)
        return RS_CONVERSION_BITS;
    return RS_CONVERSION_OTHER;
}

/* The letters behind the vector, NULL where a macro hides them. */
static rs_syntax_node *read_swizzle(rs_syntax_reader *reader, CXCursor cursor,
                                    rs_syntax_node *vector)
{
    rs_syntax_node *node = rs_new_node(reader, RS_NODE_SWIZZLE, cursor);
    if (node == NULL || !rs_set_children(reader, node, &vector, 1))
        return NULL;
    node->is_arrow = vector->type->kind == RS_TYPE_POINTER;
    node->category = node->is_arrow ? RS_PLACE : vector->category;
    const rs_syntax_file *file = rs_file_of(reader, node->range);
    if (file == NULL || node->range.in_macro || vector->range.end >= node->range.end)
        return node;
    size_t begin = rs_skip_blanks(file, vector->range.end);
    const size_t sign = node->is_arrow ? 2 : 1;
    if (begin + sign <= file->size &&
        memcmp(file->text + begin, node->is_arrow ? "->" : ".", sign) == 0)
        begin = rs_skip_blanks(file, begin + sign);
    char letters[24];
    size_t count = 0;
    while (begin < node->range.end && count + 1 < sizeof letters &&
           isalnum((unsigned char)file->text[begin]))
        letters[count++] = file->text[begin++];
    letters[count] = '\0';
    if (count > 0 && begin == node->range.end)
        node->text = rs_syntax_copy(reader->tree, letters);
    return node;
}

/* OpenCL's v.xy and p->xy are unexposed as well. It ends behind the vector, and nothing else does.
 * Of equal types in a macro it could be a load: two of them above each other are a load of a
 * swizzle. */
static bool is_swizzle(rs_syntax_reader *reader, CXCursor cursor, CXCursor inner,
                       const rs_syntax_type *from, const rs_syntax_type *to)
{
    if (reader->is_cplusplus || from == NULL || to == NULL)
        return false;
    const CXSourceRange all = clang_getCursorExtent(cursor), part = clang_getCursorExtent(inner);
    const bool is_arrow =
        from->kind == RS_TYPE_POINTER && from->of != NULL && from->of->kind == RS_TYPE_VECTOR;
    if (from->kind != RS_TYPE_VECTOR && !is_arrow)
        return false;
    if (all.end_int_data != part.end_int_data)
        return true;
    return !is_arrow && to->plain != from->plain &&
           !(to->kind == RS_TYPE_VECTOR && to->size == from->size && to->count == from->count);
}

static rs_syntax_node *wrap(rs_syntax_reader *reader, CXCursor cursor, rs_syntax_node *value,
                            rs_syntax_conversion conversion, rs_syntax_category category)
{
    rs_syntax_node *node = rs_new_node(reader, RS_NODE_IMPLICIT, cursor);
    if (node == NULL || !rs_set_children(reader, node, &value, 1))
        return NULL;
    node->conversion = conversion;
    node->category = category;
    return node;
}

static rs_syntax_node *read_wrapper(rs_syntax_reader *reader, CXCursor cursor, CXCursor inner,
                                    bool is_bound)
{
    const rs_syntax_type *to = rs_read_type(reader, clang_getCursorType(cursor));
    rs_syntax_node *value = rs_read_expression(reader, inner, is_bound);
    if (value == NULL)
        return NULL;
    const rs_syntax_type *from = value->type;
    if (from == NULL || to == NULL)
        return rs_read_unknown(reader, cursor);
    if (is_swizzle(reader, cursor, inner, from, to))
        return read_swizzle(reader, cursor, value);
    const bool is_place = value->category == RS_PLACE || value->category == RS_TEMPORARY;
    rs_syntax_conversion conversion = rs_find_conversion(from->plain, to->plain);
    if (conversion == RS_CONVERSION_POINTER && from->of != NULL && to->of != NULL &&
        from->of->kind == RS_TYPE_RECORD && to->of->kind == RS_TYPE_RECORD &&
        from->of->plain != to->of->plain)
        conversion = RS_CONVERSION_BASE;
    if (conversion != RS_CONVERSION_NONE)
        return wrap(reader, cursor, value, conversion,
                    conversion == RS_CONVERSION_BASE ? value->category : RS_VALUE);
    if (is_place && (to->is_const > from->is_const || to->is_volatile > from->is_volatile))
        return wrap(reader, cursor, value, RS_CONVERSION_QUALIFY, value->category);
    if (is_place && !(is_bound && !from->is_volatile))
        return wrap(reader, cursor, value, RS_CONVERSION_LOAD, RS_VALUE);
    if (!is_place && is_bound && reader->is_cplusplus && to->kind != RS_TYPE_VOID)
        return wrap(reader, cursor, value, RS_CONVERSION_TEMPORARY, RS_TEMPORARY);
    return value; /* the end of a full expression, or of a temporary's life */
}

static rs_syntax_node *read_designated(rs_syntax_reader *reader, CXCursor cursor, CXCursor value)
{
    rs_syntax_node *node = rs_new_node(reader, RS_NODE_DESIGNATED, cursor), *read = NULL;
    size_t count = 0;
    rs_cursors all = rs_cursors_all(reader, cursor);
    for (size_t i = 0; node != NULL && i < all.count; i++)
        if (clang_getCursorKind(all.at[i]) == CXCursor_MemberRef && count++ == 0)
            node->declaration = rs_read_declaration(reader, clang_getCursorReferenced(all.at[i]));
    rs_cursors_free(&all);
    if (node == NULL || count != 1)
        return rs_read_unknown(reader, cursor);
    read = rs_read_expression(reader, value, false);
    node->type = node->declaration == NULL ? NULL : node->declaration->type;
    return rs_set_children(reader, node, &read, 1) ? node : NULL;
}

rs_syntax_node *rs_read_unexposed(rs_syntax_reader *reader, CXCursor cursor,
                                  const rs_cursors *below, bool is_bound)
{
    if (below->count == 0) {
        rs_syntax_node *node = rs_new_node(reader, RS_NODE_ZERO, cursor);
        if (node != NULL)
            node->category = RS_VALUE;
        return node;
    }
    if (below->count > 1)
        return rs_read_unknown(reader, cursor);
    const CXType type = clang_getCursorType(cursor);
    if (type.kind == CXType_Void && clang_getCursorType(below->at[0]).kind != CXType_Void)
        return read_designated(reader, cursor, below->at[0]);
    return read_wrapper(reader, cursor, below->at[0], is_bound);
}

/* --- constants --- */

static bool has_constant_parts(const rs_syntax_node *node)
{
    switch (node->kind) {
    case RS_NODE_LITERAL:
    case RS_NODE_SIZEOF:
        return true;
    case RS_NODE_IMPLICIT:
        if (node->conversion == RS_CONVERSION_LOAD && node->children[0]->kind == RS_NODE_REFERENCE)
            return node->children[0]->type != NULL && node->children[0]->type->is_const &&
                   !node->children[0]->type->is_volatile &&
                   node->children[0]->declaration->kind == RS_DECLARATION_VARIABLE;
        break;
    case RS_NODE_PAREN:
    case RS_NODE_UNARY:
    case RS_NODE_BINARY:
    case RS_NODE_CONDITIONAL:
    case RS_NODE_CAST:
        break;
    default:
        return false;
    }
    for (size_t i = 0; i < node->child_count; i++)
        if (node->children[i]->constant.kind == RS_NO_CONSTANT)
            return false;
    return true;
}

void rs_read_constant(rs_syntax_reader *reader, rs_syntax_node *node, CXCursor cursor)
{
    (void)reader;
    if (node->category != RS_VALUE || node->type == NULL || !is_number(node->type) ||
        node->constant.kind != RS_NO_CONSTANT || !has_constant_parts(node))
        return;
    CXEvalResult result = clang_Cursor_Evaluate(cursor);
    if (result == NULL)
        return;
    switch (clang_EvalResult_getKind(result)) {
    case CXEval_Int:
        node->constant.kind = RS_CONSTANT_INTEGER;
        node->constant.integer = clang_EvalResult_isUnsignedInt(result) != 0
                                     ? (long long)clang_EvalResult_getAsUnsigned(result)
                                     : clang_EvalResult_getAsLongLong(result);
        break;
    case CXEval_Float:
        node->constant.kind = RS_CONSTANT_REAL;
        node->constant.real = clang_EvalResult_getAsDouble(result);
        break;
    default:
        break;
    }
    clang_EvalResult_dispose(result);
}
