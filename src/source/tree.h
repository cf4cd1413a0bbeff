/* Parses a flat text into a tree (syntax/flat.h). */
#ifndef RS_SOURCE_TREE_H
#define RS_SOURCE_TREE_H

#include "syntax/flat.h"

/*
 * Parses OpenCL C. `standard` as in -cl-std ("CL1.2"), `address_bits` 32 or 64. A source with
 * errors gives RESTRIDE_OK with `failure` set. The text must outlive the tree.
 */
restride_status rs_tree_parse(rs_tree *tree, const char *text, size_t size, const char *standard,
                              int address_bits);

/* The same for other languages, with libclang's own arguments ("-x", "c", ...) and with files that
 * exist in memory only; what follows an error is kept as far as libclang understands it. */
restride_status rs_tree_parse_as(rs_tree *tree, const char *text, size_t size,
                                 const char *const arguments[], int argument_count,
                                 const rs_tree_file *extra);

#endif
