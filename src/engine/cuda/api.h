/*
 * The CUDA driver and its run-time compiler NVRTC, both found with dlopen, so that the library
 * needs neither to be built nor to be loaded. Only what Restride calls is declared; the types and
 * numbers are those of CUDA's documentation, stable since CUDA 11.
 */
#ifndef RS_ENGINE_CUDA_API_H
#define RS_ENGINE_CUDA_API_H

#include "base/status.h"

#include <stddef.h>
#include <stdint.h>

typedef int rs_cuda_result; /* CUresult; 0 is success */
typedef int rs_cuda_device;
typedef struct CUctx_st *rs_cuda_context;
typedef struct CUmod_st *rs_cuda_module;
typedef struct CUfunc_st *rs_cuda_function;
typedef struct CUstream_st *rs_cuda_stream;
typedef struct CUevent_st *rs_cuda_event;
typedef uintptr_t rs_cuda_pointer; /* CUdeviceptr */

/* CUipcMemHandle: memory of a device, for another process. */
typedef struct {
    char reserved[64];
} rs_cuda_handle;

/* CUDA_MEMCPY2D: rows of a side that lie `pitch` bytes apart. */
typedef struct {
    size_t x_bytes;
    size_t y;
    int type; /* RS_CUDA_MEMORY_... */
    const void *host;
    rs_cuda_pointer device;
    void *array;
    size_t pitch;
} rs_cuda_source_rows;

typedef struct {
    size_t x_bytes;
    size_t y;
    int type;
    void *host;
    rs_cuda_pointer device;
    void *array;
    size_t pitch;
} rs_cuda_target_rows;

typedef struct {
    rs_cuda_source_rows source;
    rs_cuda_target_rows target;
    size_t row_bytes;
    size_t rows;
} rs_cuda_rows;

enum {
    RS_CUDA_OUT_OF_MEMORY = 2,
    RS_CUDA_ATTRIBUTE_MULTIPROCESSORS = 16,
    RS_CUDA_ATTRIBUTE_CACHE_BYTES = 38, /* the second level */
    RS_CUDA_ATTRIBUTE_MAJOR = 75,
    RS_CUDA_ATTRIBUTE_MINOR = 76,
    RS_CUDA_ATTRIBUTE_SHARED_BYTES = 81, /* of a multiprocessor */
    RS_CUDA_ATTRIBUTE_COOPERATIVE = 95,
    RS_CUDA_ATTRIBUTE_SHARED_BYTES_A_BLOCK = 97, /* when a kernel asks for it */
    RS_CUDA_FUNCTION_SHARED_BYTES = 8,
    RS_CUDA_MEMORY_HOST = 1,
    RS_CUDA_MEMORY_DEVICE = 2,
    RS_CUDA_STREAM_NON_BLOCKING = 1,
    RS_CUDA_EVENT_DISABLE_TIMING = 2,
    RS_CUDA_IPC_LAZY_PEER_ACCESS = 1,
    RS_CUDA_BUFFER_ID = 7, /* of a pointer: no other allocation of the process has had it */
    RS_CUDA_NOT_READY = 600
};

