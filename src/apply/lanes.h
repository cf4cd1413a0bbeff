/*
 * Expressions of a loop's body as vectors: what varies between the elements of a vector, and how it
 * is written in OpenCL C. body.c writes the statements around them.
 */
#ifndef RS_APPLY_LANES_H
#define RS_APPLY_LANES_H

#include "apply/kernels.h"
#include "apply/types.h"

enum { RS_LOCAL_LIMIT = 64, RS_KEPT_LIMIT = 4096 };

/* An expression in OpenCL C. Without a text: there is none, and the nest has a refusal. */
typedef struct {
    char *text;
    rs_kind kind;
    bool vector;
    bool mask; /* 0 and -1 of a comparison of vectors */
} rs_lane_value;

#define RS_NO_VALUE ((rs_lane_value){NULL, RS_KIND_NONE, false, false})

/* A sum that is gathered over the iterations. */
typedef struct {
    int left; /* the node that is assigned */
    int leaf; /* the node that reads it in "x = x + e"; -1 */
    rs_kind kind;
} rs_gathering;

typedef struct {
    const rs_kernels *kernels;
    rs_nest *nest;
    const rs_tree *tree;
    const rs_nest_loop *loop;
    int width, depth;
    size_t variable;               /* the declaration of the loop's */
    size_t locals[RS_LOCAL_LIMIT]; /* declarations of variables that are vectors */
    int local_count;
    const rs_gathering *sum; /* whose statement is written */
    int sums, temporaries, guards;
    rs_text *text, *before, *after;
    char *kept[RS_KEPT_LIMIT]; /* strings of values, until the body is written */
    int kept_count;
    bool no_memory;
} rs_lanes;

/* A value of a text, which is taken over. */
rs_lane_value rs_lanes_make(rs_lanes *b, rs_text *text, rs_kind kind, bool vector);

/* Refuses the nest for an expression: "EXPRESSION what". */
rs_lane_value rs_lanes_refuse(rs_lanes *b, int node, const char *what);
void rs_lanes_indent(rs_lanes *b);

/* As the type that C would convert it to; as a vector; under a name of its own. */
rs_lane_value rs_lanes_convert(rs_lanes *b, rs_lane_value v, rs_kind kind);
rs_lane_value rs_lanes_widen(rs_lanes *b, rs_lane_value v);
rs_lane_value rs_lanes_name(rs_lanes *b, rs_lane_value v);

/* Variables that are vectors. rs_lanes_mark_locals() marks those below a node that get a varying
 * value, and is true when one was new. */
bool rs_lanes_is_local(const rs_lanes *b, size_t declaration);
bool rs_lanes_mark_locals(rs_lanes *b, int node);

/* Whether an expression differs between the elements of a vector. */
bool rs_lanes_varies(const rs_lanes *b, int node);

/* Whether a declaration is in the body. */
bool rs_lanes_is_inside(const rs_lanes *b, size_t offset);

rs_placed rs_lanes_placed(const rs_lanes *b, int reference);
rs_lane_value rs_lanes_load(rs_lanes *b, int node, int reference);
bool rs_lanes_store(rs_lanes *b, int node, int reference, rs_lane_value v);

/* An expression; two values and an operator. */
rs_lane_value rs_lanes_express(rs_lanes *b, int node);
rs_lane_value rs_lanes_calculate(rs_lanes *b, int node, rs_lane_value left, rs_lane_value right,
                                 const char *symbol);

#endif
