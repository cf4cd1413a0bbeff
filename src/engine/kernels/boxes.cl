/*
 * The elements of boxes come into the order that they will have, so that elements that will be
 * neighbours are neighbours (engine/slots.h). A group has a box, and then another: `rows` runs of
 * `run` elements, each contiguous, read into local memory and written where they were with other
 * content.
 *
 * Box number n is `across`, then `down`, then digits that give where it begins. Runs end where
 * `width` elements do. Where a row begins, and where on chip an element comes from, are sums over
 * digits: the rows' number begins at down * step, and with a step of 0 rows begin alike in all
 * boxes; the place's lower and upper part have a table each, so no division is left.
 *
 * The host defines SINGLE where elements are words, VECTOR (words that are accessed together) and
 * WIDE, their type.
 */
#ifdef SINGLE
#define UNIT_WORDS 1u
#else
#define UNIT_WORDS unit_words
#endif
#define PLACES_OF_A_BANK (128 / (uint)sizeof(WORD))
#define PADDING (sizeof(WORD) < 4 ? 4 / (uint)sizeof(WORD) : 1)

/* Neighbours of a row and those of a column should lie in different banks. */
FUNCTION uint cell_of(uint place)
{
    return place + place / PLACES_OF_A_BANK * PADDING;
}

/* Each digit has its extent and what one more of it means. */
FUNCTION uint sum_digits(GLOBAL const uint *digits, uint count, uint number)
{
    uint sum = 0;
    for (uint i = 0; i < count; i++) {
        uint rest = number / digits[2 * i];
        sum += (number - rest * digits[2 * i]) * digits[2 * i + 1];
        number = rest;
    }
    return sum;
}

/* Those of the numbers from `first` on, times `unit`. */
FUNCTION void fill_sums(LOCAL uint *sums, uint size, GLOBAL const uint *digits, uint count,
                        uint first, uint unit)
{
    for (uint i = LOCAL_ID; i < size; i += LOCAL_SIZE)
        sums[i] = sum_digits(digits, count, first + i) * unit;
}

/* Where on chip the element comes from that belongs at a place of the box. */
FUNCTION uint source_element(uint place, LOCAL const uint *lower, LOCAL const uint *upper, uint low,
                             uint low_magic)
{
    uint high = divide_small(place, low_magic);
    return upper[high] + lower[place - high * low];
}

/* The word that belongs at a place. */
FUNCTION WORD word_at(LOCAL const WORD *cells, uint word, LOCAL const uint *lower,
                      LOCAL const uint *upper, uint low, uint low_magic, uint unit_words)
{
    uint place = divide_small(word, small_magic(UNIT_WORDS));
    uint from = source_element(place, lower, upper, low, low_magic);
    return cells[cell_of((from - place) * UNIT_WORDS + word)];
}

/* The VECTOR words that belong from `word` on. Those that come from places `along` apart, which is
 * not 0, are found together, and so are those of an element and the next one, if that is all that a
 * vector can have. */
FUNCTION void gather(WORD *values, LOCAL const WORD *cells, uint word, LOCAL const uint *lower,
                     LOCAL const uint *upper, uint low, uint low_magic, uint along, uint unit_words)
{
#ifdef SINGLE
    if (along != 0) {
        uint from = source_element(word, lower, upper, low, low_magic);
        UNROLL
        for (uint k = 0; k < VECTOR; k++)
            values[k] = cells[cell_of(from + k * along)];
        return;
    }
#else
    if (unit_words >= VECTOR - 1) {
        uint place = divide_small(word, small_magic(unit_words));
        uint part = word - place * unit_words;
        uint from = source_element(place, lower, upper, low, low_magic) * unit_words + part;
        uint left = unit_words - part; /* of the element */
        uint next = 0;
        if (left < VECTOR)
            next = source_element(place + 1, lower, upper, low, low_magic) * unit_words - left;
        UNROLL
        for (uint k = 0; k < VECTOR; k++)
            values[k] = cells[cell_of((k < left ? from : next) + k)];
        return;
    }
#endif
    UNROLL
    for (uint k = 0; k < VECTOR; k++)
        values[k] = word_at(cells, word + k, lower, upper, low, low_magic, unit_words);
}

/* Between a row and its cells, from word x of the row on, which is `cell` of the box (both below 0
 * before the row's first word). */
