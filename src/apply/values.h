/* Numbers for the parameters of a nest (apply/apply.h), and what its quantities come to. */
#ifndef RS_APPLY_VALUES_H
#define RS_APPLY_VALUES_H

#include "base/status.h"

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { RS_VALUE_NAMES = 32 };

typedef struct {
    const char *names[RS_VALUE_NAMES]; /* the integers among a nest's parameters */
    int64_t values[RS_VALUE_NAMES];
    bool given[RS_VALUE_NAMES]; /* by the user */
    int count;
} rs_values;

/* The sum of products of a quantity, divided and rounded down; 0 for less, SIZE_MAX for too much.
 */
size_t rs_values_quantity(const rs_values *values, const json_t *quantity);

/* The product of an array of quantities; the largest of them. */
size_t rs_values_product(const rs_values *values, const json_t *quantities);
size_t rs_values_largest(const rs_values *values, const json_t *quantities);

/*
 * Chooses values up to `size` with which the nest stays inside its arrays, runs all of its loops,
 * and needs at most `bytes` of memory: those with the most iterations. `given` ("n=100") are kept.
 * RESTRIDE_INVALID_ARGUMENT when there are none.
 */
restride_status rs_values_choose(rs_values *values, const json_t *nest, const json_t *given,
                                 int64_t size, size_t bytes);

/* Bytes of all arrays and copies. */
size_t rs_values_bytes(const rs_values *values, const json_t *nest, int width);

#endif
