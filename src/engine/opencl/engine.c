/* The OpenCL engine: stages on a caller's command queue. */
#include "engine/opencl/error.h"
#include "engine/opencl/opencl.h"
#include "engine/opencl/simd.h"
#include "engine/opencl/stages.h"
#include "restride/opencl.h"

#include <stdlib.h>

enum {
    MOST_LOCAL_BYTES = 64 << 10,  /* a CPU's local memory is its ordinary memory */
    DRIVER_LOCAL_BYTES = 1 << 10, /* NVIDIA's refuses a group that takes all of it */
    LINE_BYTES = 128,             /* of a GPU's caches */
    /* 7/8 of 0.25 % and 1 MiB: stages keep tables besides what a run takes. */
    SCRATCH_PARTS = 458,
    SCRATCH_BYTES = 7 << 17
};

static rs_engine_traits traits(const restride_engine *base)
{
    const rs_opencl_engine *engine = (const rs_opencl_engine *)base;
    return (rs_engine_traits){.chip_bytes = engine->common.local_bytes,
                              .group_bytes = engine->common.local_bytes,
                              .box_bytes = engine->common.local_bytes,
                              .line_bytes = LINE_BYTES,
                              .workers = engine->common.units,
                              .chip_only = true,
                              .scratch_parts = SCRATCH_PARTS,
                              .scratch_bytes = SCRATCH_BYTES};
}

/* ---- marshaling: kernels of its own (marshal.h), a stage like all others ---- */

typedef struct {
    rs_opencl_marshal *marshal;
    size_t count;
    rs_marshal_direction direction;
} marshal_plan;

static restride_status enqueue_marshal(const marshal_plan *plan, rs_device_sequence *sequence,
                                       cl_mem buffer)
{
    const rs_opencl_engine *engine = (const rs_opencl_engine *)sequence->engine;
    cl_event before = sequence->last;
    cl_event event = NULL;
    restride_status status = rs_opencl_marshal_enqueue(
        plan->marshal, engine->queue, buffer, plan->count, plan->direction, before != NULL,
        before != NULL ? &before : NULL, engine->out_of_order ? &event : NULL);
    if (status != RESTRIDE_OK)
        return status;
    if (before != NULL)
        engine->api->clReleaseEvent(before);
    sequence->last = event;
    sequence->has_launched = true;
    return RESTRIDE_OK;
}

static void forget_marshal(rs_device_stage *stage)
{
    marshal_plan *plan = stage->plan;
    if (plan != NULL)
        rs_opencl_marshal_destroy(plan->marshal);
    free(plan);
}

static const rs_device_method marshalling = {"010!", "BS", NULL, NULL, forget_marshal};

static restride_status create_marshal(restride_engine *base, const rs_marshal_task *task,
                                      rs_stage **created)
{
    rs_opencl_engine *engine = (rs_opencl_engine *)base;
    *created = NULL;
    rs_device_stage *stage = calloc(1, sizeof *stage);
    marshal_plan *plan = calloc(1, sizeof *plan);
    if (stage == NULL || plan == NULL) {
        free(stage);
        free(plan);
        return rs_fail_memory("a stage");
    }
    *plan = (marshal_plan){.count = task->count, .direction = task->direction};
    stage->base.engine = base;
    stage->method = &marshalling;
    stage->plan = plan;
    restride_status status = rs_opencl_marshal_create(&plan->marshal, engine->api, engine->context,
                                                      engine->device, task->record, task->tile);
    if (status == RESTRIDE_OK)
        *created = &stage->base;
    else
        rs_device_destroy_stage(stage);
    return status;
}

