/* What a plan is made of, for the files that make plans. */
#ifndef RS_TRANSPOSE_PLAN_H
#define RS_TRANSPOSE_PLAN_H

#include "engine/stage.h"
#include "restride/plan.h"

/* Four stages, the longest of the methods, for each of as many regions as the planner looks at. */
enum { RS_PLAN_MOST_STAGES = 16384, RS_PLAN_WHY_BYTES = 384 };

/* What a plan does that is more than its list of stages (distributed/plan.c). */
typedef struct {
    restride_status (*run)(const restride_plan *plan, void *buffer, bool *has_begun);
    size_t (*scratch_bytes)(const restride_plan *plan);
    json_t *(*describe)(const restride_plan *plan); /* a new object; NULL: memory is short */
    void (*destroy)(void *own);
} rs_plan_kind;

struct restride_plan {
    const rs_plan_kind *kind; /* NULL: stages */
    void *own;                /* the kind's */
    restride_engine *engine;
    size_t bytes; /* of the array */
    size_t stage_count;
    size_t capacity;
    rs_stage **stages;
    /* Of each stage. One between AoS and ASTA is told as UNZIP or ZIP of whole tiles and, behind
     * them, of one with `tail` rows. */
    rs_transpose_task *tasks;
    char *from; /* expressions, for descriptions */
    char *to;
    const char *method; /* of transposition; NULL in other plans */
    size_t tile_rows;   /* of the method; 0: it cuts the rows into none */
    size_t tile_cols;
    double passes;               /* over the memory at the speed of a copy, estimated */
    char why[RS_PLAN_WHY_BYTES]; /* these stages and no others; may be empty */
};

/* A plan without stages, which changes nothing. */
restride_status rs_plan_create(restride_plan **plan, restride_engine *engine, size_t bytes,
                               const char *from, const char *to);

/* Adds a stage between AoS and ASTA. */
restride_status rs_plan_add_marshal(restride_plan *plan, const rs_marshal_task *task);

/* Makes the stages of `tasks` and adds them to a plan; `scratch_limit` is for each of them. After
 * an error the plan holds those that could be made. RESTRIDE_UNSUPPORTED when they are too many. */
restride_status rs_plan_add_transposes(restride_plan *plan, const rs_transpose_task *tasks,
                                       size_t count, size_t scratch_limit);

/* The passes that its stages take by what wisdom has measured of their costs, and less what each
 * finds in a device's cache of the one before it; `traits` are those that chose them. Without both
 * a plan keeps what it has. */
void rs_plan_expect(restride_plan *plan, const rs_engine_traits *traits, size_t scratch_limit);

/* Leaves a plan with its first `count` stages. */
void rs_plan_drop_stages(restride_plan *plan, size_t count);

/* Takes `count` stages out of a plan. */
void rs_plan_remove_stages(restride_plan *plan, size_t first, size_t count);

/* restride_plan_describe() as an object; NULL when memory is short. */
json_t *rs_plan_describe(const restride_plan *plan);

/* The scratch memory that the stages of a run share: as much as the one that takes most. */
size_t rs_plan_shared_scratch(const restride_plan *plan);

/* restride_execute_with() for a buffer that a caller of the library knows nothing of: after an
 * error the sentence does not say what is left of it. *has_begun: it may have changed. */
restride_status rs_plan_run(const restride_plan *plan, void *buffer,
                            const restride_run_options *options, bool *has_begun);

#endif
