/*
 * A cycle model of the data layout transformer (Tseng 2014, section 3.3): hardware between the bus
 * and the memory of a device that turns AoS into ASTA while it passes, and back.
 *
 * Forwards a chunk of W structures of K elements goes through four buffers:
 *
 *     A   collects the chunk from the bus, a word of it a cycle
 *     B   holds it; each cycle the next bits of one element of each structure leave it
 *     C   collects them: W elements of one field, a tile
 *     D   gives the tile to the memory, a bus word a cycle
 *
 * and backwards through the same in the other order. All four work at once, on different chunks and
 * tiles. This model has the same registers as lab/hw/transformer_forward.v and _backward.v but
 * counts instead of bits; the test bench in lab/hw/ compares them word by word and cycle by cycle.
 */
#ifndef RS_LAB_SIM_TRANSFORMER_H
#define RS_LAB_SIM_TRANSFORMER_H

#include "base/status.h"

#include <stdbool.h>
#include <stddef.h>

typedef struct {
    size_t tile;           /* W: structures a chunk, elements a tile */
    size_t fields;         /* K: elements of a structure */
    size_t element_bits;   /* of each */
    size_t bus_bits;       /* a cycle, on both sides; divides a tile */
    size_t bits_per_cycle; /* of one element, from B to C; divides it */
} rs_transformer;

/* Whether the numbers fit together; RESTRIDE_INVALID_ARGUMENT says which do not. */
restride_status rs_transformer_check(const rs_transformer *transformer);

/* The stages of one chunk (table 1, and D, which the table leaves out): cycles. */
size_t rs_transformer_bus_cycles(const rs_transformer *transformer);    /* bus to A */
size_t rs_transformer_gather_cycles(const rs_transformer *transformer); /* B to C, all K tiles */
size_t rs_transformer_memory_cycles(const rs_transformer *transformer); /* D to memory, likewise */

/* The bits a cycle with which both take equally long: bus_bits / W; 0 when that is no whole number
 * that divides an element. */
size_t rs_transformer_balanced_bits(const rs_transformer *transformer);

/* Whether the bus has a word, and the memory takes one, in a cycle; NULL: always. */
typedef struct {
    bool (*gives)(void *context, size_t cycle);
    bool (*takes)(void *context, size_t cycle);
    void *context;
} rs_transformer_neighbours;

/* Runs `structures` structures, the last chunk filled up with zeros, or backwards `chunks` chunks.
 * left_at[i] becomes the cycle, from 0 on, in which the i-th word leaves, if it is not NULL.
 * Returns the cycles that it takes in all. */
size_t rs_transformer_forward(const rs_transformer *transformer, size_t structures,
                              const rs_transformer_neighbours *neighbours, size_t left_at[]);
size_t rs_transformer_backward(const rs_transformer *transformer, size_t chunks,
                               const rs_transformer_neighbours *neighbours, size_t left_at[]);

/* Bus words of a chunk, and of an array on its way in. */
size_t rs_transformer_words(const rs_transformer *transformer);
size_t rs_transformer_array_words(const rs_transformer *transformer, size_t structures);

/* Where the load and store units find what lies at `address` in AoS (equations 1 and 2); bytes of
 * an element stay together. `size` is that of an element in bytes. */
size_t rs_translate_address(size_t address, size_t begin, size_t size, size_t fields, size_t tile);

#endif
