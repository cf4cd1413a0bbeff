/*
 * Plans for conversions between layouts (design: Sung thesis, chapter 4 for the stages, section 5.4
 * for AoS and ASTA). AoS to ASTA and back is one stage; ASTA to ASTA of another tile goes through
 * AoS, in two. Describing any plan is here too; transposition plans are made in transpose.c, and
 * plans are run in execute.c.
 */
#include "restride/plan.h"
#include "base/arithmetic.h"
#include "base/json.h"
#include "engine/stage.h"
#include "layout/layout.h"
#include "transpose/plan.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

static char *copy_string(const char *string)
{
    size_t size = strlen(string) + 1;
    char *copy = malloc(size);
    return copy == NULL ? NULL : memcpy(copy, string, size);
}

restride_status rs_plan_create(restride_plan **plan, restride_engine *engine, size_t bytes,
                               const char *from, const char *to)
{
    *plan = NULL;
    restride_plan *created = calloc(1, sizeof *created);
    if (created == NULL)
        return rs_fail_memory("a plan");
    created->engine = engine;
    created->bytes = bytes;
    created->from = copy_string(from);
    created->to = copy_string(to);
    if (created->from == NULL || created->to == NULL) {
        restride_plan_destroy(created);
        return rs_fail_memory("a plan");
    }
    *plan = created;
    return RESTRIDE_OK;
}

/* The plan's own copy of a task, with its pieces. */
static restride_status remember(restride_plan *plan, const rs_transpose_task *task)
{
    rs_transpose_task *own = &plan->tasks[plan->stage_count];
    *own = *task;
    own->pieces = NULL;
    if (task->piece_count == 0)
        return RESTRIDE_OK;
    rs_piece *pieces = malloc(task->piece_count * sizeof *pieces);
    if (pieces == NULL)
        return rs_fail_memory("a plan");
    memcpy(pieces, task->pieces, task->piece_count * sizeof *pieces);
    own->pieces = pieces;
    return RESTRIDE_OK;
}

