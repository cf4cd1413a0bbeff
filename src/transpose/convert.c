/*
 * Plans for conversions between layouts. AoS to ASTA and back is one stage of any engine (Sung
 * thesis, section 5.4). Everything else is made of transpositions:
 *
 * Both layouts are refined to common tiles (tree.h). Loops that both begin with stay where they
 * are; where only one of them has a row of unequal parts below its loops, for example a ragged tile
 * in each row of a grid, the parts are taken apart (separate.h). What is left are regions that both
 * layouts see as dense arrays, whose axes are permuted (factor.h). The second layout is reached by
 * the steps that take it apart, undone.
 *
 * Tiles that do not divide each other have no common ones: then the way leads through a third
 * layout that does not tile that dimension.
 */
#include "transpose/convert.h"
#include "layout/layout.h"
#include "restride/plan.h"
#include "transpose/choose.h"
#include "transpose/copy_back.h"
#include "transpose/copy_parts.h"
#include "transpose/factor.h"
#include "transpose/separate.h"
#include "transpose/tune.h"

#include <string.h>

enum { MOST_AXES = 64 };

/* ---- from tree to tree ---- */

static bool same_regions(const rs_loop_tree *a, const rs_loop_tree *b)
{
    return a->bytes == b->bytes && a->regions == b->regions;
}

static bool is_identical(const rs_loop_tree *a, const rs_loop_tree *b)
{
    if (a->kind != b->kind || !same_regions(a, b) || a->count != b->count || a->axis != b->axis)
        return false;
    size_t children = a->kind == RS_TREE_LOOP ? 1 : a->kind == RS_TREE_ROW ? a->count : 0;
    for (size_t i = 0; i < children; i++)
        if (!is_identical(a->children[i], b->children[i]))
            return false;
    return true;
}

/* What a chain of loops ends in. */
static const rs_loop_tree *bottom(const rs_loop_tree *tree)
{
    while (tree->kind == RS_TREE_LOOP)
        tree = tree->children[0];
    return tree;
}

static restride_status permute_region(rs_sequence *s, const rs_strided_part *context,
                                      const rs_loop_tree *a, const rs_loop_tree *b)
{
    size_t axes[MOST_AXES];
    size_t counts[MOST_AXES];
    size_t order[MOST_AXES];
    rs_permutation p = {.counts = counts, .order = order};
    for (; a->kind == RS_TREE_LOOP && p.rank < MOST_AXES; a = a->children[0], p.rank++) {
        axes[p.rank] = a->axis;
        counts[p.rank] = a->count;
    }
    if (a->kind == RS_TREE_LOOP)
        return rs_fail(RESTRIDE_UNSUPPORTED, "More than %d nested tiles; convert in steps.",
                       MOST_AXES);
    p.unit = a->bytes;
    for (size_t k = 0; b->kind == RS_TREE_LOOP && k < p.rank; b = b->children[0], k++)
        for (size_t axis = 0; axis < p.rank; axis++)
            if (axes[axis] == b->axis)
                order[k] = axis;
    return rs_factor_permutation(s, context, &p);
}

typedef struct region region;
struct region {
    region *next;
    const rs_loop_tree *tree;
    size_t place;
};

typedef struct {
    region *first;
    region **end;
    size_t count;
} region_list;

/* Takes a tree apart until only regions are left; they are listed in the order of memory. */
static restride_status take_apart(rs_sequence *s, const rs_strided_part *context,
                                  const rs_loop_tree *tree, region_list *list)
{
    if (tree->kind == RS_TREE_LOOP && bottom(tree)->kind == RS_TREE_ROW) {
        restride_status status = rs_separate(s, context, tree, &tree);
        if (status != RESTRIDE_OK)
            return status;
    }
    if (tree->kind != RS_TREE_ROW) {
        region *added = rs_arena_take(s->arena, 1, sizeof *added);
        if (added == NULL)
            return rs_fail_memory("the regions of a layout");
        added->tree = tree;
        *list->end = added;
        list->end = &added->next;
        list->count++;
        return RESTRIDE_OK;
    }
    rs_strided_part part = *context;
    restride_status status = RESTRIDE_OK;
    for (size_t i = 0; status == RESTRIDE_OK && i < tree->count; i++) {
        status = take_apart(s, &part, tree->children[i], list);
        part.offset += tree->children[i]->bytes;
    }
    return status;
}

