/*
 * Irregular references on a device: a kernel that reads A[P[t]], as it is and with the data and
 * threads reordered by each method of restride/irregular.h, the plan made on the host, and then by
 * those of restride/irregular_device.h, made on the device; every result is checked. Prints a line
 * of JSON a method: the kernel's time, the plan's and the gather's, and the launches after which
 * reordering is repaid by the clock.
 */
#include "example.h"
#include "restride/irregular_device.h"
#include "restride/opencl.h"

#include <getopt.h>
#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { GROUP = 256, LAUNCHES = 9 };

typedef struct {
    size_t references;
    size_t objects;
    const char *kind;
    const char *device;
    size_t segment;
    bool on_host;
} options;

typedef struct {
    options how;
    float *array;
    uint32_t *index;
    example_device device;
    cl_kernel kernel;
    cl_mem result;
    restride_engine *engine;
} experiment;

static double next_random(uint64_t *state)
{
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return (double)(*state >> 11) / (double)((uint64_t)1 << 53);
}

/* uniform: particles in cells, in no order. power: neighbours in a graph of few hubs and many
 * leaves, numbered at random. */
static uint32_t pick(const options *how, uint64_t *state)
{
    double x = next_random(state);
    if (strcmp(how->kind, "power") == 0)
        x = pow(x, 3);
    uint64_t object = (uint64_t)(x * (double)how->objects);
    return (uint32_t)(object * 2654435761u % how->objects);
}

static options read_options(int argc, char **argv)
{
    static const struct option names[] = {{"references", required_argument, NULL, 'r'},
                                          {"objects", required_argument, NULL, 'o'},
                                          {"kind", required_argument, NULL, 'k'},
                                          {"device", required_argument, NULL, 'd'},
                                          {"segment", required_argument, NULL, 's'},
                                          {"device-only", no_argument, NULL, 'n'},
                                          {NULL, 0, NULL, 0}};
    options how = {1 << 20, 1 << 18, "uniform", "any", 32, true};
    int option;
    while ((option = getopt_long(argc, argv, "", names, NULL)) != -1) {
        if (option == 'r')
            how.references = (size_t)example_number("--references", optarg, 1, 2000000000);
        else if (option == 'o')
            how.objects = (size_t)example_number("--objects", optarg, 1, 2000000000);
        else if (option == 's')
            how.segment = (size_t)example_number("--segment", optarg, 4, 1024);
        else if (option == 'k')
            how.kind = optarg;
        else if (option == 'n')
            how.on_host = false;
        else if (option == 'd')
            how.device = optarg;
        else
            exit(2);
    }
    if (strcmp(how.kind, "uniform") != 0 && strcmp(how.kind, "power") != 0)
        example_fail("--kind is uniform or power, not \"%s\".", how.kind);
    return how;
}

static int compare_seconds(const void *a, const void *b)
{
    double one = *(const double *)a;
    double other = *(const double *)b;
    return one < other ? -1 : one > other;
}

static double median(double *seconds)
{
    qsort(seconds, LAUNCHES, sizeof *seconds, compare_seconds);
    return seconds[LAUNCHES / 2];
}

/* The median of the launches; the result stays on the device. */
static double time_launches(experiment *e, cl_mem data, cl_mem indices)
{
    const cl_ulong threads = e->how.references;
    example_set_argument(e->kernel, 0, sizeof data, &data);
    example_set_argument(e->kernel, 1, sizeof indices, &indices);
    example_set_argument(e->kernel, 2, sizeof e->result, &e->result);
    example_set_argument(e->kernel, 3, sizeof threads, &threads);
    size_t group = GROUP;
    size_t items = (e->how.references + GROUP - 1) / GROUP * GROUP;
    double seconds[LAUNCHES];
    for (int i = 0; i < LAUNCHES; i++) {
        cl_event event;
        example_check(clEnqueueNDRangeKernel(e->device.queue, e->kernel, 1, NULL, &items, &group, 0,
                                             NULL, &event),
                      "clEnqueueNDRangeKernel");
        example_check(clWaitForEvents(1, &event), "clWaitForEvents");
        seconds[i] = example_event_seconds(event);
        clReleaseEvent(event);
    }
    return median(seconds);
}

