/* Memory of the made-up driver: of the device, of pools, managed, of the host, mapped. */
#include "made_up.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { GUARD_BYTES = 256, GUARD = 0xa5 };

/* ---- memory ---- */

typedef struct allocation {
    struct allocation *next;
    void *context;
    unsigned char *bytes; /* with guards on both sides */
    size_t size;
    memory_kind kind;
} allocation;

static allocation *allocations;

static allocation *find_allocation(uintptr_t address)
{
    for (allocation *a = allocations; a != NULL; a = a->next)
        if (address - (uintptr_t)a->bytes - GUARD_BYTES < a->size)
            return a;
    return NULL;
}

bool is_outside(uintptr_t address, size_t bytes)
{
    const allocation *found = find_allocation(address);
    return bytes > 0 &&
           (found == NULL || address + bytes > (uintptr_t)found->bytes + GUARD_BYTES + found->size);
}

bool is_elsewhere(uintptr_t address)
{
    const allocation *found = find_allocation(address);
    return found != NULL && found->context != current_context();
}

/* MADE_UP_PATTERN: the words of new memory are numbers from 0 on. Else all bytes are the same. */
static void number_words(unsigned char *bytes, size_t size)
{
    for (uint32_t i = 0; i < size / sizeof i; i++)
        memcpy(bytes + i * sizeof i, &i, sizeof i);
}

result allocate(uintptr_t *address, size_t bytes, memory_kind kind)
{
    allocation *made = malloc(sizeof *made);
    if (bytes == 0 || posix_memalign((void **)&made->bytes, 256, bytes + 2 * GUARD_BYTES) != 0)
        return OUT_OF_MEMORY;
    memset(made->bytes, GUARD, bytes + 2 * GUARD_BYTES);
    if (getenv("MADE_UP_PATTERN") != NULL)
        number_words(made->bytes + GUARD_BYTES, bytes);
    made->context = current_context();
    made->size = bytes;
    made->kind = kind;
    made->next = allocations;
    allocations = made;
    *address = (uintptr_t)made->bytes + GUARD_BYTES;
    return SUCCESS;
}

static void check_guards(const allocation *a)
{
    for (size_t i = 0; i < GUARD_BYTES; i++)
        if (a->bytes[i] != GUARD || a->bytes[GUARD_BYTES + a->size + i] != GUARD) {
            fprintf(stderr, "made-up device: something wrote beside %zu bytes\n", a->size);
            abort();
        }
}

void check_all_guards(void)
{
    for (const allocation *a = allocations; a != NULL; a = a->next)
        check_guards(a);
}

static void release(void *data)
{
    uintptr_t address;
    memcpy(&address, data, sizeof address);
    for (allocation **link = &allocations; *link != NULL; link = &(*link)->next)
        if ((uintptr_t)(*link)->bytes + GUARD_BYTES == address) {
            allocation *gone = *link;
            check_guards(gone);
            *link = gone->next;
            memset(gone->bytes, 0x5a, gone->size + 2 * GUARD_BYTES);
            free(gone->bytes);
            free(gone);
            return;
        }
}

EXPORT result cuMemAlloc_v2(uintptr_t *address, size_t bytes)
{
    BEGIN;
    return leave(allocate(address, bytes, OF_DEVICE));
}

/* Nothing waits for commands on memory of a pool: the caller has done so, says the driver's
 * documentation. */
EXPORT result cuMemFree_v2(uintptr_t address)
{
    BEGIN;
    const allocation *found = find_allocation(address);
    if (address != 0 && (found == NULL || (uintptr_t)found->bytes + GUARD_BYTES != address))
        return leave(INVALID_VALUE);
    if (found == NULL || found->kind < OF_POOL)
        command_finish_all();
    else if (command_names(address, found->size)) {
        fprintf(stderr, "made-up device: memory of a pool is freed under a command\n");
        abort();
    }
    release(&address);
    return leave(SUCCESS);
}

