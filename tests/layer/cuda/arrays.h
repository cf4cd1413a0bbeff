/*
 * The arrays of a random program (sequence.c), and who may use them when: events order commands on
 * one array wherever one of them writes. Each thread has its own.
 */
#ifndef ARRAYS_H
#define ARRAYS_H

#include "calls.h"
#include "kernels.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

enum { MOST_ARRAYS = 6, STREAMS = 4, MOST_COUNT = 100 };
typedef enum { PARTICLES, MIXED, FLOATS, TYPES } type;
extern const size_t record_bytes[TYPES];

/* Where the memory is from; in streams it is given back to pools alone. */
typedef enum { OF_DEVICE, OF_POOL, MANAGED, OF_HOST, OF_HOST_POOL, OF_MANAGED_POOL, MAPPED } kind;
enum { KINDS = MAPPED + 1 };

typedef struct {
    type type;
    kind kind;
    pointer address; /* 0: it is not there */
    size_t count;
    bool is_part; /* of the allocation before it in the list */
    char *host;   /* the host, or another process, uses it here without a call; NULL: nobody */
    pointer texture;
    void *mapping;       /* of MAPPED */
    void *written;       /* an event behind the last writing, or NULL */
    void *read[STREAMS]; /* and behind the readings of each stream since */
    int writer;          /* stream */
} array;

extern _Thread_local uint64_t state; /* of below() */
extern _Thread_local uint64_t sum;   /* of all bytes that were read back */
extern _Thread_local array arrays[MOST_ARRAYS];
extern _Thread_local pointer streams[STREAMS]; /* the first is a default stream */

extern bool knows_new_memory; /* the device gives all of it the same bytes */

/* A wait for the context ends captures of all threads: it waits until there are none. */
extern pthread_rwlock_t captures;
void wait_for_context(void);

unsigned below(unsigned limit);
void add(const void *bytes, size_t count); /* to the sum */
size_t bytes_of(const array *a);

/* Elements with numbers that arithmetic keeps. */
void fill(void *content, type t, size_t count);

/* Lets the stream come behind what the array needs, and what comes later behind the stream. */
void order(array *a, int stream, bool writes);
void note(array *a, int stream, bool writes);
void forget(array *a);

/* A piece of an allocation, as allocators of programs hand it out. */
array *whole_of(array *a);
bool has_part(const array *a);

/* One of a type, or (TYPES) any; NULL: there is none. */
array *pick(type t);
array *pick_open(void); /* one that the host may use without a call */

#endif
