/*
 * Permutations of super-elements by planned chains: no flags, no atomics while data move, the same
 * result bit for bit each time. (What Sung's thesis, sections 4.3 to 4.6, does with claimed flags.)
 *
 * A permutation is a function source(position): where the super-element comes from that belongs at
 * a position. Before the run its cycles are divided into pieces of at most a given length; for each
 * piece the super-element that its last move needs, which is the first that the next piece
 * overwrites, is saved into scratch. Then the pieces are independent of each other. Short cycles
 * move whole, their first super-element kept in a register; `leaders` names a position of each.
 *
 * Where the pieces begin follows from arithmetic (families.cl), or, with WALKS, from walks: some
 * positions, picked as if by chance, cut the longer cycles, which are divided from there on.
 *
 * Every work-item has up to SPLIT words of a super-element and follows them through the whole
 * piece. So words never wait for each other, and a group needs no barrier. TEAM neighbouring
 * work-items share no super-element with others, since pieces of a memory line that move at
 * different times move the whole line each time; only speed depends on it.
 *
 * The host defines POSITION (uint, or ulong and WIDE), TEAM, SPLIT, BATCH, the super-elements of a
 * piece that are under way at once, and one of the permutations:
 *
 *     REVERSE   A x B x C to C x B x A (100! when B is 1): a, b, c, and magics of a and b
 *     COLUMNS   panel p of the columns of a matrix of `a` rows has the rows
 *               (row * b + p * c) mod a; magic_b is not used
 *     FEW_ROWS  the same with less than 2^16 rows, so that products have 32 bits
 *
 * The magic of a divisor is floor((2^32 - 1) / divisor) for REVERSE with positions of 32 bits, and
 * floor((2^64 - 1) / divisor) otherwise, but magic_b of FEW_ROWS is the short one of `a`.
 */
/* One table has where the pieces start, where they end, and the leaders. */
#define ENDS ((ulong)piece_room)
#define LEADERS (2 * (ulong)piece_room)

#define SHAPE_PARAMETERS ulong total, ulong a, ulong b, ulong c, ulong magic_a, ulong magic_b
#define SHAPE total, a, b, c, magic_a, magic_b

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

#ifdef REVERSE
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

#ifdef WALKS
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

KERNEL walk_marks(GLOBAL uint *counts, uint mark_count, uint bits, SHAPE_PARAMETERS)
{
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
                  uint piece_length, SHAPE_PARAMETERS)
{
    ulong id = GLOBAL_ID;
    if (id < mark_count && is_cut(CUTS, (uint)id))
        join_mark(LINKS, CUTS, (uint)id, bits, short_length, piece_length, TABLES, SHAPE);
    else if (id >= mark_items && id - mark_items < total)
        walk_position((POSITION)(id - mark_items), mark_count, bits, short_length, piece_length,
                      TABLES, SHAPE);
}
#endif

/* ---- the run ---- */

/*
 * A piece lies in its `field`: the whole matrix, or for COLUMNS one panel, `words` wide, the last
 * one perhaps narrower. Inside it positions are counted from 0, and the words of the super-element
 * at a position are `step` words further on for each.
 */
#ifdef REVERSE
#define PLACE_PARAMETERS uint words
#define FIELD_START(position) 0
#define FIELD_WORD(position) 0
#define FIELD_TURN(position) 0
#define FIELD_WIDTH(position) words
#define NEXT(position, turn) source(position, SHAPE)
#define STEP_WORDS words
#else
#define PLACE_PARAMETERS uint words, uint row_words
#define FIELD_START(position) (POSITION)(panel_of(position, SHAPE) * a)
#define FIELD_WORD(position) (panel_of(position, SHAPE) * words)
#define FIELD_TURN(position) remainder_of(panel_of(position, SHAPE) * c, a, magic_a)
#define FIELD_WIDTH(position) (uint)(row_words - FIELD_WORD(position))
#define NEXT(position, turn) source_row(position, turn, SHAPE)
#define STEP_WORDS row_words
FUNCTION ulong panel_of(POSITION position, SHAPE_PARAMETERS)
{
    ulong row;
    return divide_64(position, a, magic_a, &row);
}
#endif

