/* Transfers of the OpenCL engine (engine/transfer.h): a command queue for each direction. */
#include "engine/opencl/error.h"
#include "engine/opencl/opencl.h"

#include <stdlib.h>

enum { CHUNKS = 16 }; /* NVIDIA's driver takes 40 us between two commands of a queue */

typedef struct {
    rs_transfer base;
    const cl_icd_dispatch *api;
    cl_command_queue up;
    cl_command_queue down;
} lanes;

static cl_context context_of(const rs_transfer *transfer)
{
    return ((rs_opencl_engine *)transfer->engine)->context;
}

static cl_command_queue own_queue(const rs_transfer *transfer)
{
    return ((rs_opencl_engine *)transfer->engine)->queue;
}

static void close_lanes(rs_transfer *base)
{
    lanes *l = (lanes *)base;
    cl_command_queue queues[] = {l->up, l->down};
    for (int i = 0; i < 2; i++)
        if (queues[i] != NULL) {
            l->api->clFinish(queues[i]);
            l->api->clReleaseCommandQueue(queues[i]);
        }
    free(l);
}

static restride_status open_lanes(restride_engine *base, rs_transfer **transfer)
{
    const rs_opencl_engine *engine = (rs_opencl_engine *)base;
    lanes *l = calloc(1, sizeof *l);
    if (l == NULL)
        return rs_fail_memory("the queues of a transfer");
    l->base.operations = &rs_opencl_transfer;
    l->base.engine = base;
    l->api = engine->api;
    cl_uint alignment_bits = 0;
    cl_int code = l->api->clGetDeviceInfo(engine->device, CL_DEVICE_MEM_BASE_ADDR_ALIGN,
                                          sizeof alignment_bits, &alignment_bits, NULL);
    cl_ulong memory_bytes = 0;
    if (code == CL_SUCCESS)
        code = l->api->clGetDeviceInfo(engine->device, CL_DEVICE_GLOBAL_MEM_SIZE,
                                       sizeof memory_bytes, &memory_bytes, NULL);
    if (code == CL_SUCCESS)
        l->up = l->api->clCreateCommandQueue(engine->context, engine->device, 0, &code);
    if (code == CL_SUCCESS)
        l->down = l->api->clCreateCommandQueue(engine->context, engine->device, 0, &code);
    if (code != CL_SUCCESS) {
        close_lanes(&l->base);
        return rs_opencl_fail(code, "creating the queues of a transfer");
    }
    l->base.chunks = CHUNKS;
    l->base.memory_bytes = (size_t)memory_bytes; /* buffers often get theirs at their first use */
    l->base.alignment = alignment_bits < 8 ? 1 : alignment_bits / 8;
    *transfer = &l->base;
    return RESTRIDE_OK;
}

/* Memory that the driver allocated and maps as long as it lives: pinned where the device needs it.
 */
static restride_status pin(rs_transfer *base, size_t bytes, rs_pinned *pinned)
{
    const lanes *l = (lanes *)base;
    *pinned = (rs_pinned){0};
    cl_int code;
    cl_mem memory = l->api->clCreateBuffer(
        context_of(base), CL_MEM_READ_WRITE | CL_MEM_ALLOC_HOST_PTR, bytes, NULL, &code);
    if (code == CL_SUCCESS)
        pinned->pointer = l->api->clEnqueueMapBuffer(
            l->up, memory, CL_TRUE, CL_MAP_READ | CL_MAP_WRITE, 0, bytes, 0, NULL, NULL, &code);
    if (code == CL_SUCCESS) {
        pinned->handle = memory;
        return RESTRIDE_OK;
    }
    if (memory != NULL)
        l->api->clReleaseMemObject(memory);
    return rs_opencl_fail(code, "allocating pinned memory of the host");
}

static void unpin(rs_transfer *base, rs_pinned *pinned)
{
    const lanes *l = (lanes *)base;
    if (pinned->handle == NULL)
        return;
    cl_mem memory = (cl_mem)pinned->handle;
    l->api->clEnqueueUnmapMemObject(l->up, memory, pinned->pointer, 0, NULL, NULL);
    l->api->clFinish(l->up);
    l->api->clReleaseMemObject(memory);
    *pinned = (rs_pinned){0};
}

static restride_status allocate(rs_transfer *base, size_t bytes, void **buffer)
{
    cl_int code;
    *buffer = ((lanes *)base)
                  ->api->clCreateBuffer(context_of(base), CL_MEM_READ_WRITE, bytes, NULL, &code);
    return code == CL_SUCCESS ? RESTRIDE_OK
                              : rs_opencl_fail(code, "allocating memory on the device");
}

static void release(rs_transfer *base, void *buffer)
{
    if (buffer != NULL)
        ((lanes *)base)->api->clReleaseMemObject((cl_mem)buffer);
}

static restride_status part_of(rs_transfer *base, void *buffer, size_t offset, size_t bytes,
                               void **part)
{
    const cl_buffer_region region = {offset, bytes};
    cl_int code;
    *part = ((lanes *)base)
                ->api->clCreateSubBuffer((cl_mem)buffer, CL_MEM_READ_WRITE,
                                         CL_BUFFER_CREATE_TYPE_REGION, &region, &code);
    return code == CL_SUCCESS ? RESTRIDE_OK : rs_opencl_fail(code, "taking a part of a buffer");
}

