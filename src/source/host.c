/* See host.h. Two runs of cpp for a comparison, one for the definitions. */
#include "source/host.h"

#include "base/child.h"
#include "source/output.h"
#include "source/words.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

enum { VALUE_DEPTH = 8 };

static const char memory_subject[] = "a preprocessed source";

/* ---- cpp ---- */

/* The folders that the environment has for the compiler, which base/child.h takes from cpp. */
static size_t add_folders(rs_text *words, const char *variable, const char *option)
{
    const char *at = getenv(variable);
    size_t count = 0;
    while (at != NULL && *at != '\0') {
        size_t length = strcspn(at, ":");
        rs_text_add_string(words, option);
        rs_text_add(words, length > 0 ? at : ".", length > 0 ? length : 1);
        rs_text_add(words, "", 1);
        count++;
        at += length + (at[length] == ':' ? 1 : 0);
    }
    return count;
}

/* Without a request: for nothing but a header. */
static restride_status run(const rs_flat_request *request, const char *dump, const rs_text *input,
                           rs_text *output, rs_text *errors, int *exit_status)
{
    static const rs_options no_options = {NULL, 0, NULL, NULL, NULL};
    const rs_options *options = request != NULL ? request->options : &no_options;
    const size_t definitions = request != NULL ? request->definition_count : 0;
    rs_text words = RS_TEXT_EMPTY;
    rs_text_add(&words, "cpp", sizeof "cpp");
    rs_text_add(&words, dump, strlen(dump) + 1);
    const size_t folders =
        add_folders(&words, "CPATH", "-I") + add_folders(&words, "C_INCLUDE_PATH", "-isystem");
    char **arguments =
        malloc((definitions + options->preprocessor_count + folders + 4) * sizeof *arguments);
    size_t count = 0;
    char *word = words.data;
    static char standard_input[] = "-";
    for (size_t i = 0; arguments != NULL && !words.failed && i <= 2 + folders; i++) {
        /* The request's own folders are searched first. */
        for (size_t d = 0; i == 2 && d < definitions; d++)
            arguments[count++] = request->definitions[d];
        for (size_t o = 0; i == 2 && o < options->preprocessor_count; o++)
            arguments[count++] = options->preprocessor[o];
        if (i < 2 + folders)
            arguments[count++] = word;
        word += i < 2 + folders ? strlen(word) + 1 : 0;
    }
    restride_status status = RESTRIDE_OK;
    if (arguments == NULL || words.failed || input->failed) {
        status = rs_fail_memory(memory_subject);
    } else {
        arguments[count++] = standard_input;
        arguments[count] = NULL;
        status = rs_child_run(arguments, input->data, input->size, output, errors, exit_status);
    }
    rs_text_add(output, "", 0);
    rs_text_add(errors, "", 0);
    free(arguments);
    rs_text_free(&words);
    if (status == RESTRIDE_OK && (output->failed || errors->failed))
        status = rs_fail_memory(memory_subject);
    return status;
}

bool rs_host_has_header(const char *name)
{
    rs_text input = RS_TEXT_EMPTY, output = RS_TEXT_EMPTY, errors = RS_TEXT_EMPTY;
    int exit_status = 0;
    rs_text_format(&input, "#if __has_include(<%s>)\nrestride_found\n#endif\n", name);
    bool found = run(NULL, "-P", &input, &output, &errors, &exit_status) == RESTRIDE_OK &&
                 exit_status == 0 && strstr(output.data, "restride_found") != NULL;
    rs_text_free(&input);
    rs_text_free(&output);
    rs_text_free(&errors);
    return found;
}

size_t rs_host_select(const char *rest, rs_text *words)
{
    size_t count = 0;
    while (rest != NULL && *(rest += strspn(rest, " \t\"")) != '\0') {
        size_t length = strcspn(rest, " \t\"");
        if (rs_begins_among(rest, "-std= -ansi -f -m -O -pthread")) {
            rs_text_add(words, rest, length);
            rs_text_add(words, "", 1);
            count++;
        }
        rest += length;
    }
    return count;
}

