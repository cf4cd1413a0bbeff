/* Without a toolkit: what CUDA declares by itself, enough to know types, names and launches. */
#define __global__ __attribute__((global))
#define __device__ __attribute__((device))
#define __host__ __attribute__((host))
#define __shared__ __attribute__((shared))
#define __constant__ __attribute__((constant))
#define __managed__
#define __forceinline__ __inline__ __attribute__((always_inline))
#define __launch_bounds__(...) __attribute__((launch_bounds(__VA_ARGS__)))
#define __align__(n) __attribute__((aligned(n)))
#define __builtin_align__(n) __align__(n)
#define __grid_constant__
#define __restrict__ __restrict
#define RS_BOTH __attribute__((host, device))

#ifdef RS_HAS_LIBRARY
#include <limits.h>
#include <stdint.h>
#include <sys/types.h>
#else
typedef unsigned long size_t;
typedef long ptrdiff_t;
typedef unsigned long uintptr_t;
typedef signed char int8_t;
typedef unsigned char uint8_t;
typedef short int16_t;
typedef unsigned short uint16_t;
typedef int int32_t;
typedef unsigned int uint32_t;
typedef long int64_t;
typedef unsigned long uint64_t;
namespace std
{
using ::int8_t, ::int16_t, ::int32_t, ::int64_t;
using ::size_t, ::ptrdiff_t, ::uintptr_t;
using ::uint8_t, ::uint16_t, ::uint32_t, ::uint64_t;
} // namespace std
typedef unsigned int uint;
typedef unsigned short ushort;
typedef unsigned long ulong;
#endif

#define RS_VECTORS(T, N, A2, A4)                                                                   \
    struct N##1                                                                                    \
    {                                                                                              \
        T x;                                                                                       \
    };                                                                                             \
    struct __align__(A2) N##2                                                                      \
    {                                                                                              \
        T x, y;                                                                                    \
    };                                                                                             \
    struct N##3                                                                                    \
    {                                                                                              \
        T x, y, z;                                                                                 \
    };                                                                                             \
    struct __align__(A4) N##4                                                                      \
    {                                                                                              \
        T x, y, z, w;                                                                              \
    };                                                                                             \
    RS_BOTH N##1 make_##N##1(T);                                                                   \
    RS_BOTH N##2 make_##N##2(T, T);                                                                \
    RS_BOTH N##3 make_##N##3(T, T, T);                                                             \
    RS_BOTH N##4 make_##N##4(T, T, T, T);
RS_VECTORS(signed char, char, 2, 4)
RS_VECTORS(unsigned char, uchar, 2, 4)
RS_VECTORS(short, short, 4, 8)
RS_VECTORS(unsigned short, ushort, 4, 8)
RS_VECTORS(int, int, 8, 16)
RS_VECTORS(unsigned int, uint, 8, 16)
RS_VECTORS(long, long, 16, 16)
RS_VECTORS(unsigned long, ulong, 16, 16)
RS_VECTORS(long long, longlong, 16, 16)
RS_VECTORS(unsigned long long, ulonglong, 16, 16)
RS_VECTORS(float, float, 8, 16)
RS_VECTORS(double, double, 16, 16)
struct dim3 {
    unsigned int x, y, z;
    RS_BOTH constexpr dim3(unsigned int a = 1, unsigned int b = 1, unsigned int c = 1)
        : x(a), y(b), z(c)
    {
    }
    RS_BOTH constexpr dim3(uint3 v) : x(v.x), y(v.y), z(v.z) {}
};

extern RS_DEVICE const uint3 threadIdx, blockIdx;
extern RS_DEVICE const dim3 blockDim, gridDim;
extern RS_DEVICE const int warpSize;

