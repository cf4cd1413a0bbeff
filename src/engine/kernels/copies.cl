/*
 * Copies from one buffer to another in another order (engine/copy.h). A group has a box
 * (engine/copy_box.h), and then another. What a box has lies in runs in both buffers. On one side,
 * the even one, its runs go to or come from local memory as they are; on the other side each word
 * has its own place there. Runs that both sides have in common need no local memory.
 *
 * Box number n has a digit for each axis that the boxes are cut along; the first two axes may have
 * a shorter last block, of count_0 and count_1. A class are runs of the uneven side with the same
 * places: word x of a run is low[x % lower] + x / lower * step words behind the row's place.
 *
 * The table has, in numbers of 64 bits, as engine/copy_cut.h writes it:
 *     for each axis: blocks and magic (upper half), shift
 *     for each axis: words from one block to the next, on the even side
 *     for each row of the even side: where it begins (and, without local memory, on the other side)
 *     for each class: CLASS_NUMBERS, and words from one block of each axis to the next
 *     for each row of a class: where it begins, its place
 *     places: low
 *
 * The host defines EVEN_VECTOR and UNEVEN_VECTOR, the words that are accessed together, EVEN_WIDE
 * and UNEVEN_WIDE, their types, SCATTER where the even side is the target, DIRECT where no local
 * memory is needed, and SKEW, the words of padding that local memory has behind every 2^shift.
 */
#define CLASS_NUMBERS 8
#define BATCH (sizeof(EVEN_WIDE) > 8 ? 4 : 8)
#define UNEVEN_BATCH (sizeof(UNEVEN_WIDE) > 8 ? 4 : 8)

/* What goes into local memory at once, of a vector of the even side. */
#if WORD_SIZE < 4 && EVEN_VECTOR * WORD_SIZE >= 4
typedef uint piece;
#else
typedef WORD piece;
#endif
#define PIECES (sizeof(EVEN_WIDE) / sizeof(piece))

/* A number below 2^31 divided by an axis's blocks. */
FUNCTION uint divide_blocks(uint number, GLOBAL const ulong *axis)
{
    return (MULTIPLY_HIGH_32(number, (uint)(axis[0] >> 32)) + number) >> (uint)axis[1];
}

/* Words before box `number`. */
FUNCTION ulong find_box(uint number, GLOBAL const ulong *axes, GLOBAL const ulong *steps,
                        uint count)
{
    ulong sum = 0;
    for (uint a = 0; a < count; a++) {
        uint rest = divide_blocks(number, axes + 2 * a);
        sum += (number - rest * (uint)axes[2 * a]) * steps[a];
        number = rest;
    }
    return sum;
}

/* `by` 0 or 1: as often as the box has of that axis; 2: once. */
FUNCTION uint times(uint number, uint by, uint count_0, uint count_1)
{
    return by == 0 ? number * count_0 : by == 1 ? number * count_1 : number;
}

FUNCTION uint cell_of(uint place, uint shift)
{
    return place + (place >> shift) * SKEW;
}

/* What the last vectors of runs of a shorter last block leave over, word by word. */
FUNCTION void pass_even_rest(GLOBAL WORD *side, LOCAL WORD *cells, GLOBAL const ulong *rows,
                             uint row_count, uint run, uint pitch, uint shift)
{
#if EVEN_VECTOR > 1
    const uint rest = run % EVEN_VECTOR;
    for (uint i = LOCAL_ID; i < row_count * rest; i += LOCAL_SIZE) {
        uint row = i / rest;
        uint x = run - rest + i % rest;
        LOCAL WORD *cell = cells + cell_of(row * pitch + x, shift);
#ifdef SCATTER
        side[rows[row] + x] = *cell;
#else
        *cell = side[rows[row] + x];
#endif
    }
#endif
}

