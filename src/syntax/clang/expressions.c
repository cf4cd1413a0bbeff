/*
 * Expressions. clang's implicit nodes are "unexposed" in libclang, each with its type: what one
 * does follows from that type and from what is below it (conversions.c).
 */
#include "syntax/clang/expressions.h"

#include "syntax/clang/describe.h"

#include <stdlib.h>
#include <string.h>

/* Expressions that are read by their kind alone. */
static const struct {
    enum CXCursorKind clang;
    rs_syntax_node_kind kind;
    size_t least, most;
} kinds[] = {
    {CXCursor_CXXThisExpr, RS_NODE_THIS, 0, 0},
    {CXCursor_UnaryExpr, RS_NODE_SIZEOF, 0, 9},
    {CXCursor_SizeOfPackExpr, RS_NODE_SIZEOF, 0, 9},
    {CXCursor_InitListExpr, RS_NODE_LIST, 0, (size_t)-1},
    {CXCursor_CompoundLiteralExpr, RS_NODE_CAST, 1, 1},
    {CXCursor_StmtExpr, RS_NODE_STATEMENTS, 1, 1},
    {CXCursor_CXXNewExpr, RS_NODE_NEW, 0, (size_t)-1},
    {CXCursor_CXXDeleteExpr, RS_NODE_DELETE, 1, 1},
    {CXCursor_ArraySubscriptExpr, RS_NODE_SUBSCRIPT, 2, 2},
    {CXCursor_ConditionalOperator, RS_NODE_CONDITIONAL, 3, 3},
    {CXCursor_ParenExpr, RS_NODE_PAREN, 1, 1},
    {CXCursor_UnaryOperator, RS_NODE_UNARY, 1, 1},
    {CXCursor_BinaryOperator, RS_NODE_BINARY, 2, 2},
    {CXCursor_CompoundAssignOperator, RS_NODE_ASSIGN, 2, 2},
    {CXCursor_CStyleCastExpr, RS_NODE_CAST, 1, 9},
    {CXCursor_CXXFunctionalCastExpr, RS_NODE_CAST, 1, 1},
    {CXCursor_CXXStaticCastExpr, RS_NODE_CAST, 1, 1},
    {CXCursor_CXXReinterpretCastExpr, RS_NODE_CAST, 1, 1},
    {CXCursor_CXXConstCastExpr, RS_NODE_CAST, 1, 1},
    {CXCursor_CXXDynamicCastExpr, RS_NODE_CAST, 1, 1},
    {CXCursor_CXXAddrspaceCastExpr, RS_NODE_CAST, 1, 1},
};

bool rs_read_children(rs_syntax_reader *reader, rs_syntax_node *node, const rs_cursors *below)
{
    rs_syntax_node **children = calloc(below->count + 1, sizeof(rs_syntax_node *));
    reader->tree->out_of_memory |= children == NULL;
    if (children == NULL)
        return false;
    for (size_t i = 0; i < below->count; i++)
        children[i] = clang_isExpression(clang_getCursorKind(below->at[i])) != 0
                          ? rs_read_expression(reader, below->at[i], false)
                          : rs_read_statement(reader, below->at[i]);
    const bool is_set = rs_set_children(reader, node, children, below->count);
    free(children);
    return is_set;
}

/* --- names and members --- */

static rs_syntax_node *read_reference(rs_syntax_reader *reader, CXCursor cursor,
                                      const rs_cursors *below, bool is_bound)
{
    const CXCursor target = clang_getCursorReferenced(cursor);
    const enum CXCursorKind kind = clang_getCursorKind(target);
    const bool is_named = clang_Cursor_isNull(target) == 0 && clang_isInvalid(kind) == 0 &&
                          kind != CXCursor_NonTypeTemplateParameter;
    if (!is_named && below->count == 1) { /* what a template's parameter stands for */
        rs_syntax_node *node = rs_read_expression(reader, below->at[0], is_bound);
        if (node != NULL)
            node->range = rs_read_range(reader, clang_getCursorExtent(cursor));
        return node;
    }
    rs_syntax_declaration *declaration = rs_read_declaration(reader, target);
    rs_syntax_node *node = rs_new_node(reader, RS_NODE_REFERENCE, cursor);
    if (node == NULL || declaration == NULL)
        return rs_read_unknown(reader, cursor);
    node->declaration = declaration;
    node->category = declaration->kind == RS_DECLARATION_ENUMERATOR ? RS_VALUE : RS_PLACE;
    if (declaration->kind == RS_DECLARATION_ENUMERATOR)
        node->constant = declaration->value;
    return node;
}

