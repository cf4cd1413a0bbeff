#include "lab.h"

#include "base/status.h"
#include "engine/open.h"
#ifdef RESTRIDE_HAVE_OPENCL
#include "engine/opencl/opencl.h"
#include "restride/opencl.h"
#endif

#include <stdlib.h>
#include <string.h>
#include <time.h>

#ifdef RESTRIDE_HAVE_OPENCL
static restride_status open_any_order(restride_engine **engine)
{
    restride_engine *first;
    restride_status status = rs_opencl_open(&first, getenv("RESTRIDE_TEST_DEVICE"));
    *engine = NULL;
    if (status != RESTRIDE_OK)
        return status;
    const rs_opencl_engine *opened = (rs_opencl_engine *)first;
    const cl_icd_dispatch *api = opened->api;
    cl_int code;
    cl_command_queue queue = api->clCreateCommandQueue(
        opened->context, opened->device, CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE, &code);
    status = code == CL_SUCCESS ? restride_engine_create_opencl(engine, queue)
                                : rs_fail(RESTRIDE_UNSUPPORTED, "The device has no such queue.");
    if (code == CL_SUCCESS)
        api->clReleaseCommandQueue(queue);
    restride_engine_destroy(first);
    return status;
}
#endif

restride_status lab_open(restride_engine **engine, const char *name)
{
#ifdef RESTRIDE_HAVE_CUDA
    if (strcmp(name, "cuda") == 0)
        return rs_cuda_open(engine, NULL);
#endif
#ifdef RESTRIDE_HAVE_OPENCL
    if (strcmp(name, "opencl") == 0)
        return rs_opencl_open(engine, getenv("RESTRIDE_TEST_DEVICE"));
    if (strcmp(name, "opencl-any-order") == 0)
        return open_any_order(engine);
#endif
    *engine = NULL;
    return rs_fail(RESTRIDE_UNSUPPORTED, "There is no engine \"%s\" here.", name);
}

static restride_status finish(rs_transfer *transfer, restride_status status, rs_ticket ticket)
{
    return status == RESTRIDE_OK ? transfer->operations->wait(transfer, ticket) : status;
}

restride_status lab_upload(rs_transfer *transfer, void *buffer, void *host, size_t bytes)
{
    const rs_transfer_block all = {host, bytes, buffer, 0, bytes, bytes, 1, NULL};
    rs_ticket ticket = NULL;
    restride_status status = transfer->operations->upload(transfer, &all, &ticket);
    return finish(transfer, status, ticket);
}

restride_status lab_download(rs_transfer *transfer, void *host, void *buffer, size_t bytes)
{
    const rs_transfer_block all = {host, bytes, buffer, 0, bytes, bytes, 1, NULL};
    rs_ticket ticket = NULL;
    restride_status status = transfer->operations->download(transfer, &all, &ticket);
    return finish(transfer, status, ticket);
}

double lab_now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec * 1e3 + (double)time.tv_nsec * 1e-6;
}

static int compare(const void *a, const void *b)
{
    double x = *(const double *)a;
    double y = *(const double *)b;
    return (x > y) - (x < y);
}

double lab_median(double *times, size_t count)
{
    qsort(times, count, sizeof times[0], compare);
    return times[count / 2];
}
