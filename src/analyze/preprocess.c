/*
 * What headers that stay decide is found by preprocessing once more with them (source/host.h), for
 * C alone: other languages have compilers of their own, whose headers are seldom here.
 */
#include "analyze/preprocess.h"

#include "analyze/conditions.h"
#include "base/list.h"
#include "base/text.h"
#include "source/host.h"
#include "source/words.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { HEADER_LIMIT = 60, ROUND_LIMIT = 12 };

/* ---- what is predefined ---- */

/* The macros that compilers of a language predefine. */
static char *const opencl_macros[] = {
    "-U__STDC_VERSION__",    "-D__OPENCL_VERSION__=120", "-D__OPENCL_C_VERSION__=120",
    "-DCL_VERSION_1_0=100",  "-DCL_VERSION_1_1=110",     "-DCL_VERSION_1_2=120",
    "-D__ENDIAN_LITTLE__=1", "-D__IMAGE_SUPPORT__=1",    "-Dcl_khr_fp64=1"};
static char *const cuda_macros[] = {"-U__STDC_VERSION__", "-D__linux__=1", "-D__unix__=1",
                                    "-D__CUDACC__=1",     "-D__NVCC__=1",  "-D__cplusplus=201402L",
                                    "-D__CUDA_ARCH__=700"};
static char *const c_macros[] = {"-D__STDC__=1", "-D__x86_64__=1", "-D__linux__=1", "-D__unix__=1"};

/* Those of a language behind what else is known; the caller frees the array. */
static char **set_definitions(rs_language language, char *const *others, size_t other_count,
                              size_t *number)
{
    static const struct {
        char *const *macros;
        size_t count;
    } tables[] = {{c_macros, sizeof c_macros / sizeof c_macros[0]},
                  {opencl_macros, sizeof opencl_macros / sizeof opencl_macros[0]},
                  {cuda_macros, sizeof cuda_macros / sizeof cuda_macros[0]}};
    size_t count = tables[language].count;
    char **all = malloc((count + other_count + 1) * sizeof *all);
    for (size_t i = 0; all != NULL && i < other_count; i++)
        all[i] = others[i];
    for (size_t i = 0; all != NULL && i < count; i++)
        all[other_count + i] = tables[language].macros[i];
    *number = other_count + count;
    return all;
}

/* ---- headers ---- */

/* Blanks one line of a source, so that the preprocessor passes it. */
static bool blank_line(char *source, size_t line)
{
    char *c = source;
    for (size_t i = 1; i < line && c != NULL; i++) {
        c = strchr(c, '\n');
        c = c == NULL ? NULL : c + 1;
    }
    bool changed = false;
    for (; c != NULL && *c != '\0' && *c != '\n'; c++) {
        changed = changed || *c != ' ';
        *c = ' ';
    }
    return changed;
}

/* The name in cpp's two messages about a header that is not there. */
static char *missing_header(const char *failure)
{
    static const char nowhere[] = "no include path in which to search for ";
    if (strncmp(failure, nowhere, strlen(nowhere)) == 0)
        return strdup(failure + strlen(nowhere));
    const char *mark = strstr(failure, ": No such file or directory");
    return mark == NULL || mark == failure ? NULL : strndup(failure, (size_t)(mark - failure));
}

/* The reason why a source whose text is written out again cannot be: its line, and what is there.
 */
static void set_reason(char **reason, const char *file, size_t line, const char *before,
                       const char *what, const char *after)
{
    rs_text text = RS_TEXT_EMPTY;
    rs_text_format(&text, "%s:%zu: %s%s%s", file, line, before, what, after);
    if (*reason == NULL)
        *reason = rs_text_take(&text);
    else
        rs_text_free(&text);
}

/* What stands in place of a header: nothing, or the line that includes it when it stays. */
static bool supply_header(const rs_program_request *request, rs_headers *headers, const char *name,
                          bool known)
{
    rs_text line = RS_TEXT_EMPTY;
    rs_text_add_string(&line, "");
    if (request->output && request->language != RS_LANGUAGE_OPENCL && known)
        rs_flat_add_include(&line, name);
    rs_text_add_string(&line, "\n");
    bool added = !line.failed && rs_headers_add(headers, name, line.data) == RESTRIDE_OK;
    rs_text_free(&line);
    return added;
}

