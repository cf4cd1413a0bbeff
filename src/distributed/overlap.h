/*
 * Local stages that run beside the exchange. The buffer is cut into areas that none of these stages
 * crosses, so what they do in one area needs nothing of another one. The stages before the exchange
 * are through with an area before the first message that touches it begins; those after it begin
 * when the last such message has ended. So every byte of a message lies where it would lie if all
 * stages ran before and afterwards, and the room suffices as well (restride/distributed.h).
 */
#ifndef RS_DISTRIBUTED_OVERLAP_H
#define RS_DISTRIBUTED_OVERLAP_H

#include "distributed/message.h"
#include "transpose/plan.h"

/* What an overlap is made of. The passes are plans, or NULL. */
typedef struct {
    restride_engine *engine;
    const rs_message *moves;
    size_t move_count;
    size_t processes;
    size_t least_bytes; /* that must move beside messages for it to pay; 0: it always does */
    const restride_plan_options *options; /* of the passes */
} rs_overlap_task;

typedef struct rs_overlap rs_overlap;

/*
 * Takes stages from the end of the pass before the exchange, and from the beginning of the one
 * after it, to run them beside it. A pass that loses all is destroyed. *overlap is NULL where none
 * can run so, where it does not pay, and where memory is short: then the passes keep all.
 */
void rs_overlap_plan(rs_overlap **overlap, const rs_overlap_task *task, restride_plan **before,
                     restride_plan **after);

/* NULL is allowed in all that follows, and does nothing. */
void rs_overlap_close(rs_overlap *overlap);

size_t rs_overlap_scratch_bytes(const rs_overlap *overlap);

/* A new array, empty without an overlap; NULL when memory is short. */
json_t *rs_overlap_describe(const rs_overlap *overlap);

/* A run, one at a time: it begins when the passes before the exchange are done. */
void rs_overlap_begin(rs_overlap *overlap, void *buffer);

/* Waits until a move, by its number, may begin; the number of all moves: until all may. */
void rs_overlap_wait(rs_overlap *overlap, size_t move);

/* The first `count` moves have ended. */
void rs_overlap_tell(rs_overlap *overlap, size_t count);

/* Waits for all stages, or with `failed` for those that run. RESTRIDE_OK, or the first failure. */
restride_status rs_overlap_end(rs_overlap *overlap, bool failed);

#endif
