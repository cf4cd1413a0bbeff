/*
 * Pieces of the cycles of any permutation: a kernel walks them by indices alone, from positions
 * that a hash picks and from the first position of cycles that have none, and divides them as it
 * goes. How many pieces there will be is only known about, so the tables have some room; a limit
 * that is too small for them asks for longer pieces.
 */
#include "engine/device/chains.h"

enum {
    WALK_PIECES = 2,  /* mean length of a walk */
    SHORT_PIECES = 2, /* cycles up to this length move whole, when they have no cut */
    SPARE_PIECES = 128
};

typedef struct {
    const rs_chains_planning *common;
    rs_device_memory counts;
    rs_device_memory leaders;
    uint32_t leader_room;
    uint32_t found[2]; /* pieces, leaders */
} walking;

static void set_length(rs_chains_plan *plan, size_t length)
{
    double walk = (double)WALK_PIECES * (double)length;
    double total = (double)plan->shape[0];
    plan->piece_length = length;
    plan->short_length = (uint32_t)(SHORT_PIECES * length);
    /* When all is shorter than a walk, cuts would only cost. */
    plan->threshold = walk > total ? 0 : (uint32_t)(4294967296.0 / walk);
    if (length >= RS_CHAINS_WHOLE || length >= plan->shape[0]) {
        plan->threshold = 0;
        plan->short_length = UINT32_MAX;
    }
}

/* Walks between cuts have all lengths, and each ends with a piece that may be short: pieces are
 * 0.79 of their length in the mean. Some more than that for chance. */
static size_t expect_pieces(const rs_chains_planning *p)
{
    const rs_chains_plan *plan = p->plan;
    if (plan->short_length == UINT32_MAX)
        return 0;
    double room = 1.3 * (double)plan->shape[0] / (double)plan->piece_length + SPARE_PIECES;
    size_t most = rs_chains_most_pieces(p);
    return room < (double)most ? (size_t)room : most;
}

static restride_status take_tables(walking *w, size_t room)
{
    const rs_chains_planning *p = w->common;
    rs_chains_plan *plan = p->plan;
    size_t position = rs_chains_position_bytes(plan);
    rs_chains_release(p->stage, plan->piece_starts);
    rs_chains_release(p->stage, plan->piece_ends);
    plan->piece_ends = NULL;
    plan->piece_room = (uint32_t)room;
    restride_status status = rs_chains_allocate(p, room, position, &plan->piece_starts);
    if (status == RESTRIDE_OK)
        status = rs_chains_allocate(p, room, position, &plan->piece_ends);
    return status;
}

static restride_status walk(walking *w)
{
    static const uint32_t zeros[2] = {0, 0};
    const rs_chains_planning *p = w->common;
    const rs_chains_plan *plan = p->plan;
    rs_device_engine *engine = rs_device_engine_of(p->stage);
    uint32_t piece_length = (uint32_t)plan->piece_length;
    restride_status status = engine->device->write(engine, w->counts, zeros, sizeof zeros,
                                                   "writing the cycles of a transposition");
    if (status != RESTRIDE_OK)
        return status;
    rs_chains_arguments list = {.count = 0};
    rs_chains_add(&list, RS_ARGUMENT(w->counts));
    rs_chains_add(&list, RS_ARGUMENT(plan->piece_starts));
    rs_chains_add(&list, RS_ARGUMENT(plan->piece_ends));
    rs_chains_add(&list, RS_ARGUMENT(plan->piece_room));
    rs_chains_add(&list, RS_ARGUMENT(w->leaders));
    rs_chains_add(&list, RS_ARGUMENT(w->leader_room));
    rs_chains_add(&list, RS_ARGUMENT(piece_length));
    rs_chains_add(&list, RS_ARGUMENT(plan->threshold));
    rs_chains_add(&list, RS_ARGUMENT(plan->short_length));
    rs_chains_add_shape(&list, plan);
    status =
        rs_chains_launch(p, &list, (size_t)plan->shape[0], "walking the cycles of a transposition");
    if (status == RESTRIDE_OK)
        status = engine->device->read(engine, w->found, w->counts, sizeof w->found,
                                      "reading the cycles of a transposition");
    return status;
}

/* Until all pieces have room: more of it, or longer pieces where the limit allows no more. */
static restride_status find_pieces(walking *w)
{
    const rs_chains_planning *p = w->common;
    rs_chains_plan *plan = p->plan;
    set_length(plan, rs_chains_first_length(p));
    size_t room = expect_pieces(p);
    for (;;) {
        restride_status status = take_tables(w, room);
        if (status == RESTRIDE_OK)
            status = walk(w);
        if (status != RESTRIDE_OK || w->found[0] <= room)
            return status;
        room = w->found[0];
        if (room > rs_chains_most_pieces(p)) {
            set_length(plan, rs_chains_longer(p, plan->piece_length, room));
            room = expect_pieces(p);
        }
    }
}

/* Keeps the list of leaders if it is complete. */
static restride_status keep_leaders(walking *w)
{
    const rs_chains_planning *p = w->common;
    rs_chains_plan *plan = p->plan;
    rs_device_engine *engine = rs_device_engine_of(p->stage);
    size_t position = rs_chains_position_bytes(plan);
    plan->listed = w->found[1] <= w->leader_room;
    plan->leader_count = plan->listed ? w->found[1] : plan->shape[0];
    if (!plan->listed || w->found[1] == 0)
        return RESTRIDE_OK;
    restride_status status = rs_chains_allocate(p, w->found[1], position, &plan->leaders);
    if (status != RESTRIDE_OK)
        return status;
    return engine->device->copy(engine, plan->leaders, w->leaders, w->found[1] * position,
                                "keeping the cycles of a transposition");
}

restride_status rs_chains_by_walks(const rs_chains_planning *p)
{
    walking w = {.common = p};
    size_t leaders = rs_chains_most_leaders(p);
    size_t pairs = (size_t)p->plan->shape[0] / 2;
    w.leader_room = (uint32_t)(leaders < pairs ? leaders : pairs);
    restride_status status = rs_chains_allocate(p, 2, sizeof(uint32_t), &w.counts);
    if (status == RESTRIDE_OK)
        status =
            rs_chains_allocate(p, w.leader_room, rs_chains_position_bytes(p->plan), &w.leaders);
    if (status == RESTRIDE_OK)
        status = find_pieces(&w);
    p->plan->pieces = w.found[0];
    if (status == RESTRIDE_OK)
        status = keep_leaders(&w);
    rs_chains_release(p->stage, w.counts);
    rs_chains_release(p->stage, w.leaders);
    return status;
}
