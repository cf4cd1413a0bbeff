/* Devices, contexts, streams, events, graphs and names of the made-up driver. */
#include "made_up.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LEGACY = 1, PER_THREAD = 2 };

pthread_mutex_t device = PTHREAD_MUTEX_INITIALIZER;

result leave(result code)
{
    pthread_mutex_unlock(&device);
    return code;
}

/* ---- devices and contexts ---- */

static int the_context;
static __thread void *contexts[16];
static __thread int depth = -1;

/* A process that ends has no driver any more before all that began earlier has ended. */
static bool has_ended;

static void end_driver(void)
{
    has_ended = true;
}

static void expect_end(void)
{
    atexit(end_driver);
}

EXPORT result cuInit(unsigned flags)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    (void)flags;
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

EXPORT result cuCtxGetCurrent(void **context)
{
    *context = depth < 0 ? NULL : contexts[depth];
    return SUCCESS;
}

EXPORT result cuCtxPushCurrent_v2(void *context)
{
    contexts[++depth] = context;
    return SUCCESS;
}

EXPORT result cuCtxPopCurrent_v2(void **context)
{
    *context = contexts[depth--];
    return SUCCESS;
}

EXPORT result cuCtxSetCurrent(void *context)
{
    depth = 0;
    contexts[0] = context;
    return SUCCESS;
}

EXPORT result cuDevicePrimaryCtxRetain(void **context, int which)
{
    (void)which;
    *context = &the_context;
    return SUCCESS;
}

EXPORT result cuDevicePrimaryCtxRelease(int which)
{
    (void)which;
    return SUCCESS;
}

EXPORT result cuCtxGetDevice(int *found)
{
    *found = 0;
    return SUCCESS;
}

/* Streams that capture. While there are some nobody may wait for the whole context. */
static size_t captures;

EXPORT result cuCtxSynchronize(void)
{
    BEGIN;
    if (captures > 0) {
        fprintf(stderr, "made-up device: a wait for the context while a stream captures\n");
        abort();
    }
    command_finish_all();
    return leave(SUCCESS);
}

EXPORT result cuThreadExchangeStreamCaptureMode(int *mode)
{
    static __thread int mine;
    const int before = mine;
    mine = *mode;
    *mode = before;
    return SUCCESS;
}

/* ---- streams ---- */

static __thread made_up_stream *own_stream;

made_up_stream *stream_of(uintptr_t handle, bool is_per_thread)
{
    if (handle == PER_THREAD || (handle == 0 && is_per_thread)) {
        if (own_stream == NULL)
            own_stream = stream_make(true);
        return own_stream;
    }
    return handle <= LEGACY ? stream_legacy() : (made_up_stream *)handle;
}

EXPORT result cuStreamCreate(uintptr_t *stream, unsigned flags)
{
    BEGIN;
    *stream = (uintptr_t)stream_make((flags & 1) == 0);
    return leave(SUCCESS);
}

EXPORT result cuStreamDestroy_v2(uintptr_t stream)
{
    BEGIN;
    stream_end((made_up_stream *)stream);
    return leave(SUCCESS);
}

EXPORT result cuStreamGetCtx(uintptr_t stream, void **context)
{
    (void)stream;
    *context = &the_context;
    return SUCCESS;
}

static result synchronize(made_up_stream *stream)
{
    command_finish(stream->last);
    return leave(SUCCESS);
}

EXPORT result cuStreamSynchronize(uintptr_t stream)
{
    BEGIN;
    return synchronize(stream_of(stream, false));
}

EXPORT result cuStreamSynchronize_ptsz(uintptr_t stream)
{
    BEGIN;
    return synchronize(stream_of(stream, true));
}

EXPORT result cuStreamQuery(uintptr_t stream)
{
    BEGIN;
    return leave(command_is_over(stream_of(stream, false)->last) ? SUCCESS : NOT_READY);
}

/* ---- events ---- */

typedef struct {
    command_id id;
    double time; /* device_time() then */
} event;

static void note_time(void *data)
{
    event *e;
    memcpy(&e, data, sizeof e);
    e->time = device_time();
}

EXPORT result cuEventCreate(event **made, unsigned flags)
{
    (void)flags;
    BEGIN;
    *made = calloc(1, sizeof **made);
    return leave(SUCCESS);
}

