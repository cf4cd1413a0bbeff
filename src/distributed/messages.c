/*
 * Messages of a redistribution: see redistribution.h and, for what flows one way, flow.h.
 */
#include "base/arithmetic.h"
#include "base/status.h"
#include "distributed/flow.h"
#include "distributed/redistribution.h"
#include "distributed/regroup.h"

#include <stdlib.h>

enum { NOBODY = -1 };

/* What this process has for another one, or will have of it. */
typedef struct {
    size_t key; /* the group's place without tiles */
    size_t process;
    size_t bytes;
    size_t swapped; /* of them: exchanged place for place, or staying */
    size_t at;      /* where these lie during the exchange */
} peer;

typedef struct {
    size_t count;
    peer *peers;
} peer_list;

static int compare_peers(const void *a, const void *b)
{
    const peer *x = a;
    const peer *y = b;
    return x->key < y->key ? -1 : x->key > y->key;
}

/* All with whom process `own` has bytes in common, in the order of the groups of regroup.h. */
static restride_status list_peers(const rs_redistribution_task *task, const int order[], size_t own,
                                  int side, peer_list *list)
{
    const rs_counts *counts = &task->counts;
    const restride_layout *other = task->layouts[1 - side];
    const size_t processes = counts->processes[1 - side];
    list->peers = calloc(processes, sizeof *list->peers);
    if (list->peers == NULL)
        return rs_fail_memory("the messages of a process");
    for (size_t q = 0; q < processes; q++) {
        const size_t there = rs_counts_bytes(counts, own, q);
        const size_t back = rs_counts_bytes(counts, q, own);
        peer *p = &list->peers[list->count];
        *p = (peer){.process = q,
                    .bytes = side == 0 ? there : back,
                    .swapped = there < back ? there : back};
        for (int k = 0; k < other->rank; k++)
            p->key = p->key * rs_spread_coordinates(other, order[k]) +
                     counts->coordinates[1 - side][q * (size_t)other->rank + (size_t)order[k]];
        list->count += p->bytes > 0;
    }
    qsort(list->peers, list->count, sizeof *list->peers, compare_peers);
    return RESTRIDE_OK;
}

typedef struct {
    peer_list lists[2]; /* to whom bytes go, and from whom they come */
    rs_flow_step *steps;
    size_t step_count;
} traffic;

static peer *find_peer(const peer_list *list, size_t process)
{
    for (size_t i = 0; i < list->count; i++)
        if (list->peers[i].process == process)
            return &list->peers[i];
    return NULL;
}

/* The partner of one side of a step. */
static int partner(const rs_flow_step *step, int side)
{
    return side == 0 ? step->to : step->from;
}

/*
 * The pieces of a part. By processes they follow the groups; by messages what each process swaps
 * comes first, then each step of the flow.
 */
static restride_status plan_order(const rs_redistribution_task *task, const traffic *t,
                                  rs_redistribution *r, int side)
{
    const peer_list *own = &t->lists[side];
    const size_t most = own->count + t->step_count;
    rs_piece *pieces = calloc(2 * most + 1, sizeof *pieces); /* by processes, and by messages */
    size_t *places = calloc(most + 1, sizeof *places);
    if (pieces == NULL || places == NULL) {
        free(pieces);
        free(places);
        return rs_fail_memory("the order of messages");
    }
    /* By messages: slots in the order of who sends to here, then the steps. */
    size_t slots = 0;
    for (size_t i = 0; i < t->lists[1].count; i++)
        if (t->lists[1].peers[i].swapped > 0)
            find_peer(own, t->lists[1].peers[i].process)->at = slots++;
    size_t steps = 0;
    for (size_t s = 0; s < t->step_count; s++) {
        places[s] = slots + steps;
        steps += partner(&t->steps[s], side) != NOBODY;
    }
    size_t count = 0;
    for (size_t i = 0; i < own->count; i++) {
        const peer *p = &own->peers[i];
        if (p->swapped > 0)
            pieces[count++] = (rs_piece){1, p->swapped, p->at};
        for (size_t s = 0; p->bytes > p->swapped && s < t->step_count; s++)
            if (partner(&t->steps[s], side) == (int)p->process)
                pieces[count++] = (rs_piece){1, t->steps[s].bytes, places[s]};
    }
    for (size_t i = 0; i < count; i++)
        pieces[most + pieces[i].place] = (rs_piece){1, pieces[i].unit, i};
    restride_status status =
        rs_regroup_order(&r->passes[side][side == 0 ? RS_LOCAL_PASSES - 1 : 0], task->engine,
                         side == 0 ? pieces : pieces + most, count, &task->options);
    free(pieces);
    free(places);
    return status;
}

