/* Python literals; see literal.h. */
#include "file/literal.h"

#include <stdint.h>
#include <string.h>

void rs_literal_begin(rs_literal *literal, const char *name, const char *text, size_t length)
{
    *literal = (rs_literal){name, text, text, text + length, false};
}

const char *rs_literal_here(rs_literal *literal)
{
    while (literal->next < literal->end && *literal->next != '\0' &&
           strchr(" \t\r\n", *literal->next) != NULL)
        literal->next++;
    return literal->next;
}

bool rs_literal_at(rs_literal *literal, char symbol)
{
    const char *here = rs_literal_here(literal);
    return !literal->failed && here < literal->end && *here == symbol;
}

bool rs_literal_accept(rs_literal *literal, char symbol)
{
    if (!rs_literal_at(literal, symbol))
        return false;
    literal->next++;
    return true;
}

bool rs_literal_expect(rs_literal *literal, char symbol)
{
    if (!rs_literal_accept(literal, symbol))
        literal->failed = true;
    return !literal->failed;
}

bool rs_literal_word(rs_literal *literal, const char *word)
{
    const char *here = rs_literal_here(literal);
    size_t length = strlen(word);
    if (literal->failed || (size_t)(literal->end - here) < length ||
        memcmp(here, word, length) != 0)
        return false;
    literal->next += length;
    return true;
}

bool rs_literal_string(rs_literal *literal, rs_literal_text *text)
{
    *text = (rs_literal_text){"", 0};
    char quote = rs_literal_at(literal, '"') ? '"' : '\'';
    if (!rs_literal_expect(literal, quote))
        return false;
    const char *begin = literal->next;
    while (literal->next < literal->end && *literal->next != quote && *literal->next != '\\' &&
           (unsigned char)*literal->next >= ' ')
        literal->next++;
    *text = (rs_literal_text){begin, (size_t)(literal->next - begin)};
    return rs_literal_expect(literal, quote);
}

size_t rs_literal_number(rs_literal *literal)
{
    const char *here = rs_literal_here(literal);
    size_t value = 0;
    for (; literal->next < literal->end && *literal->next >= '0' && *literal->next <= '9';
         literal->next++) {
        size_t digit = (size_t)(*literal->next - '0');
        if (value > (SIZE_MAX - digit) / 10)
            literal->failed = true;
        else
            value = value * 10 + digit;
    }
    if (literal->next == here)
        literal->failed = true;
    rs_literal_accept(literal, 'L'); /* long numbers of Python 2 */
    return literal->failed ? 0 : value;
}

bool rs_literal_end(rs_literal *literal)
{
    return rs_literal_here(literal) == literal->end;
}

bool rs_literal_is(const rs_literal_text *text, const char *string)
{
    return text->length == strlen(string) && memcmp(text->begin, string, text->length) == 0;
}

restride_status rs_literal_fail(rs_literal *literal)
{
    literal->failed = true;
    return rs_fail(RESTRIDE_SYNTAX,
                   "The header of %s cannot be understood at its character %zu; it must be as "
                   "numpy.save writes it.",
                   literal->name, (size_t)(literal->next - literal->begin) + 1);
}