/* Brings the regions into the order of their places. */
static restride_status reorder(rs_sequence *s, const rs_strided_part *context,
                               const region_list *list)
{
    rs_piece *pieces = rs_arena_take(s->arena, list->count, sizeof *pieces);
    if (pieces == NULL)
        return rs_fail_memory("the regions of a layout");
    rs_transpose_task task = {.method = RS_TRANSPOSE_REORDER,
                              .count = 1,
                              .rows = 1,
                              .unit = 1,
                              .pieces = pieces,
                              .piece_count = list->count};
    bool ordered = true;
    size_t i = 0;
    for (const region *r = list->first; r != NULL; r = r->next, i++) {
        pieces[i] = (rs_piece){1, r->tree->bytes, r->place};
        task.cols += r->tree->bytes;
        ordered = ordered && r->place == i;
    }
    if (!ordered)
        rs_sequence_task(s, context, &task);
    return RESTRIDE_OK;
}

/* What holds something comes first, in the order of the second layout. */
static size_t set_places(const region_list *from, const region_list *to)
{
    size_t places = 0;
    for (region *r = to->first; r != NULL; r = r->next)
        if (!bottom(r->tree)->padding)
            r->place = places++;
    size_t next = places;
    for (region *r = to->first; r != NULL; r = r->next)
        if (bottom(r->tree)->padding)
            r->place = next++;
    next = places;
    for (region *r = from->first; r != NULL; r = r->next) {
        if (bottom(r->tree)->padding) {
            r->place = next++;
            continue;
        }
        for (const region *other = to->first; other != NULL; other = other->next)
            if (same_regions(r->tree, other->tree))
                r->place = other->place;
    }
    return places;
}

static restride_status permute_regions(rs_sequence *s, const rs_strided_part *context,
                                       const region_list *from, const region_list *to,
                                       size_t places)
{
    rs_strided_part part = *context;
    restride_status status = RESTRIDE_OK;
    for (size_t place = 0; status == RESTRIDE_OK && place < places; place++) {
        const region *a = from->first;
        const region *b = to->first;
        while (a->place != place)
            a = a->next;
        while (b->place != place)
            b = b->next;
        status = permute_region(s, &part, a->tree, b->tree);
        part.offset += a->tree->bytes;
    }
    return status;
}

/* Takes both apart to the regions. */
static restride_status convert_regions(rs_sequence *s, const rs_strided_part *context,
                                       const rs_loop_tree *a, const rs_loop_tree *b)
{
    region_list from = {.first = NULL};
    region_list to = {.first = NULL};
    from.end = &from.first;
    to.end = &to.first;
    rs_sequence undone = rs_sequence_begin(s);
    restride_status status = take_apart(s, context, a, &from);
    if (status == RESTRIDE_OK)
        status = take_apart(&undone, context, b, &to);
    if (status != RESTRIDE_OK)
        return status;
    size_t places = set_places(&from, &to);
    status = reorder(s, context, &from);
    if (status == RESTRIDE_OK)
        status = permute_regions(s, context, &from, &to, places);
    if (status == RESTRIDE_OK)
        status = reorder(&undone, context, &to);
    rs_sequence_append_undone(s, &undone);
    return status;
}

static restride_status convert(rs_sequence *s, const rs_strided_part *context,
                               const rs_loop_tree *a, const rs_loop_tree *b);

