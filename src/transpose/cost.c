/*
 * The cost model of the stages (Sung thesis, section 4.8.4): each is one pass over the memory,
 * weighted by the lines that it touches, by whether its block fits on chip and by how many workers
 * have room. The weights were fitted to measurements (lab/docs/performance.md).
 */
#include "transpose/cost.h"
#include "base/arithmetic.h"
#include "base/cycles.h"
#include "transpose/rates.h"

#include <stdint.h>

enum {
    LARGEST_SQUARE_UNIT = 256,
    SQUARE_RUN_BYTES = 256,
    SQUARE_MOST_PART = 64, /* elements */
    LEAST_EDGE = 4,
    NARROW_BYTES = 4,
    WIDE_BYTES = 8,
    SHORT_LINES = 4,
    LONG_LINES = 16,
    CACHED_CHIPS = 64,
    COPY_TILE_BYTES = 64 << 10,
    VECTORS_AT_ONCE = 64,
    CHAIN_LENGTH = 509,
    LANES = 16,
    LINE_BYTES = 64 /* what an engine may round the parts of its scratch memory up to */
};

/* Sums and products may be of any sizes that a caller grants or asks for. */
static size_t plus(size_t a, size_t b)
{
    return rs_size_add_capped(a, b);
}

static size_t times(size_t a, size_t b)
{
    return rs_size_multiply_capped(a, b);
}

/*
 * Chains that are too few for all lanes of the workers leave more to the cycles that stay whole.
 * No stage has more of them than makes chains of CHAIN_LENGTH.
 */
static double few_chains(const rs_transpose_task *task, size_t element_bytes,
                         const rs_engine_traits *traits, size_t scratch_limit)
{
    double wanted = (double)traits->workers * LANES;
    double most = (double)task->rows * (double)task->cols / CHAIN_LENGTH;
    if (task->method == RS_TRANSPOSE_REVERSE)
        most *= (double)task->tile;
    wanted = wanted < most ? wanted : most;
    double chains = (double)scratch_limit / (double)element_bytes;
    return chains < wanted ? 2 * (1 - chains / wanted) : 0;
}

/*
 * The bytes that move with those of a super-element, because they share its lines, and those lines
 * once more for the neighbour; the work of a jump, which counts on short ones; and from five lines
 * on the lines that hardware fetches in vain, fewer of them on long runs.
 */
static double moves_cost(size_t element_bytes, const rs_engine_traits *traits)
{
    double line = (double)traits->line_bytes;
    double bytes = (double)element_bytes;
    double touched = bytes + line - (double)rs_size_gcd(element_bytes, traits->line_bytes);
    double cost = 0.6 * touched / bytes + 0.78 * line / bytes;
    if (bytes > SHORT_LINES * line)
        return cost + (bytes > LONG_LINES * line ? 0.4 : 0.6);
    return bytes > line && element_bytes % traits->line_bytes != 0 ? cost + 0.25 : cost;
}

/*
 * Of an array beyond all caches, long super-elements come and go as streams, and three or four
 * lines wait for memory: of 400 MB on an EPYC, 256 bytes at a time took 1.5 copies, 2000 bytes 1.1
 * and 16000 bytes 1.03, where 60 MB took 1.1, 0.8 and 0.8. The last-level cache is shared by
 * processors of others, so the second level tells its size.
 */
static double beyond_caches(const rs_transpose_task *task, const rs_engine_traits *traits)
{
    double line = (double)traits->line_bytes;
    double unit = (double)task->unit;
    if (rs_rates_bytes(task) < CACHED_CHIPS * (double)traits->chip_bytes)
        return 0;
    if (unit > LONG_LINES * line)
        return -0.18;
    return unit > 2 * line && unit <= SHORT_LINES * line ? 0.25 - 0.5 * line / unit : 0;
}