/* Sets the ticket of a command that was enqueued with `code` and starts the queue, which the driver
 * may put off otherwise. Without a ticket nobody could wait for the command. */
static restride_status submitted(const lanes *l, cl_command_queue queue, cl_int code,
                                 cl_event event, bool *has_begun, rs_ticket *ticket,
                                 const char *doing)
{
    if (code == CL_SUCCESS && has_begun != NULL)
        *has_begun = true;
    if (code == CL_SUCCESS)
        code = l->api->clFlush(queue);
    if (code != CL_SUCCESS)
        l->api->clFinish(queue);
    if (code == CL_SUCCESS && ticket != NULL)
        *ticket = event;
    else if (event != NULL)
        l->api->clReleaseEvent(event);
    return code == CL_SUCCESS ? RESTRIDE_OK : rs_opencl_fail(code, doing);
}

static restride_status upload(rs_transfer *base, const rs_transfer_block *block, rs_ticket *ticket)
{
    const lanes *l = (lanes *)base;
    cl_event event = NULL;
    cl_event *wanted = ticket != NULL ? &event : NULL;
    cl_mem buffer = (cl_mem)block->device;
    cl_int code;
    if (rs_transfer_is_dense(block)) {
        code = l->api->clEnqueueWriteBuffer(l->up, buffer, CL_FALSE, block->device_offset,
                                            block->rows * block->row_bytes, block->host, 0, NULL,
                                            wanted);
    } else {
        const size_t to[] = {block->device_offset, 0, 0};
        const size_t from[] = {0, 0, 0};
        const size_t region[] = {block->row_bytes, block->rows, 1};
        code = l->api->clEnqueueWriteBufferRect(l->up, buffer, CL_FALSE, to, from, region,
                                                block->device_pitch, 0, block->host_pitch, 0,
                                                block->host, 0, NULL, wanted);
    }
    return submitted(l, l->up, code, event, block->has_begun, ticket, "copying to the device");
}

static restride_status download(rs_transfer *base, const rs_transfer_block *block,
                                rs_ticket *ticket)
{
    const lanes *l = (lanes *)base;
    cl_event event = NULL;
    cl_event *wanted = ticket != NULL ? &event : NULL;
    cl_mem buffer = (cl_mem)block->device;
    cl_int code;
    if (rs_transfer_is_dense(block)) {
        code = l->api->clEnqueueReadBuffer(l->down, buffer, CL_FALSE, block->device_offset,
                                           block->rows * block->row_bytes, block->host, 0, NULL,
                                           wanted);
    } else {
        const size_t from[] = {block->device_offset, 0, 0};
        const size_t to[] = {0, 0, 0};
        const size_t region[] = {block->row_bytes, block->rows, 1};
        code = l->api->clEnqueueReadBufferRect(l->down, buffer, CL_FALSE, from, to, region,
                                               block->device_pitch, 0, block->host_pitch, 0,
                                               block->host, 0, NULL, wanted);
    }
    return submitted(l, l->down, code, event, block->has_begun, ticket, "copying from the device");
}

static restride_status wait(rs_transfer *base, rs_ticket ticket)
{
    const lanes *l = (lanes *)base;
    cl_event event = ticket;
    if (event == NULL)
        return RESTRIDE_OK;
    cl_int code = l->api->clWaitForEvents(1, &event);
    l->api->clReleaseEvent(event);
    return code == CL_SUCCESS ? RESTRIDE_OK : rs_opencl_fail(code, "waiting for a transfer");
}

/* A queue without an order might convert what has not arrived yet. */
static restride_status copy(rs_transfer *base, void *to, size_t to_offset, void *from,
                            size_t from_offset, size_t bytes, bool *has_begun)
{
    const lanes *l = (lanes *)base;
    const bool is_awaited = ((rs_opencl_engine *)base->engine)->out_of_order;
    rs_ticket ticket = NULL;
    cl_event event = NULL;
    cl_int code =
        l->api->clEnqueueCopyBuffer(own_queue(base), (cl_mem)from, (cl_mem)to, from_offset,
                                    to_offset, bytes, 0, NULL, is_awaited ? &event : NULL);
    if (code == CL_SUCCESS && has_begun != NULL)
        *has_begun = true;
    if (!is_awaited)
        return code == CL_SUCCESS ? RESTRIDE_OK : rs_opencl_fail(code, "copying on the device");
    restride_status status =
        submitted(l, own_queue(base), code, event, NULL, &ticket, "copying on the device");
    return status == RESTRIDE_OK ? wait(base, ticket) : status;
}

static restride_status finish(rs_transfer *base)
{
    cl_int code = ((lanes *)base)->api->clFinish(own_queue(base));
    return code == CL_SUCCESS ? RESTRIDE_OK : rs_opencl_fail(code, "waiting for the device");
}

const rs_transfer_operations rs_opencl_transfer = {
    .open = open_lanes,
    .close = close_lanes,
    .pin = pin,
    .unpin = unpin,
    .allocate = allocate,
    .release = release,
    .part = part_of,
    .release_part = release,
    .upload = upload,
    .download = download,
    .wait = wait,
    .copy = copy,
    .finish = finish,
};
