/*
 * Companions of CUDA C++ sources: the source itself with insertions only, so that it compiles in
 * its place, and holds for each kernel with arrays of structures a second form that reads and
 * writes them in another layout.
 *
 * The second form NAME__asta is a copy of the kernel's text, with its template header and its
 * parameters in their order. In it a pointer to elements has the class type restride_pointer<T>,
 * and an element restride_lvalue<T> (accessors.h): members, subscripts, arithmetic and atomics
 * stay as they are written. Only declarations are retyped, and `.get()` stands where an element is
 * read as a value. Functions that get pointers or references to elements are copied likewise.
 *
 * Sound or silent. The places in which an element or a pointer to one may stand are a white list
 * (facts/elements.h); everything else keeps the argument, with the line and the construct. What
 * slips through does not compile, since neither class converts to a raw pointer or reference: a
 * companion is read again before it is given out, and arguments of kernels whose second form has an
 * error are kept.
 */
#ifndef RS_COMPANION_COMPANION_H
#define RS_COMPANION_COMPANION_H

#include "base/text.h"
#include "companion/accessors.h"
#include "companion/instances.h"

#include <stdint.h>

/* A kernel of the source, a template with all its instances. */
typedef struct {
    const rs_syntax_declaration *kernel; /* the first instance, or the kernel itself */
    const char *reason; /* why all of it is kept: of a template without an instance; or NULL */
    uint64_t found;     /* which parameters are arrays of structures */
    uint64_t transformed;
    struct rs_companion_reason {
        rs_syntax_range range;
        char *what;
    } reasons[64]; /* of those that are kept */
} rs_companion_kernel;

typedef struct {
    rs_companion_kernel *kernels;
    size_t kernel_count;
    rs_companion_instances instances; /* those that can be named */
    rs_text text;                     /* the companion; empty when nothing is transformed */
    rs_text uses;                     /* behind it, makes compilers instantiate each second form */
} rs_companion;

/*
 * Makes the companion of a source that `how` reads, and was read from without errors; it names the
 * source as `how` does. Which arguments are wanted in the layout: `refuses` is asked for each that
 * is an array of structures, and answers NULL or the reason why not; NULL: all are.
 * RESTRIDE_OUT_OF_MEMORY; what rs_syntax_read() fails with.
 */
typedef const char *rs_companion_refuses(void *context, const rs_syntax_declaration *kernel,
                                         const rs_syntax_declaration *argument);
restride_status rs_companion_make(rs_companion *companion, rs_syntax *tree,
                                  const rs_invocation_request *how,
                                  const rs_companion_layout *layout, rs_companion_refuses *refuses,
                                  void *context);
void rs_companion_free(rs_companion *companion);

/* The place in the list of a kernel with a body, or of the template that it is of; the list's
 * length for what is none. */
size_t rs_companion_place_of(const rs_companion *companion, const rs_syntax_declaration *kernel);

#endif
