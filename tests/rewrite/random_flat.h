/* Random kernels on flat arrays: records told by annotations, in AoS and SoA. */
#ifndef RS_TESTS_REWRITE_RANDOM_FLAT_H
#define RS_TESTS_REWRITE_RANDOM_FLAT_H

#include "base/text.h"

#include <stddef.h>

/* Writes kernel g<number> with arguments a, b and n, and its annotations; the sizes are those of
 * the records that these tell. */
void write_flat_kernel(rs_text *out, int number, size_t sizes[2]);

#endif
