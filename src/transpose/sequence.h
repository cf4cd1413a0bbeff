/*
 * What a conversion does, before stages are chosen for it: a list of steps, each of which can be
 * undone by one other step. So a plan that leads from both layouts to a form in the middle leads
 * from one to the other.
 */
#ifndef RS_TRANSPOSE_SEQUENCE_H
#define RS_TRANSPOSE_SEQUENCE_H

#include "transpose/arena.h"
#include "transpose/choose.h"
#include "transpose/plan.h"

/* Where a part of the array lies: `outer` parts of one kind, `pitch` bytes apart. */
typedef struct {
    size_t offset;
    size_t outer;
    size_t pitch;
} rs_strided_part;

typedef struct rs_step rs_step;
struct rs_step {
    rs_step *next;
    rs_step *previous;
    rs_strided_part context;
    bool chosen;            /* `task` says what to do; else `matrices` are to be transposed */
    rs_matrices matrices;   /* their offset is the context's */
    rs_transpose_task task; /* its offset, outer and pitch are the context's */
};

/* Where the wisdom of measurements has a say in a conversion. */
typedef struct {
    restride_engine *engine;
    struct rs_permuted *permuted; /* what it was asked about: factor.h */
    size_t orders_followed;       /* permutations whose transpositions it knew */
    size_t stages_followed;       /* transpositions whose stages it knew */
} rs_guidance;

typedef struct {
    rs_arena *arena;
    rs_guidance *guidance; /* NULL: estimates alone decide */
    rs_engine_traits traits;
    size_t bound;         /* of the whole plan: scratch memory and tables */
    size_t budget;        /* for which its stages are chosen at first, at most that */
    size_t scratch_limit; /* of each step, at most that */
    size_t run_bytes;
    rs_step *first;
    rs_step *last;
    size_t count;
} rs_sequence;

/* Each adds one step to the end, or none when the step changes nothing. */
void rs_sequence_transpose(rs_sequence *steps, const rs_strided_part *context, size_t batch,
                           size_t rows, size_t cols, size_t unit);
void rs_sequence_task(rs_sequence *steps, const rs_strided_part *context,
                      const rs_transpose_task *task);

/* Adds the steps of a conversion to an empty list. */
typedef restride_status rs_sequence_fill(rs_sequence *steps, const void *conversion);

/* Makes the stages of a plan from the steps that `fill` finds, and says why it has them; `options`
 * may be NULL. Without a bound in them wisdom is asked first. */
restride_status rs_sequence_plan(restride_plan *plan, const restride_plan_options *options,
                                 rs_sequence_fill *fill, const void *conversion);

/* The same by estimates alone. */
restride_status rs_sequence_plan_estimated(restride_plan *plan, rs_sequence_fill *fill,
                                           const void *conversion);

/* An empty list for a conversion of `bytes` bytes; its arena and guidance are to be set. */
rs_sequence rs_sequence_of(const restride_engine *engine, size_t bytes,
                           const restride_plan_options *options);

/* The matrices of all parts of a step's context; of a step that is not chosen. */
rs_matrices rs_sequence_matrices(const rs_step *step);

/* An empty list with the same surroundings. */
rs_sequence rs_sequence_begin(const rs_sequence *like);

/* Moves the steps of `added` to the end of a list, or what undoes them, in reverse. */
void rs_sequence_append(rs_sequence *steps, const rs_sequence *added);
void rs_sequence_append_undone(rs_sequence *steps, const rs_sequence *added);

/* What transposing matrices costs, in passes over them, within the limits of the list, as
 * rs_choose_price() has it; and what it costs at least. */
double rs_sequence_price(const rs_sequence *steps, const rs_matrices *matrices, double highest);
double rs_sequence_bound(const rs_sequence *steps, const rs_matrices *matrices, bool *exact);

/* What a chosen step costs, in passes over its arrays. */
double rs_sequence_task_price(const rs_sequence *steps, const rs_strided_part *context,
                              const rs_transpose_task *task);

/* The bytes that all steps pass over, each pass weighted with its cost. RS_COST_IMPOSSIBLE when one
 * has no room. */
double rs_sequence_cost(const rs_sequence *steps);

#endif
