/*
 * Copies of functions in which pointers and references to elements have class types: which
 * functions, and what of their text differs.
 */
#ifndef RS_COMPANION_COPIES_H
#define RS_COMPANION_COPIES_H

#include "base/text.h"
#include "facts/elements.h"
#include "source/edits.h"

typedef struct {
    const rs_syntax_declaration *function; /* one of its instances */
    const rs_fact_shape *shapes;           /* of its parameters */
    bool is_method; /* of an element, which the copy gets as `restride_this` */
    char *name;     /* of the copy */
    rs_edits edits; /* of the function's file */
    char form[64];  /* a template's parameter that stands for a pointer; "" for none */
    bool is_kernel;
    bool is_wrapper; /* of a toolkit's function, which gets a copy of the element */
} rs_companion_copy;

/* In the order in which they must stand: a function before those that call it. */
typedef struct {
    rs_companion_copy *at;
    size_t count;
    size_t main_file; /* where they will stand */
} rs_companion_copies;

/* Why a text cannot be copied so; `what` is NULL when it can. */
typedef struct {
    uint64_t arguments;
    rs_syntax_range range;
    const char *what;
} rs_companion_problem;

/* Adds what the frames of a kernel need to be copied, without a refusal among them. With a problem
 * the list is unchanged. */
restride_status rs_companion_copies_add(rs_companion_copies *copies, const rs_fact_elements *facts,
                                        rs_companion_problem *problem);
/* Drops all but the first `count`. */
void rs_companion_copies_drop(rs_companion_copies *copies, size_t count);
void rs_companion_copies_free(rs_companion_copies *copies);

/* The name of the class that holds a method's copy, behind its namespace where `is_qualified`. */
void rs_companion_method_class(rs_text *text, const rs_syntax_declaration *method,
                               bool is_qualified);

/* The length of a method's class in its qualified name. */
size_t rs_companion_class_length(const rs_syntax_declaration *method);

/* Whether a function with these shapes needs a copy: others take what they are given as it is. */
bool rs_companion_is_copied(const rs_fact_frame *frame);

#endif
