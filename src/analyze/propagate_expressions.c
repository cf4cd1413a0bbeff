/* Expressions of the walk of propagate.h: which grid a pointer is, and what loses it. */
#include "analyze/extents.h"
#include "analyze/propagate_walk.h"
#include "base/list.h"
#include "source/query.h"

#include <stdio.h>
#include <string.h>

int rs_grid_kind(const rs_grid_walk *w, int node)
{
    return w->tree->nodes[node].is;
}

bool rs_grid_is_pointer(const rs_tree *tree, int node)
{
    return rs_type_is_address(rs_type_of(tree, node));
}

/* ---- accesses ---- */

static void record(rs_grid_walk *w, int node, rs_extended_type type)
{
    rs_propagation *found = w->found;
    for (int i = 0; i < found->access_count; i++)
        if (found->accesses[i].node == node) {
            rs_class_unite(&w->context, found->accesses[i].class, type.class);
            return;
        }
    RS_LIST_ADD(found->accesses, found->access_count, w->context.no_memory,
                (rs_grid_access){node, type.grid, type.class});
}

/* Whether a subscript stands behind its base in [], not as <: :> or i[g]. */
static bool is_bracketed(const rs_grid_walk *w, int node)
{
    const rs_tree *tree = w->tree;
    int base = rs_node_child(tree, node, 0);
    size_t at = tree->nodes[base].end, end = tree->nodes[node].end;
    while (at < end && strchr(" \t\n", tree->text[at]) != NULL)
        at++;
    return at < end && tree->text[at] == '[' && tree->text[end - 1] == ']';
}

/* A chain of subscripts, from its outermost node; the type of its base. */
static rs_extended_type subscripts(rs_grid_walk *w, int node, int *count, bool *bracketed)
{
    *count = 0;
    *bracketed = true;
    while (rs_grid_kind(w, node) == RS_NODE_SUBSCRIPT) {
        int index = rs_node_child(w->tree, node, 1);
        rs_grid_keep(w, rs_grid_evaluate(w, index), index, "a subscript is the address");
        (*count)++;
        *bracketed = *bracketed && is_bracketed(w, node);
        node = rs_node_inner(w->tree, rs_node_child(w->tree, node, 0));
    }
    return rs_grid_evaluate(w, node);
}

/* Whether what a chain of subscripts begins with is a grid's name, or a cast with its extents. */
static bool is_declared_grid(rs_grid_walk *w, int node, rs_extended_type base)
{
    uint64_t key = 0;
    while (rs_grid_kind(w, node) == RS_NODE_SUBSCRIPT)
        node = rs_node_inner(w->tree, rs_node_child(w->tree, node, 0));
    if (rs_grid_kind(w, node) == RS_NODE_REFERENCE)
        return rs_grid_locate(w, node, &key) && rs_grid_of_key(w, key) >= 0;
    const rs_grid *grid = &w->program->grids.grids[base.grid];
    return w->tree->nodes[node].group == RS_NODES_EXPRESS && grid->name_length == 0 &&
           w->tree->nodes[node].begin < grid->name && grid->name < w->tree->nodes[node].end &&
           rs_grid_kind(w, node) != RS_NODE_CALL;
}

rs_extended_type rs_grid_subscript(rs_grid_walk *w, int node)
{
    int count;
    bool bracketed;
    rs_extended_type base = subscripts(w, node, &count, &bracketed);
    if (base.kind != RS_EXTENDED_GRID) {
        rs_grid_keep(w, base, node, "a subscript is put to the address");
        return RS_UNTRANSFORMED_TYPE;
    }
    if (!w->program->grids.grids[base.grid].flat && !is_declared_grid(w, node, base))
        rs_grid_keep(w, base, node, "an access by what is declared as no grid");
    bool whole = count == rs_grid_subscripts(&w->program->grids.grids[base.grid]);
    if (whole && rs_type_bytes(rs_type_of(w->tree, node)) != w->found->sizes[base.grid])
        rs_grid_keep(w, base, node, "an access to elements of another size");
    if (!bracketed)
        rs_grid_keep(w, base, node, "a subscript is not written in brackets");
    else if (whole)
        record(w, node, base);
    else
        rs_grid_keep(w, base, node, "not all subscripts are given");
    return RS_UNTRANSFORMED_TYPE;
}

/* ---- operators ---- */

