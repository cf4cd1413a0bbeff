/*
 * Memory of the emulated device: the process's own, with canaries around each piece. With
 * EMULATED_SHARED set, other processes can open handles of it.
 */
#include "driver.h"

#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { MEMORY_BYTES = 1 << 30, CANARY_BYTES = 256, CANARY = 0xa5 };

typedef struct {
    char reserved[64];
} ipc_handle;

EXPORT cuMemGetInfo_v2(size_t *left, size_t *all);
EXPORT cuMemAlloc_v2(uintptr_t *pointer, size_t bytes);
EXPORT cuMemFree_v2(uintptr_t pointer);
EXPORT cuMemcpyHtoD_v2(uintptr_t target, const void *source, size_t bytes);
EXPORT cuMemcpyDtoH_v2(void *target, uintptr_t source, size_t bytes);
EXPORT cuMemcpyDtoD_v2(uintptr_t target, uintptr_t source, size_t bytes);
EXPORT cuMemGetAddressRange_v2(uintptr_t *base, size_t *size, uintptr_t pointer);
EXPORT cuPointerGetAttribute(void *value, int attribute, uintptr_t pointer);
EXPORT cuIpcGetMemHandle(ipc_handle *handle, uintptr_t pointer);
EXPORT cuIpcOpenMemHandle_v2(uintptr_t *pointer, ipc_handle handle, unsigned flags);
EXPORT cuIpcCloseMemHandle(uintptr_t pointer);

typedef struct allocation {
    struct allocation *next;
    unsigned char *bytes;
    size_t size;
    int file; /* that other processes map; -1: none */
    unsigned long long number;
} allocation;
static allocation *allocations;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

result cuMemGetInfo_v2(size_t *left, size_t *all)
{
    *left = *all = MEMORY_BYTES;
    for (const allocation *a = allocations; a != NULL; a = a->next)
        *left -= a->size;
    return SUCCESS;
}

static bool take_bytes(allocation *made, size_t bytes)
{
    made->file = getenv("EMULATED_SHARED") == NULL ? -1 : memfd_create("emulated device", 0);
    if (made->file < 0)
        return posix_memalign((void **)&made->bytes, 256, bytes) == 0;
    void *mapped = ftruncate(made->file, (off_t)bytes) != 0
                       ? MAP_FAILED
                       : mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, made->file, 0);
    made->bytes = mapped;
    return mapped != MAP_FAILED;
}

static void give_bytes(allocation *gone)
{
    if (gone->file < 0) {
        free(gone->bytes);
        return;
    }
    munmap(gone->bytes, gone->size + 2 * CANARY_BYTES);
    close(gone->file);
}

result cuMemAlloc_v2(uintptr_t *pointer, size_t bytes)
{
    if (emulated_fails(__func__) || bytes > MEMORY_BYTES)
        return OUT_OF_MEMORY;
    allocation *made = malloc(sizeof *made);
    if (made == NULL || !take_bytes(made, bytes + 2 * CANARY_BYTES))
        return OUT_OF_MEMORY;
    memset(made->bytes, CANARY, bytes + 2 * CANARY_BYTES);
    made->size = bytes;
    pthread_mutex_lock(&lock);
    static unsigned long long last;
    made->number = ++last;
    made->next = allocations;
    allocations = made;
    pthread_mutex_unlock(&lock);
    *pointer = (uintptr_t)made->bytes + CANARY_BYTES;
    return SUCCESS;
}

static void check_canaries(const allocation *a)
{
    for (size_t i = 0; i < CANARY_BYTES; i++)
        if (a->bytes[i] != CANARY || a->bytes[CANARY_BYTES + a->size + i] != CANARY) {
            fprintf(stderr, "emulated device: a kernel wrote beside %zu bytes\n", a->size);
            abort();
        }
}

void emulated_check_memory(void)
{
    pthread_mutex_lock(&lock);
    for (const allocation *a = allocations; a != NULL; a = a->next)
        check_canaries(a);
    pthread_mutex_unlock(&lock);
}

result cuMemFree_v2(uintptr_t pointer)
{
    allocation *gone = NULL;
    pthread_mutex_lock(&lock);
    for (allocation **link = &allocations; gone == NULL && *link != NULL;)
        if ((uintptr_t)(*link)->bytes + CANARY_BYTES == pointer) {
            gone = *link;
            *link = gone->next;
        } else {
            link = &(*link)->next;
        }
    pthread_mutex_unlock(&lock);
    if (gone == NULL)
        return INVALID_VALUE;
    check_canaries(gone);
    give_bytes(gone);
    free(gone);
    return SUCCESS;
}

