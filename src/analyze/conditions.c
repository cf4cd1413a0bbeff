/*
 * See conditions.h. A name that the program itself defines, or that looks like one of a program's
 * (DEBUG, BLOCK), is what it says; names that are kept for compilers, and those of headers that
 * stay, may be defined. What all compilers of the language define to different values is tried with
 * each of them.
 */
#include "analyze/conditions.h"

#include "base/text.h"
#include "source/host.h"
#include "source/output.h"
#include "source/words.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#define LENGTH(array) (sizeof(array) / sizeof(array)[0])

static bool starts_with(const char *text, const char *prefix)
{
    return strncmp(text, prefix, strlen(prefix)) == 0;
}

/* ---- texts ---- */

/* The first line of a text with a word, in directives only or anywhere; 0 for none. */
static size_t find_line(const char *text, const char *word, bool anywhere)
{
    const char *line;
    size_t length, number = 0;
    bool directive = false, continued = false;
    while ((line = rs_line_next(&text, &length)) != NULL) {
        number++;
        directive = continued ? directive : line[strspn(line, " \t")] == '#';
        continued = length > 0 && line[length - 1] == '\\';
        if ((directive || anywhere) && rs_words_have(line, 0, length, word, strlen(word)))
            return number;
    }
    return 0;
}

/* Whether a text has "#define NAME". */
static bool defines(const char *text, const char *name)
{
    const char *line;
    size_t length;
    while ((line = rs_line_next(&text, &length)) != NULL) {
        size_t at = strspn(line, " \t"), word, word_length;
        if (line[at] != '#' || !rs_word_next(line, length, &at, &word, &word_length) ||
            !rs_word_equals(line, word, word_length, "define"))
            continue;
        if (rs_word_next(line, length, &at, &word, &word_length) &&
            rs_word_equals(line, word, word_length, name))
            return true;
    }
    return false;
}

/* Visits the source and the files that were read until one gives a number other than 0. */
static size_t visit_texts(const rs_flat *flat, const rs_program_request *request, const char *name,
                          size_t (*visit)(const char *text, const char *name), const char **file)
{
    size_t found = visit(request->source, name);
    *file = request->file;
    for (size_t i = 0; found == 0 && i < flat->file_count; i++) {
        rs_text text = RS_TEXT_EMPTY;
        if (flat->is_read[i] && rs_text_read_file(&text, flat->files[i]) == RESTRIDE_OK) {
            found = visit(text.data, name);
            *file = flat->files[i];
        }
        rs_text_free(&text);
    }
    return found;
}

static size_t visit_directives(const char *text, const char *name)
{
    return find_line(text, name, false);
}

static size_t visit_words(const char *text, const char *name)
{
    return find_line(text, name, true);
}

static size_t visit_definitions(const char *text, const char *name)
{
    return defines(text, name) ? 1 : 0;
}

size_t rs_conditions_find(const rs_flat *flat, const rs_program_request *request, const char *name,
                          const char **file)
{
    size_t line = visit_texts(flat, request, name, visit_directives, file);
    return line > 0 ? line : visit_texts(flat, request, name, visit_words, file);
}

/* ---- names ---- */

/* C and C++ keep these for compilers and their headers. */
static bool is_reserved(const char *name)
{
    return name[0] == '_' && (name[1] == '_' || isupper((unsigned char)name[1]));
}

/* Names of other languages and systems: undefined for certain. */
static bool is_foreign(const char *name, rs_language language)
{
    static const char always[] =
        "_WIN32 _WIN64 _MSC_VER __APPLE__ __MACOSX __MINGW32__ __CYGWIN__ __ANDROID__ __HIPCC__ "
        "__HIP__ __METAL_VERSION__ __SYCL_DEVICE_ONLY__ __OPENCL_CPP_VERSION__";
    static const char cuda[] =
        "__OPENCL_VERSION__ __OPENCL_C_VERSION__ __OPENCL__ CL_VERSION_1_0 CL_VERSION_1_1 "
        "CL_VERSION_1_2";
    static const char opencl[] =
        "__cplusplus __CUDACC__ __NVCC__ __CUDA_ARCH__ __CUDACC_RTC__ _OPENMP";
    return rs_is_among(name, strlen(name), always) ||
           (language == RS_LANGUAGE_CUDA ? rs_is_among(name, strlen(name), cuda)
                                         : rs_is_among(name, strlen(name), opencl));
}

