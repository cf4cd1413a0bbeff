/*
 * The description of second forms, by which a layer finds them in a program and calls them. It goes
 * into objects (section `restride_forms`) and into replies; src/layer/cuda/forms.h reads it:
 *
 *   version    1
 *   kernels    one for each kernel, and for each instance of a template:
 *     symbol, name  mangled, as clang mangles it, and as a programmer writes it
 *     parameters    the number of its own; those of the second form follow them
 *     second        {full, ragged, full_large, ragged_large}: the mangled names of its forms; see
 *                   restride_form in prelude.cuh
 *     closed        whether it reaches memory by its parameters alone (facts/closed.h); if not,
 *                   `open` says why, as a sentence part
 *     arguments     each that is an array of structures: {index, name, type, status, layout};
 *                   "transformed" ones {tile, group, extent, record}: the index of the added
 *                   parameter, a restride_extent, and the record as layout/record_json.h writes it;
 *                   "kept" ones {reason, file, line}. Of groups of more than one record all forms
 *                   are full
 *     gain, why     how many times as fast the judge of layouts expects all forms to be, and the
 *                   reason; `gain` is absent where it cannot tell
 *     few           {threads, gain, why}: the same of launches of fewer threads, where more is
 *                   expected of those; else absent
 *   others     the source's kernels without second forms, with the same members but `second`,
 *              `gain` and `why`: a launch of a closed one leaves all other arrays as they are. None
 *              that the linker may rename
 *   witness    the mangled name of one of the second forms, which is in every module that the
 *              others are in; both are there or neither
 *
 * Which arguments are transformed when a program is built: if the judge foretells a gain from some
 * of a kernel's arguments, those; the others keep their layout, and the reason says what it
 * foretold. If it foretells none, all are: only --policy asta uses such forms, as `gain` says.
 * Arguments with elements of one type are judged together: programs pass one array as each of them
 * in turn, and would convert it again and again.
 */
#ifndef RS_COMPANION_FORMS_H
#define RS_COMPANION_FORMS_H

#include "companion/companion.h"

#include <jansson.h>

/* What the judge says of a kernel in which some parameters are arrays in another layout; bits.
 * `threads` are those of a launch, 0: many. *gain is 0 where it cannot tell; *why lives as long as
 * the tree. */
typedef restride_status rs_companion_judge(rs_syntax *tree, const rs_syntax_declaration *kernel,
                                           uint64_t changed, double threads,
                                           const rs_companion_layout *layout, double *gain,
                                           const char **why);

/*
 * How many records a group has: 1, unless a larger one makes a kernel faster and none slower.
 * All kernels of a source share one layout. `wants` says which parameters of a kernel may change.
 */
typedef uint64_t rs_forms_wants(void *context, const rs_syntax_declaration *kernel);
restride_status rs_forms_choose_group(rs_companion_judge *judge, rs_syntax *tree,
                                      rs_forms_wants *wants, void *context,
                                      rs_companion_layout *layout);

/* Those of a kernel's arguments of which a form is worth to have; `reasons` gets one for each other
 * argument. */
restride_status rs_forms_choose(rs_companion_judge *judge, rs_syntax *tree,
                                const rs_syntax_declaration *kernel, uint64_t arrays,
                                const rs_companion_layout *layout, uint64_t *chosen,
                                const char *reasons[64]);

/* The description; NULL when there is no second form. */
restride_status rs_forms_describe(json_t **description, rs_companion_judge *judge, rs_syntax *tree,
                                  const rs_companion *companion, const rs_companion_layout *layout);

#endif
