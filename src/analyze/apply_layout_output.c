/* The source again, with the grids' accesses and declarations edited, and the functions that they
 * call before it. */
#include "analyze/apply_layout_work.h"
#include "analyze/flattening.h"
#include "source/query.h"

#include <stdlib.h>
#include <string.h>

/* ---- edits ---- */

static restride_status replace(rs_application *a, size_t begin, size_t end, const char *by)
{
    rs_text text = RS_TEXT_EMPTY;
    rs_text_add_string(&text, by);
    return rs_edits_add(&a->edits, begin, end, &text);
}

/* The layout of a class by its number, as part of the flattening function's name; a source that was
 * written by this may have such functions already. */
static void add_prefix(const rs_application *a, rs_text *text, int class)
{
    rs_text prefix = RS_TEXT_EMPTY;
    rs_text_add_string(&prefix, "restride_grid");
    while (!prefix.failed && strstr(a->program.flat.text, prefix.data) != NULL)
        rs_text_add_string(&prefix, "s");
    if (prefix.failed)
        text->failed = true;
    else
        rs_text_format(text, "%s_%d", prefix.data, class);
    rs_text_free(&prefix);
}

/* The bracket that begins, or ends, an index. */
static size_t find_byte(const rs_application *a, size_t from, char wanted)
{
    while (a->program.flat.text[from] != wanted)
        from++;
    return from;
}

/* (A[x])[y] is written as A[x][y]. */
static restride_status drop_parentheses(rs_application *a, int node)
{
    const rs_tree *tree = &a->program.tree;
    int inner = rs_node_inner(tree, node);
    restride_status status = RESTRIDE_OK;
    for (; status == RESTRIDE_OK && node >= 0 && node != inner; node = tree->nodes[node].first) {
        if (tree->nodes[node].is != RS_NODE_PAREN)
            continue;
        status = replace(a, tree->nodes[node].begin, tree->nodes[node].begin + 1, "");
        if (status == RESTRIDE_OK)
            status = replace(a, tree->nodes[node].end - 1, tree->nodes[node].end, "");
    }
    return status;
}

/* A[x][y] becomes A[restride_grid_0_offset(n, m, (x), (y))]. */
static restride_status edit_access(rs_application *a, const rs_grid_access *access)
{
    const rs_tree *tree = &a->program.tree;
    const rs_grid *grid = &a->program.grids.grids[access->grid];
    int class = rs_grid_class(&a->found, access->class);
    int node = access->node;
    restride_status status = RESTRIDE_OK;
    int last = rs_grid_subscripts(grid) - 1;
    for (int d = last; status == RESTRIDE_OK && d >= 0; d--) {
        int base = rs_node_child(tree, node, 0);
        size_t open = find_byte(a, tree->nodes[base].end, '[');
        size_t close = tree->nodes[node].end - 1;
        rs_text text = RS_TEXT_EMPTY;
        if (d == 0) {
            rs_text_add_string(&text, "[");
            add_prefix(a, &text, class);
            rs_text_add_string(&text, grid->flat ? "_rows(" : "_offset(");
            for (int e = 0; e < grid->rank; e++) {
                const char *extent = rs_application_extent(a, access->grid, e);
                rs_text_format(&text, "%s, ", extent != NULL ? extent : "0");
            }
        } else {
            rs_text_add_string(&text, ", ");
        }
        rs_text_add_string(&text, "(");
        status = rs_edits_add(&a->edits, open, open + 1, &text);
        if (status == RESTRIDE_OK)
            status = replace(a, close, close + 1, d == last ? "))]" : ")");
        if (status == RESTRIDE_OK && d > 0)
            status = drop_parentheses(a, base);
        node = rs_node_inner(tree, base);
    }
    return status;
}

/* A declared pointer stays when one of the grids that it may point to does. */
static bool is_flattened(const rs_application *a, int grid)
{
    bool linked = false;
    for (int i = 0; i < a->found.link_count; i++)
        if (a->found.links[i].grid == grid) {
            linked = true;
            if (rs_application_keeps(a, a->found.links[i].class))
                return false;
        }
    return linked;
}

static restride_status edit_declaration(rs_application *a, int number)
{
    const rs_grid *grid = &a->program.grids.grids[number];
    if (!is_flattened(a, number))
        return RESTRIDE_OK;
    restride_status status = replace(a, grid->first, grid->last, "");
    if (status == RESTRIDE_OK && grid->parameter)
        status = replace(a, grid->name, grid->name, "*");
    return status;
}

/* Flat pointers in rows are what they are. */
bool rs_application_changes(const rs_application *a, const rs_grid_access *access)
{
    int class = rs_grid_class(&a->found, access->class);
    return !rs_application_keeps(a, class) &&
           (a->layouts[class] != NULL || !a->program.grids.grids[access->grid].flat);
}

/* sizeof g[0] becomes (sizeof *g * (m)): with what its extents give, elements of a flat g. */
static restride_status edit_measure(rs_application *a, const rs_grid_measure *measure)
{
    const rs_grid *grid = &a->program.grids.grids[measure->grid];
    const rs_node *node = &a->program.tree.nodes[measure->node];
    rs_text text = RS_TEXT_EMPTY;
    rs_text_format(&text, "(sizeof *%.*s", (int)grid->name_length,
                   a->program.flat.text + grid->name);
    for (int d = measure->depth; d < grid->rank; d++)
        rs_text_format(&text, " * (%s)", grid->extents[d]);
    rs_text_add_string(&text, ")");
    return rs_edits_add(&a->edits, node->begin, node->end, &text);
}

