/* Reads flat OpenCL C text word by word: identifiers, with literals and directives skipped. */
#ifndef RS_SOURCE_WORDS_H
#define RS_SOURCE_WORDS_H

#include <stdbool.h>
#include <stddef.h>

/*
 * The next identifier of text[*position, end): true with its first byte in *word and its length in
 * *length, and *position behind it. Numbers, strings and character constants are skipped.
 */
bool rs_word_next(const char *text, size_t end, size_t *position, size_t *word, size_t *length);

/* Whether [begin, end) of a text has a word. */
bool rs_words_have(const char *text, size_t begin, size_t end, const char *wanted, size_t size);

bool rs_word_equals(const char *text, size_t word, size_t length, const char *name);

/* The byte behind the string or character constant, number or single byte that starts at
 * `position`. */
size_t rs_word_skip(const char *text, size_t end, size_t position);

/* The same of text with comments: behind the blanks and the comments at `at`, or `at`. */
size_t rs_blanks_skip(const char *text, size_t end, size_t at);

/* The length of the identifier at the start of `text`; 0 when there is none. */
size_t rs_identifier_length(const char *text);

/* The line at *cursor, without its end, and *cursor moved to the next; NULL at the end of the text.
 */
const char *rs_line_next(const char **cursor, size_t *length);

#endif
