/*
 * The stages that take all axes at once, and what they are cut into (engine/axes.h,
 * engine/slots.h). Slots are compared from 64 bytes to a few lines; a box has whole axes, and one
 * in part, along the array before and afterwards, so that what is contiguous is as long as the chip
 * allows.
 */
#include "transpose/passes.h"
#include "base/arithmetic.h"
#include "base/number.h"
#include "transpose/cost.h"

#include <string.h>

enum {
    LEAST_SLOT_BYTES = 64,
    MOST_SLOT_BYTES = 1024,
    LEAST_ALONE_BYTES = 16,
    MOST_PARTS = 2048 /* of all axes together */
};

typedef struct {
    rs_passes *best;
    const rs_passes_pricing *pricing;
    rs_transpose_task task; /* with pieces and sizes */
    rs_piece pieces[RS_AXES_MOST];
    rs_axes axes;
    size_t parts[MOST_PARTS]; /* that axes may be cut into: their divisors, ascending, but for the
                                 whole axis; of axis i from first_parts[i] on */
    size_t first_parts[RS_AXES_MOST + 1];
} passes_search;

/* Prices the task as each of some stages, one after the other. */
static void compare_stages(passes_search *s, const rs_transpose_method *methods, size_t count)
{
    double price = 0;
    for (size_t i = 0; i < count && price < s->best->price; i++) {
        s->task.method = methods[i];
        price += s->pricing->price(s->pricing->context, &s->task);
    }
    if (price >= s->best->price)
        return;
    s->best->price = price;
    s->best->count = count;
    for (size_t i = 0; i < count; i++) {
        s->best->tasks[i] = s->task;
        s->best->tasks[i].method = methods[i];
        memcpy(s->best->pieces[i], s->pieces, sizeof s->pieces);
    }
}

static void compare_slots(passes_search *s, size_t slot)
{
    static const rs_transpose_method both[] = {RS_TRANSPOSE_BOXES, RS_TRANSPOSE_SLOTS};
    s->task.tile = slot;
    compare_stages(s, both, 2);
}

/* ---- tiles over axes taken together ---- */

static bool is_worth_it(const passes_search *s, size_t slot)
{
    size_t bytes = slot * s->task.unit;
    return bytes >= LEAST_SLOT_BYTES &&
           (bytes <= MOST_SLOT_BYTES || s->task.unit > MOST_SLOT_BYTES / 4);
}

static void compare_tiles(passes_search *s, size_t in, size_t out)
{
    size_t common = rs_size_gcd(in, out);
    for (size_t slot = 2; slot * slot * s->task.unit <= s->pricing->box_bytes; slot++)
        if (common % slot == 0 && is_worth_it(s, slot))
            compare_slots(s, slot);
}

static void compare_all_tiles(passes_search *s)
{
    const rs_axes *axes = &s->axes;
    size_t in = 1;
    for (size_t i = 1; i < axes->count; i++) {
        in *= axes->extents[axes->count - i];
        size_t out = 1;
        for (size_t j = 1; j < axes->count; j++) {
            size_t axis = rs_axes_at(axes, axes->count - j);
            if (axis >= axes->count - i)
                break;
            out *= axes->extents[axis];
            s->task.inner_rows = i;
            s->task.inner_cols = j;
            compare_tiles(s, in, out);
        }
    }
    s->task.inner_rows = s->task.inner_cols = 0;
}

/* ---- boxes ---- */

/* The axes of a run, the fastest first: all before `whole`, and of that one a part. */
typedef struct {
    size_t axes[RS_AXES_MOST];
    size_t whole;
    size_t part; /* its number among those of the axis */
} box_run;

static size_t part_of(const passes_search *s, const box_run *run)
{
    return s->parts[s->first_parts[run->axes[run->whole]] + run->part];
}

/* Makes the pieces a box that has the run, and returns the run's elements. */
static size_t add_run(passes_search *s, const box_run *run)
{
    size_t length = 1;
    for (size_t i = 0; i <= run->whole; i++) {
        rs_piece *piece = &s->pieces[run->axes[i]];
        size_t part = i < run->whole ? piece->count : part_of(s, run);
        piece->unit = rs_size_larger(piece->unit, part);
        length *= part;
    }
    return length;
}

