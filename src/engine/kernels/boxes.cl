/*
 * The elements of boxes come into the order that they will have, so that elements that will be
 * neighbours are neighbours (engine/slots.h). A group has a box: `rows` runs of `run` elements,
 * each contiguous, read into local memory and written where they were with other content.
 *
 * Box number n is `across`, then `down`, then digits that give where it begins. Runs end where
 * `width` elements do. Where a row begins, and where on chip an element comes from, are sums over
 * digits: the rows' number begins at down * step; the place's lower and upper part have a table
 * each, so no division is left.
 *
 * The host defines SINGLE where elements are words, VECTOR (words that are accessed together, in as
 * many elements; 1 where an element is several words) and WIDE, their type.
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

/* Where the word of the box that belongs at a place is on chip. */
FUNCTION uint source_cell(uint word, LOCAL const uint *lower, LOCAL const uint *upper, uint low,
                          uint low_magic, uint unit_words, uint unit_magic)
{
    uint place = divide_small(word, unit_magic);
    uint high = divide_small(place, low_magic);
    uint from = upper[high] + lower[place - high * low];
    return cell_of((from - place) * UNIT_WORDS + word);
}

/* `counts` has those of the digits of the box, of rows, of the lower and of the upper part of a
 * place, eight bits each; `room` are the words of all cells. */
KERNEL permute_boxes(GLOBAL WORD *data, ulong first, ulong matrix_words,
                     GLOBAL const uint *box_digits, uint counts, uint rows, uint run, uint width,
                     uint across, uint down, uint step, uint low, uint room, uint unit_words,
                     LOCAL_ARRAY(WORD, cells))
{
    LOCAL_BEGIN(WORD, cells)
    uint volume = rows * run;
    LOCAL uint *row_starts = (LOCAL uint *)(cells + room);
    LOCAL uint *lower = row_starts + rows;
    LOCAL uint *upper = lower + low;
    GLOBAL const uint *row_digits = box_digits + 2 * (counts & 255);
    GLOBAL const uint *lower_digits = row_digits + 2 * (counts >> 8 & 255);
    GLOBAL const uint *upper_digits = lower_digits + 2 * (counts >> 16 & 255);
    uint box = (uint)GROUP_ID / across;
    uint start = ((uint)GROUP_ID - box * across) * run;
    uint other = box / down;
    uint first_row = (box - other * down) * step;
    uint filled = width - start < run ? width - start : run;
    uint base = start + sum_digits(box_digits, counts & 255, other);
    for (uint i = LOCAL_ID; i < rows; i += LOCAL_SIZE)
        row_starts[i] = base + sum_digits(row_digits, counts >> 8 & 255, first_row + i);
    for (uint i = LOCAL_ID; i < low; i += LOCAL_SIZE)
        lower[i] = sum_digits(lower_digits, counts >> 16 & 255, i);
    for (uint i = LOCAL_ID; i < volume / low; i += LOCAL_SIZE)
        upper[i] = sum_digits(upper_digits, counts >> 24, i);
    BARRIER;
    uint run_words = run * UNIT_WORDS / VECTOR;
    uint filled_words = filled * UNIT_WORDS / VECTOR;
    uint magic = small_magic(run_words);
    uint low_magic = small_magic(low);
    uint unit_magic = small_magic(UNIT_WORDS);
    GLOBAL WORD *matrix = data + first + GROUP_ID_2 * matrix_words;
    UNROLL_4
    for (uint i = LOCAL_ID; i < rows * run_words; i += LOCAL_SIZE) {
        uint row = divide_small(i, magic);
        uint x = i - row * run_words;
        if (x < filled_words) {
            WIDE wide =
                *(GLOBAL const WIDE *)(matrix + (ulong)row_starts[row] * UNIT_WORDS + x * VECTOR);
            UNROLL
            for (uint k = 0; k < VECTOR; k++)
                cells[cell_of(i * VECTOR + k)] = ((const WORD *)&wide)[k];
        }
    }
    BARRIER;
    UNROLL_4
    for (uint i = LOCAL_ID; i < rows * run_words; i += LOCAL_SIZE) {
        uint row = divide_small(i, magic);
        uint x = i - row * run_words;
        if (x < filled_words) {
            WIDE wide;
            UNROLL
            for (uint k = 0; k < VECTOR; k++)
                ((WORD *)&wide)[k] = cells[source_cell(i * VECTOR + k, lower, upper, low, low_magic,
                                                       UNIT_WORDS, unit_magic)];
            *(GLOBAL WIDE *)(matrix + (ulong)row_starts[row] * UNIT_WORDS + x * VECTOR) = wide;
        }
    }
}
