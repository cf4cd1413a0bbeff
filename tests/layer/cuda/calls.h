/* The driver's functions as a program finds them: bound at the start, by dlsym(), by
 * cuGetProcAddress(). */
#ifndef CALLS_H
#define CALLS_H

#include "copying.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef uintptr_t pointer;

/* CUlaunchConfig. */
typedef struct {
    int which;
    char padding[4];
    int value;
    char more[60];
} launch_attribute;
typedef struct {
    unsigned grid[3], block[3], shared;
    pointer stream;
    launch_attribute *attributes;
    unsigned attribute_count;
} launch_config;

/* One name in three ways: bound at the start, asked for by dlsym(), by cuGetProcAddress(). */
int cuInit(unsigned flags);
int cuDevicePrimaryCtxRetain(void **context, int device);
int cuDevicePrimaryCtxRelease(int device);
int cuCtxSetCurrent(void *context);
int cuCtxGetCurrent(void **context);
int cuCtxCreate_v2(void **context, unsigned flags, int device);
int cuCtxPushCurrent_v2(void *context);
int cuCtxPopCurrent_v2(void **context);
int cuModuleLoadData(void **module, const void *image);
int cuModuleUnload(void *module);
int cuLibraryLoadData(void **library, const void *image, void *options, void *values,
                      unsigned count, void *own_options, void *own_values, unsigned own_count);
int cuLibraryUnload(void *library);
int cuLibraryGetKernel(void **kernel, void *library, const char *name);
int cuKernelGetFunction(void **function, void *kernel);
int cuKernelSetAttribute(int attribute, int value, void *kernel, int device);
int cuFuncSetAttribute(void *function, int attribute, int value);
int cuLinkComplete(void *link, void **image, size_t *size);
int cuModuleGetFunction(void **function, void *module, const char *name);
int cuMemAllocManaged(pointer *address, size_t bytes, unsigned flags);
int cuMemHostAlloc(void **address, size_t bytes, unsigned flags);
int cuMemHostGetDevicePointer_v2(pointer *address, void *host, unsigned flags);
int cuMemFreeHost(void *address);
int cuMemPoolCreate(void **pool, const void *properties);
int cuMemCreate(void **mapping, size_t bytes, const void *properties, uint64_t flags);
int cuMemRelease(void *mapping);
int cuMemExportToShareableHandle(void *handle, void *mapping, int type, uint64_t flags);
int cuMemAddressReserve(pointer *address, size_t bytes, size_t alignment, pointer wanted,
                        uint64_t flags);
int cuMemMap(pointer address, size_t bytes, size_t offset, void *mapping, uint64_t flags);
int cuMemSetAccess(pointer address, size_t bytes, const void *access, size_t count);
int cuMemUnmap(pointer address, size_t bytes);
int cuMemAddressFree(pointer address, size_t bytes);
int cuIpcGetMemHandle(void *handle, pointer address);
int cuTexObjectCreate(pointer *texture, const void *resource, const void *how, const void *view);
int cuTexObjectDestroy(pointer texture);
int cuStreamCreate(pointer *stream, unsigned flags);
int cuStreamDestroy_v2(pointer stream);
int cuEventCreate(void **event, unsigned flags);
int cuEventDestroy_v2(void *event);
int cuGetProcAddress_v2(const char *name, void **function, int version, uint64_t flags,
                        int *status);

typedef struct {
    int (*cuMemAlloc_v2)(pointer *address, size_t bytes);
    int (*cuMemFree_v2)(pointer address);
    int (*cuMemAllocAsync)(pointer *address, size_t bytes, pointer stream);
    int (*cuMemAllocFromPoolAsync)(pointer *address, size_t bytes, void *pool, pointer stream);
    int (*cuMemFreeAsync)(pointer address, pointer stream);
    int (*cuMemcpyHtoD_v2)(pointer to, const void *from, size_t bytes);
    int (*cuMemcpyDtoH_v2)(void *to, pointer from, size_t bytes);
    int (*cuMemcpyDtoD_v2)(pointer to, pointer from, size_t bytes);
    int (*cuMemcpyHtoDAsync_v2)(pointer to, const void *from, size_t bytes, pointer stream);
    int (*cuMemcpyDtoHAsync_v2)(void *to, pointer from, size_t bytes, pointer stream);
    int (*cuMemcpyDtoDAsync_v2)(pointer to, pointer from, size_t bytes, pointer stream);
    int (*cuMemcpy2DAsync_v2)(const copying_rows *rows, pointer stream);
    int (*cuMemcpy2D_v2)(const copying_rows *rows);
    int (*cuMemcpyPeer)(pointer to, void *to_context, pointer from, void *from_context,
                        size_t bytes);
    int (*cuMemcpyPeerAsync)(pointer to, void *to_context, pointer from, void *from_context,
                             size_t bytes, pointer stream);
    int (*cuMemcpy3DPeerAsync)(const copying_peer *copying, pointer stream);
    int (*cuMemsetD8Async)(pointer to, unsigned char value, size_t bytes, pointer stream);
    int (*cuLaunchKernel)(void *f, unsigned x, unsigned y, unsigned z, unsigned tx, unsigned ty,
                          unsigned tz, unsigned shared, pointer stream, void **values,
                          void **extra);
    int (*cuLaunchKernelEx)(const launch_config *config, void *f, void **values, void **extra);
    int (*cuLaunchCooperativeKernel)(void *f, unsigned x, unsigned y, unsigned z, unsigned tx,
                                     unsigned ty, unsigned tz, unsigned shared, pointer stream,
                                     void **values);
    int (*cuEventRecord)(void *event, pointer stream);
    int (*cuStreamWaitEvent)(pointer stream, void *event, unsigned flags);
    int (*cuStreamSynchronize)(pointer stream);
    int (*cuCtxSynchronize)(void);
    int (*cuStreamBeginCapture_v2)(pointer stream, int mode);
    int (*cuStreamEndCapture)(pointer stream, void **graph);
    int (*cuGraphInstantiateWithFlags)(void **made, void *graph, unsigned long long flags);
    int (*cuGraphLaunch)(void *graph, pointer stream);
    int (*cuGraphDestroy)(void *graph);
    int (*cuGraphExecDestroy)(void *graph);
    int (*cuMadeUpFunction)(pointer address, unsigned char value, size_t bytes);
} driver_functions;
extern driver_functions cu;

/* `by_thread`: those with the calling thread's default stream. */
void find_functions(bool by_thread);

extern bool says; /* each call */
void fail(const char *what, int code);

#define CHECK(call)                                                                                \
    do {                                                                                           \
        const int code_of_call = call;                                                             \
        if (says)                                                                                  \
            fprintf(stderr, "%s\n", #call);                                                        \
        if (code_of_call != 0)                                                                     \
            fail(#call, code_of_call);                                                             \
    } while (0)

#endif
