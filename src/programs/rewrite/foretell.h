/* What the judge of layouts expects of rewritten kernels, for the layer's policy. */
#ifndef RS_PROGRAMS_FORETELL_H
#define RS_PROGRAMS_FORETELL_H

#include <jansson.h>

/*
 * Adds to each kernel of a reply that has transformed arguments
 *
 *     foretold: {gain, reason}   how many times as fast it is on a GPU in its new form, and why
 *
 * as far as that is known. What the rewriter saw is enough where neighbouring work-items have
 * neighbouring records everywhere. For other kernels the source is read once more, as a tree, in a
 * process of its own.
 */
void rs_foretell(const json_t *request, json_t *reply);

#endif
