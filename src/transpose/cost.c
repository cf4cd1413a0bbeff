/*
 * The cost model of the stages (Sung thesis, section 4.8.4): each is one pass over the memory,
 * weighted by the lines that it touches, by whether its block fits on chip and by how many workers
 * have room. The weights were fitted to measurements (docs/performance.md).
 */
#include "transpose/cost.h"

enum {
    LARGEST_SQUARE_UNIT = 256,
    SQUARE_RUN_BYTES = 256,
    LEAST_EDGE = 4,
    COPY_TILE_BYTES = 64 << 10,
    LINE_BYTES = 64 /* what an engine may round the parts of its scratch memory up to */
};

/* The marks of the cycles take two bits a super-element while the plan is made. */
static bool marks_fit(size_t elements, size_t scratch_limit)
{
    return elements / 4 <= scratch_limit / 2;
}

/* Super-elements that do not begin at a line touch one more, and each is a jump. */
static double moves_cost(size_t element_bytes, const rs_engine_traits *traits)
{
    double line = (double)traits->line_bytes;
    double lines = (double)((element_bytes - 1) / traits->line_bytes + 1);
    if (element_bytes % traits->line_bytes != 0)
        lines += 1.25;
    return lines * line / (double)element_bytes + 1.5 * line / (double)element_bytes;
}

static double chains_cost(const rs_transpose_task *task, const rs_engine_traits *traits,
                          size_t scratch_limit)
{
    if (!marks_fit(task->rows * task->cols, scratch_limit))
        return RS_COST_IMPOSSIBLE;
    return moves_cost(task->unit, traits);
}

static size_t inner_bytes(const rs_transpose_task *task)
{
    return task->inner_rows * task->inner_cols * task->unit;
}

/* Matrices beyond the chip are read from memory line by line. */
static double fused_cost(const rs_transpose_task *task, const rs_engine_traits *traits,
                         size_t scratch_limit)
{
    size_t bytes = inner_bytes(task);
    if (!marks_fit(task->rows * task->cols, scratch_limit) || 2 * bytes > scratch_limit)
        return RS_COST_IMPOSSIBLE;
    double cost = moves_cost(bytes, traits) + 0.2;
    return bytes > traits->chip_bytes ? cost + 1 : cost;
}

/* Blocks beyond the chip go through memory twice; without room for all workers some are idle. */
static double panels_cost(const rs_transpose_task *task, const rs_engine_traits *traits,
                          size_t scratch_limit)
{
    size_t block_bytes = task->rows * task->cols * task->unit;
    if (block_bytes > scratch_limit)
        return RS_COST_IMPOSSIBLE;
    double cost = 1;
    if (block_bytes > 2 * traits->chip_bytes)
        cost = 2;
    else if (block_bytes > traits->chip_bytes)
        cost = 1.55;
    size_t blocks = task->outer * task->count;
    size_t active = scratch_limit / block_bytes;
    active = active < blocks ? active : blocks;
    return active < traits->workers ? cost * (double)traits->workers / (double)active : cost;
}

/* Mirror tiles have rows of a few lines: far shorter than the runs that storage wants. */
static double square_cost(const rs_transpose_task *task, const rs_engine_traits *traits,
                          size_t scratch_limit)
{
    (void)scratch_limit;
    if (task->unit > LARGEST_SQUARE_UNIT)
        return RS_COST_IMPOSSIBLE;
    double runs = (double)traits->line_bytes / SQUARE_RUN_BYTES;
    return 1.1 * (runs > 1 ? runs : 1);
}

/* The tails are kept once together and once more by each worker. */
static double tails_cost(const rs_transpose_task *task, const rs_engine_traits *traits,
                         size_t scratch_limit)
{
    (void)traits;
    return 2 * task->rows * task->tail * task->unit > scratch_limit ? RS_COST_IMPOSSIBLE : 1.2;
}

/* Out to the scratch memory, and back as a plain copy; within the chip the threads wait for each
 * other more than they move. */
static double copy_cost(const rs_transpose_task *task, const rs_engine_traits *traits,
                        size_t scratch_limit)
{
    size_t bytes = task->rows * task->cols * task->unit;
    if (bytes + traits->workers * COPY_TILE_BYTES > scratch_limit)
        return RS_COST_IMPOSSIBLE;
    return bytes > traits->chip_bytes ? 2.2 : 1.1;
}

/* Never the cheapest: one element moves at a time, and each step waits for the one before it. */
static double pipt_cost(const rs_transpose_task *task, const rs_engine_traits *traits,
                        size_t scratch_limit)
{
    (void)task;
    (void)scratch_limit;
    return 40.0 * (double)traits->workers;
}

