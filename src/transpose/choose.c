/*
 * The choice among in-place transpositions of rows x cols matrices (Sung thesis, sections 4.1 and
 * 4.8.4; Sung 2014, section 5). The candidates, with m of the rows or n of the columns taken
 * together:
 *
 *     square       one pass, when rows equal cols
 *     100!         one pass, when an element is a line or longer
 *     010!, 100!   rows/m blocks of m x cols, then super-elements of m elements
 *     100!, 010!   super-elements of n elements, then cols/n blocks of rows x n
 *
 * No factor has to exist: what m leaves over of the rows stays behind as a small matrix and is
 * joined at the end (pad); what n leaves over of the columns is split off first (unpad). That is a
 * third pass, so factors are preferred. The cost is a number of passes, each weighted by the lines
 * it touches, by whether its block fits on chip and by how many workers have room.
 */
#include "transpose/choose.h"

#include <stdint.h>
#include <stdio.h>

enum { LIMIT_PARTS = 200, WORKER_BYTES = 4 << 20, LARGEST_SQUARE_UNIT = 256 };

size_t rs_choose_scratch_limit(size_t bytes, size_t workers)
{
    return bytes / LIMIT_PARTS + workers * WORKER_BYTES;
}

typedef struct {
    const rs_matrices *matrices;
    const rs_engine_traits *traits;
    size_t limit;
} problem;

/* Super-elements that do not begin at a line touch one more, and each is a jump. The weights here
 * and below were fitted to measurements on an AMD EPYC (docs/performance.md). */
static double chains_cost(const problem *p, size_t unit)
{
    double line = (double)p->traits->line_bytes;
    double lines = (double)((unit - 1) / p->traits->line_bytes + 1);
    if (unit % p->traits->line_bytes != 0)
        lines += 1.25;
    return lines * line / (double)unit + 1.5 * line / (double)unit;
}

/* Blocks beyond the chip go through memory twice; without room for all workers some are idle. */
static double panels_cost(const problem *p, size_t block_bytes, size_t blocks)
{
    double cost = 1;
    if (block_bytes > 2 * p->traits->chip_bytes)
        cost = 2;
    else if (block_bytes > p->traits->chip_bytes)
        cost = 1.55;
    size_t active = p->limit / block_bytes;
    active = active < blocks ? active : blocks;
    return active < p->traits->workers ? cost * (double)p->traits->workers / (double)active : cost;
}

/* The marks of the cycles take two bits a super-element while the plan is made. */
static bool marks_fit(const problem *p, size_t elements)
{
    return elements / 4 <= p->limit / 2;
}

