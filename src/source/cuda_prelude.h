/* CUDA C++ for libclang when it reads kernels: enough to know types and names, without
 * CUDA's own headers. */
#define __global__ __attribute__((global))
#define __device__ __attribute__((device))
#define __host__ __attribute__((host))
#define __shared__ __attribute__((shared))
#define __constant__ __attribute__((constant))
#define __managed__
#define __noinline__ __attribute__((noinline))
#define __forceinline__ __inline__ __attribute__((always_inline))
#define __launch_bounds__(...) __attribute__((launch_bounds(__VA_ARGS__)))
#define __align__(n) __attribute__((aligned(n)))
#define __builtin_align__(n) __align__(n)
#define __grid_constant__

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
typedef unsigned char uchar;
typedef unsigned short ushort;
typedef unsigned long ulong;

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
    __host__ __device__ N##1 make_##N##1(T);                                                       \
    __host__ __device__ N##2 make_##N##2(T, T);                                                    \
    __host__ __device__ N##3 make_##N##3(T, T, T);                                                 \
    __host__ __device__ N##4 make_##N##4(T, T, T, T);
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
    __host__ __device__ dim3(unsigned int a = 1, unsigned int b = 1, unsigned int c = 1);
};

extern __device__ const uint3 threadIdx, blockIdx;
extern __device__ const dim3 blockDim, gridDim;
extern __device__ const int warpSize;

__device__ void __syncthreads();
__device__ int __syncthreads_count(int);
__device__ int __syncthreads_and(int);
__device__ int __syncthreads_or(int);
__device__ void __syncwarp(unsigned = 0xffffffff);
__device__ void __threadfence();
__device__ void __threadfence_block();
__device__ unsigned __activemask();
__device__ unsigned __ballot_sync(unsigned, int);
__device__ int __any_sync(unsigned, int);
__device__ int __all_sync(unsigned, int);
template <class T> __device__ T __shfl_sync(unsigned, T, int, int = 32);
template <class T> __device__ T __shfl_up_sync(unsigned, T, unsigned, int = 32);
template <class T> __device__ T __shfl_down_sync(unsigned, T, unsigned, int = 32);
template <class T> __device__ T __shfl_xor_sync(unsigned, T, int, int = 32);
template <class T> __device__ T __ldg(const T *);
template <class T> struct rs_same {
    typedef T type;
};
template <class T> __device__ T atomicAdd(T *, typename rs_same<T>::type);
template <class T> __device__ T atomicSub(T *, typename rs_same<T>::type);
template <class T> __device__ T atomicExch(T *, typename rs_same<T>::type);
template <class T> __device__ T atomicMin(T *, typename rs_same<T>::type);
template <class T> __device__ T atomicMax(T *, typename rs_same<T>::type);
template <class T> __device__ T atomicAnd(T *, typename rs_same<T>::type);
template <class T> __device__ T atomicOr(T *, typename rs_same<T>::type);
template <class T> __device__ T atomicXor(T *, typename rs_same<T>::type);
template <class T> __device__ T atomicInc(T *, typename rs_same<T>::type);
template <class T> __device__ T atomicDec(T *, typename rs_same<T>::type);
template <class T>
__device__ T atomicCAS(T *, typename rs_same<T>::type, typename rs_same<T>::type);

__device__ int printf(const char *, ...);
__device__ long long clock64();
__device__ int clock();
template <class T> __host__ __device__ T min(T, T);
template <class T> __host__ __device__ T max(T, T);
__host__ __device__ int abs(int);
__host__ __device__ int __popc(unsigned);
__host__ __device__ int __clz(int);
__host__ __device__ int __ffs(int);
__host__ __device__ int __mul24(int, int);
__host__ __device__ int __float_as_int(float);
__host__ __device__ unsigned __float_as_uint(float);
__host__ __device__ float __int_as_float(int);
__host__ __device__ float __uint_as_float(unsigned);

#define RS_ONE(N)                                                                                  \
    __host__ __device__ float N##f(float);                                                         \
    __host__ __device__ double N(double);                                                          \
    __host__ __device__ float N(float)
#define RS_TWO(N)                                                                                  \
    __host__ __device__ float N##f(float, float);                                                  \
    __host__ __device__ double N(double, double);                                                  \
    __host__ __device__ float N(float, float)
RS_ONE(sqrt);
RS_ONE(rsqrt);
RS_ONE(cbrt);
RS_ONE(fabs);
RS_ONE(floor);
RS_ONE(ceil);
RS_ONE(trunc);
RS_ONE(round);
RS_ONE(rint);
RS_ONE(exp);
RS_ONE(exp2);
RS_ONE(exp10);
RS_ONE(expm1);
RS_ONE(log);
RS_ONE(log2);
RS_ONE(log10);
RS_ONE(log1p);
RS_ONE(sin);
RS_ONE(cos);
RS_ONE(tan);
RS_ONE(asin);
RS_ONE(acos);
RS_ONE(atan);
RS_ONE(sinh);
RS_ONE(cosh);
RS_ONE(tanh);
RS_ONE(erf);
RS_ONE(erfc);
RS_ONE(normcdf);
RS_TWO(pow);
RS_TWO(fmin);
RS_TWO(fmax);
RS_TWO(fmod);
RS_TWO(atan2);
RS_TWO(hypot);
RS_TWO(copysign);
RS_TWO(fdim);
__host__ __device__ float fmaf(float, float, float);
__host__ __device__ double fma(double, double, double);
__host__ __device__ float fma(float, float, float);
__host__ __device__ float abs(float);
__host__ __device__ double abs(double);
__host__ __device__ void sincosf(float, float *, float *);
__device__ float __expf(float);
__device__ float __logf(float);
__device__ float __sinf(float);
__device__ float __cosf(float);
__device__ float __powf(float, float);
__device__ float __fdividef(float, float);
__device__ float __fsqrt_rn(float);
__device__ float __fmul_rn(float, float);
__device__ float __fadd_rn(float, float);
#undef RS_VECTORS
#undef RS_ONE
#undef RS_TWO
