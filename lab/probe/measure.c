/* See measure.h. The host takes the times, around launches much longer than what it takes to start
 * one. */
#include "lab/probe/measure.h"

#include "engine/device/device.h"

#include <stdlib.h>
#include <time.h>

extern const char rs_device_probe_kernels[]; /* probe.cl */

enum {
    KERNELS = 3,
    CLEAR = 0,
    REQUEST = 1,
    STREAM = 2,
    CHAINS = 8, /* of the kernel */
    WORD = 4,
    GROUPS_A_PROCESSOR = 2,
    STREAM_ITEMS = 256,
    CLEAR_GROUPS = 4096,
    MOST_REPEAT = 101,
    LEAST_BYTES = 64 << 20,
    CACHED_BYTES = 16 << 20 /* fits into the caches of GPUs */
};

struct rs_probe_device {
    rs_device_engine *engine;
    rs_probe_options options;
    rs_device_memory memory;
    rs_device_memory result;
    rs_device_kernel kernels[KERNELS];
    uint64_t steps;   /* iterations of request_words that take options.seconds */
    uint64_t request; /* the next number */
};

static double now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

static int compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static restride_status launch(rs_probe_device *device, int kernel,
                              const rs_device_argument *arguments, size_t count, size_t groups,
                              size_t items, double *seconds)
{
    rs_device_sequence sequence = {.engine = device->engine};
    double started = now();
    rs_device_launch(&sequence, device->kernels[kernel], arguments, count, groups, 1, items);
    restride_status status = rs_device_finish(&sequence, "probing the memory");
    if (seconds != NULL)
        *seconds = now() - started;
    return status;
}

/* ---- opening ---- */

static restride_status clear(rs_probe_device *device)
{
    size_t items = device->engine->work_items < 64 ? device->engine->work_items : 64;
    uint64_t words = device->options.bytes / WORD;
    uint64_t work_items = CLEAR_GROUPS * items;
    const rs_device_argument arguments[] = {RS_ARGUMENT(device->memory), RS_ARGUMENT(words),
                                            RS_ARGUMENT(work_items)};
    return launch(device, CLEAR, arguments, 3, CLEAR_GROUPS, items, NULL);
}

static restride_status allocate(rs_probe_device *device)
{
    size_t *bytes = &device->options.bytes;
    restride_status status;
    while ((status = device->engine->device->allocate(device->engine, *bytes, &device->memory)) !=
               RESTRIDE_OK &&
           *bytes > LEAST_BYTES)
        *bytes /= 2;
    return status;
}

restride_status rs_probe_device_open(rs_probe_device **device, restride_engine *engine,
                                     const rs_probe_options *options)
{
    static const char *const names[KERNELS] = {"clear_words", "request_words", "stream_words"};
    *device = NULL;
    rs_probe_device *made = calloc(1, sizeof *made);
    if (made == NULL)
        return rs_fail_memory("a probe");
    made->engine = (rs_device_engine *)engine;
    made->options = *options;
    if (made->options.groups == 0)
        made->options.groups = made->engine->units * GROUPS_A_PROCESSOR;
    if (made->options.items == 0 || made->options.items > made->engine->work_items)
        made->options.items = 1;
    if (made->options.repeat == 0 || made->options.repeat > MOST_REPEAT)
        made->options.repeat = made->options.repeat == 0 ? 1 : MOST_REPEAT;
    const rs_device_operations *operations = made->engine->device;
    restride_status status = rs_device_create_kernels(made->engine, rs_device_probe_kernels, "",
                                                      names, KERNELS, made->kernels);
    if (status == RESTRIDE_OK)
        status = allocate(made);
    if (status == RESTRIDE_OK)
        status = operations->allocate(made->engine, WORD, &made->result);
    if (status == RESTRIDE_OK)
        status = clear(made);
    if (status == RESTRIDE_OK)
        *device = made;
    else
        rs_probe_device_close(made);
    return status;
}

void rs_probe_device_close(rs_probe_device *device)
{
    if (device == NULL)
        return;
    const rs_device_operations *operations = device->engine->device;
    if (device->memory != NULL)
        operations->release(device->engine, device->memory);
    if (device->result != NULL)
        operations->release(device->engine, device->result);
    free(device);
}

/* ---- requests ---- */

/* What request_words needs, in words. */
typedef struct {
    uint64_t first, work_items, stride, around, end, unit, jump, passes, steps;
} request_plan;

static request_plan plan_requests(const rs_probe_device *device, rs_probe_target target,
                                  size_t stride)
{
    uint64_t words = device->options.bytes / WORD;
    request_plan plan = {.work_items = device->options.groups * device->options.items,
                         .stride = stride / WORD,
                         .unit = device->options.unit_bytes / WORD,
                         .steps = device->steps};
    plan.around = words / plan.stride;
    plan.end = plan.around * plan.stride;
    if (target == RS_PROBE_MEMORY) {
        uint64_t together = plan.work_items * CHAINS;
        plan.jump = together % plan.around * plan.stride;
        plan.passes = together / plan.around * plan.unit;
    }
    return plan;
}

/* Requests until an address would leave its stride; the numbers then start again. */
static uint64_t most_requests(const request_plan *plan)
{
    return plan->stride / plan->unit * plan->around;
}

