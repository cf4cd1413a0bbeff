/* Statements. libclang names the parts of a loop by nothing but their order, so that an absent one
 * is told by the text between them. */
#include "syntax/clang/reader.h"

#include <stdlib.h>
#include <string.h>

/* Which children of a statement are values that it uses; others are statements. */
typedef enum { NO_VALUE, ALL_BUT_LAST, LAST } value_children;

/* Statements with all their children, in libclang's order. */
static const struct {
    enum CXCursorKind clang;
    rs_syntax_node_kind kind;
    size_t least, most;
    value_children values;
} kinds[] = {
    {CXCursor_CompoundStmt, RS_NODE_COMPOUND, 0, (size_t)-1, NO_VALUE},
    {CXCursor_WhileStmt, RS_NODE_WHILE, 2, 2, ALL_BUT_LAST},
    {CXCursor_DoStmt, RS_NODE_DO, 2, 2, LAST},
    {CXCursor_CaseStmt, RS_NODE_CASE, 2, 3, ALL_BUT_LAST},
    {CXCursor_DefaultStmt, RS_NODE_DEFAULT, 1, 1, NO_VALUE},
    {CXCursor_LabelStmt, RS_NODE_LABEL, 1, 1, NO_VALUE},
    {CXCursor_GotoStmt, RS_NODE_GOTO, 0, 0, NO_VALUE},
    {CXCursor_BreakStmt, RS_NODE_BREAK, 0, 0, NO_VALUE},
    {CXCursor_ContinueStmt, RS_NODE_CONTINUE, 0, 0, NO_VALUE},
    {CXCursor_NullStmt, RS_NODE_EMPTY, 0, 0, NO_VALUE},
    {CXCursor_GCCAsmStmt, RS_NODE_ASM, 0, (size_t)-1, NO_VALUE},
    {CXCursor_MSAsmStmt, RS_NODE_ASM, 0, (size_t)-1, NO_VALUE},
};

static rs_syntax_node *read_part(rs_syntax_reader *reader, CXCursor cursor, bool is_value)
{
    if (is_value && clang_isExpression(clang_getCursorKind(cursor)) != 0)
        return rs_read_expression(reader, cursor, false);
    return rs_read_statement(reader, cursor);
}

static rs_syntax_node *read_all(rs_syntax_reader *reader, rs_syntax_node *node,
                                const rs_cursors *below, value_children values)
{
    rs_syntax_node **children = calloc(below->count + 1, sizeof(rs_syntax_node *));
    reader->tree->out_of_memory |= children == NULL;
    if (children == NULL)
        return NULL;
    for (size_t i = 0; i < below->count; i++)
        children[i] = read_part(reader, below->at[i],
                                values != NO_VALUE && (values == LAST) == (i + 1 == below->count));
    const bool is_set = rs_set_children(reader, node, children, below->count);
    free(children);
    return is_set ? node : NULL;
}

static rs_syntax_node *read_variable(rs_syntax_reader *reader, CXCursor cursor)
{
    rs_syntax_declaration *variable = rs_read_declaration(reader, cursor);
    rs_syntax_node *node = rs_new_node(reader, RS_NODE_VARIABLE, cursor);
    if (variable == NULL || node == NULL)
        return NULL;
    rs_read_initializer(reader, variable);
    node->declaration = variable;
    node->type = variable->type;
    return rs_set_children(reader, node, &variable->initializer, 1) ? node : NULL;
}

static rs_syntax_node *read_declare(rs_syntax_reader *reader, CXCursor cursor,
                                    const rs_cursors *below)
{
    rs_syntax_node *node = rs_new_node(reader, RS_NODE_DECLARE, cursor);
    rs_syntax_node **children = calloc(below->count + 1, sizeof(rs_syntax_node *));
    size_t count = 0;
    bool is_known = true;
    reader->tree->out_of_memory |= children == NULL;
    for (size_t i = 0; children != NULL && i < below->count; i++) {
        const enum CXCursorKind kind = clang_getCursorKind(below->at[i]);
        if (kind == CXCursor_VarDecl)
            children[count++] = read_variable(reader, below->at[i]);
        else if (kind == CXCursor_UnexposedDecl) /* auto [a, b] = ... */
            is_known = false;
    }
    const bool is_set =
        node != NULL && children != NULL && rs_set_children(reader, node, children, count);
    free(children);
    if (is_known)
        return is_set ? node : NULL;
    return rs_read_unknown(reader, cursor);
}

