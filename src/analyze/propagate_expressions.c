/* Expressions of the walk of propagate.h: which grid a pointer is, and what loses it. */
#include "analyze/propagate_walk.h"
#include "source/query.h"
#include "source/words.h"

#include <stdlib.h>
#include <string.h>

enum CXCursorKind rs_grid_kind(const rs_grid_walk *w, int node)
{
    return w->tree->nodes[node].kind;
}

bool rs_grid_is_pointer(const rs_tree *tree, int node)
{
    return rs_node_is_pointer(tree, node) || rs_node_type(tree, node).kind == CXType_VariableArray;
}

void rs_grid_spelling(CXCursor cursor, char name[64])
{
    CXString spelling = clang_getCursorSpelling(cursor);
    const char *text = clang_getCString(spelling);
    strncpy(name, text != NULL ? text : "", 63);
    name[63] = '\0';
    clang_disposeString(spelling);
}

void rs_grid_keep(rs_grid_walk *w, rs_extended_type type, int node, const char *what)
{
    char name[64];
    if (type.kind == RS_TYPE_GRID)
        rs_class_keep(&w->context, type.class, node, "%s of %s", what,
                      rs_grid_name(w->program, type.grid, name));
}

/* ---- variables ---- */

uint64_t rs_grid_key(CXCursor cursor)
{
    return (uint64_t)rs_cursor_offset(cursor) + 1;
}

int rs_grid_of_key(const rs_grid_walk *w, uint64_t key)
{
    return rs_grids_at(&w->program->grids, (size_t)(key - 1));
}

/* A declared grid and what is handed to it have the same extents. */
static void compare_extents(rs_grid_walk *w, int grid, rs_extended_type type, int node)
{
    const rs_grid *to = &w->program->grids.grids[grid];
    const rs_grid *from = &w->program->grids.grids[type.grid];
    bool same = to->rank == from->rank && to->flat == from->flat &&
                w->found->sizes[grid] == w->found->sizes[type.grid];
    for (int d = 0; same && d < to->rank; d++)
        same = rs_extent_same(to->extents[d], from->extents[d]);
    char name[64], other[64];
    if (!same) {
        rs_grid_name(w->program, grid, name);
        rs_grid_name(w->program, type.grid, other);
        rs_class_keep(&w->context, type.class, node, "%s and %s have different extents or elements",
                      other, name);
        rs_class_keep(&w->context, grid, node, "%s and %s have different extents or elements",
                      other, name);
    }
}

void rs_grid_assign(rs_grid_walk *w, uint64_t key, rs_extended_type type, int node)
{
    int grid = rs_grid_of_key(w, key);
    char name[64];
    if (grid >= 0 && type.kind == RS_TYPE_NEW) {
        type = (rs_extended_type){.kind = RS_TYPE_GRID, .class = grid, .grid = grid};
    } else if (grid >= 0 && type.kind == RS_TYPE_GRID) {
        compare_extents(w, grid, type, node);
        type.grid = grid;
    } else if (grid >= 0) {
        rs_class_keep(&w->context, grid, node, "%s is set to memory that is no grid",
                      rs_grid_name(w->program, grid, name));
        rs_grid_link_add(&w->context, grid, grid);
    }
    if (grid >= 0 && type.kind == RS_TYPE_GRID)
        rs_grid_link_add(&w->context, grid, type.class);
    rs_flow_set(&w->context, &w->flow, key, type);
}

/* Members and elements stand for many variables, so they keep what they had as well. */
static void assign_some(rs_grid_walk *w, uint64_t key, rs_extended_type type, int node)
{
    for (int i = 0; i < w->flow.count; i++)
        if (w->flow.variables[i].key == key)
            type = rs_type_meet(&w->context, w->flow.variables[i].type, type, node);
    rs_flow_set(&w->context, &w->flow, key, type);
}

