/* See axes.h. */
#include "engine/axes.h"

size_t rs_axes_at(const rs_axes *axes, size_t place)
{
    size_t axis = 0;
    while (axis < axes->count && axes->places[axis] != place)
        axis++;
    return axis;
}

static bool count_elements(rs_axes *axes)
{
    axes->elements = 1;
    for (size_t i = axes->count; i-- > 0;) {
        axes->from[i] = axes->elements;
        axes->elements *= axes->extents[i];
    }
    size_t elements = 1;
    for (size_t place = axes->count; place-- > 0;) {
        size_t axis = rs_axes_at(axes, place);
        if (axis == axes->count)
            return false;
        axes->to[axis] = elements;
        elements *= axes->extents[axis];
    }
    return true;
}

bool rs_axes_of(rs_axes *axes, const rs_transpose_task *task)
{
    if (task->piece_count > RS_AXES_MOST)
        return false;
    *axes = (rs_axes){.count = 2, .extents = {task->rows, task->cols}, .places = {1, 0}};
    if (task->piece_count != 0)
        axes->count = task->piece_count;
    for (size_t i = 0; i < task->piece_count; i++) {
        axes->extents[i] = task->pieces[i].count;
        axes->places[i] = task->pieces[i].place;
    }
    return count_elements(axes);
}

size_t rs_axes_target(const rs_axes *axes, size_t place)
{
    size_t target = 0;
    for (size_t i = axes->count; i-- > 0; place /= axes->extents[i])
        target += place % axes->extents[i] * axes->to[i];
    return target;
}
