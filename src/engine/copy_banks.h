/* Words that a device accesses together, and padding of local memory, so that neighbours of a run
 * lie in different banks on both sides of a copy. */
#ifndef RS_ENGINE_COPY_BANKS_H
#define RS_ENGINE_COPY_BANKS_H

#include "engine/copy_runs.h"

typedef struct {
    size_t even_vector, uneven_vector; /* words; powers of two */
    unsigned shift;                    /* padding lies behind every 2^shift words */
    size_t skew;                       /* words of it */
} rs_copy_banks;

/* `most_even` and `most_uneven` are the longest vectors that divide all runs and distances. */
void rs_copy_banks_choose(rs_copy_banks *banks, const rs_copy_runs *even,
                          const rs_copy_runs *uneven, size_t word, size_t most_even,
                          size_t most_uneven);

#endif
