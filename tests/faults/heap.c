/* Functions in place of the C library's; see heap.h. */
#include "heap.h"

#include <errno.h>
#include <jansson.h>
#include <malloc.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

static struct {
    atomic_bool watching;
    atomic_size_t calls;
    size_t chosen;
    heap_mode mode;
    atomic_size_t refused;
    atomic_size_t threads;
    atomic_llong live;
    atomic_llong bytes;
    atomic_llong most;
    char first[32];
} heap;

/* NOLINTBEGIN(bugprone-reserved-identifier): the linker asks for these names */
void *__real_malloc(size_t size);
void *__real_calloc(size_t count, size_t size);
void *__real_realloc(void *memory, size_t size);
void *__real_aligned_alloc(size_t alignment, size_t size);
int __real_posix_memalign(void **memory, size_t alignment, size_t size);
char *__real_strdup(const char *string);
char *__real_strndup(const char *string, size_t size);
void __real_free(void *memory);
void *__real_mmap(void *address, size_t length, int protection, int flags, int file, off_t offset);
int __real_pthread_create(pthread_t *thread, const pthread_attr_t *attributes,
                          void *(*start)(void *), void *argument);
void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t count, size_t size);
void *__wrap_realloc(void *memory, size_t size);
void *__wrap_aligned_alloc(size_t alignment, size_t size);
int __wrap_posix_memalign(void **memory, size_t alignment, size_t size);
char *__wrap_strdup(const char *string);
char *__wrap_strndup(const char *string, size_t size);
void __wrap_free(void *memory);
void *__wrap_mmap(void *address, size_t length, int protection, int flags, int file, off_t offset);
int __wrap_pthread_create(pthread_t *thread, const pthread_attr_t *attributes,
                          void *(*start)(void *), void *argument);

static bool refuse(const char *function)
{
    if (!atomic_load(&heap.watching))
        return false;
    size_t call = atomic_fetch_add(&heap.calls, 1);
    if (heap.mode == HEAP_FAILS_ONCE ? call != heap.chosen : call < heap.chosen)
        return false;
    if (atomic_fetch_add(&heap.refused, 1) == 0)
        strncpy(heap.first, function, sizeof heap.first - 1);
    errno = ENOMEM;
    return true;
}

static void count_bytes(long long added)
{
    long long bytes = atomic_fetch_add(&heap.bytes, added) + added;
    long long most = atomic_load(&heap.most);
    while (bytes > most && !atomic_compare_exchange_weak(&heap.most, &most, bytes))
        ;
}

static void *count(void *memory)
{
    if (atomic_load(&heap.watching) && memory != NULL) {
        atomic_fetch_add(&heap.live, 1);
        count_bytes((long long)malloc_usable_size(memory));
    }
    return memory;
}

void *__wrap_malloc(size_t size)
{
    return refuse("malloc") ? NULL : count(__real_malloc(size));
}

void *__wrap_calloc(size_t items, size_t size)
{
    return refuse("calloc") ? NULL : count(__real_calloc(items, size));
}

void *__wrap_realloc(void *memory, size_t size)
{
    if (refuse("realloc"))
        return NULL;
    long long before = memory == NULL ? 0 : (long long)malloc_usable_size(memory);
    void *moved = __real_realloc(memory, size);
    if (memory == NULL)
        return count(moved);
    if (atomic_load(&heap.watching) && moved != NULL)
        count_bytes((long long)malloc_usable_size(moved) - before);
    return moved;
}

void *__wrap_aligned_alloc(size_t alignment, size_t size)
{
    return refuse("aligned_alloc") ? NULL : count(__real_aligned_alloc(alignment, size));
}

int __wrap_posix_memalign(void **memory, size_t alignment, size_t size)
{
    if (refuse("posix_memalign"))
        return ENOMEM;
    int code = __real_posix_memalign(memory, alignment, size);
    if (code == 0)
        count(*memory);
    return code;
}

char *__wrap_strdup(const char *string)
{
    return refuse("strdup") ? NULL : count(__real_strdup(string));
}

char *__wrap_strndup(const char *string, size_t size)
{
    return refuse("strndup") ? NULL : count(__real_strndup(string, size));
}

void __wrap_free(void *memory)
{
    if (atomic_load(&heap.watching) && memory != NULL) {
        atomic_fetch_sub(&heap.live, 1);
        count_bytes(-(long long)malloc_usable_size(memory));
    }
    __real_free(memory);
}

void *__wrap_mmap(void *address, size_t length, int protection, int flags, int file, off_t offset)
{
    return refuse("mmap") ? MAP_FAILED
                          : __real_mmap(address, length, protection, flags, file, offset);
}

int __wrap_pthread_create(pthread_t *thread, const pthread_attr_t *attributes,
                          void *(*start)(void *), void *argument)
{
    if (!refuse("pthread_create"))
        return __real_pthread_create(thread, attributes, start, argument);
    atomic_fetch_add(&heap.threads, 1);
    return EAGAIN;
}
/* NOLINTEND(bugprone-reserved-identifier) */

void heap_begin(void)
{
    json_set_alloc_funcs(__wrap_malloc, __wrap_free);
}

void heap_watch(size_t call, heap_mode mode)
{
    heap.chosen = call;
    heap.mode = mode;
    heap.first[0] = '\0';
    atomic_store(&heap.calls, 0);
    atomic_store(&heap.refused, 0);
    atomic_store(&heap.threads, 0);
    atomic_store(&heap.live, 0);
    atomic_store(&heap.bytes, 0);
    atomic_store(&heap.most, 0);
    atomic_store(&heap.watching, true);
}

void heap_mark(void)
{
    atomic_store(&heap.most, atomic_load(&heap.bytes));
}

heap_report heap_stop(void)
{
    atomic_store(&heap.watching, false);
    heap_report report = {atomic_load(&heap.refused), atomic_load(&heap.threads),
                          atomic_load(&heap.live), atomic_load(&heap.most), ""};
    memcpy(report.first, heap.first, sizeof report.first);
    return report;
}
