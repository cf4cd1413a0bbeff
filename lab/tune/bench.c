/* See bench.h. */
#include "lab/tune/bench.h"

#include "console/bench_device.h"
#include "console/progress.h"
#include "engine/host/team.h"

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { GROUP_ITEMS = 64, MOST_WORD = 8 };

static bool is_host(const rs_tune_bench *b)
{
    return b->engine->operations->transfer == NULL;
}

/* ---- memory ---- */

static restride_status open_host(rs_tune_bench *b)
{
    const rs_engine_operations *operations = b->engine->operations;
    restride_status status = operations->acquire_scratch(b->engine, b->bytes, &b->original);
    if (status == RESTRIDE_OK)
        status = operations->acquire_scratch(b->engine, b->bytes, &b->array);
    if (status == RESTRIDE_OK)
        rs_bench_fill(b->original, b->bytes / b->matrices.unit, b->matrices.unit);
    return status;
}

/* ---- the definition, on the host ---- */

enum { LINES = 64, RUN = 256 }; /* compared together, so that what is read stays in cache */

typedef struct {
    const rs_tune_bench *bench;
    atomic_size_t wrong; /* the first element of the result that is; SIZE_MAX: none */
} comparison;

static bool is_same(const unsigned char *a, const unsigned char *b, size_t unit)
{
    switch (unit) {
    case 1:
        return *a == *b;
    case 2:
        return memcmp(a, b, 2) == 0;
    case 4:
        return memcmp(a, b, 4) == 0;
    case 8:
        return memcmp(a, b, 8) == 0;
    default:
        return memcmp(a, b, unit) == 0;
    }
}

static void note_wrong(comparison *c, size_t place)
{
    size_t known = atomic_load(&c->wrong);
    while (place < known && !atomic_compare_exchange_weak(&c->wrong, &known, place))
        continue;
}

/* Elements [begin, end) of one line of the result, which was a column. */
static void compare_run(comparison *c, size_t line, size_t begin, size_t end)
{
    const rs_matrices *m = &c->bench->matrices;
    const unsigned char *result = c->bench->array;
    const unsigned char *original = c->bench->original;
    const size_t column = line / m->cols * m->rows * m->cols + line % m->cols;
    for (size_t i = begin; i < end; i++)
        if (!is_same(result + (line * m->rows + i) * m->unit,
                     original + (column + i * m->cols) * m->unit, m->unit)) {
            note_wrong(c, line * m->rows + i);
            return;
        }
}

static void compare_part(void *context, const rs_host_member *member)
{
    comparison *c = context;
    const rs_matrices *m = &c->bench->matrices;
    size_t begin;
    size_t end;
    rs_host_team_share(member, m->batch * m->cols, &begin, &end);
    for (size_t line = begin; line < end; line += LINES)
        for (size_t i = 0; i < m->rows; i += RUN)
            for (size_t k = line; k < end && k < line + LINES; k++)
                compare_run(c, k, i, rs_size_smaller(i + RUN, m->rows));
}

static restride_status check_on_host(const rs_tune_bench *b)
{
    const rs_matrices *m = &b->matrices;
    comparison c = {b, SIZE_MAX};
    rs_host_team_run(b->threads, compare_part, &c);
    const size_t wrong = atomic_load(&c.wrong);
    if (wrong == SIZE_MAX)
        return RESTRIDE_OK;
    return rs_fail(RESTRIDE_DEVICE_ERROR,
                   "After transposing %zu x %zu, row %zu, column %zu is wrong.", m->rows, m->cols,
                   wrong / m->rows, wrong % m->rows);
}

/* ---- a device ---- */

#if defined(RESTRIDE_HAVE_OPENCL) || defined(RESTRIDE_HAVE_CUDA)

extern const char rs_device_tune_kernels[]; /* tune.cl */

static rs_device_engine *device_of(const rs_tune_bench *b)
{
    return (rs_device_engine *)b->engine;
}

static restride_status upload_original(const rs_tune_bench *b)
{
    unsigned char *bytes = malloc(b->bytes);
    if (bytes == NULL)
        return rs_fail_memory("the matrices of a measurement");
    rs_bench_fill(bytes, b->bytes / b->matrices.unit, b->matrices.unit);
    restride_status status = rs_bench_upload(b->transfer, b->original, bytes, b->bytes);
    free(bytes);
    return status;
}

static size_t word_of(size_t unit)
{
    size_t word = unit & ~(unit - 1);
    return word < MOST_WORD ? word : MOST_WORD;
}

static restride_status create_kernel(rs_tune_bench *b)
{
    static const char *const names[] = {"count_wrong"};
    const size_t word = word_of(b->matrices.unit);
    char defines[80];
    snprintf(defines, sizeof defines, "-D WORD=%s -D WORDS=%zu", rs_device_word_type(word),
             b->matrices.unit / word);
    return rs_device_create_kernels(device_of(b), rs_device_tune_kernels, defines, names, 1,
                                    &b->compare);
}

static restride_status open_device(rs_tune_bench *b)
{
    restride_status status = rs_transfer_open(b->engine, &b->transfer);
    if (status == RESTRIDE_OK)
        status = b->transfer->operations->allocate(b->transfer, b->bytes, &b->original);
    if (status == RESTRIDE_OK)
        status = b->transfer->operations->allocate(b->transfer, b->bytes, &b->array);
    if (status == RESTRIDE_OK)
        status = device_of(b)->device->allocate(device_of(b), sizeof(uint32_t), &b->wrong);
    if (status == RESTRIDE_OK)
        status = create_kernel(b);
    return status == RESTRIDE_OK ? upload_original(b) : status;
}

