/* What the applications share: see app.h. */
#include "app.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const layout_names[] = {
    [APP_AOS] = "aos", [APP_SOA] = "soa", [APP_ASTA] = "asta"};
enum { LAYOUTS = sizeof layout_names / sizeof layout_names[0] };

static app_layout layout_of(const char *name)
{
    for (int i = 0; i < LAYOUTS; i++)
        if (strcmp(name, layout_names[i]) == 0)
            return (app_layout)i;
    example_fail("--layout takes aos, soa or asta, not \"%s\".", name);
}

app_options app_read_options(int argc, char **argv, app_options defaults)
{
    app_options options = defaults;
    for (int i = 1; i < argc; i++) {
        const char *option = argv[i];
        if (i + 1 == argc)
            example_fail("\"%s\" is no option or lacks its value.", option);
        const char *value = argv[++i];
        if (strcmp(option, "--layout") == 0)
            options.layout = layout_of(value);
        else if (strcmp(option, "--count") == 0)
            options.count = (size_t)example_number(option, value, 1, 1L << 40);
        else if (strcmp(option, "--width") == 0)
            options.width = (size_t)example_number(option, value, 1, 4096);
        else if (strcmp(option, "--iterations") == 0)
            options.iterations = (int)example_number(option, value, 1, 1000000);
        else if (strcmp(option, "--device") == 0)
            options.device = value;
        else if (strcmp(option, "--input") == 0)
            options.input = value;
        else if (strcmp(option, "--times") == 0)
            options.untimed = strcmp(value, "no") == 0;
        else
            example_fail("\"%s\" is no option.", option);
    }
    options.count = (options.count + APP_TILE - 1) / APP_TILE * APP_TILE;
    return options;
}

example_device app_open(const app_options *options)
{
    return example_open_quietly(options->device, options->untimed ? 0 : CL_QUEUE_PROFILING_ENABLE);
}

static size_t place(const app_options *options, size_t width, size_t record, size_t member)
{
    switch (options->layout) {
    case APP_SOA:
        return member * options->count + record;
    case APP_ASTA:
        return (record / APP_TILE * width + member) * APP_TILE + record % APP_TILE;
    case APP_AOS:
        break;
    }
    return record * width + member;
}

void app_to_layout(const app_options *options, size_t width, const uint32_t *aos, uint32_t *words)
{
    for (size_t i = 0; i < options->count; i++)
        for (size_t member = 0; member < width; member++)
            words[place(options, width, i, member)] = aos[i * width + member];
}

void app_from_layout(const app_options *options, size_t width, const uint32_t *words, uint32_t *aos)
{
    for (size_t i = 0; i < options->count; i++)
        for (size_t member = 0; member < width; member++)
            aos[i * width + member] = words[place(options, width, i, member)];
}

const char *app_build_options(const app_options *options)
{
    static char text[128];
    static const char *const macros[] = {
        [APP_AOS] = "", [APP_SOA] = "-DLAYOUT_SOA ", [APP_ASTA] = "-DLAYOUT_ASTA "};
    snprintf(text, sizeof text, "%s-DWIDTH=%zu", macros[options->layout], options->width);
    return text;
}

app_times app_launch(const app_options *options, const example_device *device, cl_kernel kernel,
                     size_t work_items, void (*prepare)(int iteration, void *data), void *data)
{
    size_t count = (size_t)options->iterations;
    cl_event *events = example_allocate(count, sizeof *events);
    app_times times = {.seconds = example_allocate(count, sizeof(double))};
    example_check(clFinish(device->queue), "clFinish");
    double start = example_clock();
    for (size_t i = 0; i < count; i++) {
        if (prepare != NULL)
            prepare((int)i, data);
        example_check(clEnqueueNDRangeKernel(device->queue, kernel, 1, NULL, &work_items, NULL, 0,
                                             NULL, options->untimed ? NULL : &events[i]),
                      "clEnqueueNDRangeKernel");
    }
    example_check(clFinish(device->queue), "clFinish");
    times.elapsed = example_clock() - start;
    for (size_t i = 0; i < count && !options->untimed; i++) {
        times.seconds[i] = example_event_seconds(events[i]);
        clReleaseEvent(events[i]);
    }
    free(events);
    return times;
}

static int compare(const void *a, const void *b)
{
    double left = *(const double *)a, right = *(const double *)b;
    return (left > right) - (left < right);
}

static uint64_t hash(const unsigned char *bytes, size_t size)
{
    uint64_t sum = 14695981039346656037u;
    for (size_t i = 0; i < size; i++)
        sum = (sum ^ bytes[i]) * 1099511628211u;
    return sum;
}

void app_print(const char *name, const app_options *options, const app_times *times, double bytes,
               const void *result, size_t result_size)
{
    size_t count = (size_t)options->iterations;
    double first = times->seconds[0], last = times->seconds[count - 1];
    double *sorted = example_allocate(count, sizeof *sorted);
    memcpy(sorted, times->seconds, count * sizeof *sorted);
    qsort(sorted, count, sizeof *sorted, compare);
    printf("{\"app\": \"%s\", \"layout\": \"%s\", \"records\": %zu, \"width\": %zu, "
           "\"iterations\": %zu, \"median_seconds\": %.9f, \"first_seconds\": %.9f, "
           "\"last_seconds\": %.9f, \"elapsed_seconds\": %.9f, \"bytes\": %.0f, "
           "\"result\": \"%016llx\"}\n",
           name, layout_names[options->layout], options->count, options->width, count,
           sorted[count / 2], first, last, times->elapsed, bytes,
           (unsigned long long)hash(result, result_size));
    free(sorted);
}