static double time_kernel(experiment *e, const float *slots, size_t slot_count,
                          const uint32_t *index)
{
    cl_mem data = example_buffer(&e->device, slot_count * sizeof *slots, slots);
    cl_mem indices = example_buffer(&e->device, e->how.references * sizeof *index, index);
    double seconds = time_launches(e, data, indices);
    clReleaseMemObject(data);
    clReleaseMemObject(indices);
    return seconds;
}

static void check(experiment *e, const size_t *order)
{
    float *result = example_allocate(e->how.references, sizeof *result);
    example_read(&e->device, e->result, e->how.references * sizeof *result, result);
    for (size_t t = 0; t < e->how.references; t++) {
        float expected = 2.0f * e->array[e->index[order == NULL ? t : order[t]]];
        if (result[t] != expected)
            example_fail("Thread %zu read a wrong object.", t);
    }
    free(result);
}

static void run_method(experiment *e, int method, const char *name, double before)
{
    const restride_launch launch = {e->how.references, 32, e->how.segment};
    const restride_reference reference = {e->index, sizeof *e->index, e->how.objects,
                                          sizeof *e->array};
    const restride_irregular_options how = {.method = (restride_irregular_method)method};
    restride_irregular *plan;
    double start = example_clock();
    if (restride_irregular_plan(&plan, &launch, &reference, 1, &how) != RESTRIDE_OK)
        example_fail("%s", restride_last_error());
    double planned = example_clock();
    size_t count = restride_irregular_slots(plan, 0);
    float *slots = example_allocate(count, sizeof *slots);
    uint32_t *index = example_allocate(e->how.references, sizeof *index);
    size_t *order = example_allocate(e->how.references, sizeof *order);
    double allocated = example_clock();
    restride_irregular_gather(plan, 0, e->array, slots);
    double gathered = example_clock();
    if (restride_irregular_index(plan, 0, index) != RESTRIDE_OK)
        example_fail("%s", restride_last_error());
    restride_irregular_order(plan, order);
    double after = time_kernel(e, slots, count, index);
    check(e, order);
    const restride_irregular_facts facts = restride_irregular_plan_facts(plan, 0);
    printf("{\"method\": \"%s\", \"planned_on\": \"host\", \"kernel_ms\": %.3f, \"speedup\": %.2f, "
           "\"plan_s\": %.2f, "
           "\"gather_s\": %.3f, \"break_even_gathers\": %.0f, \"transactions_before\": %zu, "
           "\"transactions_after\": %zu, \"best\": %zu, \"extra_bytes\": %zu}\n",
           name, after * 1e3, before / after, planned - start, gathered - allocated,
           before > after ? ceil((gathered - allocated) / (before - after)) : -1,
           facts.transactions_before, facts.transactions_after, facts.transactions_best,
           facts.extra_bytes);
    fflush(stdout);
    free(order);
    free(index);
    free(slots);
    restride_irregular_destroy(plan);
}

static void check_status(restride_status status)
{
    if (status != RESTRIDE_OK)
        example_fail("%s", restride_last_error());
}

/* Each of the launches is a plan; the first one builds its kernels too. The last one is kept. */
static restride_irregular_device *time_plans(experiment *e, restride_irregular_method method,
                                             cl_mem index, double seconds[LAUNCHES])
{
    const restride_launch launch = {e->how.references, 32, e->how.segment};
    const restride_reference reference = {index, sizeof *e->index, e->how.objects,
                                          sizeof *e->array};
    const restride_irregular_options how = {.method = method};
    restride_irregular_device *plan = NULL;
    for (int i = 0; i < LAUNCHES; i++) {
        restride_irregular_device_destroy(plan);
        double start = example_clock();
        check_status(restride_irregular_device_plan(&plan, e->engine, &launch, &reference, &how));
        seconds[i] = example_clock() - start;
    }
    return plan;
}

static double time_gathers(const restride_irregular_device *plan, cl_mem array, cl_mem slots)
{
    double seconds[LAUNCHES];
    for (int i = 0; i < LAUNCHES; i++) {
        double start = example_clock();
        check_status(restride_irregular_device_gather(plan, array, slots));
        seconds[i] = example_clock() - start;
    }
    return median(seconds);
}

