/*
 * The column shuffles and rotations of C2R and R2C (Catanzaro, Keller and Garland 2014), in one
 * pass each.
 *
 * Column j turns by s(j) rows: j for the shuffles, j / b for the rotations. In a shuffle the rows
 * are permuted besides, all columns alike: row p(r) of one side is row r of the other, before it
 * turns. C2R reads turned and writes permuted, R2C reads permuted and writes turned.
 *
 * A panel is PANEL_COLS columns wide and all rows high; a gang of blocks holds it together. A
 * member has a band of rows r. Turned, the band leans: its rows reach as many rows further as s
 * grows along the panel, and each row is read, or written, in one run but at the two ends. Behind
 * the gate, where all members have fetched, each stores its band at its new places.
 *
 * The host defines UNIT_WORDS, PANEL_COLS, THREADS, BLOCKS, SHUFFLE (0: rotation) and C2R.
 */
#define PANEL_WORDS (PANEL_COLS * UNIT_WORDS)

typedef struct {
    uint rows, cols;
    uint b, c, a; /* cols / c, the greatest common divisor, rows / c */
    uint inverse; /* of b modulo a */
    ulong magic;  /* 2^64 / a */
} shape;

/* Where row r is on the permuted side: with q(i) = i * cols - i / a modulo rows, p is the inverse
 * of q. For i = k * a + l, q(i) is c * (l * b mod a) - k. */
FUNCTION uint permuted(const shape *s, uint r)
{
#if SHUFFLE
    uint k = s->c == 1 ? 0 : (s->c - r % s->c) % s->c;
    uint quotient = s->c == 1 ? r : (r + k) / s->c; /* l * b modulo a; up to a itself */
    ulong product = (ulong)quotient * s->inverse;
    ulong l = product - __umul64hi(product, s->magic) * s->a;
    l = l < s->a ? l : l - s->a;
    l = l < s->a ? l : l - s->a;
    return k * s->a + (uint)l;
#else
    return r;
#endif
}

FUNCTION uint turn_of(const shape *s, uint col)
{
#if SHUFFLE
    return col;
#else
    return col / s->b;
#endif
}

/* The band of a member in one panel. */
typedef struct {
    word *place; /* of the panel's first column in row 0 */
    uint first, rows;
    uint left, width; /* columns */
    uint turn;        /* of its first column */
} band;

/* Goes over the band as it lies before the columns turn: COPY(word in the matrix, cell). */
#define EACH_STRAIGHT(COPY)                                                                        \
    for (uint x = threadIdx.x; x < b->rows * PANEL_WORDS; x += THREADS) {                          \
        uint row = x / PANEL_WORDS;                                                                \
        uint inside = x - row * PANEL_WORDS;                                                       \
        if (inside < b->width * UNIT_WORDS)                                                        \
            COPY(b->place + (size_t)permuted(s, b->first + row) * s->cols * UNIT_WORDS + inside,   \
                 cells + x);                                                                       \
    }

/* The same as it lies afterwards. */
#define EACH_TURNED(COPY)                                                                          \
    uint lean = b->width == 0 ? 0 : turn_of(s, b->left + b->width - 1) - b->turn;                  \
    uint start = (uint)(((ulong)b->first + b->turn) % s->rows);                                    \
    for (uint x = threadIdx.x; b->rows != 0 && x < (b->rows + lean) * PANEL_WORDS; x += THREADS) { \
        uint row = x / PANEL_WORDS;                                                                \
        uint inside = x - row * PANEL_WORDS;                                                       \
        uint shift = turn_of(s, b->left + inside / UNIT_WORDS) - b->turn;                          \
        if (inside < b->width * UNIT_WORDS && row >= shift && row - shift < b->rows) {             \
            ulong at = (ulong)start + row;                                                         \
            at = at < s->rows ? at : at % s->rows;                                                 \
            COPY(b->place + (size_t)at * s->cols * UNIT_WORDS + inside,                            \
                 cells + (row - shift) * PANEL_WORDS + inside);                                    \
        }                                                                                          \
    }

#define FETCH(outside, cell) fetch(cell, outside)
#define STORE(outside, cell) *(outside) = *(cell)

FUNCTION void fetch_band(word *cells, const band *b, const shape *s)
{
#if C2R
    EACH_TURNED(FETCH)
#else
#pragma unroll 4
    EACH_STRAIGHT(FETCH)
#endif
}

FUNCTION void store_band(const word *cells, const band *b, const shape *s)
{
#if C2R
#pragma unroll 4
    EACH_STRAIGHT(STORE)
#else
    EACH_TURNED(STORE)
#endif
}

KERNEL shuffle_columns(word *data, ulong outer_words, ulong outer, ulong rows, ulong cols,
                       ulong divisor, ulong inverse, ulong magic, ulong band_rows,
                       ulong member_count, ulong *counters)
{
    STORAGE(cells);
    shape s = {
        (uint)rows,    (uint)cols, (uint)(cols / divisor), (uint)divisor, (uint)(rows / divisor),
        (uint)inverse, magic};
    uint members = (uint)member_count;
    uint gang = blockIdx.x / members;
    uint rank = blockIdx.x - gang * members;
    uint gangs = gridDim.x / members;
    ulong panels_each = (cols + PANEL_COLS - 1) / PANEL_COLS;
    band b;
    b.first = rank * (uint)band_rows;
    b.rows = b.first < s.rows ? min((uint)band_rows, s.rows - b.first) : 0;
    for (ulong panel = gang; panel < panels_each * outer; panel += gangs) {
        ulong matrix = panel / panels_each;
        b.left = (uint)(panel - matrix * panels_each) * PANEL_COLS;
        b.width = min((uint)PANEL_COLS, s.cols - b.left);
        b.turn = turn_of(&s, b.left);
        b.place = data + matrix * outer_words + (size_t)b.left * UNIT_WORDS;
        fetch_band(cells, &b, &s);
        drain();
        gate(counters + gang * 16, members);
        store_band(cells, &b, &s);
        __syncthreads();
    }
}