static double chains_cost(const rs_transpose_task *task, const rs_engine_traits *traits,
                          size_t scratch_limit)
{
    return moves_cost(task->unit, traits) + beyond_caches(task, traits) +
           few_chains(task, task->unit, traits, scratch_limit);
}

static size_t inner_bytes(const rs_transpose_task *task)
{
    return task->inner_rows * task->inner_cols * task->unit;
}

/* Matrices beyond the chip are read from memory line by line. */
static double fused_cost(const rs_transpose_task *task, const rs_engine_traits *traits,
                         size_t scratch_limit)
{
    (void)scratch_limit;
    size_t bytes = inner_bytes(task);
    double cost = moves_cost(bytes, traits) + 0.2;
    return bytes > traits->chip_bytes ? cost + 1 : cost;
}

/*
 * Blocks beyond the chip go through slower caches: how much slower differs by processor, from a
 * fifth to more than twice, so they are taken only where the other stages gain from it.
 */
static double block_cost(double chips)
{
    static const struct {
        double chips;
        double cost;
    } steps[] = {{0.05, 0.95}, {0.35, 1}, {0.7, 1.05}, {1, 1.2}, {1.5, 1.4}, {2, 1.6}};
    for (size_t i = 0; i < sizeof steps / sizeof steps[0]; i++)
        if (chips <= steps[i].chips)
            return steps[i].cost;
    return 1.8;
}

/* Without room for all workers some are idle. */
static double panels_cost(const rs_transpose_task *task, const rs_engine_traits *traits,
                          size_t scratch_limit)
{
    size_t block_bytes = task->rows * task->cols * task->unit;
    double cost = block_cost((double)block_bytes / (double)traits->chip_bytes);
    size_t blocks = task->outer * task->count;
    size_t active = scratch_limit / block_bytes;
    active = active < blocks ? active : blocks;
    return active < traits->workers ? cost * (double)traits->workers / (double)active : cost;
}

enum { LONGEST_LINE = 1024 };

size_t rs_cost_stored_edge(size_t unit, const rs_engine_traits *traits)
{
    if (traits->line_bytes <= LONGEST_LINE)
        return 0;
    return unit < traits->line_bytes ? traits->line_bytes / unit : 1;
}

/* Tiles as wide as a page come and go once, if no page belongs to two of them. */
static double stored_square_cost(const rs_transpose_task *task, const rs_engine_traits *traits)
{
    size_t row_bytes = task->cols * task->unit;
    bool apart = row_bytes % traits->line_bytes == 0 && task->offset % traits->line_bytes == 0;
    return apart ? 1 : 1.7;
}

/* Mirror tiles have rows of a few lines; `side` elements of a row are the square's. */
static double mirrors_cost(const rs_transpose_task *task, size_t side,
                           const rs_engine_traits *traits)
{
    double runs = (double)traits->line_bytes / SQUARE_RUN_BYTES;
    double cost = task->cols * task->unit % LINE_BYTES == 0 ? 0.9 : 1;
    if (task->unit < NARROW_BYTES || task->unit > WIDE_BYTES) /* more shuffles, or jumps, a byte */
        cost += 0.3;
    if (side * side * task->unit <= traits->chip_bytes / 2) /* a block does better */
        cost += 0.2;
    return cost * (runs > 1 ? runs : 1);
}

static double square_cost(const rs_transpose_task *task, const rs_engine_traits *traits,
                          size_t scratch_limit)
{
    (void)scratch_limit;
    if (task->unit > LARGEST_SQUARE_UNIT)
        return RS_COST_IMPOSSIBLE;
    return task->tile != 0 ? stored_square_cost(task, traits)
                           : mirrors_cost(task, task->rows, traits);
}

static double tiles_cost(const rs_transpose_task *task, const rs_engine_traits *traits,
                         size_t scratch_limit)
{
    (void)scratch_limit;
    bool stored = rs_cost_stored_edge(task->unit, traits) != 0;
    return stored || task->unit > LARGEST_SQUARE_UNIT ? RS_COST_IMPOSSIBLE
                                                      : mirrors_cost(task, task->tile, traits);
}

