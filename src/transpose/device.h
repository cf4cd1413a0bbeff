/* Methods of transposition for engines whose traits say `chip_only`, and the costs of their stages.
 */
#ifndef RS_TRANSPOSE_DEVICE_H
#define RS_TRANSPOSE_DEVICE_H

#include "transpose/methods.h"

/* As rs_cost_of_transpose(). RS_COST_IMPOSSIBLE also for stages that devices do not have. None
 * costs less than RS_DEVICE_LEAST_COST. */
#define RS_DEVICE_LEAST_COST 1.02
double rs_device_cost(const rs_transpose_task *task, const rs_engine_traits *traits,
                      size_t scratch_limit);

void rs_device_offer_tiles(const rs_method *method, const rs_problem *problem, rs_offers *offers);
bool rs_device_build_tiles(rs_stage_choice *choice, const rs_problem *problem, rs_tiles tiles);
void rs_device_explain_tiles(const rs_stage_choice *choice, const rs_problem *problem, char *why,
                             size_t size);

void rs_device_offer_groups(const rs_method *method, const rs_problem *problem, rs_offers *offers);
bool rs_device_build_groups(rs_stage_choice *choice, const rs_problem *problem, rs_tiles tiles);
void rs_device_explain_groups(const rs_stage_choice *choice, const rs_problem *problem, char *why,
                              size_t size);

void rs_device_offer_c2r(const rs_method *method, const rs_problem *problem, rs_offers *offers);
bool rs_device_build_c2r(rs_stage_choice *choice, const rs_problem *problem, rs_tiles tiles);
bool rs_device_build_r2c(rs_stage_choice *choice, const rs_problem *problem, rs_tiles tiles);

#endif
