/*
 * 100! and 0100! by planned chains: rows x cols elements of `unit` bytes, in place.
 *
 * In place of the claimed flags of PTTWAC (Sung thesis, section 4.4) the cycles are cut into chains
 * before the run (cycle.h). A thread moves several chains in turns and asks for the next element
 * of each one turn ahead, so that many cache misses are under way at once. An element is written
 * to the line that the previous step of its chain has read: each line moves to the processor and
 * back once.
 *
 * Scratch: one element in about 500, and two bits an element for the few cycles without a chain.
 * Long elements move in slices, which bounds the buffer of a thread and gives all threads work when
 * there are few elements.
 */
#include "engine/host/host.h"

#include <stdbool.h>
#include <string.h>

enum {
    LEAST_STRIDE = 509,
    LANES = 16, /* chains that a thread moves in turns */
    LINE_BYTES = 64,
    PREFETCH_BYTES = 512,
    SLICE_BYTES = 4096,
    WORD_BITS = 64
};

restride_status rs_host_chains_prepare(rs_host_stage *stage, size_t scratch_limit)
{
    const rs_transpose_task *task = &stage->task;
    /* Elements as small as one byte make the marks the larger part, so only they are asked for. */
    size_t stride = LEAST_STRIDE;
    size_t bytes = task->rows * task->cols * task->unit;
    if (bytes / stride > scratch_limit / 2)
        stride = bytes / (scratch_limit / 2 + 1) + 1;
    restride_status status = rs_host_cycles_create(&stage->cycles, task->rows, task->cols, stride);
    stage->scratch_bytes = stage->cycles.starts * task->unit;
    return status;
}

/* What the chains of one matrix and one thread have in common. */
typedef struct {
    const rs_host_cycles *cycles;
    unsigned char *matrix;
    const unsigned char *saved;
    size_t unit;
    size_t slices;
} field;

typedef struct {
    unsigned char *base; /* of the slice in the first element */
    size_t offset;       /* of the slice */
    size_t width;
    size_t target;
    size_t source;
} lane;

static size_t slice_width(size_t unit, size_t slice)
{
    size_t begin = slice * SLICE_BYTES;
    return unit - begin < SLICE_BYTES ? unit - begin : SLICE_BYTES;
}

static inline void copy(unsigned char *target, const unsigned char *source, size_t width)
{
    while (width >= LINE_BYTES) {
        memcpy(target, source, LINE_BYTES);
        target += LINE_BYTES;
        source += LINE_BYTES;
        width -= LINE_BYTES;
    }
    while (width >= 16) {
        memcpy(target, source, 16);
        target += 16;
        source += 16;
        width -= 16;
    }
    for (; width > 0; width--)
        *target++ = *source++;
}

/* Into the second level: the lines of all lanes are more than the first level can wait for. */
static inline void prefetch(const unsigned char *bytes, size_t width)
{
    size_t ahead = width < PREFETCH_BYTES ? width : PREFETCH_BYTES;
    for (size_t i = 0; i < ahead; i += LINE_BYTES)
        __builtin_prefetch(bytes + i, 0, 2);
    __builtin_prefetch(bytes + ahead - 1, 0, 2);
}

static inline void look_ahead(const field *f, lane *l)
{
    l->source = rs_host_source(f->cycles, l->target);
    prefetch(l->base + l->source * f->unit, l->width);
}

static void begin(const field *f, lane *l, size_t slice, size_t target)
{
    l->offset = slice * SLICE_BYTES;
    l->base = f->matrix + l->offset;
    l->width = slice_width(f->unit, slice);
    l->target = target;
    look_ahead(f, l);
}

static void begin_chain(const field *f, lane *l, size_t item)
{
    begin(f, l, item / f->cycles->starts, (item % f->cycles->starts + 1) * f->cycles->stride);
}

static inline void step(const field *f, lane *l)
{
    copy(l->base + l->target * f->unit, l->base + l->source * f->unit, l->width);
    l->target = l->source;
    look_ahead(f, l);
}

