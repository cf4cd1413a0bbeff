/*
 * The cost model of the stages (Sung thesis, section 4.8.4): each is one pass over the memory,
 * weighted by the lines that it touches, by whether its block fits on chip and by how many workers
 * have room. The weights were fitted to measurements (docs/performance.md).
 */
#include "transpose/cost.h"

enum { LARGEST_SQUARE_UNIT = 256 };

/* The marks of the cycles take two bits a super-element while the plan is made. */
static bool marks_fit(size_t elements, size_t scratch_limit)
{
    return elements / 4 <= scratch_limit / 2;
}

/* Super-elements that do not begin at a line touch one more, and each is a jump. */
static double chains_cost(const rs_transpose_task *task, const rs_engine_traits *traits,
                          size_t scratch_limit)
{
    if (!marks_fit(task->rows * task->cols, scratch_limit))
        return RS_COST_IMPOSSIBLE;
    double line = (double)traits->line_bytes;
    double lines = (double)((task->unit - 1) / traits->line_bytes + 1);
    if (task->unit % traits->line_bytes != 0)
        lines += 1.25;
    return lines * line / (double)task->unit + 1.5 * line / (double)task->unit;
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

static double square_cost(const rs_transpose_task *task, const rs_engine_traits *traits,
                          size_t scratch_limit)
{
    (void)traits;
    (void)scratch_limit;
    return task->unit <= LARGEST_SQUARE_UNIT ? 1.1 : RS_COST_IMPOSSIBLE;
}

/* The tails are kept once together and once more by each worker. */
static double tails_cost(const rs_transpose_task *task, const rs_engine_traits *traits,
                         size_t scratch_limit)
{
    (void)traits;
    return 2 * task->rows * task->tail * task->unit > scratch_limit ? RS_COST_IMPOSSIBLE : 1.2;
}

/* Never the cheapest: one element moves at a time, and each step waits for the one before it. */
static double pipt_cost(const rs_transpose_task *task, const rs_engine_traits *traits,
                        size_t scratch_limit)
{
    (void)task;
    (void)scratch_limit;
    return 40.0 * (double)traits->workers;
}

/* A flag an element of all matrices, and two elements a worker; one worker at least. */
static double pttwac_cost(const rs_transpose_task *task, const rs_engine_traits *traits,
                          size_t scratch_limit)
{
    (void)traits;
    size_t flags = task->outer * task->rows * task->cols / 8 + 2 * traits->line_bytes;
    bool fits = flags <= scratch_limit && task->unit <= (scratch_limit - flags) / 2;
    return fits ? 40 : RS_COST_IMPOSSIBLE;
}

double rs_cost_of_transpose(const rs_transpose_task *task, const rs_engine_traits *traits,
                            size_t scratch_limit)
{
    static double (*const costs[])(const rs_transpose_task *, const rs_engine_traits *, size_t) = {
        [RS_TRANSPOSE_PANELS] = panels_cost, [RS_TRANSPOSE_CHAINS] = chains_cost,
        [RS_TRANSPOSE_SQUARE] = square_cost, [RS_TRANSPOSE_JOIN] = tails_cost,
        [RS_TRANSPOSE_SPLIT] = tails_cost,   [RS_TRANSPOSE_PIPT] = pipt_cost,
        [RS_TRANSPOSE_PTTWAC] = pttwac_cost,
    };
    return costs[task->method](task, traits, scratch_limit);
}
