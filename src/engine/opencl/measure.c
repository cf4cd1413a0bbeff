/*
 * Measuring the marshaling stage: profiling events around each conversion, and around a
 * device-to-device copy of the same bytes in the same run, which is the speed that no conversion
 * can pass.
 */
#include "engine/opencl/measure.h"

#include "base/seconds.h"
#include "engine/opencl/error.h"
#include "engine/opencl/find.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { NAME_BYTES = 256 };
static const size_t gpu_bytes = (size_t)1 << 30;
static const size_t cpu_bytes = (size_t)1 << 25;

struct rs_marshal_bench {
    const cl_icd_dispatch *api;
    cl_device_id device;
    char name[NAME_BYTES];
    cl_context context;
    cl_command_queue queue;
    size_t bytes;
    cl_mem data;
    cl_mem copy;
};

/* ---- the device ---- */

static restride_status create_objects(rs_marshal_bench *bench)
{
    const cl_icd_dispatch *api = bench->api;
    cl_int code;
    bench->context = api->clCreateContext(NULL, 1, &bench->device, NULL, NULL, &code);
    if (code != CL_SUCCESS)
        return rs_opencl_fail(code, "creating a context");
    bench->queue =
        api->clCreateCommandQueue(bench->context, bench->device, CL_QUEUE_PROFILING_ENABLE, &code);
    if (code != CL_SUCCESS)
        return rs_opencl_fail(code, "creating a queue");
    bench->data = api->clCreateBuffer(bench->context, CL_MEM_READ_WRITE, bench->bytes, NULL, &code);
    if (code == CL_SUCCESS)
        bench->copy =
            api->clCreateBuffer(bench->context, CL_MEM_READ_WRITE, bench->bytes, NULL, &code);
    if (code != CL_SUCCESS)
        return rs_opencl_fail(code, "creating two buffers (try a smaller --bytes)");
    return RESTRIDE_OK;
}

restride_status rs_marshal_bench_open(rs_marshal_bench **bench, const char *device, size_t bytes)
{
    *bench = NULL;
    const cl_icd_dispatch *api = rs_opencl_api();
    if (api == NULL)
        return RESTRIDE_UNSUPPORTED;
    rs_marshal_bench *opened = calloc(1, sizeof *opened);
    if (opened == NULL)
        return rs_fail_memory("a benchmark");
    opened->api = api;
    restride_status status = rs_opencl_find_device(api, device, &opened->device);
    if (status == RESTRIDE_OK) {
        api->clGetDeviceInfo(opened->device, CL_DEVICE_NAME, sizeof opened->name - 1, opened->name,
                             NULL);
        if (bytes == 0)
            bytes = rs_opencl_is_gpu(api, opened->device) ? gpu_bytes : cpu_bytes;
        opened->bytes = bytes;
        status = create_objects(opened);
    }
    if (status != RESTRIDE_OK) {
        rs_marshal_bench_close(opened);
        return status;
    }
    *bench = opened;
    return RESTRIDE_OK;
}

void rs_marshal_bench_close(rs_marshal_bench *bench)
{
    if (bench == NULL)
        return;
    if (bench->copy != NULL)
        bench->api->clReleaseMemObject(bench->copy);
    if (bench->data != NULL)
        bench->api->clReleaseMemObject(bench->data);
    if (bench->queue != NULL)
        bench->api->clReleaseCommandQueue(bench->queue);
    if (bench->context != NULL)
        bench->api->clReleaseContext(bench->context);
    free(bench);
}

const char *rs_marshal_bench_device(const rs_marshal_bench *bench)
{
    return bench->name;
}

size_t rs_marshal_bench_bytes(const rs_marshal_bench *bench)
{
    return bench->bytes;
}

/* ---- times ---- */

