/*
 * How parts of a buffer come into another order on a device: arithmetic alone.
 *
 * Two parts side by side change places by reversing both together and then each of them: swaps of
 * words that do not depend on each other, two passes, no scratch memory. Where most of the bytes
 * keep their order and the others fit into scratch memory, those wait there while the first slide,
 * by the same swaps. Else the list is sorted by halves; what was reversed an odd number of times is
 * reversed once more at the end.
 */
#ifndef RS_ENGINE_DEVICE_ORDER_H
#define RS_ENGINE_DEVICE_ORDER_H

#include "engine/stage.h"

/* Bytes: where a part is and where it goes. `to` is in scratch memory when it is saved, `from` when
 * it is restored; a part that is reversed has no `to`. */
typedef struct {
    size_t from;
    size_t to;
    size_t bytes;
} rs_order_part;

typedef enum { RS_ORDER_SAVE, RS_ORDER_RESTORE, RS_ORDER_REVERSE } rs_order_kind;

/* What can be done at once, with `count` parts from `first` on. */
typedef struct {
    rs_order_kind kind;
    size_t first;
    size_t count;
} rs_order_step;

typedef struct {
    rs_order_part *parts;
    size_t part_count;
    rs_order_step *steps;
    size_t step_count;
    size_t waiting; /* bytes of scratch memory */
} rs_order;

/* RESTRIDE_OUT_OF_MEMORY, and nothing to free then. */
restride_status rs_order_create(rs_order *order, const rs_piece *pieces, size_t count,
                                size_t scratch_limit);
void rs_order_free(rs_order *order);

#endif
