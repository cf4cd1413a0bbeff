/* With a toolkit: makes its headers declare for clang what they declare for nvcc. */
#define __NV_NO_HOST_COMPILER_CHECK 1
#include <cuda.h>
#include <crt/host_config.h>
#include <crt/host_defines.h>
#undef __managed__
#define __managed__ __device__
#include <builtin_types.h>
#include <vector_functions.h>

/* Of nvcc itself. */
extern RS_DEVICE const uint3 threadIdx, blockIdx;
extern RS_DEVICE const dim3 blockDim, gridDim;
extern RS_DEVICE const int warpSize;
RS_DEVICE unsigned __match32_any_sync(unsigned, unsigned);
RS_DEVICE unsigned __match64_any_sync(unsigned, unsigned long long);
RS_DEVICE unsigned __match32_all_sync(unsigned, unsigned, int *);
RS_DEVICE unsigned __match64_all_sync(unsigned, unsigned long long, int *);
template <class... T> RS_DEVICE void __nv_tex_surf_handler(const char *, T &&...);
#define __DEVICE_LAUNCH_PARAMETERS_H__
#define __COMMON_FUNCTIONS_H__

/* libstdc++ has in namespace std, as constant expressions, what this header declares there. */
namespace rs_discarded
{
using namespace std;
}
#define std rs_discarded
#include <crt/math_functions.h>
#undef std
#include <crt/device_functions.h>
#include <cuda_runtime.h>

extern "C" {
cudaError_t cudaConfigureCall(dim3, dim3, size_t = 0, cudaStream_t = 0);
RS_DEVICE const char *cudaGetErrorString(cudaError_t);
RS_DEVICE const char *cudaGetErrorName(cudaError_t);
RS_DEVICE cudaError_t cudaGetLastError();
RS_DEVICE cudaError_t cudaPeekAtLastError();
RS_DEVICE cudaError_t cudaDeviceSynchronize();
RS_DEVICE cudaError_t cudaFree(void *);
}

#define __NV_ATOMIC_RELAXED 0
#define __NV_ATOMIC_CONSUME 1
#define __NV_ATOMIC_ACQUIRE 2
#define __NV_ATOMIC_RELEASE 3
#define __NV_ATOMIC_ACQ_REL 4
#define __NV_ATOMIC_SEQ_CST 5
#define __NV_THREAD_SCOPE_THREAD 0
#define __NV_THREAD_SCOPE_BLOCK 1
#define __NV_THREAD_SCOPE_CLUSTER 2
#define __NV_THREAD_SCOPE_DEVICE 3
#define __NV_THREAD_SCOPE_SYSTEM 4
#define RS_SCOPE int = __NV_THREAD_SCOPE_SYSTEM
template <class T> RS_DEVICE T __nv_atomic_load_n(T *, int, RS_SCOPE);
template <class T> RS_DEVICE void __nv_atomic_load(T *, T *, int, RS_SCOPE);
template <class T> RS_DEVICE void __nv_atomic_store_n(T *, T, int, RS_SCOPE);
template <class T> RS_DEVICE void __nv_atomic_store(T *, T *, int, RS_SCOPE);
template <class T> RS_DEVICE T __nv_atomic_exchange_n(T *, T, int, RS_SCOPE);
template <class T> RS_DEVICE void __nv_atomic_exchange(T *, T *, T *, int, RS_SCOPE);
template <class T>
RS_DEVICE bool __nv_atomic_compare_exchange_n(T *, T *, T, bool, int, int, RS_SCOPE);
template <class T>
RS_DEVICE bool __nv_atomic_compare_exchange(T *, T *, T *, bool, int, int, RS_SCOPE);
template <class T> RS_DEVICE T __nv_atomic_fetch_add(T *, T, int, RS_SCOPE);
template <class T> RS_DEVICE T __nv_atomic_fetch_sub(T *, T, int, RS_SCOPE);
template <class T> RS_DEVICE T __nv_atomic_fetch_and(T *, T, int, RS_SCOPE);
template <class T> RS_DEVICE T __nv_atomic_fetch_or(T *, T, int, RS_SCOPE);
template <class T> RS_DEVICE T __nv_atomic_fetch_xor(T *, T, int, RS_SCOPE);
template <class T> RS_DEVICE T __nv_atomic_fetch_min(T *, T, int, RS_SCOPE);
template <class T> RS_DEVICE T __nv_atomic_fetch_max(T *, T, int, RS_SCOPE);
RS_DEVICE void __nv_atomic_thread_fence(int, RS_SCOPE);
#undef RS_SCOPE
#undef RS_DEVICE
#define __NVCC__ 1