/* The words of a work-item: `lane` and those `lanes` further on, as far as they are inside. */
#define EACH_WORD for (uint s = 0; s < SPLIT; s++)
#define IS_INSIDE(s) (lane + (s)*lanes < width)

/* Some bits of a word, for ARRIVED. */
#define SOME_BITS(word) (sizeof(WORD) < 4 ? *(const uchar *)&(word) : *(const uint *)&(word))

/*
 * Moves the words at `slice` of all super-elements from `position` on up to `end`, whose old values
 * are in `last`. All loads of a batch have arrived before its first store (a store to a line that
 * is still on its way makes a walk two to three times slower), and no other work-item touches them.
 * The batch in which the end comes is the only one with conditions: a cycle of up to BATCH moves is
 * whole in registers before anything is stored.
 */
FUNCTION void move_along(GLOBAL WORD *slice, uint step, uint lane, uint lanes, uint width,
                         POSITION position, POSITION end, const WORD *last, ulong turn,
                         SHAPE_PARAMETERS)
{
    for (;;) {
        POSITION places[BATCH + 1];
        WORD values[BATCH][SPLIT];
        bool ends = false;
        uint seen = 0;
        places[0] = position;
        UNROLL
        for (uint k = 0; k < BATCH; k++) {
            places[k + 1] = NEXT(places[k], turn);
            ends |= places[k + 1] == end;
        }
        if (ends) {
            uint count = BATCH; /* of moves up to the end */
            UNROLL
            for (uint k = BATCH; k > 0; k--)
                count = places[k] == end ? k : count;
            UNROLL
            for (uint k = 0; k < BATCH; k++)
                UNROLL EACH_WORD if (k + 1 < count && IS_INSIDE(s)) values[k][s] =
                    slice[(ulong)places[k + 1] * step + s * lanes];
            UNROLL
            for (uint k = 0; k < BATCH; k++)
                UNROLL EACH_WORD if (k + 1 < count && IS_INSIDE(s)) seen ^= SOME_BITS(values[k][s]);
            ARRIVED(seen);
            UNROLL
            for (uint k = 0; k < BATCH; k++)
                UNROLL EACH_WORD if (k < count && IS_INSIDE(s))
                    slice[(ulong)places[k] * step + s * lanes] =
                        k + 1 < count ? values[k][s] : last[s];
            return;
        }
        UNROLL
        for (uint k = 0; k < BATCH; k++)
            UNROLL EACH_WORD if (IS_INSIDE(s)) values[k][s] =
                slice[(ulong)places[k + 1] * step + s * lanes];
        UNROLL
        for (uint k = 0; k < BATCH; k++)
            UNROLL EACH_WORD if (IS_INSIDE(s)) seen ^= SOME_BITS(values[k][s]);
        ARRIVED(seen);
        UNROLL
        for (uint k = 0; k < BATCH; k++)
            UNROLL EACH_WORD if (IS_INSIDE(s)) slice[(ulong)places[k] * step + s * lanes] =
                values[k][s];
        position = places[BATCH];
    }
}

#define LANES ((words + SPLIT - 1) / SPLIT)
#define MATRIX (data + first + GROUP_ID_2 * matrix_words)

/* Which piece (or cycle) and which lane of it this work-item has; false when it has none. */
FUNCTION bool find_item(ulong id, ulong count, uint lanes, ulong *item, uint *lane)
{
    ulong team = id / TEAM;
    uint member = (uint)(id % TEAM);
    if (lanes <= TEAM) {
        uint together = TEAM / lanes;
        *item = team * together + member / lanes;
        *lane = member % lanes;
        return member < together * lanes && *item < count;
    }
    uint teams = (lanes - 1) / TEAM + 1;
    *item = team / teams;
    *lane = (uint)(team % teams) * TEAM + member;
    return *lane < lanes && *item < count;
}

