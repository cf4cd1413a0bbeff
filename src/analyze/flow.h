/*
 * The lattice and the transfer functions of propagate.h: extended types of pointers, what is known
 * of all variables at one place of a program, and the meet of two such places. flow.c has them,
 * propagate.c walks the program.
 */
#ifndef RS_ANALYZE_FLOW_H
#define RS_ANALYZE_FLOW_H

#include "analyze/propagation.h"

typedef enum {
    RS_EXTENDED_NEW,           /* fresh memory or none: it fits every layout */
    RS_EXTENDED_UNTRANSFORMED, /* UT */
    RS_EXTENDED_GRID,          /* a layout */
    RS_EXTENDED_REFERENCE,     /* the address of a pointer variable */
    RS_EXTENDED_INCOMPATIBLE
} rs_extended_kind;

typedef struct {
    rs_extended_kind kind;
    int class;       /* of a grid */
    int grid;        /* the declaration that tells its extents where we are */
    uint64_t target; /* of a reference: the variable that it points to; of new memory: the variable
                        that has its only address, or 0 */
    int source;      /* of new memory: the call that allocates it; 0: none, -1: not one alone */
    int via;         /* the call of the function in which that is; 0: this function */
} rs_extended_type;

typedef struct {
    uint64_t key;
    rs_extended_type type;
} rs_typed_variable;

/* What is known at one place; nothing when the place is not reached. */
typedef struct {
    rs_typed_variable *variables;
    int count;
    bool unreached;
} rs_flow;

/* What transfer functions need to say and to change. */
typedef struct {
    const rs_translation_unit *program;
    rs_propagation *found;
    uint64_t *escaped; /* variables whose address went where it is not followed */
    int escaped_count;
    bool no_memory;
} rs_flow_context;

#define RS_EXTENDED_OF(the_kind) ((rs_extended_type){.kind = (the_kind), .class = -1, .grid = -1})
#define RS_UNTRANSFORMED_TYPE RS_EXTENDED_OF(RS_EXTENDED_UNTRANSFORMED)

rs_extended_type rs_flow_get(const rs_flow *flow, uint64_t key);
void rs_flow_set(rs_flow_context *context, rs_flow *flow, uint64_t key, rs_extended_type type);
rs_flow rs_flow_copy(rs_flow_context *context, const rs_flow *from);
void rs_flow_free(rs_flow *flow);

/* flow := flow meet other, at a node. */
void rs_flow_meet(rs_flow_context *context, rs_flow *flow, const rs_flow *other, int node);
bool rs_flow_equal(const rs_flow_context *context, const rs_flow *a, const rs_flow *b);

/* Table 6.2. */
rs_extended_type rs_type_meet(rs_flow_context *context, rs_extended_type a, rs_extended_type b,
                              int node);

/* A value goes where it is not followed: a grid stays as it is, a variable whose address this is
 * can hold anything from now on, and new memory is no longer known by one name only. */
void rs_type_lose(rs_flow_context *context, rs_flow *flow, rs_extended_type type, int node,
                  const char *what);

/* Whether the address of a variable went where it is not followed; and that it does. */
bool rs_flow_has_escaped(const rs_flow_context *context, uint64_t key);
void rs_flow_escape(rs_flow_context *context, rs_flow *flow, uint64_t key, int node);

/* What escaped variables hold is lost as well. */
void rs_flow_settle(rs_flow_context *context, rs_flow *flow, int node);

/* The class stays as it is, for a reason that the first call gives. */
void rs_class_keep(rs_flow_context *context, int class, int node, const char *format, ...)
    RS_PRINTF(4, 5);
void rs_class_keep_at(rs_flow_context *context, int class, size_t offset, const char *sentence);

void rs_class_unite(rs_flow_context *context, int a, int b);

/* A declared pointer may point to the class. */
void rs_grid_link_add(rs_flow_context *context, int grid, int class);

/* A declared grid stays as it is, for a reason with its name in the place of %s. */
void rs_grid_keep_declared(rs_flow_context *context, int grid, int node, const char *format);

/* The name of a grid, at most 63 bytes. */
const char *rs_grid_name(const rs_translation_unit *program, int grid, char name[64]);

#endif