static json_t *describe_marshal(const marshal_plan *plan)
{
    const rs_marshal_shape *shape = rs_opencl_marshal_shape(plan->marshal);
    const rs_named_number numbers[] = {
        {"tile", shape->tile},
        {"record_bytes", shape->record_bytes},
        {"tiles_per_work_group", shape->tiles},
        {"work_items", shape->work_items},
        {"vector_bytes", shape->components * shape->granule},
        {"local_bytes", shape->local_bytes},
    };
    json_t *object = json_pack("{s:s, s:s, s:s}", "name", "010!", "method", "BS", "direction",
                               plan->direction == RS_AOS_TO_ASTA ? "AoS to ASTA" : "ASTA to AoS");
    return rs_describe_numbers(object, numbers, sizeof numbers / sizeof numbers[0]);
}

/* ---- stages ---- */

static void destroy_stage(rs_stage *stage)
{
    rs_device_destroy_stage((rs_device_stage *)stage);
}

static restride_status create_transpose(restride_engine *base, const rs_transpose_task *task,
                                        size_t scratch_limit, rs_stage **created)
{
    *created = NULL;
    const rs_device_method *method = rs_device_find_method(task->method);
    if (method == NULL)
        return rs_fail(RESTRIDE_UNSUPPORTED,
                       "The OpenCL engine has no such stage (number %d); choose another method.",
                       (int)task->method);
    rs_device_stage *stage;
    restride_status status =
        rs_device_create_stage((rs_device_engine *)base, method, task, scratch_limit, &stage);
    if (status == RESTRIDE_OK)
        *created = &stage->base;
    return status;
}

static size_t scratch_bytes(const rs_stage *base, size_t *kept)
{
    const rs_device_stage *stage = (const rs_device_stage *)base;
    *kept = stage->kept_bytes;
    return stage->scratch_bytes;
}

/* Memory of an earlier run is used again: allocating takes longer than many a conversion, and waits
 * for copies that other queues have under way. */
static restride_status acquire_scratch(restride_engine *base, size_t bytes, void **scratch)
{
    rs_opencl_engine *engine = (rs_opencl_engine *)base;
    *scratch = NULL;
    pthread_mutex_lock(&engine->mutex);
    if (!engine->spare_is_taken && engine->spare_bytes >= bytes) {
        engine->spare_is_taken = true;
        *scratch = engine->spare;
    }
    pthread_mutex_unlock(&engine->mutex);
    cl_int code = CL_SUCCESS;
    if (*scratch == NULL)
        *scratch =
            engine->api->clCreateBuffer(engine->context, CL_MEM_READ_WRITE, bytes, NULL, &code);
    return code == CL_SUCCESS ? RESTRIDE_OK : rs_opencl_fail(code, "allocating scratch memory");
}

/* The largest is kept. */
static void release_scratch(restride_engine *base, size_t bytes, void *scratch)
{
    rs_opencl_engine *engine = (rs_opencl_engine *)base;
    cl_mem rest = (cl_mem)scratch;
    pthread_mutex_lock(&engine->mutex);
    if (engine->spare_is_taken && engine->spare == rest) {
        engine->spare_is_taken = false;
        rest = NULL;
    } else if (!engine->spare_is_taken && engine->spare_bytes < bytes) {
        cl_mem smaller = engine->spare;
        engine->spare = rest;
        engine->spare_bytes = bytes;
        rest = smaller;
    }
    pthread_mutex_unlock(&engine->mutex);
    if (rest != NULL)
        engine->api->clReleaseMemObject(rest);
}

static restride_status ask_buffer(const rs_opencl_engine *engine, cl_mem buffer, cl_mem_info what,
                                  size_t size, void *value)
{
    cl_int code = engine->api->clGetMemObjectInfo(buffer, what, size, value, NULL);
    return code == CL_SUCCESS
               ? RESTRIDE_OK
               : rs_opencl_fail(
                     code, "asking about the buffer (is it a cl_mem of the engine's context?)");
}

/* What kernels do with a buffer that was not made for it is undefined, and most drivers say
 * nothing. */
