/* Launches with irregular references and what every plan for them must hold, by the definitions. */
#ifndef RS_TESTS_IRREGULAR_LAUNCHES_H
#define RS_TESTS_IRREGULAR_LAUNCHES_H

#include "restride/irregular.h"

#include <stdbool.h>
#include <stdint.h>

enum { METHODS = 4 };

/* A launch with one reference and its random array. */
typedef struct {
    restride_launch launch;
    restride_reference reference;
    uint64_t *index;
    unsigned char *array;
} launch_case;

/* One of the values, at random. */
size_t pick(uint64_t *state, const size_t *values, size_t count);
#define PICK(state, ...)                                                                           \
    pick(state, (const size_t[]){__VA_ARGS__}, sizeof(size_t[]){__VA_ARGS__} / sizeof(size_t))

/* A random launch; the caller frees it. */
launch_case make_case(uint64_t *state);

/* Fills the array at random. */
void make_array(launch_case *made, uint64_t *state);
void free_case(launch_case *made);

size_t warps_of(const launch_case *made);

/* Whether a segment holds the objects of a whole warp, and none straddles a border. */
bool segment_holds_warp(const launch_case *made);

/* Transactions by their definition. */
size_t marked_segments(const restride_launch *launch, const uint64_t *index, size_t slots,
                       size_t object_bytes);

/* Every thread's object, the order, the facts, and the bounds. */
void check_method(const launch_case *made, int method, int processors);

/* Transactions after a plan; SIZE_MAX when there is none. The budget is in bytes. */
size_t planned(const launch_case *made, restride_irregular_method method, size_t budget);

#endif
