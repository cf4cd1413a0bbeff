/*
 * What the layer has learned of kernels on devices: the times that policy auto decides by, kept in
 * the file of wisdom (transpose/wisdom_file.h) from run to run. A kernel is known by its name, a
 * hash of its source and options, its device, the layout and the size of its launches; conversions
 * by their device.
 */
#ifndef RS_LAYER_KNOWLEDGE_H
#define RS_LAYER_KNOWLEDGE_H

#include "layer/core/policy.h"
#include "layer/core/state.h"

/* The entry of a kernel on a device, read from wisdom or new; NULL when memory is short. Valid to
 * the end of the process. */
typedef struct rs_known_kernel {
    unsigned long long source; /* hash */
    char *name;
    char *device;
    size_t tile;
    double least_items; /* launches of so many work-items up to twice as many: others take their own
                           time for each work-item */
    rs_policy_knowledge knowledge;
    const char *reason; /* of the last decision; NULL: there was none */
    bool last_rewritten;
    double work_items;       /* of the last launch */
    size_t bytes_to_convert; /* of its buffers */
    double first_launch;     /* rs_seconds_now() then; 0: there was none */
    bool is_being_built;     /* something that it needs: conversions, or its rewritten form */
    bool is_settled;         /* the program's own form was chosen, for the next launches too, and */
    rs_policy_demand settled_demand;
    bool is_wanted;  /* in that form, or was near to a trial of it */
    bool has_waited; /* the program, for something, since then */
    unsigned waits;  /* how often a launch has waited for the time of the one before */
    bool from_wisdom;
    unsigned runs_since_timed; /* of programs, when it has not been tried */
    char *foretold_reason;     /* NULL: nothing was foretold */
    /* A work-item, as the last decision saw them; 0: not timed then. */
    double own_seconds, moved_seconds;
    struct rs_known_kernel *next;
    struct rs_known_kernel *next_unwaited;
} rs_known_kernel;

/* That of a kernel, whose buffers are known (rs_kernel_bind()), for launches of so many work-items.
 */
rs_known_kernel *rs_known_kernel_of(rs_kernel *kernel, rs_device device,
                                    double work_items) RS_LOCKED;

/* Whether an earlier run has measured that a kernel of this source gains on the device, or would
 * soon have tried one. */
bool rs_knowledge_promises(rs_layer *layer, unsigned long long source, rs_device device) RS_LOCKED;

/* Its first launch comes. */
void rs_knowledge_note_first_launch(rs_layer *layer, rs_known_kernel *known) RS_LOCKED;

/* The program has waited for commands: what was launched before took no longer. So it is
 * known of kernels that nobody has timed whether their launches are short. */
void rs_knowledge_note_wait(rs_layer *layer) RS_LOCKED;

/* Whether a launch of so many work-items is one of those that it is of. */
static inline bool rs_knowledge_covers(const rs_known_kernel *known, double work_items)
{
    const double items = work_items > 1 ? work_items : 1;
    return items >= known->least_items && items < 2 * known->least_items;
}

unsigned long long rs_knowledge_hash(const char *source, const char *options);

/* Seconds that the conversion of so many bytes takes on a device, and what a measured one took.
 * Before one was measured, `least_rate` says how many bytes a second the device moves at least; 0
 * if that is not known either. */
double rs_knowledge_conversion_seconds(rs_layer *layer, rs_device device, size_t bytes,
                                       double least_rate) RS_LOCKED;
void rs_knowledge_add_conversion(rs_layer *layer, rs_device device, size_t bytes,
                                 double seconds) RS_LOCKED;

/* Seconds that plans for one more length of an array may take to make, and what they took. */
double rs_knowledge_plan_seconds(rs_layer *layer, rs_device device) RS_LOCKED;
void rs_knowledge_add_plan(rs_layer *layer, rs_device device, double seconds) RS_LOCKED;

/* How many times faster a kernel's accesses to an argument are in its other layout: on a GPU what
 * the rewriter has foretold of the whole kernel, where it has. */
double rs_knowledge_predict(const rs_kernel *kernel, const rs_target *target,
                            rs_device device) RS_LOCKED;

/* By the record's size alone, if they used all of each. */
double rs_knowledge_predict_whole(rs_layer *layer, const rs_target *target,
                                  rs_device device) RS_LOCKED;

/* Adds what this process has learned to the wisdom; called at its end. */
void rs_knowledge_save(rs_layer *layer) RS_LOCKED;

#endif
