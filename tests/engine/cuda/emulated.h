/*
 * What the kernels of the CUDA engine need to be compiled as C for this machine, in place of
 * src/engine/cuda/kernels/common.cu. Each CUDA thread is a coroutine (driver.c); a barrier is a
 * turn of the scheduler, so all blocks advance together and a kernel that forgets one fails.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define KERNEL void
#define FUNCTION static inline
#define ALIGNED(bytes) __attribute__((aligned(bytes)))
#define STORAGE(cells) word *cells = emulated->shared

typedef unsigned char uchar;
typedef unsigned short ushort;
typedef unsigned int uint;
typedef unsigned long long ulong;
typedef struct {
    uint x, y;
} uint2;
typedef struct {
    uint x, y, z, w;
} uint4;

#if WORD_BYTES == 1
typedef unsigned char word;
#elif WORD_BYTES == 2
typedef unsigned short word;
#elif WORD_BYTES == 4
typedef unsigned int word;
#elif WORD_BYTES == 8
typedef uint2 word;
#else
typedef uint4 word;
#endif

/* The running thread; the driver sets it before each turn. */
typedef struct {
    uint thread, block, blocks;
    uint threads, block_2;
    void *shared;
    void (*wait)(uint members); /* 0: the block */
    void (*yield)(void);        /* until the others have had their turn */
} emulated_thread;

const emulated_thread *emulated;

typedef struct {
    uint x;
} emulated_index;
#define threadIdx ((emulated_index){emulated->thread})
#define blockIdx ((emulated_index){emulated->block})
#define gridDim ((emulated_index){emulated->blocks})

#define min(a, b) ((a) < (b) ? (a) : (b))
#define max(a, b) ((a) > (b) ? (a) : (b))
#define __ffsll(bits) __builtin_ffsll(bits)
#define __umul64hi(a, b) ((ulong)((unsigned __int128)(a) * (b) >> 64))
#define __syncthreads() emulated->wait(0)
#define atomicAdd(pointer, value) (*(pointer) += (value))

#define LINE_WORDS ((uint)(128 / sizeof(word)))

/* How many words of its line lie before `place`. */
FUNCTION uint inside_line(const word *place)
{
    return (uint)((size_t)place / sizeof(word)) % LINE_WORDS;
}

/* The earliest time at which a copy may arrive. */
FUNCTION void fetch(word *target, const word *source)
{
    *target = *source;
}

FUNCTION void fetch_32(uint *target, const uint *source)
{
    if (((size_t)target | (size_t)source) % 4 != 0)
        __builtin_trap();
    *target = *source;
}

FUNCTION void fetch_128(uint4 *target, const uint4 *source)
{
    if (((size_t)target | (size_t)source) % 16 != 0)
        __builtin_trap();
    *target = *source;
}

FUNCTION void drain(void)
{
}

/* Bulk copies: as late as they may be. What is fetched is garbage until its bell has been heard,
 * and what is stored stays where it was until the thread waits for its stores. */
typedef struct {
    uint expected;       /* bytes */
    uint is_awaited : 1; /* something is expected, if only no bytes */
    uint turn : 1;       /* that is under way */
} bell;

typedef struct {
    const void *owner; /* a bell, or the thread that stores */
    void *target;
    const void *source;
    uint bytes;
} bulk_copy;

enum { MOST_BULK_COPIES = 65536, GARBAGE = 0xdb };
static bulk_copy bulk_copies[MOST_BULK_COPIES];
static uint bulk_count;

/* Makes the copies of an owner, or forgets them; returns their bytes. */
FUNCTION uint end_bulk(const void *owner, bool makes)
{
    uint kept = 0, bytes = 0;
    for (uint i = 0; i < bulk_count; i++) {
        const bulk_copy c = bulk_copies[i];
        if (c.owner != owner) {
            bulk_copies[kept++] = c;
            continue;
        }
        bytes += c.bytes;
        if (makes)
            memcpy(c.target, c.source, c.bytes);
    }
    bulk_count = kept;
    return bytes;
}

