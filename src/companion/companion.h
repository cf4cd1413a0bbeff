/*
 * Companions of CUDA C++ sources: the source itself with insertions only, so that it compiles in
 * its place, and holds for each kernel with arrays of structures a second form that reads and
 * writes them in another layout.
 *
 * The second form NAME__asta is a copy of the kernel's text, with its template header and its
 * parameters in their order. In it a pointer to elements has the class type restride_pointer<T>,
 * and an element restride_reference<T>: members, subscripts, arithmetic and atomics
 * stay as they are written. Only declarations are retyped, and `.get()` stands where an element is
 * read as a value. Functions that get pointers or references to elements are copied likewise.
 *
 * Sound or silent. The places in which an element or a pointer to one may stand are a white list;
 * everything else keeps the argument, with the line and the construct. What slips through does not
 * compile, since neither class converts to a raw pointer or reference.
 */
#ifndef RS_COMPANION_COMPANION_H
#define RS_COMPANION_COMPANION_H

#include "base/status.h"

#endif
