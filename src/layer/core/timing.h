/*
 * Times of launches and conversions, by profiling events: for the report, and for policy auto. An
 * event that is still running is kept and looked at again at points where the program waits anyway,
 * and at the end of the process.
 */
#ifndef RS_LAYER_TIMING_H
#define RS_LAYER_TIMING_H

#include "layer/core/knowledge.h"
#include "layer/core/state.h"

typedef struct rs_timed {
    rs_event event;
    rs_event began;         /* of a conversion: it begins where this starts, which may be `event` */
    rs_kernel_facts *facts; /* NULL: a conversion */
    rs_known_kernel *known; /* takes the time of a launch; may be NULL */
    bool rewritten;         /* the launch */
    bool is_inverse;        /* the conversion: to AoS */
    double work_items;      /* of the launch */
    size_t bytes;           /* of the conversion */
    bool is_profiled;       /* its queue has times */
    rs_device device;
} rs_timed;

/* Whether launches of this queue can be timed, and what that may take where it has no profiling.
 * The API supplies both. */
bool rs_queue_can_be_timed(rs_queue *queue) RS_LOCKED;
extern const double rs_profiled_launch_seconds;

/* Whether any times are wanted. */
bool rs_timing_wanted(rs_layer *layer);

/* Takes over one reference to the event, and one to that of its beginning. */
void rs_timing_take(rs_layer *layer, const rs_timed *timed) RS_LOCKED;

/* Looks at the events that are still open. */
void rs_timing_collect(rs_layer *layer) RS_LOCKED;

/* What is of one kernel's facts is of another's from now on. */
void rs_timing_move(rs_layer *layer, const rs_kernel_facts *from, rs_kernel_facts *to) RS_LOCKED;

/* In a forked child: the times so far are its parent's, and so are the open events. */
void rs_timing_forget(rs_layer *layer);

/* Whether the layer itself holds a reference to an event. */
bool rs_timing_holds(rs_layer *layer, rs_event event) RS_LOCKED;

/* An open event of a kernel's launches, the latest, with a reference for the caller; NULL when all
 * are closed. */
rs_event rs_timing_open_launch(rs_layer *layer, const rs_known_kernel *known) RS_LOCKED;

void rs_timing_count_part(rs_layer *layer, size_t bytes) RS_LOCKED;
void rs_timing_count_blank(rs_layer *layer, size_t bytes) RS_LOCKED;

rs_conversion_sums rs_timing_conversions(rs_layer *layer) RS_LOCKED;

/* What ran when: an array of {kernel (name) and program, or conversion ("there", "back"), start,
 * seconds}, start in seconds after the first; the first few thousand. A new reference. */
json_t *rs_timing_line(rs_layer *layer) RS_LOCKED;

#endif