FUNCTION void fetch_vector(LOCAL WORD *cells, GLOBAL const WORD *row, uint x, uint cell,
                           uint row_words, uint apart)
{
    if (x < row_words && row_words - x >= VECTOR) {
        WIDE wide = *(GLOBAL const WIDE *)(row + x);
        UNROLL
        for (uint k = 0; k < VECTOR; k++)
            cells[cell_of(cell + k)] = ((const WORD *)&wide)[k];
    } else if (apart != 0) {
        for (uint k = 0; k < VECTOR; k++)
            if (x + k < row_words)
                cells[cell_of(cell + k)] = row[x + k];
    }
}

FUNCTION void store_vector(GLOBAL WORD *row, LOCAL const WORD *cells, uint x, uint cell,
                           uint row_words, uint apart, LOCAL const uint *lower,
                           LOCAL const uint *upper, uint low, uint low_magic, uint along,
                           uint unit_words)
{
    if (x < row_words && row_words - x >= VECTOR) {
        WIDE wide;
        gather((WORD *)&wide, cells, cell, lower, upper, low, low_magic, along, unit_words);
        *(GLOBAL WIDE *)(row + x) = wide;
    } else if (apart != 0) {
        for (uint k = 0; k < VECTOR; k++)
            if (x + k < row_words)
                row[x + k] = word_at(cells, cell + k, lower, upper, low, low_magic, unit_words);
    }
}

/* `counts` has those of the digits of the box, of rows, of the lower and of the upper part of a
 * place, eight bits each; `room` are the words of all cells; `apart` is 0 where rows begin and end
 * at multiples of VECTOR words, or else VECTOR - 1: then a row's first and last words go one by
 * one. */
KERNEL permute_boxes(GLOBAL WORD *data, ulong first, ulong matrix_words,
                     GLOBAL const uint *box_digits, uint counts, uint boxes, uint rows, uint run,
                     uint width, uint across, uint down, uint step, uint low, uint along,
                     uint apart, uint room, uint unit_words, LOCAL_ARRAY(uint4, memory))
{
    LOCAL_BEGIN(uint4, memory)
    LOCAL WORD *cells = (LOCAL WORD *)memory;
    uint volume = rows * run;
    LOCAL uint *row_starts = (LOCAL uint *)(cells + room);
    LOCAL uint *lower = row_starts + rows;
    LOCAL uint *upper = lower + low;
    GLOBAL const uint *row_digits = box_digits + 2 * (counts & 255);
    GLOBAL const uint *lower_digits = row_digits + 2 * (counts >> 8 & 255);
    GLOBAL const uint *upper_digits = lower_digits + 2 * (counts >> 16 & 255);
    fill_sums(lower, low, lower_digits, counts >> 16 & 255, 0, 1);
    fill_sums(upper, volume / low, upper_digits, counts >> 24, 0, 1);
    uint run_words = run * UNIT_WORDS;
    uint vectors = (run_words + VECTOR - 1 + apart) / VECTOR; /* of a row, wherever it begins */
    uint magic = small_magic(vectors);
    uint low_magic = small_magic(low);
    for (uint number = (uint)GROUP_ID; number < boxes; number += (uint)GROUPS) {
        uint box = number / across;
        uint start = (number - box * across) * run;
        uint other = box / down;
        uint first_row = (box - other * down) * step;
        uint filled = width - start < run ? width - start : run;
        uint filled_words = filled * UNIT_WORDS;
        uint base = start + sum_digits(box_digits, counts & 255, other);
        ulong begin = first + GROUP_ID_2 * matrix_words + (ulong)base * UNIT_WORDS;
        GLOBAL WORD *matrix = data + begin;
        if (step != 0 || number == (uint)GROUP_ID)
            fill_sums(row_starts, rows, row_digits, counts >> 8 & 255, first_row, UNIT_WORDS);
        BARRIER;
        UNROLL_4
        for (uint i = LOCAL_ID; i < rows * vectors; i += LOCAL_SIZE) {
            uint row = divide_small(i, magic);
            GLOBAL const WORD *words = matrix + row_starts[row];
            uint x = (i - row * vectors) * VECTOR - (((uint)begin + row_starts[row]) & apart);
            fetch_vector(cells, words, x, row * run_words + x, filled_words, apart);
        }
        BARRIER;
        UNROLL_4
        for (uint i = LOCAL_ID; i < rows * vectors; i += LOCAL_SIZE) {
            uint row = divide_small(i, magic);
            GLOBAL WORD *words = matrix + row_starts[row];
            uint x = (i - row * vectors) * VECTOR - (((uint)begin + row_starts[row]) & apart);
            store_vector(words, cells, x, row * run_words + x, filled_words, apart, lower, upper,
                         low, low_magic, along, unit_words);
        }
        BARRIER;
    }
}