rs_syntax_node *rs_read_this(rs_syntax_reader *reader, CXCursor cursor)
{
    rs_syntax_node *node = rs_new_node(reader, RS_NODE_THIS, cursor);
    if (node == NULL)
        return NULL;
    node->range.end = node->range.begin;
    node->type = NULL;
    node->category = RS_VALUE;
    return node;
}

rs_syntax_node *rs_read_object(rs_syntax_reader *reader, CXCursor cursor)
{
    const bool is_pointer =
        clang_getCanonicalType(clang_getCursorType(cursor)).kind == CXType_Pointer;
    return rs_read_expression(reader, cursor, !is_pointer);
}

/* The fields of blockIdx and its kin are properties in clang's own header; what is written behind
 * the dot names them. */
static const char *read_property(rs_syntax_reader *reader, const rs_syntax_node *node)
{
    const rs_syntax_file *file = rs_file_of(reader, node->range);
    if (file == NULL || node->range.in_macro || node->range.end == 0)
        return NULL;
    const char name[2] = {file->text[node->range.end - 1], '\0'};
    return strchr("xyz", name[0]) != NULL ? rs_syntax_copy(reader->tree, name) : NULL;
}

/* The way from a record to one that lies in it without a name: the fields, the last one first. */
static size_t find_anonymous(const rs_syntax_declaration *from, const rs_syntax_declaration *to,
                             const rs_syntax_declaration **path, size_t limit)
{
    for (size_t i = 0; limit > 0 && i < from->field_count; i++) {
        const rs_syntax_declaration *field = from->fields[i];
        if (field->name[0] != '\0' || field->type == NULL || field->type->declaration == NULL)
            continue;
        size_t count = 0;
        if (field->type->declaration == to ||
            (count = find_anonymous(field->type->declaration, to, path, limit - 1)) > 0) {
            path[count] = field;
            return count + 1;
        }
    }
    return 0;
}

/* libclang does not show the members without a name that lie between an object and its member. */
static rs_syntax_node *add_anonymous(rs_syntax_reader *reader, rs_syntax_node *member)
{
    const rs_syntax_declaration *path[8];
    rs_syntax_node *object = member->children[0];
    const rs_syntax_type *type = object->type;
    if (member->is_arrow && type != NULL)
        type = type->of;
    const rs_syntax_declaration *from = type != NULL               ? type->declaration
                                        : reader->function != NULL ? reader->function->parent
                                                                   : NULL;
    const rs_syntax_declaration *to = member->declaration->parent;
    if (from == NULL || to == NULL || from == to)
        return member;
    for (size_t count = find_anonymous(from, to, path, 8); count > 0; count--) {
        rs_syntax_node *node = rs_syntax_allocate(reader->tree, sizeof *node);
        if (node == NULL || !rs_set_children(reader, node, &object, 1))
            return NULL;
        node->kind = RS_NODE_MEMBER;
        node->category = member->category;
        node->is_arrow = member->is_arrow;
        node->declaration = path[count - 1];
        node->type = path[count - 1]->type;
        node->range = object->range;
        member->is_arrow = false;
        object = node;
    }
    return rs_set_children(reader, member, &object, 1) ? member : NULL;
}

static rs_syntax_node *read_member(rs_syntax_reader *reader, CXCursor cursor,
                                   const rs_cursors *below, bool is_bound)
{
    const CXCursor target = clang_getCursorReferenced(cursor);
    const enum CXCursorKind kind = clang_getCursorKind(target);
    if (kind == CXCursor_VarDecl || kind == CXCursor_EnumConstantDecl ||
        kind == CXCursor_CXXMethod || kind == CXCursor_FunctionDecl)
        return read_reference(reader, cursor, below, is_bound);
    rs_syntax_node *node = rs_new_node(reader, RS_NODE_MEMBER, cursor);
    if (node == NULL || below->count > 1)
        return rs_read_unknown(reader, cursor);
    node->declaration = rs_read_declaration(reader, target);
    rs_syntax_node *object =
        below->count == 1 ? rs_read_object(reader, below->at[0]) : rs_read_this(reader, cursor);
    if (object == NULL || !rs_set_children(reader, node, &object, 1))
        return NULL;
    node->is_arrow =
        below->count == 0 || (object->type != NULL && object->type->kind == RS_TYPE_POINTER);
    node->category =
        node->is_arrow || (node->declaration != NULL && node->declaration->type != NULL &&
                           node->declaration->type->kind == RS_TYPE_REFERENCE)
            ? RS_PLACE
            : object->category;
    if (node->declaration == NULL) {
        node->text = read_property(reader, node);
        node->category = RS_VALUE;
        if (node->text == NULL)
            return rs_read_unknown(reader, cursor);
        return node;
    }
    return add_anonymous(reader, node);
}

