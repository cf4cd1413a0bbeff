/* See copy_cut.h. */
#include "engine/copy_cut.h"
#include "base/arithmetic.h"

#include <stdlib.h>
#include <string.h>

enum {
    LINE_BYTES = 128,
    RUN_BYTES = 256,
    LEAST_BYTES = 16 << 10,
    MOST_BYTES = 32 << 10,
    WIDEST = 16,      /* bytes of an access */
    MOST_ROWS = 2048, /* of a box, on one side */
    MOST_LOWER = 2048,
    LANES = 32,
    MOST_WORDS = 65535 /* what the kernels' short division can take */
};

/* ---- words ---- */

/* The largest word that divides all there is. */
static size_t word_of(const rs_copy_part *parts, size_t count)
{
    size_t all = WIDEST;
    for (size_t p = 0; p < count; p++) {
        all |= parts[p].unit | parts[p].from | parts[p].to;
        for (size_t a = 0; a < parts[p].axis_count; a++)
            all |= parts[p].axes[a].from | parts[p].axes[a].to;
    }
    return all & -all; /* the lowest bit */
}

/* Takes the parts over as parts of words. False when one has too many axes. */
static bool split_words(rs_copy_cutter *c, const rs_copy_part *parts)
{
    size_t word = c->cut->word;
    for (size_t p = 0; p < c->part_count; p++) {
        rs_copy_part *part = &c->parts[p];
        *part = parts[p];
        if (part->unit != word && part->axis_count == RS_COPY_MOST_AXES)
            return false;
        if (part->unit != word)
            part->axes[part->axis_count++] = (rs_copy_axis){part->unit / word, word, word};
        part->unit = word;
    }
    return true;
}

/* ---- blocks ---- */

static void choose_blocks(rs_copy_cutter *c)
{
    rs_copy_box box;
    const rs_copy_part *part = &c->parts[0];
    const rs_copy_goals goals = {.from_run = c->cut->word < 2 ? LINE_BYTES : RUN_BYTES,
                                 .to_run = c->cut->word < 4 ? LINE_BYTES : RUN_BYTES,
                                 .least = LEAST_BYTES,
                                 .most = MOST_BYTES,
                                 .line = LINE_BYTES};
    rs_copy_box_choose(&box, part, &goals);
    memcpy(c->blocks, box.blocks, sizeof c->blocks);
    if (box.from.count > 0)
        c->may_rest[box.from.axes[box.from.count - 1]] = true;
    if (box.to.count > 0)
        c->may_rest[box.to.axes[box.to.count - 1]] = true;
}

/* The axis of a part that goes on where a run of `bytes` ends. */
static size_t next_axis(const rs_copy_cutter *c, size_t part, size_t bytes, bool is_even,
                        size_t count)
{
    size_t axis = 0;
    while (axis < count && (is_even ? rs_copy_even_stride(c, part, axis)
                                    : rs_copy_uneven_stride(c, part, axis)) != bytes)
        axis++;
    return axis;
}

/* So many records that runs of a part are whole lines on the uneven side. */
static void widen_member(rs_copy_cutter *c, size_t part)
{
    size_t run = c->cut->word;
    while (run < LINE_BYTES) {
        size_t count = c->parts[part].axis_count;
        size_t axis = next_axis(c, part, run, false, count);
        if (axis == count)
            return;
        size_t extent = c->parts[part].axes[axis].extent;
        size_t wanted = rs_size_smaller(rs_size_divide_up(LINE_BYTES, run), extent);
        if (axis < c->axis_count)
            c->blocks[axis] = rs_size_larger(c->blocks[axis], wanted);
        if (axis < c->axis_count && wanted < extent)
            return;
        run *= extent;
    }
}

static size_t volume_of(const rs_copy_cutter *c)
{
    size_t bytes = c->record;
    for (size_t a = 0; a < c->axis_count; a++)
        bytes = rs_size_multiply_capped(bytes, c->blocks[a]);
    return bytes;
}

