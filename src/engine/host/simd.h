/* Attributes of functions that a processor runs only after it was asked: __builtin_cpu_supports().
 */
#ifndef RS_ENGINE_HOST_SIMD_H
#define RS_ENGINE_HOST_SIMD_H

#define RS_AVX2 __attribute__((target("avx2")))

/* Features of AVX-512 with vectors of 512 bits, which gcc avoids unless it is told; clang takes the
 * vectors as they are written, and would ignore the whole attribute. */
#ifdef __clang__
#define RS_AVX512(features) __attribute__((target(features)))
#else
#define RS_AVX512(features) __attribute__((target(features ",prefer-vector-width=512")))
#endif

#endif
