/*
 * An index into a flat array of records, as the record and the member in it: `e + 20 * (x + y * w)`
 * with records of 20 members is member `e` of record `x + y * w`, without a division. Whatever
 * cannot be told apart counts as members; the sum is the same.
 */
#ifndef RS_REWRITE_LINEAR_H
#define RS_REWRITE_LINEAR_H

#include "rewrite/model.h"

enum { RS_TERM_LIMIT = 32 };

typedef struct {
    int node;
    long long factor; /* what the node's value is multiplied by */
    bool counts_records;
} rs_linear_term;

typedef struct {
    rs_linear_term terms[RS_TERM_LIMIT];
    int count;
    long long constant; /* members */
    bool overflow;      /* too many terms, or too large ones */
    bool can_wrap;      /* parts of it are computed in unsigned numbers */
} rs_linear;

/* The whole index of a flat access: of a vector's first member. */
void rs_linear_of_access(rs_linear *sum, const rs_tree *tree, const rs_member_access *access,
                         size_t length);

/* Whether an expression only computes, with a value that is known when it is compiled. */
bool rs_constant_value(const rs_tree *tree, int node, long long *value);

#endif