static void add_move(rs_redistribution *r, const rs_message *move)
{
    r->moves[r->move_count++] = *move;
}

/* Place for place, in rounds in which each process has one partner. */
static void add_swaps(rs_redistribution *r, const peer_list *sources)
{
    for (size_t i = 0; i < sources->count; i++) {
        sources->peers[i].at = r->swapped;
        r->swapped += sources->peers[i].swapped;
    }
    const size_t size = (size_t)r->group->size;
    const size_t rank = (size_t)r->group->rank;
    for (size_t round = 0; round < size; round++) {
        const size_t with = (round + size - rank) % size;
        const peer *p = with == rank ? NULL : find_peer(sources, with);
        if (p != NULL && p->swapped > 0)
            add_move(r, &(rs_message){.to = (int)with,
                                      .from = (int)with,
                                      .bytes = p->swapped,
                                      .send_at = p->at,
                                      .receive_at = p->at});
    }
}

/* Where the partners of the swaps have what they swap with this process. */
static restride_status find_places(const rs_redistribution_task *task, rs_redistribution *r)
{
    restride_status status = RESTRIDE_OK;
    r->swaps = r->move_count;
    const bool by_peers = r->by_peers;
    for (size_t i = 0; status == RESTRIDE_OK && by_peers && i < r->swaps; i++) {
        peer_list list = {0};
        status = list_peers(task, r->order, (size_t)r->moves[i].to, 1, &list);
        for (size_t k = 0; k < list.count && list.peers[k].process != (size_t)r->group->rank; k++)
            r->moves[i].partner_at += list.peers[k].swapped;
        free(list.peers);
    }
    return status;
}

/* What flows one way leaves from the end of the buffer and arrives behind what is swapped. The
 * comparisons cannot fail (flow.h); if they did, bytes would be lost. */
static restride_status add_flow(rs_redistribution *r, const traffic *t, size_t capacity)
{
    for (size_t s = 0; s < t->step_count; s++)
        r->leaving += t->steps[s].to != NOBODY ? t->steps[s].bytes : 0;
    bool fits = r->swapped + r->leaving <= capacity;
    size_t send_at = capacity - r->leaving;
    size_t receive_at = r->swapped;
    for (size_t s = 0; fits && s < t->step_count; s++) {
        const rs_flow_step *step = &t->steps[s];
        add_move(r, &(rs_message){.to = step->to,
                                  .from = step->from,
                                  .bytes = step->bytes,
                                  .send_at = send_at,
                                  .receive_at = receive_at});
        send_at += step->to != NOBODY ? step->bytes : 0;
        receive_at += step->from != NOBODY ? step->bytes : 0;
        fits = receive_at <= send_at;
    }
    return fits ? RESTRIDE_OK
                : rs_fail(RESTRIDE_UNSUPPORTED,
                          "The messages of this redistribution find no room; this is an error of "
                          "Restride.");
}

restride_status rs_redistribution_plan_messages(const rs_redistribution_task *task,
                                                rs_redistribution *r)
{
    traffic t = {.step_count = 0};
    restride_status status = RESTRIDE_OK;
    for (int side = 0; status == RESTRIDE_OK && side < 2; side++)
        status = list_peers(task, r->order, (size_t)task->group->rank, side, &t.lists[side]);
    if (status == RESTRIDE_OK)
        status = rs_flow_plan(&task->counts, (size_t)task->group->size, (size_t)task->group->rank,
                              &t.steps, &t.step_count);
    for (int side = 0; status == RESTRIDE_OK && side < 2; side++)
        status = plan_order(task, &t, r, side);
    r->moves = calloc(t.lists[1].count + t.step_count + 1, sizeof *r->moves);
    if (status == RESTRIDE_OK && r->moves == NULL)
        status = rs_fail_memory("the messages of a process");
    if (status == RESTRIDE_OK) {
        add_swaps(r, &t.lists[1]);
        status = find_places(task, r);
    }
    if (status == RESTRIDE_OK)
        status = add_flow(r, &t, rs_size_larger(r->bytes[0], r->bytes[1]));
    for (int side = 0; side < 2; side++)
        free(t.lists[side].peers);
    free(t.steps);
    return status;
}
