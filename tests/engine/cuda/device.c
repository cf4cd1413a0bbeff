/* See device.h. */
#include "device.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

enum { CANARY_BYTES = 4096, CANARY = 0x5c };

static struct {
    int (*init)(unsigned flags);
    int (*device_count)(int *count);
    int (*device_get)(int *device, int ordinal);
    int (*device_name)(char *name, int length, int device);
    int (*context_retain)(void **context, int device);
    int (*context_set)(void *context);
    int (*synchronize)(void);
    int (*allocate)(uintptr_t *pointer, size_t bytes);
    int (*release)(uintptr_t pointer);
    int (*upload)(uintptr_t target, const void *source, size_t bytes);
    int (*download)(void *target, uintptr_t source, size_t bytes);
} cuda;

static char name[256];

static bool find(void *library, const char *symbol, void *function)
{
    void *address = dlsym(library, symbol);
    memcpy(function, &address, sizeof address);
    return address != NULL;
}

bool cuda_device_open(void)
{
    return cuda_device_open_number(0);
}

bool cuda_device_open_number(int number)
{
    void *library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
    int device;
    int count;
    void *context;
    return library != NULL && find(library, "cuInit", &cuda.init) &&
           find(library, "cuDeviceGetCount", &cuda.device_count) &&
           find(library, "cuDeviceGet", &cuda.device_get) &&
           find(library, "cuDeviceGetName", &cuda.device_name) &&
           find(library, "cuDevicePrimaryCtxRetain", &cuda.context_retain) &&
           find(library, "cuCtxSetCurrent", &cuda.context_set) &&
           find(library, "cuCtxSynchronize", &cuda.synchronize) &&
           find(library, "cuMemAlloc_v2", &cuda.allocate) &&
           find(library, "cuMemFree_v2", &cuda.release) &&
           find(library, "cuMemcpyHtoD_v2", &cuda.upload) &&
           find(library, "cuMemcpyDtoH_v2", &cuda.download) && cuda.init(0) == 0 &&
           cuda.device_count(&count) == 0 && count > 0 &&
           cuda.device_get(&device, number % count) == 0 &&
           cuda.device_name(name, (int)sizeof name, device) == 0 &&
           cuda.context_retain(&context, device) == 0 && cuda.context_set(context) == 0;
}

bool cuda_device_emulated(void)
{
    return strcmp(name, "Emulated device") == 0;
}

cuda_memory cuda_memory_create(const void *content, size_t bytes)
{
    cuda_memory memory = {.bytes = bytes};
    unsigned char canary[CANARY_BYTES];
    memset(canary, CANARY, sizeof canary);
    if (cuda.allocate(&memory.allocation, bytes + 2 * CANARY_BYTES) != 0)
        abort();
    memory.pointer = memory.allocation + CANARY_BYTES;
    if (cuda.upload(memory.allocation, canary, CANARY_BYTES) != 0 ||
        cuda.upload(memory.pointer + bytes, canary, CANARY_BYTES) != 0 ||
        (content != NULL && cuda.upload(memory.pointer, content, bytes) != 0))
        abort();
    return memory;
}

bool cuda_memory_read(const cuda_memory *memory, void *target)
{
    unsigned char before[CANARY_BYTES];
    unsigned char after[CANARY_BYTES];
    if (cuda.synchronize() != 0 || cuda.download(before, memory->allocation, CANARY_BYTES) != 0 ||
        cuda.download(after, memory->pointer + memory->bytes, CANARY_BYTES) != 0 ||
        cuda.download(target, memory->pointer, memory->bytes) != 0)
        return false;
    for (size_t i = 0; i < CANARY_BYTES; i++)
        if (before[i] != CANARY || after[i] != CANARY)
            return false;
    return true;
}

void cuda_memory_free(cuda_memory *memory)
{
    cuda.release(memory->allocation);
    *memory = (cuda_memory){0};
}
