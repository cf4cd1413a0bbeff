/*
 * An index into a flat array that holds each member of all records together (SoA, or the discrete
 * arrays of Sung's thesis): `a[f * n + i]` is member `f` of record `i`. What the members and the
 * records are is only guessed from the text, by the name of the number of records; the generated
 * code checks it where it runs, and else takes the index as a whole.
 */
#ifndef RS_REWRITE_PLANES_H
#define RS_REWRITE_PLANES_H

#include "rewrite/linear.h"

typedef struct {
    rs_linear sum; /* the terms; `counts_records` are those multiplied by the number of records */
    long long planes; /* what that number is multiplied by beside them */
    int extent;       /* a node that is the number of records; -1: none was seen */
    bool narrow;      /* all is computed in 32 bits without a sign */
} rs_planes;

/* Takes the index of a flat access apart; `extent` is the text of the number of records. */
void rs_planes_of_access(rs_planes *planes, const rs_tree *tree, const rs_member_access *access,
                         const char *extent);

#endif