/* Rows whose first parts agree are converted part by part as far as that goes. */
static restride_status convert_rows(rs_sequence *s, const rs_strided_part *context,
                                    const rs_loop_tree *a, const rs_loop_tree *b)
{
    rs_strided_part part = *context;
    restride_status status = RESTRIDE_OK;
    size_t i = 0;
    for (; i < a->count && i < b->count && same_regions(a->children[i], b->children[i]); i++) {
        if (status == RESTRIDE_OK)
            status = convert(s, &part, a->children[i], b->children[i]);
        part.offset += a->children[i]->bytes;
    }
    if (status != RESTRIDE_OK || (i == a->count && i == b->count))
        return status;
    const rs_loop_tree *rest_a = rs_tree_row(s->arena, a->children + i, a->count - i);
    const rs_loop_tree *rest_b = rs_tree_row(s->arena, b->children + i, b->count - i);
    if (rest_a == NULL || rest_b == NULL)
        return rs_fail_memory("the parts of a row");
    return convert_regions(s, &part, rest_a, rest_b);
}

static bool same_parts(const rs_loop_tree *a, const rs_loop_tree *b)
{
    bool same = a->count == b->count;
    for (size_t i = 0; same && i < a->count; i++)
        same = same_regions(a->children[i], b->children[i]);
    return same;
}

static const rs_loop_tree *as_row(rs_sequence *s, const rs_strided_part *context,
                                  const rs_loop_tree *tree, restride_status *status)
{
    if (tree->kind == RS_TREE_LOOP && *status == RESTRIDE_OK)
        *status = rs_separate(s, context, tree, &tree);
    return tree;
}

/* One row below the loops of each, or of one of them. */
static restride_status convert_loops(rs_sequence *s, const rs_strided_part *context,
                                     const rs_loop_tree *a, const rs_loop_tree *b)
{
    restride_status status = RESTRIDE_OK;
    rs_sequence before = rs_sequence_begin(s);
    rs_sequence undone = rs_sequence_begin(s);
    const rs_loop_tree *row_a = as_row(&before, context, a, &status);
    const rs_loop_tree *row_b = as_row(&undone, context, b, &status);
    if (status != RESTRIDE_OK)
        return status;
    if (!same_parts(row_a, row_b))
        return convert_regions(s, context, a, b);
    rs_sequence_append(s, &before);
    status = convert_rows(s, context, row_a, row_b);
    rs_sequence_append_undone(s, &undone);
    return status;
}

static restride_status convert(rs_sequence *s, const rs_strided_part *context,
                               const rs_loop_tree *a, const rs_loop_tree *b)
{
    if (is_identical(a, b))
        return RESTRIDE_OK;
    bool one_loop = a->kind == RS_TREE_LOOP && b->kind == RS_TREE_LOOP && a->axis == b->axis &&
                    same_regions(a, b) && a->count == b->count;
    if (one_loop && (context->outer == 1 || context->pitch == a->bytes)) {
        const rs_strided_part inside = {context->offset, context->outer * a->count,
                                        a->children[0]->bytes};
        return convert(s, &inside, a->children[0], b->children[0]);
    }
    if (a->kind == RS_TREE_ROW && b->kind == RS_TREE_ROW)
        return convert_rows(s, context, a, b);
    if (bottom(a)->kind == RS_TREE_LEAF && bottom(b)->kind == RS_TREE_LEAF && same_regions(a, b))
        return permute_region(s, context, a, b);
    if (bottom(a)->kind == RS_TREE_ROW && bottom(b)->kind == RS_TREE_ROW && same_regions(a, b))
        return convert_loops(s, context, a, b);
    return convert_regions(s, context, a, b);
}

/* ---- from layout to layout ---- */

static rs_planned_layout form_of(const restride_layout *layout, size_t elem_size)
{
    rs_planned_layout form = {.rank = layout->rank,
                              .record = layout->record,
                              .unit = elem_size,
                              .term_count = layout->term_count,
                              .terms = layout->terms};
    for (int d = 0; d < layout->rank; d++) {
        form.extents[d] = layout->dimensions[d].padded_extent;
        form.descending[d] = layout->dimensions[d].descending;
    }
    if (form.record >= 0)
        form.members = &layout->dimensions[form.record].record;
    return form;
}

