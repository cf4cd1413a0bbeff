/* Arithmetic of forms. */
#include "facts/forms.h"

#include <string.h>

enum { MOST_OF_LANES = 23 }; /* of the steps between 32 threads: there may be a wrap in each 4 */

rs_fact_form rs_form_constant(long long value)
{
    rs_fact_form form = {.constant = value};
    for (int i = 0; i < RS_FORM_LOOPS; i++)
        form.loops[i] = -1;
    return form;
}

rs_fact_form rs_form_uniform(void)
{
    rs_fact_form form = rs_form_constant(0);
    form.uniform = 1;
    return form;
}

rs_fact_form rs_form_lane(void)
{
    rs_fact_form form = rs_form_constant(0);
    for (int i = 0; i < RS_FORM_LANES; i++)
        form.lanes[i] = i;
    return form;
}

rs_fact_form rs_form_data(void)
{
    rs_fact_form form = rs_form_constant(0);
    form.is_data = true;
    return form;
}

rs_fact_form rs_form_round(int loop, long long step)
{
    rs_fact_form form = rs_form_constant(0);
    form.loops[0] = loop;
    form.steps[0] = step;
    return form;
}

/* --- questions --- */

bool rs_form_is_uniform(const rs_fact_form *form)
{
    if (form->is_data || form->some_lane)
        return false;
    for (int i = 0; i < RS_FORM_LANES; i++)
        if (form->lanes[i] != 0)
            return false;
    return true;
}

static bool has_loops(const rs_fact_form *form)
{
    for (int i = 0; i < RS_FORM_LOOPS; i++)
        if (form->loops[i] >= 0 && form->steps[i] != 0)
            return true;
    return false;
}

bool rs_form_is_constant(const rs_fact_form *form)
{
    return rs_form_is_uniform(form) && form->uniform == 0 && !has_loops(form);
}

bool rs_form_has_equal_lanes(const rs_fact_form *a, const rs_fact_form *b)
{
    return a->is_data == b->is_data && a->some_lane == b->some_lane &&
           memcmp(a->lanes, b->lanes, sizeof a->lanes) == 0;
}

bool rs_form_equals(const rs_fact_form *a, const rs_fact_form *b)
{
    if (!rs_form_has_equal_lanes(a, b) || a->uniform != b->uniform || a->constant != b->constant)
        return false;
    for (int i = 0; i < RS_FORM_LOOPS; i++)
        if (rs_form_step(a, a->loops[i]) != rs_form_step(b, a->loops[i]) ||
            rs_form_step(a, b->loops[i]) != rs_form_step(b, b->loops[i]))
            return false;
    return true;
}

long long rs_form_step(const rs_fact_form *form, int loop)
{
    for (int i = 0; i < RS_FORM_LOOPS; i++)
        if (form->loops[i] == loop && loop >= 0)
            return form->steps[i];
    return 0;
}

long long rs_form_lane_step(const rs_fact_form *form)
{
    if (form->is_data || form->some_lane)
        return RS_FORM_SOME;
    for (int i = 1; i < RS_FORM_LANES; i++) {
        const long long step = (long long)form->lanes[i] - form->lanes[i - 1];
        int same = 0;
        for (int k = 1; k < RS_FORM_LANES; k++)
            same += (long long)form->lanes[k] - form->lanes[k - 1] == step;
        if (same >= MOST_OF_LANES)
            return step;
    }
    return RS_FORM_SOME;
}

int rs_form_distinct(const rs_fact_form *form, long long *span)
{
    long long least = 0, most = 0;
    int count = 0;
    for (int i = 0; i < RS_FORM_LANES; i++) {
        bool is_new = true;
        for (int k = 0; k < i; k++)
            is_new = is_new && form->lanes[k] != form->lanes[i];
        count += is_new;
        least = form->lanes[i] < least ? form->lanes[i] : least;
        most = form->lanes[i] > most ? form->lanes[i] : most;
    }
    *span = most - least;
    return count;
}

/* --- arithmetic --- */

static long long add_steps(long long a, long long b)
{
    long long result;
    if (a == 0)
        return b;
    if (b == 0)
        return a;
    if (a == RS_FORM_SOME || b == RS_FORM_SOME || __builtin_add_overflow(a, b, &result))
        return RS_FORM_SOME;
    return result;
}

static long long multiply_steps(long long a, long long b)
{
    long long result;
    if (a == 0 || b == 0)
        return 0;
    if (a == RS_FORM_SOME || b == RS_FORM_SOME || __builtin_mul_overflow(a, b, &result))
        return RS_FORM_SOME;
    return result;
}

static long long common_divisor(long long a, long long b)
{
    while (b != 0) {
        const long long rest = a % b;
        a = b;
        b = rest;
    }
    return a;
}

static bool add_step(rs_fact_form *form, int loop, long long step)
{
    for (int i = 0; i < RS_FORM_LOOPS; i++)
        if (form->loops[i] == loop || form->loops[i] < 0) {
            form->loops[i] = loop;
            form->steps[i] = add_steps(form->steps[i], step);
            return true;
        }
    return false;
}