/* Waits for the event, releases it, and reads how long its command took. */
static restride_status finish_event(const rs_marshal_bench *bench, cl_event event, double *seconds)
{
    const cl_icd_dispatch *api = bench->api;
    cl_ulong start = 0;
    cl_ulong end = 0;
    cl_int code = api->clWaitForEvents(1, &event);
    if (code == CL_SUCCESS)
        code = api->clGetEventProfilingInfo(event, CL_PROFILING_COMMAND_START, sizeof start, &start,
                                            NULL);
    if (code == CL_SUCCESS)
        code =
            api->clGetEventProfilingInfo(event, CL_PROFILING_COMMAND_END, sizeof end, &end, NULL);
    api->clReleaseEvent(event);
    if (code != CL_SUCCESS)
        return rs_opencl_fail(code, "timing a command");
    *seconds = (double)(end - start) * 1e-9;
    return RESTRIDE_OK;
}

static restride_status time_conversion(rs_marshal_bench *bench, rs_opencl_marshal *marshal,
                                       size_t count, rs_marshal_direction direction,
                                       double *seconds)
{
    cl_event event;
    restride_status status = rs_opencl_marshal_enqueue(marshal, bench->queue, bench->data, count,
                                                       direction, 0, NULL, &event);
    return status == RESTRIDE_OK ? finish_event(bench, event, seconds) : status;
}

static restride_status time_copy(rs_marshal_bench *bench, size_t bytes, double *seconds)
{
    cl_event event;
    cl_int code = bench->api->clEnqueueCopyBuffer(bench->queue, bench->data, bench->copy, 0, 0,
                                                  bytes, 0, NULL, &event);
    return code == CL_SUCCESS ? finish_event(bench, event, seconds)
                              : rs_opencl_fail(code, "copying a buffer");
}

static restride_status time_repeatedly(rs_marshal_bench *bench, rs_opencl_marshal *marshal,
                                       size_t repeat, rs_marshal_timing *timing)
{
    double *seconds = calloc(repeat, 3 * sizeof *seconds);
    if (seconds == NULL)
        return rs_fail_memory("the times of a benchmark");
    double *to_asta = seconds;
    double *to_aos = seconds + repeat;
    double *copy = seconds + 2 * repeat;
    restride_status status = RESTRIDE_OK;
    /* The first round only warms up: its times are overwritten. */
    for (size_t round = 0; round <= repeat && status == RESTRIDE_OK; round++) {
        size_t r = round == 0 ? 0 : round - 1;
        status = time_conversion(bench, marshal, timing->count, RS_AOS_TO_ASTA, &to_asta[r]);
        if (status == RESTRIDE_OK)
            status = time_conversion(bench, marshal, timing->count, RS_ASTA_TO_AOS, &to_aos[r]);
        if (status == RESTRIDE_OK)
            status = time_copy(bench, timing->bytes, &copy[r]);
    }
    if (status == RESTRIDE_OK) {
        timing->to_asta_seconds = rs_seconds_median(to_asta, repeat);
        timing->to_aos_seconds = rs_seconds_median(to_aos, repeat);
        timing->copy_seconds = rs_seconds_median(copy, repeat);
    }
    free(seconds);
    return status;
}

static restride_status prepare(rs_marshal_bench *bench, const rs_record *record, size_t tile,
                               const rs_marshal_variant *variant, rs_opencl_marshal **marshal)
{
    *marshal = NULL;
    if (record->size > bench->bytes)
        return rs_fail(RESTRIDE_INVALID_ARGUMENT,
                       "One record of %zu bytes does not fit into %zu bytes.", record->size,
                       bench->bytes);
    return rs_opencl_marshal_create_variant(marshal, bench->api, bench->context, bench->device,
                                            record, tile, variant);
}

restride_status rs_marshal_bench_run(rs_marshal_bench *bench, const rs_record *record, size_t tile,
                                     const rs_marshal_variant *variant, size_t repeat,
                                     rs_marshal_timing *timing)
{
    rs_opencl_marshal *marshal;
    restride_status status = prepare(bench, record, tile, variant, &marshal);
    if (status != RESTRIDE_OK)
        return status;
    size_t count = bench->bytes / record->size;
    *timing = (rs_marshal_timing){
        .shape = *rs_opencl_marshal_shape(marshal), .count = count, .bytes = count * record->size};
    status = time_repeatedly(bench, marshal, repeat, timing);
    rs_opencl_marshal_destroy(marshal);
    return status;
}

/* ---- verification ---- */

