/* Parses, again and again while something missing can be supplied. */
#include "analyze/program.h"

#include "analyze/prelude.h"
#include "analyze/preprocess.h"
#include "base/list.h"
#include "base/text.h"
#include "source/words.h"
#include "syntax/headers.h"

#include <ctype.h>
#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Absolute: libclang finds files in memory under no other name. */
#define PRELUDE_NAME "/restride-prelude.h"

enum { REPAIR_LIMIT = 12, SHOWN_ERRORS = 8 };

rs_language rs_language_of(const char *file)
{
    const char *ending = strrchr(file, '.');
    if (ending != NULL && (strcmp(ending, ".cl") == 0 || strcmp(ending, ".ocl") == 0))
        return RS_LANGUAGE_OPENCL;
    if (ending != NULL && (strcmp(ending, ".cu") == 0 || strcmp(ending, ".cuh") == 0))
        return RS_LANGUAGE_CUDA;
    return RS_LANGUAGE_C;
}

/* ---- parsing ---- */

/* The word between the first two quotation marks of a message. */
static char *quoted_word(const char *message)
{
    const char *first = strchr(message, '\'');
    const char *last = first == NULL ? NULL : strchr(first + 1, '\'');
    if (last == NULL || rs_identifier_length(first + 1) != (size_t)(last - first - 1))
        return NULL;
    return strndup(first + 1, (size_t)(last - first - 1));
}

/* What stands behind the name at `offset`, blanks aside. */
static char behind_name(const rs_tree *tree, size_t offset)
{
    if (offset >= tree->size)
        return '\0';
    offset += rs_identifier_length(tree->text + offset);
    while (offset < tree->size && isspace((unsigned char)tree->text[offset]))
        offset++;
    return offset < tree->size ? tree->text[offset] : '\0';
}

/* The value of a constant of the headers that may stand where the language wants one known. */
static const int *constant_of(const char *name)
{
#define ROW(constant)                                                                              \
    {                                                                                              \
#constant, constant                                                                        \
    }
    static const struct {
        const char *name;
        int value;
    } rows[] = {ROW(CHAR_BIT),   ROW(SCHAR_MAX),    ROW(UCHAR_MAX),    ROW(SHRT_MAX),
                ROW(USHRT_MAX),  ROW(INT8_MAX),     ROW(UINT8_MAX),    ROW(INT16_MAX),
                ROW(UINT16_MAX), ROW(EXIT_SUCCESS), ROW(EXIT_FAILURE), ROW(EOF),
                ROW(BUFSIZ),     ROW(SEEK_SET),     ROW(SEEK_CUR),     ROW(SEEK_END)};
#undef ROW
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        if (strcmp(name, rows[i].name) == 0)
            return &rows[i].value;
    return NULL;
}

/* A declaration that makes a message disappear, added to the prelude; false for other messages. */
static bool supply_declaration(const rs_tree *tree, rs_language language, const char *message,
                               size_t offset, rs_text *prelude)
{
    char *name = quoted_word(message);
    if (name == NULL)
        return false;
    bool call = behind_name(tree, offset) == '(';
    rs_text line = RS_TEXT_EMPTY;
    if (strstr(message, "unknown type name") != NULL)
        rs_text_format(&line, "typedef float %s;\n", name);
    else if (strstr(message, "undeclared") == NULL)
        rs_text_add_string(&line, "");
    else if (call && language == RS_LANGUAGE_CUDA)
        rs_text_format(&line,
                       "template <class... A> __attribute__((host)) __attribute__((device)) int "
                       "%s(A...);\n",
                       name);
    else if (call)
        rs_text_format(&line,
                       language == RS_LANGUAGE_OPENCL
                           ? "__attribute__((overloadable)) int %s(...);\n"
                           : "int %s();\n",
                       name);
    else if (language == RS_LANGUAGE_OPENCL)
        rs_text_format(&line, "enum { %s = 1 };\n", name);
    else if (language == RS_LANGUAGE_C && constant_of(name) != NULL)
        rs_text_format(&line, "enum { %s = %d };\n", name, *constant_of(name));
    else
        rs_text_format(&line, "extern int %s;\n", name);
    bool added = !line.failed && line.size > 0 && strstr(prelude->data, line.data) == NULL;
    if (added)
        rs_text_add_string(prelude, line.data);
    rs_text_free(&line);
    free(name);
    return added;
}

typedef struct {
    const rs_translation_unit *program;
    rs_text *prelude;
    bool changed;
    rs_model_set *notes;
    int shown;
} messages;

static bool repair(void *context, const char *message, size_t offset, bool in_source)
{
    messages *m = context;
    if (in_source &&
        supply_declaration(&m->program->tree, m->program->language, message, offset, m->prelude))
        m->changed = true;
    return true;
}