/* Whether a name is one of those, or one of them with an ending. */
static bool is_constant(const char *name, const char *names)
{
    size_t length = strlen(name);
    if (length > 2 &&
        (strcmp(name + length - 2, "_F") == 0 || strcmp(name + length - 2, "_H") == 0))
        length -= 2;
    return rs_is_among(name, length, names);
}

/* What the language, or its headers, define for certain or perhaps. */
static bool is_language(const char *name, rs_language language)
{
    static const char cuda[] =
        "__global__ __device__ __host__ __shared__ __constant__ __managed__ __noinline__ "
        "__launch_bounds__ __align__ __forceinline__ __cluster_dims__ linux unix i386 "
        "CUDA_VERSION";
    static const char opencl[] =
        "NULL NAN INFINITY MAXFLOAT HUGE_VAL HUGE_VALF CHAR_BIT CHAR_MAX CHAR_MIN INT_MAX "
        "INT_MIN LONG_MAX LONG_MIN SCHAR_MAX SCHAR_MIN SHRT_MAX SHRT_MIN UCHAR_MAX UINT_MAX "
        "ULONG_MAX USHRT_MAX M_E M_LOG2E M_LOG10E M_LN2 M_LN10 M_PI M_PI_2 M_PI_4 M_1_PI M_2_PI "
        "M_SQRT2 M_SQRT1_2 M_2_SQRTPI";
    return language == RS_LANGUAGE_CUDA
               ? rs_is_among(name, strlen(name), cuda) || starts_with(name, "CUDART_")
               : is_constant(name, opencl) || rs_begins_among(name, "cl_ CLK_ FLT_ DBL_ HALF_");
}

/* What is not the program's unless the program defines it. */
static bool is_vendor(const char *name)
{
    return is_reserved(name) ||
           rs_begins_among(name, "CL_ CUDA CUDNN CUBLAS CUFFT CURAND CUSPARSE CUB_ THRUST_");
}

/* Whether the options undefine a name. */
static bool is_undefined(const rs_options *options, const char *name)
{
    bool undefined = false;
    for (size_t i = 0; i < options->preprocessor_count; i++) {
        const char *option = options->preprocessor[i];
        undefined = undefined || (starts_with(option, "-U") && strcmp(option + 2, name) == 0);
    }
    return undefined;
}

/* ---- headers that stay ---- */

static void add_header(rs_text *text, const char *name, size_t length)
{
    rs_text_format(text, "#if __has_include(<%.*s>)\n#include <%.*s>\n#endif\n", (int)length, name,
                   (int)length, name);
}

/* Adds -DNAME=... for those of these names that the headers of a text define here. */
static restride_status define(const rs_flat *flat, const rs_text *headers, rs_text *words,
                              size_t *count)
{
    static const rs_options no_options = {NULL, 0, NULL, NULL, NULL};
    const rs_flat_request request = {
        .source = headers->data, .file = "headers.c", .options = &no_options};
    rs_flat asked = {.unknown = calloc(flat->unknown_count + 1, sizeof *asked.unknown)};
    if (asked.unknown == NULL || headers->failed) {
        free(asked.unknown);
        return rs_fail_memory("the names of a source");
    }
    for (size_t i = 0; i < flat->unknown_count; i++)
        if (!is_reserved(flat->unknown[i].name))
            asked.unknown[asked.unknown_count++] = flat->unknown[i];
    restride_status status =
        asked.unknown_count == 0 ? RESTRIDE_OK : rs_host_define(&asked, &request, words, count);
    free(asked.unknown);
    return status;
}

restride_status rs_conditions_define(const rs_flat *flat, rs_text *words, size_t *count)
{
    static const char *const included[] = {"limits.h", "stddef.h", "stdlib.h", "math.h",
                                           "string.h", "time.h",   "stdio.h",  "assert.h"};
    rs_text headers = RS_TEXT_EMPTY;
    for (size_t i = 0; i < LENGTH(included); i++)
        add_header(&headers, included[i], strlen(included[i]));
    restride_status status = define(flat, &headers, words, count);
    rs_text_free(&headers);
    return status;
}

