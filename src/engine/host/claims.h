/*
 * The claim protocol of cycle following, for every engine that moves elements with PTTWAC (Sung
 * thesis, sections 4.5 and 4.6; algorithms 1 and 2).
 *
 * Many workers follow the cycles of one permutation in place. A bit an element, clear at first,
 * says whether its position is claimed. Only who has claimed a position stores to it, once.
 *
 *     start at i:
 *         1  held <- element i
 *         2  acquire fence
 *         3  leave when i is claimed
 *     then, with j the place where the held element belongs:
 *         4  claim j, an atomic read-modify-write; leave when it was claimed before
 *         5  release fence
 *         6  next <- element j;  element j <- held;  held <- next
 *         7  j <- where the held element belongs; again from 4
 *
 * Every position that is not fixed is started at once by some worker.
 *
 * Invariant: what a worker holds is the first content of the position that it started at or claimed
 * last. Step 6 keeps it, since nobody else stores to j. Step 1 alone would not: i may be claimed
 * and overwritten at any time. But if step 1 has read what another worker stored in its step 6, the
 * fences 5 and 2 order that worker's claim of i before step 3, which then sees the claim and
 * leaves. Two workers may hold the same element; they have the same value and want the same
 * place, so the claim in step 4 lets one of them store it. None is lost: whoever claims j holds
 * the content of j next, and who starts at i either goes on to its place or sees that somebody
 * claimed i, who does.
 *
 * As published the algorithms look at the flag of i first and read the element after that, without
 * fences: the element may be overwritten in between, and the wrong value travels on. On processors
 * whose warps ran in lock step that was rare; today it is measured. The other ways to be wrong are
 * a fence left out, and a claim made of a load and a store.
 *
 * The content that step 1 reads and a store of step 6 may meet, so both are made of relaxed atomic
 * accesses (a torn element is discarded in step 3). In step 6 the worker may read before it claims,
 * if it discards what it read when the claim fails. Where a group of lanes moves an element
 * together, each lane does 1 and 2 before the lane that does 3 and 4 decides for all of them (a
 * barrier of the group before and after), and each lane does 5.
 *
 * On a device the fences are those of the device's scope: __threadfence() in CUDA,
 * mem_fence(CLK_GLOBAL_MEM_FENCE) in OpenCL C 1.2, both for both. tools/model/claims.pml is this
 * protocol for a model checker, with each of the mistakes above as a switch.
 */
#ifndef RS_ENGINE_HOST_CLAIMS_H
#define RS_ENGINE_HOST_CLAIMS_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Between the steps; a test delays its threads here. */
#ifdef RS_CLAIM_PAUSE
void RS_CLAIM_PAUSE(void);
#else
#define RS_CLAIM_PAUSE() ((void)0)
#endif

enum { RS_CLAIM_WORD_BITS = 32 };

typedef _Atomic(uint32_t) rs_claim_word;

/* How many words the flags of `positions` take. */
static inline size_t rs_claim_words(size_t positions)
{
    return positions / RS_CLAIM_WORD_BITS + (positions % RS_CLAIM_WORD_BITS != 0);
}

static inline uint32_t rs_claim_bit(size_t position)
{
    return (uint32_t)1 << (position % RS_CLAIM_WORD_BITS);
}

/* A look that orders nothing, to leave early. */
static inline bool rs_claim_seen(const rs_claim_word *words, size_t position)
{
    uint32_t word =
        atomic_load_explicit(&words[position / RS_CLAIM_WORD_BITS], memory_order_relaxed);
    RS_CLAIM_PAUSE();
    return (word & rs_claim_bit(position)) != 0;
}

/* Steps 2 and 3: whether the element that was just read from `position` is its first content. */
static inline bool rs_claim_confirm(const rs_claim_word *words, size_t position)
{
    RS_CLAIM_PAUSE();
    atomic_thread_fence(memory_order_acquire);
    return !rs_claim_seen(words, position);
}

/* Steps 4 and 5: whether the caller is the one who may store to `position`. */
static inline bool rs_claim_take(rs_claim_word *words, size_t position)
{
    uint32_t before = atomic_fetch_or_explicit(&words[position / RS_CLAIM_WORD_BITS],
                                               rs_claim_bit(position), memory_order_relaxed);
    atomic_thread_fence(memory_order_release);
    RS_CLAIM_PAUSE();
    return (before & rs_claim_bit(position)) == 0;
}

#endif
