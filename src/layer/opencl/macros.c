/*
 * What the device's compiler predefines. A source may test macros that only this compiler knows;
 * the rewriter must see the same branches. So the compiler is asked in its own language, without
 * running anything: a program of empty kernels is built, and the names of the kernels that came to
 * be are the answers.
 *
 *     #ifdef NAME
 *     __kernel void restride_defined_0_(void) {}
 *     #endif
 *
 * and for the value, by pasting: __kernel void restride_value_<value>(void) {}. That is no name
 * when the value is not one word or number (FLT_MAX), and a driver may complain of it on the
 * program's standard error, so a value is asked for only where the rewriter needs it.
 */
#include "base/text.h"
#include "layer/core/process_exit.h"
#include "layer/opencl/programs.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Builds the text for a device and returns its kernel names separated by ';'; NULL when it fails.
 */
static char *kernel_names(const rs_layer_program *program, cl_device_id device, rs_text *text)
{
    char *source = rs_text_take(text);
    if (source == NULL)
        return NULL;
    const char *strings[] = {source};
    char *names = NULL;
    size_t size = 0;
    cl_int error;
    cl_program probe =
        rs_driver()->clCreateProgramWithSource(program->context, 1, strings, NULL, &error);
    if (probe != NULL &&
        rs_driver()->clBuildProgram(probe, 1, &device, program->options, NULL, NULL) ==
            CL_SUCCESS &&
        rs_driver()->clGetProgramInfo(probe, CL_PROGRAM_KERNEL_NAMES, 0, NULL, &size) ==
            CL_SUCCESS &&
        (names = calloc(1, size + 1)) != NULL &&
        rs_driver()->clGetProgramInfo(probe, CL_PROGRAM_KERNEL_NAMES, size, names, NULL) !=
            CL_SUCCESS) {
        free(names);
        names = NULL;
    }
    if (probe != NULL)
        rs_driver()->clReleaseProgram(probe);
    free(source);
    return names;
}

/* The rest of the kernel name that starts with `prefix`, as a new string; NULL when there is none.
 */
static char *rest_of_name(const char *names, const char *prefix)
{
    for (const char *at = names; (at = strstr(at, prefix)) != NULL; at++) {
        if (at != names && at[-1] != ';')
            continue;
        at += strlen(prefix);
        return strndup(at, strcspn(at, ";"));
    }
    return NULL;
}

/* The value of one macro that is known to be defined; NULL when it is not made of one word or
 * number. */
static char *value_of(const rs_layer_program *program, cl_device_id device, const char *name)
{
    rs_text text = RS_TEXT_EMPTY;
    rs_text_add_string(&text, "#define RESTRIDE_PASTE_(a, b) a##b\n"
                              "#define RESTRIDE_PASTE(a, b) RESTRIDE_PASTE_(a, b)\n");
    rs_text_format(&text, "__kernel void RESTRIDE_PASTE(restride_value_, %s)(void) {}\n", name);
    char *names = kernel_names(program, device, &text);
    char *value = names != NULL ? rest_of_name(names, "restride_value_") : NULL;
    free(names);
    return value;
}

/* Which of the macros are defined: true or null for each. */
static bool ask_whether_defined(const rs_layer_program *program, cl_device_id device, json_t *names,
                                json_t *macros)
{
    rs_text text = RS_TEXT_EMPTY;
    size_t i;
    json_t *name;
    rs_text_add_string(&text, "__kernel void restride_alive(void) {}\n");
    json_array_foreach(names, i, name)
    {
        rs_text_format(&text, "#ifdef %s\n__kernel void restride_defined_%zu_(void) {}\n#endif\n",
                       json_string_value(name), i);
    }
    char *answers = kernel_names(program, device, &text);
    const bool known = answers != NULL;
    json_array_foreach(names, i, name)
    {
        char kernel[64];
        snprintf(kernel, sizeof kernel, "restride_defined_%zu_", i);
        char *rest = known ? rest_of_name(answers, kernel) : NULL;
        json_object_set_new(macros, json_string_value(name),
                            rest != NULL ? json_true() : json_null());
        free(rest);
    }
    free(answers);
    return known;
}

static bool ask(const rs_layer_program *program, cl_device_id device, json_t *names, json_t *values,
                json_t *macros)
{
    size_t i;
    json_t *name;
    bool known = json_array_size(names) == 0 || ask_whether_defined(program, device, names, macros);
    json_array_foreach(values, i, name)
    {
        if (!known || !json_is_true(json_object_get(macros, json_string_value(name))))
            continue;
        char *value = value_of(program, device, json_string_value(name));
        known = value != NULL;
        if (known)
            json_object_set_new(macros, json_string_value(name), json_string(value));
        free(value);
    }
    return known;
}

bool rs_macros_ask(const rs_layer_program *program, json_t *names, json_t *values, json_t *macros,
                   bool *differ)
{
    json_t *before = json_deep_copy(macros);
    bool known = !rs_exit_has_begun(rs_the_layer()) &&
                 ask(program, program->devices[0], names, values, macros);
    for (cl_uint d = 1; d < program->device_count && known; d++) {
        json_t *other = json_deep_copy(before);
        known = ask(program, program->devices[d], names, values, other);
        *differ = known && !json_equal(macros, other);
        json_decref(other);
        known = known && !*differ;
    }
    json_decref(before);
    return known;
}