EXPORT result cuMemGetAddressRange_v2(uintptr_t *start, size_t *size, uintptr_t address)
{
    BEGIN;
    const allocation *found = find_allocation(address);
    if (found == NULL)
        return leave(INVALID_VALUE);
    *start = (uintptr_t)found->bytes + GUARD_BYTES;
    *size = found->size;
    return leave(SUCCESS);
}

EXPORT result cuPointerGetAttribute(unsigned *value, int attribute, uintptr_t address)
{
    enum { MEMORY_TYPE = 2, IS_MANAGED = 8, HOST = 1, DEVICE = 2 };
    BEGIN;
    const allocation *found = find_allocation(address);
    if (found == NULL || (attribute != MEMORY_TYPE && attribute != IS_MANAGED))
        return leave(INVALID_VALUE);
    const bool is_managed = found->kind == MANAGED || found->kind == OF_MANAGED_POOL;
    const bool is_of_host = found->kind == OF_HOST || found->kind == OF_HOST_POOL;
    *value = attribute == IS_MANAGED ? is_managed : is_of_host ? HOST : DEVICE;
    return leave(SUCCESS);
}

/* ---- memory that the host may use without a call ---- */

EXPORT result cuMemAllocManaged(uintptr_t *address, size_t bytes, unsigned flags)
{
    (void)flags;
    BEGIN;
    return leave(allocate(address, bytes, MANAGED));
}

EXPORT result cuMemHostAlloc(uintptr_t *address, size_t bytes, unsigned flags)
{
    (void)flags;
    BEGIN;
    return leave(allocate(address, bytes, OF_HOST));
}

EXPORT result cuMemHostGetDevicePointer_v2(uintptr_t *address, uintptr_t of_host, unsigned flags)
{
    (void)flags;
    BEGIN;
    *address = of_host;
    return leave(find_allocation(of_host) != NULL ? SUCCESS : INVALID_VALUE);
}

EXPORT result cuMemFreeHost(uintptr_t address)
{
    BEGIN;
    command_finish_all();
    release(&address);
    return leave(SUCCESS);
}

/* ---- pools ---- */

/* CUmemPoolProps. */
typedef struct {
    int allocation, handles;
    struct {
        int type, id;
    } location;
} pool_properties;

EXPORT result cuMemPoolCreate(memory_kind **pool, const pool_properties *properties)
{
    enum { OF_MANAGED = 2, AT_HOST = 2 };
    BEGIN;
    *pool = malloc(sizeof **pool);
    **pool = properties->allocation == OF_MANAGED   ? OF_MANAGED_POOL
             : properties->location.type == AT_HOST ? OF_HOST_POOL
                                                    : OF_POOL;
    return leave(SUCCESS);
}

EXPORT result cuMemPoolDestroy(memory_kind *pool)
{
    BEGIN;
    free(pool);
    return leave(SUCCESS);
}

#define OF_POOLS(suffix, is_per_thread)                                                            \
    EXPORT result cuMemAllocAsync##suffix(uintptr_t *address, size_t bytes, uintptr_t stream)      \
    {                                                                                              \
        BEGIN;                                                                                     \
        (void)stream;                                                                              \
        return leave(allocate(address, bytes, OF_POOL));                                           \
    }                                                                                              \
    EXPORT result cuMemAllocFromPoolAsync##suffix(uintptr_t *address, size_t bytes,                \
                                                  const memory_kind *pool, uintptr_t stream)       \
    {                                                                                              \
        BEGIN;                                                                                     \
        (void)stream;                                                                              \
        return leave(allocate(address, bytes, *pool));                                             \
    }                                                                                              \
    EXPORT result cuMemFreeAsync##suffix(uintptr_t address, uintptr_t stream)                      \
    {                                                                                              \
        BEGIN;                                                                                     \
        command_give(stream_of(stream, is_per_thread), release, &address, sizeof address);         \
        return leave(SUCCESS);                                                                     \
    }
