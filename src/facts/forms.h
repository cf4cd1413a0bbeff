/*
 * What a number is across the threads of a group and the rounds of loops, for judging accesses.
 *
 * A form is a sum: constant + lane * (number of the thread) + step * (round) for each loop, and
 * something that is the same for all threads of a group. The thread's number is the fastest
 * dimension's: get_global_id(0), threadIdx.x. Sums and products are taken not to overflow, and one
 * row of a group to have a warp's threads at least. Nothing that must be sound may rest upon it.
 */
#ifndef RS_FACTS_FORMS_H
#define RS_FACTS_FORMS_H

#include <limits.h>
#include <stdbool.h>

enum { RS_FORM_LOOPS = 4 };

/* A factor that is the same for all threads, but not known here. */
#define RS_FORM_SOME LLONG_MIN

typedef enum {
    RS_FORM_SUM,
    RS_FORM_QUOTIENT,  /* a sum by `divisor`: neighbouring threads share it */
    RS_FORM_REMAINDER, /* of a sum by `divisor` */
    RS_FORM_DATA       /* what the memory, or more than a sum, says */
} rs_fact_form_kind;

typedef struct {
    rs_fact_form_kind kind;
    bool has_uniform; /* a part of it that is the same for all threads is not known */
    long long constant, lane;
    int loops[RS_FORM_LOOPS]; /* of the access's list, -1: none */
    long long steps[RS_FORM_LOOPS];
    long long divisor;
} rs_fact_form;

rs_fact_form rs_form_constant(long long value);
rs_fact_form rs_form_uniform(void);
rs_fact_form rs_form_lane(void);
rs_fact_form rs_form_data(void);
rs_fact_form rs_form_round(int loop, long long step);

rs_fact_form rs_form_add(rs_fact_form a, rs_fact_form b);
rs_fact_form rs_form_negate(rs_fact_form a);
rs_fact_form rs_form_multiply(rs_fact_form a, rs_fact_form b);
rs_fact_form rs_form_divide(rs_fact_form a, rs_fact_form b, bool is_remainder);

/* Of two ways through a branch. */
rs_fact_form rs_form_merge(rs_fact_form a, rs_fact_form b);

bool rs_form_is_uniform(const rs_fact_form *form);  /* over threads; loops may change it */
bool rs_form_is_constant(const rs_fact_form *form); /* a number */
bool rs_form_equals(const rs_fact_form *a, const rs_fact_form *b);

/* The step of a loop, 0 where the form does not change with it. */
long long rs_form_step(const rs_fact_form *form, int loop);

#endif
