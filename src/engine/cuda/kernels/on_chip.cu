/*
 * A whole array changes the order of its axes while it is on chip, in shared memory and registers of
 * several multiprocessors: every block fetches its tiles, all meet once, every block stores its tiles.
 * Of a batch several gangs of blocks have arrays of their own, so some read while others write.
 *
 * The last axes before the stage, together `in` long, are contiguous where a tile is fetched; the
 * last ones afterwards, together `out` long, where it is stored; no axis is in both. A tile has
 * `rows` of the second by `cols` of the first, at one place of the other axes. Where its lines
 * begin, before and after, is worked out once for all its words.
 *
 * Where both lengths are multiples of VECTOR, a word is as many elements: VECTOR of a row come
 * together and VECTOR of a column go together, turned in registers. Otherwise VECTOR is 1, and an
 * element is one word (SINGLE) or more.
 *
 * How tiles are cut comes with the launch; usual ones are constants besides, TILE_ROWS, TILE_COLS and
 * TILE_PITCH. The host defines VECTOR, SINGLE, WORDS_EACH (words of a tile that a thread has at most),
 * HELD (tiles of a block in registers, no more than in shared memory; they pass through that once it
 * is free), THREADS and BLOCKS.
 */
#define AXIS_NUMBERS 3
#define ELEMENT_BYTES (WORD_BYTES / VECTOR) /* where VECTOR is not 1 */

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

/* A divisor, and its magic in the upper half; quotients (divide_small) are exact where the number times
 * the divisor is below 2^32. */
typedef ulong divisor;
#define VALUE(d) ((uint)(d))
#ifdef TILE_ROWS
#define QUOTIENT(number, d) ((number) / VALUE(d))
#else
#define QUOTIENT(number, d) divide_small(number, (uint)((d) >> 32))
#endif

/* A tile on chip. */
typedef struct {
    uint rows, cols;
    divisor row_words, column_words; /* that one has */
    divisor unit;                    /* words of an element */
    divisor items;                   /* that are stored: words, or squares of VECTOR words */
    divisor lines;                   /* rows and columns */
    uint pitch;                      /* words from one row to the next */
    uint words, slot_words;          /* with and without what lies between rows */
} form;

#if SINGLE
#define UNIT_WORDS(f) 1u
#define BY_UNIT(f, number) (number)
#else
#define UNIT_WORDS(f) VALUE((f)->unit)
#define BY_UNIT(f, number) QUOTIENT(number, (f)->unit)
#endif

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

FUNCTION tile tile_at(const cutting *c, const form *f, uint number, uint pitch)
{
    uint array = number / c->tiles;
    uint inside = number - array * c->tiles;
    uint row = inside / c->across;
    uint other = row / c->down;
    tile t;
    t.row = (row - other * c->down) * f->rows;
    t.col = (inside - row * c->across) * f->cols;
    t.rows = min(f->rows, c->out_extent - t.row);
    t.cols = min(f->cols, c->in_extent - t.col);
    t.from = array * pitch + place_of(c->others, c->other_count, other, BEFORE) +
             t.col * UNIT_WORDS(f) / VECTOR;
    t.to = array * pitch + place_of(c->others, c->other_count, other, AFTER) +
           t.row * UNIT_WORDS(f) / VECTOR;
    return t;
}

/* What the block has: its tiles, and where their lines begin. */
FUNCTION void find_lines(const cutting *c, const form *f, tile *tiles, uint *lines, uint count,
                         uint pitch)
{
    for (uint k = threadIdx.x; k < count; k += THREADS)
        tiles[k] = tile_at(c, f, c->rank + k * c->members, pitch);
    __syncthreads();
    for (uint i = threadIdx.x; i < count * VALUE(f->lines); i += THREADS) {
        uint k = QUOTIENT(i, f->lines);
        const tile *t = tiles + k;
        uint line = i - k * VALUE(f->lines);
        lines[i] = line < f->rows
                       ? t->from + place_of(c->out, c->out_count, t->row + line, BEFORE)
                       : t->to + place_of(c->in, c->in_count, t->col + line - f->rows, AFTER);
    }
    __syncthreads();
}

/* ---- on chip ---- */

/* A row of a tile and a word of that. */
typedef struct {
    uint row, inside;
} place;