/* -DNAME=... for the names that headers which stay define, as far as they are here. */
static restride_status find_in_headers(const rs_flat *flat, rs_text *words)
{
    static const char mark[] = "#include <";
    rs_text headers = RS_TEXT_EMPTY;
    rs_text_add_string(&headers, "");
    const char *cursor = flat->shown, *line;
    size_t length, count = 0;
    while ((line = rs_line_next(&cursor, &length)) != NULL) {
        const char *name = line + strlen(mark);
        if (!starts_with(line, mark))
            continue;
        size_t size = strcspn(name, ">\n");
        add_header(&headers, name, size);
        if (name[0] == 'c' && memchr(name, '.', size) == NULL) { /* <cfloat> is <float.h> */
            rs_text other = RS_TEXT_EMPTY;
            rs_text_format(&other, "%.*s.h", (int)size - 1, name + 1);
            if (!other.failed)
                add_header(&headers, other.data, other.size);
            rs_text_free(&other);
        }
    }
    restride_status status =
        headers.size == 0 ? RESTRIDE_OK : define(flat, &headers, words, &count);
    rs_text_free(&headers);
    return status;
}

static bool has_word(const rs_text *words, const char *name)
{
    for (size_t at = 0; at < words->size; at += strlen(words->data + at) + 1) {
        const char *word = words->data + at + strlen("-D");
        if (starts_with(word, name) && word[strlen(name)] == '=')
            return true;
    }
    return false;
}

/* ---- what is defined to different values ---- */

/* A copy of a text in which the pragmas that only switch an extension on or off are blank. */
static char *without_extensions(const char *text)
{
    static const char pragma[] = "#pragma OPENCL EXTENSION";
    char *copy = strdup(text);
    for (char *at = copy; at != NULL && (at = strstr(at, pragma)) != NULL;)
        for (; *at != '\0' && *at != '\n'; at++)
            *at = ' ';
    return copy;
}

/* Whether a source reads the same with other definitions, or not at all. */
static restride_status try_others(const rs_flat *flat, const rs_flat_request *asked,
                                  const char *const *others, size_t count, bool *same)
{
    char **definitions = calloc(asked->definition_count + count + 1, sizeof *definitions);
    rs_flat_request request = *asked;
    rs_flat other;
    memset(&other, 0, sizeof other);
    restride_status status = definitions == NULL ? rs_fail_memory("a source") : RESTRIDE_OK;
    for (size_t i = 0; definitions != NULL && i < asked->definition_count + count; i++) {
        const char *word = i < asked->definition_count ? asked->definitions[i]
                                                       : others[i - asked->definition_count];
        definitions[i] = strdup(word);
        status = definitions[i] == NULL ? rs_fail_memory("a source") : status;
    }
    request.definitions = definitions;
    request.definition_count += count;
    if (status == RESTRIDE_OK)
        status = rs_flatten(&other, &request);
    *same = true;
    if (status == RESTRIDE_OK && other.failure == NULL) {
        char *a = without_extensions(flat->text), *b = without_extensions(other.text);
        status = a == NULL || b == NULL ? rs_fail_memory("a source") : status;
        *same = status == RESTRIDE_OK && rs_flat_same_words(a, b);
        free(a);
        free(b);
    }
    for (size_t i = 0; definitions != NULL && i < request.definition_count; i++)
        free(definitions[i]);
    free(definitions);
    rs_flat_free(&other);
    return status;
}

/* A name that all compilers of the language may define otherwise than it was; NULL: none matters.
 */