/* --- operators --- */

/* What the children say of an operator: its category, and whether it assigns. */
static void finish_operator(rs_syntax_reader *reader, rs_syntax_node *node, CXCursor cursor)
{
    const rs_syntax_node *first = node->children[0];
    if (node->kind == RS_NODE_UNARY) {
        const enum CXUnaryOperatorKind kind = clang_getCursorUnaryOperatorKind(cursor);
        node->symbol = rs_cursor_symbol(cursor);
        node->is_postfix = kind == CXUnaryOperator_PostInc || kind == CXUnaryOperator_PostDec;
        const bool is_step = kind == CXUnaryOperator_PreInc || kind == CXUnaryOperator_PreDec;
        if (kind == CXUnaryOperator_Deref || (is_step && reader->is_cplusplus))
            node->category = RS_PLACE;
        else if (kind == CXUnaryOperator_Extension || kind == CXUnaryOperator_Real ||
                 kind == CXUnaryOperator_Imag)
            node->category = first->category;
        return;
    }
    const enum CXBinaryOperatorKind kind = clang_getCursorBinaryOperatorKind(cursor);
    node->symbol = rs_cursor_symbol(cursor);
    if (kind >= CXBinaryOperator_Assign && kind != CXBinaryOperator_Comma) {
        node->kind = RS_NODE_ASSIGN;
        node->category = reader->is_cplusplus ? RS_PLACE : RS_VALUE;
    } else if (kind == CXBinaryOperator_Comma && reader->is_cplusplus) {
        node->category = node->children[1]->category;
    } else if (kind == CXBinaryOperator_PtrMemD || kind == CXBinaryOperator_PtrMemI) {
        node->category = RS_PLACE;
    }
}

/* libclang shows lists as they are written, without the loads of their values. */
static void load_values(rs_syntax_reader *reader, rs_syntax_node *list)
{
    for (size_t i = 0; i < list->child_count; i++) {
        rs_syntax_node *value = list->children[i];
        const rs_syntax_type *type = value->type;
        if (value->category == RS_VALUE || type == NULL || type->kind == RS_TYPE_RECORD ||
            type->kind == RS_TYPE_ARRAY || type->kind == RS_TYPE_FUNCTION)
            continue;
        rs_syntax_node *load = rs_syntax_allocate(reader->tree, sizeof *load);
        if (load == NULL || !rs_set_children(reader, load, &value, 1))
            return;
        load->kind = RS_NODE_IMPLICIT;
        load->conversion = RS_CONVERSION_LOAD;
        load->category = RS_VALUE;
        load->type = type->plain;
        load->range = value->range;
        ((rs_syntax_node **)list->children)[i] = load;
    }
}

static void finish_cast(rs_syntax_node *node)
{
    const rs_syntax_node *value = node->children[0];
    if (value->type == NULL || node->type == NULL)
        return;
    /* A value is loaded before it is cast: a place below is cast as one. */
    if (value->category == RS_PLACE && node->type->kind != RS_TYPE_VOID &&
        value->kind != RS_NODE_LIST) {
        node->conversion = RS_CONVERSION_REFERENCE;
        node->category = RS_PLACE;
    } else {
        node->conversion = rs_find_conversion(value->type->plain, node->type->plain);
    }
}

