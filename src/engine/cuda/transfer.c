/* Transfers of the CUDA engine (engine/transfer.h): a stream for each direction. */
#include "engine/cuda/cuda.h"

#include <stdlib.h>

typedef struct {
    rs_transfer base;
    rs_cuda_stream up;
    rs_cuda_stream down;
} lanes;

enum {
    ALIGNMENT = 256, /* a multiple of what any stage wants */
    CHUNKS = 64
};

static const rs_cuda_engine *engine_of(const rs_transfer *transfer)
{
    return (const rs_cuda_engine *)transfer->engine;
}

static restride_status enter(const rs_transfer *transfer)
{
    return transfer->engine->operations->enter(transfer->engine);
}

static restride_status leave(const rs_transfer *transfer, rs_cuda_result code, const char *doing)
{
    transfer->engine->operations->leave(transfer->engine);
    return code == 0 ? RESTRIDE_OK : rs_cuda_fail(code, doing);
}

static void close_lanes(rs_transfer *base)
{
    lanes *l = (lanes *)base;
    const rs_cuda_driver *api = engine_of(base)->api;
    if (enter(base) == RESTRIDE_OK) {
        rs_cuda_stream streams[] = {l->up, l->down};
        for (int i = 0; i < 2; i++)
            if (streams[i] != NULL) {
                api->cuStreamSynchronize(streams[i]);
                api->cuStreamDestroy(streams[i]);
            }
        leave(base, 0, "");
    }
    free(l);
}

static restride_status open_lanes(restride_engine *engine, rs_transfer **transfer)
{
    lanes *l = calloc(1, sizeof *l);
    if (l == NULL)
        return rs_fail_memory("the streams of a transfer");
    l->base = (rs_transfer){&rs_cuda_transfer, engine, ALIGNMENT, CHUNKS, SIZE_MAX};
    const rs_cuda_driver *api = engine_of(&l->base)->api;
    restride_status status = enter(&l->base);
    if (status == RESTRIDE_OK) {
        rs_cuda_result code = api->cuStreamCreate(&l->up, RS_CUDA_STREAM_NON_BLOCKING);
        if (code == 0)
            code = api->cuStreamCreate(&l->down, RS_CUDA_STREAM_NON_BLOCKING);
        status = leave(&l->base, code, "creating the streams of a transfer");
    }
    if (status != RESTRIDE_OK) {
        close_lanes(&l->base);
        return status;
    }
    *transfer = &l->base;
    return RESTRIDE_OK;
}

static restride_status pin(rs_transfer *base, size_t bytes, rs_pinned *pinned)
{
    *pinned = (rs_pinned){0};
    restride_status status = enter(base);
    if (status != RESTRIDE_OK)
        return status;
    rs_cuda_result code = engine_of(base)->api->cuMemHostAlloc(&pinned->pointer, bytes, 0);
    if (code != 0)
        pinned->pointer = NULL;
    return leave(base, code, "allocating pinned memory of the host");
}

static void unpin(rs_transfer *base, rs_pinned *pinned)
{
    if (pinned->pointer == NULL || enter(base) != RESTRIDE_OK)
        return;
    engine_of(base)->api->cuMemFreeHost(pinned->pointer);
    leave(base, 0, "");
    *pinned = (rs_pinned){0};
}

static restride_status allocate(rs_transfer *base, size_t bytes, void **buffer)
{
    *buffer = NULL;
    restride_status status = enter(base);
    if (status != RESTRIDE_OK)
        return status;
    rs_cuda_pointer pointer = 0;
    rs_cuda_result code = engine_of(base)->api->cuMemAlloc(&pointer, bytes);
    if (code == 0)
        *buffer = (void *)pointer;
    return leave(base, code, "allocating memory on the device");
}

static void release(rs_transfer *base, void *buffer)
{
    if (buffer == NULL || enter(base) != RESTRIDE_OK)
        return;
    engine_of(base)->api->cuMemFree((rs_cuda_pointer)buffer);
    leave(base, 0, "");
}

static restride_status part_of(rs_transfer *base, void *buffer, size_t offset, size_t bytes,
                               void **part)
{
    (void)base;
    (void)bytes;
    *part = (char *)buffer + offset;
    return RESTRIDE_OK;
}

static void release_part(rs_transfer *base, void *part)
{
    (void)base;
    (void)part;
}

static rs_cuda_result record(const rs_cuda_driver *api, rs_cuda_stream stream, rs_ticket *ticket)
{
    rs_cuda_event event = NULL;
    rs_cuda_result code = api->cuEventCreate(&event, RS_CUDA_EVENT_DISABLE_TIMING);
    if (code != 0)
        return code;
    code = api->cuEventRecord(event, stream);
    if (code == 0)
        *ticket = event;
    else
        api->cuEventDestroy(event);
    return code;
}

