/*
 * A record: the bytes of one C structure as a list of leaves that move as a whole. Leaves are
 * sorted by offset, do not overlap, and together with the padding leaves cover the structure
 * exactly once.
 */
#ifndef RS_LAYOUT_RECORD_H
#define RS_LAYOUT_RECORD_H

#include "base/status.h"

#include <stdbool.h>
#include <stddef.h>

typedef struct {
    char *name;    /* "v[2]", "inner.x"; NULL for padding */
    size_t offset; /* bytes from the start of the structure; a multiple of its alignment, unless
                      the structure is packed */
    size_t size;   /* bytes: 1, 2, 4, 8 or more (a 3-vector has the size of 4) */
    bool padding;
    size_t alignment; /* of one entry; 0: the largest power of two that divides the size */
    const char *type; /* C's name of a scalar in it, static: "float", "int32_t"; NULL: not known */
    size_t lanes;     /* of a vector of such scalars, else 1; `size` may be several vectors */
} rs_leaf;

typedef struct {
    size_t size;      /* bytes of the whole structure, trailing padding included */
    size_t alignment; /* bytes */
    size_t leaf_count;
    rs_leaf *leaves;
} rs_record;

/* Appends one leaf; the name is copied. Leaves come in the order of their offsets. */
restride_status rs_record_add_leaf(rs_record *record, const char *name, size_t offset, size_t size);

/*
 * Sets the structure's size and alignment and fills every gap with padding leaves, each a naturally
 * aligned power of two. Fails with a sentence when leaves overlap or one is not a multiple of its
 * size from the start of the structure.
 */
restride_status rs_record_complete(rs_record *record, size_t size, size_t alignment);

/* The same for a structure whose members may lie at any bytes, as NumPy's do. Its alignment is what
 * its members have where each lies aligned, and else 1. */
restride_status rs_record_complete_packed(rs_record *record, size_t size);

/* Whether two records have the same leaves at the same places (names do not count). */
bool rs_record_equal(const rs_record *a, const rs_record *b);

/* How many leaves from `first` on, itself included, have its size. */
size_t rs_record_run(const rs_record *record, size_t first);

restride_status rs_record_copy(rs_record *copy, const rs_record *record);
void rs_record_free(rs_record *record); /* the leaves, not the record itself */

#endif
