/* See rates.h. */
#include "transpose/rates.h"
#include "base/seconds.h"

#include <math.h>
#include <stdlib.h>

const size_t rs_rate_sizes[RS_RATE_SIZES] = {4 << 20, 12 << 20, 28 << 20, 56 << 20};

enum {
    LINE_BYTES = 64,
    ROW_BYTES = 1 << 10,
    SHORT_ROW_BYTES = 1 << 10,
    GROUP_BYTES = 8 << 10,
    MOST_CHIPS = 3
};
enum {
    FIRST_FUSED = RS_RATE_PANELS + RS_RATE_CHAINS,
    FIRST_SQUARE = FIRST_FUSED + RS_RATE_FUSED,
    SPLIT_KINDS = FIRST_SQUARE + RS_RATE_SQUARES,
    ROWS_KINDS = SPLIT_KINDS + 2,
    COLUMNS_KINDS = ROWS_KINDS + 2
};

/* What a machine may show beside those that the weights were fitted to. */
static const double least_factor = 0.05;
static const double most_factor = 50;

double rs_rates_limit(double factor)
{
    return fmin(fmax(factor, least_factor), most_factor);
}

/* The kinds of each group end before these. */
static const size_t group_ends[RS_RATE_GROUPS] = {RS_RATE_PANELS, RS_RATE_PANELS + 2, FIRST_FUSED,
                                                  FIRST_SQUARE,   SPLIT_KINDS,        ROWS_KINDS,
                                                  RS_RATE_KINDS};
enum { PANELS_GROUP = 0, CHAINS_GROUP = 2 };

static double find_middle(const rs_rates *rates, size_t begin, size_t end, size_t size)
{
    double sorted[RS_RATE_KINDS];
    for (size_t kind = begin; kind < end; kind++)
        sorted[kind - begin] = rates->factors[kind][size];
    qsort(sorted, end - begin, sizeof sorted[0], rs_seconds_compare);
    return sorted[(end - begin) / 2];
}

bool rs_rates_check(rs_rates *rates)
{
    rates->least = 1;
    for (size_t kind = 0; kind < RS_RATE_KINDS; kind++)
        for (size_t i = 0; i < RS_RATE_SIZES; i++)
            if (!(rates->factors[kind][i] >= least_factor &&
                  rates->factors[kind][i] <= most_factor))
                return false;
    size_t begin = 0;
    for (size_t group = 0; group < RS_RATE_GROUPS; begin = group_ends[group++])
        for (size_t i = 0; i < RS_RATE_SIZES; i++) {
            double middle = find_middle(rates, begin, group_ends[group], i);
            rates->middle[group][i] = middle;
            rates->least = middle < rates->least ? middle : rates->least;
        }
    return true;
}

/* ---- the kind of a stage ---- */

static size_t unit_class(size_t unit)
{
    static const size_t most[RS_RATE_UNITS - 2] = {1, 2, 6, 11};
    size_t class = 0;
    if (unit > 2 && unit % 4 != 0)
        return RS_RATE_UNITS - 1;
    while (class < RS_RATE_UNITS - 2 && unit > most[class])
        class ++;
    return class;
}

static size_t block_class(size_t bytes, const rs_engine_traits *traits)
{
    if (bytes <= GROUP_BYTES)
        return 0;
    return bytes <= traits->chip_bytes ? 1 : bytes <= MOST_CHIPS * traits->chip_bytes ? 2 : 3;
}

static size_t length_class(size_t bytes)
{
    static const size_t most[RS_RATE_LENGTHS - 1] = {63, 160, 448, 3 << 10, 24 << 10};
    size_t class = 0;
    while (class < RS_RATE_LENGTHS - 1 && bytes > most[class])
        class ++;
    return class;
}

/* Less than a line is never whole lines. */
static size_t chains_kind(size_t bytes)
{
    size_t class = length_class(bytes);
    return 2 * class + (class == 0 ? bytes > LINE_BYTES / 2 : bytes % LINE_BYTES != 0);
}

static size_t element_bytes(const rs_transpose_task *task)
{
    if (task->method == RS_TRANSPOSE_REVERSE)
        return task->tile * task->unit;
    bool matrices = task->method == RS_TRANSPOSE_FUSED;
    return matrices ? task->inner_rows * task->inner_cols * task->unit : task->unit;
}

