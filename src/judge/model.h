/* Times from what accesses touch. */
#ifndef RS_JUDGE_MODEL_H
#define RS_JUDGE_MODEL_H

#include "judge/device.h"
#include "judge/traffic.h"

/* What may bound a kernel; the time is a norm of these. */
typedef enum {
    RS_BOUND_MEMORY,   /* bytes between the device's memory and the L2 */
    RS_BOUND_LOADS,    /* sectors from the L2 */
    RS_BOUND_STORES,   /* sectors and parts of lines to the L2 */
    RS_BOUND_PIPELINE, /* lines that a processor's loads touch one after another */
    RS_BOUND_INSTRUCTIONS,
    RS_BOUND_WAITING, /* latency that too few warps hide */
    RS_BOUND_GROUPS,  /* beginning work-groups */
    RS_BOUNDS
} rs_judge_bound;

typedef struct {
    double ns; /* of one launch */
    double parts[RS_BOUNDS];
    rs_judge_bound bound; /* the largest part */
} rs_judge_time;

/* Counts, and the density of touched units, which is that of neighbouring lanes. False: there is
 * not enough memory. */
bool rs_judge_measure(rs_judge_traffic *traffic, const rs_judge_argument *argument,
                      const rs_judge_layout *layout);

/* The time of a kernel whose argument k is in layouts[k] and touches traffic[k]. */
rs_judge_time rs_judge_join(const rs_judge_kernel *kernel, const rs_judge_device *device,
                            const rs_judge_traffic traffic[], const rs_judge_layout layouts[]);

/* The kernel's time with argument k in layouts[k]. */
rs_judge_time rs_judge_foretell(const rs_judge_kernel *kernel, const rs_judge_device *device,
                                const rs_judge_layout layouts[]);

#endif
