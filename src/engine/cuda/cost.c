/*
 * What the stages cost on a GPU: passes at the speed of a copy, fitted to measurements on one H100
 * (lab/docs/performance.md). Stages that the engine does not have, and sizes for which a stage
 * would be refused, cost infinitely much.
 */
#include "base/arithmetic.h"
#include "engine/cuda/cuda.h"

#include <math.h>

enum {
    LINE_BYTES = 128,
    LARGEST_SQUARE_UNIT = 1024,
    LARGEST_PANEL_UNIT = 16384,
    TILE_RUN_BYTES = 256,
    SINGLE_WORD_BYTES = 4,
    LAUNCH_BYTES = 10 << 20,
    MEETING_BYTES = 4 << 20,
    CACHED_BYTES = 40 << 20
};

static const double packed_cost = 0.2;

/* Rows, or elements, that do not begin at lines. */
static double misaligned(size_t bytes, double cost)
{
    return bytes % LINE_BYTES != 0 ? cost : 0;
}

/* Accesses of one and two bytes keep the load and store units busy longer than the memory. */
static double narrow_words(const rs_transpose_task *task, double cost)
{
    size_t word = rs_cuda_word(task);
    return word == 1 ? cost : word == 2 ? cost / 3 : 0;
}

/* Of panels wider than a tile the short side has several tiles, the last of them not full. */
static double tiles_waste(const rs_transpose_task *task)
{
    size_t side = task->rows < task->cols ? task->rows : task->cols;
    size_t most = TILE_RUN_BYTES / task->unit > 1 ? TILE_RUN_BYTES / task->unit : 1;
    if (side <= most)
        return 0;
    size_t part = rs_cuda_divide_side(side, most, task->unit);
    size_t tiles = (side - 1) / part + 1;
    return 0.3 * ((double)(tiles * part) / (double)side - 1);
}

static double panels_cost(const rs_cuda_engine *engine, const rs_transpose_task *task,
                          size_t scratch_limit)
{
    (void)scratch_limit;
    size_t chip = engine->common.base.operations->traits(&engine->common.base).chip_bytes;
    size_t block = task->rows * task->cols * task->unit;
    if (block > chip || task->unit > LARGEST_PANEL_UNIT)
        return INFINITY;
    bool is_narrow = rs_cuda_word(task) < SINGLE_WORD_BYTES;
    bool is_whole = block <= engine->common.local_bytes && !rs_cuda_panels_are_narrow(task);
    if (is_whole || rs_cuda_slim_suits(engine, task))
        return 1 + narrow_words(task, 1.2);
    size_t gangs = rs_cuda_panels_gangs(engine, task);
    if (gangs == 0)
        return INFINITY;
    if (task->unit >= LINE_BYTES) /* tiles of a few elements a side */
        return 5;
    /* With few gangs at once there is less to do while one waits at its gate. */
    bool is_single = task->unit == rs_cuda_word(task);
    double words = is_narrow ? (is_single ? 0.7 : 3) : is_single ? 0 : 0.5;
    size_t column = task->rows * task->unit;
    words += column % SINGLE_WORD_BYTES != 0 ? 30 / (double)column : 0;
    bool is_cached = task->outer == 1 && block < CACHED_BYTES;
    return (is_cached ? 0.7 : 1.2) + 0.55 / (double)gangs + words + tiles_waste(task) +
           misaligned(task->cols * task->unit, 0.12) + misaligned(task->rows * task->unit, 0.12);
}

/* Elements that do not begin at lines touch one more, and narrow accesses take more of them. There
 * are few long ones, and the longest chain holds up the rest. */
static double chains_cost(const rs_cuda_engine *engine, const rs_transpose_task *task,
                          size_t scratch_limit)
{
    (void)engine;
    if (rs_cuda_walks_on_device(task))
        return rs_reverse_cost(task, scratch_limit);
    double unit = (double)task->unit;
    double word = (double)rs_cuda_word(task);
    double few = 0.05 * fmax(log2(unit / 512), 0);
    return 1.08 + 95 / unit + few + misaligned(task->unit, 0.2 + 32 / unit) +
           (word < 16 ? 1 / word : 0);
}

