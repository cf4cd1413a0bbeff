/* What all plans share: their stages, and their descriptions. Plans are made in transpose.c,
 * permute.c and convert.c, and run in execute.c. */
#include "restride/plan.h"
#include "base/arithmetic.h"
#include "base/json.h"
#include "engine/stage.h"
#include "layout/layout.h"
#include "transpose/cost.h"
#include "transpose/plan.h"
#include "transpose/rates.h"

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
    own->copy = NULL;
    if (task->piece_count == 0)
        return RESTRIDE_OK;
    rs_piece *pieces = malloc(task->piece_count * sizeof *pieces);
    if (pieces == NULL)
        return rs_fail_memory("a plan");
    memcpy(pieces, task->pieces, task->piece_count * sizeof *pieces);
    own->pieces = pieces;
    return RESTRIDE_OK;
}

/* Makes room for `count` more stages. RESTRIDE_UNSUPPORTED when they are too many. */
static restride_status reserve(restride_plan *plan, size_t count)
{
    if (count > RS_PLAN_MOST_STAGES - plan->stage_count)
        return rs_fail(RESTRIDE_UNSUPPORTED,
                       "This conversion takes more than %d stages; convert in two steps.",
                       RS_PLAN_MOST_STAGES);
    if (count <= plan->capacity - plan->stage_count)
        return RESTRIDE_OK;
    size_t capacity = 2 * plan->stage_count + count;
    rs_stage **stages = calloc(capacity, sizeof *stages);
    rs_transpose_task *tasks = calloc(capacity, sizeof *tasks);
    if (stages == NULL || tasks == NULL) {
        free(stages);
        free(tasks);
        return rs_fail_memory("a plan");
    }
    if (plan->stage_count > 0) {
        memcpy(stages, plan->stages, plan->stage_count * sizeof *stages);
        memcpy(tasks, plan->tasks, plan->stage_count * sizeof *tasks);
    }
    free(plan->stages);
    free(plan->tasks);
    plan->stages = stages;
    plan->tasks = tasks;
    plan->capacity = capacity;
    return RESTRIDE_OK;
}

static restride_status remember_marshal(restride_plan *plan, const rs_marshal_task *task)
{
    rs_piece *pieces = calloc(rs_pieces_of_record(task->record, NULL) + 1, sizeof *pieces);
    if (pieces == NULL)
        return rs_fail_memory("a plan");
    plan->tasks[plan->stage_count] = (rs_transpose_task){
        .method = task->direction == RS_AOS_TO_ASTA ? RS_TRANSPOSE_UNZIP : RS_TRANSPOSE_ZIP,
        .outer = 1,
        .count = task->count / task->tile,
        .rows = task->tile,
        .cols = task->record->size,
        .tail = task->count % task->tile,
        .unit = 1,
        .pieces = pieces,
        .piece_count = rs_pieces_of_record(task->record, pieces)};
    return RESTRIDE_OK;
}

restride_status rs_plan_add_marshal(restride_plan *plan, const rs_marshal_task *task)
{
    restride_status status = reserve(plan, 1);
    if (status == RESTRIDE_OK)
        status = remember_marshal(plan, task);
    if (status != RESTRIDE_OK)
        return status;
    status = plan->engine->operations->create_marshal(plan->engine, task,
                                                      &plan->stages[plan->stage_count]);
    if (status == RESTRIDE_OK)
        plan->stage_count++;
    else
        free((void *)(uintptr_t)plan->tasks[plan->stage_count].pieces);
    return status;
}