static rs_extended_type evaluate_address(rs_grid_walk *w, int node)
{
    int operand = rs_node_inner(w->tree, rs_node_child(w->tree, node, 0));
    uint64_t key = 0;
    if (operand < 0)
        return RS_UNTRANSFORMED_TYPE;
    if (rs_grid_kind(w, operand) == RS_NODE_SUBSCRIPT) {
        int count;
        bool bracketed;
        rs_extended_type base = subscripts(w, operand, &count, &bracketed);
        rs_grid_keep(w, base, node, "the address of a part");
        return RS_UNTRANSFORMED_TYPE;
    }
    rs_grid_notice_change(w, operand, node);
    if (!rs_grid_is_pointer(w->tree, operand) || !rs_grid_locate(w, operand, &key)) {
        rs_grid_keep(w, rs_grid_evaluate(w, operand), node, "the address of a part");
        return RS_UNTRANSFORMED_TYPE;
    }
    return (rs_extended_type){
        .kind = RS_EXTENDED_REFERENCE, .class = -1, .grid = -1, .target = key};
}

static rs_extended_type evaluate_unary(rs_grid_walk *w, int node)
{
    uint64_t key = 0;
    if (rs_node_is_unary(w->tree, node, "&"))
        return evaluate_address(w, node);
    if (rs_node_is_unary(w->tree, node, "*") && rs_grid_is_pointer(w->tree, node) &&
        rs_grid_locate(w, node, &key))
        return rs_grid_read(w, key, rs_type_of(w->tree, node), node);
    int operand = rs_node_child(w->tree, node, 0);
    rs_extended_type type = operand >= 0 ? rs_grid_evaluate(w, operand) : RS_UNTRANSFORMED_TYPE;
    if (rs_node_is_step(w->tree, node)) {
        rs_grid_keep(w, type, node, "arithmetic moves a pointer");
        rs_grid_notice_change(w, rs_node_inner(w->tree, operand), node);
    } else if (rs_node_is_unary(w->tree, node, "*")) {
        rs_grid_keep(w, type, node, "a row is taken");
    } else if (!rs_node_is_unary(w->tree, node, "!")) {
        rs_grid_keep(w, type, node, "an operator is applied to the address");
    }
    return RS_UNTRANSFORMED_TYPE;
}

/* What only one way through an expression does: what was known before it holds as well. */
static rs_extended_type evaluate_sometimes(rs_grid_walk *w, int node, int operand)
{
    rs_flow before = rs_flow_copy(&w->context, &w->flow);
    rs_extended_type type = rs_grid_evaluate(w, operand);
    rs_flow_meet(&w->context, &w->flow, &before, node);
    rs_flow_free(&before);
    return type;
}

static rs_extended_type evaluate_assignment(rs_grid_walk *w, int node, int left, int right)
{
    rs_extended_type type = rs_grid_evaluate(w, right);
    if (rs_grid_is_pointer(w->tree, left))
        return rs_grid_store(w, left, type, node);
    rs_grid_keep(w, rs_grid_evaluate(w, left), node, "something is stored in the address");
    rs_grid_keep(w, type, node, "what is no pointer gets the address");
    rs_grid_notice_change(w, rs_node_inner(w->tree, left), node);
    return RS_UNTRANSFORMED_TYPE;
}

/* Comparisons change nothing; p2 + t of table 6.1, and every other operator, lose the address. */
static rs_extended_type evaluate_binary(rs_grid_walk *w, int node)
{
    const rs_tree *tree = w->tree;
    int left = rs_node_child(tree, node, 0), right = rs_node_child(tree, node, 1);
    if (right < 0) {
        rs_grid_lose_all(w, node, "an operator that is not followed has the address");
        return RS_UNTRANSFORMED_TYPE;
    }
    if (rs_node_is_binary(tree, node, "="))
        return evaluate_assignment(w, node, left, right);
    rs_extended_type a = rs_grid_evaluate(w, left);
    if (rs_node_is_binary(tree, node, "&& ||")) {
        evaluate_sometimes(w, node, right);
        return RS_UNTRANSFORMED_TYPE;
    }
    rs_extended_type b = rs_grid_evaluate(w, right);
    if (rs_node_is_binary(tree, node, ","))
        return b;
    if (!rs_node_is_binary(tree, node, "== != < > <= >=")) {
        rs_grid_keep(w, a, node, "arithmetic on the address");
        rs_grid_keep(w, b, node, "arithmetic on the address");
    }
    return RS_UNTRANSFORMED_TYPE;
}