static restride_status find_varying(const rs_flat *flat, const rs_flat_request *asked,
                                    const rs_program_request *request, const char **name)
{
    enum { MOST = 3 };
    static const struct {
        rs_language language;
        const char *name, *others[MOST];
    } rows[] = {
        {RS_LANGUAGE_CUDA, "__cplusplus", {"-D__cplusplus=201103L"}},
        {RS_LANGUAGE_CUDA, "__cplusplus", {"-D__cplusplus=201703L"}},
        {RS_LANGUAGE_CUDA, "__cplusplus", {"-D__cplusplus=202002L"}},
        {RS_LANGUAGE_CUDA, "__cplusplus", {"-D__cplusplus=202302L"}},
        {RS_LANGUAGE_OPENCL, "__OPENCL_VERSION__", {"-D__OPENCL_VERSION__=200"}},
        {RS_LANGUAGE_OPENCL, "__OPENCL_VERSION__", {"-D__OPENCL_VERSION__=300"}},
        {RS_LANGUAGE_OPENCL,
         "__OPENCL_C_VERSION__",
         {"-D__OPENCL_VERSION__=200", "-D__OPENCL_C_VERSION__=200"}},
        {RS_LANGUAGE_OPENCL,
         "__OPENCL_C_VERSION__",
         {"-D__OPENCL_VERSION__=300", "-D__OPENCL_C_VERSION__=200"}},
        {RS_LANGUAGE_OPENCL,
         "__OPENCL_C_VERSION__",
         {"-D__OPENCL_VERSION__=300", "-D__OPENCL_C_VERSION__=300"}},
        {RS_LANGUAGE_OPENCL, "cl_khr_fp64", {"-Ucl_khr_fp64"}},
        {RS_LANGUAGE_OPENCL, "__IMAGE_SUPPORT__", {"-U__IMAGE_SUPPORT__"}},
        {RS_LANGUAGE_OPENCL, "__ENDIAN_LITTLE__", {"-U__ENDIAN_LITTLE__"}},
        {RS_LANGUAGE_OPENCL,
         "cl_khr_fp64",
         {"-Ucl_khr_fp64", "-U__IMAGE_SUPPORT__", "-U__ENDIAN_LITTLE__"}},
    };
    restride_status status = RESTRIDE_OK;
    const char *file;
    *name = NULL;
    for (size_t i = 0; status == RESTRIDE_OK && *name == NULL && i < LENGTH(rows); i++) {
        size_t count = 0;
        while (count < MOST && rows[i].others[count] != NULL)
            count++;
        bool same = true;
        if (rows[i].language == request->language &&
            rs_conditions_find(flat, request, rows[i].name, &file) > 0)
            status = try_others(flat, asked, rows[i].others, count, &same);
        *name = same ? NULL : rows[i].name;
    }
    return status;
}

/* ---- all of it ---- */

/* cpp answers these itself, for a compiler that is another one. */
static const char *find_question(const rs_flat *flat, const rs_program_request *request)
{
    static const char *const questions[] = {
        "__has_include",       "__has_include_next", "__has_attribute", "__has_builtin",
        "__has_cpp_attribute", "__has_feature",      "__has_extension", "__has_c_attribute"};
    const char *file;
    for (size_t i = 0; i < LENGTH(questions); i++)
        if (visit_texts(flat, request, questions[i], visit_directives, &file) > 0)
            return questions[i];
    return NULL;
}

/* A name that is asked for and may be defined. */
static const char *find_unknown(const rs_flat *flat, const rs_flat_request *asked,
                                const rs_program_request *request, const rs_text *in_headers)
{
    const char *file;
    for (size_t i = 0; i < flat->unknown_count; i++) {
        const char *name = flat->unknown[i].name;
        if (is_foreign(name, request->language) || is_undefined(asked->options, name))
            continue;
        if (has_word(in_headers, name) || is_language(name, request->language) ||
            (is_vendor(name) && visit_texts(flat, request, name, visit_definitions, &file) == 0))
            return name;
    }
    return NULL;
}

restride_status rs_conditions_check(const rs_flat *flat, const rs_flat_request *asked,
                                    const rs_program_request *request, char **name)
{
    rs_text in_headers = RS_TEXT_EMPTY;
    const char *found = find_question(flat, request);
    restride_status status = RESTRIDE_OK;
    if (found == NULL && flat->unknown_count > 0 && request->language == RS_LANGUAGE_CUDA)
        status = find_in_headers(flat, &in_headers);
    if (status == RESTRIDE_OK && found == NULL)
        found = find_unknown(flat, asked, request, &in_headers);
    if (status == RESTRIDE_OK && found == NULL)
        status = find_varying(flat, asked, request, &found);
    *name = found != NULL && status == RESTRIDE_OK ? strdup(found) : NULL;
    if (found != NULL && status == RESTRIDE_OK && *name == NULL)
        status = rs_fail_memory("a name");
    rs_text_free(&in_headers);
    return status;
}
