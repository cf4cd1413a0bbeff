/*
 * The rewritten program and its kernels. Policy auto has it built when a launch first wants it, by
 * a thread beside the program: most programs never want it, and their compilers are not entered for
 * it. Where a policy is forced, or wisdom has it that a kernel gains, it is built before (see
 * preparation.c).
 *
 * A rewritten kernel is made at the first launch that wants it, with the arguments that the program
 * has set so far; they are kept until then.
 */
#include "layer/opencl/programs.h"

#include "base/log.h"
#include "base/text.h"
#include "layer/core/choice.h"
#include "layer/core/device_layouts.h"
#include "layer/core/file_limit.h"
#include "layer/core/policy.h"
#include "layer/core/process_exit.h"
#include "layer/core/report.h"

#include <stdlib.h>
#include <string.h>

/* ---- the program ---- */

/* Builds without warnings, which are none of the program's: PoCL counts them on its standard error.
 */
static cl_int build_silently(const rs_layer_program *program, cl_program rewritten,
                             const char *options)
{
    rs_text silent = RS_TEXT_EMPTY;
    rs_text_format(&silent, "%s -w", options);
    cl_int error = silent.failed ? CL_OUT_OF_HOST_MEMORY
                                 : rs_driver()->clBuildProgram(rewritten, program->device_count,
                                                               (const void *)program->devices,
                                                               silent.data, NULL, NULL);
    rs_text_free(&silent);
    return error;
}

void *rs_program_build_rewritten(const rs_layer_program *program, const rs_rewritten_source *source,
                                 const char **refused)
{
    const char *text = source->text;
    *refused =
        "the device's compiler predefines other macros than were assumed; the next run knows "
        "them";
    if (!rs_program_check_macros(program, source->macros, source->macros_key))
        return NULL;
    *refused = "the device's compiler refused the rewritten source";
    cl_int error = CL_SUCCESS;
    cl_program rewritten =
        rs_driver()->clCreateProgramWithSource(program->context, 1, &text, NULL, &error);
    if (rewritten == NULL)
        return NULL;
    error = build_silently(program, rewritten, source->options);
    if (error == CL_SUCCESS)
        return rewritten;
    char log[1024] = "";
    for (cl_uint d = 0; d < program->device_count && log[0] == '\0'; d++)
        rs_driver()->clGetProgramBuildInfo(rewritten, program->devices[d], CL_PROGRAM_BUILD_LOG,
                                           sizeof log - 1, log, NULL);
    rs_log(RS_LOG_WARNING, "the rewritten source of program %u does not build: %s",
           program->core.number, log);
    rs_driver()->clReleaseProgram(rewritten);
    return NULL;
}

/* What the build may take: it has two forms of each kernel, and macros are asked about before. */
static double estimate(const rs_layer_program *program) RS_LOCKED
{
    const double asking = 0.02; /* PoCL 3.1: 24 ms of a processor */
    return 2 * program->build_seconds +
           (json_object_size(program->rewritten_source.macros) > 0 ? asking : 0);
}

bool rs_program_can_build(const rs_layer_program *program)
{
    rs_layer *layer = program->core.layer;
    return rs_policy_can_build(estimate(program), layer->builds.spent,
                               rs_seconds_now() - layer->loaded_at);
}

/* Says in every argument that was to be transformed that it stays as it is. */
static void keep_all(json_t *kernels, const char *reason) RS_LOCKED
{
    size_t i, j;
    json_t *kernel, *argument;
    json_array_foreach(kernels, i, kernel)
    {
        json_array_foreach(json_object_get(kernel, "arguments"), j, argument)
        {
            if (rs_report_is_transformed(argument))
                rs_report_keep(argument, reason);
        }
    }
}

void rs_program_take_rewritten(rs_layer_program *program, void *rewritten, const char *refused)
{
    program->core.rewritten = rewritten;
    program->rewritten_build = rewritten != NULL ? RS_BUILD_DONE : RS_BUILD_REFUSED;
    if (rewritten == NULL)
        keep_all(program->kernels, refused);
}