/* The same layout with one dimension in one piece, at the place of its slowest term. */
static restride_status untile(rs_arena *arena, const rs_planned_layout *form, int d,
                              rs_planned_layout *untiled)
{
    rs_term *terms = rs_arena_take(arena, (size_t)form->term_count, sizeof *terms);
    if (terms == NULL)
        return rs_fail_memory("a layout");
    *untiled = *form;
    untiled->terms = terms;
    untiled->term_count = 0;
    untiled->descending[d] = true;
    bool placed = false;
    for (int t = 0; t < form->term_count; t++) {
        if (form->terms[t].dimension != d)
            terms[untiled->term_count++] = form->terms[t];
        else if (!placed)
            terms[untiled->term_count++] = (rs_term){.dimension = d, .divisor = 1};
        placed = placed || form->terms[t].dimension == d;
    }
    return RESTRIDE_OK;
}

static bool is_untiled(const rs_planned_layout *form, int d)
{
    int terms = 0;
    for (int t = 0; t < form->term_count; t++)
        terms += form->terms[t].dimension == d;
    return terms == 1;
}

static restride_status convert_forms(rs_sequence *s, const rs_planned_layout *a,
                                     const rs_planned_layout *b)
{
    const rs_loop_tree *trees[2];
    int d;
    rs_planned_layout between;
    restride_status status;
    switch (rs_trees_make(s->arena, a, b, trees, &d)) {
    case RS_TREES_MADE: {
        const rs_strided_part whole = {0, 1, 0};
        return convert(s, &whole, trees[0], trees[1]);
    }
    case RS_TREES_NOT_NESTED:
    case RS_TREES_NOT_ORDERED: {
        const rs_planned_layout *tiled = is_untiled(a, d) ? b : a;
        status = untile(s->arena, tiled, d, &between);
        if (status == RESTRIDE_OK)
            status = convert_forms(s, a, &between);
        return status == RESTRIDE_OK ? convert_forms(s, &between, b) : status;
    }
    case RS_TREES_TOO_MANY:
        return rs_fail(RESTRIDE_UNSUPPORTED,
                       "The layouts cut the array into more regions than the planner looks at; "
                       "make fewer dimensions ragged, or convert in two steps.");
    default:
        return rs_fail_memory("the regions of two layouts");
    }
}

static bool same_dimensions(const restride_layout *a, const restride_layout *b)
{
    if (a->rank != b->rank || a->record != b->record)
        return false;
    for (int d = 0; d < a->rank; d++)
        if (a->dimensions[d].extent != b->dimensions[d].extent ||
            strcmp(a->dimensions[d].name, b->dimensions[d].name) != 0)
            return false;
    return a->record < 0 ||
           rs_record_equal(&a->dimensions[a->record].record, &b->dimensions[b->record].record);
}

/* Of layouts of the same dimensions. What pads may be a term that is always 0 and is left out. */
static bool same_layout(const restride_layout *a, const restride_layout *b)
{
    if (a->term_count != b->term_count)
        return false;
    for (int t = 0; t < a->term_count; t++) {
        const rs_term *s = &a->terms[t];
        const rs_term *u = &b->terms[t];
        if (s->dimension != u->dimension || s->divisor != u->divisor || s->modulus != u->modulus)
            return false;
    }
    for (int d = 0; d < a->rank; d++)
        if (a->dimensions[d].padded_extent != b->dimensions[d].padded_extent)
            return false;
    return true;
}

static restride_status count_bytes(const restride_layout *from, const restride_layout *to,
                                   size_t elem_size, size_t *bytes)
{
    const restride_layout *larger = from->size > to->size ? from : to;
    if (!rs_layout_count_bytes(larger, elem_size, bytes))
        return rs_fail(RESTRIDE_OVERFLOW,
                       "The array %s of elements of %zu bytes is more bytes than a size can hold.",
                       from->dims_text, elem_size);
    return RESTRIDE_OK;
}