OF_POOLS(, false)
OF_POOLS(_ptsz, true)

/* ---- mapped memory: it has an address from the beginning ---- */

typedef struct {
    size_t size;
} physical;

EXPORT result cuMemCreate(physical **made, size_t bytes, const void *properties, uint64_t flags)
{
    (void)properties, (void)flags;
    BEGIN;
    *made = malloc(sizeof **made);
    (*made)->size = bytes;
    return leave(SUCCESS);
}

EXPORT result cuMemRelease(physical *one)
{
    BEGIN;
    free(one);
    return leave(SUCCESS);
}

EXPORT result cuMemExportToShareableHandle(void *made, const physical *one, int type,
                                           uint64_t flags)
{
    (void)type, (void)flags;
    BEGIN;
    memcpy(made, &one->size, sizeof(int));
    return leave(SUCCESS);
}

EXPORT result cuMemAddressReserve(uintptr_t *address, size_t bytes, size_t alignment,
                                  uintptr_t wanted, uint64_t flags)
{
    (void)alignment, (void)wanted, (void)flags;
    BEGIN;
    return leave(allocate(address, bytes, MAPPED));
}

EXPORT result cuMemMap(uintptr_t address, size_t bytes, size_t offset, const physical *one,
                       uint64_t flags)
{
    (void)flags;
    BEGIN;
    return leave(find_allocation(address) != NULL && offset + bytes <= one->size ? SUCCESS
                                                                                 : INVALID_VALUE);
}

EXPORT result cuMemSetAccess(uintptr_t address, size_t bytes, const void *access, size_t number)
{
    (void)address, (void)bytes, (void)access, (void)number;
    BEGIN;
    return leave(SUCCESS);
}

EXPORT result cuMemUnmap(uintptr_t address, size_t bytes)
{
    (void)address, (void)bytes;
    BEGIN;
    command_finish_all();
    return leave(SUCCESS);
}

EXPORT result cuMemAddressFree(uintptr_t address, size_t bytes)
{
    (void)bytes;
    BEGIN;
    release(&address);
    return leave(SUCCESS);
}

/* ---- other processes: what they do with the memory the test does without a call ---- */

typedef struct {
    char reserved[64];
} handle;

EXPORT result cuIpcGetMemHandle(handle *made, uintptr_t address)
{
    BEGIN;
    const allocation *found = find_allocation(address);
    if (found == NULL || found->kind != OF_DEVICE)
        return leave(INVALID_VALUE);
    memset(made, 0, sizeof *made);
    memcpy(made, &address, sizeof address);
    return leave(SUCCESS);
}

/* There are none that give any. */
EXPORT result cuIpcOpenMemHandle_v2(uintptr_t *address, handle opened, unsigned flags)
{
    (void)address, (void)opened, (void)flags;
    return UNKNOWN;
}

EXPORT result cuIpcCloseMemHandle(uintptr_t address)
{
    (void)address;
    return UNKNOWN;
}

/* ---- textures: a handle that kernels read an address by ---- */

/* CUDA_RESOURCE_DESC of linear memory. */
typedef struct {
    int type;
    uintptr_t address;
} resource;

EXPORT result cuTexObjectCreate(const uintptr_t **made, const resource *of, const void *texture,
                                const void *view)
{
    enum { LINEAR = 2 };
    (void)texture, (void)view;
    BEGIN;
    if (of->type != LINEAR || find_allocation(of->address) == NULL || of->address % 256 != 0)
        return leave(INVALID_VALUE);
    uintptr_t *address = malloc(sizeof *address);
    *address = of->address;
    *made = address;
    return leave(SUCCESS);
}

EXPORT result cuTexObjectDestroy(uintptr_t *texture)
{
    BEGIN;
    free(texture);
    return leave(SUCCESS);
}