/* What is contiguous of the box that the pieces make. */
static size_t run_length(const passes_search *s, const size_t axes[])
{
    size_t length = 1;
    bool open = true;
    for (size_t i = 0; open && i < s->axes.count; i++) {
        length *= s->pieces[axes[i]].unit;
        open = s->pieces[axes[i]].unit == s->pieces[axes[i]].count;
    }
    return length;
}

/*
 * Of the pairs of runs that make a box only the longest is compared. False when the box is too
 * large for the chip or has a longer run before than this one: so it is with longer runs
 * afterwards.
 */
static bool compare_box(passes_search *s, const box_run *before, const box_run *after)
{
    size_t volume = 1;
    for (size_t i = 0; i < s->axes.count; i++)
        s->pieces[i].unit = 1;
    const size_t in = add_run(s, before);
    const size_t out = add_run(s, after);
    for (size_t i = 0; i < s->axes.count; i++)
        volume = rs_size_multiply_capped(volume, s->pieces[i].unit);
    if (rs_size_multiply_capped(volume, s->task.unit) > s->pricing->box_bytes ||
        run_length(s, before->axes) > in)
        return false;
    const size_t slot = rs_size_gcd(in, out);
    if (slot > 1 && slot * s->task.unit >= LEAST_SLOT_BYTES && run_length(s, after->axes) == out)
        compare_slots(s, slot);
    return true;
}

/* The next run that is longer: more of an axis, or one more. False when there is none. */
static bool next_run(const passes_search *s, box_run *run)
{
    const size_t axis = run->axes[run->whole];
    if (s->first_parts[axis] + ++run->part < s->first_parts[axis + 1])
        return true;
    run->part = 0;
    return ++run->whole < s->axes.count;
}

static void find_parts(passes_search *s)
{
    size_t count = 0;
    for (size_t i = 0; i < s->axes.count; i++) {
        const size_t most =
            rs_size_smaller(s->axes.extents[i] - 1, s->pricing->box_bytes / s->task.unit);
        s->first_parts[i] = count;
        count += rs_number_divisors(s->axes.extents[i], rs_size_larger(most, 1), s->parts + count,
                                    MOST_PARTS - count - (s->axes.count - 1 - i));
    }
    s->first_parts[s->axes.count] = count;
}

static void compare_all_boxes(passes_search *s)
{
    box_run before = {.part = 0};
    box_run first = {.part = 0};
    for (size_t i = 0; i < s->axes.count; i++) {
        before.axes[i] = s->axes.count - 1 - i;
        first.axes[i] = rs_axes_at(&s->axes, s->axes.count - 1 - i);
    }
    find_parts(s);
    do {
        box_run after = first;
        if (!compare_box(s, &before, &after))
            break;
        while (next_run(s, &after) && compare_box(s, &before, &after))
            ;
    } while (next_run(s, &before));
}

/* ---- all of them ---- */

void rs_passes_find(rs_passes *best, const rs_passes_pricing *pricing,
                    const rs_transpose_task *axes)
{
    static const rs_transpose_method whole[] = {RS_TRANSPOSE_ON_CHIP};
    static const rs_transpose_method alone[] = {RS_TRANSPOSE_SLOTS};
    *best = (rs_passes){.price = RS_COST_IMPOSSIBLE};
    passes_search s = {.best = best, .pricing = pricing, .task = *axes};
    if (!rs_axes_of(&s.axes, axes))
        return;
    memcpy(s.pieces, axes->pieces, axes->piece_count * sizeof *s.pieces);
    s.task.pieces = s.pieces;
    compare_stages(&s, whole, 1);
    s.task.tile = 1;
    if (s.task.unit >= LEAST_ALONE_BYTES)
        compare_stages(&s, alone, 1);
    compare_all_tiles(&s);
    if (s.task.unit < MOST_SLOT_BYTES)
        compare_all_boxes(&s);
}
