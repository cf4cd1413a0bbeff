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
#define ALIGNED(bytes) __align__(bytes)
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

/* The same of 4 and 16 bytes, which begin at multiples of as many. */
FUNCTION void fetch_32(uint *target, const uint *source)
{
    uint address = (uint)__cvta_generic_to_shared(target);
    asm volatile("cp.async.ca.shared.global [%0], [%1], 4;" ::"r"(address), "l"(source) : "memory");
}

FUNCTION void fetch_128(uint4 *target, const uint4 *source)
{
    uint address = (uint)__cvta_generic_to_shared(target);
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(address), "l"(source) : "memory");
}

FUNCTION void drain(void)
{
    asm volatile("cp.async.wait_all;" ::: "memory");
}

/*
 * Bulk copies, of multiples of 16 bytes between multiples of 16, which one thread starts and the
 * copy engine makes. A bell rings when as many bytes have arrived in shared memory as one thread
 * expected of this turn; turns are numbered 0, 1, 0 and so on. The next turn begins when
 * this one has been heard.
 */
typedef ulong bell;
#if __CUDA_ARCH__ >= 900
FUNCTION uint shared_address(const void *place)
{
    return (uint)__cvta_generic_to_shared(place);
}

/* By one thread, before anything is expected. */
FUNCTION void begin_bell(bell *b)
{
    asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;\n"
                 "fence.proxy.async.shared::cta;" ::"r"(shared_address(b))
                 : "memory");
}

FUNCTION void expect(bell *b, uint bytes)
{
    asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(shared_address(b)),
                 "r"(bytes)
                 : "memory");
}

FUNCTION void await_bell(bell *b, uint turn)
{
    asm volatile("{\n"
                 ".reg .pred rung;\n"
                 "again:\n"
                 "mbarrier.try_wait.parity.shared::cta.b64 rung, [%0], %1;\n"
                 "@!rung bra again;\n"
                 "}" ::"r"(shared_address(b)),
                 "r"(turn)
                 : "memory");
}

FUNCTION void bulk_fetch(void *target, const void *source, uint bytes, bell *b)
{
    asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes "
                 "[%0], [%1], %2, [%3];" ::"r"(shared_address(target)),
                 "l"(__cvta_generic_to_global(source)), "r"(bytes), "r"(shared_address(b))
                 : "memory");
}

/* What bulk copies brought into shared memory; what threads wrote there needs a fence between. */
FUNCTION void bulk_store(void *target, const void *source, uint bytes)
{
    asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], %2;" ::"l"(
                     __cvta_generic_to_global(target)),
                 "r"(shared_address(source)), "r"(bytes)
                 : "memory");
}

/* The stores that this thread started since the last time are a group. */
FUNCTION void end_stores(void)
{
    asm volatile("cp.async.bulk.commit_group;" ::: "memory");
}

/* Orders bulk copies that this thread starts behind what it has read and written itself. */
#define BULK_FENCE() asm volatile("fence.proxy.async;" ::: "memory")

/* Waits until all of them have arrived. */
#define STORES_DONE() asm volatile("cp.async.bulk.wait_group 0;" ::: "memory")

/* Waits until shared memory is free of all groups but some of the last. */
#define FREE_OF_STORES(but_last)                                                                   \
    asm volatile("cp.async.bulk.wait_group.read %0;" ::"n"(but_last) : "memory")
#endif

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

/*
 * A flag says how often something has happened: in run n it is raised to n. Who raises it finds the number
 * that all flags of this run have. Read and written as by arrive() and await(), but by one thread; the
 * barriers of its block order the others.
 */
FUNCTION uint raise_flag(uint *flag)
{
    uint before;
    asm volatile("atom.add.acq_rel.gpu.global.u32 %0, [%1], 1;" : "=r"(before) : "l"(flag) : "memory");
    return before + 1;
}

FUNCTION void await_flag(const uint *flag, uint goal)
{
    uint now;
    do {
        asm volatile("ld.acquire.gpu.global.u32 %0, [%1];" : "=r"(now) : "l"(flag) : "memory");
    } while ((int)(now - goal) < 0);
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
/* The branch is never worth taking, but the bits must have come before that is known. */
#define ARRIVED(bits)                                                                              \
    asm volatile("{\n"                                                                             \
                 ".reg .pred never;\n"                                                             \
                 "setp.eq.u32 never, %0, 0x7fedcba9;\n"                                            \
                 "@never membar.cta;\n"                                                            \
                 "}" ::"r"(bits)                                                                   \
                 : "memory")
#define GROUPS ((ulong)gridDim.x)
#define UNROLL _Pragma("unroll")
#define UNROLL_4 _Pragma("unroll 4")

#endif