/* Extents are read again at each access, so their variables stay as they are. */
static void notice_change(rs_grid_walk *w, int target, int node)
{
    if (target < 0 || rs_grid_kind(w, target) != CXCursor_DeclRefExpr)
        return;
    char name[64];
    rs_grid_spelling(w->tree->nodes[target].cursor, name);
    for (int g = 0; g < w->program->grids.count; g++) {
        const rs_grid *grid = &w->program->grids.grids[g];
        bool inside = false;
        for (int i = 0; i < w->depth; i++)
            inside = inside || (w->tree->nodes[w->calls[i]].begin < grid->name &&
                                grid->name < w->tree->nodes[w->calls[i]].end);
        if (!inside || w->tree->nodes[node].begin < grid->name)
            continue;
        for (int d = 0; d < grid->rank; d++) {
            const char *extent = grid->extents[d];
            size_t at = 0, word, length;
            while (extent != NULL && rs_word_next(extent, strlen(extent), &at, &word, &length))
                if (rs_word_equals(extent, word, length, name)) {
                    rs_class_keep(&w->context, g, node, "%s, an extent, is changed", name);
                    rs_grid_link_add(&w->context, g, g);
                }
        }
    }
}

typedef enum { PLACE_NONE, PLACE_VARIABLE, PLACE_SOME } place_kind;

/* Where a pointer is stored. */
static place_kind locate(rs_grid_walk *w, int node, uint64_t *key)
{
    node = rs_node_inner(w->tree, node);
    if (node < 0)
        return PLACE_NONE;
    if (rs_grid_kind(w, node) == CXCursor_DeclRefExpr ||
        rs_grid_kind(w, node) == CXCursor_MemberRefExpr) {
        CXCursor declared = clang_getCursorReferenced(w->tree->nodes[node].cursor);
        if (clang_Cursor_isNull(declared))
            return PLACE_NONE;
        *key = rs_grid_key(declared);
        return rs_grid_kind(w, node) == CXCursor_DeclRefExpr ? PLACE_VARIABLE : PLACE_SOME;
    }
    if (rs_grid_kind(w, node) == CXCursor_UnaryOperator && rs_node_is_prefix(w->tree, node, "*")) {
        rs_extended_type pointer = rs_grid_evaluate(w, rs_node_child(w->tree, node, 0));
        *key = pointer.target;
        return pointer.kind == RS_TYPE_REFERENCE ? PLACE_VARIABLE : PLACE_NONE;
    }
    if (rs_grid_kind(w, node) == CXCursor_ArraySubscriptExpr && rs_grid_is_pointer(w->tree, node)) {
        place_kind base = locate(w, rs_node_child(w->tree, node, 0), key);
        return base == PLACE_NONE ? PLACE_NONE : PLACE_SOME;
    }
    return PLACE_NONE;
}

static void store(rs_grid_walk *w, int target, rs_extended_type type, int node)
{
    uint64_t key = 0;
    switch (locate(w, target, &key)) {
    case PLACE_VARIABLE:
        rs_grid_assign(w, key, type, node);
        break;
    case PLACE_SOME:
        assign_some(w, key, type, node);
        break;
    default:
        rs_grid_keep(w, type, node, "a place that is not followed gets the address");
    }
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
    if ((found->access_count & (found->access_count - 1)) == 0) {
        size_t wanted = found->access_count == 0 ? 1 : 2 * (size_t)found->access_count;
        rs_grid_access *grown = realloc(found->accesses, wanted * sizeof *grown);
        w->context.no_memory = w->context.no_memory || grown == NULL;
        if (grown == NULL)
            return;
        found->accesses = grown;
    }
    found->accesses[found->access_count++] = (rs_grid_access){node, type.grid, type.class};
}

/* A chain of subscripts, from its outermost node; the type of its base. */
static rs_extended_type subscripts(rs_grid_walk *w, int node, int *count)
{
    *count = 0;
    while (rs_grid_kind(w, node) == CXCursor_ArraySubscriptExpr) {
        rs_grid_evaluate(w, rs_node_child(w->tree, node, 1));
        (*count)++;
        node = rs_node_inner(w->tree, rs_node_child(w->tree, node, 0));
    }
    return rs_grid_evaluate(w, node);
}

