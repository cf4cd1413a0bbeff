/* Arithmetic of forms. */
#include "facts/forms.h"

static rs_fact_form sum(long long constant, long long lane, bool has_uniform)
{
    rs_fact_form form = {RS_FORM_SUM, has_uniform, constant, lane, {0}, {0}, 1};
    for (int i = 0; i < RS_FORM_LOOPS; i++)
        form.loops[i] = -1;
    return form;
}

rs_fact_form rs_form_constant(long long value)
{
    return sum(value, 0, false);
}

rs_fact_form rs_form_uniform(void)
{
    return sum(0, 0, true);
}

rs_fact_form rs_form_lane(void)
{
    return sum(0, 1, false);
}

rs_fact_form rs_form_data(void)
{
    rs_fact_form form = sum(0, 0, false);
    form.kind = RS_FORM_DATA;
    return form;
}

rs_fact_form rs_form_round(int loop, long long step)
{
    rs_fact_form form = sum(0, 0, false);
    form.loops[0] = loop;
    form.steps[0] = step;
    return form;
}

static long long add_factors(long long a, long long b)
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

static long long multiply_factors(long long a, long long b)
{
    long long result;
    if (a == 0 || b == 0)
        return 0;
    if (a == RS_FORM_SOME || b == RS_FORM_SOME || __builtin_mul_overflow(a, b, &result))
        return RS_FORM_SOME;
    return result;
}

static bool add_step(rs_fact_form *form, int loop, long long step)
{
    for (int i = 0; i < RS_FORM_LOOPS; i++)
        if (form->loops[i] == loop || form->loops[i] < 0) {
            form->loops[i] = loop;
            form->steps[i] = add_factors(form->steps[i], step);
            return true;
        }
    return false;
}

bool rs_form_is_uniform(const rs_fact_form *form)
{
    return form->kind != RS_FORM_DATA && form->lane == 0;
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
    return form->kind == RS_FORM_SUM && form->lane == 0 && !form->has_uniform && !has_loops(form);
}

bool rs_form_equals(const rs_fact_form *a, const rs_fact_form *b)
{
    if (a->kind != b->kind || a->has_uniform != b->has_uniform || a->constant != b->constant ||
        a->lane != b->lane || a->divisor != b->divisor)
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

rs_fact_form rs_form_add(rs_fact_form a, rs_fact_form b)
{
    if (a.kind == RS_FORM_DATA || b.kind == RS_FORM_DATA)
        return rs_form_data();
    if (b.kind != RS_FORM_SUM) {
        const rs_fact_form swapped = a;
        a = b;
        b = swapped;
    }
    if (a.kind != RS_FORM_SUM) /* a quotient keeps its nature beside what all threads share */
        return rs_form_is_uniform(&b) ? a : rs_form_data();
    const long long constant = add_factors(a.constant, b.constant);
    a.has_uniform |= b.has_uniform || constant == RS_FORM_SOME;
    a.constant = constant == RS_FORM_SOME ? 0 : constant;
    a.lane = add_factors(a.lane, b.lane);
    for (int i = 0; i < RS_FORM_LOOPS; i++)
        if (b.loops[i] >= 0 && !add_step(&a, b.loops[i], b.steps[i]))
            return rs_form_data();
    return a;
}

/* Times a number that is the same for all threads; RS_FORM_SOME: not known. */
static rs_fact_form scale(rs_fact_form form, long long factor)
{
    if (form.kind != RS_FORM_SUM)
        return form;
    const long long constant = multiply_factors(form.constant, factor);
    form.has_uniform = (form.has_uniform && factor != 0) || constant == RS_FORM_SOME;
    form.constant = constant == RS_FORM_SOME ? 0 : constant;
    form.lane = multiply_factors(form.lane, factor);
    for (int i = 0; i < RS_FORM_LOOPS; i++)
        form.steps[i] = multiply_factors(form.steps[i], factor);
    return form;
}

rs_fact_form rs_form_negate(rs_fact_form a)
{
    return scale(a, -1);
}

rs_fact_form rs_form_multiply(rs_fact_form a, rs_fact_form b)
{
    if (rs_form_is_constant(&a))
        return scale(b, a.constant);
    if (rs_form_is_constant(&b))
        return scale(a, b.constant);
    if (a.kind == RS_FORM_SUM && rs_form_is_uniform(&a) && !has_loops(&a))
        return scale(b, RS_FORM_SOME);
    if (b.kind == RS_FORM_SUM && rs_form_is_uniform(&b) && !has_loops(&b))
        return scale(a, RS_FORM_SOME);
    return rs_form_is_uniform(&a) && rs_form_is_uniform(&b) ? rs_form_uniform() : rs_form_data();
}

rs_fact_form rs_form_divide(rs_fact_form a, rs_fact_form b, bool is_remainder)
{
    if (rs_form_is_uniform(&a) && rs_form_is_uniform(&b))
        return rs_form_is_constant(&a) && rs_form_is_constant(&b) && b.constant > 0
                   ? rs_form_constant(is_remainder ? a.constant % b.constant
                                                   : a.constant / b.constant)
                   : rs_form_uniform();
    if (a.kind != RS_FORM_SUM || !rs_form_is_uniform(&b))
        return rs_form_data();
    a.kind = is_remainder ? RS_FORM_REMAINDER : RS_FORM_QUOTIENT;
    a.divisor = rs_form_is_constant(&b) ? b.constant : RS_FORM_SOME;
    return a;
}

rs_fact_form rs_form_merge(rs_fact_form a, rs_fact_form b)
{
    return rs_form_equals(&a, &b) ? a : rs_form_data();
}
