/*
 * The walk of propagate.h through functions and statements: every statement with what is known of
 * all pointers before it. Loops are walked until nothing changes, which is soon: types only fall,
 * and classes only become fewer.
 */
#include "analyze/extents.h"
#include "analyze/propagate_walk.h"
#include "source/query.h"
#include "source/words.h"

#include <stdlib.h>
#include <string.h>

enum { ROUND_LIMIT = 200 };

int rs_grid_body(const rs_tree *tree, int function)
{
    int body = -1;
    for (int child = tree->nodes[function].first; child >= 0; child = tree->nodes[child].next)
        if (tree->nodes[child].kind == CXCursor_CompoundStmt)
            body = child;
    return body;
}

static bool is_defined(const rs_tree *tree, int node)
{
    return tree->nodes[node].kind == CXCursor_FunctionDecl && rs_grid_body(tree, node) >= 0;
}

/* A function in which the compiler found an error is one that is elsewhere: the tree has not all of
 * it. */
static bool is_known(const rs_grid_walk *w, int node)
{
    const rs_node *n = &w->tree->nodes[node];
    return is_defined(w->tree, node) && !rs_program_is_misread(w->program, n->begin, n->end);
}

/* The node of the function that a name stands for, if the source has its body. */
int rs_grid_function(const rs_grid_walk *w, CXCursor name)
{
    CXCursor declared = clang_getCursorReferenced(name);
    CXCursor defined =
        clang_Cursor_isNull(declared) ? declared : clang_getCursorDefinition(declared);
    if (clang_Cursor_isNull(defined) ||
        clang_Location_isFromMainFile(clang_getCursorLocation(defined)) == 0)
        return -1;
    for (int i = 1; i < w->tree->node_count; i++)
        if (w->tree->nodes[i].kind == CXCursor_FunctionDecl &&
            clang_equalCursors(w->tree->nodes[i].cursor, defined) != 0)
            return is_known(w, i) ? i : -1;
    return -1;
}

/* ---- statements ---- */

/* A function that is called with the address of the variable at the end of its scope; libclang has
 * no name for the attribute, which may stand before the type, behind it or behind the name. */
static bool has_cleanup(const rs_grid_walk *w, int node)
{
    const rs_tree *tree = w->tree;
    int initializer = rs_node_initializer(tree, node), around = tree->nodes[node].parent;
    bool statement = around >= 0 && tree->nodes[around].kind == CXCursor_DeclStmt;
    size_t at = tree->nodes[statement ? around : node].begin, word, length;
    size_t end = initializer >= 0 ? tree->nodes[initializer].begin
                                  : tree->nodes[statement ? around : node].end;
    while (rs_word_next(tree->text, end, &at, &word, &length))
        if (rs_word_equals(tree->text, word, length, "cleanup") ||
            rs_word_equals(tree->text, word, length, "__cleanup__"))
            return true;
    return false;
}

/* A reference is another name of a variable; sizes and types in a declaration are expressions. */
static void walk_variable(rs_grid_walk *w, int node)
{
    CXCursor cursor = w->tree->nodes[node].cursor;
    rs_extended_type type = RS_TYPE_OF(RS_TYPE_NEW);
    bool reference = rs_kind_is_reference(clang_getCanonicalType(clang_getCursorType(cursor)).kind);
    int initializer = rs_node_initializer(w->tree, node);
    if (has_cleanup(w, node))
        rs_flow_expose(&w->context, &w->flow, rs_grid_key(cursor), node);
    for (int child = w->tree->nodes[node].first; child >= 0; child = w->tree->nodes[child].next)
        if (child != initializer || reference)
            rs_grid_lose_all(w, child, "a declaration that is not followed has the address");
    if (initializer >= 0 && !reference)
        type = rs_grid_evaluate(w, initializer);
    rs_grid_initialize(w, cursor, type, node);
}

