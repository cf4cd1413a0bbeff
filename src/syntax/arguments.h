/* A list of words, such as those of a command line. */
#ifndef RS_SYNTAX_ARGUMENTS_H
#define RS_SYNTAX_ARGUMENTS_H

#include "base/text.h"

#include <stdbool.h>
#include <stddef.h>

/* Like rs_text, a failed allocation marks the list, and later additions do nothing. */
typedef struct {
    char **items;
    size_t count;
    bool failed;
} rs_arguments;

void rs_arguments_add(rs_arguments *list, const char *format, ...) RS_PRINTF(2, 3);

/* Reads the next word from *cursor, which is moved behind it: false for none. Words end at white
 * space and the characters of `also`; "..." and '...' group, a backslash keeps the next character
 * but between '...'. */
bool rs_argument_next(const char **cursor, const char *also, rs_text *word);

/* Splits as a shell does, which expands nothing, into such words. */
void rs_arguments_split(rs_arguments *list, const char *text, const char *also);

void rs_arguments_free(rs_arguments *list);

#endif
