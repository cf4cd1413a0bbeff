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

/*
 * A thread has the same word of rows that lie some rows apart: EACH_LINE(most, width, count) goes over the
 * words `inside` of each `line`, of which there are `count`, at most `most` words long.
 */
#define LINE_THREADS(most) ((most) < THREADS ? (most) : THREADS)
#define EACH_LINE(most, width, count)                                                              \
    for (uint inside = threadIdx.x < THREADS / LINE_THREADS(most) * LINE_THREADS(most)             \
                           ? threadIdx.x % LINE_THREADS(most)                                      \
                           : (most);                                                               \
         inside < (width); inside += LINE_THREADS(most))                                           \
        _Pragma("unroll 8") for (uint line = threadIdx.x / LINE_THREADS(most); line < (count);     \
                                 line += THREADS / LINE_THREADS(most))

FUNCTION void fetch_tile(word *cells, const word *panel, tile_place place, uint cols)
{
    const word *from = panel + ((size_t)place.row * cols + place.col) * UNIT_WORDS;
    ulong row_words = (ulong)cols * UNIT_WORDS;
    EACH_LINE(ROW_WORDS, place.cols * UNIT_WORDS, place.rows)
        fetch(cells + line * TILE_PITCH + inside, from + line * row_words + inside);
}

FUNCTION void store_tile(word *panel, const word *cells, tile_place place, uint rows)
{
    word *to = panel + ((size_t)place.col * rows + place.row) * UNIT_WORDS;
    ulong column_words = (ulong)rows * UNIT_WORDS;
    EACH_LINE(COLUMN_WORDS, place.rows * UNIT_WORDS, place.cols)
        to[line * column_words + inside] =
            cells[inside / UNIT_WORDS * TILE_PITCH + line * UNIT_WORDS + inside % UNIT_WORDS];
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