static size_t tails_bytes(const rs_transpose_task *task)
{
    return task->rows * task->tail * task->unit;
}

/* The tails are kept once together and as many bytes once more by each worker: written to memory
 * that the system clears first, and read again. */
static double tails_cost(const rs_transpose_task *task, const rs_engine_traits *traits,
                         size_t scratch_limit)
{
    (void)scratch_limit;
    double kept = (double)task->tail / (double)(task->cols + task->tail);
    return 0.95 + 3 * kept * (double)(1 + traits->workers);
}

/* Out to the scratch memory, which is faulted in, and back as a plain copy. Blocks within the chip
 * gain nothing: the threads wait for each other more than they move. */
static double copy_cost(const rs_transpose_task *task, const rs_engine_traits *traits,
                        size_t scratch_limit)
{
    size_t bytes = task->rows * task->cols * task->unit;
    if (plus(bytes, times(traits->workers, COPY_TILE_BYTES)) > scratch_limit)
        return RS_COST_IMPOSSIBLE;
    return 3.5;
}

/* For stages that want `bytes` bytes a worker: the dearer, the less of that the chip holds, or the
 * scratch memory has for all. */
static double buffer_cost(double cost, double bytes, const rs_engine_traits *traits,
                          size_t scratch_limit)
{
    if (bytes > 2 * (double)traits->chip_bytes)
        cost *= 1.4;
    double active = (double)scratch_limit / bytes;
    double workers = (double)traits->workers;
    return active < workers ? cost * workers / (active > 1 ? active : 1) : cost;
}

/* Groups of as many rows as make vectors of a line. */
static double rows_cost(const rs_transpose_task *task, const rs_engine_traits *traits,
                        size_t scratch_limit)
{
    double vector = task->unit < LINE_BYTES ? LINE_BYTES : (double)task->unit;
    return buffer_cost(1.4, (double)task->cols * vector, traits, scratch_limit);
}

