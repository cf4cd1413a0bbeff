/*
 * A CUDA driver for the tests, as libcuda.so.1: one small device whose threads are coroutines
 * (grid.c). Its memory is the process's own (memory.c). Modules are shared
 * libraries that the emulated compiler (compiler.c) made.
 *
 * The environment says what goes wrong:
 *     EMULATED_FAIL=NAME         that function returns CUDA_ERROR_UNKNOWN, cuMemAlloc no memory
 *     EMULATED_FAIL=NAME:N       its N-th call does, counted from when this value is first seen;
 *                                emulated_has_failed() says whether it came to it
 *     EMULATED_CAPABILITY=MAJOR  compute capability, 9 by default
 * EMULATED_LOG=FILE gets a line for each call. With EMULATED_SHARED set, other processes can open
 * handles of its memory.
 */
#include "driver.h"
#include "failing.h"
#include "grid.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum {
#ifdef LIKE_H100
    MULTIPROCESSORS = 132,
    SHARED_BYTES = 228 << 10,
    SHARED_BYTES_A_BLOCK = 227 << 10,
#else
    MULTIPROCESSORS = 3,
    SHARED_BYTES = 64 << 10,
    SHARED_BYTES_A_BLOCK = 60 << 10,
#endif
    RESERVED_BYTES = 1024,
    MOST_THREADS = 2048 /* of a multiprocessor */
};

bool emulated_fails(const char *name)
{
    const char *log = getenv("EMULATED_LOG");
    FILE *file = log == NULL ? NULL : fopen(log, "a");
    if (file != NULL) {
        fprintf(file, "%s\n", name);
        fclose(file);
    }
    return failing_now(name);
}

EXPORT cuGetErrorName(result code, const char **name);
EXPORT cuInit(unsigned flags);
EXPORT cuDriverGetVersion(int *version);
EXPORT cuDeviceGetCount(int *count);
EXPORT cuDeviceGet(int *device, int ordinal);
EXPORT cuDeviceGetName(char *name, int length, int device);
EXPORT cuDeviceGetAttribute(int *value, int attribute, int device);
EXPORT cuCtxGetCurrent(void **context);
EXPORT cuCtxPushCurrent_v2(void *context);
EXPORT cuCtxPopCurrent_v2(void **context);
EXPORT cuCtxGetDevice(int *device);
EXPORT cuModuleLoadData(void **module, const void *image);
EXPORT cuModuleUnload(void *module);
EXPORT cuModuleGetFunction(void **function, void *module, const char *name);
EXPORT cuFuncSetAttribute(void *function, int attribute, int value);
EXPORT cuOccupancyMaxActiveBlocksPerMultiprocessor(int *blocks, void *function, int threads,
                                                   size_t shared);
EXPORT cuLaunchKernel(void *function, unsigned x, unsigned y, unsigned z, unsigned threads,
                      unsigned ty, unsigned tz, unsigned shared, void *stream, void **arguments,
                      void **extra);
EXPORT cuLaunchCooperativeKernel(void *function, unsigned x, unsigned y, unsigned z,
                                 unsigned threads, unsigned ty, unsigned tz, unsigned shared,
                                 void *stream, void **arguments);
EXPORT cuDevicePrimaryCtxRetain(void **context, int device);
EXPORT cuCtxSetCurrent(void *context);
EXPORT cuCtxSynchronize(void);
EXPORT cuMemHostAlloc(void **pointer, size_t bytes, unsigned flags);
EXPORT cuMemFreeHost(void *pointer);
EXPORT cuMemcpyHtoDAsync_v2(uintptr_t target, const void *source, size_t bytes, void *stream);
EXPORT cuMemcpyDtoHAsync_v2(void *target, uintptr_t source, size_t bytes, void *stream);
EXPORT cuMemcpyDtoDAsync_v2(uintptr_t target, uintptr_t source, size_t bytes, void *stream);
EXPORT cuMemsetD8Async(uintptr_t target, unsigned char value, size_t bytes, void *stream);
EXPORT cuMemcpy2DAsync_v2(const void *copy, void *stream);
EXPORT cuStreamCreate(void **stream, unsigned flags);
EXPORT cuStreamDestroy_v2(void *stream);
EXPORT cuStreamSynchronize(void *stream);
EXPORT cuStreamGetCtx(void *stream, void **context);
EXPORT cuEventCreate(void **event, unsigned flags);
EXPORT cuEventRecord(void *event, void *stream);
EXPORT cuStreamWaitEvent(void *stream, void *event, unsigned flags);
EXPORT cuEventQuery(void *event);
EXPORT cuEventSynchronize(void *event);
EXPORT cuEventElapsedTime(float *milliseconds, void *start, void *end);
EXPORT cuEventDestroy_v2(void *event);