/* clang has these as built-in functions of the target, or else takes these. */
RS_DEVICE void __syncthreads();
RS_DEVICE int __syncthreads_count(int);
RS_DEVICE int __syncthreads_and(int);
RS_DEVICE int __syncthreads_or(int);
RS_DEVICE void __syncwarp(unsigned = 0xffffffff);
RS_DEVICE void __threadfence();
RS_DEVICE void __threadfence_block();
RS_DEVICE void __threadfence_system();
RS_DEVICE unsigned __activemask();
RS_DEVICE unsigned __ballot_sync(unsigned, int);
RS_DEVICE int __any_sync(unsigned, int);
RS_DEVICE int __all_sync(unsigned, int);
RS_DEVICE void __trap();
RS_DEVICE void __nanosleep(unsigned);
template <class T> struct rs_same {
    typedef T type;
};
#define RS_SAME typename rs_same<T>::type
template <class T> RS_DEVICE T __shfl_sync(unsigned, T, int, int = 32);
template <class T> RS_DEVICE T __shfl_up_sync(unsigned, T, unsigned, int = 32);
template <class T> RS_DEVICE T __shfl_down_sync(unsigned, T, unsigned, int = 32);
template <class T> RS_DEVICE T __shfl_xor_sync(unsigned, T, int, int = 32);
template <class T> RS_DEVICE unsigned __match_any_sync(unsigned, T);
template <class T> RS_DEVICE unsigned __match_all_sync(unsigned, T, int *);
#define RS_LOAD(N) template <class T> RS_DEVICE T N(const T *)
RS_LOAD(__ldg);
RS_LOAD(__ldca);
RS_LOAD(__ldcg);
RS_LOAD(__ldcs);
RS_LOAD(__ldcv);
RS_LOAD(__ldlu);
#define RS_STORE(N) template <class T> RS_DEVICE void N(T *, RS_SAME)
RS_STORE(__stwb);
RS_STORE(__stcg);
RS_STORE(__stcs);
RS_STORE(__stwt);
#define RS_ATOMIC(N)                                                                               \
    template <class T> RS_DEVICE T N(T *, RS_SAME);                                                \
    template <class T> RS_DEVICE T N##_block(T *, RS_SAME);                                        \
    template <class T> RS_DEVICE T N##_system(T *, RS_SAME)
RS_ATOMIC(atomicAdd);
RS_ATOMIC(atomicSub);
RS_ATOMIC(atomicExch);
RS_ATOMIC(atomicMin);
RS_ATOMIC(atomicMax);
RS_ATOMIC(atomicAnd);
RS_ATOMIC(atomicOr);
RS_ATOMIC(atomicXor);
RS_ATOMIC(atomicInc);
RS_ATOMIC(atomicDec);
template <class T> RS_DEVICE T atomicCAS(T *, RS_SAME, RS_SAME);
template <class T> RS_DEVICE T atomicCAS_block(T *, RS_SAME, RS_SAME);
template <class T> RS_DEVICE T atomicCAS_system(T *, RS_SAME, RS_SAME);

#ifndef RS_HAS_LIBRARY
RS_DEVICE int printf(const char *, ...);
RS_DEVICE long long clock64();
RS_DEVICE long clock();
RS_BOTH int abs(int);
RS_BOTH float abs(float);
RS_BOTH double abs(double);
#endif
#define RS_NUMBERS(A, B, C)                                                                        \
    RS_BOTH C min(A, B);                                                                           \
    RS_BOTH C max(A, B);
RS_NUMBERS(int, int, int)
RS_NUMBERS(unsigned, unsigned, unsigned)
RS_NUMBERS(int, unsigned, unsigned)
RS_NUMBERS(unsigned, int, unsigned)
RS_NUMBERS(long, long, long)
RS_NUMBERS(unsigned long, unsigned long, unsigned long)
RS_NUMBERS(long long, long long, long long)
RS_NUMBERS(unsigned long long, unsigned long long, unsigned long long)
RS_NUMBERS(float, float, float)
RS_NUMBERS(double, double, double)
RS_NUMBERS(float, double, double)
RS_NUMBERS(double, float, double)

RS_DEVICE int __popc(unsigned);
RS_DEVICE int __popcll(unsigned long long);
RS_DEVICE int __clz(int);
RS_DEVICE int __clzll(long long);
RS_DEVICE int __ffs(int);
RS_DEVICE int __ffsll(long long);
RS_DEVICE unsigned __brev(unsigned);
RS_DEVICE unsigned long long __brevll(unsigned long long);
RS_DEVICE unsigned __byte_perm(unsigned, unsigned, unsigned);
RS_DEVICE unsigned __funnelshift_l(unsigned, unsigned, unsigned);
RS_DEVICE unsigned __funnelshift_r(unsigned, unsigned, unsigned);
RS_DEVICE int __mul24(int, int);
RS_DEVICE unsigned __umul24(unsigned, unsigned);
RS_DEVICE int __mulhi(int, int);
RS_DEVICE unsigned __umulhi(unsigned, unsigned);
RS_DEVICE long long __mul64hi(long long, long long);
RS_DEVICE unsigned long long __umul64hi(unsigned long long, unsigned long long);
RS_DEVICE int __dp4a(int, int, int);
RS_DEVICE int __float_as_int(float);
RS_DEVICE unsigned __float_as_uint(float);
RS_DEVICE float __int_as_float(int);
RS_DEVICE float __uint_as_float(unsigned);
RS_DEVICE long long __double_as_longlong(double);
RS_DEVICE double __longlong_as_double(long long);
RS_DEVICE int __double2loint(double);
RS_DEVICE int __double2hiint(double);
RS_DEVICE double __hiloint2double(int, int);
RS_DEVICE int __float2int_rn(float);
RS_DEVICE int __float2int_rz(float);
RS_DEVICE int __float2int_rd(float);
RS_DEVICE int __float2int_ru(float);
RS_DEVICE float __int2float_rn(int);
RS_DEVICE float __saturatef(float);