static void walk_if(rs_grid_walk *w, int node)
{
    int condition = rs_node_child(w->tree, node, 0), yes = rs_node_child(w->tree, node, 1),
        no = rs_node_child(w->tree, node, 2);
    if (condition >= 0 && !clang_isExpression(rs_grid_kind(w, condition))) {
        rs_grid_lose_all(w, node, "a condition that is not followed has the address");
        return;
    }
    rs_grid_evaluate(w, condition);
    rs_flow before;
    w->context.no_memory = !rs_flow_copy(&before, &w->flow) || w->context.no_memory;
    if (yes >= 0)
        rs_grid_walk_statement(w, yes);
    rs_flow after_yes = w->flow;
    w->flow = before;
    if (no >= 0)
        rs_grid_walk_statement(w, no);
    rs_flow_meet(&w->context, &w->flow, &after_yes, node);
    rs_flow_free(&after_yes);
}

/* A loop's parts, in the order in which they run; -1 for what it lacks. */
typedef struct {
    int condition, body, step;
    bool body_first;
} loop_parts;

static void walk_round(rs_grid_walk *w, const loop_parts *parts, rs_grid_exits *leaving, int node)
{
    if (parts->condition >= 0 && !clang_isExpression(rs_grid_kind(w, parts->condition)))
        rs_grid_lose_all(w, parts->condition, "a condition that is not followed has the address");
    if (!parts->body_first) {
        rs_grid_evaluate(w, parts->condition);
        rs_flow_meet(&w->context, &leaving->breaks, &w->flow, node);
    }
    rs_grid_walk_statement(w, parts->body);
    rs_flow_meet(&w->context, &w->flow, &leaving->continues, node);
    if (parts->body_first) {
        rs_grid_evaluate(w, parts->condition);
        rs_flow_meet(&w->context, &leaving->breaks, &w->flow, node);
    }
    rs_grid_evaluate(w, parts->step);
}

/* The fixed point: what holds before a round is the meet of what holds before the loop and behind
 * a round. */
static void walk_loop(rs_grid_walk *w, const loop_parts *parts, int node)
{
    rs_grid_exits leaving = {{.unreached = true}, {.unreached = true}};
    rs_grid_exits *outer = w->innermost;
    w->innermost = &leaving;
    bool same = false;
    int exposed = -1;
    for (int round = 0; round < ROUND_LIMIT && !same && !w->context.no_memory; round++) {
        rs_flow before;
        w->context.no_memory = !rs_flow_copy(&before, &w->flow) || w->context.no_memory;
        walk_round(w, parts, &leaving, node);
        rs_flow_meet(&w->context, &w->flow, &before, node);
        same = rs_flow_equal(&w->context, &before, &w->flow) && exposed == w->context.exposed_count;
        exposed = w->context.exposed_count;
        rs_flow_free(&before);
    }
    if (!same)
        rs_grid_keep_known(w, node, "a loop that is not followed has the address");
    w->innermost = outer;
    rs_flow_free(&w->flow);
    w->flow = leaving.breaks;
    rs_flow_free(&leaving.continues);
}

static bool starts_behind(const rs_tree *tree, size_t at, int node)
{
    return rs_text_is(tree, at, tree->nodes[node].begin, "");
}

/* The parts of a for statement that are missing have no node; the semicolons tell which. */
static void walk_for(rs_grid_walk *w, int node)
{
    const rs_tree *tree = w->tree;
    loop_parts parts = {-1, -1, -1, false};
    size_t semicolons[2] = {0, 0};
    int depth = 0, found = 0;
    for (size_t at = tree->nodes[node].begin; at < tree->nodes[node].end && found < 2;
         at = rs_word_skip(tree->text, tree->nodes[node].end, at)) {
        depth += tree->text[at] == '(';
        depth -= tree->text[at] == ')';
        if (tree->text[at] == ';' && depth == 1)
            semicolons[found++] = at;
    }
    for (int child = tree->nodes[node].first; child >= 0; child = tree->nodes[child].next) {
        if (tree->nodes[child].next < 0)
            parts.body = child;
        else if (tree->nodes[child].begin <= semicolons[0])
            rs_grid_walk_statement(w, child);
        else if (tree->nodes[child].begin <= semicolons[1])
            parts.condition = child;
        else
            parts.step = child;
    }
    bool told = found == 2 && !rs_text_is(tree, semicolons[0] + 1, semicolons[1], "");
    if (told && (parts.condition < 0 || !starts_behind(tree, semicolons[0] + 1, parts.condition))) {
        rs_grid_keep_known(w, node, "a condition that is not followed has the address");
        rs_grid_lose_all(w, node, "a condition that is not followed has the address");
    }
    walk_loop(w, &parts, node);
}

