/* NumPy's array-protocol type strings and structured types, as they stand in .npy headers. */
#ifndef RS_FILE_NPY_TYPE_H
#define RS_FILE_NPY_TYPE_H

#include "file/literal.h"
#include "layout/record.h"

/* Reads a type: the bytes of an element, and whether it has members. RESTRIDE_UNSUPPORTED for
 * Python objects. */
restride_status rs_npy_type_read(rs_literal *text, size_t *bytes, bool *structured);

/* Reads a structured type of `bytes` bytes and completes `record` with its members. */
restride_status rs_npy_type_leaves(rs_literal *text, size_t bytes, rs_record *record);

#endif
