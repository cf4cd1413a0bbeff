/* Which change of layout an array of records undergoes. */
#ifndef RS_LAYER_RELAYOUT_H
#define RS_LAYER_RELAYOUT_H

#include "layout/record.h"

#include <stdbool.h>
#include <stddef.h>

/* A change of layout of an array of records. */
typedef struct {
    rs_record record;
    bool from_soa; /* the program keeps the array in "f i", not in "i f" */
    size_t tile;   /* the kernels want "i/T f i%T"; 0: "f i" */
    size_t number; /* equal ones have the same; 0: not numbered */
} rs_relayout;

/* Those that have a number, from 1 on in the order of the array. */
typedef struct {
    rs_relayout *all;
    size_t count;
} rs_relayouts;

/* Gives it its number, for launches compare relayouts many times, and records can be long. */
void rs_relayout_give_number(rs_relayouts *numbered, rs_relayout *relayout);

/* Whether an array that is in one of them is in the other too. */
bool rs_relayout_equal(const rs_relayout *a, const rs_relayout *b);

/* Whether a kernel converts buffers of any length in place: from AoS to ASTA. */
bool rs_relayout_has_kernel(const rs_relayout *relayout);

/* Whether buffers of so many bytes are converted by plans. */
bool rs_relayout_needs_plans(const rs_relayout *relayout, size_t bytes);

#endif