/* ---- words ---- */

/* Reads cpp's output word by word; `file` is quoted as in its markers. `own` is the same as a file
 * that the flat text is made of, NULL for others. */
typedef struct {
    const rs_flat *flat;
    const char *at, *end;
    const char *file, *own;
    size_t file_length, line;
    const char *word;
    size_t length;
    bool behind_file; /* the two words before are its name and a comma, as assert() has them */
    bool behind_string;
} reader;

/* The file of a marker among those that the flat text is made of, or NULL. */
static const char *find_own(const rs_flat *flat, const char *quoted, size_t length)
{
    const char *own = NULL;
    rs_text name = RS_TEXT_EMPTY;
    rs_unquote_file(&name, quoted, length);
    for (size_t i = 0; i < flat->file_count && own == NULL && !name.failed; i++)
        if (strlen(flat->files[i]) == name.size &&
            memcmp(flat->files[i], name.data, name.size) == 0)
            own = flat->files[i];
    rs_text_free(&name);
    return own;
}

static bool read_marker(reader *r)
{
    if (r->at + 2 >= r->end || r->at[0] != '#' || r->at[1] != ' ' ||
        !isdigit((unsigned char)r->at[2]))
        return false;
    size_t length = strcspn(r->at, "\n");
    const char *open = memchr(r->at, '"', length), *close = r->at + length;
    r->line = strtoul(r->at + 2, NULL, 10);
    while (open != NULL && close > open + 1 && close[-1] != '"')
        close--;
    if (open != NULL && close > open + 1) {
        r->file = open + 1;
        r->file_length = (size_t)(close - open) - 2;
        r->own = find_own(r->flat, r->file, r->file_length);
    }
    r->at += length + (r->at[length] == '\n' ? 1 : 0);
    return true;
}

static bool next_word(reader *r)
{
    bool string = r->length == r->file_length + 2 && r->word[0] == '"' &&
                  memcmp(r->word + 1, r->file, r->file_length) == 0;
    r->behind_file = r->behind_string && r->length == 1 && r->word[0] == ',';
    r->behind_string = string;
    bool fresh = r->word == NULL || (r->at > r->word && r->at[-1] == '\n');
    while (r->at < r->end) {
        if (fresh && read_marker(r))
            continue;
        if (!isspace((unsigned char)*r->at))
            break;
        fresh = *r->at == '\n';
        r->line += fresh;
        r->at++;
    }
    r->word = r->at;
    if (r->at < r->end) {
        size_t size = (size_t)(r->end - r->at), name = rs_identifier_length(r->at);
        r->at += name > 0 ? name : rs_word_skip(r->at, size, 0);
    }
    r->length = (size_t)(r->at - r->word);
    return r->length > 0;
}

/* The lines of what assert() and its like say are those of the output. */
static bool same_word(const reader *a, const reader *b)
{
    if (a->length == b->length && memcmp(a->word, b->word, a->length) == 0)
        return true;
    return a->behind_file && b->behind_file && a->length > 0 && b->length > 0 &&
           strspn(a->word, "0123456789") == a->length && strspn(b->word, "0123456789") == b->length;
}

static reader read_from(const rs_text *text, const rs_flat *flat)
{
    return (reader){.flat = flat, .at = text->data, .end = text->data + text->size, .file = ""};
}

/* ---- comparison ---- */

static restride_status write_source(const rs_flat_request *request, rs_text *input)
{
    rs_text_add_string(input, "# 1 ");
    rs_quote_file(input, request->file);
    rs_text_add_string(input, "\n");
    return rs_flat_write_source(input, request);
}

/* The flat text with a marker at each of its places. */
static void write_flat(const rs_flat *flat, rs_text *input)
{
    size_t at = 0;
    for (size_t p = 0; p < flat->place_count; p++) {
        const rs_place *place = &flat->places[p];
        rs_text_add(input, flat->shown + at, place->offset - at);
        at = place->offset;
        rs_text_format(input, "# %zu ", place->line);
        rs_quote_file(input, flat->files[place->file]);
        rs_text_add_string(input, "\n");
    }
    rs_text_add(input, flat->shown + at, flat->size - at);
}

