/* What the core asks of an API, by CUDA: see core/api.h. */
#include "layer/core/api.h"

#include "layer/core/timing.h"
#include "layer/cuda/events.h"

#include <stdlib.h>

const int rs_api_lost = RS_CUDA_UNKNOWN;
const int rs_api_no_memory = RS_CUDA_OUT_OF_MEMORY;
const char rs_api_lost_name[] = "CUDA_ERROR_UNKNOWN";

/* Two events in the stream. */
const double rs_profiled_launch_seconds = 4e-6;

bool rs_queue_can_be_timed(rs_queue *queue)
{
    (void)queue;
    return rs_cuda.more.cuEventElapsedTime != NULL;
}

void rs_api_fail(int error, const char *what)
{
    rs_cuda_fail(error < 0 ? -error : error, what);
}

/* ---- contexts ---- */

rs_cuda_entered rs_cuda_enter(rs_group context)
{
    rs_cuda_entered entered = {.mode = RS_CUDA_CAPTURE_RELAXED};
    rs_cuda.driver->cuCtxGetCurrent(&entered.before);
    if (entered.before != context)
        entered.is_pushed = rs_cuda.driver->cuCtxPushCurrent(context) == RS_CUDA_SUCCESS;
    if (rs_cuda.more.cuThreadExchangeStreamCaptureMode != NULL)
        rs_cuda.more.cuThreadExchangeStreamCaptureMode(&entered.mode);
    return entered;
}

void rs_cuda_leave(const rs_cuda_entered *entered)
{
    rs_cuda_context context;
    int mode = entered->mode;
    if (rs_cuda.more.cuThreadExchangeStreamCaptureMode != NULL)
        rs_cuda.more.cuThreadExchangeStreamCaptureMode(&mode);
    if (entered->is_pushed)
        rs_cuda.driver->cuCtxPopCurrent(&context);
}

bool rs_api_group_retain(rs_group group)
{
    (void)group; /* after its end, its calls fail */
    return true;
}

void rs_api_group_release(rs_group group)
{
    (void)group;
}

/* ---- events ---- */

void rs_api_event_retain(rs_event event)
{
    atomic_fetch_add(&((rs_cuda_mark *)event)->references, 1);
}

void rs_api_event_release(rs_event event)
{
    rs_cuda_mark *mark = event;
    if (atomic_fetch_sub(&mark->references, 1) == 1)
        rs_cuda_mark_free(mark);
}

int rs_api_event_status(rs_event event)
{
    rs_cuda_mark *mark = event;
    if (atomic_load(&mark->is_over))
        return 0;
    const rs_cuda_entered entered = rs_cuda_enter(mark->context);
    const rs_cuda_result code = rs_cuda.driver->cuEventQuery(mark->end);
    rs_cuda_leave(&entered);
    if (code == RS_CUDA_SUCCESS)
        atomic_store(&mark->is_over, true);
    return code == RS_CUDA_NOT_READY ? 1 : -code;
}

int rs_api_event_wait(rs_event event)
{
    rs_cuda_mark *mark = event;
    if (atomic_load(&mark->is_over))
        return 0;
    const rs_cuda_entered entered = rs_cuda_enter(mark->context);
    const rs_cuda_result code = rs_cuda.driver->cuEventSynchronize(mark->end);
    rs_cuda_leave(&entered);
    return code;
}

/* The driver calls nobody when an event is over, without a function in the stream. */
void rs_api_event_notify(rs_event event, void (*function)(void *data), void *data)
{
    rs_api_event_wait(event);
    function(data);
}

static rs_cuda_event begin_of(const rs_cuda_mark *mark)
{
    return mark->begin != NULL ? mark->begin : mark->end;
}

