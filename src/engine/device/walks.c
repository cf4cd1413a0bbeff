/*
 * Pieces of the cycles of any permutation: kernels walk them by indices alone, from many positions
 * at once, and put pieces together from the walks (src/engine/kernels/walks.cl). How many pieces
 * there will be is only known about, so the tables have some room; a limit that is too small for
 * them asks for longer pieces.
 */
#include "base/arithmetic.h"
#include "engine/device/chains.h"

enum {
    WINDOW_PIECES = 2, /* as many pieces are between two cuts at most */
    PIECE_MARKS = 8,   /* walks in a piece */
    LEAST_WALK = 4,
    SPARE_PIECES = 128
};

typedef struct {
    const rs_chains_planning *common;
    uint32_t mark_count;
    uint32_t window;        /* marks */
    rs_device_memory links; /* behind two counts, before the bits that cut */
    uint32_t found[2];      /* pieces, leaders */
} walking;

/* How many of the numbers below 2^bits are one in `each`. */
static uint32_t share_of(const rs_chains_plan *plan, size_t each)
{
    uint64_t last = UINT64_MAX >> (64 - plan->bits);
    uint64_t share = last / each;
    return share < UINT32_MAX / 2 ? (uint32_t)share : UINT32_MAX / 2;
}

static void set_length(walking *w, size_t length)
{
    rs_chains_plan *plan = w->common->plan;
    size_t total = (size_t)plan->shape[0];
    bool whole = length >= RS_CHAINS_WHOLE || RS_CHAINS_SHORT_PIECES * length >= total;
    size_t walk = length / PIECE_MARKS > LEAST_WALK ? length / PIECE_MARKS : LEAST_WALK;
    plan->piece_length = length;
    plan->short_length = whole ? UINT32_MAX : (uint32_t)(RS_CHAINS_SHORT_PIECES * length);
    size_t marks = share_of(plan, walk);
    size_t most = w->common->limit / sizeof(uint64_t); /* more than pieces */
    w->mark_count = whole ? 0 : (uint32_t)(marks < most ? marks : most);
    w->window = (uint32_t)(WINDOW_PIECES * length / walk);
}

/* What is between two cuts has all lengths and may end with a short piece: pieces are 0.64 of their
 * length in the mean. */
static const double piece_share = 0.64;

static size_t expect_pieces(const rs_chains_planning *p)
{
    const rs_chains_plan *plan = p->plan;
    if (plan->short_length == UINT32_MAX)
        return 0;
    double mean = piece_share * (double)plan->piece_length;
    double room = 1.04 * (double)plan->shape[0] / mean + SPARE_PIECES;
    size_t most = rs_chains_most_pieces(p);
    return room < (double)most ? (size_t)room : most;
}

static void release(const walking *w, rs_device_memory *memory)
{
    rs_chains_release(w->common->stage, *memory);
    *memory = NULL;
}

static restride_status take_tables(walking *w, size_t room)
{
    const rs_chains_planning *p = w->common;
    rs_chains_plan *plan = p->plan;
    size_t position = rs_chains_position_bytes(plan);
    release(w, &w->links);
    release(w, &plan->positions);
    plan->piece_room = (uint32_t)room;
    size_t words = 2 * (w->mark_count + 1) + rs_size_divide_up(w->mark_count, 32);
    restride_status status = rs_chains_allocate(p, words, sizeof(uint32_t), &w->links);
    if (status == RESTRIDE_OK)
        status = rs_chains_allocate(p, rs_chains_room(room, plan->leader_room), position,
                                    &plan->positions);
    return status;
}

static void walk_marks(const walking *w, rs_device_sequence *sequence)
{
    const rs_chains_plan *plan = w->common->plan;
    rs_chains_arguments list = {.count = 0};
    rs_chains_add(&list, RS_ARGUMENT(w->links));
    rs_chains_add(&list, RS_ARGUMENT(w->mark_count));
    rs_chains_add(&list, RS_ARGUMENT(plan->bits));
    rs_chains_add_shape(&list, plan);
    rs_chains_launch(w->common, sequence, RS_CHAINS_WALK_MARKS, &list, (size_t)w->mark_count + 1);
}

