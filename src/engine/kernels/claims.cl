/*
 * Elementary transpositions as the papers move their elements (Sung thesis, sections 4.1.1 and 4.5
 * to 4.6; Sung 2014, section 5): PTTWAC, whose chains claim positions, and P-IPT, which gives each
 * cycle to one. They are for comparison; plans choose blocks.cl and chains.cl.
 *
 * A chain that begins at `start` reads what is there, and only then sees that `start` is unclaimed;
 * a store to a position comes after the claim of it, and whoever claims it reads what was there
 * first. So a chain that begins holds the original element; of two chains that hold the same one,
 * the first to claim its place stores it, and the other ends. Every position is claimed once. (The
 * papers' own code looks at the flag before it reads, and relies on work-items that advance
 * together.) What is read at `start` may be old in a cache: an old element is the original.
 *
 * An element of a tile has ELEMENT_WORDS words. The words of 100! have at most 8 bytes, since one
 * of them in local memory is the answer to a question.
 */

/* Where the element at `place` of rows x cols goes; `last` is rows * cols - 1. */
FUNCTION ulong target_of(ulong place, ulong rows, ulong last)
{
    return place * rows % last;
}

/* Whether `start` is the smallest position of its cycle. */
FUNCTION bool leads(ulong start, ulong rows, ulong last)
{
    ulong place = target_of(start, rows, last);
    while (place > start)
        place = target_of(place, rows, last);
    return place == start;
}

/* ---- 010!: tiles one after the other, a group each ---- */

#define EACH_WORD for (uint w = 0; w < ELEMENT_WORDS; w++)
#define TILE                                                                                       \
    (data + first + GROUP_ID_2 * matrix_words + GROUP_ID * ((ulong)rows * cols * ELEMENT_WORDS))

/* Equations 4.4 to 4.6: `shift` is 5 less the logarithm of the spreading factor; `padding` leaves
 * one word in 32 unused; `remapped` (0: not) is the number of words over which flags are dealt. */
typedef struct {
    uint shift;
    uint padding;
    uint remapped;
} flag_layout;

FUNCTION uint flag_word(flag_layout layout, uint place)
{
    uint word = layout.remapped != 0 ? place % layout.remapped : place >> layout.shift;
    return word + (layout.padding != 0 ? word >> 5 : 0);
}

FUNCTION uint flag_bit(flag_layout layout, uint place)
{
    return 1u << ((layout.remapped != 0 ? place / layout.remapped : place) & 31);
}

KERNEL claims_010(GLOBAL WORD *data, ulong first, ulong matrix_words, uint rows, uint cols,
                  uint flag_words, uint shift, uint padding, uint remapped,
                  LOCAL_ARRAY(uint, flags))
{
    LOCAL_BEGIN(uint, flags)
    const flag_layout layout = {shift, padding, remapped};
    uint last = rows * cols - 1;
    GLOBAL WORD *tile = TILE;
    for (uint i = LOCAL_ID; i < flag_words; i += LOCAL_SIZE)
        flags[i] = 0;
    BARRIER;
    for (uint start = LOCAL_ID; start < last; start += LOCAL_SIZE) {
        WORD value[ELEMENT_WORDS];
        EACH_WORD value[w] = tile[(ulong)start * ELEMENT_WORDS + w];
        FENCE;
        uint bit = flag_bit(layout, start);
        bool over = (SET_BITS(&flags[flag_word(layout, start)], 0u) & bit) != 0;
        uint place = start;
        while (!over) {
            place = (uint)target_of(place, rows, last);
            bit = flag_bit(layout, place);
            over = (SET_BITS(&flags[flag_word(layout, place)], bit) & bit) != 0;
            if (!over) {
                WORD next[ELEMENT_WORDS];
                EACH_WORD next[w] = tile[(ulong)place * ELEMENT_WORDS + w];
                EACH_WORD
                {
                    tile[(ulong)place * ELEMENT_WORDS + w] = value[w];
                    value[w] = next[w];
                }
            }
        }
    }
}

