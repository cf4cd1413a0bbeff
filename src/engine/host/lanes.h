/*
 * The inner loops of 100!: a thread moves several chains, or cycles, in turns, each on a lane of
 * its own, so that many cache misses are under way at once. One version for each instruction set.
 */
#ifndef RS_ENGINE_HOST_LANES_H
#define RS_ENGINE_HOST_LANES_H

#include "engine/host/cycle.h"
#include "engine/stage.h"

enum { RS_HOST_SLICE_BYTES = 4096, RS_HOST_LINE_BYTES = 64 };

/* The pieces of a line's length that a slice of an element is copied in, and their order. */
typedef struct {
    size_t width;
    size_t count;
    uint16_t begin[RS_HOST_SLICE_BYTES / RS_HOST_LINE_BYTES];
} rs_host_pieces;

/* What the chains of one matrix have in common. */
typedef struct {
    const rs_host_cycles *cycles;
    unsigned char *matrix;
    const unsigned char *saved; /* the first elements of the chains */
    size_t unit;
    size_t slices; /* of an element; each moves on its own */
    size_t lanes;
    rs_host_pieces full; /* of all slices but the last */
    rs_host_pieces last;
    rs_progress *progress;
} rs_host_field;

void rs_host_field_cut(rs_host_field *field, const rs_host_cycles *cycles, size_t unit);

/* Move the share of one member, `index` of `count`, in all chains or in all whole cycles. The lanes
 * of a thread move neighbouring slices of one element. */
typedef void rs_host_move_share(const rs_host_field *field, size_t index, size_t count);

typedef struct {
    rs_host_move_share *chains;
    rs_host_move_share *cycles;
} rs_host_lanes;

/* The fastest version on this processor. */
rs_host_lanes rs_host_lanes_choose(void);

#endif