static double square_cost(const rs_cuda_engine *engine, const rs_transpose_task *task,
                          size_t scratch_limit)
{
    (void)engine;
    (void)scratch_limit;
    if (task->unit > LARGEST_SQUARE_UNIT)
        return INFINITY;
    double narrow = rs_cuda_is_packed(task) ? packed_cost : narrow_words(task, 2);
    double whole = task->unit > SINGLE_WORD_BYTES ? 1.06 : 1.12;
    return whole + misaligned(task->cols * task->unit, 0.22) + narrow;
}

/* What is kept aside moves twice more: lines element by element, and columns in runs of a
 * super-element, one after the other by a block. */
static double aside_cost(const rs_transpose_task *task)
{
    enum { RUN_BYTES_OF_A_PASS = 1600 };
    size_t longer = rs_size_larger(task->rows, task->cols);
    size_t shorter = rs_size_smaller(task->rows, task->cols);
    size_t side = rs_size_smaller(longer / task->tile, shorter);
    double lines = (double)(longer - side * task->tile) / (double)longer;
    double columns = (double)(shorter - side) / (double)shorter;
    double run = (double)(task->tile * task->unit);
    return RS_ASIDE_PASSES * lines + RUN_BYTES_OF_A_PASS / run * columns;
}

/* The panels wait for each other, and rows of the square are seldom whole lines. */
static double groups_cost(const rs_cuda_engine *engine, const rs_transpose_task *task,
                          size_t scratch_limit)
{
    if (rs_cuda_groups_bytes(engine, task) > scratch_limit)
        return INFINITY;
    double bytes = (double)task->rows * (double)task->cols * (double)task->unit;
    size_t longer = rs_size_larger(task->rows, task->cols);
    return 1.2 + 1.06 + misaligned(longer * task->unit, 0.22) + 2 * LAUNCH_BYTES / bytes +
           narrow_words(task, 4) + aside_cost(task);
}

/* All blocks meet at gates for each matrix, and what a short row asks for is asked for each. */
static double tails_cost(const rs_cuda_engine *engine, const rs_transpose_task *task,
                         size_t scratch_limit)
{
    (void)engine;
    if (task->rows * task->tail * task->unit > scratch_limit)
        return INFINITY;
    double row = (double)task->cols * (double)task->unit;
    double tails = (double)task->tail / (double)(task->cols + task->tail);
    return 1.25 + RS_ASIDE_PASSES * tails + 8 / row + LAUNCH_BYTES / ((double)task->rows * row);
}

/* A block has a row; of short rows the blocks wait longer than they move. */
static double rows_cost(const rs_cuda_engine *engine, const rs_transpose_task *task,
                        size_t scratch_limit)
{
    (void)scratch_limit;
    size_t row = rs_cuda_rows_bytes(task);
    if (row > engine->shared_bytes_a_block || task->rows > INT32_MAX)
        return INFINITY;
    return (row > engine->shared_bytes / 2 ? 1.25 : 1.1) + 3000 / (double)row +
           narrow_words(task, 4);
}

static double columns_cost(const rs_cuda_engine *engine, const rs_transpose_task *task,
                           size_t scratch_limit)
{
    (void)scratch_limit;
    size_t width = rs_cuda_columns_width(engine, task);
    if (width == 0)
        return INFINITY;
    bool is_r2c = task->method == RS_TRANSPOSE_R2C_COLUMNS;
    bool is_short = width * task->unit < LINE_BYTES;
    double words = rs_cuda_word(task) == SINGLE_WORD_BYTES ? 0.25 : 0; /* on an H200 0.5 */
    return (is_short ? 2.2 : is_r2c ? 1.6 : 1.65) + words + narrow_words(task, 8);
}

/*
 * An array that is on chip as a whole is mostly in the second-level cache as well. Of a batch whose
 * arrays need most of the chip none is written while one is read. Lines of tiles that do not begin
 * at sectors share them, and short words keep the load and store units busy.
 */
