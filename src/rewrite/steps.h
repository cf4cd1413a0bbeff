/*
 * How far apart neighbouring work-items of dimension 0 are in the value of an expression: for an
 * integer in units of it, for a pointer in bytes. It only says what probably is, for whoever
 * chooses layouts; nothing that is generated depends on it.
 */
#ifndef RS_REWRITE_STEPS_H
#define RS_REWRITE_STEPS_H

#include "rewrite/model.h"

typedef struct {
    enum {
        RS_STEP_NONE,    /* nothing is known to reach it */
        RS_STEP_BY,      /* `distance`, the same for all; 0: all work-items have one value */
        RS_STEP_STRIDED, /* a distance that is the same for all but not known, or several of them */
        RS_STEP_OTHER
    } kind;
    long long distance;
} rs_lane_stride;

/* A variable's value is one that it is set to, moved by all that is added to it. */
typedef struct {
    size_t offset; /* of its name in the flat text */
    rs_lane_stride set, moved;
} rs_step_variable;

typedef struct {
    const rs_model *model;
    rs_step_variable *variables; /* by their offsets */
    int variable_count;
    rs_lane_stride *returned; /* for each function */
} rs_lane_strides;

/* Follows all assignments of a source. */
restride_status rs_steps_find(rs_lane_strides *steps, const rs_model *model);

/* The step of the address of an access, in bytes of the array as it was. */
rs_lane_stride rs_steps_of_access(const rs_lane_strides *steps, const rs_member_access *access);

void rs_steps_free(rs_lane_strides *steps);

#endif
