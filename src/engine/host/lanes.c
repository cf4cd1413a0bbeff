/*
 * Chains and cycles in turns; see lanes.h. A lane asks for its next element one turn ahead, and an
 * element is written to the lines that the previous step of its lane has read.
 *
 * Hardware that sees lines read one after the other expects more of them: on elements of 3 to 16
 * lines it fetched about as many lines in vain as were needed, which halved the speed. So the
 * pieces of such elements are read in an order without runs. Longer ones move in slices of eight
 * lines, each asked for as a whole.
 */
#include "engine/host/lanes.h"

#include <string.h>

enum {
    LINE_BYTES = RS_HOST_LINE_BYTES,
    SLICE_BYTES = RS_HOST_SLICE_BYTES,
    MOST_LANES = 64,
    LEAST_LANES = 16,
    LANES_BYTES = 8192, /* of elements that are under way to a thread at once */
    WORD_BITS = 64,
    KEPT_BYTES = LEAST_LANES * (SLICE_BYTES + LINE_BYTES)
};

#define INLINE static inline __attribute__((always_inline))

/* Piece k * factor modulo their number comes as number k; each factor is prime to its number. */
static const unsigned char factors[] = {1, 1, 1, 2, 3, 3, 5, 4, 5, 5, 7, 6, 7, 7, 9, 8, 11};

static void cut_slice(rs_host_pieces *pieces, size_t width)
{
    enum { FACTORS = sizeof factors / sizeof factors[0] };
    pieces->width = width;
    pieces->count = width < LINE_BYTES ? 0 : (width - 1) / LINE_BYTES + 1;
    size_t factor = pieces->count < FACTORS ? factors[pieces->count] : 1;
    for (size_t k = 0; k < pieces->count; k++) {
        size_t piece = k * factor % pieces->count;
        /* The last one overlaps its neighbour rather than be shorter. */
        bool last = piece + 1 == pieces->count;
        pieces->begin[k] = (uint16_t)(last ? width - LINE_BYTES : piece * LINE_BYTES);
    }
}

void rs_host_field_cut(rs_host_field *field, const rs_host_cycles *cycles, size_t unit)
{
    size_t lanes = LANES_BYTES / unit;
    lanes = lanes < MOST_LANES ? lanes : MOST_LANES;
    *field = (rs_host_field){.cycles = cycles,
                             .unit = unit,
                             .slices = (unit - 1) / SLICE_BYTES + 1,
                             .lanes = lanes > LEAST_LANES ? lanes : LEAST_LANES};
    cut_slice(&field->full, SLICE_BYTES);
    cut_slice(&field->last, unit - (field->slices - 1) * SLICE_BYTES);
}

typedef struct {
    unsigned char *base; /* of the slice in the first element */
    const rs_host_pieces *pieces;
    size_t offset; /* of the slice */
    size_t target;
    size_t source;
} lane;

INLINE void copy_short(unsigned char *target, const unsigned char *source, size_t width)
{
    if (width >= 16) {
        for (size_t i = 0; i + 16 < width; i += 16)
            memcpy(target + i, source + i, 16);
        memcpy(target + width - 16, source + width - 16, 16);
    } else if (width >= 4) {
        for (size_t i = 0; i + 4 < width; i += 4)
            memcpy(target + i, source + i, 4);
        memcpy(target + width - 4, source + width - 4, 4);
    } else {
        for (size_t i = 0; i < width; i++)
            target[i] = source[i];
    }
}

/* `count` is that of the pieces where the compiler knows it, else 0. */
INLINE void copy(unsigned char *target, const unsigned char *source, const rs_host_pieces *pieces,
                 size_t count)
{
    size_t end = count != 0 ? count : pieces->count;
    for (size_t k = 0; k < end; k++)
        memcpy(target + pieces->begin[k], source + pieces->begin[k], LINE_BYTES);
    if (end == 0)
        copy_short(target, source, pieces->width);
}

/* Into the second level: the lines of all lanes are more than the first level can wait for. */
INLINE void prefetch(const unsigned char *bytes, size_t width)
{
    for (size_t i = 0; i < width; i += LINE_BYTES)
        __builtin_prefetch(bytes + i, 0, 2);
    __builtin_prefetch(bytes + width - 1, 0, 2);
}

INLINE void look_ahead(const rs_host_field *f, lane *l)
{
    l->source = rs_host_source(f->cycles, l->target);
    prefetch(l->base + l->source * f->unit, l->pieces->width);
}

INLINE void enter_slice(const rs_host_field *f, lane *l, size_t slice)
{
    l->offset = slice * SLICE_BYTES;
    l->base = f->matrix + l->offset;
    l->pieces = slice + 1 == f->slices ? &f->last : &f->full;
}

INLINE void step(const rs_host_field *f, lane *l, size_t count)
{
    copy(l->base + l->target * f->unit, l->base + l->source * f->unit, l->pieces, count);
    l->target = l->source;
    look_ahead(f, l);
}

static void note(const rs_host_field *f, size_t bytes)
{
    if (f->progress != NULL)
        atomic_fetch_add_explicit(&f->progress->done_bytes, bytes, memory_order_relaxed);
}

/* ---- chains ---- */

INLINE void begin_chain(const rs_host_field *f, lane *l, size_t item)
{
    enter_slice(f, l, item % f->slices);
    l->target = (item / f->slices + 1) * f->cycles->stride;
    look_ahead(f, l);
}