/* The runs of the even side and local memory, all of them. */
FUNCTION void pass_even(GLOBAL WORD *side, LOCAL WORD *cells, GLOBAL const ulong *rows,
                        uint row_count, uint run, uint pitch, uint shift)
{
    const uint vectors = run / EVEN_VECTOR;
    const uint magic = small_magic(vectors | (vectors == 0));
    const uint total = row_count * vectors;
    for (uint begin = LOCAL_ID; begin < total; begin += BATCH * LOCAL_SIZE) {
#ifdef SCATTER
        UNROLL
        for (uint k = 0; k < BATCH; k++) {
            uint i = begin + k * LOCAL_SIZE;
            if (i < total) {
                uint row = divide_small(i, magic);
                uint x = (i - row * vectors) * EVEN_VECTOR;
                LOCAL const piece *cell =
                    (LOCAL const piece *)(cells + cell_of(row * pitch + x, shift));
                EVEN_WIDE wide;
                UNROLL
                for (uint p = 0; p < PIECES; p++)
                    ((piece *)&wide)[p] = cell[p];
                *(GLOBAL EVEN_WIDE *)(side + rows[row] + x) = wide;
            }
        }
#else
        EVEN_WIDE wide[BATCH];
        UNROLL
        for (uint k = 0; k < BATCH; k++) {
            uint i = begin + k * LOCAL_SIZE;
            if (i < total) {
                uint row = divide_small(i, magic);
                wide[k] = *(GLOBAL const EVEN_WIDE *)(side + rows[row] +
                                                      (i - row * vectors) * EVEN_VECTOR);
            }
        }
        UNROLL
        for (uint k = 0; k < BATCH; k++) {
            uint i = begin + k * LOCAL_SIZE;
            if (i < total) {
                uint row = divide_small(i, magic);
                uint x = (i - row * vectors) * EVEN_VECTOR;
                LOCAL piece *cell = (LOCAL piece *)(cells + cell_of(row * pitch + x, shift));
                UNROLL
                for (uint p = 0; p < PIECES; p++)
                    cell[p] = ((const piece *)&wide[k])[p];
            }
        }
#endif
    }
    pass_even_rest(side, cells, rows, row_count, run, pitch, shift);
}

/* Between a vector of the uneven side, from word x of a run on, and its cells. */
FUNCTION void pass_vector(UNEVEN_WIDE *wide, LOCAL WORD *cells, uint x, uint place,
                          GLOBAL const ulong *low, uint lower, uint lower_magic, uint step,
                          uint shift)
{
    uint high = x;
    uint rest = 0;
    if (lower > 1) {
        high = divide_small(x, lower_magic);
        rest = x - high * lower;
    }
    UNROLL
    for (uint k = 0; k < UNEVEN_VECTOR; k++) {
        uint cell = place + high * step;
        if (lower > 1)
            cell += (uint)low[rest];
        cell = cell_of(cell, shift);
#ifdef SCATTER
        cells[cell] = ((const WORD *)wide)[k];
#else
        ((WORD *)wide)[k] = cells[cell];
#endif
        rest++;
        if (rest >= lower) {
            rest = 0;
            high++;
        }
    }
}

/* The runs of a class and local memory. `rows` has two numbers for each. */
FUNCTION void pass_uneven(GLOBAL WORD *side, LOCAL WORD *cells, GLOBAL const ulong *rows,
                          GLOBAL const ulong *low, uint row_count, uint run, uint lower,
                          uint lower_magic, uint step, uint shift)
{
    const uint vectors = run / UNEVEN_VECTOR;
    const uint magic = small_magic(vectors | (vectors == 0));
    const uint total = row_count * vectors;
    for (uint begin = LOCAL_ID; begin < total; begin += UNEVEN_BATCH * LOCAL_SIZE) {
#ifdef SCATTER
        UNEVEN_WIDE wide[UNEVEN_BATCH];
        UNROLL
        for (uint k = 0; k < UNEVEN_BATCH; k++) {
            uint i = begin + k * LOCAL_SIZE;
            if (i < total) {
                uint row = divide_small(i, magic);
                wide[k] = *(GLOBAL const UNEVEN_WIDE *)(side + rows[2 * row] +
                                                        (i - row * vectors) * UNEVEN_VECTOR);
            }
        }
#endif
        UNROLL
        for (uint k = 0; k < UNEVEN_BATCH; k++) {
            uint i = begin + k * LOCAL_SIZE;
            if (i < total) {
                uint row = divide_small(i, magic);
                uint x = (i - row * vectors) * UNEVEN_VECTOR;
                uint place = (uint)rows[2 * row + 1];
#ifdef SCATTER
                pass_vector(&wide[k], cells, x, place, low, lower, lower_magic, step, shift);
#else
                UNEVEN_WIDE wide;
                pass_vector(&wide, cells, x, place, low, lower, lower_magic, step, shift);
                *(GLOBAL UNEVEN_WIDE *)(side + rows[2 * row] + x) = wide;
#endif
            }
        }
    }
#if UNEVEN_VECTOR > 1
    const uint rest = run % UNEVEN_VECTOR;
    for (uint i = LOCAL_ID; i < row_count * rest; i += LOCAL_SIZE) {
        uint row = i / rest;
        uint x = run - rest + i % rest;
        uint place = (uint)rows[2 * row + 1] + x / lower * step + (uint)low[x % lower];
        LOCAL WORD *cell = cells + cell_of(place, shift);
#ifdef SCATTER
        *cell = side[rows[2 * row] + x];
#else
        side[rows[2 * row] + x] = *cell;
#endif
    }
#endif
}