/* Strips a line wide, in which runs are as short as that. */
static double columns_cost(const rs_transpose_task *task, const rs_engine_traits *traits,
                           size_t scratch_limit)
{
    double runs = (double)traits->line_bytes / LINE_BYTES;
    return buffer_cost(1.8 * runs, (double)task->rows * LINE_BYTES, traits, scratch_limit);
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

/* The families of the cycles. */
static size_t cycles_kept(const rs_transpose_task *task)
{
    return rs_cycles_most_bytes(task->rows * task->cols);
}

static size_t reversed(const rs_transpose_task *task)
{
    return times(times(task->rows, task->tile), task->cols);
}

/* At most every second position begins a cycle that is listed, and few begin chains. */
static size_t links_kept(const rs_transpose_task *task)
{
    size_t elements = reversed(task);
    return task->tile > 1 ? plus(times(2, elements), elements / 32) : cycles_kept(task);
}

static size_t nothing_kept(const rs_transpose_task *task)
{
    (void)task;
    return 0;
}

static size_t pieces_kept(const rs_transpose_task *task)
{
    return times(task->piece_count, RS_STAGE_PIECE_BYTES);
}

static size_t panels_least(const rs_transpose_task *task)
{
    return plus(task->rows * task->cols * task->unit, LINE_BYTES);
}

/* Without chains every cycle moves whole. */
static size_t chains_least(const rs_transpose_task *task)
{
    (void)task;
    return LINE_BYTES;
}

/* Lists have numbers of 32 bits. */
static size_t reverse_least(const rs_transpose_task *task)
{
    return reversed(task) <= UINT32_MAX ? LINE_BYTES : SIZE_MAX;
}

static size_t square_least(const rs_transpose_task *task)
{
    size_t edge = SQUARE_RUN_BYTES / task->unit;
    edge = edge < LEAST_EDGE ? LEAST_EDGE : edge < SQUARE_MOST_PART ? edge : SQUARE_MOST_PART;
    return plus(times(edge * edge, task->unit), LINE_BYTES);
}

static size_t tails_least(const rs_transpose_task *task)
{
    return times(2, plus(tails_bytes(task), LINE_BYTES));
}

static size_t copy_least(const rs_transpose_task *task)
{
    return plus(panels_least(task), COPY_TILE_BYTES);
}

static size_t fused_least(const rs_transpose_task *task)
{
    return times(2, plus(inner_bytes(task), LINE_BYTES));
}

/* A list of the parts. */
static size_t reorder_least(const rs_transpose_task *task)
{
    return pieces_kept(task);
}

/* A cycle with one element in hand. */
static size_t pipt_least(const rs_transpose_task *task)
{
    return plus(task->unit, LINE_BYTES);
}

/* A flag an element of all matrices, and two elements a worker; one worker at least. */
static size_t pttwac_least(const rs_transpose_task *task)
{
    size_t flags = times(task->outer, task->rows * task->cols) / 8;
    return plus(flags, times(2, plus(LINE_BYTES, task->unit)));
}

/* One row, and the vectors that are under way. */
static size_t rows_least(const rs_transpose_task *task)
{
    return plus(times(plus(task->cols, VECTORS_AT_ONCE), task->unit), LINE_BYTES);
}

/* One strip. */
static size_t columns_least(const rs_transpose_task *task)
{
    return times(task->rows, LINE_BYTES);
}

/* ---- all stages of the host; devices have others (device_cost.c) ---- */

static const struct {
    double (*cost)(const rs_transpose_task *task, const rs_engine_traits *traits,
                   size_t scratch_limit);
    size_t (*least)(const rs_transpose_task *task);
    size_t (*kept)(const rs_transpose_task *task);
} stages[RS_TRANSPOSE_METHOD_COUNT] = {
    [RS_TRANSPOSE_PANELS] = {panels_cost, panels_least, nothing_kept},
    [RS_TRANSPOSE_CHAINS] = {chains_cost, chains_least, cycles_kept},
    [RS_TRANSPOSE_SQUARE] = {square_cost, square_least, nothing_kept},
    [RS_TRANSPOSE_TILES] = {tiles_cost, square_least, nothing_kept},
    [RS_TRANSPOSE_REVERSE] = {chains_cost, reverse_least, links_kept},
    [RS_TRANSPOSE_JOIN] = {tails_cost, tails_least, nothing_kept},
    [RS_TRANSPOSE_SPLIT] = {tails_cost, tails_least, nothing_kept},
    [RS_TRANSPOSE_COPY] = {copy_cost, copy_least, nothing_kept},
    [RS_TRANSPOSE_FUSED] = {fused_cost, fused_least, cycles_kept},
    [RS_TRANSPOSE_UNZIP] = {panels_cost, panels_least, pieces_kept},
    [RS_TRANSPOSE_ZIP] = {panels_cost, panels_least, pieces_kept},
    [RS_TRANSPOSE_REORDER] = {reorder_cost, reorder_least, pieces_kept},
    [RS_TRANSPOSE_C2R_ROTATE] = {columns_cost, columns_least, nothing_kept},
    [RS_TRANSPOSE_C2R_ROWS] = {rows_cost, rows_least, nothing_kept},
    [RS_TRANSPOSE_C2R_COLUMNS] = {columns_cost, columns_least, nothing_kept},
    [RS_TRANSPOSE_R2C_COLUMNS] = {columns_cost, columns_least, nothing_kept},
    [RS_TRANSPOSE_R2C_ROWS] = {rows_cost, rows_least, nothing_kept},
    [RS_TRANSPOSE_R2C_ROTATE] = {columns_cost, columns_least, nothing_kept},
    [RS_TRANSPOSE_PIPT] = {pipt_cost, pipt_least, nothing_kept},
    [RS_TRANSPOSE_PTTWAC] = {pttwac_cost, pttwac_least, nothing_kept},
};

bool rs_cost_is_host(const rs_engine_traits *traits)
{
    return !traits->chip_only && traits->cost == NULL;
}

/* No weight is multiplied by less. */
static double least_factor(const rs_engine_traits *traits)
{
    return traits->rates == NULL ? 1 : traits->rates->least;
}

/* Of a stage that moves no elements among each other. */
static double least_inside(size_t unit)
{
    return unit > LARGEST_SQUARE_UNIT ? 0.95 : 0.9;
}

static double least_on_device(const rs_engine_traits *traits)
{
    if (traits->cost == NULL)
        return RS_DEVICE_LEAST_COST;
    return traits->least_cost > RS_COST_LEAST ? traits->least_cost : RS_COST_LEAST;
}

/* A super-element of more than LONG_LINES lines, beyond all caches: no longer one costs less. */
static const double least_long = 0.82;

/* One of several stages on the host moves no elements among each other, and the others move two at
 * a time at least. */
double rs_cost_least(const rs_engine_traits *traits, size_t count, size_t unit)
{
    if (!rs_cost_is_host(traits))
        return least_on_device(traits) * (double)count;
    if (count < 2)
        return least_factor(traits) * RS_COST_LEAST * (double)count;
    double others =
        times(2, unit) > times(SHORT_LINES, traits->line_bytes) ? least_long : RS_COST_LEAST;
    return least_factor(traits) * (least_inside(unit) + others * (double)(count - 1));
}

double rs_cost_least_of_all(const rs_engine_traits *traits, size_t unit)
{
    if (!rs_cost_is_host(traits))
        return least_on_device(traits);
    bool is_long = unit > times(SHORT_LINES, traits->line_bytes);
    double chains = is_long ? least_long : moves_cost(unit, traits);
    return least_factor(traits) * (chains < least_inside(unit) ? chains : least_inside(unit));
}

static double cost_on_host(const rs_transpose_task *task, const rs_engine_traits *traits,
                           size_t scratch_limit)
{
    if (stages[task->method].cost == NULL || stages[task->method].least(task) > scratch_limit)
        return RS_COST_IMPOSSIBLE;
    double cost = stages[task->method].cost(task, traits, scratch_limit);
    return traits->rates != NULL ? cost * rs_rates_group_factor(traits->rates, task, traits) : cost;
}

double rs_cost_of_transpose(const rs_transpose_task *task, const rs_engine_traits *traits,
                            size_t scratch_limit)
{
    double cost = traits->cost != NULL ? traits->cost(traits->engine, task, scratch_limit)
                  : traits->chip_only  ? rs_device_cost(task, traits, scratch_limit)
                                       : cost_on_host(task, traits, scratch_limit);
    return cost < RS_COST_IMPOSSIBLE ? cost : RS_COST_IMPOSSIBLE;
}

double rs_cost_expected(const rs_transpose_task *task, const rs_engine_traits *traits,
                        size_t scratch_limit)
{
    rs_engine_traits model = *traits;
    model.rates = NULL;
    double cost = rs_cost_of_transpose(task, &model, scratch_limit);
    return traits->rates != NULL ? cost * rs_rates_factor(traits->rates, task, traits) : cost;
}

/* The stages of a device do with what there is, tables included. */
size_t rs_cost_least_scratch(const rs_transpose_task *task, const rs_engine_traits *traits)
{
    if (traits->chip_only || traits->cost != NULL)
        return 0;
    if (rs_cost_of_transpose(task, traits, SIZE_MAX) >= RS_COST_IMPOSSIBLE)
        return SIZE_MAX;
    return stages[task->method].least(task);
}

size_t rs_cost_kept(const rs_transpose_task *task, const rs_engine_traits *traits)
{
    if (traits->chip_only || traits->cost != NULL || stages[task->method].cost == NULL)
        return 0;
    return stages[task->method].kept(task);
}
