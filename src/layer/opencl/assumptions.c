/*
 * What the device's compiler predefines, as far as it can be told without entering it: from the
 * answers of an earlier run, or from the names and the device's own words. Most programs are never
 * rewritten, so nothing is compiled for them. Before the rewritten source of another is built,
 * rs_program_check_macros() asks the compiler.
 */
#include "base/store.h"
#include "base/text.h"
#include "layer/opencl/programs.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- earlier runs ---- */

static const char kind[] = "macros";

char *rs_macros_key(const rs_layer_program *program, const json_t *request)
{
    char driver[256] = "";
    rs_text key = RS_TEXT_EMPTY;
    char *device = rs_api_device_name(program->devices[0]);
    char *text = json_dumps(request, JSON_COMPACT);
    rs_driver()->clGetDeviceInfo(program->devices[0], CL_DRIVER_VERSION, sizeof driver - 1, driver,
                                 NULL);
    rs_text_format(&key, "%s\n%s\n", device != NULL ? device : "", driver);
    rs_text_add_string(&key, text != NULL ? text : "");
    key.failed = key.failed || text == NULL;
    free(device);
    free(text);
    return rs_text_take(&key);
}

json_t *rs_macros_recall(const char *key)
{
    rs_text content = RS_TEXT_EMPTY;
    if (key == NULL || !rs_store_read(kind, key, strlen(key), &content))
        return NULL;
    json_t *macros = json_loadb(content.data, content.size, 0, NULL);
    rs_text_free(&content);
    if (json_is_object(macros))
        return macros;
    json_decref(macros);
    return NULL;
}

void rs_macros_remember(const char *key, const json_t *macros)
{
    char *text = key != NULL ? json_dumps(macros, JSON_COMPACT) : NULL;
    if (text != NULL)
        rs_store_write(kind, key, strlen(key), text, strlen(text));
    free(text);
}

/* ---- names that tell ---- */

static bool begins_with(const char *text, const char *prefix)
{
    return strncmp(text, prefix, strlen(prefix)) == 0;
}

static bool is_among(const char *name, const char *const *names)
{
    while (*names != NULL && strcmp(*names, name) != 0)
        names++;
    return *names != NULL;
}

/* A text that the device tells of itself; the caller frees it. NULL: none. */
static char *device_text(cl_device_id device, cl_device_info about)
{
    size_t size = 0;
    char *text = NULL;
    if (rs_driver()->clGetDeviceInfo(device, about, 0, NULL, &size) == CL_SUCCESS &&
        (text = calloc(1, size + 1)) != NULL &&
        rs_driver()->clGetDeviceInfo(device, about, size, text, NULL) == CL_SUCCESS)
        return text;
    free(text);
    return NULL;
}

static bool is_true(cl_device_id device, cl_device_info about)
{
    cl_bool answer = CL_FALSE;
    return rs_driver()->clGetDeviceInfo(device, about, sizeof answer, &answer, NULL) ==
               CL_SUCCESS &&
           answer;
}

static bool has_extension(cl_device_id device, const char *name)
{
    char *all = device_text(device, CL_DEVICE_EXTENSIONS);
    const size_t length = strlen(name);
    bool found = false;
    for (const char *at = all; at != NULL && !found && (at = strstr(at, name)) != NULL; at++)
        found = (at == all || at[-1] == ' ') && (at[length] == ' ' || at[length] == '\0');
    free(all);
    return found;
}

/* "OpenCL 1.2 ..." as "120"; NULL when the device does not say. */
static json_t *version_of(cl_device_id device)
{
    unsigned major, minor;
    char *text = device_text(device, CL_DEVICE_VERSION);
    json_t *version = text != NULL && sscanf(text, "OpenCL %u.%u", &major, &minor) == 2
                          ? json_sprintf("%u", 100 * major + 10 * minor)
                          : NULL;
    free(text);
    return version;
}

/* Of compilers for hosts and of other languages. */
static const char *const foreign[] = {
    "__APPLE__",       "_WIN32",  "_MSC_VER",          "__cplusplus", "__CUDACC__", "__CUDA_ARCH__",
    "__HIPCC__",       "_OPENMP", "__METAL_VERSION__", "__HIP__",     "__linux__",  "__unix__",
    "__STDC_HOSTED__", NULL};

/* Of OpenCL C and its headers; the rewriter knows what they are. */
static const char *const usual[] = {"FLT_MAX",  "FLT_MIN", "FLT_EPSILON", "INT_MAX", "INT_MIN",
                                    "INFINITY", "M_PI_F",  "MAXFLOAT",    "NULL",    NULL};

/* Beginnings of further names there, which the compiler itself is to answer. */
static const char *const reserved[] = {"CL",     "FP_",   "FLT_",   "DBL_",   "HALF_",  "M_",
                                       "HUGE_",  "INT_",  "UINT_",  "LONG_",  "ULONG_", "SHRT_",
                                       "USHRT_", "CHAR_", "SCHAR_", "UCHAR_", "NAN",    NULL};

