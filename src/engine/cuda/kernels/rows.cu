/*
 * The row shuffles of C2R and R2C (Catanzaro, Keller and Garland 2014). With b = cols / gcd(rows,
 * cols), C2R moves the element of column j in row i to column ((i + j / b) mod rows + j * rows) mod
 * cols, and R2C moves it back. A row passes through the shared memory of a block; C2R finds the
 * places as the elements arrive, R2C as they leave.
 *
 * Threads begin where the row's first line does, so that no warp touches a line more than it has
 * words. With elements of several words that is done for the words alone.
 *
 * The host defines UNIT_WORDS (0: what the launch says), THREADS, BLOCKS and C2R; before the cells there are LINE_WORDS
 * numbers.
 */
#if UNIT_WORDS == 0
#define UNIT unit
#else
#define UNIT UNIT_WORDS
#endif

/* Narrow words pass through registers, so as many are under way as one turn has. */
#if WORD_BYTES < 4
#define UNROLLED _Pragma("unroll 16")
#else
#define UNROLLED _Pragma("unroll 4")
#endif

FUNCTION void fetch_row(word *cells, const word *row, uint words, uint first)
{
    UNROLLED
    for (uint x = first; x < words; x += THREADS)
        fetch(cells + x, row + x);
}

FUNCTION void store_row(word *row, const word *cells, uint words, uint first)
{
#pragma unroll 8
    for (uint x = first; x < words; x += THREADS)
        row[x] = cells[x];
}

KERNEL shuffle_rows(word *data, ulong outer_words, ulong outer, ulong row_count, ulong col_count,
                    ulong group_cols /* b */, ulong unit_words)
{
    const uint unit = (uint)unit_words;
    STORAGE(cells);
    uint *products = (uint *)cells; /* of 0 to LINE_WORDS - 1 and rows, modulo cols */
    cells += LINE_WORDS * sizeof(uint) / sizeof(word);
    uint rows = (uint)row_count;
    uint cols = (uint)col_count;
    uint group = (uint)group_cols;
    uint step = (uint)((ulong)THREADS * rows % cols);
    uint start = (uint)((ulong)threadIdx.x * rows % cols);
    if (threadIdx.x < LINE_WORDS)
        products[threadIdx.x] = start;
    __syncthreads();
    for (ulong item = blockIdx.x; item < outer * rows; item += gridDim.x) {
        ulong matrix = item / rows;
        uint row = (uint)(item - matrix * rows);
        word *place = data + matrix * outer_words + (size_t)row * cols * UNIT;
        uint before = inside_line(place);
        uint first = threadIdx.x >= before ? threadIdx.x - before : threadIdx.x + THREADS - before;
#if !C2R
        fetch_row(cells, place, cols * UNIT, first);
        drain();
        __syncthreads();
#endif
#if UNIT_WORDS == 1
        uint product = start + (cols - products[before]); /* j * rows mod cols */
        product = product < cols ? product : product - cols;
        product += threadIdx.x >= before ? 0 : step;
        product = product < cols ? product : product - cols;
#else
        first = threadIdx.x;
        uint product = start;
#endif
        UNROLLED
        for (uint j = first; j < cols; j += THREADS) {
            uint turn = row + (group == cols ? 0 : j / group);
            turn = turn < rows ? turn : turn - rows;
            turn = turn < cols ? turn : turn % cols;
            uint other = turn + product;
            other = other < cols ? other : other - cols;
            product += step;
            product = product < cols ? product : product - cols;
            for (uint w = 0; w < UNIT; w++)
#if C2R
                fetch(cells + other * UNIT + w, place + (size_t)j * UNIT + w);
#else
                place[(size_t)j * UNIT + w] = cells[other * UNIT + w];
#endif
        }
#if C2R
        drain();
        __syncthreads();
        first = threadIdx.x >= before ? threadIdx.x - before : threadIdx.x + THREADS - before;
        store_row(place, cells, cols * UNIT, first);
#endif
        __syncthreads();
    }
}
