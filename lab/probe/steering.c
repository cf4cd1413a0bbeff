/* See steering.h. */
#include "lab/probe/steering.h"

#include <math.h>
#include <stdlib.h>

enum { MULTIPLES = 3, BESIDE = 4 };
static const size_t multiples[MULTIPLES] = {1, 3, 5};

static int compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double median_of_multiples(double values[MULTIPLES])
{
    qsort(values, MULTIPLES, sizeof *values, compare);
    return values[MULTIPLES / 2];
}

/* ---- one power of two ---- */

/* The lowest rate of strides beside `stride` that are odd multiples of the unit: a power of two
 * stands out when it is worse than each of them. */
static restride_status measure_beside(const rs_probe_source *source, size_t unit, size_t stride,
                                      double *rate)
{
    static const size_t distances[BESIDE / 2] = {1, 3};
    restride_status status = RESTRIDE_OK;
    *rate = HUGE_VAL;
    for (size_t i = 0; status == RESTRIDE_OK && i < BESIDE; i++) {
        size_t away = distances[i / 2] * unit;
        size_t below = stride > away ? stride - away : stride + away + 4 * unit;
        double measured = 0;
        status = source->rate(source->context, i % 2 == 0 ? below : stride + away, &measured);
        if (measured < *rate)
            *rate = measured;
    }
    return status;
}

/* The level of a power: the median of those of its multiples. */
static restride_status measure_power(rs_probe_power *power, const rs_probe_source *source,
                                     size_t unit)
{
    double levels[MULTIPLES];
    restride_status status = RESTRIDE_OK;
    for (size_t i = 0; status == RESTRIDE_OK && i < MULTIPLES; i++) {
        double rate, beside;
        size_t stride = power->stride * multiples[i];
        status = source->rate(source->context, stride, &rate);
        if (status == RESTRIDE_OK)
            status = measure_beside(source, unit, stride, &beside);
        if (status != RESTRIDE_OK)
            break;
        levels[i] = beside > 0 ? rate / beside : 1;
        if (i == 0)
            power->rate = rate;
    }
    if (status == RESTRIDE_OK)
        power->level = median_of_multiples(levels);
    return status;
}

/* ---- all of them ---- */

static bool is_power(size_t number)
{
    return number != 0 && (number & (number - 1)) == 0;
}

static size_t count_powers(size_t unit, size_t most)
{
    size_t count = 1;
    while (unit < most) {
        unit *= 2;
        count++;
    }
    return count;
}

static int bit_of(size_t power)
{
    return __builtin_ctzll(power);
}

/* Bit k steers when the level of 2^(k+1) is lower than that of the bits before. */
static void find_bits(rs_probe_steering *found, double tolerance)
{
    double reference = 1;
    for (size_t i = 1; i < found->power_count; i++) {
        double level = found->powers[i].level;
        if (level < reference * (1 - tolerance)) {
            found->bits |= (uint64_t)1 << bit_of(found->powers[i - 1].stride);
            reference = level;
        }
        if (level < found->worst)
            found->worst = level;
    }
}

static restride_status measure_scatter(rs_probe_steering *found, const rs_probe_source *source,
                                       double *slowest, double *fastest)
{
    double rate;
    restride_status status = source->rate(source->context, found->unit, &rate);
    if (status != RESTRIDE_OK)
        return status;
    *slowest = rate < *slowest ? rate : *slowest;
    *fastest = rate > *fastest ? rate : *fastest;
    found->scatter = 1 - *slowest / *fastest;
    return RESTRIDE_OK;
}

restride_status rs_probe_find_steering(rs_probe_steering *found, const rs_probe_source *source,
                                       size_t unit, size_t most, double tolerance)
{
    *found = (rs_probe_steering){.unit = unit, .worst = 1};
    if (!is_power(unit) || !is_power(most) || most < unit ||
        count_powers(unit, most) > RS_PROBE_MOST_POWERS)
        return rs_fail(RESTRIDE_INVALID_ARGUMENT,
                       "Strides from %zu to %zu bytes cannot be probed; give two powers of two.",
                       unit, most);
    found->power_count = count_powers(unit, most);
    /* In the first power all bits vary, as in the strides beside it. */
    found->powers[0] = (rs_probe_power){unit, 0, 1};
    restride_status status = source->rate(source->context, unit, &found->powers[0].rate);
    double slowest = found->powers[0].rate, fastest = slowest;
    for (size_t i = 1; status == RESTRIDE_OK && i < found->power_count; i++) {
        found->powers[i].stride = unit << i;
        status = measure_power(&found->powers[i], source, unit);
        if (status == RESTRIDE_OK)
            status = measure_scatter(found, source, &slowest, &fastest);
        if (source->tell != NULL)
            source->tell(source->tell_context, (double)i / (double)(found->power_count - 1));
    }
    if (status == RESTRIDE_OK)
        find_bits(found, tolerance);
    return status;
}

bool rs_probe_steering_range(const rs_probe_steering *found, int *low, int *high)
{
    if (found->bits == 0)
        return false;
    *low = bit_of(found->unit);
    *high = 63 - __builtin_clzll(found->bits);
    return true;
}

size_t rs_probe_find_unit(const size_t strides[], const double seconds[], size_t count)
{
    /* Half the time, with room for noise on both sides: 1 / sqrt(2). */
    const double halved = 1.41;
    size_t i = count - 1;
    while (i > 0 && seconds[i - 1] > halved * seconds[i])
        i--;
    return strides[i];
}
