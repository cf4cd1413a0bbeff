/*
 * Names that may hide types. Generated accesses name types inside functions (a structure, or a
 * vector such as float4), and functions that copy structures name them outside, where something
 * else of that name would come first. What a function declares hides nothing in another one.
 */
#ifndef RS_REWRITE_NAMES_H
#define RS_REWRITE_NAMES_H

#include "rewrite/model.h"

#include <stdint.h>

typedef enum {
    RS_NAME_INSIDE,      /* of anything that is declared in a function */
    RS_NAME_TYPE_INSIDE, /* of what comes first behind "struct" and its kin, or before "::" */
    RS_NAME_OUTSIDE,     /* of functions, variables and constants outside of functions */
    RS_NAME_TYPE,        /* of types there */
    RS_NAME_OPENED,      /* of what "using namespace" makes names outside of functions */
    RS_NAME_TYPE_OPENED  /* of types among them */
} rs_name_kind;

typedef struct {
    rs_name_kind kind;
    size_t function; /* where it is first declared; RS_ANY_FUNCTION for names of all functions */
    char *text;      /* not terminated: `length` bytes */
    size_t length;
} rs_name;

#define RS_ANY_FUNCTION SIZE_MAX

typedef struct {
    rs_name *items; /* sorted */
    size_t count;
} rs_names;

restride_status rs_names_find(rs_names *names, const rs_tree *tree, rs_kernel_language language);

/* Whether something hides a type, written as "NAME", "struct NAME" or "struct N::NAME<ARGUMENTS>":
 * in a function, or outside of all. */
bool rs_names_hide_inside(const rs_names *names, const rs_function *function, const char *type);
bool rs_names_hide_outside(const rs_names *names, const char *type);

void rs_names_free(rs_names *names);

/*
 * How generated code writes the type that a cursor declares, the caller's to free; NULL where it
 * cannot: *is_private then tells that it belongs to a class alone, else it has no name, or
 * one with brackets in it.
 */
restride_status rs_type_write(const rs_model *model, CXCursor declaration, char **written,
                              bool *is_private);

/* The same for an enumeration, of any qualifiers. */
restride_status rs_enumeration_write(const rs_model *model, CXType type, char **written);

bool rs_has_name(const rs_structure *structure);

#endif