/* Halves the largest block. False when all are one. */
static bool halve(rs_copy_cutter *c)
{
    size_t largest = 0;
    for (size_t a = 1; a < c->axis_count; a++)
        largest = c->blocks[a] > c->blocks[largest] ? a : largest;
    if (c->axis_count == 0 || c->blocks[largest] == 1)
        return false;
    c->blocks[largest] = rs_size_divide_up(c->blocks[largest], 2);
    return true;
}

static void choose_records(rs_copy_cutter *c, size_t local_bytes)
{
    for (size_t a = 0; a < c->axis_count; a++)
        c->blocks[a] = 1;
    for (size_t p = 0; p < c->part_count; p++)
        widen_member(c, p);
    size_t run = c->record;
    for (bool goes_on = true; goes_on;) {
        size_t axis = next_axis(c, 0, run, true, c->axis_count);
        if (axis == c->axis_count)
            break;
        size_t extent = c->parts[0].axes[axis].extent;
        size_t more = rs_size_divide_up(LEAST_BYTES, volume_of(c));
        size_t block = rs_size_smaller(c->blocks[axis] * more, extent);
        if (block > LANES)
            block = rs_size_smaller(rs_size_divide_up(block, LANES) * LANES, extent);
        c->blocks[axis] = block;
        c->may_rest[axis] = block < extent;
        run *= extent;
        goes_on = block == extent;
    }
    size_t most = rs_size_smaller(local_bytes - local_bytes / 8, 2 * MOST_BYTES);
    while (volume_of(c) > most && halve(c))
        continue;
}

static bool has_rest(const rs_copy_cutter *c, size_t axis)
{
    return c->parts[0].axes[axis].extent % c->blocks[axis] != 0;
}

static void divide_evenly(rs_copy_cutter *c, bool all)
{
    for (size_t a = 0; a < c->axis_count; a++)
        while ((all || !c->may_rest[a]) && has_rest(c, a))
            c->blocks[a]--;
}

/* ---- the order of boxes ---- */

/* The fastest in the target of the axes that are cut and not yet taken. */
static size_t next_outer(const rs_copy_cutter *c, const bool taken[], bool with_rest)
{
    size_t next = c->axis_count;
    for (size_t a = 0; a < c->axis_count; a++)
        if (!taken[a] && c->blocks[a] < c->parts[0].axes[a].extent &&
            (!with_rest || has_rest(c, a)) &&
            (next == c->axis_count || c->parts[0].axes[a].to < c->parts[0].axes[next].to))
            next = a;
    return next;
}

/* The first two axes may have a shorter last block. */
static void order_boxes(rs_copy_cutter *c)
{
    bool taken[RS_COPY_MOST_AXES] = {false};
    c->outer_count = 0;
    for (bool with_rest = true;;) {
        size_t next = next_outer(c, taken, with_rest && c->outer_count < 2);
        if (next == c->axis_count && !with_rest)
            break;
        with_rest = with_rest && next < c->axis_count;
        if (next == c->axis_count)
            continue;
        taken[next] = true;
        c->outer[c->outer_count++] = next;
    }
    if (c->outer_count > 1 && c->parts[0].axes[c->outer[1]].to < c->parts[0].axes[c->outer[0]].to) {
        size_t first = c->outer[0];
        c->outer[0] = c->outer[1];
        c->outer[1] = first;
    }
    for (size_t a = 0; a < c->axis_count; a++)
        c->partial[a] = -1;
    for (size_t i = 0; i < 2 && i < c->outer_count; i++)
        c->partial[c->outer[i]] = has_rest(c, c->outer[i]) ? (int)i : -1;
}

static bool count_boxes(rs_copy_cutter *c)
{
    rs_copy_cut *cut = c->cut;
    cut->axes = rs_size_larger(c->outer_count, 2);
    cut->boxes = 1;
    for (size_t i = 0; i < 2; i++)
        cut->blocks[i] = cut->extents[i] = 1;
    for (size_t i = 0; i < c->outer_count; i++) {
        size_t extent = c->parts[0].axes[c->outer[i]].extent;
        size_t block = c->blocks[c->outer[i]];
        cut->boxes = rs_size_multiply_capped(cut->boxes, rs_size_divide_up(extent, block));
        if (i >= 2 && has_rest(c, c->outer[i]))
            return false;
        if (i < 2) {
            cut->blocks[i] = block;
            cut->extents[i] = extent;
        }
    }
    return cut->boxes <= INT32_MAX;
}

