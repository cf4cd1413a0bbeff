/*
 * The hand-derived table of access matrices (table.txt) against the analysis of lab/kernels:
 * every line must be found, and every reference must be in the table.
 */
#include "analyze/analyze.h"
#include "base/text.h"
#include "cmocka_all.h"

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* All references of one file, each printed as a line of the table would be; NULL once it was met.
 */
typedef struct {
    char file[64];
    char **lines;
    size_t count;
} references;

static references files[16];
static size_t file_count;

static const char *text_in(const json_t *object, const char *key)
{
    const char *text = json_string_value(json_object_get(object, key));
    return text != NULL ? text : "";
}

static void add_letters(rs_text *line, const json_t *reference)
{
    static const struct {
        const char *name, *letter;
    } classes[] = {{"single", "1"},  {"linear", "L"},   {"reverse", "R"}, {"shifted", "S"},
                   {"overlap", "O"}, {"non-unit", "N"}, {"random", "Z"},  {"unknown", "U"}};
    char copy[200], *rest = copy, *part;
    snprintf(copy, sizeof copy, "%s", text_in(reference, "classes"));
    while ((part = strtok_r(rest, "+", &rest)) != NULL) {
        part += strspn(part, " ");
        for (size_t i = 0; i < sizeof classes / sizeof classes[0]; i++)
            if (strncmp(part, classes[i].name, strlen(classes[i].name)) == 0)
                rs_text_add_string(line, classes[i].letter);
    }
    if (json_is_true(json_object_get(reference, "approximated")))
        rs_text_add_string(line, "~");
}

/* "FUNCTION %COLUMNS KIND TEXT | M | o | CLASSES" */
static char *print_reference(const char *function, const json_t *reference)
{
    rs_text line = RS_TEXT_EMPTY;
    size_t i, j;
    json_t *value, *entry;
    rs_text_format(&line, "%s %%", function);
    json_array_foreach(json_object_get(reference, "columns"), i, value) rs_text_format(
        &line, "%s%s%s%s", i > 0 ? "," : "",
        json_is_true(json_object_get(value, "between")) ? "*" : "",
        json_is_true(json_object_get(value, "auxiliary")) ? "~" : "", text_in(value, "name"));
    bool read = json_is_true(json_object_get(reference, "read"));
    bool write = json_is_true(json_object_get(reference, "write"));
    rs_text_format(&line, " %s %s | ",
                   read && write ? "m"
                   : write       ? "w"
                                 : "r",
                   text_in(reference, "text"));
    json_array_foreach(json_object_get(reference, "matrix"), i, value)
    {
        rs_text_add_string(&line, i > 0 ? "; " : "");
        json_array_foreach(value, j, entry)
            rs_text_format(&line, "%s%s", j > 0 ? " " : "", json_string_value(entry));
    }
    rs_text_add_string(&line, " | ");
    json_array_foreach(json_object_get(reference, "offset"), i, value)
        rs_text_format(&line, "%s%s", i > 0 ? "," : "", json_string_value(value));
    rs_text_add_string(&line, " | ");
    add_letters(&line, reference);
    char *text = rs_text_take(&line);
    assert_non_null(text);
    return text;
}

static references *analyze(const char *name)
{
    for (size_t i = 0; i < file_count; i++)
        if (strcmp(files[i].file, name) == 0)
            return &files[i];
    references *list = &files[file_count++];
    snprintf(list->file, sizeof list->file, "%s", name);
    char path[512];
    snprintf(path, sizeof path, "%s/%s", KERNELS, name);
    rs_text source = RS_TEXT_EMPTY;
    assert_int_equal(rs_text_read_file(&source, path), RESTRIDE_OK);
    json_t *request = json_pack("{s:s, s:s}", "source", source.data, "file", name);
    json_t *reply = NULL;
    assert_int_equal(rs_analyze(request, &reply), RESTRIDE_OK);
    size_t n, u, r;
    json_t *note, *unit, *reference;
    json_array_foreach(json_object_get(reply, "notes"), n, note) print_message(
        "%s:%lld: %s\n", name, (long long)json_integer_value(json_object_get(note, "line")),
        text_in(note, "sentence"));
    assert_int_equal(json_array_size(json_object_get(reply, "notes")), 0);
    json_array_foreach(json_object_get(reply, "units"), u, unit)
        json_array_foreach(json_object_get(unit, "references"), r, reference)
    {
        list->lines = realloc(list->lines, (list->count + 1) * sizeof *list->lines);
        assert_non_null(list->lines);
        list->lines[list->count++] = print_reference(text_in(unit, "name"), reference);
    }
    json_decref(reply);
    json_decref(request);
    rs_text_free(&source);
    return list;
}

static bool take(references *list, const char *expected)
{
    for (size_t i = 0; i < list->count; i++)
        if (list->lines[i] != NULL && strcmp(list->lines[i], expected) == 0) {
            free(list->lines[i]);
            list->lines[i] = NULL;
            return true;
        }
    return false;
}

static void check_table(void **state)
{
    (void)state;
    rs_text table = RS_TEXT_EMPTY;
    assert_int_equal(rs_text_read_file(&table, TABLE), RESTRIDE_OK);
    char *rest = table.data, *line, function[64] = "", columns[256] = "";
    references *list = NULL;
    int wrong = 0, met = 0;
    while ((line = strtok_r(rest, "\n", &rest)) != NULL) {
        char name[64], expected[512];
        if (line[0] == '#')
            continue;
        if (line[0] == '@') {
            assert_int_equal(sscanf(line, "@%63s %63s", name, function), 2);
            list = analyze(name);
            continue;
        }
        if (line[0] == '%') {
            snprintf(columns, sizeof columns, "%s", line);
            continue;
        }
        char *kind;
        long times = strtol(line, &kind, 10);
        assert_non_null(list);
        snprintf(expected, sizeof expected, "%s %s %s", function, columns, kind);
        for (long i = 0; i < (times == 0 ? 1 : times); i++) {
            bool found = take(list, expected);
            met += found;
            wrong += !found;
            if (!found)
                print_message("the analysis misses %s\n", expected);
        }
    }
    for (size_t f = 0; f < file_count; f++)
        for (size_t i = 0; i < files[f].count; i++)
            if (files[f].lines[i] != NULL) {
                print_message("the table misses    %s\n", files[f].lines[i]);
                free(files[f].lines[i]);
                wrong++;
            }
    for (size_t f = 0; f < file_count; f++)
        free(files[f].lines);
    rs_text_free(&table);
    print_message("%d references\n", met);
    assert_int_equal(wrong, 0);
    assert_true(met >= 280);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(check_table)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
