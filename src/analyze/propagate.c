/*
 * The walk of propagate.h through functions and statements: every statement with what is known of
 * all pointers before it. Loops are walked until nothing changes, which is soon: types only fall,
 * and classes only become fewer.
 */
#include "analyze/propagate.h"
#include "analyze/extents.h"
#include "analyze/program.h"
#include "analyze/propagate_walk.h"
#include "source/query.h"
#include "source/words.h"

#include <stdlib.h>
#include <string.h>

enum { ROUND_LIMIT = 200 };

int rs_grid_body(const rs_tree *tree, int function)
{
    return tree->nodes[function].is == RS_NODE_FUNCTION ? rs_node_body(tree, function) : -1;
}

/* A function in which the compiler found an error is one that is elsewhere: the tree has not all of
 * it. */
static bool is_known(const rs_grid_walk *w, int node)
{
    const rs_node *n = &w->tree->nodes[node];
    return rs_grid_body(w->tree, node) >= 0 && !rs_program_is_misread(w->program, n->begin, n->end);
}

/* The node of the function that a name stands for, if the source has its body. */
int rs_grid_function(const rs_grid_walk *w, const rs_syntax_declaration *named)
{
    if (!named->is_defined || !named->is_main)
        return -1;
    for (int i = 0; i < w->function_count; i++)
        if (w->tree->nodes[w->functions[i]].declaration == named &&
            rs_node_body(w->tree, w->functions[i]) >= 0)
            return is_known(w, w->functions[i]) ? w->functions[i] : -1;
    return -1;
}

/* ---- statements ---- */

/* A function that is called with the address of the variable at the end of its scope; libclang has
 * no name for the attribute, which may stand before the type, behind it or behind the name. */
static bool has_cleanup(const rs_grid_walk *w, int node)
{
    const rs_tree *tree = w->tree;
    int initializer = rs_node_initializer(tree, node), around = tree->nodes[node].parent;
    bool statement = around >= 0 && tree->nodes[around].is == RS_NODE_DECLARE;
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
    const rs_syntax_declaration *cursor = w->tree->nodes[node].declaration;
    rs_extended_type type = RS_EXTENDED_OF(RS_EXTENDED_NEW);
    bool reference = rs_declared_type(cursor)->kind == RS_TYPE_REFERENCE;
    int initializer = rs_node_initializer(w->tree, node);
    if (has_cleanup(w, node))
        rs_flow_escape(&w->context, &w->flow, rs_grid_key(cursor), node);
    bool alike = rs_grid_is_alike(w, cursor);
    RS_EACH_CHILD(child, w->tree, node)
        if ((child != initializer || reference) && !alike)
            rs_grid_lose_all(w, child, "a declaration that is not followed has the address");
    if (initializer >= 0 && !reference)
        type = rs_grid_evaluate(w, initializer);
    rs_grid_initialize(w, cursor, type, node);
}

