/*
 * A whole array on chip (kernels/on_chip.cu): how it is cut into tiles, and which of them stay in
 * shared memory and which in registers. One block a multiprocessor; a gang of blocks has an array
 * of a batch, and as many gangs are at work as there is room for.
 *
 * One pass over arrays of up to what all multiprocessors hold, about 54 MB on an H100. No scratch
 * memory; a counter a gang and some numbers of each axis are kept. It wins wherever an array would
 * need two passes otherwise.
 */
#include "base/arithmetic.h"
#include "engine/axes.h"
#include "engine/cuda/cuda.h"

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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
    MOST_VECTOR = 4,    /* elements */
    LEAST_CONSTANT = 4, /* bytes of an element */
    PAIR_CONSTANT = 8,  /* of one of two in a word */
    LEAST_VECTOR_BYTES = 4,
    LARGEST_WORD = 16,
    LARGEST_UNIT = 1024
};

typedef struct {
    rs_axes axes;
    size_t in;  /* last axes before the stage that are the columns of tiles together */
    size_t out; /* last axes afterwards that are the rows */
    size_t in_extent, out_extent;
    size_t rows, cols; /* of a tile */
    bool usual;        /* no side is too short for it */
    size_t unit;
    size_t vector; /* elements that are accessed together */
    size_t word, unit_words, pitch;
    size_t words_each; /* of a tile, that a thread has at most */
    size_t most_held;  /* tiles of a block in registers */
    size_t shared;     /* in shared memory */
    size_t held;       /* in registers, here */
    size_t tiles;      /* of an array */
    size_t shared_bytes;
    size_t members; /* blocks of a gang */
    size_t gangs;
    size_t each; /* arrays that a gang has at a time */
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

/* Of whole numbers of which both sides are made, and every matrix begins at one. */
static size_t choose_vector(const cutting *c, const rs_transpose_task *task, size_t most)
{
    size_t vector = most;
    size_t apart = task->offset | (task->outer > 1 && task->pitch > 0 ? task->pitch : 0) |
                   (task->repeats > 1 ? task->repeat_pitch : 0);
    bool is_word = (task->unit & (task->unit - 1)) == 0;
    while (vector > 1 &&
           (!is_word || vector * task->unit > LARGEST_WORD || c->in_extent % vector != 0 ||
            c->out_extent % vector != 0 || apart % (vector * task->unit) != 0))
        vector /= 2;
    return vector * task->unit < LEAST_VECTOR_BYTES ? 1 : vector;
}

/* Tiles of about TILE_BYTES, with long rows or long columns, or as long as a short side has. */
static void shape_tile(cutting *c, bool long_rows)
{
    size_t elements = TILE_BYTES / c->unit;
    size_t edge = EDGE_STEP;
    while (4 * edge * edge <= elements)
        edge *= 2;
    size_t other = elements / edge / EDGE_STEP * EDGE_STEP;
    c->rows = long_rows ? edge : other;
    c->cols = long_rows ? other : edge;
    c->usual = c->in_extent >= c->cols && c->out_extent >= c->rows;
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

static bool is_better(const cutting *a, const cutting *b)
{
    return a->vector > b->vector || (a->vector == b->vector && a->tiles < b->tiles);
}

static void try_tiles(const cutting *tried, const rs_transpose_task *task, size_t most,
                      cutting *best)
{
    cutting c = *tried;
    c.vector = choose_vector(&c, task, most);
    for (int i = 0; i < 2; i++) {
        shape_tile(&c, i == 0);
        if (is_better(&c, best))
            *best = c;
    }
}

/* Of all ways to take axes together the one with the longest vectors and the fewest tiles. */
static void combine_axes(cutting *c, const rs_transpose_task *task, size_t most)
{
    cutting best = *c;
    best.vector = 0;
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
            try_tiles(c, task, most, &best);
        }
    }
    *c = best;
}

/* Words of a row change places with up to as many as there are banks. */
static size_t find_pitch(const cutting *c)
{
    size_t banks = 1;
    while (banks < c->cols / c->vector)
        banks *= 2;
    return banks;
}

