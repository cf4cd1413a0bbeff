/*
 * 010!: panels of rows x cols elements, each transposed in its place through shared memory (Sung
 * thesis, section 4.2, barrier synchronisation).
 *
 * A panel may be far larger than the shared memory of one multiprocessor: a gang of blocks holds it
 * together. Every member fetches its tiles, all wait at a gate, and every member writes its tiles
 * to their new places. Nothing travels between the blocks, since a tile that is read in runs along
 * the rows is written in runs along the columns.
 *
 * The host defines SINGLE (1: an element is a word), THREADS and BLOCKS (a multiprocessor). How panels
 * are cut comes with the launch, so that few kernels serve all of them.
 */
typedef struct {
    uint rows, cols;  /* elements */
    uint pitch;       /* words from one row to the next: with `unit` mod 32 of them, neighbours of a
                         column lie in different banks */
    uint unit;        /* words of an element */
} tile_shape;

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

FUNCTION void fetch_tile(word *cells, const word *panel, const tile_shape *shape, tile_place place,
                         const line_walk *walk, uint cols)
{
    const word *from = panel + ((size_t)place.row * cols + place.col) * UNIT(shape);
    ulong row_words = (ulong)cols * UNIT(shape);
    EACH_LINE(walk, place.cols * UNIT(shape), place.rows)
        fetch(cells + line * shape->pitch + inside, from + line * row_words + inside);
}

FUNCTION void store_tile(word *panel, const word *cells, const tile_shape *shape, tile_place place,
                         const line_walk *walk, uint rows)
{
    word *to = panel + ((size_t)place.col * rows + place.row) * UNIT(shape);
    ulong column_words = (ulong)rows * UNIT(shape);
    EACH_LINE(walk, place.rows * UNIT(shape), place.cols)
        to[line * column_words + inside] = cells[inside / UNIT(shape) * shape->pitch +
                                                 line * UNIT(shape) + inside % UNIT(shape)];
}

KERNEL panels(word *data, ulong outer_words, ulong count, ulong panels, ulong row_count,
              ulong col_count, ulong member_count, ulong *counters, ulong tile_rows,
              ulong tile_cols, ulong pitch, ulong unit_words, ulong slots)
{
    STORAGE(cells);
    const tile_shape shape = {(uint)tile_rows, (uint)tile_cols, (uint)pitch, (uint)unit_words};
    const line_walk row_walk = walk_of(shape.cols * UNIT(&shape));
    const line_walk column_walk = walk_of(shape.rows * UNIT(&shape));
    uint rows = (uint)row_count;
    uint cols = (uint)col_count;
    uint members = (uint)member_count;
    uint gang = blockIdx.x / members;
    uint rank = blockIdx.x - gang * members;
    uint gangs = gridDim.x / members;
    uint across = (cols + shape.cols - 1) / shape.cols;
    uint tiles = (rows + shape.rows - 1) / shape.rows * across;
    uint slot_words = shape.rows * shape.pitch;
    for (ulong panel = gang; panel < panels; panel += gangs) {
        ulong outer = panel / count;
        word *base = data + outer * outer_words +
                     (panel - outer * count) * ((ulong)rows * cols * UNIT(&shape));
        for (uint slot = 0, tile = rank; slot < slots && tile < tiles; slot++, tile += members)
            fetch_tile(cells + slot * slot_words, base, &shape,
                       place_of(&shape, tile, across, rows, cols), &row_walk, cols);
        drain();
        if (members > 1) /* else one block holds its panels alone */
            gate(counters + gang * 16, members);
        else
            __syncthreads();
        for (uint slot = 0, tile = rank; slot < slots && tile < tiles; slot++, tile += members)
            store_tile(base, cells + slot * slot_words, &shape,
                       place_of(&shape, tile, across, rows, cols), &column_walk, rows);
        __syncthreads();
    }
}
