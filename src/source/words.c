/* Reads flat OpenCL C text word by word. */
#include "source/words.h"

#include <ctype.h>
#include <string.h>

static bool in_identifier(char c)
{
    return isalnum((unsigned char)c) || c == '_' || c == '$';
}

size_t rs_word_skip(const char *text, size_t end, size_t position)
{
    char first = text[position++];
    if (first == '"' || first == '\'') {
        while (position < end && text[position] != first && text[position] != '\n')
            position += text[position] == '\\' && position + 1 < end ? 2 : 1;
        return position < end ? position + 1 : end;
    }
    if (isdigit((unsigned char)first))
        while (position < end && (in_identifier(text[position]) || text[position] == '.' ||
                                  (text[position] == '\'' && position + 1 < end &&
                                   isalnum((unsigned char)text[position + 1]))))
            position++;
    return position;
}

bool rs_word_next(const char *text, size_t end, size_t *position, size_t *word, size_t *length)
{
    size_t at = *position;
    while (at < end && (isdigit((unsigned char)text[at]) || !in_identifier(text[at])))
        at = rs_word_skip(text, end, at);
    *word = at;
    while (at < end && in_identifier(text[at]))
        at++;
    *length = at - *word;
    *position = at;
    return *length > 0;
}

bool rs_words_have(const char *text, size_t begin, size_t end, const char *wanted, size_t size)
{
    size_t word, length;
    while (rs_word_next(text, end, &begin, &word, &length))
        if (length == size && memcmp(text + word, wanted, size) == 0)
            return true;
    return false;
}

bool rs_word_equals(const char *text, size_t word, size_t length, const char *name)
{
    return strlen(name) == length && memcmp(text + word, name, length) == 0;
}

size_t rs_blanks_skip(const char *text, size_t end, size_t at)
{
    while (at < end) {
        const char next = at + 1 < end ? text[at + 1] : '\0';
        if (text[at] == '/' && next == '/') {
            while (at < end && text[at] != '\n')
                at += text[at] == '\\' && at + 1 < end ? 2 : 1;
        } else if (text[at] == '/' && next == '*') {
            for (at += 2; at + 1 < end && (text[at] != '*' || text[at + 1] != '/');)
                at++;
            at = at + 2 < end ? at + 2 : end;
        } else if (isspace((unsigned char)text[at]) || (text[at] == '\\' && next == '\n')) {
            at++;
        } else {
            break;
        }
    }
    return at;
}

size_t rs_identifier_length(const char *text)
{
    size_t length = 0;
    if (isdigit((unsigned char)text[0]))
        return 0;
    while (in_identifier(text[length]))
        length++;
    return length;
}

const char *rs_line_next(const char **cursor, size_t *length)
{
    const char *line = *cursor;
    if (line == NULL || *line == '\0')
        return NULL;
    *length = strcspn(line, "\n");
    *cursor = line + *length + (line[*length] == '\n' ? 1 : 0);
    return line;
}
