/*
 * A square matrix: mirror tiles change places through shared memory; a block takes one pair, or a
 * tile of the diagonal. The two tiles may be of two matrices, one of which another device has.
 *
 * The host defines THREADS (at most), BLOCKS and CONSTANT (1: how tiles are cut is in TILE, elements
 * along a side, TILE_PITCH and UNIT_WORDS, too; 0: it comes with the launch alone, and tiles have fewer than 2^16 words).
 */
typedef struct {
    uint tile, pitch, unit;
    uint side_words;
    uint side_magic, unit_magic; /* of side_words and unit (divide_small) */
} tiling;

#if CONSTANT
#define TILE_OF(t) ((uint)TILE)
#define PITCH_OF(t) ((uint)TILE_PITCH)
#define UNIT_OF(t) ((uint)UNIT_WORDS)
#define SIDE_WORDS(t) ((uint)(TILE * UNIT_WORDS))
#define BY_SIDE(t, x) ((x) / SIDE_WORDS(t))
#define BY_UNIT(t, x) ((x) / UNIT_OF(t))
#else
#define TILE_OF(t) ((t)->tile)
#define PITCH_OF(t) ((t)->pitch)
#define UNIT_OF(t) ((t)->unit)
#define SIDE_WORDS(t) ((t)->side_words)
#define BY_SIDE(t, x) divide_small(x, (t)->side_magic)
#define BY_UNIT(t, x) divide_small(x, (t)->unit_magic)
#endif

/* Constant where a thread then stays in its column, and for narrow words. */
#if CONSTANT && (THREADS % (TILE * UNIT_WORDS) == 0 || UNIT_WORDS > 1)
#define STEP THREADS
#else
#define STEP LOCAL_SIZE
#endif

FUNCTION void fetch_tile(const tiling *t, word *tile, const word *from, uint rows, uint cols,
                         ulong row_words)
{
    for (uint x = threadIdx.x; x < TILE_OF(t) * SIDE_WORDS(t); x += STEP) {
        uint row = BY_SIDE(t, x);
        uint inside = x - row * SIDE_WORDS(t);
        if (row < rows && inside < cols * UNIT_OF(t))
            fetch(tile + row * PITCH_OF(t) + inside, from + row * row_words + inside);
    }
}

/* `rows` x `cols` are those of the tile as it lies in shared memory. */
FUNCTION void store_tile(const tiling *t, word *to, const word *tile, uint rows, uint cols,
                         ulong row_words)
{
#pragma unroll 4
    for (uint x = threadIdx.x; x < TILE_OF(t) * SIDE_WORDS(t); x += STEP) {
        uint col = BY_SIDE(t, x);
        uint inside = x - col * SIDE_WORDS(t);
        uint row = BY_UNIT(t, inside);
        if (col < cols && row < rows)
            to[col * row_words + inside] =
                tile[row * PITCH_OF(t) + col * UNIT_OF(t) + inside - row * UNIT_OF(t)];
    }
}

/* Pairs are numbered along the rows of the upper triangle; row r and row tiles - 1 - r together
 * have tiles + 1 of them, so no root is needed to find a pair's place. */
FUNCTION void pair_of(ulong pair, uint tiles, uint *row, uint *col)
{
    uint r = (uint)(pair / (tiles + 1));
    uint place = (uint)(pair - (ulong)r * (tiles + 1));
    uint first = tiles - r;
    if (place < first) {
        *row = r;
        *col = r + place;
    } else {
        *row = tiles - 1 - r;
        *col = *row + place - first;
    }
}

KERNEL square(word *data, ulong outer_words, ulong outer, ulong side, ulong row_words,
              ulong tile_side, ulong tile_pitch, ulong unit_words)
{
    STORAGE(upper);
    const tiling shape = {(uint)tile_side,
                          (uint)tile_pitch,
                          (uint)unit_words,
                          (uint)(tile_side * unit_words),
                          small_magic((uint)(tile_side * unit_words)),
                          small_magic((uint)unit_words)};
    const tiling *t = &shape;
    word *lower = upper + TILE_OF(t) * PITCH_OF(t);
    uint tiles = (uint)((side + TILE_OF(t) - 1) / TILE_OF(t));
    ulong pairs = (ulong)tiles * (tiles + 1) / 2;
    for (ulong item = blockIdx.x; item < pairs * outer; item += gridDim.x) {
        ulong matrix = item / pairs;
        uint row, col;
        pair_of(item - matrix * pairs, tiles, &row, &col);
        ulong top = (ulong)row * TILE_OF(t);
        ulong left = (ulong)col * TILE_OF(t);
        uint rows = (uint)min((ulong)TILE_OF(t), side - top);
        uint cols = (uint)min((ulong)TILE_OF(t), side - left);
        word *base = data + matrix * outer_words;
        word *upper_place = base + top * row_words + left * UNIT_OF(t);
        word *lower_place = base + left * row_words + top * UNIT_OF(t);
        fetch_tile(t, upper, upper_place, rows, cols, row_words);
        if (row != col)
            fetch_tile(t, lower, lower_place, cols, rows, row_words);
        drain();
        __syncthreads();
        store_tile(t, lower_place, upper, rows, cols, row_words);
        if (row != col)
            store_tile(t, upper_place, lower, cols, rows, row_words);
        __syncthreads();
    }
}

/* Elements (i, j) of `own`, rows x cols, and (j, i) of `other` change places. */
KERNEL mirror(word *own, word *other, ulong rows, ulong cols, ulong row_words, ulong tile_side,
              ulong tile_pitch, ulong unit_words)
{
    STORAGE(here);
    const tiling shape = {(uint)tile_side,
                          (uint)tile_pitch,
                          (uint)unit_words,
                          (uint)(tile_side * unit_words),
                          small_magic((uint)(tile_side * unit_words)),
                          small_magic((uint)unit_words)};
    const tiling *t = &shape;
    word *there = here + TILE_OF(t) * PITCH_OF(t);
    ulong wide = (cols + TILE_OF(t) - 1) / TILE_OF(t);
    ulong tiles = (rows + TILE_OF(t) - 1) / TILE_OF(t) * wide;
    for (ulong item = blockIdx.x; item < tiles; item += gridDim.x) {
        ulong top = item / wide * TILE_OF(t);
        ulong left = item % wide * TILE_OF(t);
        uint high = (uint)min((ulong)TILE_OF(t), rows - top);
        uint broad = (uint)min((ulong)TILE_OF(t), cols - left);
        word *place = own + top * row_words + left * UNIT_OF(t);
        word *mirrored = other + left * row_words + top * UNIT_OF(t);
        fetch_tile(t, there, mirrored, broad, high, row_words);
        fetch_tile(t, here, place, high, broad, row_words);
        drain();
        __syncthreads();
        store_tile(t, mirrored, here, high, broad, row_words);
        store_tile(t, place, there, broad, high, row_words);
        __syncthreads();
    }
}
