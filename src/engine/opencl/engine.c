/* The OpenCL engine: stages on a caller's command queue. */
#include "engine/opencl/error.h"
#include "engine/opencl/opencl.h"
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

/* Told apart from stages of transposition by having no method. */
typedef struct {
    rs_opencl_stage stage; /* without a method */
    rs_opencl_marshal *marshal;
    size_t count;
    rs_marshal_direction direction;
} marshal_stage;

static const rs_opencl_method *const methods[] = {
    [RS_TRANSPOSE_PANELS] = &rs_opencl_panels,
    [RS_TRANSPOSE_CHAINS] = &rs_opencl_chains,
    [RS_TRANSPOSE_SQUARE] = &rs_opencl_square,
    [RS_TRANSPOSE_TILES] = &rs_opencl_tiles,
    [RS_TRANSPOSE_REVERSE] = &rs_opencl_reverse,
    [RS_TRANSPOSE_SHUFFLE_ROWS] = &rs_opencl_shuffle_rows,
    [RS_TRANSPOSE_ROTATE] = &rs_opencl_rotate,
    [RS_TRANSPOSE_SHUFFLE_COLUMNS] = &rs_opencl_shuffle_columns,
};
enum { METHODS = sizeof methods / sizeof methods[0] };

static rs_engine_traits traits(const restride_engine *base)
{
    const rs_opencl_engine *engine = (const rs_opencl_engine *)base;
    return (rs_engine_traits){.chip_bytes = engine->local_bytes,
                              .line_bytes = LINE_BYTES,
                              .workers = engine->units,
                              .chip_only = true,
                              .scratch_parts = SCRATCH_PARTS,
                              .scratch_bytes = SCRATCH_BYTES};
}

static restride_status create_marshal(restride_engine *base, const rs_marshal_task *task,
                                      rs_stage **created)
{
    rs_opencl_engine *engine = (rs_opencl_engine *)base;
    *created = NULL;
    marshal_stage *stage = calloc(1, sizeof *stage);
    if (stage == NULL)
        return rs_fail_memory("a stage");
    stage->stage.base.engine = base;
    stage->count = task->count;
    stage->direction = task->direction;
    restride_status status = rs_opencl_marshal_create(&stage->marshal, engine->api, engine->context,
                                                      engine->device, task->record, task->tile);
    if (status != RESTRIDE_OK) {
        free(stage);
        return status;
    }
    *created = &stage->stage.base;
    return RESTRIDE_OK;
}

/* The largest word that divides an element and every distance between elements. */
static size_t choose_word(const rs_transpose_task *task)
{
    size_t word = 16;
    while (task->unit % word != 0 || task->offset % word != 0 ||
           (task->outer > 1 && task->pitch % word != 0) ||
           (task->repeats > 1 && task->repeat_pitch % word != 0))
        word /= 2;
    return word;
}

static void destroy_stage(rs_stage *base)
{
    rs_opencl_stage *stage = (rs_opencl_stage *)base;
    if (stage->method == NULL)
        rs_opencl_marshal_destroy(((marshal_stage *)base)->marshal);
    if (stage->method != NULL && stage->method->forget != NULL)
        stage->method->forget(stage);
    for (int i = 0; i < RS_OPENCL_MOST_KERNELS; i++)
        if (stage->kernels[i] != NULL)
            rs_opencl_engine_of(stage)->api->clReleaseKernel(stage->kernels[i]);
    free(stage);
}

static restride_status create_transpose(restride_engine *base, const rs_transpose_task *task,
                                        size_t scratch_limit, rs_stage **created)
{
    *created = NULL;
    if ((size_t)task->method >= METHODS || methods[task->method] == NULL)
        return rs_fail(RESTRIDE_UNSUPPORTED,
                       "The OpenCL engine has no such stage (number %d); choose another method.",
                       (int)task->method);
    rs_opencl_stage *stage = calloc(1, sizeof *stage);
    if (stage == NULL)
        return rs_fail_memory("a stage");
    stage->base.engine = base;
    stage->method = methods[task->method];
    stage->task = *task;
    stage->word = choose_word(task);
    restride_status status = stage->method->prepare(stage, scratch_limit);
    if (status != RESTRIDE_OK) {
        destroy_stage(&stage->base);
        return status;
    }
    *created = &stage->base;
    return RESTRIDE_OK;
}

