/*
 * A reader of the few Python literals that .npy headers consist of: quoted strings, whole numbers,
 * words and brackets. After the first thing that was not expected nothing is read any more.
 */
#ifndef RS_FILE_LITERAL_H
#define RS_FILE_LITERAL_H

#include "base/status.h"

#include <stdbool.h>
#include <stddef.h>

typedef struct {
    const char *name; /* of the file, for sentences */
    const char *begin;
    const char *next;
    const char *end;
    bool failed;
} rs_literal;

/* The characters between quotes; no escapes and no control characters. */
typedef struct {
    const char *begin;
    size_t length;
} rs_literal_text;

void rs_literal_begin(rs_literal *literal, const char *name, const char *text, size_t length);

/* Where the next token begins. */
const char *rs_literal_here(rs_literal *literal);

bool rs_literal_at(rs_literal *literal, char symbol);
bool rs_literal_accept(rs_literal *literal, char symbol); /* skips it if it is there */
bool rs_literal_expect(rs_literal *literal, char symbol); /* fails if it is not */
bool rs_literal_word(rs_literal *literal, const char *word);
bool rs_literal_string(rs_literal *literal, rs_literal_text *text);
size_t rs_literal_number(rs_literal *literal); /* fails and returns 0 */
bool rs_literal_end(rs_literal *literal);

bool rs_literal_is(const rs_literal_text *text, const char *string);

/* The sentence about what was not understood, and where. */
restride_status rs_literal_fail(rs_literal *literal);

#endif