/* Removes one cause of a failed run; false when nothing can be done. */
static bool repair_source(rs_translation_unit *program, const rs_program_request *request,
                          char *source, rs_headers *headers, rs_model_set *notes)
{
    const rs_flat *flat = &program->flat;
    char *name = missing_header(flat->failure);
    const char *file = flat->failure_file != NULL ? flat->failure_file : request->file;
    /* Whether a header that the user's folders do not have is the compiler's. */
    bool known =
        name != NULL &&
        (rs_headers_is_system(name) ||
         (request->output && request->language != RS_LANGUAGE_OPENCL && rs_host_has_header(name)));
    bool supplied = name != NULL && supply_header(request, headers, name, known);
    if (supplied && !known && !rs_headers_is_usual(name))
        rs_model_note(notes, file, (int)flat->failure_line,
                      "%s was not found; it counts as empty, and what it declares is guessed.",
                      name);
    if (supplied && !known)
        set_reason(&program->missing, file, flat->failure_line, "The header ", name, "");
    free(name);
    if (supplied)
        return true;
    rs_model_note(notes, file, (int)flat->failure_line, "The preprocessor says: %s.",
                  flat->failure);
    return strcmp(file, request->file) == 0 && blank_line(source, flat->failure_line);
}

/* Adds the folder of empty headers behind the request's own folders. */
static restride_status add_folder(rs_options *options, const rs_headers *headers)
{
    rs_text text = RS_TEXT_EMPTY;
    rs_text_format(&text, "-I%s", headers->folder);
    char *option = rs_text_take(&text);
    if (option == NULL || !RS_LIST_GROW(options->preprocessor, options->preprocessor_count)) {
        free(option);
        return rs_fail_memory("the preprocessor's options");
    }
    options->preprocessor[options->preprocessor_count++] = option;
    return RESTRIDE_OK;
}

/* ---- which headers stay ---- */

/* Headers by name, and whether each stays: asked once, since a compiler is. */
typedef struct {
    const rs_program_request *request;
    const rs_options *options;
    size_t folders; /* how many of the options are the request's */
    char **names;
    bool *stay;
    size_t count;
} includes;

typedef enum { OWNER_NOBODY, OWNER_USER, OWNER_COMPILER } owner;

static bool has_file(const char *folder, const char *name)
{
    rs_text path = RS_TEXT_EMPTY;
    rs_text_format(&path, "%s/%s", folder, name);
    bool there = !path.failed && access(path.data, R_OK) == 0;
    rs_text_free(&path);
    return there;
}

/* Whose the folder of the request's is that has a header: those of a system or of CUDA are no
 * user's. */
static owner find_owner(const includes *all, const char *name)
{
    for (size_t i = 0; i < all->folders; i++) {
        const char *folder = all->options->preprocessor[i] + strlen("-I");
        if (strncmp(all->options->preprocessor[i], "-I", 2) == 0 && has_file(folder, name))
            return has_file(folder, "stdio.h") || has_file(folder, "cuda_runtime.h")
                       ? OWNER_COMPILER
                       : OWNER_USER;
    }
    return OWNER_NOBODY;
}

/* A header that nobody has does not stay, to be told as missing, but for those of CUDA's. */
static bool does_stay(const includes *all, const char *name)
{
    if (all->request->language == RS_LANGUAGE_OPENCL)
        return false;
    if (rs_headers_is_system(name))
        return true;
    owner found = find_owner(all, name);
    if (found != OWNER_NOBODY)
        return found == OWNER_COMPILER;
    return (all->request->language == RS_LANGUAGE_CUDA && rs_headers_is_usual(name)) ||
           rs_host_has_header(name);
}

static bool stays(void *context, const char *name)
{
    includes *all = context;
    for (size_t i = 0; i < all->count; i++)
        if (strcmp(all->names[i], name) == 0)
            return all->stay[i];
    bool answer = does_stay(all, name);
    bool room = RS_LIST_GROW(all->names, all->count) && RS_LIST_GROW(all->stay, all->count);
    char *copy = room ? strdup(name) : NULL;
    if (copy != NULL) {
        all->names[all->count] = copy;
        all->stay[all->count++] = answer;
    }
    return answer;
}

/* ---- the two readings of CUDA ---- */

static const char device_macro[] = "__CUDA_ARCH__";