/* Whether the declaration, or the cast, of what a chain of subscripts begins with is a grid's. */
static bool is_declared_grid(rs_grid_walk *w, int node)
{
    uint64_t key = 0;
    while (rs_grid_kind(w, node) == CXCursor_ArraySubscriptExpr)
        node = rs_node_inner(w->tree, rs_node_child(w->tree, node, 0));
    if (clang_isExpression(rs_grid_kind(w, node)) && rs_grid_kind(w, node) != CXCursor_CallExpr &&
        rs_grid_kind(w, node) != CXCursor_DeclRefExpr)
        return true;
    return rs_grid_kind(w, node) == CXCursor_DeclRefExpr && locate(w, node, &key) != PLACE_NONE &&
           rs_grid_of_key(w, key) >= 0;
}

rs_extended_type rs_grid_subscript(rs_grid_walk *w, int node)
{
    int count;
    rs_extended_type base = subscripts(w, node, &count);
    if (base.kind != RS_TYPE_GRID) {
        uint64_t key = 0;
        bool pointer = rs_grid_is_pointer(w->tree, node) && locate(w, node, &key) == PLACE_SOME;
        return pointer ? rs_flow_get(&w->flow, key) : RS_TYPE_OF(RS_TYPE_UNTRANSFORMED);
    }
    if (!w->program->grids.grids[base.grid].flat && !is_declared_grid(w, node))
        rs_grid_keep(w, base, node, "an access by what is declared as no grid");
    bool whole = count == rs_grid_subscripts(&w->program->grids.grids[base.grid]);
    if (whole && clang_Type_getSizeOf(rs_node_type(w->tree, node)) != w->found->sizes[base.grid])
        rs_grid_keep(w, base, node, "an access to elements of another size");
    if (whole)
        record(w, node, base);
    else
        rs_grid_keep(w, base, node, "not all subscripts are given");
    return RS_TYPE_OF(RS_TYPE_UNTRANSFORMED);
}

/* ---- operators ---- */

static rs_extended_type evaluate_address(rs_grid_walk *w, int node)
{
    int operand = rs_node_inner(w->tree, rs_node_child(w->tree, node, 0));
    uint64_t key = 0;
    if (operand < 0)
        return RS_TYPE_OF(RS_TYPE_UNTRANSFORMED);
    if (rs_grid_kind(w, operand) == CXCursor_ArraySubscriptExpr) {
        int count;
        rs_extended_type base = subscripts(w, operand, &count);
        rs_grid_keep(w, base, node, "the address of a part");
        return RS_TYPE_OF(RS_TYPE_UNTRANSFORMED);
    }
    notice_change(w, operand, node);
    if (!rs_grid_is_pointer(w->tree, operand) || locate(w, operand, &key) != PLACE_VARIABLE)
        return RS_TYPE_OF(RS_TYPE_UNTRANSFORMED);
    return (rs_extended_type){.kind = RS_TYPE_REFERENCE, .class = -1, .grid = -1, .target = key};
}

static rs_extended_type evaluate_unary(rs_grid_walk *w, int node)
{
    if (rs_node_is_prefix(w->tree, node, "&"))
        return evaluate_address(w, node);
    int operand = rs_node_child(w->tree, node, 0);
    rs_extended_type type = operand >= 0 ? rs_grid_evaluate(w, operand) : RS_TYPE_OF(RS_TYPE_NEW);
    if (rs_node_is_prefix(w->tree, node, "*")) {
        if (type.kind == RS_TYPE_REFERENCE)
            return rs_flow_get(&w->flow, type.target);
        rs_grid_keep(w, type, node, "a row is taken");
        return RS_TYPE_OF(RS_TYPE_UNTRANSFORMED);
    }
    bool steps = rs_node_is_prefix(w->tree, node, "++") || rs_node_is_prefix(w->tree, node, "--") ||
                 rs_node_is_postfix(w->tree, node, "++") || rs_node_is_postfix(w->tree, node, "--");
    if (steps) {
        rs_grid_keep(w, type, node, "arithmetic moves a pointer");
        notice_change(w, rs_node_inner(w->tree, operand), node);
    }
    return RS_TYPE_OF(RS_TYPE_UNTRANSFORMED);
}

