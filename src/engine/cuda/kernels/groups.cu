/*
 * Groups of lines are transposed on chip one after the other, and move together or apart meanwhile:
 * what is left is a square of super-elements whose rows are as long as the result's (square.cu), and a few
 * lines that are kept aside (strips).
 *
 * The tall matrix has rows of `across` elements, GROUP of them are a panel; in the wide one the same panel
 * is `side` super-elements of GROUP elements and begins a row. A block has some columns of a
 * panel at a time, a part. Where it writes may be the source of others: it waits until they say that they
 * have theirs. Panels are taken in the order in which targets are behind their own sources, so a block waits for
 * parts of its own panel and of those before it, and with as many blocks as a panel has parts one of those that
 * all wait for is always on its way.
 *
 * The host defines UNIT_WORDS, GROUP, TALL (1: from tall to wide; 0: back), PARTS (of a panel), PART (columns of one), PITCH
 * (words from one line of a part to the next on chip), THREADS and BLOCKS (a multiprocessor).
 */
#define GROUP_WORDS (GROUP * UNIT_WORDS) /* of a super-element */
#define GOAL_BYTES 16                    /* before the cells */

typedef struct {
    ulong source_pitch, target_pitch;
    uint across, side, count;
    word *kept; /* what the square has no columns for: (across - side) x count super-elements */
} grouping;

/* Columns from `begin` to `end` of a panel; of those before `side` are in the square. */
typedef struct {
    uint panel;
    uint begin, middle, end;
} part;

FUNCTION part part_at(const grouping *g, uint turn)
{
    uint order = turn / PARTS;
    part p;
    p.panel = g->target_pitch <= g->source_pitch ? order : g->count - 1 - order;
    p.begin = min(turn % PARTS * PART, g->across);
    p.end = min(p.begin + PART, g->across);
    p.middle = min(max(p.begin, g->side), p.end);
    return p;
}

FUNCTION void fetch_lines(word *cells, const word *from, part p, uint across)
{
    for (uint line = 0; line < GROUP; line++)
        for (uint x = threadIdx.x; x < (p.end - p.begin) * UNIT_WORDS; x += THREADS)
            fetch(cells + line * PITCH + x, from + ((size_t)line * across + p.begin) * UNIT_WORDS + x);
}

FUNCTION void store_lines(word *to, const word *cells, part p, uint across)
{
    for (uint line = 0; line < GROUP; line++)
#pragma unroll 4
        for (uint x = threadIdx.x; x < (p.end - p.begin) * UNIT_WORDS; x += THREADS)
            to[((size_t)line * across + p.begin) * UNIT_WORDS + x] = cells[line * PITCH + x];
}

/* Where a word of the super-elements of a part is on chip. */
FUNCTION uint cell_of(uint x)
{
    uint col = x / GROUP_WORDS;
    uint inside = x - col * GROUP_WORDS;
    uint line = inside / UNIT_WORDS;
    return line * PITCH + col * UNIT_WORDS + inside - line * UNIT_WORDS;
}

/* Super-elements side by side: those from `first` to `last` of a part, of which the first is at `from`. */
FUNCTION void fetch_groups(word *cells, const word *from, uint first, uint last)
{
    for (uint x = first * GROUP_WORDS + threadIdx.x; x < last * GROUP_WORDS; x += THREADS)
        fetch(cells + cell_of(x), from + x);
}

FUNCTION void store_groups(word *to, const word *cells, uint first, uint last)
{
#pragma unroll 4
    for (uint x = first * GROUP_WORDS + threadIdx.x; x < last * GROUP_WORDS; x += THREADS)
        to[x] = cells[cell_of(x)];
}

/* The super-elements of a column that the square does not have lie side by side, a panel's at its number. */
FUNCTION word *kept_at(const grouping *g, uint col, part p)
{
    long long number = (long long)(col - g->side) * g->count + p.panel;
    return g->kept + (number - (long long)(col - p.begin)) * GROUP_WORDS;
}

