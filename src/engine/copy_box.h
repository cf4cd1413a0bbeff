/*
 * How a copy in another order is cut into boxes, for every engine: a box has a block of each axis,
 * so that what is read and what is written of it are runs of whole lines.
 *
 * A chain are the axes that lie one after the other at the fast end of a buffer, of which all but
 * the last are whole in a box.
 */
#ifndef RS_ENGINE_COPY_BOX_H
#define RS_ENGINE_COPY_BOX_H

#include "engine/copy.h"

typedef struct {
    size_t from_run; /* bytes to read, or write, one after the other */
    size_t to_run;
    size_t least; /* bytes of a box */
    size_t most;
    size_t line; /* bytes; runs of several are whole lines where that takes no more */
} rs_copy_goals;

typedef struct {
    size_t count;
    size_t axes[RS_COPY_MOST_AXES];
    size_t run; /* elements */
} rs_copy_chain;

typedef struct {
    size_t blocks[RS_COPY_MOST_AXES]; /* of each axis; 1: not in the box */
    rs_copy_chain from, to;
    size_t elements;
} rs_copy_box;

void rs_copy_box_choose(rs_copy_box *box, const rs_copy_part *part, const rs_copy_goals *goals);

/* The axes of one side that a box has at least two of and that follow each other from its elements
 * on. */
void rs_copy_box_chain(rs_copy_chain *chain, const rs_copy_part *part, const size_t blocks[],
                       bool in_target);

/*
 * Of the parts of a record: whether they lie side by side in one of the buffers, and the shared
 * axis on which the whole record repeats there. *start: where the first of them begins; *bytes: of
 * all.
 */
bool rs_copy_is_whole(const rs_copy_part *parts, const rs_copy_group *group, bool in_target,
                      size_t *axis, size_t *start, size_t *bytes);

#endif
