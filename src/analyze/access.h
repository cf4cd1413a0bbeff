/*
 * The access matrix M and the offset vector o of a reference (Jang 2011, section 3), its class, and
 * which columns are between threads.
 */
#ifndef RS_ANALYZE_ACCESS_H
#define RS_ANALYZE_ACCESS_H

#include "analyze/model.h"

enum { RS_COLUMN_LIMIT = 24 };

/* A reference has as many of these as apply; more than one is a compound. */
typedef enum {
    RS_CLASS_LINEAR = 1,     /* an entry 1 */
    RS_CLASS_REVERSE = 2,    /* an entry -1 */
    RS_CLASS_SHIFTED = 4,    /* an offset that is not 0 */
    RS_CLASS_OVERLAPPED = 8, /* a row with several entries */
    RS_CLASS_STRIDE = 16,    /* another entry, or the fastest index is not in the last row */
    RS_CLASS_RANDOM = 32,    /* a subscript comes from a loaded value */
    RS_CLASS_SINGLE = 64,    /* M is 0: one address */
    RS_CLASS_UNKNOWN = 128   /* handed to something that is not followed */
} rs_class;

typedef struct {
    const rs_reference *reference;
    int rows, columns;
    int symbols[RS_COLUMN_LIMIT];  /* of the columns, outermost first; then auxiliary ones */
    bool between[RS_COLUMN_LIMIT]; /* the column is between threads */
    bool auxiliary[RS_COLUMN_LIMIT];
    rs_polynomial matrix[RS_SUBSCRIPT_LIMIT][RS_COLUMN_LIMIT];
    rs_polynomial offset[RS_SUBSCRIPT_LIMIT];
    bool divided;      /* one subscript was read as several: i*N + j as [i][j] */
    bool approximated; /* auxiliary terms, or a common case taken */
    unsigned classes;
    /* The columns that each row varies with, where loops start otherwise in each thread too. */
    uint64_t varies[RS_SUBSCRIPT_LIMIT];
    /* Bytes from one thread to the next at one time; unknown when it is not affine. */
    rs_polynomial thread_stride;
} rs_access;

/* The accesses of one unit, one for each reference, in their order. */
typedef struct {
    rs_unit *unit;
    rs_access *accesses;
    bool *threads; /* for each loop of the unit: its iterations are threads */
} rs_accesses;

/* `threads` is copied; NULL: the iterations of no loop are threads. */
restride_status rs_accesses_make(rs_accesses *accesses, rs_unit *unit, const bool *threads);
void rs_accesses_free(rs_accesses *accesses);

/* "linear + shifted" and so on, added to the text. */
void rs_class_print(rs_text *text, unsigned classes);

/* The subscripts, with a flat one divided into dimensions where its strides are parameters. */
int rs_reference_rows(rs_unit *unit, const rs_reference *reference,
                      rs_polynomial rows[RS_SUBSCRIPT_LIMIT], bool *divided);

/* Whether the loops around lead a row of a divided subscript beyond its end or before its
 * beginning, whatever its length is from some number on. */
bool rs_reference_leaves_rows(const rs_unit *unit, const rs_reference *reference);

/* Whether two flat subscripts have the same strides, so that their rows can be compared. */
bool rs_references_divide_alike(const rs_unit *unit, const rs_reference *a, const rs_reference *b);

bool rs_access_same(const rs_access *a, const rs_access *b);
bool rs_access_is_random(const rs_access *access);

/* A column of neighbouring threads, -1 for none: x before y before z; of loops, the innermost. */
int rs_access_neighbour_column(const rs_access *access, const rs_unit *unit);

/* Bytes from one thread of a kernel to the next along x, y or z; unknown when it is not affine. */
rs_polynomial rs_access_stride_along(const rs_access *access, const rs_unit *unit, int dimension);

/* Whether threads touch different addresses at one time. */
bool rs_access_moves_between(const rs_access *access, const rs_unit *unit);

/* Whether two columns are one, or the local and the global index of one dimension. */
bool rs_symbols_step_together(const rs_symbols *symbols, int a, int b);

/* Bytes from one element of a dimension to the next, unknown where an extent is. */
rs_polynomial rs_access_row_stride(const rs_array *array, const rs_reference *reference, int row);

/* The entry of M for a symbol, 0 when it has no such column. */
rs_polynomial rs_access_entry(const rs_access *access, int row, int symbol);

/* The row, not `except`, that moves with `symbol` alone by one; -1 for none. */
int rs_access_single_row(const rs_access *access, int except, int symbol);

#endif
