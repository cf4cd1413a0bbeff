/* Random structures, and random statements of a kernel on arrays of them. */
#ifndef RS_TESTS_REWRITE_RANDOM_RECORD_H
#define RS_TESTS_REWRITE_RANDOM_RECORD_H

#include "base/text.h"

#include <stdbool.h>

enum { MEMBERS = 5, NESTED_MEMBERS = 2 };

typedef struct {
    const char *type;  /* NULL for the nested structure */
    int lanes;         /* of a vector; 1 for a scalar */
    int rows, columns; /* of an array; 0 for none */
} member;

/* Structure R<k> has these members and may have members of type I<k>. */
typedef struct {
    int count, nested_count;
    member members[MEMBERS], nested[NESTED_MEMBERS];
    bool constant; /* subscripts are numbers: there is no `i` */
} record;

/* Sets all but the flag, and writes struct I<number> and R<number>. */
void write_record(rs_text *out, int number, record *r);

/* Between functions: void touch<number>(struct I<number> *, int). */
void write_touch(rs_text *out, const record *r, int number);

/*
 * Inside kernels with `a`, `b`, `n`, `i`, pointers `pa` and `pb` to their third elements, and
 * functions ata(), atb() that add to a pointer. write_element() ends with "." or "->" unless the
 * element is meant whole; write_path() and write_lane() go on from there.
 */
void write_statement(rs_text *out, const record *r, int number);
void write_element(rs_text *out, const char *buffer, const char *index, bool whole);
const member *write_path(rs_text *out, const record *r, int depth);
void write_lane(rs_text *out, const member *m);

/* A small int: a constant, the index, or something read from an element. */
void write_value(rs_text *out, const record *r, int depth);

#endif