restride_status rs_application_edit(rs_application *a)
{
    restride_status status = RESTRIDE_OK;
    for (int g = 0; status == RESTRIDE_OK && g < a->program.grids.count; g++)
        status = edit_declaration(a, g);
    for (int i = 0; status == RESTRIDE_OK && i < a->found.access_count; i++)
        if (rs_application_changes(a, &a->found.accesses[i]))
            status = edit_access(a, &a->found.accesses[i]);
    for (int i = 0; status == RESTRIDE_OK && i < a->found.measure_count; i++)
        if (is_flattened(a, a->found.measures[i].grid))
            status = edit_measure(a, &a->found.measures[i]);
    rs_edits_sort(&a->edits);
    return status;
}

/* ---- types of indices and extents ---- */

/* Whether an int holds all values of a type. */
static bool is_narrow(const rs_syntax_type *type)
{
    return rs_type_is_integer(type) && (type->size < 4 || (type->size == 4 && type->is_signed));
}

/* Whether all variables and parameters of a name, wherever they are declared, are narrow. */
static bool is_narrow_name(const rs_application *a, const char *name, size_t length)
{
    const rs_tree *tree = &a->program.tree;
    bool found = false;
    for (int node = 1; node < tree->node_count; node++) {
        if (tree->nodes[node].is != RS_NODE_PARAMETER && tree->nodes[node].is != RS_NODE_VARIABLE &&
            tree->nodes[node].is != RS_NODE_ENUMERATOR)
            continue;
        const char *text = tree->nodes[node].name;
        bool same = strlen(text) == length && memcmp(text, name, length) == 0;
        if (same && !is_narrow(rs_type_of(tree, node)))
            return false;
        found = found || same;
    }
    return found;
}

/* Whether an extent is made of ints alone: it is text, so its names are looked up. */
static bool is_narrow_extent(const rs_application *a, const char *extent)
{
    while (extent != NULL && *extent != '\0') {
        size_t word = strspn(extent, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz_"
                                     "0123456789");
        bool digit = *extent >= '0' && *extent <= '9';
        if (word == 0 && strchr("+-*/%() ", *extent) == NULL)
            return false;
        if (digit && (strspn(extent, "0123456789") != word || word > 9))
            return false;
        if (word > 0 && !digit && !is_narrow_name(a, extent, word))
            return false;
        extent += word > 0 ? word : 1;
    }
    return true;
}

static bool is_narrow_access(const rs_application *a, const rs_grid_access *access)
{
    const rs_tree *tree = &a->program.tree;
    const rs_grid *grid = &a->program.grids.grids[access->grid];
    int node = access->node;
    for (int d = 0; d < grid->rank; d++)
        if (!is_narrow_extent(a, rs_application_extent(a, access->grid, d)))
            return false;
    for (int d = rs_grid_subscripts(grid); d > 0; d--) {
        if (!is_narrow(rs_type_of(tree, rs_node_child(tree, node, 1))))
            return false;
        node = rs_node_inner(tree, rs_node_child(tree, node, 0));
    }
    return !grid->flat;
}

/* ---- output ---- */

static bool is_narrow_class(const rs_application *a, int class)
{
    for (int i = 0; i < a->found.access_count; i++)
        if (rs_grid_class(&a->found, a->found.accesses[i].class) == class &&
            rs_application_changes(a, &a->found.accesses[i]) &&
            !is_narrow_access(a, &a->found.accesses[i]))
            return false;
    return true;
}

static restride_status add_function(const rs_application *a, int class, rs_text *out)
{
    static const restride_dialect dialects[] = {RESTRIDE_DIALECT_C, RESTRIDE_DIALECT_OPENCL_C,
                                                RESTRIDE_DIALECT_CUDA_C};
    rs_text prefix = RS_TEXT_EMPTY;
    add_prefix(a, &prefix, class);
    const rs_grid *grid = &a->program.grids.grids[class];
    restride_dialect dialect = dialects[a->program.language];
    restride_status status = prefix.failed
                                 ? rs_fail_memory("an output")
                                 : rs_flattening_write(out, dialect, grid->rank, a->layouts[class],
                                                       prefix.data, is_narrow_class(a, class));
    if (status == RESTRIDE_OK && grid->flat)
        rs_flattening_write_rows(out, dialect, grid->rank, prefix.data);
    rs_text_free(&prefix);
    return status;
}

static bool is_used(const rs_application *a, int class)
{
    for (int i = 0; i < a->found.access_count; i++)
        if (rs_grid_class(&a->found, a->found.accesses[i].class) == class &&
            rs_application_changes(a, &a->found.accesses[i]))
            return true;
    return false;
}

static restride_status add_functions(const rs_application *a, rs_text *out)
{
    restride_status status = RESTRIDE_OK;
    for (int g = 0; status == RESTRIDE_OK && g < a->found.grid_count; g++)
        if (rs_grid_class(&a->found, g) == g && is_used(a, g))
            status = add_function(a, g, out);
    return status;
}

restride_status rs_application_write(const rs_application *a, char **source)
{
    rs_text out = RS_TEXT_EMPTY;
    restride_status status = add_functions(a, &out);
    const char *shown = a->program.flat.shown;
    size_t at = 0;
    for (size_t e = 0; e < a->edits.count; e++) {
        rs_text_add(&out, shown + at, a->edits.list[e].begin - at);
        rs_text_add_string(&out, a->edits.list[e].text);
        at = a->edits.list[e].end;
    }
    rs_text_add_string(&out, shown + at);
    *source = status == RESTRIDE_OK ? rs_text_take(&out) : NULL;
    rs_text_free(&out);
    return status == RESTRIDE_OK && *source == NULL ? rs_fail_memory("an output") : status;
}
