/*
 * The axes that a stage permutes, and where each element goes: what RS_TRANSPOSE_ON_CHIP means, for
 * every engine that has it and for whoever checks one.
 */
#ifndef RS_ENGINE_AXES_H
#define RS_ENGINE_AXES_H

#include "engine/stage.h"

enum { RS_AXES_MOST = 8 };

typedef struct {
    size_t count; /* slowest first, in the order of memory before the stage */
    size_t extents[RS_AXES_MOST];
    size_t places[RS_AXES_MOST]; /* in the order afterwards */
    size_t from[RS_AXES_MOST];   /* elements from one to the next of the axis, before */
    size_t to[RS_AXES_MOST];     /* and afterwards */
    size_t elements;             /* in all */
} rs_axes;

/* The pieces of a task, or the rows and columns of one without pieces. False when they are too many
 * or their places are no permutation. */
bool rs_axes_of(rs_axes *axes, const rs_transpose_task *task);

/* The axis that comes to a place. */
size_t rs_axes_at(const rs_axes *axes, size_t place);

/* The place afterwards of the element that lies at `place` before. */
size_t rs_axes_target(const rs_axes *axes, size_t place);

#endif
