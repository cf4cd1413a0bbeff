/* Chains and the cycles without one; see cycle.h. */
#include "engine/host/cycle.h"

#include <stdlib.h>

enum { WORD_BITS = 64 };

static bool prime(size_t number)
{
    for (size_t factor = 2; factor * factor <= number; factor++)
        if (number % factor == 0)
            return false;
    return true;
}

/* Multiples of a divisor of total - 1 map to each other, and their chains would have length 1: a
 * prime that does not divide it spreads the starts over the cycles. */
static size_t choose_stride(size_t total, size_t least)
{
    size_t stride = least;
    while (!prime(stride) || (total > 1 && (total - 1) % stride == 0))
        stride++;
    return stride;
}

void rs_host_cycles_begin(rs_host_cycles *cycles, size_t rows, size_t cols, size_t stride)
{
    size_t total = rows * cols;
    stride = choose_stride(total, stride);
    *cycles = (rs_host_cycles){
        .rows = rows,
        .cols = cols,
        .total = total,
        .stride = stride,
        .starts = total > 2 ? (total - 2) / stride : 0,
        .by_rows = rs_host_divider_make(rows, total),
        .by_stride = rs_host_divider_make(stride, total),
    };
}

static void mark(uint64_t *bits, size_t position)
{
    bits[position / WORD_BITS] |= (uint64_t)1 << (position % WORD_BITS);
}

/*
 * The number of positions that the chains reach. Several chains are followed at once, since each
 * step waits for the one before it.
 */
static size_t walk_chains(const rs_host_cycles *cycles, uint64_t *seen)
{
    enum { LANES = 8 };
    size_t positions[LANES];
    size_t lanes = 0;
    size_t next = 1;
    size_t reached = 0;
    while (lanes < LANES && next <= cycles->starts)
        positions[lanes++] = next++ * cycles->stride;
    while (lanes > 0)
        for (size_t i = 0; i < lanes; i++) {
            reached++;
            if (seen != NULL)
                mark(seen, positions[i]);
            positions[i] = rs_host_source(cycles, positions[i]);
            if (rs_host_chain_at(cycles, positions[i]) == 0)
                continue;
            if (next <= cycles->starts)
                positions[i] = next++ * cycles->stride;
            else
                positions[i--] = positions[--lanes];
        }
    return reached;
}

/* Marks one position of each cycle that has none marked as seen. */
static void find_leaders(rs_host_cycles *cycles, uint64_t *seen)
{
    mark(seen, 0);
    mark(seen, cycles->total - 1);
    for (size_t word = 0; word < cycles->leader_words; word++)
        for (size_t bit = 0; seen[word] != UINT64_MAX && bit < WORD_BITS; bit++) {
            size_t position = word * WORD_BITS + bit;
            if (position >= cycles->total || (seen[word] >> bit & 1) != 0)
                continue;
            size_t source = rs_host_source(cycles, position);
            mark(seen, position);
            if (source != position)
                mark(cycles->leaders, position);
            for (; source != position; source = rs_host_source(cycles, source))
                mark(seen, source);
        }
}

restride_status rs_host_cycles_create(rs_host_cycles *cycles, size_t rows, size_t cols,
                                      size_t stride)
{
    rs_host_cycles_begin(cycles, rows, cols, stride);
    if (cycles->total <= 2 || walk_chains(cycles, NULL) == cycles->total - 2)
        return RESTRIDE_OK;
    cycles->leader_words = (cycles->total - 1) / WORD_BITS + 1;
    uint64_t *seen = calloc(cycles->leader_words, sizeof *seen);
    cycles->leaders = calloc(cycles->leader_words, sizeof *cycles->leaders);
    restride_status status = RESTRIDE_OK;
    if (seen == NULL || cycles->leaders == NULL) {
        rs_host_cycles_free(cycles);
        status = rs_fail_memory("the cycles of a transposition");
    } else {
        walk_chains(cycles, seen);
        find_leaders(cycles, seen);
    }
    free(seen);
    return status;
}

void rs_host_cycles_free(rs_host_cycles *cycles)
{
    free(cycles->leaders);
    cycles->leaders = NULL;
}