static bool has_semicolon(const rs_tree *tree, size_t at, size_t end)
{
    for (; at < end; at = rs_word_skip(tree->text, end, at))
        if (tree->text[at] == ';')
            return true;
    return false;
}

/* A declaration in the condition has no node. */
static void walk_switch(rs_grid_walk *w, int node)
{
    int first = rs_node_child(w->tree, node, 0), last = rs_node_last(w->tree, node);
    if (first >= 0 &&
        (!clang_isExpression(rs_grid_kind(w, first)) ||
         has_semicolon(w->tree, w->tree->nodes[node].begin, w->tree->nodes[last].begin))) {
        rs_grid_keep_known(w, node, "a switch that is not followed has the address");
        rs_grid_lose_all(w, node, "a switch that is not followed has the address");
        return;
    }
    int body = rs_node_child(w->tree, node, 1);
    rs_grid_evaluate(w, rs_node_child(w->tree, node, 0));
    if (body < 0)
        return;
    rs_grid_exits leaving = {{.unreached = true}, {.unreached = true}};
    rs_grid_exits *outer = w->innermost;
    if (outer != NULL)
        leaving.continues = outer->continues;
    rs_flow before;
    w->context.no_memory = !rs_flow_copy(&before, &w->flow) || w->context.no_memory;
    w->innermost = &leaving;
    rs_flow_meet(&w->context, &leaving.breaks, &before, node); /* no case may fit */
    for (int child = w->tree->nodes[body].first; child >= 0; child = w->tree->nodes[child].next) {
        if (rs_grid_kind(w, child) == CXCursor_CaseStmt ||
            rs_grid_kind(w, child) == CXCursor_DefaultStmt)
            rs_flow_meet(&w->context, &w->flow, &before, node);
        rs_grid_walk_statement(w, child);
    }
    rs_flow_meet(&w->context, &w->flow, &leaving.breaks, node);
    w->innermost = outer;
    if (outer != NULL)
        outer->continues = leaving.continues;
    rs_flow_free(&leaving.breaks);
    rs_flow_free(&before);
}

static void leave(rs_grid_walk *w, rs_flow *to, int node)
{
    rs_flow_meet(&w->context, to, &w->flow, node);
    w->flow.unreached = true;
}

/* New memory that still has a name elsewhere has two. */
static rs_extended_type leave_name(rs_grid_walk *w, rs_extended_type type, int node)
{
    int function = w->calls[w->depth - 1];
    bool own =
        type.target > w->tree->nodes[function].begin && type.target <= w->tree->nodes[function].end;
    if (type.kind != RS_TYPE_NEW || type.target == 0 || own)
        return type;
    rs_grid_keep(w, type, node, "");
    return RS_TYPE_OF(RS_TYPE_UNTRANSFORMED);
}

static void walk_return(rs_grid_walk *w, int node)
{
    int expression = rs_node_child(w->tree, node, 0);
    if (expression >= 0) {
        rs_extended_type type = leave_name(w, rs_grid_evaluate(w, expression), node);
        if (w->depth <= 1)
            rs_grid_keep(w, type, node, "a caller that is not known gets the address");
        w->returned = rs_type_meet(&w->context, w->returned, type, node);
    }
    leave(w, &w->returns, node);
    rs_flow_settle(&w->context, &w->returns, node);
}

