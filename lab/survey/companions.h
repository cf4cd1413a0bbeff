/* The companions of the sources that a survey reads. */
#ifndef RS_LAB_SURVEY_COMPANIONS_H
#define RS_LAB_SURVEY_COMPANIONS_H

#include "syntax/tree.h"

/* Whether a kernel is counted with a file. */
typedef bool rs_survey_counts(const rs_syntax *tree, const rs_syntax_declaration *kernel,
                              const char *file);

/*
 * Prints a line for each argument of the kernels that count: transformed, or why not. Writes the
 * companion to the folder, named after `file`, with the instances behind it that make a compiler
 * look at each second form, and beside it, as .options, what to compile it with.
 */
void rs_survey_companion(rs_syntax *tree, const rs_invocation_request *how, const char *file,
                         const char *folder, rs_survey_counts *counts);

#endif
