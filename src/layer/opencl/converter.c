/* Conversions of buffers: see converter.h. */
#include "layer/core/plans.h"

#include "base/log.h"
#include "engine/opencl/error.h"
#include "engine/opencl/marshal.h"
#include "engine/opencl/stages.h"
#include "engine/opencl/window.h"
#include "layer/opencl/driver.h"
#include "transpose/plan.h"

#include <stdlib.h>

struct rs_converter {
    const rs_relayout *relayout;
    cl_context context;
    cl_device_id device;
    rs_opencl_marshal *marshal; /* NULL: a window, or plans */
    rs_opencl_window *window;   /* NULL, beside a marshaling kernel alone: no parts */
    restride_engine *engine;    /* of the plans; NULL before the first */
    rs_plans *plans;
    bool has_marshaled[RS_DIRECTIONS], has_copied[RS_DIRECTIONS]; /* by kernel, and by window */
};

static size_t count_records(const rs_converter *converter, size_t bytes)
{
    return bytes / converter->relayout->record.size;
}

/* ---- the life of a converter ---- */

/* Small arrays are converted by a window where no kernel does it; parts are converted as a whole
 * without one. */
static restride_status make_window(rs_converter *converter)
{
    const rs_relayout *r = converter->relayout;
    const rs_window_shape shape = {&r->record, r->from_soa, r->tile};
    restride_status status = rs_opencl_window_create(&converter->window, rs_driver(),
                                                     converter->context, converter->device, &shape);
    if (status == RESTRIDE_OK || !rs_relayout_has_kernel(r))
        return status;
    rs_log(RS_LOG_INFO, "%s", restride_last_error());
    return RESTRIDE_OK;
}

restride_status rs_converter_create(rs_converter **converter, rs_group context, rs_device device,
                                    const rs_relayout *relayout)
{
    *converter = NULL;
    rs_converter *created = calloc(1, sizeof *created);
    if (created == NULL)
        return rs_fail_memory("a conversion");
    *created = (rs_converter){.relayout = relayout, .context = context, .device = device};
    restride_status status = RESTRIDE_OK;
    if (rs_relayout_has_kernel(relayout))
        status = rs_opencl_marshal_create(&created->marshal, rs_driver(), context, device,
                                          &relayout->record, relayout->tile);
    if (status == RESTRIDE_OK)
        status = make_window(created);
    if (status == RESTRIDE_OK)
        *converter = created;
    else
        rs_converter_destroy(created);
    return status;
}

void rs_converter_destroy(rs_converter *converter)
{
    if (converter == NULL)
        return;
    rs_plans_destroy_all(converter->plans);
    if (converter->engine != NULL)
        restride_engine_destroy(converter->engine);
    rs_opencl_marshal_destroy(converter->marshal);
    rs_opencl_window_destroy(converter->window);
    free(converter);
}

/* ---- plans ---- */

/* The engine has a queue of its own, on which plans are prepared. */
static restride_status make_engine(rs_converter *converter)
{
    cl_int code;
    cl_command_queue queue =
        rs_driver()->clCreateCommandQueue(converter->context, converter->device, 0, &code);
    if (queue == NULL)
        return rs_opencl_fail(code, "creating a queue for plans");
    restride_status status = rs_opencl_engine_create(&converter->engine, rs_driver(), queue);
    rs_driver()->clReleaseCommandQueue(queue);
    return status;
}

rs_plans *rs_plans_make(rs_converter *converter, size_t bytes)
{
    const restride_status status = converter->engine != NULL ? RESTRIDE_OK : make_engine(converter);
    return rs_plans_create(converter->relayout, bytes, converter->engine, status);
}

bool rs_converter_lacks_plans(const rs_converter *converter, size_t bytes)
{
    return rs_relayout_needs_plans(converter->relayout, bytes) &&
           rs_plans_find(converter->plans, converter->relayout, bytes) == NULL;
}

void rs_converter_add_plans(rs_converter *converter, rs_plans *plans)
{
    rs_plans_add(&converter->plans, plans);
}

/* ---- workspaces ---- */

static size_t scratch_of_plans(const rs_plans *plans)
{
    size_t there = rs_plan_shared_scratch(plans->plans[RS_FORWARD]);
    size_t back = rs_plan_shared_scratch(plans->plans[RS_INVERSE]);
    return there > back ? there : back;
}