/* Jumps are not followed: no variable that is known here can be. */
void rs_grid_keep_known(rs_grid_walk *w, int node, const char *what)
{
    for (int i = 0; i < w->flow.count; i++)
        rs_grid_keep(w, w->flow.variables[i].type, node, what);
    for (int i = 0; i < w->flow.count; i++)
        rs_flow_expose(&w->context, &w->flow, w->flow.variables[i].key, node);
}

static void walk_children(rs_grid_walk *w, int node)
{
    for (int child = w->tree->nodes[node].first; child >= 0; child = w->tree->nodes[child].next)
        rs_grid_walk_statement(w, child);
}

static bool is_label(const rs_grid_walk *w, int node)
{
    return rs_grid_kind(w, node) == CXCursor_CaseStmt ||
           rs_grid_kind(w, node) == CXCursor_DefaultStmt ||
           rs_grid_kind(w, node) == CXCursor_LabelStmt;
}

/* A case in the body of its switch itself, or behind another one there. */
static bool is_followed_case(const rs_grid_walk *w, int node)
{
    const rs_tree *tree = w->tree;
    int parent = tree->nodes[node].parent;
    if (rs_grid_kind(w, node) == CXCursor_LabelStmt || parent < 0)
        return false;
    if (rs_grid_kind(w, parent) == CXCursor_CaseStmt ||
        rs_grid_kind(w, parent) == CXCursor_DefaultStmt)
        return is_followed_case(w, parent);
    int around = tree->nodes[parent].parent;
    return rs_grid_kind(w, parent) == CXCursor_CompoundStmt && around >= 0 &&
           rs_grid_kind(w, around) == CXCursor_SwitchStmt;
}

/* A statement with attributes is one behind them. */
static void walk_unexposed(rs_grid_walk *w, int node)
{
    int last = rs_node_last(w->tree, node);
    for (int child = w->tree->nodes[node].first; child >= 0; child = w->tree->nodes[child].next)
        if (child == last && clang_isStatement(rs_grid_kind(w, child)))
            rs_grid_walk_statement(w, child);
        else
            rs_grid_lose_all(w, child, "a statement that is not followed has the address");
}

/* Statements that declare nothing, or what they use is all below them. */
static bool is_without_names(const rs_grid_walk *w, int node)
{
    enum CXCursorKind kind = rs_grid_kind(w, node);
    return kind == CXCursor_NullStmt || kind == CXCursor_GCCAsmStmt || kind == CXCursor_MSAsmStmt;
}

static void walk_reached(rs_grid_walk *w, int node)
{
    switch ((int)rs_grid_kind(w, node)) {
    case CXCursor_CompoundStmt:
    case CXCursor_DeclStmt:
    case CXCursor_CaseStmt:
    case CXCursor_DefaultStmt:
    case CXCursor_LabelStmt:
        walk_children(w, node);
        return;
    case CXCursor_UnexposedStmt:
        walk_unexposed(w, node);
        return;
    case CXCursor_VarDecl:
        walk_variable(w, node);
        return;
    case CXCursor_IfStmt:
        walk_if(w, node);
        return;
    case CXCursor_ForStmt:
        walk_for(w, node);
        return;
    case CXCursor_WhileStmt:
        walk_loop(w,
                  &(loop_parts){rs_node_child(w->tree, node, 0), rs_node_child(w->tree, node, 1),
                                -1, false},
                  node);
        return;
    case CXCursor_DoStmt:
        walk_loop(w,
                  &(loop_parts){rs_node_child(w->tree, node, 1), rs_node_child(w->tree, node, 0),
                                -1, true},
                  node);
        return;
    case CXCursor_SwitchStmt:
        walk_switch(w, node);
        return;
    case CXCursor_ReturnStmt:
        walk_return(w, node);
        return;
    case CXCursor_BreakStmt:
        if (w->innermost != NULL)
            leave(w, &w->innermost->breaks, node);
        return;
    case CXCursor_ContinueStmt:
        if (w->innermost != NULL)
            leave(w, &w->innermost->continues, node);
        return;
    case CXCursor_GotoStmt:
    case CXCursor_IndirectGotoStmt:
        rs_grid_keep_known(w, node, "goto is not followed, which may change the type");
        rs_grid_lose_all(w, node, "goto is not followed, which has the address");
        return;
    default:
        if (clang_isStatement(rs_grid_kind(w, node)) && !is_without_names(w, node))
            rs_grid_keep_known(w, node, "a statement that is not followed has the address");
        rs_grid_evaluate(w, node);
    }
}

