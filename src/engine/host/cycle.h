/*
 * The arithmetic of 100!: where each element of a rows x cols matrix goes, and how the cycles of
 * that permutation (base/cycles.h) are cut into chains. Nothing here touches the matrix, so all of
 * it can be tested with sizes that no memory holds.
 *
 * After the transposition position q = j*rows + i holds what was at i*cols + j, which is
 * q*cols mod (rows*cols - 1); the first and the last element stay.
 *
 * A cycle of twice the length of a chain and more is cut into chains of nearly equal lengths: the
 * k-th step from a position is a multiplication by cols^k. The first element of every chain is
 * saved before anything moves; then the chains are independent of each other, and each ends with
 * the saved first element of the next one. Shorter cycles stay whole. Neither is kept in a table:
 * cursors tell them one after the other, from anywhere on.
 *
 * 210! makes cols x middle x rows of rows x middle x cols: position (j*middle + x)*rows + i holds
 * what was at (i*middle + x)*cols + j. No arithmetic tells its cycles, so they are walked once, and
 * chains and whole cycles are listed.
 */
#ifndef RS_ENGINE_HOST_CYCLE_H
#define RS_ENGINE_HOST_CYCLE_H

#include "base/cycles.h"
#include "base/divide.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Where a listed chain begins, and the chain behind it. */
typedef struct {
    uint32_t start;
    uint32_t following;
} rs_host_link;

typedef struct {
    size_t rows;
    size_t middle; /* 1: 100! */
    size_t cols;
    size_t total; /* rows * middle * cols */
    rs_divider by_rows;
    rs_divider by_middle;
    rs_cycles cycles; /* of 100! */
    size_t length;    /* of a chain, about */
    size_t chains;
    /* Of 210!: its chains, and a position of each cycle that stays whole. */
    rs_host_link *links;
    uint32_t *leaders;
    size_t leader_count;
} rs_host_cycles;

/* Cuts the cycles into chains of about `length` elements, at least 1, and never more than total /
 * length of them. rows * cols must fit in size_t. On success the caller frees it with
 * rs_host_cycles_free(). */
restride_status rs_host_cycles_create(rs_host_cycles *cycles, size_t rows, size_t cols,
                                      size_t length);
void rs_host_cycles_free(rs_host_cycles *cycles);

/* The same for 210!. RESTRIDE_UNSUPPORTED for 2^32 positions and more. */
restride_status rs_host_cycles_list(rs_host_cycles *cycles, size_t rows, size_t middle, size_t cols,
                                    size_t length);

/* The bytes of its tables. */
size_t rs_host_cycles_bytes(const rs_host_cycles *cycles);

/* Without looking for cycles: rs_host_source() is all that can be asked. Nothing to free. */
void rs_host_cycles_begin(rs_host_cycles *cycles, size_t rows, size_t cols);

/* A chain takes elements from `start` on, and what was at `stop`, which is the start of chain
 * `following`, comes last. */
typedef struct {
    size_t start;
    size_t stop;
    size_t following;
    const rs_host_cycles *cycles;
    size_t family;
    size_t pieces;   /* of each cycle of the family */
    size_t longer;   /* of them, the first, which have one step more */
    size_t jumps[2]; /* cols to the steps of a longer piece, and of another */
    rs_cycle_cursor cycle;
    size_t number; /* of the chain */
    size_t index;  /* of its cycle in the family */
    size_t piece;  /* of its cycle */
} rs_host_chain_cursor;

/* Chain `number`, which is below cycles->chains. */
void rs_host_chain_begin(rs_host_chain_cursor *cursor, const rs_host_cycles *cycles, size_t number);

/* The next chain, unless this was the last one. */
void rs_host_chain_next(rs_host_chain_cursor *cursor);

/* The whole cycles that belong to one of several members, each as often as elements have slices.
 * Every member takes its share of every family, so that all have as much to do. */
typedef struct {
    size_t leader; /* a position of the cycle */
    size_t slice;
    const rs_host_cycles *cycles;
    size_t slices;
    size_t member;
    size_t members;
    bool backward; /* the last family first */
    size_t next_family;
    size_t left; /* slices of cycles of the family before */
    size_t item; /* of all slices of listed cycles */
    rs_cycle_cursor cycle;
} rs_host_whole_cursor;

void rs_host_whole_begin(rs_host_whole_cursor *cursor, const rs_host_cycles *cycles, size_t slices,
                         size_t member, size_t members, bool backward);

/* The next slice, at first the first one; false when there is none. */
bool rs_host_whole_next(rs_host_whole_cursor *cursor);

/* Where the element comes from that belongs at `position`. */
static inline size_t rs_host_source(const rs_host_cycles *cycles, size_t position)
{
    size_t j = rs_divide(&cycles->by_rows, position);
    size_t i = position - j * cycles->rows;
    if (cycles->middle == 1)
        return i * cycles->cols + j;
    size_t col = rs_divide(&cycles->by_middle, j);
    return (i * cycles->middle + j - col * cycles->middle) * cycles->cols + col;
}

#endif