/* A work-item a cycle, without flags. */
KERNEL cycles_010(GLOBAL WORD *data, ulong first, ulong matrix_words, uint rows, uint cols)
{
    uint last = rows * cols - 1;
    GLOBAL WORD *tile = TILE;
    for (uint start = LOCAL_ID; start < last; start += LOCAL_SIZE) {
        if (!leads(start, rows, last))
            continue;
        EACH_WORD
        {
            WORD value = tile[(ulong)start * ELEMENT_WORDS + w];
            ulong place = start;
            do {
                place = target_of(place, rows, last);
                WORD next = tile[place * ELEMENT_WORDS + w];
                tile[place * ELEMENT_WORDS + w] = value;
                value = next;
            } while (place != start);
        }
    }
}

/* ---- 100!: rows x cols super-elements of `words` words, a group a chain (section 4.6.1) ---- */

#define MATRIX (data + first + GROUP_ID_2 * matrix_words)

KERNEL clear_flags(GLOBAL uint *flags, ulong count)
{
    for (ulong i = GLOBAL_ID; i < count; i += (ulong)GROUPS * LOCAL_SIZE)
        flags[i] = 0;
}

FUNCTION bool is_claimed(GLOBAL uint *flags, ulong place)
{
    return (SET_BITS(&flags[place / 32], 0u) & (1u << (place & 31))) != 0;
}

FUNCTION bool was_claimed(GLOBAL uint *flags, ulong place)
{
    uint bit = 1u << (place & 31);
    return (SET_BITS(&flags[place / 32], bit) & bit) != 0;
}

/* The first work-item asks for all of them, when all have read or stored what came before. */
#define ASK(question)                                                                              \
    do {                                                                                           \
        BARRIER_ALL;                                                                               \
        if (LOCAL_ID == 0)                                                                         \
            held[words] = (WORD)(question);                                                        \
        BARRIER_ALL;                                                                               \
        over = held[words] != 0;                                                                   \
    } while (0)

/* A super-element is held in local memory, whatever its size. */
KERNEL claims_100(GLOBAL WORD *data, ulong first, ulong matrix_words, GLOBAL uint *all_flags,
                  ulong flag_words, ulong rows, ulong cols, uint words, LOCAL_ARRAY(WORD, held))
{
    LOCAL_BEGIN(WORD, held)
    ulong last = rows * cols - 1;
    GLOBAL WORD *elements = MATRIX;
    GLOBAL uint *flags = all_flags + GROUP_ID_2 * flag_words;
    for (ulong start = GROUP_ID; start < last; start += GROUPS) {
        bool over;
        for (uint k = LOCAL_ID; k < words; k += LOCAL_SIZE)
            held[k] = elements[start * words + k];
        ASK(is_claimed(flags, start));
        ulong place = start;
        while (!over) {
            place = target_of(place, rows, last);
            ASK(was_claimed(flags, place));
            for (uint k = LOCAL_ID; k < words && !over; k += LOCAL_SIZE) {
                WORD next = elements[place * words + k];
                elements[place * words + k] = held[k];
                held[k] = next;
            }
        }
        BARRIER_ALL;
    }
}

/* A group a cycle, without flags. */
KERNEL cycles_100(GLOBAL WORD *data, ulong first, ulong matrix_words, ulong rows, ulong cols,
                  uint words, LOCAL_ARRAY(WORD, held))
{
    LOCAL_BEGIN(WORD, held)
    ulong last = rows * cols - 1;
    GLOBAL WORD *elements = MATRIX;
    for (ulong start = GROUP_ID; start < last; start += GROUPS) {
        bool over;
        ASK(!leads(start, rows, last));
        for (uint k = LOCAL_ID; k < words && !over; k += LOCAL_SIZE) {
            WORD value = elements[start * words + k];
            ulong place = start;
            do {
                place = target_of(place, rows, last);
                WORD next = elements[place * words + k];
                elements[place * words + k] = value;
                value = next;
            } while (place != start);
        }
        BARRIER_ALL;
    }
}
