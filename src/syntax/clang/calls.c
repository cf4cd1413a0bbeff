/* Calls: of functions, methods, operators, constructors and kernels. */
#include "syntax/clang/expressions.h"

#include <stdlib.h>
#include <string.h>

typedef struct {
    rs_syntax_reader *reader;
    CXCursor cursor;
    const rs_cursors *below;
    const rs_syntax_declaration *called; /* NULL through a pointer */
    CXCursor callee, configuration;      /* null cursors where there are none */
    int argument_count;
} call;

/* A written call has its arguments in the source; what has no place is a parameter's default. */
static rs_syntax_node *read_argument(const call *at, int which, size_t parameter)
{
    const CXCursor argument = clang_Cursor_getArgument(at->cursor, (unsigned)which);
    const rs_syntax_declaration *called = at->called, *of = NULL;
    if (called != NULL && parameter < called->parameter_count)
        of = called->parameters[parameter];
    const bool is_reference = of != NULL && of->type != NULL && of->type->kind == RS_TYPE_REFERENCE;
    const CXSourceRange range = clang_getCursorExtent(argument);
    if (range.begin_int_data != 0 || of == NULL ||
        clang_getCursorKind(argument) != CXCursor_UnexposedExpr)
        return rs_read_expression(at->reader, argument, is_reference);
    rs_syntax_node *node = rs_new_node(at->reader, RS_NODE_DEFAULT_ARGUMENT, at->cursor);
    if (node == NULL)
        return NULL;
    node->declaration = of;
    node->type = of->type;
    node->category = RS_VALUE;
    return node;
}

static bool is_argument(const call *at, CXCursor child)
{
    for (int i = 0; i < at->argument_count; i++)
        if (clang_equalCursors(clang_Cursor_getArgument(at->cursor, (unsigned)i), child) != 0)
            return true;
    return false;
}

/* What is between <<< and >>> calls a function of the toolkit's. */
static bool is_configuration(CXCursor child)
{
    if (clang_getCursorKind(child) != CXCursor_CallExpr)
        return false;
    CXString name = clang_getCursorSpelling(child);
    const char *word = clang_getCString(name);
    const bool is =
        strcmp(word, "cudaConfigureCall") == 0 || strcmp(word, "__cudaPushCallConfiguration") == 0;
    clang_disposeString(name);
    return is;
}

/* Of a function, or a pointer to one. */
static bool has_function_type(CXCursor child)
{
    CXType type = clang_getCanonicalType(clang_getCursorType(child));
    if (type.kind == CXType_Pointer)
        type = clang_getCanonicalType(clang_getPointeeType(type));
    return type.kind == CXType_FunctionProto || type.kind == CXType_FunctionNoProto;
}

/* The left side of an operator stands before its name, and is no argument of clang's where it is
 * converted. */
static void find_parts(call *at)
{
    at->callee = at->configuration = clang_getNullCursor();
    for (size_t i = 0; i < at->below->count; i++) {
        const CXCursor child = at->below->at[i];
        if (is_argument(at, child))
            continue;
        if (is_configuration(child))
            at->configuration = child;
        else if (clang_Cursor_isNull(at->callee) != 0 ||
                 (!has_function_type(at->callee) && has_function_type(child)))
            at->callee = child;
    }
}

static rs_syntax_node *read_construct(call *at)
{
    rs_syntax_node *node = rs_new_node(at->reader, RS_NODE_CONSTRUCT, at->cursor);
    rs_syntax_node **children = calloc((size_t)at->argument_count + 1, sizeof(rs_syntax_node *));
    bool is_set = node != NULL && children != NULL;
    at->reader->tree->out_of_memory |= !is_set;
    for (int i = 0; is_set && i < at->argument_count; i++)
        is_set = (children[i] = read_argument(at, i, (size_t)i)) != NULL;
    is_set = is_set && rs_set_children(at->reader, node, children, (size_t)at->argument_count);
    free(children);
    if (!is_set)
        return NULL;
    node->declaration = at->called;
    node->category = RS_VALUE;
    return node;
}