FUNCTION void begin_bulk(const void *owner, void *target, const void *source, uint bytes)
{
    if (((size_t)target | (size_t)source | bytes) % 16 != 0 || bulk_count == MOST_BULK_COPIES)
        __builtin_trap();
    bulk_copies[bulk_count++] = (bulk_copy){owner, target, source, bytes};
}

FUNCTION void begin_bell(bell *b)
{
    *b = (bell){0};
    end_bulk(b, false);
    end_bulk(emulated, false);
}

FUNCTION void bulk_fetch(void *target, const void *source, uint bytes, bell *b)
{
    begin_bulk(b, target, source, bytes);
    memset(target, GARBAGE, bytes);
}

FUNCTION void expect(bell *b, uint bytes)
{
    b->expected += bytes;
    b->is_awaited = 1;
}

/* All that is expected must be on its way, and a turn that is over is not heard again, or it would
 * wait for ever; who waits for the turn before does not wait. */
FUNCTION void await_bell(bell *b, uint turn)
{
    if (turn != b->turn)
        return;
    if (!b->is_awaited || end_bulk(b, true) != b->expected)
        __builtin_trap();
    *b = (bell){.turn = turn ^ 1};
}

FUNCTION void bulk_store(void *target, const void *source, uint bytes)
{
    begin_bulk(emulated, target, source, bytes);
}

FUNCTION void end_stores(void)
{
}

#define BULK_FENCE()
#define STORES_DONE() end_bulk(emulated, true)
#define FREE_OF_STORES(but_last) (end_bulk(emulated, true), (void)(but_last))

/* Without the barrier of the block that it has, so that a kernel that does not wait fails. */
FUNCTION ulong arrive(ulong *counter, uint members)
{
    (void)counter;
    return members;
}

FUNCTION void await(ulong *counter, ulong goal)
{
    (void)counter;
    emulated->wait((uint)goal);
}

FUNCTION void gate(ulong *counter, uint members)
{
    await(counter, arrive(counter, members));
}

FUNCTION uint raise_flag(uint *flag)
{
    return ++*flag;
}

FUNCTION void await_flag(const uint *flag, uint goal)
{
    while ((int)(*flag - goal) < 0)
        emulated->yield();
}

/* The dialect of the kernels of all devices (src/engine/kernels/prelude.cl). */
#define KERNEL_FOR(items) void
#define GLOBAL
#define LOCAL
#define LOCAL_ARRAY(type, name) ulong unused_##name
#define LOCAL_BEGIN(type, name) type *name = emulated->shared;
#define LOCAL_ID (emulated->thread)
#define LOCAL_SIZE (emulated->threads)
#define GROUP_ID ((ulong)emulated->block)
#define GROUP_ID_2 ((ulong)emulated->block_2)
#define GLOBAL_ID ((ulong)emulated->block * emulated->threads + emulated->thread)
#define BARRIER emulated->wait(0)
#define BARRIER_ALL emulated->wait(0)
#define MULTIPLY_HIGH(a, b) __umul64hi(a, b)
#define MULTIPLY_HIGH_32(a, b) ((uint)((ulong)(a) * (b) >> 32))
#define INCREMENT(pointer) ((*(pointer))++)
#define ADD(pointer, value) ((*(pointer) += (value)) - (value))
#define LOWER(pointer, value) (*(pointer) = min(*(pointer), (value)))
#define RAISE(pointer, value) (*(pointer) = (value) > *(pointer) ? (value) : *(pointer))
#define SET_BITS(pointer, bits) set_bits(pointer, bits)
#define FENCE
#define ARRIVED(bits) (void)(bits)
#define GROUPS ((ulong)emulated->blocks)
#define UNROLL
#define UNROLL_4

FUNCTION uint set_bits(uint *pointer, uint bits)
{
    uint before = *pointer;
    *pointer |= bits;
    return before;
}
