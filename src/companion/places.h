/*
 * Where text may be inserted, as only the text of a source says it: clang's ranges begin behind
 * attributes and template headers, and a header's place is that of the #include which reads it.
 */
#ifndef RS_COMPANION_PLACES_H
#define RS_COMPANION_PLACES_H

#include "syntax/tree.h"

/* Behind a byte order mark, or 0. */
size_t rs_place_begin(const rs_syntax_file *file);

/* The first byte of the declaration at file scope or in a namespace or class that has its name at
 * `name`: of its template header, attributes, specifiers. */
size_t rs_place_head(const rs_syntax_file *file, size_t name);

/* Behind the semicolon of a declaration that ends at `end`, or behind `end` where there is none. */
size_t rs_place_behind(const rs_syntax_file *file, size_t end);

/* The end of the last line of the directive at `at`. */
size_t rs_place_skip_directive(const rs_syntax_file *file, size_t at);

/* Behind the last line with an #include that begins before `end`; 0: there is none. */
size_t rs_place_last_include(const rs_syntax_file *file, size_t end);

/* Behind the line with the #include in the file `in` that reads a header, itself or through others
 * of the tree; false: none is found. */
bool rs_place_include(const rs_syntax *tree, size_t in, size_t header, size_t *at);

#endif