/* By a thread of the layer's own, for which the program's record stays. */
static void build_beside(void *data) RS_UNLOCKED
{
    rs_layer_program *program = data;
    rs_group context = program->context;
    rs_layer *layer = program->core.layer;
    const double start = rs_seconds_now();
    const char *refused;
    void *rewritten = rs_program_build_rewritten(program, &program->rewritten_source, &refused);
    rs_layer_lock(layer);
    rs_program_take_rewritten(program, rewritten, refused);
    layer->builds.spent += rs_seconds_now() - start - program->build_estimate;
    program->live_kernels--;
    rs_program_trim(program);
    rs_layer_unlock(layer);
    rs_api_group_release(context);
}

static void begin_build(rs_layer_program *program) RS_LOCKED
{
    rs_layer *layer = program->core.layer;
    if (!rs_program_can_build(program) || rs_exit_has_begun(layer) || rs_file_limit_is_small() ||
        !rs_api_group_retain(program->context))
        return;
    program->rewritten_build = RS_BUILD_BEGUN;
    program->build_estimate = estimate(program);
    program->live_kernels++;
    if (rs_build_beside(layer, build_beside, program)) {
        layer->builds.spent += program->build_estimate;
        return;
    }
    program->rewritten_build = RS_BUILD_REFUSED;
    program->live_kernels--;
    rs_api_group_release(program->context);
}

/* ---- arguments until there is a rewritten kernel ---- */

static bool keeps_values(const rs_kernel *kernel) RS_LOCKED
{
    return (kernel->target_count > 0 || kernel->is_being_prepared) &&
           kernel->rewritten[RS_FORM_ANY] == NULL && kernel->lacks_forms == NULL;
}

void rs_kernel_keep_value(rs_kernel *kernel, size_t index, size_t size, const void *value,
                          bool is_pointer)
{
    rs_argument *argument = &kernel->arguments[index];
    if (!keeps_values(kernel))
        return;
    if (value == NULL || argument->value == NULL || argument->value_size != size) {
        free(argument->value);
        argument->value = value != NULL ? malloc(size) : NULL;
    }
    if (value != NULL && argument->value == NULL)
        rs_kernel_release_forms(kernel, "There was not enough memory.");
    if (argument->value != NULL)
        memcpy(argument->value, value, size);
    argument->value_size = size;
    argument->is_pointer = is_pointer;
}

void rs_kernel_copy_values(rs_kernel *copy, const rs_kernel *original)
{
    for (size_t i = 0; i < copy->argument_count; i++) {
        const rs_argument *from = &original->arguments[i];
        copy->arguments[i].set = from->set;
        copy->arguments[i].handle = from->handle;
        copy->arguments[i].is_buffer = from->is_buffer;
        if (from->set && (from->value != NULL || from->value_size > 0))
            rs_kernel_keep_value(copy, i, from->value_size, from->value, from->is_pointer);
    }
    copy->generation = 0;
}

void rs_kernel_forget_values(rs_kernel *kernel)
{
    for (size_t i = 0; i < kernel->argument_count; i++) {
        free(kernel->arguments[i].value);
        kernel->arguments[i].value = NULL;
    }
}

static cl_int set_value(cl_kernel form, cl_uint index, const rs_argument *argument)
{
    void *pointer = NULL;
    if (!argument->is_pointer)
        return rs_driver()->clSetKernelArg(form, index, argument->value_size, argument->value);
    memcpy((void *)&pointer, argument->value, sizeof pointer);
    return rs_driver()->clSetKernelArgSVMPointer(form, index, pointer);
}

/* ---- kernels ---- */

static const char not_made[] = "the driver could not make its rewritten form";

void rs_kernel_release_forms(rs_kernel *kernel, const char *reason)
{
    for (int form = 0; form < RS_FORMS; form++) {
        if (kernel->rewritten[form] != NULL)
            rs_driver()->clReleaseKernel(kernel->rewritten[form]);
        kernel->rewritten[form] = NULL;
    }
    kernel->repeat.generation = 0;
    kernel->lacks_forms = reason != NULL ? reason : not_made;
}