static rs_extended_type evaluate_compound(rs_grid_walk *w, int node)
{
    int left = rs_node_child(w->tree, node, 0), right = rs_node_child(w->tree, node, 1);
    if (right >= 0)
        rs_grid_keep(w, rs_grid_evaluate(w, right), node, "arithmetic on the address");
    if (left >= 0) {
        rs_grid_keep(w, rs_grid_evaluate(w, left), node, "arithmetic moves a pointer");
        rs_grid_notice_change(w, rs_node_inner(w->tree, left), node);
    }
    return RS_UNTRANSFORMED_TYPE;
}

/* New memory that may be what is chosen has another name then. */
static rs_extended_type choose_from(rs_grid_walk *w, rs_extended_type type, int node)
{
    if (type.kind != RS_EXTENDED_NEW || type.target == 0)
        return type;
    rs_grid_keep(w, type, node, "");
    return RS_UNTRANSFORMED_TYPE;
}

static rs_extended_type evaluate_choice(rs_grid_walk *w, int node)
{
    int yes = rs_node_child(w->tree, node, 1), no = rs_node_child(w->tree, node, 2);
    if (no < 0) {
        rs_grid_lose_all(w, node, "a choice that is not followed has the address");
        return RS_UNTRANSFORMED_TYPE;
    }
    rs_grid_evaluate(w, rs_node_child(w->tree, node, 0));
    rs_flow before = rs_flow_copy(&w->context, &w->flow);
    rs_extended_type a = choose_from(w, rs_grid_evaluate(w, yes), node);
    rs_flow after_yes = w->flow;
    w->flow = before;
    rs_extended_type b = choose_from(w, rs_grid_evaluate(w, no), node);
    rs_flow_meet(&w->context, &w->flow, &after_yes, node);
    rs_flow_free(&after_yes);
    rs_extended_type type = rs_type_meet(&w->context, a, b, node);
    rs_flow_settle(&w->context, &w->flow, node);
    return type;
}

/* ---- casts ---- */

/* The grid that a cast's brackets declare; -1 for none. */
static int grid_of_cast(const rs_grid_walk *w, int node, int operand)
{
    for (int g = 0; g < w->program->grids.count; g++) {
        const rs_grid *grid = &w->program->grids.grids[g];
        if (grid->name_length == 0 && w->tree->nodes[node].begin < grid->name &&
            grid->name < w->tree->nodes[operand].begin)
            return g;
    }
    return -1;
}

/* The declared grid that gets what an expression is: its declaration, or an assignment to it. */
static int grid_that_gets(const rs_grid_walk *w, int node)
{
    const rs_tree *tree = w->tree;
    int parent = tree->nodes[node].parent;
    while (parent >= 0 && rs_node_inner(tree, parent) == rs_node_inner(tree, node))
        parent = tree->nodes[parent].parent;
    if (parent < 0)
        return -1;
    if (rs_grid_kind(w, parent) == RS_NODE_VARIABLE)
        return rs_grid_of_key(w, tree->nodes[parent].place + 1);
    int left = rs_node_inner(tree, rs_node_child(tree, parent, 0));
    if (!rs_node_is_binary(tree, parent, "=") || rs_grid_kind(w, left) != RS_NODE_REFERENCE)
        return -1;
    return rs_grid_of_key(w, rs_grid_key(tree->nodes[left].declaration));
}

static bool is_returned(const rs_grid_walk *w, int node)
{
    int parent = w->tree->nodes[node].parent;
    while (parent >= 0 && rs_node_inner(w->tree, parent) == rs_node_inner(w->tree, node))
        parent = w->tree->nodes[parent].parent;
    return parent >= 0 && rs_grid_kind(w, parent) == RS_NODE_RETURN;
}

/* New memory becomes what a cast says: it is written with the grid that gets it. */
static bool cast_new(rs_grid_walk *w, int cast, bool rows, int node)
{
    int target = cast >= 0 ? grid_that_gets(w, node) : -1;
    if (target >= 0)
        rs_grid_link_add(&w->context, cast, target);
    return !rows || target >= 0 || is_returned(w, node);
}

/* A cast to a flat pointer loses the dimension vector; void * does not. */
static bool cast_grid(rs_grid_walk *w, int cast, bool rows, rs_extended_type *type)
{
    if (!rows || cast < 0)
        return false;
    if (!rs_extents_same(w->program, w->found, cast, type->grid))
        return false;
    rs_grid_link_add(&w->context, cast, type->class);
    type->grid = cast;
    return true;
}

static void find_size_of_cast(const rs_grid_walk *w, int cast, const rs_syntax_type *type)
{
    while (type->kind == RS_TYPE_ARRAY)
        type = rs_type_below(type);
    w->found->sizes[cast] = rs_type_bytes(type);
}