restride_status rs_plan_add_transposes(restride_plan *plan, const rs_transpose_task *tasks,
                                       size_t count, size_t scratch_limit)
{
    restride_status status = reserve(plan, count);
    if (status != RESTRIDE_OK)
        return status;
    for (size_t i = 0; i < count; i++) {
        status = remember(plan, &tasks[i]);
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

/* Whether arrays are in host memory, or in files: only there a plan is taken in steps. */
static bool is_in_host_memory(const restride_plan *plan)
{
    return plan->engine->operations->transfer == NULL;
}

/* Tables of the stages, and what the plan remembers of records' members beside the array. */
static size_t kept_bytes(const restride_plan *plan)
{
    const rs_engine_operations *operations = plan->engine->operations;
    size_t sum = 0;
    for (size_t i = 0; i < plan->stage_count && is_in_host_memory(plan); i++)
        sum += plan->tasks[i].piece_count * sizeof *plan->tasks[i].pieces;
    for (size_t i = 0; i < plan->stage_count && operations->scratch_bytes != NULL; i++) {
        size_t kept = 0;
        operations->scratch_bytes(plan->stages[i], &kept);
        sum += kept;
    }
    return sum;
}

size_t rs_plan_shared_scratch(const restride_plan *plan)
{
    const rs_engine_operations *operations = plan->engine->operations;
    size_t most = 0;
    size_t kept;
    for (size_t i = 0; i < plan->stage_count && operations->scratch_bytes != NULL; i++) {
        size_t bytes = operations->scratch_bytes(plan->stages[i], &kept);
        most = bytes > most ? bytes : most;
    }
    return most;
}

size_t restride_plan_bytes(const restride_plan *plan)
{
    return plan == NULL ? 0 : plan->bytes;
}

size_t restride_plan_scratch_bytes(const restride_plan *plan)
{
    if (plan == NULL)
        return 0;
    return plan->kind != NULL ? plan->kind->scratch_bytes(plan)
                              : rs_plan_shared_scratch(plan) + kept_bytes(plan);
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

/* Every stage reads and writes every byte once, or twice. */
static size_t count_accesses(const restride_plan *plan)
{
    size_t count = 2 * plan->stage_count;
    for (size_t i = 0; i < plan->stage_count; i++)
        count += plan->tasks[i].method == RS_TRANSPOSE_COPY_BACK ? 2 : 0;
    return count;
}

static json_t *describe(const restride_plan *plan)
{
    const rs_engine_operations *operations = plan->engine->operations;
    size_t moved;
    if (!rs_size_multiply(plan->bytes, count_accesses(plan), &moved) || moved > INT64_MAX)
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

json_t *rs_plan_describe(const restride_plan *plan)
{
    return plan->kind != NULL ? plan->kind->describe(plan) : describe(plan);
}

char *restride_plan_describe(const restride_plan *plan)
{
    if (plan == NULL)
        return NULL;
    json_t *object = rs_plan_describe(plan);
    char *text = rs_json_text(object);
    json_decref(object);
    if (text == NULL)
        rs_fail_memory("the description of a plan");
    return text;
}

/* A stage finds in the cache what the one before it wrote last: fitted to plans of 350 problems on
 * a GPU, of which 41 to 95 MB gained most (lab/docs/performance.md). */
static double found_in_cache(const restride_plan *plan, const rs_engine_traits *traits)
{
    const double part = 0.65, most = 0.6;
    const double found = part * (double)traits->cache_bytes / (double)plan->bytes;
    return plan->stage_count > 1 ? (double)(plan->stage_count - 1) * (found < most ? found : most)
                                 : 0;
}

void rs_plan_expect(restride_plan *plan, const rs_engine_traits *traits, size_t scratch_limit)
{
    if (plan->bytes == 0)
        return;
    plan->passes -= found_in_cache(plan, traits);
    if (traits->rates == NULL)
        return;
    rs_engine_traits known = *traits;
    known.workers = rs_engine_workers(traits, plan->bytes);
    double sum = 0;
    for (size_t i = 0; i < plan->stage_count; i++) {
        double cost = rs_cost_expected(&plan->tasks[i], &known, scratch_limit);
        if (cost >= RS_COST_IMPOSSIBLE)
            return;
        sum += cost * rs_rates_bytes(&plan->tasks[i]);
    }
    plan->passes = sum / (double)plan->bytes;
}

void rs_plan_remove_stages(restride_plan *plan, size_t first, size_t count)
{
    const size_t rest = first + count;
    for (size_t i = first; i < rest; i++) {
        plan->engine->operations->destroy_stage(plan->stages[i]);
        free((void *)(uintptr_t)plan->tasks[i].pieces);
    }
    for (size_t i = rest; i < plan->stage_count; i++) {
        plan->stages[i - count] = plan->stages[i];
        plan->tasks[i - count] = plan->tasks[i];
    }
    plan->stage_count -= count;
}

void rs_plan_drop_stages(restride_plan *plan, size_t count)
{
    if (count < plan->stage_count)
        rs_plan_remove_stages(plan, count, plan->stage_count - count);
}

void restride_plan_destroy(restride_plan *plan)
{
    if (plan == NULL)
        return;
    if (plan->kind != NULL)
        plan->kind->destroy(plan->own);
    rs_plan_drop_stages(plan, 0);
    free(plan->stages);
    free(plan->tasks);
    free(plan->from);
    free(plan->to);
    free(plan);
}
