/*
 * Where the elements of an array go: which declarations and expressions of a kernel, and of the
 * functions that it calls, are pointers to elements of its arguments, elements, or parts of them.
 *
 * Definition. An expression has a shape when its value, or the place that it names, derives from a
 * pointer that one of the chosen arguments holds. A function is looked at once for each list of
 * shapes that its parameters get (a frame). Flow within a frame does not matter: a declaration has
 * one shape for all of its life.
 *
 * Sound, because the contexts in which something with a shape may stand are a white list: whatever
 * stands elsewhere is in `refusals`, with the arguments that it may derive from, and so are
 * declarations that take values of different shapes, text that the tree does not show (operands of
 * sizeof, lambdas) and names a declaration with a shape, and pointers to the same structure that
 * come from memory, which may point into the array. Without
 * refusals every access to the arrays' memory through these arguments is an expression with a
 * shape. Not asked: whether two arguments are the same array.
 */
#ifndef RS_FACTS_ELEMENTS_H
#define RS_FACTS_ELEMENTS_H

#include "base/map.h"
#include "syntax/tree.h"

#include <stdint.h>

typedef enum {
    RS_SHAPE_NONE,
    RS_SHAPE_POINTER, /* to elements */
    RS_SHAPE_ELEMENT, /* the place of one */
    RS_SHAPE_RECORD,  /* a member that is a structure, whose members lie apart */
    RS_SHAPE_ARRAY,   /* a member that is an array */
    RS_SHAPE_LEAF,    /* a member that lies together: numbers, pointers, vectors */
    RS_SHAPE_LEAF_POINTER,
    RS_SHAPE_BITS /* a bit-field: no reference to it can be had */
} rs_fact_shape;

typedef struct {
    rs_fact_shape shape;
    uint64_t arguments; /* bits: which of the kernel's parameters it may derive from */
} rs_fact_element;

/* A function with shapes of its parameters; the kernel is the first. */
typedef struct {
    const rs_syntax_declaration *function;
    rs_fact_element *parameters;
    rs_fact_element object; /* what `this` is: a pointer to an element, or nothing */
    rs_fact_element returned;
    rs_map nodes, declarations; /* those with a shape, to rs_fact_element */
    rs_map calls;               /* of CALL nodes, to the frame that they enter */
    /* Conditional text, in whole lines, that names one of these but was not read: it holds with
     * other macros, about which nothing is known here. */
    rs_syntax_range *unread;
    size_t unread_count;
} rs_fact_frame;

typedef struct {
    uint64_t arguments;
    rs_syntax_range range;
    const char *what; /* a construct, for a sentence */
} rs_fact_refusal;

/* What follows elements and what copies functions both say. */
#define RS_FACT_OWN_COPIES "a structure with its own copy, assignment or destructor is copied"

/* Whether a member of this type lies together; if not, it is an array or a structure. */
typedef bool rs_fact_is_whole(const rs_syntax *tree, const rs_syntax_type *type);

typedef struct {
    rs_syntax *tree;
    const rs_syntax_declaration *kernel;
    rs_fact_is_whole *is_whole;
    rs_fact_frame **frames;
    size_t frame_count;
    rs_fact_refusal *refusals;
    size_t refusal_count;
    bool has_changed, is_final, failed; /* the walk's */
} rs_fact_elements;

/* `arguments`: the parameters to follow, all pointers to structures. RESTRIDE_OUT_OF_MEMORY. */
restride_status rs_fact_elements_read(rs_fact_elements *facts, rs_syntax *tree,
                                      const rs_syntax_declaration *kernel, uint64_t arguments,
                                      rs_fact_is_whole *is_whole);
void rs_fact_elements_free(rs_fact_elements *facts);

rs_fact_element rs_fact_node_shape(const rs_fact_frame *frame, const rs_syntax_node *node);
rs_fact_element rs_fact_declaration_shape(const rs_fact_frame *frame,
                                          const rs_syntax_declaration *declaration);

/*
 * Whether a function of the toolkit works on one element: cuRAND's, on the generator that it gets,
 * which each call changes. A copy of the element may be given to it and stored back: threads that
 * share an element would race without the copy, too.
 */
bool rs_fact_works_on_element(const rs_syntax_declaration *function);

/* Whether a function only reads what its references (and `this`) refer to, changes nothing but its
 * own variables, and returns no way to what it read: a copy may stand for each of them. */
bool rs_fact_only_reads(rs_syntax *tree, const rs_syntax_declaration *function);

/* Whether an expression of a function changes nothing but the function's own variables. */
bool rs_fact_only_reads_in(rs_syntax *tree, const rs_syntax_declaration *function,
                           const rs_syntax_node *expression);

#endif