static bool show(void *context, const char *message, size_t offset, bool in_source)
{
    messages *m = context;
    const char *file = "";
    size_t line = 0;
    if (in_source)
        rs_flat_locate(&m->program->flat, offset, &file, &line);
    if (in_source)
        rs_model_note(m->notes, file, (int)line,
                      "The compiler says: %s; what depends on it is left out.", message);
    return !in_source || ++m->shown < SHOWN_ERRORS;
}

static const char *prelude_of(rs_language language)
{
    static const char *const preludes[] = {rs_prelude_c, rs_prelude_opencl, rs_prelude_cuda};
    return preludes[language];
}

#define COMMON_ARGUMENTS                                                                           \
    "-include", PRELUDE_NAME, "-ferror-limit=0", "-w", "-Wno-implicit-function-declaration",       \
        "-Wno-error=implicit-function-declaration", "-Wno-error=int-conversion",                   \
        "-Wno-error=incompatible-function-pointer-types", "-Wno-error=implicit-int"

static restride_status parse_once(rs_translation_unit *program, const rs_text *prelude,
                                  const rs_options *options)
{
    rs_text standard = RS_TEXT_EMPTY;
    rs_text_format(&standard, "-cl-std=%s", options->standard);
    static const char *const c[] = {"-x", "c", "-std=gnu99", "-nostdinc", COMMON_ARGUMENTS};
    const char *const opencl[] = {"-x",
                                  "cl",
                                  standard.data != NULL ? standard.data : "",
                                  "-target",
                                  "spir64-unknown-unknown",
                                  "-idirafter",
                                  rs_clang_headers(),
                                  COMMON_ARGUMENTS};
    static const char *const cuda[] = {
        "-x",         "cuda",    "--cuda-host-only", "-nocudainc", "-nocudalib",    "-nostdinc",
        "-std=c++17", "-target", "x86_64-linux",     "-nogpulib",  COMMON_ARGUMENTS};
    static const int counts[] = {sizeof c / sizeof c[0], sizeof opencl / sizeof opencl[0],
                                 sizeof cuda / sizeof cuda[0]};
    const char *const *const arguments[] = {c, opencl, cuda};
    const rs_tree_file file = {PRELUDE_NAME, prelude->data, prelude->size};
    restride_status status =
        standard.failed
            ? rs_fail_memory("an option")
            : rs_tree_parse_as(&program->tree, program->flat.text, program->flat.size,
                               arguments[program->language], counts[program->language], &file);
    rs_text_free(&standard);
    return status;
}

/* ---- functions that spoil what follows them ---- */

static int count_bodies(const rs_tree *tree)
{
    int count = 0;
    for (int i = 0; i < tree->node_count; i++)
        count += tree->nodes[i].is == RS_NODE_COMPOUND &&
                 (tree->nodes[tree->nodes[i].parent].is == RS_NODE_FUNCTION ||
                  tree->nodes[tree->nodes[i].parent].is == RS_NODE_TEMPLATE);
    return count;
}

typedef struct {
    bool found;
    size_t offset;
} first_error;

static bool find_syntax_error(void *context, const char *message, size_t offset, bool in_source)
{
    first_error *error = context;
    if (!in_source || strstr(message, "expected") == NULL)
        return true;
    *error = (first_error){true, offset};
    return false;
}

/* The text from one top-level declaration's beginning to its end, judged by its braces. */
static void find_declaration(const char *text, size_t size, size_t offset, size_t *begin,
                             size_t *end)
{
    int depth = 0;
    *begin = 0;
    for (*end = 0; *end < size; (*end)++) {
        char c = text[*end];
        depth += c == '{';
        depth -= c == '}' && depth > 0;
        if (depth > 0 || (c != '}' && c != ';'))
            continue;
        if (*end >= offset)
            break;
        *begin = *end + 1;
    }
}

static bool add_error(rs_translation_unit *program, size_t offset)
{
    if (!RS_LIST_GROW(program->errors, program->error_count))
        return false;
    program->errors[program->error_count++] = offset;
    return true;
}

typedef struct {
    rs_translation_unit *program;
    bool complete;
} collection;

static bool collect_error(void *context, const char *message, size_t offset, bool in_source)
{
    collection *all = context;
    (void)message;
    all->complete = !in_source || add_error(all->program, offset);
    return all->complete;
}

/* Blanks the declaration of the first syntax error; keeps that when more functions come to light.
 */
