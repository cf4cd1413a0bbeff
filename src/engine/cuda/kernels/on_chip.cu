/*
 * A whole array changes the order of its axes while it is on chip, in shared memory and registers of
 * several multiprocessors: every block fetches its tiles, all meet once, every block stores its tiles.
 * Of a batch several gangs of blocks have arrays of their own, so some read while others write.
 *
 * The last axes before the stage, together `in` long, are contiguous where a tile is fetched; the
 * last ones afterwards, together `out` long, where it is stored; no axis is in both. A tile has
 * TILE_ROWS of the second by TILE_COLS of the first, at one place of the other axes. Where its lines
 * begin, before and after, is worked out once for all its words.
 *
 * Where both lengths are multiples of VECTOR, a word is as many elements: VECTOR of a row come
 * together and VECTOR of a column go together, turned in registers. Otherwise VECTOR is 1, and an
 * element is UNIT_WORDS words.
 *
 * The host defines ELEMENT_BYTES, UNIT_WORDS, VECTOR, TILE_ROWS, TILE_COLS (elements), TILE_PITCH
 * (words from one row of a tile to the next on chip), SHARED (tiles of a block in shared memory), HELD
 * (in registers, at most as many; they pass through shared memory once that is free), THREADS and
 * BLOCKS.
 */
#define ROW_WORDS (TILE_COLS * UNIT_WORDS / VECTOR)
#define COLUMN_WORDS (TILE_ROWS * UNIT_WORDS / VECTOR)
#define TILE_WORDS (TILE_ROWS * ROW_WORDS)
#define SLOT_WORDS (TILE_ROWS * TILE_PITCH)
#define WORDS_EACH ((TILE_WORDS + THREADS - 1) / THREADS)
#define TILES (SHARED + HELD)
#define LINES (TILE_ROWS + TILE_COLS)
#define AXIS_NUMBERS 3

/* Words before and after, first elements of the rows and columns, and how many are in the array. */
typedef struct {
    uint from, to, row, col, rows, cols;
} tile;

typedef struct {
    const uint *others, *out, *in; /* extent, words before, words after of each; the fastest first */
    uint other_count, out_count, in_count;
    uint out_extent, in_extent;
    uint down, across; /* tiles */
    uint tiles;        /* of an array */
    uint rank, members; /* of the gang */
} cutting;

enum { BEFORE = 1, AFTER = 2 };

FUNCTION uint place_of(const uint *axes, uint count, uint number, uint when)
{
    uint place = 0;
    if (count == 0)
        return 0;
    for (; count > 1; count--, axes += AXIS_NUMBERS) {
        uint rest = number / axes[0];
        place += (number - rest * axes[0]) * axes[when];
        number = rest;
    }
    return place + number * axes[when];
}

FUNCTION tile tile_at(const cutting *c, uint number, uint pitch)
{
    uint array = number / c->tiles;
    uint inside = number - array * c->tiles;
    uint row = inside / c->across;
    uint other = row / c->down;
    tile t;
    t.row = (row - other * c->down) * TILE_ROWS;
    t.col = (inside - row * c->across) * TILE_COLS;
    t.rows = min((uint)TILE_ROWS, c->out_extent - t.row);
    t.cols = min((uint)TILE_COLS, c->in_extent - t.col);
    t.from = array * pitch + place_of(c->others, c->other_count, other, BEFORE) + t.col * UNIT_WORDS / VECTOR;
    t.to = array * pitch + place_of(c->others, c->other_count, other, AFTER) + t.row * UNIT_WORDS / VECTOR;
    return t;
}

/* What the block has: its tiles, and where their lines begin. */
FUNCTION void find_lines(const cutting *c, tile *tiles, uint *lines, uint count, uint pitch)
{
    for (uint k = threadIdx.x; k < count; k += THREADS)
        tiles[k] = tile_at(c, c->rank + k * c->members, pitch);
    __syncthreads();
    for (uint i = threadIdx.x; i < count * LINES; i += THREADS) {
        const tile *t = tiles + i / LINES;
        uint line = i % LINES;
        lines[i] = line < TILE_ROWS ? t->from + place_of(c->out, c->out_count, t->row + line, BEFORE)
                                    : t->to + place_of(c->in, c->in_count, t->col + line - TILE_ROWS,
                                                       AFTER);
    }
    __syncthreads();
}

/* ---- on chip ---- */

