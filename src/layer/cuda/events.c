/* Marks in streams: see events.h. */
#include "layer/cuda/events.h"

#include <stdlib.h>

static struct {
    pthread_mutex_t mutex; /* nothing is called with it */
    rs_cuda_mark *free[2]; /* without times, and with them */
    rs_cuda_event zero;
} marks = {.mutex = PTHREAD_MUTEX_INITIALIZER};

static rs_cuda_event make_event(bool is_timed)
{
    rs_cuda_event event = NULL;
    const unsigned flags = is_timed ? RS_CUDA_EVENT_DEFAULT : RS_CUDA_EVENT_DISABLE_TIMING;
    return rs_cuda.driver->cuEventCreate(&event, flags) == RS_CUDA_SUCCESS ? event : NULL;
}

/* One of the context that has been used before, or a new one. */
static rs_cuda_mark *take(rs_cuda_context context, bool is_timed)
{
    pthread_mutex_lock(&marks.mutex);
    rs_cuda_mark **place = &marks.free[is_timed];
    while (*place != NULL && (*place)->context != context)
        place = &(*place)->next;
    rs_cuda_mark *mark = *place;
    if (mark != NULL)
        *place = mark->next;
    pthread_mutex_unlock(&marks.mutex);
    if (mark != NULL)
        return mark;
    mark = calloc(1, sizeof *mark);
    rs_cuda_event end = mark != NULL ? make_event(is_timed) : NULL;
    if (end == NULL) {
        free(mark);
        return NULL;
    }
    mark->end = end;
    mark->context = context;
    mark->is_timed = is_timed;
    return mark;
}

void rs_cuda_mark_free(rs_cuda_mark *mark)
{
    pthread_mutex_lock(&marks.mutex);
    rs_cuda_mark **list = &marks.free[mark->is_timed];
    mark->next = *list;
    *list = mark;
    pthread_mutex_unlock(&marks.mutex);
}

rs_cuda_event rs_cuda_mark_zero(void)
{
    return marks.zero;
}

/* The first event with a time that is recorded anywhere. */
static void note_zero(const rs_cuda_queue *queue)
{
    if (marks.zero != NULL)
        return;
    rs_cuda_event zero = make_event(true);
    if (zero == NULL || rs_cuda.driver->cuEventRecord(zero, queue->stream) != RS_CUDA_SUCCESS)
        return;
    marks.zero = zero;
}

static rs_cuda_result begin(rs_cuda_queue *queue, bool is_timed, bool has_beginning,
                            rs_cuda_mark **made)
{
    rs_cuda_result code = RS_CUDA_SUCCESS;
    if (is_timed)
        note_zero(queue);
    rs_cuda_mark *mark = take(queue->core.context, is_timed);
    *made = NULL;
    if (mark == NULL)
        return RS_CUDA_OUT_OF_MEMORY;
    atomic_store(&mark->references, 1);
    atomic_store(&mark->is_over, false);
    mark->stream = queue->number;
    if (has_beginning && mark->begin == NULL)
        mark->begin = make_event(true);
    if (has_beginning && mark->begin != NULL)
        code = rs_cuda.driver->cuEventRecord(mark->begin, queue->stream);
    if (!has_beginning && mark->begin != NULL) { /* of an earlier use */
        rs_cuda.driver->cuEventDestroy(mark->begin);
        mark->begin = NULL;
    }
    if (code != RS_CUDA_SUCCESS) {
        rs_cuda_mark_free(mark);
        return code;
    }
    *made = mark;
    return RS_CUDA_SUCCESS;
}

rs_cuda_result rs_cuda_mark_begin(rs_cuda_queue *queue, bool is_timed, bool has_beginning,
                                  rs_cuda_mark **mark)
{
    const rs_cuda_entered entered = rs_cuda_enter(queue->core.context);
    const rs_cuda_result code = begin(queue, is_timed, has_beginning, mark);
    rs_cuda_leave(&entered);
    return code;
}

rs_cuda_result rs_cuda_mark_end(rs_cuda_queue *queue, rs_cuda_mark *mark)
{
    const rs_cuda_entered entered = rs_cuda_enter(queue->core.context);
    rs_cuda_result code = RS_CUDA_SUCCESS;
    if (queue->is_per_thread && !pthread_equal(queue->thread, pthread_self()))
        code = rs_cuda.more.cuCtxSynchronize();
    if (code == RS_CUDA_SUCCESS)
        code = rs_cuda.driver->cuEventRecord(mark->end, queue->stream);
    rs_cuda_leave(&entered);
    return code;
}

rs_cuda_result rs_cuda_mark_make(rs_cuda_queue *queue, bool is_timed, rs_cuda_mark **mark)
{
    rs_cuda_result code = rs_cuda_mark_begin(queue, is_timed, false, mark);
    if (code == RS_CUDA_SUCCESS)
        code = rs_cuda_mark_end(queue, *mark);
    if (code != RS_CUDA_SUCCESS && *mark != NULL) {
        rs_cuda_mark_free(*mark);
        *mark = NULL;
    }
    return code;
}

/* What is behind it in the same stream waits anyhow. */
rs_cuda_result rs_cuda_mark_await(const rs_cuda_queue *queue, const rs_cuda_mark *mark)
{
    if (mark->stream == queue->number || atomic_load(&mark->is_over))
        return RS_CUDA_SUCCESS;
    const rs_cuda_entered entered = rs_cuda_enter(queue->core.context);
    const rs_cuda_result code =
        rs_cuda.driver->cuStreamWaitEvent(queue->stream, mark->end, RS_CUDA_EVENT_DEFAULT);
    rs_cuda_leave(&entered);
    return code;
}
