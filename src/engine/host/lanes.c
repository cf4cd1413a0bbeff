/*
 * Chains and cycles in turns; see lanes.h. A lane asks for its next element one turn ahead, and an
 * element is written to the lines that the previous step of its lane has read.
 *
 * Hardware that sees lines read one after the other expects more of them: on elements of 3 to 16
 * lines it fetched about as many lines in vain as were needed, which halved the speed. So the
 * pieces of such elements are read in an order without runs. Longer ones are asked for as a whole,
 * a slice at a time on few lanes: what is under way must fit into the first level.
 *
 * When both sides are odd, a family of cycles has positions that are all even or all odd. Elements
 * of one line at even positions alone are read three times as slowly as others, for hardware reads
 * every second line in vain. So a thread takes its chains from several parts of their order at
 * once, and its cycles from both ends.
 */
#include "engine/host/lanes.h"
#include "engine/host/simd.h"

#include <string.h>

enum {
    LINE_BYTES = RS_HOST_LINE_BYTES,
    SLICE_BYTES = RS_HOST_SLICE_BYTES,
    MOST_LANES = 64,
    LEAST_LANES = 4,
    LANES_BYTES = 8192, /* of elements that are under way to a thread at once */
    PARTS = 4,          /* of the chains, that a thread works on at once */
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
    size_t stop; /* the source that is saved, or kept */
    const unsigned char *last;
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

/* Chains one after the other, each slice by slice. */
typedef struct {
    rs_host_chain_cursor chain;
    size_t slice;
    size_t left;
} chain_items;

static void begin_items(chain_items *items, const rs_host_field *f, size_t part, size_t parts)
{
    size_t all = f->cycles->chains * f->slices;
    size_t first = all / parts * part + (part < all % parts ? part : all % parts);
    items->left = all / parts + (part < all % parts ? 1 : 0);
    items->slice = first % f->slices;
    if (items->left > 0)
        rs_host_chain_begin(&items->chain, f->cycles, first / f->slices);
}

static void next_item(chain_items *items, const rs_host_field *f)
{
    if (--items->left > 0 && ++items->slice == f->slices) {
        items->slice = 0;
        rs_host_chain_next(&items->chain);
    }
}

/* The part that a lane turns to first: slices of long elements stay together. */
INLINE size_t turn_of(const rs_host_field *f, size_t number)
{
    return f->slices == 1 ? number : 0;
}

/* Begins the next chain of a part; false when none is left in any. */
INLINE bool begin_chain(const rs_host_field *f, lane *l, chain_items parts[PARTS], size_t turn)
{
    chain_items *items = &parts[turn % PARTS];
    for (size_t i = 1; items->left == 0 && i < PARTS; i++)
        items = &parts[(turn + i) % PARTS];
    if (items->left == 0)
        return false;
    enter_slice(f, l, items->slice);
    l->target = items->chain.start;
    l->stop = items->chain.stop;
    l->last = f->saved + items->chain.following * f->unit + l->offset;
    look_ahead(f, l);
    next_item(items, f);
    return true;
}

INLINE void move_chains(const rs_host_field *f, size_t index, size_t members, size_t pieces)
{
    lane lanes[MOST_LANES];
    size_t count = 0;
    chain_items parts[PARTS];
    if (f->cycles->chains == 0)
        return;
    for (size_t part = 0; part < PARTS; part++)
        begin_items(&parts[part], f, part * members + index, PARTS * members);
    while (count < f->lanes && begin_chain(f, &lanes[count], parts, turn_of(f, count)))
        count++;
    while (count > 0)
        for (size_t i = 0; i < count; i++) {
            lane *l = &lanes[i];
            if (l->source != l->stop) {
                step(f, l, pieces);
                continue;
            }
            copy(l->base + l->target * f->unit, l->last, l->pieces, pieces);
            note(f, f->cycles->length * l->pieces->width);
            if (!begin_chain(f, l, parts, turn_of(f, i)))
                lanes[i--] = lanes[--count];
        }
}

/* ---- cycles ---- */

enum { ENDS = 2 };

/* A cycle is a chain that ends where it began; its first element is kept by its lane. */
typedef struct {
    lane lane;
    unsigned char *kept;
    bool entered; /* the first element is kept and the second one asked for */
} cycle_lane;

INLINE bool begin_cycle(const rs_host_field *f, cycle_lane *l, rs_host_whole_cursor ends[ENDS],
                        size_t turn)
{
    rs_host_whole_cursor *cycle = &ends[turn % ENDS];
    if (!rs_host_whole_next(cycle)) {
        cycle = &ends[(turn + 1) % ENDS];
        if (!rs_host_whole_next(cycle))
            return false;
    }
    enter_slice(f, &l->lane, cycle->slice);
    l->lane.target = cycle->leader;
    l->lane.stop = cycle->leader;
    l->entered = false;
    prefetch(l->lane.base + l->lane.target * f->unit, l->lane.pieces->width);
    return true;
}

INLINE void enter_cycle(const rs_host_field *f, cycle_lane *l, size_t pieces)
{
    copy(l->kept, l->lane.base + l->lane.target * f->unit, l->lane.pieces, pieces);
    l->entered = true;
    look_ahead(f, &l->lane);
}

INLINE void move_cycles(const rs_host_field *f, size_t index, size_t members, size_t pieces)
{
    /* Kept elements lie a line further apart than they are long, lest all be in one cache set. */
    unsigned char kept[KEPT_BYTES];
    size_t distance = (f->slices > 1 ? SLICE_BYTES : f->unit) + LINE_BYTES;
    cycle_lane lanes[MOST_LANES];
    rs_host_whole_cursor ends[ENDS];
    for (size_t end = 0; end < ENDS; end++)
        rs_host_whole_begin(&ends[end], f->cycles, f->slices, ENDS * index + end, ENDS * members,
                            end != 0);
    size_t count = 0;
    while (count < f->lanes && (count + 1) * distance <= KEPT_BYTES) {
        lanes[count].kept = kept + count * distance;
        if (!begin_cycle(f, &lanes[count], ends, turn_of(f, count)))
            break;
        count++;
    }
    while (count > 0)
        for (size_t i = 0; i < count; i++) {
            cycle_lane *l = &lanes[i];
            if (!l->entered) {
                enter_cycle(f, l, pieces);
            } else if (l->lane.source != l->lane.stop) {
                step(f, &l->lane, pieces);
            } else {
                copy(l->lane.base + l->lane.target * f->unit, l->kept, l->lane.pieces, pieces);
                if (!begin_cycle(f, l, ends, turn_of(f, i)))
                    lanes[i--] = lanes[--count];
            }
        }
}

/* ---- versions ---- */

/* Elements of a few lines get loops of their own, whose copies are straight code. */
#define BY_PIECES(function)                                                                        \
    switch (f->slices == 1 ? f->last.count : 0) {                                                  \
    case 1:                                                                                        \
        (function)(f, index, members, 1);                                                          \
        break;                                                                                     \
    case 2:                                                                                        \
        (function)(f, index, members, 2);                                                          \
        break;                                                                                     \
    case 3:                                                                                        \
        (function)(f, index, members, 3);                                                          \
        break;                                                                                     \
    case 4:                                                                                        \
        (function)(f, index, members, 4);                                                          \
        break;                                                                                     \
    default:                                                                                       \
        (function)(f, index, members, 0);                                                          \
    }

#define DEFINE_LOOP(name, attribute, function)                                                     \
    attribute static void name(const rs_host_field *f, size_t index, size_t members)               \
    {                                                                                              \
        BY_PIECES(function);                                                                       \
    }

DEFINE_LOOP(chains_portable, , move_chains)
DEFINE_LOOP(cycles_portable, , move_cycles)
#ifdef __x86_64__
#define AVX512 RS_AVX512("avx512f")
DEFINE_LOOP(chains_avx2, RS_AVX2, move_chains)
DEFINE_LOOP(cycles_avx2, RS_AVX2, move_cycles)
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
