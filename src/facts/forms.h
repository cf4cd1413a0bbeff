/*
 * What a number is across the threads of a warp and the rounds of loops, for judging accesses.
 *
 * A form is a sum: constant + lanes[of the thread] + step * (round) for each loop, and something
 * that is the same for all threads of a group. The thread's number is the fastest dimension's:
 * get_global_id(0), threadIdx.x. Warps are taken to begin at a multiple of every divisor, so that
 * quotients and remainders by constants are lists of numbers like all others.
 *
 * A form is true but for a few threads: where an index wraps around or is clamped ((i + 1) % n,
 * i == n - 1 ? 0 : i + 1) it has the numbers of the threads that are not at the border, and a
 * divisor that is not known is taken for the extent of an array, larger than a warp. Sums and
 * products are taken not to overflow, and one row of a group to have a warp's threads at least.
 * Nothing that must be sound may rest upon it.
 */
#ifndef RS_FACTS_FORMS_H
#define RS_FACTS_FORMS_H

#include <limits.h>
#include <stdbool.h>

enum { RS_FORM_LOOPS = 4, RS_FORM_LANES = 32 };

/* A step that is the same for all threads, but not known here. */
#define RS_FORM_SOME LLONG_MIN

typedef struct {
    bool is_data;   /* what the memory, or more than a sum, says; then the rest is nothing */
    bool some_lane; /* the thread's number by a factor that is not known; lanes are nothing */
    long long constant;
    long long uniform; /* a part that is the same for all threads, known as a multiple of this; 0:
                          there is none */
    int lanes[RS_FORM_LANES]; /* the first one is 0 */
    int loops[RS_FORM_LOOPS]; /* of the access's list, -1: none */
    long long steps[RS_FORM_LOOPS];
} rs_fact_form;

rs_fact_form rs_form_constant(long long value);
rs_fact_form rs_form_uniform(void);
rs_fact_form rs_form_lane(void);
rs_fact_form rs_form_data(void);
rs_fact_form rs_form_round(int loop, long long step);

rs_fact_form rs_form_add(rs_fact_form a, rs_fact_form b);
rs_fact_form rs_form_negate(rs_fact_form a);

/* By the operator's symbol; of one that is not known here the operands tell whether it is uniform.
 */
rs_fact_form rs_form_combine(const char *symbol, rs_fact_form a, rs_fact_form b);

/* Of two ways through a branch; also of the less and the larger of two numbers. */
rs_fact_form rs_form_merge(rs_fact_form a, rs_fact_form b);

bool rs_form_is_uniform(const rs_fact_form *form);  /* over threads; loops may change it */
bool rs_form_is_constant(const rs_fact_form *form); /* a number */
bool rs_form_equals(const rs_fact_form *a, const rs_fact_form *b);
bool rs_form_has_equal_lanes(const rs_fact_form *a, const rs_fact_form *b);

/* The step from most threads to their next ones; RS_FORM_SOME where there is none. */
long long rs_form_lane_step(const rs_fact_form *form);

/* How many different numbers the threads of a warp have, and how far the largest is from the
 * least. Not of data, or by an unknown factor. */
int rs_form_distinct(const rs_fact_form *form, long long *span);

/* The step of a loop, 0 where the form does not change with it. */
long long rs_form_step(const rs_fact_form *form, int loop);

#endif
