/*
 * A string that grows. The first failed allocation marks the text as failed; later additions do
 * nothing, so a writer of many lines checks once, in rs_text_take().
 */
#ifndef RS_BASE_TEXT_H
#define RS_BASE_TEXT_H

#include "base/status.h"

#include <stdbool.h>
#include <stddef.h>

typedef struct {
    char *data; /* zero-terminated once anything was added; NULL before */
    size_t size;
    size_t capacity;
    bool failed;
} rs_text;

#define RS_TEXT_EMPTY ((rs_text){NULL, 0, 0, false})

void rs_text_add(rs_text *text, const char *bytes, size_t count);
void rs_text_add_string(rs_text *text, const char *string);
void rs_text_format(rs_text *text, const char *format, ...) RS_PRINTF(2, 3);

/* Whether a word of so many bytes is one of the words of a list, which blanks part; and whether a
 * text begins with one of them. */
bool rs_is_among(const char *word, size_t length, const char *list);
bool rs_begins_among(const char *text, const char *list);

/* A number with `digits` digits behind a point, whatever the program's locale. */
typedef struct {
    char text[48];
} rs_decimal_text;
rs_decimal_text rs_decimal(double value, int digits);

/* Hands the string over to the caller, who frees it; NULL (and the text freed) when an allocation
 * failed. */
char *rs_text_take(rs_text *text);
void rs_text_free(rs_text *text);

/* Reads a file or a stream to its end. On success the caller frees text->data. A file is a regular
 * one: no folder, pipe or device, which may have no end. */
restride_status rs_text_read_file(rs_text *text, const char *path);
restride_status rs_text_read_descriptor(rs_text *text, int descriptor, const char *name);

/* Writes a whole file: to a temporary name beside it, then renamed, so that no reader sees half of
 * it. What is there and is no regular file (a pipe, /dev/null) is written to and stays. */
restride_status rs_text_write_file(const char *path, const char *bytes, size_t count);

/* Whether a file could be written there, without a change to what is there now. */
restride_status rs_text_try_file(const char *path);

enum { RS_SIGNATURE_SIZE = 48 };

/* The signature of a file's content; false when it is not a file that can be read. */
bool rs_file_signature(const char *path, char signature[RS_SIGNATURE_SIZE]);

#endif
