/*
 * A redistribution as it is planned and run; restride/distributed.h tells how it works. A part goes
 * through four forms, and back through the same ones on the other side of the exchange:
 *
 *     its layout -> without tiles -> by processes (regroup.h) -> by messages -> exchange
 *
 * Without tiles, the dimensions lie in an order that all processes share, so that those who send
 * and those who receive see each message in the same order. By messages, first come the bytes that
 * stay or are exchanged place for place, in the order in which they are needed afterwards, and
 * then, at the end of the buffer, what flows one way, in the order in which it leaves.
 */
#ifndef RS_DISTRIBUTED_REDISTRIBUTION_H
#define RS_DISTRIBUTED_REDISTRIBUTION_H

#include "distributed/counts.h"
#include "distributed/exchange.h"
#include "distributed/mirror.h"
#include "distributed/overlap.h"
#include "transpose/plan.h"

enum { RS_LOCAL_PASSES = 3 };

/* What a plan is made of. */
typedef struct {
    restride_group *group;
    restride_engine *engine;
    rs_exchange_way way;
    restride_layout *layouts[2];   /* before and afterwards */
    size_t unit;                   /* bytes of an element; 0 with a record */
    size_t granted;                /* scratch memory for all; 0: no bound */
    restride_plan_options options; /* of the local passes */
    rs_counts counts;
} rs_redistribution_task;

typedef struct {
    restride_group *group;
    uint64_t work;                             /* tells this plan from others */
    int order[RS_LAYOUT_MAX_RANK];             /* of the dimensions without tiles, slowest first */
    restride_plan *passes[2][RS_LOCAL_PASSES]; /* before and after the exchange; NULL: none */
    size_t bytes[2];                           /* of the part, before and afterwards */
    size_t swapped; /* bytes that stay, or are exchanged place for place */
    size_t leaving; /* that flow one way from here */
    size_t move_count;
    rs_message *moves;
    rs_exchange_way way;
    size_t chunk_bytes;
    bool by_peers;                 /* what is swapped may go without messages */
    rs_peers *peers;               /* what is swapped may move directly between devices; or NULL */
    rs_mirror mirror;              /* what these may do at once instead of all else */
    size_t swaps;                  /* of the moves: they come first */
    rs_message_exchange *exchange; /* NULL: nothing is sent from here or to here */
    rs_overlap *overlap;           /* stages of the passes that run beside it; NULL: none */
    json_t *shapes[2];             /* of the part, for descriptions */
} rs_redistribution;

/* Plans the passes that need no messages' order, for the order of dimensions that costs least on
 * all processes together. Collective; the sentence of a failure is this process's own. */
restride_status rs_redistribution_plan_local(const rs_redistribution_task *task,
                                             rs_redistribution *r);

/* Plans the messages, and the passes that bring parts into their order and out of it. */
restride_status rs_redistribution_plan_messages(const rs_redistribution_task *task,
                                                rs_redistribution *r);

#endif
