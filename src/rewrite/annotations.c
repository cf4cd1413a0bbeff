/* Reads the record lengths of flat arrays. */
#include "rewrite/annotations.h"

#include "base/list.h"
#include "source/words.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Before an extent in the lines that are parsed behind the source. */
#define EXTENT_MARK "restride_extent_"

/* How the line of a length begins; no line of a user's source does. */
#define RECORD_LINE "enum { restride_record_"

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
        if (text[0] == '/' && (text[1] == '/' || text[1] == '*'))
            return false; /* a comment would hide what follows */
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
    free(annotation->extent);
    free(annotation->place);
}

/* Takes the annotation over; one without sense is dropped. */
static restride_status add(rs_annotations *annotations, rs_annotation added, bool layout_wanted)
{
    bool failed = added.name == NULL || added.expression == NULL || added.place == NULL ||
                  (layout_wanted && added.layout == NULL);
    if (failed || !is_length(added.expression) ||
        (added.extent != NULL && !is_length(added.extent)) ||
        rs_annotations_find(annotations, "", added.name) != NULL) {
        free_annotation(&added);
        return failed ? rs_fail_memory("an annotation") : RESTRIDE_OK;
    }
    if (!RS_LIST_GROW(annotations->items, annotations->count)) {
        free_annotation(&added);
        return rs_fail_memory("an annotation");
    }
    annotations->items[annotations->count++] = added;
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

/* Takes "f i ->" from the front of a layout: the array is SoA as it is. */
static bool accept_source(const char **cursor, const char *end)
{
    const char *at = *cursor;
    if (!accept(&at, end, "f") || !accept(&at, end, "i") || !accept(&at, end, "->"))
        return false;
    *cursor = at;
    return true;
}

/* Reads "[FIRST][SECOND]" and the layout behind it, if one may be there. A single dimension gives
 * nothing: the structure tells the rest. */
static restride_status read_dimensions(rs_annotations *annotations, rs_annotation added,
                                       const char *cursor, const char *end, bool soa, bool layout)
{
    const char *first, *first_end, *second, *second_end;
    if (!read_dimension(&cursor, end, &first, &first_end) ||
        !read_dimension(&cursor, end, &second, &second_end)) {
        free_annotation(&added);
        return RESTRIDE_OK;
    }
    layout = layout && accept(&cursor, end, ":");
    soa = accept_source(&cursor, end) || soa;
    added.expression = soa ? copy_trimmed(first, first_end) : copy_trimmed(second, second_end);
    added.layout = layout ? copy_trimmed(cursor, end) : NULL;
    added.extent = soa ? copy_trimmed(second, second_end) : NULL;
    if (soa && added.extent == NULL) {
        free_annotation(&added);
        return rs_fail_memory("an annotation");
    }
    return add(annotations, added, layout);
}

static char *place_of(const char *file, size_t line)
{
    rs_text place = RS_TEXT_EMPTY;
    rs_text_format(&place, "%s:%zu", file, line);
    return rs_text_take(&place);
}

/* Reads one comment of a line, from behind its "//" or "/" "*". */
static restride_status read_comment(rs_annotations *annotations, const char *cursor,
                                    const char *end, const char *file, size_t line)
{
    bool thesis = accept(&cursor, end, "DL:");
    bool soa = thesis && accept(&cursor, end, "SoA:");
    if (thesis ? !soa && !accept(&cursor, end, "AoS:") : !accept(&cursor, end, "restride:"))
        return RESTRIDE_OK;
    while (cursor < end && isspace((unsigned char)*cursor))
        cursor++;
    const char *name = cursor;
    while (cursor < end && (isalnum((unsigned char)*cursor) || *cursor == '_' || *cursor == '.'))
        cursor++;
    if (name == cursor)
        return RESTRIDE_OK;
    rs_annotation added = {.name = strndup(name, (size_t)(cursor - name)),
                           .place = place_of(file, line),
                           .line = line};
    return read_dimensions(annotations, added, cursor, end, soa, !thesis);
}

static restride_status read_comments(rs_annotations *annotations, const char *source,
                                     const char *file)
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
            status = read_comment(annotations, c + 2, stop, file, number);
            break;
        }
    }
    return status;
}

