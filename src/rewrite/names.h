/*
 * Names that may hide types. Generated accesses name types inside functions (a structure, or a
 * vector such as float4), where something else of that name would come first. What a function
 * declares hides nothing in another one.
 */
#ifndef RS_REWRITE_NAMES_H
#define RS_REWRITE_NAMES_H

#include "rewrite/model.h"

#include <stdint.h>

typedef enum {
    RS_NAME_INSIDE,     /* of anything that is declared in a function */
    RS_NAME_TYPE_INSIDE /* of what comes first behind "struct" and its kin */
} rs_name_kind;

typedef struct {
    rs_name_kind kind;
    uintptr_t function; /* its declaration */
    char *text;         /* not terminated: `length` bytes */
    size_t length;
} rs_name;

typedef struct {
    rs_name *items; /* sorted */
    size_t count;
} rs_names;

restride_status rs_names_find(rs_names *names, const rs_tree *tree);

/* Whether something in a function hides a type, written as "NAME" or "struct NAME". */
bool rs_names_hide(const rs_names *names, const rs_function *function, const char *type);

void rs_names_free(rs_names *names);

#endif
