/*
 * 010! by barrier synchronisation between AoS and ASTA on an OpenCL device, in place and without
 * scratch memory (Sung thesis, sections 4.2 and 5.4). The kernel is src/engine/kernels/marshal.cl;
 * shape.c decides how it is cut.
 */
#include "engine/opencl/marshal.h"

#include "base/arithmetic.h"
#include "base/log.h"
#include "engine/opencl/error.h"
#include "engine/opencl/simd.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

extern const char rs_opencl_marshal_kernel[];

enum { DIRECTIONS = 2 };
static const char *const kernel_names[DIRECTIONS] = {"aos_to_asta", "asta_to_aos"};

struct rs_opencl_marshal {
    const cl_icd_dispatch *api;
    rs_marshal_shape shape;
    cl_program program; /* NULL for an identity */
    cl_kernel kernels[DIRECTIONS];
    pthread_mutex_t
        mutex; /* a kernel's arguments are not thread-safe between setting and enqueuing */
};

static restride_status read_limits(const cl_icd_dispatch *api, cl_device_id device,
                                   rs_marshal_limits *limits)
{
    cl_ulong local_bytes = 0;
    cl_ulong constant_bytes = 0;
    size_t work_items = 0;
    size_t dimensions[16] = {0};
    cl_device_type type = 0;
    const struct {
        cl_device_info what;
        size_t size;
        void *value;
    } questions[] = {
        {CL_DEVICE_LOCAL_MEM_SIZE, sizeof local_bytes, &local_bytes},
        {CL_DEVICE_MAX_CONSTANT_BUFFER_SIZE, sizeof constant_bytes, &constant_bytes},
        {CL_DEVICE_MAX_WORK_GROUP_SIZE, sizeof work_items, &work_items},
        {CL_DEVICE_MAX_WORK_ITEM_SIZES, sizeof dimensions, dimensions},
        {CL_DEVICE_TYPE, sizeof type, &type},
    };
    for (size_t i = 0; i < sizeof questions / sizeof questions[0]; i++) {
        cl_int code = api->clGetDeviceInfo(device, questions[i].what, questions[i].size,
                                           questions[i].value, NULL);
        if (code != CL_SUCCESS)
            return rs_opencl_fail(code, "asking for the device's limits");
    }
    size_t simd_items;
    cl_int code = rs_opencl_read_simd_items(api, device, &simd_items);
    if (code != CL_SUCCESS)
        return rs_opencl_fail(code, "asking for the device's limits");
    *limits = (rs_marshal_limits){
        .local_bytes = (size_t)local_bytes,
        .constant_bytes = (size_t)constant_bytes,
        .work_items = work_items < dimensions[0] ? work_items : dimensions[0],
        .simd_items = simd_items,
        .is_cpu = (type & CL_DEVICE_TYPE_CPU) != 0,
    };
    return RESTRIDE_OK;
}

static restride_status fail_build(const cl_icd_dispatch *api, cl_program program,
                                  cl_device_id device, cl_int code)
{
    char messages[4096] = "";
    size_t size = 0;
    if (api->clGetProgramBuildInfo(program, device, CL_PROGRAM_BUILD_LOG, 0, NULL, &size) ==
            CL_SUCCESS &&
        size <= sizeof messages)
        api->clGetProgramBuildInfo(program, device, CL_PROGRAM_BUILD_LOG, sizeof messages, messages,
                                   NULL);
    rs_log(RS_LOG_ERROR, "the marshaling kernel was not built: %s", messages);
    return rs_opencl_fail(code, "building the marshaling kernel (RESTRIDE_LOG=error shows the "
                                "compiler's messages)");
}

static restride_status build(rs_opencl_marshal *marshal, cl_context context, cl_device_id device,
                             const rs_record *record)
{
    const cl_icd_dispatch *api = marshal->api;
    rs_text prelude = RS_TEXT_EMPTY;
    rs_marshal_shape_write(&prelude, &marshal->shape, record);
    char *macros = rs_text_take(&prelude);
    if (macros == NULL)
        return rs_fail_memory("the marshaling kernel");

    const char *sources[] = {macros, rs_opencl_marshal_kernel};
    cl_int code;
    marshal->program = api->clCreateProgramWithSource(context, 2, sources, NULL, &code);
    free(macros);
    if (code != CL_SUCCESS)
        return rs_opencl_fail(code, "creating the marshaling program");
    code = api->clBuildProgram(marshal->program, 1, &device, "", NULL, NULL);
    if (code != CL_SUCCESS)
        return fail_build(api, marshal->program, device, code);
    for (int i = 0; i < DIRECTIONS; i++) {
        marshal->kernels[i] = api->clCreateKernel(marshal->program, kernel_names[i], &code);
        if (code != CL_SUCCESS)
            return rs_opencl_fail(code, "creating the marshaling kernel");
    }
    return RESTRIDE_OK;
}