static void pick_cuts(const walking *w, rs_device_sequence *sequence)
{
    const rs_chains_plan *plan = w->common->plan;
    rs_chains_arguments list = {.count = 0};
    rs_chains_add(&list, RS_ARGUMENT(w->links));
    rs_chains_add(&list, RS_ARGUMENT(w->mark_count));
    rs_chains_add(&list, RS_ARGUMENT(w->window));
    rs_chains_add(&list, RS_ARGUMENT(plan->bits));
    rs_chains_add(&list, RS_ARGUMENT(plan->shape[0]));
    if (w->mark_count != 0)
        rs_chains_launch(w->common, sequence, RS_CHAINS_PICK_CUTS, &list, w->mark_count);
}

static void join_marks(const walking *w, rs_device_sequence *sequence)
{
    const rs_chains_planning *p = w->common;
    const rs_chains_plan *plan = p->plan;
    uint32_t piece_length = (uint32_t)plan->piece_length;
    uint64_t mark_items = rs_chains_round_items(p, w->mark_count);
    rs_chains_arguments list = {.count = 0};
    rs_chains_add(&list, RS_ARGUMENT(w->links));
    rs_chains_add(&list, RS_ARGUMENT(plan->positions));
    rs_chains_add(&list, RS_ARGUMENT(plan->piece_room));
    rs_chains_add(&list, RS_ARGUMENT(plan->leader_room));
    rs_chains_add(&list, RS_ARGUMENT(w->mark_count));
    rs_chains_add(&list, RS_ARGUMENT(mark_items));
    rs_chains_add(&list, RS_ARGUMENT(plan->bits));
    rs_chains_add(&list, RS_ARGUMENT(plan->short_length));
    rs_chains_add(&list, RS_ARGUMENT(piece_length));
    rs_chains_add_shape(&list, plan);
    rs_chains_launch(p, sequence, RS_CHAINS_JOIN_MARKS, &list,
                     (size_t)(mark_items + plan->shape[0]));
}

static restride_status walk(walking *w)
{
    rs_device_sequence sequence = {.engine = rs_device_engine_of(w->common->stage)};
    walk_marks(w, &sequence);
    pick_cuts(w, &sequence);
    join_marks(w, &sequence);
    return rs_device_finish_reading(&sequence, w->found, w->links, sizeof w->found,
                                    "walking the cycles of a transposition");
}

/* Until all pieces have room: more of it, or longer pieces where the limit allows no more. */
static restride_status find_pieces(walking *w)
{
    const rs_chains_planning *p = w->common;
    set_length(w, rs_chains_first_length(p, piece_share));
    size_t room = expect_pieces(p);
    for (;;) {
        restride_status status = take_tables(w, room);
        if (status == RESTRIDE_OK)
            status = walk(w);
        if (status != RESTRIDE_OK || w->found[0] <= room)
            return status;
        room = w->found[0];
        if (room > rs_chains_most_pieces(p)) {
            set_length(w, rs_chains_longer(p, p->plan->piece_length, room));
            room = expect_pieces(p);
        }
    }
}

restride_status rs_chains_by_walks(const rs_chains_planning *p)
{
    rs_chains_plan *plan = p->plan;
    walking w = {.common = p};
    size_t leaders = rs_chains_most_leaders(p);
    size_t pairs = (size_t)plan->shape[0] / 2;
    plan->leader_room = (uint32_t)(leaders < pairs ? leaders : pairs);
    restride_status status = find_pieces(&w);
    plan->pieces = w.found[0];
    plan->listed = w.found[1] <= plan->leader_room;
    plan->leader_count = plan->listed ? w.found[1] : plan->shape[0];
    release(&w, &w.links);
    return status;
}
