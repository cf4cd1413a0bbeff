/* The stages that a method makes of a transposition: what choose.c compares. */
#ifndef RS_TRANSPOSE_STAGE_CHOICE_H
#define RS_TRANSPOSE_STAGE_CHOICE_H

#include "engine/stage.h"
#include "transpose/plan.h"

typedef struct {
    size_t rows;
    size_t cols;
    size_t unit;
    size_t batch;
    size_t offset; /* bytes of the buffer before the first matrix */
} rs_matrices;

/* The sizes in elements that a method cuts the rows and the columns into; 0 where it does not. */
typedef struct {
    size_t rows;
    size_t cols;
} rs_tiles;

enum { RS_CHOICE_MOST_TASKS = 6 };

typedef struct {
    const char *method; /* its name in the table of methods.c */
    rs_tiles tiles;
    size_t count;
    rs_transpose_task tasks[RS_CHOICE_MOST_TASKS];
    size_t scratch_limit; /* for each stage */
    size_t limit;         /* for all of them, with their tables */
    size_t bound;         /* of what the plan may take in all */
    double cost;          /* passes over the memory at the speed of a copy, estimated */
    double highest;       /* a method may leave out stages of what costs as much */
    size_t considered;    /* proposals that were compared */
    char why[RS_PLAN_WHY_BYTES];
} rs_stage_choice;

#endif