/* ---- the device ---- */

result cuGetErrorName(result code, const char **name)
{
    *name = code == OUT_OF_MEMORY   ? "CUDA_ERROR_OUT_OF_MEMORY"
            : code == INVALID_VALUE ? "CUDA_ERROR_INVALID_VALUE"
                                    : "CUDA_ERROR_UNKNOWN";
    return SUCCESS;
}

result cuInit(unsigned flags)
{
    (void)flags;
    MAY_FAIL();
    return SUCCESS;
}

result cuDriverGetVersion(int *version)
{
    MAY_FAIL();
    *version = 13000;
    return SUCCESS;
}

result cuDeviceGetCount(int *count)
{
    *count = 1;
    return SUCCESS;
}

result cuDeviceGet(int *device, int ordinal)
{
    *device = ordinal;
    return SUCCESS;
}

result cuDeviceGetName(char *name, int length, int device)
{
    (void)device;
    MAY_FAIL();
    snprintf(name, (size_t)length, "Emulated device");
    return SUCCESS;
}

result cuDeviceGetAttribute(int *value, int attribute, int device)
{
    (void)device;
    MAY_FAIL();
    const char *capability = getenv("EMULATED_CAPABILITY");
    const struct {
        int attribute;
        int value;
    } answers[] = {{16, MULTIPROCESSORS},
                   {38, 50 << 20},
                   {75, capability == NULL ? 9 : atoi(capability)},
                   {76, 0},
                   {81, SHARED_BYTES},
                   {95, 1},
                   {97, SHARED_BYTES_A_BLOCK}};
    for (size_t i = 0; i < sizeof answers / sizeof answers[0]; i++)
        if (answers[i].attribute == attribute) {
            *value = answers[i].value;
            return SUCCESS;
        }
    return INVALID_VALUE;
}

static int device_context;
static __thread void *contexts[16];
static __thread int depth = -1;

result cuCtxGetCurrent(void **context)
{
    MAY_FAIL();
    *context = depth < 0 ? NULL : contexts[depth];
    return SUCCESS;
}

result cuCtxPushCurrent_v2(void *context)
{
    MAY_FAIL();
    contexts[++depth] = context;
    return SUCCESS;
}

result cuCtxPopCurrent_v2(void **context)
{
    *context = contexts[depth--];
    return SUCCESS;
}

result cuDevicePrimaryCtxRetain(void **context, int device)
{
    (void)device;
    *context = &device_context;
    return SUCCESS;
}

result cuCtxSetCurrent(void *context)
{
    depth = 0;
    contexts[0] = context;
    return SUCCESS;
}

result cuCtxSynchronize(void)
{
    return SUCCESS;
}

result cuCtxGetDevice(int *device)
{
    MAY_FAIL();
    *device = 0;
    return SUCCESS;
}

/* ---- streams: every command is done when its call returns ---- */

result cuMemHostAlloc(void **pointer, size_t bytes, unsigned flags)
{
    (void)flags;
    *pointer = emulated_fails(__func__) ? NULL : malloc(bytes);
    return *pointer == NULL ? OUT_OF_MEMORY : SUCCESS;
}

result cuMemFreeHost(void *pointer)
{
    free(pointer);
    return SUCCESS;
}

result cuMemsetD8Async(uintptr_t target, unsigned char value, size_t bytes, void *stream)
{
    (void)stream;
    MAY_FAIL();
    memset((void *)target, value, bytes);
    return SUCCESS;
}

