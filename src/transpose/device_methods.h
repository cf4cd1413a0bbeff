/* Methods of transposition for engines whose traits say `chip_only`. */
#ifndef RS_TRANSPOSE_DEVICE_METHODS_H
#define RS_TRANSPOSE_DEVICE_METHODS_H

#include "transpose/method.h"

rs_method_offer rs_device_offer_tiles, rs_device_offer_groups, rs_device_offer_c2r;
rs_method_build rs_device_build_tiles, rs_device_build_groups, rs_device_build_c2r,
    rs_device_build_r2c;
rs_method_explain rs_device_explain_tiles, rs_device_explain_groups;

#endif
