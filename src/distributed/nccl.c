/*
 * Groups over NCCL: restride/nccl.h. Messages go on a stream of the group's own, with events to and
 * from the engine's. The host waits for each message before it begins the next but one, so a wait
 * that is too long is noticed, and aborted, however the device hangs.
 */
#include "restride/nccl.h"
#include "base/library.h"
#include "base/seconds.h"
#include "base/status.h"
#include "distributed/group.h"
#include "engine/cuda/api.h"

#include <dlfcn.h>
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>

enum { AT_ONCE = 2, NCCL_BYTES = 0 /* ncclInt8 */, NCCL_IN_PROGRESS = 7 };

/* A wait keeps the processor for so long. */
static const double spin_seconds = 200e-6;

typedef int nccl_result;
typedef void *nccl_communicator;

/* What is called, with the types of NCCL's documentation; stable since NCCL 2.7. */
typedef struct {
    nccl_result (*ncclCommCount)(nccl_communicator communicator, int *count);
    nccl_result (*ncclCommUserRank)(nccl_communicator communicator, int *rank);
    nccl_result (*ncclCommGetAsyncError)(nccl_communicator communicator, nccl_result *error);
    nccl_result (*ncclCommAbort)(nccl_communicator communicator);
    nccl_result (*ncclGroupStart)(void);
    nccl_result (*ncclGroupEnd)(void);
    nccl_result (*ncclSend)(const void *send, size_t count, int type, int to,
                            nccl_communicator communicator, rs_cuda_stream stream);
    nccl_result (*ncclRecv)(void *receive, size_t count, int type, int from,
                            nccl_communicator communicator, rs_cuda_stream stream);
    nccl_result (*ncclAllGather)(const void *send, void *receive, size_t count, int type,
                                 nccl_communicator communicator, rs_cuda_stream stream);
} nccl_functions;
static nccl_functions nccl;
static const char *missing = "libnccl.so.2"; /* NULL: it is there */

typedef struct {
    const rs_cuda_driver *api;
    rs_cuda_context context;
    nccl_communicator communicator;
    rs_cuda_stream engine;
    rs_cuda_stream stream;
    rs_cuda_event before[AT_ONCE]; /* on the engine's stream */
    rs_cuda_event after[AT_ONCE];
    size_t begun;
    rs_cuda_pointer words; /* of all processes, then this one's */
    void *host_words;      /* pinned; likewise */
    size_t words_bytes;
    int size;
    double seconds; /* that a wait may last, as last told */
    bool failed;
} connection;

/* ---- the library ---- */

static void look(void)
{
#define NCCL(function) RS_LIBRARY_FUNCTION(nccl_functions, function)
    static const rs_library_function functions[] = {
        NCCL(ncclCommCount), NCCL(ncclCommUserRank), NCCL(ncclCommGetAsyncError),
        NCCL(ncclCommAbort), NCCL(ncclGroupStart),   NCCL(ncclGroupEnd),
        NCCL(ncclSend),      NCCL(ncclRecv),         NCCL(ncclAllGather),
    };
    void *library = dlopen("libnccl.so.2", RTLD_NOW | RTLD_LOCAL);
    if (library != NULL)
        missing =
            rs_library_find(library, functions, sizeof functions / sizeof functions[0], &nccl);
}

/* ---- waiting ---- */

/* 0: not yet; 1: done; -1: NCCL or the device failed. */
static int progress_of(const connection *c, rs_cuda_event event)
{
    nccl_result error = 0;
    if (nccl.ncclCommGetAsyncError(c->communicator, &error) != 0 ||
        (error != 0 && error != NCCL_IN_PROGRESS))
        return -1;
    if (error == NCCL_IN_PROGRESS || event == NULL)
        return error == 0;
    const rs_cuda_result code = c->api->cuEventQuery(event);
    return code == 0 ? 1 : code == RS_CUDA_NOT_READY ? 0 : -1;
}

