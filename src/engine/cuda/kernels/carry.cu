/*
 * 100! and 0100! as in chains.cu, by the bulk copy engine: a walker is one thread, which has slices
 * of 1 to 16 KB brought into shared memory and stored from there. So no word passes
 * through a register, and a walker's elements are under way while it waits.
 *
 * A walker has two halves of DEPTH slots each, and one slot for the element at the end of its
 * chain. While one half is stored, the other is on its way. What is stored at a place comes after
 * the copy from there has arrived: both are this walker's, or a gate lies between.
 *
 * The host defines SLOT_WORDS (16 bytes each; slices have as many or fewer), DEPTH, TEAM (threads,
 * of which the first is the walker), THREADS, BLOCKS and `position`, uint or ulong.
 */
#define WALKER_SLOTS (2 * DEPTH + 1)
#define WALKERS (THREADS / TEAM)

typedef struct {
    word *base; /* the slice of the first super-element */
    position rows, cols;
    uint unit_words;
    uint bytes; /* of the slice */
    word *slots;
    bell *bells; /* of the halves */
    uint turns;  /* a bit for each bell */
} walker;

FUNCTION position source_of(const walker *w, position target)
{
    position j = target / w->rows;
    return (target - j * w->rows) * w->cols + j;
}

FUNCTION word *at(const walker *w, position place)
{
    return w->base + (size_t)place * w->unit_words;
}

FUNCTION word *slot_of(const walker *w, uint half, uint k)
{
    return w->slots + (half * DEPTH + k) * SLOT_WORDS;
}

FUNCTION void hear(walker *w, uint half)
{
    await_bell(w->bells + half, w->turns >> half & 1);
    w->turns ^= 1u << half;
}

/* Has the element at `end` brought into the last slot. */
FUNCTION void hold(walker *w, position end)
{
    bulk_fetch(slot_of(w, 2, 0), at(w, end), w->bytes, w->bells);
    expect(w->bells, w->bytes);
    hear(w, 0);
}

/* Has the elements that follow `source` brought into a half, up to the end; returns how many. */
FUNCTION uint fetch_half(walker *w, uint half, position *source, position end)
{
    uint count = 0;
    for (; count < DEPTH; count++) {
        position next = source_of(w, *source);
        if (next == end)
            break;
        *source = next;
        bulk_fetch(slot_of(w, half, count), at(w, next), w->bytes, w->bells + half);
    }
    expect(w->bells + half, count * w->bytes);
    return count;
}

/* Moves elements along a cycle from `start` on; the last is held. */
FUNCTION void walk(walker *w, position start, position end)
{
    position target = start;
    position source = start;
    uint count = fetch_half(w, 0, &source, end);
    for (uint half = 0;; half ^= 1) {
        uint next_count = 0;
        if (count == DEPTH) {
            FREE_OF_STORES(0);
            next_count = fetch_half(w, half ^ 1, &source, end);
        }
        hear(w, half);
        for (uint k = 0; k < count; k++) {
            bulk_store(at(w, target), slot_of(w, half, k), w->bytes);
            target = source_of(w, target);
        }
        end_stores();
        if (count < DEPTH)
            break;
        count = next_count;
    }
    bulk_store(at(w, target), slot_of(w, 2, 0), w->bytes);
    end_stores();
    FREE_OF_STORES(0);
}

/* What the slices are: some words of every super-element of one matrix. */
typedef struct {
    word *data;
    ulong outer_words;
    uint each; /* of a matrix */
    uint slice_words;
} slicing;

FUNCTION void take_slice(walker *w, const slicing *s, ulong slice)
{
    ulong matrix = slice / s->each;
    uint offset = (uint)(slice - matrix * s->each) * s->slice_words;
    w->base = s->data + matrix * s->outer_words + offset;
    w->bytes = min(s->slice_words, w->unit_words - offset) * (uint)sizeof(word);
}

FUNCTION void walk_whole(walker *w, position start)
{
    hold(w, start);
    walk(w, start, start);
}

KERNEL carry(word *data, ulong outer_words, ulong slices /* of all matrices */, ulong slices_each,
             ulong slice_words, ulong slices_at_once, ulong rows, ulong cols, ulong unit_words,
             ulong *counter, const position *ends /* start and end of each chain */,
             ulong chain_count, const position *whole, ulong whole_count, const ulong *marks,
             ulong mark_words)
{
    STORAGE(cells);
    uint place = threadIdx.x / TEAM;
    bool walks = threadIdx.x % TEAM == 0;
    ulong number = (ulong)blockIdx.x * WALKERS + place;
    ulong walkers = (ulong)gridDim.x * WALKERS;
    slicing s = {data, outer_words, (uint)slices_each, (uint)slice_words};
    walker w = {data, (position)rows, (position)cols, (uint)unit_words};
    w.slots = cells + place * (WALKER_SLOTS * SLOT_WORDS);
    w.bells = (bell *)(cells + WALKERS * WALKER_SLOTS * SLOT_WORDS) + 2 * place;
    w.turns = 0;
    if (walks) {
        begin_bell(w.bells);
        begin_bell(w.bells + 1);
    }

    ulong chain = number / slices_at_once;
    ulong slice = number - chain * slices_at_once;
    for (ulong first = 0; chain_count != 0 && first < slices; first += slices_at_once) {
        bool active = walks && first + slice < slices && chain < chain_count;
        position start = 0;
        position end = 0;
        if (active) {
            take_slice(&w, &s, first + slice);
            start = ends[2 * chain];
            end = ends[2 * chain + 1];
            hold(&w, end);
        }
        gate(counter, gridDim.x);
        BULK_FENCE();
        if (active)
            walk(&w, start, end);
    }

    /* Walkers without a chain come first. */
    ulong busy = chain_count * slices_at_once;
    ulong turn = number >= busy ? number - busy : number + walkers - busy;
    for (ulong item = turn; walks && item < whole_count * slices; item += walkers) {
        ulong cycle = item / slices;
        take_slice(&w, &s, item - cycle * slices);
        walk_whole(&w, whole[cycle]);
    }
    for (ulong item = number; walks && item < mark_words * slices; item += walkers) {
        ulong group = item / slices;
        take_slice(&w, &s, item - group * slices);
        for (ulong bits = marks[group]; bits != 0; bits &= bits - 1)
            walk_whole(&w, (position)(group * 64 + __ffsll((long long)bits) - 1));
    }
    STORES_DONE();
}