restride_status rs_opencl_marshal_create_variant(rs_opencl_marshal **marshal,
                                                 const cl_icd_dispatch *api, cl_context context,
                                                 cl_device_id device, const rs_record *record,
                                                 size_t tile, const rs_marshal_variant *variant)
{
    *marshal = NULL;
    rs_marshal_limits limits;
    rs_marshal_shape shape;
    restride_status status = read_limits(api, device, &limits);
    if (status == RESTRIDE_OK)
        status = rs_marshal_shape_choose(&shape, record, tile, &limits, variant);
    if (status != RESTRIDE_OK)
        return status;

    rs_opencl_marshal *created = calloc(1, sizeof *created);
    if (created == NULL || pthread_mutex_init(&created->mutex, NULL) != 0) {
        free(created);
        return rs_fail_memory("a marshaling stage");
    }
    created->api = api;
    created->shape = shape;
    if (!shape.identity)
        status = build(created, context, device, record);
    if (status != RESTRIDE_OK) {
        rs_opencl_marshal_destroy(created);
        return status;
    }
    *marshal = created;
    return RESTRIDE_OK;
}

restride_status rs_opencl_marshal_create(rs_opencl_marshal **marshal, const cl_icd_dispatch *api,
                                         cl_context context, cl_device_id device,
                                         const rs_record *record, size_t tile)
{
    return rs_opencl_marshal_create_variant(marshal, api, context, device, record, tile, NULL);
}

const rs_marshal_shape *rs_opencl_marshal_shape(const rs_opencl_marshal *marshal)
{
    return &marshal->shape;
}

/* Sets the arguments and enqueues; the caller holds the mutex. */
static cl_int enqueue_kernel(rs_opencl_marshal *marshal, cl_command_queue queue, cl_mem buffer,
                             size_t count, size_t global_size, cl_kernel kernel, cl_uint wait_count,
                             const cl_event *wait_list, cl_event *event)
{
    const cl_icd_dispatch *api = marshal->api;
    cl_ulong total = count;
    cl_int code = api->clSetKernelArg(kernel, 0, sizeof buffer, &buffer);
    if (code == CL_SUCCESS)
        code = api->clSetKernelArg(kernel, 1, sizeof total, &total);
    if (code == CL_SUCCESS)
        code =
            api->clEnqueueNDRangeKernel(queue, kernel, 1, NULL, &global_size,
                                        &marshal->shape.work_items, wait_count, wait_list, event);
    return code;
}

restride_status rs_opencl_marshal_enqueue(rs_opencl_marshal *marshal, cl_command_queue queue,
                                          cl_mem buffer, size_t count,
                                          rs_marshal_direction direction, cl_uint wait_count,
                                          const cl_event *wait_list, cl_event *event)
{
    const rs_marshal_shape *shape = &marshal->shape;
    if (count == 0 || shape->identity) {
        cl_int code =
            marshal->api->clEnqueueMarkerWithWaitList(queue, wait_count, wait_list, event);
        return code == CL_SUCCESS ? RESTRIDE_OK : rs_opencl_fail(code, "enqueuing a marker");
    }

    size_t needed;
    size_t global_size;
    size_t chunk_records = shape->tiles * shape->tile;
    size_t groups = count / chunk_records + (count % chunk_records != 0 ? 1 : 0);
    if (!rs_size_multiply(count, shape->record_bytes, &needed) ||
        !rs_size_multiply(groups, shape->work_items, &global_size))
        return rs_fail(RESTRIDE_OVERFLOW, "%zu records of %zu bytes are more than memory can hold.",
                       count, shape->record_bytes);
    size_t size = 0;
    cl_int code = marshal->api->clGetMemObjectInfo(buffer, CL_MEM_SIZE, sizeof size, &size, NULL);
    if (code != CL_SUCCESS)
        return rs_opencl_fail(code, "asking for the size of the buffer to marshal");
    if (size < needed)
        return rs_fail(
            RESTRIDE_INVALID_ARGUMENT,
            "The buffer has %zu bytes, but %zu records of %zu bytes take %zu; pass a larger "
            "buffer or fewer records.",
            size, count, shape->record_bytes, needed);

    pthread_mutex_lock(&marshal->mutex);
    code = enqueue_kernel(marshal, queue, buffer, count, global_size, marshal->kernels[direction],
                          wait_count, wait_list, event);
    pthread_mutex_unlock(&marshal->mutex);
    return code == CL_SUCCESS ? RESTRIDE_OK
                              : rs_opencl_fail(code, "enqueuing the marshaling kernel");
}

void rs_opencl_marshal_destroy(rs_opencl_marshal *marshal)
{
    if (marshal == NULL)
        return;
    for (int i = 0; i < DIRECTIONS; i++)
        if (marshal->kernels[i] != NULL)
            marshal->api->clReleaseKernel(marshal->kernels[i]);
    if (marshal->program != NULL)
        marshal->api->clReleaseProgram(marshal->program);
    pthread_mutex_destroy(&marshal->mutex);
    free(marshal);
}
