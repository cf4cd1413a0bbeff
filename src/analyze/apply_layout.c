/* See apply_layout.h: the steps 3 to 5 of section 6.3.3 over a whole program. */
#include "analyze/apply_layout.h"

#include "analyze/analyze.h"
#include "analyze/apply_layout_work.h"
#include "analyze/copies.h"
#include "analyze/deep.h"
#include "analyze/extents.h"
#include "analyze/flattening.h"
#include "analyze/walk.h"
#include "source/query.h"
#include "source/words.h"

#include <stdlib.h>
#include <string.h>

/* ---- which layouts ---- */

static restride_status discover_in_unit(rs_application *a, rs_unit *unit)
{
    rs_accesses accesses = {unit, NULL, NULL};
    restride_status status = rs_accesses_make(&accesses, unit, NULL);
    for (int i = 0; status == RESTRIDE_OK && i < unit->array_count; i++) {
        uint64_t key = unit->arrays[i].key;
        int grid = key >> 32 == 0 ? rs_grids_at(&a->program.grids, (size_t)key) : -1;
        if (grid < 0 || a->wanted[grid] != NULL)
            continue;
        rs_text layout = RS_TEXT_EMPTY, dims = RS_TEXT_EMPTY;
        const char *reason = "";
        bool eligible = rs_array_discover(&accesses, i, &a->launch, &layout, &dims, &reason);
        /* A flat subscript is read as several where their strides are parameters. */
        if (eligible && (int)(dims.size + 1) / 2 != a->program.grids.grids[grid].rank) {
            eligible = false;
            reason = "its flat subscripts are not read as those of its dimensions; name a layout";
        }
        rs_text_free(&dims);
        free(a->reasons[grid]);
        a->reasons[grid] = eligible ? NULL : strdup(reason);
        if (eligible)
            a->wanted[grid] = rs_text_take(&layout);
        else
            rs_text_free(&layout);
        if (a->wanted[grid] == NULL && a->reasons[grid] == NULL)
            status = rs_fail_memory("a layout");
    }
    rs_accesses_free(&accesses);
    return status;
}

static restride_status discover(rs_application *a)
{
    restride_status status = RESTRIDE_OK;
    for (int u = 0; status == RESTRIDE_OK && u < a->set.unit_count; u++)
        if (a->set.units[u].kernel && a->set.units[u].reference_count > 0)
            status = discover_in_unit(a, &a->set.units[u]);
    return status;
}

static char *name_of(const rs_application *a, int grid)
{
    const rs_grid *g = &a->program.grids.grids[grid];
    return strndup(a->program.flat.text + g->name, g->name_length);
}

/* The layout that the request has for a grid, or NULL. */
static const char *requested(const rs_application *a, int grid)
{
    char *name = name_of(a, grid);
    const char *layout =
        name == NULL
            ? NULL
            : json_string_value(json_object_get(json_object_get(a->request, "layouts"), name));
    free(name);
    return layout;
}

/* Every layout that the request has must be a grid's. */
static restride_status check_names(const rs_application *a)
{
    const char *wanted;
    json_t *layout;
    json_object_foreach(json_object_get(a->request, "layouts"), wanted, layout)
    {
        bool found = false;
        for (int g = 0; g < a->program.grids.count && !found; g++) {
            char *name = name_of(a, g);
            if (name == NULL)
                return rs_fail_memory("the name of a grid");
            found = strcmp(name, wanted) == 0;
            free(name);
        }
        if (!found)
            return rs_fail(RESTRIDE_INVALID_ARGUMENT,
                           "There is no grid %s to be given a layout: a grid is declared as "
                           "A[n][m], or told by // restride: grid A[n][m].",
                           wanted);
    }
    return RESTRIDE_OK;
}