result cuMemcpyHtoDAsync_v2(uintptr_t target, const void *source, size_t bytes, void *stream)
{
    (void)stream;
    MAY_FAIL();
    memcpy((void *)target, source, bytes);
    return SUCCESS;
}

result cuMemcpyDtoHAsync_v2(void *target, uintptr_t source, size_t bytes, void *stream)
{
    (void)stream;
    MAY_FAIL();
    memcpy(target, (const void *)source, bytes);
    return SUCCESS;
}

result cuMemcpyDtoDAsync_v2(uintptr_t target, uintptr_t source, size_t bytes, void *stream)
{
    (void)stream;
    MAY_FAIL();
    memcpy((void *)target, (const void *)source, bytes);
    return SUCCESS;
}

enum { MEMORY_HOST = 1, MEMORY_DEVICE = 2 };

typedef struct {
    size_t x_bytes, y;
    int type;
    void *host;
    uintptr_t device;
    void *array;
    size_t pitch;
} side_2d;

typedef struct {
    side_2d source, target;
    size_t row_bytes, rows;
} copy_2d;

static unsigned char *side_start(const side_2d *side)
{
    unsigned char *start = side->type == MEMORY_HOST ? side->host : (unsigned char *)side->device;
    return start + side->y * side->pitch + side->x_bytes;
}

result cuMemcpy2DAsync_v2(const void *description, void *stream)
{
    (void)stream;
    MAY_FAIL();
    const copy_2d *copy = description;
    if (copy->row_bytes > copy->source.pitch || copy->row_bytes > copy->target.pitch)
        return INVALID_VALUE;
    for (size_t row = 0; row < copy->rows; row++)
        memcpy(side_start(&copy->target) + row * copy->target.pitch,
               side_start(&copy->source) + row * copy->source.pitch, copy->row_bytes);
    return SUCCESS;
}

result cuStreamCreate(void **stream, unsigned flags)
{
    (void)flags;
    MAY_FAIL();
    *stream = malloc(1);
    return *stream == NULL ? OUT_OF_MEMORY : SUCCESS;
}

result cuStreamDestroy_v2(void *stream)
{
    free(stream);
    return SUCCESS;
}

/* Stream 3 is one of another context. */
result cuStreamGetCtx(void *stream, void **context)
{
    MAY_FAIL();
    static int another;
    *context = stream == (void *)3 ? &another : &device_context;
    return SUCCESS;
}

result cuStreamSynchronize(void *stream)
{
    (void)stream;
    MAY_FAIL();
    return SUCCESS;
}

result cuEventCreate(void **event, unsigned flags)
{
    (void)flags;
    MAY_FAIL();
    *event = calloc(1, sizeof(struct timespec)); /* of the last cuEventRecord() */
    return *event == NULL ? OUT_OF_MEMORY : SUCCESS;
}

result cuEventRecord(void *event, void *stream)
{
    (void)stream;
    MAY_FAIL();
    clock_gettime(CLOCK_MONOTONIC, event);
    return SUCCESS;
}

result cuEventElapsedTime(float *milliseconds, void *start, void *end)
{
    const struct timespec *a = start;
    const struct timespec *b = end;
    double seconds = (double)(b->tv_sec - a->tv_sec) + 1e-9 * (double)(b->tv_nsec - a->tv_nsec);
    *milliseconds = (float)(1e3 * seconds);
    return SUCCESS;
}

result cuEventQuery(void *event)
{
    (void)event;
    MAY_FAIL();
    return SUCCESS;
}

result cuStreamWaitEvent(void *stream, void *event, unsigned flags)
{
    (void)stream;
    (void)event;
    (void)flags;
    MAY_FAIL();
    return SUCCESS;
}

result cuEventSynchronize(void *event)
{
    (void)event;
    MAY_FAIL();
    return SUCCESS;
}

result cuEventDestroy_v2(void *event)
{
    free(event);
    return SUCCESS;
}

/* ---- modules ---- */

typedef struct function {
    struct function *next; /* of the same module */
    emulated_kernel *code;
    const void **running; /* the module's `emulated` */
    int most_shared;
    char name[64];
} function;

