/* Reads configuration files, with libinih. */
#include "config/config.h"

#include "base/json.h"
#include "base/text.h"
#include "layout/layout.h"

#include <ctype.h>
#include <ini.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/* libinih takes a longer line for two. */
enum { LINE_LIMIT = INI_MAX_LINE - 2, SAMPLE_COUNT = 1 << 30 };

typedef struct {
    const char *name; /* of the file */
    const char *rest; /* of its text */
    size_t line;      /* that is read */
    json_t *options, *kernels, *layouts, *records, *places;
    rs_text trouble; /* with the first line that is wrong */
    bool out_of_memory;
} reading;

/* 0, as libinih wants it for a line that is wrong; only the first sentence is kept. */
static int refuse(reading *r, const char *sentence, const char *subject)
{
    if (r->trouble.size == 0)
        rs_text_format(&r->trouble, sentence, subject);
    return 0;
}

static bool is_name(const char *text, size_t length)
{
    if (length == 0 || isdigit((unsigned char)text[0]))
        return false;
    for (size_t i = 0; i < length; i++)
        if (!isalnum((unsigned char)text[i]) && text[i] != '_')
            return false;
    return true;
}

static int put(reading *r, json_t *object, const char *key, const char *value)
{
    if (json_object_get(object, key) != NULL)
        return refuse(r, "%s is given twice", key);
    json_t *string = json_string(value);
    if (string == NULL)
        return refuse(r, "the value of %s is not a text in UTF-8", key);
    if (json_object_set_new(object, key, string) != 0)
        r->out_of_memory = true;
    return !r->out_of_memory;
}

/* "KERNEL.ARGUMENT", or the argument alone in the section of all kernels. */
static int put_argument(reading *r, json_t *object, const char *kernel, const char *argument,
                        const char *value)
{
    rs_text name = RS_TEXT_EMPTY;
    if (strcmp(kernel, "*") != 0)
        rs_text_format(&name, "%s.", kernel);
    rs_text_add_string(&name, argument);
    r->out_of_memory = r->out_of_memory || name.failed;
    int good = name.failed ? 0 : put(r, object, name.data, value);
    rs_text place = RS_TEXT_EMPTY;
    rs_text_format(&place, "%s:%zu", r->name, r->line);
    if (good && json_object_set_new(r->places, name.data,
                                    place.failed ? NULL : rs_json_string(place.data)) != 0)
        r->out_of_memory = true;
    rs_text_free(&place);
    rs_text_free(&name);
    return good;
}

/* A layout of records with some members: whether it can be written into a kernel is the rewriter's
 * to say, when it knows the structure. */
static int put_layout(reading *r, const char *kernel, const char *argument, const char *value)
{
    restride_layout *layout;
    rs_layout_fault fault;
    rs_text dims = RS_TEXT_EMPTY;
    rs_text_format(&dims, "i:%d f:4", (int)SAMPLE_COUNT);
    if (dims.failed) {
        r->out_of_memory = true;
        return 0;
    }
    restride_status status = rs_layout_parse(&layout, dims.data, value, &fault);
    rs_text_free(&dims);
    restride_layout_destroy(layout);
    r->out_of_memory = r->out_of_memory || status == RESTRIDE_OUT_OF_MEMORY;
    if (status != RESTRIDE_OK)
        return refuse(
            r,
            strcmp(argument, "policy") == 0
                ? "the value of %s is no layout; the policy of one kernel is written .policy"
                : "the value of %s is neither a layout such as i/32 f i%%32 nor "
                  "dimensions such as [n][20]",
            argument);
    return put_argument(r, r->layouts, kernel, argument, value);
}

/* Steps over "[...]"; *begin and *end are its inside. */
static bool read_dimension(const char **cursor, const char **begin, const char **end)
{
    const char *c = *cursor + strspn(*cursor, " \t");
    int depth = 0;
    if (*c != '[')
        return false;
    *begin = c + 1;
    for (; *c != '\0'; c++) {
        depth += (*c == '[') - (*c == ']');
        if (depth == 0) {
            *end = c;
            *cursor = c + 1;
            return true;
        }
    }
    return false;
}

/* "NAME[FIRST][LENGTH] : LAYOUT", in which the name and what follows the first dimension may be
 * missing; of an array in SoA, "NAME[LENGTH][FIRST] : LAYOUT". */
static int put_dimensions(reading *r, const char *kernel, const char *argument, const char *value,
                          bool soa)
{
    static const char trouble[] = "the dimensions of %s are not of the form [n][20] : LAYOUT";
    const char *dimensions = value + strcspn(value, "["), *cursor = dimensions, *begin, *end;
    if (!read_dimension(&cursor, &begin, &end))
        return refuse(r, trouble, argument);
    if (read_dimension(&cursor, &begin, &end)) {
        rs_text length = RS_TEXT_EMPTY;
        if (soa)
            rs_text_format(&length, "SoA: %.*s", (int)(end + 1 - dimensions), dimensions);
        else
            rs_text_add(&length, begin, (size_t)(end - begin));
        rs_text_add_string(&length, "");
        r->out_of_memory = r->out_of_memory || length.failed;
        int good = !length.failed && put_argument(r, r->records, kernel, argument, length.data);
        rs_text_free(&length);
        if (!good)
            return 0;
    } else if (soa) {
        return refuse(r, trouble, argument);
    }
    cursor += strspn(cursor, " \t");
    if (*cursor == '\0')
        return 1;
    if (*cursor != ':')
        return refuse(r, trouble, argument);
    cursor++;
    return put_layout(r, kernel, argument, cursor + strspn(cursor, " \t"));
}

