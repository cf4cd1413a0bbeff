/*
 * The layer's report: launches and seconds of each kernel, what was transformed or kept and why,
 * and what the conversions cost. Written as JSON, one file a process, into the folder that
 * `restride run` gave.
 */
#ifndef RS_LAYER_REPORT_H
#define RS_LAYER_REPORT_H

#include "layer/core/state.h"

/* The facts of a kernel by program and name, made if new; NULL when memory is short. */
rs_kernel_facts *rs_report_kernel(const rs_program *program, const char *name) RS_LOCKED;

/* The number of a program of this source (its hash) that such a kernel was of, or 0. */
unsigned rs_report_program_of(const rs_layer *layer, unsigned long long source,
                              const char *name) RS_LOCKED;

/* The record of the program ends, and no kernel of it is left: its facts are kept, unless there are
 * many. */
void rs_report_release_program(const rs_program *program) RS_LOCKED;

/* Notes why a launch used the program's own kernel: the buffer of which argument, and what about
 * it. The facts may be NULL. */
void rs_report_hold(rs_kernel_facts *facts, size_t argument, const char *reason) RS_LOCKED;

/* Counts what policy auto decided, by its reason: a string that lives as long as the facts. */
void rs_report_count_decision(rs_kernel_facts *facts, const char *reason) RS_LOCKED;

/* That reason does not hold any more. */
void rs_report_release_hold(rs_kernel_facts *facts, const char *reason) RS_LOCKED;

/* Whether the rewriter's description of an argument says that it is in another layout; and says
 * there that it stays in the program's, and why. */
bool rs_report_is_transformed(const json_t *argument);
void rs_report_keep(json_t *argument, const char *reason);

/* A sentence for the report, once each (a program that could not be rewritten, a freeze), while
 * there are not too many; and one that must not be missing. */
void rs_report_note(rs_layer *layer, const char *format, ...) RS_LOCKED RS_PRINTF(2, 3);
void rs_report_note_always(rs_layer *layer, const char *format, ...) RS_LOCKED RS_PRINTF(2, 3);

void rs_report_device(rs_layer *layer, rs_device device) RS_LOCKED;

/* The report as it is now; a new reference. */
json_t *rs_report_describe(rs_layer *layer, bool at_end) RS_LOCKED;

/* Writes the report file, at the end of the process, and before for those that have no such end
 * (_exit, abort, a signal); and before, if that is cheap now (report_file.c). */
void rs_report_write(rs_layer *layer, bool at_end) RS_LOCKED;
void rs_report_keep_up(rs_layer *layer) RS_LOCKED;

/* In a forked child: forgets what its parent reports; and before it counts anything of its own. */
void rs_report_begin_child(rs_layer *layer);
void rs_report_forget(rs_layer *layer);
void rs_report_begin(rs_layer *layer) RS_LOCKED;

#endif
