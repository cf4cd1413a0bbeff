/*
 * Conversions of buffers: see core/converter.h. The stages are the engine's, which works on one
 * stream; it is given that of the command. All of a converter share the engine's scratch memory and
 * tables, so each conversion waits for the one before.
 */
#include "layer/core/plans.h"

#include "engine/cuda/cuda.h"
#include "layer/cuda/events.h"
#include "restride/cuda.h"
#include "transpose/plan.h"

#include <stdlib.h>

typedef struct {
    const rs_relayout *relayout;
    rs_group context;
    rs_cuda_queue *queue; /* its own, on which plans are prepared */
    restride_engine *engine;
    rs_plans *plans;
    rs_event last;         /* conversion; NULL: there was none */
    pthread_mutex_t mutex; /* of the engine: a thread may make plans beside conversions */
} cuda_converter;

/* What the core has of it is an address. */
static cuda_converter *own(const rs_converter *converter)
{
    return (cuda_converter *)converter;
}

/* ---- plans ---- */

static rs_plans *make_plans(cuda_converter *converter, size_t bytes)
{
    pthread_mutex_lock(&converter->mutex);
    rs_plans *made = rs_plans_create(converter->relayout, bytes, converter->engine, RESTRIDE_OK);
    rs_api_stream_finish(converter->queue); /* it may copy tables */
    pthread_mutex_unlock(&converter->mutex);
    return made;
}

rs_plans *rs_plans_make(rs_converter *converter, size_t bytes)
{
    return make_plans(own(converter), bytes);
}

bool rs_converter_lacks_plans(const rs_converter *converter, size_t bytes)
{
    const cuda_converter *c = own(converter);
    return rs_relayout_needs_plans(c->relayout, bytes) &&
           rs_plans_find(c->plans, c->relayout, bytes) == NULL;
}

void rs_converter_add_plans(rs_converter *converter, rs_plans *plans)
{
    rs_plans_add(&own(converter)->plans, plans);
}

/* ---- the life of a converter ---- */

/* The kernels for whole tiles and for the rest, before any array needs them: they may have to be
 * compiled. */
static restride_status prepare(cuda_converter *converter)
{
    const rs_relayout *relayout = converter->relayout;
    if (!rs_relayout_has_kernel(relayout))
        return RESTRIDE_OK;
    rs_plans *tried = make_plans(converter, (2 * relayout->tile + 1) * relayout->record.size);
    restride_status status = rs_plans_check(tried);
    if (status == RESTRIDE_OK)
        rs_plans_add(&converter->plans, tried);
    else
        rs_plans_destroy(tried);
    return status;
}

static void destroy(cuda_converter *converter)
{
    rs_plans_destroy_all(converter->plans);
    if (converter->engine != NULL)
        restride_engine_destroy(converter->engine);
    if (converter->queue != NULL)
        rs_cuda_queue_close(converter->queue);
    if (converter->last != NULL)
        rs_api_event_release(converter->last);
    pthread_mutex_destroy(&converter->mutex);
    free(converter);
}

void rs_converter_destroy(rs_converter *converter)
{
    if (converter != NULL)
        destroy(own(converter));
}

restride_status rs_converter_create(rs_converter **converter, rs_group context, rs_device device,
                                    const rs_relayout *relayout)
{
    *converter = NULL;
    cuda_converter *created = calloc(1, sizeof *created);
    if (created == NULL)
        return rs_fail_memory("a conversion");
    created->relayout = relayout;
    created->context = context;
    pthread_mutex_init(&created->mutex, NULL);
    const rs_cuda_entered entered = rs_cuda_enter(context);
    const int code = rs_cuda_queue_open(context, device, &created->queue);
    restride_status status =
        code == 0 ? restride_engine_create_cuda(&created->engine, created->queue->stream)
                  : rs_cuda_fail(code, "making a stream for conversions");
    if (status == RESTRIDE_OK)
        status = prepare(created);
    rs_cuda_leave(&entered);
    if (status == RESTRIDE_OK)
        *converter = (rs_converter *)created;
    else
        destroy(created);
    return status;
}

/* ---- workspaces ---- */

/* An array of another length takes a plan of its own, of kernels that are there. */
restride_status rs_workspace_take(rs_converter *base, rs_stream queue, size_t bytes,
                                  rs_workspace *workspace, rs_event *placed)
{
    cuda_converter *converter = own(base);
    (void)queue;
    *workspace = (rs_workspace){NULL, NULL};
    *placed = NULL;
    rs_plans *plans = rs_plans_find(converter->plans, converter->relayout, bytes);
    if (plans == NULL && (plans = make_plans(converter, bytes)) != NULL)
        rs_plans_add(&converter->plans, plans);
    restride_status status = rs_plans_check(plans);
    if (status != RESTRIDE_OK)
        return status;
    plans->workspaces++;
    *workspace = (rs_workspace){plans, NULL};
    return RESTRIDE_OK;
}