rs_extended_type rs_grid_evaluate_source(rs_grid_walk *w, int node)
{
    rs_extended_type type = rs_grid_evaluate(w, node);
    int inner = rs_node_inner(w->tree, node);
    bool other =
        type.kind == RS_TYPE_UNTRANSFORMED && inner >= 0 && !rs_grid_is_pointer(w->tree, inner);
    return other ? RS_TYPE_OF(RS_TYPE_NEW) : type;
}

static rs_extended_type evaluate_binary(rs_grid_walk *w, int node)
{
    const rs_tree *tree = w->tree;
    int left = rs_node_child(tree, node, 0), right = rs_node_child(tree, node, 1);
    if (right < 0)
        return RS_TYPE_OF(RS_TYPE_UNTRANSFORMED);
    if (rs_node_is_binary(tree, node, "=")) {
        rs_extended_type type = rs_grid_evaluate_source(w, right);
        if (rs_grid_is_pointer(tree, left)) {
            store(w, left, type, node);
        } else {
            rs_grid_evaluate(w, left);
            notice_change(w, rs_node_inner(tree, left), node);
        }
        return type;
    }
    rs_extended_type a = rs_grid_evaluate(w, left), b = rs_grid_evaluate(w, right);
    if (rs_node_is_binary(tree, node, ","))
        return b;
    /* p2 + t of table 6.1; comparisons change nothing. */
    if (rs_grid_is_pointer(tree, node)) {
        rs_grid_keep(w, a, node, "arithmetic on the address");
        rs_grid_keep(w, b, node, "arithmetic on the address");
    }
    return RS_TYPE_OF(RS_TYPE_UNTRANSFORMED);
}

static rs_extended_type evaluate_compound(rs_grid_walk *w, int node)
{
    int left = rs_node_child(w->tree, node, 0), right = rs_node_child(w->tree, node, 1);
    if (right >= 0)
        rs_grid_evaluate(w, right);
    rs_extended_type type = left >= 0 ? rs_grid_evaluate(w, left) : RS_TYPE_OF(RS_TYPE_NEW);
    rs_grid_keep(w, type, node, "arithmetic moves a pointer");
    if (left >= 0)
        notice_change(w, rs_node_inner(w->tree, left), node);
    return RS_TYPE_OF(RS_TYPE_UNTRANSFORMED);
}

static rs_extended_type evaluate_choice(rs_grid_walk *w, int node)
{
    rs_grid_evaluate(w, rs_node_child(w->tree, node, 0));
    int yes = rs_node_child(w->tree, node, 1), no = rs_node_child(w->tree, node, 2);
    if (no < 0)
        return RS_TYPE_OF(RS_TYPE_UNTRANSFORMED);
    rs_extended_type a = rs_grid_evaluate(w, yes), b = rs_grid_evaluate(w, no);
    return rs_grid_is_pointer(w->tree, node) ? rs_type_meet(&w->context, a, b, node)
                                             : RS_TYPE_OF(RS_TYPE_UNTRANSFORMED);
}

/* A cast to a flat pointer loses the dimension vector; void * does not. */
static rs_extended_type evaluate_cast(rs_grid_walk *w, int node)
{
    int inner = -1;
    for (int child = w->tree->nodes[node].first; child >= 0; child = w->tree->nodes[child].next)
        if (clang_isExpression(rs_grid_kind(w, child)))
            inner = child;
    if (inner < 0)
        return RS_TYPE_OF(RS_TYPE_NEW);
    rs_extended_type type = rs_grid_evaluate(w, inner);
    CXType to = rs_node_type(w->tree, node);
    enum CXTypeKind target = to.kind == CXType_Pointer
                                 ? clang_getCanonicalType(clang_getPointeeType(to)).kind
                                 : CXType_Invalid;
    bool flat = type.kind == RS_TYPE_GRID && w->program->grids.grids[type.grid].flat;
    if (!flat && target != CXType_Void && target != CXType_ConstantArray &&
        target != CXType_VariableArray && target != CXType_IncompleteArray)
        rs_grid_keep(w, type, node, "a cast loses the extents");
    return type;
}

