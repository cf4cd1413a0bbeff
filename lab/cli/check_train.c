/* Trains of launches. */
#include "lab/cli/check_train.h"

#include "engine/opencl/error.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { PLUG_BYTES = 1 << 27, MOST_LAUNCHES = 512 };

static const double train_seconds = 2e-3;
static const double host_seconds = 5e-6; /* of enqueueing a launch, with room to spare */

/* When the command of an event began or ended, by the device's clock. */
static restride_status read_clock(const rs_train_track *track, cl_event event,
                                  cl_profiling_info which, double *seconds)
{
    cl_ulong time = 0;
    cl_int code = track->api->clGetEventProfilingInfo(event, which, sizeof time, &time, NULL);
    *seconds = (double)time * 1e-9;
    return code == CL_SUCCESS ? RESTRIDE_OK : rs_opencl_fail(code, "reading a time");
}

static void release(const rs_train_track *track, cl_event event)
{
    if (event != NULL)
        track->api->clReleaseEvent(event);
}

/* From `which` of the first event to the end of the last one. */
static restride_status time_between(const rs_train_track *track, cl_event first,
                                    cl_profiling_info which, cl_event last, double *seconds)
{
    double begin = 0, end = 0;
    cl_int code = track->api->clWaitForEvents(1, &last);
    restride_status status =
        code == CL_SUCCESS ? RESTRIDE_OK : rs_opencl_fail(code, "running a kernel");
    if (status == RESTRIDE_OK)
        status = read_clock(track, first, which, &begin);
    if (status == RESTRIDE_OK)
        status = read_clock(track, last, CL_PROFILING_COMMAND_END, &end);
    *seconds = end - begin;
    return status;
}

static restride_status copy_plug(const rs_train_track *track, cl_event *event)
{
    cl_int code = track->api->clEnqueueCopyBuffer(track->queue, track->plug, track->plug, 0,
                                                  PLUG_BYTES / 2, PLUG_BYTES / 2, 0, NULL, event);
    return code == CL_SUCCESS ? RESTRIDE_OK : rs_opencl_fail(code, "copying an array");
}

/* Makes the plug when it is first wanted; a device without memory for it does without. */
static restride_status make_plug(rs_train_track *track)
{
    cl_int code;
    cl_event event = NULL;
    track->plug_wanted = true;
    track->plug =
        track->api->clCreateBuffer(track->context, CL_MEM_READ_WRITE, PLUG_BYTES, NULL, &code);
    if (code != CL_SUCCESS)
        return RESTRIDE_OK;
    restride_status status = copy_plug(track, NULL); /* the first one may make the memory */
    if (status == RESTRIDE_OK)
        status = copy_plug(track, &event);
    if (status == RESTRIDE_OK)
        status =
            time_between(track, event, CL_PROFILING_COMMAND_START, event, &track->plug_seconds);
    release(track, event);
    return status;
}

void rs_train_close(rs_train_track *track)
{
    if (track->plug != NULL)
        track->api->clReleaseMemObject(track->plug);
    track->plug = NULL;
}

restride_status rs_train_enqueue(const rs_train_track *track, const rs_train_kernel *kernels,
                                 int count, cl_event *event)
{
    for (int i = 0; i < count; i++) {
        const rs_train_kernel *k = &kernels[i];
        cl_int code = track->api->clEnqueueNDRangeKernel(track->queue, k->kernel, 3, NULL,
                                                         k->shape.global, k->shape.local, 0, NULL,
                                                         i + 1 == count ? event : NULL);
        if (code != CL_SUCCESS)
            return rs_opencl_fail(code, k->name);
    }
    return RESTRIDE_OK;
}

int rs_train_launches(double seconds)
{
    return seconds * MOST_LAUNCHES <= train_seconds ? MOST_LAUNCHES
                                                    : (int)fmax(1, ceil(train_seconds / seconds));
}

/* Work for the device until the train is enqueued, without which the host's calls may be what is
 * timed. */
static restride_status enqueue_plug(rs_train_track *track, int launches)
{
    restride_status status = track->plug_wanted ? RESTRIDE_OK : make_plug(track);
    double rest = track->plug != NULL ? launches * host_seconds : 0;
    for (; rest > 0 && status == RESTRIDE_OK; rest -= fmax(track->plug_seconds, host_seconds))
        status = copy_plug(track, NULL);
    return status;
}

/* The begin of one kernel can only be asked of its own event, so it gets one in any case. */
static restride_status run_once(const rs_train_track *track, const rs_train_kernel *kernels,
                                int count, double *seconds)
{
    cl_event first = NULL, last = NULL;
    restride_status status = rs_train_enqueue(track, kernels, 1, &first);
    if (status == RESTRIDE_OK && count > 1)
        status = rs_train_enqueue(track, kernels + 1, count - 1, &last);
    if (status == RESTRIDE_OK)
        status = time_between(track, first, CL_PROFILING_COMMAND_START, count > 1 ? last : first,
                              seconds);
    release(track, first);
    release(track, last);
    return status;
}

static restride_status run_train(rs_train_track *track, const rs_train_kernel *kernels, int count,
                                 int launches, double *seconds)
{
    cl_event first = NULL, last = NULL;
    restride_status status = enqueue_plug(track, launches);
    if (status == RESTRIDE_OK)
        status = rs_train_enqueue(track, kernels, count, &first);
    for (int i = 0; i < launches && status == RESTRIDE_OK; i++)
        status = rs_train_enqueue(track, kernels, count, i + 1 == launches ? &last : NULL);
    if (status == RESTRIDE_OK)
        status = time_between(track, first, CL_PROFILING_COMMAND_END, last, seconds);
    *seconds /= launches;
    release(track, first);
    release(track, last);
    return status;
}

restride_status rs_train_run(rs_train_track *track, const rs_train_kernel *kernels, int count,
                             int launches, double *seconds)
{
    *seconds = 0;
    if (count == 0)
        return RESTRIDE_OK;
    return launches > 1 ? run_train(track, kernels, count, launches, seconds)
                        : run_once(track, kernels, count, seconds);
}

static int compare_doubles(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

double rs_train_median(double *values, int count)
{
    qsort(values, (size_t)count, sizeof *values, compare_doubles);
    return count % 2 != 0 ? values[count / 2] : 0.5 * (values[count / 2 - 1] + values[count / 2]);
}
