/*
 * The choice among in-place transpositions of rows x cols matrices (Sung thesis, sections 4.1 and
 * 4.8.4; Sung 2014, section 5). Each method of the table proposes lists of stages, and the cheapest
 * list is taken (cost.h).
 *
 * The 2-stage methods take m of the rows or n of the columns together:
 *
 *     010!, 100!   rows/m blocks of m x cols, then super-elements of m elements
 *     100!, 010!   super-elements of n elements, then cols/n blocks of rows x n
 *
 * No factor has to exist: what m leaves over of the rows stays behind as a small matrix and is
 * joined at the end (pad); what n leaves over of the columns is split off first (unpad). That is a
 * third pass, so factors are preferred.
 */
#include "transpose/choose.h"
#include "transpose/cost.h"

#include <stdint.h>
#include <stdio.h>
#include <string.h>

enum { LIMIT_PARTS = 200, WORKER_BYTES = 4 << 20 };

size_t rs_choose_scratch_limit(size_t bytes, size_t workers)
{
    return bytes / LIMIT_PARTS + workers * WORKER_BYTES;
}

/* What the methods propose to; the cheapest proposal so far is in `best`. */
typedef struct {
    const rs_matrices *matrices;
    rs_engine_traits traits;
    size_t limit;
    const char *method; /* the one that proposes */
    rs_choice *best;
} search;

static rs_transpose_task task(const search *s, rs_transpose_method method)
{
    const rs_matrices *m = s->matrices;
    return (rs_transpose_task){.method = method,
                               .offset = m->offset,
                               .outer = m->batch,
                               .pitch = m->rows * m->cols * m->unit,
                               .count = 1,
                               .rows = m->rows,
                               .cols = m->cols,
                               .unit = m->unit};
}

static void add(rs_choice *choice, const rs_transpose_task *added)
{
    choice->tasks[choice->count++] = *added;
}

/* Takes a list of stages if it is the cheapest so far. */
static void propose(search *s, rs_choice *proposed)
{
    proposed->method = s->method;
    for (size_t i = 0; i < proposed->count; i++)
        proposed->cost += rs_cost_of_transpose(&proposed->tasks[i], &s->traits, s->limit);
    if (proposed->cost < s->best->cost)
        *s->best = *proposed;
}

static void propose_nothing(search *s)
{
    if (s->matrices->rows != 1 && s->matrices->cols != 1)
        return;
    rs_choice choice = {.why = "A single row and a single column are the same bytes."};
    propose(s, &choice);
}

static void propose_square(search *s)
{
    if (s->matrices->rows != s->matrices->cols)
        return;
    rs_choice choice = {.why = "Mirror tiles of a square change places."};
    rs_transpose_task only = task(s, RS_TRANSPOSE_SQUARE);
    add(&choice, &only);
    propose(s, &choice);
}

static void propose_direct(search *s)
{
    rs_choice choice = {0};
    rs_transpose_task only = task(s, RS_TRANSPOSE_CHAINS);
    add(&choice, &only);
    snprintf(choice.why, sizeof choice.why,
             "Elements of %zu bytes are long enough to move one by one.", only.unit);
    propose(s, &choice);
}

/* `part` of the `along` rows (or columns) in each block; `across` is the other side. */
typedef struct {
    bool by_rows;
    size_t along;
    size_t across;
    size_t part;
} cut;

static void propose_cut(search *s, const cut *c)
{
    const rs_matrices *m = s->matrices;
    size_t blocks = c->along / c->part;
    size_t rest = c->along % c->part;
    rs_transpose_task panels = task(s, RS_TRANSPOSE_PANELS);
    panels.count = blocks;
    panels.rows = c->by_rows ? c->part : m->rows;
    panels.cols = c->by_rows ? m->cols : c->part;
    rs_transpose_task chains = task(s, RS_TRANSPOSE_CHAINS);
    chains.rows = c->by_rows ? blocks : m->rows;
    chains.cols = c->by_rows ? m->cols : blocks;
    chains.unit = c->part * m->unit;
    rs_transpose_task tails = task(s, c->by_rows ? RS_TRANSPOSE_JOIN : RS_TRANSPOSE_SPLIT);
    tails.rows = c->across;
    tails.cols = blocks * c->part;
    tails.tail = rest;
    rs_choice choice = {0};
    if (rest != 0 && !c->by_rows)
        add(&choice, &tails);
    if (c->by_rows)
        add(&choice, &panels);
    if (blocks > 1)
        add(&choice, &chains);
    if (!c->by_rows)
        add(&choice, &panels);
    if (rest != 0 && c->by_rows)
        add(&choice, &tails);
    snprintf(choice.why, sizeof choice.why,
             "Blocks of %zu %s take %zu bytes (the chip holds %zu), super-elements have %zu bytes; "
             "%zu %s stay over.",
             c->part, c->by_rows ? "rows" : "columns", c->part * c->across * m->unit,
             s->traits.chip_bytes, chains.unit, rest, c->by_rows ? "rows" : "columns");
    propose(s, &choice);
}