void rs_workspace_release(rs_workspace *workspace)
{
    if (workspace->plans != NULL)
        workspace->plans->workspaces--;
    *workspace = (rs_workspace){NULL, NULL};
}

/* ---- whole buffers ---- */

bool rs_converter_has_run(const rs_converter *converter, const rs_workspace *workspace,
                          rs_direction direction)
{
    (void)converter;
    return workspace->plans->has_run[direction];
}

static rs_cuda_result wait_for_all(const cuda_converter *converter, const rs_cuda_queue *queue,
                                   unsigned count, const rs_event *list)
{
    rs_cuda_result code = RS_CUDA_SUCCESS;
    for (unsigned i = 0; i < count && code == RS_CUDA_SUCCESS; i++)
        code = rs_cuda_mark_await(queue, list[i]);
    if (code == RS_CUDA_SUCCESS && converter->last != NULL)
        code = rs_cuda_mark_await(queue, converter->last);
    return code;
}

/* The engine's stream is another one for so long. */
static restride_status run_plan(cuda_converter *converter, const restride_plan *plan,
                                const rs_cuda_queue *queue, rs_allocation buffer, bool *has_begun)
{
    rs_cuda_engine *engine = (rs_cuda_engine *)converter->engine;
    pthread_mutex_lock(&converter->mutex);
    rs_cuda_stream own = engine->stream;
    engine->stream = queue->stream;
    const restride_status status = rs_plan_run(plan, buffer, NULL, has_begun);
    engine->stream = own;
    pthread_mutex_unlock(&converter->mutex);
    return status;
}

restride_status rs_converter_enqueue(rs_converter *base, const rs_workspace *workspace,
                                     rs_stream stream, rs_allocation buffer, size_t bytes,
                                     rs_direction direction, unsigned wait_count,
                                     const void *wait_list, rs_conversion *conversion)
{
    cuda_converter *converter = own(base);
    rs_plans *plans = workspace->plans;
    rs_cuda_queue *queue = stream;
    rs_cuda_mark *mark = NULL;
    bool has_begun = false;
    (void)bytes;
    *conversion = (rs_conversion){NULL, NULL, false};
    plans->has_run[direction] = true;
    rs_cuda_result code = wait_for_all(converter, queue, wait_count, wait_list);
    if (code == RS_CUDA_SUCCESS)
        code = rs_cuda_mark_begin(queue, true, true, &mark);
    if (code != RS_CUDA_SUCCESS)
        return rs_cuda_fail(code, "making an event for a conversion");
    restride_status status =
        run_plan(converter, plans->plans[direction], queue, buffer, &has_begun);
    code = status == RESTRIDE_OK ? rs_cuda_mark_end(queue, mark) : RS_CUDA_SUCCESS;
    if (code != RS_CUDA_SUCCESS)
        status = rs_cuda_fail(code, "recording an event behind a conversion");
    if (status != RESTRIDE_OK) {
        conversion->is_torn = has_begun;
        rs_api_event_release(mark);
        return status;
    }
    rs_api_event_retain(mark);
    *conversion = (rs_conversion){mark, mark, false};
    if (converter->last != NULL)
        rs_api_event_release(converter->last);
    rs_api_event_retain(mark);
    converter->last = mark;
    return RESTRIDE_OK;
}

/* ---- parts ---- */

/* There are none: a command that touches a few bytes has all of them in the program's layout. */
size_t rs_converter_granule(const rs_converter *converter)
{
    (void)converter;
    return 0;
}

bool rs_converter_has_copied(const rs_converter *converter, rs_direction direction)
{
    (void)converter, (void)direction;
    return false;
}

restride_status rs_converter_copy_part(rs_converter *converter, rs_stream queue,
                                       rs_allocation buffer, size_t bytes,
                                       const rs_converter_part *part, rs_direction direction,
                                       unsigned wait_count, const void *wait_list, rs_event *event)
{
    (void)converter, (void)queue, (void)buffer, (void)bytes, (void)part, (void)direction;
    (void)wait_count, (void)wait_list;
    *event = NULL;
    return rs_fail(RESTRIDE_UNSUPPORTED, "There are no parts.");
}
