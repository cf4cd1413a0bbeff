/*
 * The runs of a box of a copy (copy_box.h) on its two sides. On the even side, the source or the
 * target, they lie in local memory as they are, one after the other; on the uneven side each word
 * has its own place there.
 */
#ifndef RS_ENGINE_COPY_RUNS_H
#define RS_ENGINE_COPY_RUNS_H

#include "engine/copy.h"

#include <stdint.h>

enum { RS_COPY_NO_AXIS = RS_COPY_MOST_AXES };

/* Words from the first, on both sides and in local memory. */
typedef struct {
    size_t even, uneven, cell;
} rs_copy_place;

/* An axis in a box. */
typedef struct {
    size_t axis; /* of the part, or RS_COPY_NO_AXIS */
    size_t count;
    rs_copy_place step;
    int partial; /* which of the two axes whose last block may be shorter; -1: none */
} rs_copy_digit;

typedef struct {
    size_t count;
    rs_copy_digit digits[RS_COPY_MOST_AXES + 1];
} rs_copy_digits;

/* A partial digit is the last of the chain, or of the rows. */
typedef struct {
    rs_copy_digits chain; /* of a run, the fastest first */
    rs_copy_digits rows;
    rs_copy_place first;
    size_t lower;     /* words of the chain but for its last digit */
    size_t run;       /* and with it */
    size_t row_count; /* but for a partial digit */
    int rows_by;      /* this one; 2: none */
} rs_copy_runs;

/* Digits that follow each other from one word on are the chain, until it has `enough` words. False
 * when there are two partial digits where one may be. */
bool rs_copy_runs_of(rs_copy_runs *runs, const rs_copy_digits *all, bool is_even, size_t enough);

/* Gives each digit its step in local memory, where the even side's runs are `pitch` words. */
void rs_copy_runs_place(const rs_copy_runs *even, rs_copy_digits *all);

/* How many values the partial digit of the rows has; 1 without one. */
size_t rs_copy_runs_lasts(const rs_copy_runs *runs);

/* Where row number `row` of those with one value of the partial digit begins. */
rs_copy_place rs_copy_runs_row(const rs_copy_runs *runs, size_t row, size_t last);

/* The place of word `word`, below `lower`, of a run. */
uint64_t rs_copy_runs_low(const rs_copy_runs *runs, size_t word);

/* The last digit of the chain, or one that there is once. */
rs_copy_digit rs_copy_runs_high(const rs_copy_runs *runs);

#endif