static cl_kernel make_form(const rs_kernel *kernel, const char *name) RS_LOCKED
{
    cl_int error = CL_SUCCESS;
    cl_kernel form = rs_driver()->clCreateKernel(kernel->program->rewritten, name, &error);
    for (size_t i = 0; form != NULL && i < kernel->argument_count; i++)
        if (kernel->arguments[i].set &&
            set_value(form, (cl_uint)i, &kernel->arguments[i]) != CL_SUCCESS) {
            rs_driver()->clReleaseKernel(form);
            form = NULL;
        }
    return form;
}

static bool make_forms(rs_kernel *kernel) RS_LOCKED
{
    size_t i;
    json_t *description;
    json_array_foreach(rs_program_of(kernel)->kernels, i, description)
    {
        const char *name = json_string_value(json_object_get(description, "name"));
        const char *full = json_string_value(json_object_get(description, "full_kernel"));
        if (name == NULL || strcmp(name, kernel->facts->name) != 0)
            continue;
        kernel->rewritten[RS_FORM_ANY] = make_form(kernel, name);
        if (kernel->rewritten[RS_FORM_ANY] != NULL && full != NULL)
            kernel->rewritten[RS_FORM_FULL] = make_form(kernel, full);
    }
    if (kernel->rewritten[RS_FORM_ANY] == NULL)
        kernel->lacks_forms = not_made;
    rs_kernel_forget_values(kernel);
    rs_exit_note_compiler(kernel->layer);
    return kernel->lacks_forms == NULL;
}

/* A value that was a buffer when it was set must still be one: drivers need not look at it before a
 * launch. */
static bool has_released_buffer(const rs_kernel *kernel) RS_LOCKED
{
    for (size_t i = 0; i < kernel->argument_count; i++) {
        const rs_argument *argument = &kernel->arguments[i];
        if (argument->is_buffer && rs_buffer_behind(kernel->layer, argument->handle) == NULL)
            return true;
    }
    return false;
}

/* A kernel with rewritten forms, launched before, of a program in the same context that is in this
 * state; NULL: there is none. */
static rs_kernel *find_launched(const rs_layer_program *program, rs_rewritten_build state) RS_LOCKED
{
    rs_kernel *kernel;
    for (size_t at = 0; (kernel = rs_map_next(&program->core.layer->kernels, &at)) != NULL;)
        if (kernel->target_count > 0 && kernel->facts != NULL && kernel->facts->launches > 0 &&
            rs_program_of(kernel)->context == program->context &&
            rs_program_of(kernel)->rewritten_build == state)
            return kernel;
    return NULL;
}

/* Begins the build of a program, and those of others whose kernels would find the buffers that it
 * has had converted. */
static void begin_builds(rs_layer_program *program) RS_LOCKED
{
    const rs_kernel *other;
    begin_build(program);
    while (program->rewritten_build == RS_BUILD_BEGUN &&
           (other = find_launched(program, RS_BUILD_WAITS)) != NULL) {
        begin_build(rs_program_of(other));
        if (rs_program_of(other)->rewritten_build == RS_BUILD_WAITS)
            return; /* another time */
    }
}

rs_forms_state rs_kernel_forms(rs_kernel *kernel)
{
    rs_layer_program *program = rs_program_of(kernel);
    if (kernel->rewritten[RS_FORM_ANY] != NULL)
        return RS_FORMS_READY;
    if (kernel->lacks_forms != NULL)
        return RS_FORMS_NEVER;
    if (program->rewritten_build == RS_BUILD_WAITS)
        begin_builds(program);
    switch (program->rewritten_build) {
    case RS_BUILD_WAITS:
        return RS_FORMS_LATER;
    case RS_BUILD_BEGUN:
        return RS_FORMS_BEING_BUILT;
    case RS_BUILD_DONE:
        if (find_launched(program, RS_BUILD_BEGUN) != NULL)
            return RS_FORMS_BEING_BUILT;
        if (has_released_buffer(kernel))
            return RS_FORMS_LATER;
        return make_forms(kernel) ? RS_FORMS_READY : RS_FORMS_NEVER;
    case RS_BUILD_NONE:
    case RS_BUILD_REFUSED:
        break;
    }
    kernel->lacks_forms = "its rewritten form could not be built";
    return RS_FORMS_NEVER;
}
