/*
 * Instances of second forms: which there are, what makes a compiler instantiate them, and their
 * names for the linker.
 */
#ifndef RS_COMPANION_INSTANCES_H
#define RS_COMPANION_INSTANCES_H

#include "companion/copies.h"

#include <stdint.h>

/* How the elements are numbered in the forms of a kernel: restride_full and so on (prelude.cuh). */
enum { RS_COMPANION_FORMS = 4 };
extern const char *const rs_companion_forms[RS_COMPANION_FORMS];

/* A kernel that is no template, or an instance of one, with a second form. */
typedef struct {
    const rs_syntax_declaration *kernel;
    size_t of;                         /* its place in the list of kernels */
    uint64_t transformed;              /* its own parameters that are */
    char *name;                        /* "sim::move<float>" */
    char *symbol;                      /* mangled */
    char *names[RS_COMPANION_FORMS];   /* "sim::move__asta<float, restride_full>" */
    char *symbols[RS_COMPANION_FORMS]; /* mangled */
} rs_companion_instance;

typedef struct {
    rs_companion_instance *at;
    size_t count;
} rs_companion_instances;

/* Adds a kernel's, or an instance's, second forms, if it has any and they have names outside of
 * functions. Groups are in full tiles: there the full forms stand for the ragged ones. */
restride_status rs_instances_add(rs_companion_instances *all, const rs_syntax_declaration *kernel,
                                 size_t of, uint64_t transformed, const rs_companion_copies *copies,
                                 bool has_groups);

/* A function for each form that names it; the host's, for nobody calls them. */
void rs_instances_use(rs_text *uses, const rs_companion_instances *all);

/* Finds the mangled names in a tree that was read from the companion and these functions. */
restride_status rs_instances_read(rs_companion_instances *all, const rs_syntax *tree);

/* Drops them all, the second with their memory. */
void rs_instances_drop(rs_companion_instances *all);
void rs_instances_free(rs_companion_instances *all);

#endif