/* What is not reached is walked too, since it has to be written like the rest. */
void rs_grid_walk_statement(rs_grid_walk *w, int node)
{
    if (node < 0 || w->context.no_memory)
        return;
    bool label = is_label(w, node), unreached = w->flow.unreached && !label;
    w->flow.unreached = false;
    if (label && !is_followed_case(w, node))
        rs_grid_keep_known(w, node, "goto is not followed, which may change the type");
    walk_reached(w, node);
    w->flow.unreached = w->flow.unreached || unreached;
}

/* ---- functions ---- */

/* Whether some expression outside of a function names it. */
static bool is_called(const rs_grid_walk *w, int function)
{
    for (int i = 1; i < w->tree->node_count; i++)
        if (w->tree->nodes[i].kind == CXCursor_DeclRefExpr &&
            (i < function || w->tree->nodes[i].begin >= w->tree->nodes[function].end) &&
            rs_grid_function(w, w->tree->nodes[i].cursor) == function)
            return true;
    return false;
}

static void walk_root(rs_grid_walk *w, int function)
{
    rs_flow_free(&w->flow);
    w->returns = (rs_flow){.unreached = true};
    w->returned = RS_TYPE_OF(RS_TYPE_NEW);
    w->innermost = NULL;
    w->calls[0] = function;
    w->depth = 1;
    w->walked[function] = true;
    for (int child = w->tree->nodes[function].first; child >= 0;
         child = w->tree->nodes[child].next) {
        if (rs_grid_kind(w, child) != CXCursor_ParmDecl)
            continue;
        uint64_t key = rs_grid_key(w->tree->nodes[child].cursor);
        int grid = rs_grid_of_key(w, key);
        if (grid >= 0)
            w->found->outside[grid] = true;
        rs_grid_assign(w, key, RS_TYPE_OF(grid >= 0 ? RS_TYPE_NEW : RS_TYPE_UNTRANSFORMED), child);
    }
    rs_grid_walk_statement(w, rs_grid_body(w->tree, function));
    rs_flow_free(&w->returns);
    w->depth = 0;
}

/* Whoever calls a function in a way that is not followed may hand over anything. */
static void distrust(rs_grid_walk *w, int function, int node)
{
    for (int child = w->tree->nodes[function].first; child >= 0;
         child = w->tree->nodes[child].next) {
        int grid = rs_grid_kind(w, child) == CXCursor_ParmDecl
                       ? rs_grid_of_key(w, rs_grid_key(w->tree->nodes[child].cursor))
                       : -1;
        char name[64];
        if (grid < 0)
            continue;
        rs_class_keep(&w->context, grid, node, "a call that is not followed may set %s",
                      rs_grid_name(w->program, grid, name));
        rs_grid_link_add(&w->context, grid, grid);
    }
}

static void walk_functions(rs_grid_walk *w)
{
    const rs_tree *tree = w->tree;
    for (int pass = 0; pass < 2; pass++)
        for (int i = 1; i < tree->node_count && !w->context.no_memory; i++)
            if (is_known(w, i) && !w->walked[i] && (pass == 1 || !is_called(w, i)))
                walk_root(w, i);
    for (int i = 1; i < tree->node_count && !w->context.no_memory; i++) {
        bool name = tree->nodes[i].kind == CXCursor_DeclRefExpr && !w->followed[i];
        int function = name ? rs_grid_function(w, tree->nodes[i].cursor) : -1;
        if (function >= 0)
            distrust(w, function, i);
    }
}

