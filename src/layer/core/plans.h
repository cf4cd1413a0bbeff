/*
 * Plans of the engine for the conversions of one converter (converter.h): both directions for each
 * length of its arrays. An API's converter holds them as a list, and makes and runs them on its own
 * streams. All functions but rs_plans_create() are called with the layer's lock.
 */
#ifndef RS_LAYER_PLANS_H
#define RS_LAYER_PLANS_H

#include "layer/core/converter.h"
#include "restride/plan.h"

enum { RS_DIRECTIONS = 2 };

struct rs_plans {
    size_t count; /* of records */
    restride_plan *plans[RS_DIRECTIONS];
    restride_status status;
    char *why;
    size_t workspaces; /* that hold them */
    bool has_run[RS_DIRECTIONS];
    struct rs_plans *next;
};

/* For arrays of so many bytes; `engine_status` is that of making the engine. NULL when memory is
 * short; what cannot be planned has its sentence, and is not tried again. */
rs_plans *rs_plans_create(const rs_relayout *relayout, size_t bytes, restride_engine *engine,
                          restride_status engine_status);

/* Their status, with its sentence; NULL: memory was short. */
restride_status rs_plans_check(const rs_plans *plans);

/* Of arrays of so many bytes; NULL: they were not made. */
rs_plans *rs_plans_find(rs_plans *first, const rs_relayout *relayout, size_t bytes);

/* Programs whose arrays change their length would fill the device with plans: of those that no
 * buffer has, the latest are kept, as many as one launch can want. */
void rs_plans_add(rs_plans **first, rs_plans *plans);
void rs_plans_destroy_all(rs_plans *first);

#endif