static double on_chip_cost(const rs_cuda_engine *engine, const rs_transpose_task *task,
                           size_t scratch_limit)
{
    (void)scratch_limit;
    size_t word;
    size_t together = rs_cuda_on_chip_arrays(engine, task, &word);
    if (together == 0)
        return INFINITY;
    bool is_apart = together >= engine->multiprocessors; /* no block waits for another */
    double bytes =
        (double)task->outer * (double)task->rows * (double)task->cols * (double)task->unit;
    double cost = together >= task->outer ? 0.9 : is_apart ? 1.2 : together > 1 ? 1.4 : 1.6;
    cost += together >= task->outer && task->piece_count > 2 ? 0.25 : 0; /* shorter rows */
    cost -= bytes < CACHED_BYTES ? 0.25 : 0;
    cost += misaligned(task->rows * task->unit, 0.06) + misaligned(task->cols * task->unit, 0.06) +
            (word < SINGLE_WORD_BYTES ? 24 : 8) / (double)(word * word) + MEETING_BYTES / bytes;
    return cost < RS_CUDA_LEAST_COST ? RS_CUDA_LEAST_COST : cost;
}

/* ---- the stages of all devices ---- */

/* A group has a tile, so small ones leave less under way. */
static double tiles_cost(const rs_cuda_engine *engine, const rs_transpose_task *task,
                         size_t scratch_limit)
{
    (void)scratch_limit;
    size_t row = task->tile * task->unit;
    if (row == 0 || task->tile > engine->common.local_bytes / row)
        return INFINITY;
    double full = (double)(task->tile * row) / (double)engine->common.local_bytes;
    double narrow = rs_cuda_is_packed(task) ? packed_cost : narrow_words(task, 2);
    return 0.94 + 16 / (double)row + 1000 / (double)(task->tile * row) + misaligned(row, 0.1) +
           0.14 * full + narrow;
}

/* Swaps: two passes, when a part slides or changes places with another. */
static double reorder_cost(const rs_cuda_engine *engine, const rs_transpose_task *task,
                           size_t scratch_limit)
{
    enum { PART_BYTES = 48, MOST_LEVELS = 16 };
    (void)engine;
    return task->piece_count * MOST_LEVELS * PART_BYTES <= scratch_limit ? 2 : INFINITY;
}

static double fused_cost(const rs_cuda_engine *engine, const rs_transpose_task *task,
                         size_t scratch_limit)
{
    size_t tile = task->inner_rows * (task->inner_cols + 1) * task->unit;
    if (2 * tile > engine->common.local_bytes)
        return INFINITY;
    return rs_reverse_cost(task, scratch_limit) + 0.15 + rs_fused_wait(task, scratch_limit) +
           narrow_words(task, 30);
}

double rs_cuda_cost(const restride_engine *base, const rs_transpose_task *task,
                    size_t scratch_limit)
{
    static double (*const costs[RS_TRANSPOSE_METHOD_COUNT])(const rs_cuda_engine *,
                                                            const rs_transpose_task *, size_t) = {
        [RS_TRANSPOSE_PANELS] = panels_cost,       [RS_TRANSPOSE_CHAINS] = chains_cost,
        [RS_TRANSPOSE_SQUARE] = square_cost,       [RS_TRANSPOSE_GROUPS] = groups_cost,
        [RS_TRANSPOSE_JOIN] = tails_cost,          [RS_TRANSPOSE_SPLIT] = tails_cost,
        [RS_TRANSPOSE_C2R_ROTATE] = columns_cost,  [RS_TRANSPOSE_C2R_ROWS] = rows_cost,
        [RS_TRANSPOSE_C2R_COLUMNS] = columns_cost, [RS_TRANSPOSE_R2C_COLUMNS] = columns_cost,
        [RS_TRANSPOSE_R2C_ROWS] = rows_cost,       [RS_TRANSPOSE_R2C_ROTATE] = columns_cost,
        [RS_TRANSPOSE_ON_CHIP] = on_chip_cost,     [RS_TRANSPOSE_TILES] = tiles_cost,
        [RS_TRANSPOSE_REORDER] = reorder_cost,     [RS_TRANSPOSE_FUSED] = fused_cost,
    };
    const rs_cuda_engine *engine = (const rs_cuda_engine *)base;
    return costs[task->method] != NULL ? costs[task->method](engine, task, scratch_limit)
                                       : rs_shared_cost(task, engine->common.local_bytes,
                                                        engine->common.box_bytes, scratch_limit);
}
