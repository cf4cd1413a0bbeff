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
 * The host defines SINGLE (1: an element is a word), TALL (1: from tall to wide; 0: back), THREADS and BLOCKS (a
 * multiprocessor). What a panel's words are divided by comes with the launch; a part has fewer than 2^16 of them.
 */
#define GOAL_BYTES 16 /* before the cells */

typedef struct {
    ulong source_pitch, target_pitch;
    uint across, side, count;
    word *kept;       /* what the square has no columns for: (across - side) x count super-elements */
    uint group;       /* elements of a super-element */
    uint group_words; /* the same in words */
    uint unit;        /* words of an element */
    uint parts;       /* of a panel */
    uint part;        /* columns of one */
    uint pitch;       /* words from one line of a part to the next on chip */
    uint group_magic, unit_magic; /* of group_words and unit (divide_small) */
} grouping;

#if SINGLE
#define UNIT(g) 1u
#else
#define UNIT(g) ((g)->unit)
#endif

/* Columns from `begin` to `end` of a panel; of those before `side` are in the square. */
typedef struct {
    uint panel;
    uint begin, middle, end;
} part;

FUNCTION part part_at(const grouping *g, uint turn)
{
    uint order = turn / g->parts;
    part p;
    p.panel = g->target_pitch <= g->source_pitch ? order : g->count - 1 - order;
    p.begin = min((turn - order * g->parts) * g->part, g->across);
    p.end = min(p.begin + g->part, g->across);
    p.middle = min(max(p.begin, g->side), p.end);
    return p;
}

FUNCTION void fetch_lines(word *cells, const word *from, const grouping *g, part p)
{
    for (uint line = 0; line < g->group; line++)
        for (uint x = threadIdx.x; x < (p.end - p.begin) * UNIT(g); x += THREADS)
            fetch(cells + line * g->pitch + x, from + ((size_t)line * g->across + p.begin) * UNIT(g) + x);
}

FUNCTION void store_lines(word *to, const word *cells, const grouping *g, part p)
{
    for (uint line = 0; line < g->group; line++)
#pragma unroll 4
        for (uint x = threadIdx.x; x < (p.end - p.begin) * UNIT(g); x += THREADS)
            to[((size_t)line * g->across + p.begin) * UNIT(g) + x] = cells[line * g->pitch + x];
}

/* Where a word of the super-elements of a part is on chip. */
FUNCTION uint cell_of(const grouping *g, uint x)
{
    uint col = divide_small(x, g->group_magic);
    uint inside = x - col * g->group_words;
#if SINGLE
    return inside * g->pitch + col;
#else
    uint line = divide_small(inside, g->unit_magic);
    return line * g->pitch + col * g->unit + inside - line * g->unit;
#endif
}

/* Super-elements side by side: those from `first` to `last` of a part, of which the first is at `from`. */
FUNCTION void fetch_groups(word *cells, const word *from, const grouping *g, uint first, uint last)
{
    for (uint x = first * g->group_words + threadIdx.x; x < last * g->group_words; x += THREADS)
        fetch(cells + cell_of(g, x), from + x);
}

FUNCTION void store_groups(word *to, const word *cells, const grouping *g, uint first, uint last)
{
#pragma unroll 4
    for (uint x = first * g->group_words + threadIdx.x; x < last * g->group_words; x += THREADS)
        to[x] = cells[cell_of(g, x)];
}

/* The super-elements of a column that the square does not have lie side by side, a panel's at its number. */
FUNCTION word *kept_at(const grouping *g, uint col, part p)
{
    long long number = (long long)(col - g->side) * g->count + p.panel;
    return g->kept + (number - (long long)(col - p.begin)) * g->group_words;
}

FUNCTION void fetch_part(word *cells, const word *data, const grouping *g, part p)
{
    const word *from = data + p.panel * g->source_pitch;
#if TALL
    fetch_lines(cells, from, g, p);
#else
    fetch_groups(cells, from + p.begin * g->group_words, g, 0, p.middle - p.begin);
    for (uint col = p.middle; col < p.end; col++)
        fetch_groups(cells, kept_at(g, col, p), g, col - p.begin, col - p.begin + 1);
#endif
}

FUNCTION void store_part(word *data, const word *cells, const grouping *g, part p)
{
    word *to = data + p.panel * g->target_pitch;
#if TALL
    store_groups(to + p.begin * g->group_words, cells, g, 0, p.middle - p.begin);
    for (uint col = p.middle; col < p.end; col++)
        store_groups(kept_at(g, col, p), cells, g, col - p.begin, col - p.begin + 1);
#else
    store_lines(to, cells, g, p);
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
              uint *flags, word *kept, ulong group, ulong unit, ulong parts, ulong part_columns, ulong pitch)
{
    STORAGE(storage_begin);
    uint *goal = (uint *)storage_begin;
    word *cells = storage_begin + GOAL_BYTES / WORD_BYTES;
    grouping g = {source_pitch, target_pitch, (uint)across, (uint)side, (uint)count, kept,
                  (uint)group, (uint)(group * unit), (uint)unit, (uint)parts, (uint)part_columns, (uint)pitch,
                  small_magic((uint)(group * unit)), small_magic((uint)unit)};
    ulong tall_words = (ulong)g.across * g.group_words;
    ulong wide_words = (ulong)g.side * g.group_words;
    uint turns = g.count * g.parts;
    if (blockIdx.x < turns)
        fetch_part(cells, data, &g, part_at(&g, blockIdx.x));
    for (uint turn = blockIdx.x; turn < turns; turn += gridDim.x) {
        part p = part_at(&g, turn);
        drain();
        __syncthreads();
        if (threadIdx.x == 0)
            *goal = raise_flag(flags + p.panel * g.parts + turn % g.parts);
        __syncthreads();
        uint first = first_overlapped(&g, p.panel, TALL ? tall_words : wide_words) * g.parts;
        uint last = last_overlapped(&g, p.panel, TALL ? wide_words : tall_words) * g.parts + g.parts - 1;
        for (uint other = first + threadIdx.x; other <= last; other += THREADS)
            await_flag(flags + other, *goal);
        __syncthreads();
        store_part(data, cells, &g, p);
        __syncthreads();
        if (turn + gridDim.x < turns)
            fetch_part(cells, data, &g, part_at(&g, turn + gridDim.x));
    }
}
