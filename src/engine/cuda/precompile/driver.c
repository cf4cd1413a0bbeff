/*
 * A CUDA driver without a device, for precompile.c: of the architecture that
 * PRECOMPILE_ARCHITECTURE names ("90"), with that architecture's shared memory. Memory is numbers,
 * nothing runs, and every kernel can be loaded.
 */
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define EXPORT __attribute__((visibility("default"), used))

enum {
    MULTIPROCESSORS = 132,
    THREADS = 2048,
    RESERVED_BYTES = 1024,
    HANDLE_STEP = 16,
    CACHE_BYTES = 50 << 20
};

static const struct {
    int architecture;
    int shared_bytes, shared_bytes_a_block; /* of a multiprocessor, of a block */
} architectures[] = {
    {80, 167936, 166912},  {86, 102400, 101376},  {89, 102400, 101376},  {90, 233472, 232448},
    {100, 233472, 232448}, {103, 233472, 232448}, {120, 102400, 101376}, {0, 0, 0}};

static int context;
static uint64_t next_memory = 1 << 20;
static uintptr_t next_module;

/* Calls that have nothing to do. Their arguments do not matter. */
#define DONE(name)                                                                                 \
    EXPORT int name(void);                                                                         \
    int name(void)                                                                                 \
    {                                                                                              \
        return 0;                                                                                  \
    }
DONE(cuCtxSetCurrent)
DONE(cuCtxPushCurrent_v2)
DONE(cuCtxPopCurrent_v2)
DONE(cuModuleUnload)
DONE(cuFuncSetAttribute)
DONE(cuLaunchKernel)
DONE(cuLaunchCooperativeKernel)
DONE(cuMemFree_v2)
DONE(cuMemsetD8Async)
DONE(cuMemcpyHtoDAsync_v2)
DONE(cuMemcpyDtoDAsync_v2)
DONE(cuMemcpy2DAsync_v2)
DONE(cuStreamDestroy_v2)
DONE(cuStreamSynchronize)
DONE(cuEventRecord)
DONE(cuEventSynchronize)
DONE(cuEventDestroy_v2)
DONE(cuEventQuery)
DONE(cuStreamWaitEvent)
DONE(cuPointerGetAttribute)
DONE(cuIpcGetMemHandle)
DONE(cuIpcOpenMemHandle_v2)
DONE(cuIpcCloseMemHandle)

/* NVRTC asks the driver too, and does without one that has no device. */
#define NONE(name)                                                                                 \
    EXPORT int name(void);                                                                         \
    int name(void)                                                                                 \
    {                                                                                              \
        return 100;                                                                                \
    }
NONE(cuGetExportTable)

/* For restride tune and a compiler that does not ask. */
EXPORT int cuInit(unsigned flags);
int cuInit(unsigned flags)
{
    (void)flags;
    return getenv("PRECOMPILE_OPENS") != NULL ? 0 : 100;
}

/* NOLINTBEGIN(bugprone-macro-parentheses): types and names */
/* Calls that answer through their first argument. */
#define ANSWER(name, type, value)                                                                  \
    EXPORT int name(type *answer);                                                                 \
    int name(type *answer)                                                                         \
    {                                                                                              \
        *answer = (value);                                                                         \
        return 0;                                                                                  \
    }
/* NOLINTEND(bugprone-macro-parentheses) */
ANSWER(cuDriverGetVersion, int, 13000)
ANSWER(cuDeviceGetCount, int, 1)
ANSWER(cuDeviceGet, int, 0)
ANSWER(cuCtxGetDevice, int, 0)
ANSWER(cuDevicePrimaryCtxRetain, void *, &context)
ANSWER(cuCtxGetCurrent, void *, &context)
ANSWER(cuStreamCreate, void *, NULL)
ANSWER(cuEventCreate, void *, NULL)
ANSWER(cuModuleLoadData, void *, (void *)(++next_module *HANDLE_STEP))