/* False when the array is too large for that. */
static bool share_chip(cutting *c, const rs_cuda_engine *engine, const rs_transpose_task *task)
{
    c->word = c->vector > 1 ? c->vector * c->unit : rs_cuda_word(task);
    c->unit_words = c->vector > 1 ? 1 : c->unit / c->word;
    c->pitch = c->vector > 1 ? find_pitch(c) : rs_cuda_tile_pitch(c->cols, c->unit_words, c->word);
    size_t words = c->rows * (c->cols / c->vector) * c->unit_words;
    c->words_each = TILE_BYTES / THREADS / c->word;
    size_t registers = c->words_each * rs_size_divide_up(c->word, REGISTER_BYTES);
    size_t room = rs_size_smaller(engine->shared_bytes_a_block, UINT32_MAX / TILE_BYTES) -
                  COUNTER_BYTES; /* words of all tiles times those of one have 32 bits */
    size_t numbers = (TILE_NUMBERS + c->rows + c->cols) * sizeof(uint32_t);
    size_t slot = c->rows * c->pitch * c->word;
    c->most_held = (c->unit_words == 1 ? HELD_REGISTERS : HELD_FEWER) / registers;
    c->held = c->most_held;
    while (c->held > 0 && c->held * (slot + 2 * numbers) > room)
        c->held--;
    size_t left = room - rs_size_smaller(room, c->held * numbers);
    c->shared = left / (slot + numbers);
    c->shared_bytes =
        rs_size_divide_up((c->shared + c->held) * numbers, 16) * 16 + c->shared * slot;
    return words <= c->words_each * THREADS && c->held > 0 && c->shared >= c->held &&
           c->tiles <= engine->multiprocessors * (c->shared + c->held);
}

/* False when the array does not suit. */
static bool make_cutting(cutting *c, const rs_cuda_engine *engine, const rs_transpose_task *task)
{
    size_t bytes =
        rs_size_multiply_capped(rs_size_multiply_capped(task->rows, task->cols), task->unit);
    size_t most = engine->multiprocessors *
                  (engine->shared_bytes_a_block + THREADS * HELD_REGISTERS * REGISTER_BYTES);
    *c = (cutting){.unit = task->unit};
    if (task->unit > LARGEST_UNIT || bytes > most || task->count != 1 ||
        !rs_axes_of(&c->axes, task) || c->axes.elements * task->unit != bytes)
        return false;
    const cutting whole = *c;
    bool fits = false;
    for (size_t vector = MOST_VECTOR; !fits && vector > 0; vector /= 2) {
        *c = whole;
        combine_axes(c, task, vector);
        fits = c->tiles != SIZE_MAX && share_chip(c, engine, task);
    }
    return fits;
}

/* As few blocks a gang as hold an array, and then as many as are left over. */
static void form_gangs(cutting *c, const rs_cuda_engine *engine, const rs_transpose_task *task)
{
    size_t room = c->shared + c->held;
    size_t least = rs_size_divide_up(c->tiles, room);
    c->gangs = rs_size_smaller(engine->multiprocessors / least, task->outer);
    c->members = rs_size_smaller(engine->multiprocessors / c->gangs, c->tiles);
    size_t share = rs_size_divide_up(task->outer, c->gangs);
    c->each = rs_size_smaller(rs_size_larger(room * c->members / c->tiles, 1), share);
    /* Words of all that a gang has at a time are numbered with 32 bits. */
    size_t numbered =
        task->outer > 1 && task->pitch > 0 ? UINT32_MAX / 2 / task->pitch * c->word : c->each;
    c->each = rs_size_smaller(c->each, rs_size_larger(numbered, 1));
}

size_t rs_cuda_on_chip_arrays(const rs_cuda_engine *engine, const rs_transpose_task *task,
                              size_t *word)
{
    cutting c;
    if (!make_cutting(&c, engine, task))
        return 0;
    form_gangs(&c, engine, task);
    *word = c.word;
    return c.gangs * c.each;
}

/* An axis as the kernel wants it. */
static uint32_t *put_axis(uint32_t *to, const cutting *c, size_t axis)
{
    *to++ = (uint32_t)c->axes.extents[axis];
    *to++ = (uint32_t)(c->axes.from[axis] * c->unit_words / c->vector);
    *to++ = (uint32_t)(c->axes.to[axis] * c->unit_words / c->vector);
    return to;
}

