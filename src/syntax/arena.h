/* The memory of a tree, freed as a whole. An allocation that fails gives NULL and marks the tree.
 */
#ifndef RS_SYNTAX_ARENA_H
#define RS_SYNTAX_ARENA_H

#include "syntax/tree.h"

/* Zeroed; of no bytes too. */
void *rs_syntax_allocate(rs_syntax *tree, size_t size);

/* NULL for NULL. */
const char *rs_syntax_copy(rs_syntax *tree, const char *string);

/* Room for one more in an array of malloc's that is `count` long; false marks the tree. */
bool rs_syntax_grow(rs_syntax *tree, void **array, size_t count, size_t *capacity, size_t element);

void rs_syntax_free_chunks(rs_syntax *tree);

#endif
