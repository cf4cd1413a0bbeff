/* Memory and copies of the made-up driver. */
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
    bool is_pooled;
} allocation;

static allocation *allocations;

static allocation *find_allocation(uintptr_t address)
{
    for (allocation *a = allocations; a != NULL; a = a->next)
        if (address - (uintptr_t)a->bytes - GUARD_BYTES < a->size)
            return a;
    return NULL;
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

static result allocate(uintptr_t *address, size_t bytes, bool is_pooled)
{
    allocation *made = malloc(sizeof *made);
    if (bytes == 0 || posix_memalign((void **)&made->bytes, 256, bytes + 2 * GUARD_BYTES) != 0)
        return OUT_OF_MEMORY;
    memset(made->bytes, GUARD, bytes + 2 * GUARD_BYTES);
    if (getenv("MADE_UP_PATTERN") != NULL)
        number_words(made->bytes + GUARD_BYTES, bytes);
    made->context = current_context();
    made->size = bytes;
    made->is_pooled = is_pooled;
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
    return leave(allocate(address, bytes, false));
}

/* Nothing waits for commands on memory of a pool: the caller has done so, says the driver's
 * documentation. */
EXPORT result cuMemFree_v2(uintptr_t address)
{
    BEGIN;
    const allocation *found = find_allocation(address);
    if (address != 0 && (found == NULL || (uintptr_t)found->bytes + GUARD_BYTES != address))
        return leave(INVALID_VALUE);
    if (found == NULL || !found->is_pooled)
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
    enum { MEMORY_TYPE = 2, OF_DEVICE = 2 };
    BEGIN;
    *value = OF_DEVICE;
    return leave(attribute == MEMORY_TYPE && find_allocation(address) != NULL ? SUCCESS
                                                                              : INVALID_VALUE);
}

EXPORT result cuMemHostAlloc(void **address, size_t bytes, unsigned flags)
{
    (void)flags;
    *address = malloc(bytes);
    return SUCCESS;
}

EXPORT result cuMemFreeHost(void *address)
{
    free(address);
    return SUCCESS;
}

/* ---- copies ---- */

typedef struct {
    void *to;
    const void *from;
    size_t bytes;
} copying;

static void copy(void *data)
{
    copying c;
    memcpy(&c, data, sizeof c);
    memmove(c.to, c.from != NULL ? c.from : (char *)data + sizeof c, c.bytes);
}

static bool is_outside(uintptr_t address, size_t bytes)
{
    const allocation *found = find_allocation(address);
    return bytes > 0 &&
           (found == NULL || address + bytes > (uintptr_t)found->bytes + GUARD_BYTES + found->size);
}

/* Memory of the host is read when the call is made. */
static result copy_in(made_up_stream *stream, uintptr_t to, const void *from, size_t bytes,
                      bool blocks)
{
    if (is_outside(to, bytes))
        return leave(INVALID_VALUE);
    char *data = malloc(sizeof(copying) + bytes);
    memcpy(data, &(copying){(void *)to, NULL, bytes}, sizeof(copying));
    memcpy(data + sizeof(copying), from, bytes);
    const command_id id = command_give(stream, copy, data, sizeof(copying) + bytes);
    free(data);
    if (blocks)
        command_finish(id);
    return leave(SUCCESS);
}

static result copy_later(made_up_stream *stream, void *to, const void *from, size_t bytes,
                         bool blocks)
{
    const command_id id = command_give(stream, copy, &(copying){to, from, bytes}, sizeof(copying));
    if (blocks)
        command_finish(id);
    return leave(SUCCESS);
}

static result copy_out(made_up_stream *stream, void *to, uintptr_t from, size_t bytes, bool blocks)
{
    return is_outside(from, bytes) ? leave(INVALID_VALUE)
                                   : copy_later(stream, to, (const void *)from, bytes, blocks);
}

static result copy_over(made_up_stream *stream, uintptr_t to, uintptr_t from, size_t bytes)
{
    return is_outside(from, bytes) || is_outside(to, bytes)
               ? leave(INVALID_VALUE)
               : copy_later(stream, (void *)to, (const void *)from, bytes, false);
}

#define COPIES(suffix, is_per_thread)                                                              \
    EXPORT result cuMemcpyHtoD_v2##suffix(uintptr_t to, const void *from, size_t bytes)            \
    {                                                                                              \
        BEGIN;                                                                                     \
        return copy_in(stream_of(0, is_per_thread), to, from, bytes, true);                        \
    }                                                                                              \
    EXPORT result cuMemcpyDtoH_v2##suffix(void *to, uintptr_t from, size_t bytes)                  \
    {                                                                                              \
        BEGIN;                                                                                     \
        return copy_out(stream_of(0, is_per_thread), to, from, bytes, true);                       \
    }                                                                                              \
    EXPORT result cuMemcpyDtoD_v2##suffix(uintptr_t to, uintptr_t from, size_t bytes)              \
    {                                                                                              \
        BEGIN;                                                                                     \
        return copy_over(stream_of(0, is_per_thread), to, from, bytes);                            \
    }
COPIES(, false)
COPIES(_ptds, true)

typedef struct {
    unsigned char *to;
    unsigned char value;
    size_t bytes;
} filling;

static void fill(void *data)
{
    filling f;
    memcpy(&f, data, sizeof f);
    memset(f.to, f.value, f.bytes);
}

#define LATER(suffix, is_per_thread)                                                               \
    EXPORT result cuMemcpyHtoDAsync_v2##suffix(uintptr_t to, const void *from, size_t bytes,       \
                                               uintptr_t stream)                                   \
    {                                                                                              \
        BEGIN;                                                                                     \
        return copy_in(stream_of(stream, is_per_thread), to, from, bytes, false);                  \
    }                                                                                              \
    EXPORT result cuMemcpyDtoHAsync_v2##suffix(void *to, uintptr_t from, size_t bytes,             \
                                               uintptr_t stream)                                   \
    {                                                                                              \
        BEGIN;                                                                                     \
        return copy_out(stream_of(stream, is_per_thread), to, from, bytes, false);                 \
    }                                                                                              \
    EXPORT result cuMemcpyDtoDAsync_v2##suffix(uintptr_t to, uintptr_t from, size_t bytes,         \
                                               uintptr_t stream)                                   \
    {                                                                                              \
        BEGIN;                                                                                     \
        return copy_over(stream_of(stream, is_per_thread), to, from, bytes);                       \
    }                                                                                              \
    EXPORT result cuMemsetD8Async##suffix(uintptr_t to, unsigned char value, size_t bytes,         \
                                          uintptr_t stream)                                        \
    {                                                                                              \
        BEGIN;                                                                                     \
        if (is_outside(to, bytes))                                                                 \
            return leave(INVALID_VALUE);                                                           \
        command_give(stream_of(stream, is_per_thread), fill,                                       \
                     &(filling){(unsigned char *)to, value, bytes}, sizeof(filling));              \
        return leave(SUCCESS);                                                                     \
    }                                                                                              \
    EXPORT result cuMemAllocAsync##suffix(uintptr_t *address, size_t bytes, uintptr_t stream)      \
    {                                                                                              \
        BEGIN;                                                                                     \
        (void)stream;                                                                              \
        return leave(allocate(address, bytes, true));                                              \
    }                                                                                              \
    EXPORT result cuMemFreeAsync##suffix(uintptr_t address, uintptr_t stream)                      \
    {                                                                                              \
        BEGIN;                                                                                     \
        command_give(stream_of(stream, is_per_thread), release, &address, sizeof address);         \
        return leave(SUCCESS);                                                                     \
    }