/* Threads side by side store words of one column, whose rows should lie in different banks: an odd
 * pitch does that for elements, and for vectors the words of a row change places. */
#if VECTOR > 1
#define BANKS (128 / WORD_BYTES < TILE_PITCH ? 128 / WORD_BYTES : TILE_PITCH)
#define CELL(row, word) ((row) * TILE_PITCH + ((word) ^ ((row) / VECTOR % BANKS)))
#else
#define CELL(row, word) ((row) * TILE_PITCH + (word))
#endif

#define EACH_WORD(w) _Pragma("unroll") for (uint w = 0; w < WORDS_EACH; w++)
#define WORD_OF(w) (threadIdx.x + (w) * THREADS)
#define ROW_OF(w) (WORD_OF(w) / ROW_WORDS)
#define INSIDE(w) (WORD_OF(w) % ROW_WORDS)

FUNCTION bool is_whole(const tile *t)
{
    return t->rows == TILE_ROWS && t->cols == TILE_COLS && TILE_WORDS % THREADS == 0;
}

FUNCTION bool has_word(const tile *t, uint row, uint word)
{
    return row < t->rows && word < t->cols * UNIT_WORDS / VECTOR;
}

FUNCTION void fetch_slot(word *cells, const word *data, const tile *t, const uint *lines)
{
    if (is_whole(t)) {
        EACH_WORD(w) fetch(cells + CELL(ROW_OF(w), INSIDE(w)), data + lines[ROW_OF(w)] + INSIDE(w));
        return;
    }
    EACH_WORD(w)
        if (has_word(t, ROW_OF(w), INSIDE(w)))
            fetch(cells + CELL(ROW_OF(w), INSIDE(w)), data + lines[ROW_OF(w)] + INSIDE(w));
}

FUNCTION void load_held(word *held, const word *data, const tile *t, const uint *lines)
{
    if (is_whole(t)) {
        EACH_WORD(w) held[w] = data[lines[ROW_OF(w)] + INSIDE(w)];
        return;
    }
    EACH_WORD(w)
        if (has_word(t, ROW_OF(w), INSIDE(w)))
            held[w] = data[lines[ROW_OF(w)] + INSIDE(w)];
}

#if VECTOR > 1
/* A square of elements: VECTOR rows of one word each. */
FUNCTION void turn(word *columns, const word *rows)
{
    const uint *from = (const uint *)rows;
    uint *to = (uint *)columns;
#if ELEMENT_BYTES >= 4
    const uint parts = ELEMENT_BYTES / 4;
#pragma unroll
    for (uint k = 0; k < VECTOR * VECTOR * parts; k++)
        to[k] = from[(k / parts % VECTOR * VECTOR + k / (parts * VECTOR)) * parts + k % parts];
#else
    const uint each = 4 / ELEMENT_BYTES; /* elements of 32 bits */
    const uint mask = (1u << 8 * ELEMENT_BYTES) - 1;
#pragma unroll
    for (uint k = 0; k < VECTOR * VECTOR / each; k++) {
        uint bits = 0;
#pragma unroll
        for (uint i = 0; i < each; i++) {
            uint element = k * each + i;
            uint row = element % VECTOR;
            uint col = element / VECTOR;
            uint place = row * VECTOR + col;
            bits |= (from[place / each] >> 8 * ELEMENT_BYTES * (place % each) & mask)
                    << 8 * ELEMENT_BYTES * i;
        }
        to[k] = bits;
    }
#endif
}

#define ITEMS (COLUMN_WORDS * ROW_WORDS) /* squares of a tile */

FUNCTION void store_item(word *data, const word *cells, const tile *t, const uint *lines, uint item)
{
    uint across = item / COLUMN_WORDS;
    uint down = item % COLUMN_WORDS;
    if (across * VECTOR >= t->cols || down * VECTOR >= t->rows)
        return;
    word rows[VECTOR];
    word columns[VECTOR];
#pragma unroll
    for (uint k = 0; k < VECTOR; k++)
        rows[k] = cells[CELL(down * VECTOR + k, across)];
    turn(columns, rows);
#pragma unroll
    for (uint k = 0; k < VECTOR; k++)
        data[lines[TILE_ROWS + across * VECTOR + k] + down] = columns[k];
}
#else
#define ITEMS TILE_WORDS

