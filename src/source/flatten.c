/* Runs cpp twice: once for the text (-dD), once for the names that are tested without being defined
 * (-dU, -Wundef). */
#include "source/flatten.h"

#include "base/child.h"
#include "base/text.h"
#include "source/macro_names.h"
#include "source/words.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Stands for "#pragma unroll" while cpp runs, because device compilers expand macros there and cpp
 * does not. */
#define UNROLL_MARK "restride_pragma_unroll"

/* Stands before the text that is read behind the source. */
#define APPENDIX_MARK "restride_appendix"

static const char memory_subject[] = "a preprocessed source";

static const char *skip_blanks(const char *c)
{
    while (*c == ' ' || *c == '\t')
        c++;
    return c;
}

static bool starts_with(const char *text, const char *prefix)
{
    return strncmp(text, prefix, strlen(prefix)) == 0;
}

static bool add_string(char ***list, size_t *count, const char *bytes, size_t length)
{
    char *copy = strndup(bytes, length);
    char **grown = copy == NULL ? NULL : realloc(*list, (*count + 1) * sizeof *grown);
    if (grown == NULL) {
        free(copy);
        return false;
    }
    *list = grown;
    grown[(*count)++] = copy;
    return true;
}

/* Whether the line is "#pragma unroll ..."; *tail is what follows these words. */
static bool is_unroll(const char *line, const char **tail)
{
    const char *c = skip_blanks(line);
    if (*c != '#')
        return false;
    c = skip_blanks(c + 1);
    if (!starts_with(c, "pragma"))
        return false;
    c = skip_blanks(c + strlen("pragma"));
    if (rs_identifier_length(c) != strlen("unroll") || !starts_with(c, "unroll"))
        return false;
    *tail = c + strlen("unroll");
    return true;
}

/* The text for cpp: the source under the user's file name, with the marks for "#pragma unroll". */
static void write_input(rs_text *input, const char *source, const char *file, const char *appendix)
{
    rs_text_add_string(input, "# 1 \"");
    for (const char *c = file; *c != '\0'; c++) {
        if (*c == '"' || *c == '\\')
            rs_text_add_string(input, "\\");
        rs_text_add(input, *c == '\n' ? " " : c, 1);
    }
    rs_text_add_string(input, "\"\n");
    const char *cursor = source, *line, *tail;
    size_t length;
    bool continued = false;
    while ((line = rs_line_next(&cursor, &length)) != NULL) {
        if (!continued && is_unroll(line, &tail)) {
            rs_text_add_string(input, UNROLL_MARK);
            rs_text_add(input, tail, length - (size_t)(tail - line));
        } else {
            rs_text_add(input, line, length);
        }
        rs_text_add_string(input, "\n");
        continued = length > 0 && line[length - 1] == '\\';
    }
    if (appendix != NULL)
        rs_text_format(input, "\n" APPENDIX_MARK "\n%s", appendix);
}

static restride_status run_cpp(const char *dump, const rs_text *input, const rs_options *options,
                               char *const definitions[], size_t definition_count, rs_text *output,
                               rs_text *errors, int *exit_status)
{
    const char *const fixed[] = {"cpp", "-undef", "-nostdinc", "-std=c99", "-Wundef", dump};
    enum { FIXED = sizeof fixed / sizeof fixed[0] };
    size_t count = FIXED;
    char **arguments =
        malloc((FIXED + definition_count + options->preprocessor_count + 2) * sizeof *arguments);
    if (arguments == NULL)
        return rs_fail_memory("the preprocessor's arguments");
    memcpy(arguments, fixed, sizeof fixed);
    for (size_t i = 0; i < definition_count; i++)
        arguments[count++] = definitions[i];
    for (size_t i = 0; i < options->preprocessor_count; i++)
        arguments[count++] = options->preprocessor[i];
    static char standard_input[] = "-";
    arguments[count++] = standard_input;
    arguments[count] = NULL;
    restride_status status =
        rs_child_run(arguments, input->data, input->size, output, errors, exit_status);
    free(arguments);
    return status;
}

/* Reads "FILE:LINE:COLUMN: [fatal ]error: MESSAGE" from what cpp said. */
static bool read_failure(rs_flat *flat, const char *errors)
{
    const char *cursor = errors, *line;
    size_t length;
    while ((line = rs_line_next(&cursor, &length)) != NULL) {
        static const char *const marks[] = {": error: ", ": fatal error: "};
        for (size_t m = 0; m < 2; m++) {
            const char *mark = strstr(line, marks[m]);
            if (mark == NULL || mark >= line + length)
                continue;
            const char *message = mark + strlen(marks[m]);
            /* Two numbers, each behind a colon, stand before the mark. */
            const char *end = mark;
            for (int part = 0; part < 2 && end > line; part++) {
                const char *digits = end;
                while (digits > line && isdigit((unsigned char)digits[-1]))
                    digits--;
                if (digits == end || digits == line || digits[-1] != ':')
                    break;
                flat->failure_line = strtoul(digits, NULL, 10);
                end = digits - 1;
            }
            flat->failure_file = strndup(line, (size_t)(end - line));
            flat->failure = strndup(message, length - (size_t)(message - line));
            return flat->failure_file != NULL && flat->failure != NULL;
        }
    }
    flat->failure = strdup("the preprocessor cpp failed without a message");
    flat->failure_file = strdup("");
    return flat->failure != NULL && flat->failure_file != NULL;
}