static void check_on_device(experiment *e, const restride_irregular_device *plan)
{
    cl_mem order = (cl_mem)restride_irregular_device_order(plan);
    size_t count = e->how.references;
    if (order == NULL) {
        check(e, NULL);
        return;
    }
    uint32_t *narrow = example_allocate(count, sizeof *narrow);
    size_t *wide = example_allocate(count, sizeof *wide);
    example_read(&e->device, order, count * sizeof *narrow, narrow);
    for (size_t t = 0; t < count; t++)
        wide[t] = narrow[t];
    check(e, wide);
    free(wide);
    free(narrow);
}

static void run_on_device(experiment *e, restride_irregular_method method, const char *name,
                          double before)
{
    cl_mem array = example_buffer(&e->device, e->how.objects * sizeof *e->array, e->array);
    cl_mem index = example_buffer(&e->device, e->how.references * sizeof *e->index, e->index);
    double plans[LAUNCHES];
    restride_irregular_device *plan = time_plans(e, method, index, plans);
    double first = plans[0];
    double planned = median(plans);
    size_t slots_count = restride_irregular_device_slots(plan);
    cl_mem slots = example_buffer(&e->device, slots_count * sizeof *e->array, NULL);
    double gathered = time_gathers(plan, array, slots);
    double after = time_launches(e, slots, (cl_mem)restride_irregular_device_index(plan));
    check_on_device(e, plan);
    const restride_irregular_facts facts = restride_irregular_device_facts(plan);
    double saved = before - after;
    printf("{\"method\": \"%s\", \"planned_on\": \"device\", \"kernel_ms\": %.3f, "
           "\"speedup\": %.2f, \"plan_ms\": %.2f, \"first_plan_ms\": %.2f, \"gather_ms\": %.3f, "
           "\"break_even_gathers\": %.0f, \"break_even_plans\": %.0f, "
           "\"transactions_before\": %zu, \"transactions_after\": %zu, \"best\": %zu}\n",
           name, after * 1e3, before / after, planned * 1e3, first * 1e3, gathered * 1e3,
           saved > 0 ? ceil(gathered / saved) : -1,
           saved > 0 ? ceil((planned + gathered) / saved) : -1, facts.transactions_before,
           facts.transactions_after, facts.transactions_best);
    fflush(stdout);
    clReleaseMemObject(slots);
    restride_irregular_device_destroy(plan);
    clReleaseMemObject(index);
    clReleaseMemObject(array);
}

int main(int argc, char **argv)
{
    static const char *const methods[] = {NULL, "duplication", "partial", "padding",
                                          "approximation"};
    experiment e = {.how = read_options(argc, argv)};
    uint64_t state = 1;
    e.array = example_allocate(e.how.objects, sizeof *e.array);
    e.index = example_allocate(e.how.references, sizeof *e.index);
    for (size_t i = 0; i < e.how.objects; i++)
        e.array[i] = (float)(next_random(&state) * 1000);
    for (size_t t = 0; t < e.how.references; t++)
        e.index[t] = pick(&e.how, &state);
    e.device = example_open_quietly(e.how.device, CL_QUEUE_PROFILING_ENABLE);
    cl_program program = example_build(&e.device, "gather.cl", "");
    e.kernel = example_kernel(program, "gather");
    e.result = example_buffer(&e.device, e.how.references * sizeof *e.array, NULL);
    double before = time_kernel(&e, e.array, e.how.objects, e.index);
    check(&e, NULL);
    printf("{\"method\": \"none\", \"kind\": \"%s\", \"references\": %zu, \"objects\": %zu, "
           "\"kernel_ms\": %.3f}\n",
           e.how.kind, e.how.references, e.how.objects, before * 1e3);
    fflush(stdout);
    for (int method = 1; e.how.on_host && method <= 4; method++)
        run_method(&e, method, methods[method], before);
    check_status(restride_engine_create_opencl(&e.engine, e.device.queue));
    run_on_device(&e, RESTRIDE_IRREGULAR_DUPLICATION, "duplication", before);
    run_on_device(&e, RESTRIDE_IRREGULAR_APPROXIMATION, "approximation", before);
    restride_engine_destroy(e.engine);
    clReleaseMemObject(e.result);
    clReleaseKernel(e.kernel);
    clReleaseProgram(program);
    example_close(&e.device);
    free(e.array);
    free(e.index);
    return EXIT_SUCCESS;
}
