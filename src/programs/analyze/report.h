/* What restride-analyze makes of the reply of the analysis (analyze/analyze.h). */
#ifndef RS_PROGRAMS_ANALYZE_REPORT_H
#define RS_PROGRAMS_ANALYZE_REPORT_H

#include "base/status.h"
#include "base/text.h"

#include <jansson.h>

/* A table for the terminal; a page of its own with matrices and pictures. */
void rs_analysis_text(rs_text *text, const json_t *reply);
void rs_analysis_html(rs_text *text, const json_t *reply);

/* The part of both that comes first: which layouts gain. */
void rs_judgement_text(rs_text *text, const json_t *reply);
void rs_judgement_html(rs_text *page, const json_t *reply);

/* Asks the rewriter what it would do of the layouts that an analysis of this request advises. What
 * it would keep becomes the array's `kept_advice`: the advice with reason, file and line. */
restride_status rs_advice_check(const json_t *request, char *const options[], int option_count,
                                json_t *analysis);

/*
 * Judges kernels by the tree of the whole source with its headers. The analysis's own judgements
 * stay where a flat array has records, and where the tree has errors or is not read in a minute.
 */
void rs_kernels_judge(const char *file, char *const options[], int option_count,
                      const json_t *request, json_t *reply);

/* What was applied to each loop nest (apply/apply.h), or why nothing was. */
void rs_application_text(rs_text *text, const json_t *reply);

/* What became of each grid (analyze/apply_layout.h). */
void rs_grids_text(rs_text *text, const json_t *reply);

#endif