/* A layout for a class: the first one of its grids, the request's before what was found. */
static restride_status choose_one(rs_application *a, int class)
{
    const char *chosen = NULL, *reason = NULL;
    for (int pass = 0; pass < 2 && chosen == NULL; pass++)
        for (int i = 0; i < a->found.link_count && chosen == NULL; i++) {
            int grid = a->found.links[i].grid;
            if (rs_grid_class(&a->found, a->found.links[i].class) != class)
                continue;
            chosen = pass == 0 ? requested(a, grid) : a->wanted[grid];
            reason = reason == NULL ? a->reasons[grid] : reason;
        }
    char **kept = chosen != NULL ? &a->layouts[class] : &a->refused[class];
    *kept = strdup(chosen != NULL ? chosen
                                  : (reason != NULL ? reason : "no kernel of this source uses it"));
    return *kept != NULL ? RESTRIDE_OK : rs_fail_memory("a layout");
}

/* Two names in one class cannot have different layouts. */
static restride_status check_requests(const rs_application *a)
{
    for (int i = 0; i < a->found.link_count; i++) {
        int grid = a->found.links[i].grid;
        int class = rs_grid_class(&a->found, a->found.links[i].class);
        const char *wanted = requested(a, grid);
        if (wanted == NULL || a->layouts[class] == NULL || strcmp(wanted, a->layouts[class]) == 0)
            continue;
        char *name = name_of(a, grid);
        restride_status status =
            rs_fail(RESTRIDE_INVALID_ARGUMENT,
                    "%s cannot have the layout \"%s\": a grid that takes its place has \"%s\".",
                    name != NULL ? name : "", wanted, a->layouts[class]);
        free(name);
        return status;
    }
    return RESTRIDE_OK;
}

static restride_status choose(rs_application *a)
{
    restride_status status = RESTRIDE_OK;
    for (int g = 0; status == RESTRIDE_OK && g < a->found.grid_count; g++)
        if (rs_grid_class(&a->found, g) == g)
            status = choose_one(a, g);
    return status == RESTRIDE_OK ? check_requests(a) : status;
}

bool rs_application_keeps(const rs_application *a, int class)
{
    return a->found.kept[rs_grid_class(&a->found, class)].sentence != NULL;
}

/* ---- extents ---- */

/* An extent as it can be written at an access; NULL when the first one is not told. */
const char *rs_application_extent(const rs_application *a, int grid, int d)
{
    const char *extent = a->program.grids.grids[grid].extents[d];
    if (extent == NULL && d == 0)
        extent = a->found.outer[grid];
    return extent;
}

/* An access keeps the class of its grid. */
static restride_status keep(rs_application *a, const rs_grid_access *access, const char *sentence)
{
    size_t place = a->program.tree.nodes[access->node].begin;
    return rs_propagation_keep(&a->found, &a->program, access->class, place, sentence)
               ? RESTRIDE_OK
               : rs_fail_memory("a reason");
}

/* Tiles end at the extent, so without one there are only rows. */
static restride_status keep_without_extents(rs_application *a)
{
    restride_status status = RESTRIDE_OK;
    for (int i = 0; status == RESTRIDE_OK && i < a->found.access_count; i++) {
        const rs_grid_access *access = &a->found.accesses[i];
        if (a->layouts[rs_grid_class(&a->found, access->class)] != NULL &&
            rs_application_extent(a, access->grid, 0) == NULL)
            status = keep(a, access,
                          "the first extent is not told here; declare a parameter of this "
                          "function as A[n][m], or hand the grid to one");
    }
    return status;
}

static bool means_other(const rs_application *a, const rs_grid_access *access)
{
    const rs_grid *grid = &a->program.grids.grids[access->grid];
    size_t here = a->program.tree.nodes[access->node].begin;
    for (int d = 0; d < grid->rank; d++)
        if (!rs_extent_means_same(&a->program.tree, rs_application_extent(a, access->grid, d),
                                  grid->name, here))
            return true;
    return false;
}

/* An extent is written at each access, where its name has to be the same variable. */
static restride_status keep_other_extents(rs_application *a)
{
    restride_status status = RESTRIDE_OK;
    for (int i = 0; status == RESTRIDE_OK && i < a->found.access_count; i++)
        if (means_other(a, &a->found.accesses[i]))
            status = keep(a, &a->found.accesses[i],
                          "the name of an extent is not the grid's variable here");
    return status;
}

