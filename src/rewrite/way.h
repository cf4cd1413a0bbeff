/* The way from the mention of a pointer up the syntax tree to what is done with it. */
#ifndef RS_REWRITE_WAY_H
#define RS_REWRITE_WAY_H

#include "rewrite/model.h"

/* What the expression at a node of the way stands for. */
typedef enum {
    RS_AT_POINTER,
    RS_AT_STRUCTURE,
    RS_AT_ARRAY,
    RS_AT_ELEMENT_POINTER,
    RS_AT_LEAF,
    RS_AT_END,    /* an access */
    RS_AT_NOTHING /* the value ends here, without an access */
} rs_way_place;

typedef struct {
    rs_model *model;
    const rs_tree *tree;
    int argument;
    rs_member_access access;
    int node;
    rs_way_place place;
    const rs_syntax_type *type; /* of what the node stands for, canonical; not for RS_AT_POINTER */
    const rs_syntax_type *target; /* of a pointer */
    restride_status status;       /* RESTRIDE_OK, or memory is short */
} rs_way;

/* One step; NULL, or why it is not understood. That from a pointer may need memory. */
const char *rs_step_from_pointer(rs_way *way, int up, restride_status *status);
const char *rs_step_from_structure(rs_way *way, int up);
const char *rs_step_from_array(rs_way *way, int up);
const char *rs_step_from_leaf(rs_way *way, int up);

restride_status rs_model_add_access(rs_model *model, const rs_member_access *access);

/* Goes on to `node`, an lvalue of `type` behind a pointer. */
const char *rs_way_arrive(rs_way *way, int node, const rs_syntax_type *type);

/* Goes on to `node`, whose value is a pointer into the buffer; what led there stays as it is
 * written. */
const char *rs_way_point(rs_way *way, int node, const char *otherwise);

/* The same for a cast, which may also make a pointer to members of one to structures. */
const char *rs_way_cast(rs_way *way, int node, const char *otherwise);

/* Notes the type of a scalar or vector as new code writes it; false for others. */
bool rs_way_name_leaf(rs_way *way, const rs_syntax_type *type);

/* Goes through ".name" or "->name". */
const char *rs_way_enter(rs_way *way, int member, const char *symbol);

/* Notes whether what the node stands for, or lanes of it, is written by the expression around it.
 */
void rs_way_note_writing(rs_way *way);

/* Whether the source has a function of this name; the built-in ones are not in the tree. */
bool rs_is_user_function(const rs_tree *tree, const char *name);

/* Whether a call is one of a plain function, or of what the language has as one. */
bool rs_is_function_call(const rs_tree *tree, int call);

/* The byte behind an operand: libclang leaves out the last bracket of "(float4)(x)". */
size_t rs_operand_end(const rs_tree *tree, int node);

/*
 * Whether the pointer (or the array member) of this way is passed to a function of OpenCL that
 * reads or writes several elements, and can be replaced. Then the way ends there.
 */
bool rs_way_pass_pointer(rs_way *way, int call);
bool rs_way_pass_array(rs_way *way);

/* Whether the call only tells the device what may be read soon: wherever that lies, the results
 * are the same. */
bool rs_is_prefetch(const rs_tree *tree, int call);

/* Whether the call is to one of OpenCL's atomic functions on plain integers. */
bool rs_is_atomic_call(const rs_tree *tree, int call);

#endif
