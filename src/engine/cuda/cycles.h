/*
 * The cycles of 100! as the kernel of chains.c wants them: arithmetic alone, nothing of CUDA.
 *
 * Position q = j * rows + i of the result takes what was at i * cols + j; the first and the last
 * element stay.
 */
#ifndef RS_ENGINE_CUDA_CYCLES_H
#define RS_ENGINE_CUDA_CYCLES_H

#include "base/status.h"

#include <stddef.h>
#include <stdint.h>

/* Cycles of up to this many elements have a mark and no entry in a list. */
enum { RS_CUDA_SHORT_CYCLE = 16 };

typedef struct {
    size_t *ends; /* two a chain: the first position that it writes, the last that it reads */
    size_t chain_count;
    size_t *whole; /* a position of each cycle that is not cut, the longest first */
    size_t whole_count;
    uint64_t *marks; /* a bit for a position of each short cycle; NULL when there is none */
    size_t mark_words;
} rs_cuda_cycles;

/*
 * Cuts long cycles into at most `most_chains` chains of about equal length; with one chain or none
 * nothing is cut. Takes as long as the tables are, however large the matrix is (base/cycles.h).
 * RESTRIDE_OUT_OF_MEMORY, and nothing to free then.
 */
restride_status rs_cuda_cycles_create(rs_cuda_cycles *cycles, size_t rows, size_t cols,
                                      size_t most_chains);
void rs_cuda_cycles_free(rs_cuda_cycles *cycles);

#endif