/* The innermost node around a byte. */
static int node_at(const rs_tree *tree, size_t offset)
{
    int found = 0;
    for (int i = 1; i < tree->node_count && tree->nodes[i].begin <= offset; i++)
        if (offset < tree->nodes[i].end)
            found = i;
    return found;
}

/* Other functions, and other calls of the same, may use what outlives a call; members are many. */
static void keep_unfollowed(rs_grid_walk *w)
{
    for (int i = 1; i < w->tree->node_count; i++) {
        enum CXCursorKind kind = w->tree->nodes[i].kind;
        if (kind != CXCursor_VarDecl && kind != CXCursor_FieldDecl)
            continue;
        CXCursor cursor = w->tree->nodes[i].cursor;
        int grid = rs_grids_at(&w->program->grids, rs_cursor_offset(cursor));
        char name[64];
        if (grid < 0 || rs_grid_is_followed(cursor))
            continue;
        rs_class_keep(&w->context, grid, i,
                      kind == CXCursor_FieldDecl ? "%s is a member of a structure"
                                                 : "%s is not a variable of one call of a function",
                      rs_grid_name(w->program, grid, name));
        rs_grid_link_add(&w->context, grid, grid);
    }
}

/* The parameter of a declaration of a function that has a number; -1 for none. */
static int parameter_at(const rs_grid_walk *w, int function, int number)
{
    int child = w->tree->nodes[function].first;
    for (; child >= 0; child = w->tree->nodes[child].next)
        if (rs_grid_kind(w, child) == CXCursor_ParmDecl && number-- == 0)
            return child;
    return -1;
}

/* The function that a byte lies in. */
static int function_at(const rs_tree *tree, size_t offset)
{
    for (int i = 1; i < tree->node_count; i++)
        if (is_defined(tree, i) && tree->nodes[i].begin <= offset && offset < tree->nodes[i].end)
            return i;
    return -1;
}

/* What the compiler does not understand may use all grids of its function, and outside of functions
 * it may be one, which gets or hands over any grid. */
static void keep_misread(rs_grid_walk *w)
{
    for (size_t e = 0; e < w->program->error_count; e++) {
        int function = function_at(w->tree, w->program->errors[e]);
        for (int g = 0; g < w->program->grids.count; g++) {
            if (function >= 0 && function_at(w->tree, w->program->grids.grids[g].name) != function)
                continue;
            rs_class_keep_at(&w->context, g, w->program->errors[e],
                             "the compiler does not understand what is here");
            rs_grid_link_add(&w->context, g, g);
        }
    }
}

/* A parameter of a function with a body is written as a grid in another declaration, too. */
static void join_parameter(rs_grid_walk *w, int grid, int other)
{
    int declared = rs_grid_of_key(w, rs_grid_key(w->tree->nodes[other].cursor));
    bool same = declared >= 0 &&
                w->program->grids.grids[declared].rank == w->program->grids.grids[grid].rank;
    for (int i = 0, count = w->found->link_count; i < count; i++) {
        char name[64];
        if (w->found->links[i].grid != grid)
            continue;
        if (same)
            rs_grid_link_add(&w->context, declared, w->found->links[i].class);
        else
            rs_class_keep(&w->context, w->found->links[i].class, other,
                          "%s is declared in another way than with the body of its function",
                          rs_grid_name(w->program, grid, name));
    }
}

static void join_declarations(rs_grid_walk *w)
{
    const rs_tree *tree = w->tree;
    for (int f = 1; f < tree->node_count; f++)
        for (int o = 1; o < tree->node_count && is_defined(tree, f); o++) {
            if (o == f || tree->nodes[o].kind != CXCursor_FunctionDecl ||
                clang_equalCursors(clang_getCanonicalCursor(tree->nodes[o].cursor),
                                   clang_getCanonicalCursor(tree->nodes[f].cursor)) == 0)
                continue;
            for (int p = 0, own; (own = parameter_at(w, f, p)) >= 0; p++) {
                int grid = rs_grid_of_key(w, rs_grid_key(tree->nodes[own].cursor));
                int other = parameter_at(w, o, p);
                if (grid >= 0 && other >= 0)
                    join_parameter(w, grid, other);
            }
        }
}