/* `object.method`, in parentheses perhaps: the object; or NULL. */
static rs_syntax_node *read_object(const call *at, rs_syntax_node *node)
{
    CXCursor member = at->callee;
    rs_syntax_node *object = NULL;
    for (;;) {
        rs_cursors below = rs_cursors_below(at->reader, member);
        const bool is_member = clang_getCursorKind(member) == CXCursor_MemberRefExpr;
        const size_t count = below.count;
        if (is_member)
            object = count == 1 ? rs_read_object(at->reader, below.at[0])
                                : rs_read_this(at->reader, member);
        if (!is_member && count == 1)
            member = below.at[0];
        rs_cursors_free(&below);
        if (is_member) {
            node->is_arrow = count == 0 || (object != NULL && object->type != NULL &&
                                            object->type->kind == RS_TYPE_POINTER);
            return object;
        }
        if (count != 1)
            return NULL;
    }
}

static rs_syntax_category category_of(const call *at, const rs_syntax_node *callee)
{
    const rs_syntax_type *type = at->called != NULL ? at->called->type : NULL;
    if (type == NULL && callee != NULL)
        type = callee->type;
    if (type != NULL && type->kind == RS_TYPE_POINTER)
        type = type->of;
    if (type == NULL || type->kind != RS_TYPE_FUNCTION || type->of == NULL ||
        type->of->kind != RS_TYPE_REFERENCE)
        return RS_VALUE;
    const size_t length = strlen(type->of->name);
    return length > 2 && strcmp(type->of->name + length - 2, "&&") == 0 ? RS_TEMPORARY : RS_PLACE;
}

/* What is between <<< and >>>, without the function that gets it. */
static rs_syntax_node *read_configuration(const call *at)
{
    rs_syntax_node *node = rs_read_expression(at->reader, at->configuration, false);
    if (node == NULL || node->kind != RS_NODE_CALL)
        return node;
    node->kind = RS_NODE_LIST;
    node->declaration = NULL;
    node->type = NULL;
    node->children++;
    node->child_count--;
    return node;
}

static rs_syntax_node *read_function_call(call *at)
{
    const bool is_launch = clang_Cursor_isNull(at->configuration) == 0;
    rs_syntax_node *node =
        rs_new_node(at->reader, is_launch ? RS_NODE_LAUNCH : RS_NODE_CALL, at->cursor);
    rs_syntax_node **children = calloc((size_t)at->argument_count + 2, sizeof(rs_syntax_node *));
    size_t count = 0;
    int first = 0; /* of the arguments, those of an operator of a class begin with the object */
    bool is_set = node != NULL && children != NULL;
    at->reader->tree->out_of_memory |= !is_set;
    if (is_set && at->called != NULL && at->called->is_method && !at->called->is_static) {
        children[0] = read_object(at, node);
        if (children[0] == NULL && at->argument_count > 0)
            children[0] = rs_read_expression(
                at->reader, clang_Cursor_getArgument(at->cursor, (unsigned)first++), true);
    } else if (is_set) {
        children[0] = rs_read_expression(at->reader, at->callee, false);
    }
    is_set = is_set && children[count++] != NULL;
    if (is_set && is_launch)
        is_set = (children[count++] = read_configuration(at)) != NULL;
    for (int i = first; is_set && i < at->argument_count; i++)
        is_set = (children[count++] = read_argument(at, i, (size_t)(i - first))) != NULL;
    is_set = is_set && rs_set_children(at->reader, node, children, count);
    if (is_set) {
        node->declaration = at->called;
        node->category = category_of(at, children[0]);
    }
    free(children);
    return is_set ? node : NULL;
}

rs_syntax_node *rs_read_call(rs_syntax_reader *reader, CXCursor cursor, const rs_cursors *below)
{
    call at = {.reader = reader, .cursor = cursor, .below = below};
    const CXCursor target = clang_getCursorReferenced(cursor);
    const rs_syntax_declaration *called = rs_read_declaration(reader, target);
    at.argument_count = clang_Cursor_getNumArguments(cursor);
    if (called != NULL && called->kind == RS_DECLARATION_FUNCTION)
        at.called = called;
    if (at.argument_count < 0)
        return rs_read_unknown(reader, cursor);
    if (clang_getCursorKind(target) == CXCursor_Constructor)
        return read_construct(&at);
    find_parts(&at);
    rs_syntax_node *node = read_function_call(&at);
    return node != NULL || reader->tree->out_of_memory ? node : rs_read_unknown(reader, cursor);
}
