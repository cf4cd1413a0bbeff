/*
 * 010!: panels of rows x cols elements, each transposed in its place through shared memory (Sung
 * thesis, section 4.2, barrier synchronisation).
 *
 * A panel may be far larger than the shared memory of one multiprocessor: a gang of blocks holds it
 * together. Every member fetches its tiles, all wait at a gate, and every member writes its tiles
 * to their new places. Nothing travels between the blocks, since a tile that is read in runs along
 * the rows is written in runs along the columns.
 *
 * The host defines SINGLE (1: an element is a word), PACKED (1: several of such elements, of up to
 * four bytes, move at once, wherever rows begin), THREADS and BLOCKS (a multiprocessor). How panels
 * are cut comes with the launch, so that few kernels serve all of them.
 */
typedef struct {
    uint rows, cols;  /* elements */
    uint pitch;       /* packs (see below), or else words, from one row to the next: with `unit` mod 32 of
                         these, neighbours of a column lie in different banks */
    uint unit;        /* words of an element */
} tile_shape;

/* Where the words of all panels begin and end. */
typedef struct {
    const word *begin, *end;
} extent;

typedef struct {
    uint row, col;   /* of its first element */
    uint rows, cols; /* that are inside the panel */
} tile_place;

#if SINGLE
#define UNIT(shape) 1u
#else
#define UNIT(shape) ((shape)->unit)
#endif

FUNCTION tile_place place_of(const tile_shape *shape, uint tile, uint across, uint rows, uint cols)
{
    uint down = tile / across;
    tile_place place;
    place.row = down * shape->rows;
    place.col = (tile - down * across) * shape->cols;
    place.rows = min(shape->rows, rows - place.row);
    place.cols = min(shape->cols, cols - place.col);
    return place;
}

/*
 * A thread has the same word of lines that lie some lines apart: EACH_LINE(walk, width, count) goes over
 * the words `inside` of each `line`, of which there are `count`.
 */
typedef struct {
    uint first, lanes;   /* words of a line */
    uint line, at_once;  /* lines */
} line_walk;

/* Of lines that are at most `most` words long. Threads that no line is left for begin behind it. */
FUNCTION line_walk walk_of(uint most)
{
    line_walk walk;
    walk.lanes = min(most, (uint)THREADS);
    walk.at_once = THREADS / walk.lanes;
    walk.line = threadIdx.x / walk.lanes;
    walk.first = walk.line < walk.at_once ? threadIdx.x - walk.line * walk.lanes : most;
    return walk;
}

#define EACH_LINE(walk, width, count)                                                              \
    for (uint inside = (walk)->first; inside < (width); inside += (walk)->lanes)                   \
        _Pragma("unroll 8") for (uint line = (walk)->line; line < (count); line += (walk)->at_once)

#if !PACKED
#define SLOT_WORDS(shape) ((shape)->rows * (shape)->pitch)
#define ROW_WORDS(cols) ((cols) * UNIT(&shape))

FUNCTION void fetch_tile(word *cells, const word *panel, const tile_shape *shape, tile_place place,
                         const line_walk *walk, uint rows, uint cols, const extent *all)
{
    const word *from = panel + ((size_t)place.row * cols + place.col) * UNIT(shape);
    ulong row_words = (ulong)cols * UNIT(shape);
    EACH_LINE(walk, place.cols * UNIT(shape), place.rows)
        fetch(cells + line * shape->pitch + inside, from + line * row_words + inside);
}

