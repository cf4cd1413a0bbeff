/* See slots.h. */
#include "engine/slots.h"

void rs_digits_add(rs_digits *digits, size_t extent, size_t weight, size_t next)
{
    if (extent > 1)
        digits->digits[digits->count++] = (rs_digit){extent, weight, next};
}

static bool is_in(const rs_slots *s, size_t axis)
{
    return axis >= s->axes.count - s->in_axes;
}

static bool is_out(const rs_slots *s, size_t axis)
{
    return s->axes.places[axis] >= s->axes.count - s->out_axes;
}

/* ---- tiles ---- */

/* The number of the second phase is `in` times the tile's among those of `out`, and the place in
 * `in`; that of the third the place in `out` before. */
static void find_tile_phases(rs_slots *s)
{
    const rs_axes *axes = &s->axes;
    rs_digits_add(&s->phases[0], s->out / s->slot, 0, s->in);
    for (size_t place = axes->count - s->out_axes; place-- > 0;) {
        size_t axis = rs_axes_at(axes, place);
        bool in = is_in(s, axis);
        rs_digits_add(&s->phases[0], axes->extents[axis], in ? 0 : axes->from[axis] / s->slot,
                      in ? axes->from[axis] : 0);
    }
    rs_digits_add(&s->phases[1], s->slot, 0, 1);
    rs_digits_add(&s->phases[1], s->in / s->slot, 1, 0);
    rs_digits_add(&s->phases[1], s->out / s->slot, 0, s->slot);
    for (size_t place = axes->count; place-- > axes->count - s->out_axes;) {
        size_t axis = rs_axes_at(axes, place);
        rs_digits_add(&s->phases[2], axes->extents[axis], axes->from[axis] / s->slot, 0);
    }
}

static bool find_tiles(rs_slots *s)
{
    const rs_axes *axes = &s->axes;
    if (s->in_axes > axes->count || s->out_axes > axes->count)
        return false;
    for (size_t axis = 0; axis < axes->count; axis++) {
        if (is_in(s, axis) && is_out(s, axis))
            return false;
        s->in *= is_in(s, axis) ? axes->extents[axis] : 1;
        s->out *= is_out(s, axis) ? axes->extents[axis] : 1;
    }
    if (s->slot == 0 || s->in % s->slot != 0 || s->out % s->slot != 0)
        return false;
    find_tile_phases(s);
    return true;
}

/* ---- boxes ---- */

static void add_outer(rs_digits *digits, const rs_slots *s, size_t axis)
{
    rs_digits_add(digits, s->axes.extents[axis] / s->parts[axis],
                  s->parts[axis] * s->axes.from[axis] / s->slot, 0);
}

/* The runs' digits come first; of the axes that they have in part, then what is left. */
static void find_box_phases(rs_slots *s)
{
    const rs_axes *axes = &s->axes;
    rs_digits *first = &s->phases[0];
    rs_digits *second = &s->phases[1];
    size_t inside = 1;
    rs_digits_add(first, s->run_out / s->slot, 0, 1);
    for (size_t place = axes->count; place-- > 0;) {
        size_t axis = rs_axes_at(axes, place);
        if (inside >= s->run_out)
            rs_digits_add(first, s->parts[axis], 0, inside / s->slot);
        inside *= s->parts[axis];
        add_outer(first, s, axis);
    }
    inside = 1;
    rs_digits_add(second, s->run_in / s->slot, 1, 0);
    for (size_t axis = axes->count; axis-- > 0;) {
        if (inside >= s->run_in)
            rs_digits_add(second, s->parts[axis], axes->from[axis] / s->slot, 0);
        inside *= s->parts[axis];
    }
}

static bool find_boxes(rs_slots *s, const rs_transpose_task *task)
{
    const rs_axes *axes = &s->axes;
    for (size_t axis = 0; axis < axes->count; axis++) {
        s->parts[axis] = task->pieces[axis].unit;
        if (s->parts[axis] == 0 || axes->extents[axis] % s->parts[axis] != 0)
            return false;
    }
    bool open = true;
    for (size_t axis = axes->count; open && axis-- > 0;) {
        s->run_in *= s->parts[axis];
        open = s->parts[axis] == axes->extents[axis];
    }
    open = true;
    for (size_t place = axes->count; open && place-- > 0;) {
        size_t axis = rs_axes_at(axes, place);
        s->run_out *= s->parts[axis];
        open = s->parts[axis] == axes->extents[axis];
    }
    if (s->slot == 0 || s->run_in % s->slot != 0 || s->run_out % s->slot != 0)
        return false;
    find_box_phases(s);
    return true;
}

/* ---- both ---- */

bool rs_slots_of(rs_slots *s, const rs_transpose_task *task)
{
    *s = (rs_slots){.slot = task->tile,
                    .in_axes = task->inner_rows,
                    .out_axes = task->inner_cols,
                    .in = 1,
                    .out = 1,
                    .run_in = 1,
                    .run_out = 1};
    if (task->piece_count == 0 || !rs_axes_of(&s->axes, task))
        return false;
    bool boxes = task->inner_rows == 0 && task->inner_cols == 0 && task->tile > 1;
    return boxes ? find_boxes(s, task) : find_tiles(s);
}

size_t rs_slots_source(const rs_slots *s, size_t place)
{
    size_t source = 0;
    for (int phase = 0; phase < RS_SLOTS_PHASES; phase++) {
        size_t next = 0;
        for (size_t i = 0; i < s->phases[phase].count; i++) {
            const rs_digit *d = &s->phases[phase].digits[i];
            source += place % d->extent * d->weight;
            next += place % d->extent * d->next;
            place /= d->extent;
        }
        place = next;
    }
    return source;
}

static void find_index(const rs_axes *axes, size_t element, size_t index[])
{
    for (size_t axis = axes->count; axis-- > 0; element /= axes->extents[axis])
        index[axis] = element % axes->extents[axis];
}

/* Elements from the first of the rows of tiles to this one. */
static size_t out_offset(const rs_slots *s, size_t number)
{
    size_t offset = 0;
    for (size_t place = s->axes.count; place-- > s->axes.count - s->out_axes;) {
        size_t axis = rs_axes_at(&s->axes, place);
        offset += number % s->axes.extents[axis] * s->axes.from[axis];
        number /= s->axes.extents[axis];
    }
    return offset;
}

static size_t tile_target(const rs_slots *s, const size_t index[], size_t element)
{
    size_t row = 0;
    for (size_t axis = 0; axis < s->axes.count; axis++)
        row += is_out(s, axis) ? index[axis] * s->axes.to[axis] : 0;
    size_t col = element % s->in;
    size_t down = row % s->slot;
    size_t across = col % s->slot;
    return element - out_offset(s, row) + out_offset(s, row - down + across) - across + down;
}

static size_t box_target(const rs_slots *s, const size_t index[])
{
    const rs_axes *axes = &s->axes;
    size_t number = 0;
    for (size_t place = 0; place < axes->count; place++) {
        size_t axis = rs_axes_at(axes, place);
        number = number * s->parts[axis] + index[axis] % s->parts[axis];
    }
    size_t target = 0;
    for (size_t axis = axes->count; axis-- > 0; number /= s->parts[axis])
        target += (index[axis] - index[axis] % s->parts[axis] + number % s->parts[axis]) *
                  axes->from[axis];
    return target;
}

size_t rs_boxes_target(const rs_slots *s, size_t element)
{
    size_t index[RS_AXES_MOST];
    find_index(&s->axes, element, index);
    return s->parts[0] == 0 ? tile_target(s, index, element) : box_target(s, index);
}
