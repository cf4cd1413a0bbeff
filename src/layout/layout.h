/* The inside of a layout, for the rooms that plan with it. The public half is restride/layout.h. */
#ifndef RS_LAYOUT_LAYOUT_H
#define RS_LAYOUT_LAYOUT_H

#include "base/text.h"
#include "layout/record.h"
#include "restride/layout.h"

/* More dimensions than this are refused, so that walks over a layout need no memory. */
enum { RS_LAYOUT_MAX_RANK = 16 };

/* Neighbouring structures in a tile of ASTA where nobody says how many, as a number and for texts;
 * and at most. */
#define RS_LAYOUT_TILE 32
#define RS_LAYOUT_TILE_TEXT RS_LAYOUT_QUOTE(RS_LAYOUT_TILE)
#define RS_LAYOUT_QUOTE(number) RS_LAYOUT_QUOTE_EXPANDED(number)
#define RS_LAYOUT_QUOTE_EXPANDED(number) #number
enum { RS_LAYOUT_MOST_TILE = 1 << 20 };

typedef struct {
    char *name;
    size_t extent;
    size_t padded_extent; /* the extent rounded up to the largest padded tile */
    size_t pad;           /* that tile; 1 when nothing is padded */
    bool descending;      /* its terms come from the slowest to the fastest: tiles may be ragged */
    bool is_record;
    rs_record record; /* when is_record */
} rs_dimension;

/* The values v of one term: v = index / divisor % modulus, modulus 0: no upper part above. */
typedef struct {
    int dimension;
    size_t divisor;
    size_t modulus;
    bool padded; /* the last tile is padded to full length */
    bool spread; /* each value is another process's (spread.h) */
} rs_term;

/* What the term makes of an index. */
static inline size_t rs_term_value(const rs_term *term, size_t index)
{
    size_t value = index / term->divisor;
    return term->modulus != 0 ? value % term->modulus : value;
}

struct restride_layout {
    int rank;
    rs_dimension *dimensions; /* slowest first, as in the dimension list */
    int term_count;
    rs_term *terms;  /* slowest first */
    int record;      /* the dimension that is a record, or -1 */
    bool spread;     /* over processes, as some of its terms are: see spread.h */
    size_t size;     /* of the whole array with its padding: elements, or bytes with a record */
    size_t unit;     /* bytes of an element; 0: not known, or a record says it of each leaf */
    rs_leaf element; /* its type, when the unit is known */
    char *dims_text;
    char *expression_text; /* as given */
};

/* Bytes of the array: from the record, from the dimension list, or for elements of `elem_size`
 * bytes. False when they do not fit in size_t; 0 when nothing says how large an element is. */
bool rs_layout_count_bytes(const restride_layout *layout, size_t elem_size, size_t *bytes);

/* The size of an element: what the dimension list or else the caller says, and 0 with a record.
 * Fails where nobody says it, and where they differ. */
restride_status rs_layout_check_element(const restride_layout *layout, size_t *elem_size);

/* Where a text was at fault, for a caret below it. */
typedef struct {
    bool known;
    bool in_dims;    /* in the dimension list, not in the expression */
    size_t position; /* bytes from its start */
} rs_layout_fault;

/* restride_layout_parse() that also says where the fault is; `fault` may be NULL. */
restride_status rs_layout_parse(restride_layout **layout, const char *dims, const char *expression,
                                rs_layout_fault *fault);

/* The same of a layout that may spread its array over processes. It is for spread.h alone: it has
 * no offsets of its own. */
restride_status rs_layout_parse_spread(restride_layout **layout, const char *dims,
                                       const char *expression, rs_layout_fault *fault);

/*
 * The inverse of restride_layout_offset(): the element that covers `offset`, which is below the
 * size. An index beyond its extent means padding. The result is the number of bytes into a record's
 * leaf, else 0.
 */
size_t rs_layout_index(const restride_layout *layout, size_t offset, size_t index[]);

/* The three forms of a layout that the rewriter and the engines know by name. */
typedef enum { RS_FORM_AOS, RS_FORM_SOA, RS_FORM_ASTA, RS_FORM_OTHER } rs_layout_form;

/*
 * Classifies a layout of one index dimension and one other dimension, which is the record or else
 * the last; *tile is T for ASTA, else 0. A layout that is padded beyond its extent is
 * RS_FORM_OTHER; ASTA with tiles of 1 is AoS.
 */
rs_layout_form rs_layout_classify(const restride_layout *layout, size_t *tile);

/*
 * A layout of `count` records (dimensions "i" and "f") without a dimension list: the record is
 * copied. The accessor of such a layout takes the count at run time, so any count serves to
 * generate one.
 */
restride_status rs_layout_of_record(restride_layout **layout, const rs_record *record, size_t count,
                                    const char *expression);

/* Writes P_offset() of an accessor alone, for generated kernels; `prefix` is a C identifier.
 * `narrow`: its arguments are of 32 bits with a sign, which saves instructions where the layout has
 * no record, padding or digits; others are not changed by it. */
void rs_layout_write_offset(const restride_layout *layout, restride_dialect which,
                            const char *prefix, bool narrow, rs_text *out);

#endif