static rs_extended_type convert(rs_grid_walk *w, int node, int operand, rs_extended_type type)
{
    const rs_syntax_type *to = rs_type_of(w->tree, node);
    if (to->kind == RS_TYPE_VOID)
        return RS_UNTRANSFORMED_TYPE;
    bool pointer = to->kind == RS_TYPE_POINTER;
    const rs_syntax_type *target = pointer ? rs_type_below(to) : to;
    bool rows = pointer && target->kind == RS_TYPE_ARRAY;
    int cast = rows ? grid_of_cast(w, node, operand) : -1;
    if (cast >= 0)
        find_size_of_cast(w, cast, target);
    bool followed = type.kind == RS_EXTENDED_NEW ? pointer && cast_new(w, cast, rows, node)
                                                 : rs_grid_fits(w, to, type);
    if (!followed && type.kind == RS_EXTENDED_GRID)
        followed = cast_grid(w, cast, rows, &type);
    if (followed)
        return type;
    rs_grid_keep(w, type, node, "a cast loses the extents");
    return RS_UNTRANSFORMED_TYPE;
}

static rs_extended_type evaluate_cast(rs_grid_walk *w, int node)
{
    int operand = rs_node_last(w->tree, node);
    RS_EACH_CHILD(child, w->tree, node)
        if (child != operand)
            rs_grid_lose_all(w, child, "a type has the address");
    if (operand < 0 || w->tree->nodes[operand].group != RS_NODES_EXPRESS)
        return RS_UNTRANSFORMED_TYPE;
    return convert(w, node, operand, rs_grid_evaluate(w, operand));
}

/* ---- sizes ---- */

/* A grid's name behind subscripts and stars, which are counted; -1 for anything else. */
static int measured_grid(rs_grid_walk *w, int node, int *depth)
{
    uint64_t key = 0;
    node = rs_node_inner(w->tree, node);
    for (*depth = 0; node >= 0 && rs_grid_kind(w, node) != RS_NODE_REFERENCE; (*depth)++) {
        int index = rs_node_inner(w->tree, rs_node_child(w->tree, node, 1));
        bool element = rs_grid_kind(w, node) == RS_NODE_SUBSCRIPT &&
                       (rs_grid_kind(w, index) == RS_NODE_INTEGER ||
                        rs_grid_kind(w, index) == RS_NODE_REFERENCE);
        bool target = rs_node_is_unary(w->tree, node, "*");
        if (!element && !target)
            return -1;
        node = rs_node_inner(w->tree, rs_node_child(w->tree, node, 0));
    }
    return node >= 0 && rs_grid_locate(w, node, &key) ? rs_grid_of_key(w, key) : -1;
}

static bool is_sizeof(const rs_grid_walk *w, int node)
{
    return strncmp(w->tree->text + w->tree->nodes[node].begin, "sizeof", 6) == 0;
}

/* Whether the extents behind the first `depth` are the same variables as where they are declared.
 */
static bool are_extents_seen(const rs_grid_walk *w, const rs_grid *grid, int depth, int node)
{
    for (int d = depth; d < grid->rank; d++)
        if (!rs_extent_means_same(w->tree, grid->extents[d], grid->name,
                                  w->tree->nodes[node].begin))
            return false;
    return true;
}

static void record_measure(rs_grid_walk *w, int node, int grid, int depth)
{
    rs_propagation *found = w->found;
    for (int i = 0; i < found->measure_count; i++)
        if (found->measures[i].node == node)
            return;
    RS_LIST_ADD(found->measures, found->measure_count, w->context.no_memory,
                (rs_grid_measure){node, grid, depth});
}

/* The size of a part changes with the declaration, so these stay as they are. */
static void keep_measured(rs_grid_walk *w, int node)
{
    for (int i = node + 1; i < w->tree->node_count && w->tree->nodes[i].parent >= node; i++) {
        uint64_t key = 0;
        if (rs_grid_kind(w, i) != RS_NODE_REFERENCE || !rs_grid_locate(w, i, &key))
            continue;
        int grid = rs_grid_of_key(w, key);
        rs_grid_keep(w, rs_flow_get(&w->flow, key), node, "sizeof asks for a part");
        if (grid >= 0 && !w->program->grids.grids[grid].flat)
            rs_grid_keep_declared(&w->context, grid, node, "sizeof asks for a part of %s");
    }
}