static restride_status check_on_device(const rs_tune_bench *b)
{
    rs_device_engine *engine = device_of(b);
    const uint64_t words = b->bytes / word_of(b->matrices.unit);
    const uint64_t rows = b->matrices.rows;
    const uint64_t cols = b->matrices.cols;
    uint32_t wrong = 0;
    restride_status status =
        engine->device->write(engine, b->wrong, &wrong, sizeof wrong, "counting wrong elements");
    if (status != RESTRIDE_OK)
        return status;
    rs_device_sequence sequence = {.engine = engine};
    const rs_device_argument arguments[] = {RS_ARGUMENT(b->array), RS_ARGUMENT(b->original),
                                            RS_ARGUMENT(b->wrong), RS_ARGUMENT(rows),
                                            RS_ARGUMENT(cols),     RS_ARGUMENT(words)};
    rs_device_launch(&sequence, b->compare, arguments, 6, (words + GROUP_ITEMS - 1) / GROUP_ITEMS,
                     1, GROUP_ITEMS);
    status = rs_device_finish_reading(&sequence, &wrong, b->wrong, sizeof wrong,
                                      "counting wrong elements");
    if (status != RESTRIDE_OK || wrong == 0)
        return status;
    return rs_fail(RESTRIDE_DEVICE_ERROR, "After transposing %zu x %zu, %u words are wrong.",
                   b->matrices.rows, b->matrices.cols, wrong);
}

static void close_device(rs_tune_bench *b)
{
    if (b->transfer == NULL)
        return;
    if (b->wrong != NULL)
        device_of(b)->device->release(device_of(b), b->wrong);
    b->transfer->operations->release(b->transfer, b->array);
    b->transfer->operations->release(b->transfer, b->original);
    b->transfer->operations->close(b->transfer);
}

#else

static restride_status open_device(rs_tune_bench *b)
{
    (void)b;
    return rs_fail(RESTRIDE_UNSUPPORTED, "This build has no engine of a device.");
}

static restride_status check_on_device(const rs_tune_bench *b)
{
    (void)b;
    return RESTRIDE_OK;
}

static void close_device(rs_tune_bench *b)
{
    (void)b;
}

#endif

/* What a room above does with a device itself, it does between these. */
static restride_status enter(const rs_tune_bench *b)
{
    return b->engine->operations->enter == NULL ? RESTRIDE_OK
                                                : b->engine->operations->enter(b->engine);
}

static void leave(const rs_tune_bench *b)
{
    if (b->engine->operations->leave != NULL)
        b->engine->operations->leave(b->engine);
}

restride_status rs_tune_bench_open(rs_tune_bench *bench, restride_engine *engine,
                                   const rs_matrices *matrices)
{
    const rs_engine_traits traits = engine->operations->traits(engine);
    const size_t bytes = matrices->rows * matrices->cols * matrices->unit * matrices->batch;
    *bench = (rs_tune_bench){.engine = engine,
                             .matrices = *matrices,
                             .bytes = bytes,
                             .threads = rs_engine_workers(&traits, bytes)};
    restride_status status = enter(bench);
    if (status != RESTRIDE_OK)
        return status;
    status = is_host(bench) ? open_host(bench) : open_device(bench);
    leave(bench);
    if (status != RESTRIDE_OK)
        rs_tune_bench_close(bench);
    return status;
}

void rs_tune_bench_close(rs_tune_bench *bench)
{
    if (!is_host(bench)) {
        const bool entered = enter(bench) == RESTRIDE_OK;
        close_device(bench);
        if (entered)
            leave(bench);
        return;
    }
    void *const memory[] = {bench->array, bench->original};
    for (int i = 0; i < 2; i++)
        if (memory[i] != NULL)
            bench->engine->operations->release_scratch(bench->engine, bench->bytes, memory[i]);
}

/* ---- work ---- */

restride_status rs_tune_bench_copy(const rs_tune_bench *bench, double *seconds)
{
    restride_status status = RESTRIDE_OK;
    const double start = rs_seconds_now();
    if (is_host(bench))
        rs_host_team_copy(bench->threads, bench->array, bench->original, bench->bytes);
    else
        status = bench->transfer->operations->copy(bench->transfer, bench->array, 0,
                                                   bench->original, 0, bench->bytes, NULL);
    if (status == RESTRIDE_OK && !is_host(bench))
        status = bench->transfer->operations->finish(bench->transfer);
    *seconds = rs_seconds_now() - start;
    return status;
}

restride_status rs_tune_bench_run(const rs_tune_bench *bench, restride_plan *plan, double *seconds)
{
    const double start = rs_seconds_now();
    restride_status status = restride_execute(plan, bench->array);
    if (status == RESTRIDE_OK && !is_host(bench))
        status = bench->transfer->operations->finish(bench->transfer);
    *seconds = rs_seconds_now() - start;
    return status;
}

restride_status rs_tune_bench_check(const rs_tune_bench *bench)
{
    if (is_host(bench))
        return check_on_host(bench);
    restride_status status = enter(bench);
    if (status != RESTRIDE_OK)
        return status;
    status = check_on_device(bench);
    leave(bench);
    return status;
}