static rs_transpose_task task(const problem *p, rs_transpose_method method)
{
    const rs_matrices *m = p->matrices;
    return (rs_transpose_task){.method = method,
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

/* `part` of the `along` rows (or columns) in each block; `across` is the other side. */
typedef struct {
    bool by_rows;
    size_t along;
    size_t across;
    size_t part;
    double cost;
} cut;

static double cut_cost(const problem *p, const cut *c)
{
    const rs_matrices *m = p->matrices;
    size_t block_bytes = c->part * c->across * m->unit;
    size_t blocks = c->along / c->part;
    bool rest = c->along % c->part != 0;
    if (block_bytes > p->limit / (rest ? 2 : 1))
        return 1e30;
    double cost = panels_cost(p, block_bytes, blocks * m->batch);
    if (blocks > 1) {
        if (!marks_fit(p, blocks * c->across))
            return 1e30;
        cost += chains_cost(p, c->part * m->unit);
    }
    return rest ? cost + 1.2 : cost;
}

static void write_cut(rs_choice *choice, const problem *p, const cut *c)
{
    const rs_matrices *m = p->matrices;
    size_t blocks = c->along / c->part;
    size_t rest = c->along % c->part;
    rs_transpose_task panels = task(p, RS_TRANSPOSE_PANELS);
    panels.count = blocks;
    panels.rows = c->by_rows ? c->part : m->rows;
    panels.cols = c->by_rows ? m->cols : c->part;
    rs_transpose_task chains = task(p, RS_TRANSPOSE_CHAINS);
    chains.rows = c->by_rows ? blocks : m->rows;
    chains.cols = c->by_rows ? m->cols : blocks;
    chains.unit = c->part * m->unit;
    rs_transpose_task tails = task(p, c->by_rows ? RS_TRANSPOSE_JOIN : RS_TRANSPOSE_SPLIT);
    tails.rows = c->across;
    tails.cols = blocks * c->part;
    tails.tail = rest;
    if (rest != 0 && !c->by_rows)
        add(choice, &tails);
    if (c->by_rows)
        add(choice, &panels);
    if (blocks > 1)
        add(choice, &chains);
    if (!c->by_rows)
        add(choice, &panels);
    if (rest != 0 && c->by_rows)
        add(choice, &tails);
    snprintf(choice->why, sizeof choice->why,
             "Blocks of %zu %s take %zu bytes (the chip holds %zu), super-elements have %zu bytes; "
             "%zu %s stay over.",
             c->part, c->by_rows ? "rows" : "columns", c->part * c->across * m->unit,
             p->traits->chip_bytes, chains.unit, rest, c->by_rows ? "rows" : "columns");
}

/* Looks at all parts whose block stays near the chip, and at short ones in any case. */
static void search_cuts(const problem *p, bool by_rows, cut *best)
{
    const rs_matrices *m = p->matrices;
    cut c = {by_rows, by_rows ? m->rows : m->cols, by_rows ? m->cols : m->rows, 1, 0};
    size_t slim = c.across * m->unit;
    size_t most = 4 * p->traits->chip_bytes / slim;
    size_t lines = 4 * p->traits->line_bytes / m->unit;
    most = most > lines ? most : lines;
    for (c.part = 1; c.part <= most && c.part <= c.along && c.part <= p->limit / slim; c.part++) {
        c.cost = cut_cost(p, &c);
        if (c.cost < best->cost)
            *best = c;
    }
}

restride_status rs_choose_transpose(rs_choice *choice, const rs_matrices *matrices,
                                    const rs_engine_traits *traits)
{
    const rs_matrices *m = matrices;
    size_t bytes = m->rows * m->cols * m->unit * m->batch;
    problem p = {m, traits, rs_choose_scratch_limit(bytes, traits->workers)};
    *choice = (rs_choice){.scratch_limit = p.limit, .cost = 1e30};
    if (m->rows == 1 || m->cols == 1) {
        choice->cost = 0;
        snprintf(choice->why, sizeof choice->why,
                 "A single row and a single column are the same bytes.");
        return RESTRIDE_OK;
    }
    cut best = {.cost = 1e30};
    search_cuts(&p, true, &best);
    search_cuts(&p, false, &best);
    double square = m->rows == m->cols && m->unit <= LARGEST_SQUARE_UNIT ? 1.1 : 1e30;
    double direct = marks_fit(&p, m->rows * m->cols) ? chains_cost(&p, m->unit) : 1e30;
    if (square <= best.cost && square <= direct) {
        rs_transpose_task only = task(&p, RS_TRANSPOSE_SQUARE);
        add(choice, &only);
        choice->cost = square;
        snprintf(choice->why, sizeof choice->why, "Mirror tiles of a square change places.");
    } else if (direct <= best.cost && direct < 1e30) {
        rs_transpose_task only = task(&p, RS_TRANSPOSE_CHAINS);
        add(choice, &only);
        choice->cost = direct;
        snprintf(choice->why, sizeof choice->why,
                 "Elements of %zu bytes are long enough to move one by one.", m->unit);
    } else if (best.cost < 1e30) {
        write_cut(choice, &p, &best);
        choice->cost = best.cost;
    } else {
        return rs_fail(RESTRIDE_UNSUPPORTED,
                       "No in-place transposition of %zu x %zu elements of %zu bytes keeps within "
                       "%zu bytes of scratch; use an engine with more threads.",
                       m->rows, m->cols, m->unit, p.limit);
    }
    size_t marks = 0;
    for (size_t i = 0; i < choice->count; i++)
        if (choice->tasks[i].method == RS_TRANSPOSE_CHAINS)
            marks += choice->tasks[i].rows * choice->tasks[i].cols / 8 + 8;
    choice->scratch_limit = p.limit > marks ? p.limit - marks : 0;
    return RESTRIDE_OK;
}
