/* The report of `restride run`: the parts that each process wrote, put together, as JSON, HTML and
 * a summary. */
#ifndef RS_CLI_RUN_REPORT_H
#define RS_CLI_RUN_REPORT_H

#include "base/text.h"
#include "cli/process.h"

#include <jansson.h>
#include <stdbool.h>
#include <stdio.h>

/*
 * Reads every part in `folder` and removes it. The result has: restride, program[], policy, tile,
 * seconds, exit_status, signal, devices[], kernels[] {name, label, program, process, part, source,
 * launches, transformed_launches, timed_launches, timed_transformed_launches, seconds,
 * transformed_seconds, policy, arguments[]}, marshal {count, bytes, timed, timed_bytes, seconds,
 * parts, part_bytes, from_birth, from_birth_bytes}, timeline[], notes[], processes, programs,
 * unfinished, running, uncounted, with --verify verified {launches, different, unsteady, left_out},
 * and once they are added causes[]. A process that became another program (exec) has a part of
 * each, and counts as so many `programs`; `part` is the number of such a part in the report. The
 * seconds are those of the timed launches and conversions alone: others were still under way when
 * they were last looked at, or their queue has no times. Processes that did not come to their exit
 * functions are `unfinished`: they are counted up to some moment, which a note tells, or not at all
 * (`uncounted`; kernels that such a process is not known to have launched have no counts); some may
 * still be `running`, and one be `signalled`: a signal ended the program itself. `policy` is there
 * when auto chose: {choice, reason, measured, predicted_ratio, own_seconds, rewritten_seconds,
 * bytes_to_convert, usual_run, from_wisdom}. An argument's status is "transformed" where launches
 * had its buffer in another layout and the policy kept that; "tried" where launches had it, but
 * fewer than half, and policy auto chose the program's own in the end; "possible" where no launch
 * had it and nothing but that is the reason; and "kept". No folder (NULL): no process told
 * anything. NULL when memory is short.
 */
json_t *rs_run_report_gather(const char *folder, char **program, const char *policy, size_t tile,
                             const rs_process_result *result);

/* Whether any process counted what it did. */
bool rs_run_report_is_counted(const json_t *report);

/* Reads the JSON report of an earlier run, which is the caller's. */
restride_status rs_run_report_read(json_t **report, const char *path);

/*
 * Compares the kernels of which both this run and an earlier one have timed launches, by name and
 * source: each has baseline_seconds then, what as many launches as were timed here took there, and
 * baseline_launches, how many were timed there; and the report has baseline {file, seconds,
 * kernel_seconds, compared_seconds, compared_launches, gained_seconds, speedup,
 * paid_back_launches}: what so many launches of those kernels took there and here, and what that
 * gained with the conversions counted. The last two are missing where there is nothing to divide
 * by.
 */
void rs_run_report_compare(json_t *report, const json_t *baseline, const char *baseline_path);

/* What the summary and the page say of all kernels. */
typedef enum {
    RS_TRANSFORMED,
    RS_TRIED,
    RS_POSSIBLE,
    RS_KEPT,
    RS_ARGUMENT_STATUSES
} rs_argument_status;

typedef struct {
    size_t arguments[RS_ARGUMENT_STATUSES]; /* so many have each */
    const char *layout; /* of those transformed: "the ASTA layout", "another layout" if none is */
    double launches, timed, seconds; /* those of the timed launches */
} rs_run_counts;

rs_run_counts rs_run_report_count(const json_t *report);

/* How many of a kernel's launches, or of the conversions (marshal), the seconds are of; all of them
 * in reports of versions that did not tell, if there are seconds. */
typedef enum { RS_LAUNCHES, RS_MOVED_LAUNCHES, RS_CONVERSIONS, RS_CONVERTED_BYTES } rs_timed_amount;

double rs_run_report_timed(const json_t *object, rs_timed_amount amount);

/* " (2 of 201)", where seconds beside a number of launches are not of all of them. */
void rs_run_report_add_share(rs_text *text, double timed, double all);

/* Notes which kernels and arguments of a configuration file (config/config.h; NULL: none) no kernel
 * of the program was. */
void rs_run_report_check_names(json_t *report, const json_t *config);

enum { RS_TOLD_CAUSES = 3 };

/*
 * Adds causes[] {kept ("program" or "argument"), count, reason, place}: why a run transformed
 * nothing, each reason once, programs that stay as a whole first, the most frequent first. `place`
 * is that of the first, where there is one. Empty where something was transformed, and
 * where the policy is off.
 */
void rs_run_report_add_causes(json_t *report);

/* The first RS_TOLD_CAUSES of them as the end of a sentence: "; 3 programs kept: ...". */
void rs_run_report_write_causes(const json_t *report, rs_text *text);

/* Whether the report holds seconds (the run was asked for a report file). */
void rs_run_report_summary(const json_t *report, bool with_times, FILE *stream);

/* One self-contained page; the caller frees it. NULL when memory is short. */
char *rs_run_report_html(const json_t *report);

/* ---- figures (report_figures.c); each adds nothing to the page when the report has no facts for
 * it ---- */

/* When each kernel and the conversions ran. */
void rs_page_add_time_line(rs_text *page, const json_t *report);

/* A launch of each kernel in both layouts, and why policy auto chose the one. */
void rs_page_add_before_and_after(rs_text *page, const json_t *report);

/* After how many launches the conversions are paid back. */
void rs_page_add_break_even(rs_text *page, const json_t *report);

#endif