#define RS_ONE(N)                                                                                  \
    RS_BOTH float N##f(float);                                                                     \
    RS_BOTH double N(double);                                                                      \
    RS_BOTH float N(float);
#define RS_TWO(N)                                                                                  \
    RS_BOTH float N##f(float, float);                                                              \
    RS_BOTH double N(double, double);                                                              \
    RS_BOTH float N(float, float);
RS_ONE(rsqrt)
RS_ONE(rcbrt)
RS_ONE(sinpi)
RS_ONE(cospi)
RS_ONE(normcdf)
RS_ONE(erfinv)
#ifndef RS_HAS_LIBRARY
RS_ONE(sqrt)
RS_ONE(cbrt)
RS_ONE(fabs)
RS_ONE(floor)
RS_ONE(ceil)
RS_ONE(trunc)
RS_ONE(round)
RS_ONE(rint)
RS_ONE(exp)
RS_ONE(exp2)
RS_ONE(exp10)
RS_ONE(expm1)
RS_ONE(log)
RS_ONE(log2)
RS_ONE(log10)
RS_ONE(log1p)
RS_ONE(sin)
RS_ONE(cos)
RS_ONE(tan)
RS_ONE(asin)
RS_ONE(acos)
RS_ONE(atan)
RS_ONE(sinh)
RS_ONE(cosh)
RS_ONE(tanh)
RS_ONE(erf)
RS_ONE(erfc)
RS_TWO(pow)
RS_TWO(fmin)
RS_TWO(fmax)
RS_TWO(fmod)
RS_TWO(atan2)
RS_TWO(hypot)
RS_TWO(copysign)
RS_TWO(fdim)
RS_BOTH float fmaf(float, float, float);
RS_BOTH double fma(double, double, double);
RS_BOTH float fma(float, float, float);
RS_BOTH bool isnan(double);
RS_BOTH bool isinf(double);
RS_BOTH void sincosf(float, float *, float *);
RS_BOTH void sincos(double, double *, double *);
#endif
#define RS_ROUNDED(N)                                                                              \
    RS_DEVICE float __f##N##_rn(float, float);                                                     \
    RS_DEVICE float __f##N##_rz(float, float);                                                     \
    RS_DEVICE double __d##N##_rn(double, double);                                                  \
    RS_DEVICE double __d##N##_rz(double, double);
RS_ROUNDED(add)
RS_ROUNDED(sub)
RS_ROUNDED(mul)
RS_ROUNDED(div)
RS_DEVICE float __fmaf_rn(float, float, float);
RS_DEVICE double __fma_rn(double, double, double);
RS_DEVICE float __frcp_rn(float);
RS_DEVICE double __drcp_rn(double);
RS_DEVICE float __fsqrt_rn(float);
RS_DEVICE double __dsqrt_rn(double);
RS_DEVICE float __frsqrt_rn(float);
RS_DEVICE float __expf(float);
RS_DEVICE float __exp10f(float);
RS_DEVICE float __logf(float);
RS_DEVICE float __log2f(float);
RS_DEVICE float __log10f(float);
RS_DEVICE float __sinf(float);
RS_DEVICE float __cosf(float);
RS_DEVICE float __tanf(float);
RS_DEVICE void __sincosf(float, float *, float *);
RS_DEVICE float __powf(float, float);
RS_DEVICE float __fdividef(float, float);

