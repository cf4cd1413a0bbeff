/* What the files that edit a copy share: edit.c goes through its body, retype.c changes
 * declarations. */
#ifndef RS_COMPANION_EDIT_H
#define RS_COMPANION_EDIT_H

#include "companion/copies.h"

typedef struct {
    const rs_syntax *tree;
    rs_companion_copies *copies;
    const rs_fact_frame *frame;
    const rs_syntax_file *file;
    size_t file_index;
    rs_edits *edits;
    rs_companion_problem *problem; /* the first */
    restride_status status;
    char form[64]; /* of rs_companion_copy */
} rs_companion_editing;

/* Replaces [begin, end) of the file; the same edit twice is one. */
void rs_companion_edit(rs_companion_editing *at, size_t begin, size_t end, const char *format, ...)
    RS_PRINTF(4, 5);
void rs_companion_fail(rs_companion_editing *at, uint64_t arguments, rs_syntax_range range,
                       const char *what);

/* Whether the text of a range can be changed where it stands. */
bool rs_companion_is_text(const rs_companion_editing *at, rs_syntax_range range);

/* --- meaning.c --- */

/* Fail where another function than the one that is called could be meant in a copy, or another
 * macro; `is_elsewhere`: the copy does not stand behind the original at once. */
void rs_companion_check_call(rs_companion_editing *at, const rs_syntax_node *node);
void rs_companion_check_macros(rs_companion_editing *at, bool is_elsewhere);

/* --- retype.c --- */

void rs_companion_retype_parameters(rs_companion_editing *at, bool is_kernel);
void rs_companion_retype_variables(rs_companion_editing *at, const rs_syntax_node *declare,
                                   bool is_alone);

/* --- rounds.c --- */

void rs_companion_unroll(rs_companion_editing *at);

#endif
