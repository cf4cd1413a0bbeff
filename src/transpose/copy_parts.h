/* What a conversion from one buffer to another copies. */
#ifndef RS_TRANSPOSE_COPY_PARTS_H
#define RS_TRANSPOSE_COPY_PARTS_H

#include "engine/copy.h"
#include "layout/layout.h"
#include "transpose/arena.h"

/* Of layouts of one array, whose elements have `elem_size` bytes, 0 with a record. The task, with
 * the bytes of both arrays, is in the arena. RESTRIDE_UNSUPPORTED: there are more parts than the
 * planner looks at. */
restride_status rs_copy_parts(rs_copy_task *task, rs_arena *arena, const restride_layout *from,
                              const restride_layout *to, size_t elem_size);

#endif