/* ---- reply ---- */

static json_t *describe_grid(const rs_application *a, int number)
{
    const rs_grid *grid = &a->program.grids.grids[number];
    int class = rs_grid_class(&a->found, number);
    for (int i = 0; i < a->found.link_count; i++) /* what a parameter is bound to decides */
        if (a->found.links[i].grid == number)
            class = rs_grid_class(&a->found, a->found.links[i].class);
    const char *file;
    size_t line;
    rs_flat_locate(&a->program.flat, grid->name, &file, &line);
    json_t *extents = json_array();
    for (int d = 0; d < grid->rank; d++)
        json_array_append_new(extents, rs_application_extent(a, number, d) != NULL
                                           ? json_string(rs_application_extent(a, number, d))
                                           : json_null());
    rs_text rows = RS_TEXT_EMPTY;
    rs_flattening_add_rows(&rows, grid->rank);
    char *name = name_of(a, number), *class_name = name_of(a, class);
    const rs_note *kept = &a->found.kept[class];
    const char *state = kept->sentence != NULL      ? "kept"
                        : a->layouts[class] != NULL ? "transformed"
                                                    : "row-major";
    json_t *entry = json_pack(
        "{s:s, s:I, s:o, s:s, s:s, s:s, s:s, s:b}", "name", name != NULL ? name : "", "line",
        (json_int_t)line, "extents", extents, "class", class_name != NULL ? class_name : "",
        "state", state, "layout",
        a->layouts[class] != NULL && kept->sentence == NULL ? a->layouts[class]
                                                            : (rows.failed ? "" : rows.data),
        "dims", rows.failed ? "" : rows.data, "handed_over", a->found.outside[number]);
    if (kept->sentence != NULL) {
        json_object_set_new(entry, "file", json_string(kept->file));
        json_object_set_new(entry, "at", json_integer(kept->line));
        json_object_set_new(entry, "reason", json_string(kept->sentence));
    } else if (a->refused[class] != NULL) {
        json_object_set_new(entry, "reason", json_string(a->refused[class]));
    }
    rs_text_free(&rows);
    free(name);
    free(class_name);
    return entry;
}

static json_t *describe_accesses(const rs_application *a)
{
    json_t *accesses = json_array();
    for (int i = 0; i < a->found.access_count; i++) {
        const rs_grid_access *access = &a->found.accesses[i];
        const rs_node *node = &a->program.tree.nodes[access->node];
        const char *file;
        size_t line;
        rs_flat_locate(&a->program.flat, node->begin, &file, &line);
        char *name = name_of(a, rs_grid_class(&a->found, access->class));
        if (rs_application_changes(a, access))
            json_array_append_new(
                accesses,
                json_pack("{s:o, s:I, s:s}", "text",
                          json_stringn(a->program.flat.text + node->begin, node->end - node->begin),
                          "line", (json_int_t)line, "grid", name != NULL ? name : ""));
        free(name);
    }
    return accesses;
}

static restride_status describe(const rs_application *a, json_t **reply)
{
    char *source;
    restride_status status = rs_application_write(a, &source);
    if (status != RESTRIDE_OK)
        return status;
    json_t *grids = json_array();
    for (int g = 0; g < a->program.grids.count; g++)
        if (a->program.grids.grids[g].name_length > 0)
            json_array_append_new(grids, describe_grid(a, g));
    *reply = json_pack("{s:b, s:s, s:o, s:o, s:o}", "readable", true, "source", source, "grids",
                       grids, "accesses", describe_accesses(a), "notes", rs_analyze_notes(&a->set));
    free(source);
    return *reply == NULL ? rs_fail_memory("the reply") : RESTRIDE_OK;
}

/* ---- all of it ---- */

static restride_status make_tables(rs_application *a)
{
    size_t count = (size_t)a->program.grids.count + 1;
    char ***const tables[] = {&a->wanted, &a->reasons, &a->layouts, &a->refused};
    for (int t = 0; t < 4; t++) {
        *tables[t] = calloc(count, sizeof **tables[t]);
        if (*tables[t] == NULL)
            return rs_fail_memory("the grids");
    }
    return RESTRIDE_OK;
}

