/* Declarations in place of the headers of C, OpenCL C and CUDA C. */
#include "analyze/prelude.h"

#define COMMON_TYPES                                                                               \
    "typedef signed char int8_t; typedef short int16_t; typedef int int32_t;\n"                    \
    "typedef long int64_t; typedef unsigned char uint8_t; typedef unsigned short uint16_t;\n"      \
    "typedef unsigned int uint32_t; typedef unsigned long uint64_t;\n"                             \
    "#define M_PI 3.14159265358979\n#define INT_MAX 2147483647\n#define INT_MIN (-2147483647-1)\n" \
    "#define FLT_MAX 3.4e38f\n#define DBL_MAX 1.7e308\n#define FLT_MIN 1.2e-38f\n"                 \
    "#define FLT_EPSILON 1.2e-7f\n#define DBL_EPSILON 2.2e-16\n#define RAND_MAX 2147483647\n"      \
    "#define UINT_MAX 4294967295u\n#define LONG_MAX 9223372036854775807L\n#define INFINITY "       \
    "1e39f\n"

#define HOST_TYPES                                                                                 \
    "typedef unsigned long size_t; typedef long ssize_t; typedef long ptrdiff_t;\n"                \
    "typedef unsigned long uintptr_t; typedef long intptr_t;\n"                                    \
    "typedef unsigned int uint; typedef unsigned char uchar; typedef unsigned short ushort;\n"     \
    "typedef unsigned long ulong; typedef struct restride_file FILE; typedef long time_t;\n"       \
    "typedef long clock_t; struct timeval { long tv_sec; long tv_usec; };\n"                       \
    "struct timespec { long tv_sec; long tv_nsec; };\n"                                            \
    "typedef __builtin_va_list va_list;\n#define va_start(l, n) __builtin_va_start(l, n)\n"        \
    "#define va_arg(l, t) __builtin_va_arg(l, t)\n#define va_end(l) __builtin_va_end(l)\n"         \
    "#define va_copy(to, l) __builtin_va_copy(to, l)\n"

const char rs_prelude_c[] = COMMON_TYPES HOST_TYPES
    "#define NULL ((void *)0)\n#define bool _Bool\n#define true 1\n#define false 0\n"
    "extern FILE *stdout, *stderr, *stdin;\n";

const char rs_prelude_opencl[] =
    "typedef char int8_t; typedef short int16_t; typedef int int32_t; typedef long int64_t;\n"
    "typedef uchar uint8_t; typedef ushort uint16_t; typedef uint uint32_t;\n"
    "typedef ulong uint64_t;\n#pragma OPENCL EXTENSION all : enable\n"
    "#pragma OPENCL EXTENSION __cl_clang_variadic_functions : enable\n";

#define VECTORS(name, type)                                                                        \
    "struct " #name "1 { " #type " x; }; struct " #name "2 { " #type " x, y; };\n"                 \
    "struct " #name "3 { " #type " x, y, z; }; struct " #name "4 { " #type " x, y, z, w; };\n"     \
    "__host__ __device__ " #name "2 make_" #name "2(" #type ", " #type ");\n"                      \
    "__host__ __device__ " #name "3 make_" #name "3(" #type ", " #type ", " #type ");\n"           \
    "__host__ __device__ " #name "4 make_" #name "4(" #type ", " #type ", " #type ", " #type       \
    ");\n"

const char rs_prelude_cuda[] =
    "#define __global__ __attribute__((global))\n#define __device__ __attribute__((device))\n"
    "#define __host__ __attribute__((host))\n#define __shared__ __attribute__((shared))\n"
    "#define __constant__ __attribute__((constant))\n#define __forceinline__ inline\n"
    "#define __noinline__\n#define __launch_bounds__(...)\n#define __restrict__ __restrict\n"
    "#define __align__(n) __attribute__((aligned(n)))\n#define __managed__\n"
    "#define __inline__ inline\n#define NULL 0\n" COMMON_TYPES HOST_TYPES
    "struct restride_index { int x, y, z; };\n"
    "extern const __device__ restride_index threadIdx, blockIdx, blockDim, gridDim;\n"
    "extern const __device__ int warpSize;\n"
    "struct dim3 { unsigned x, y, z; __host__ __device__ dim3(unsigned a = 1, unsigned b = 1,\n"
    "unsigned c = 1); };\n"
    "typedef struct restride_stream *cudaStream_t; typedef struct restride_event *cudaEvent_t;\n"
    "typedef int cudaError_t; typedef unsigned long long cudaTextureObject_t;\n"
    "template <class T> __device__ T tex1Dfetch(cudaTextureObject_t, int);\n"
    "template <class T> __device__ T tex1D(cudaTextureObject_t, float);\n"
    "template <class T> __device__ T tex2D(cudaTextureObject_t, float, float);\n"
    "template <class T> __device__ T tex3D(cudaTextureObject_t, float, float, float);\n"
    "template <class... A> __host__ __device__ int tex1Dfetch(A...);\n"
    "template <class... A> __host__ __device__ int tex1D(A...);\n"
    "template <class... A> __host__ __device__ int tex2D(A...);\n"
    "template <class... A> __host__ __device__ int tex3D(A...);\n"
    "extern \"C\" unsigned __cudaPushCallConfiguration(dim3 grid, dim3 block,\n"
    "unsigned long shared = 0, void *stream = 0);\n"
    "extern \"C\" int cudaConfigureCall(dim3 grid, dim3 block, unsigned long shared = 0,\n"
    "void *stream = 0);\n"
    "extern \"C\" __host__ __device__ int __mul24(int, int), __mulhi(int, int), __clz(int),\n"
    "__ffs(int), __popc(unsigned);\n"
    "extern \"C\" __host__ __device__ unsigned __umul24(unsigned, unsigned),\n"
    "__umulhi(unsigned, unsigned), __brev(unsigned);\n"
    "extern FILE *stdout, *stderr, *stdin;\n" VECTORS(char, char) VECTORS(uchar, unsigned char)
        VECTORS(short, short) VECTORS(ushort, unsigned short) VECTORS(int, int)
            VECTORS(uint, unsigned) VECTORS(long, long) VECTORS(float, float) VECTORS(
                double, double) "template <class A, class B> __host__ __device__ A min(A, B);\n"
                                "template <class A, class B> __host__ __device__ A max(A, B);\n";
