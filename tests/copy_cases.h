/* Conversions from one buffer to another, and whether one was right: for every engine. */
#ifndef RS_TESTS_COPY_CASES_H
#define RS_TESTS_COPY_CASES_H

#include "restride/restride.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct {
    const char *dims;
    const char *from;
    const char *to;
    size_t unit;      /* 0 with a record */
    char texts[1200]; /* of a random case */
} copy_case;

/* Chosen ones. */
extern const copy_case copy_cases[];
extern const size_t copy_case_count;

/* A random pair of layouts; a random permutation of 1 to 6 axes, of up to `most` elements, whose
 * elements have 1 to 48 bytes. */
void copy_case_random(copy_case *c, uint64_t *seed);
void copy_case_random_tensor(copy_case *c, uint64_t *seed, size_t most);

typedef struct {
    size_t from_bytes;
    size_t to_bytes;
} copy_arrays;

copy_arrays copy_case_sizes(const copy_case *c);

/* The caller destroys it. */
restride_plan *copy_case_plan(const copy_case *c, restride_engine *engine);

/* Whether each element of `to` is that of `from`. */
bool copy_case_holds(const copy_case *c, const unsigned char *from, const unsigned char *to);

/* Fails the test. */
void copy_case_fail(const copy_case *c, const char *why);

#endif
