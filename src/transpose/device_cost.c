/* See device_cost.h. */
#include "transpose/device_cost.h"

#include "base/arithmetic.h"

enum {
    LARGEST_SQUARE_UNIT = 256,
    REGISTER_BYTES = 160, /* of a row, in each of MOST_ITEMS work-items */
    REGISTER_VALUES = 64,
    MOST_ITEMS = 1024,
    MOST_BYTES_OF_A_ROW = 32 << 10, /* that are shuffled one by one without taking far longer */
    PART_BYTES = 48,                /* of a part's entries */
    SIZE_WIDTH_BITS = 63,
    LAUNCH_BYTES = 6 << 20
};

/* The weights were fitted to measurements on one GPU (lab/docs/performance.md). */

/* Runs that are no whole lines cost most of a line more. */
static double runs_cost(size_t run_bytes, const rs_engine_traits *traits)
{
    double line = (double)traits->line_bytes;
    double cost = 1.2 + 0.1 * line / (double)run_bytes;
    if (run_bytes % traits->line_bytes != 0)
        cost += 0.2 + 0.5 * line / (double)run_bytes;
    return cost;
}

/* Elements that move one by one take longer than the memory when they are short. */
static double short_elements(size_t unit)
{
    return unit == 1 ? 1 : unit == 2 ? 0.4 : 0;
}

static double panels_cost(const rs_transpose_task *task, const rs_engine_traits *traits,
                          size_t scratch_limit)
{
    (void)scratch_limit;
    double block = (double)(task->rows * task->cols * task->unit);
    double chip = (double)traits->chip_bytes;
    if (block > chip)
        return RS_COST_IMPOSSIBLE;
    return 1.03 + 0.25 * block / chip + 0.6 * short_elements(task->unit);
}

static double chains_cost(const rs_transpose_task *task, const rs_engine_traits *traits,
                          size_t scratch_limit)
{
    (void)traits;
    return rs_reverse_cost(task, scratch_limit);
}

static double square_cost(const rs_transpose_task *task, const rs_engine_traits *traits,
                          size_t scratch_limit)
{
    (void)scratch_limit;
    if (task->unit > LARGEST_SQUARE_UNIT)
        return RS_COST_IMPOSSIBLE;
    return task->cols * task->unit % traits->line_bytes == 0 ? 1.1 : 1.34;
}

static double tiles_cost(const rs_transpose_task *task, const rs_engine_traits *traits,
                         size_t scratch_limit)
{
    (void)scratch_limit;
    double bytes = (double)(task->tile * task->tile * task->unit);
    double chip = (double)traits->chip_bytes;
    if (bytes > chip)
        return RS_COST_IMPOSSIBLE;
    bool aligned = task->tile * task->unit % traits->line_bytes == 0;
    /* A group has a tile, so small ones leave less under way. */
    return (aligned ? 1.02 : 1.08) + 1000 / bytes + 0.15 * bytes / chip;
}

static double rows_cost(const rs_transpose_task *task, const rs_engine_traits *traits,
                        size_t scratch_limit)
{
    (void)scratch_limit;
    size_t values = REGISTER_BYTES / task->unit;
    values = values < REGISTER_VALUES ? values : REGISTER_VALUES;
    if (!rs_device_is_word(task->unit) || task->cols > values * MOST_ITEMS)
        return RS_COST_IMPOSSIBLE;
    double cost = task->cols * task->unit <= traits->chip_bytes ? 1.05 : 1.25;
    if (task->unit == 1 && task->cols > MOST_BYTES_OF_A_ROW)
        cost += 16; /* 124 GB/s in all with rows of 46351, where 10007 make 409 */
    return cost + short_elements(task->unit);
}

static double rotation_cost(const rs_transpose_task *task, const rs_engine_traits *traits,
                            size_t scratch_limit)
{
    size_t window = (task->tile + RS_DEVICE_LEAST_PANEL) * (task->tile + 1) * task->unit;
    bool fits = task->tile * (task->tile - 1) / 2 * task->unit * task->outer <= scratch_limit;
    if (!fits || window > traits->chip_bytes || task->rows < task->tile)
        return RS_COST_IMPOSSIBLE;
    return 1.3 + short_elements(task->unit);
}

static double columns_cost(const rs_transpose_task *task, const rs_engine_traits *traits,
                           size_t scratch_limit)
{
    (void)scratch_limit;
    return runs_cost(task->tile * task->unit + 1, traits) + short_elements(task->unit);
}

/* Two tiles at least are under way in local memory, with rows an odd distance apart. */
static double fused_cost(const rs_transpose_task *task, const rs_engine_traits *traits,
                         size_t scratch_limit)
{
    size_t tile = task->inner_rows * (task->inner_cols + 1) * task->unit;
    if (2 * tile > traits->chip_bytes)
        return RS_COST_IMPOSSIBLE;
    return rs_reverse_cost(task, scratch_limit) + 0.15 + rs_fused_wait(task, scratch_limit);
}

/* Swaps: two passes, when a part slides or changes places with another. */
static double reorder_cost(const rs_transpose_task *task, const rs_engine_traits *traits,
                           size_t scratch_limit)
{
    (void)traits;
    size_t levels = 1;
    while (levels < SIZE_WIDTH_BITS && (size_t)1 << levels < task->piece_count)
        levels++;
    return task->piece_count * levels * PART_BYTES <= scratch_limit ? 2 : RS_COST_IMPOSSIBLE;
}

/* Each launch moves what the scratch memory has besides the tails; an idle device could move
 * LAUNCH_BYTES meanwhile. */
static double tails_cost(const rs_transpose_task *task, const rs_engine_traits *traits,
                         size_t scratch_limit)
{
    (void)traits;
    size_t tails = task->rows * task->tail * task->unit;
    if (tails > scratch_limit / 2)
        return RS_COST_IMPOSSIBLE;
    double bytes = (double)task->outer * (double)task->rows * (double)(task->cols * task->unit);
    double launches = 2 * bytes / (double)(scratch_limit - tails) + 2;
    double saved = (double)tails /
                   ((double)task->rows * (double)(task->cols + task->tail) * (double)task->unit);
    return 1.5 + RS_ASIDE_PASSES * saved + launches * LAUNCH_BYTES / bytes;
}

double rs_device_cost(const rs_transpose_task *task, const rs_engine_traits *traits,
                      size_t scratch_limit)
{
    static double (*const costs[RS_TRANSPOSE_METHOD_COUNT])(const rs_transpose_task *,
                                                            const rs_engine_traits *, size_t) = {
        [RS_TRANSPOSE_PANELS] = panels_cost,   [RS_TRANSPOSE_CHAINS] = chains_cost,
        [RS_TRANSPOSE_SQUARE] = square_cost,   [RS_TRANSPOSE_TILES] = tiles_cost,
        [RS_TRANSPOSE_ROTATE] = rotation_cost, [RS_TRANSPOSE_SHUFFLE_ROWS] = rows_cost,
        [RS_TRANSPOSE_REORDER] = reorder_cost, [RS_TRANSPOSE_SHUFFLE_COLUMNS] = columns_cost,
        [RS_TRANSPOSE_JOIN] = tails_cost,      [RS_TRANSPOSE_SPLIT] = tails_cost,
        [RS_TRANSPOSE_FUSED] = fused_cost,
    };
    return costs[task->method] != NULL
               ? costs[task->method](task, traits, scratch_limit)
               : rs_shared_cost(task, traits->chip_bytes, traits->box_bytes, scratch_limit);
}