static restride_status check_use(cl_mem_flags flags, rs_buffer_use use)
{
    const bool is_refused = ((flags & CL_MEM_READ_ONLY) != 0 && (use & RS_BUFFER_WRITTEN) != 0) ||
                            ((flags & CL_MEM_WRITE_ONLY) != 0 && (use & RS_BUFFER_READ) != 0);
    if (!is_refused)
        return RESTRIDE_OK;
    return rs_fail(RESTRIDE_INVALID_ARGUMENT,
                   "Kernels may only %s the buffer, which was created with CL_MEM_%s_ONLY; create "
                   "it with CL_MEM_READ_WRITE.",
                   (flags & CL_MEM_READ_ONLY) != 0 ? "read" : "write",
                   (flags & CL_MEM_READ_ONLY) != 0 ? "READ" : "WRITE");
}

static restride_status check_buffer(restride_engine *base, void *buffer, size_t bytes,
                                    rs_buffer_use use)
{
    const rs_opencl_engine *engine = (const rs_opencl_engine *)base;
    cl_mem_object_type type = 0;
    cl_context context = NULL;
    cl_mem_flags flags = 0;
    size_t size = 0;
    restride_status status = ask_buffer(engine, buffer, CL_MEM_TYPE, sizeof type, &type);
    if (status == RESTRIDE_OK)
        status = ask_buffer(engine, buffer, CL_MEM_CONTEXT, sizeof context, &context);
    if (status == RESTRIDE_OK)
        status = ask_buffer(engine, buffer, CL_MEM_SIZE, sizeof size, &size);
    if (status == RESTRIDE_OK)
        status = ask_buffer(engine, buffer, CL_MEM_FLAGS, sizeof flags, &flags);
    if (status != RESTRIDE_OK)
        return status;
    if (type != CL_MEM_OBJECT_BUFFER)
        return rs_fail(RESTRIDE_INVALID_ARGUMENT,
                       "The memory object is an image or a pipe; give a buffer.");
    if (context != engine->context)
        return rs_fail(RESTRIDE_INVALID_ARGUMENT,
                       "The buffer belongs to another context than the engine's command queue.");
    if (size < bytes)
        return rs_fail(RESTRIDE_INVALID_ARGUMENT,
                       "The buffer has %zu bytes, but the array takes %zu.", size, bytes);
    return check_use(flags, use);
}

static const char converting[] = "converting the buffer";

/* What is under way is the last command's event; in a queue that runs commands in order, nothing
 * that has to be kept. */
static restride_status run(const rs_stage *base, void *buffer, void *scratch, rs_progress *progress,
                           rs_under_way *under_way)
{
    (void)progress;
    void *before = under_way != NULL ? under_way->last : NULL;
    rs_device_sequence sequence = {.engine = (rs_device_engine *)base->engine, .last = before};
    const rs_device_stage *stage = (const rs_device_stage *)base;
    restride_status status = RESTRIDE_OK;
    if (stage->method == &marshalling)
        status = enqueue_marshal(stage->plan, &sequence, (cl_mem)buffer);
    else
        rs_device_enqueue_stage(stage, &sequence, buffer, scratch);
    if (status == RESTRIDE_OK && under_way == NULL)
        return rs_device_finish(&sequence, converting);
    if (under_way != NULL) {
        under_way->last = sequence.last;
        under_way->has_begun = under_way->has_begun || sequence.has_launched;
    }
    if (status == RESTRIDE_OK && sequence.code != CL_SUCCESS)
        status = rs_opencl_fail(sequence.code, converting);
    return status;
}

static restride_status finish(restride_engine *base, void *last)
{
    rs_device_sequence sequence = {.engine = (rs_device_engine *)base, .last = last};
    return rs_device_finish(&sequence, converting);
}

/* ---- from one buffer to another ---- */

static restride_status run_copies(const rs_stage *stage, const void *from, void *to,
                                  rs_under_way *under_way)
{
    rs_device_sequence sequence = {.engine = (rs_device_engine *)stage->engine,
                                   .last = under_way->last};
    rs_device_copies_enqueue(stage, &sequence, (rs_device_memory)(uintptr_t)from, to);
    under_way->last = sequence.last;
    under_way->has_begun = under_way->has_begun || sequence.has_launched;
    return sequence.code == CL_SUCCESS ? RESTRIDE_OK : rs_opencl_fail(sequence.code, converting);
}