restride_status rs_convert_check(const restride_layout *from, const restride_layout *to,
                                 size_t *elem_size, size_t *bytes)
{
    if (!same_dimensions(from, to) || from->unit != to->unit)
        return rs_fail(RESTRIDE_INVALID_ARGUMENT,
                       "The layouts are of different arrays (%s and %s); write both with "
                       "the same dimensions.",
                       from->dims_text, to->dims_text);
    restride_status status = rs_layout_check_element(from, elem_size);
    return status == RESTRIDE_OK ? count_bytes(from, to, *elem_size, bytes) : status;
}

static restride_status add_tiles(restride_plan *plan, const restride_layout *layout, size_t tile,
                                 rs_marshal_direction direction)
{
    size_t count = layout->dimensions[1 - layout->record].extent;
    const rs_marshal_task task = {
        .record = &layout->dimensions[layout->record].record,
        .count = count,
        .tile =
            tile < count ? tile : count, /* a tile beyond the end would only take local memory */
        .direction = direction,
    };
    return rs_plan_add_marshal(plan, &task);
}

/* Between AoS and ASTA of records: from ASTA to AoS, if it starts there, and from AoS to ASTA, if
 * it ends there. `known` says whether it is such a conversion. */
static restride_status add_marshaling(restride_plan *plan, const restride_layout *from,
                                      const restride_layout *to, bool *known)
{
    size_t from_tile;
    size_t to_tile;
    rs_layout_form from_form = rs_layout_classify(from, &from_tile);
    rs_layout_form to_form = rs_layout_classify(to, &to_tile);
    bool from_known = from_form == RS_FORM_AOS || from_form == RS_FORM_ASTA;
    bool to_known = to_form == RS_FORM_AOS || to_form == RS_FORM_ASTA;
    *known = from->record >= 0 && from_known && to_known;
    if (!*known || (from_form == to_form && from_tile == to_tile))
        return RESTRIDE_OK;
    restride_status status = RESTRIDE_OK;
    if (from_form == RS_FORM_ASTA)
        status = add_tiles(plan, from, from_tile, RS_ASTA_TO_AOS);
    if (status == RESTRIDE_OK && to_form == RS_FORM_ASTA)
        status = add_tiles(plan, to, to_tile, RS_AOS_TO_ASTA);
    return status;
}

typedef struct {
    rs_planned_layout from;
    rs_planned_layout to;
} form_pair;

static restride_status fill(rs_sequence *steps, const void *conversion)
{
    const form_pair *forms = conversion;
    return convert_forms(steps, &forms->from, &forms->to);
}

/* Parts that are too many to look at stay with the stages that there are. */
static restride_status replace_by_copies(restride_plan *plan, const restride_layout *from,
                                         const restride_layout *to, size_t elem_size,
                                         const restride_plan_options *options, bool *dropped)
{
    rs_arena arena = {.failed = false};
    rs_copy_task task = {.group_count = 0};
    *dropped = false;
    restride_status status = rs_copy_parts(&task, &arena, from, to, elem_size);
    if (status == RESTRIDE_OK)
        status = rs_copy_back_replace(plan, &task, options, dropped);
    else if (status == RESTRIDE_UNSUPPORTED)
        status = RESTRIDE_OK;
    rs_arena_free(&arena);
    return status;
}

static restride_status add_factored(restride_plan *plan, const restride_layout *from,
                                    const restride_layout *to, size_t elem_size,
                                    const restride_plan_options *options)
{
    const form_pair forms = {form_of(from, elem_size), form_of(to, elem_size)};
    restride_status status = rs_sequence_plan(plan, options, fill, &forms);
    if (status != RESTRIDE_OK || options == NULL || options->scratch_bytes == 0)
        return status;
    restride_plan_options any = *options;
    any.method = NULL;
    bool dropped;
    status = replace_by_copies(plan, from, to, elem_size, &any, &dropped);
    return dropped ? rs_sequence_plan(plan, options, fill, &forms) : status;
}