static const char *first_extent(const rs_grid_walk *w, int grid)
{
    const char *told = w->program->grids.grids[grid].extents[0];
    return told != NULL ? told : w->found->outer[grid];
}

/* A pointer that callers hand over and whose first extent is learned inside: each caller's memory
 * has its own. */
static bool is_told_twice(const rs_grid_walk *w, int grid)
{
    const rs_grid *g = &w->program->grids.grids[grid];
    if (g->extents[0] != NULL || w->found->outer[grid] == NULL || w->found->outside[grid])
        return false;
    for (int i = 1; i < w->tree->node_count; i++)
        if (w->tree->nodes[i].kind == CXCursor_ParmDecl &&
            rs_cursor_offset(w->tree->nodes[i].cursor) == g->name)
            return true;
    return false;
}

/* Extents are computed again at each access: they give what they gave at the declaration. */
static void keep_strange_extents(rs_grid_walk *w)
{
    for (int g = 0; g < w->program->grids.count; g++) {
        const rs_grid *grid = &w->program->grids.grids[g];
        bool strange = is_told_twice(w, g);
        for (int d = 0; d < grid->rank; d++) {
            const char *extent = d == 0 ? first_extent(w, g) : grid->extents[d];
            size_t at = 0, word, length;
            strange = strange || (extent != NULL && !rs_extent_is_plain(extent));
            while (extent != NULL && rs_word_next(extent, strlen(extent), &at, &word, &length)) {
                int declaration = rs_extent_resolve(w->tree, extent + word, length, grid->name);
                strange = strange || (declaration >= 0 &&
                                      !rs_extent_is_settled(w->tree, declaration, grid->name));
            }
        }
        char name[64];
        if (!strange)
            continue;
        rs_class_keep(&w->context, g, node_at(w->tree, grid->name),
                      "the extents of %s are more than numbers and variables of their own",
                      rs_grid_name(w->program, g, name));
        rs_grid_link_add(&w->context, g, g);
    }
}

/* Pointers of one class in one function have one first extent; those that are not told it learn it.
 */
static void settle_first_extents(rs_grid_walk *w)
{
    const rs_propagation *found = w->found;
    for (int i = 0; i < found->link_count; i++)
        for (int j = 0; j < found->link_count && !w->context.no_memory; j++) {
            int to = found->links[i].grid, from = found->links[j].grid;
            const char *extent = first_extent(w, from);
            if (to == from || extent == NULL ||
                rs_grid_class(found, found->links[i].class) !=
                    rs_grid_class(found, found->links[j].class))
                continue;
            int function = function_at(w->tree, w->program->grids.grids[to].name);
            if (function != function_at(w->tree, w->program->grids.grids[from].name))
                continue;
            char name[64], other[64];
            if (first_extent(w, to) == NULL)
                w->context.no_memory = (found->outer[to] = strdup(extent)) == NULL;
            else if (!rs_extent_same(extent, first_extent(w, to)))
                rs_class_keep(&w->context, found->links[i].class, function,
                              "%s and %s have different first extents",
                              rs_grid_name(w->program, to, name),
                              rs_grid_name(w->program, from, other));
        }
}

/* A pointer has one declaration, so what it may point to stays as it is together. */
restride_status rs_propagation_close(rs_propagation *found)
{
    bool changed = true;
    while (changed) {
        changed = false;
        for (int i = 0; i < found->link_count; i++)
            for (int j = 0; j < found->link_count; j++) {
                int from = rs_grid_class(found, found->links[i].class);
                int to = rs_grid_class(found, found->links[j].class);
                if (found->links[i].grid != found->links[j].grid ||
                    found->kept[from].sentence == NULL || found->kept[to].sentence != NULL)
                    continue;
                found->kept[to] = (rs_note){strdup(found->kept[from].file), found->kept[from].line,
                                            strdup(found->kept[from].sentence)};
                if (found->kept[to].sentence == NULL || found->kept[to].file == NULL)
                    return rs_fail_memory("a reason");
                changed = true;
            }
    }
    return RESTRIDE_OK;
}

