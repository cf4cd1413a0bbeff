/* See arrays.h. */
#include "arrays.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

bool knows_new_memory;
_Thread_local uint64_t state, sum;
_Thread_local array arrays[MOST_ARRAYS];
_Thread_local pointer streams[STREAMS];
const size_t record_bytes[TYPES] = {sizeof(particle), sizeof(mixed), sizeof(float)};

/* A wait for the context ends captures of all threads: it waits until there are none. */
pthread_rwlock_t captures = PTHREAD_RWLOCK_INITIALIZER;

void wait_for_context(void)
{
    pthread_rwlock_wrlock(&captures);
    CHECK(cu.cuCtxSynchronize());
    pthread_rwlock_unlock(&captures);
}

unsigned below(unsigned limit)
{
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return (unsigned)((state >> 11) % limit);
}

void add(const void *bytes, size_t count)
{
    const unsigned char *b = bytes;
    for (size_t i = 0; i < count; i++)
        sum = (sum ^ b[i]) * 1099511628211u;
    if (says)
        fprintf(stderr, "sum %016llx\n", (unsigned long long)sum);
}

size_t bytes_of(const array *a)
{
    return a->count * record_bytes[a->type];
}

/* Not every number survives arithmetic that is summed byte by byte: these do. */
void fill(void *content, type t, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (t == PARTICLES) {
            particle *p = (particle *)content + i;
            *p = (particle){(float)below(9),
                            (float)below(9),
                            (float)below(9),
                            (int)below(1000),
                            {(float)below(5), (float)below(5), 1, 2}};
        } else if (t == MIXED) {
            mixed *m = (mixed *)content + i;
            *m = (mixed){below(100), (float)below(100), {(unsigned char)below(256), 1, 2, 3}};
        } else {
            ((float *)content)[i] = (float)below(100);
        }
}

static void drop(void **event)
{
    if (*event != NULL)
        CHECK(cuEventDestroy_v2(*event));
    *event = NULL;
}

void forget(array *a)
{
    drop(&a->written);
    for (int i = 0; i < STREAMS; i++)
        drop(&a->read[i]);
}

/* Lets the stream come behind what the array needs. */
void order(array *a, int stream, bool writes)
{
    if (a->written != NULL && a->writer != stream)
        CHECK(cu.cuStreamWaitEvent(streams[stream], a->written, 0));
    for (int i = 0; writes && i < STREAMS; i++)
        if (a->read[i] != NULL && i != stream)
            CHECK(cu.cuStreamWaitEvent(streams[stream], a->read[i], 0));
}

void note(array *a, int stream, bool writes)
{
    void **event = writes ? &a->written : &a->read[stream];
    if (writes)
        forget(a);
    if (*event == NULL)
        CHECK(cuEventCreate(event, 2));
    CHECK(cu.cuEventRecord(*event, streams[stream]));
    if (writes)
        a->writer = stream;
}

/* A piece of an allocation, as allocators of programs hand it out. */
array *whole_of(array *a)
{
    return a->is_part ? a - 1 : a;
}

static array *pick_some(type t, bool is_open)
{
    array *found = NULL;
    unsigned seen = 0;
    for (array *a = arrays; a < arrays + MOST_ARRAYS; a++)
        if (a->address != 0 && (t == TYPES || a->type == t) && (a->host != NULL || !is_open) &&
            below(++seen) == 0)
            found = a;
    return found;
}

array *pick(type t)
{
    return pick_some(t, false);
}

array *pick_open(void)
{
    return pick_some(TYPES, true);
}

bool has_part(const array *a)
{
    return a + 1 < arrays + MOST_ARRAYS && a[1].address != 0 && a[1].is_part;
}
