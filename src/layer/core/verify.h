/*
 * Verification (restride run --verify): each launch in a rewritten form runs in both forms, on the
 * same bytes, and what they leave is compared. The program goes on with what its own form left.
 *
 *     rs_verify_begin()   the program's form, on copies of all that the launch may reach
 *     ...                 the rewritten one, as always
 *     rs_verify_end()     compares
 *
 * Why that is sound. A kernel has a rewritten form only where it reaches memory by its arguments
 * alone, so the buffers of its arguments are all that a launch can read or write;
 * rs_api_is_confined() says where an argument may lead to memory without a record, and such a
 * launch is not verified. Nothing else touches that memory: all streams are finished first, and the
 * layer's lock is held until the end. Where the program's own form leaves other bytes when it runs
 * again, as sums of floats by atomics may, nothing can be said of the rewritten one: such a launch
 * counts as unsteady.
 *
 * It waits with the layer's lock and keeps three copies of each buffer on the host: it is for tests
 * and for trust, not for speed. A kernel that counts in a variable of its module, or prints, does
 * so once more.
 */
#ifndef RS_LAYER_VERIFY_H
#define RS_LAYER_VERIFY_H

#include "layer/core/choice.h"

/* Runs the launch as `own` says, in the program's own form, to its end or not: 0 or an error. With
 * the lock; clang has marks for functions alone. */
typedef int rs_verify_run(const rs_choice *own, void *launch);

struct rs_verified_buffer;

/* All zero: nothing is verified. */
typedef struct {
    rs_choice own; /* of the program's own form */
    rs_verify_run *run;
    void *launch;
    struct rs_verified_buffer *buffers;
    size_t count;
} rs_verification;

/* Begins when launches are to be verified and this one is to be rewritten. Leaves all buffers as
 * the launch is to find them, in the program's layout. */
void rs_verify_begin(rs_verification *verification, const rs_choice *choice, rs_verify_run *run,
                     void *launch) RS_LOCKED;

/* The launch was given to the queue, in whichever form (false: it failed, and nothing is said). */
void rs_verify_end(rs_verification *verification, bool is_rewritten) RS_LOCKED;

#endif
