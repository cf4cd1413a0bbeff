/* How many bytes each process has for each other one: see counts.h. */
#include "distributed/counts.h"
#include "base/arithmetic.h"
#include "base/status.h"

#include <stdint.h>
#include <stdlib.h>

enum { MOST_RUNS = 4096, MOST_PAIRS = 1 << 24 };

/* ---- splits ---- */

static restride_status add_run(rs_split *split, size_t *count, size_t group, size_t units)
{
    const size_t total = split->period_runs + split->tail_runs;
    if (*count > 0 && split->runs[total - 1].group == group) {
        split->runs[total - 1].units += units;
        return RESTRIDE_OK;
    }
    if (total == MOST_RUNS)
        return rs_fail(RESTRIDE_UNSUPPORTED,
                       "The blocks of the two layouts cut a dimension into more than %d pieces on "
                       "one process; take blocks that divide each other, or go through a layout "
                       "with larger ones.",
                       MOST_RUNS);
    split->runs[total] = (rs_split_run){group, units};
    (*count)++;
    return RESTRIDE_OK;
}

/* The period, in indices, after which both layouts distribute a dimension in the same way again.
 * SIZE_MAX: it never repeats. */
static size_t period_of(const restride_layout *own, const restride_layout *other, int d)
{
    const restride_layout *both[] = {own, other};
    size_t period = 1;
    for (int side = 0; side < 2; side++)
        for (int t = 0; t < both[side]->term_count; t++) {
            const rs_term *term = &both[side]->terms[t];
            if (!term->spread || term->dimension != d)
                continue;
            if (term->modulus == 0 && side == 1)
                return SIZE_MAX;
            if (term->modulus == 0)
                continue; /* it has the same value for all indices of the part */
            const size_t round = rs_size_multiply_capped(term->divisor, term->modulus);
            period = rs_size_multiply_capped(period / rs_size_gcd(period, round), round);
        }
    return period;
}

/* The runs of the part's indices from `begin` to `end`. */
static restride_status add_runs(rs_split *split, size_t *count, const rs_axis *axis,
                                const restride_layout *other, int d, size_t begin, size_t end)
{
    restride_status status = RESTRIDE_OK;
    while (status == RESTRIDE_OK && begin < end) {
        const size_t index = rs_axis_index(axis, begin);
        size_t next = rs_axis_below(axis, rs_spread_border(other, d, index));
        next = next < end ? next : end;
        status = add_run(split, count, rs_spread_owner(other, d, index), next - begin);
        begin = next;
    }
    return status;
}

static restride_status split_indices(rs_split *split, const restride_layout *own,
                                     const restride_layout *other, int d, size_t coordinate)
{
    const rs_axis axis = rs_spread_axis(own, d, coordinate);
    const size_t extent = rs_axis_below(&axis, axis.extent);
    const size_t period = period_of(own, other, d);
    split->units = extent;
    split->period_units = extent;
    const size_t first = extent == 0 ? 0 : rs_axis_index(&axis, 0);
    if (extent > 0 && axis.extent - first > period)
        split->period_units = rs_axis_below(&axis, first + period);
    split->periods = extent == 0 ? 0 : extent / split->period_units;
    restride_status status =
        add_runs(split, &split->period_runs, &axis, other, d, 0, split->period_units);
    if (status == RESTRIDE_OK)
        status = add_runs(split, &split->tail_runs, &axis, other, d,
                          split->periods * split->period_units, extent);
    return status;
}

static restride_status split_record(rs_split *split, const restride_layout *own,
                                    const restride_layout *other, int d, size_t coordinate)
{
    const rs_axis axis = rs_spread_axis(own, d, coordinate);
    const size_t leaves = rs_axis_below(&axis, axis.extent);
    restride_status status = RESTRIDE_OK;
    for (size_t k = 0; status == RESTRIDE_OK && k < leaves; k++) {
        const size_t leaf = rs_axis_index(&axis, k);
        const size_t bytes = own->dimensions[d].record.leaves[leaf].size;
        status = add_run(split, &split->period_runs, rs_spread_owner(other, d, leaf), bytes);
        split->units += bytes;
    }
    split->period_units = split->units;
    split->periods = 1;
    return status;
}

