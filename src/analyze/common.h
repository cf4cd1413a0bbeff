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
#include "analyze/translation_unit.h"

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

/* Collects all of a program; false when memory is short. */
bool rs_common_find(const rs_translation_unit *program, rs_common_list *found);
void rs_common_free(rs_common_list *list);

#endif
