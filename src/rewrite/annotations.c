/* Reads the record lengths of flat arrays. */
#include "rewrite/annotations.h"

#include "source/words.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

static char *copy_trimmed(const char *begin, const char *end)
{
    while (begin < end && isspace((unsigned char)*begin))
        begin++;
    while (end > begin && isspace((unsigned char)end[-1]))
        end--;
    return strndup(begin, (size_t)(end - begin));
}

/* A length is made of names, numbers and operators; anything else could break the source. */
static bool is_length(const char *text)
{
    int depth = 0;
    bool any = false;
    for (; *text != '\0'; text++) {
        depth += (*text == '(') - (*text == ')');
        if (depth < 0 || (!isalnum((unsigned char)*text) && strchr("_ +-*/()", *text) == NULL))
            return false;
        any = any || isalnum((unsigned char)*text);
    }
    return any && depth == 0;
}

static void free_annotation(rs_annotation *annotation)
{
    free(annotation->name);
    free(annotation->expression);
    free(annotation->layout);
}

/* Takes the annotation over; one without sense is dropped. */
static restride_status add(rs_annotations *annotations, rs_annotation added, bool layout_wanted)
{
    bool failed =
        added.name == NULL || added.expression == NULL || (layout_wanted && added.layout == NULL);
    if (failed || !is_length(added.expression) ||
        rs_annotations_find(annotations, "", added.name) != NULL) {
        free_annotation(&added);
        return failed ? rs_fail_memory("an annotation") : RESTRIDE_OK;
    }
    rs_annotation *grown =
        realloc(annotations->items, (size_t)(annotations->count + 1) * sizeof *grown);
    if (grown == NULL) {
        free_annotation(&added);
        return rs_fail_memory("an annotation");
    }
    annotations->items = grown;
    grown[annotations->count++] = added;
    return RESTRIDE_OK;
}

/* Steps over blanks and `word`. */
static bool accept(const char **cursor, const char *end, const char *word)
{
    const char *c = *cursor;
    while (c < end && isspace((unsigned char)*c))
        c++;
    size_t length = strlen(word);
    if ((size_t)(end - c) < length || memcmp(c, word, length) != 0)
        return false;
    *cursor = c + length;
    return true;
}

/* Reads "[...]"; the brackets inside must match. */
static bool read_dimension(const char **cursor, const char *end, const char **begin,
                           const char **stop)
{
    if (!accept(cursor, end, "["))
        return false;
    int depth = 1;
    *begin = *cursor;
    for (const char *c = *cursor; c < end; c++) {
        depth += (*c == '[') - (*c == ']');
        if (depth == 0) {
            *stop = c;
            *cursor = c + 1;
            return true;
        }
    }
    return false;
}

/* Reads one comment of a line, from behind its "//" or "/" "*". */
static restride_status read_comment(rs_annotations *annotations, const char *cursor,
                                    const char *end, size_t line)
{
    bool thesis = accept(&cursor, end, "DL:") && accept(&cursor, end, "AoS:");
    if (!thesis && !accept(&cursor, end, "restride:"))
        return RESTRIDE_OK;
    while (cursor < end && isspace((unsigned char)*cursor))
        cursor++;
    const char *name = cursor;
    while (cursor < end && (isalnum((unsigned char)*cursor) || *cursor == '_' || *cursor == '.'))
        cursor++;
    const char *name_end = cursor, *first, *first_end, *length, *length_end;
    if (name == name_end || !read_dimension(&cursor, end, &first, &first_end) ||
        !read_dimension(&cursor, end, &length, &length_end))
        return RESTRIDE_OK; /* one dimension: the structure tells the rest */
    bool layout = !thesis && accept(&cursor, end, ":");
    rs_annotation added = {strndup(name, (size_t)(name_end - name)),
                           copy_trimmed(length, length_end),
                           layout ? copy_trimmed(cursor, end) : NULL, line, 0};
    return add(annotations, added, layout);
}