FUNCTION place place_of_word(const form *f, uint number)
{
    place p;
    p.row = QUOTIENT(number, f->row_words);
    p.inside = number - p.row * VALUE(f->row_words);
    return p;
}

/* Threads side by side store words of one column, whose rows should lie in different banks: an odd
 * pitch does that for elements, and for vectors, whose pitch is a power of two, the words of a row
 * change places. */
FUNCTION uint cell_of(const form *f, uint row, uint inside)
{
#if VECTOR > 1
    uint banks = min(128u / WORD_BYTES, f->pitch);
    inside ^= row / VECTOR & (banks - 1);
#endif
    return row * f->pitch + inside;
}

#define EACH_WORD(w) _Pragma("unroll") for (uint w = 0; w < WORDS_EACH; w++)

/* Whether no word of it needs a question; otherwise that is not worth the code. */
FUNCTION bool is_whole(const form *f, const tile *t)
{
#ifdef TILE_ROWS
    return f->words == WORDS_EACH * THREADS && t->rows == f->rows && t->cols == f->cols;
#else
    return false;
#endif
}

FUNCTION void fetch_slot(word *cells, const word *data, const form *f, const tile *t,
                         const uint *lines)
{
    uint width = t->cols * UNIT_WORDS(f) / VECTOR;
    if (is_whole(f, t)) {
        EACH_WORD(w)
        {
            place p = place_of_word(f, threadIdx.x + w * THREADS);
            fetch(cells + cell_of(f, p.row, p.inside), data + lines[p.row] + p.inside);
        }
        return;
    }
    EACH_WORD(w)
    {
        place p = place_of_word(f, threadIdx.x + w * THREADS);
        if (p.row < t->rows && p.inside < width)
            fetch(cells + cell_of(f, p.row, p.inside), data + lines[p.row] + p.inside);
    }
}

