/*
 * The column shuffles and rotations of C2R and R2C (Catanzaro, Keller and Garland 2014), in one
 * pass each.
 *
 * Column j turns by s(j) rows: j for the shuffles, j / b for the rotations. In a shuffle the rows
 * are permuted besides, all columns alike: row p(r) of one side is row r of the other, before it
 * turns. C2R reads turned and writes permuted, R2C reads permuted and writes turned.
 *
 * A panel is some columns wide and all rows high; a gang of blocks holds it together. A
 * member has a band of rows r. Turned, the band leans: its rows reach as many rows further as s
 * grows along the panel, and each row is read, or written, in one run but at the two ends. Behind
 * the gate, where all members have fetched, each stores its band at its new places.
 *
 * The host defines PANEL_WORDS (from one row of a panel to the next on chip), THREADS, BLOCKS, SHUFFLE
 * (0: rotation), C2R, and PLACE_BYTES, which the permuted place of a row takes before the cells.
 */

typedef struct {
    uint rows, cols;
    uint b, c, a; /* cols / c, the greatest common divisor, rows / c */
    uint inverse; /* of b modulo a */
    ulong magic;  /* 2^64 / a */
    ulong row_words;
    uint unit_words;
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
    uint start;       /* where its first row lies there */
    uint lean;        /* how much further the last column turns */
    const uint *permuted;
} band;

/* A thread has the same word of rows that lie ROWS_AT_ONCE apart, so what its column asks for is
 * found once. */
#define ROW_THREADS (PANEL_WORDS < THREADS ? PANEL_WORDS : THREADS)
#define ROWS_AT_ONCE (THREADS / ROW_THREADS)
#define EACH_WORD                                                                                  \
    for (uint inside = threadIdx.x < ROWS_AT_ONCE * ROW_THREADS ? threadIdx.x % ROW_THREADS        \
                                                                : PANEL_WORDS;                     \
         inside < b->width * s->unit_words; inside += ROW_THREADS)
/* Signed, so that the compiler may count the turns beforehand and unroll them. */
#define EACH_ROW(from, to)                                                                         \
    _Pragma("unroll 8") for (int row = (int)((from) + threadIdx.x / ROW_THREADS); row < (int)(to); \
                             row += (int)ROWS_AT_ONCE)

FUNCTION void copy(word *outside, word *cell, bool to_chip)
{
    if (to_chip)
        fetch(cell, outside);
    else
        *outside = *cell;
}

/* Word `inside` of all rows of the band, between where they lie and the chip. */
FUNCTION void copy_straight(word *cells, const band *b, const shape *s, uint inside, bool to_chip)
{
    EACH_ROW(0, b->rows)
    {
        ulong at = SHUFFLE ? b->permuted[row] : b->first + (uint)row;
        copy(b->place + at * s->row_words + inside, cells + row * PANEL_WORDS + inside, to_chip);
    }
}

/* Rows `from` to `to`, counted from where the first column has its first; on an edge of the band
 * there are rows that this column does not have. */
FUNCTION void copy_rows(word *cells, const band *b, const shape *s, uint inside, uint from, uint to,
                        bool edge, bool to_chip)
{
    uint shift = turn_of(s, b->left + inside / s->unit_words) - b->turn;
    EACH_ROW(from, to)
    {
        uint at = b->start + (uint)row;
        if (at >= s->rows)
            at = edge ? at % s->rows : at - s->rows;
        uint held = (uint)row - shift;
        if (!edge || held < b->rows)
            copy(b->place + at * s->row_words + inside, cells + held * PANEL_WORDS + inside,
                 to_chip);
    }
}

/* The same as copy_straight() where the columns have turned. */
FUNCTION void copy_turned(word *cells, const band *b, const shape *s, uint inside, bool to_chip)
{
    if (b->rows == 0)
        return;
    copy_rows(cells, b, s, inside, 0, b->lean, true, to_chip);
    copy_rows(cells, b, s, inside, b->lean, b->rows, false, to_chip);
    copy_rows(cells, b, s, inside, max(b->lean, b->rows), b->rows + b->lean, true, to_chip);
}

FUNCTION void copy_band(word *cells, const band *b, const shape *s, bool to_chip)
{
    EACH_WORD
    {
        if (to_chip == (C2R != 0))
            copy_turned(cells, b, s, inside, to_chip);
        else
            copy_straight(cells, b, s, inside, to_chip);
    }
}

KERNEL shuffle_columns(word *data, ulong outer_words, ulong outer, ulong rows, ulong cols,
                       ulong divisor, ulong inverse, ulong magic, ulong band_rows,
                       ulong member_count, ulong *counters, ulong panel_cols, ulong unit_words)
{
    STORAGE(cells);
    uint *places = (uint *)cells;
    cells += (band_rows * PLACE_BYTES + 15) / 16 * 16 / WORD_BYTES;
    shape s = {(uint)rows,
               (uint)cols,
               (uint)(cols / divisor),
               (uint)divisor,
               (uint)(rows / divisor),
               (uint)inverse,
               magic,
               cols * unit_words,
               (uint)unit_words};
    uint members = (uint)member_count;
    uint gang = blockIdx.x / members;
    uint rank = blockIdx.x - gang * members;
    uint gangs = gridDim.x / members;
    ulong panels_each = (cols + panel_cols - 1) / panel_cols;
    band b;
    b.first = rank * (uint)band_rows;
    b.rows = b.first < s.rows ? min((uint)band_rows, s.rows - b.first) : 0;
    b.permuted = places;
#if SHUFFLE
    for (uint row = threadIdx.x; row < b.rows; row += THREADS)
        places[row] = permuted(&s, b.first + row);
    __syncthreads();
#endif
    for (ulong panel = gang; panel < panels_each * outer; panel += gangs) {
        ulong matrix = panel / panels_each;
        b.left = (uint)(panel - matrix * panels_each) * (uint)panel_cols;
        b.width = min((uint)panel_cols, s.cols - b.left);
        b.turn = turn_of(&s, b.left);
        b.start = (uint)(((ulong)b.first + b.turn) % s.rows);
        b.lean = turn_of(&s, b.left + b.width - 1) - b.turn;
        b.place = data + matrix * outer_words + (size_t)b.left * unit_words;
        copy_band(cells, &b, &s, true);
        drain();
        gate(counters + gang * 16, members);
        copy_band(cells, &b, &s, false);
        __syncthreads();
    }
}