/* ---- expressions ---- */

/* sizeof a grid's row would change with its declaration. */
static void evaluate_size(rs_grid_walk *w, int node)
{
    for (int i = node + 1;
         i < w->tree->node_count && w->tree->nodes[i].end <= w->tree->nodes[node].end; i++) {
        uint64_t key = 0;
        if (rs_grid_kind(w, i) == CXCursor_DeclRefExpr && locate(w, i, &key) == PLACE_VARIABLE)
            rs_grid_keep(w, rs_flow_get(&w->flow, key), node, "sizeof asks for a part");
    }
}

static rs_extended_type evaluate_children(rs_grid_walk *w, int node)
{
    rs_extended_type type = RS_TYPE_OF(RS_TYPE_UNTRANSFORMED);
    int count = 0;
    for (int child = w->tree->nodes[node].first; child >= 0; child = w->tree->nodes[child].next) {
        type = rs_grid_evaluate(w, child);
        count++;
    }
    /* An implicit conversion is what it converts. */
    return count == 1 && rs_grid_is_pointer(w->tree, node) ? type
           : count == 0 ? RS_TYPE_OF(RS_TYPE_NEW) /* 0 and its like */
                        : RS_TYPE_OF(RS_TYPE_UNTRANSFORMED);
}

/* Structures and arrays that begin with addresses. */
static rs_extended_type evaluate_list(rs_grid_walk *w, int node)
{
    for (int child = w->tree->nodes[node].first; child >= 0; child = w->tree->nodes[child].next)
        rs_grid_keep(w, rs_grid_evaluate(w, child), node,
                     "a list of values, which is not followed, gets the address");
    return RS_TYPE_OF(RS_TYPE_UNTRANSFORMED);
}

/* New memory that a variable has which is no grid: it can be accessed by that name too. */
static rs_extended_type evaluate_name(rs_grid_walk *w, int node)
{
    uint64_t key = 0;
    if (!rs_grid_is_pointer(w->tree, node) || locate(w, node, &key) == PLACE_NONE)
        return RS_TYPE_OF(RS_TYPE_UNTRANSFORMED);
    rs_extended_type type = rs_flow_get(&w->flow, key);
    CXType pointer = rs_node_type(w->tree, node);
    bool bytes = pointer.kind == CXType_Pointer &&
                 clang_getCanonicalType(clang_getPointeeType(pointer)).kind == CXType_Void;
    bool other = type.kind == RS_TYPE_NEW && rs_grid_of_key(w, key) < 0 && !bytes;
    return other ? RS_TYPE_OF(RS_TYPE_UNTRANSFORMED) : type;
}

rs_extended_type rs_grid_evaluate(rs_grid_walk *w, int node)
{
    if (node < 0 || w->context.no_memory || ++w->steps > RS_GRID_STEP_LIMIT)
        return RS_TYPE_OF(RS_TYPE_UNTRANSFORMED);
    switch ((int)rs_grid_kind(w, node)) {
    case CXCursor_DeclRefExpr:
    case CXCursor_MemberRefExpr:
        return evaluate_name(w, node);
    case CXCursor_InitListExpr:
        return evaluate_list(w, node);
    case CXCursor_ArraySubscriptExpr:
        return rs_grid_subscript(w, node);
    case CXCursor_UnaryOperator:
        return evaluate_unary(w, node);
    case CXCursor_BinaryOperator:
        return evaluate_binary(w, node);
    case CXCursor_CompoundAssignOperator:
        return evaluate_compound(w, node);
    case CXCursor_ConditionalOperator:
        return evaluate_choice(w, node);
    case CXCursor_CStyleCastExpr:
    case CXCursor_CXXStaticCastExpr:
    case CXCursor_CXXReinterpretCastExpr:
        return evaluate_cast(w, node);
    case CXCursor_CallExpr:
        return rs_grid_call(w, node);
    case CXCursor_UnaryExpr:
        evaluate_size(w, node);
        return RS_TYPE_OF(RS_TYPE_UNTRANSFORMED);
    default:
        return evaluate_children(w, node);
    }
}