INLINE void move_chains(const rs_host_field *f, size_t item, size_t end, size_t pieces)
{
    lane lanes[MOST_LANES];
    size_t count = 0;
    while (count < f->lanes && item < end)
        begin_chain(f, &lanes[count++], item++);
    while (count > 0)
        for (size_t i = 0; i < count; i++) {
            lane *l = &lanes[i];
            size_t next_chain = rs_host_chain_at(f->cycles, l->source);
            if (next_chain == 0) {
                step(f, l, pieces);
                continue;
            }
            copy(l->base + l->target * f->unit, f->saved + (next_chain - 1) * f->unit + l->offset,
                 l->pieces, pieces);
            note(f, f->cycles->stride * l->pieces->width); /* the mean length of a chain */
            if (item < end)
                begin_chain(f, l, item++);
            else
                lanes[i--] = lanes[--count];
        }
}

/* ---- cycles ---- */

/* The marked positions, one after the other. */
typedef struct {
    size_t item;
    size_t end;
    size_t step;
    uint64_t bits;
} cursor;

static bool next_leader(const rs_host_field *f, cursor *c, size_t *leader, size_t *slice)
{
    while (c->bits == 0) {
        c->item += c->step;
        if (c->item >= c->end)
            return false;
        c->bits = f->cycles->leaders[c->item / f->slices];
    }
    *leader = c->item / f->slices * WORD_BITS + (size_t)__builtin_ctzll(c->bits);
    *slice = c->item % f->slices;
    c->bits &= c->bits - 1;
    return true;
}

/* A cycle is a chain that ends where it began; its first element is kept by its lane. */
typedef struct {
    lane lane;
    size_t leader;
    unsigned char *kept;
    bool entered; /* the first element is kept and the second one asked for */
} cycle_lane;

INLINE bool begin_cycle(const rs_host_field *f, cycle_lane *l, cursor *c)
{
    size_t slice;
    if (!next_leader(f, c, &l->leader, &slice))
        return false;
    enter_slice(f, &l->lane, slice);
    l->entered = false;
    prefetch(l->lane.base + l->leader * f->unit, l->lane.pieces->width);
    return true;
}

INLINE void enter_cycle(const rs_host_field *f, cycle_lane *l, size_t pieces)
{
    copy(l->kept, l->lane.base + l->leader * f->unit, l->lane.pieces, pieces);
    l->entered = true;
    l->lane.target = l->leader;
    look_ahead(f, &l->lane);
}

INLINE void move_cycles(const rs_host_field *f, size_t item, size_t step_items, size_t pieces)
{
    size_t end = f->cycles->leader_words * f->slices;
    if (item >= end)
        return;
    /* Kept elements lie a line further apart than they are long, lest all be in one cache set. */
    unsigned char kept[KEPT_BYTES];
    size_t distance = (f->slices > 1 ? SLICE_BYTES : f->unit) + LINE_BYTES;
    cycle_lane lanes[MOST_LANES];
    cursor c = {item, end, step_items, f->cycles->leaders[item / f->slices]};
    size_t count = 0;
    while (count < f->lanes && (count + 1) * distance <= KEPT_BYTES) {
        lanes[count].kept = kept + count * distance;
        if (!begin_cycle(f, &lanes[count], &c))
            break;
        count++;
    }
    while (count > 0)
        for (size_t i = 0; i < count; i++) {
            cycle_lane *l = &lanes[i];
            if (!l->entered) {
                enter_cycle(f, l, pieces);
            } else if (l->lane.source != l->leader) {
                step(f, &l->lane, pieces);
            } else {
                copy(l->lane.base + l->lane.target * f->unit, l->kept, l->lane.pieces, pieces);
                if (!begin_cycle(f, l, &c))
                    lanes[i--] = lanes[--count];
            }
        }
}

/* ---- versions ---- */

/* Elements of a few lines get loops of their own, whose copies are straight code. */
#define BY_PIECES(function)                                                                        \
    switch (f->slices == 1 ? f->last.count : 0) {                                                  \
    case 1:                                                                                        \
        (function)(f, item, next, 1);                                                              \
        break;                                                                                     \
    case 2:                                                                                        \
        (function)(f, item, next, 2);                                                              \
        break;                                                                                     \
    case 3:                                                                                        \
        (function)(f, item, next, 3);                                                              \
        break;                                                                                     \
    case 4:                                                                                        \
        (function)(f, item, next, 4);                                                              \
        break;                                                                                     \
    default:                                                                                       \
        (function)(f, item, next, 0);                                                              \
    }

#define DEFINE_LOOP(name, attribute, function)                                                     \
    attribute static void name(const rs_host_field *f, size_t item, size_t next)                   \
    {                                                                                              \
        BY_PIECES(function);                                                                       \
    }

DEFINE_LOOP(chains_portable, , move_chains)
DEFINE_LOOP(cycles_portable, , move_cycles)
#ifdef __x86_64__
#define AVX2 __attribute__((target("avx2")))
#define AVX512 __attribute__((target("avx512f,prefer-vector-width=512")))
DEFINE_LOOP(chains_avx2, AVX2, move_chains)
DEFINE_LOOP(cycles_avx2, AVX2, move_cycles)
DEFINE_LOOP(chains_avx512, AVX512, move_chains)
DEFINE_LOOP(cycles_avx512, AVX512, move_cycles)
#endif

rs_host_lanes rs_host_lanes_choose(void)
{
    rs_host_lanes chosen = {chains_portable, cycles_portable};
#ifdef __x86_64__
    if (__builtin_cpu_supports("avx2"))
        chosen = (rs_host_lanes){chains_avx2, cycles_avx2};
    if (__builtin_cpu_supports("avx512f"))
        chosen = (rs_host_lanes){chains_avx512, cycles_avx512};
#endif
    return chosen;
}