/* Gives up: what waits on the device ends. */
static int fail(connection *c)
{
    if (!c->failed)
        nccl.ncclCommAbort(c->communicator);
    c->failed = true;
    return 1;
}

/* For an event, or with NULL for a call of NCCL that has returned before it was done. */
static int wait_for(connection *c, rs_cuda_event event, double seconds)
{
    const double begun = rs_seconds_now();
    for (int progress; (progress = progress_of(c, event)) != 1;) {
        const double waited = rs_seconds_now() - begun;
        if (progress < 0 || waited > seconds)
            return fail(c);
        if (waited > spin_seconds)
            sched_yield();
    }
    return 0;
}

static bool enter(const connection *c)
{
    return c->api->cuCtxPushCurrent(c->context) == 0;
}

static void leave(const connection *c)
{
    rs_cuda_context context;
    c->api->cuCtxPopCurrent(&context);
}

/* ---- the functions of the group ---- */

static bool is_begun(nccl_result result)
{
    return result == 0 || result == NCCL_IN_PROGRESS;
}

static bool enqueue(connection *c, const void *send, size_t send_bytes, int to, void *receive,
                    size_t receive_bytes, int from)
{
    bool begun = is_begun(nccl.ncclGroupStart());
    if (begun && send_bytes > 0)
        begun =
            is_begun(nccl.ncclSend(send, send_bytes, NCCL_BYTES, to, c->communicator, c->stream));
    if (begun && receive_bytes > 0)
        begun = is_begun(
            nccl.ncclRecv(receive, receive_bytes, NCCL_BYTES, from, c->communicator, c->stream));
    return is_begun(nccl.ncclGroupEnd()) && begun;
}

static int begin(void *context, const void *send, size_t send_bytes, int to, void *receive,
                 size_t receive_bytes, int from, void **operation)
{
    connection *c = context;
    const size_t slot = c->begun++ % AT_ONCE;
    if (c->failed || !enter(c))
        return fail(c);
    const bool begun = c->api->cuEventRecord(c->before[slot], c->engine) == 0 &&
                       c->api->cuStreamWaitEvent(c->stream, c->before[slot], 0) == 0 &&
                       enqueue(c, send, send_bytes, to, receive, receive_bytes, from) &&
                       wait_for(c, NULL, c->seconds) == 0 &&
                       c->api->cuEventRecord(c->after[slot], c->stream) == 0;
    leave(c);
    *operation = c->after[slot];
    return begun ? 0 : fail(c);
}

static int finish(void *context, void *operation, double seconds)
{
    connection *c = context;
    if (c->failed || !enter(c))
        return fail(c);
    int failed = wait_for(c, operation, seconds);
    if (failed == 0 && c->api->cuStreamWaitEvent(c->engine, operation, 0) != 0)
        failed = fail(c);
    leave(c);
    return failed;
}

static bool has_words(connection *c, size_t bytes)
{
    if (bytes <= c->words_bytes)
        return true;
    if (c->words != 0)
        c->api->cuMemFree(c->words);
    if (c->host_words != NULL)
        c->api->cuMemFreeHost(c->host_words);
    c->words = 0;
    c->host_words = NULL;
    c->words_bytes = 0;
    if (c->api->cuMemAlloc(&c->words, bytes) != 0 ||
        c->api->cuMemHostAlloc(&c->host_words, bytes, 0) != 0)
        return false;
    c->words_bytes = bytes;
    return true;
}

static int gather(void *context, const void *mine, size_t bytes, void *all, double seconds)
{
    connection *c = context;
    const size_t others = (size_t)c->size * bytes;
    c->seconds = seconds;
    if (c->failed || !enter(c))
        return fail(c);
    bool done = has_words(c, others + bytes);
    if (done) {
        memcpy((unsigned char *)c->host_words + others, mine, bytes);
        done = c->api->cuMemcpyHtoDAsync(c->words + others, (unsigned char *)c->host_words + others,
                                         bytes, c->stream) == 0 &&
               is_begun(nccl.ncclAllGather((const void *)(c->words + others), (void *)c->words,
                                           bytes, NCCL_BYTES, c->communicator, c->stream)) &&
               wait_for(c, NULL, seconds) == 0 &&
               c->api->cuMemcpyDtoHAsync(c->host_words, c->words, others, c->stream) == 0 &&
               c->api->cuEventRecord(c->before[0], c->stream) == 0 &&
               wait_for(c, c->before[0], seconds) == 0;
    }
    if (done)
        memcpy(all, c->host_words, others);
    leave(c);
    return done ? 0 : fail(c);
}

