/* Streams, events, graphs and names of the made-up driver. */
#include "made_up.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

pthread_mutex_t device = PTHREAD_MUTEX_INITIALIZER;

result leave(result code)
{
    pthread_mutex_unlock(&device);
    return code;
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
    stream_finish_all(current_context());
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

EXPORT result cuStreamCreate(uintptr_t *stream, unsigned flags)
{
    BEGIN;
    made_up_stream *legacy = stream_of(0, false);
    *stream = (uintptr_t)stream_make(current_context(), (flags & 1) == 0 ? legacy : NULL, false);
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
    BEGIN;
    *context = stream_of(stream, false)->context;
    return leave(SUCCESS);
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
    void *context;
    command_id id;
    double time; /* device_time() then */
} event;

static void note_time(void *data)
{
    event *e;
    memcpy(&e, data, sizeof e);
    e->time = device_time();
}

/* MADE_UP_EVENTS: how many there may be. */
EXPORT result cuEventCreate(event **made, unsigned flags)
{
    static int count;
    const char *most = getenv("MADE_UP_EVENTS");
    (void)flags;
    BEGIN;
    if (most != NULL && ++count > atoi(most))
        return leave(OUT_OF_MEMORY);
    *made = calloc(1, sizeof **made);
    (*made)->context = current_context();
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
    if (e->context != stream->context)
        return leave(INVALID_HANDLE);
    e->id = command_give_mark(stream, note_time, &e, sizeof e);
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
    if (driver_has_ended)
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
    if (driver_has_ended)
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
    dladdr(&device, &here);
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
