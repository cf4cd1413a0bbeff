/* What the measurements on devices have in common: patterns whose every element is known, and times
 * beside a copy of the same bytes. */
#ifndef RS_CONSOLE_BENCH_DEVICE_H
#define RS_CONSOLE_BENCH_DEVICE_H

#include "base/seconds.h"
#include "console/engines.h"
#include "console/options.h"
#include "engine/transfer.h"
#include "restride/plan.h"

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

enum { RS_BENCH_MOST_REPEAT = 1000 };

/* The options that measurements have in common. */
typedef struct {
    const char *engine;
    const char *device; /* NULL: the first GPU */
    size_t threads;     /* of the host; 0: all */
    size_t repeat;
    bool json;
} rs_bench_options;

#define RS_BENCH_DEVICE_DEFAULTS                                                                   \
    {                                                                                              \
        .engine = "opencl", .repeat = 5                                                            \
    }
/* The rows of a table of options for them, which lie in the member `on` of `structure`. */
#define RS_BENCH_DEVICE_OPTIONS(structure)                                                         \
    {RS_CLI_OWN("engine", structure, on.engine, rs_cli_take_device_engine)},                       \
        {RS_CLI_TEXT("device", structure, on.device)},                                             \
        {RS_CLI_COUNT("repeat", structure, on.repeat, 1, RS_BENCH_MOST_REPEAT)},                   \
    {                                                                                              \
        RS_CLI_FLAG("json", structure, on.json)                                                    \
    }

/* A list of shapes (rs_cli_read_shape()), for tables of options; *field is a const char *. */
bool rs_bench_take_shapes(const char *text, void *field);

/* Fills `elements` of `unit` bytes; element number e holds bytes that depend on e alone. */
void rs_bench_fill(unsigned char *bytes, size_t elements, size_t unit);

/* Whether the bytes are those of element number `element`. */
bool rs_bench_is_element(const unsigned char *bytes, size_t element, size_t unit);

/* Whether what was `batch` matrices of rows x cols such elements is transposed now. The sentence
 * names the first element that is wrong. */
restride_status rs_bench_verify(const unsigned char *bytes, size_t rows, size_t cols, size_t unit,
                                size_t batch);

/* Moves all bytes, and waits. */
restride_status rs_bench_upload(rs_transfer *transfer, void *buffer, const void *bytes,
                                size_t count);
restride_status rs_bench_download(rs_transfer *transfer, void *bytes, void *buffer, size_t count);

/* 2 x bytes / time; 0 without a time. */
double rs_bench_gigabytes(size_t bytes, double seconds);

/* A plan's description; NULL when memory is short. */
json_t *rs_bench_describe(const restride_plan *plan);

/* A measurement under way: its engine, and its rows for --json. */
typedef struct {
    const char *verb;
    const rs_bench_options *on;
    restride_engine *engine;
    json_t *rows;
} rs_bench;

/* Opens the engine; RS_EXIT_DONE, or RS_EXIT_FAILED after a sentence. */
int rs_bench_begin(rs_bench *bench, const char *verb, const rs_bench_options *on);

/* Says what failed, or prints the rows with the engine and its device where JSON is wanted; the
 * exit status. */
int rs_bench_end(rs_bench *bench, restride_status status);

typedef struct {
    double seconds;      /* of one run */
    double copy_seconds; /* of a copy of `bytes` bytes from buffer to buffer */
} rs_bench_times;

/*
 * Medians of `repeat` samples of each, in turns. A sample of small arrays is several runs one after
 * the other: what a stream of work costs, not what waiting for each costs.
 */
restride_status rs_bench_time_plan(rs_transfer *transfer, restride_plan *plan, void *buffer,
                                   size_t bytes, size_t repeat, rs_bench_times *times);

#endif