static void move_chains(const rs_host_run *run, const field *f, size_t item, size_t end)
{
    lane lanes[LANES];
    size_t count = 0;
    while (count < LANES && item < end)
        begin_chain(f, &lanes[count++], item++);
    while (count > 0)
        for (size_t i = 0; i < count; i++) {
            lane *l = &lanes[i];
            size_t next_chain = rs_host_chain_at(f->cycles, l->source);
            if (next_chain == 0) {
                step(f, l);
                continue;
            }
            copy(l->base + l->target * f->unit, f->saved + (next_chain - 1) * f->unit + l->offset,
                 l->width);
            rs_host_done(run, f->cycles->stride * l->width); /* the mean length of a chain */
            if (item < end)
                begin_chain(f, l, item++);
            else
                lanes[i--] = lanes[--count];
        }
}

/* The marked cycles, one after the other; an item is a word of marks and a slice. */
typedef struct {
    size_t item;
    size_t end;
    uint64_t bits;
} cursor;

static bool next_leader(const field *f, cursor *c, size_t *leader, size_t *slice)
{
    size_t words = f->cycles->leader_words;
    while (c->bits == 0) {
        if (++c->item >= c->end)
            return false;
        c->bits = f->cycles->leaders[c->item % words];
    }
    *leader = c->item % words * WORD_BITS + (size_t)__builtin_ctzll(c->bits);
    *slice = c->item / words;
    c->bits &= c->bits - 1;
    return true;
}

/* A cycle moves like a chain whose first element is kept here. */
typedef struct {
    lane lane;
    size_t leader;
    unsigned char kept[SLICE_BYTES];
} cycle_lane;

static bool begin_cycle(const field *f, cycle_lane *l, cursor *c)
{
    size_t slice;
    if (!next_leader(f, c, &l->leader, &slice))
        return false;
    begin(f, &l->lane, slice, l->leader);
    copy(l->kept, l->lane.base + l->leader * f->unit, l->lane.width);
    return true;
}

static void move_cycles(const field *f, size_t item, size_t end)
{
    if (item >= end)
        return;
    cycle_lane lanes[LANES];
    cursor c = {item, end, f->cycles->leaders[item % f->cycles->leader_words]};
    size_t order[LANES];
    size_t count = 0;
    while (count < LANES && begin_cycle(f, &lanes[count], &c)) {
        order[count] = count;
        count++;
    }
    while (count > 0)
        for (size_t i = 0; i < count; i++) {
            cycle_lane *l = &lanes[order[i]];
            if (l->lane.source != l->leader) {
                step(f, &l->lane);
                continue;
            }
            copy(l->lane.base + l->lane.target * f->unit, l->kept, l->lane.width);
            if (!begin_cycle(f, l, &c))
                order[i--] = order[--count];
        }
}

void rs_host_chains_work(void *context, const rs_host_member *member)
{
    const rs_host_run *run = context;
    const rs_host_stage *stage = run->stage;
    const rs_host_cycles *cycles = &stage->cycles;
    size_t unit = stage->task.unit;
    size_t slices = (unit - 1) / SLICE_BYTES + 1;
    size_t begin;
    size_t end;
    for (size_t o = 0; o < stage->task.outer; o++) {
        unsigned char *matrix = run->data + o * stage->task.pitch;
        const field f = {cycles, matrix, run->scratch, unit, slices};
        rs_host_team_share(member, cycles->starts, &begin, &end);
        for (size_t i = begin; i < end; i++)
            memcpy(run->scratch + i * unit, matrix + (i + 1) * cycles->stride * unit, unit);
        rs_host_team_wait(member);
        rs_host_team_share(member, cycles->starts * slices, &begin, &end);
        move_chains(run, &f, begin, end);
        rs_host_team_share(member, cycles->leader_words * slices, &begin, &end);
        move_cycles(&f, begin, end);
        rs_host_team_wait(member);
    }
}
