/* Extents of grids, which are text: what they mean at a place of the program. */
#ifndef RS_ANALYZE_EXTENTS_H
#define RS_ANALYZE_EXTENTS_H

#include "analyze/propagation.h"

/* Whether two extents are the same text, or one is not told. */
bool rs_extent_same(const char *a, const char *b);

/* Whether the names of an extent are the same variables at two bytes of the text. */
bool rs_extent_means_same(const rs_tree *tree, const char *extent, size_t here, size_t there);

/* Whether a name of an extent that is written at a byte is declared in a part of the text. */
bool rs_extent_is_declared_in(const rs_tree *tree, const char *extent, size_t at, size_t begin,
                              size_t end);

/* Whether two declared grids have the same extents and elements. */
bool rs_extents_same(const rs_translation_unit *program, const rs_propagation *found, int a, int b);

/* The declaration that a name stands for at a byte: the innermost one before it, of a variable, a
 * function or a type; -1 for none. */
int rs_extent_resolve(const rs_tree *tree, const char *name, size_t length, size_t at);

/* Whether a variable is only read once the bytes of the text at `at` are reached. */
bool rs_extent_is_settled(const rs_tree *tree, int declaration, size_t at);

/* Whether an extent can be computed again and gives the same: numbers and variables alone. */
bool rs_extent_is_plain(const char *extent);

#endif
