/*
 * Read before a CUDA source, and followed by cuda_toolkit.cuh or cuda_builtins.cuh: the C library as
 * nvcc has it. clang's own CUDA headers are not used: they differ between versions, refuse newer
 * toolkits, and do not come with PyPI's libclang. RS_TOOLKIT_MAJOR and RS_TOOLKIT_MINOR are given.
 */
#pragma GCC system_header
#define __CUDACC__ 1
#define __CUDACC_VER_MAJOR__ RS_TOOLKIT_MAJOR
#define __CUDACC_VER_MINOR__ RS_TOOLKIT_MINOR
#define __CUDACC_VER_BUILD__ 0
#define __CUDA_API_VER_MAJOR__ RS_TOOLKIT_MAJOR
#define __CUDA_API_VER_MINOR__ RS_TOOLKIT_MINOR

#define RS_DEVICE __attribute__((device))
#if __has_include(<stdlib.h>) && __has_include(<new>)
#define RS_HAS_LIBRARY

/* gcc's omp.h gives this attribute arguments that clang does not know. */
#define __malloc__(...) __malloc__

/*
 * The C library's functions are the host's here. The toolkit declares those of math.h again for
 * both sides, which clang takes for the same function only when it was of both sides before. Names
 * that the toolkit has for the device alone get out of the way.
 */
#define _GLIBCXX_INCLUDE_NEXT_C_HEADERS
#define abs rs_host_abs
#define labs rs_host_labs
#define llabs rs_host_llabs
#include <stdlib.h>
#undef abs
#undef labs
#undef llabs
#define __sinf rs_host_sinf
#define __cosf rs_host_cosf
#define __tanf rs_host_tanf
#define __tanhf rs_host_tanhf
#define __sincosf rs_host_sincosf
#define __expf rs_host_expf
#define __exp10f rs_host_exp10f
#define __log2f rs_host_log2f
#define __log10f rs_host_log10f
#define __logf rs_host_logf
#define __powf rs_host_powf
#pragma clang force_cuda_host_device begin
#include <math.h>
extern "C" {
int abs(int) noexcept;
long labs(long) noexcept;
long long llabs(long long) noexcept;
}
#pragma clang force_cuda_host_device end
#undef __sinf
#undef __cosf
#undef __tanf
#undef __tanhf
#undef __sincosf
#undef __expf
#undef __exp10f
#undef __log2f
#undef __log10f
#undef __logf
#undef __powf
#undef _GLIBCXX_INCLUDE_NEXT_C_HEADERS

/* What the device has besides the host's functions of the same name. */
extern "C" {
RS_DEVICE int printf(const char *, ...);
RS_DEVICE void *malloc(size_t) noexcept;
RS_DEVICE void free(void *) noexcept;
RS_DEVICE void *memcpy(void *, const void *, size_t) noexcept;
RS_DEVICE void *memmove(void *, const void *, size_t) noexcept;
RS_DEVICE void *memset(void *, int, size_t) noexcept;
RS_DEVICE void __assert_fail(const char *, const char *, unsigned, const char *) noexcept;
RS_DEVICE long clock() noexcept;
RS_DEVICE long long clock64();
}
#include <assert.h>
#include <math.h>
#include <new>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
RS_DEVICE void *operator new(size_t);
RS_DEVICE void *operator new[](size_t);
RS_DEVICE void operator delete(void *) noexcept;
RS_DEVICE void operator delete[](void *) noexcept;
RS_DEVICE void operator delete(void *, size_t) noexcept;
RS_DEVICE void operator delete[](void *, size_t) noexcept;
RS_DEVICE inline void *operator new(size_t, void *place) noexcept { return place; }
RS_DEVICE inline void *operator new[](size_t, void *place) noexcept { return place; }
RS_DEVICE inline void operator delete(void *, void *) noexcept {}
RS_DEVICE inline void operator delete[](void *, void *) noexcept {}
namespace std
{
RS_DEVICE float modf(float, float *);
RS_DEVICE float frexp(float, int *);
RS_DEVICE float remquo(float, float, int *);
} // namespace std
#endif
