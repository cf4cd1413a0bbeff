/* The tile sizes that the methods of methods.c offer. */
#ifndef RS_TRANSPOSE_OFFERS_H
#define RS_TRANSPOSE_OFFERS_H

#include "transpose/method.h"

/* Nothing is cut: one offer, without tiles. */
void rs_offer_once(const rs_method *method, const rs_problem *problem, rs_offers *offers);

/* One side is cut. */
void rs_offer_row_blocks(const rs_method *method, const rs_problem *problem, rs_offers *offers);
void rs_offer_column_blocks(const rs_method *method, const rs_problem *problem, rs_offers *offers);

/* Tiles of a common divisor of the sides. On the host they make long super-elements, few enough
 * that their cycles are walked in a millisecond. */
void rs_offer_tiles(const rs_method *method, const rs_problem *problem, rs_offers *offers);

/* Both sides are cut into factors; small grids have tiles of which two fit into what one group of a
 * device has on chip. */
void rs_offer_grids(const rs_method *method, const rs_problem *problem, rs_offers *offers);
void rs_offer_small_grids(const rs_method *method, const rs_problem *problem, rs_offers *offers);

#endif
