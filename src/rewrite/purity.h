/*
 * What the functions and variables of a source in CUDA C++ do: which functions only compute, and
 * which variables only their names lead to. It is found once for a source, in a time that grows
 * with its size.
 */
#ifndef RS_REWRITE_PURITY_H
#define RS_REWRITE_PURITY_H

#include "base/status.h"
#include "source/tree.h"

typedef enum { RS_PURITY_UNKNOWN, RS_PURITY_SOUGHT, RS_IMPURE, RS_PURE } rs_purity;

/* A function that is defined, or a variable that is mentioned. */
typedef struct {
    CXCursor cursor; /* kind 0: a free place */
    int node;        /* of the function; else -1 */
    rs_purity purity;
    bool address_taken; /* the variable's address is taken, or something refers to it */
    unsigned mark;      /* of the last part that was seen to change it */
} rs_declared;

typedef struct {
    const rs_tree *tree;
    rs_declared *items; /* by their hashes */
    size_t room;        /* a power of two */
    unsigned marks;
} rs_purities;

restride_status rs_purities_find(rs_purities *purities, const rs_tree *tree);

/* What is known of the function or variable that a cursor declares; NULL for nothing. */
rs_declared *rs_declared_find(const rs_purities *purities, CXCursor cursor);

/* A variable of a function that nothing but its own name leads to, as long as nobody takes its
 * address. */
bool rs_is_plain_variable(CXCursor declared);

/* Whether what a name tells is constant, or only that name changes it: nobody takes its address or
 * refers to it. */
bool rs_is_private(const rs_purities *purities, CXCursor declared);

/* Whether a node, apart from what is below it, only computes from a function's own variables and
 * from constants; memory that it reads may be anybody's. */
bool rs_is_own(rs_purities *purities, int node);

/* Whether a node, apart from what is below it, goes to a place that no variable's name tells. */
bool rs_reads_memory(const rs_tree *tree, int node);

void rs_purities_free(rs_purities *purities);

#endif
