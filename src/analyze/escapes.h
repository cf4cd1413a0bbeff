/*
 * Variables that may change where their name does not stand: those whose address is taken, that a
 * reference or a function object names, and those that outlive their function.
 */
#ifndef RS_ANALYZE_ESCAPES_H
#define RS_ANALYZE_ESCAPES_H

#include "analyze/translation_unit.h"

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
} rs_escaped;

typedef struct {
    rs_escaped *list;
    int count;
} rs_escaped_list;

/* Collects all of a program; false when memory is short. */
bool rs_escaped_find(const rs_translation_unit *program, rs_escaped_list *found);
void rs_escaped_free(rs_escaped_list *list);

/* Whether a store to this type may change that variable. */
bool rs_stored_may_change(rs_stored stored, rs_stored variable);
rs_stored rs_stored_of(const rs_syntax_type *type);

/* Whether a switch has a statement before its condition, "switch (k = 7; n)", which is no node of
 * the tree; its text goes from `begin` to `end`. What it names escapes. */
bool rs_switch_hides(const rs_tree *tree, int node, size_t *begin, size_t *end);

/* The name at the root of "v", "v.m.n", "v[e]" with v an array: its node; -1 when there is none. */
int rs_root_name(const rs_tree *tree, int node);

#endif
