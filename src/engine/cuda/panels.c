/*
 * 010! by barrier synchronisation (kernels/panels.cu): how panels are cut into tiles, and how many
 * blocks hold one together.
 *
 * What one group of the kernels of all devices holds is theirs (engine/device/blocks.c). Larger
 * panels are cut into tiles of up to 64 x 64 elements; a gang of blocks, each with SLOTS tiles,
 * transposes one panel, as many gangs as fit are at work at once, and the largest panel fills all
 * multiprocessors. Elements of one and two bytes have tiles of up to 128 rows of 252 bytes. No
 * scratch memory; 128 bytes a gang for its counter.
 */
#include "base/arithmetic.h"
#include "engine/cuda/cuda.h"

#include <stdint.h>
#include <stdio.h>
#include <string.h>

extern const char rs_cuda_panels_kernel[];

enum {
    BLOCKS = 6, /* a multiprocessor: some fetch while others wait or store */
    THREADS = 256,
    RUN_BYTES = 256, /* a run of a tile's row or column */
    MOST_EDGE = 64,
    SECTOR_BYTES = 32,
    COUNTER_BYTES = 128, /* a gang; a line of its own */
    BANK_BYTES = 4,
    BANKS_BYTES = 128,
    PACK_BYTES = 16,
    LEAST_NARROW_BYTES = 16 << 10,
    NARROW_ROWS = 128,
    NARROW_RUN_BYTES = 252 /* which lie in 64 times four bytes, wherever they begin */
};

/* An odd number of elements does that for single words, and for elements of several words rows that
 * begin where the element before them ends. */
size_t rs_cuda_tile_pitch(size_t cols, size_t unit_words, size_t word)
{
    size_t pitch = cols * unit_words;
    if (word < BANK_BYTES) {
        size_t bank = BANK_BYTES / word;
        pitch = rs_size_divide_up(pitch, bank);
        return (pitch | 1) * bank;
    }
    if (unit_words == 1)
        return pitch | 1;
    size_t banks = BANKS_BYTES / word;
    while (pitch % banks != unit_words % banks)
        pitch++;
    return pitch;
}

typedef struct {
    size_t unit_words;
    size_t rows, cols; /* of a tile */
    size_t pitch;
    size_t bytes; /* in shared memory */
    bool packed;
} tile;

static tile make_tile(const rs_transpose_task *task, size_t rows, size_t cols)
{
    size_t word = rs_cuda_word(task);
    size_t unit_words = task->unit / word;
    size_t pitch = rs_cuda_tile_pitch(cols, unit_words, word);
    return (tile){unit_words, rows, cols, pitch, rows * pitch * word, false};
}

static restride_status create_kernel(rs_cuda_stage *stage, rs_cuda_launch *launch, const tile *t,
                                     size_t slots)
{
    const rs_cuda_define defines[] = {
        {"WORD_BYTES", NULL, stage->word}, {"SINGLE", NULL, t->unit_words == 1},
        {"PACKED", NULL, t->packed},       {"THREADS", NULL, THREADS},
        {"BLOCKS", NULL, BLOCKS},
    };
    return rs_cuda_kernel_create(&launch->kernel, rs_cuda_engine_of(stage), "panels",
                                 rs_cuda_panels_kernel, defines, sizeof defines / sizeof defines[0],
                                 THREADS, slots * t->bytes);
}

/* A side in parts of about equal size, at most `most`; parts begin at whole sectors where they can.
 */
size_t rs_cuda_divide_side(size_t side, size_t most, size_t unit)
{
    size_t part = rs_size_divide_up(side, rs_size_divide_up(side, most));
    size_t step = SECTOR_BYTES / unit < 1 ? 1 : SECTOR_BYTES / unit;
    return rs_size_smaller(rs_size_divide_up(part, 2 * step) * 2 * step, most < side ? most : side);
}

/* Elements of a pack (kernels/panels.cu), 0 where they move one by one: those of four bytes are
 * faster together only in panels that both ways are wider than a tile. */
static size_t words_of_pack(const rs_transpose_task *task)
{
    if (task->unit > BANK_BYTES || rs_cuda_word(task) != task->unit)
        return 0;
    if (task->unit < BANK_BYTES)
        return BANK_BYTES / task->unit;
    return rs_size_smaller(task->rows, task->cols) > MOST_EDGE ? PACK_BYTES / task->unit : 0;
}

bool rs_cuda_panels_are_narrow(const rs_transpose_task *task)
{
    return task->unit < BANK_BYTES && words_of_pack(task) != 0 &&
           task->rows * task->cols * task->unit >= LEAST_NARROW_BYTES;
}

/* With the rows of the next tile that the kernel asks for. A thread has a pack of a column at
 * least, of as many columns as a pack has words. */
static tile choose_packed_tile(const rs_transpose_task *task, size_t each)
{
    bool narrow = task->unit < BANK_BYTES;
    size_t most_rows = narrow ? NARROW_ROWS : RUN_BYTES / task->unit;
    size_t most_cols = (narrow ? NARROW_RUN_BYTES : RUN_BYTES) / task->unit;
    size_t room = (most_rows + each) * most_cols;
    size_t rows = rs_cuda_divide_side(task->rows, most_rows, task->unit);
    size_t cols = rs_cuda_divide_side(task->cols, room / (rows + each), task->unit);
    if (cols < most_cols) {
        size_t most = rs_size_smaller(room / cols - each, THREADS);
        rows = rs_cuda_divide_side(task->rows, most / each * each, task->unit);
    }
    rows = rs_size_divide_up(rows, each) * each;
    size_t pitch = (cols + 2 * each - 2) / each | 1;
    return (tile){1, rows, cols, pitch, (rows + each) * pitch * each * task->unit, true};
}