/* sizeof *g is the size of its first row, and of an element when g has become flat. */
static rs_extended_type evaluate_size(rs_grid_walk *w, int node)
{
    int depth = 0, operand = rs_node_child(w->tree, node, 0);
    int number = operand >= 0 && is_sizeof(w, node) ? measured_grid(w, operand, &depth) : -1;
    const rs_grid *grid = number >= 0 ? &w->program->grids.grids[number] : NULL;
    if (grid != NULL && (depth == 0 || (grid->flat && depth == 1)))
        return RS_UNTRANSFORMED_TYPE; /* nothing changes */
    if (grid != NULL && !grid->flat && depth <= grid->rank &&
        are_extents_seen(w, grid, depth, node))
        record_measure(w, node, number, depth);
    else
        keep_measured(w, node);
    return RS_UNTRANSFORMED_TYPE;
}

/* ---- expressions ---- */

/* Members, and what libclang has no name for: values go in, and what comes out is no grid. */
static rs_extended_type evaluate_parts(rs_grid_walk *w, int node)
{
    RS_EACH_CHILD(child, w->tree, node) {
        if (w->tree->nodes[child].group == RS_NODES_EXPRESS)
            rs_grid_keep(w, rs_grid_evaluate(w, child), node,
                         "an expression that is not followed has the address");
        else
            rs_grid_lose_all(w, child, "an expression that is not followed has the address");
    }
    return RS_UNTRANSFORMED_TYPE;
}

/* An implicit conversion is what it converts. */
static rs_extended_type evaluate_unexposed(rs_grid_walk *w, int node)
{
    int child = rs_node_child(w->tree, node, 0);
    bool implicit =
        child >= 0 && w->tree->nodes[child].next < 0 && rs_node_same_bytes(w->tree, node, child);
    if (implicit)
        return rs_grid_evaluate(w, child);
    bool changes = false;
    for (int i = node + 1; i < w->tree->node_count && w->tree->nodes[i].parent >= node; i++)
        changes = changes || rs_node_is_assignment(w->tree, i);
    if (!changes)
        return evaluate_parts(w, node);
    rs_grid_lose_all(w, node, "an expression that is not followed has the address");
    return RS_UNTRANSFORMED_TYPE;
}

/* Structures and arrays that begin with addresses. */
static rs_extended_type evaluate_list(rs_grid_walk *w, int node)
{
    RS_EACH_CHILD(child, w->tree, node)
        rs_grid_keep(w, rs_grid_evaluate(w, child), node,
                     "a list of values, which is not followed, gets the address");
    return RS_UNTRANSFORMED_TYPE;
}

static rs_extended_type evaluate_name(rs_grid_walk *w, int node)
{
    uint64_t key = 0;
    if (!rs_grid_is_pointer(w->tree, node) || !rs_grid_locate(w, node, &key))
        return RS_UNTRANSFORMED_TYPE;
    return rs_grid_read(w, key, rs_type_of(w->tree, node), node);
}

/* The forms that are followed; every other one loses all that it names. */
rs_extended_type rs_grid_evaluate(rs_grid_walk *w, int node)
{
    static rs_extended_type (*const forms[RS_NODE_ANY_KINDS])(rs_grid_walk * w, int node) = {
        [RS_NODE_REFERENCE] = evaluate_name,     [RS_NODE_IMPLICIT] = evaluate_unexposed,
        [RS_NODE_MEMBER] = evaluate_parts,       [RS_NODE_LIST] = evaluate_list,
        [RS_NODE_SUBSCRIPT] = rs_grid_subscript, [RS_NODE_UNARY] = evaluate_unary,
        [RS_NODE_BINARY] = evaluate_binary,      [RS_NODE_ASSIGN] = evaluate_compound,
        [RS_NODE_CONDITIONAL] = evaluate_choice, [RS_NODE_CAST] = evaluate_cast,
        [RS_NODE_STATIC_CAST] = evaluate_cast,   [RS_NODE_REINTERPRET_CAST] = evaluate_cast,
        [RS_NODE_CALL] = rs_grid_call,           [RS_NODE_SIZEOF] = evaluate_size,
    };
    if (node < 0 || w->context.no_memory || !rs_grid_step(w, node))
        return RS_UNTRANSFORMED_TYPE;
    const int kind = rs_grid_kind(w, node);
    if (forms[kind] != NULL)
        return forms[kind](w, node);
    if (kind == RS_NODE_PAREN)
        return rs_grid_evaluate(w, rs_node_child(w->tree, node, 0));
    if (kind == RS_NODE_INTEGER || kind == RS_NODE_NULL_POINTER)
        return RS_EXTENDED_OF(RS_EXTENDED_NEW); /* no memory that there was before */
    rs_grid_lose_all(w, node, "a construct that is not followed has the address");
    return RS_UNTRANSFORMED_TYPE;
}