/* Saves what the last move of each piece needs. */
KERNEL save_ends(GLOBAL const WORD *data, ulong first, ulong matrix_words,
                 GLOBAL const POSITION *positions, uint piece_room, uint pieces, GLOBAL WORD *saved,
                 PLACE_PARAMETERS, SHAPE_PARAMETERS)
{
    ulong piece;
    uint lane;
    uint lanes = LANES;
    if (!find_item(GLOBAL_ID, pieces, lanes, &piece, &lane))
        return;
    POSITION end = positions[ENDS + piece];
    uint width = FIELD_WIDTH(end);
    GLOBAL const WORD *slice = MATRIX + FIELD_WORD(end) + lane;
    ulong place = (ulong)(end - FIELD_START(end)) * STEP_WORDS;
    GLOBAL WORD *kept = saved + (GROUP_ID_2 * pieces + piece) * words + lane;
    EACH_WORD if (IS_INSIDE(s)) kept[s * lanes] = slice[place + s * lanes];
}

/*
 * Short cycles, in the first groups, since the longest of them is what a small matrix waits for,
 * and pieces. Without a list of leaders every position looks whether it is one.
 */
KERNEL move_chains(GLOBAL WORD *data, ulong first, ulong matrix_words,
                   GLOBAL const POSITION *positions, uint piece_room, uint pieces,
                   GLOBAL const WORD *saved, uint listed, ulong leader_count, ulong cycle_groups,
                   uint short_length, PLACE_PARAMETERS, SHAPE_PARAMETERS)
{
    bool is_cycle = GROUP_ID < cycle_groups;
    ulong id = is_cycle ? GLOBAL_ID : GLOBAL_ID - cycle_groups * LOCAL_SIZE;
    ulong item;
    uint lane;
    uint lanes = LANES;
    if (!find_item(id, is_cycle ? leader_count : pieces, lanes, &item, &lane))
        return;
    POSITION start;
    POSITION end;
    if (is_cycle) {
        start = listed ? positions[LEADERS + item] : (POSITION)item;
        end = start;
        if (!listed && !is_leader(start, short_length, SHAPE))
            return;
    } else {
        start = positions[item];
        end = positions[ENDS + item];
    }
    POSITION zero = FIELD_START(start);
    uint width = FIELD_WIDTH(start);
    GLOBAL WORD *slice = MATRIX + FIELD_WORD(start) + lane;
    WORD last[SPLIT];
    EACH_WORD if (IS_INSIDE(s)) last[s] =
        is_cycle ? slice[(ulong)(start - zero) * STEP_WORDS + s * lanes]
                 : saved[(GROUP_ID_2 * pieces + item) * words + lane + s * lanes];
    if (IS_INSIDE(0))
        move_along(slice, STEP_WORDS, lane, lanes, width, start - zero, end - zero, last,
                   FIELD_TURN(start), SHAPE);
}

#ifdef FUSED
/*
 * The same where a super-element is a tile of tile_rows x tile_cols elements that is transposed as
 * it moves (1000! and 0010! at once). A group has a piece, or a cycle; `room` tiles at a time are
 * read into local memory before the first is written, their rows `pitch` words apart, and one more
 * waits there for the end of the piece.
 */
#if ELEMENT_WORDS == 1
#define ELEMENT_OF(word) (word)
#define PART_OF(word) 0
#else
#define ELEMENT_OF(word) ((word) / ELEMENT_WORDS)
#define PART_OF(word) ((word) % ELEMENT_WORDS)
#endif

#define TILE_PARAMETERS uint tile_rows, uint tile_cols, uint pitch, uint room
#define TILE tile_rows, tile_cols, pitch, room
#define TILE_CELLS (tile_rows * pitch)
#define TILE_WORDS (tile_rows * tile_cols * ELEMENT_WORDS)