static void forget_lanes(rs_fact_form *form)
{
    form->some_lane = true;
    memset(form->lanes, 0, sizeof form->lanes);
}

/* A number that may have overflowed is one that is not known. */
static void set_constant(rs_fact_form *form, long long constant)
{
    form->uniform = constant == RS_FORM_SOME ? 1 : form->uniform;
    form->constant = constant == RS_FORM_SOME ? 0 : constant;
}

rs_fact_form rs_form_add(rs_fact_form a, rs_fact_form b)
{
    if (a.is_data || b.is_data)
        return rs_form_data();
    a.uniform = common_divisor(a.uniform, b.uniform);
    set_constant(&a, add_steps(a.constant, b.constant));
    bool fits = !a.some_lane && !b.some_lane;
    for (int i = 0; i < RS_FORM_LANES && fits; i++)
        fits = !__builtin_add_overflow(a.lanes[i], b.lanes[i], &a.lanes[i]);
    if (!fits)
        forget_lanes(&a);
    for (int i = 0; i < RS_FORM_LOOPS; i++)
        if (b.loops[i] >= 0 && !add_step(&a, b.loops[i], b.steps[i]))
            return rs_form_data();
    return a;
}

/* Times a number that is the same for all threads; RS_FORM_SOME: not known. */
static rs_fact_form scale(rs_fact_form form, long long factor)
{
    if (form.is_data)
        return form;
    const long long uniform = multiply_steps(form.uniform, factor);
    form.uniform = uniform == RS_FORM_SOME ? 1 : uniform < 0 ? -uniform : uniform;
    set_constant(&form, multiply_steps(form.constant, factor));
    bool fits = !form.some_lane;
    for (int i = 0; i < RS_FORM_LANES && fits; i++) {
        const long long lane = multiply_steps(form.lanes[i], factor);
        fits = lane <= INT_MAX && lane >= INT_MIN;
        form.lanes[i] = fits ? (int)lane : 0;
    }
    if (!fits)
        forget_lanes(&form);
    for (int i = 0; i < RS_FORM_LOOPS; i++)
        form.steps[i] = multiply_steps(form.steps[i], factor);
    return form;
}

rs_fact_form rs_form_negate(rs_fact_form a)
{
    return scale(a, -1);
}

static rs_fact_form multiply(rs_fact_form a, rs_fact_form b)
{
    if (rs_form_is_constant(&a))
        return scale(b, a.constant);
    if (rs_form_is_constant(&b))
        return scale(a, b.constant);
    if (rs_form_is_uniform(&a) && !has_loops(&a))
        return scale(b, RS_FORM_SOME);
    if (rs_form_is_uniform(&b) && !has_loops(&b))
        return scale(a, RS_FORM_SOME);
    if (rs_form_is_uniform(&a) && rs_form_is_uniform(&b))
        return rs_form_uniform();
    if (a.is_data || b.is_data || (!rs_form_is_uniform(&a) && !rs_form_is_uniform(&b)))
        return rs_form_data();
    return scale(rs_form_is_uniform(&a) ? b : a, RS_FORM_SOME);
}

/* Calls a function for the number of each thread, all that is not known being 0. */
typedef long long of_two(long long a, long long b);

static long long floor_divide(long long a, long long b)
{
    return a / b - (a % b < 0);
}

static long long floor_remainder(long long a, long long b)
{
    return a - floor_divide(a, b) * b;
}

static long long and_bits(long long a, long long b)
{
    return a & b;
}

static long long or_bits(long long a, long long b)
{
    return a | b;
}

static long long xor_bits(long long a, long long b)
{
    return a ^ b;
}

static rs_fact_form for_each_lane(rs_fact_form a, of_two *function, long long b)
{
    const long long first = function(a.constant, b);
    for (int i = 0; i < RS_FORM_LANES && !a.some_lane; i++) {
        long long number, lane;
        if (__builtin_add_overflow(a.constant, (long long)a.lanes[i], &number) ||
            __builtin_sub_overflow(function(number, b), first, &lane) || lane > INT_MAX ||
            lane < INT_MIN)
            forget_lanes(&a);
        else
            a.lanes[i] = (int)lane;
    }
    a.constant = first;
    return a;
}

/* By a constant: exact for each thread of a warp that begins at a multiple of it. */
static rs_fact_form divide_exactly(rs_fact_form a, long long divisor, bool is_remainder)
{
    if (is_remainder && a.some_lane)
        return rs_form_data();
    for (int i = 0; i < RS_FORM_LOOPS; i++)
        if (a.steps[i] != 0 && a.steps[i] != RS_FORM_SOME && a.steps[i] % divisor == 0)
            a.steps[i] = is_remainder ? 0 : a.steps[i] / divisor;
        else if (a.steps[i] != 0)
            a.steps[i] = RS_FORM_SOME;
    if (a.uniform % divisor != 0)
        a.uniform = 1;
    else
        a.uniform = is_remainder ? 0 : a.uniform / divisor;
    return for_each_lane(a, is_remainder ? floor_remainder : floor_divide, divisor);
}

