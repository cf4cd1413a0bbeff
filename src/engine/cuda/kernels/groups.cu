/*
 * Groups of lines are transposed on chip one after the other, and move together or apart meanwhile:
 * what is left is a square of super-elements whose rows are as long as the result's (square.cu), and a few
 * lines that are kept aside (strips).
 *
 * The tall matrix has rows of `across` words, GROUP of them are a panel of GROUP x across words; in the wide
 * one the same panel is `side` super-elements of GROUP words and begins a row. A block has some columns of a
 * panel at a time, a part. Where it writes may be the source of others: it waits until they say that they
 * have theirs. Panels are taken in the order in which targets are behind their own sources, so a block waits for
 * parts of its own panel and of those before it, and with as many blocks as a panel has parts one of those that
 * all wait for is always on its way.
 *
 * The host defines GROUP, TALL (1: from tall to wide; 0: back), PARTS (of a panel), PART (columns of one), PITCH
 * (words from one line of a part to the next on chip), THREADS and BLOCKS (a multiprocessor).
 */
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
        for (uint col = p.begin + threadIdx.x; col < p.end; col += THREADS)
            fetch(cells + line * PITCH + col - p.begin, from + (size_t)line * across + col);
}

FUNCTION void store_lines(word *to, const word *cells, part p, uint across)
{
    for (uint line = 0; line < GROUP; line++)
#pragma unroll 4
        for (uint col = p.begin + threadIdx.x; col < p.end; col += THREADS)
            to[(size_t)line * across + col] = cells[line * PITCH + col - p.begin];
}

/* Super-elements side by side. */
FUNCTION void fetch_groups(word *cells, const word *from, part p)
{
    for (uint x = threadIdx.x; x < (p.middle - p.begin) * GROUP; x += THREADS)
        fetch(cells + x % GROUP * PITCH + x / GROUP, from + p.begin * GROUP + x);
}

FUNCTION void store_groups(word *to, const word *cells, part p)
{
#pragma unroll 4
    for (uint x = threadIdx.x; x < (p.middle - p.begin) * GROUP; x += THREADS)
        to[p.begin * GROUP + x] = cells[x % GROUP * PITCH + x / GROUP];
}

/* A super-element of a column that the square does not have. */
FUNCTION word *kept_at(const grouping *g, uint col, uint panel)
{
    return g->kept + ((size_t)(col - g->side) * g->count + panel) * GROUP;
}

FUNCTION void fetch_part(word *cells, const word *data, const grouping *g, part p)
{
    const word *from = data + p.panel * g->source_pitch;
#if TALL
    fetch_lines(cells, from, p, g->across);
#else
    fetch_groups(cells, from, p);
    for (uint col = p.middle; col < p.end; col++)
        for (uint line = threadIdx.x; line < GROUP; line += THREADS)
            fetch(cells + line * PITCH + col - p.begin, kept_at(g, col, p.panel) + line);
#endif
}

FUNCTION void store_part(word *data, const word *cells, const grouping *g, part p)
{
    word *to = data + p.panel * g->target_pitch;
#if TALL
    store_groups(to, cells, p);
    for (uint col = p.middle; col < p.end; col++)
        for (uint line = threadIdx.x; line < GROUP; line += THREADS)
            kept_at(g, col, p.panel)[line] = cells[line * PITCH + col - p.begin];
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
    STORAGE(cells);
    uint *goal = (uint *)(cells + GROUP * PITCH);
    grouping g = {source_pitch, target_pitch, (uint)across, (uint)side, (uint)count, kept};
    ulong tall_words = (ulong)g.across * GROUP;
    ulong wide_words = (ulong)g.side * GROUP;
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

/* A strip of the matrix is kept aside, or comes to its place: `rows` of `width` words, `pitch` apart; as it
 * lies there, or transposed. */
KERNEL strips(word *data, ulong rows, ulong width, ulong pitch, ulong transposed, ulong saves, word *kept)
{
    ulong words = rows * width;
    for (ulong x = (ulong)blockIdx.x * THREADS + threadIdx.x; x < words;
         x += (ulong)gridDim.x * THREADS) {
        ulong row = x / width;
        ulong col = x - row * width;
        word *aside = kept + (transposed ? col * rows + row : x);
        word *place = data + row * pitch + col;
        if (saves)
            *aside = *place;
        else
            *place = *aside;
    }
}