static double pttwac_cost(const rs_transpose_task *task, const rs_engine_traits *traits,
                          size_t scratch_limit)
{
    (void)task;
    (void)traits;
    (void)scratch_limit;
    return 40;
}

/* What changes places beyond the scratch memory rotates by swaps, several times over. */
static double reorder_cost(const rs_transpose_task *task, const rs_engine_traits *traits,
                           size_t scratch_limit)
{
    (void)task;
    (void)traits;
    (void)scratch_limit;
    return 1.5;
}

/* ---- the least scratch memory ---- */

static size_t marks_kept(const rs_transpose_task *task)
{
    return task->rows * task->cols / 8 + LINE_BYTES;
}

static size_t nothing_kept(const rs_transpose_task *task)
{
    (void)task;
    return 0;
}

static size_t panels_least(const rs_transpose_task *task)
{
    return task->rows * task->cols * task->unit + LINE_BYTES;
}

/* For as long as the cycles are looked for. */
static size_t chains_least(const rs_transpose_task *task)
{
    return task->rows * task->cols / 2 + LINE_BYTES;
}

static size_t square_least(const rs_transpose_task *task)
{
    size_t edge = SQUARE_RUN_BYTES / task->unit;
    edge = edge < LEAST_EDGE ? LEAST_EDGE : edge;
    return edge * edge * task->unit + LINE_BYTES;
}

static size_t tails_least(const rs_transpose_task *task)
{
    return 2 * (task->rows * task->tail * task->unit + LINE_BYTES);
}

static size_t copy_least(const rs_transpose_task *task)
{
    return panels_least(task) + COPY_TILE_BYTES;
}

static size_t fused_least(const rs_transpose_task *task)
{
    size_t moving = 2 * inner_bytes(task) + 2 * LINE_BYTES;
    size_t planning = chains_least(task);
    return moving > planning ? moving : planning;
}

/* A list of the parts. */
static size_t reorder_least(const rs_transpose_task *task)
{
    return task->piece_count * LINE_BYTES;
}

/* A cycle with one element in hand. */
static size_t pipt_least(const rs_transpose_task *task)
{
    return task->unit + LINE_BYTES;
}

/* A flag an element of all matrices, and two elements a worker; one worker at least. */
static size_t pttwac_least(const rs_transpose_task *task)
{
    return task->outer * task->rows * task->cols / 8 + 2 * (LINE_BYTES + task->unit);
}

/* ---- all stages ---- */

static const struct {
    double (*cost)(const rs_transpose_task *task, const rs_engine_traits *traits,
                   size_t scratch_limit);
    size_t (*least)(const rs_transpose_task *task);
    size_t (*kept)(const rs_transpose_task *task);
} stages[RS_TRANSPOSE_METHOD_COUNT] = {
    [RS_TRANSPOSE_PANELS] = {panels_cost, panels_least, nothing_kept},
    [RS_TRANSPOSE_CHAINS] = {chains_cost, chains_least, marks_kept},
    [RS_TRANSPOSE_SQUARE] = {square_cost, square_least, nothing_kept},
    [RS_TRANSPOSE_JOIN] = {tails_cost, tails_least, nothing_kept},
    [RS_TRANSPOSE_SPLIT] = {tails_cost, tails_least, nothing_kept},
    [RS_TRANSPOSE_COPY] = {copy_cost, copy_least, nothing_kept},
    [RS_TRANSPOSE_FUSED] = {fused_cost, fused_least, marks_kept},
    [RS_TRANSPOSE_UNZIP] = {panels_cost, panels_least, nothing_kept},
    [RS_TRANSPOSE_ZIP] = {panels_cost, panels_least, nothing_kept},
    [RS_TRANSPOSE_REORDER] = {reorder_cost, reorder_least, nothing_kept},
    [RS_TRANSPOSE_PIPT] = {pipt_cost, pipt_least, nothing_kept},
    [RS_TRANSPOSE_PTTWAC] = {pttwac_cost, pttwac_least, nothing_kept},
};

double rs_cost_of_transpose(const rs_transpose_task *task, const rs_engine_traits *traits,
                            size_t scratch_limit)
{
    if (stages[task->method].least(task) > scratch_limit)
        return RS_COST_IMPOSSIBLE;
    return stages[task->method].cost(task, traits, scratch_limit);
}

size_t rs_cost_least_scratch(const rs_transpose_task *task)
{
    return stages[task->method].least(task);
}

size_t rs_cost_kept(const rs_transpose_task *task)
{
    return stages[task->method].kept(task);
}
