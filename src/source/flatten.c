/* Runs cpp twice: once for the text (-dD), once for the names that are tested without being defined
 * (-dU, -Wundef). */
#include "source/flatten.h"

#include "base/child.h"
#include "base/list.h"
#include "base/text.h"
#include "source/beside.h"
#include "source/output.h"
#include "source/words.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

/* Stands before the name of a header that macros make. */
#define NAME_MARK "restride_header"

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

/* The name in a line "#include <name>", or in the marks that are given, which the caller frees, or
 * NULL; *tail is what follows. */
static char *included_name(const char *line, char open, char close, const char **tail)
{
    const char *c = skip_blanks(line);
    if (*c != '#')
        return NULL;
    c = skip_blanks(c + 1);
    if (!starts_with(c, "include"))
        return NULL;
    c = skip_blanks(c + strlen("include"));
    const char marks[] = {close, '\n', '\0'};
    size_t length = *c == open ? 1 + strcspn(c + 1, marks) : 0;
    if (length == 0 || c[length] != close)
        return NULL;
    *tail = c + length + 1;
    return strndup(c + 1, length - 1);
}

void rs_flat_add_include(rs_text *input, const char *name)
{
    rs_text_format(input, RS_INCLUDE_MARK " \"<%s>\"", name);
}

/* Writes the mark for a line with a header that is left to the compiler; false for other lines. */
static bool write_include(rs_text *input, const rs_flat_request *request, const char *line,
                          size_t length)
{
    const char *tail = line;
    char *name = request->stays != NULL ? included_name(line, '<', '>', &tail) : NULL;
    bool stays = name != NULL && request->stays(request->context, name);
    if (stays) {
        rs_flat_add_include(input, name);
        rs_text_add(input, tail, length - (size_t)(tail - line));
    }
    free(name);
    return stays;
}

/* The length of a line without the flags of a marker "# LINE "FILE" FLAGS": only those of cpp
 * itself say that it reads a file; a source may be what another cpp wrote. */
static size_t without_flags(const char *line, size_t length)
{
    const char *c = skip_blanks(line), *end = line + length;
    if (*c != '#' || !isdigit((unsigned char)*skip_blanks(c + 1)))
        return length;
    while (end > c && strchr(" \t\r1234", end[-1]) != NULL)
        end--;
    return end > c && end[-1] == '"' ? (size_t)(end - line) : length;
}

/* The text for cpp: the source under the user's file name, with the marks for "#pragma unroll" and
 * for the headers that are left to the compiler. */
static void write_input(rs_text *input, const rs_flat_request *request, const char *source)
{
    const char *file = request->file, *appendix = request->appendix;
    rs_text_add_string(input, RS_SOURCE_MARK "\n# 1 ");
    rs_quote_file(input, file);
    rs_text_add_string(input, "\n");
    const char *cursor = source, *line, *tail;
    size_t length;
    bool continued = false;
    while ((line = rs_line_next(&cursor, &length)) != NULL) {
        if (!continued && is_unroll(line, &tail)) {
            rs_text_add_string(input, RS_UNROLL_MARK);
            rs_text_add(input, tail, length - (size_t)(tail - line));
        } else if (continued || !write_include(input, request, line, length)) {
            rs_text_add(input, line, continued ? length : without_flags(line, length));
        }
        rs_text_add_string(input, "\n");
        continued = length > 0 && line[length - 1] == '\\';
    }
    if (appendix != NULL)
        rs_text_format(input, "\n" RS_APPENDIX_MARK "\n%s", appendix);
}

