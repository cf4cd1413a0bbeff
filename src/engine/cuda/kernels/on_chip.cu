/*
 * A whole array changes the order of its axes while it is on chip, in shared memory and registers of
 * all multiprocessors: every block fetches its tiles, all meet once, every block stores its tiles.
 *
 * The last axes before the stage, together `in` long, are contiguous where a tile is fetched; the
 * last ones afterwards, together `out` long, where it is stored; no axis is in both. A tile has
 * TILE_ROWS of the second by TILE_COLS of the first, at one place of the other axes. Where its lines
 * begin, before and after, is worked out once for all its words.
 *
 * The host defines UNIT_WORDS, TILE_ROWS, TILE_COLS (elements), TILE_PITCH (words from one row of a
 * tile to the next on chip), SHARED (tiles of a block in shared memory), HELD (in registers, at most
 * as many; they pass through shared memory once that is free), THREADS and BLOCKS.
 */
#define ROW_WORDS (TILE_COLS * UNIT_WORDS)
#define COLUMN_WORDS (TILE_ROWS * UNIT_WORDS)
#define TILE_WORDS (TILE_ROWS * TILE_COLS * UNIT_WORDS)
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
    t.from = array * pitch + place_of(c->others, c->other_count, other, BEFORE) + t.col * UNIT_WORDS;
    t.to = array * pitch + place_of(c->others, c->other_count, other, AFTER) + t.row * UNIT_WORDS;
    return t;
}

/* What the block has of a wave: its tiles, and where their lines begin. */
FUNCTION void find_lines(const cutting *c, tile *tiles, uint *lines, uint count, uint pitch)
{
    for (uint k = threadIdx.x; k < count; k += THREADS)
        tiles[k] = tile_at(c, blockIdx.x + k * gridDim.x, pitch);
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

#define EACH_WORD(w) _Pragma("unroll") for (uint w = 0; w < WORDS_EACH; w++)
#define WORD_OF(w) (threadIdx.x + (w) * THREADS)

FUNCTION bool is_in_row(const tile *t, uint word)
{
    return word / ROW_WORDS < t->rows && word % ROW_WORDS < t->cols * UNIT_WORDS;
}

FUNCTION void store_slot(word *data, const word *cells, const tile *t, const uint *lines)
{
    uint inside_most = t->rows * UNIT_WORDS;
    uint cols = t->cols;
    EACH_WORD(w)
    {
        uint col = WORD_OF(w) / COLUMN_WORDS;
        uint inside = WORD_OF(w) % COLUMN_WORDS;
        if (col < cols && inside < inside_most)
            data[lines[TILE_ROWS + col] + inside] =
                cells[inside / UNIT_WORDS * TILE_PITCH + col * UNIT_WORDS + inside % UNIT_WORDS];
    }
}

FUNCTION uint some_bits(const word *w)
{
    return sizeof(word) < sizeof(uint) ? *(const uchar *)w : *(const uint *)w;
}

/* The tiles from SHARED on stay in registers until shared memory is free. */
FUNCTION void move_wave(word *data, word *cells, const tile *tiles, const uint *lines, uint count,
                        ulong *counter)
{
    word held[HELD][WORDS_EACH];
    uint shared = min(count, (uint)SHARED);
    for (uint k = 0; k < shared; k++)
        EACH_WORD(w)
            if (is_in_row(tiles + k, WORD_OF(w)))
                fetch(cells + k * SLOT_WORDS + WORD_OF(w) / ROW_WORDS * TILE_PITCH +
                          WORD_OF(w) % ROW_WORDS,
                      data + lines[k * LINES + WORD_OF(w) / ROW_WORDS] + WORD_OF(w) % ROW_WORDS);
    uint seen = 0;
#pragma unroll
    for (uint h = 0; h < HELD; h++)
        EACH_WORD(w)
        {
            word nothing = {0};
            held[h][w] = nothing;
            if (SHARED + h < count && is_in_row(tiles + SHARED + h, WORD_OF(w)))
                held[h][w] = data[lines[(SHARED + h) * LINES + WORD_OF(w) / ROW_WORDS] +
                                  WORD_OF(w) % ROW_WORDS];
        }
#pragma unroll
    for (uint h = 0; h < HELD; h++)
        EACH_WORD(w) seen ^= some_bits(&held[h][w]);
    drain();
    ARRIVED(seen);
    gate(counter, gridDim.x);
    for (uint k = 0; k < shared; k++)
        store_slot(data, cells + k * SLOT_WORDS, tiles + k, lines + k * LINES);
    if (count <= SHARED)
        return;
    __syncthreads();
#pragma unroll
    for (uint h = 0; h < HELD; h++)
        EACH_WORD(w)
            if (WORD_OF(w) < TILE_WORDS)
                cells[h * SLOT_WORDS + WORD_OF(w) / ROW_WORDS * TILE_PITCH +
                      WORD_OF(w) % ROW_WORDS] = held[h][w];
    __syncthreads();
    for (uint k = SHARED; k < count; k++)
        store_slot(data, cells + (k - SHARED) * SLOT_WORDS, tiles + k, lines + k * LINES);
}

KERNEL on_chip(word *data, ulong *counter, const uint *axes, ulong other_count, ulong out_count,
               ulong in_count, ulong out_extent, ulong in_extent, ulong arrays, ulong together,
               ulong pitch, ulong tiles)
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
    for (ulong first = 0; first < arrays; first += together) {
        uint all = (uint)min(together, arrays - first) * c.tiles;
        uint count = blockIdx.x < all ? (all - 1 - blockIdx.x) / gridDim.x + 1 : 0;
        find_lines(&c, own, lines, count, (uint)pitch);
        move_wave(data + first * pitch, cells, own, lines, count, counter);
        __syncthreads();
    }
}