/* Tiles pass through memory once; where they cannot, stages of transpositions do it. */
static restride_status choose_stages(restride_plan *plan, const restride_layout *from,
                                     const restride_layout *to, size_t elem_size,
                                     const restride_plan_options *options)
{
    const rs_engine_operations *operations = plan->engine->operations;
    if (plan->bytes == 0 || same_layout(from, to))
        return RESTRIDE_OK;
    bool known = false;
    restride_status status = RESTRIDE_OK;
    if (operations->create_marshal != NULL)
        status = add_marshaling(plan, from, to, &known);
    const rs_engine_traits traits = operations->traits(plan->engine);
    bool fits = status == RESTRIDE_OK && restride_plan_scratch_bytes(plan) <=
                                             rs_choose_scratch_bound(plan->bytes, &traits, options);
    if (known && (fits || operations->create_transpose == NULL))
        return status;
    rs_plan_drop_stages(plan, 0);
    if (operations->create_transpose == NULL)
        return rs_fail(RESTRIDE_UNSUPPORTED,
                       "The %s engine has no stages from \"%s\" to \"%s\"; it converts "
                       "records between AoS (i f) and ASTA (i/T f i%%T) without padding.",
                       operations->name, from->expression_text, to->expression_text);
    return add_factored(plan, from, to, elem_size, options);
}

restride_status restride_plan_convert(restride_plan **plan, restride_engine *engine,
                                      const restride_layout *from, const restride_layout *to)
{
    return restride_plan_convert_with(plan, engine, from, to, 0, NULL);
}

restride_status restride_plan_convert_with(restride_plan **plan, restride_engine *engine,
                                           const restride_layout *from, const restride_layout *to,
                                           size_t elem_size, const restride_plan_options *options)
{
    if (plan != NULL)
        *plan = NULL;
    if (plan == NULL || engine == NULL || from == NULL || to == NULL)
        return rs_fail(
            RESTRIDE_INVALID_ARGUMENT,
            "restride_plan_convert needs an engine, two layouts and a place for the plan.");
    size_t bytes;
    restride_status status = rs_convert_check(from, to, &elem_size, &bytes);
    if (status != RESTRIDE_OK)
        return status;
    restride_plan *created;
    status = rs_plan_create(&created, engine, bytes, from->expression_text, to->expression_text);
    if (status != RESTRIDE_OK)
        return status;
    status = choose_stages(created, from, to, elem_size, options);
    if (status != RESTRIDE_OK) {
        restride_plan_destroy(created);
        return status;
    }
    *plan = created;
    return RESTRIDE_OK;
}

/* Plans that are no sequence of transpositions have nothing to choose. */
static restride_status check_choice(restride_engine *engine, const restride_layout *from,
                                    const restride_layout *to, size_t elem_size)
{
    restride_plan *plan;
    restride_status status = restride_plan_convert_with(&plan, engine, from, to, elem_size, NULL);
    if (status == RESTRIDE_OK && plan->method == NULL)
        status = rs_fail(RESTRIDE_UNSUPPORTED,
                         "Nothing can be tuned here: from \"%s\" to \"%s\" the %s engine has one "
                         "way.",
                         from->expression_text, to->expression_text, engine->operations->name);
    restride_plan_destroy(plan);
    return status;
}

restride_status restride_tune_convert(restride_engine *engine, const restride_layout *from,
                                      const restride_layout *to, size_t elem_size,
                                      const restride_tune_options *options, restride_tuning *tuning)
{
    if (engine == NULL || from == NULL || to == NULL)
        return rs_fail(RESTRIDE_INVALID_ARGUMENT,
                       "restride_tune_convert needs an engine and two layouts.");
    size_t bytes;
    restride_status status = rs_convert_check(from, to, &elem_size, &bytes);
    if (status == RESTRIDE_OK)
        status = rs_tune_check_bytes(bytes);
    if (status == RESTRIDE_OK)
        status = check_choice(engine, from, to, elem_size);
    if (status != RESTRIDE_OK)
        return status;
    const form_pair forms = {form_of(from, elem_size), form_of(to, elem_size)};
    const restride_tune_options how = rs_tune_options(options);
    restride_tuning ignored;
    return rs_tune_sequence(engine, bytes, fill, &forms, &how, tuning == NULL ? &ignored : tuning);
}