/* RS_RATE_KINDS: none. */
static size_t kind_of(const rs_transpose_task *task, const rs_engine_traits *traits)
{
    size_t block = task->rows * task->cols * task->unit;
    size_t bytes = element_bytes(task);
    switch (task->method) {
    case RS_TRANSPOSE_PANELS:
    case RS_TRANSPOSE_UNZIP:
    case RS_TRANSPOSE_ZIP:
        return RS_RATE_BLOCKS * unit_class(task->unit) + block_class(block, traits);
    case RS_TRANSPOSE_FUSED:
        return FIRST_FUSED + unit_class(task->unit);
    case RS_TRANSPOSE_CHAINS:
        return RS_RATE_PANELS + chains_kind(bytes);
    case RS_TRANSPOSE_REVERSE:
        return RS_RATE_PANELS + chains_kind(task->unit);
    case RS_TRANSPOSE_SQUARE:
    case RS_TRANSPOSE_TILES:
        return FIRST_SQUARE + unit_class(task->unit);
    case RS_TRANSPOSE_JOIN:
    case RS_TRANSPOSE_SPLIT:
        return SPLIT_KINDS + (task->cols * task->unit >= SHORT_ROW_BYTES);
    case RS_TRANSPOSE_C2R_ROWS:
    case RS_TRANSPOSE_R2C_ROWS:
        return ROWS_KINDS + (task->unit >= sizeof(float));
    case RS_TRANSPOSE_C2R_ROTATE:
    case RS_TRANSPOSE_C2R_COLUMNS:
    case RS_TRANSPOSE_R2C_COLUMNS:
    case RS_TRANSPOSE_R2C_ROTATE:
        return COLUMNS_KINDS + (task->unit >= sizeof(float));
    default:
        return RS_RATE_KINDS;
    }
}

double rs_rates_bytes(const rs_transpose_task *task)
{
    double repeats = task->repeats > 1 ? (double)task->repeats : 1;
    return repeats * (double)task->outer * (double)task->count * (double)task->rows *
           (double)(task->cols + task->tail) * (double)element_bytes(task);
}

/* Along the logarithm of both. */
static double between(const double factors[RS_RATE_SIZES], double bytes)
{
    size_t above = 0;
    while (above < RS_RATE_SIZES && (double)rs_rate_sizes[above] < bytes)
        above++;
    if (above == 0 || above == RS_RATE_SIZES)
        return factors[above == 0 ? 0 : RS_RATE_SIZES - 1];
    double low = (double)rs_rate_sizes[above - 1];
    double high = (double)rs_rate_sizes[above];
    double part = log(bytes / low) / log(high / low);
    return factors[above - 1] * pow(factors[above] / factors[above - 1], part);
}

double rs_rates_factor(const rs_rates *rates, const rs_transpose_task *task,
                       const rs_engine_traits *traits)
{
    size_t kind = kind_of(task, traits);
    return kind == RS_RATE_KINDS ? 1 : between(rates->factors[kind], rs_rates_bytes(task));
}

double rs_rates_group_factor(const rs_rates *rates, const rs_transpose_task *task,
                             const rs_engine_traits *traits)
{
    size_t kind = kind_of(task, traits);
    double bytes = rs_rates_bytes(task);
    size_t group = 0;
    while (group < RS_RATE_GROUPS && kind >= group_ends[group])
        group++;
    if (group == RS_RATE_GROUPS)
        return 1;
    double factor =
        fmax(between(rates->middle[group], bytes), between(rates->factors[kind], bytes));
    if (task->method == RS_TRANSPOSE_JOIN || task->method == RS_TRANSPOSE_SPLIT)
        return sqrt(fmax(factor, 1)); /* pages that the system clears cost the same everywhere */
    /* These do the work of two kinds, on few elements or many small matrices. */
    if (task->method == RS_TRANSPOSE_FUSED)
        factor = fmax(factor, between(rates->middle[CHAINS_GROUP], bytes));
    if (task->method == RS_TRANSPOSE_FUSED || task->outer > 1)
        factor = fmax(factor, between(rates->middle[PANELS_GROUP], bytes));
    return sqrt(factor);
}