FUNCTION void load_held(word *held, const word *data, const form *f, const tile *t,
                        const uint *lines)
{
    uint width = t->cols * UNIT_WORDS(f) / VECTOR;
    if (is_whole(f, t)) {
        EACH_WORD(w)
        {
            place p = place_of_word(f, threadIdx.x + w * THREADS);
            held[w] = data[lines[p.row] + p.inside];
        }
        return;
    }
    EACH_WORD(w)
    {
        place p = place_of_word(f, threadIdx.x + w * THREADS);
        if (p.row < t->rows && p.inside < width)
            held[w] = data[lines[p.row] + p.inside];
    }
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

FUNCTION void store_item(word *data, const word *cells, const form *f, const tile *t,
                         const uint *lines, uint item)
{
    uint across = QUOTIENT(item, f->column_words);
    uint down = item - across * VALUE(f->column_words);
    if (across * VECTOR >= t->cols || down * VECTOR >= t->rows)
        return;
    word rows[VECTOR];
    word columns[VECTOR];
#pragma unroll
    for (uint k = 0; k < VECTOR; k++)
        rows[k] = cells[cell_of(f, down * VECTOR + k, across)];
    turn(columns, rows);
#pragma unroll
    for (uint k = 0; k < VECTOR; k++)
        data[lines[f->rows + across * VECTOR + k] + down] = columns[k];
}
#else
FUNCTION void store_item(word *data, const word *cells, const form *f, const tile *t,
                         const uint *lines, uint item)
{
    uint col = QUOTIENT(item, f->column_words);
    uint inside = item - col * VALUE(f->column_words);
    uint row = BY_UNIT(f, inside);
    if (col < t->cols && row < t->rows)
        data[lines[f->rows + col] + inside] =
            cells[cell_of(f, row, (col - row) * UNIT_WORDS(f) + inside)];
}
#endif

/* Tiles that lie one after the other in shared memory. */
FUNCTION void store_slots(word *data, const word *cells, const form *f, const tile *tiles,
                          const uint *lines, uint count)
{
#pragma unroll 8
    for (uint i = threadIdx.x; i < count * VALUE(f->items); i += THREADS) {
        uint k = QUOTIENT(i, f->items);
        store_item(data, cells + k * f->slot_words, f, tiles + k, lines + k * VALUE(f->lines),
                   i - k * VALUE(f->items));
    }
}

FUNCTION uint some_bits(const word *w)
{
    return sizeof(word) < sizeof(uint) ? *(const uchar *)w : *(const uint *)w;
}

FUNCTION void put_held(word *cells, const word *held, const form *f, uint count)
{
#pragma unroll
    for (uint h = 0; h < HELD; h++)
        EACH_WORD(w)
        {
            place p = place_of_word(f, threadIdx.x + w * THREADS);
            if (h < count && p.row < f->rows)
                cells[h * f->slot_words + cell_of(f, p.row, p.inside)] = held[h * WORDS_EACH + w];
        }
}

/* The tiles behind the first `most` stay in registers until shared memory is free. */
FUNCTION void move_tiles(word *data, word *cells, const form *f, const tile *tiles,
                         const uint *lines, uint count, uint most, uint members, ulong *counter)
{
    word held[HELD][WORDS_EACH];
    uint shared = min(count, most);
    uint seen = 0;
    for (uint k = 0; k < shared; k++)
        fetch_slot(cells + k * f->slot_words, data, f, tiles + k, lines + k * VALUE(f->lines));
#pragma unroll
    for (uint h = 0; h < HELD; h++) {
        word nothing = {0};
        uint k = shared + h;
        EACH_WORD(w) held[h][w] = nothing;
        if (k < count)
            load_held(held[h], data, f, tiles + k, lines + k * VALUE(f->lines));
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
    store_slots(data, cells, f, tiles, lines, shared);
    if (count == shared)
        return;
    /* Not as a loop: here registers are free again. */
    __syncthreads();
    put_held(cells, &held[0][0], f, count - shared);
    __syncthreads();
    store_slots(data, cells, f, tiles + shared, lines + shared * VALUE(f->lines), count - shared);
}

KERNEL on_chip(word *data, ulong *counter, const uint *axes, ulong other_count, ulong out_count,
               ulong in_count, ulong out_extent, ulong in_extent, ulong arrays, ulong each,
               ulong pitch, ulong tiles, ulong members, ulong shared, ulong most_tiles, ulong rows,
               ulong cols, divisor row_words, divisor column_words, divisor unit, divisor items,
               divisor lines_each, ulong tile_pitch)
{
    STORAGE(storage_begin);
#ifdef TILE_ROWS
    rows = TILE_ROWS;
    cols = TILE_COLS;
    row_words = TILE_COLS / VECTOR;
    column_words = TILE_ROWS / VECTOR;
    items = TILE_ROWS * TILE_COLS / VECTOR / VECTOR;
    lines_each = TILE_ROWS + TILE_COLS;
    tile_pitch = TILE_PITCH;
#endif
    tile *own = (tile *)storage_begin;
    uint *lines = (uint *)(own + most_tiles);
    word *cells = storage_begin + ((uint)most_tiles * ((uint)sizeof(tile) +
                                                       VALUE(lines_each) * (uint)sizeof(uint)) +
                                   15) / 16 * 16 / WORD_BYTES;
    cutting c;
    c.others = axes;
    c.out = axes + AXIS_NUMBERS * other_count;
    c.in = c.out + AXIS_NUMBERS * out_count;
    c.other_count = (uint)other_count;
    c.out_count = (uint)out_count;
    c.in_count = (uint)in_count;
    c.out_extent = (uint)out_extent;
    c.in_extent = (uint)in_extent;
    c.down = (c.out_extent + (uint)rows - 1) / (uint)rows;
    c.across = (c.in_extent + (uint)cols - 1) / (uint)cols;
    c.tiles = (uint)tiles;
    c.members = (uint)members;
    form f = {(uint)rows, (uint)cols, row_words, column_words, unit, items, lines_each,
              (uint)tile_pitch};
    f.words = f.rows * VALUE(row_words);
    f.slot_words = f.rows * f.pitch;
    uint gang = blockIdx.x / c.members;
    uint gangs = gridDim.x / c.members;
    c.rank = blockIdx.x - gang * c.members;
    for (ulong first = gang * each; first < arrays; first += gangs * each) {
        uint all = (uint)min(each, arrays - first) * c.tiles;
        uint count = c.rank < all ? (all - 1 - c.rank) / c.members + 1 : 0;
        find_lines(&c, &f, own, lines, count, (uint)pitch);
        move_tiles(data + first * pitch, cells, &f, own, lines, count, (uint)shared, c.members,
                   counter + gang * 16);
        __syncthreads();
    }
}