/* Where one side is shorter than a tile's, the other is longer. */
static tile choose_tile(const rs_transpose_task *task)
{
    size_t each = words_of_pack(task);
    if (each != 0)
        return choose_packed_tile(task, each);
    size_t edge = RUN_BYTES / task->unit;
    edge = edge < 1 ? 1 : rs_size_smaller(edge, MOST_EDGE);
    size_t rows = rs_cuda_divide_side(task->rows, edge, task->unit);
    size_t cols = rs_cuda_divide_side(task->cols, edge * edge / rows, task->unit);
    if (cols < edge)
        rows = rs_cuda_divide_side(task->rows, edge * edge / cols, task->unit);
    return make_tile(task, rows, cols);
}

/* How a panel lies in shared memory. */
typedef struct {
    tile tile;
    size_t tiles;   /* of a panel */
    size_t blocks;  /* a multiprocessor */
    size_t room;    /* blocks at once */
    size_t members; /* blocks that a gang has at least; SIZE_MAX: a tile is too large */
} cut;

static cut cut_panel(const rs_cuda_engine *engine, const rs_transpose_task *task)
{
    cut c = {.tile = choose_tile(task), .blocks = BLOCKS};
    size_t budget = engine->shared_bytes / BLOCKS - RS_CUDA_RESERVED_BYTES;
    if (c.tile.bytes > budget) {
        budget = engine->shared_bytes_a_block;
        c.blocks = 1;
    }
    size_t slots = budget / c.tile.bytes;
    c.tiles =
        rs_size_divide_up(task->rows, c.tile.rows) * rs_size_divide_up(task->cols, c.tile.cols);
    c.room = c.blocks * engine->multiprocessors;
    c.members = slots == 0 ? SIZE_MAX : rs_size_divide_up(c.tiles, slots);
    return c;
}

/* As many as there is room for, since while some wait others move, but not so many that in the last
 * round more than a few are idle. */
static size_t choose_gangs(size_t room, size_t panels)
{
    enum { IDLE_PARTS = 6 };
    size_t most = rs_size_smaller(room, panels);
    size_t best = most;
    size_t least = SIZE_MAX; /* panels that could be had in the time */
    for (size_t gangs = most; gangs >= 1 && gangs >= most / 2; gangs--) {
        size_t turns = rs_size_divide_up(panels, gangs) * gangs;
        if (turns < least - least / IDLE_PARTS) {
            best = gangs;
            least = turns;
        }
    }
    return best;
}

size_t rs_cuda_panels_gangs(const rs_cuda_engine *engine, const rs_transpose_task *task)
{
    const cut c = cut_panel(engine, task);
    return c.members <= c.room ? choose_gangs(c.room / c.members, task->outer * task->count) : 0;
}

restride_status rs_cuda_panels_prepare(rs_cuda_stage *stage, size_t scratch_limit)
{
    (void)scratch_limit;
    const rs_transpose_task *task = &stage->task;
    const rs_cuda_engine *engine = rs_cuda_engine_of(stage);
    const cut c = cut_panel(engine, task);
    if (c.members > c.room)
        return rs_fail(RESTRIDE_DEVICE_LIMIT,
                       "A panel of %zu x %zu elements of %zu bytes does not fit into the shared "
                       "memory of %s.",
                       task->rows, task->cols, task->unit, engine->name);
    size_t panels = task->outer * task->count;
    size_t gangs = choose_gangs(c.room / c.members, panels);
    size_t members = rs_size_smaller(c.room / gangs, c.tiles);
    size_t slots = rs_size_divide_up(c.tiles, members);
    rs_cuda_launch *launch = rs_cuda_add_launch(stage);
    launch->cooperative = members > 1;
    restride_status status = create_kernel(stage, launch, &c.tile, slots);
    if (status == RESTRIDE_OK && members > 1 && launch->kernel.resident < gangs * members)
        status = rs_fail(RESTRIDE_DEVICE_LIMIT, "%s has no room for %zu blocks at once.",
                         engine->name, gangs * members);
    if (status == RESTRIDE_OK)
        status = rs_cuda_keep(launch, rs_cuda_engine_of(stage), NULL, gangs * COUNTER_BYTES);
    if (status != RESTRIDE_OK)
        return status;
    launch->grid = gangs * members;
    const uint64_t arguments[] = {task->pitch / stage->word,
                                  task->count,
                                  panels,
                                  task->rows,
                                  task->cols,
                                  members,
                                  launch->table,
                                  c.tile.rows,
                                  c.tile.cols,
                                  c.tile.pitch,
                                  c.tile.unit_words,
                                  slots};
    rs_cuda_add_arguments(launch, arguments, sizeof arguments / sizeof arguments[0]);
    snprintf(stage->shape, sizeof stage->shape,
             "%zu gangs of %zu blocks, %zu tiles of %zu x %zu a block", gangs, members, slots,
             c.tile.rows, c.tile.cols);
    return RESTRIDE_OK;
}
