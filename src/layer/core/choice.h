/*
 * Which form a launch uses: the rewritten one when nothing stands in its way, the policy wants it,
 * and the buffers can be had in its layouts; otherwise the program's own.
 *
 * All functions are called with the layer's lock.
 */
#ifndef RS_LAYER_CHOICE_H
#define RS_LAYER_CHOICE_H

#include "layer/core/coherence.h"
#include "layer/core/knowledge.h"

enum { RS_MOST_TARGETS = 64, RS_MOST_DIMENSIONS = 3 };

/* The program's parameters of one launch. */
typedef struct {
    unsigned dimensions;
    const size_t *offset, *global, *local;
} rs_range;

/* The first four are given, and room for RS_MOST_TARGETS layouts. */
typedef struct {
    rs_kernel *kernel;
    const rs_range *range;
    double work_items;
    const rs_device_layout **layouts; /* of each target, when `rewritten` */
    rs_known_kernel *known;           /* NULL: no policy to ask */
    bool rewritten;
    bool by_policy; /* the program's own kernel by choice: its buffers could be had otherwise */
    bool is_trial;  /* it is to be timed */
    rs_policy_demand demand;
    double gain;     /* seconds, as the policy says */
    bool is_pending; /* it would be rewritten if its conversions were built */
} rs_choice;

/* The rewritten forms of a kernel. */
typedef enum {
    RS_FORMS_READY,
    RS_FORMS_BEING_BUILT, /* by a thread of the layer's own */
    RS_FORMS_LATER,       /* their build would take too much of the program's time so far */
    RS_FORMS_NEVER
} rs_forms_state;

/* Makes the forms of a kernel, or begins to, where a launch wants them now. Where there never are
 * any, its `lacks_forms` is why. The API supplies it. */
rs_forms_state rs_kernel_forms(rs_kernel *kernel) RS_LOCKED;

/* Chooses, and reserves what the buffers need on the way. */
void rs_choose(rs_choice *choice, rs_command *command) RS_LOCKED;

/* Gives back what was reserved. */
void rs_kernel_unreserve(const rs_kernel *kernel) RS_LOCKED;

/* The buffer of a rewritten argument, or NULL. */
rs_buffer *rs_target_buffer(const rs_kernel *kernel, size_t target) RS_LOCKED;

/* Whether an earlier argument has the same buffer. */
bool rs_target_seen_before(const rs_kernel *kernel, size_t target) RS_LOCKED;

/* Whether a thread still makes something that the launch needs. */
bool rs_kernel_is_pending(rs_kernel *kernel, rs_device device) RS_LOCKED;

/* Whether this is one of the launches at which is looked at what is not waited for. */
bool rs_kernel_is_looked_at(const rs_kernel *kernel) RS_LOCKED;

#endif