/* Runs cpp with what it is to dump, and with comments kept or not. */
static restride_status run_cpp(const char *dump, bool comments, const rs_text *input,
                               const rs_flat_request *request, rs_text *output, rs_text *errors,
                               int *exit_status)
{
    const char *const device[] = {"cpp", "-nostdinc", "-Wundef", dump, "-undef", "-std=c99"};
    enum { ALL = sizeof device / sizeof device[0], FOR_HOST = ALL - 2 };
    const size_t fixed = request->host ? FOR_HOST : ALL;
    const rs_options *options = request->options;
    size_t count = fixed;
    char **arguments = malloc(
        (fixed + request->definition_count + options->preprocessor_count + 3) * sizeof *arguments);
    if (arguments == NULL)
        return rs_fail_memory("the preprocessor's arguments");
    memcpy(arguments, device, fixed * sizeof *device);
    for (size_t i = 0; i < request->definition_count; i++)
        arguments[count++] = request->definitions[i];
    for (size_t i = 0; i < options->preprocessor_count; i++)
        arguments[count++] = options->preprocessor[i];
    static char standard_input[] = "-", keep_comments[] = "-C";
    if (comments)
        arguments[count++] = keep_comments;
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

static bool add_unknown(rs_flat *flat, const char *name, bool valued)
{
    size_t length = rs_identifier_length(name);
    if (length == 0)
        return true;
    bool room = RS_LIST_GROW(flat->unknown, flat->unknown_count);
    char *copy = room ? strndup(name, length) : NULL;
    if (copy == NULL)
        return false;
    flat->unknown[flat->unknown_count++] = (rs_unknown_macro){copy, valued};
    return true;
}

static int compare_unknown(const void *a, const void *b)
{
    return strcmp(((const rs_unknown_macro *)a)->name, ((const rs_unknown_macro *)b)->name);
}

/* "#undef NAME" in the output of -dU is a test of a name that is not defined; -Wundef tells of a
 * name that an #if reads. */
static restride_status read_unknown(rs_flat *flat, const char *output, const char *errors)
{
    const char *cursor = output, *line;
    size_t length;
    bool ok = true;
    while (ok && (line = rs_line_next(&cursor, &length)) != NULL)
        if (starts_with(line, "#undef "))
            ok = add_unknown(flat, line + strlen("#undef "), false);
    static const char warning[] = ": warning: \"";
    static const char undefined[] = "\" is not defined, evaluates to 0";
    for (const char *found = strstr(errors, warning); ok && found != NULL;
         found = strstr(found, warning)) {
        found += strlen(warning);
        if (starts_with(found + rs_identifier_length(found), undefined))
            ok = add_unknown(flat, found, true);
    }
    if (!ok)
        return rs_fail_memory(memory_subject);
    if (flat->unknown_count > 0)
        qsort(flat->unknown, flat->unknown_count, sizeof *flat->unknown, compare_unknown);
    size_t kept = 0;
    for (size_t i = 0; i < flat->unknown_count; i++) {
        rs_unknown_macro *last = kept > 0 ? &flat->unknown[kept - 1] : NULL;
        if (last != NULL && strcmp(last->name, flat->unknown[i].name) == 0) {
            last->valued = last->valued || flat->unknown[i].valued;
            free(flat->unknown[i].name);
        } else {
            flat->unknown[kept++] = flat->unknown[i];
        }
    }
    flat->unknown_count = kept;
    return RESTRIDE_OK;
}

/*
 * Reads the source again, with its comments. cpp then takes a directive behind a comment for
 * ordinary text, so the texts are compared; the one without comments decides.
 */
static restride_status read_comments(rs_flat *flat, const rs_text *input,
                                     const rs_flat_request *request)
{
    rs_text output = RS_TEXT_EMPTY, errors = RS_TEXT_EMPTY;
    int exit_status = 0;
    restride_status status = run_cpp("-dD", true, input, request, &output, &errors, &exit_status);
    char *blanked = NULL;
    rs_flat other;
    memset(&other, 0, sizeof other);
    if (status == RESTRIDE_OK && exit_status == 0 && strlen(output.data) == output.size) {
        blanked = strdup(output.data);
        if (blanked == NULL)
            status = rs_fail_memory(memory_subject);
        else
            rs_comments_blank(blanked);
        if (status == RESTRIDE_OK)
            status = rs_flat_read_output(&other, blanked, output.data);
        if (status == RESTRIDE_OK && rs_flat_same_words(flat->text, other.text)) {
            other.unknown = flat->unknown;
            other.unknown_count = flat->unknown_count;
            flat->unknown = NULL;
            flat->unknown_count = 0;
            rs_flat_free(flat);
            *flat = other;
            memset(&other, 0, sizeof other);
        }
    }
    free(blanked);
    rs_flat_free(&other);
    rs_text_free(&output);
    rs_text_free(&errors);
    return status;
}

static restride_status note_zero_byte(rs_flat *flat, const char *file)
{
    flat->failure = strdup("the source or one of its headers has a zero byte");
    flat->failure_file = strdup(file);
    return flat->failure == NULL || flat->failure_file == NULL ? rs_fail_memory(memory_subject)
                                                               : RESTRIDE_OK;
}

/* The run for the names that are tested. */
static restride_status find_unknown(rs_flat *flat, const rs_text *input,
                                    const rs_flat_request *request)
{
    rs_text output = RS_TEXT_EMPTY, errors = RS_TEXT_EMPTY;
    int exit_status = 0;
    restride_status status = run_cpp("-dU", false, input, request, &output, &errors, &exit_status);
    if (status == RESTRIDE_OK && exit_status != 0 && !read_failure(flat, errors.data))
        status = rs_fail_memory(memory_subject);
    /* Also when preprocessing failed: a branch that a missing macro chose may be the reason. */
    if (status == RESTRIDE_OK)
        status = read_unknown(flat, output.data != NULL ? output.data : "",
                              errors.data != NULL ? errors.data : "");
    rs_text_free(&output);
    rs_text_free(&errors);
    return status;
}

/* The run for the text. */
static restride_status find_text(rs_flat *flat, const rs_text *input,
                                 const rs_flat_request *request)
{
    rs_text output = RS_TEXT_EMPTY, errors = RS_TEXT_EMPTY;
    int exit_status = 0;
    restride_status status = run_cpp("-dD", false, input, request, &output, &errors, &exit_status);
    if (status == RESTRIDE_OK && exit_status == 0)
        status = strlen(output.data) != output.size
                     ? note_zero_byte(flat, request->file)
                     : rs_flat_read_output(flat, output.data, output.data);
    else if (status == RESTRIDE_OK && !read_failure(flat, errors.data))
        status = rs_fail_memory(memory_subject);
    rs_text_free(&output);
    rs_text_free(&errors);
    return status;
}

/* ---- headers beside the source ---- */

/* What cpp makes of the macros in a directive whose source is written up to it; NULL: no name in
 * quotes, or it does not come so far. */
static restride_status expand_name(const rs_flat_request *request, const rs_text *before,
                                   const rs_include *directive, char **name)
{
    rs_text text = RS_TEXT_EMPTY, input = RS_TEXT_EMPTY;
    rs_text output = RS_TEXT_EMPTY, errors = RS_TEXT_EMPTY;
    rs_flat_request shorter = *request;
    shorter.appendix = NULL;
    rs_text_add(&text, before->data, before->size);
    rs_text_add_string(&text, "\n" NAME_MARK " ");
    rs_text_add(&text, request->source + directive->name, directive->end - directive->name);
    if (!text.failed)
        write_input(&input, &shorter, text.data);
    int exit_status = 0;
    restride_status status = text.failed || input.failed ? rs_fail_memory(memory_subject)
                                                         : run_cpp("-dD", false, &input, request,
                                                                   &output, &errors, &exit_status);
    const char *mark =
        status == RESTRIDE_OK && output.size > 0 ? strstr(output.data, "\n" NAME_MARK " ") : NULL;
    const char *open = mark == NULL ? NULL : skip_blanks(mark + strlen("\n" NAME_MARK " "));
    *name = open != NULL && *open == '"' ? strndup(open + 1, strcspn(open + 1, "\"\n")) : NULL;
    rs_text_free(&text);
    rs_text_free(&input);
    rs_text_free(&output);
    rs_text_free(&errors);
    return status;
}

restride_status rs_flat_write_source(rs_text *text, const rs_flat_request *asked)
{
    static const char byte_order_mark[] = "\xEF\xBB\xBF";
    rs_flat_request request = *asked;
    request.source += starts_with(asked->source, byte_order_mark) ? strlen(byte_order_mark) : 0;
    const char *source = request.source;
    size_t at = 0, position = 0;
    rs_include directive;
    restride_status status = RESTRIDE_OK;
    rs_text_add_string(text, "");
    while (request.beside != RS_BESIDE_NOTHING && strchr(request.file, '/') != NULL &&
           status == RESTRIDE_OK && rs_include_next(source, &position, &directive)) {
        char *name = NULL;
        rs_text_add(text, source + at, directive.hash - at);
        at = directive.hash;
        if (directive.quoted)
            name = strndup(source + directive.name + 1, directive.end - directive.name - 2);
        else
            status = expand_name(&request, text, &directive, &name);
        if (name != NULL && rs_include_write(text, &request, name, strlen(name), &directive))
            at = directive.end;
        free(name);
    }
    rs_text_add_string(text, source + at);
    return status == RESTRIDE_OK && text->failed ? rs_fail_memory(memory_subject) : status;
}

restride_status rs_flatten(rs_flat *flat, const rs_flat_request *request)
{
    memset(flat, 0, sizeof *flat);
    rs_text input = RS_TEXT_EMPTY, source = RS_TEXT_EMPTY;
    restride_status status = rs_flat_write_source(&source, request);
    if (status == RESTRIDE_OK)
        write_input(&input, request, source.data);
    rs_text_free(&source);
    if (status == RESTRIDE_OK && input.failed)
        status = rs_fail_memory(memory_subject);
    if (status == RESTRIDE_OK)
        status = find_unknown(flat, &input, request);
    if (status == RESTRIDE_OK && flat->failure == NULL)
        status = find_text(flat, &input, request);
    if (status == RESTRIDE_OK && flat->failure == NULL && request->comments)
        status = read_comments(flat, &input, request);
    rs_text_free(&input);
    if (status != RESTRIDE_OK)
        rs_flat_free(flat);
    return status;
}
