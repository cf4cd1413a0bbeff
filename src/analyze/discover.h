/*
 * A layout for memory-level parallelism (Sung 2013, section 6.3.3): the bits of an index that
 * differ between concurrent accesses are brought to the low end of the address, where they spread
 * over the parts of the memory system.
 */
#ifndef RS_ANALYZE_DISCOVER_H
#define RS_ANALYZE_DISCOVER_H

#include "analyze/access.h"

typedef struct {
    int64_t group[3];  /* threads of a work-group along x, y, z */
    int64_t active;    /* work-groups that run at the same time */
    int steering_bits; /* of the address, above those of one burst */
    int burst;         /* bytes */
} rs_memory_parallelism;

#define RS_LAUNCH_USUAL ((rs_memory_parallelism){{128, 1, 1}, 32, 8, 32})

/*
 * Adds the layout expression to `layout` and its dimensions' names to `dims`. False, with the
 * reason, for an array that is not eligible: references that do not share one M, or that are not
 * affine in the threads. The dimensions are called i, j, k... from the slowest to the fastest.
 */
bool rs_array_discover(const rs_accesses *accesses, int array, const rs_memory_parallelism *launch,
                       rs_text *layout, rs_text *dims, const char **reason);

#endif