/* A source is compiled once for the device and once for the host, and is written only once. */
static void refuse_device_macro(rs_translation_unit *program, const rs_program_request *request)
{
    const rs_flat *flat = &program->flat;
    bool asked = false;
    for (size_t i = 0; i < flat->unknown_count; i++)
        asked = asked || strcmp(flat->unknown[i].name, device_macro) == 0;
    const char *file = request->file;
    size_t line = asked ? rs_conditions_find(flat, request, device_macro, &file) : 0;
    if (asked)
        set_reason(&program->differs, file, line,
                   "The source cannot be written again: ", device_macro,
                   " chooses other lines for the device than for the host.");
}

/* What another compiler of the language may define otherwise. */
static restride_status refuse_conditions(rs_translation_unit *program,
                                         const rs_program_request *request,
                                         const rs_flat_request *flat)
{
    char *name = NULL;
    restride_status status = rs_conditions_check(&program->flat, flat, request, &name);
    if (name != NULL) {
        const char *file;
        size_t line = rs_conditions_find(&program->flat, request, name, &file);
        set_reason(&program->differs, file, line, "The source cannot be written again: ", name,
                   strncmp(name, "__has_", strlen("__has_")) == 0
                       ? " asks for what the preprocessor here does not know."
                       : " may be defined by the compiler or its headers, and chooses lines; give "
                         "its value behind --, with -D, or -U where it is not defined.");
    }
    free(name);
    return status;
}

/* ---- all of it ---- */

/* Preprocesses until nothing is missing. */
static restride_status flatten(rs_translation_unit *program, const rs_program_request *request,
                               const rs_flat_request *flat, char *source, rs_options *options,
                               rs_headers *headers, rs_model_set *notes)
{
    restride_status status = RESTRIDE_OK;
    for (int round = 0; round <= HEADER_LIMIT; round++) {
        bool had_folder = headers->folder != NULL;
        status = rs_flatten(&program->flat, flat);
        if (status != RESTRIDE_OK || program->flat.failure == NULL)
            break;
        if (round == HEADER_LIMIT || !repair_source(program, request, source, headers, notes))
            break;
        rs_flat_free(&program->flat);
        if (!had_folder && headers->folder != NULL)
            status = add_folder(options, headers);
        if (status != RESTRIDE_OK)
            break;
    }
    return status;
}

/* Compares with what the compiler reads. Without the language's own headers nothing is known. */
static restride_status compare(rs_translation_unit *program, const rs_flat_request *own, bool *same)
{
    rs_host_comparison found;
    restride_status status = rs_host_compare(&found, &program->flat, own);
    if (status != RESTRIDE_OK)
        return status;
    *same = found.sentence == NULL || (found.missing && rs_headers_is_usual(found.name));
    free(program->declared);
    program->declared = rs_text_take(&found.headers);
    free(program->differs);
    program->differs = NULL;
    if (!*same && found.missing)
        set_reason(&program->missing, found.file, found.line, "The header ", found.name, "");
    else if (!*same)
        set_reason(&program->differs, found.file, found.line,
                   "The source cannot be written again: ", found.sentence, ".");
    rs_host_comparison_free(&found);
    return RESTRIDE_OK;
}

/* The words, each behind the last one's zero byte, as an array; NULL when memory is short. */
static char **split_words(rs_text *words, size_t count)
{
    char **array = words->failed ? NULL : malloc((count + 1) * sizeof *array);
    char *at = words->data;
    for (size_t i = 0; array != NULL && i < count; i++) {
        array[i] = at;
        at += strlen(at) + 1;
    }
    return array;
}

typedef struct {
    rs_translation_unit *program;
    const rs_program_request *request;
    rs_options *options;
    rs_headers *headers;
    rs_model_set *notes;
    includes *includes;
    size_t words; /* how many are the request's */
} preprocessing;

/* Once with what is predefined, and with these words besides; *same tells whether the compiler of
 * this machine reads the same with the request's words alone. */