static void walk_if(rs_grid_walk *w, int node)
{
    int condition = rs_node_child(w->tree, node, 0), yes = rs_node_child(w->tree, node, 1),
        no = rs_node_child(w->tree, node, 2);
    if (condition >= 0 && w->tree->nodes[condition].group != RS_NODES_EXPRESS) {
        rs_grid_lose_all(w, node, "a condition that is not followed has the address");
        return;
    }
    rs_grid_evaluate(w, condition);
    rs_flow before = rs_flow_copy(&w->context, &w->flow);
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
    if (parts->condition >= 0 && w->tree->nodes[parts->condition].group != RS_NODES_EXPRESS)
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

/* A grid whose extents are a round's own means nothing in the next one, where they may differ. */
static void end_round(rs_grid_walk *w, int node)
{
    const rs_node *loop = &w->tree->nodes[node];
    for (int i = 0; i < w->flow.count && !w->flow.unreached; i++) {
        const rs_typed_variable *variable = &w->flow.variables[i];
        size_t declared = (size_t)variable->key - 1;
        if (variable->type.kind != RS_EXTENDED_GRID ||
            (declared >= loop->begin && declared < loop->end))
            continue;
        const rs_grid *grid = &w->program->grids.grids[variable->type.grid];
        for (int d = 0; d < grid->rank; d++)
            if (rs_extent_is_declared_in(w->tree, grid->extents[d], grid->name, loop->begin,
                                         loop->end))
                rs_grid_keep(w, variable->type, node,
                             "the next round of a loop, in which the extents may differ, gets the "
                             "address");
    }
}

/* The fixed point: what holds before a round is the meet of what holds before the loop and behind
 * a round. */
static void walk_loop(rs_grid_walk *w, const loop_parts *parts, int node)
{
    rs_grid_exits leaving = {{.unreached = true}, {.unreached = true}};
    rs_grid_exits *outer = w->innermost;
    w->innermost = &leaving;
    bool same = false;
    int escaped = -1;
    for (int round = 0; round < ROUND_LIMIT && !same && !w->context.no_memory && w->too_many == 0;
         round++) {
        rs_flow before = rs_flow_copy(&w->context, &w->flow);
        walk_round(w, parts, &leaving, node);
        end_round(w, node);
        rs_flow_meet(&w->context, &w->flow, &before, node);
        same = rs_flow_equal(&w->context, &before, &w->flow) && escaped == w->context.escaped_count;
        escaped = w->context.escaped_count;
        rs_flow_free(&before);
    }
    if (!same)
        rs_grid_keep_known(w, node, "a loop that is not followed has the address");
    w->innermost = outer;
    rs_flow_free(&w->flow);
    w->flow = leaving.breaks;
    rs_flow_free(&leaving.continues);
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
    RS_EACH_CHILD(child, tree, node) {
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
    if (told && (parts.condition < 0 ||
                 !rs_text_is(tree, semicolons[0] + 1, tree->nodes[parts.condition].begin, ""))) {
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
        (w->tree->nodes[first].group != RS_NODES_EXPRESS ||
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
    rs_flow before = rs_flow_copy(&w->context, &w->flow);
    w->innermost = &leaving;
    rs_flow_meet(&w->context, &leaving.breaks, &before, node); /* no case may fit */
    RS_EACH_CHILD(child, w->tree, body) {
        if (rs_grid_kind(w, child) == RS_NODE_CASE || rs_grid_kind(w, child) == RS_NODE_DEFAULT)
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
    if (type.kind != RS_EXTENDED_NEW || type.target == 0 || own)
        return type;
    rs_grid_keep(w, type, node, "");
    return RS_UNTRANSFORMED_TYPE;
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
        rs_flow_escape(&w->context, &w->flow, w->flow.variables[i].key, node);
}

static void walk_children(rs_grid_walk *w, int node)
{
    RS_EACH_CHILD(child, w->tree, node)
        rs_grid_walk_statement(w, child);
}

/* A case in the body of its switch itself, or behind another one there. */
static bool is_followed_case(const rs_grid_walk *w, int node)
{
    const rs_tree *tree = w->tree;
    int parent = tree->nodes[node].parent;
    if (rs_grid_kind(w, node) == RS_NODE_LABEL || parent < 0)
        return false;
    if (rs_grid_kind(w, parent) == RS_NODE_CASE || rs_grid_kind(w, parent) == RS_NODE_DEFAULT)
        return is_followed_case(w, parent);
    int around = tree->nodes[parent].parent;
    return rs_grid_kind(w, parent) == RS_NODE_COMPOUND && around >= 0 &&
           rs_grid_kind(w, around) == RS_NODE_SWITCH;
}

/* A statement with attributes is one behind them. */
static void walk_unexposed(rs_grid_walk *w, int node)
{
    int last = rs_node_last(w->tree, node);
    RS_EACH_CHILD(child, w->tree, node)
        if (child == last && w->tree->nodes[child].group == RS_NODES_STATE)
            rs_grid_walk_statement(w, child);
        else
            rs_grid_lose_all(w, child, "a statement that is not followed has the address");
}

/* Statements that declare nothing, or what they use is all below them. */
static bool is_without_names(const rs_grid_walk *w, int node)
{
    int kind = rs_grid_kind(w, node);
    return kind == RS_NODE_EMPTY || kind == RS_NODE_ASM;
}

static void walk_reached(rs_grid_walk *w, int node)
{
    switch ((int)rs_grid_kind(w, node)) {
    case RS_NODE_COMPOUND:
    case RS_NODE_DECLARE:
    case RS_NODE_CASE:
    case RS_NODE_DEFAULT:
    case RS_NODE_LABEL:
        walk_children(w, node);
        return;
    case RS_NODE_ATTRIBUTED:
        walk_unexposed(w, node);
        return;
    case RS_NODE_VARIABLE:
        walk_variable(w, node);
        return;
    case RS_NODE_IF:
        walk_if(w, node);
        return;
    case RS_NODE_FOR:
        walk_for(w, node);
        return;
    case RS_NODE_WHILE:
        walk_loop(w,
                  &(loop_parts){rs_node_child(w->tree, node, 0), rs_node_child(w->tree, node, 1),
                                -1, false},
                  node);
        return;
    case RS_NODE_DO:
        walk_loop(w,
                  &(loop_parts){rs_node_child(w->tree, node, 1), rs_node_child(w->tree, node, 0),
                                -1, true},
                  node);
        return;
    case RS_NODE_SWITCH:
        walk_switch(w, node);
        return;
    case RS_NODE_RETURN:
        walk_return(w, node);
        return;
    case RS_NODE_BREAK:
        if (w->innermost != NULL)
            leave(w, &w->innermost->breaks, node);
        return;
    case RS_NODE_CONTINUE:
        if (w->innermost != NULL)
            leave(w, &w->innermost->continues, node);
        return;
    case RS_NODE_GOTO:
    case RS_NODE_INDIRECT_GOTO:
        rs_grid_keep_known(w, node, "goto is not followed, which may change the type");
        rs_grid_lose_all(w, node, "goto is not followed, which has the address");
        return;
    default:
        if (w->tree->nodes[node].group == RS_NODES_STATE && !is_without_names(w, node))
            rs_grid_keep_known(w, node, "a statement that is not followed has the address");
        rs_grid_evaluate(w, node);
    }
}

bool rs_grid_step(rs_grid_walk *w, int node)
{
    if (++w->steps > RS_GRID_STEP_LIMIT && w->too_many == 0)
        w->too_many = node;
    return w->too_many == 0;
}

/* What is not reached is walked too, since it has to be written like the rest. */
void rs_grid_walk_statement(rs_grid_walk *w, int node)
{
    if (node < 0 || w->context.no_memory || !rs_grid_step(w, node))
        return;
    bool label = rs_grid_kind(w, node) == RS_NODE_CASE ||
                 rs_grid_kind(w, node) == RS_NODE_DEFAULT || rs_grid_kind(w, node) == RS_NODE_LABEL,
         unreached = w->flow.unreached && !label;
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
        if (w->tree->nodes[i].is == RS_NODE_REFERENCE &&
            (i < function || w->tree->nodes[i].begin >= w->tree->nodes[function].end) &&
            rs_grid_function(w, w->tree->nodes[i].declaration) == function)
            return true;
    return false;
}

static void walk_root(rs_grid_walk *w, int function)
{
    rs_flow_free(&w->flow);
    w->returns = (rs_flow){.unreached = true};
    w->returned = RS_EXTENDED_OF(RS_EXTENDED_NEW);
    w->innermost = NULL;
    w->calls[0] = function;
    w->depth = 1;
    w->walked[function] = true;
    RS_EACH_CHILD(child, w->tree, function) {
        if (rs_grid_kind(w, child) != RS_NODE_PARAMETER)
            continue;
        uint64_t key = w->tree->nodes[child].place + 1;
        int grid = rs_grid_of_key(w, key);
        if (grid >= 0)
            w->found->outside[grid] = true;
        rs_grid_assign(
            w, key, RS_EXTENDED_OF(grid >= 0 ? RS_EXTENDED_NEW : RS_EXTENDED_UNTRANSFORMED), child);
    }
    rs_grid_walk_statement(w, rs_grid_body(w->tree, function));
    rs_flow_free(&w->returns);
    w->depth = 0;
}

static void walk_functions(rs_grid_walk *w)
{
    const rs_tree *tree = w->tree;
    for (int pass = 0; pass < 2; pass++)
        for (int i = 1; i < tree->node_count && !w->context.no_memory && w->too_many == 0; i++)
            if (is_known(w, i) && !w->walked[i] && (pass == 1 || !is_called(w, i)))
                walk_root(w, i);
    for (int i = 1; i < tree->node_count && !w->context.no_memory; i++) {
        bool name = tree->nodes[i].is == RS_NODE_REFERENCE && !w->followed[i];
        int function = name ? rs_grid_function(w, tree->nodes[i].declaration) : -1;
        if (function >= 0) {
            /* Whoever calls a function in a way that is not followed may hand over anything. */
            RS_EACH_CHILD(child, w->tree, function) {
                int grid = rs_grid_kind(w, child) == RS_NODE_PARAMETER
                               ? rs_grid_of_key(w, w->tree->nodes[child].place + 1)
                               : -1;
                if (grid >= 0)
                    rs_grid_keep_declared(&w->context, grid, i,
                                          "a call that is not followed may set %s");
            }
        }
    }
}

restride_status rs_propagate(rs_propagation *found, const rs_translation_unit *program)
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
                      .functions = calloc((size_t)program->tree.node_count, sizeof *w.functions),
                      .followed = calloc((size_t)program->tree.node_count, sizeof *w.followed),
                      .walked = calloc((size_t)program->tree.node_count, sizeof *w.walked)};
    w.context.no_memory = found->parents == NULL || found->kept == NULL || found->outside == NULL ||
                          found->outer == NULL || found->sizes == NULL || w.functions == NULL ||
                          w.followed == NULL || w.walked == NULL;
    for (size_t g = 0; !w.context.no_memory && g < count; g++)
        found->parents[g] = (int)g;
    for (int i = 1; !w.context.no_memory && i < program->tree.node_count; i++)
        if (program->tree.nodes[i].is == RS_NODE_FUNCTION ||
            program->tree.nodes[i].is == RS_NODE_TEMPLATE)
            w.functions[w.function_count++] = i;
    if (!w.context.no_memory)
        rs_grid_find_sizes(&w);
    if (!w.context.no_memory && count > 0) {
        walk_functions(&w);
        rs_grid_judge_declarations(&w);
    }
    rs_flow_free(&w.flow);
    free(w.functions);
    free(w.followed);
    free(w.walked);
    free(w.context.escaped);
    if (!w.context.no_memory)
        rs_grid_judge_extents(&w);
    if (!w.context.no_memory && w.too_many == 0)
        return rs_propagation_close(found);
    rs_propagation_free(found);
    if (w.context.no_memory)
        return rs_fail_memory("the propagation of layouts");
    const char *file;
    size_t line;
    rs_flat_locate(&program->flat, program->tree.nodes[w.too_many].begin, &file, &line);
    return rs_fail(RESTRIDE_UNSUPPORTED, "%s:%zu: The program is too large to follow its grids.",
                   file, line);
}