static restride_status tell(rs_host_comparison *found, const char *file, size_t length, size_t line,
                            const char *sentence)
{
    found->file = strndup(file, length);
    found->sentence = strdup(sentence);
    found->line = line;
    return found->file != NULL && found->sentence != NULL ? RESTRIDE_OK
                                                          : rs_fail_memory(memory_subject);
}

/* Moves a reader that is in a header to the line that includes it: the one before that behind the
 * header. */
static void find_include(reader *r)
{
    if (r->own != NULL)
        return;
    while (r->at < r->end && r->own == NULL)
        if (!read_marker(r))
            r->at += strcspn(r->at, "\n") + (strchr(r->at, '\n') != NULL ? 1 : 0);
    r->line -= r->line > 1 ? 1 : 0;
}

/* Compares all words, and keeps those of headers. */
static restride_status compare(rs_host_comparison *found, const rs_flat *flat,
                               const rs_flat_request *request, const rs_text *source,
                               const rs_text *shown)
{
    reader a = read_from(source, flat), b = read_from(shown, flat);
    const char *file = request->file;
    bool more = true;
    while (more) {
        more = next_word(&a);
        bool other = next_word(&b);
        if (a.own != NULL) {
            file = a.own;
        } else if (more) {
            rs_text_add(&found->headers, a.word, a.length);
            rs_text_add_string(&found->headers, " ");
        }
        if (more != other || !same_word(&a, &b)) {
            find_include(&a);
            file = a.own != NULL ? a.own : file;
            return tell(found, file, strlen(file), a.line,
                        "what the compiler reads here depends on macros together with headers, "
                        "which stay in the output as they are");
        }
    }
    return found->headers.failed ? rs_fail_memory(memory_subject) : RESTRIDE_OK;
}

/* Reads "FILE:LINE:COLUMN: [fatal ]error: MESSAGE". */
static restride_status read_error(rs_host_comparison *found, const rs_flat_request *request,
                                  const char *errors)
{
    static const char absent[] = ": No such file or directory";
    const char *mark = strstr(errors, "error: "), *begin = mark;
    while (begin != NULL && begin > errors && begin[-1] != '\n')
        begin--;
    const char *colon = begin != NULL ? memchr(begin, ':', (size_t)(mark - begin)) : NULL;
    if (colon == NULL)
        return tell(found, request->file, strlen(request->file), 0,
                    "the preprocessor cpp of this machine cannot read the source");
    const char *message = mark + strlen("error: ");
    char *sentence = strndup(message, strcspn(message, "\n"));
    char *end = sentence != NULL ? strstr(sentence, absent) : NULL;
    restride_status status = sentence == NULL ? rs_fail_memory(memory_subject)
                                              : tell(found, begin, (size_t)(colon - begin),
                                                     strtoul(colon + 1, NULL, 10), sentence);
    if (end != NULL) {
        *end = '\0';
        found->missing = true;
        found->name = sentence;
        sentence = NULL;
    }
    free(sentence);
    return status;
}

restride_status rs_host_compare(rs_host_comparison *found, const rs_flat *flat,
                                const rs_flat_request *request)
{
    *found = (rs_host_comparison){.headers = RS_TEXT_EMPTY};
    rs_text input[2] = {RS_TEXT_EMPTY, RS_TEXT_EMPTY}, output[2] = {RS_TEXT_EMPTY, RS_TEXT_EMPTY};
    rs_text errors = RS_TEXT_EMPTY;
    bool readable = true;
    restride_status status = write_source(request, &input[0]);
    write_flat(flat, &input[1]);
    for (int i = 0; i < 2 && status == RESTRIDE_OK && readable; i++) {
        int exit_status = 0;
        rs_text_free(&errors);
        errors = RS_TEXT_EMPTY;
        status = run(request, "-Wno-all", &input[i], &output[i], &errors, &exit_status);
        readable = exit_status == 0;
        if (status == RESTRIDE_OK && !readable)
            status = read_error(found, request, errors.data);
    }
    if (status == RESTRIDE_OK && readable)
        status = compare(found, flat, request, &output[0], &output[1]);
    for (int i = 0; i < 2; i++) {
        rs_text_free(&input[i]);
        rs_text_free(&output[i]);
    }
    rs_text_free(&errors);
    if (status != RESTRIDE_OK)
        rs_host_comparison_free(found);
    return status;
}