/* Where a statement's first parenthesis opens, or the file's end. */
static size_t find_opening(const rs_syntax_file *file, size_t at)
{
    while (at < file->size && file->text[at] != '(')
        at++;
    return at;
}

/* The two semicolons between the parentheses of a `for`. */
static bool find_semicolons(const rs_syntax_file *file, size_t at, size_t found[2])
{
    size_t depth = 0, count = 0;
    for (at = find_opening(file, at); at < file->size && count < 2; at++) {
        at = rs_skip_blanks(file, at);
        const char c = at < file->size ? file->text[at] : '\0';
        if (c == '"' || c == '\'')
            return false;
        depth += c == '(' || c == '{' || c == '[';
        depth -= c == ')' || c == '}' || c == ']';
        if (depth == 0)
            return false;
        if (depth == 1 && c == ';')
            found[count++] = at;
    }
    return count == 2;
}

/* start, condition, step, body: which of them the children are. */
static bool find_for_roles(rs_syntax_reader *reader, const rs_syntax_node *node,
                           const rs_cursors *below, size_t roles[4])
{
    static const size_t all[4] = {0, 1, 2, 3};
    memcpy(roles, all, sizeof all);
    if (below->count == 4)
        return true;
    roles[0] = 3;
    if (below->count == 1)
        return true;
    const rs_syntax_file *file = rs_file_of(reader, node->range);
    size_t semicolons[2];
    if (below->count == 0 || file == NULL || node->range.in_macro ||
        !find_semicolons(file, node->range.begin, semicolons))
        return false;
    for (size_t i = 0; i + 1 < below->count; i++) {
        const rs_syntax_range range = rs_read_range(reader, clang_getCursorExtent(below->at[i]));
        roles[i] = range.begin <= semicolons[0] ? 0 : range.begin <= semicolons[1] ? 1 : 2;
        if (i > 0 && roles[i] <= roles[i - 1])
            return false;
    }
    roles[below->count - 1] = 3;
    return true;
}

static rs_syntax_node *read_for(rs_syntax_reader *reader, CXCursor cursor, const rs_cursors *below)
{
    rs_syntax_node *node = rs_new_node(reader, RS_NODE_FOR, cursor);
    size_t roles[4];
    bool has_variable = false;
    for (size_t i = 0; i < below->count; i++)
        has_variable |= clang_getCursorKind(below->at[i]) == CXCursor_VarDecl;
    if (node == NULL || has_variable || below->count > 4 ||
        !find_for_roles(reader, node, below, roles))
        return rs_read_unknown(reader, cursor);
    rs_syntax_node *children[4] = {NULL, NULL, NULL, NULL};
    for (size_t i = 0; i < below->count; i++)
        children[roles[i]] = read_part(reader, below->at[i], roles[i] == 1);
    return rs_set_children(reader, node, children, 4) ? node : NULL;
}

/* Whether a semicolon ends the first child: `if (begin; condition)`. */
static bool has_start(rs_syntax_reader *reader, CXCursor first)
{
    if (clang_getCursorKind(first) == CXCursor_DeclStmt ||
        clang_getCursorKind(first) == CXCursor_NullStmt)
        return true;
    const rs_syntax_range range = rs_read_range(reader, clang_getCursorExtent(first));
    const rs_syntax_file *file = rs_file_of(reader, range);
    if (file == NULL || range.in_macro)
        return false;
    const size_t next = rs_skip_blanks(file, range.end);
    return next < file->size && file->text[next] == ';';
}

/* `if` and `switch`; what they declare goes before them, in a block of their own. */
static rs_syntax_node *read_branch(rs_syntax_reader *reader, CXCursor cursor,
                                   const rs_cursors *below)
{
    const bool is_if = clang_getCursorKind(cursor) == CXCursor_IfStmt;
    rs_syntax_node *node = rs_new_node(reader, is_if ? RS_NODE_IF : RS_NODE_SWITCH, cursor);
    size_t begin = 0;
    rs_syntax_node *block[3] = {NULL, NULL, NULL}, *children[3] = {NULL, NULL, NULL};
    while (begin < 2 && begin + 2 < below->count) {
        if (clang_getCursorKind(below->at[begin]) == CXCursor_VarDecl)
            block[begin] = read_variable(reader, below->at[begin]);
        else if (has_start(reader, below->at[begin]))
            block[begin] = rs_read_statement(reader, below->at[begin]);
        else
            break;
        begin++;
    }
    const size_t count = below->count - begin;
    if (node == NULL || count < 2 || count > (is_if ? 3u : 2u))
        return rs_read_unknown(reader, cursor);
    for (size_t i = 0; i < count; i++)
        children[i] = read_part(reader, below->at[begin + i], i == 0);
    if (!rs_set_children(reader, node, children, is_if ? 3 : 2))
        return NULL;
    if (begin == 0)
        return node;
    block[begin] = node;
    node = rs_new_node(reader, RS_NODE_COMPOUND, cursor);
    return node != NULL && rs_set_children(reader, node, block, begin + 1) ? node : NULL;
}

