/* Reading a text from left to right, with failures that point at a character of it. */
#include "layout/cursor.h"

#include "base/arithmetic.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* Of a long text only this many bytes on each side of the fault are quoted. */
enum { QUOTED = 80 };

static bool is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static bool is_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

/* Whether a byte continues a character of several bytes in UTF-8. */
static bool continues_character(char c)
{
    return ((unsigned char)c & 0xc0) == 0x80;
}

void rs_cursor_skip_blanks(rs_cursor *cursor)
{
    while (is_blank(cursor->text[cursor->position]))
        cursor->position++;
}

bool rs_cursor_accept(rs_cursor *cursor, char wanted)
{
    if (cursor->text[cursor->position] != wanted)
        return false;
    cursor->position++;
    return true;
}

bool rs_cursor_name(rs_cursor *cursor, rs_layout_name *name)
{
    name->begin = cursor->text + cursor->position;
    name->length = 0;
    if (!is_letter(*name->begin))
        return false;
    while (is_letter(name->begin[name->length]) || is_digit(name->begin[name->length]))
        name->length++;
    cursor->position += name->length;
    return true;
}

restride_status rs_cursor_number(rs_cursor *cursor, const char *purpose, size_t *number)
{
    size_t begin = cursor->position;
    if (!is_digit(cursor->text[begin]))
        return rs_cursor_fail(cursor, RESTRIDE_SYNTAX, begin, "a number is expected, %s.", purpose);
    *number = 0;
    for (; is_digit(cursor->text[cursor->position]); cursor->position++) {
        size_t digit = (size_t)(cursor->text[cursor->position] - '0');
        if (!rs_size_multiply(*number, 10, number) || !rs_size_add(*number, digit, number))
            return rs_cursor_fail(cursor, RESTRIDE_OVERFLOW, begin,
                                  "this number does not fit into 64 bits.");
    }
    return RESTRIDE_OK;
}

/* Copies the part of the text around `position` that a sentence quotes. */
static void quote(const rs_cursor *cursor, size_t position, char quoted[2 * QUOTED + 8])
{
    size_t length = strlen(cursor->text);
    size_t begin = position > QUOTED ? position - QUOTED : 0;
    size_t end = length - begin > 2 * QUOTED ? begin + 2 * QUOTED : length;
    while (begin < end && continues_character(cursor->text[begin]))
        begin++;
    while (end > begin && continues_character(cursor->text[end]))
        end--;
    int written = snprintf(quoted, 2 * QUOTED + 8, "%s%.*s%s", begin > 0 ? "..." : "",
                           (int)(end - begin), cursor->text + begin, end < length ? "..." : "");
    for (int i = 0; i < written; i++)
        if ((unsigned char)quoted[i] < ' ')
            quoted[i] = ' ';
}

restride_status rs_cursor_fail(const rs_cursor *cursor, restride_status status, size_t position,
                               const char *format, ...)
{
    char sentence[600];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(sentence, sizeof sentence, format, arguments);
    va_end(arguments);
    char quoted[2 * QUOTED + 8];
    quote(cursor, position, quoted);
    size_t character = 1;
    for (size_t i = 0; i < position; i++)
        character += continues_character(cursor->text[i]) ? 0 : 1;
    if (cursor->fault != NULL)
        *cursor->fault = (rs_layout_fault){true, cursor->in_dims, position};
    return rs_fail(status, "At character %zu of the %s \"%s\": %s", character,
                   cursor->in_dims ? "dimension list" : "layout", quoted, sentence);
}

bool rs_name_equal(rs_layout_name name, const char *string)
{
    return strncmp(name.begin, string, name.length) == 0 && string[name.length] == '\0';
}

char *rs_name_copy(rs_layout_name name)
{
    return strndup(name.begin, name.length);
}
