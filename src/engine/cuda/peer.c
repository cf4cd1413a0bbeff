/* Memory that processes share (engine/peer.h), by the driver's handles for other processes. */
#include "engine/peer.h"
#include "engine/cuda/cuda.h"

#include <string.h>

extern const char rs_cuda_swap_kernel[];

enum { THREADS = 512, WIDEST = 16 };

/* ---- names and maps ---- */

static restride_status refuse(const char *why)
{
    return rs_fail(RESTRIDE_UNSUPPORTED, "Processes cannot share this memory: %s.", why);
}

static restride_status name_buffer(restride_engine *base, void *buffer, rs_peer_name *name)
{
    const rs_cuda_engine *engine = (const rs_cuda_engine *)base;
    uint64_t host;
    const uint64_t *process;
    *name = (rs_peer_name){0};
    if (!rs_peer_numbers(&host, &process))
        return refuse("the host has no number of its own");
    restride_status status = base->operations->enter(base);
    if (status != RESTRIDE_OK)
        return status;
    rs_cuda_pointer start = 0;
    size_t size = 0;
    rs_cuda_handle handle;
    rs_cuda_result code = engine->api->cuMemGetAddressRange(&start, &size, (rs_cuda_pointer)buffer);
    if (code == 0)
        code = engine->api->cuIpcGetMemHandle(&handle, start);
    unsigned long long allocation = 0;
    if (code == 0 && engine->api->cuPointerGetAttribute(&allocation, RS_CUDA_BUFFER_ID, start) != 0)
        allocation = 0;
    base->operations->leave(base);
    if (code != 0)
        return rs_cuda_fail(code, "naming memory for other processes");
    *name = (rs_peer_name){.host = host,
                           .process = *process,
                           .context = (uint64_t)(uintptr_t)engine->context,
                           .base = start,
                           .offset = (rs_cuda_pointer)buffer - start,
                           .allocation = allocation};
    memcpy(name->handle, &handle, sizeof handle);
    return RESTRIDE_OK;
}

static restride_status map(restride_engine *base, const rs_peer_name *name, void **buffer)
{
    const rs_cuda_engine *engine = (const rs_cuda_engine *)base;
    uint64_t host;
    const uint64_t *process;
    *buffer = NULL;
    if (!rs_peer_numbers(&host, &process) || name->host != host)
        return refuse("it is another host's");
    if (name->process == *process) { /* a thread of this process */
        *buffer = (void *)(uintptr_t)(name->base + name->offset);
        return name->context == (uint64_t)(uintptr_t)engine->context
                   ? RESTRIDE_OK
                   : refuse("it is another context's");
    }
    restride_status status = base->operations->enter(base);
    if (status != RESTRIDE_OK)
        return status;
    rs_cuda_pointer start = 0;
    rs_cuda_handle handle;
    memcpy(&handle, name->handle, sizeof handle);
    rs_cuda_result code =
        engine->api->cuIpcOpenMemHandle(&start, handle, RS_CUDA_IPC_LAZY_PEER_ACCESS);
    base->operations->leave(base);
    if (code != 0)
        return rs_cuda_fail(code, "mapping memory of another process");
    *buffer = (void *)(uintptr_t)(start + name->offset);
    return RESTRIDE_OK;
}

static void unmap(restride_engine *base, const rs_peer_name *name, void *buffer)
{
    const rs_cuda_engine *engine = (const rs_cuda_engine *)base;
    uint64_t host;
    const uint64_t *process;
    if (buffer == NULL || !rs_peer_numbers(&host, &process) || name->process == *process ||
        base->operations->enter(base) != RESTRIDE_OK)
        return;
    engine->api->cuIpcCloseMemHandle((rs_cuda_pointer)buffer - name->offset);
    base->operations->leave(base);
}

/* ---- exchanging ---- */

static rs_cuda_result launch(const rs_cuda_engine *engine, const rs_cuda_kernel *kernel,
                             rs_cuda_pointer own, rs_cuda_pointer other, uint64_t words)
{
    void *arguments[] = {&own, &other, &words, NULL};
    const size_t blocks = (words + THREADS - 1) / THREADS;
    const size_t most = kernel->resident;
    return engine->api->cuLaunchKernel(kernel->function, (unsigned)(blocks < most ? blocks : most),
                                       1, 1, THREADS, 1, 1, 0, engine->stream, arguments, NULL);
}

static restride_status swap_words(const rs_cuda_engine *engine, rs_cuda_pointer own,
                                  rs_cuda_pointer other, size_t words, size_t width)
{
    if (words == 0)
        return RESTRIDE_OK;
    const rs_cuda_define defines[] = {{"WORD_BYTES", NULL, width}, {"THREADS", NULL, THREADS}};
    rs_cuda_kernel kernel;
    restride_status status =
        rs_cuda_kernel_create(&kernel, engine, "swap", rs_cuda_swap_kernel, defines,
                              sizeof defines / sizeof defines[0], THREADS, 0);
    if (status != RESTRIDE_OK)
        return status;
    rs_cuda_result code = launch(engine, &kernel, own, other, words);
    return code == 0 ? RESTRIDE_OK : rs_cuda_fail(code, "exchanging bytes with another process");
}

/* Words as wide as both sides allow; at the ends there may be some bytes by themselves. */
static restride_status swap(restride_engine *base, const rs_peer_name *name, void *own, void *other,
                            size_t bytes)
{
    (void)name;
    const rs_cuda_engine *engine = (const rs_cuda_engine *)base;
    rs_cuda_pointer a = (rs_cuda_pointer)own;
    rs_cuda_pointer b = (rs_cuda_pointer)other;
    const uintptr_t apart = (a ^ b) | WIDEST;
    const size_t width = apart & -apart;
    const size_t head = rs_size_smaller((width - a % width) % width, bytes);
    const size_t words = (bytes - head) / width;
    const size_t body = head + words * width;
    restride_status status = base->operations->enter(base);
    if (status != RESTRIDE_OK)
        return status;
    status = swap_words(engine, a, b, head, 1);
    if (status == RESTRIDE_OK)
        status = swap_words(engine, a + head, b + head, words, width);
    if (status == RESTRIDE_OK)
        status = swap_words(engine, a + body, b + body, bytes - body, 1);
    base->operations->leave(base);
    return status;
}

static restride_status mirror(restride_engine *base, void *own, void *other, size_t rows,
                              size_t cols, size_t row_bytes, size_t unit)
{
    const rs_cuda_engine *engine = (const rs_cuda_engine *)base;
    const rs_cuda_mirror_blocks blocks = {
        (rs_cuda_pointer)own, (rs_cuda_pointer)other, rows, cols, row_bytes, unit};
    if (rows == 0 || cols == 0)
        return RESTRIDE_OK;
    restride_status status = base->operations->enter(base);
    if (status != RESTRIDE_OK)
        return status;
    status = rs_cuda_mirror(engine, &blocks);
    base->operations->leave(base);
    return status;
}

const rs_peer_operations rs_cuda_peer = {
    .name = name_buffer, .map = map, .unmap = unmap, .swap = swap, .mirror = mirror};
