/* Splits and sorts the build options of an OpenCL program (OpenCL specification, clBuildProgram).
 */
#include "source/options.h"
#include "base/list.h"
#include "syntax/arguments.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* Options that the sorting below does not follow: with one of them nothing is known about the
 * source. */
static const char *const refused_options[] = {
    "-include",      "-imacros",      "-iquote", "-isystem",       "-idirafter", "-Xclang",
    "-fpack-struct", "-fshort-enums", "-x",      "-Xpreprocessor", "-Wp,"};

static const char standard_option[] = "-cl-std=";

static bool starts_with(const char *word, const char *prefix)
{
    return strncmp(word, prefix, strlen(prefix)) == 0;
}

/* The languages that the rewriter knows; C++ for OpenCL has uses of a pointer that it does not see.
 */
static bool is_known_standard(const char *name)
{
    static const char *const known[] = {"CL", "CL1.0", "CL1.1", "CL1.2", "CL2.0", "CL3.0"};
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++)
        if (strcasecmp(name, known[i]) == 0)
            return true;
    return false;
}

bool rs_options_are_before_static(const rs_options *options)
{
    static const char *const old[] = {"CL", "CL1.0", "CL1.1"};
    for (size_t i = 0; i < sizeof old / sizeof old[0]; i++)
        if (strcasecmp(options->standard, old[i]) == 0)
            return true;
    return false;
}

static bool is_refused(const char *word)
{
    if (starts_with(word, standard_option))
        return !is_known_standard(word + strlen(standard_option));
    for (size_t i = 0; i < sizeof refused_options / sizeof refused_options[0]; i++)
        if (starts_with(word, refused_options[i]))
            return true;
    return false;
}

static bool replace(char **string, const char *value)
{
    char *copy = strdup(value);
    if (copy == NULL)
        return false;
    free(*string);
    *string = copy;
    return true;
}

static bool add_preprocessor(rs_options *options, char letter, const char *value)
{
    if (!RS_LIST_GROW(options->preprocessor, options->preprocessor_count))
        return false;
    rs_text text = RS_TEXT_EMPTY;
    rs_text_format(&text, "-%c%s", letter, value);
    char *option = rs_text_take(&text);
    if (option == NULL)
        return false;
    options->preprocessor[options->preprocessor_count++] = option;
    return true;
}

/* Sorts one word; `raw` is the same word as it was written. */
static bool sort_word(rs_options *options, const char *word, const char *raw, size_t raw_size,
                      rs_text *rest)
{
    if (starts_with(word, standard_option) &&
        !replace(&options->standard, word + strlen(standard_option)))
        return false;
    if (options->refused == NULL && is_refused(word) && !replace(&options->refused, word))
        return false;
    if (rest->size > 0)
        rs_text_add_string(rest, " ");
    rs_text_add(rest, raw, raw_size);
    return true;
}

restride_status rs_options_parse(rs_options *options, const char *text)
{
    *options = (rs_options){NULL, 0, NULL, NULL, NULL};
    rs_text rest = RS_TEXT_EMPTY;
    bool ok = replace(&options->standard, "CL1.2");
    const char *cursor = text;
    while (ok) {
        while (isspace((unsigned char)*cursor))
            cursor++;
        const char *raw = cursor;
        rs_text word = RS_TEXT_EMPTY;
        if (!rs_argument_next(&cursor, "", &word))
            break;
        ok = !word.failed;
        if (ok && word.data[0] == '-' && word.data[1] != '\0' && strchr("DUI", word.data[1])) {
            char letter = word.data[1];
            if (word.data[2] != '\0') {
                ok = add_preprocessor(options, letter, word.data + 2);
            } else {
                rs_text value = RS_TEXT_EMPTY;
                if (rs_argument_next(&cursor, "", &value))
                    ok = !value.failed && add_preprocessor(options, letter, value.data);
                rs_text_free(&value);
            }
        } else if (ok) {
            ok = sort_word(options, word.data, raw, (size_t)(cursor - raw), &rest);
        }
        rs_text_free(&word);
    }
    options->rest = rs_text_take(&rest);
    if (ok && options->rest != NULL)
        return RESTRIDE_OK;
    rs_options_free(options);
    return rs_fail_memory("the build options");
}

void rs_options_free(rs_options *options)
{
    for (size_t i = 0; i < options->preprocessor_count; i++)
        free(options->preprocessor[i]);
    free(options->preprocessor);
    free(options->rest);
    free(options->standard);
    free(options->refused);
    *options = (rs_options){NULL, 0, NULL, NULL, NULL};
}

static void add_word(rs_text *text, const char *word)
{
    rs_text_add_string(text, " \"");
    for (const char *c = word; *c != '\0'; c++) {
        if (*c == '"' || *c == '\\')
            rs_text_add_string(text, "\\");
        rs_text_add(text, c, 1);
    }
    rs_text_add_string(text, "\"");
}

void rs_options_join(rs_text *text, char *const words[], int count, const char *file)
{
    for (int i = 0; i < count; i++)
        add_word(text, words[i]);
    const char *slash = strrchr(file, '/');
    rs_text folder = RS_TEXT_EMPTY;
    rs_text_add_string(&folder, "-I");
    rs_text_add(&folder, slash == NULL ? "." : file,
                slash == NULL ? 1 : (size_t)(slash - file) + 1);
    if (folder.failed)
        text->failed = true;
    else
        add_word(text, folder.data);
    rs_text_free(&folder);
}