/* The runtime, for launches and the memory that they work on. */
enum cudaError_t { cudaSuccess, cudaErrorInvalidValue, cudaErrorMemoryAllocation };
typedef cudaError_t cudaError;
enum cudaMemcpyKind {
    cudaMemcpyHostToHost,
    cudaMemcpyHostToDevice,
    cudaMemcpyDeviceToHost,
    cudaMemcpyDeviceToDevice,
    cudaMemcpyDefault
};
struct cudaDeviceProp {
    char name[256];
    size_t totalGlobalMem, sharedMemPerBlock, sharedMemPerMultiprocessor, totalConstMem;
    int regsPerBlock, warpSize, maxThreadsPerBlock, maxThreadsDim[3], maxGridSize[3];
    int clockRate, memoryClockRate, memoryBusWidth, l2CacheSize;
    int major, minor, multiProcessorCount, maxThreadsPerMultiProcessor, integrated;
    int concurrentKernels, concurrentManagedAccess, managedMemory, cooperativeLaunch;
};
typedef struct CUstream_st *cudaStream_t;
typedef struct CUevent_st *cudaEvent_t;
enum { cudaMemAttachGlobal = 1, cudaHostAllocDefault = 0, cudaStreamNonBlocking = 1 };
extern "C" {
cudaError_t cudaConfigureCall(dim3, dim3, size_t = 0, cudaStream_t = 0);
unsigned __cudaPushCallConfiguration(dim3, dim3, size_t = 0, cudaStream_t = 0);
}
template <class T> cudaError_t cudaMalloc(T **, size_t);
template <class T> cudaError_t cudaMallocHost(T **, size_t, unsigned = 0);
template <class T> cudaError_t cudaHostAlloc(T **, size_t, unsigned);
template <class T> cudaError_t cudaMallocManaged(T **, size_t, unsigned = 1);
template <class T> cudaError_t cudaMallocAsync(T **, size_t, cudaStream_t);
template <class T>
cudaError_t cudaMemcpyToSymbol(const T &, const void *, size_t, size_t = 0,
                               cudaMemcpyKind = cudaMemcpyHostToDevice);
template <class T>
cudaError_t cudaMemcpyFromSymbol(void *, const T &, size_t, size_t = 0,
                                 cudaMemcpyKind = cudaMemcpyDeviceToHost);
RS_BOTH cudaError_t cudaFree(void *);
cudaError_t cudaFreeAsync(void *, cudaStream_t);
cudaError_t cudaFreeHost(void *);
cudaError_t cudaMemcpy(void *, const void *, size_t, cudaMemcpyKind);
cudaError_t cudaMemcpyAsync(void *, const void *, size_t, cudaMemcpyKind, cudaStream_t = 0);
cudaError_t cudaMemset(void *, int, size_t);
cudaError_t cudaMemsetAsync(void *, int, size_t, cudaStream_t = 0);
cudaError_t cudaSetDevice(int);
cudaError_t cudaGetDevice(int *);
cudaError_t cudaGetDeviceCount(int *);
cudaError_t cudaGetDeviceProperties(cudaDeviceProp *, int);
cudaError_t cudaMemGetInfo(size_t *, size_t *);
cudaError_t cudaDeviceReset();
RS_BOTH cudaError_t cudaDeviceSynchronize();
RS_BOTH cudaError_t cudaGetLastError();
RS_BOTH cudaError_t cudaPeekAtLastError();
RS_BOTH const char *cudaGetErrorString(cudaError_t);
RS_BOTH const char *cudaGetErrorName(cudaError_t);
cudaError_t cudaStreamCreate(cudaStream_t *);
cudaError_t cudaStreamDestroy(cudaStream_t);
cudaError_t cudaStreamSynchronize(cudaStream_t);
cudaError_t cudaEventCreate(cudaEvent_t *);
cudaError_t cudaEventDestroy(cudaEvent_t);
cudaError_t cudaEventRecord(cudaEvent_t, cudaStream_t = 0);
cudaError_t cudaEventSynchronize(cudaEvent_t);
cudaError_t cudaEventElapsedTime(float *, cudaEvent_t, cudaEvent_t);
#undef RS_VECTORS
#undef RS_SAME
#undef RS_LOAD
#undef RS_STORE
#undef RS_ATOMIC
#undef RS_NUMBERS
#undef RS_ONE
#undef RS_TWO
#undef RS_ROUNDED
#undef RS_BOTH
#undef RS_DEVICE
#define __NVCC__ 1