static void free_all(rs_application *a)
{
    char **const tables[] = {a->wanted, a->reasons, a->layouts, a->refused};
    for (int t = 0; t < 4; t++) {
        for (int g = 0; tables[t] != NULL && g < a->program.grids.count; g++)
            free(tables[t][g]);
        free(tables[t]);
    }
    rs_edits_free(&a->edits);
    rs_propagation_free(&a->found);
    rs_model_set_free(&a->set);
    rs_program_free(&a->program);
}

/* Members of structures have no flow of their own: `float (*grid)[64]` there is no grid. */
static restride_status note_members(rs_application *a)
{
    const rs_tree *tree = &a->program.tree;
    for (int node = 1; node < tree->node_count; node++) {
        const rs_syntax_type *type = rs_type_of(tree, node);
        if (tree->nodes[node].is != RS_NODE_FIELD || type->kind != RS_TYPE_POINTER ||
            rs_type_below(type)->kind != RS_TYPE_ARRAY)
            continue;
        const char *file;
        size_t line;
        rs_flat_locate(&a->program.flat, tree->nodes[node].begin, &file, &line);
        const char *name = tree->nodes[node].name;
        bool noted = rs_model_note(&a->set, file, (int)line,
                                   "%s stays in rows: it is a member of a structure, and grids are "
                                   "followed through variables and parameters only.",
                                   name);
        if (!noted)
            return rs_fail_memory("a note");
    }
    return RESTRIDE_OK;
}

static restride_status work(void *context)
{
    rs_application *a = context;
    restride_status status = make_tables(a);
    if (status == RESTRIDE_OK)
        status = check_names(a);
    if (status == RESTRIDE_OK)
        status = note_members(a);
    if (status == RESTRIDE_OK)
        status = rs_walk_program(&a->program, &a->set);
    if (status == RESTRIDE_OK)
        status = discover(a);
    if (status == RESTRIDE_OK)
        status = rs_propagate(&a->found, &a->program);
    if (status == RESTRIDE_OK)
        status = choose(a);
    if (status == RESTRIDE_OK)
        status = keep_without_extents(a);
    if (status == RESTRIDE_OK)
        status = keep_other_extents(a);
    if (status == RESTRIDE_OK)
        status = rs_copies_check(&a->found, &a->program, a->layouts);
    if (status == RESTRIDE_OK)
        status = rs_propagation_close(&a->found);
    return status == RESTRIDE_OK ? rs_application_edit(a) : status;
}

restride_status rs_apply_layout(const json_t *request, json_t **reply)
{
    rs_application a = {.request = request};
    rs_program_request wanted;
    restride_status status = rs_analyze_read_source(request, &wanted);
    wanted.output = true;
    if (status == RESTRIDE_OK)
        status = rs_analyze_read_launch(request, &a.launch);
    if (status == RESTRIDE_OK)
        status = rs_program_read(&a.program, &wanted, &a.set);
    if (status == RESTRIDE_OK && !a.program.readable)
        status = rs_fail(RESTRIDE_UNSUPPORTED, "%s:%d: %s",
                         a.set.note_count > 0 ? a.set.notes[0].file : wanted.file,
                         a.set.note_count > 0 ? a.set.notes[0].line : 0,
                         a.set.note_count > 0 ? a.set.notes[0].sentence : "It cannot be read.");
    /* What it defines may decide conditions, and its declarations be those of what is changed. */
    if (status == RESTRIDE_OK && a.program.missing != NULL)
        status =
            rs_fail(RESTRIDE_UNSUPPORTED, "%s was not found; name its folder behind --, with -I.",
                    a.program.missing);
    if (status == RESTRIDE_OK && a.program.differs != NULL)
        status = rs_fail(RESTRIDE_UNSUPPORTED, "%s", a.program.differs);
    if (status == RESTRIDE_OK)
        status = rs_run_deep(work, &a);
    if (status == RESTRIDE_OK)
        status = describe(&a, reply);
    free_all(&a);
    return status;
}
