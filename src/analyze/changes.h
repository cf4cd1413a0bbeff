/* What a loop assigns, by the names of variables and by other ways. */
#ifndef RS_ANALYZE_CHANGES_H
#define RS_ANALYZE_CHANGES_H

#include "analyze/walk.h"

/* One assignment to a variable. */
typedef struct {
    uint64_t key;
    int node;    /* of the assignment */
    int target;  /* the variable's expression */
    int by;      /* the expression that is added, -1 for 1 */
    int sign;    /* 1, -1; 0: it is not an addition */
    bool always; /* once in every iteration, at the top level of the body */
    bool data;   /* what is assigned was loaded */
    bool lasts;  /* the variable is static, or of the file: never one of an iteration */
    bool guess;  /* by a function, or a store through a pointer, that may leave it as it is */
} rs_assignment;

typedef struct {
    rs_assignment *list;
    int count;
} rs_changes;

/*
 * The variable, or the member of one, that an expression names; pointers and references count
 * where it is known what they point to.
 */
bool rs_variable_key(rs_walk *walk, int node, uint64_t *key);

/* Whether an expression loads from memory. */
bool rs_loads_memory(const rs_tree *tree, int node);

/* Adds the assignments below a node (-1: none); `always` while all are reached once an iteration.
 */
void rs_changes_collect(rs_walk *walk, int node, bool always, rs_changes *all);

/*
 * Adds the escaped variables that stores through unknown pointers and calls below a node may
 * change; `parts` are the three parts of the loop.
 */
void rs_changes_collect_unseen(rs_walk *walk, int node, const int parts[3], rs_changes *all);

void rs_changes_add(rs_walk *walk, rs_changes *all, const rs_assignment *change);

/* Whether all that concern the whole of a variable are guesses: to assign a member says nothing of
 * the others. */
bool rs_changes_are_guessed(const rs_walk *walk, const rs_changes *all, uint64_t key);

/* How many concern a variable, one that it is a member of, or a member of it. */
int rs_changes_count(const rs_walk *walk, const rs_changes *all, uint64_t key);

#endif