/* A time since an event long ago would have few digits. */
bool rs_api_event_times(rs_event first, rs_event last, uint64_t *start, uint64_t *end)
{
    const rs_cuda_mark *one = first, *other = last;
    const double nanoseconds = 1e6;
    float since = 0, took = 0;
    rs_cuda_event zero;
    if (!one->is_timed || !other->is_timed)
        return false;
    const rs_cuda_entered entered = rs_cuda_enter(one->context);
    zero = rs_cuda_mark_zero();
    bool known =
        rs_cuda.more.cuEventElapsedTime(&took, begin_of(one), other->end) == RS_CUDA_SUCCESS;
    if (known && zero != NULL)
        rs_cuda.more.cuEventElapsedTime(&since, zero, begin_of(one));
    rs_cuda_leave(&entered);
    *start = since > 0 ? (uint64_t)((double)since * nanoseconds) : 0;
    *end = *start + (took > 0 ? (uint64_t)((double)took * nanoseconds) : 0);
    return known;
}

/* ---- streams ---- */

int rs_api_stream_open(rs_group group, rs_device device, rs_stream *stream)
{
    rs_cuda_queue *queue = NULL;
    const int error = rs_cuda_queue_open(group, device, &queue);
    *stream = queue;
    return error;
}

void rs_api_stream_close(rs_stream stream)
{
    rs_cuda_queue_close(stream);
}

int rs_api_stream_flush(rs_stream stream)
{
    (void)stream; /* commands are under way at once */
    return RS_CUDA_SUCCESS;
}

void rs_api_stream_finish(rs_stream stream)
{
    const rs_cuda_queue *queue = stream;
    const rs_cuda_entered entered = rs_cuda_enter(queue->core.context);
    if (queue->is_per_thread && !pthread_equal(queue->thread, pthread_self()))
        rs_cuda.more.cuCtxSynchronize();
    else
        rs_cuda.driver->cuStreamSynchronize(queue->stream);
    rs_cuda_leave(&entered);
}

int rs_api_stream_mark(rs_stream stream, rs_event *event)
{
    rs_cuda_mark *mark = NULL;
    const rs_cuda_result code = rs_cuda_mark_make(stream, false, &mark);
    *event = mark;
    return code;
}

/* ---- memory, devices ---- */

/* Nothing is copied in parts. */
rs_allocation rs_api_memory_create(rs_group group, size_t bytes, rs_allocation like)
{
    (void)group, (void)bytes, (void)like;
    return NULL;
}

void rs_api_memory_release(rs_allocation memory)
{
    (void)memory;
}

int rs_api_memory_read(rs_stream stream, rs_allocation memory, size_t bytes, void *to)
{
    const rs_cuda_queue *queue = stream;
    const rs_cuda_entered entered = rs_cuda_enter(queue->core.context);
    rs_cuda_result code =
        rs_cuda.driver->cuMemcpyDtoHAsync(to, (rs_cuda_pointer)memory, bytes, queue->stream);
    if (code == RS_CUDA_SUCCESS)
        code = rs_cuda.driver->cuStreamSynchronize(queue->stream);
    rs_cuda_leave(&entered);
    return code;
}

int rs_api_memory_write(rs_stream stream, rs_allocation memory, size_t bytes, const void *from)
{
    const rs_cuda_queue *queue = stream;
    const rs_cuda_entered entered = rs_cuda_enter(queue->core.context);
    rs_cuda_result code =
        rs_cuda.driver->cuMemcpyHtoDAsync((rs_cuda_pointer)memory, from, bytes, queue->stream);
    if (code == RS_CUDA_SUCCESS)
        code = rs_cuda.driver->cuStreamSynchronize(queue->stream);
    rs_cuda_leave(&entered);
    return code;
}

char *rs_api_device_name(rs_device device)
{
    enum { ROOM = 256 };
    char *name = calloc(ROOM, 1);
    if (name == NULL ||
        rs_cuda.driver->cuDeviceGetName(name, ROOM, rs_cuda_device_of(device)) == RS_CUDA_SUCCESS)
        return name;
    free(name);
    return NULL;
}

bool rs_api_device_is_cpu(rs_device device)
{
    (void)device;
    return false;
}