typedef struct {
    void *library;
    function *functions;
} module;

result cuModuleLoadData(void **loaded, const void *image)
{
    MAY_FAIL();
    static const char magic[] = "emulated ";
    if (memcmp(image, magic, sizeof magic - 1) != 0)
        return INVALID_VALUE;
    module *made = calloc(1, sizeof *made);
    made->library = dlopen((const char *)image + sizeof magic - 1, RTLD_NOW | RTLD_LOCAL);
    if (made->library == NULL) {
        free(made);
        return NOT_FOUND;
    }
    *loaded = made;
    return SUCCESS;
}

result cuModuleUnload(void *unloaded)
{
    module *m = unloaded;
    while (m->functions != NULL) {
        function *first = m->functions;
        m->functions = first->next;
        free(first);
    }
    dlclose(m->library);
    free(m);
    return SUCCESS;
}

result cuModuleGetFunction(void **found, void *in, const char *name)
{
    MAY_FAIL();
    module *m = in;
    for (function *f = m->functions; f != NULL; f = f->next)
        if (strcmp(f->name, name) == 0) { /* whoever asks changes the attributes for all */
            *found = f;
            return SUCCESS;
        }
    void *code = dlsym(m->library, name);
    if (code == NULL)
        return NOT_FOUND;
    function *made = calloc(1, sizeof *made);
    snprintf(made->name, sizeof made->name, "%s", name);
    memcpy(&made->code, &code, sizeof code);
    made->running = dlsym(m->library, "emulated");
    made->most_shared = 48 << 10;
    made->next = m->functions;
    m->functions = made;
    *found = made;
    return SUCCESS;
}

result cuFuncSetAttribute(void *changed, int attribute, int value)
{
    MAY_FAIL();
    if (attribute != 8 || value > SHARED_BYTES_A_BLOCK)
        return INVALID_VALUE;
    ((function *)changed)->most_shared = value;
    return SUCCESS;
}

result cuOccupancyMaxActiveBlocksPerMultiprocessor(int *blocks, void *function, int threads,
                                                   size_t shared)
{
    MAY_FAIL();
    (void)function;
    size_t by_shared = SHARED_BYTES / (shared + RESERVED_BYTES);
    size_t by_threads = MOST_THREADS / (size_t)threads;
    *blocks = (int)(by_shared < by_threads ? by_shared : by_threads);
    return SUCCESS;
}

/* ---- launches ---- */

static result launch(function *f, unsigned blocks, unsigned second_blocks, unsigned threads_each,
                     unsigned shared, void **arguments, bool together)
{
    if ((int)shared > f->most_shared || blocks == 0 || second_blocks == 0 || threads_each == 0)
        return INVALID_VALUE;
    const emulated_grid grid = {blocks, second_blocks, threads_each, shared, together};
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* there is one grid */
    pthread_mutex_lock(&lock);
    emulated_run(f->code, f->running, &grid, arguments);
    emulated_check_memory();
    pthread_mutex_unlock(&lock);
    return SUCCESS;
}

result cuLaunchKernel(void *launched, unsigned x, unsigned y, unsigned z, unsigned threads_each,
                      unsigned ty, unsigned tz, unsigned shared, void *stream, void **arguments,
                      void **extra)
{
    MAY_FAIL();
    (void)stream;
    (void)extra;
    if (z * ty * tz != 1 || y > 65535)
        return INVALID_VALUE;
    return launch(launched, x, y, threads_each, shared, arguments, false);
}

result cuLaunchCooperativeKernel(void *launched, unsigned x, unsigned y, unsigned z,
                                 unsigned threads_each, unsigned ty, unsigned tz, unsigned shared,
                                 void *stream, void **arguments)
{
    MAY_FAIL();
    (void)stream;
    int resident;
    cuOccupancyMaxActiveBlocksPerMultiprocessor(&resident, launched, (int)threads_each, shared);
    if (y * z * ty * tz != 1 || x > (unsigned)resident * MULTIPROCESSORS)
        return INVALID_VALUE;
    return launch(launched, x, 1, threads_each, shared, arguments, true);
}
