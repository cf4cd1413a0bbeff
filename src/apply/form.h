/*
 * A form of a nest with numbers: what its kernel does, iteration by iteration. `threads` and the
 * changed kernel of the same nest are two forms.
 */
#ifndef RS_APPLY_FORM_H
#define RS_APPLY_FORM_H

#include "apply/launch.h"
#include "apply/spaces.h"

enum { RS_FORM_LIMIT = 64, RS_FORM_NUMBERS = 256 };

/* A loop on the way to the innermost one. */
typedef struct {
    int loop; /* of the nest */
    int dimension;
    int64_t iterations; /* of the loop, or whole vectors of it */
    int64_t rounds;     /* times that one work-item comes here */
} rs_form_loop;

typedef enum {
    RS_MOVE_GLOBAL,
    RS_MOVE_CONSTANT,
    RS_MOVE_TEXTURE,
    RS_MOVE_TILE,     /* one element of a tile */
    RS_MOVE_TILE_FILL /* all of it, by a work-group */
} rs_move_kind;

/* Instructions of a work-item that move data: `pieces` of `bytes`, `apart` from each other. */
typedef struct {
    rs_move_kind kind;
    int array;
    bool written, random;
    int depth; /* index of its loop in the form; it runs in the first round of those further in */
    int order;
    int64_t base, stride[RS_NEST_LIMIT]; /* bytes, for each loop of the form */
    int64_t range;                       /* bytes, of what is read at random */
    int bytes, pieces;
    int64_t apart;
    int rows; /* of a tile */
    int64_t extent[RS_SUBSCRIPT_LIMIT], pitch[RS_SUBSCRIPT_LIMIT];
} rs_move;

/* Instructions of a work-item in one iteration of the innermost loop, but for moves. */
typedef struct {
    double wide, narrow, integers; /* of double, of float, and for places and loops */
} rs_work;

typedef struct {
    const rs_nest *nest;
    rs_launch launch;
    rs_form_loop loops[RS_NEST_LIMIT];
    int loop_count;
    rs_move moves[RS_FORM_LIMIT];
    int move_count;
    rs_work work;
    double registers;       /* of a work-item */
    bool rest;              /* iterations remain behind the last whole vector */
    double vector_rounds;   /* of the loop of vectors */
    bool unrolled;          /* compilers run several iterations at once: they store nothing */
    double fills, barriers; /* of a work-item in an iteration: elements brought into tiles */
    int64_t bytes;          /* of all arrays */
} rs_nest_form;

/* `spaces` as in predict.h, `description` and `values` of the nest. */
void rs_form_make(rs_nest_form *form, const rs_kernels *kernels, const rs_spaces *spaces,
                  bool changed, const json_t *description, const rs_values *values);

#endif