LATER(, false)
LATER(_ptsz, true)

/* CUDA_MEMCPY2D, between memory of the device. */
typedef struct {
    size_t x, y;
    int type;
    void *host;
    uintptr_t device;
    void *array;
    size_t pitch;
} side;
typedef struct {
    side source, target;
    size_t row_bytes, rows;
} copying_rows;

static void copy_rows(void *data)
{
    copying_rows c;
    memcpy(&c, data, sizeof c);
    for (size_t row = 0; row < c.rows; row++)
        memmove((char *)c.target.device + (c.target.y + row) * c.target.pitch + c.target.x,
                (const char *)c.source.device + (c.source.y + row) * c.source.pitch + c.source.x,
                c.row_bytes);
}

EXPORT result cuMemcpy2DAsync_v2(const copying_rows *rows, uintptr_t stream)
{
    BEGIN;
    command_give(stream_of(stream, false), copy_rows, rows, sizeof *rows);
    return leave(SUCCESS);
}

EXPORT result cuMemcpy2D_v2(const copying_rows *rows)
{
    BEGIN;
    command_give(stream_of(0, false), copy_rows, rows, sizeof *rows);
    return leave(SUCCESS);
}

/* ---- other processes: there are none ---- */

typedef struct {
    char reserved[64];
} handle;

EXPORT result cuIpcGetMemHandle(handle *made, uintptr_t address)
{
    (void)made, (void)address;
    return UNKNOWN;
}

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

/* Nobody knows this one. */
EXPORT result cuMadeUpFunction(uintptr_t address, unsigned char value, size_t bytes)
{
    BEGIN;
    command_finish_all();
    memset((void *)address, value, bytes);
    return leave(SUCCESS);
}
