/*
 * What the applications of `restride-lab apps` share (Sung thesis, section 5.6): options, the
 * three layouts of records of 4-byte members on the host, launching and timing, and the result as
 * one line of JSON. Each application is an ordinary OpenCL program whose kernels are written for
 * arrays of structures; with --layout soa or asta it uses versions written by hand for comparison.
 */
#ifndef APP_H
#define APP_H

#include "example.h"

#include <stdbool.h>
#include <stdint.h>

enum { APP_TILE = 32 };

typedef enum { APP_AOS, APP_SOA, APP_ASTA } app_layout;

typedef struct {
    app_layout layout;
    size_t count; /* records, a multiple of APP_TILE */
    size_t width; /* members of a record, where the application leaves the choice */
    int iterations;
    const char *device;
    const char *input; /* NULL: made up */
    bool untimed;      /* the queue has no profiling: only the elapsed time is known */
} app_options;

/* --layout, --count, --width, --iterations, --device, --input, --times (yes or no); `defaults`
 * where they are not given. */
app_options app_read_options(int argc, char **argv, app_options defaults);

example_device app_open(const app_options *options);

/* Words between arrays of structures and the layout of the options. */
void app_to_layout(const app_options *options, size_t width, const uint32_t *aos, uint32_t *words);
void app_from_layout(const app_options *options, size_t width, const uint32_t *words,
                     uint32_t *aos);

/* The build options that choose the layout in a kernel file. */
const char *app_build_options(const app_options *options);

typedef struct {
    double *seconds; /* of each launch, on the device; 0: untimed */
    double elapsed;  /* from the first launch to the end of the last */
} app_times;

/* Launches the kernel `iterations` times; `prepare` (may be NULL) sets arguments before each. */
app_times app_launch(const app_options *options, const example_device *device, cl_kernel kernel,
                     size_t work_items, void (*prepare)(int iteration, void *data), void *data);

/* Prints the result; `bytes` are those that a launch must move at least. */
void app_print(const char *name, const app_options *options, const app_times *times, double bytes,
               const void *result, size_t result_size);

#endif
