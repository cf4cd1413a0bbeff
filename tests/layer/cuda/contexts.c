/* Devices, contexts and their default streams of the made-up driver. */
#include "made_up.h"

#include <stdio.h>
#include <stdlib.h>

enum { LEGACY = 1, PER_THREAD = 2, MOST_DEPTH = 16, MOST_CONTEXTS = 32 };

typedef struct {
    made_up_stream *legacy;
    unsigned number;
} made_up_context;

static made_up_context primary;
static unsigned context_count;
static __thread void *contexts[MOST_DEPTH];
static __thread int depth = -1;

/* A process that ends has no driver any more before all that began earlier has ended. */
bool driver_has_ended;

/* A child of a process that uses the driver has none. */
bool driver_is_lost;

static void end_driver(void)
{
    driver_has_ended = true;
}

static void begin_child(void)
{
    driver_is_lost = true;
}

static void expect_end(void)
{
    atexit(end_driver);
    pthread_atfork(NULL, NULL, begin_child);
}

EXPORT result cuInit(unsigned flags)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    (void)flags;
    if (driver_is_lost)
        return NOT_INITIALIZED;
    pthread_once(&once, expect_end);
    return SUCCESS;
}

/* NVRTC asks for one, and takes no for an answer. */
EXPORT result cuGetExportTable(const void **table, const void *which)
{
    (void)which;
    *table = NULL;
    return NOT_FOUND;
}

EXPORT result cuDriverGetVersion(int *version)
{
    *version = 13000;
    return SUCCESS;
}

EXPORT result cuGetErrorName(result code, const char **name)
{
    *name = code == OUT_OF_MEMORY ? "CUDA_ERROR_OUT_OF_MEMORY" : "CUDA_ERROR_UNKNOWN";
    return SUCCESS;
}

EXPORT result cuDeviceGetCount(int *count)
{
    *count = 1;
    return SUCCESS;
}

EXPORT result cuDeviceGet(int *found, int ordinal)
{
    *found = ordinal;
    return SUCCESS;
}

EXPORT result cuDeviceGetName(char *name, int length, int which)
{
    (void)which;
    snprintf(name, (size_t)length, "Made-up device");
    return SUCCESS;
}

EXPORT result cuDeviceGetAttribute(int *value, int attribute, int which)
{
    static const int answers[][2] = {{16, 3},        {38, 50 << 20}, {75, 9},       {76, 0},
                                     {81, 64 << 10}, {95, 1},        {97, 60 << 10}};
    (void)which;
    for (size_t i = 0; i < sizeof answers / sizeof answers[0]; i++)
        if (answers[i][0] == attribute) {
            *value = answers[i][1];
            return SUCCESS;
        }
    return INVALID_VALUE;
}

/* ---- contexts ---- */

void *current_context(void)
{
    return depth < 0 ? NULL : contexts[depth];
}

EXPORT result cuCtxGetCurrent(void **context)
{
    if (driver_is_lost)
        return NOT_INITIALIZED;
    *context = current_context();
    return SUCCESS;
}

EXPORT result cuCtxPushCurrent_v2(void *context)
{
    if (driver_is_lost)
        return NOT_INITIALIZED;
    contexts[++depth] = context;
    return SUCCESS;
}

EXPORT result cuCtxPopCurrent_v2(void **context)
{
    if (driver_is_lost)
        return NOT_INITIALIZED;
    *context = contexts[depth--];
    return SUCCESS;
}

EXPORT result cuCtxSetCurrent(void *context)
{
    if (driver_is_lost)
        return NOT_INITIALIZED;
    depth = depth < 0 ? 0 : depth;
    contexts[depth] = context;
    return SUCCESS;
}

static void begin_context(made_up_context *context)
{
    if (context->legacy != NULL)
        return;
    context->number = context_count++;
    context->legacy = stream_make(context, NULL, true);
}

/* It is the calling thread's from then on. */
EXPORT result cuCtxCreate_v2(void **made, unsigned flags, int which)
{
    (void)flags, (void)which;
    BEGIN;
    made_up_context *context = calloc(1, sizeof *context);
    begin_context(context);
    *made = context;
    contexts[++depth] = context;
    return leave(SUCCESS);
}

EXPORT result cuDevicePrimaryCtxRetain(void **context, int which)
{
    (void)which;
    BEGIN;
    begin_context(&primary);
    *context = &primary;
    return leave(SUCCESS);
}

EXPORT result cuDevicePrimaryCtxRelease(int which)
{
    (void)which;
    return SUCCESS;
}

EXPORT result cuCtxGetDevice(int *found)
{
    *found = 0;
    return driver_is_lost ? NOT_INITIALIZED : SUCCESS;
}

/* ---- default streams ---- */

made_up_stream *stream_of(uintptr_t handle, bool is_per_thread)
{
    static __thread made_up_stream *own_streams[MOST_CONTEXTS];
    made_up_context *context = current_context();
    if (handle > PER_THREAD)
        return (made_up_stream *)handle;
    if (context == NULL || context->number >= MOST_CONTEXTS) {
        fprintf(stderr, "made-up device: a default stream of no context\n");
        abort();
    }
    if (handle == LEGACY || (handle == 0 && !is_per_thread))
        return context->legacy;
    made_up_stream **own = &own_streams[context->number];
    if (*own == NULL)
        *own = stream_make(context, context->legacy, false);
    return *own;
}
