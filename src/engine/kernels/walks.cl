/*
 * Where the cycles of a permutation are cut, found by walks over positions alone.
 */
/* ---- before the run: indices alone ---- */

/*
 * Some positions are marks: the first `mark_count` of an order that looks like chance. From each a
 * walk leads to the next mark of its cycle (walk_marks), all at the same time and none of them
 * long. Marks that come first of all in some `window` marks of their cycle, one behind the other,
 * cut it (pick_cuts; minimizers, as texts are compared by): no two neighbouring cuts are further
 * apart, and half as far in the mean. Then pieces are put together from walks, from each cut up to
 * the next (join_marks). Cycles without a mark are found by their smallest position.
 */

/*
 * The numbers below 2^bits in another order, which looks like chance. The factors are odd, and xor
 * with a number's upper half undoes itself, so place_of() is the inverse of number_of().
 */
#define MASK ((POSITION)(~(POSITION)0 >> (8 * (uint)sizeof(POSITION) - bits)))
#define FOLD(number) ((number) ^ ((number) >> ((bits + 1) / 2)))

FUNCTION POSITION number_of(POSITION position, uint bits)
{
    POSITION number = position * (POSITION)0x9E3779B97F4A7C15u & MASK;
    number = FOLD(number) * (POSITION)0xD1B54A32D192ED03u & MASK;
    return FOLD(number) * (POSITION)0x8CB92BA72F3D8DD7u & MASK;
}

FUNCTION POSITION place_of(POSITION number, uint bits)
{
    POSITION position = number * (POSITION)0xC83D0A80F9B4B5E7u & MASK;
    position = FOLD(position) * (POSITION)0x06106CCFA448E5ABu & MASK;
    return FOLD(position) * (POSITION)0xF1DE83E19937733Du & MASK;
}

/* counts[0] and counts[1] count pieces and leaders of short cycles; as many as there is room for
 * are kept. The links of the marks are behind them, and behind those a bit for each, which cuts. */
#define TABLE_PARAMETERS                                                                           \
    GLOBAL uint *counts, GLOBAL POSITION *positions, uint piece_room, uint leader_room
#define TABLES counts, positions, piece_room, leader_room

FUNCTION void set_piece(uint place, POSITION start, POSITION end, TABLE_PARAMETERS)
{
    if (place < piece_room) {
        positions[place] = start;
        positions[ENDS + place] = end;
    }
}

FUNCTION void add_leader(POSITION leader, TABLE_PARAMETERS)
{
    uint place = INCREMENT(&counts[1]);
    if (place < leader_room)
        positions[LEADERS + place] = leader;
}

/* A long cycle without a mark, which is rare. */
FUNCTION void add_cycle(POSITION leader, uint piece_length, TABLE_PARAMETERS, SHAPE_PARAMETERS)
{
    POSITION start = leader;
    POSITION next = leader;
    uint length = 0;
    do {
        next = source(next, SHAPE);
        length++;
        if (length == piece_length || next == leader) {
            set_piece(INCREMENT(&counts[0]), start, next, TABLES);
            start = next;
            length = 0;
        }
    } while (next != leader);
}

FUNCTION void walk_position(POSITION position, uint mark_count, uint bits, uint short_length,
                            uint piece_length, TABLE_PARAMETERS, SHAPE_PARAMETERS)
{
    POSITION next = source(position, SHAPE);
    if (next == position || number_of(position, bits) < mark_count)
        return;
    ulong length = 1;
    while (next > position && number_of(next, bits) >= mark_count) {
        next = source(next, SHAPE);
        length++;
    }
    if (next == position && (length <= short_length || short_length == ~(uint)0))
        add_leader(position, TABLES);
    else if (next == position)
        add_cycle(position, piece_length, TABLES, SHAPE);
}

/* The number of the next mark, and how far away it is, in the upper half. Each position is found
 * before it is known to be wanted, while the number of the one before is worked out: the longest
 * walk is what all wait for. */
FUNCTION ulong find_link(POSITION position, uint mark_count, uint bits, SHAPE_PARAMETERS)
{
    POSITION next = source(position, SHAPE);
    for (ulong length = 1;; length++) {
        POSITION number = number_of(next, bits);
        POSITION after = source(next, SHAPE);
        if (number < mark_count)
            return (length << 32) | (ulong)number;
        next = after;
    }
}

#define LINKS ((GLOBAL ulong *)counts + 1)
#define CUTS ((GLOBAL uint *)(LINKS + mark_count))

