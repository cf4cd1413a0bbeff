/* The OpenCL engine: stages on a caller's command queue. */
#include "engine/opencl/error.h"
#include "engine/opencl/marshal.h"
#include "restride/opencl.h"

#include <stdlib.h>

typedef struct {
    restride_engine base;
    const cl_icd_dispatch *api;
    cl_command_queue queue;
    cl_context context;
    cl_device_id device;
    char device_name[256];
} opencl_engine;

typedef struct {
    rs_stage base;
    rs_opencl_marshal *marshal;
    size_t count;
    rs_marshal_direction direction;
} marshal_stage;

static restride_status create_marshal(restride_engine *base, const rs_marshal_task *task,
                                      rs_stage **created)
{
    opencl_engine *engine = (opencl_engine *)base;
    *created = NULL;
    marshal_stage *stage = malloc(sizeof *stage);
    if (stage == NULL)
        return rs_fail_memory("a stage");
    *stage = (marshal_stage){{base}, NULL, task->count, task->direction};
    restride_status status = rs_opencl_marshal_create(&stage->marshal, engine->api, engine->context,
                                                      engine->device, task->record, task->tile);
    if (status != RESTRIDE_OK) {
        free(stage);
        return status;
    }
    *created = &stage->base;
    return RESTRIDE_OK;
}

static restride_status check_buffer(restride_engine *base, void *buffer, size_t bytes)
{
    opencl_engine *engine = (opencl_engine *)base;
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
    (void)scratch; /* 010! by barrier synchronisation needs local memory alone */
    const marshal_stage *stage = (const marshal_stage *)base;
    opencl_engine *engine = (opencl_engine *)base->engine;
    cl_event done = NULL;
    restride_status status =
        rs_opencl_marshal_enqueue(stage->marshal, engine->queue, (cl_mem)buffer, stage->count,
                                  stage->direction, 0, NULL, &done);
    if (status != RESTRIDE_OK)
        return status;
    cl_int code = engine->api->clWaitForEvents(1, &done);
    engine->api->clReleaseEvent(done);
    if (code != CL_SUCCESS)
        return rs_opencl_fail(code, "converting the buffer, whose content is undefined now");
    return RESTRIDE_OK;
}

static json_t *describe_stage(const rs_stage *base)
{
    const marshal_stage *stage = (const marshal_stage *)base;
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

static json_t *describe_device(const restride_engine *base)
{
    return json_string(((const opencl_engine *)base)->device_name);
}

static void destroy_stage(rs_stage *base)
{
    rs_opencl_marshal_destroy(((marshal_stage *)base)->marshal);
    free(base);
}

static void destroy(restride_engine *base)
{
    opencl_engine *engine = (opencl_engine *)base;
    engine->api->clReleaseCommandQueue(engine->queue);
    free(engine);
}

static const rs_engine_operations operations = {
    .name = "opencl",
    .create_marshal = create_marshal,
    .check_buffer = check_buffer,
    .run = run,
    .describe_stage = describe_stage,
    .describe_device = describe_device,
    .destroy_stage = destroy_stage,
    .destroy = destroy,
};

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
    opencl_engine *created = calloc(1, sizeof *created);
    if (created == NULL)
        return rs_fail_memory("an engine");
    *created = (opencl_engine){.base = {.operations = &operations}, .api = api, .queue = queue};
    cl_int code = api->clGetCommandQueueInfo(queue, CL_QUEUE_CONTEXT, sizeof created->context,
                                             &created->context, NULL);
    if (code == CL_SUCCESS)
        code = api->clGetCommandQueueInfo(queue, CL_QUEUE_DEVICE, sizeof created->device,
                                          &created->device, NULL);
    if (code == CL_SUCCESS)
        code = api->clGetDeviceInfo(created->device, CL_DEVICE_NAME, sizeof created->device_name,
                                    created->device_name, NULL);
    if (code == CL_SUCCESS)
        code = api->clRetainCommandQueue(queue);
    if (code != CL_SUCCESS) {
        free(created);
        return rs_opencl_fail(code, "asking a command queue for its device");
    }
    *engine = &created->base;
    return RESTRIDE_OK;
}