static restride_status preprocess(const preprocessing *p, rs_text *words, size_t count, bool *same)
{
    char *source = strdup(p->request->source), **array = split_words(words, count);
    restride_status status =
        source == NULL || array == NULL ? rs_fail_memory("a source") : RESTRIDE_OK;
    rs_flat_request flat = {.source = source,
                            .file = p->request->file,
                            .options = p->options,
                            .comments = p->request->output,
                            .beside = p->request->language != RS_LANGUAGE_OPENCL ? RS_BESIDE_ALONE
                                                                                 : RS_BESIDE_FIRST,
                            .host = p->request->output && p->request->language == RS_LANGUAGE_C,
                            .stays = p->request->output ? stays : NULL,
                            .quoted_stay = true,
                            .context = p->includes,
                            .definitions = array,
                            .definition_count = count};
    bool twice = p->request->output && p->request->language == RS_LANGUAGE_CUDA;
    char **known = NULL;
    if (status == RESTRIDE_OK && !flat.host) {
        known = set_definitions(p->request->language, array, count, &flat.definition_count);
        flat.definitions = known;
        status = known == NULL ? rs_fail_memory("a source") : RESTRIDE_OK;
    }
    if (twice && status == RESTRIDE_OK)
        flat.definition_count--; /* device_macro, which is the last */
    if (status == RESTRIDE_OK)
        status = flatten(p->program, p->request, &flat, source, p->options, p->headers, p->notes);
    if (!flat.host) {
        free(p->program->differs);
        p->program->differs = NULL;
    }
    if (status == RESTRIDE_OK && twice)
        refuse_device_macro(p->program, p->request);
    if (status == RESTRIDE_OK && known != NULL && p->request->output &&
        p->program->flat.failure == NULL && p->program->differs == NULL)
        status = refuse_conditions(p->program, p->request, &flat);
    *same = !twice || p->program->flat.unknown_count == 0;
    if (status == RESTRIDE_OK && flat.host && p->program->flat.failure == NULL) {
        rs_options own = *p->options;
        own.preprocessor_count = p->includes->folders;
        flat.source = p->request->source;
        flat.options = &own;
        flat.definition_count = p->words;
        status = compare(p->program, &flat, same);
    }
    free(source);
    free(known);
    free(array);
    return status;
}

/* Names that headers define and conditions ask for. */
static restride_status define(const preprocessing *p, rs_text *words, size_t *count)
{
    if (p->request->language == RS_LANGUAGE_CUDA)
        return rs_conditions_define(&p->program->flat, words, count);
    char **array = split_words(words, *count);
    rs_options own = *p->options;
    own.preprocessor_count = p->includes->folders;
    const rs_flat_request request = {.source = p->request->source,
                                     .file = p->request->file,
                                     .beside = RS_BESIDE_ALONE,
                                     .host = true,
                                     .stays = stays,
                                     .quoted_stay = true,
                                     .context = p->includes,
                                     .options = &own,
                                     .definitions = array,
                                     .definition_count = *count};
    restride_status status = array == NULL
                                 ? rs_fail_memory("a source")
                                 : rs_host_define(&p->program->flat, &request, words, count);
    free(array);
    return status;
}

restride_status rs_preprocess(rs_translation_unit *program, const rs_program_request *request,
                              rs_options *options, rs_headers *headers, rs_model_set *notes)
{
    includes all = {request, options, options->preprocessor_count, NULL, NULL, 0};
    rs_text words = RS_TEXT_EMPTY;
    size_t count = request->language == RS_LANGUAGE_C ? rs_host_select(options->rest, &words) : 0;
    const preprocessing p = {program, request, options, headers, notes, &all, count};
    bool same = true;
    if (request->output && options->refused != NULL) {
        rs_text_free(&words);
        return rs_fail(RESTRIDE_UNSUPPORTED,
                       "The option %s changes how the source is read, which is not followed.",
                       options->refused);
    }
    restride_status status = preprocess(&p, &words, count, &same);
    /* A condition that has one answer may ask for the next name. */
    bool more = true;
    for (int round = 0; round < ROUND_LIMIT && more; round++) {
        size_t before = count;
        if (status == RESTRIDE_OK && !same && program->missing == NULL)
            status = define(&p, &words, &count);
        more = status == RESTRIDE_OK && count > before;
        if (more) {
            rs_flat_free(&program->flat);
            status = preprocess(&p, &words, count, &same);
        }
    }
    rs_text_free(&words);
    for (size_t i = 0; i < all.count; i++)
        free(all.names[i]);
    free(all.names);
    free(all.stay);
    return status;
}