void rs_host_comparison_free(rs_host_comparison *found)
{
    free(found->name);
    free(found->sentence);
    free(found->file);
    rs_text_free(&found->headers);
    *found = (rs_host_comparison){.headers = RS_TEXT_EMPTY};
}

/* ---- definitions ---- */

/* The body of a macro in the output of "cpp -dM", or NULL; functions and empty ones have none. */
static const char *find_body(const char *output, const char *name, size_t *length, bool *defined)
{
    rs_text line = RS_TEXT_EMPTY;
    rs_text_format(&line, "#define %s", name);
    const char *found = line.failed ? NULL : output;
    *defined = false;
    while (found != NULL && (found = strstr(found, line.data)) != NULL) {
        const char *behind = found + line.size;
        if ((found == output || found[-1] == '\n') && strchr(" (\n", *behind) != NULL)
            break;
        found++;
    }
    const char *body = found != NULL && found[line.size] == ' ' ? found + line.size + 1 : NULL;
    *defined = found != NULL;
    *length = body != NULL ? strcspn(body, "\n") : 0;
    rs_text_free(&line);
    return body;
}

static bool has_definition(const rs_text *words, const char *name, size_t length)
{
    const char *at = words->data, *end = at + words->size;
    for (; words->size > 0 && !words->failed && at < end; at += strlen(at) + 1)
        if (strncmp(at, "-D", 2) == 0 && strncmp(at + 2, name, length) == 0 &&
            at[2 + length] == '=')
            return true;
    return false;
}

/* -DNAME=BODY, and the same for the names in the body: an #if asks for a number. */
static void add_value(rs_text *words, size_t *count, const char *output, const char *name,
                      int depth)
{
    size_t length, at = 0, word, word_length;
    bool defined;
    const char *body = find_body(output, name, &length, &defined);
    if (body == NULL || depth > VALUE_DEPTH || has_definition(words, name, strlen(name)))
        return;
    rs_text_format(words, "-D%s=%.*s", name, (int)length, body);
    rs_text_add(words, "", 1);
    (*count)++;
    while (rs_word_next(body, length, &at, &word, &word_length)) {
        char *inner = strndup(body + word, word_length);
        if (inner == NULL)
            words->failed = true;
        else
            add_value(words, count, output, inner, depth + 1);
        free(inner);
    }
}

/* A name stays in the text as it is, for the compiler, but where an #if asks for its value. */
restride_status rs_host_define(const rs_flat *flat, const rs_flat_request *request, rs_text *words,
                               size_t *count)
{
    rs_text input = RS_TEXT_EMPTY, output = RS_TEXT_EMPTY, errors = RS_TEXT_EMPTY;
    int exit_status = 0;
    restride_status status = write_source(request, &input);
    if (status == RESTRIDE_OK)
        status = run(request, "-dM", &input, &output, &errors, &exit_status);
    for (size_t i = 0; status == RESTRIDE_OK && exit_status == 0 && i < flat->unknown_count; i++) {
        const rs_unknown_macro *macro = &flat->unknown[i];
        size_t length;
        bool defined;
        const char *body = find_body(output.data, macro->name, &length, &defined);
        if (!defined)
            continue;
        if (macro->valued && body != NULL) {
            add_value(words, count, output.data, macro->name, 0);
        } else if (!has_definition(words, macro->name, strlen(macro->name))) {
            rs_text_format(words, "-D%s=%s", macro->name, macro->name);
            rs_text_add(words, "", 1);
            (*count)++;
        }
    }
    rs_text_free(&input);
    rs_text_free(&output);
    rs_text_free(&errors);
    return status;
}