static void destroy(void *context)
{
    connection *c = context;
    if (enter(c)) {
        for (int i = 0; i < AT_ONCE; i++) {
            rs_cuda_event events[] = {c->before[i], c->after[i]};
            for (int k = 0; k < 2; k++)
                if (events[k] != NULL)
                    c->api->cuEventDestroy(events[k]);
        }
        if (c->stream != NULL)
            c->api->cuStreamDestroy(c->stream);
        if (c->words != 0)
            c->api->cuMemFree(c->words);
        if (c->host_words != NULL)
            c->api->cuMemFreeHost(c->host_words);
        leave(c);
    }
    free(c);
}

/* ---- making one ---- */

static restride_status open_streams(connection *c, void *cu_stream)
{
    memcpy(&c->engine, &cu_stream, sizeof c->engine);
    rs_cuda_result code = c->api->cuStreamCreate(&c->stream, RS_CUDA_STREAM_NON_BLOCKING);
    for (int i = 0; code == 0 && i < AT_ONCE; i++) {
        code = c->api->cuEventCreate(&c->before[i], RS_CUDA_EVENT_DISABLE_TIMING);
        if (code == 0)
            code = c->api->cuEventCreate(&c->after[i], RS_CUDA_EVENT_DISABLE_TIMING);
    }
    return code == 0 ? RESTRIDE_OK : rs_cuda_fail(code, "making the stream of a group");
}

static restride_status read_communicator(connection *c, int *rank)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, look);
    if (missing != NULL)
        return rs_fail(RESTRIDE_UNSUPPORTED,
                       "There is no %s; install NCCL 2.7 or newer and have its folder in "
                       "LD_LIBRARY_PATH.",
                       missing);
    if (c->communicator == NULL || nccl.ncclCommCount(c->communicator, &c->size) != 0 ||
        nccl.ncclCommUserRank(c->communicator, rank) != 0)
        return rs_fail(RESTRIDE_INVALID_ARGUMENT,
                       "The communicator is NULL or not ready; give one of ncclCommInitRank().");
    c->api = rs_cuda_driver_api();
    if (c->api == NULL)
        return RESTRIDE_UNSUPPORTED;
    if (c->api->cuCtxGetCurrent(&c->context) != 0 || c->context == NULL)
        return rs_fail(RESTRIDE_INVALID_ARGUMENT,
                       "No CUDA context is current in this thread; make the engine's current.");
    return RESTRIDE_OK;
}

restride_status restride_group_create_nccl(restride_group **group, void *communicator,
                                           void *cu_stream)
{
    static const restride_group_functions functions = {.begin = begin,
                                                       .finish = finish,
                                                       .gather = gather,
                                                       .destroy = destroy,
                                                       .memory = RESTRIDE_GROUP_CUDA};
    if (group == NULL)
        return rs_fail(RESTRIDE_INVALID_ARGUMENT, "There is no place for the group: it is NULL.");
    *group = NULL;
    connection *c = calloc(1, sizeof *c);
    if (c == NULL)
        return rs_fail_memory("a group of processes");
    c->communicator = communicator;
    c->seconds = RS_GROUP_SECONDS;
    int rank = 0;
    restride_status status = read_communicator(c, &rank);
    if (status != RESTRIDE_OK) {
        free(c);
        return status;
    }
    status = open_streams(c, cu_stream);
    if (status == RESTRIDE_OK)
        status = restride_group_create(group, &functions, c, rank, c->size);
    if (status != RESTRIDE_OK)
        destroy(c);
    return status;
}