static restride_status read_comments(rs_annotations *annotations, const char *source)
{
    const char *cursor = source, *line;
    size_t length, number = 0;
    restride_status status = RESTRIDE_OK;
    while (status == RESTRIDE_OK && (line = rs_line_next(&cursor, &length)) != NULL) {
        const char *end = line + length;
        number++;
        for (const char *c = line; c + 1 < end; c++) {
            if (c[0] != '/' || (c[1] != '/' && c[1] != '*'))
                continue;
            const char *stop = end;
            for (const char *s = c + 2; c[1] == '*' && s + 1 < end && stop == end; s++)
                if (s[0] == '*' && s[1] == '/')
                    stop = s;
            status = read_comment(annotations, c + 2, stop, number);
            break;
        }
    }
    return status;
}

static restride_status add_records(rs_annotations *annotations, const json_t *records)
{
    const char *name;
    json_t *value;
    restride_status status = RESTRIDE_OK;
    json_object_foreach((json_t *)records, name, value)
    {
        if (json_is_string(value) && status == RESTRIDE_OK)
            status = add(
                annotations,
                (rs_annotation){strdup(name), strdup(json_string_value(value)), NULL, 0, 0}, false);
    }
    return status;
}

restride_status rs_annotations_read(rs_annotations *annotations, const json_t *records,
                                    const json_t *configured, const char *source)
{
    *annotations = (rs_annotations){NULL, 0};
    restride_status status = add_records(annotations, records);
    if (status == RESTRIDE_OK)
        status = add_records(annotations, configured);
    return status == RESTRIDE_OK ? read_comments(annotations, source) : status;
}

void rs_annotations_write(const rs_annotations *annotations, const char *file, rs_text *out)
{
    for (int i = 0; i < annotations->count; i++) {
        const rs_annotation *annotation = &annotations->items[i];
        rs_text_format(out, "# %zu \"", annotation->line);
        for (const char *c = file; *c != '\0'; c++) {
            if (*c == '"' || *c == '\\')
                rs_text_add_string(out, "\\");
            rs_text_add(out, *c == '\n' ? " " : c, 1);
        }
        rs_text_format(out, "\"\nenum { restride_record_%d = (%s) };\n", i, annotation->expression);
    }
}

void rs_annotations_evaluate(rs_annotations *annotations, const rs_tree *tree)
{
    for (int n = 0; n < tree->node_count && annotations->count > 0; n++) {
        if (tree->nodes[n].kind != CXCursor_EnumConstantDecl)
            continue;
        CXString spelling = clang_getCursorSpelling(tree->nodes[n].cursor);
        static const char prefix[] = "restride_record_";
        const char *name = clang_getCString(spelling);
        long number = strncmp(name, prefix, strlen(prefix)) == 0
                          ? strtol(name + strlen(prefix), NULL, 10)
                          : -1;
        clang_disposeString(spelling);
        long long value = clang_getEnumConstantDeclValue(tree->nodes[n].cursor);
        if (number >= 0 && number < annotations->count && value > 0)
            annotations->items[number].length = (size_t)value;
    }
}

const rs_annotation *rs_annotations_find(const rs_annotations *annotations, const char *kernel,
                                         const char *argument)
{
    const rs_annotation *general = NULL;
    size_t length = strlen(kernel);
    for (int i = 0; i < annotations->count; i++) {
        const char *name = annotations->items[i].name;
        if (strncmp(name, kernel, length) == 0 && name[length] == '.' &&
            strcmp(name + length + 1, argument) == 0)
            return &annotations->items[i];
        if (general == NULL && strcmp(name, argument) == 0)
            general = &annotations->items[i];
    }
    return general;
}

void rs_annotations_free(rs_annotations *annotations)
{
    for (int i = 0; i < annotations->count; i++)
        free_annotation(&annotations->items[i]);
    free(annotations->items);
    *annotations = (rs_annotations){NULL, 0};
}
