/*
 * The boxes of a copy on a device (copy_box.h): where their runs begin, what lies where in local
 * memory, and the table that engine/kernels/copies.cl reads. Arithmetic, for the device and for
 * whoever wants to know what it takes.
 */
#ifndef RS_ENGINE_COPY_CUT_H
#define RS_ENGINE_COPY_CUT_H

#include "engine/copy_table.h"

/*
 * Cuts the only part of a group, or the parts of records that lie side by side in one buffer.
 * Unsuited: what exceeds `local_bytes` or the kernel's numbers, and records of which no buffer has
 * that; their parts may still be cut one by one.
 */
rs_copy_cut_result rs_copy_cut_group(rs_copy_cut *cut, const rs_copy_part *parts,
                                     const rs_copy_group *group, size_t local_bytes);

#endif
