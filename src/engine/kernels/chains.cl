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
 * Where the pieces begin follows from arithmetic (families.cl), or from walks (walks.cl): some
 * positions, picked as if by chance, cut the longer cycles, which are divided from there on.
 *
 * Every work-item has up to SPLIT words of a super-element and follows them through the whole
 * piece. So words never wait for each other, and a group needs no barrier. TEAM neighbouring
 * work-items share no super-element with others, or have so many words side by side as they can,
 * since pieces of a memory line that move at different times move the whole line each time; only
 * speed depends on it.
 *
 * The host defines POSITION, TEAM, SPLIT, BATCH, the super-elements of a piece that are under way
 * at once, and the permutation (positions.cl).
 */
/* ---- the run ---- */

/*
 * A piece lies in its `field`: the whole matrix, or for COLUMNS one panel, `words` wide, the last
 * one perhaps narrower. Inside it positions are counted from 0, and the words of the super-element
 * at a position are `step` words further on for each.
 */
#ifdef REVERSE
#define PLACE_PARAMETERS uint words, uint lanes
#define PLACE words, lanes
#define FIELD_START(position) 0
#define FIELD_WORD(position) 0
#define FIELD_TURN(position) 0
#define FIELD_WIDTH(position) words
#define NEXT(position, turn) source(position, SHAPE)
#define STEP_WORDS words
#else
#define PLACE_PARAMETERS uint words, uint lanes, uint row_words
#define PLACE words, lanes, row_words
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

/* The words of a work-item: the first one and those `stride` further on, as far as they are inside.
 * Of `lanes` that are more than a team, whole teams, each team has words side by side. */
#define EACH_WORD for (uint s = 0; s < SPLIT; s++)
#define IS_INSIDE(s) (lane + (s)*stride < width)
#define STRIDE(lanes) ((lanes) <= TEAM ? (lanes) : TEAM)
FUNCTION uint first_word(uint lane, uint lanes)
{
    return lanes <= TEAM ? lane : lane / TEAM * TEAM * SPLIT + lane % TEAM;
}

/* Digits take longer than it takes to see that no more of them are wanted. */
#ifdef DIGITS
#define IF_GOING_ON(ends) if (!(ends))
#else
#define IF_GOING_ON(ends)
#endif

/* Some bits of a word, for ARRIVED. */
#define SOME_BITS(word) (sizeof(WORD) < 4 ? *(const uchar *)&(word) : *(const uint *)&(word))

/* The places of a batch, from `position` on; whether the end is among them. */
FUNCTION bool find_places(POSITION *places, POSITION position, POSITION end, ulong turn,
                          SHAPE_PARAMETERS)
{
    bool ends = false;
    places[0] = position;
    UNROLL
    for (uint k = 0; k < BATCH; k++) {
        IF_GOING_ON(ends) places[k + 1] = NEXT(places[k], turn);
        ends |= places[k + 1] == end;
    }
    return ends;
}

/* The batch in which the end comes is the only one with conditions. */
FUNCTION void move_last(GLOBAL WORD *slice, uint step, uint lane, uint stride, uint width,
                        const POSITION *places, POSITION end, const WORD *last)
{
    WORD values[BATCH][SPLIT];
    uint seen = 0;
    uint count = BATCH; /* of moves up to the end */
    UNROLL
    for (uint k = BATCH; k > 0; k--)
        count = places[k] == end ? k : count;
    UNROLL
    for (uint k = 0; k < BATCH; k++)
        UNROLL EACH_WORD if (k + 1 < count && IS_INSIDE(s)) values[k][s] =
            slice[(ulong)places[k + 1] * step + s * stride];
    UNROLL
    for (uint k = 0; k < BATCH; k++)
        UNROLL EACH_WORD if (k + 1 < count && IS_INSIDE(s)) seen ^= SOME_BITS(values[k][s]);
    ARRIVED(seen);
    UNROLL
    for (uint k = 0; k < BATCH; k++)
        UNROLL EACH_WORD if (k < count && IS_INSIDE(s))
            slice[(ulong)places[k] * step + s * stride] = k + 1 < count ? values[k][s] : last[s];
}

/*
 * Moves the words at `slice` of all super-elements from `position` on up to `end`, whose old values
 * are in `last`. All loads of a batch have arrived before its first store (a store to a line that
 * is still on its way makes a walk two to three times slower), and no other work-item touches them;
 * meanwhile the places of the next batch are worked out. A cycle of up to BATCH moves is whole in
 * registers before anything is stored.
 */
FUNCTION void move_along(GLOBAL WORD *slice, uint step, uint lane, uint stride, uint width,
                         POSITION position, POSITION end, const WORD *last, ulong turn,
                         SHAPE_PARAMETERS)
{
    POSITION places[BATCH + 1];
    bool ends = find_places(places, position, end, turn, SHAPE);
    while (!ends) {
        WORD values[BATCH][SPLIT];
        POSITION next[BATCH + 1];
        uint seen = 0;
        UNROLL
        for (uint k = 0; k < BATCH; k++)
            UNROLL EACH_WORD if (IS_INSIDE(s)) values[k][s] =
                slice[(ulong)places[k + 1] * step + s * stride];
        ends = find_places(next, places[BATCH], end, turn, SHAPE);
        UNROLL
        for (uint k = 0; k < BATCH; k++)
            UNROLL EACH_WORD if (IS_INSIDE(s)) seen ^= SOME_BITS(values[k][s]);
        ARRIVED(seen);
        UNROLL
        for (uint k = 0; k < BATCH; k++)
            UNROLL EACH_WORD if (IS_INSIDE(s)) slice[(ulong)places[k] * step + s * stride] =
                values[k][s];
        UNROLL
        for (uint k = 0; k <= BATCH; k++)
            places[k] = next[k];
    }
    move_last(slice, step, lane, stride, width, places, end, last);
}

