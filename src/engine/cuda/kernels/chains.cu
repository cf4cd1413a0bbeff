/*
 * 100! and 0100!: rows x cols super-elements move along the cycles of the permutation, without
 * flags and without scratch memory.
 *
 * Position q = j * rows + i takes what was at i * cols + j. When the plan is made, long cycles are
 * cut into chains of about equal length, one a walker (LANES threads that move a slice of one
 * super-element a step). A walker first reads the element at the end of its chain into registers;
 * behind the gate, where all have read, it moves its chain. The addresses do not depend on the
 * data, so DEPTH elements are under way at once. A cycle that is not cut moves like a chain that
 * ends where it starts: `whole` lists them, the longest first, and those of a few elements have a
 * bit in `marks`.
 *
 * The host defines LANES, DEPTH, THREADS, BLOCKS and `position`, uint or ulong.
 */
typedef struct {
    word *base; /* this lane's word of the first super-element */
    position rows, cols;
    uint unit_words;
} field;

FUNCTION position source_of(const field *f, position target)
{
    position j = target / f->rows;
    return (target - j * f->rows) * f->cols + j;
}

FUNCTION word *at(const field *f, position place)
{
    return f->base + (size_t)place * f->unit_words;
}

/* Moves elements along a cycle from `start` on; the last, at `end`, is in `held`. */
FUNCTION void walk(const field *f, position start, position end, word held)
{
    position target = start;
    for (;;) {
        position sources[DEPTH];
        word values[DEPTH];
        position source = target;
        bool ended = false;
#pragma unroll
        for (int k = 0; k < DEPTH; k++) {
            source = ended ? source : source_of(f, source);
            ended = ended || source == end;
            sources[k] = source;
            if (!ended)
                values[k] = *at(f, source);
        }
#pragma unroll
        for (int k = 0; k < DEPTH; k++) {
            if (sources[k] == end) {
                *at(f, target) = held;
                return;
            }
            *at(f, target) = values[k];
            target = sources[k];
        }
    }
}

/* What the slices are: some words of every super-element of one matrix. */
typedef struct {
    word *data;
    ulong outer_words;
    uint each; /* of a matrix */
    uint words;
} slicing;

/* Whether this thread has a word of the slice. */
FUNCTION bool take_slice(field *f, const slicing *s, ulong slice)
{
    ulong matrix = slice / s->each;
    uint lane = threadIdx.x % LANES;
    uint offset = (uint)(slice - matrix * s->each) * s->words + lane;
    f->base = s->data + matrix * s->outer_words + offset;
    return lane < s->words && offset < f->unit_words;
}

KERNEL chains(word *data, ulong outer_words, ulong slices /* of all matrices */, ulong slices_each,
              ulong slice_words, ulong slices_at_once, ulong rows, ulong cols, ulong unit_words,
              ulong *counter, const position *ends /* start and end of each chain */,
              ulong chain_count, const position *whole, ulong whole_count, const ulong *marks,
              ulong mark_words)
{
    ulong walker = blockIdx.x * (THREADS / LANES) + threadIdx.x / LANES;
    ulong walkers = gridDim.x * (THREADS / LANES);
    slicing s = {data, outer_words, (uint)slices_each, (uint)slice_words};
    field f = {data, (position)rows, (position)cols, (uint)unit_words};

    ulong chain = walker / slices_at_once;
    ulong slice = walker - chain * slices_at_once;
    for (ulong first = 0; chain_count != 0 && first < slices; first += slices_at_once) {
        bool active =
            take_slice(&f, &s, first + slice) && first + slice < slices && chain < chain_count;
        position start = 0;
        position end = 0;
        word held;
        if (active) {
            start = ends[2 * chain];
            end = ends[2 * chain + 1];
            held = *at(&f, end);
        }
        gate(counter, gridDim.x);
        if (active)
            walk(&f, start, end, held);
    }

    /* Walkers without a chain come first. */
    ulong busy = chain_count * slices_at_once;
    ulong turn = walker >= busy ? walker - busy : walker + walkers - busy;
    for (ulong item = turn; item < whole_count * slices; item += walkers) {
        ulong cycle = item / slices;
        position start = whole[cycle];
        if (take_slice(&f, &s, item - cycle * slices))
            walk(&f, start, start, *at(&f, start));
    }
    for (ulong item = walker; item < mark_words * slices; item += walkers) {
        ulong group = item / slices;
        ulong bits = marks[group];
        if (take_slice(&f, &s, item - group * slices))
            for (; bits != 0; bits &= bits - 1) {
                position start = (position)(group * 64 + __ffsll((long long)bits) - 1);
                walk(&f, start, start, *at(&f, start));
            }
    }
}
