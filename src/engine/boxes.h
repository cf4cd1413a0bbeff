/*
 * How the boxes of RS_TRANSPOSE_BOXES (slots.h) lie on the chip of a device, and the digits that
 * say where their elements are: arithmetic, for the device and for whoever wants to know what it
 * takes.
 */
#ifndef RS_ENGINE_BOXES_H
#define RS_ENGINE_BOXES_H

#include "engine/slots.h"

/* Digits of the box, of its rows, of the lower and the upper part of a place in it. */
enum { RS_BOX_DIGITS, RS_BOX_ROWS, RS_BOX_LOWER, RS_BOX_UPPER, RS_BOX_LISTS };

/* A box has `rows` runs of `run` elements; several tiles side by side are one box. */
typedef struct {
    rs_digits lists[RS_BOX_LISTS];
    size_t rows, run; /* elements */
    size_t width, across, down, step;
    size_t low;   /* places that the lower part has */
    size_t along; /* from the place of an element of a vector to the next one's; 0: it differs */
    size_t boxes;
    size_t word; /* bytes */
    size_t unit_words;
    size_t vector; /* words that are accessed together */
    bool aligned;  /* runs begin and end at multiples of a vector */
    size_t room;   /* words of the cells */
    size_t local_bytes;
} rs_box_cut;

/* False when a box does not fit into `local_bytes`. */
bool rs_boxes_cut(rs_box_cut *cut, const rs_slots *slots, const rs_transpose_task *task,
                  size_t local_bytes);

#endif
