/* What stages cost on engines whose traits say `chip_only`. */
#ifndef RS_TRANSPOSE_DEVICE_COST_H
#define RS_TRANSPOSE_DEVICE_COST_H

#include "engine/stage.h"

/* The cost of a stage that cannot keep its scratch memory within the limit. */
#define RS_COST_IMPOSSIBLE 1e30

/* As rs_cost_of_transpose(). RS_COST_IMPOSSIBLE also for stages that devices do not have. None
 * costs less than RS_DEVICE_LEAST_COST. */
#define RS_DEVICE_LEAST_COST 1.02
double rs_device_cost(const rs_transpose_task *task, const rs_engine_traits *traits,
                      size_t scratch_limit);

/* Columns of the narrowest panel that is rotated. */
enum { RS_DEVICE_LEAST_PANEL = 32 };

/* Whether a work-item moves an element at once. */
static inline bool rs_device_is_word(size_t unit)
{
    return unit <= 16 && (unit & (unit - 1)) == 0;
}

#endif
