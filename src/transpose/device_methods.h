/* Methods of transposition for engines whose traits say `chip_only`. */
#ifndef RS_TRANSPOSE_DEVICE_METHODS_H
#define RS_TRANSPOSE_DEVICE_METHODS_H

#include "transpose/method.h"

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
