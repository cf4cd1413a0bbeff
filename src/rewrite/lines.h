/* The lines of the new source, and the user's numbers for them. */
#ifndef RS_REWRITE_LINES_H
#define RS_REWRITE_LINES_H

#include "base/text.h"
#include "source/edits.h"
#include "source/flatten.h"

/* The lines of the flat text, with the user's numbers for them. */
typedef struct {
    size_t offset; /* of the line's first byte */
    size_t file, number;
    bool outside; /* of all brackets: a #line may stand before it */
} rs_source_line;

typedef struct {
    rs_source_line *items;
    size_t count;
} rs_source_lines;

restride_status rs_source_lines_read(const rs_flat *flat, rs_source_lines *lines);

/* A text that grows, and the line of the user's files that a compiler takes its last line for. */
typedef struct {
    const rs_flat *flat;
    rs_source_lines lines;
    rs_text text;
    size_t counted; /* bytes of the text whose line ends are in `number` */
    size_t file, number;
} rs_numbered_text;

/* Adds bytes [begin, end) of the flat text; with `numbered`, every line outside of brackets gets
 * the user's number. */
void rs_numbered_add(rs_numbered_text *out, size_t begin, size_t end, bool numbered);

/* Goes to a new line if anything is on the last one, and gives the next one the number of the flat
 * text's byte. */
void rs_numbered_start_line(rs_numbered_text *out, size_t offset);

/* The flat text with these edits, which come into order; what follows an edit keeps its line. The
 * caller frees *source. */
restride_status rs_numbered_edit(const rs_flat *flat, rs_edits *edits, char **source);

#endif