/* The others, those that are rows and those that are columns; of each kind the fastest first. */
static restride_status keep_axes(rs_cuda_launch *launch, const rs_cuda_engine *engine,
                                 const cutting *c, size_t *others)
{
    const rs_axes *axes = &c->axes;
    uint32_t table[RS_AXES_MOST * AXIS_NUMBERS] = {0};
    uint32_t *to = table;
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
    size_t counters = c->gangs * COUNTER_BYTES;
    unsigned char *all = calloc(1, counters + sizeof table);
    if (all == NULL)
        return rs_fail_memory("the axes of a stage");
    memcpy(all + counters, table, sizeof table);
    restride_status status = rs_cuda_keep(launch, engine, all, counters + sizeof table);
    free(all);
    return status;
}

static restride_status create_kernel(rs_cuda_stage *stage, rs_cuda_launch *launch, const cutting *c)
{
    const rs_cuda_define defines[] = {
        {"WORD_BYTES", NULL, c->word},
        {"VECTOR", NULL, c->vector},
        {"SINGLE", NULL, c->unit_words == 1},
        {"WORDS_EACH", NULL, c->words_each},
        {"HELD", NULL, c->most_held},
        {"THREADS", NULL, THREADS},
        {"BLOCKS", NULL, 1},
        {"TILE_ROWS", NULL, c->rows},
        {"TILE_COLS", NULL, c->cols},
        {"TILE_PITCH", NULL, c->pitch},
    };
    /* Constants make what has little to load at once up to 20 % faster. */
    const bool pays = c->vector == 1 ? c->unit >= LEAST_CONSTANT : c->unit == PAIR_CONSTANT;
    const bool constant = c->usual && c->unit_words == 1 && pays;
    const size_t constants = 3;
    size_t count = sizeof defines / sizeof defines[0] - (constant ? 0 : constants);
    return rs_cuda_kernel_create(&launch->kernel, rs_cuda_engine_of(stage), "on_chip",
                                 rs_cuda_on_chip_kernel, defines, count, THREADS, c->shared_bytes);
}

/* The divisor and ceil(2^32 / divisor), as the kernel wants them. */
static uint64_t with_magic(size_t divisor)
{
    return (uint64_t)(uint32_t)(UINT32_MAX / divisor + 1) << 32 | divisor;
}

restride_status rs_cuda_on_chip_prepare(rs_cuda_stage *stage, size_t scratch_limit)
{
    (void)scratch_limit;
    const rs_transpose_task *task = &stage->task;
    const rs_cuda_engine *engine = rs_cuda_engine_of(stage);
    cutting c;
    if (!make_cutting(&c, engine, task))
        return rs_fail(
            RESTRIDE_DEVICE_LIMIT,
            "An array of %zu x %zu elements of %zu bytes does not fit on the chip of %s.",
            task->rows, task->cols, task->unit, engine->name);
    form_gangs(&c, engine, task);
    stage->word = c.word;
    rs_cuda_launch *launch = rs_cuda_add_launch(stage);
    launch->cooperative = true;
    size_t others;
    restride_status status = create_kernel(stage, launch, &c);
    if (status == RESTRIDE_OK)
        status = keep_axes(launch, engine, &c, &others);
    if (status != RESTRIDE_OK)
        return status;
    launch->grid = c.gangs * c.members;
    size_t row_words = c.cols / c.vector * c.unit_words;
    size_t column_words = c.rows / c.vector * c.unit_words;
    size_t items = c.vector > 1 ? column_words * row_words : c.rows * row_words;
    const uint64_t arguments[] = {launch->table,
                                  launch->table + c.gangs * COUNTER_BYTES,
                                  others,
                                  c.out,
                                  c.in,
                                  c.out_extent,
                                  c.in_extent,
                                  task->outer,
                                  c.each,
                                  task->pitch / stage->word,
                                  c.tiles,
                                  c.members,
                                  c.shared,
                                  c.shared + c.held,
                                  c.rows,
                                  c.cols,
                                  with_magic(row_words),
                                  with_magic(column_words),
                                  with_magic(c.unit_words),
                                  with_magic(items),
                                  with_magic(c.rows + c.cols),
                                  c.pitch};
    rs_cuda_add_arguments(launch, arguments, sizeof arguments / sizeof arguments[0]);
    snprintf(
        stage->shape, sizeof stage->shape,
        "%zu gangs of %zu blocks, %zu arrays each, %zu tiles of %zu x %zu; a block has %zu and %zu",
        c.gangs, c.members, c.each, c.tiles, c.rows, c.cols, c.shared, c.held);
    return RESTRIDE_OK;
}
