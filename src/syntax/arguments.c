/* See arguments.h. */
#include "syntax/arguments.h"

#include "base/list.h"
#include "base/text.h"

#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Takes `word` over. */
static void keep(rs_arguments *list, char *word)
{
    list->failed = list->failed || word == NULL || !RS_LIST_GROW(list->items, list->count);
    if (list->failed)
        free(word);
    else
        list->items[list->count++] = word;
}

void rs_arguments_add(rs_arguments *list, const char *format, ...)
{
    if (list->failed)
        return;
    va_list values;
    va_start(values, format);
    int length = vsnprintf(NULL, 0, format, values);
    va_end(values);
    char *word = length < 0 ? NULL : malloc((size_t)length + 1);
    va_start(values, format);
    if (word != NULL)
        vsnprintf(word, (size_t)length + 1, format, values);
    va_end(values);
    keep(list, word);
}

static bool is_separator(char c, const char *also)
{
    return isspace((unsigned char)c) || strchr(also, c) != NULL;
}

bool rs_argument_next(const char **cursor, const char *also, rs_text *word)
{
    const char *c = *cursor;
    while (*c != '\0' && is_separator(*c, also))
        c++;
    if (*c == '\0')
        return false;
    rs_text_add(word, "", 0);
    char quote = '\0';
    for (; *c != '\0' && (quote != '\0' || !is_separator(*c, also)); c++) {
        if (quote == '\0' && (*c == '"' || *c == '\''))
            quote = *c;
        else if (quote != '\0' && *c == quote)
            quote = '\0';
        else if (*c == '\\' && quote != '\'' && c[1] != '\0')
            rs_text_add(word, ++c, 1);
        else
            rs_text_add(word, c, 1);
    }
    *cursor = c;
    return true;
}

void rs_arguments_split(rs_arguments *list, const char *text, const char *also)
{
    rs_text word = RS_TEXT_EMPTY;
    while (!list->failed && rs_argument_next(&text, also, &word))
        keep(list, rs_text_take(&word));
}

void rs_arguments_free(rs_arguments *list)
{
    for (size_t i = 0; i < list->count; i++)
        free(list->items[i]);
    free(list->items);
    *list = (rs_arguments){NULL, 0, false};
}
