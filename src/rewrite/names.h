/*
 * The names that are declared inside functions. Generated accesses name types there (a structure,
 * or a vector such as float4), which something else of that name would hide.
 */
#ifndef RS_REWRITE_NAMES_H
#define RS_REWRITE_NAMES_H

#include "source/tree.h"

typedef struct {
    char **items; /* sorted; those that follow "struct" and its kin once more, after a blank */
    size_t count;
} rs_inner_names;

restride_status rs_inner_names_find(rs_inner_names *names, const rs_tree *tree);

/* Whether something in a function may hide a type, which is written as "NAME" or "struct NAME". */
bool rs_inner_names_hide(const rs_inner_names *names, const char *type);

void rs_inner_names_free(rs_inner_names *names);

#endif