static const rs_copy_operations copy_operations = {.create = rs_device_copies_create,
                                                   .run = run_copies,
                                                   .scratch_bytes = rs_device_copies_bytes,
                                                   .describe = rs_device_copies_describe,
                                                   .destroy = rs_device_copies_destroy,
                                                   .are_addresses = false};

/* ---- stages between a program's own commands ---- */

restride_status rs_opencl_enqueue_stages(const rs_opencl_stages *stages, cl_command_queue queue,
                                         cl_mem buffer, cl_uint wait_count,
                                         const cl_event *wait_list, cl_event *began,
                                         cl_event *event, bool *is_torn)
{
    const cl_icd_dispatch *api = ((const rs_opencl_engine *)stages->engine)->api;
    cl_event start = NULL;
    *is_torn = false;
    cl_int code = api->clEnqueueMarkerWithWaitList(queue, wait_count, wait_list, &start);
    if (code != CL_SUCCESS)
        return rs_opencl_fail(code, "enqueuing a marker");
    rs_device_sequence sequence = {
        .engine = (rs_device_engine *)stages->engine, .last = start, .on = queue};
    for (size_t i = 0; i < stages->count && sequence.code == CL_SUCCESS; i++)
        rs_device_enqueue_stage((const rs_device_stage *)stages->stages[i], &sequence, buffer,
                                stages->scratch);
    *event = sequence.last;
    *began = sequence.first != NULL ? sequence.first : sequence.last;
    if (sequence.first == NULL)
        api->clRetainEvent(*began);
    if (sequence.code == CL_SUCCESS)
        return RESTRIDE_OK;
    *is_torn = sequence.first != NULL;
    api->clReleaseEvent(*event);
    api->clReleaseEvent(*began);
    return rs_opencl_fail(sequence.code, "enqueuing a conversion");
}

/* A queue needs no thread of its own. */
static restride_status enter(restride_engine *base)
{
    (void)base;
    return RESTRIDE_OK;
}

static void leave(restride_engine *base)
{
    (void)base;
}

static json_t *describe_stage(const rs_stage *base)
{
    const rs_device_stage *stage = (const rs_device_stage *)base;
    return stage->method == &marshalling ? describe_marshal(stage->plan)
                                         : rs_device_describe_stage(stage);
}

static json_t *describe_device(const restride_engine *base)
{
    const rs_opencl_engine *engine = (const rs_opencl_engine *)base;
    return json_sprintf("%s, driver %s", engine->device_name, engine->driver);
}

static bool create_mutexes(rs_opencl_engine *engine)
{
    if (pthread_mutex_init(&engine->mutex, NULL) != 0)
        return false;
    if (pthread_mutex_init(&engine->building, NULL) == 0)
        return true;
    pthread_mutex_destroy(&engine->mutex);
    return false;
}

static void destroy_mutexes(rs_opencl_engine *engine)
{
    pthread_mutex_destroy(&engine->building);
    pthread_mutex_destroy(&engine->mutex);
}

static void destroy(restride_engine *base)
{
    rs_opencl_engine *engine = (rs_opencl_engine *)base;
    rs_opencl_forget_programs(engine);
    if (engine->spare != NULL)
        engine->api->clReleaseMemObject(engine->spare);
    engine->api->clReleaseCommandQueue(engine->queue);
    destroy_mutexes(engine);
    free(engine);
}

