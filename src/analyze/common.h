/*
 * What the work-items of a kernel have in common and write: __shared__ and __device__ variables,
 * those of the file, static ones, and arrays. What is read from one of them may be what another
 * work-item wrote, whatever this one did. A kernel that reads such a thing is walked twice: first
 * to find what it writes anywhere. So is a function that loads what its loops store: it is another
 * number in each iteration.
 */
#ifndef RS_ANALYZE_COMMON_H
#define RS_ANALYZE_COMMON_H

#include "analyze/model.h"
#include "analyze/program.h"

/* Variables of a program that are no arrays. */
typedef struct {
    uint64_t key;
    char *name;
    bool outlives; /* of the file, or static: functions that are not there may write it */
    bool group;    /* the work-items of one group have it, and no others */
    bool integer;
} rs_common;

typedef struct {
    rs_common *list;
    int count;
} rs_common_list;

/* Whether it is declared __shared__. */
bool rs_variable_is_shared(CXCursor declared);

/* Collects all of a program; false when memory is short. */
bool rs_common_find(const rs_translation_unit *program, rs_common_list *found);
void rs_common_free(rs_common_list *list);

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
} rs_contest;

void rs_contest_free(rs_contest *contest);

#endif
