/*
 * Local variables of which every change is seen: numbers that belong to one work-item, and that
 * nothing else than assignments by their name can reach. What cannot be told apart counts as not
 * seen.
 */
#ifndef RS_REWRITE_LOCALS_H
#define RS_REWRITE_LOCALS_H

#include "rewrite/model.h"

enum { RS_LOCAL_WRITES = 8 };

typedef struct {
    size_t offset; /* of its name in the flat text */
    int node;      /* its declaration */
    bool studied, is_seen;
    int writes[RS_LOCAL_WRITES]; /* assignments, the declaration aside, in the order of the source
                                  */
    int write_count;
} rs_local;

typedef struct {
    const rs_model *model;
    rs_local *items; /* by their offsets */
    int count;
    long long work_left; /* bytes and nodes that may still be looked at */
} rs_locals;

restride_status rs_locals_find(rs_locals *locals, const rs_model *model);

/* The variable that a node mentions; NULL when it is none, or its changes are not all seen. */
const rs_local *rs_locals_mentioned(rs_locals *locals, int node);

/* The node of the value that a variable is declared with, or -1. */
int rs_local_initial(const rs_tree *tree, const rs_local *local);

void rs_locals_free(rs_locals *locals);

#endif
