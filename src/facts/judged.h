/* A kernel's accesses as the judge of layouts asks for them. */
#ifndef RS_FACTS_JUDGED_H
#define RS_FACTS_JUDGED_H

#include "facts/accesses.h"
#include "judge/kernel.h"

/* Whether a parameter is an array whose elements have members that could lie apart: no numbers and
 * no vectors. */
bool rs_fact_is_array_of_structures(const rs_syntax_declaration *parameter);

/*
 * Fills in what the source tells: arguments that are arrays of structures, what the lanes of a warp
 * do with them, the members that are touched; other arrays, which stay as they are; instructions
 * and threads of a group. Names live as long as the tree. The first RS_JUDGE_MOST_ARGUMENTS count;
 * an argument that is used in a way that is not followed has lanes RS_LANES_UNKNOWN. An array of
 * numbers in which all accesses step by so many from thread to thread is one of records: the facts
 * become those of its records.
 */
restride_status rs_fact_judged(rs_judge_kernel *kernel, rs_fact_accesses *facts);

#endif