static restride_status leave_out(rs_translation_unit *program, const rs_text *prelude,
                                 const rs_options *options, rs_model_set *notes, bool *again)
{
    first_error error = {false, 0};
    size_t begin, end;
    *again = false;
    rs_tree_visit_errors(&program->tree, find_syntax_error, &error);
    if (!error.found)
        return RESTRIDE_OK;
    char *text = program->flat.text, *copy = strdup(text);
    if (copy == NULL)
        return rs_fail_memory("a source");
    int before = count_bodies(&program->tree);
    find_declaration(text, program->flat.size, error.offset, &begin, &end);
    for (size_t i = begin; i < program->flat.size && i <= end; i++)
        if (text[i] != '\n')
            text[i] = ' ';
    messages m = {program, NULL, false, notes, SHOWN_ERRORS - 1};
    rs_translation_unit old = *program;
    memset(&program->tree, 0, sizeof program->tree);
    restride_status status = parse_once(program, prelude, options);
    *again = status == RESTRIDE_OK && count_bodies(&program->tree) > before;
    if (*again) {
        rs_translation_unit shown = {.language = program->language,
                                     .flat = program->flat,
                                     .tree = old.tree,
                                     .readable = true};
        m.program = &shown;
        rs_tree_visit_errors(&old.tree, show, &m);
        rs_tree_free(&old.tree);
        if (!add_error(program, error.offset))
            status = rs_fail_memory("a source");
    } else {
        memcpy(text, copy, program->flat.size);
        rs_tree_free(&program->tree);
        program->tree = old.tree;
    }
    free(copy);
    return status;
}

static const rs_syntax_language languages[] = {RS_SYNTAX_C, RS_SYNTAX_OPENCL, RS_SYNTAX_CUDA};

static restride_status parse(rs_translation_unit *program, const rs_options *options,
                             rs_model_set *notes)
{
    rs_text prelude = RS_TEXT_EMPTY;
    rs_text_add_string(&prelude, prelude_of(program->language));
    restride_status status = prelude.failed ? rs_fail_memory("declarations") : RESTRIDE_OK;
    messages m = {program, &prelude, false, notes, 0};
    for (int round = 0; round < REPAIR_LIMIT && status == RESTRIDE_OK; round++) {
        rs_tree_free(&program->tree);
        m.changed = false;
        status = parse_once(program, &prelude, options);
        if (status == RESTRIDE_OK && program->tree.unit != NULL)
            rs_tree_visit_errors(&program->tree, repair, &m);
        if (!m.changed || prelude.failed)
            break;
    }
    bool again = true;
    for (int round = 0; round < REPAIR_LIMIT && status == RESTRIDE_OK && again; round++)
        status = leave_out(program, &prelude, options, notes, &again);
    if (status == RESTRIDE_OK) {
        program->supplied = strdup(prelude.data + strlen(prelude_of(program->language)));
        status = program->supplied == NULL ? rs_fail_memory("declarations") : status;
    }
    rs_text_free(&prelude);
    if (status != RESTRIDE_OK)
        return status;
    rs_tree_visit_errors(&program->tree, show, &m);
    collection all = {program, true};
    rs_tree_visit_errors(&program->tree, collect_error, &all);
    if (!all.complete)
        return rs_fail_memory("a source");
    program->readable = program->tree.unit != NULL;
    status = rs_tree_describe(&program->tree, languages[program->language]);
    if (status != RESTRIDE_OK)
        return status;
    if (!program->readable) {
        const char *file;
        size_t line;
        rs_flat_locate(&program->flat, program->tree.failure_offset, &file, &line);
        rs_model_note(notes, file, (int)line, "The source cannot be read: %s.",
                      program->tree.failure != NULL ? program->tree.failure : "libclang failed");
    }
    return RESTRIDE_OK;
}

/* libclang knows variable-length arrays in C. */
static restride_status find_grids(rs_translation_unit *program)
{
    restride_status status =
        rs_grids_find(&program->grids, program->flat.text, program->flat.shown, program->flat.size);
    if (status == RESTRIDE_OK && program->language != RS_LANGUAGE_C)
        rs_grids_blank(&program->grids, program->flat.text);
    return status;
}

restride_status rs_program_read(rs_translation_unit *program, const rs_program_request *request,
                                rs_model_set *notes)
{
    memset(program, 0, sizeof *program);
    program->language = request->language;
    rs_headers headers = {NULL, NULL};
    rs_options options;
    restride_status status = rs_options_parse(&options, request->options);
    if (status != RESTRIDE_OK)
        return status;
    status = rs_preprocess(program, request, &options, &headers, notes);
    if (status == RESTRIDE_OK && program->flat.failure == NULL)
        status = find_grids(program);
    if (status == RESTRIDE_OK && program->flat.failure == NULL)
        status = parse(program, &options, notes);
    rs_options_free(&options);
    rs_headers_free(&headers);
    if (status != RESTRIDE_OK)
        rs_program_free(program);
    return status;
}

bool rs_program_is_misread(const rs_translation_unit *program, size_t begin, size_t end)
{
    for (size_t e = 0; e < program->error_count; e++)
        if (begin <= program->errors[e] && program->errors[e] < end)
            return true;
    return false;
}

void rs_program_free(rs_translation_unit *program)
{
    free(program->errors);
    free(program->supplied);
    free(program->missing);
    free(program->declared);
    free(program->differs);
    rs_tree_free(&program->tree);
    rs_grids_free(&program->grids);
    rs_flat_free(&program->flat);
}
