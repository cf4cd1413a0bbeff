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

#include <string.h>

enum {
    LEAST_STRIDE = 509,
    LANES = 16, /* chains that a thread moves in turns */
    LINE_BYTES = 64,
    PREFETCH_BYTES = 512,
    SLICE_BYTES = 8192,
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

static inline void prefetch(const unsigned char *bytes, size_t width)
{
    size_t ahead = width < PREFETCH_BYTES ? width : PREFETCH_BYTES;
    for (size_t i = 0; i < ahead; i += LINE_BYTES)
        __builtin_prefetch(bytes + i, 1);
    __builtin_prefetch(bytes + ahead - 1, 1);
}

static inline void look_ahead(const field *f, lane *l)
{
    l->source = rs_host_source(f->cycles, l->target);
    prefetch(l->base + l->source * f->unit, l->width);
}

static void begin_chain(const field *f, lane *l, size_t item)
{
    size_t slice = item / f->cycles->starts;
    l->offset = slice * SLICE_BYTES;
    l->base = f->matrix + l->offset;
    l->width = slice_width(f->unit, slice);
    l->target = (item % f->cycles->starts + 1) * f->cycles->stride;
    look_ahead(f, l);
}

static void move_chains(const field *f, size_t item, size_t end)
{
    lane lanes[LANES];
    size_t count = 0;
    while (count < LANES && item < end)
        begin_chain(f, &lanes[count++], item++);
    while (count > 0)
        for (size_t i = 0; i < count; i++) {
            lane *l = &lanes[i];
            unsigned char *target = l->base + l->target * f->unit;
            size_t next_chain = rs_host_chain_at(f->cycles, l->source);
            if (next_chain == 0) {
                copy(target, l->base + l->source * f->unit, l->width);
                l->target = l->source;
                look_ahead(f, l);
                continue;
            }
            copy(target, f->saved + (next_chain - 1) * f->unit + l->offset, l->width);
            if (item < end)
                begin_chain(f, l, item++);
            else
                lanes[i--] = lanes[--count];
        }
}

/* Moves one slice along a whole cycle. */
static void move_cycle(const field *f, size_t leader, size_t slice)
{
    unsigned char kept[SLICE_BYTES];
    size_t width = slice_width(f->unit, slice);
    unsigned char *base = f->matrix + slice * SLICE_BYTES;
    size_t target = leader;
    memcpy(kept, base + leader * f->unit, width);
    for (size_t source = rs_host_source(f->cycles, leader); source != leader;
         source = rs_host_source(f->cycles, source)) {
        copy(base + target * f->unit, base + source * f->unit, width);
        target = source;
    }
    memcpy(base + target * f->unit, kept, width);
}

static void move_cycles(const field *f, size_t begin, size_t end)
{
    for (size_t item = begin; item < end; item++) {
        size_t slice = item / f->cycles->leader_words;
        size_t word = item % f->cycles->leader_words;
        for (uint64_t bits = f->cycles->leaders[word]; bits != 0; bits &= bits - 1)
            move_cycle(f, word * WORD_BITS + (size_t)__builtin_ctzll(bits), slice);
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
        move_chains(&f, begin, end);
        rs_host_team_share(member, cycles->leader_words * slices, &begin, &end);
        move_cycles(&f, begin, end);
        rs_host_team_wait(member);
    }
}
