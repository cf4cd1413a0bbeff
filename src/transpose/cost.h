/*
 * What a stage costs: passes over its matrices at the speed of a copy, estimated. The planner adds
 * the stages up and takes the cheapest plan.
 */
#ifndef RS_TRANSPOSE_COST_H
#define RS_TRANSPOSE_COST_H

#include "transpose/device_cost.h"

/* Whether stages cost what the planner's model of threads and caches says. */
bool rs_cost_is_host(const rs_engine_traits *traits);

/* No stage of any engine costs less, */
#define RS_COST_LEAST 0.79

/* and a method that makes `count` stages of elements of `unit` bytes no less than this. */
double rs_cost_least(const rs_engine_traits *traits, size_t count, size_t unit);

/* What a transposition of elements of `unit` bytes costs at least, in however many stages. */
double rs_cost_least_of_all(const rs_engine_traits *traits, size_t unit);

/* `scratch_limit` is the bound on the scratch memory of the stage's run, in bytes. */
double rs_cost_of_transpose(const rs_transpose_task *task, const rs_engine_traits *traits,
                            size_t scratch_limit);

/* What it takes in fact, by all that is known of this machine; the above is for choosing. They
 * differ where wisdom has measured costs (rates.h). */
double rs_cost_expected(const rs_transpose_task *task, const rs_engine_traits *traits,
                        size_t scratch_limit);

/* The least scratch memory with which a stage can run, on one thread (SIZE_MAX when none would do),
 * and an upper bound on the tables that it keeps besides; in bytes. */
size_t rs_cost_least_scratch(const rs_transpose_task *task, const rs_engine_traits *traits);
size_t rs_cost_kept(const rs_transpose_task *task, const rs_engine_traits *traits);

/* Elements along a side of a square's tiles where data are stored in pages (`run_bytes` of
 * restride_plan_options); 0: they are in memory. */
size_t rs_cost_stored_edge(size_t unit, const rs_engine_traits *traits);

#endif