FUNCTION void store_tile(word *panel, const word *cells, const tile_shape *shape, tile_place place,
                         const line_walk *walk, uint rows, uint cols)
{
    word *to = panel + ((size_t)place.col * rows + place.row) * UNIT(shape);
    ulong column_words = (ulong)rows * UNIT(shape);
    EACH_LINE(walk, place.rows * UNIT(shape), place.cols)
        to[line * column_words + inside] = cells[inside / UNIT(shape) * shape->pitch +
                                                 line * UNIT(shape) + inside % UNIT(shape)];
}
#else
/*
 * A pack is 4 bytes, or 16 for words of four, that begin at a multiple of as many. A row
 * is fetched as the packs that hold it, and a column is stored as those that lie inside it. The tile
 * that has the first element of such a pack stores it, so a tile has up to EACH - 1 rows of the next
 * one as well; what lies before the first pack of a column, and behind the last, goes element by
 * element.
 *
 * Of EACH columns side by side each begins at another place of a pack, and the next EACH begin
 * alike; so do the rows. Hence a thread has every EACHth column, and the rows that it needs are the
 * same for all of them. On chip the rows that begin alike lie one after the other, an odd number of
 * packs apart: threads that store neighbours, up to SIDE of them, read from different banks.
 */
#define PACK_BYTES (WORD_BYTES < 4 ? 4u : 16u)
#define EACH (PACK_BYTES / WORD_BYTES)
#define SIDE (128 / PACK_BYTES)
#define ALIKE(shape) ((shape)->rows / EACH + 1) /* rows of a tile */
#define SLOT_WORDS(shape) (EACH * ALIKE(shape) * (shape)->pitch * EACH)
#define ROW_WORDS(cols) (((cols) + 2 * EACH - 2) / EACH) /* packs, wherever it begins */

FUNCTION uint row_on_chip(const tile_shape *shape, uint row)
{
    return row % EACH * ALIKE(shape) + row / EACH;
}

/* Words of a pack that lie before a place. */
FUNCTION uint words_before(const word *place)
{
    return (uint)(size_t)place % PACK_BYTES / WORD_BYTES;
}

FUNCTION void fetch_pack(word *cell, const word *from, const extent *all)
{
    if (from >= all->begin && from + EACH <= all->end) {
#if WORD_BYTES < 4
        fetch_32((uint *)cell, (const uint *)from);
#else
        fetch_128((uint4 *)cell, (const uint4 *)from);
#endif
        return;
    }
    for (uint k = 0; k < EACH; k++)
        if (from + k >= all->begin && from + k < all->end)
            cell[k] = from[k];
}

FUNCTION void fetch_tile(word *cells, const word *panel, const tile_shape *shape, tile_place place,
                         const line_walk *walk, uint rows, uint cols, const extent *all)
{
    const word *tile = panel + (size_t)place.row * cols + place.col;
    uint lines = min(shape->rows + EACH - 1, rows - place.row);
    EACH_LINE(walk, ROW_WORDS(place.cols), lines)
    {
        const word *row = tile + (size_t)line * cols;
        const word *from = row - words_before(row) + inside * EACH;
        if (from < row + place.cols)
            fetch_pack(cells + (row_on_chip(shape, line) * shape->pitch + inside) * EACH, from, all);
    }
}

/* The words of one column in EACH rows. */
FUNCTION void store_pack(word *to, const word *const from[EACH], uint col)
{
#if WORD_BYTES < 4
    uint pack = 0;
#pragma unroll
    for (uint k = 0; k < EACH; k++)
        pack |= (uint)from[k][col] << 8 * WORD_BYTES * k;
    *(uint *)to = pack;
#else
    ALIGNED(16) word pack[EACH];
#pragma unroll
    for (uint k = 0; k < EACH; k++)
        pack[k] = from[k][col];
    *(uint4 *)to = *(const uint4 *)pack;
#endif
}