static const rs_engine_operations operations = {
    .name = "opencl",
    .traits = traits,
    .create_marshal = create_marshal,
    .create_transpose = create_transpose,
    .scratch_bytes = scratch_bytes,
    .acquire_scratch = acquire_scratch,
    .release_scratch = release_scratch,
    .check_buffer = check_buffer,
    .run = run,
    .finish = finish,
    .describe_stage = describe_stage,
    .describe_device = describe_device,
    .transfer = &rs_opencl_transfer,
    .copy = &copy_operations,
    .enter = enter,
    .leave = leave,
    .destroy_stage = destroy_stage,
    .destroy = destroy,
};

static cl_int read_device(rs_opencl_engine *engine)
{
    cl_ulong local_bytes = 0;
    cl_uint units = 0;
    const struct {
        cl_device_info what;
        size_t size;
        void *value;
    } questions[] = {
        {CL_DEVICE_NAME, sizeof engine->device_name, engine->device_name},
        {CL_DRIVER_VERSION, sizeof engine->driver, engine->driver},
        {CL_DEVICE_LOCAL_MEM_SIZE, sizeof local_bytes, &local_bytes},
        {CL_DEVICE_MAX_WORK_GROUP_SIZE, sizeof engine->common.work_items,
         &engine->common.work_items},
        {CL_DEVICE_MAX_COMPUTE_UNITS, sizeof units, &units},
    };
    cl_int code = CL_SUCCESS;
    for (size_t i = 0; i < sizeof questions / sizeof questions[0] && code == CL_SUCCESS; i++)
        code = engine->api->clGetDeviceInfo(engine->device, questions[i].what, questions[i].size,
                                            questions[i].value, NULL);
    if (code == CL_SUCCESS)
        code = rs_opencl_read_simd_items(engine->api, engine->device, &engine->common.simd_items);
    local_bytes -= local_bytes < DRIVER_LOCAL_BYTES ? local_bytes : DRIVER_LOCAL_BYTES;
    engine->common.local_bytes =
        local_bytes < MOST_LOCAL_BYTES ? (size_t)local_bytes : MOST_LOCAL_BYTES;
    engine->common.units = units;
    return code;
}

restride_status rs_opencl_engine_create(restride_engine **engine, const cl_icd_dispatch *api,
                                        cl_command_queue queue)
{
    *engine = NULL;
    rs_opencl_engine *created = calloc(1, sizeof *created);
    if (created == NULL || !create_mutexes(created)) {
        free(created);
        return rs_fail_memory("an engine");
    }
    created->common.base.operations = &operations;
    created->common.device = &rs_opencl_device_operations;
    created->api = api;
    created->queue = queue;
    cl_int code = api->clGetCommandQueueInfo(queue, CL_QUEUE_CONTEXT, sizeof created->context,
                                             &created->context, NULL);
    if (code == CL_SUCCESS)
        code = api->clGetCommandQueueInfo(queue, CL_QUEUE_DEVICE, sizeof created->device,
                                          &created->device, NULL);
    cl_command_queue_properties properties = 0;
    if (code == CL_SUCCESS)
        code = api->clGetCommandQueueInfo(queue, CL_QUEUE_PROPERTIES, sizeof properties,
                                          &properties, NULL);
    created->out_of_order = (properties & CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE) != 0;
    if (code == CL_SUCCESS)
        code = read_device(created);
    if (code == CL_SUCCESS)
        code = api->clRetainCommandQueue(queue);
    if (code != CL_SUCCESS) {
        destroy_mutexes(created);
        free(created);
        return rs_opencl_fail(code, "asking a command queue for its device");
    }
    *engine = &created->common.base;
    return RESTRIDE_OK;
}

restride_status restride_engine_create_opencl(restride_engine **engine, cl_command_queue queue)
{
    if (engine != NULL)
        *engine = NULL;
    if (engine == NULL || queue == NULL)
        return rs_fail(
            RESTRIDE_INVALID_ARGUMENT,
            "restride_engine_create_opencl needs a command queue and a place for the engine.");
    const cl_icd_dispatch *api = rs_opencl_api();
    return api == NULL ? RESTRIDE_UNSUPPORTED : rs_opencl_engine_create(engine, api, queue);
}