/* A name of the program's own: compilers predefine names with underscores before them, those above,
 * and a few in small letters (linux, unix). */
static bool is_of_program(const char *name)
{
    for (const char *const *one = reserved; *one != NULL; one++)
        if (begins_with(name, *one))
            return false;
    size_t small = 0;
    while (islower((unsigned char)name[small]))
        small++;
    return name[0] != '_' && name[small] != '\0';
}

/* What a name is as a macro: as rs_macros_ask() has it. NULL: it does not tell. */
static json_t *tell(const rs_layer_program *program, const char *name)
{
    cl_device_id device = program->devices[0];
    if (begins_with(name, "cl_"))
        return has_extension(device, name) ? json_true() : json_null();
    if (strcmp(name, "__OPENCL_VERSION__") == 0)
        return version_of(device);
    if (strcmp(name, "__ENDIAN_LITTLE__") == 0)
        return is_true(device, CL_DEVICE_ENDIAN_LITTLE) ? json_string("1") : json_null();
    if (strcmp(name, "__IMAGE_SUPPORT__") == 0)
        return is_true(device, CL_DEVICE_IMAGE_SUPPORT) ? json_string("1") : json_null();
    if (is_among(name, usual))
        return json_true();
    return is_among(name, foreign) || is_of_program(name) ? json_null() : NULL;
}

bool rs_macros_assume(const rs_layer_program *program, const json_t *names, const json_t *values,
                      json_t *macros)
{
    json_t *told = json_object(), *name;
    size_t i;
    bool all = program->device_count == 1;
    json_array_foreach((json_t *)names, i, name)
    {
        json_t *answer = all ? tell(program, json_string_value(name)) : NULL;
        all = answer != NULL && json_object_set_new(told, json_string_value(name), answer) == 0;
    }
    json_array_foreach((json_t *)values, i, name)
    {
        all = all && !json_is_true(json_object_get(told, json_string_value(name))) &&
              !json_is_true(json_object_get(macros, json_string_value(name)));
    }
    if (all)
        json_object_update(macros, told);
    json_decref(told);
    return all;
}

/* The next identifier in [*at, end); NULL: there is none. */
static char *next_name(const char **at, const char *end)
{
    const char *begin = *at;
    while (begin < end && !isalpha((unsigned char)*begin) && *begin != '_')
        begin += isdigit((unsigned char)*begin) ? strspn(begin, "0123456789abcdefxulABCDEFXUL") : 1;
    const char *last = begin;
    while (last < end && (isalnum((unsigned char)*last) || *last == '_'))
        last++;
    *at = last;
    return last > begin ? strndup(begin, (size_t)(last - begin)) : NULL;
}

/* The names that an #if, #ifdef, #ifndef or #elif tests. One in the options may be defined there.
 */
static void assume_tested(const rs_layer_program *program, const char *line, const char *end,
                          json_t *macros)
{
    char *name = NULL;
    while (free(name), (name = next_name(&line, end)) != NULL) {
        json_t *told = strstr(program->options, name) == NULL ? tell(program, name) : NULL;
        if (json_is_null(told) && strcmp(name, "defined") != 0)
            json_object_set(macros, name, told);
        json_decref(told);
    }
}

bool rs_macros_assume_undefined(const rs_layer_program *program, json_t *macros)
{
    static const char *const tests[] = {"if", "ifdef", "ifndef", "elif", NULL};
    const char *line = program->core.source;
    while (program->device_count == 1 && line != NULL && *line != '\0') {
        const char *end = line + strcspn(line, "\n");
        line += strspn(line, " \t");
        if (*line == '#') {
            line++;
            char *word = next_name(&line, end);
            if (word != NULL && is_among(word, tests))
                assume_tested(program, line, end, macros);
            free(word);
        }
        line = *end != '\0' ? end + 1 : NULL;
    }
    return json_object_size(macros) > 0;
}

/* ---- before a build ---- */

bool rs_program_check_macros(const rs_layer_program *program, const json_t *assumed,
                             const char *key)
{
    json_t *names = json_array(), *values = json_array(), *macros = json_object(), *value;
    const char *name;
    bool differ = false;
    json_object_foreach((json_t *)assumed, name, value)
    {
        json_array_append_new(names, json_string(name));
        if (json_is_string(value))
            json_array_append_new(values, json_string(name));
    }
    const bool is_asked = json_object_size(assumed) > 0;
    const bool is_known = !is_asked || rs_macros_ask(program, names, values, macros, &differ);
    const bool same = is_known && (!is_asked || json_equal(macros, assumed));
    if (is_known && !same)
        rs_macros_remember(key, macros);
    json_decref(names);
    json_decref(values);
    json_decref(macros);
    return same;
}
