/*
 * The pieces of the cycles of a multiplication modulo a number, without a walk (base/cycles.h): the
 * cycles of a family are reached from each other by powers of generators, and a piece from the one
 * before it by `jump`, the power of the factor that has a piece's length for exponent.
 *
 * The host defines POSITION (uint or ulong).
 */

/* Numbers modulo another: that number, shifted up until its highest bit is set, by how much, and
 * floor((2^128 - 1) / divisor) - 2^64. */
#define MODULUS_PARAMETERS ulong divisor, uint shift, ulong reciprocal
#define MODULUS divisor, shift, reciprocal

/* a * b modulo the number; both are below it. A division of two words by one with its reciprocal
 * (Moeller and Granlund, "Improved division by invariant integers", 2011). */
FUNCTION ulong multiply_modulo(ulong a, ulong b, MODULUS_PARAMETERS)
{
    ulong shifted = a << shift;
    ulong high = MULTIPLY_HIGH(shifted, b);
    ulong low = shifted * b;
    ulong fraction = reciprocal * high + low;
    ulong quotient = MULTIPLY_HIGH(reciprocal, high) + high + (fraction < low ? 1 : 0) + 1;
    ulong rest = low - quotient * divisor;
    if (rest > fraction)
        rest += divisor;
    if (rest >= divisor)
        rest -= divisor;
    return rest >> shift;
}

/* number * base^exponent modulo the number. */
FUNCTION ulong multiply_power(ulong number, ulong base, ulong exponent, MODULUS_PARAMETERS)
{
    for (; exponent != 0; exponent >>= 1) {
        if ((exponent & 1) != 0)
            number = multiply_modulo(number, base, MODULUS);
        base = multiply_modulo(base, base, MODULUS);
    }
    return number;
}

/* The row of the family that has `item`: the last one that begins at it or before. */
FUNCTION uint find_family(GLOBAL const ulong *families, uint count, uint row_numbers, ulong item)
{
    uint low = 0;
    uint high = count;
    while (high - low > 1) {
        uint middle = low + (high - low) / 2;
        if (families[middle * row_numbers] <= item)
            low = middle;
        else
            high = middle;
    }
    return low;
}

/*
 * `table` has the generators, and from `first` on a row for each family: its first item, the
 * divisor of its positions, the pieces of a cycle, and how many powers of each generator lead to
 * its cycles. There are `items` in a field, and as many fields as make `all_items` of them, each
 * `size` positions further on, with its zero `turn` further on modulo the size. Pieces begin and
 * end at `positions`, from `starts` and from `ends` on.
 */
KERNEL cut_families(GLOBAL const ulong *table, uint generators, uint first, uint families,
                    ulong items, ulong all_items, ulong size, ulong turn, ulong jump,
                    GLOBAL POSITION *positions, ulong starts, ulong ends, MODULUS_PARAMETERS)
{
    if (GLOBAL_ID >= all_items)
        return;
    ulong field = GLOBAL_ID / items;
    ulong item = GLOBAL_ID % items;
    uint row_numbers = generators + 3;
    GLOBAL const ulong *rows = table + first;
    GLOBAL const ulong *family =
        rows + find_family(rows, families, row_numbers, item) * row_numbers;
    ulong cycle = (item - family[0]) / family[2];
    ulong piece = (item - family[0]) % family[2];
    ulong leader = family[1];
    for (uint i = 0; i < generators; i++) {
        leader = multiply_power(leader, table[i], cycle % family[3 + i], MODULUS);
        cycle /= family[3 + i];
    }
    ulong start = multiply_power(leader, jump, piece, MODULUS);
    ulong end = piece + 1 == family[2] ? leader : multiply_modulo(start, jump, MODULUS);
    ulong zero = multiply_modulo(field % size, turn, MODULUS);
    ulong rest = size - zero; /* so many before the end of the field */
    positions[starts + GLOBAL_ID] =
        (POSITION)(field * size + (start < rest ? zero + start : start - rest));
    positions[ends + GLOBAL_ID] = (POSITION)(field * size + (end < rest ? zero + end : end - rest));
}
