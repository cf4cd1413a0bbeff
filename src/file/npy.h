/*
 * NumPy's file format .npy, versions 1.0, 2.0 and 3.0: its header, and the header of the same array
 * with another shape. The values themselves are never looked at, so their byte order does not
 * matter. (NumPy Enhancement Proposal 1; numpy.lib.format.)
 */
#ifndef RS_FILE_NPY_H
#define RS_FILE_NPY_H

#include "layout/record.h"

#include <stdbool.h>
#include <stddef.h>

enum {
    RS_NPY_MAX_RANK = 64,
    RS_NPY_MAX_HEADER = 1 << 20 /* bytes; a longer header is refused */
};

typedef struct {
    unsigned char version[2];
    size_t header_bytes; /* before the first element */
    char *type;          /* the text of 'descr', as it stands in the header */
    size_t item_bytes;   /* of an element, at least 1 */
    bool structured;
    bool fortran_order;
    int rank;
    size_t shape[RS_NPY_MAX_RANK]; /* all at least 1 */
    size_t data_bytes;
} rs_npy;

/*
 * Reads a header from the first `available` bytes of a file of `file_bytes` bytes; enough are
 * RS_NPY_MAX_HEADER or all. `name` is for sentences. RESTRIDE_SYNTAX: it is not such a header;
 * RESTRIDE_UNSUPPORTED: elements that are Python objects, or an array without elements or axes;
 * RESTRIDE_IO: the file is shorter than its header says. On success the caller calls rs_npy_free().
 */
restride_status rs_npy_read(rs_npy *npy, const char *name, const void *bytes, size_t available,
                            size_t file_bytes);
void rs_npy_free(rs_npy *npy);

/*
 * The header of an array whose elements are those of `npy` in another shape or order: as long as
 * the old one, npy->header_bytes bytes, which `header` has room for. RESTRIDE_UNSUPPORTED when the
 * new numbers need more room than there is.
 */
restride_status rs_npy_write(const rs_npy *npy, const char *name, int rank, const size_t shape[],
                             bool fortran_order, char *header);

/*
 * The members of a structured element as a record: nested structures and arrays inside it become
 * leaves "a.b" and "v[2]", unnamed bytes become padding. RESTRIDE_UNSUPPORTED when a member does
 * not lie at a multiple of its size, or there are too many. The caller calls rs_record_free().
 */
restride_status rs_npy_record(const rs_npy *npy, const char *name, rs_record *record);

#endif