/* Looks at all parts whose block stays near the chip, and at short ones in any case. */
static void propose_cuts(search *s, bool by_rows)
{
    const rs_matrices *m = s->matrices;
    cut c = {by_rows, by_rows ? m->rows : m->cols, by_rows ? m->cols : m->rows, 1};
    size_t slim = c.across * m->unit;
    size_t most = 4 * s->traits.chip_bytes / slim;
    size_t lines = 4 * s->traits.line_bytes / m->unit;
    most = most > lines ? most : lines;
    for (c.part = 1; c.part <= most && c.part <= c.along && c.part <= s->limit / slim; c.part++)
        propose_cut(s, &c);
}

static void propose_row_blocks(search *s)
{
    propose_cuts(s, true);
}

static void propose_column_blocks(search *s)
{
    propose_cuts(s, false);
}

static void propose_baseline(search *s, rs_transpose_method method, const char *why)
{
    rs_choice choice = {0};
    rs_transpose_task only = task(s, method);
    add(&choice, &only);
    snprintf(choice.why, sizeof choice.why, "%s", why);
    propose(s, &choice);
}

static void propose_pipt(search *s)
{
    propose_baseline(s, RS_TRANSPOSE_PIPT, "A baseline: each cycle of the elements has a thread.");
}

static void propose_pttwac(search *s)
{
    propose_baseline(s, RS_TRANSPOSE_PTTWAC,
                     "A baseline: threads share the cycles of the elements and claim positions.");
}

static const struct {
    const char *name;
    void (*propose)(search *s);
    bool baseline; /* proposes only when it is named */
} methods[] = {
    {"nothing", propose_nothing, false},
    {"square", propose_square, false},
    {"direct", propose_direct, false},
    {"2-stage 010! 100!", propose_row_blocks, false},
    {"2-stage 100! 010!", propose_column_blocks, false},
    {"P-IPT", propose_pipt, true},
    {"PTTWAC", propose_pttwac, true},
};
enum { METHOD_COUNT = sizeof methods / sizeof methods[0] };

restride_status rs_choose_transpose(rs_choice *choice, const rs_matrices *matrices,
                                    const rs_engine_traits *traits,
                                    const restride_plan_options *options)
{
    static const restride_plan_options none = {0};
    const restride_plan_options *o = options != NULL ? options : &none;
    const rs_matrices *m = matrices;
    size_t bytes = m->rows * m->cols * m->unit * m->batch;
    *choice = (rs_choice){.cost = RS_COST_IMPOSSIBLE};
    search s = {.matrices = m, .traits = *traits, .limit = o->scratch_bytes, .best = choice};
    if (s.limit == 0)
        s.limit = rs_choose_scratch_limit(bytes, traits->workers);
    if (o->run_bytes > s.traits.line_bytes)
        s.traits.line_bytes = o->run_bytes;
    bool known = false;
    for (int i = 0; i < METHOD_COUNT; i++) {
        if (o->method == NULL ? methods[i].baseline : strcmp(o->method, methods[i].name) != 0)
            continue;
        known = true;
        s.method = methods[i].name;
        methods[i].propose(&s);
    }
    if (!known)
        return rs_fail(RESTRIDE_INVALID_ARGUMENT, "There is no method \"%s\" of transposition.",
                       o->method);
    if (choice->cost >= RS_COST_IMPOSSIBLE)
        return rs_fail(RESTRIDE_UNSUPPORTED,
                       "No in-place transposition of %zu x %zu elements of %zu bytes keeps within "
                       "%zu bytes of scratch; grant more scratch memory, or use an engine with "
                       "more threads.",
                       m->rows, m->cols, m->unit, s.limit);
    size_t marks = 0;
    for (size_t i = 0; i < choice->count; i++)
        if (choice->tasks[i].method == RS_TRANSPOSE_CHAINS)
            marks += choice->tasks[i].rows * choice->tasks[i].cols / 8 + 8;
    choice->scratch_limit = s.limit > marks ? s.limit - marks : 0;
    return RESTRIDE_OK;
}
