/*
 * 010!: panels of rows x cols elements, each transposed in its place through shared memory (Sung
 * thesis, section 4.2, barrier synchronisation).
 *
 * A panel may be far larger than the shared memory of one multiprocessor: a gang of blocks holds it
 * together. Every member fetches its tiles, all wait at a gate, and every member writes its tiles
 * to their new places. Nothing travels between the blocks, since a tile that is read in runs along
 * the rows is written in runs along the columns.
 *
 * The host defines UNIT_WORDS, TILE_ROWS, TILE_COLS (elements), TILE_PITCH (words from one row of a
 * tile to the next: with UNIT_WORDS mod 32 of them, neighbours of a column lie in different banks),
 * SLOTS (tiles a block), THREADS, BLOCKS (a multiprocessor) and GANG (0: one block holds its panels
 * alone).
 */
#define ROW_WORDS (TILE_COLS * UNIT_WORDS)
#define COLUMN_WORDS (TILE_ROWS * UNIT_WORDS)
#define TILE_WORDS (TILE_ROWS * TILE_COLS * UNIT_WORDS)

typedef struct {
    uint row, col;   /* of its first element */
    uint rows, cols; /* that are inside the panel */
} tile_place;

FUNCTION tile_place place_of(uint tile, uint across, uint rows, uint cols)
{
    uint down = tile / across;
    tile_place place;
    place.row = down * TILE_ROWS;
    place.col = (tile - down * across) * TILE_COLS;
    place.rows = min((uint)TILE_ROWS, rows - place.row);
    place.cols = min((uint)TILE_COLS, cols - place.col);
    return place;
}

FUNCTION void fetch_tile(word *cells, const word *panel, tile_place place, uint cols)
{
    const word *from = panel + ((size_t)place.row * cols + place.col) * UNIT_WORDS;
    uint width = place.cols * UNIT_WORDS;
    for (uint x = threadIdx.x; x < TILE_WORDS; x += THREADS) {
        uint row = x / ROW_WORDS;
        uint inside = x - row * ROW_WORDS;
        if (row < place.rows && inside < width)
            fetch(cells + row * TILE_PITCH + inside,
                  from + (size_t)row * cols * UNIT_WORDS + inside);
    }
}

FUNCTION void store_tile(word *panel, const word *cells, tile_place place, uint rows)
{
    word *to = panel + ((size_t)place.col * rows + place.row) * UNIT_WORDS;
    uint height = place.rows * UNIT_WORDS;
#pragma unroll 4
    for (uint x = threadIdx.x; x < TILE_WORDS; x += THREADS) {
        uint col = x / COLUMN_WORDS;
        uint inside = x - col * COLUMN_WORDS;
        uint row = inside / UNIT_WORDS;
        if (col < place.cols && inside < height)
            to[(size_t)col * rows * UNIT_WORDS + inside] =
                cells[row * TILE_PITCH + col * UNIT_WORDS + inside - row * UNIT_WORDS];
    }
}

KERNEL panels(word *data, ulong outer_words, ulong count, ulong panels, ulong row_count,
              ulong col_count, ulong member_count, ulong *counters)
{
    STORAGE(cells);
    uint rows = (uint)row_count;
    uint cols = (uint)col_count;
    uint members = (uint)member_count;
    uint gang = blockIdx.x / members;
    uint rank = blockIdx.x - gang * members;
    uint gangs = gridDim.x / members;
    uint across = (cols + TILE_COLS - 1) / TILE_COLS;
    uint tiles = (rows + TILE_ROWS - 1) / TILE_ROWS * across;
    for (ulong panel = gang; panel < panels; panel += gangs) {
        ulong outer = panel / count;
        word *base = data + outer * outer_words +
                     (panel - outer * count) * ((ulong)rows * cols * UNIT_WORDS);
        for (uint slot = 0, tile = rank; slot < SLOTS && tile < tiles; slot++, tile += members)
            fetch_tile(cells + slot * (TILE_ROWS * TILE_PITCH), base,
                       place_of(tile, across, rows, cols), cols);
        drain();
#if GANG
        gate(counters + gang * 16, members);
#else
        __syncthreads();
#endif
        for (uint slot = 0, tile = rank; slot < SLOTS && tile < tiles; slot++, tile += members)
            store_tile(base, cells + slot * (TILE_ROWS * TILE_PITCH),
                       place_of(tile, across, rows, cols), rows);
        __syncthreads();
    }
}