FUNCTION void fetch_part(word *cells, const word *data, const grouping *g, part p)
{
    const word *from = data + p.panel * g->source_pitch;
#if TALL
    fetch_lines(cells, from, p, g->across);
#else
    fetch_groups(cells, from + p.begin * GROUP_WORDS, 0, p.middle - p.begin);
    for (uint col = p.middle; col < p.end; col++)
        fetch_groups(cells, kept_at(g, col, p), col - p.begin, col - p.begin + 1);
#endif
}

FUNCTION void store_part(word *data, const word *cells, const grouping *g, part p)
{
    word *to = data + p.panel * g->target_pitch;
#if TALL
    store_groups(to + p.begin * GROUP_WORDS, cells, 0, p.middle - p.begin);
    for (uint col = p.middle; col < p.end; col++)
        store_groups(kept_at(g, col, p), cells, col - p.begin, col - p.begin + 1);
#else
    store_lines(to, cells, p, g->across);
#endif
}

/* The panels whose sources the target of this one overlaps. */
FUNCTION uint first_overlapped(const grouping *g, uint panel, ulong source_words)
{
    ulong begin = panel * g->target_pitch;
    return begin < source_words ? 0 : (uint)((begin - source_words) / g->source_pitch) + 1;
}

FUNCTION uint last_overlapped(const grouping *g, uint panel, ulong target_words)
{
    ulong last = (panel * g->target_pitch + target_words - 1) / g->source_pitch;
    return last < g->count ? (uint)last : g->count - 1;
}

KERNEL groups(word *data, ulong source_pitch, ulong target_pitch, ulong across, ulong side, ulong count,
              uint *flags, word *kept)
{
    STORAGE(storage_begin);
    uint *goal = (uint *)storage_begin;
    word *cells = storage_begin + GOAL_BYTES / WORD_BYTES;
    grouping g = {source_pitch, target_pitch, (uint)across, (uint)side, (uint)count, kept};
    ulong tall_words = (ulong)g.across * GROUP_WORDS;
    ulong wide_words = (ulong)g.side * GROUP_WORDS;
    uint turns = g.count * PARTS;
    if (blockIdx.x < turns)
        fetch_part(cells, data, &g, part_at(&g, blockIdx.x));
    for (uint turn = blockIdx.x; turn < turns; turn += gridDim.x) {
        part p = part_at(&g, turn);
        drain();
        __syncthreads();
        if (threadIdx.x == 0)
            *goal = raise_flag(flags + p.panel * PARTS + turn % PARTS);
        __syncthreads();
        uint first = first_overlapped(&g, p.panel, TALL ? tall_words : wide_words) * PARTS;
        uint last = last_overlapped(&g, p.panel, TALL ? wide_words : tall_words) * PARTS + PARTS - 1;
        for (uint other = first + threadIdx.x; other <= last; other += THREADS)
            await_flag(flags + other, *goal);
        __syncthreads();
        store_part(data, cells, &g, p);
        __syncthreads();
        if (turn + gridDim.x < turns)
            fetch_part(cells, data, &g, part_at(&g, turn + gridDim.x));
    }
}

/* A strip of the matrix is kept aside, or comes to its place: `rows` of `width` elements, row_words apart; as it
 * lies there, or transposed. */
KERNEL strips(word *data, ulong rows, ulong width, ulong row_words, ulong transposed, ulong saves,
              word *kept)
{
    ulong words = rows * width * UNIT_WORDS;
    for (ulong x = (ulong)blockIdx.x * THREADS + threadIdx.x; x < words;
         x += (ulong)gridDim.x * THREADS) {
        ulong element = x / UNIT_WORDS;
        ulong inside = x - element * UNIT_WORDS;
        ulong row = element / width;
        ulong col = element - row * width;
        word *aside = kept + (transposed ? col * rows + row : element) * UNIT_WORDS + inside;
        word *place = data + row * row_words + col * UNIT_WORDS + inside;
        if (saves)
            *aside = *place;
        else
            *place = *aside;
    }
}