static bool is_array(CXType type)
{
    return type.kind == CXType_ConstantArray || type.kind == CXType_VariableArray ||
           type.kind == CXType_IncompleteArray;
}

/* Bytes of an element of each grid, from its declaration. */
static void find_sizes(const rs_grid_walk *w)
{
    for (int i = 1; i < w->tree->node_count; i++) {
        enum CXCursorKind kind = w->tree->nodes[i].kind;
        CXCursor cursor = w->tree->nodes[i].cursor;
        int grid = kind == CXCursor_VarDecl || kind == CXCursor_ParmDecl
                       ? rs_grids_at(&w->program->grids, rs_cursor_offset(cursor))
                       : -1;
        if (grid < 0)
            continue;
        CXType type = clang_getCanonicalType(clang_getCursorType(cursor));
        if (type.kind == CXType_Pointer)
            type = clang_getCanonicalType(clang_getPointeeType(type));
        while (is_array(type))
            type = clang_getCanonicalType(clang_getArrayElementType(type));
        w->found->sizes[grid] = clang_Type_getSizeOf(type);
    }
}

restride_status rs_propagate(rs_propagation *found, const rs_program *program)
{
    size_t count = (size_t)program->grids.count;
    *found = (rs_propagation){.grid_count = program->grids.count};
    found->parents = calloc(count + 1, sizeof *found->parents);
    found->kept = calloc(count + 1, sizeof *found->kept);
    found->outside = calloc(count + 1, sizeof *found->outside);
    found->outer = calloc(count + 1, sizeof *found->outer);
    found->sizes = calloc(count + 1, sizeof *found->sizes);
    rs_grid_walk w = {.context = {.program = program, .found = found},
                      .program = program,
                      .tree = &program->tree,
                      .found = found,
                      .followed = calloc((size_t)program->tree.node_count, sizeof *w.followed),
                      .walked = calloc((size_t)program->tree.node_count, sizeof *w.walked)};
    w.context.no_memory = found->parents == NULL || found->kept == NULL || found->outside == NULL ||
                          found->outer == NULL || found->sizes == NULL || w.followed == NULL ||
                          w.walked == NULL;
    for (size_t g = 0; !w.context.no_memory && g < count; g++)
        found->parents[g] = (int)g;
    if (!w.context.no_memory)
        find_sizes(&w);
    if (!w.context.no_memory && count > 0) {
        keep_unfollowed(&w);
        walk_functions(&w);
        join_declarations(&w);
        keep_misread(&w);
    }
    rs_flow_free(&w.flow);
    free(w.followed);
    free(w.walked);
    free(w.context.exposed);
    if (!w.context.no_memory)
        settle_first_extents(&w);
    if (!w.context.no_memory)
        keep_strange_extents(&w);
    if (!w.context.no_memory && w.steps <= RS_GRID_STEP_LIMIT)
        return rs_propagation_close(found);
    rs_propagation_free(found);
    return w.context.no_memory
               ? rs_fail_memory("the propagation of layouts")
               : rs_fail(RESTRIDE_UNSUPPORTED, "The program is too large to follow its grids.");
}

void rs_propagation_free(rs_propagation *found)
{
    for (int g = 0; g < found->grid_count; g++) {
        if (found->kept != NULL) {
            free(found->kept[g].file);
            free(found->kept[g].sentence);
        }
        if (found->outer != NULL)
            free(found->outer[g]);
    }
    free(found->parents);
    free(found->kept);
    free(found->outside);
    free(found->outer);
    free(found->sizes);
    free(found->accesses);
    free(found->measures);
    free(found->copies);
    free(found->links);
    *found = (rs_propagation){.grid_count = 0};
}
