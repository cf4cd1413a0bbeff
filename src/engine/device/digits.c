/*
 * The digits of SLOTS as kernels want them (engine/slots.h, kernels/positions.cl): a magic and a
 * shift for each quotient and its two weights. The first digit of a phase needs no magic, and has 1
 * where the phase is there; a phase has room for some digits more, which are 0, so that few kernels
 * do for all.
 */
#include "engine/device/chains.h"

#include <stdint.h>

enum { DIGIT_NUMBERS = 4 /* magic, shift and both weights */ };

size_t rs_chains_digits_bytes(const rs_chains_plan *plan)
{
    const uint32_t *counts = plan->digit_counts;
    return (counts[0] + counts[1] + counts[2]) * DIGIT_NUMBERS * sizeof(uint32_t);
}

/* ceil(2^(31 + bits) / divisor), where 2^bits is no less than the divisor, but less than twice it:
 * the upper half of a product with it, shifted, is the quotient of all numbers below 2^31. */
static uint32_t exact_magic(size_t divisor, uint32_t *shift)
{
    uint32_t bits = rs_chains_bits(divisor);
    *shift = bits - 1;
    return (uint32_t)((((uint64_t)1 << (31 + bits)) + divisor - 1) / divisor);
}

/* Kernels have room for a few numbers of digits in a phase. */
static uint32_t digit_room(int phase, size_t count)
{
    static const uint32_t rooms[RS_SLOTS_PHASES][2] = {{6, 10}, {3, 6}, {3, 6}};
    for (size_t i = 0; i < sizeof rooms[0] / sizeof rooms[0][0]; i++)
        if (count <= rooms[phase][i])
            return rooms[phase][i];
    return RS_SLOTS_MOST_DIGITS;
}

/*
 * Digit i of a number n is n / p[i] - n / p[i + 1] * extent[i], where p[i] is the product of the
 * extents before it. So the sum of digits times weights is that of the quotients n / p[i], each
 * times its weight less what the digit before takes off; no quotient waits for another.
 */
static void write_phase(uint32_t *to, const rs_digits *digits)
{
    size_t product = 1;
    rs_digit before = {0};
    for (size_t i = 0; i < digits->count; i++) {
        const rs_digit *d = &digits->digits[i];
        uint32_t shift = 0;
        *to++ = i > 0 ? exact_magic(product, &shift) : 1; /* the phase is there */
        *to++ = shift;
        *to++ = (uint32_t)(d->weight - before.extent * before.weight);
        *to++ = (uint32_t)(d->next - before.extent * before.next);
        product *= d->extent;
        before = *d;
    }
}

restride_status rs_chains_keep_digits(rs_device_stage *stage, rs_chains_plan *plan,
                                      const rs_slots *slots)
{
    rs_device_engine *engine = rs_device_engine_of(stage);
    uint32_t numbers[RS_SLOTS_PHASES * RS_SLOTS_MOST_DIGITS * DIGIT_NUMBERS] = {0};
    uint32_t *to = numbers;
    for (int phase = 0; phase < RS_SLOTS_PHASES; phase++) {
        plan->digit_counts[phase] = digit_room(phase, slots->phases[phase].count);
        write_phase(to, &slots->phases[phase]);
        to += (size_t)plan->digit_counts[phase] * DIGIT_NUMBERS;
    }
    restride_status status =
        engine->device->allocate(engine, rs_chains_digits_bytes(plan), &plan->digits);
    return status != RESTRIDE_OK
               ? status
               : engine->device->write(engine, plan->digits, numbers, rs_chains_digits_bytes(plan),
                                       "writing the digits of a permutation");
}