static size_t scratch_bytes(const rs_stage *base, size_t *kept)
{
    const rs_opencl_stage *stage = (const rs_opencl_stage *)base;
    *kept = stage->kept_bytes;
    return stage->scratch_bytes;
}

/* Memory of the last run is used again: allocating takes longer than many a conversion. */
static restride_status acquire_scratch(restride_engine *base, size_t bytes, void **scratch)
{
    rs_opencl_engine *engine = (rs_opencl_engine *)base;
    cl_mem spare = NULL;
    *scratch = NULL;
    pthread_mutex_lock(&engine->mutex);
    if (engine->spare != NULL && engine->spare_bytes >= bytes) {
        spare = engine->spare;
        engine->spare = NULL;
    }
    pthread_mutex_unlock(&engine->mutex);
    cl_int code = CL_SUCCESS;
    if (spare == NULL)
        spare = engine->api->clCreateBuffer(engine->context, CL_MEM_READ_WRITE, bytes, NULL, &code);
    if (code != CL_SUCCESS)
        return rs_opencl_fail(code, "allocating scratch memory; the buffer was not changed");
    *scratch = spare;
    return RESTRIDE_OK;
}

static void release_scratch(restride_engine *base, size_t bytes, void *scratch)
{
    rs_opencl_engine *engine = (rs_opencl_engine *)base;
    cl_mem spare = (cl_mem)scratch;
    pthread_mutex_lock(&engine->mutex);
    if (engine->spare == NULL || engine->spare_bytes < bytes) {
        cl_mem smaller = engine->spare;
        engine->spare = spare;
        engine->spare_bytes = bytes;
        spare = smaller;
    }
    pthread_mutex_unlock(&engine->mutex);
    if (spare != NULL)
        engine->api->clReleaseMemObject(spare);
}

static restride_status check_buffer(restride_engine *base, void *buffer, size_t bytes)
{
    rs_opencl_engine *engine = (rs_opencl_engine *)base;
    size_t size = 0;
    cl_int code =
        engine->api->clGetMemObjectInfo((cl_mem)buffer, CL_MEM_SIZE, sizeof size, &size, NULL);
    if (code != CL_SUCCESS)
        return rs_opencl_fail(
            code, "asking for the buffer's size (is it a cl_mem of the engine's context?)");
    if (size < bytes)
        return rs_fail(RESTRIDE_INVALID_ARGUMENT,
                       "The buffer has %zu bytes, but the array takes %zu; it was not changed.",
                       size, bytes);
    return RESTRIDE_OK;
}

static restride_status run(const rs_stage *base, void *buffer, void *scratch, rs_progress *progress)
{
    (void)progress;
    const rs_opencl_stage *stage = (const rs_opencl_stage *)base;
    rs_opencl_sequence sequence = {rs_opencl_engine_of(stage), NULL, CL_SUCCESS};
    if (stage->method != NULL) {
        rs_opencl_stage one = *stage;
        for (size_t i = 0; i == 0 || i < stage->task.repeats; i++) {
            stage->method->enqueue(&one, &sequence, (cl_mem)buffer, (cl_mem)scratch);
            one.task.offset += stage->task.repeat_pitch;
        }
    } else {
        const marshal_stage *marshal = (const marshal_stage *)base;
        restride_status status =
            rs_opencl_marshal_enqueue(marshal->marshal, sequence.engine->queue, (cl_mem)buffer,
                                      marshal->count, marshal->direction, 0, NULL, &sequence.last);
        if (status != RESTRIDE_OK)
            return status;
    }
    return rs_opencl_finish(&sequence, "converting the buffer, whose content is undefined now");
}

static json_t *describe_marshal(const marshal_stage *stage)
{
    const rs_marshal_shape *shape = rs_opencl_marshal_shape(stage->marshal);
    const rs_named_number numbers[] = {
        {"tile", shape->tile},
        {"record_bytes", shape->record_bytes},
        {"tiles_per_work_group", shape->tiles},
        {"work_items", shape->work_items},
        {"vector_bytes", shape->components * shape->granule},
        {"local_bytes", shape->local_bytes},
    };
    json_t *object = json_pack("{s:s, s:s, s:s}", "name", "010!", "method", "BS", "direction",
                               stage->direction == RS_AOS_TO_ASTA ? "AoS to ASTA" : "ASTA to AoS");
    return rs_describe_numbers(object, numbers, sizeof numbers / sizeof numbers[0]);
}

