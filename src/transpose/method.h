/*
 * A method of in-place transposition: which stages it makes of a matrix, given its tile sizes, and
 * which tile sizes are worth a look. A method decides nothing; choose.c compares.
 */
#ifndef RS_TRANSPOSE_METHOD_H
#define RS_TRANSPOSE_METHOD_H

#include "transpose/stage_choice.h"

/* What a method must know. */
typedef struct {
    const rs_matrices *matrices;
    rs_engine_traits traits; /* those of the storage, for data in a file */
    size_t scratch_limit;    /* of the whole plan, by which stages are chosen */
    size_t scratch_bound;    /* of what it may take in all */
    bool granted;            /* the caller allows more scratch memory than the default */
    bool named;              /* the caller names the method */
    bool roughly;            /* fewer tile sizes will do, for an estimate of what it costs */
} rs_problem;

typedef struct rs_method rs_method;

/* Compares the tile sizes that a method offers. */
typedef struct rs_offers {
    void (*take)(struct rs_offers *offers, const rs_method *method, rs_tiles tiles);
    size_t beaten; /* nothing of so many stages is cheaper than what there is; or SIZE_MAX */
} rs_offers;

/* Adds the stages to `choice`, which has none. False, when they do not suit the problem. */
typedef bool rs_method_build(rs_stage_choice *choice, const rs_problem *problem, rs_tiles tiles);

/* Offers a few hundred pairs of tile sizes at most, whatever the shape. */
typedef void rs_method_offer(const rs_method *method, const rs_problem *problem, rs_offers *offers);

/* Writes one sentence. */
typedef void rs_method_explain(const rs_stage_choice *choice, const rs_problem *problem, char *why,
                               size_t size);

struct rs_method {
    const char *name;
    /* A baseline is slower than what it is compared with, and taken only when named. */
    bool only_when_named;
    size_t least_stages; /* that it makes of a matrix */
    rs_method_build *build;
    rs_method_offer *offer;
    const char *why; /* without a name or numbers of the shape; or NULL, and explain() writes it */
    rs_method_explain *explain;
};

/* Adds a stage over the whole matrices of a problem, which a method changes as it wants it. */
static inline rs_transpose_task *
rs_method_add_stage(rs_stage_choice *choice, const rs_problem *problem, rs_transpose_method method)
{
    const rs_matrices *m = problem->matrices;
    rs_transpose_task *task = &choice->tasks[choice->count++];
    *task = (rs_transpose_task){.method = method,
                                .offset = m->offset,
                                .outer = m->batch,
                                .pitch = m->rows * m->cols * m->unit,
                                .count = 1,
                                .rows = m->rows,
                                .cols = m->cols,
                                .unit = m->unit};
    return task;
}

#endif
