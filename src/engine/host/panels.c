/*
 * 010!: each block is transposed into a buffer that stays in the second-level cache and copied back
 * (Sung thesis, section 4.2, barrier synchronisation; the block is the tile, the cache is the
 * on-chip memory). Scratch: one block a thread, or as many small ones as make up a group.
 *
 * While a group is transposed its thread asks for the lines of the next one, lest memory wait for
 * arithmetic. Large blocks do without: what is asked for would push the buffer out of the cache.
 */
#include "engine/host/host.h"

#include <string.h>

enum {
    GRAIN_BYTES = 64 << 10, /* groups are handed out by the dozen */
    GROUP_BYTES = 8 << 10,
    PART_BYTES = 4 << 10, /* moved between two requests for lines */
    LEAST_PART = 16,
    LINE_BYTES = 64
};

static size_t block_bytes(const rs_transpose_task *task)
{
    return task->rows * task->cols * task->unit;
}

/* Matrices that lie one after the other are one run of blocks. */
static void join_matrices(rs_transpose_task *task)
{
    if (task->pitch != task->count * block_bytes(task))
        return;
    task->count *= task->outer;
    task->outer = 1;
}

restride_status rs_host_panels_prepare(rs_host_stage *stage, size_t scratch_limit)
{
    rs_transpose_task *task = &stage->task;
    join_matrices(task);
    size_t bytes = block_bytes(task);
    size_t blocks = task->outer * task->count;
    if (stage->threads > blocks)
        stage->threads = blocks;
    size_t group = GROUP_BYTES / bytes;
    group = group < task->count ? group : task->count;
    while (group > 1 && group * bytes > scratch_limit / stage->threads)
        group /= 2;
    stage->edge = group > 1 ? group : 1;
    const restride_engine *engine = stage->base.engine;
    stage->ahead = bytes <= engine->operations->traits(engine).chip_bytes / 2;
    rs_host_fit_threads(stage, 0, stage->edge * bytes, scratch_limit);
    return RESTRIDE_OK;
}

/* Neighbouring blocks of one matrix; none at the end. */
typedef struct {
    unsigned char *begin;
    size_t count;
} group;

/* The blocks that were handed out to one thread. */
typedef struct {
    const rs_host_run *run;
    rs_host_loop loop;
    size_t bytes; /* of a block */
    size_t next;
    size_t end;
} share;

static group next_group(share *s)
{
    const rs_host_stage *stage = s->run->stage;
    const rs_transpose_task *task = &stage->task;
    if (s->next >= s->end && !rs_host_loop_next(&s->loop, &s->next, &s->end))
        return (group){NULL, 0};
    size_t inside = s->next % task->count;
    size_t count = stage->edge;
    count = count < task->count - inside ? count : task->count - inside;
    count = count < s->end - s->next ? count : s->end - s->next;
    unsigned char *matrix = s->run->data + s->next / task->count * task->pitch;
    s->next += count;
    return (group){matrix + inside * s->bytes, count};
}

/* What has not been asked for of the next group. */
typedef struct {
    const unsigned char *next;
    const unsigned char *end;
} request;

static inline void ask(request *r, size_t bytes)
{
    const unsigned char *end = bytes < (size_t)(r->end - r->next) ? r->next + bytes : r->end;
    for (; r->next < end; r->next += LINE_BYTES)
        __builtin_prefetch(r->next, 0, 2);
}

/* How a block is cut into parts along its longer side, so that a slim one stays dense. */
typedef struct {
    const rs_host_tile *tile;
    size_t unit;
    size_t rows;
    size_t cols;
    bool tall;
    size_t along;
    size_t across;
    size_t step; /* elements along a part */
    size_t least;
} cut;

static cut cut_blocks(const rs_host_stage *stage)
{
    const rs_transpose_task *task = &stage->task;
    cut c = {.tile = &stage->tile,
             .unit = task->unit,
             .rows = task->rows,
             .cols = task->cols,
             .tall = task->rows > task->cols};
    c.along = c.tall ? c.rows : c.cols;
    c.across = c.tall ? c.cols : c.rows;
    c.least = stage->tile.edge > LEAST_PART ? stage->tile.edge : LEAST_PART;
    c.step = PART_BYTES / (c.across * c.unit) / c.least * c.least;
    c.step = c.step > c.least ? c.step : c.least;
    return c;
}

static void turn_block(const cut *c, const unsigned char *source, unsigned char *target,
                       request *asked)
{
    for (size_t k = 0; k < c->along;) {
        size_t length = c->along - k < c->step + c->least ? c->along - k : c->step;
        rs_host_tile_transpose(c->tile, source + k * (c->tall ? c->across : 1) * c->unit,
                               c->cols * c->unit, target + k * (c->tall ? 1 : c->across) * c->unit,
                               c->rows * c->unit, c->tall ? length : c->across,
                               c->tall ? c->across : length);
        ask(asked, length * c->across * c->unit);
        k += length;
    }
}

void rs_host_panels_work(void *context, const rs_host_member *member)
{
    const rs_host_run *run = context;
    const rs_host_stage *stage = run->stage;
    const cut c = cut_blocks(stage);
    share own = {.run = run, .bytes = block_bytes(&stage->task)};
    own.loop = rs_host_loop_begin(member, stage->task.outer * stage->task.count,
                                  GRAIN_BYTES / own.bytes + 1);
    unsigned char *buffer = run->scratch + member->index * stage->own_bytes;
    group g = next_group(&own);
    while (g.count != 0) {
        size_t bytes = g.count * own.bytes;
        group next = stage->ahead ? next_group(&own) : (group){g.begin, 0};
        request asked = {next.begin, next.begin + next.count * own.bytes};
        /* Copying first reads memory in order, for the prefetcher; the rest is in cache. */
        memcpy(buffer, g.begin, bytes);
        for (size_t k = 0; k < g.count; k++)
            turn_block(&c, buffer + k * own.bytes, g.begin + k * own.bytes, &asked);
        rs_host_done(run, bytes);
        g = stage->ahead ? next : next_group(&own);
    }
}
