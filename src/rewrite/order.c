/* Which parts of an access depend on the order in which they are evaluated. */
#include "rewrite/order.h"
#include "rewrite/linear.h"
#include "rewrite/locals.h"

#include "source/query.h"

enum { PART_LIMIT = 2 * RS_PIECE_LIMIT + 1 };

bool rs_has_conversion(const rs_tree *tree, int node)
{
    int outer = rs_node_inner(tree, node);
    return outer >= 0 && tree->nodes[outer].kind == CXCursor_CallExpr &&
           clang_getCursorKind(clang_getCursorReferenced(tree->nodes[outer].cursor)) ==
               CXCursor_ConversionFunction;
}

/* ---- parts ---- */

/* What a part does when it is evaluated. */
typedef struct {
    int node;
    bool changes;          /* a variable, by its name */
    bool changes_anything; /* or perhaps something else */
    bool reads_anything;   /* not only variables by their names, and constants */
    bool changes_private;  /* only variables that nothing but their names lead to */
    bool is_private;       /* only its names change what it mentions */
    bool is_constant;
} part_effects;

/* The variable that a node assigns to; a null cursor for another place. */
static CXCursor changed_by(const rs_tree *tree, int assignment)
{
    int target = rs_node_inner(tree, tree->nodes[assignment].first);
    CXCursor changed = clang_getCursorReferenced(tree->nodes[target].cursor);
    return tree->nodes[target].kind == CXCursor_DeclRefExpr && rs_is_plain_variable(changed)
               ? changed
               : clang_getNullCursor();
}

static part_effects study(rs_purities *purities, int node)
{
    const rs_tree *tree = purities->tree;
    part_effects p = {node, false, false, false, true, true, false};
    long long value;
    for (int n = node, end = rs_node_behind(tree, node); n < end; n++) {
        bool own = rs_is_own(purities, n), assigns = rs_node_is_assignment(tree, n);
        bool named = tree->nodes[n].kind == CXCursor_DeclRefExpr;
        p.changes = p.changes || assigns;
        if ((assigns && clang_Cursor_isNull(changed_by(tree, n)) != 0) || (!own && !named))
            p.changes = p.changes_anything = true;
        if (assigns && p.changes_private)
            p.changes_private = rs_is_private(purities, changed_by(tree, n));
        p.reads_anything = p.reads_anything || !own || rs_reads_memory(tree, n);
        if (named && p.is_private)
            p.is_private =
                rs_is_private(purities, clang_getCursorReferenced(tree->nodes[n].cursor));
    }
    p.changes_private = p.changes_private && !p.changes_anything;
    p.is_constant = rs_constant_value(tree, node, &value);
    return p;
}

/* Marks the variables that a part assigns to by their names. */
static unsigned mark_changed(rs_purities *purities, int part)
{
    const rs_tree *tree = purities->tree;
    unsigned mark = ++purities->marks;
    for (int n = part, end = rs_node_behind(tree, part); n < end; n++) {
        rs_declared *changed =
            rs_node_is_assignment(tree, n) ? rs_declared_find(purities, changed_by(tree, n)) : NULL;
        if (changed != NULL)
            changed->mark = mark;
    }
    return mark;
}

static bool mentions_marked(const rs_purities *purities, int part, unsigned mark)
{
    const rs_tree *tree = purities->tree;
    bool found = false;
    for (int n = part, end = rs_node_behind(tree, part); n < end && !found; n++) {
        if (tree->nodes[n].kind != CXCursor_DeclRefExpr)
            continue;
        const rs_declared *named =
            rs_declared_find(purities, clang_getCursorReferenced(tree->nodes[n].cursor));
        found = named != NULL && named->mark == mark;
    }
    return found;
}

/* Whether one part may be evaluated before or after another, which changes something: what it marks
 * by `mark`. */
static bool is_independent(const rs_purities *purities, const part_effects *part,
                           const part_effects *other, unsigned mark)
{
    bool unreached = other->changes_private ||
                     (!part->reads_anything && (!other->changes_anything || part->is_private));
    return part->is_constant || (unreached && !mentions_marked(purities, part->node, mark));
}

bool rs_parts_have_no_order(rs_purities *purities, const rs_member_access *access)
{
    part_effects parts[PART_LIMIT];
    int count = 0;
    parts[count++] = study(purities, access->pointer);
    for (int i = 0; i < access->index_count; i++)
        parts[count++] = study(purities, access->index[i]);
    for (int i = 0; i < access->subscript_count; i++)
        parts[count++] = study(purities, access->subscript[i]);
    bool any_order = true;
    for (int k = 0; k < count && any_order; k++) {
        unsigned mark = parts[k].changes ? mark_changed(purities, parts[k].node) : 0;
        for (int i = 0; i < count && any_order && parts[k].changes; i++)
            any_order = i == k || is_independent(purities, &parts[i], &parts[k], mark);
    }
    return any_order;
}