/* The programs of the tests do neither while a stream captures, and the layer must not. */
static void refuse_in_capture(const made_up_stream *stream)
{
    if (stream->capture == NULL)
        return;
    fprintf(stderr, "made-up device: an event in a stream that captures\n");
    abort();
}

static result record(event *e, made_up_stream *stream)
{
    refuse_in_capture(stream);
    e->id = command_give(stream, note_time, &e, sizeof e);
    return leave(SUCCESS);
}

EXPORT result cuEventRecord(event *e, uintptr_t stream)
{
    BEGIN;
    return record(e, stream_of(stream, false));
}

EXPORT result cuEventRecord_ptsz(event *e, uintptr_t stream)
{
    BEGIN;
    return record(e, stream_of(stream, true));
}

EXPORT result cuEventQuery(const event *e)
{
    BEGIN;
    if (has_ended)
        return leave(DEINITIALIZED);
    return leave(command_is_over(e->id) ? SUCCESS : NOT_READY);
}

EXPORT result cuEventSynchronize(const event *e)
{
    BEGIN;
    command_finish(e->id);
    return leave(SUCCESS);
}

EXPORT result cuEventDestroy_v2(event *e)
{
    BEGIN;
    command_finish(e->id);
    free(e);
    return leave(SUCCESS);
}

EXPORT result cuEventElapsedTime(float *milliseconds, const event *first, const event *last)
{
    BEGIN;
    if (has_ended)
        return leave(DEINITIALIZED);
    *milliseconds = (float)((last->time - first->time) * 0.001);
    return leave(command_is_over(first->id) && command_is_over(last->id) ? SUCCESS : NOT_READY);
}

static result await_event(made_up_stream *stream, const event *e)
{
    refuse_in_capture(stream);
    command_await(stream, e->id);
    return leave(SUCCESS);
}

EXPORT result cuStreamWaitEvent(uintptr_t stream, const event *e, unsigned flags)
{
    (void)flags;
    BEGIN;
    return await_event(stream_of(stream, false), e);
}

EXPORT result cuStreamWaitEvent_ptsz(uintptr_t stream, const event *e, unsigned flags)
{
    (void)flags;
    BEGIN;
    return await_event(stream_of(stream, true), e);
}

/* ---- graphs ---- */

EXPORT result cuStreamBeginCapture_v2(uintptr_t stream, int mode)
{
    (void)mode;
    BEGIN;
    stream_of(stream, false)->capture = graph_make();
    captures++;
    return leave(SUCCESS);
}

EXPORT result cuStreamEndCapture(uintptr_t stream, graph **made)
{
    BEGIN;
    *made = stream_of(stream, false)->capture;
    stream_of(stream, false)->capture = NULL;
    captures--;
    return leave(SUCCESS);
}

EXPORT result cuGraphInstantiateWithFlags(graph **made, const graph *from, unsigned long long flags)
{
    (void)flags;
    BEGIN;
    *made = graph_copy(from);
    return leave(SUCCESS);
}

EXPORT result cuGraphLaunch(const graph *g, uintptr_t stream)
{
    BEGIN;
    graph_launch(g, stream_of(stream, false));
    return leave(SUCCESS);
}

EXPORT result cuGraphDestroy(graph *g)
{
    BEGIN;
    graph_free(g);
    return leave(SUCCESS);
}

EXPORT result cuGraphExecDestroy(graph *g)
{
    BEGIN;
    graph_free(g);
    return leave(SUCCESS);
}

/* ---- names ---- */

EXPORT result cuGetProcAddress_v2(const char *name, void **function, int version, uint64_t flags,
                                  int *status)
{
    static const char *const forms[] = {"_v2", ""};
    static const char *const threads[] = {"_ptsz", "_ptds", ""};
    char symbol[160];
    Dl_info here;
    (void)version;
    dladdr(&the_context, &here);
    void *library = dlopen(here.dli_fname, RTLD_NOW | RTLD_NOLOAD);
    *function = NULL;
    for (int thread = (flags & 2) != 0 ? 0 : 2; thread < 3 && *function == NULL; thread++)
        for (int form = 0; form < 2 && *function == NULL; form++) {
            snprintf(symbol, sizeof symbol, "%s%s%s", name, forms[form], threads[thread]);
            *function = dlsym(library, symbol);
        }
    if (status != NULL)
        *status = *function == NULL;
    return *function != NULL ? SUCCESS : NOT_FOUND;
}