/* ---- examples ---- */

/* Of the lengths of rates.h. */
static const size_t whole[RS_RATE_LENGTHS] = {32, 128, 192, 1 << 10, 8 << 10, 64 << 10};
static const size_t units[RS_RATE_UNITS] = {1, 2, 4, 8, 16, 5};

/* Blocks of more columns than rows, as a tile of few rows makes them. */
static void cut_panels(rs_transpose_task *task, size_t kind, const rs_engine_traits *traits)
{
    task->method = RS_TRANSPOSE_PANELS;
    task->unit = units[kind / RS_RATE_BLOCKS];
    size_t class = kind % RS_RATE_BLOCKS;
    const size_t blocks[RS_RATE_BLOCKS] = {GROUP_BYTES / 4, traits->chip_bytes / 4,
                                           traits->chip_bytes + traits->chip_bytes / 2,
                                           5 * traits->chip_bytes};
    size_t bytes = blocks[class];
    size_t elements = bytes / task->unit;
    task->rows = class == 0 ? 6 : LINE_BYTES;
    task->cols = elements / task->rows + 1;
}

static void cut_chains(rs_transpose_task *task, size_t kind, size_t size)
{
    task->method = RS_TRANSPOSE_CHAINS;
    task->unit = whole[kind / 2] + (kind % 2 == 0 ? 0 : 8);
    size_t elements = size / task->unit;
    task->cols = (size_t)sqrt((double)elements) / 2 + 2;
    task->rows = elements / task->cols;
}

/* Matrices of 128 rows and about as many bytes a row as a page has. */
static void cut_fused(rs_transpose_task *task, size_t kind, size_t size)
{
    task->method = RS_TRANSPOSE_FUSED;
    task->unit = units[kind];
    task->inner_rows = 2 * LINE_BYTES;
    task->inner_cols = ROW_BYTES / task->unit;
    task->cols = 2;
    task->rows = size / (2 * task->inner_rows * ROW_BYTES);
}

static void cut_square(rs_transpose_task *task, size_t kind, size_t size)
{
    task->method = RS_TRANSPOSE_SQUARE;
    task->unit = units[kind];
    task->rows = (size_t)sqrt((double)size / (double)task->unit) / LINE_BYTES * LINE_BYTES;
    task->cols = task->rows;
}

/* Sides without a common divisor, and rows that move apart by a hundredth. */
static void cut_others(rs_transpose_task *task, size_t kind, size_t size)
{
    bool second = (kind - SPLIT_KINDS) % 2 == 1;
    bool splits = kind < ROWS_KINDS;
    task->method = splits                 ? RS_TRANSPOSE_SPLIT
                   : kind < COLUMNS_KINDS ? RS_TRANSPOSE_C2R_ROWS
                                          : RS_TRANSPOSE_C2R_COLUMNS;
    task->unit = splits || second ? sizeof(float) : 1;
    size_t elements = size / task->unit;
    task->cols = splits ? (second ? ROW_BYTES : LINE_BYTES) : (size_t)sqrt((double)elements) - 1;
    task->rows = splits ? elements / task->cols : task->cols + 1;
    task->tail = splits ? task->cols / 100 + 1 : 0;
    task->cols -= task->tail;
}

rs_transpose_task rs_rates_example(size_t kind, size_t size, const rs_engine_traits *traits)
{
    rs_transpose_task task = {.outer = 1, .count = 1};
    if (kind < RS_RATE_PANELS) {
        cut_panels(&task, kind, traits);
        task.count = size / (task.rows * task.cols * task.unit);
        task.count = task.count > 0 ? task.count : 1;
    } else if (kind < RS_RATE_PANELS + RS_RATE_CHAINS) {
        cut_chains(&task, kind - RS_RATE_PANELS, size);
    } else if (kind < FIRST_SQUARE) {
        cut_fused(&task, kind - FIRST_FUSED, size);
    } else if (kind < SPLIT_KINDS) {
        cut_square(&task, kind - FIRST_SQUARE, size);
    } else {
        cut_others(&task, kind, size);
    }
    task.pitch = (size_t)rs_rates_bytes(&task);
    return task;
}
