/* What one function modifies and references of the memory that other work-items see. */
#ifndef RS_ANALYZE_MOD_REF_H
#define RS_ANALYZE_MOD_REF_H

#include <stdbool.h>
#include <stdint.h>

/* A memory (0: any), or a variable, that is stored in a loop, by the loop's number. */
typedef struct {
    uint64_t memory;
    int loop;
} rs_storing;

/* A variable of a group and the array, of all that are, that each pointer leads to which is stored
 * there; 0: more than one, or one that is not known. */
typedef struct {
    uint64_t key, array;
    int value; /* such a pointer, of the walk's values in the second walk; -1: none yet */
} rs_leading;

/* What one function writes, and loads, of that; memories stand beside variables, by their keys. */
typedef struct {
    uint64_t *written, *loaded;
    int written_count, loaded_count;
    rs_storing *storing; /* what it loads as well */
    int storing_count;
    rs_leading *leading;
    int leading_count;
    bool anywhere;  /* it stores through pointers that may lead into any array */
    bool pointers;  /* it stores pointers that it loads */
    bool variables; /* some of what it writes are variables */
    bool settled;   /* this is the second walk */
} rs_mod_ref;

#endif
