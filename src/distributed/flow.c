/*
 * Order of the excess: see flow.h. Its graph has an edge from p to q where p has more for q than q
 * for p. It is taken apart into paths that end at a process from which no edge leads away, and
 * cycles. Each of them empties at least one edge.
 *
 * Paths begin at the processes in turn, and each process serves its edges in turn, from its own
 * number on, so that neighbours in the list have little in common and run beside each other.
 */
#include "distributed/flow.h"
#include "base/status.h"

#include <stdlib.h>
#include <string.h>

typedef struct {
    size_t from;
    size_t to;
    size_t left; /* bytes */
} edge;

typedef struct {
    size_t size;
    size_t edge_count;
    edge *edges;       /* by `from`, then in turn by `to` */
    size_t *out_begin; /* of each process in `edges`: size + 1 */
    size_t *out_at;    /* before these nothing is left */
    size_t *path;      /* edges: at most size */
    size_t path_count;
    bool *on_path; /* processes */
    size_t rank;
    rs_flow_step *steps;
    size_t step_count;
} flow;

static size_t excess(const rs_counts *counts, size_t p, size_t q)
{
    const size_t there = rs_counts_bytes(counts, p, q);
    const size_t back = rs_counts_bytes(counts, q, p);
    return there > back ? there - back : 0;
}

/* Lists the edges; with NULL they are only counted. */
static size_t list_edges(const rs_counts *counts, size_t size, flow *f)
{
    size_t count = 0;
    for (size_t p = 0; p < size; p++) {
        if (f != NULL)
            f->out_begin[p] = count;
        for (size_t k = 1; k < size; k++) {
            const size_t q = (p + k) % size;
            const size_t bytes = excess(counts, p, q);
            if (bytes == 0)
                continue;
            if (f != NULL)
                f->edges[count] = (edge){p, q, bytes};
            count++;
        }
    }
    if (f != NULL)
        f->out_begin[size] = count;
    return count;
}

static restride_status begin_flow(flow *f, const rs_counts *counts)
{
    f->edges = calloc(f->edge_count, sizeof *f->edges);
    f->out_begin = calloc(f->size + 1, sizeof *f->out_begin);
    f->out_at = calloc(f->size, sizeof *f->out_at);
    f->path = calloc(f->size + 1, sizeof *f->path);
    f->on_path = calloc(f->size, sizeof *f->on_path);
    f->steps = calloc(f->edge_count, sizeof *f->steps);
    if (f->edges == NULL || f->out_begin == NULL || f->out_at == NULL || f->path == NULL ||
        f->on_path == NULL || f->steps == NULL)
        return rs_fail_memory("the order of messages");
    list_edges(counts, f->size, f);
    memcpy(f->out_at, f->out_begin, f->size * sizeof *f->out_at);
    return RESTRIDE_OK;
}

static void end_flow(flow *f)
{
    free(f->edges);
    free(f->out_begin);
    free(f->out_at);
    free(f->path);
    free(f->on_path);
}

/* An edge away from a process that still has bytes, or the number of all edges. */
static size_t edge_out(const flow *f, size_t p)
{
    size_t *e = &f->out_at[p];
    while (*e < f->out_begin[p + 1] && f->edges[*e].left == 0)
        ++*e;
    return *e < f->out_begin[p + 1] ? *e : f->edge_count;
}

/* Follows edges from a process until none leads away; or finds the cycle that the way comes back
 * to. */
static void find_path(flow *f, size_t p)
{
    memset(f->on_path, 0, f->size * sizeof *f->on_path);
    f->path_count = 0;
    for (size_t e; (e = edge_out(f, p)) != f->edge_count; p = f->edges[e].to) {
        f->path[f->path_count++] = e;
        f->on_path[p] = true;
        if (!f->on_path[f->edges[e].to])
            continue;
        size_t first = 0;
        while (f->edges[f->path[first]].from != f->edges[e].to)
            first++;
        f->path_count -= first;
        memmove(f->path, f->path + first, f->path_count * sizeof *f->path);
        return;
    }
}

/* Takes what all edges of the path have, and notes the own step. */
static void send_along(flow *f)
{
    size_t bytes = f->edges[f->path[0]].left;
    for (size_t i = 1; i < f->path_count; i++)
        if (f->edges[f->path[i]].left < bytes)
            bytes = f->edges[f->path[i]].left;
    rs_flow_step step = {-1, -1, bytes};
    for (size_t i = 0; i < f->path_count; i++) {
        edge *e = &f->edges[f->path[i]];
        e->left -= bytes;
        if (e->from == f->rank)
            step.to = (int)e->to;
        if (e->to == f->rank)
            step.from = (int)e->from;
    }
    if (step.to >= 0 || step.from >= 0)
        f->steps[f->step_count++] = step;
}

/* Where the next path begins; the number of processes when all edges are empty. */
static size_t find_start(const flow *f, size_t turn)
{
    for (size_t k = 0; k < f->size; k++)
        if (edge_out(f, (turn + k) % f->size) != f->edge_count)
            return (turn + k) % f->size;
    return f->size;
}

restride_status rs_flow_plan(const rs_counts *counts, size_t size, size_t rank,
                             rs_flow_step **steps, size_t *count)
{
    flow f = {.size = size, .rank = rank};
    *steps = NULL;
    *count = 0;
    f.edge_count = list_edges(counts, size, NULL);
    if (f.edge_count == 0)
        return RESTRIDE_OK;
    restride_status status = begin_flow(&f, counts);
    for (size_t start, turn = 0; status == RESTRIDE_OK && (start = find_start(&f, turn)) != size;
         turn = start + 1) {
        find_path(&f, start);
        send_along(&f);
    }
    end_flow(&f);
    *steps = f.steps;
    *count = f.step_count;
    return status;
}
