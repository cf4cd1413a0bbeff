/*
 * The nodes of a flat source's tree (source/tree.h) in the terms of syntax/tree.h: kinds, types and
 * declarations, with nothing of libclang's.
 *
 * Such a tree has a node for each cursor of libclang's, so that it shows more than statements and
 * expressions: declarations, names of types, attributes; and implicit conversions without saying
 * which. Kinds that both trees have are one.
 */
#ifndef RS_SYNTAX_NODES_H
#define RS_SYNTAX_NODES_H

#include "syntax/tree.h"

#include <stdint.h>

/* Kinds that syntax/tree.h has not, or not apart: there a literal's type tells them, and a cast's
 * conversion. */
#define RS_FLAT_NODES(X)                                                                           \
    X(SOURCE) /* the whole of it */                                                                \
    X(NAMESPACE)                                                                                   \
    X(FUNCTION)                                                                                    \
    X(TEMPLATE) /* of a function */                                                                \
    X(METHOD)                                                                                      \
    X(CONVERSION)                                                                                  \
    X(CONSTRUCTOR)                                                                                 \
    X(DESTRUCTOR)                                                                                  \
    X(PARAMETER)                                                                                   \
    X(FIELD)                                                                                       \
    X(STRUCT)                                                                                      \
    X(CLASS)                                                                                       \
    X(UNION)                                                                                       \
    X(ENUM)                                                                                        \
    X(ENUMERATOR)                                                                                  \
    X(TYPEDEF)                                                                                     \
    X(TYPE_PARAMETER)  /* of a template */                                                         \
    X(VALUE_PARAMETER) /* of a template */                                                         \
    X(UNKNOWN_DECLARATION)                                                                         \
    X(INTEGER)                                                                                     \
    X(FLOATING)                                                                                    \
    X(CHARACTER)                                                                                   \
    X(STRING)                                                                                      \
    X(TRUTH_VALUE)                                                                                 \
    X(NULL_POINTER)                                                                                \
    X(COMPOUND_LITERAL)                                                                            \
    X(STATIC_CAST)                                                                                 \
    X(REINTERPRET_CAST)                                                                            \
    X(CONST_CAST)                                                                                  \
    X(FUNCTIONAL_CAST)                                                                             \
    X(ATTRIBUTED) /* a statement with attributes */                                                \
    X(INDIRECT_GOTO)                                                                               \
    X(BLOCK) /* ^{ } */                                                                            \
    X(BASE)                                                                                        \
    X(TYPE_NAME)                                                                                   \
    X(TEMPLATE_NAME)                                                                               \
    X(NAMESPACE_NAME)                                                                              \
    X(MEMBER_NAME)                                                                                 \
    X(VARIABLE_NAME)                                                                               \
    X(LABEL_NAME)                                                                                  \
    X(KERNEL_ATTRIBUTE)                                                                            \
    X(DEVICE_ATTRIBUTE)                                                                            \
    X(HOST_ATTRIBUTE)                                                                              \
    X(SHARED_ATTRIBUTE)                                                                            \
    X(CONSTANT_ATTRIBUTE)

#define RS_FLAT_NODE_ROW(name) RS_NODE_##name,
enum {
    RS_FLAT_NODES_BEFORE = RS_NODE_KINDS - 1,
    RS_FLAT_NODES(RS_FLAT_NODE_ROW) RS_NODE_ANY_KINDS
};
enum { RS_NODE_NONE = -1 };

typedef enum {
    RS_NODES_DECLARE,
    RS_NODES_EXPRESS,
    RS_NODES_STATE,
    RS_NODES_NAME, /* a type, a template, a base, a member before its initializer */
    RS_NODES_ATTRIBUTE,
    RS_NODES_REST
} rs_node_group;

/* --- what is absent, and questions that take it too ------------------------------------------- */

extern const rs_syntax_type rs_type_none;            /* RS_TYPE_OTHER without a name and a size */
extern const rs_syntax_declaration rs_declared_none; /* RS_DECLARATION_OTHER without all else */

bool rs_type_is_integer(const rs_syntax_type *type);  /* bool, too */
bool rs_type_is_unsigned(const rs_syntax_type *type); /* such an integer */
bool rs_type_is_address(const rs_syntax_type *type);  /* a pointer or an array */
bool rs_type_is_record(const rs_syntax_type *type);   /* or a vector */
bool rs_type_is_union(const rs_syntax_type *type);
bool rs_type_is_fixed_array(const rs_syntax_type *type); /* T[N], N a constant */
bool rs_type_is_pointer(const rs_syntax_type *type);     /* or T[] or T[N], as parameters are */

/* What a pointer, a reference, an array or a vector leads to; and an array's innermost element. */
const rs_syntax_type *rs_type_below(const rs_syntax_type *type);
const rs_syntax_type *rs_type_element(const rs_syntax_type *type);

/* As sizeof says: 1 of a function; -1: unknown. */
long long rs_type_bytes(const rs_syntax_type *type);

/* Whether copying its bytes copies it ("POD"). */
bool rs_type_is_plain(const rs_syntax_type *type);

bool rs_is_declared(const rs_syntax_declaration *declared, rs_syntax_declaration_kind kind);
bool rs_is_variable(const rs_syntax_declaration *declared); /* or a parameter */
const rs_syntax_type *rs_declared_type(const rs_syntax_declaration *declared);
const rs_syntax_type *rs_result_type(const rs_syntax_declaration *function);
const rs_syntax_declaration *rs_parameter(const rs_syntax_declaration *function, int which);

#endif