FUNCTION void store_item(word *data, const word *cells, const tile *t, const uint *lines, uint item)
{
    uint col = item / COLUMN_WORDS;
    uint inside = item % COLUMN_WORDS;
    if (col < t->cols && inside < t->rows * UNIT_WORDS)
        data[lines[TILE_ROWS + col] + inside] =
            cells[CELL(inside / UNIT_WORDS, col * UNIT_WORDS + inside % UNIT_WORDS)];
}
#endif

/* Tiles that lie one after the other in shared memory. */
FUNCTION void store_slots(word *data, const word *cells, const tile *tiles, const uint *lines,
                          uint count)
{
#pragma unroll 8
    for (uint i = threadIdx.x; i < count * ITEMS; i += THREADS) {
        uint k = i / ITEMS;
        store_item(data, cells + k * SLOT_WORDS, tiles + k, lines + k * LINES, i - k * ITEMS);
    }
}

FUNCTION uint some_bits(const word *w)
{
    return sizeof(word) < sizeof(uint) ? *(const uchar *)w : *(const uint *)w;
}

/* The tiles from SHARED on stay in registers until shared memory is free. */
FUNCTION void move_tiles(word *data, word *cells, const tile *tiles, const uint *lines, uint count,
                         uint members, ulong *counter)
{
    word held[HELD][WORDS_EACH];
    uint shared = min(count, (uint)SHARED);
    uint seen = 0;
    for (uint k = 0; k < shared; k++)
        fetch_slot(cells + k * SLOT_WORDS, data, tiles + k, lines + k * LINES);
#pragma unroll
    for (uint h = 0; h < HELD; h++) {
        word nothing = {0};
        EACH_WORD(w) held[h][w] = nothing;
        if (SHARED + h < count)
            load_held(held[h], data, tiles + SHARED + h, lines + (SHARED + h) * LINES);
    }
#pragma unroll
    for (uint h = 0; h < HELD; h++)
        EACH_WORD(w) seen ^= some_bits(&held[h][w]);
    drain();
    ARRIVED(seen);
    if (members > 1)
        gate(counter, members);
    else
        __syncthreads();
    store_slots(data, cells, tiles, lines, shared);
    if (count <= SHARED)
        return;
    __syncthreads();
#pragma unroll
    for (uint h = 0; h < HELD; h++)
        EACH_WORD(w)
            if (WORD_OF(w) < TILE_WORDS)
                cells[h * SLOT_WORDS + CELL(ROW_OF(w), INSIDE(w))] = held[h][w];
    __syncthreads();
    store_slots(data, cells, tiles + SHARED, lines + SHARED * LINES, count - SHARED);
}

KERNEL on_chip(word *data, ulong *counter, const uint *axes, ulong other_count, ulong out_count,
               ulong in_count, ulong out_extent, ulong in_extent, ulong arrays, ulong each,
               ulong pitch, ulong tiles, ulong members)
{
    STORAGE(storage_begin);
    tile *own = (tile *)storage_begin;
    uint *lines = (uint *)(own + TILES);
    word *cells = storage_begin + (TILES * (sizeof(tile) + LINES * sizeof(uint)) + 15) / 16 * 16 /
                                      WORD_BYTES;
    cutting c;
    c.others = axes;
    c.out = axes + AXIS_NUMBERS * other_count;
    c.in = c.out + AXIS_NUMBERS * out_count;
    c.other_count = (uint)other_count;
    c.out_count = (uint)out_count;
    c.in_count = (uint)in_count;
    c.out_extent = (uint)out_extent;
    c.in_extent = (uint)in_extent;
    c.down = (c.out_extent + TILE_ROWS - 1) / TILE_ROWS;
    c.across = (c.in_extent + TILE_COLS - 1) / TILE_COLS;
    c.tiles = (uint)tiles;
    c.members = (uint)members;
    uint gang = blockIdx.x / c.members;
    uint gangs = gridDim.x / c.members;
    c.rank = blockIdx.x - gang * c.members;
    for (ulong first = gang * each; first < arrays; first += gangs * each) {
        uint all = (uint)min(each, arrays - first) * c.tiles;
        uint count = c.rank < all ? (all - 1 - c.rank) / c.members + 1 : 0;
        find_lines(&c, own, lines, count, (uint)pitch);
        move_tiles(data + first * pitch, cells, own, lines, count, c.members, counter + gang * 16);
        __syncthreads();
    }
}