/* By the extent of an array that is not known: a remainder wraps around now and then, and a
 * quotient is the same for nearly all threads. */
static rs_fact_form divide_by_extent(rs_fact_form a, bool is_remainder)
{
    if (is_remainder || a.some_lane) {
        a.uniform = 1;
        return a;
    }
    rs_fact_form quotient = rs_form_uniform();
    for (int i = 0; i < RS_FORM_LOOPS; i++)
        if (a.steps[i] != 0)
            add_step(&quotient, a.loops[i], RS_FORM_SOME);
    return quotient;
}

static rs_fact_form divide(rs_fact_form a, rs_fact_form b, bool is_remainder)
{
    const bool is_known = rs_form_is_constant(&b);
    if (a.is_data || !rs_form_is_uniform(&b) || (is_known && b.constant <= 0))
        return rs_form_is_uniform(&a) && rs_form_is_uniform(&b) ? rs_form_uniform()
                                                                : rs_form_data();
    return is_known ? divide_exactly(a, b.constant, is_remainder)
                    : divide_by_extent(a, is_remainder);
}

/* Bits of a constant, as of a number that begins at a multiple of a power of two above it. */
static rs_fact_form mask(rs_fact_form a, rs_fact_form b, of_two *function)
{
    if (rs_form_is_constant(&a) || (rs_form_is_uniform(&a) && !rs_form_is_constant(&b))) {
        const rs_fact_form swapped = a;
        a = b;
        b = swapped;
    }
    if (!a.is_data && !a.some_lane && rs_form_is_constant(&b)) {
        for (int i = 0; i < RS_FORM_LOOPS; i++)
            a.steps[i] = a.steps[i] == 0 ? 0 : RS_FORM_SOME;
        a.uniform = a.uniform == 0 || (function == and_bits && b.constant >= 0 &&
                                       b.constant <= INT_MAX && a.uniform % (b.constant + 1) == 0 &&
                                       (b.constant & (b.constant + 1)) == 0)
                        ? 0
                        : 1;
        return for_each_lane(a, function, b.constant);
    }
    /* i & (n - 1); i ^ n: those of a warp in another order */
    if ((function == and_bits || function == xor_bits) && rs_form_is_uniform(&b) && !a.is_data &&
        !rs_form_is_constant(&b))
        return divide_by_extent(a, true);
    return rs_form_is_uniform(&a) && rs_form_is_uniform(&b) ? rs_form_uniform() : rs_form_data();
}

rs_fact_form rs_form_combine(const char *symbol, rs_fact_form a, rs_fact_form b)
{
    const bool has_small = rs_form_is_constant(&b) && b.constant >= 0 && b.constant < 62;
    if (strcmp(symbol, "+") == 0)
        return rs_form_add(a, b);
    if (strcmp(symbol, "-") == 0)
        return rs_form_add(a, rs_form_negate(b));
    if (strcmp(symbol, "*") == 0)
        return multiply(a, b);
    if (strcmp(symbol, "/") == 0 || strcmp(symbol, "%") == 0)
        return divide(a, b, symbol[0] == '%');
    if (strcmp(symbol, "<<") == 0 && has_small)
        return multiply(a, rs_form_constant(1LL << b.constant));
    if (strcmp(symbol, ">>") == 0 && has_small)
        return divide(a, rs_form_constant(1LL << b.constant), false);
    if (strcmp(symbol, "&") == 0)
        return mask(a, b, and_bits);
    if (strcmp(symbol, "|") == 0)
        return mask(a, b, or_bits);
    if (strcmp(symbol, "^") == 0)
        return mask(a, b, xor_bits);
    return rs_form_is_uniform(&a) && rs_form_is_uniform(&b) ? rs_form_uniform() : rs_form_data();
}

/*
 * The way that depends on the thread counts where the other one does not: that is the border. Two
 * ways that depend on it alike are a part that is not known apart.
 */
rs_fact_form rs_form_merge(rs_fact_form a, rs_fact_form b)
{
    if (rs_form_equals(&a, &b))
        return a;
    if (a.is_data || b.is_data)
        return rs_form_data();
    if (rs_form_is_uniform(&a) && !rs_form_is_uniform(&b)) {
        const rs_fact_form swapped = a;
        a = b;
        b = swapped;
    }
    if (!rs_form_is_uniform(&b) && !rs_form_has_equal_lanes(&a, &b))
        return rs_form_data();
    for (int i = 0; i < RS_FORM_LOOPS; i++) {
        const long long step = rs_form_step(&b, a.loops[i]);
        if (a.loops[i] >= 0 && step != a.steps[i] && rs_form_is_uniform(&a))
            a.steps[i] = RS_FORM_SOME;
    }
    for (int i = 0; i < RS_FORM_LOOPS && rs_form_is_uniform(&a); i++)
        if (b.steps[i] != 0 && rs_form_step(&a, b.loops[i]) == 0 &&
            !add_step(&a, b.loops[i], RS_FORM_SOME))
            return rs_form_data();
    a.uniform = 1;
    return a;
}