/* Sets the ticket of a copy that was enqueued with `code`. Without one nobody could wait for it. */
static rs_cuda_result submitted(const rs_cuda_driver *api, rs_cuda_stream stream,
                                rs_cuda_result code, const rs_transfer_block *block,
                                rs_ticket *ticket)
{
    if (code == 0 && block->has_begun != NULL)
        *block->has_begun = true;
    if (code == 0 && ticket != NULL)
        code = record(api, stream, ticket);
    if (code != 0)
        api->cuStreamSynchronize(stream);
    return code;
}

static restride_status upload(rs_transfer *base, const rs_transfer_block *block, rs_ticket *ticket)
{
    const rs_cuda_driver *api = engine_of(base)->api;
    rs_cuda_stream stream = ((lanes *)base)->up;
    rs_cuda_pointer device = (rs_cuda_pointer)block->device + block->device_offset;
    restride_status status = enter(base);
    if (status != RESTRIDE_OK)
        return status;
    const rs_cuda_rows rows = {
        {0, 0, RS_CUDA_MEMORY_HOST, block->host, 0, NULL, block->host_pitch},
        {0, 0, RS_CUDA_MEMORY_DEVICE, NULL, device, NULL, block->device_pitch},
        block->row_bytes,
        block->rows};
    rs_cuda_result code =
        rs_transfer_is_dense(block)
            ? api->cuMemcpyHtoDAsync(device, block->host, block->rows * block->row_bytes, stream)
            : api->cuMemcpy2DAsync(&rows, stream);
    code = submitted(api, stream, code, block, ticket);
    return leave(base, code, "copying to the device");
}

static restride_status download(rs_transfer *base, const rs_transfer_block *block,
                                rs_ticket *ticket)
{
    const rs_cuda_driver *api = engine_of(base)->api;
    rs_cuda_stream stream = ((lanes *)base)->down;
    rs_cuda_pointer device = (rs_cuda_pointer)block->device + block->device_offset;
    restride_status status = enter(base);
    if (status != RESTRIDE_OK)
        return status;
    const rs_cuda_rows rows = {
        {0, 0, RS_CUDA_MEMORY_DEVICE, NULL, device, NULL, block->device_pitch},
        {0, 0, RS_CUDA_MEMORY_HOST, block->host, 0, NULL, block->host_pitch},
        block->row_bytes,
        block->rows};
    /* Into memory that is not pinned a copy may fail half-way. */
    if (block->has_begun != NULL)
        *block->has_begun = true;
    rs_cuda_result code =
        rs_transfer_is_dense(block)
            ? api->cuMemcpyDtoHAsync(block->host, device, block->rows * block->row_bytes, stream)
            : api->cuMemcpy2DAsync(&rows, stream);
    code = submitted(api, stream, code, block, ticket);
    return leave(base, code, "copying from the device");
}

static restride_status wait(rs_transfer *base, rs_ticket ticket)
{
    const rs_cuda_driver *api = engine_of(base)->api;
    rs_cuda_event event = ticket;
    if (event == NULL)
        return RESTRIDE_OK;
    restride_status status = enter(base);
    rs_cuda_result code = status == RESTRIDE_OK ? api->cuEventSynchronize(event) : 0;
    api->cuEventDestroy(event);
    return status == RESTRIDE_OK ? leave(base, code, "waiting for a transfer") : status;
}

static restride_status copy(rs_transfer *base, void *to, size_t to_offset, void *from,
                            size_t from_offset, size_t bytes, bool *has_begun)
{
    const rs_cuda_engine *engine = engine_of(base);
    restride_status status = enter(base);
    if (status != RESTRIDE_OK)
        return status;
    rs_cuda_result code =
        engine->api->cuMemcpyDtoDAsync((rs_cuda_pointer)to + to_offset,
                                       (rs_cuda_pointer)from + from_offset, bytes, engine->stream);
    if (code == 0 && has_begun != NULL)
        *has_begun = true;
    return leave(base, code, "copying on the device");
}

static restride_status finish(rs_transfer *base)
{
    restride_status status = enter(base);
    if (status != RESTRIDE_OK)
        return status;
    const rs_cuda_engine *engine = engine_of(base);
    return leave(base, engine->api->cuStreamSynchronize(engine->stream), "waiting for the device");
}

const rs_transfer_operations rs_cuda_transfer = {
    .open = open_lanes,
    .close = close_lanes,
    .pin = pin,
    .unpin = unpin,
    .allocate = allocate,
    .release = release,
    .part = part_of,
    .release_part = release_part,
    .upload = upload,
    .download = download,
    .wait = wait,
    .copy = copy,
    .finish = finish,
};