static int put_kernel_option(reading *r, const char *kernel, const char *key, const char *value)
{
    json_t *options = json_object_get(r->kernels, kernel);
    if (options == NULL) {
        options = json_object();
        if (options == NULL || json_object_set_new(r->kernels, kernel, options) != 0) {
            r->out_of_memory = true;
            return 0;
        }
    }
    return put(r, options, key, value);
}

static bool has_dimensions(const char *value)
{
    size_t name = strcspn(value, "[");
    const char *end = value + name;
    while (end > value && isspace((unsigned char)end[-1]))
        end--;
    return value[name] == '[' && (end == value || is_name(value, (size_t)(end - value)));
}

/* One "key = value"; libinih goes on after a line that is wrong, and remembers the first. */
static int read_item(void *data, const char *section, const char *key, const char *value)
{
    reading *r = data;
    bool all = strcmp(section, "*") == 0;
    if (r->trouble.size > 0 || r->out_of_memory)
        return 0;
    if (value == NULL || *value == '\0')
        return refuse(r, "%s has no value", key);
    if (section[0] == '\0')
        return is_name(key, strlen(key)) ? put(r, r->options, key, value)
                                         : refuse(r, "%s is not the name of an option", key);
    if (!all && !is_name(section, strlen(section)))
        return refuse(r, "[%s] is neither a kernel's name nor [*]", section);
    if (key[0] == '.' && is_name(key + 1, strlen(key + 1)))
        return all ? refuse(r,
                            "%s belongs to one kernel; options for all stand before the first "
                            "section",
                            key)
                   : put_kernel_option(r, section, key + 1, value);
    if (!is_name(key, strlen(key)))
        return refuse(r, "%s is not the name of an argument", key);
    static const char soa[] = "SoA:";
    if (strncmp(value, soa, strlen(soa)) == 0)
        return put_dimensions(r, section, key, value + strlen(soa), true);
    return has_dimensions(value) ? put_dimensions(r, section, key, value, false)
                                 : put_layout(r, section, key, value);
}

/* Gives libinih the next line; with fgets's arguments. */
static char *read_line(char *line, int size, void *data)
{
    reading *r = data;
    size_t length = strcspn(r->rest, "\n");
    length += r->rest[length] == '\n';
    if (length == 0 || length >= (size_t)size) /* find_bad_line() leaves none so long */
        return NULL;
    memcpy(line, r->rest, length);
    line[length] = '\0';
    r->rest += length;
    r->line++;
    return line;
}

/* The first line that libinih cannot read as it is meant, or 0. */
static size_t find_bad_line(const char *text, size_t size)
{
    size_t line = 1, length = 0;
    for (size_t i = 0; i < size; i++) {
        if (text[i] == '\0')
            return line;
        length++;
        if (text[i] == '\n') {
            line++;
            length = 0;
        }
        if (length > LINE_LIMIT)
            return line;
    }
    return 0;
}

static restride_status finish(reading *r, int line, const char *name, json_t **config)
{
    restride_status status = RESTRIDE_OK;
    if (r->out_of_memory || line < 0)
        status = rs_fail_memory("a configuration");
    else if (line > 0)
        status = rs_fail(RESTRIDE_SYNTAX, "%s:%d: %s.", name, line,
                         r->trouble.size > 0 ? r->trouble.data
                                             : "this is neither a section nor KEY = VALUE");
    if (status == RESTRIDE_OK) {
        *config =
            json_pack("{s:O, s:O, s:O, s:O, s:O}", "options", r->options, "kernels", r->kernels,
                      "layouts", r->layouts, "records", r->records, "places", r->places);
        if (*config == NULL)
            status = rs_fail_memory("a configuration");
    }
    return status;
}

restride_status rs_config_parse(const char *text, size_t size, const char *name, json_t **config)
{
    *config = NULL;
    size_t bad = find_bad_line(text, size);
    if (bad > 0)
        return rs_fail(RESTRIDE_SYNTAX,
                       "%s:%zu: The line is longer than %d bytes or has a zero byte.", name, bad,
                       (int)LINE_LIMIT);
    char *copy = strndup(text, size);
    reading r = {.name = name,
                 .rest = copy,
                 .options = json_object(),
                 .kernels = json_object(),
                 .layouts = json_object(),
                 .records = json_object(),
                 .places = json_object()};
    restride_status status;
    if (copy == NULL || r.options == NULL || r.kernels == NULL || r.layouts == NULL ||
        r.records == NULL || r.places == NULL)
        status = rs_fail_memory("a configuration");
    else
        status = finish(&r, ini_parse_stream(read_line, &r, read_item, &r), name, config);
    free(copy);
    rs_text_free(&r.trouble);
    json_decref(r.options);
    json_decref(r.kernels);
    json_decref(r.layouts);
    json_decref(r.records);
    json_decref(r.places);
    return status;
}

restride_status rs_config_read(const char *path, json_t **config)
{
    rs_text text = RS_TEXT_EMPTY;
    *config = NULL;
    restride_status status = rs_text_read_file(&text, path);
    if (status == RESTRIDE_OK)
        status = rs_config_parse(text.data != NULL ? text.data : "", text.size, path, config);
    rs_text_free(&text);
    return status;
}
