/*
 * What stages cost on this machine, measured, where the weights of the model (cost.c) were fitted
 * to others: each kind of stage has a factor to its weight for some sizes of arrays, since caches
 * and the way between them decide as much as memory. restride_calibrate() measures them, and wisdom
 * keeps them.
 */
#ifndef RS_TRANSPOSE_RATES_H
#define RS_TRANSPOSE_RATES_H

#include "engine/stage.h"

/* The kinds, told apart by the bytes of an element, of a block beside the chip, and by whether
 * elements are whole lines. */
enum {
    RS_RATE_UNITS = 6,  /* 1, 2, 4, 8, 16 bytes, and those that are no whole words */
    RS_RATE_BLOCKS = 4, /* many in a group, within the chip, beyond it, and far beyond */
    RS_RATE_PANELS = RS_RATE_UNITS * RS_RATE_BLOCKS,
    RS_RATE_LENGTHS = 6,                  /* the first is less than a line */
    RS_RATE_CHAINS = 2 * RS_RATE_LENGTHS, /* of whole lines, or not */
    RS_RATE_FUSED = RS_RATE_UNITS,
    RS_RATE_SQUARES = RS_RATE_UNITS,
    RS_RATE_OTHERS = 6, /* rows apart and together, short and long ones; C2R and R2C: rows and
                           columns of bytes, of words */
    RS_RATE_KINDS =
        RS_RATE_PANELS + RS_RATE_CHAINS + RS_RATE_FUSED + RS_RATE_SQUARES + RS_RATE_OTHERS
};

enum { RS_RATE_SIZES = 4, RS_RATES_VERSION = 1 };
extern const size_t rs_rate_sizes[RS_RATE_SIZES]; /* bytes of an array, ascending */

/* PANELS, CHAINS of less than a line, of more, FUSED, SQUARE, JOIN with SPLIT, C2R with R2C */
enum { RS_RATE_GROUPS = 7 };

typedef struct rs_rates {
    double factors[RS_RATE_KINDS][RS_RATE_SIZES]; /* to the model's weight */
    double middle[RS_RATE_GROUPS][RS_RATE_SIZES]; /* the median of a group's kinds */
    double least;                                 /* of these, and at most 1 */
} rs_rates;

/* Sets all but the factors; false when one of these is beyond what a machine may show. */
bool rs_rates_check(rs_rates *rates);

/* The nearest factor that this check takes: one run of a stage may meet another program. */
double rs_rates_limit(double factor);

/*
 * The factor of a stage of the host, between those of the sizes next to its own; 1 for stages that
 * have no kind. The second is for choosing: that of the kind or of its group, whichever is more,
 * and half of the way from the model to that. Who takes the cheapest of many candidates by
 * measurements alone finds the one whose kind was measured most wrongly.
 */
double rs_rates_factor(const rs_rates *rates, const rs_transpose_task *task,
                       const rs_engine_traits *traits);
double rs_rates_group_factor(const rs_rates *rates, const rs_transpose_task *task,
                             const rs_engine_traits *traits);

/* The bytes of all arrays of a stage. */
double rs_rates_bytes(const rs_transpose_task *task);

/* A stage of a kind that moves about so many bytes. */
rs_transpose_task rs_rates_example(size_t kind, size_t size, const rs_engine_traits *traits);

#endif