EXPORT int cuGetErrorName(int code, const char **name);
int cuGetErrorName(int code, const char **name)
{
    (void)code;
    *name = "an error";
    return 0;
}

EXPORT int cuDeviceGetName(char *name, int room, int device);
int cuDeviceGetName(char *name, int room, int device)
{
    (void)device;
    snprintf(name, (size_t)room, "no device");
    return 0;
}

EXPORT int cuDeviceGetAttribute(int *value, int attribute, int device);
int cuDeviceGetAttribute(int *value, int attribute, int device)
{
    enum { COUNT = 16, CACHE = 38, MAJOR = 75, MINOR = 76, SHARED = 81, SHARED_A_BLOCK = 97 };
    const char *wanted = getenv("PRECOMPILE_ARCHITECTURE");
    int architecture = wanted != NULL ? (int)strtol(wanted, NULL, 10) : 0;
    size_t i = 0;
    (void)device;
    while (architectures[i].architecture != architecture && architectures[i].architecture != 0)
        i++;
    switch (attribute) {
    case COUNT:
        *value = MULTIPROCESSORS;
        break;
    case CACHE:
        *value = CACHE_BYTES;
        break;
    case MAJOR:
        *value = architectures[i].architecture / 10;
        break;
    case MINOR:
        *value = architectures[i].architecture % 10;
        break;
    case SHARED:
        *value = architectures[i].shared_bytes;
        break;
    case SHARED_A_BLOCK:
        *value = architectures[i].shared_bytes_a_block;
        break;
    default:
        *value = 1;
    }
    return 0;
}

EXPORT int cuModuleGetFunction(void **function, void *module, const char *name);
int cuModuleGetFunction(void **function, void *module, const char *name)
{
    (void)name;
    *function = module;
    return 0;
}

EXPORT int cuOccupancyMaxActiveBlocksPerMultiprocessor(int *blocks, void *function, int threads,
                                                       size_t shared_bytes);
int cuOccupancyMaxActiveBlocksPerMultiprocessor(int *blocks, void *function, int threads,
                                                size_t shared_bytes)
{
    int room;
    (void)function;
    cuDeviceGetAttribute(&room, 81, 0);
    int by_shared = room / (int)(shared_bytes + RESERVED_BYTES);
    *blocks = THREADS / threads < by_shared ? THREADS / threads : by_shared;
    return 0;
}

EXPORT int cuMemAlloc_v2(uint64_t *memory, size_t bytes);
int cuMemAlloc_v2(uint64_t *memory, size_t bytes)
{
    *memory = next_memory;
    next_memory += (bytes + 511) / 512 * 512;
    return 0;
}

EXPORT int cuMemHostAlloc(void **memory, size_t bytes, unsigned flags);
int cuMemHostAlloc(void **memory, size_t bytes, unsigned flags)
{
    (void)flags;
    *memory = calloc(1, bytes);
    return *memory != NULL ? 0 : 2;
}

EXPORT int cuMemFreeHost(void *memory);
int cuMemFreeHost(void *memory)
{
    free(memory);
    return 0;
}

EXPORT int cuMemcpyDtoHAsync_v2(void *to, uint64_t from, size_t bytes, void *stream);
int cuMemcpyDtoHAsync_v2(void *to, uint64_t from, size_t bytes, void *stream)
{
    (void)from;
    (void)stream;
    memset(to, 0, bytes);
    return 0;
}

EXPORT int cuStreamGetCtx(void *stream, void **current);
int cuStreamGetCtx(void *stream, void **current)
{
    (void)stream;
    *current = &context;
    return 0;
}

EXPORT int cuMemGetAddressRange_v2(uint64_t *start, size_t *size, uint64_t pointer);
int cuMemGetAddressRange_v2(uint64_t *start, size_t *size, uint64_t pointer)
{
    *start = pointer;
    *size = SIZE_MAX / 2;
    return 0;
}