/* ---- runs ---- */

static void add_shared(const rs_copy_cutter *c, rs_copy_digits *digits, size_t part)
{
    size_t word = c->cut->word;
    for (size_t a = 0; a < c->axis_count; a++)
        if (c->blocks[a] > 1)
            digits->digits[digits->count++] =
                (rs_copy_digit){.axis = a,
                                .count = c->blocks[a],
                                .step = {.even = rs_copy_even_stride(c, part, a) / word,
                                         .uneven = rs_copy_uneven_stride(c, part, a) / word},
                                .partial = c->partial[a]};
}

/* The even side; `digits` are those of all parts, with their steps in local memory. */
static bool make_even(rs_copy_cutter *c, rs_copy_digits *digits, size_t enough)
{
    *digits = (rs_copy_digits){.count = 0};
    if (c->record != 0)
        digits->digits[digits->count++] = (rs_copy_digit){.axis = RS_COPY_NO_AXIS,
                                                          .count = c->record / c->cut->word,
                                                          .step = {.even = 1},
                                                          .partial = -1};
    add_shared(c, digits, 0);
    bool good = rs_copy_runs_of(&c->even, digits, true, enough);
    rs_copy_runs_place(&c->even, digits);
    const rs_copy_part *part = &c->parts[0];
    size_t begin = c->record != 0 ? c->start : c->cut->scatter ? part->to : part->from;
    c->even.first =
        (rs_copy_place){.even = begin / c->cut->word,
                        .uneven = (c->cut->scatter ? part->from : part->to) / c->cut->word};
    return good;
}

static bool make_uneven(rs_copy_cutter *c, size_t p, const rs_copy_digits *even, size_t enough)
{
    const rs_copy_part *part = &c->parts[p];
    size_t word = c->cut->word;
    rs_copy_digits digits = {.count = 0};
    add_shared(c, &digits, p);
    for (size_t i = 0; i < digits.count; i++)
        for (size_t k = 0; k < even->count; k++)
            if (even->digits[k].axis == digits.digits[i].axis)
                digits.digits[i].step.cell = even->digits[k].step.cell;
    for (size_t a = c->axis_count; a < part->axis_count; a++)
        digits.digits[digits.count++] =
            (rs_copy_digit){.axis = a,
                            .count = part->axes[a].extent,
                            .step = {.even = rs_copy_even_stride(c, p, a) / word,
                                     .uneven = rs_copy_uneven_stride(c, p, a) / word,
                                     .cell = rs_copy_even_stride(c, p, a) / word},
                            .partial = -1};
    bool good = rs_copy_runs_of(&c->runs[p], &digits, false, enough);
    size_t begin = c->cut->scatter ? part->to : part->from;
    c->runs[p].first = (rs_copy_place){.even = begin / word,
                                       .uneven = (c->cut->scatter ? part->from : part->to) / word,
                                       .cell = c->record != 0 ? (begin - c->start) / word : 0};
    return good;
}

static bool same_chain(const rs_copy_digits *a, const rs_copy_digits *b)
{
    if (a->count != b->count)
        return false;
    for (size_t i = 0; i < a->count; i++) {
        const rs_copy_digit *d = &a->digits[i];
        const rs_copy_digit *e = &b->digits[i];
        if (d->count != e->count || d->partial != e->partial || d->step.cell != e->step.cell)
            return false;
    }
    return true;
}

/* Whether rows of two parts may follow each other in one class. */
static bool are_alike(const rs_copy_cutter *c, size_t p, size_t q)
{
    const rs_copy_runs *a = &c->runs[p];
    const rs_copy_runs *b = &c->runs[q];
    if (a->rows_by != b->rows_by || !same_chain(&a->chain, &b->chain))
        return false;
    for (size_t i = 0; i < c->outer_count; i++)
        if (rs_copy_uneven_stride(c, p, c->outer[i]) != rs_copy_uneven_stride(c, q, c->outer[i]))
            return false;
    return rs_copy_runs_lasts(a) == rs_copy_runs_lasts(b);
}