/* A record of the request: a length, or "SoA: [LENGTH][NUMBER]". */
static restride_status add_record(rs_annotations *annotations, const char *name, const char *value,
                                  const char *place)
{
    const char *cursor = value, *end = value + strlen(value);
    rs_annotation added = {.name = strdup(name), .place = strdup(place)};
    if (accept(&cursor, end, "SoA:"))
        return read_dimensions(annotations, added, cursor, end, true, false);
    added.expression = strdup(value);
    return add(annotations, added, false);
}

/* `places` (NULL: none) tells where each record was said. */
static restride_status add_records(rs_annotations *annotations, const json_t *records,
                                   const json_t *places, const char *otherwise)
{
    const char *name;
    json_t *value;
    restride_status status = RESTRIDE_OK;
    json_object_foreach((json_t *)records, name, value)
    {
        const char *place = json_string_value(json_object_get(places, name));
        if (json_is_string(value) && status == RESTRIDE_OK)
            status = add_record(annotations, name, json_string_value(value),
                                place != NULL ? place : otherwise);
    }
    return status;
}

restride_status rs_annotations_read(rs_annotations *annotations, const json_t *records,
                                    const json_t *config, const char *source, const char *file)
{
    *annotations = (rs_annotations){NULL, 0};
    restride_status status = add_records(annotations, records, NULL, "--record");
    if (status == RESTRIDE_OK)
        status = add_records(annotations, json_object_get(config, "records"),
                             json_object_get(config, "places"), "the configuration");
    return status == RESTRIDE_OK ? read_comments(annotations, source, file) : status;
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
        rs_text_format(out, "\"\n" RECORD_LINE "%d = (%s) };\n", i, annotation->expression);
        if (annotation->extent != NULL)
            rs_text_format(out,
                           "#define restride_text(...) #__VA_ARGS__\n"
                           "#define restride_expanded(...) restride_text(__VA_ARGS__)\n"
                           "_Static_assert(1, \"" EXTENT_MARK "%d\" restride_expanded(%s));\n",
                           i, annotation->extent);
    }
}

/* Takes an extent as the preprocessor expanded it from the line that was written for it. */
static restride_status take_extent(rs_annotation *annotation, int number, const rs_tree *tree)
{
    char mark[sizeof EXTENT_MARK + 16];
    snprintf(mark, sizeof mark, "\"" EXTENT_MARK "%d\"", number);
    const char *found = strstr(tree->text, mark);
    const char *begin = found == NULL ? NULL : strchr(found + strlen(mark), '"');
    const char *end = begin == NULL ? NULL : strchr(begin + 1, '"');
    if (end == NULL)
        return RESTRIDE_OK;
    char *expanded = copy_trimmed(begin + 1, end);
    if (expanded == NULL)
        return rs_fail_memory("an annotation");
    free(annotation->extent);
    annotation->extent = expanded;
    return RESTRIDE_OK;
}

bool rs_annotations_forgive(const rs_tree *tree, size_t offset)
{
    const char *text = tree->text;
    size_t line = offset, at = offset;
    while (line > 0 && text[line - 1] != '\n')
        line--;
    while (at > line && text[at] != '(')
        at--;
    size_t length = strlen(RECORD_LINE);
    return offset < tree->size && at >= line + length &&
           memcmp(text + line, RECORD_LINE, length) == 0 &&
           memchr(text + line, '}', offset - line) == NULL;
}

restride_status rs_annotations_evaluate(rs_annotations *annotations, const rs_tree *tree)
{
    restride_status status = RESTRIDE_OK;
    for (int i = 0; i < annotations->count && status == RESTRIDE_OK; i++)
        if (annotations->items[i].extent != NULL)
            status = take_extent(&annotations->items[i], i, tree);
    for (int n = 0; n < tree->node_count && annotations->count > 0; n++) {
        if (tree->nodes[n].is != RS_NODE_ENUMERATOR)
            continue;
        static const char prefix[] = "restride_record_";
        const char *name = tree->nodes[n].name;
        long number = strncmp(name, prefix, strlen(prefix)) == 0
                          ? strtol(name + strlen(prefix), NULL, 10)
                          : -1;
        long long value = tree->nodes[n].declaration->value.integer;
        size_t begin = tree->nodes[n].begin;
        if (number >= 0 && number < annotations->count && value > 0 &&
            !rs_tree_has_error(tree, begin, begin + strcspn(tree->text + begin, "}")))
            annotations->items[number].length = (size_t)value;
    }
    return status;
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