static restride_status take_scratch(const rs_converter *converter, cl_command_queue queue,
                                    size_t bytes, cl_mem *scratch, rs_event *placed)
{
    cl_int code;
    cl_event migrated = NULL;
    *scratch =
        rs_driver()->clCreateBuffer(converter->context, CL_MEM_READ_WRITE, bytes, NULL, &code);
    if (*scratch == NULL)
        return rs_opencl_fail(code, "allocating scratch memory");
    code = rs_driver()->clEnqueueMigrateMemObjects(
        queue, 1, scratch, CL_MIGRATE_MEM_OBJECT_CONTENT_UNDEFINED, 0, NULL, &migrated);
    *placed = migrated;
    if (code == CL_SUCCESS)
        return RESTRIDE_OK;
    rs_driver()->clReleaseMemObject(*scratch);
    return rs_opencl_fail(code, "placing scratch memory on the device");
}

restride_status rs_workspace_take(rs_converter *converter, rs_stream queue, size_t bytes,
                                  rs_workspace *workspace, rs_event *placed)
{
    *workspace = (rs_workspace){NULL, NULL};
    *placed = NULL;
    if (converter->marshal != NULL)
        return RESTRIDE_OK;
    size_t scratch_bytes = count_records(converter, bytes) * converter->relayout->record.size;
    const bool by_plans = rs_relayout_needs_plans(converter->relayout, bytes);
    rs_plans *plans = by_plans ? rs_plans_find(converter->plans, converter->relayout, bytes) : NULL;
    if (plans == NULL && by_plans)
        return rs_fail(RESTRIDE_UNSUPPORTED, "There is no plan for arrays of %zu bytes.", bytes);
    restride_status status = plans != NULL ? rs_plans_check(plans) : RESTRIDE_OK;
    if (plans != NULL && status == RESTRIDE_OK)
        scratch_bytes = scratch_of_plans(plans);
    cl_mem scratch = NULL;
    if (status == RESTRIDE_OK && scratch_bytes > 0)
        status = take_scratch(converter, queue, scratch_bytes, &scratch, placed);
    if (status != RESTRIDE_OK)
        return status;
    if (plans != NULL)
        plans->workspaces++;
    *workspace = (rs_workspace){plans, scratch};
    return RESTRIDE_OK;
}

void rs_workspace_release(rs_workspace *workspace)
{
    if (workspace->scratch != NULL)
        rs_driver()->clReleaseMemObject(workspace->scratch);
    if (workspace->plans != NULL)
        workspace->plans->workspaces--;
    *workspace = (rs_workspace){NULL, NULL};
}

/* ---- whole buffers ---- */

/* The events of a conversion: see rs_conversion. */
typedef struct {
    cl_event began, event;
    bool is_torn;
} enqueued;

static restride_status run_plan(const rs_workspace *workspace, cl_command_queue queue,
                                cl_mem buffer, rs_direction direction, cl_uint wait_count,
                                const cl_event *wait_list, enqueued *conversion)
{
    const restride_plan *plan = workspace->plans->plans[direction];
    const rs_opencl_stages stages = {plan->engine, plan->stages, plan->stage_count,
                                     workspace->scratch};
    return rs_opencl_enqueue_stages(&stages, queue, buffer, wait_count, wait_list,
                                    &conversion->began, &conversion->event, &conversion->is_torn);
}

static restride_status copy_all(cl_command_queue queue, cl_mem from, cl_mem to, size_t bytes,
                                cl_uint wait_count, const cl_event *wait_list, cl_event *event)
{
    cl_int code = rs_driver()->clEnqueueCopyBuffer(queue, from, to, 0, 0, bytes, wait_count,
                                                   wait_list, event);
    return code == CL_SUCCESS ? RESTRIDE_OK : rs_opencl_fail(code, "copying a small array");
}

/* Out into scratch memory and back, one of the ways through the window. The buffer is as it was
 * until the second command. */