/* Random bytes from a fixed seed (splitmix64). */
static void fill_random(unsigned char *bytes, size_t size)
{
    uint64_t state = 20131113;
    for (size_t i = 0; i < size; i += sizeof state) {
        uint64_t z = state += 0x9e3779b97f4a7c15u;
        z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
        z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
        z ^= z >> 31;
        memcpy(bytes + i, &z, size - i < sizeof z ? size - i : sizeof z);
    }
}

/* The definition: leaf f of record i, in a tile of `width` records that starts at record `first`.
 */
static restride_status compare_asta(const unsigned char *asta, const unsigned char *aos,
                                    const rs_record *record, size_t tile, size_t count)
{
    for (size_t first = 0; first < count; first += tile) {
        size_t width = count - first < tile ? count - first : tile;
        const unsigned char *tile_asta = asta + first * record->size;
        const unsigned char *tile_aos = aos + first * record->size;
        for (size_t f = 0; f < record->leaf_count; f++) {
            const rs_leaf *leaf = &record->leaves[f];
            for (size_t i = 0; i < width; i++)
                if (memcmp(tile_asta + leaf->offset * width + i * leaf->size,
                           tile_aos + i * record->size + leaf->offset, leaf->size) != 0)
                    return rs_fail(RESTRIDE_DEVICE_ERROR,
                                   "AoS to ASTA is wrong: record %zu of %zu, leaf %zu, tile %zu; "
                                   "please report this "
                                   "with the device's name and driver.",
                                   first + i, count, f, tile);
        }
    }
    return RESTRIDE_OK;
}

static restride_status convert_and_read(rs_marshal_bench *bench, rs_opencl_marshal *marshal,
                                        size_t count, rs_marshal_direction direction,
                                        unsigned char *found, size_t bytes)
{
    double seconds;
    restride_status status = time_conversion(bench, marshal, count, direction, &seconds);
    if (status != RESTRIDE_OK)
        return status;
    cl_int code = bench->api->clEnqueueReadBuffer(bench->queue, bench->data, CL_TRUE, 0, bytes,
                                                  found, 0, NULL, NULL);
    return code == CL_SUCCESS ? RESTRIDE_OK : rs_opencl_fail(code, "reading a buffer");
}

static restride_status verify(rs_marshal_bench *bench, rs_opencl_marshal *marshal,
                              const rs_record *record, size_t tile, unsigned char *aos,
                              unsigned char *found)
{
    size_t count = bench->bytes / record->size;
    size_t bytes = count * record->size;
    fill_random(aos, bytes);
    cl_int code = bench->api->clEnqueueWriteBuffer(bench->queue, bench->data, CL_TRUE, 0, bytes,
                                                   aos, 0, NULL, NULL);
    if (code != CL_SUCCESS)
        return rs_opencl_fail(code, "writing a buffer");
    restride_status status = convert_and_read(bench, marshal, count, RS_AOS_TO_ASTA, found, bytes);
    if (status == RESTRIDE_OK)
        status = compare_asta(found, aos, record, tile, count);
    if (status == RESTRIDE_OK)
        status = convert_and_read(bench, marshal, count, RS_ASTA_TO_AOS, found, bytes);
    if (status == RESTRIDE_OK && memcmp(found, aos, bytes) != 0)
        status = rs_fail(RESTRIDE_DEVICE_ERROR,
                         "ASTA to AoS is wrong for records of %zu bytes and tiles of %zu; please "
                         "report this with the "
                         "device's name and driver.",
                         record->size, tile);
    return status;
}

restride_status rs_marshal_bench_verify(rs_marshal_bench *bench, const rs_record *record,
                                        size_t tile, const rs_marshal_variant *variant)
{
    rs_opencl_marshal *marshal;
    restride_status status = prepare(bench, record, tile, variant, &marshal);
    if (status != RESTRIDE_OK)
        return status;
    unsigned char *aos = malloc(bench->bytes);
    unsigned char *found = malloc(bench->bytes);
    if (aos == NULL || found == NULL)
        status = rs_fail_memory("checking a conversion on the host (try a smaller --bytes)");
    else
        status = verify(bench, marshal, record, tile, aos, found);
    free(aos);
    free(found);
    rs_opencl_marshal_destroy(marshal);
    return status;
}