/* Of every column from `group` on, some columns apart, up to EACH elements from the row `first` on. */
FUNCTION void store_columns(word *panel, const word *cells, const tile_shape *shape,
                            tile_place place, uint rows, uint cols, uint group, uint groups,
                            uint first, uint whole)
{
    const word *tile = panel + (size_t)place.row * cols + place.col;
    const word *from[EACH];
    word *to = panel + (size_t)(place.col + group) * rows + place.row + first;
    size_t step = (size_t)groups * rows;
#pragma unroll
    for (uint k = 0; k < EACH; k++)
        from[k] = cells + row_on_chip(shape, first + k) * shape->pitch * EACH +
                  words_before(tile + (size_t)(first + k) * cols);
    if (whole == EACH) {
#pragma unroll 4
        for (uint col = group; col < place.cols; col += groups, to += step)
            store_pack(to, from, col);
        return;
    }
    for (uint col = group; col < place.cols; col += groups, to += step)
#pragma unroll
        for (uint k = 0; k < EACH; k++)
            if (k < whole)
                to[k] = from[k][col];
}

FUNCTION void store_tile(word *panel, const word *cells, const tile_shape *shape, tile_place place,
                         const line_walk *walk, uint rows, uint cols)
{
    uint packs = shape->rows / EACH;
    uint side = min(packs, SIDE);
    uint parts = (packs + side - 1) / side; /* of a column */
    uint groups = THREADS / side / parts / EACH * EACH;
    uint row_of_threads = threadIdx.x / side;
    uint part = row_of_threads / groups;
    uint group = row_of_threads - part * groups;
    uint pack = part * side + threadIdx.x - row_of_threads * side;
    const word *column = panel + (size_t)(place.col + group) * rows + place.row;
    uint head = (EACH - words_before(column)) % EACH;
    uint first = head + pack * EACH;
    uint left = rows - place.row; /* of a column, with those of the next tile */
    if (pack >= packs)
        return;
    if (first < min(shape->rows, left))
        store_columns(panel, cells, shape, place, rows, cols, group, groups, first,
                      min(EACH, left - first));
    if (place.row == 0 && pack == 0)
        store_columns(panel, cells, shape, place, rows, cols, group, groups, 0, min(head, left));
}
#endif

KERNEL panels(word *data, ulong outer_words, ulong count, ulong panels, ulong row_count,
              ulong col_count, ulong member_count, ulong *counters, ulong tile_rows,
              ulong tile_cols, ulong pitch, ulong unit_words, ulong slots)
{
    STORAGE(cells);
    const tile_shape shape = {(uint)tile_rows, (uint)tile_cols, (uint)pitch, (uint)unit_words};
    const line_walk row_walk = walk_of(ROW_WORDS(shape.cols));
    const line_walk column_walk = walk_of(shape.rows * UNIT(&shape));
    uint rows = (uint)row_count;
    uint cols = (uint)col_count;
    uint members = (uint)member_count;
    uint gang = blockIdx.x / members;
    uint rank = blockIdx.x - gang * members;
    uint gangs = gridDim.x / members;
    uint across = (cols + shape.cols - 1) / shape.cols;
    uint tiles = (rows + shape.rows - 1) / shape.rows * across;
    uint slot_words = SLOT_WORDS(&shape);
    extent all;
    all.begin = data;
    all.end = data + (panels / count - 1) * outer_words +
              count * ((ulong)rows * cols * UNIT(&shape));
    for (ulong panel = gang; panel < panels; panel += gangs) {
        ulong outer = panel / count;
        word *base = data + outer * outer_words +
                     (panel - outer * count) * ((ulong)rows * cols * UNIT(&shape));
        for (uint slot = 0, tile = rank; slot < slots && tile < tiles; slot++, tile += members)
            fetch_tile(cells + slot * slot_words, base, &shape,
                       place_of(&shape, tile, across, rows, cols), &row_walk, rows, cols, &all);
        drain();
        if (members > 1) /* else one block holds its panels alone */
            gate(counters + gang * 16, members);
        else
            __syncthreads();
        for (uint slot = 0, tile = rank; slot < slots && tile < tiles; slot++, tile += members)
            store_tile(base, cells + slot * slot_words, &shape,
                       place_of(&shape, tile, across, rows, cols), &column_walk, rows, cols);
        __syncthreads();
    }
}