static void make_classes(rs_copy_cutter *c)
{
    c->cut->classes = 0;
    for (size_t p = 0; p < c->part_count; p++) {
        size_t first = 0;
        while (first < p && !(c->class_of[first] == first && are_alike(c, first, p)))
            first++;
        c->class_of[p] = first;
        c->cut->classes += first == p;
    }
}

static bool make_runs(rs_copy_cutter *c, size_t enough)
{
    rs_copy_digits digits;
    order_boxes(c);
    bool good = count_boxes(c) && make_even(c, &digits, SIZE_MAX);
    for (size_t p = 0; p < c->part_count; p++)
        good = good && make_uneven(c, p, &digits, enough) && c->runs[p].lower <= MOST_LOWER;
    return good;
}

/* Shorter last blocks are where the kernel wants them, or else there are none. */
static bool find_runs(rs_copy_cutter *c)
{
    divide_evenly(c, false);
    if (make_runs(c, RUN_BYTES / c->cut->word) || make_runs(c, SIZE_MAX))
        return true;
    divide_evenly(c, true);
    return make_runs(c, RUN_BYTES / c->cut->word) || make_runs(c, SIZE_MAX);
}

/* Words that follow each other on both sides. */
static size_t common_run(const rs_copy_digits *a, const rs_copy_digits *b)
{
    size_t run = 1;
    for (size_t i = 0; i < a->count && i < b->count && a->digits[i].axis == b->digits[i].axis; i++)
        run *= a->digits[i].count;
    return run;
}

/* Runs that both sides have in common need no local memory where they are long, or all there is. */
static void find_direct(rs_copy_cutter *c)
{
    rs_copy_runs uneven;
    rs_copy_runs even = c->even;
    rs_copy_digits all = {.count = 0};
    c->cut->direct = false;
    if (c->record != 0)
        return;
    add_shared(c, &all, 0);
    rs_copy_runs_of(&uneven, &all, false, SIZE_MAX);
    size_t run = common_run(&even.chain, &uneven.chain);
    bool all_common = run == even.run && run == uneven.run;
    c->cut->direct = (all_common || run * c->cut->word >= LINE_BYTES) && make_even(c, &all, run);
    if (!c->cut->direct)
        c->even = even;
}

static bool finish_runs(rs_copy_cutter *c)
{
    rs_copy_cut *cut = c->cut;
    const rs_copy_digit high = rs_copy_runs_high(&c->even);
    size_t rows = c->even.row_count * rs_copy_runs_lasts(&c->even);
    cut->rows = c->even.row_count;
    cut->pitch = c->even.run;
    cut->run = high.partial >= 0 ? c->even.lower : c->even.run;
    cut->by = (unsigned)c->even.rows_by | (high.partial >= 0 ? (unsigned)high.partial : 2u) << 2;
    cut->box_words = rs_size_multiply_capped(c->even.run, rows);
    bool fits = rows <= MOST_ROWS && cut->box_words <= MOST_WORDS;
    for (size_t p = 0; p < c->part_count; p++)
        if (c->class_of[p] == p)
            fits = fits && rs_copy_class_rows(c, p) * rs_copy_runs_lasts(&c->runs[p]) <= MOST_ROWS;
    return fits;
}

/* ---- vectors ---- */

static size_t lowest_bit(size_t number)
{
    return number == 0 ? WIDEST : rs_size_smaller(number & -number, WIDEST);
}

static size_t most_even_vector(const rs_copy_cutter *c)
{
    size_t all = c->even.run;
    for (size_t last = 0; last < rs_copy_runs_lasts(&c->even); last++)
        for (size_t row = 0; row < c->even.row_count; row++)
            all |= rs_copy_runs_row(&c->even, row, last).even;
    for (size_t i = 0; i < c->outer_count; i++)
        all |= c->blocks[c->outer[i]] * rs_copy_even_stride(c, 0, c->outer[i]) / c->cut->word;
    return rs_size_smaller(lowest_bit(all), WIDEST / c->cut->word);
}