static rs_syntax_node *read_return(rs_syntax_reader *reader, CXCursor cursor,
                                   const rs_cursors *below)
{
    rs_syntax_node *node = rs_new_node(reader, RS_NODE_RETURN, cursor), *value = NULL;
    const rs_syntax_type *type = reader->function == NULL ? NULL : reader->function->type;
    const bool is_bound = type != NULL && type->of != NULL && type->of->kind == RS_TYPE_REFERENCE;
    if (node == NULL || below->count > 1)
        return rs_read_unknown(reader, cursor);
    if (below->count == 1)
        value = rs_read_expression(reader, below->at[0], is_bound);
    return rs_set_children(reader, node, &value, 1) ? node : NULL;
}

static rs_syntax_node *read_range_for(rs_syntax_reader *reader, CXCursor cursor,
                                      const rs_cursors *below)
{
    rs_syntax_node *node = rs_new_node(reader, RS_NODE_RANGE_FOR, cursor);
    if (node == NULL || below->count != 3)
        return rs_read_unknown(reader, cursor);
    rs_syntax_node *children[3] = {read_variable(reader, below->at[0]),
                                   rs_read_expression(reader, below->at[1], true),
                                   rs_read_statement(reader, below->at[2])};
    return rs_set_children(reader, node, children, 3) ? node : NULL;
}

/* The label that a `goto` names. */
static const char *read_goal(rs_syntax_reader *reader, CXCursor cursor)
{
    const char *name = NULL;
    rs_cursors all = rs_cursors_all(reader, cursor);
    for (size_t i = 0; i < all.count; i++)
        if (clang_getCursorKind(all.at[i]) == CXCursor_LabelRef)
            name = rs_read_string(reader, clang_getCursorSpelling(all.at[i]));
    rs_cursors_free(&all);
    return name;
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
        if (clang == CXCursor_LabelStmt)
            node->text = rs_read_string(reader, clang_getCursorSpelling(cursor));
        if (clang == CXCursor_GotoStmt)
            node->text = read_goal(reader, cursor);
        return read_all(reader, node, below, kinds[i].values);
    }
    return rs_read_unknown(reader, cursor);
}

static rs_syntax_node *read_kind(rs_syntax_reader *reader, CXCursor cursor, const rs_cursors *below)
{
    switch (clang_getCursorKind(cursor)) {
    case CXCursor_DeclStmt:
        return read_declare(reader, cursor, below);
    case CXCursor_ForStmt:
        return read_for(reader, cursor, below);
    case CXCursor_IfStmt:
    case CXCursor_SwitchStmt:
        return read_branch(reader, cursor, below);
    case CXCursor_ReturnStmt:
        return read_return(reader, cursor, below);
    case CXCursor_CXXForRangeStmt:
        return read_range_for(reader, cursor, below);
    case CXCursor_UnexposedStmt: /* with an attribute or a pragma before it */
        if (below->count == 1 && clang_isStatement(clang_getCursorKind(below->at[0])) != 0)
            return rs_read_statement(reader, below->at[0]);
        return rs_read_unknown(reader, cursor);
    default:
        return read_listed(reader, cursor, below);
    }
}

rs_syntax_node *rs_read_statement(rs_syntax_reader *reader, CXCursor cursor)
{
    if (clang_isExpression(clang_getCursorKind(cursor)) != 0)
        return rs_read_expression(reader, cursor, reader->is_cplusplus);
    if (reader->depth >= RS_DEPTH_LIMIT)
        return rs_new_node(reader, RS_NODE_UNKNOWN, cursor);
    reader->depth++;
    rs_cursors below = rs_cursors_below(reader, cursor);
    rs_syntax_node *node = read_kind(reader, cursor, &below);
    rs_cursors_free(&below);
    reader->depth--;
    return node;
}
