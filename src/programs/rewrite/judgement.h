/* What the judge of layouts says of a kernel in which some arguments get another layout: one
 * question, however it was asked. */
#ifndef RS_PROGRAMS_JUDGEMENT_H
#define RS_PROGRAMS_JUDGEMENT_H

#include "companion/forms.h"
#include "facts/accesses.h"
#include "judge/judge.h"

typedef struct {
    rs_judge_kernel kernel;
    rs_judge_layout layouts[RS_JUDGE_MOST_ARGUMENTS]; /* of its arguments */
} rs_judge_question;

/* An argument that changes, and its layout. */
typedef struct {
    const char *name;
    long long element; /* bytes */
    rs_judge_layout layout;
} rs_judge_change;

/* How many times as fast the kernel is then, on the GPU that is taken for all, and why. */
restride_status rs_question_answer(const rs_judge_question *asked, double *gain,
                                   const char **reason);

/* Asks by the tree; false when that does not know what the kernel does with one of the arguments
 * that change. */
bool rs_question_ask(rs_judge_question *asked, rs_fact_accesses *facts,
                     const rs_judge_change changes[], size_t count);

/* The judge of companions. */
restride_status rs_judge_companion(rs_syntax *tree, const rs_syntax_declaration *kernel,
                                   uint64_t changed, double threads,
                                   const rs_companion_layout *layout, double *gain,
                                   const char **why);

#endif
