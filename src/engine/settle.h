/*
 * Pieces of a buffer that come into another order: which of them only slide. Those that keep their
 * order among each other and have the most bytes do; the others wait somewhere meanwhile.
 */
#ifndef RS_ENGINE_SETTLE_H
#define RS_ENGINE_SETTLE_H

#include "engine/stage.h"

typedef struct {
    size_t target;   /* bytes before it afterwards */
    bool kept;       /* it slides */
    size_t weight;   /* of the heaviest list in increasing places that ends with it, */
    size_t previous; /* and the piece before it in that list */
} rs_settled;

/* Settles `count` pieces; the result is the bytes of those that wait. */
size_t rs_settle(const rs_piece *pieces, size_t count, rs_settled *settled);

#endif