restride_status rs_plan_add_transposes(restride_plan *plan, const rs_transpose_task *tasks,
                                       size_t count, size_t scratch_limit)
{
    if (count > RS_PLAN_MOST_STAGES - plan->stage_count)
        return rs_fail(RESTRIDE_UNSUPPORTED,
                       "This conversion takes more than %d stages; convert in two steps.",
                       RS_PLAN_MOST_STAGES);
    for (size_t i = 0; i < count; i++) {
        restride_status status = remember(plan, &tasks[i]);
        if (status == RESTRIDE_OK)
            status = plan->engine->operations->create_transpose(
                plan->engine, &tasks[i], scratch_limit, &plan->stages[plan->stage_count]);
        if (status != RESTRIDE_OK) {
            free((void *)(uintptr_t)plan->tasks[plan->stage_count].pieces);
            return status;
        }
        plan->stage_count++;
    }
    return RESTRIDE_OK;
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

static bool same_terms(const restride_layout *a, const restride_layout *b)
{
    if (a->term_count != b->term_count)
        return false;
    for (int t = 0; t < a->term_count; t++) {
        const rs_term *s = &a->terms[t];
        const rs_term *u = &b->terms[t];
        if (s->dimension != u->dimension || s->divisor != u->divisor || s->modulus != u->modulus ||
            s->padded != u->padded)
            return false;
    }
    return true;
}

static restride_status check_layouts(const restride_layout *from, const restride_layout *to)
{
    if (!same_dimensions(from, to))
        return rs_fail(RESTRIDE_INVALID_ARGUMENT,
                       "The layouts are of different arrays (%s and %s); write both with "
                       "the same dimensions.",
                       from->dims_text, to->dims_text);
    if (from->record < 0)
        return rs_fail(RESTRIDE_UNSUPPORTED,
                       "The array %s does not say how large its elements are; write them as a "
                       "record, for example "
                       "f{ float x[5]; } instead of f:5.",
                       from->dims_text);
    return RESTRIDE_OK;
}

static restride_status add_stage(restride_plan *plan, const restride_layout *layout, size_t tile,
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
    restride_status status = plan->engine->operations->create_marshal(
        plan->engine, &task, &plan->stages[plan->stage_count]);
    if (status == RESTRIDE_OK)
        plan->stage_count++;
    return status;
}

/* Chooses the stages: from ASTA to AoS, if it starts there, and from AoS to ASTA, if it ends there.
 */
static restride_status choose_stages(restride_plan *plan, const restride_layout *from,
                                     const restride_layout *to)
{
    size_t from_tile;
    size_t to_tile;
    rs_layout_form from_form = rs_layout_classify(from, &from_tile);
    rs_layout_form to_form = rs_layout_classify(to, &to_tile);
    bool from_known = from_form == RS_FORM_AOS || from_form == RS_FORM_ASTA;
    bool to_known = to_form == RS_FORM_AOS || to_form == RS_FORM_ASTA;
    if (same_terms(from, to) || (from_known && from_form == to_form && from_tile == to_tile))
        return RESTRIDE_OK;
    if (!from_known || !to_known)
        return rs_fail(RESTRIDE_UNSUPPORTED,
                       "The %s engine has no stages from \"%s\" to \"%s\"; it converts "
                       "between AoS (i f) and ASTA (i/T f i%%T) without padding.",
                       plan->engine->operations->name, from->expression_text, to->expression_text);
    restride_status status = RESTRIDE_OK;
    if (from_form == RS_FORM_ASTA)
        status = add_stage(plan, from, from_tile, RS_ASTA_TO_AOS);
    if (status == RESTRIDE_OK && to_form == RS_FORM_ASTA)
        status = add_stage(plan, to, to_tile, RS_AOS_TO_ASTA);
    return status;
}

restride_status restride_plan_convert(restride_plan **plan, restride_engine *engine,
                                      const restride_layout *from, const restride_layout *to)
{
    if (plan == NULL || engine == NULL || from == NULL || to == NULL)
        return rs_fail(
            RESTRIDE_INVALID_ARGUMENT,
            "restride_plan_convert needs an engine, two layouts and a place for the plan.");
    *plan = NULL;
    restride_status status = check_layouts(from, to);
    if (status != RESTRIDE_OK)
        return status;
    restride_plan *created;
    status = rs_plan_create(&created, engine, restride_layout_size(from), from->expression_text,
                            to->expression_text);
    if (status != RESTRIDE_OK)
        return status;
    status = choose_stages(created, from, to);
    if (status != RESTRIDE_OK) {
        restride_plan_destroy(created);
        return status;
    }
    *plan = created;
    return RESTRIDE_OK;
}

static size_t kept_bytes(const restride_plan *plan)
{
    const rs_engine_operations *operations = plan->engine->operations;
    size_t sum = 0;
    for (size_t i = 0; i < plan->stage_count && operations->scratch_bytes != NULL; i++) {
        size_t kept = 0;
        operations->scratch_bytes(plan->stages[i], &kept);
        sum += kept;
    }
    return sum;
}

size_t restride_plan_scratch_bytes(const restride_plan *plan)
{
    return plan == NULL ? 0 : rs_plan_shared_scratch(plan) + kept_bytes(plan);
}

/* NULL when one of the stages could not be described. */
static json_t *describe_stages(const restride_plan *plan)
{
    json_t *stages = json_array();
    for (size_t i = 0; stages != NULL && i < plan->stage_count; i++)
        if (json_array_append_new(stages,
                                  plan->engine->operations->describe_stage(plan->stages[i])) != 0) {
            json_decref(stages);
            return NULL;
        }
    return stages;
}

static bool add_string(json_t *object, const char *key, const char *value)
{
    return value == NULL || value[0] == '\0' ||
           json_object_set_new(object, key, json_string(value)) == 0;
}

/* What the planner knows of a transposition besides its stages. */
static bool add_estimate(json_t *object, const restride_plan *plan)
{
    if (plan->method == NULL)
        return true;
    return json_object_set_new(object, "tile_rows", json_integer((json_int_t)plan->tile_rows)) ==
               0 &&
           json_object_set_new(object, "tile_cols", json_integer((json_int_t)plan->tile_cols)) ==
               0 &&
           json_object_set_new(object, "estimated_passes", json_real(plan->passes)) == 0;
}

static json_t *describe(const restride_plan *plan)
{
    const rs_engine_operations *operations = plan->engine->operations;
    size_t moved; /* every stage reads and writes every byte once */
    if (!rs_size_multiply(plan->bytes, 2 * plan->stage_count, &moved) || moved > INT64_MAX)
        moved = INT64_MAX;
    json_t *object = json_pack(
        "{s:s, s:o, s:s, s:s, s:I, s:o, s:I, s:I}", "engine", operations->name, "device",
        operations->describe_device(plan->engine), "from", plan->from, "to", plan->to, "bytes",
        (json_int_t)plan->bytes, "stages", describe_stages(plan), "bytes_moved", (json_int_t)moved,
        "scratch_bytes", (json_int_t)restride_plan_scratch_bytes(plan));
    if (object == NULL || (add_string(object, "method", plan->method) &&
                           add_estimate(object, plan) && add_string(object, "why", plan->why)))
        return object;
    json_decref(object);
    return NULL;
}

char *restride_plan_describe(const restride_plan *plan)
{
    if (plan == NULL)
        return NULL;
    json_t *object = describe(plan);
    char *text = rs_json_text(object);
    json_decref(object);
    if (text == NULL)
        rs_fail_memory("the description of a plan");
    return text;
}

void restride_plan_destroy(restride_plan *plan)
{
    if (plan == NULL)
        return;
    for (size_t i = 0; i < plan->stage_count; i++) {
        plan->engine->operations->destroy_stage(plan->stages[i]);
        free((void *)(uintptr_t)plan->tasks[i].pieces);
    }
    free(plan->from);
    free(plan->to);
    free(plan);
}
