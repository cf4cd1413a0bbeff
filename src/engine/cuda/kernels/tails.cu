/*
 * JOIN and SPLIT: rows x cols followed by its last `tail` columns as a matrix of their own, tail x
 * rows, becomes rows x (cols + tail), or the other way (pad and unpad, Sung thesis, section 4.1.1).
 *
 * The tails wait in scratch memory. Everything else but the first row, which stays, moves in
 * chunks, of which each block has a segment on chip: from the end on when rows move apart, from the
 * beginning when they move together. So the targets of a chunk touch no source of those that come
 * later, which are fetched meanwhile, and it is stored when all of its segments are on chip, which
 * the blocks tell each other at a gate.
 *
 * All is counted in bytes, whatever the elements are: segments begin at multiples of a word, and
 * the part of a row that one has goes to its target four bytes at once.
 *
 * The host defines THREADS, BLOCKS and JOIN.
 */
typedef long long place; /* in the matrix, or how far one lies before another */

typedef struct {
    uchar *matrix;
    place rows;
    place narrow; /* bytes of a row without its tail */
    place tail;
    place from, to; /* bytes from row to row, before and after */
    place end;      /* of what moves */
    place origin;   /* of the first segment: the second row, or a little before */
    place segment;
    place unit; /* bytes of an element */
} shape;

FUNCTION shape shape_of(uchar *matrix, place rows, place narrow, place tail, place segment,
                         place unit)
{
    shape s = {matrix, rows, narrow, tail};
    s.from = JOIN ? narrow : narrow + tail;
    s.to = JOIN ? narrow + tail : narrow;
    s.end = rows * s.from;
    s.origin = narrow - (place)((size_t)(matrix + narrow) % sizeof(word));
    s.segment = segment;
    s.unit = unit;
    return s;
}

/* Byte i of the tails, row by row: among the rows, or behind them. */
FUNCTION uchar *tail_byte(const shape *s, place i, bool among)
{
    place row = i / s->tail;
    place inside = i - row * s->tail;
    place element = inside / s->unit;
    place behind = s->rows * s->narrow + (element * s->rows + row - element) * s->unit + inside;
    return s->matrix + (among ? row * (s->narrow + s->tail) + s->narrow + inside : behind);
}

/* A segment lies on chip as it lies in memory; at the ends of the matrix there is less of it. */
FUNCTION void fetch_segment(word *cells, const shape *s, place base)
{
    place begin = max(base, s->narrow);
    place end = min(base + s->segment, s->end);
    if (begin >= end)
        return;
    const int width = sizeof(word);
    int first = (int)(begin - base);
    int last = (int)(end - base);
    const uchar *source = s->matrix + base;
#pragma unroll 4
    for (int at = (int)threadIdx.x * width; at < last; at += THREADS * width) {
        if (at >= first && at + width <= last)
            fetch(cells + at / width, (const word *)(source + at));
        else
            for (int byte = max(at, first); byte < min(at + width, last); byte++)
                ((uchar *)cells)[byte] = source[byte];
    }
}

/* Copies `count` bytes from place `at` on chip, by the threads `lane` of `lanes`. */
FUNCTION void store_bytes(uchar *target, const word *cells, int at, int count, int lane, int lanes)
{
    for (int i = lane; i < count; i += lanes)
        target[i] = ((const uchar *)cells)[at + i];
}

/* The same, four bytes at once, each from one word on chip or from between two. Threads begin where
 * the target's first line does, so that no warp touches two lines for one. */
FUNCTION void store_run(uchar *target, const word *cells, int at, int count, int lane, int lanes)
{
    int before = min((int)(-(size_t)target % 4), count);
    int words = (count - before) / 4;
    int behind = before + 4 * words;
    store_bytes(target, cells, at, before, lane, lanes);
    store_bytes(target + behind, cells, at + behind, count - behind, lane, lanes);
    uint *to = (uint *)(target + before);
    const uint *from = (const uint *)cells + (at + before) / 4;
    uint shift = (uint)(at + before) % 4 * 8;
    int first = lane - (int)((size_t)to / 4 % min(lanes, 32));
    first += first < 0 ? lanes : 0;
    if (shift == 0) {
#pragma unroll 8
        for (int i = first; i < words; i += lanes)
            to[i] = from[i];
    } else {
#pragma unroll 8
        for (int i = first; i < words; i += lanes)
            to[i] = from[i] >> shift | from[i + 1] << (32 - shift);
    }
}

/* As many threads a row as have something to do. */
FUNCTION int row_threads(place narrow)
{
    int threads = 1;
    while (threads < THREADS && threads * 4 < narrow)
        threads *= 2;
    return threads;
}

FUNCTION void store_segment(const word *cells, const shape *s, place base)
{
    place begin = max(base, s->narrow);
    place end = min(base + s->segment, s->end);
    if (begin >= end)
        return;
    int lanes = row_threads(s->narrow);
    int thread = (int)threadIdx.x;
    for (place row = begin / s->from + thread / lanes; row * s->from < end;
         row += THREADS / lanes) {
        place start = row * s->from;
        place first = max(begin, start);
        place last = min(end, start + s->narrow);
        if (first < last)
            store_run(s->matrix + row * s->to + (first - start), cells, (int)(first - base),
                      (int)(last - first), thread % lanes, lanes);
    }
}

/* Where the segment of this block in a chunk begins. */
FUNCTION place base_of(const shape *s, place segments, place chunk)
{
    place number = chunk * gridDim.x + blockIdx.x;
    return s->origin + (JOIN ? segments - 1 - number : number) * s->segment;
}

/* Three segments are on chip: of the chunk that is stored, of the next one, with which this block has
 * arrived by then, and of the one behind, on its way. A block arrives when nothing of its own is
 * under way but stores of a chunk ago: the arrival waits for all that was begun before it. */
FUNCTION void move_rows(word *cells, const shape *s, ulong *counter)
{
    place segments = (s->end - s->origin) / s->segment + 1;
    place chunks = (segments - 1) / gridDim.x + 1;
    word *next = cells + s->segment / sizeof(word);
    word *last = next + s->segment / sizeof(word);
    fetch_segment(cells, s, base_of(s, segments, 0));
    drain();
    ulong goal = arrive(counter, gridDim.x);
    fetch_segment(next, s, base_of(s, segments, 1));
    for (place chunk = 0; chunk < chunks; chunk++) {
        await(counter, goal);
        drain();
        if (chunk + 1 < chunks)
            goal = arrive(counter, gridDim.x);
        fetch_segment(last, s, base_of(s, segments, chunk + 2));
        store_segment(cells, s, base_of(s, segments, chunk));
        __syncthreads();
        word *stored = cells;
        cells = next;
        next = last;
        last = stored;
    }
}

KERNEL tails(word *data, ulong pitch, ulong outer, ulong rows, ulong narrow, ulong tail,
             ulong segment, uchar *saved, ulong *counter, ulong unit)
{
    STORAGE(cells);
    place thread = (place)blockIdx.x * THREADS + threadIdx.x;
    place threads = (place)gridDim.x * THREADS;
    for (ulong o = 0; o < outer; o++) {
        const shape s = shape_of((uchar *)data + o * pitch, (place)rows, (place)narrow, (place)tail,
                                 (place)segment, (place)unit);
        for (place i = thread; i < s.rows * s.tail; i += threads)
            saved[i] = *tail_byte(&s, i, !JOIN);
        move_rows(cells, &s, counter);
        for (place i = thread; i < s.rows * s.tail; i += threads)
            *tail_byte(&s, i, JOIN) = saved[i];
    }
}
