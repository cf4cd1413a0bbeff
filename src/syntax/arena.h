/* The memory of a tree, freed as a whole. An allocation that fails gives NULL and marks the tree.
 */
#ifndef RS_SYNTAX_ARENA_H
#define RS_SYNTAX_ARENA_H

#include "base/list.h"
#include "syntax/tree.h"

/* Zeroed; of no bytes too. */
void *rs_syntax_allocate(rs_syntax *tree, size_t size);

/* NULL for NULL. */
const char *rs_syntax_copy(rs_syntax *tree, const char *string);

/* What an allocation says, whose failure marks the tree. */
static inline bool rs_syntax_check(rs_syntax *tree, bool is_done)
{
    tree->out_of_memory |= !is_done;
    return is_done;
}

void rs_syntax_free_chunks(rs_syntax *tree);

#endif
