/*
 * What a conversion does, before stages are chosen for it: a list of steps, each of which can be
 * undone by one other step. So a plan that leads from both layouts to a form in the middle leads
 * from one to the other.
 */
#ifndef RS_TRANSPOSE_STEPS_H
#define RS_TRANSPOSE_STEPS_H

#include "transpose/arena.h"
#include "transpose/choose.h"
#include "transpose/plan.h"

/* Where a part of the array lies: `outer` parts of one kind, `pitch` bytes apart. */
typedef struct {
    size_t offset;
    size_t outer;
    size_t pitch;
} rs_context;

typedef struct rs_step rs_step;
struct rs_step {
    rs_step *next;
    rs_step *previous;
    rs_context context;
    bool chosen;            /* `task` says what to do; else `matrices` are to be transposed */
    rs_matrices matrices;   /* their offset is the context's */
    rs_transpose_task task; /* its offset, outer and pitch are the context's */
};

typedef struct {
    rs_arena *arena;
    rs_engine_traits traits;
    size_t scratch_limit; /* of the whole plan */
    size_t run_bytes;
    rs_step *first;
    rs_step *last;
    size_t count;
} rs_steps;

/* Each adds one step to the end, or none when the step changes nothing. */
void rs_steps_transpose(rs_steps *steps, const rs_context *context, size_t batch, size_t rows,
                        size_t cols, size_t unit);
void rs_steps_task(rs_steps *steps, const rs_context *context, const rs_transpose_task *task);

/* An empty list for a plan; `options` may be NULL. Its budget is that of the plan's array. */
rs_steps rs_steps_for(const restride_plan *plan, rs_arena *arena,
                      const restride_plan_options *options);

/* An empty list with the same surroundings. */
rs_steps rs_steps_begin(const rs_steps *like);

/* Moves the steps of `added` to the end of a list, or what undoes them, in reverse. */
void rs_steps_append(rs_steps *steps, const rs_steps *added);
void rs_steps_append_undone(rs_steps *steps, const rs_steps *added);

/* What transposing matrices costs, in passes over them, within the limits of the list. */
double rs_steps_price(const rs_steps *steps, const rs_matrices *matrices);

/* The bytes that all steps pass over, each pass weighted with its cost. RS_COST_IMPOSSIBLE when one
 * has no room. */
double rs_steps_cost(const rs_steps *steps);

/* Chooses the stages and adds them to a plan. */
restride_status rs_steps_choose(const rs_steps *steps, restride_plan *plan);

/* Writes into the plan why it has these steps. */
void rs_steps_explain(const rs_steps *steps, restride_plan *plan);

#endif