result cuMemcpyHtoD_v2(uintptr_t target, const void *source, size_t bytes)
{
    MAY_FAIL();
    memcpy((void *)target, source, bytes);
    return SUCCESS;
}

result cuMemcpyDtoH_v2(void *target, uintptr_t source, size_t bytes)
{
    memcpy(target, (const void *)source, bytes);
    return SUCCESS;
}

result cuMemcpyDtoD_v2(uintptr_t target, uintptr_t source, size_t bytes)
{
    memcpy((void *)target, (const void *)source, bytes);
    return SUCCESS;
}

static unsigned long long number_of(uintptr_t base)
{
    unsigned long long number = 0;
    pthread_mutex_lock(&lock);
    for (const allocation *a = allocations; a != NULL; a = a->next)
        if ((uintptr_t)a->bytes + CANARY_BYTES == base)
            number = a->number;
    pthread_mutex_unlock(&lock);
    return number;
}

/* Numbers of the allocation and of the device, of all that may be asked. */
result cuPointerGetAttribute(void *value, int attribute, uintptr_t pointer)
{
    uintptr_t base;
    size_t size;
    result code = cuMemGetAddressRange_v2(&base, &size, pointer);
    enum { BUFFER_ID = 7, DEVICE_ORDINAL = 9 };
    if (code != SUCCESS || (attribute != DEVICE_ORDINAL && attribute != BUFFER_ID))
        return INVALID_VALUE;
    if (attribute == BUFFER_ID)
        *(unsigned long long *)value = number_of(base);
    else
        *(int *)value = 0;
    return SUCCESS;
}

result cuMemGetAddressRange_v2(uintptr_t *base, size_t *size, uintptr_t pointer)
{
    MAY_FAIL();
    result code = INVALID_VALUE;
    pthread_mutex_lock(&lock);
    for (const allocation *a = allocations; code != SUCCESS && a != NULL; a = a->next) {
        uintptr_t start = (uintptr_t)a->bytes + CANARY_BYTES;
        if (pointer < start || pointer >= start + a->size)
            continue;
        *base = start;
        *size = a->size;
        code = SUCCESS;
    }
    pthread_mutex_unlock(&lock);
    return code;
}

/* ---- memory of other processes ---- */

/* What a handle says. */
typedef struct {
    pid_t process;
    int file;
    size_t size;
} shared_memory;

result cuIpcGetMemHandle(ipc_handle *handle, uintptr_t pointer)
{
    MAY_FAIL();
    shared_memory memory = {.process = getpid(), .file = -1};
    result code = INVALID_VALUE;
    pthread_mutex_lock(&lock);
    for (const allocation *a = allocations; code != SUCCESS && a != NULL; a = a->next) {
        if ((uintptr_t)a->bytes + CANARY_BYTES != pointer)
            continue;
        memory.file = a->file;
        memory.size = a->size;
        code = SUCCESS;
    }
    pthread_mutex_unlock(&lock);
    memset(handle, 0, sizeof *handle);
    memcpy(handle, &memory, sizeof memory);
    return code;
}

static allocation *opened;

/* As the real one, it refuses memory of the own process. */
result cuIpcOpenMemHandle_v2(uintptr_t *pointer, ipc_handle handle, unsigned flags)
{
    (void)flags;
    MAY_FAIL();
    shared_memory memory;
    char path[64];
    memcpy(&memory, &handle, sizeof memory);
    if (memory.process == getpid() || memory.file < 0)
        return INVALID_VALUE;
    snprintf(path, sizeof path, "/proc/%ld/fd/%d", (long)memory.process, memory.file);
    allocation *made = calloc(1, sizeof *made);
    made->file = open(path, O_RDWR);
    made->size = memory.size;
    made->bytes = mmap(NULL, memory.size + 2 * CANARY_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED,
                       made->file, 0);
    if (made->file < 0 || made->bytes == MAP_FAILED)
        return INVALID_VALUE;
    made->next = opened;
    opened = made;
    *pointer = (uintptr_t)made->bytes + CANARY_BYTES;
    return SUCCESS;
}

result cuIpcCloseMemHandle(uintptr_t pointer)
{
    for (allocation **link = &opened; *link != NULL; link = &(*link)->next)
        if ((uintptr_t)(*link)->bytes + CANARY_BYTES == pointer) {
            allocation *gone = *link;
            *link = gone->next;
            give_bytes(gone);
            free(gone);
            return SUCCESS;
        }
    return INVALID_VALUE;
}