static restride_status convert_small(const rs_converter *converter, cl_mem scratch,
                                     cl_command_queue queue, cl_mem buffer, size_t bytes,
                                     rs_direction direction, cl_uint wait_count,
                                     const cl_event *wait_list, enqueued *conversion)
{
    size_t count = count_records(converter, bytes);
    size_t end = count * converter->relayout->record.size;
    const rs_window_part part = {buffer, count, scratch, 0, end};
    restride_status status =
        direction == RS_FORWARD
            ? copy_all(queue, buffer, scratch, end, wait_count, wait_list, &conversion->began)
            : rs_opencl_window_enqueue(converter->window, queue, &part, RS_WINDOW_OUT, wait_count,
                                       wait_list, &conversion->began);
    if (status != RESTRIDE_OK)
        return status;
    status = direction == RS_FORWARD
                 ? rs_opencl_window_enqueue(converter->window, queue, &part, RS_WINDOW_IN, 1,
                                            &conversion->began, &conversion->event)
                 : copy_all(queue, scratch, buffer, end, 1, &conversion->began, &conversion->event);
    if (status != RESTRIDE_OK)
        rs_driver()->clReleaseEvent(conversion->began);
    return status;
}

static restride_status marshal(const rs_converter *converter, cl_command_queue queue, cl_mem buffer,
                               size_t bytes, rs_direction direction, cl_uint wait_count,
                               const cl_event *wait_list, enqueued *conversion)
{
    restride_status status = rs_opencl_marshal_enqueue(
        converter->marshal, queue, buffer, count_records(converter, bytes),
        direction == RS_FORWARD ? RS_AOS_TO_ASTA : RS_ASTA_TO_AOS, wait_count, wait_list,
        &conversion->event);
    if (status == RESTRIDE_OK) {
        conversion->began = conversion->event;
        rs_driver()->clRetainEvent(conversion->began);
    }
    return status;
}

/* What says of a conversion that its kernels have run. */
static bool *note_of(rs_converter *converter, const rs_workspace *workspace, rs_direction direction)
{
    if (converter->marshal != NULL)
        return &converter->has_marshaled[direction];
    return workspace->plans != NULL ? &workspace->plans->has_run[direction]
                                    : &converter->has_copied[direction];
}

bool rs_converter_has_run(const rs_converter *converter, const rs_workspace *workspace,
                          rs_direction direction)
{
    return *note_of((rs_converter *)converter, workspace, direction);
}

restride_status rs_converter_enqueue(rs_converter *converter, const rs_workspace *workspace,
                                     rs_stream queue, rs_allocation buffer, size_t bytes,
                                     rs_direction direction, unsigned wait_count,
                                     const void *wait_list, rs_conversion *conversion)
{
    enqueued made = {NULL, NULL, false};
    restride_status status;
    *note_of(converter, workspace, direction) = true;
    if (converter->marshal != NULL)
        status = marshal(converter, queue, buffer, bytes, direction, wait_count, wait_list, &made);
    else if (workspace->plans != NULL)
        status = run_plan(workspace, queue, buffer, direction, wait_count, wait_list, &made);
    else
        status = convert_small(converter, workspace->scratch, queue, buffer, bytes, direction,
                               wait_count, wait_list, &made);
    *conversion = (rs_conversion){made.began, made.event, made.is_torn};
    return status;
}

/* ---- parts ---- */

size_t rs_converter_granule(const rs_converter *converter)
{
    return converter->window != NULL ? rs_opencl_window_granule(converter->window) : 0;
}

bool rs_converter_has_copied(const rs_converter *converter, rs_direction direction)
{
    return converter->has_copied[direction];
}

restride_status rs_converter_copy_part(rs_converter *converter, rs_stream queue,
                                       rs_allocation buffer, size_t bytes,
                                       const rs_converter_part *part, rs_direction direction,
                                       unsigned wait_count, const void *wait_list, rs_event *event)
{
    cl_event copied = NULL;
    converter->has_copied[direction] = true;
    const rs_window_part window = {buffer, count_records(converter, bytes), part->scratch,
                                   part->first, part->end};
    const restride_status status = rs_opencl_window_enqueue(
        converter->window, queue, &window, direction == RS_INVERSE ? RS_WINDOW_OUT : RS_WINDOW_IN,
        wait_count, wait_list, &copied);
    *event = copied;
    return status;
}
