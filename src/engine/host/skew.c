/* The barrel shifter of the column stages; see shuffle.h. */
#include "engine/host/shuffle.h"
#include "engine/host/simd.h"

#include <stdbool.h>
#include <string.h>

enum { NEAR_STAGES = 4, STAGES = 6, BLOCK = 8 };

#define INLINE static inline __attribute__((always_inline))

void rs_host_skew_begin(rs_host_skew *skew, const unsigned char shifts[RS_HOST_STRIP], size_t width,
                        int backward)
{
    memset(skew, 0, sizeof *skew);
    skew->width = width;
    skew->prelude = RS_HOST_NEAR;
    for (size_t t = 0; t < RS_HOST_STRIP; t++)
        if (shifts[t] >= RS_HOST_NEAR)
            skew->prelude = RS_HOST_FAR;
    for (int stage = 0; stage < STAGES; stage++) {
        unsigned char bytes[RS_HOST_STRIP];
        for (size_t t = 0; t < RS_HOST_STRIP; t++)
            bytes[t] = ((shifts[t] >> stage & 1) != 0) != (backward != 0) ? 0xff : 0;
        memcpy(&skew->masks[stage], bytes, sizeof bytes);
    }
}

/* The new row where the mask is set, else the one that waited; then the new one waits. Vectors go
 * by address, because versions for several instruction sets pass them differently. */
INLINE void stage(const rs_host_strip *mask, rs_host_strip *row, rs_host_strip *kept)
{
    rs_host_strip chosen = (*row & *mask) | (*kept & ~*mask);
    *kept = *row;
    *row = chosen;
}

INLINE const unsigned char *next_row(rs_host_ring *ring)
{
    const unsigned char *row = ring->next;
    ring->next += ring->stride;
    if (ring->next == ring->end)
        ring->next = ring->begin;
    return row;
}

INLINE void far_stages(rs_host_skew *skew, rs_host_strip *row, size_t step)
{
    stage(&skew->masks[4], row, &skew->kept16[step % 16]);
    stage(&skew->masks[5], row, &skew->kept32[step % 32]);
}

/* The lines that a strip may touch, into the second level; the first one is the last one of the
 * strip before. */
INLINE void prefetch(const unsigned char *strip, size_t ahead, bool first)
{
    uintptr_t address = (uintptr_t)strip + ahead;
    if (first)
        __builtin_prefetch((const void *)address, 0, 2);
    __builtin_prefetch((const void *)(address + RS_HOST_STRIP - 1), 0, 2);
}

/* Eight rows at a time with all of the near stages in registers. */
INLINE void run_blocks(rs_host_skew *skew, rs_host_ring *in, unsigned char *out, size_t out_stride,
                       size_t steps, bool distant, bool reads_memory)
{
    size_t in_ahead = skew->in_ahead;
    size_t out_ahead = skew->out_ahead;
    bool first = skew->first;
    rs_host_strip masks[NEAR_STAGES];
    rs_host_strip kept1[1];
    rs_host_strip kept2[2];
    rs_host_strip kept4[4];
    rs_host_strip kept8[8];
    memcpy(masks, skew->masks, sizeof masks);
    memcpy(kept1, skew->kept1, sizeof kept1);
    memcpy(kept2, skew->kept2, sizeof kept2);
    memcpy(kept4, skew->kept4, sizeof kept4);
    memcpy(kept8, skew->kept8, sizeof kept8);
    rs_host_ring ring = *in;
    for (size_t s = 0; s < steps; s += BLOCK) {
        _Pragma("GCC unroll 8") for (int k = 0; k < BLOCK; k++)
        {
            const unsigned char *from = next_row(&ring);
            if (reads_memory)
                prefetch(from, in_ahead, first);
            else
                prefetch(out, out_ahead, first);
            rs_host_strip row = *(const rs_host_loose_strip *)from;
            stage(&masks[0], &row, &kept1[0]);
            stage(&masks[1], &row, &kept2[k % 2]);
            stage(&masks[2], &row, &kept4[k % 4]);
            stage(&masks[3], &row, &kept8[k]);
            if (distant)
                far_stages(skew, &row, skew->step + s + (size_t)k);
            *(rs_host_loose_strip *)out = row;
            out += out_stride;
        }
    }
    *in = ring;
    skew->step += steps;
    memcpy(skew->kept1, kept1, sizeof kept1);
    memcpy(skew->kept2, kept2, sizeof kept2);
    memcpy(skew->kept4, kept4, sizeof kept4);
    memcpy(skew->kept8, kept8, sizeof kept8);
}

/* The same one by one: what is left of a strip, and strips that are not whole. */
static void run_singly(rs_host_skew *skew, rs_host_ring *in, unsigned char *out, size_t out_stride,
                       size_t steps)
{
    for (size_t s = 0; s < steps; s++, skew->step++) {
        rs_host_strip row = {0};
        memcpy(&row, next_row(in), skew->width);
        stage(&skew->masks[0], &row, &skew->kept1[0]);
        stage(&skew->masks[1], &row, &skew->kept2[skew->step % 2]);
        stage(&skew->masks[2], &row, &skew->kept4[skew->step % 4]);
        stage(&skew->masks[3], &row, &skew->kept8[skew->step % 8]);
        if (skew->prelude == RS_HOST_FAR)
            far_stages(skew, &row, skew->step);
        memcpy(out, &row, skew->width);
        out += out_stride;
    }
}

#define DEFINE_RUN(name, attribute)                                                                \
    attribute static void name(rs_host_skew *skew, rs_host_ring *in, unsigned char *out,           \
                               size_t out_stride, size_t steps)                                    \
    {                                                                                              \
        size_t blocks = skew->width == RS_HOST_STRIP ? steps / BLOCK * BLOCK : 0;                  \
        bool reads_memory = skew->in_ahead != 0;                                                   \
        if (skew->prelude == RS_HOST_FAR && reads_memory)                                          \
            run_blocks(skew, in, out, out_stride, blocks, true, true);                             \
        else if (skew->prelude == RS_HOST_FAR)                                                     \
            run_blocks(skew, in, out, out_stride, blocks, true, false);                            \
        else if (reads_memory)                                                                     \
            run_blocks(skew, in, out, out_stride, blocks, false, true);                            \
        else                                                                                       \
            run_blocks(skew, in, out, out_stride, blocks, false, false);                           \
        run_singly(skew, in, out + blocks * out_stride, out_stride, steps - blocks);               \
    }

DEFINE_RUN(run_portable, )
#ifdef __x86_64__
DEFINE_RUN(run_avx2, RS_AVX2)
DEFINE_RUN(run_avx512, RS_AVX512("avx512f"))
#endif

rs_host_skew_run *rs_host_skew_choose(void)
{
    rs_host_skew_run *chosen = run_portable;
#ifdef __x86_64__
    if (__builtin_cpu_supports("avx2"))
        chosen = run_avx2;
    if (__builtin_cpu_supports("avx512f"))
        chosen = run_avx512;
#endif
    return chosen;
}