static restride_status time_requests(rs_probe_device *device, rs_probe_target target, size_t stride,
                                     uint64_t *requests, double *seconds)
{
    request_plan plan = plan_requests(device, target, stride);
    uint64_t together = plan.work_items * CHAINS;
    uint64_t most = most_requests(&plan);
    if (target == RS_PROBE_MEMORY && plan.steps * together > most)
        plan.steps = most / together;
    if (most < together || plan.steps == 0)
        return rs_fail(RESTRIDE_INVALID_ARGUMENT,
                       "%zu bytes are too few to probe a stride of %zu bytes with %zu groups.",
                       device->options.bytes, stride, device->options.groups);
    *requests = plan.steps * together;
    if (target == RS_PROBE_MEMORY) {
        plan.first = device->request % (most - *requests + 1);
        device->request += *requests;
    }
    const rs_device_argument arguments[] = {
        RS_ARGUMENT(device->memory),  RS_ARGUMENT(device->result), RS_ARGUMENT(plan.first),
        RS_ARGUMENT(plan.work_items), RS_ARGUMENT(plan.stride),    RS_ARGUMENT(plan.around),
        RS_ARGUMENT(plan.end),        RS_ARGUMENT(plan.unit),      RS_ARGUMENT(plan.jump),
        RS_ARGUMENT(plan.passes),     RS_ARGUMENT(plan.steps)};
    return launch(device, REQUEST, arguments, sizeof arguments / sizeof arguments[0],
                  device->options.groups, device->options.items, seconds);
}

/* Doubles the steps until a measurement is long enough, or reads all that it may. */
static restride_status choose_steps(rs_probe_device *device, rs_probe_target target, size_t stride)
{
    uint64_t requests = 0, before;
    double seconds;
    device->steps = 1;
    /* Some devices compile at the first launch. */
    restride_status status = time_requests(device, target, stride, &requests, &seconds);
    if (status != RESTRIDE_OK)
        return status;
    do {
        before = requests;
        device->steps *= 2;
        status = time_requests(device, target, stride, &requests, &seconds);
    } while (status == RESTRIDE_OK && seconds < device->options.seconds && requests > before);
    return status;
}

restride_status rs_probe_device_rate(rs_probe_device *device, rs_probe_target target, size_t stride,
                                     double *rate)
{
    double rates[MOST_REPEAT];
    restride_status status = RESTRIDE_OK;
    if (stride < device->options.unit_bytes || stride % WORD != 0 ||
        stride > device->options.bytes / 2)
        return rs_fail(RESTRIDE_INVALID_ARGUMENT, "A stride of %zu bytes cannot be probed.",
                       stride);
    if (device->steps == 0)
        status = choose_steps(device, target, stride);
    size_t repeat = device->options.repeat;
    for (size_t i = 0; status == RESTRIDE_OK && i < repeat; i++) {
        uint64_t requests = 0;
        double seconds = 1;
        status = time_requests(device, target, stride, &requests, &seconds);
        rates[i] = status == RESTRIDE_OK ? (double)requests / seconds : 0;
    }
    qsort(rates, repeat, sizeof *rates, compare);
    *rate = rates[repeat / 2];
    return status;
}

/* ---- streams ---- */

size_t rs_probe_device_bytes(const rs_probe_device *device)
{
    return device->options.bytes;
}

size_t rs_probe_device_in_flight(const rs_probe_device *device)
{
    return device->options.groups * device->options.items * CHAINS;
}

/* All of a memory's bytes, or the largest power of two up to CACHED_BYTES. */
static uint64_t mask_words(const rs_probe_device *device, rs_probe_target target)
{
    uint64_t bytes = WORD;
    if (target == RS_PROBE_MEMORY)
        return UINT64_MAX;
    while (bytes * 2 <= device->options.bytes && bytes * 2 <= CACHED_BYTES)
        bytes *= 2;
    return bytes / WORD - 1;
}

restride_status rs_probe_device_stream(rs_probe_device *device, rs_probe_target target,
                                       size_t stride, double *seconds)
{
    size_t most = device->engine->work_items;
    size_t items = most < STREAM_ITEMS ? most : STREAM_ITEMS;
    size_t groups = device->options.bytes / stride / CHAINS / items;
    uint64_t words = stride / WORD, mask = mask_words(device, target);
    uint64_t work_items = groups * items;
    if (groups == 0 || words == 0)
        return rs_fail(RESTRIDE_INVALID_ARGUMENT,
                       "%zu bytes are too few to stream with a stride of %zu.",
                       device->options.bytes, stride);
    const rs_device_argument arguments[] = {RS_ARGUMENT(device->memory),
                                            RS_ARGUMENT(device->result), RS_ARGUMENT(work_items),
                                            RS_ARGUMENT(words), RS_ARGUMENT(mask)};
    double times[MOST_REPEAT];
    restride_status status =
        launch(device, STREAM, arguments, 5, groups, items, NULL); /* warms up */
    for (size_t i = 0; status == RESTRIDE_OK && i < device->options.repeat; i++)
        status = launch(device, STREAM, arguments, 5, groups, items, &times[i]);
    if (status != RESTRIDE_OK)
        return status;
    qsort(times, device->options.repeat, sizeof *times, compare);
    *seconds = times[device->options.repeat / 2];
    return RESTRIDE_OK;
}
