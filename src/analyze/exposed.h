/*
 * Variables that may change where their name does not stand: those whose address is taken, that a
 * reference or a function object names, and those that outlive their function.
 */
#ifndef RS_ANALYZE_EXPOSED_H
#define RS_ANALYZE_EXPOSED_H

#include "analyze/program.h"

#include <stdint.h>

/* What a pointer to one type may change of another one's variables. */
typedef enum {
    RS_STORED_ANYTHING,
    RS_STORED_INTEGER,
    RS_STORED_FLOATING,
    RS_STORED_POINTER
} rs_stored;

typedef struct {
    uint64_t key;
    int node; /* a place that names it */
    rs_stored type;
    bool lasts; /* it is of the file, or static */
} rs_exposed;

typedef struct {
    rs_exposed *list;
    int count, capacity;
} rs_exposed_list;

/* Collects all of a program; false when memory is short. */
bool rs_exposed_find(const rs_translation_unit *program, rs_exposed_list *found);
void rs_exposed_free(rs_exposed_list *list);

/* Whether a store to this type may change that variable. */
bool rs_stored_may_change(rs_stored stored, rs_stored variable);
rs_stored rs_stored_of(CXType type);

/* Whether a variable outlives its function. */
bool rs_variable_lasts(CXCursor declared);

/* The same, and functions that are not there may have it: all but a __shared__ one of a function.
 */
bool rs_variable_is_open(CXCursor declared);

/* Whether no code of a kernel can write it: it is const, or lies in constant memory. */
bool rs_variable_is_constant(CXCursor declared);

/* Whether a switch has a statement before its condition, "switch (k = 7; n)", which is no node of
 * the tree; its text goes from `begin` to `end`. What it names is exposed. */
bool rs_switch_hides(const rs_tree *tree, int node, size_t *begin, size_t *end);

/* The name at the root of "v", "v.m.n", "v[e]" with v an array: its node; -1 when there is none. */
int rs_root_name(const rs_tree *tree, int node);

#endif
