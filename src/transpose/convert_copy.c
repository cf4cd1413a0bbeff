/* Plans from one buffer to another: their parts (copy_parts.h), and one stage of the engine. */
#include "restride/plan.h"
#include "transpose/convert.h"
#include "transpose/copy_parts.h"
#include "transpose/plan.h"

#include <stdint.h>
#include <stdlib.h>

typedef struct {
    rs_stage *stage;
    size_t from_bytes;
    size_t to_bytes;
} copy_plan;

static const rs_copy_operations *operations_of(const restride_plan *plan)
{
    return plan->engine->operations->copy;
}

static restride_status refuse_one_buffer(const restride_plan *plan, void *buffer, bool *has_begun)
{
    (void)plan;
    (void)buffer;
    *has_begun = false;
    return rs_fail(RESTRIDE_INVALID_ARGUMENT, "This plan goes from one buffer to another; run it "
                                              "with restride_execute_copy.");
}

static size_t scratch_bytes(const restride_plan *plan)
{
    return operations_of(plan)->scratch_bytes(((const copy_plan *)plan->own)->stage);
}

static json_t *describe(const restride_plan *plan)
{
    const copy_plan *own = plan->own;
    const rs_engine_operations *operations = plan->engine->operations;
    const size_t bytes_moved = own->from_bytes + own->to_bytes;
    return json_pack("{s:s, s:o, s:s, s:s, s:I, s:[o], s:I, s:I}", "engine", operations->name,
                     "device", operations->describe_device(plan->engine), "from", plan->from, "to",
                     plan->to, "bytes", (json_int_t)plan->bytes, "stages",
                     operations->copy->describe(own->stage), "bytes_moved", (json_int_t)bytes_moved,
                     "scratch_bytes", (json_int_t)scratch_bytes(plan));
}

static void destroy(void *memory)
{
    copy_plan *own = memory;
    if (own->stage != NULL)
        own->stage->engine->operations->copy->destroy(own->stage);
    free(own);
}

static const rs_plan_kind kind = {refuse_one_buffer, scratch_bytes, describe, destroy};

static restride_status create_stage(copy_plan *own, restride_engine *engine,
                                    const restride_layout *from, const restride_layout *to,
                                    size_t elem_size)
{
    rs_arena arena = {.failed = false};
    rs_copy_task task = {.group_count = 0};
    restride_status status = rs_copy_parts(&task, &arena, from, to, elem_size);
    if (status == RESTRIDE_OK) {
        own->from_bytes = task.from_bytes;
        own->to_bytes = task.to_bytes;
        status = engine->operations->copy->create(engine, &task, &own->stage);
    }
    rs_arena_free(&arena);
    return status;
}

static restride_status fill_plan(restride_plan *plan, const restride_layout *from,
                                 const restride_layout *to, size_t elem_size)
{
    copy_plan *own = calloc(1, sizeof *own);
    if (own == NULL)
        return rs_fail_memory("a plan");
    plan->kind = &kind;
    plan->own = own;
    return create_stage(own, plan->engine, from, to, elem_size);
}

restride_status restride_plan_convert_copy(restride_plan **plan, restride_engine *engine,
                                           const restride_layout *from, const restride_layout *to,
                                           size_t elem_size)
{
    if (plan != NULL)
        *plan = NULL;
    if (plan == NULL || engine == NULL || from == NULL || to == NULL)
        return rs_fail(
            RESTRIDE_INVALID_ARGUMENT,
            "restride_plan_convert_copy needs an engine, two layouts and a place for the plan.");
    if (engine->operations->copy == NULL)
        return rs_fail(
            RESTRIDE_UNSUPPORTED,
            "The %s engine cannot convert from one buffer to another; use the host engine.",
            engine->operations->name);
    size_t bytes;
    restride_status status = rs_convert_check(from, to, &elem_size, &bytes);
    if (status != RESTRIDE_OK)
        return status;
    restride_plan *created;
    status = rs_plan_create(&created, engine, bytes, from->expression_text, to->expression_text);
    if (status != RESTRIDE_OK)
        return status;
    status = fill_plan(created, from, to, elem_size);
    if (status != RESTRIDE_OK) {
        restride_plan_destroy(created);
        return status;
    }
    *plan = created;
    return RESTRIDE_OK;
}

/* ---- runs ---- */

static restride_status check_apart(const copy_plan *own, const rs_copy_operations *operations,
                                   const void *from, const void *to)
{
    uintptr_t source = (uintptr_t)from;
    uintptr_t target = (uintptr_t)to;
    bool overlap = operations->are_addresses
                       ? source < target + own->to_bytes && target < source + own->from_bytes
                       : source == target;
    return overlap ? rs_fail(RESTRIDE_INVALID_ARGUMENT,
                             "The source (%zu bytes at %p) and the target (%zu bytes at %p) "
                             "overlap; a conversion in place is restride_plan_convert.",
                             own->from_bytes, from, own->to_bytes, to)
                   : RESTRIDE_OK;
}

static restride_status run(const restride_plan *plan, const void *from, void *to, bool *has_begun)
{
    const copy_plan *own = plan->own;
    const rs_engine_operations *operations = plan->engine->operations;
    if (plan->bytes == 0)
        return RESTRIDE_OK;
    restride_status status = operations->check_buffer(plan->engine, (void *)(uintptr_t)from,
                                                      own->from_bytes, RS_BUFFER_READ);
    if (status == RESTRIDE_OK)
        status = operations->check_buffer(plan->engine, to, own->to_bytes, RS_BUFFER_WRITTEN);
    if (status == RESTRIDE_OK)
        status = check_apart(own, operations->copy, from, to);
    if (status != RESTRIDE_OK)
        return status;
    rs_under_way under_way = {.has_begun = false};
    status = operations->copy->run(own->stage, from, to, &under_way);
    *has_begun = under_way.has_begun;
    if (status == RESTRIDE_OK && operations->finish != NULL)
        status = operations->finish(plan->engine, under_way.last);
    return status;
}

restride_status restride_execute_copy(restride_plan *plan, const void *from, void *to)
{
    if (plan == NULL || (plan->bytes != 0 && (from == NULL || to == NULL)))
        return rs_fail(RESTRIDE_INVALID_ARGUMENT,
                       "restride_execute_copy needs a plan and two buffers.");
    if (plan->kind != &kind)
        return rs_fail_leaving(rs_fail(RESTRIDE_INVALID_ARGUMENT,
                                       "This plan works in place; run it with restride_execute."),
                               "target", false);
    bool has_begun = false;
    restride_status status = run(plan, from, to, &has_begun);
    return status == RESTRIDE_OK ? status : rs_fail_leaving(status, "target", has_begun);
}
