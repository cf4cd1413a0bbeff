/* Plans that an engine keeps for the calls that make none. The calls are in once.c. */
#ifndef RS_TRANSPOSE_KEPT_H
#define RS_TRANSPOSE_KEPT_H

#include "restride/plan.h"

/* An engine keeps no more plans than this. */
enum { RS_KEPT_PLANS = 8 };

/* How a plan is made: `problem` is what the key says. */
typedef restride_status rs_plan_maker(restride_plan **plan, restride_engine *engine,
                                      const void *problem);

/*
 * The plan that the engine keeps under `key`, or a new one from `make`. It is the caller's until
 * rs_kept_release(), and others may run it meanwhile. Thread-safe.
 */
restride_status rs_kept_acquire(restride_plan **plan, restride_engine *engine, const char *key,
                                rs_plan_maker *make, const void *problem);

/* Keeps the plan, or destroys it when the engine has no room or shall forget it. */
void rs_kept_release(restride_engine *engine, restride_plan *plan);

#endif
