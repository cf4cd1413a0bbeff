/*
 * Stages that move rows and parts of rows without transposing elements: UNZIP and ZIP, REORDER,
 * JOIN and SPLIT (engine/stage.h says what each does).
 *
 * The host defines WORD, what a work-item moves at once, and for UNZIP and ZIP GRANULE, the largest
 * type that divides all members of a row, and GRANULES, how many a WORD holds; for JOIN and SPLIT
 * ELEMENT_WORDS.
 */
enum { BATCH = 8 }; /* loads of a work-item that are under way at once */

#ifdef GRANULE
/*
 * A block of rows passes through local memory. Places in it are counted in granules. A member of
 * the row with `size` granules from `start` on has, after UNZIP, the places from start * rows on;
 * so place / rows is a granule of the row, and says which member the place belongs to. `members`
 * has two numbers for each granule of the row: start and size, 16 bits each, and the magic of the
 * size.
 */
typedef union {
    WORD word;
    GRANULE granules[GRANULES];
} packed;

typedef struct {
    uint row; /* granules */
    uint rows;
    uint row_magic;
    uint rows_magic;
} block_shape;

#ifdef ZIP
FUNCTION uint source_of(uint place, block_shape s, GLOBAL const uint *members)
{
    uint row = divide_small(place, s.row_magic);
    uint granule = place - row * s.row;
    uint member = members[2 * granule];
    uint start = member & 0xFFFF;
    return start * s.rows + row * (member >> 16) + (granule - start);
}
#else
FUNCTION uint source_of(uint place, block_shape s, GLOBAL const uint *members)
{
    uint granule = divide_small(place, s.rows_magic);
    uint member = members[2 * granule];
    uint start = member & 0xFFFF;
    uint inside = place - start * s.rows;
    uint row = divide_small(inside, members[2 * granule + 1]);
    return row * s.row + start + (inside - row * (member >> 16));
}
#endif

/* A group has up to `group_blocks` blocks of `block_words` words, one after the other. */
KERNEL zip_rows(GLOBAL WORD *data, ulong first, ulong matrix_words, ulong count, uint group_blocks,
                uint block_words, uint row, uint rows, GLOBAL const uint *members,
                LOCAL_ARRAY(WORD, cells))
{
    LOCAL_BEGIN(WORD, cells)
    LOCAL const GRANULE *granules = (LOCAL const GRANULE *)cells;
    block_shape shape;
    shape.row = row;
    shape.rows = rows;
    shape.row_magic = small_magic(row);
    shape.rows_magic = small_magic(rows);
    uint block_granules = row * rows;
    uint block_magic = small_magic(block_granules);
    ulong block = GROUP_ID * group_blocks;
    uint blocks = count - block < group_blocks ? (uint)(count - block) : group_blocks;
    uint words = blocks * block_words;
    GLOBAL WORD *chunk = data + first + GROUP_ID_2 * matrix_words + block * block_words;
    for (uint begin = LOCAL_ID; begin < words; begin += BATCH * LOCAL_SIZE) {
        WORD values[BATCH];
        UNROLL
        for (uint k = 0; k < BATCH; k++)
            if (begin + k * LOCAL_SIZE < words)
                values[k] = chunk[begin + k * LOCAL_SIZE];
        UNROLL
        for (uint k = 0; k < BATCH; k++)
            if (begin + k * LOCAL_SIZE < words)
                cells[begin + k * LOCAL_SIZE] = values[k];
    }
    BARRIER;
    for (uint place = LOCAL_ID; place < words; place += LOCAL_SIZE) {
        packed value;
        UNROLL
        for (uint k = 0; k < GRANULES; k++) {
            uint granule = place * GRANULES + k;
            uint before = divide_small(granule, block_magic) * block_granules;
            value.granules[k] = granules[before + source_of(granule - before, shape, members)];
        }
        chunk[place] = value.word;
    }
}
#endif

/*
 * REORDER: lists of parts of a matrix, with three numbers each: where it is, where it goes (the
 * last word of it, when it is reversed), and the sum of the work up to its end. A work-item has one
 * word, or one pair of words.
 */
#define PARTS_PARAMETERS GLOBAL const ulong *parts, ulong part_count, ulong work

/* The part that an item of work is in; `inside` becomes its number there. */
FUNCTION GLOBAL const ulong *find_part(GLOBAL const ulong *parts, ulong part_count, ulong *inside)
{
    ulong low = 0;
    ulong high = part_count - 1;
    while (low < high) {
        ulong middle = (low + high) / 2;
        if (parts[3 * middle + 2] > *inside)
            high = middle;
        else
            low = middle + 1;
    }
    if (low > 0)
        *inside -= parts[3 * low - 1];
    return parts + 3 * low;
}

