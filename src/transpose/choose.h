/*
 * Which stages transpose a matrix in place: arithmetic alone, without an engine. docs/planner.md
 * shows the methods.
 */
#ifndef RS_TRANSPOSE_CHOOSE_H
#define RS_TRANSPOSE_CHOOSE_H

#include "transpose/stage_choice.h"

/* The scratch memory that a plan may take for `bytes` bytes unless more is granted: 0.5 % and 4 MiB
 * a worker, but no more than the bytes and 4 MiB; or what the traits say. */
size_t rs_choose_scratch_limit(size_t bytes, const rs_engine_traits *traits);

/* The scratch memory that it may take in all, tables included: what is granted, or on a device
 * 0.25 % and 1 MiB, or the same. */
size_t rs_choose_scratch_bound(size_t bytes, const rs_engine_traits *traits,
                               const restride_plan_options *options);

/*
 * The cheapest stages within the scratch limit. The product of the sizes fits in size_t. `options`
 * may be NULL. RESTRIDE_UNSUPPORTED when no plan keeps within the limit, or the named method does
 * not suit the shape; RESTRIDE_INVALID_ARGUMENT when there is no method of that name.
 */
restride_status rs_choose_transpose(rs_stage_choice *choice, const rs_matrices *matrices,
                                    const rs_engine_traits *traits,
                                    const restride_plan_options *options);

/*
 * What the cheapest stages cost, nearly: of the tile sizes those alone are compared that are seldom
 * beaten in memory; in files, all. `highest` when none of them costs less; RS_COST_IMPOSSIBLE as
 * `highest` asks for any that keep within the limit. And what they cost at least, in far less time;
 * *exact tells that this is what they cost.
 */
double rs_choose_price(const rs_matrices *matrices, const rs_engine_traits *traits,
                       const restride_plan_options *options, double highest);
double rs_choose_bound(const rs_matrices *matrices, const rs_engine_traits *traits,
                       const restride_plan_options *options, bool *exact);

/* The stages of one method with given tile sizes. RESTRIDE_UNSUPPORTED when they do not suit the
 * shape or the limit. `why` is empty. */
restride_status rs_choose_exactly(rs_stage_choice *choice, const rs_matrices *matrices,
                                  const rs_engine_traits *traits,
                                  const restride_plan_options *options, rs_tiles tiles);

/*
 * The cheapest `most` choices, cheapest first, at most a few of each method and none that differs
 * from a cheaper one of its method only a little. Returns how many there are.
 */
size_t rs_choose_candidates(rs_stage_choice *choices, size_t most, const rs_matrices *matrices,
                            const rs_engine_traits *traits, const restride_plan_options *options);

#endif
