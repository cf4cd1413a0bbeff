/*
 * What the CUDA kernels share. They are compiled at run time, without any header; the host defines
 * WORD_BYTES, the width of one access, and the sizes that each kernel names in its first comment.
 */
#ifndef RS_CUDA_COMMON
#define RS_CUDA_COMMON

#ifdef BLOCKS
#define KERNEL extern "C" __global__ void __launch_bounds__(THREADS, BLOCKS)
#else
#define KERNEL extern "C" __global__ void
#endif
#define FUNCTION static __device__ __forceinline__
/* Shared memory, as much as the launch says. */
#define STORAGE(cells)                                                                             \
    extern __shared__ uint4 storage[];                                                             \
    word *cells = (word *)storage

typedef unsigned char uchar;
typedef unsigned short ushort;
typedef unsigned int uint;
typedef unsigned long long ulong;

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

#define LINE_WORDS ((uint)(128 / sizeof(word)))

/* How many words of its line lie before `place`. */
FUNCTION uint inside_line(const word *place)
{
    return (uint)((size_t)place / sizeof(word)) % LINE_WORDS;
}

/*
 * Starts a copy of one word into shared memory; drain() waits until all that this thread started
 * have arrived. Nothing passes through registers, so as many copies are under way as there are
 * words.
 */
FUNCTION void fetch(word *target, const word *source)
{
#if WORD_BYTES >= 4
    uint address = (uint)__cvta_generic_to_shared(target);
    asm volatile("cp.async.ca.shared.global [%0], [%1], %2;" ::"r"(address), "l"(source),
                 "n"(WORD_BYTES)
                 : "memory");
#else
    *target = *source;
#endif
}

FUNCTION void drain(void)
{
#if WORD_BYTES >= 4
    asm volatile("cp.async.wait_all;" ::: "memory");
#endif
}

/*
 * A gate is where all threads of `members` blocks meet: each block arrives and then waits for its
 * goal. The blocks must be resident together, which a cooperative launch guarantees. The counter
 * only grows, so no launch has to reset it: each arrival finds its own goal in the ticket that it
 * draws, if no block arrives at the next gate before it has passed this one. What was read before a
 * block arrived cannot see what others write behind the gate: release and acquire at the scope of
 * the device order both.
 */
FUNCTION ulong arrive(ulong *counter, uint members)
{
    ulong goal = 0;
    __syncthreads();
    if (threadIdx.x == 0) {
        ulong ticket;
        asm volatile("atom.add.acq_rel.gpu.global.u64 %0, [%1], 1;"
                     : "=l"(ticket)
                     : "l"(counter)
                     : "memory");
        goal = (ticket / members + 1) * members;
    }
    return goal;
}

FUNCTION void await(ulong *counter, ulong goal)
{
    if (threadIdx.x == 0) {
        ulong arrived;
        do {
            asm volatile("ld.acquire.gpu.global.u64 %0, [%1];"
                         : "=l"(arrived)
                         : "l"(counter)
                         : "memory");
        } while (arrived < goal);
    }
    __syncthreads();
}

FUNCTION void gate(ulong *counter, uint members)
{
    await(counter, arrive(counter, members));
}

/* The dialect of the kernels of all devices (engine/kernels/prelude.cl). */
#define KERNEL_FOR(items) extern "C" __global__ void __launch_bounds__(items)
#define GLOBAL
#define LOCAL
#define LOCAL_ARRAY(type, name) ulong unused_##name
#define LOCAL_BEGIN(type, name)                                                                    \
    extern __shared__ uint4 storage[];                                                             \
    type *name = (type *)storage;
#define LOCAL_ID threadIdx.x
#define LOCAL_SIZE blockDim.x
#define GROUP_ID ((ulong)blockIdx.x)
#define GROUP_ID_2 ((ulong)blockIdx.y)
#define GLOBAL_ID ((ulong)blockIdx.x * blockDim.x + threadIdx.x)
#define BARRIER __syncthreads()
#define BARRIER_ALL __syncthreads()
#define MULTIPLY_HIGH(a, b) __umul64hi(a, b)
#define MULTIPLY_HIGH_32(a, b) __umulhi(a, b)
#define INCREMENT(pointer) atomicAdd(pointer, 1u)
#define ADD(pointer, value) atomicAdd(pointer, value)
#define LOWER(pointer, value) atomicMin(pointer, value)
#define RAISE(pointer, value) atomicMax(pointer, value)
#define SET_BITS(pointer, bits) atomicOr(pointer, bits)
#define FENCE __threadfence()
#define GROUPS ((ulong)gridDim.x)
#define UNROLL _Pragma("unroll")
#define UNROLL_4 _Pragma("unroll 4")

#endif
