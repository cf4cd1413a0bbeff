/* What the planner asks the wisdom, and what tuning adds to it. The public half is
 * restride/wisdom.h. */
#ifndef RS_TRANSPOSE_WISDOM_H
#define RS_TRANSPOSE_WISDOM_H

#include "restride/wisdom.h"
#include "transpose/axes.h"
#include "transpose/choose.h"
#include "transpose/rates.h"

/* Below this many bytes of an array, wisdom is neither asked nor made. */
enum { RS_WISDOM_LEAST_BYTES = 1 << 20 };

/*
 * The choice that wisdom has for a problem without options. choice->method is NULL when there is
 * none, or when it does not suit the problem; only a lack of memory is an error. Thread-safe.
 */
restride_status rs_wisdom_choose(rs_stage_choice *choice, restride_engine *engine,
                                 const rs_matrices *matrices, const rs_engine_traits *traits);

/* Keeps a choice. An error when it could not be written; the engine knows it all the same. */
restride_status rs_wisdom_learn(restride_engine *engine, const rs_matrices *matrices,
                                const rs_engine_traits *traits, const rs_stage_choice *choice,
                                double seconds, double planner_seconds);

/* The traits of an engine, with what wisdom knows of the costs of its stages; for an array of so
 * many bytes. They are valid as long as the engine. Thread-safe. */
rs_engine_traits rs_wisdom_traits(const restride_engine *engine, size_t bytes);

/* Keeps these costs, as rs_wisdom_learn() a choice. */
restride_status rs_wisdom_learn_rates(restride_engine *engine, const rs_rates *rates);

/*
 * The path that wisdom has for `outer` arrangements. path->count is 0 when there is none; what it
 * holds is what the file says, and may lead nowhere. Errors and threads as above.
 */
restride_status rs_wisdom_find_path(rs_path *path, restride_engine *engine,
                                    const rs_axis_order *arrangement, size_t outer,
                                    const rs_engine_traits *traits);

/* Keeps a path, as rs_wisdom_learn() a choice. */
restride_status rs_wisdom_learn_path(restride_engine *engine, const rs_axis_order *arrangement,
                                     size_t outer, const rs_engine_traits *traits,
                                     const rs_path *path, double seconds, double planner_seconds);

#endif