FUNCTION void pass_classes(GLOBAL WORD *side, LOCAL WORD *cells, GLOBAL const ulong *table,
                           GLOBAL const ulong *class_numbers, uint classes, uint axes, uint number,
                           uint count_0, uint count_1, uint shift)
{
    for (uint c = 0; c < classes; c++) {
        const uint by = (uint)class_numbers[1];
        const uint lower = (uint)class_numbers[2];
        const ulong base = find_box(number, table, class_numbers + CLASS_NUMBERS, axes);
        pass_uneven(side + base, cells, table + class_numbers[6], table + class_numbers[7],
                    times((uint)class_numbers[0], by & 3, count_0, count_1),
                    lower * times((uint)class_numbers[4], by >> 2, count_0, count_1), lower,
                    (uint)class_numbers[3], (uint)class_numbers[5], shift);
        class_numbers += CLASS_NUMBERS + axes;
    }
}

/* Runs that both sides have in common. `rows` has two numbers for each. */
FUNCTION void pass_runs(GLOBAL const WORD *from, GLOBAL WORD *to, GLOBAL const ulong *rows,
                        uint row_count, uint run)
{
    const uint vectors = run / EVEN_VECTOR;
    const uint magic = small_magic(vectors | (vectors == 0));
    const uint total = row_count * vectors;
    for (uint begin = LOCAL_ID; begin < total; begin += BATCH * LOCAL_SIZE) {
        EVEN_WIDE wide[BATCH];
        UNROLL
        for (uint k = 0; k < BATCH; k++) {
            uint i = begin + k * LOCAL_SIZE;
            if (i < total) {
                uint row = divide_small(i, magic);
                wide[k] = *(GLOBAL const EVEN_WIDE *)(from + rows[2 * row] +
                                                      (i - row * vectors) * EVEN_VECTOR);
            }
        }
        UNROLL
        for (uint k = 0; k < BATCH; k++) {
            uint i = begin + k * LOCAL_SIZE;
            if (i < total) {
                uint row = divide_small(i, magic);
                *(GLOBAL EVEN_WIDE *)(to + rows[2 * row + 1] + (i - row * vectors) * EVEN_VECTOR) =
                    wide[k];
            }
        }
    }
#if EVEN_VECTOR > 1
    const uint rest = run % EVEN_VECTOR;
    for (uint i = LOCAL_ID; i < row_count * rest; i += LOCAL_SIZE) {
        uint row = i / rest;
        uint x = run - rest + i % rest;
        to[rows[2 * row + 1] + x] = from[rows[2 * row] + x];
    }
#endif
}

/* `by` has what the even side's rows and runs are multiplied by, two bits each. The arrays begin
 * `from_begin` and `to_begin` words behind the buffers. */
KERNEL_FOR(ITEMS)
copy_boxes(GLOBAL WORD *from, GLOBAL WORD *to, ulong from_begin, ulong to_begin,
           GLOBAL const ulong *table, uint axes, uint boxes, ulong block_0, ulong extent_0,
           ulong block_1, ulong extent_1, uint row_count, uint run, uint by, uint pitch, uint shift,
           uint classes, ulong rows_begin, ulong classes_begin, LOCAL_ARRAY(uint4, memory))
{
    LOCAL_BEGIN(uint4, memory)
    LOCAL WORD *cells = (LOCAL WORD *)memory;
    from += from_begin;
    to += to_begin;
    for (uint number = (uint)GROUP_ID; number < boxes; number += (uint)GROUPS) {
        uint rest = divide_blocks(number, table);
        ulong left_0 = extent_0 - (number - rest * (uint)table[0]) * block_0;
        uint last = divide_blocks(rest, table + 2);
        ulong left_1 = extent_1 - (rest - last * (uint)table[2]) * block_1;
        uint count_0 = (uint)(left_0 < block_0 ? left_0 : block_0);
        uint count_1 = (uint)(left_1 < block_1 ? left_1 : block_1);
        ulong even = find_box(number, table, table + 2 * axes, axes);
        uint rows = times(row_count, by & 3, count_0, count_1);
        uint words = times(run, by >> 2, count_0, count_1);
#ifdef DIRECT
        ulong uneven = find_box(number, table, table + classes_begin + CLASS_NUMBERS, axes);
        pass_runs(from + even, to + uneven, table + rows_begin, rows, words);
#else
#ifdef SCATTER
        pass_classes(from, cells, table, table + classes_begin, classes, axes, number, count_0,
                     count_1, shift);
        BARRIER;
        pass_even(to + even, cells, table + rows_begin, rows, words, pitch, shift);
#else
        pass_even(from + even, cells, table + rows_begin, rows, words, pitch, shift);
        BARRIER;
        pass_classes(to, cells, table, table + classes_begin, classes, axes, number, count_0,
                     count_1, shift);
#endif
        BARRIER;
#endif
    }
}