KERNEL walk_marks(GLOBAL uint *counts, uint mark_count, uint bits, KERNEL_SHAPE)
{
    SHAPE_BEGIN
    if (GLOBAL_ID == 0) {
        counts[0] = 0;
        counts[1] = 0;
    }
    if (GLOBAL_ID >= mark_count)
        return;
    if (GLOBAL_ID % 32 == 0)
        CUTS[GLOBAL_ID / 32] = 0;
    POSITION position = place_of((POSITION)GLOBAL_ID, bits);
    if (position < total)
        LINKS[GLOBAL_ID] = find_link(position, mark_count, bits, SHAPE);
}

KERNEL pick_cuts(GLOBAL uint *counts, uint mark_count, uint window, uint bits, ulong total)
{
    if (GLOBAL_ID >= mark_count || place_of((POSITION)GLOBAL_ID, bits) >= total)
        return;
    uint next = (uint)GLOBAL_ID;
    uint first = next;
    for (uint k = 1; k < window; k++) {
        next = (uint)LINKS[next];
        first = next < first ? next : first;
    }
    SET_BITS(&CUTS[first / 32], 1u << first % 32);
}

FUNCTION bool is_cut(GLOBAL const uint *cuts, uint mark)
{
    return (cuts[mark / 32] >> mark % 32 & 1) != 0;
}

/* How many pieces begin with the walk that follows `filled` positions of one: whole walks stay
 * together while they keep within the length of a piece, and a longer one is cut. */
FUNCTION uint begin_pieces(ulong walk, uint *filled, uint piece_length)
{
    bool fits = *filled + walk <= piece_length;
    uint more = fits || *filled == 0 ? 0 : 1;
    uint kept = fits ? *filled : 0;
    uint cuts = fits ? 0 : ((uint)walk - 1) / piece_length;
    *filled = kept + (uint)walk - cuts * piece_length;
    return more + cuts;
}

/* From a cut up to the next; `pieces` begin there. */
FUNCTION void cut_from(GLOBAL const ulong *links, GLOBAL const uint *cuts, uint mark, uint pieces,
                       uint bits, uint piece_length, TABLE_PARAMETERS, SHAPE_PARAMETERS)
{
    uint place = ADD(&counts[0], pieces);
    POSITION start = place_of((POSITION)mark, bits);
    uint filled = 0;
    do {
        ulong walk = links[mark] >> 32;
        POSITION position = place_of((POSITION)mark, bits);
        if (filled != 0 && filled + walk > piece_length) {
            set_piece(place++, start, position, TABLES);
            start = position;
        }
        for (; walk > piece_length; walk -= piece_length) { /* rare */
            for (uint k = 0; k < piece_length; k++)
                position = source(position, SHAPE);
            set_piece(place++, start, position, TABLES);
            start = position;
        }
        begin_pieces(links[mark] >> 32, &filled, piece_length);
        mark = (uint)links[mark];
    } while (!is_cut(cuts, mark));
    set_piece(place, start, place_of((POSITION)mark, bits), TABLES);
}

/* What begins at a mark that cuts: its whole cycle, when that is short and no mark of it comes
 * before this one, or pieces. Fixed positions are short cycles that nobody moves. The bit of a mark
 * is loaded beside its link, because each step waits for the one before. */
FUNCTION void join_mark(GLOBAL const ulong *links, GLOBAL const uint *cuts, uint mark, uint bits,
                        uint short_length, uint piece_length, TABLE_PARAMETERS, SHAPE_PARAMETERS)
{
    ulong link = links[mark];
    ulong length = 0;
    uint pieces = 1; /* up to the next cut */
    uint filled = 0;
    bool ended = false;
    uint next;
    uint first = mark;
    do {
        ulong walk = link >> 32;
        next = (uint)link;
        link = links[next];
        bool cuts_here = is_cut(cuts, next);
        length += walk;
        pieces += ended ? 0 : begin_pieces(walk, &filled, piece_length);
        first = next < first ? next : first;
        ended = ended || cuts_here;
    } while (next != mark && (!ended || length <= short_length));
    if (next != mark || length > short_length)
        cut_from(links, cuts, mark, pieces, bits, piece_length, TABLES, SHAPE);
    else if (first == mark && length > 1)
        add_leader(place_of((POSITION)mark, bits), TABLES);
}

/* The first `mark_items` work-items are for marks, the others for all positions. */
KERNEL join_marks(TABLE_PARAMETERS, uint mark_count, ulong mark_items, uint bits, uint short_length,
                  uint piece_length, KERNEL_SHAPE)
{
    SHAPE_BEGIN
    ulong id = GLOBAL_ID;
    if (id < mark_count && is_cut(CUTS, (uint)id))
        join_mark(LINKS, CUTS, (uint)id, bits, short_length, piece_length, TABLES, SHAPE);
    else if (id >= mark_items && id - mark_items < total)
        walk_position((POSITION)(id - mark_items), mark_count, bits, short_length, piece_length,
                      TABLES, SHAPE);
}