#define MATRIX (data + first + GROUP_ID_2 * matrix_words)

/* Which piece (or cycle) and from which word on this work-item has; false when it has none. */
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
    *lane = first_word((uint)(team % teams) * TEAM + member, lanes);
    return *item < count;
}

/* Saves what the last move of each piece needs. */
KERNEL save_ends(GLOBAL const WORD *data, ulong first, ulong matrix_words,
                 GLOBAL const POSITION *positions, uint piece_room, uint pieces, GLOBAL WORD *saved,
                 PLACE_PARAMETERS, KERNEL_SHAPE)
{
    SHAPE_BEGIN
    ulong piece;
    uint lane;
    if (!find_item(GLOBAL_ID, pieces, lanes, &piece, &lane))
        return;
    POSITION end = positions[ENDS + piece];
    uint width = FIELD_WIDTH(end);
    GLOBAL const WORD *slice = MATRIX + FIELD_WORD(end) + lane;
    ulong place = (ulong)(end - FIELD_START(end)) * STEP_WORDS;
    GLOBAL WORD *kept = saved + (GROUP_ID_2 * pieces + piece) * words + lane;
    uint stride = STRIDE(lanes);
    EACH_WORD if (IS_INSIDE(s)) kept[s * stride] = slice[place + s * stride];
}

/* The words of a lane of a piece, whose last move takes those at `kept`, or of a whole cycle. */
FUNCTION void move_piece(GLOBAL WORD *matrix, GLOBAL const WORD *kept, POSITION start, POSITION end,
                         uint lane, PLACE_PARAMETERS, SHAPE_PARAMETERS)
{
    POSITION zero = FIELD_START(start);
    uint width = FIELD_WIDTH(start);
    GLOBAL WORD *slice = matrix + FIELD_WORD(start) + lane;
    uint stride = STRIDE(lanes);
    WORD last[SPLIT];
    if (start == end)
        kept = slice + (ulong)(start - zero) * STEP_WORDS;
    EACH_WORD if (IS_INSIDE(s)) last[s] = kept[s * stride];
    if (IS_INSIDE(0))
        move_along(slice, STEP_WORDS, lane, stride, width, start - zero, end - zero, last,
                   FIELD_TURN(start), SHAPE);
}

/* Short cycles, in the first groups, since the longest of them is what a small matrix waits for,
 * and pieces. */
KERNEL move_chains(GLOBAL WORD *data, ulong first, ulong matrix_words,
                   GLOBAL const POSITION *positions, uint piece_room, uint pieces,
                   GLOBAL const WORD *saved, ulong leader_count, ulong cycle_groups,
                   PLACE_PARAMETERS, KERNEL_SHAPE)
{
    SHAPE_BEGIN
    bool is_cycle = GROUP_ID < cycle_groups;
    ulong id = is_cycle ? GLOBAL_ID : GLOBAL_ID - cycle_groups * LOCAL_SIZE;
    ulong item;
    uint lane;
    if (!find_item(id, is_cycle ? leader_count : pieces, lanes, &item, &lane))
        return;
    POSITION start = is_cycle ? positions[LEADERS + item] : positions[item];
    POSITION end = is_cycle ? start : positions[ENDS + item];
    move_piece(MATRIX, saved + (GROUP_ID_2 * pieces + item) * words + lane, start, end, lane, PLACE,
               SHAPE);
}

/* Short cycles without a list: a group lists the leaders among its own positions, one a work-item,
 * behind their count, and its work-items have words of several of them. */
KERNEL move_unlisted(GLOBAL WORD *data, ulong first, ulong matrix_words, ulong positions,
                     uint short_length, PLACE_PARAMETERS, KERNEL_SHAPE, LOCAL_ARRAY(POSITION, list))
{
    SHAPE_BEGIN
    LOCAL_BEGIN(POSITION, list)
    LOCAL uint *count = (LOCAL uint *)list;
    if (LOCAL_ID == 0)
        *count = 0;
    BARRIER;
    if (GLOBAL_ID < positions && is_leader((POSITION)GLOBAL_ID, short_length, SHAPE))
        list[1 + INCREMENT(count)] = (POSITION)GLOBAL_ID;
    BARRIER;
    for (uint i = LOCAL_ID; i < *count * lanes; i += LOCAL_SIZE) {
        POSITION leader = list[1 + i / lanes];
        move_piece(MATRIX, 0, leader, leader, first_word(i % lanes, lanes), PLACE, SHAPE);
    }
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
                   GLOBAL const WORD *saved, PLACE_PARAMETERS, KERNEL_SHAPE, TILE_PARAMETERS,
                   LOCAL_ARRAY(WORD, cells))
{
    SHAPE_BEGIN
    LOCAL_BEGIN(WORD, cells)
    ulong piece = GROUP_ID;
    read_tile(cells + room * TILE_CELLS, saved + (GROUP_ID_2 * pieces + piece) * words, TILE);
    turn_along(MATRIX, cells, positions[piece], positions[ENDS + piece], TILE, SHAPE);
}

KERNEL turn_cycles(GLOBAL WORD *data, ulong first, ulong matrix_words,
                   GLOBAL const POSITION *positions, uint piece_room, uint listed, ulong count,
                   uint short_length, PLACE_PARAMETERS, KERNEL_SHAPE, TILE_PARAMETERS,
                   LOCAL_ARRAY(WORD, cells))
{
    SHAPE_BEGIN
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
