/*
 * A permutation of axes in two passes: RS_TRANSPOSE_BOXES permutes inside boxes, so that elements
 * that will be neighbours are neighbours, a slot; RS_TRANSPOSE_SLOTS moves the slots. What both
 * mean, for every engine that has them and for whoever checks one.
 *
 * Pieces are axes as in axes.h, `tile` elements are a slot. There are two forms.
 *
 * Tiles: the last inner_rows axes before, together `in` long, and the last inner_cols afterwards,
 * together `out` long, have no axis in common, and a slot divides both lengths. Pass 1 transposes
 * squares of slot x slot elements. With inner_rows and inner_cols 0 and slots of one element it
 * changes nothing.
 *
 * Boxes: inner_rows and inner_cols are 0, and a slot is more than one element. The `unit` of each
 * piece is the length of a box along its axis, a divisor of it. Pass 1 brings a box's elements into
 * the order that they will have. A slot divides what of a box is contiguous, before and afterwards.
 *
 * Pass 2: a slot's place follows from digits of the place it moves to, in up to three phases: the
 * digits of a number, each times its weight, are part of the sum; each times `next`, they are the
 * number of the next phase.
 */
#ifndef RS_ENGINE_SLOTS_H
#define RS_ENGINE_SLOTS_H

#include "engine/axes.h"

enum { RS_SLOTS_PHASES = 3, RS_SLOTS_MOST_DIGITS = 2 * RS_AXES_MOST };

typedef struct {
    size_t extent;
    size_t weight;
    size_t next;
} rs_digit;

typedef struct {
    size_t count;
    rs_digit digits[RS_SLOTS_MOST_DIGITS]; /* the fastest first */
} rs_digits;

typedef struct {
    rs_axes axes;
    size_t slot; /* elements */
    size_t in_axes, out_axes;
    size_t in, out;             /* 1 in boxes */
    size_t parts[RS_AXES_MOST]; /* of each axis in a box; 0 in tiles */
    size_t run_in, run_out;     /* of a box, contiguous before and afterwards */
    rs_digits phases[RS_SLOTS_PHASES];
} rs_slots;

/* False when the task is none of that kind. */
bool rs_slots_of(rs_slots *slots, const rs_transpose_task *task);

/* The slot before that is at a place afterwards. */
size_t rs_slots_source(const rs_slots *slots, size_t place);

/* Where BOXES moves an element, and it is its own inverse in tiles. */
size_t rs_boxes_target(const rs_slots *slots, size_t element);

void rs_digits_add(rs_digits *digits, size_t extent, size_t weight, size_t next);

#endif