static bool find_file(rs_flat *flat, const char *name, size_t length, size_t *index)
{
    for (size_t i = flat->file_count; i > 0; i--)
        if (strlen(flat->files[i - 1]) == length && memcmp(flat->files[i - 1], name, length) == 0) {
            *index = i - 1;
            return true;
        }
    *index = flat->file_count;
    return add_string(&flat->files, &flat->file_count, name, length);
}

/* Reads the marker "# LINE "FILE" FLAGS"; false when the line is something else or memory is short.
 */
static bool read_marker(rs_flat *flat, const char *text, size_t length, size_t *line, size_t *file)
{
    if (length < 5 || text[0] != '#' || text[1] != ' ' || !isdigit((unsigned char)text[2]))
        return false;
    char *end;
    size_t number = strtoul(text + 2, &end, 10);
    const char *name = skip_blanks(end);
    const char *stop = text + length;
    while (stop > name && *stop != '"')
        stop--;
    if (*name != '"' || stop == name || !find_file(flat, name + 1, (size_t)(stop - name - 1), file))
        return false;
    *line = number;
    return true;
}

static bool add_place(rs_flat *flat, size_t *capacity, size_t offset, size_t line, size_t file)
{
    if (flat->place_count == *capacity) {
        size_t wanted = *capacity == 0 ? 64 : *capacity * 2;
        rs_place *grown = realloc(flat->places, wanted * sizeof *grown);
        if (grown == NULL)
            return false;
        flat->places = grown;
        *capacity = wanted;
    }
    flat->places[flat->place_count++] = (rs_place){offset, line, file};
    return true;
}

/*
 * Adds one line of cpp's output to the flat text; false when it is left out. A definition or
 * "#undef" becomes "#undef NAME" if the name is still in the text: it is no macro there, even if
 * the device's compiler predefines one.
 */
static bool add_line(rs_text *text, const char *line, size_t length, const rs_macro_names *macros)
{
    const char *name = rs_macro_name_in(line);
    if (name != NULL) {
        size_t name_length = rs_identifier_length(name);
        if (!rs_macro_names_mentioned(macros, name, name_length))
            return false;
        rs_text_format(text, "#undef %.*s\n", (int)name_length, name);
        return true;
    }
    if (starts_with(line, UNROLL_MARK)) {
        rs_text_add_string(text, "#pragma unroll");
        line += strlen(UNROLL_MARK);
        length -= strlen(UNROLL_MARK);
    }
    rs_text_add(text, line, length);
    rs_text_add_string(text, "\n");
    return true;
}

static bool is_blank(const char *line, size_t length)
{
    for (size_t i = 0; i < length; i++)
        if (!isspace((unsigned char)line[i]))
            return false;
    return true;
}

/* Finds the last mark and blanks it; the source's own names have no such prefix. */
static void find_appendix(rs_flat *flat)
{
    static const char mark[] = "\n" APPENDIX_MARK "\n";
    char *last = NULL;
    for (char *found = strstr(flat->text, mark); found != NULL; found = strstr(found + 1, mark))
        last = found;
    if (last == NULL)
        return;
    flat->appendix = (size_t)(last - flat->text) + 1;
    memset(last + 1, ' ', strlen(APPENDIX_MARK));
}

/* Turns cpp's output into the flat text and its places. */
static restride_status read_output(rs_flat *flat, const char *output)
{
    rs_text text = RS_TEXT_EMPTY;
    const char *cursor = output, *line;
    size_t length, number = 1, file = 0, capacity = 0;
    size_t expected = 0, expected_file = (size_t)-1; /* what the last place says about this line */
    rs_macro_names macros;
    restride_status status = rs_macro_names_read(&macros, output);
    if (status != RESTRIDE_OK)
        return status;
    bool ok = find_file(flat, "", 0, &file);
    while (ok && (line = rs_line_next(&cursor, &length)) != NULL) {
        if (read_marker(flat, line, length, &number, &file))
            continue;
        bool predefined = flat->files[file][0] == '<';
        if (!predefined && !is_blank(line, length)) {
            size_t offset = text.size;
            bool added = add_line(&text, line, length, &macros);
            if (added && (number != expected || file != expected_file))
                ok = add_place(flat, &capacity, offset, number, file);
            if (added) {
                expected = number + 1;
                expected_file = file;
            }
        }
        number++;
    }
    rs_macro_names_free(&macros);
    flat->size = flat->appendix = text.size;
    flat->text = rs_text_take(&text);
    if (flat->text != NULL)
        find_appendix(flat);
    return ok && flat->text != NULL ? RESTRIDE_OK : rs_fail_memory(memory_subject);
}

