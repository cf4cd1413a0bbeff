/*
 * A heap, and threads, that fail when asked to. A program that uses this is linked with the options
 * of `fault_wraps` in CMakeLists.txt: every call of its own object files to a function that takes
 * memory or starts a thread comes here, and jansson's calls too, through its allocation functions.
 */
#ifndef RS_TESTS_FAULTS_HEAP_H
#define RS_TESTS_FAULTS_HEAP_H

#include <stdbool.h>
#include <stddef.h>

typedef enum {
    HEAP_FAILS_ONCE, /* the chosen call alone */
    HEAP_FAILS_ON    /* the chosen call and all after it */
} heap_mode;

/* Lets jansson take its memory here; before anything of it is used. */
void heap_begin(void);

/* Call number `call`, counted from 0 from now on, fails; SIZE_MAX: none does. */
void heap_watch(size_t call, heap_mode mode);

typedef struct {
    size_t refused; /* calls that failed */
    size_t threads; /* of them, threads that were not started */
    long long live; /* blocks taken since heap_watch() and not given back */
    long long most; /* bytes that were taken at once */
    char first[32]; /* the function that failed first */
} heap_report;

/* Counts `most` from now on. */
void heap_mark(void);

heap_report heap_stop(void);

#endif
