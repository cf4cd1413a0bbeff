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

/* The first five are given, and room for RS_MOST_TARGETS layouts. */
typedef struct {
    rs_kernel *kernel; /* NULL: the layer does not know it */
    rs_queue *queue;   /* NULL: the layer does not know it, or the driver will refuse the launch */
    const rs_range *range;
    double work_items;
    bool has_waited;                  /* for what it may have to wait for */
    const rs_device_layout **layouts; /* of each target, when `rewritten` */
    rs_known_kernel *known;           /* NULL: no policy to ask */
    bool rewritten;
    bool by_policy; /* the program's own kernel by choice: its buffers could be had otherwise */
    bool is_trial;  /* of the rewritten form */
    bool is_timed;  /* it is to be timed */
    rs_policy_demand demand;
    double gain;     /* seconds, as the policy says */
    bool is_pending; /* it may have to wait first, or for conversions that are being built */
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

/* Looks up the buffers of the kernel's arguments and targets, if they may have changed. */
void rs_kernel_bind(rs_kernel *kernel) RS_LOCKED;

/* Chooses. */
void rs_choose(rs_choice *choice) RS_LOCKED;

/* The launch was enqueued: counts it, and, if it is timed, takes over its event. */
void rs_choice_note(const rs_choice *choice) RS_LOCKED;
void rs_choice_take_time(const rs_choice *choice, rs_event event) RS_LOCKED;

/* Counts a launch for the buffers that it wants in another layout, if that is its demand. */
void rs_kernel_note_wanted(const rs_kernel *kernel, rs_policy_demand demand,
                           rs_known_kernel *known) RS_LOCKED;

/* Whether a launch is larger than rewritten kernels count on, or the driver will refuse it. */
bool rs_range_is_too_large(const rs_range *range);

/* Whether a thread still makes something that the launch needs. */
bool rs_kernel_is_pending(rs_kernel *kernel, rs_device device) RS_LOCKED;

/* Whether this is one of the launches at which is looked at what is not waited for. */
bool rs_kernel_is_looked_at(const rs_kernel *kernel) RS_LOCKED;

#endif
