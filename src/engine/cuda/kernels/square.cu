/*
 * A square matrix: mirror tiles change places through shared memory; a block takes one pair, or a
 * tile of the diagonal.
 *
 * The host defines UNIT_WORDS, TILE (elements along a side), TILE_PITCH (words), THREADS and
 * BLOCKS.
 */
#define SIDE_WORDS (TILE * UNIT_WORDS)

FUNCTION void fetch_tile(word *tile, const word *from, uint rows, uint cols, ulong row_words)
{
    for (uint x = threadIdx.x; x < TILE * SIDE_WORDS; x += THREADS) {
        uint row = x / SIDE_WORDS;
        uint inside = x - row * SIDE_WORDS;
        if (row < rows && inside < cols * UNIT_WORDS)
            fetch(tile + row * TILE_PITCH + inside, from + row * row_words + inside);
    }
}

/* `rows` x `cols` are those of the tile as it lies in shared memory. */
FUNCTION void store_tile(word *to, const word *tile, uint rows, uint cols, ulong row_words)
{
#pragma unroll 4
    for (uint x = threadIdx.x; x < TILE * SIDE_WORDS; x += THREADS) {
        uint col = x / SIDE_WORDS;
        uint inside = x - col * SIDE_WORDS;
        uint row = inside / UNIT_WORDS;
        if (col < cols && row < rows)
            to[col * row_words + inside] =
                tile[row * TILE_PITCH + col * UNIT_WORDS + inside - row * UNIT_WORDS];
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

KERNEL square(word *data, ulong outer_words, ulong outer, ulong side, ulong row_words)
{
    STORAGE(upper);
    word *lower = upper + TILE * TILE_PITCH;
    uint tiles = (uint)((side + TILE - 1) / TILE);
    ulong pairs = (ulong)tiles * (tiles + 1) / 2;
    for (ulong item = blockIdx.x; item < pairs * outer; item += gridDim.x) {
        ulong matrix = item / pairs;
        uint row, col;
        pair_of(item - matrix * pairs, tiles, &row, &col);
        ulong top = (ulong)row * TILE;
        ulong left = (ulong)col * TILE;
        uint rows = (uint)min((ulong)TILE, side - top);
        uint cols = (uint)min((ulong)TILE, side - left);
        word *base = data + matrix * outer_words;
        word *upper_place = base + top * row_words + left * UNIT_WORDS;
        word *lower_place = base + left * row_words + top * UNIT_WORDS;
        fetch_tile(upper, upper_place, rows, cols, row_words);
        if (row != col)
            fetch_tile(lower, lower_place, cols, rows, row_words);
        drain();
        __syncthreads();
        store_tile(lower_place, upper, rows, cols, row_words);
        if (row != col)
            store_tile(upper_place, lower, cols, rows, row_words);
        __syncthreads();
    }
}