static bool add_unknown(rs_flat *flat, const char *name)
{
    size_t length = rs_identifier_length(name);
    return length == 0 || add_string(&flat->unknown, &flat->unknown_count, name, length);
}

static int compare_strings(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

/* "#undef NAME" in the output of -dU is a test of a name that is not defined; -Wundef says the same
 * for #if NAME. */
static restride_status read_unknown(rs_flat *flat, const char *output, const char *errors)
{
    const char *cursor = output, *line;
    size_t length;
    bool ok = true;
    while (ok && (line = rs_line_next(&cursor, &length)) != NULL)
        if (starts_with(line, "#undef "))
            ok = add_unknown(flat, line + strlen("#undef "));
    static const char warning[] = ": warning: \"";
    static const char undefined[] = "\" is not defined, evaluates to 0";
    for (const char *found = strstr(errors, warning); ok && found != NULL;
         found = strstr(found, warning)) {
        found += strlen(warning);
        if (starts_with(found + rs_identifier_length(found), undefined))
            ok = add_unknown(flat, found);
    }
    if (!ok)
        return rs_fail_memory(memory_subject);
    if (flat->unknown_count > 0)
        qsort(flat->unknown, flat->unknown_count, sizeof *flat->unknown, compare_strings);
    size_t kept = 0;
    for (size_t i = 0; i < flat->unknown_count; i++) {
        if (kept > 0 && strcmp(flat->unknown[kept - 1], flat->unknown[i]) == 0)
            free(flat->unknown[i]);
        else
            flat->unknown[kept++] = flat->unknown[i];
    }
    flat->unknown_count = kept;
    return RESTRIDE_OK;
}

restride_status rs_flatten(rs_flat *flat, const char *source, const char *file,
                           const rs_options *options, char *const definitions[],
                           size_t definition_count, const char *appendix)
{
    memset(flat, 0, sizeof *flat);
    rs_text input = RS_TEXT_EMPTY, output = RS_TEXT_EMPTY, errors = RS_TEXT_EMPTY;
    write_input(&input, source, file, appendix);
    restride_status status = input.failed ? rs_fail_memory(memory_subject) : RESTRIDE_OK;
    int exit_status = 0;
    if (status == RESTRIDE_OK)
        status = run_cpp("-dU", &input, options, definitions, definition_count, &output, &errors,
                         &exit_status);
    if (status == RESTRIDE_OK && exit_status != 0 && !read_failure(flat, errors.data))
        status = rs_fail_memory(memory_subject);
    /* Also when preprocessing failed: a branch that a missing macro chose may be the reason. */
    if (status == RESTRIDE_OK)
        status = read_unknown(flat, output.data != NULL ? output.data : "",
                              errors.data != NULL ? errors.data : "");
    rs_text_free(&output);
    rs_text_free(&errors);
    if (status == RESTRIDE_OK && exit_status == 0)
        status = run_cpp("-dD", &input, options, definitions, definition_count, &output, &errors,
                         &exit_status);
    if (status == RESTRIDE_OK && exit_status == 0 && strlen(output.data) != output.size) {
        flat->failure = strdup("the source or one of its headers has a zero byte");
        flat->failure_file = strdup(file);
        if (flat->failure == NULL || flat->failure_file == NULL)
            status = rs_fail_memory(memory_subject);
    } else if (status == RESTRIDE_OK && exit_status == 0)
        status = read_output(flat, output.data);
    else if (status == RESTRIDE_OK && flat->failure == NULL && !read_failure(flat, errors.data))
        status = rs_fail_memory(memory_subject);
    rs_text_free(&input);
    rs_text_free(&output);
    rs_text_free(&errors);
    if (status != RESTRIDE_OK)
        rs_flat_free(flat);
    return status;
}

void rs_flat_locate(const rs_flat *flat, size_t offset, const char **file, size_t *line)
{
    *file = "";
    *line = 0;
    size_t low = 0, high = flat->place_count; /* the wanted place is in [low - 1, high - 1] */
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (flat->places[middle].offset <= offset)
            low = middle + 1;
        else
            high = middle;
    }
    if (low == 0)
        return;
    const rs_place *place = &flat->places[low - 1];
    *file = flat->files[place->file];
    *line = place->line;
    for (size_t i = place->offset; i < offset && i < flat->size; i++)
        if (flat->text[i] == '\n')
            (*line)++;
}

static void free_strings(char **list, size_t count)
{
    for (size_t i = 0; i < count; i++)
        free(list[i]);
    free(list);
}

void rs_flat_free(rs_flat *flat)
{
    free(flat->text);
    free_strings(flat->files, flat->file_count);
    free(flat->places);
    free_strings(flat->unknown, flat->unknown_count);
    free(flat->failure);
    free(flat->failure_file);
    memset(flat, 0, sizeof *flat);
}
