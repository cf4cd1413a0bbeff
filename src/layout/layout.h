/* The inside of a layout, for the rooms that plan with it. The public half is restride/layout.h. */
#ifndef RS_LAYOUT_LAYOUT_H
#define RS_LAYOUT_LAYOUT_H

#include "layout/record.h"
#include "restride/layout.h"

typedef struct {
    char *name;
    size_t extent;
    bool is_record;
    rs_record record; /* when is_record */
} rs_dimension;

/* The values v of one term: v = index / divisor % modulus, with modulus 0 for "no upper part
 * above". */
typedef struct {
    int dimension;
    size_t divisor;
    size_t modulus;
    bool padded; /* the last tile is padded to full length */
} rs_term;

struct restride_layout {
    int rank;
    rs_dimension *dimensions; /* slowest first, as in the dimension list */
    int term_count;
    rs_term *terms; /* slowest first */
    int record;     /* the dimension that is a record, or -1 */
    char *dims_text;
    char *expression_text; /* as given */
};

/* The three forms of a layout that the rewriter and the engines know by name. */
typedef enum { RS_FORM_AOS, RS_FORM_SOA, RS_FORM_ASTA, RS_FORM_OTHER } rs_layout_form;

/* Classifies a layout of one index dimension and one other dimension; *tile is T for ASTA, else 0.
 */
rs_layout_form rs_layout_classify(const restride_layout *layout, size_t *tile);

/* A layout of `count` records (dimensions "i" and "f") without a dimension list: the record is
 * copied. */
restride_status rs_layout_of_record(restride_layout **layout, const rs_record *record, size_t count,
                                    const char *expression);

#endif
