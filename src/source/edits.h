/* Edits of a text: bytes [begin, end) become something else. No two have bytes in common. */
#ifndef RS_SOURCE_EDITS_H
#define RS_SOURCE_EDITS_H

#include "base/status.h"
#include "base/text.h"

#include <stdbool.h>
#include <stddef.h>

typedef struct {
    size_t begin, end;
    char *text;
} rs_edit;

typedef struct {
    rs_edit *list;
    size_t count;
} rs_edits;

/* Takes over the text, on failure too. */
restride_status rs_edits_add(rs_edits *edits, size_t begin, size_t end, rs_text *text);

/* Whether all of [begin, end) is in one edit. */
bool rs_edits_cover(const rs_edits *edits, size_t begin, size_t end);

/* Brings them into the order of the text. */
void rs_edits_sort(rs_edits *edits);
void rs_edits_free(rs_edits *edits);

#endif
