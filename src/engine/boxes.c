/* See boxes.h. */
#include "engine/boxes.h"
#include "base/arithmetic.h"

#include <stdint.h>

enum {
    TILES_BYTES = 24 << 10, /* of tiles side by side: several groups are on a unit at once */
    BANK_BYTES = 128,
    PAD_BYTES = 4,
    MOST_VECTOR = 4,
    LARGEST_WIDE = 16,
    MOST_WORDS = 65535 /* of a box: what the kernels' short division can take */
};

static bool is_last(const rs_axes *axes, size_t axis, size_t count)
{
    return axis >= axes->count - count;
}

/* Bytes that a box takes on chip. */
static size_t place_box(rs_box_cut *b)
{
    size_t word = b->word;
    size_t words = b->rows * b->run * b->unit_words;
    size_t pads = words / (BANK_BYTES / word) + 1;
    size_t pad = word < PAD_BYTES ? PAD_BYTES / word : 1;
    b->room = rs_size_divide_up(words + pads * pad, LARGEST_WIDE) * LARGEST_WIDE;
    return b->room * word + (b->rows + b->low + b->rows * b->run / b->low) * sizeof(uint32_t);
}

typedef struct {
    size_t digit, part; /* of its extent */
    size_t low;
    size_t entries; /* of both tables */
} place_split;

static void try_split(place_split *best, size_t volume, size_t digit, size_t part, size_t low)
{
    if (low + volume / low < best->entries)
        *best = (place_split){digit, part, low, low + volume / low};
}

/* The lower part has digits up to part of one; of all such parts that with the shortest tables. */
static void split_place(rs_box_cut *b, const rs_digits *place)
{
    size_t volume = b->rows * b->run;
    size_t before = 1;
    place_split best = {0, 1, 1, 1 + volume};
    for (size_t i = 0; i < place->count; i++) {
        size_t extent = place->digits[i].extent;
        for (size_t p = 1; p <= extent / p; p++)
            if (extent % p == 0) {
                try_split(&best, volume, i, p, before * p);
                try_split(&best, volume, i, extent / p, before * (extent / p));
            }
        before *= extent;
    }
    b->low = best.low;
    for (size_t i = 0; i < place->count; i++) {
        const rs_digit *d = &place->digits[i];
        size_t inside = i < best.digit ? d->extent : i == best.digit ? best.part : 1;
        rs_digits_add(&b->lists[RS_BOX_LOWER], inside, d->weight, 0);
        rs_digits_add(&b->lists[RS_BOX_UPPER], d->extent / inside, d->weight * inside, 0);
    }
}

/* A vector lies in one digit, and where that is cut, in one part of it. */
static size_t find_along(const rs_box_cut *b)
{
    const rs_digits *lower = &b->lists[RS_BOX_LOWER];
    bool together = b->aligned && b->unit_words == 1 && lower->count > 0 &&
                    lower->digits[0].extent % b->vector == 0;
    return together ? lower->digits[0].weight : 0;
}

/* An odd number of tiles side by side: then the rows of a tile lie in different banks. */
static void cut_tiles(rs_box_cut *b, const rs_slots *s, const rs_transpose_task *task)
{
    const rs_axes *axes = &s->axes;
    size_t tile = s->slot * s->slot * task->unit;
    size_t tiles = rs_size_smaller(TILES_BYTES / tile | 1, s->in / s->slot);
    tiles -= tiles > 1 && tiles % 2 == 0;
    b->rows = s->slot;
    b->run = tiles * s->slot;
    b->width = s->in;
    b->across = rs_size_divide_up(s->in, b->run);
    b->down = s->out / s->slot;
    b->step = s->slot;
    for (size_t place = axes->count; place-- > axes->count - s->out_axes;) {
        size_t axis = rs_axes_at(axes, place);
        rs_digits_add(&b->lists[RS_BOX_ROWS], axes->extents[axis], axes->from[axis], 0);
    }
    b->boxes = b->across * b->down;
    for (size_t axis = axes->count; axis-- > 0;)
        if (!is_last(axes, axis, s->in_axes) && axes->places[axis] < axes->count - s->out_axes) {
            rs_digits_add(&b->lists[RS_BOX_DIGITS], axes->extents[axis], axes->from[axis], 0);
            b->boxes *= axes->extents[axis];
        }
    rs_digits place = {.count = 0};
    rs_digits_add(&place, s->slot, b->run, 0);
    rs_digits_add(&place, tiles, s->slot, 0);
    rs_digits_add(&place, s->slot, 1, 0);
    split_place(b, &place);
}

static void cut_boxes(rs_box_cut *b, const rs_slots *s)
{
    const rs_axes *axes = &s->axes;
    size_t inside[RS_AXES_MOST];
    size_t volume = 1;
    b->run = b->width = s->run_in;
    b->across = b->down = b->boxes = 1;
    for (size_t axis = axes->count; axis-- > 0;) {
        if (volume >= s->run_in)
            rs_digits_add(&b->lists[RS_BOX_ROWS], s->parts[axis], axes->from[axis], 0);
        inside[axis] = volume;
        volume *= s->parts[axis];
        rs_digits_add(&b->lists[RS_BOX_DIGITS], axes->extents[axis] / s->parts[axis],
                      s->parts[axis] * axes->from[axis], 0);
        b->boxes *= axes->extents[axis] / s->parts[axis];
    }
    b->rows = volume / b->run;
    rs_digits all = {.count = 0};
    for (size_t place = axes->count; place-- > 0;) {
        size_t axis = rs_axes_at(axes, place);
        rs_digits_add(&all, s->parts[axis], inside[axis], 0);
    }
    split_place(b, &all);
}

/* Words that are accessed together: as many as divide all runs and what lies before them, or else
 * as many as can be, wherever a run begins. */
static void choose_vector(rs_box_cut *b, const rs_slots *s, const rs_transpose_task *task)
{
    size_t apart = task->offset | (task->outer > 1 ? task->pitch : 0) |
                   (task->repeats > 1 ? task->repeat_pitch : 0);
    size_t runs = b->unit_words * (s->parts[0] == 0 ? s->slot : s->run_in);
    size_t most = rs_size_smaller(MOST_VECTOR, LARGEST_WIDE / b->word);
    size_t vector = most;
    while (vector > 1 && (runs % vector != 0 || apart % (vector * b->word) != 0))
        vector /= 2;
    b->aligned = vector > 1 || most == 1;
    b->vector = b->aligned ? vector : most;
}

/* The largest word that divides elements and every distance between arrays. */
static size_t choose_word(const rs_transpose_task *task)
{
    size_t all = task->unit | task->offset | LARGEST_WIDE;
    all |= task->outer > 1 ? task->pitch : 0;
    all |= task->repeats > 1 ? task->repeat_pitch : 0;
    return all & -all; /* the lowest bit */
}

bool rs_boxes_cut(rs_box_cut *b, const rs_slots *s, const rs_transpose_task *task,
                  size_t local_bytes)
{
    *b = (rs_box_cut){.word = choose_word(task)};
    b->unit_words = task->unit / b->word;
    if (s->parts[0] == 0)
        cut_tiles(b, s, task);
    else
        cut_boxes(b, s);
    choose_vector(b, s, task);
    b->along = find_along(b);
    size_t words = rs_size_multiply_capped(b->rows * b->run, b->unit_words);
    if (words > MOST_WORDS || s->axes.elements > UINT32_MAX / b->unit_words || b->boxes > INT32_MAX)
        return false;
    b->local_bytes = place_box(b);
    return b->local_bytes <= local_bytes;
}
