/* The tile sizes that the methods of methods.c offer. */
#ifndef RS_TRANSPOSE_OFFERS_H
#define RS_TRANSPOSE_OFFERS_H

#include "transpose/method.h"

rs_method_offer rs_offer_once; /* nothing is cut: one offer, without tiles */

/* One side is cut. */
rs_method_offer rs_offer_row_blocks, rs_offer_column_blocks;

/* Tiles of a common divisor of the sides. On the host they make long super-elements, few enough
 * that their cycles are walked in a millisecond. */
rs_method_offer rs_offer_tiles;

/* Both sides are cut into factors; small grids have tiles of which two fit into what one group of a
 * device has on chip. */
rs_method_offer rs_offer_grids, rs_offer_small_grids;

#endif