KERNEL reverse_parts(GLOBAL WORD *data, ulong first, ulong matrix_words, PARTS_PARAMETERS)
{
    ulong item = GLOBAL_ID;
    if (item >= work)
        return;
    GLOBAL const ulong *part = find_part(parts, part_count, &item);
    GLOBAL WORD *matrix = data + first + GROUP_ID_2 * matrix_words;
    WORD left = matrix[part[0] + item];
    matrix[part[0] + item] = matrix[part[1] - item];
    matrix[part[1] - item] = left;
}

/* Between the matrices and what waits of them, `waiting` words each. */
KERNEL copy_parts(GLOBAL WORD *data, ulong first, ulong matrix_words, GLOBAL WORD *saved,
                  ulong waiting, ulong to_saved, PARTS_PARAMETERS)
{
    ulong item = GLOBAL_ID;
    if (item >= work)
        return;
    GLOBAL const ulong *part = find_part(parts, part_count, &item);
    GLOBAL WORD *matrix = data + first + GROUP_ID_2 * matrix_words;
    GLOBAL WORD *own = saved + GROUP_ID_2 * waiting;
    if (to_saved)
        own[part[1] + item] = matrix[part[0] + item];
    else
        matrix[part[1] + item] = own[part[0] + item];
}

#ifdef ELEMENT_WORDS
/*
 * JOIN and SPLIT: rows of `narrow` words and their tails of `wide` - `narrow`, which follow the
 * rows as a transposed matrix. Place x of the compact rows, in row x / narrow, is among the tails
 * at x + x / narrow * tail. Scratch of a matrix: its tails, row by row, and a buffer.
 */
#define ROWS_PARAMETERS                                                                            \
    GLOBAL WORD *data, ulong first, ulong matrix_words, GLOBAL WORD *scratch, ulong scratch_words, \
        ulong rows, ulong narrow, ulong tail
#define MATRIX (data + first + GROUP_ID_2 * matrix_words)
#define SCRATCH (scratch + GROUP_ID_2 * scratch_words)

/* Word i of the tails, as they are saved: among the rows, or behind them. */
FUNCTION ulong tail_place(ulong i, ulong among, ulong rows, ulong narrow, ulong tail)
{
    ulong row = i / tail;
    ulong inside = i - row * tail;
    ulong element = inside / ELEMENT_WORDS;
    ulong behind = rows * narrow + (element * rows + row) * ELEMENT_WORDS + inside % ELEMENT_WORDS;
    return among ? row * (narrow + tail) + narrow + inside : behind;
}

KERNEL save_tails(ROWS_PARAMETERS, ulong among)
{
    if (GLOBAL_ID < rows * tail)
        SCRATCH[GLOBAL_ID] = MATRIX[tail_place(GLOBAL_ID, among, rows, narrow, tail)];
}

KERNEL restore_tails(ROWS_PARAMETERS, ulong among)
{
    if (GLOBAL_ID < rows * tail)
        MATRIX[tail_place(GLOBAL_ID, among, rows, narrow, tail)] = SCRATCH[GLOBAL_ID];
}

/* Moves places `begin` to `end` of the compact rows apart, or together. */
KERNEL move_rows(ROWS_PARAMETERS, ulong apart, ulong begin, ulong end)
{
    ulong compact = begin + GLOBAL_ID;
    ulong spread = compact + compact / narrow * tail;
    if (compact < end)
        MATRIX[apart ? spread : compact] = MATRIX[apart ? compact : spread];
}

/* The same in two steps, for places whose targets are still to be read. */
KERNEL lift_rows(ROWS_PARAMETERS, ulong apart, ulong begin, ulong end)
{
    ulong compact = begin + GLOBAL_ID;
    ulong spread = compact + compact / narrow * tail;
    if (compact < end)
        SCRATCH[rows * tail + GLOBAL_ID] = MATRIX[apart ? compact : spread];
}

KERNEL drop_rows(ROWS_PARAMETERS, ulong apart, ulong begin, ulong end)
{
    ulong compact = begin + GLOBAL_ID;
    ulong spread = compact + compact / narrow * tail;
    if (compact < end)
        MATRIX[apart ? spread : compact] = SCRATCH[rows * tail + GLOBAL_ID];
}
#endif
