/*
 * A whole array on chip (kernels/on_chip.cu): how it is cut into tiles, and which of them stay in
 * shared memory and which in registers. One block a multiprocessor.
 *
 * One pass over arrays of up to what all multiprocessors hold, about 54 MB on an H100; of a batch as
 * many at a time as fit. No scratch memory; a counter and some numbers of each axis are kept. It
 * wins wherever an array would need two passes otherwise.
 */
#include "base/arithmetic.h"
#include "engine/axes.h"
#include "engine/cuda/cuda.h"

#include <math.h>
#include <stdint.h>
#include <stdio.h>

extern const char rs_cuda_on_chip_kernel[];

enum {
    THREADS = 512,
    TILE_BYTES = 16 << 10,
    HELD_REGISTERS = 96, /* of a thread */
    HELD_FEWER = 72,     /* where elements of several words want more for addresses */
    REGISTER_BYTES = 4,
    TILE_NUMBERS = 6, /* that the kernel keeps of each tile, and a line of each row and column */
    AXIS_NUMBERS = 3,
    COUNTER_BYTES = 128,
    EDGE_STEP = 4,
    LARGEST_UNIT = 1024
};

typedef struct {
    rs_axes axes;
    size_t in;  /* last axes before the stage that are the columns of tiles together */
    size_t out; /* last axes afterwards that are the rows */
    size_t in_extent, out_extent;
    size_t rows, cols; /* of a tile */
    size_t unit_words, pitch;
    size_t words_each; /* of a tile, that a thread has */
    size_t shared;     /* tiles of a block in shared memory */
    size_t held;       /* in registers */
    size_t tiles;      /* of an array */
    size_t shared_bytes;
} cutting;

/* Whether axis i is among the last `out` afterwards. */
static bool is_out(const rs_axes *axes, size_t axis, size_t out)
{
    return axes->places[axis] >= axes->count - out;
}

static bool is_in(const rs_axes *axes, size_t axis, size_t in)
{
    return axis >= axes->count - in;
}

/* Tiles of about TILE_BYTES, with longer rows than columns, or as long as a short side has. */
static void shape_tile(cutting *c, size_t unit)
{
    size_t elements = TILE_BYTES / unit;
    c->rows = EDGE_STEP;
    while (4 * c->rows * c->rows <= elements)
        c->rows *= 2;
    c->cols = elements / c->rows / EDGE_STEP * EDGE_STEP;
    if (c->in_extent < c->cols) {
        c->cols = c->in_extent;
        c->rows = rs_size_larger(elements / c->cols / EDGE_STEP * EDGE_STEP, EDGE_STEP);
    }
    if (c->out_extent < c->rows) {
        c->rows = c->out_extent;
        c->cols = rs_size_larger(elements / c->rows / EDGE_STEP * EDGE_STEP, EDGE_STEP);
        c->cols = rs_size_smaller(c->cols, c->in_extent);
    }
    c->tiles = rs_size_divide_up(c->in_extent, c->cols) *
               rs_size_divide_up(c->out_extent, c->rows) *
               (c->axes.elements / c->in_extent / c->out_extent);
}

/* Of all ways to take axes together the one with the fewest tiles. */
static void combine_axes(cutting *c, size_t unit)
{
    cutting best = *c;
    best.tiles = SIZE_MAX;
    c->in_extent = 1;
    for (c->in = 1; c->in < c->axes.count; c->in++) {
        c->in_extent *= c->axes.extents[c->axes.count - c->in];
        c->out_extent = 1;
        for (c->out = 1; c->out < c->axes.count; c->out++) {
            size_t axis = 0;
            while (c->axes.places[axis] != c->axes.count - c->out)
                axis++;
            if (is_in(&c->axes, axis, c->in))
                break;
            c->out_extent *= c->axes.extents[axis];
            shape_tile(c, unit);
            if (c->tiles < best.tiles)
                best = *c;
        }
    }
    *c = best;
}

static void share_chip(cutting *c, const rs_cuda_engine *engine, size_t word)
{
    size_t words = c->rows * c->cols * c->unit_words;
    c->words_each = rs_size_divide_up(words, THREADS);
    size_t registers = c->words_each * rs_size_divide_up(word, REGISTER_BYTES);
    size_t room = engine->shared_bytes_a_block - COUNTER_BYTES;
    size_t numbers = (TILE_NUMBERS + c->rows + c->cols) * sizeof(uint32_t);
    size_t slot = c->rows * c->pitch * word;
    c->held = (c->unit_words == 1 ? HELD_REGISTERS : HELD_FEWER) / registers;
    while (c->held > 0 && c->held * (slot + 2 * numbers) > room)
        c->held--;
    size_t left = room - rs_size_smaller(room, c->held * numbers);
    c->shared = left / (slot + numbers);
    c->shared_bytes = rs_size_divide_up((c->shared + c->held) * numbers, 16) * 16 + c->shared * slot;
}