static json_t *describe_stage(const rs_stage *base)
{
    const rs_opencl_stage *stage = (const rs_opencl_stage *)base;
    if (stage->method == NULL)
        return describe_marshal((const marshal_stage *)base);
    const rs_transpose_task *task = &stage->task;
    const rs_named_number numbers[] = {
        {"blocks", task->outer * task->count},
        {"rows", task->rows},
        {"cols", task->cols},
        {"tile", task->tile},
        {"element_bytes", task->unit},
        {"word_bytes", stage->word},
        {"work_items", stage->items},
        {"scratch_bytes", stage->scratch_bytes},
        {"kept_bytes", stage->kept_bytes},
    };
    json_t *object =
        json_pack("{s:s, s:s}", "name", stage->method->elementary, "method", stage->method->name);
    return rs_describe_numbers(object, numbers, sizeof numbers / sizeof numbers[0]);
}

static json_t *describe_device(const restride_engine *base)
{
    return json_string(((const rs_opencl_engine *)base)->device_name);
}

static void destroy(restride_engine *base)
{
    rs_opencl_engine *engine = (rs_opencl_engine *)base;
    rs_opencl_forget_programs(engine);
    if (engine->spare != NULL)
        engine->api->clReleaseMemObject(engine->spare);
    engine->api->clReleaseCommandQueue(engine->queue);
    pthread_mutex_destroy(&engine->mutex);
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
    .describe_stage = describe_stage,
    .describe_device = describe_device,
    .transfer = &rs_opencl_transfer,
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
        {CL_DEVICE_LOCAL_MEM_SIZE, sizeof local_bytes, &local_bytes},
        {CL_DEVICE_MAX_WORK_GROUP_SIZE, sizeof engine->work_items, &engine->work_items},
        {CL_DEVICE_MAX_COMPUTE_UNITS, sizeof units, &units},
    };
    cl_int code = CL_SUCCESS;
    for (size_t i = 0; i < sizeof questions / sizeof questions[0] && code == CL_SUCCESS; i++)
        code = engine->api->clGetDeviceInfo(engine->device, questions[i].what, questions[i].size,
                                            questions[i].value, NULL);
    local_bytes -= local_bytes < DRIVER_LOCAL_BYTES ? local_bytes : DRIVER_LOCAL_BYTES;
    engine->local_bytes = local_bytes < MOST_LOCAL_BYTES ? (size_t)local_bytes : MOST_LOCAL_BYTES;
    engine->units = units;
    return code;
}

restride_status restride_engine_create_opencl(restride_engine **engine, cl_command_queue queue)
{
    if (engine == NULL || queue == NULL)
        return rs_fail(
            RESTRIDE_INVALID_ARGUMENT,
            "restride_engine_create_opencl needs a command queue and a place for the engine.");
    *engine = NULL;
    const cl_icd_dispatch *api = rs_opencl_api();
    if (api == NULL)
        return RESTRIDE_UNSUPPORTED;
    rs_opencl_engine *created = calloc(1, sizeof *created);
    if (created == NULL || pthread_mutex_init(&created->mutex, NULL) != 0) {
        free(created);
        return rs_fail_memory("an engine");
    }
    created->base.operations = &operations;
    created->api = api;
    created->queue = queue;
    cl_int code = api->clGetCommandQueueInfo(queue, CL_QUEUE_CONTEXT, sizeof created->context,
                                             &created->context, NULL);
    if (code == CL_SUCCESS)
        code = api->clGetCommandQueueInfo(queue, CL_QUEUE_DEVICE, sizeof created->device,
                                          &created->device, NULL);
    if (code == CL_SUCCESS)
        code = read_device(created);
    if (code == CL_SUCCESS)
        code = api->clRetainCommandQueue(queue);
    if (code != CL_SUCCESS) {
        pthread_mutex_destroy(&created->mutex);
        free(created);
        return rs_opencl_fail(code, "asking a command queue for its device");
    }
    *engine = &created->base;
    return RESTRIDE_OK;
}