/* What follows from the children of a kind of the table. */
static void finish(rs_syntax_reader *reader, rs_syntax_node *node, CXCursor cursor)
{
    switch (node->kind) {
    case RS_NODE_SUBSCRIPT:
        node->category = RS_PLACE;
        break;
    case RS_NODE_CONDITIONAL:
        if (reader->is_cplusplus && node->children[1]->category == RS_PLACE &&
            node->children[2]->category == RS_PLACE)
            node->category = RS_PLACE;
        break;
    case RS_NODE_PAREN:
        node->category = node->children[0]->category;
        break;
    case RS_NODE_UNARY:
    case RS_NODE_BINARY:
    case RS_NODE_ASSIGN:
        finish_operator(reader, node, cursor);
        break;
    case RS_NODE_LIST:
        load_values(reader, node);
        break;
    case RS_NODE_CAST:
        finish_cast(node);
        break;
    default:
        break;
    }
}

static rs_syntax_node *read_listed(rs_syntax_reader *reader, CXCursor cursor,
                                   const rs_cursors *below)
{
    const enum CXCursorKind clang = clang_getCursorKind(cursor);
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
        if (kinds[i].clang != clang)
            continue;
        if (below->count < kinds[i].least || below->count > kinds[i].most)
            break;
        rs_syntax_node *node = rs_new_node(reader, kinds[i].kind, cursor);
        if (node == NULL)
            return NULL;
        node->category = RS_VALUE;
        if (node->kind == RS_NODE_SIZEOF)
            return node;
        rs_cursors parts = *below;
        if (clang == CXCursor_CStyleCastExpr) { /* behind the extents in its type */
            parts.at += parts.count - 1;
            parts.count = 1;
        }
        if (!rs_read_children(reader, node, &parts))
            return NULL;
        for (size_t k = 0; k < node->child_count; k++)
            if (node->children[k] == NULL)
                return NULL;
        finish(reader, node, cursor);
        return node;
    }
    return rs_read_unknown(reader, cursor);
}

/* --- the rest --- */

static rs_syntax_node *read_literal(rs_syntax_reader *reader, CXCursor cursor)
{
    rs_syntax_node *node = rs_new_node(reader, RS_NODE_LITERAL, cursor);
    if (node == NULL)
        return NULL;
    const bool is_string = clang_getCursorKind(cursor) == CXCursor_StringLiteral;
    node->category = is_string ? RS_PLACE : RS_VALUE;
    if (is_string)
        node->text = rs_read_string(reader, clang_getCursorSpelling(cursor));
    return node;
}

static rs_syntax_node *read_lambda(rs_syntax_reader *reader, CXCursor cursor)
{
    rs_syntax_node *node = rs_new_node(reader, RS_NODE_LAMBDA, cursor);
    if (node == NULL)
        return NULL;
    node->category = RS_VALUE;
    if (node->type != NULL)
        node->declaration = node->type->declaration;
    return node;
}

static rs_syntax_node *read_kind(rs_syntax_reader *reader, CXCursor cursor, const rs_cursors *below,
                                 bool is_bound)
{
    switch (clang_getCursorKind(cursor)) {
    case CXCursor_UnexposedExpr:
        return rs_read_unexposed(reader, cursor, below, is_bound);
    case CXCursor_DeclRefExpr:
        return read_reference(reader, cursor, below, is_bound);
    case CXCursor_MemberRefExpr:
        return read_member(reader, cursor, below, is_bound);
    case CXCursor_CallExpr:
        return rs_read_call(reader, cursor, below);
    case CXCursor_LambdaExpr:
        return read_lambda(reader, cursor);
    case CXCursor_IntegerLiteral:
    case CXCursor_FloatingLiteral:
    case CXCursor_CharacterLiteral:
    case CXCursor_StringLiteral:
    case CXCursor_CXXBoolLiteralExpr:
    case CXCursor_CXXNullPtrLiteralExpr:
    case CXCursor_GNUNullExpr:
        return read_literal(reader, cursor);
    default:
        return read_listed(reader, cursor, below);
    }
}

rs_syntax_node *rs_read_expression(rs_syntax_reader *reader, CXCursor cursor, bool is_bound)
{
    if (reader->depth >= RS_DEPTH_LIMIT)
        return rs_new_node(reader, RS_NODE_UNKNOWN, cursor);
    reader->depth++;
    rs_cursors below = rs_cursors_below(reader, cursor);
    rs_syntax_node *node = read_kind(reader, cursor, &below, is_bound);
    rs_cursors_free(&below);
    reader->depth--;
    if (node != NULL)
        rs_read_constant(reader, node, cursor);
    return node;
}