FUNCTION void read_tile(LOCAL WORD *cells, GLOBAL const WORD *tile, TILE_PARAMETERS)
{
    uint row_words = tile_cols * ELEMENT_WORDS;
    uint magic = small_magic(row_words);
    UNROLL_4
    for (uint place = LOCAL_ID; place < TILE_WORDS; place += LOCAL_SIZE)
        cells[place + divide_small(place, magic) * (pitch - row_words)] = tile[place];
}

FUNCTION void write_turned(GLOBAL WORD *tile, LOCAL const WORD *cells, TILE_PARAMETERS)
{
    uint target_words = tile_rows * ELEMENT_WORDS;
    uint magic = small_magic(target_words);
    UNROLL_4
    for (uint place = LOCAL_ID; place < TILE_WORDS; place += LOCAL_SIZE) {
        uint col = divide_small(place, magic);
        uint word = place - col * target_words;
        tile[place] = cells[ELEMENT_OF(word) * pitch + col * ELEMENT_WORDS + PART_OF(word)];
    }
}

/* As move_along(); `last` is the tile behind `room` others in `cells`. */
FUNCTION void turn_along(GLOBAL WORD *matrix, LOCAL WORD *cells, POSITION position, POSITION end,
                         TILE_PARAMETERS, SHAPE_PARAMETERS)
{
    bool ends = false;
    while (!ends) {
        POSITION next = position;
        uint count = 0;
        while (count < room && !ends) {
            next = source(next, SHAPE);
            ends = next == end;
            if (!ends) {
                read_tile(cells + count * TILE_CELLS, matrix + (ulong)next * TILE_WORDS, TILE);
                count++;
            }
        }
        BARRIER;
        for (uint k = 0; k < count; k++) {
            write_turned(matrix + (ulong)position * TILE_WORDS, cells + k * TILE_CELLS, TILE);
            position = source(position, SHAPE);
        }
        if (ends)
            write_turned(matrix + (ulong)position * TILE_WORDS, cells + room * TILE_CELLS, TILE);
        BARRIER;
    }
}

KERNEL turn_pieces(GLOBAL WORD *data, ulong first, ulong matrix_words,
                   GLOBAL const POSITION *positions, uint piece_room, uint pieces,
                   GLOBAL const WORD *saved, PLACE_PARAMETERS, SHAPE_PARAMETERS, TILE_PARAMETERS,
                   LOCAL_ARRAY(WORD, cells))
{
    LOCAL_BEGIN(WORD, cells)
    ulong piece = GROUP_ID;
    read_tile(cells + room * TILE_CELLS, saved + (GROUP_ID_2 * pieces + piece) * words, TILE);
    turn_along(MATRIX, cells, positions[piece], positions[ENDS + piece], TILE, SHAPE);
}

KERNEL turn_cycles(GLOBAL WORD *data, ulong first, ulong matrix_words,
                   GLOBAL const POSITION *positions, uint piece_room, uint listed, ulong count,
                   uint short_length, PLACE_PARAMETERS, SHAPE_PARAMETERS, TILE_PARAMETERS,
                   LOCAL_ARRAY(WORD, cells))
{
    LOCAL_BEGIN(WORD, cells)
    POSITION leader = listed ? positions[LEADERS + GROUP_ID] : (POSITION)GROUP_ID;
    bool moves = listed || is_leader(leader, short_length, SHAPE);
    if (moves) { /* all of the group, or none */
        read_tile(cells + room * TILE_CELLS, MATRIX + (ulong)leader * words, TILE);
        turn_along(MATRIX, cells, leader, leader, TILE, SHAPE);
    }
}

/* The tiles that stay where they are: every `step`th. */
KERNEL turn_fixed(GLOBAL WORD *data, ulong first, ulong matrix_words, ulong step, TILE_PARAMETERS,
                  LOCAL_ARRAY(WORD, cells))
{
    LOCAL_BEGIN(WORD, cells)
    GLOBAL WORD *tile = MATRIX + GROUP_ID * step * TILE_WORDS;
    read_tile(cells, tile, TILE);
    BARRIER;
    write_turned(tile, cells, TILE);
}
#endif
