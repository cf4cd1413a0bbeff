/*
 * Arrays in the memory spaces that suit them (Jang 2011, algorithm 3), applied to a nest with
 * threads: constant memory is a qualifier, texture memory an image over the same buffer, and shared
 * memory a tile that a work-group loads together.
 *
 * A tile is the box of elements that a work-group touches while the loop inside its threads runs
 * RS_SPACES_TILE times; without such a loop, while its body runs once.
 */
#ifndef RS_APPLY_SPACES_H
#define RS_APPLY_SPACES_H

#include "analyze/memory.h"
#include "apply/kernels.h"

#include <jansson.h>

enum { RS_SPACES_TILE = 16 };

typedef struct {
    bool used;                /* by the nest, and an argument */
    rs_memory wanted, placed; /* by the algorithm; in the kernel */
    const char *reason;       /* when they differ */
    /* Of a tile: */
    int rows;
    int64_t factors[RS_SUBSCRIPT_LIMIT][RS_NEST_LIMIT]; /* of the loops' symbols, for each row */
    rs_polynomial offset[RS_SUBSCRIPT_LIMIT];           /* the least over all references */
    int64_t extent[RS_SUBSCRIPT_LIMIT];
    rs_polynomial least[RS_SUBSCRIPT_LIMIT], most[RS_SUBSCRIPT_LIMIT];
} rs_placing;

typedef struct {
    rs_placing *arrays; /* for each array of the unit */
    int64_t group[3];
    int inner;   /* the loop inside the threads, or -1 */
    bool staged; /* some array has a tile */
} rs_spaces;

/* Decides for all arrays of a nest. `device` says what constant memory holds. */
restride_status rs_spaces_choose(rs_spaces *spaces, const rs_kernels *kernels,
                                 const rs_device_model *device);
void rs_spaces_free(rs_spaces *spaces);

/* Adds NAME_original, NAME_threads and NAME_memory. A refusal is kept in the nest. */
restride_status rs_spaces_write(const rs_spaces *spaces, const rs_kernels *kernels, rs_text *text);

/* Adds "arrays" and "group" to the description of a nest. */
void rs_spaces_describe(const rs_spaces *spaces, const rs_kernels *kernels, json_t *entry);

#endif