typedef struct {
    rs_cuda_result (*cuGetErrorName)(rs_cuda_result code, const char **name);
    rs_cuda_result (*cuDriverGetVersion)(int *version);
    rs_cuda_result (*cuInit)(unsigned flags);
    rs_cuda_result (*cuDeviceGetCount)(int *count);
    rs_cuda_result (*cuDeviceGet)(rs_cuda_device *device, int ordinal);
    rs_cuda_result (*cuDevicePrimaryCtxRetain)(rs_cuda_context *context, rs_cuda_device device);
    rs_cuda_result (*cuCtxSetCurrent)(rs_cuda_context context);
    rs_cuda_result (*cuCtxGetCurrent)(rs_cuda_context *context);
    rs_cuda_result (*cuCtxPushCurrent)(rs_cuda_context context);
    rs_cuda_result (*cuCtxPopCurrent)(rs_cuda_context *context);
    rs_cuda_result (*cuCtxGetDevice)(rs_cuda_device *device);
    rs_cuda_result (*cuDeviceGetName)(char *name, int length, rs_cuda_device device);
    rs_cuda_result (*cuDeviceGetAttribute)(int *value, int attribute, rs_cuda_device device);
    rs_cuda_result (*cuModuleLoadData)(rs_cuda_module *module, const void *image);
    rs_cuda_result (*cuModuleUnload)(rs_cuda_module module);
    rs_cuda_result (*cuModuleGetFunction)(rs_cuda_function *function, rs_cuda_module module,
                                          const char *name);
    rs_cuda_result (*cuFuncSetAttribute)(rs_cuda_function function, int attribute, int value);
    rs_cuda_result (*cuOccupancyMaxActiveBlocksPerMultiprocessor)(int *blocks,
                                                                  rs_cuda_function function,
                                                                  int threads, size_t shared_bytes);
    rs_cuda_result (*cuLaunchKernel)(rs_cuda_function function, unsigned grid_x, unsigned grid_y,
                                     unsigned grid_z, unsigned block_x, unsigned block_y,
                                     unsigned block_z, unsigned shared_bytes, rs_cuda_stream stream,
                                     void **arguments, void **extra);
    rs_cuda_result (*cuLaunchCooperativeKernel)(rs_cuda_function function, unsigned grid_x,
                                                unsigned grid_y, unsigned grid_z, unsigned block_x,
                                                unsigned block_y, unsigned block_z,
                                                unsigned shared_bytes, rs_cuda_stream stream,
                                                void **arguments);
    rs_cuda_result (*cuMemAlloc)(rs_cuda_pointer *pointer, size_t bytes);
    rs_cuda_result (*cuMemFree)(rs_cuda_pointer pointer);
    rs_cuda_result (*cuMemsetD8Async)(rs_cuda_pointer target, unsigned char value, size_t bytes,
                                      rs_cuda_stream stream);
    rs_cuda_result (*cuMemHostAlloc)(void **pointer, size_t bytes, unsigned flags);
    rs_cuda_result (*cuMemFreeHost)(void *pointer);
    rs_cuda_result (*cuMemcpyHtoDAsync)(rs_cuda_pointer target, const void *source, size_t bytes,
                                        rs_cuda_stream stream);
    rs_cuda_result (*cuMemcpyDtoHAsync)(void *target, rs_cuda_pointer source, size_t bytes,
                                        rs_cuda_stream stream);
    rs_cuda_result (*cuMemcpyDtoDAsync)(rs_cuda_pointer target, rs_cuda_pointer source,
                                        size_t bytes, rs_cuda_stream stream);
    rs_cuda_result (*cuMemcpy2DAsync)(const rs_cuda_rows *copy, rs_cuda_stream stream);
    rs_cuda_result (*cuStreamCreate)(rs_cuda_stream *stream, unsigned flags);
    rs_cuda_result (*cuStreamDestroy)(rs_cuda_stream stream);
    rs_cuda_result (*cuStreamSynchronize)(rs_cuda_stream stream);
    rs_cuda_result (*cuStreamWaitEvent)(rs_cuda_stream stream, rs_cuda_event event, unsigned flags);
    rs_cuda_result (*cuStreamGetCtx)(rs_cuda_stream stream, rs_cuda_context *context);
    rs_cuda_result (*cuEventCreate)(rs_cuda_event *event, unsigned flags);
    rs_cuda_result (*cuEventRecord)(rs_cuda_event event, rs_cuda_stream stream);
    rs_cuda_result (*cuEventQuery)(rs_cuda_event event);
    rs_cuda_result (*cuEventSynchronize)(rs_cuda_event event);
    rs_cuda_result (*cuEventDestroy)(rs_cuda_event event);
    rs_cuda_result (*cuMemGetAddressRange)(rs_cuda_pointer *base, size_t *size,
                                           rs_cuda_pointer pointer);
    rs_cuda_result (*cuPointerGetAttribute)(void *value, int attribute, rs_cuda_pointer pointer);
    rs_cuda_result (*cuIpcGetMemHandle)(rs_cuda_handle *handle, rs_cuda_pointer pointer);
    rs_cuda_result (*cuIpcOpenMemHandle)(rs_cuda_pointer *pointer, rs_cuda_handle handle,
                                         unsigned flags);
    rs_cuda_result (*cuIpcCloseMemHandle)(rs_cuda_pointer pointer);
} rs_cuda_driver;

typedef struct rs_nvrtc_program_struct *rs_nvrtc_program;
typedef int rs_nvrtc_result; /* 0 is success */

typedef struct {
    rs_nvrtc_result (*nvrtcCreateProgram)(rs_nvrtc_program *program, const char *source,
                                          const char *name, int header_count,
                                          const char *const *headers,
                                          const char *const *include_names);
    rs_nvrtc_result (*nvrtcCompileProgram)(rs_nvrtc_program program, int option_count,
                                           const char *const *options);
    rs_nvrtc_result (*nvrtcGetProgramLogSize)(rs_nvrtc_program program, size_t *size);
    rs_nvrtc_result (*nvrtcGetProgramLog)(rs_nvrtc_program program, char *log);
    rs_nvrtc_result (*nvrtcGetCUBINSize)(rs_nvrtc_program program, size_t *size);
    rs_nvrtc_result (*nvrtcGetCUBIN)(rs_nvrtc_program program, char *cubin);
    rs_nvrtc_result (*nvrtcDestroyProgram)(rs_nvrtc_program *program);
    const char *(*nvrtcGetErrorString)(rs_nvrtc_result code);
} rs_nvrtc;

/* Each is looked for once; NULL, with a sentence, when it or one of its functions is not here.
 * Thread-safe. */
const rs_cuda_driver *rs_cuda_driver_api(void);
const rs_nvrtc *rs_nvrtc_api(void);

/* "CUDA failed while DOING: CUDA_ERROR_NAME (code).", as RESTRIDE_DEVICE_ERROR, or
 * RESTRIDE_OUT_OF_MEMORY when the device has no memory left. */
restride_status rs_cuda_fail(rs_cuda_result code, const char *doing);

#endif
