/*
 * Where the super-element comes from that belongs at a position, for the kernels that follow the
 * cycles of a permutation (walks.cl, chains.cl). The host defines POSITION (uint, or ulong and
 * WIDE) and one of the permutations:
 *
 *     REVERSE   A x B x C to C x B x A (100! when B is 1): a, b, c, and magics of a and b
 *     COLUMNS   panel p of the columns of a matrix of `a` rows has the rows
 *               (row * b + p * c) mod a; magic_b is not used
 *     FEW_ROWS  the same with less than 2^16 rows, so that products have 32 bits
 *     DIGITS    so many digits, in phases of FIRST, SECOND and THIRD of them (engine/slots.h),
 * whose table has a magic and a shift that divide by the extents before it, and both weights of its
 * quotient for each; the first digit has no quotient, and 1 for a magic in a phase that is there;
 * zeros behind the last; REVERSE as well
 *
 * The magic of a divisor is floor((2^32 - 1) / divisor) for REVERSE with positions of 32 bits, and
 * floor((2^64 - 1) / divisor) otherwise, but magic_b of FEW_ROWS is the short one of `a`.
 */
/* One table has where the pieces start, where they end, and the leaders. */
#define ENDS ((ulong)piece_room)
#define LEADERS (2 * (ulong)piece_room)

#ifdef DIGITS
#define KERNEL_SHAPE ulong total, GLOBAL const uint *digit_table
#define SHAPE_PARAMETERS ulong total, const uint *digits
#define SHAPE total, digits
#define SHAPE_BEGIN                                                                                \
    uint digits[DIGIT_NUMBERS * DIGITS];                                                           \
    UNROLL for (uint i = 0; i < DIGIT_NUMBERS * DIGITS; i++) digits[i] = digit_table[i];
#else
#define SHAPE_PARAMETERS ulong total, ulong a, ulong b, ulong c, ulong magic_a, ulong magic_b
#define SHAPE total, a, b, c, magic_a, magic_b
#define KERNEL_SHAPE SHAPE_PARAMETERS
#define SHAPE_BEGIN
#endif

/* Quotients by a rounded-down reciprocal are at most one too small. */
FUNCTION uint divide_32(uint number, uint divisor, uint magic, uint *remainder)
{
    uint quotient = MULTIPLY_HIGH_32(number, magic);
    uint rest = number - quotient * divisor;
    bool more = rest >= divisor;
    *remainder = more ? rest - divisor : rest;
    return more ? quotient + 1 : quotient;
}

FUNCTION ulong divide_64(ulong number, ulong divisor, ulong magic, ulong *remainder)
{
    ulong quotient = MULTIPLY_HIGH(number, magic);
    ulong rest = number - quotient * divisor;
    bool more = rest >= divisor;
    *remainder = more ? rest - divisor : rest;
    return more ? quotient + 1 : quotient;
}

#ifdef DIGITS
enum { MAGIC, SHIFT, WEIGHT, NEXT_WEIGHT, DIGIT_NUMBERS };

/* What digits `from` to `to` of a number are in the sum, and in the number of the next phase. */
FUNCTION uint sum_digits(const uint *digits, uint from, uint to, uint number, uint *sum)
{
    uint next = 0;
    UNROLL
    for (uint i = from; i < to; i++) {
        const uint *d = digits + DIGIT_NUMBERS * i;
        uint quotient =
            i == 0 ? number : MULTIPLY_HIGH_32(number, d[MAGIC]) >> d[SHIFT]; /* below 2^31 */
        *sum += quotient * d[WEIGHT];
        next += quotient * d[NEXT_WEIGHT];
    }
    return next;
}

/* Of up to `count` digits, but seldom more than `few`. */
FUNCTION uint sum_phase(const uint *digits, uint few, uint count, uint number, uint *sum)
{
    uint next = sum_digits(digits, 0, few, number, sum);
    if (count > few && digits[DIGIT_NUMBERS * few + MAGIC] != 0)
        next += sum_digits(digits, few, count, number, sum);
    return next;
}

FUNCTION POSITION source(POSITION position, SHAPE_PARAMETERS)
{
    uint sum = 0;
    uint next = sum_phase(digits, 4, FIRST, position, &sum);
    if (digits[DIGIT_NUMBERS * FIRST + MAGIC] != 0)
        next = sum_phase(digits + DIGIT_NUMBERS * FIRST, 1, SECOND, next, &sum);
    if (digits[DIGIT_NUMBERS * (FIRST + SECOND) + MAGIC] != 0)
        sum_phase(digits + DIGIT_NUMBERS * (FIRST + SECOND), 1, THIRD, next, &sum);
    return sum;
}
#elif defined(REVERSE)
#ifdef WIDE
#define DIVIDE(number, divisor, magic, rest) divide_64(number, divisor, magic, rest)
#else
#define DIVIDE(number, divisor, magic, rest) divide_32(number, (uint)(divisor), (uint)(magic), rest)
#endif
FUNCTION POSITION source(POSITION position, SHAPE_PARAMETERS)
{
    POSITION first;
    POSITION middle;
    POSITION upper = DIVIDE(position, a, magic_a, &first);
    POSITION last = DIVIDE(upper, b, magic_b, &middle);
    return (first * (POSITION)b + middle) * (POSITION)c + last;
}
#else
FUNCTION ulong remainder_of(ulong number, ulong divisor, ulong magic)
{
    ulong remainder;
    divide_64(number, divisor, magic, &remainder);
    return remainder;
}

/* The row of a panel from which `row` receives; `turn` is p * c mod a of the panel. */
FUNCTION POSITION source_row(POSITION row, ulong turn, SHAPE_PARAMETERS)
{
#ifdef FEW_ROWS
    uint remainder;
    divide_32((uint)row * (uint)b + (uint)turn, (uint)a, (uint)magic_b, &remainder);
    return remainder;
#else
    return (POSITION)remainder_of(row * b + turn, a, magic_a);
#endif
}

FUNCTION POSITION source(POSITION position, SHAPE_PARAMETERS)
{
    ulong row;
    ulong panel = divide_64(position, a, magic_a, &row);
    ulong turn = remainder_of(panel * c, a, magic_a);
    return (POSITION)(panel * a) + source_row((POSITION)row, turn, SHAPE);
}
#endif

/* Whether it is the smallest position of a cycle that moves whole, which is no longer than
 * `short_length`; UINT_MAX stands for any length. */
FUNCTION bool is_leader(POSITION position, uint short_length, SHAPE_PARAMETERS)
{
    POSITION next = source(position, SHAPE);
    if (next == position)
        return false;
    uint left = short_length;
    while (next > position && left > 1) {
        next = source(next, SHAPE);
        left -= short_length != ~(uint)0;
    }
    return next == position;
}
