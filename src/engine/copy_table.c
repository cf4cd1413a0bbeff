/* The table of a copy that its kernel reads (engine/kernels/copies.cl). */
#include "engine/copy_table.h"
#include "base/arithmetic.h"

#include <stdlib.h>

size_t rs_copy_class_rows(const rs_copy_cutter *c, size_t number)
{
    size_t rows = 0;
    for (size_t p = 0; p < c->part_count; p++)
        rows += c->class_of[p] == number ? c->runs[p].row_count : 0;
    return rows;
}

static void add_number(rs_copy_cut *cut, uint64_t number)
{
    if (cut->numbers != NULL)
        cut->numbers[cut->number_count] = number;
    cut->number_count++;
}

/* Division of numbers below 2^31 by the blocks of an axis. */
static void add_axis(const rs_copy_cutter *c, size_t i)
{
    size_t blocks = 1;
    if (i < c->outer_count)
        blocks = rs_size_divide_up(c->parts[0].axes[c->outer[i]].extent, c->blocks[c->outer[i]]);
    unsigned shift = 0;
    while (((uint64_t)1 << shift) < blocks)
        shift++;
    uint64_t magic = ((((uint64_t)1 << shift) - blocks) << 32) / blocks + 1;
    add_number(c->cut, blocks | magic << 32);
    add_number(c->cut, shift);
}

static void add_steps(const rs_copy_cutter *c, size_t part, bool is_even)
{
    for (size_t i = 0; i < c->cut->axes; i++) {
        size_t axis = i < c->outer_count ? c->outer[i] : RS_COPY_NO_AXIS;
        size_t stride = axis == RS_COPY_NO_AXIS ? 0
                        : is_even               ? rs_copy_even_stride(c, part, axis)
                                                : rs_copy_uneven_stride(c, part, axis);
        add_number(c->cut, axis == RS_COPY_NO_AXIS ? 0 : c->blocks[axis] * stride / c->cut->word);
    }
}

static void add_even_rows(const rs_copy_cutter *c)
{
    for (size_t last = 0; last < rs_copy_runs_lasts(&c->even); last++)
        for (size_t row = 0; row < c->even.row_count; row++) {
            const rs_copy_place place = rs_copy_runs_row(&c->even, row, last);
            add_number(c->cut, place.even);
            if (c->cut->direct)
                add_number(c->cut, place.uneven);
        }
}

static void add_class_rows(const rs_copy_cutter *c, size_t number)
{
    for (size_t last = 0; last < rs_copy_runs_lasts(&c->runs[number]); last++)
        for (size_t p = number; p < c->part_count; p++)
            for (size_t row = 0; c->class_of[p] == number && row < c->runs[p].row_count; row++) {
                const rs_copy_place place = rs_copy_runs_row(&c->runs[p], row, last);
                add_number(c->cut, place.uneven);
                add_number(c->cut, place.cell);
            }
}

/* ceil(2^32 / divisor), and 0 for 1: engine/kernels/division.cl. */
static uint64_t small_magic(size_t divisor)
{
    return divisor == 1 ? 0 : UINT32_MAX / divisor + 1;
}

/* `rows` and `low` are where the rows and the places of the class begin in the table. */
static void add_class(const rs_copy_cutter *c, size_t number, size_t rows, size_t low)
{
    const rs_copy_runs *runs = &c->runs[number];
    const rs_copy_digit high = rs_copy_runs_high(runs);
    bool partial = high.partial >= 0;
    add_number(c->cut, rs_copy_class_rows(c, number));
    add_number(c->cut, (unsigned)runs->rows_by | (partial ? (unsigned)high.partial : 2u) << 2);
    add_number(c->cut, runs->lower);
    add_number(c->cut, small_magic(runs->lower));
    add_number(c->cut, partial ? 1 : high.count);
    add_number(c->cut, high.step.cell);
    add_number(c->cut, rows);
    add_number(c->cut, low);
    add_steps(c, number, false);
}

static void add_classes(const rs_copy_cutter *c)
{
    rs_copy_cut *cut = c->cut;
    size_t rows = cut->number_count + cut->classes * (RS_COPY_CLASS_NUMBERS + cut->axes);
    for (size_t k = 0; k < c->part_count; k++) {
        if (c->class_of[k] != k)
            continue;
        size_t low = rows + 2 * rs_copy_class_rows(c, k) * rs_copy_runs_lasts(&c->runs[k]);
        add_class(c, k, rows, low);
        rows = low + c->runs[k].lower;
    }
    for (size_t k = 0; k < c->part_count; k++) {
        if (c->class_of[k] != k)
            continue;
        add_class_rows(c, k);
        for (size_t word = 0; word < c->runs[k].lower; word++)
            add_number(cut, rs_copy_runs_low(&c->runs[k], word));
    }
}

/* Without memory for them the numbers are only counted. */
static void add_table(const rs_copy_cutter *c)
{
    rs_copy_cut *cut = c->cut;
    cut->number_count = 0;
    for (size_t i = 0; i < cut->axes; i++)
        add_axis(c, i);
    add_steps(c, 0, true);
    cut->rows_begin = cut->number_count;
    add_even_rows(c);
    cut->classes_begin = cut->number_count;
    add_classes(c);
}

rs_copy_cut_result rs_copy_write_table(const rs_copy_cutter *c)
{
    rs_copy_cut *cut = c->cut;
    cut->numbers = NULL;
    add_table(c);
    cut->numbers = malloc(cut->number_count * sizeof *cut->numbers);
    if (cut->numbers == NULL)
        return RS_COPY_CUT_NO_MEMORY;
    add_table(c);
    return RS_COPY_CUT;
}