/* False when the array does not suit. */
static bool make_cutting(cutting *c, const rs_cuda_engine *engine, const rs_transpose_task *task)
{
    size_t word = rs_cuda_word(task);
    size_t bytes = rs_size_multiply_capped(rs_size_multiply_capped(task->rows, task->cols),
                                           task->unit);
    size_t most = engine->multiprocessors * (engine->shared_bytes_a_block + THREADS * 4 * 128);
    *c = (cutting){.unit_words = task->unit / word};
    if (task->unit > LARGEST_UNIT || bytes > most || task->count != 1 ||
        !rs_axes_of(&c->axes, task) || c->axes.elements * task->unit != bytes)
        return false;
    combine_axes(c, task->unit);
    if (c->tiles == SIZE_MAX)
        return false;
    c->pitch = rs_cuda_tile_pitch(c->cols, c->unit_words, word);
    share_chip(c, engine, word);
    return c->held > 0 && c->shared >= c->held;
}

size_t rs_cuda_on_chip_arrays(const rs_cuda_engine *engine, const rs_transpose_task *task)
{
    cutting c;
    if (!make_cutting(&c, engine, task))
        return 0;
    size_t most = engine->multiprocessors * (c.shared + c.held) / c.tiles;
    /* Words of all that are on chip are numbered with 32 bits. */
    size_t numbered = task->pitch > 0 ? UINT32_MAX / 2 / (task->pitch / rs_cuda_word(task)) : most;
    size_t together = rs_size_smaller(most, task->outer);
    return most == 0 ? 0 : rs_size_larger(1, rs_size_smaller(together, numbered));
}

/* An axis as the kernel wants it. */
static uint32_t *put_axis(uint32_t *to, const cutting *c, size_t axis)
{
    *to++ = (uint32_t)c->axes.extents[axis];
    *to++ = (uint32_t)(c->axes.from[axis] * c->unit_words);
    *to++ = (uint32_t)(c->axes.to[axis] * c->unit_words);
    return to;
}

/* The others, those that are rows and those that are columns; of each kind the fastest first. */
static restride_status keep_axes(rs_cuda_launch *launch, const rs_cuda_engine *engine,
                                 const cutting *c, size_t *others)
{
    const rs_axes *axes = &c->axes;
    uint32_t table[COUNTER_BYTES / sizeof(uint32_t) + RS_AXES_MOST * AXIS_NUMBERS] = {0};
    uint32_t *to = table + COUNTER_BYTES / sizeof *table;
    *others = 0;
    for (size_t axis = axes->count; axis-- > 0;)
        if (!is_in(axes, axis, c->in) && !is_out(axes, axis, c->out)) {
            to = put_axis(to, c, axis);
            ++*others;
        }
    for (size_t place = axes->count; place-- > axes->count - c->out;)
        for (size_t axis = 0; axis < axes->count; axis++)
            if (axes->places[axis] == place)
                to = put_axis(to, c, axis);
    for (size_t axis = axes->count; axis-- > axes->count - c->in;)
        to = put_axis(to, c, axis);
    return rs_cuda_keep(launch, engine, table, sizeof table);
}

static restride_status create_kernel(rs_cuda_stage *stage, rs_cuda_launch *launch, const cutting *c)
{
    const rs_cuda_define defines[] = {
        {"WORD_BYTES", NULL, stage->word}, {"UNIT_WORDS", NULL, c->unit_words},
        {"TILE_ROWS", NULL, c->rows},      {"TILE_COLS", NULL, c->cols},
        {"TILE_PITCH", NULL, c->pitch},    {"SHARED", NULL, c->shared},
        {"HELD", NULL, c->held},           {"THREADS", NULL, THREADS},
        {"BLOCKS", NULL, 1},
    };
    return rs_cuda_kernel_create(&launch->kernel, rs_cuda_engine_of(stage), "on_chip",
                                 rs_cuda_on_chip_kernel, defines,
                                 sizeof defines / sizeof defines[0], THREADS, c->shared_bytes);
}

restride_status rs_cuda_on_chip_prepare(rs_cuda_stage *stage, size_t scratch_limit)
{
    (void)scratch_limit;
    const rs_transpose_task *task = &stage->task;
    const rs_cuda_engine *engine = rs_cuda_engine_of(stage);
    size_t together = rs_cuda_on_chip_arrays(engine, task);
    cutting c;
    if (together == 0 || !make_cutting(&c, engine, task))
        return rs_fail(RESTRIDE_DEVICE_LIMIT,
                       "An array of %zu x %zu elements of %zu bytes does not fit on the chip of %s.",
                       task->rows, task->cols, task->unit, engine->name);
    rs_cuda_launch *launch = rs_cuda_add_launch(stage);
    launch->cooperative = true;
    size_t others;
    restride_status status = create_kernel(stage, launch, &c);
    if (status == RESTRIDE_OK)
        status = keep_axes(launch, engine, &c, &others);
    if (status != RESTRIDE_OK)
        return status;
    launch->grid = rs_size_smaller(engine->multiprocessors, together * c.tiles);
    const uint64_t arguments[] = {launch->table,
                                  launch->table + COUNTER_BYTES,
                                  others,
                                  c.out,
                                  c.in,
                                  c.out_extent,
                                  c.in_extent,
                                  task->outer,
                                  together,
                                  task->pitch / stage->word,
                                  c.tiles};
    for (size_t i = 0; i < sizeof arguments / sizeof arguments[0]; i++)
        rs_cuda_add_argument(launch, arguments[i]);
    snprintf(stage->shape, sizeof stage->shape,
             "%zu arrays at a time, %zu tiles of %zu x %zu; a block has %zu in shared memory, %zu "
             "in registers",
             together, c.tiles, c.rows, c.cols, c.shared, c.held);
    return RESTRIDE_OK;
}
