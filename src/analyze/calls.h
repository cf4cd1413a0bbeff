/* Calls as calls.c and unknown_calls.c see them: the first enters functions whose source is there,
 * the other says what a call that is not entered could touch. */
#ifndef RS_ANALYZE_CALLS_H
#define RS_ANALYZE_CALLS_H

#include "analyze/walk.h"

enum { RS_CALL_NAME_ROOM = 128, RS_CALL_ARGUMENTS = 32 };

typedef struct {
    int nodes[RS_CALL_ARGUMENTS];
    int count;
} rs_call_arguments;

void rs_call_name(const rs_walk *walk, int node, char name[RS_CALL_NAME_ROOM]);

/* What such a call does with an address: everything around it may be touched. */
void rs_call_escape(rs_walk *walk, const rs_value *address, int node, bool writes);
rs_value rs_call_unknown(rs_walk *walk, const char *name, int node, const rs_call_arguments *list,
                         const rs_value *values);

#endif
