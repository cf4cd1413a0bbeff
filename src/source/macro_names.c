/* Macro names that survive preprocessing as plain identifiers. */
#include "source/macro_names.h"

#include "base/list.h"
#include "source/words.h"

#include <stdlib.h>
#include <string.h>

const char *rs_macro_name_in(const char *line)
{
    static const char *const words[] = {"#define ", "#undef "};
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
        if (strncmp(line, words[i], strlen(words[i])) == 0)
            return line + strlen(words[i]);
    return NULL;
}

static int compare_names(const void *a, const void *b)
{
    const rs_macro_name *x = a, *y = b;
    size_t shorter = x->length < y->length ? x->length : y->length;
    int order = memcmp(x->text, y->text, shorter);
    return order != 0 ? order : (x->length > y->length) - (x->length < y->length);
}

static rs_macro_name *find(const rs_macro_names *names, const char *text, size_t length)
{
    rs_macro_name key = {text, length, false};
    return names->count == 0 ? NULL
                             : bsearch(&key, names->names, names->count, sizeof key, compare_names);
}

/* Marks the names that occur in the lines that are no directives. */
static void mark_mentioned(rs_macro_names *names, const char *output)
{
    const char *cursor = output, *line;
    size_t length;
    while ((line = rs_line_next(&cursor, &length)) != NULL) {
        if (line[0] == '#')
            continue;
        size_t position = 0, word, word_length;
        while (rs_word_next(line, length, &position, &word, &word_length)) {
            rs_macro_name *found = find(names, line + word, word_length);
            if (found != NULL)
                found->mentioned = true;
        }
    }
}

restride_status rs_macro_names_read(rs_macro_names *names, const char *output)
{
    *names = (rs_macro_names){NULL, 0};
    const char *cursor = output, *line, *name;
    size_t length;
    while ((line = rs_line_next(&cursor, &length)) != NULL) {
        if ((name = rs_macro_name_in(line)) == NULL)
            continue;
        if (!RS_LIST_GROW(names->names, names->count)) {
            rs_macro_names_free(names);
            return rs_fail_memory("the macros of a source");
        }
        names->names[names->count++] = (rs_macro_name){name, rs_identifier_length(name), false};
    }
    if (names->count == 0)
        return RESTRIDE_OK;
    qsort(names->names, names->count, sizeof *names->names, compare_names);
    size_t kept = 1;
    for (size_t i = 1; i < names->count; i++)
        if (compare_names(&names->names[kept - 1], &names->names[i]) != 0)
            names->names[kept++] = names->names[i];
    names->count = kept;
    mark_mentioned(names, output);
    return RESTRIDE_OK;
}

bool rs_macro_names_have(const rs_macro_names *names, const char *name, size_t length)
{
    return find(names, name, length) != NULL;
}

bool rs_macro_names_mentioned(const rs_macro_names *names, const char *name, size_t length)
{
    const rs_macro_name *found = find(names, name, length);
    return found != NULL && found->mentioned;
}

void rs_macro_names_free(rs_macro_names *names)
{
    free(names->names);
    *names = (rs_macro_names){NULL, 0};
}
