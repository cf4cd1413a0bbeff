/* The differential property of a tree's ranges: what is cut out of the file is what a node says. */
#ifndef RS_TESTS_SYNTAX_RANGES_H
#define RS_TESTS_SYNTAX_RANGES_H

#include "syntax/tree.h"

typedef struct {
    size_t nodes, in_macros, unknown, wrong;
    char first[400]; /* of what is wrong */
} rs_range_count;

/* Checks every node of the functions of a tree. */
void rs_check_ranges(const rs_syntax *tree, rs_range_count *count);

#endif
