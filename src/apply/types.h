/* The arithmetic types of C and OpenCL C, and C's functions of them. */
#ifndef RS_APPLY_TYPES_H
#define RS_APPLY_TYPES_H

#include "syntax/nodes.h"

#include <stdbool.h>

typedef enum {
    RS_KIND_NONE,
    RS_KIND_CHAR,
    RS_KIND_UCHAR,
    RS_KIND_SHORT,
    RS_KIND_USHORT,
    RS_KIND_INT,
    RS_KIND_UINT,
    RS_KIND_LONG,
    RS_KIND_ULONG,
    RS_KIND_FLOAT,
    RS_KIND_DOUBLE
} rs_kind;

rs_kind rs_kind_of(const rs_syntax_type *type);

/* Whether a type is a pointer, or an array, but one whose extent is no constant. */
bool rs_type_is_fixed(const rs_syntax_type *type);
const char *rs_kind_name(rs_kind kind); /* in OpenCL C */
int rs_kind_bytes(rs_kind kind);
bool rs_kind_is_integer(rs_kind kind);

rs_kind rs_kind_promoted(rs_kind kind);
rs_kind rs_kind_common(rs_kind a, rs_kind b); /* the usual arithmetic conversions */
rs_kind rs_kind_mask(rs_kind kind);           /* of a comparison of vectors */

/* A function of <math.h>. */
typedef struct {
    const char *name;   /* without the f of the functions of float */
    const char *opencl; /* its name there */
    int arguments;
} rs_math_function;

/* NULL when the name is none; *is_float for those with an f. */
const rs_math_function *rs_function_find(const char *name, bool *is_float);

#endif