static size_t most_uneven_vector(const rs_copy_cutter *c)
{
    size_t all = 0;
    for (size_t p = 0; p < c->part_count; p++) {
        all |= c->runs[p].run;
        for (size_t last = 0; last < rs_copy_runs_lasts(&c->runs[p]); last++)
            for (size_t row = 0; row < c->runs[p].row_count; row++)
                all |= rs_copy_runs_row(&c->runs[p], row, last).uneven;
        for (size_t i = 0; i < c->outer_count; i++)
            all |= c->blocks[c->outer[i]] * rs_copy_uneven_stride(c, p, c->outer[i]) / c->cut->word;
    }
    return rs_size_smaller(lowest_bit(all), WIDEST / c->cut->word);
}

/* Vectors of words of one and two bytes are at least what local memory takes at once, or words. */
static size_t useful_vector(size_t vector, size_t word)
{
    enum { BANK_BYTES = 4 };
    return vector * word < BANK_BYTES ? 1 : vector;
}

static void choose_vectors(rs_copy_cutter *c)
{
    rs_copy_cut *cut = c->cut;
    size_t even = useful_vector(most_even_vector(c), cut->word);
    size_t uneven = useful_vector(most_uneven_vector(c), cut->word);
    if (cut->direct) {
        cut->banks = (rs_copy_banks){.even_vector = rs_size_smaller(even, uneven),
                                     .uneven_vector = rs_size_smaller(even, uneven),
                                     .shift = 0,
                                     .skew = 0};
        cut->local_bytes = WIDEST;
        return;
    }
    rs_copy_banks_choose(&cut->banks, &c->even, &c->runs[0], cut->word, even, uneven);
    size_t words = cut->box_words + (cut->box_words >> cut->banks.shift) * cut->banks.skew;
    cut->local_bytes = rs_size_divide_up(words * cut->word, WIDEST) * WIDEST;
}

/* ---- all of it ---- */

static bool choose_side(rs_copy_cutter *c, const rs_copy_part *parts, const rs_copy_group *group)
{
    size_t axis;
    if (group->count == 1)
        return true;
    c->cut->scatter = rs_copy_is_whole(parts, group, true, &axis, &c->start, &c->record);
    return c->cut->scatter || rs_copy_is_whole(parts, group, false, &axis, &c->start, &c->record);
}

static rs_copy_cut_result cut_parts(rs_copy_cutter *c, const rs_copy_part *parts,
                                    const rs_copy_group *group, size_t local_bytes)
{
    c->cut->word = word_of(parts, c->part_count);
    if (!choose_side(c, parts, group) || !split_words(c, parts))
        return RS_COPY_CUT_UNSUITED;
    c->axis_count = group->count == 1 ? c->parts[0].axis_count : group->shared;
    if (group->count == 1)
        choose_blocks(c);
    else
        choose_records(c, local_bytes);
    while (find_runs(c)) {
        make_classes(c);
        find_direct(c);
        bool fits = finish_runs(c);
        if (fits)
            choose_vectors(c);
        if (fits && c->cut->local_bytes <= local_bytes)
            return rs_copy_write_table(c);
        if (!halve(c))
            break;
    }
    return RS_COPY_CUT_UNSUITED;
}

rs_copy_cut_result rs_copy_cut_group(rs_copy_cut *cut, const rs_copy_part *parts,
                                     const rs_copy_group *group, size_t local_bytes)
{
    *cut = (rs_copy_cut){.direct = false};
    rs_copy_cut_result result = RS_COPY_CUT_NO_MEMORY;
    rs_copy_cutter *c = calloc(1, sizeof *c);
    if (c == NULL)
        return result;
    c->cut = cut;
    c->part_count = group->count;
    c->parts = calloc(group->count, sizeof *c->parts);
    c->runs = calloc(group->count, sizeof *c->runs);
    c->class_of = calloc(group->count, sizeof *c->class_of);
    if (c->parts != NULL && c->runs != NULL && c->class_of != NULL)
        result = cut_parts(c, parts, group, local_bytes);
    free(c->parts);
    free(c->runs);
    free(c->class_of);
    free(c);
    return result;
}