restride_status rs_split_make(rs_split *split, const restride_layout *own,
                              const restride_layout *other, int d, size_t coordinate)
{
    *split = (rs_split){.runs = calloc(MOST_RUNS, sizeof *split->runs)};
    if (split->runs == NULL)
        return rs_fail_memory("the pieces of a dimension");
    return d == own->record ? split_record(split, own, other, d, coordinate)
                            : split_indices(split, own, other, d, coordinate);
}

void rs_split_free(rs_split *split)
{
    free(split->runs);
    split->runs = NULL;
}

/* ---- counts ---- */

static restride_status count_dimension(rs_counts *counts, const restride_layout *from,
                                       const restride_layout *to, int d)
{
    const size_t rows = rs_spread_coordinates(from, d);
    const size_t cols = counts->others[d] = rs_spread_coordinates(to, d);
    if (rs_size_multiply_capped(rows, cols) > MOST_PAIRS)
        return rs_fail(RESTRIDE_UNSUPPORTED, "A dimension is cut into more than %d pairs of parts.",
                       MOST_PAIRS);
    counts->units[d] = calloc(rows * cols, sizeof *counts->units[d]);
    if (counts->units[d] == NULL)
        return rs_fail_memory("the sizes of messages");
    restride_status status = RESTRIDE_OK;
    for (size_t row = 0; status == RESTRIDE_OK && row < rows; row++) {
        rs_split split;
        status = rs_split_make(&split, from, to, d, row);
        for (size_t i = 0; status == RESTRIDE_OK && i < split.period_runs + split.tail_runs; i++)
            counts->units[d][row * cols + split.runs[i].group] +=
                split.runs[i].units * (i < split.period_runs ? split.periods : 1);
        rs_split_free(&split);
    }
    return status;
}

static restride_status place_processes(rs_counts *counts, const restride_layout *layout, int side)
{
    counts->processes[side] = rs_spread_processes(layout);
    if (counts->processes[side] > RS_COUNTS_MOST_PROCESSES)
        return rs_fail(RESTRIDE_UNSUPPORTED,
                       "The layout \"%.200s\" needs %zu processes, more than %d.",
                       layout->expression_text, counts->processes[side], RS_COUNTS_MOST_PROCESSES);
    const size_t rank = (size_t)layout->rank;
    counts->coordinates[side] = calloc(counts->processes[side] * rank, sizeof(size_t));
    if (counts->coordinates[side] == NULL)
        return rs_fail_memory("the coordinates of processes");
    for (size_t p = 0; p < counts->processes[side]; p++)
        for (size_t d = 0; d < rank; d++)
            counts->coordinates[side][p * rank + d] = rs_spread_coordinate(layout, (int)d, p);
    return RESTRIDE_OK;
}

restride_status rs_counts_make(rs_counts *counts, const restride_layout *from,
                               const restride_layout *to, size_t unit)
{
    *counts = (rs_counts){.rank = from->rank, .unit = from->record >= 0 ? 1 : unit};
    restride_status status = place_processes(counts, from, 0);
    if (status == RESTRIDE_OK)
        status = place_processes(counts, to, 1);
    for (int d = 0; status == RESTRIDE_OK && d < from->rank; d++)
        status = count_dimension(counts, from, to, d);
    return status;
}

void rs_counts_free(rs_counts *counts)
{
    for (int side = 0; side < 2; side++)
        free(counts->coordinates[side]);
    for (int d = 0; d < counts->rank; d++)
        free(counts->units[d]);
    *counts = (rs_counts){0};
}

size_t rs_counts_bytes(const rs_counts *counts, size_t p, size_t q)
{
    if (p >= counts->processes[0] || q >= counts->processes[1])
        return 0;
    size_t bytes = counts->unit;
    const size_t rank = (size_t)counts->rank;
    for (size_t d = 0; d < rank; d++)
        bytes *= counts->units[d][counts->coordinates[0][p * rank + d] * counts->others[d] +
                                  counts->coordinates[1][q * rank + d]];
    return bytes;
}
