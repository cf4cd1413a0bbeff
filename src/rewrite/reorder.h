/*
 * Irregular references: a kernel that reads A[P[i]], i the number of the work-item, gets what a
 * plan of restride/irregular.h or restride/irregular_device.h makes of A and P as added arguments.
 *
 *     A[P[i]]           becomes  restride_A_slots[restride_A_index[get_global_id(0)]]
 *     get_global_id(0)  becomes  the number of the thread whose work this one does, where nothing
 *                                ties the work-items of a group together; else the threads stay
 *
 * Sound as long as the caller keeps the slots up to date: every other use of A reads A itself, and
 * the kernel cannot write A or P through these names.
 */
#ifndef RS_REWRITE_REORDER_H
#define RS_REWRITE_REORDER_H

#include "rewrite/model.h"

#include <jansson.h>

/*
 * `references`: "ARGUMENT" or "KERNEL.ARGUMENT" of each array to the name of its index array.
 * Fills `kernels` (rewrite.h says with what). *source is the caller's, NULL when nothing was
 * reordered; *sentence (the caller's too) says what is wrong with the request, or is NULL.
 */
restride_status rs_reorder_references(const rs_model *model, const json_t *references,
                                      json_t *kernels, char **source, char **sentence);

#endif
