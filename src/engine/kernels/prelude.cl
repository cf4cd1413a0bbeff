/*
 * The dialect that the kernels of transposition are written in, for OpenCL C. A prelude for CUDA C
 * defines the same words, and the kernels behind it stay as they are:
 *
 *     KERNEL FUNCTION                      extern "C" __global__ void; static __device__
 *     KERNEL_FOR(items)                    for groups of that size: __launch_bounds__ in CUDA
 *     GLOBAL LOCAL                         address spaces, empty in CUDA
 *     LOCAL_ARRAY(type, name)              the last parameter of a kernel, as large as the launch
 * says LOCAL_BEGIN(type, name)              its declaration in the body: extern __shared__ in CUDA
 *     LOCAL_ID LOCAL_SIZE GROUP_ID GLOBAL_ID    in the first dimension
 *     GROUP_ID_2                           in the second
 *     BARRIER BARRIER_ALL                  the group waits, and its stores to local memory are
 *                                          seen; those to global memory too
 *     MULTIPLY_HIGH MULTIPLY_HIGH_32       the upper half of a product
 *     INCREMENT(pointer)                   atomic, returns what was there
 *     ADD LOWER RAISE (pointer, value)     atomic on uint: sum, the smaller, the larger
 *     SET_BITS(pointer, bits)              atomic on uint; ADD and this return what was there
 *     FENCE                                no access of a work-item moves across it
 *     GROUPS                               their number, in the first dimension
 *     ARRIVED(bits)                        what they were made of was loaded before anything behind
 *                                          this is stored; only speed depends on it
 *     UNROLL UNROLL_4                      before a loop: with a constant trip count; four at once
 *
 * The host defines WORD, the type that the kernels move: 1, 2, 4, 8 or 16 bytes.
 *
 * No kernel assumes a size of sub-groups or that work-items advance together, every barrier is met
 * by all work-items of the group, and groups never wait for each other.
 */
#define KERNEL kernel void
#define KERNEL_FOR(items) kernel __attribute__((reqd_work_group_size(items, 1, 1))) void
#define FUNCTION static inline
#define GLOBAL global
#define LOCAL local
#define LOCAL_ARRAY(type, name) local type *name
#define LOCAL_BEGIN(type, name)
#define LOCAL_ID ((uint)get_local_id(0))
#define LOCAL_SIZE ((uint)get_local_size(0))
#define GROUP_ID ((ulong)get_group_id(0))
#define GROUP_ID_2 ((ulong)get_group_id(1))
#define GLOBAL_ID ((ulong)get_global_id(0))
#define BARRIER barrier(CLK_LOCAL_MEM_FENCE)
#define BARRIER_ALL barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE)
#define MULTIPLY_HIGH(a, b) mul_hi((ulong)(a), (ulong)(b))
#define MULTIPLY_HIGH_32(a, b) mul_hi((uint)(a), (uint)(b))
#define INCREMENT(pointer) atomic_inc(pointer)
#define ADD(pointer, value) atomic_add(pointer, value)
#define LOWER(pointer, value) atomic_min(pointer, value)
#define RAISE(pointer, value) atomic_max(pointer, value)
#define SET_BITS(pointer, bits) atomic_or(pointer, bits)
#define FENCE mem_fence(CLK_GLOBAL_MEM_FENCE | CLK_LOCAL_MEM_FENCE)
#define GROUPS ((ulong)get_num_groups(0))
#ifdef __NV_CL_C_VERSION
#define ARRIVED(bits)                                                                              \
    asm volatile("{\n"                                                                             \
                 ".reg .pred never;\n"                                                             \
                 "setp.eq.u32 never, %0, 0x7fedcba9;\n"                                            \
                 "@never membar.cta;\n"                                                            \
                 "}" ::"r"(bits)                                                                   \
                 : "memory")
#else
#define ARRIVED(bits) (void)(bits)
#endif
#define UNROLL _Pragma("unroll")
#define UNROLL_4 _Pragma("unroll 4")
