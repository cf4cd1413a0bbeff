/* A companion's text: the source, what records need, copies. */
#ifndef RS_COMPANION_WRITE_H
#define RS_COMPANION_WRITE_H

#include "companion/accessors.h"
#include "companion/copies.h"

/* `main_file`: of the tree's, which the companion is of; `shown`: its name in line markers.
 * `records`: those that accessors are written of. */
restride_status rs_companion_write(rs_text *text, const rs_syntax *tree, size_t main_file,
                                   const char *shown, const rs_companion_copies *copies,
                                   const rs_syntax_type *const *records, size_t record_count,
                                   const rs_companion_layout *layout);

#endif
