/*
 * Programs: the source that the program gave, or why there is none, is kept beside the driver's own
 * handle. What its builds are is in builds.c, and how it is rewritten in preparation.c.
 */
#include "layer/opencl/programs.h"

#include "base/text.h"
#include "layer/core/report.h"

#include <stdlib.h>
#include <string.h>

/* ---- records ---- */

rs_layer_program *rs_program_new(cl_program handle, cl_context context, char *source,
                                 const char *unknown)
{
    rs_layer_program *program = calloc(1, sizeof *program);
    if (program == NULL || !rs_map_set(&rs_opencl.programs, handle, program)) {
        free(program);
        free(source);
        program = NULL;
    } else {
        program->core.layer = rs_the_layer();
        program->handle = handle;
        program->references = 1;
        program->core.number = ++rs_opencl.program_count;
        program->context = context;
        program->core.source = source;
        program->unknown = unknown;
        program->builds = 1;
        program->is_as_recorded = true;
    }
    return program;
}

/* For a program that the driver has made; `origin_options`, of a binary, or NULL, are taken over
 * like `source`. */
static void follow_program(cl_program handle, cl_context context, char *source,
                           char *origin_options, const char *unknown)
{
    rs_layer_lock(rs_the_layer());
    rs_layer_program *program = rs_program_new(handle, context, source, unknown);
    if (program != NULL)
        program->origin_options = origin_options;
    else
        free(origin_options);
    rs_layer_unlock(rs_the_layer());
}

void rs_program_forget_rewriting(rs_layer_program *program)
{
    if (program->core.rewritten != NULL)
        rs_driver()->clReleaseProgram(program->core.rewritten);
    json_decref(program->kernels);
    free(program->left);
    free(program->rewritten_source.text);
    free(program->rewritten_source.options);
    json_decref(program->rewritten_source.macros);
    free(program->rewritten_source.macros_key);
    program->rewritten_source = (rs_rewritten_source){.text = NULL};
    program->rewritten_build = RS_BUILD_NONE;
    program->left = NULL;
    program->core.rewritten = NULL;
    program->kernels = NULL;
    program->preparation = RS_UNPREPARED;
}

void rs_program_trim(rs_layer_program *program)
{
    if (program->references > 0 || program->live_kernels > 0)
        return;
    rs_report_release_program(&program->core);
    rs_program_forget_rewriting(program);
    free(program->core.source);
    free(program->options);
    free(program->origin_options);
    free((void *)program->devices);
    free(program);
}

/* ---- creation ---- */

static char *join_source(cl_uint count, const char **strings, const size_t *lengths)
{
    rs_text text = RS_TEXT_EMPTY;
    for (cl_uint i = 0; i < count; i++) {
        size_t length = lengths != NULL && lengths[i] != 0 ? lengths[i] : strlen(strings[i]);
        rs_text_add(&text, strings[i], length);
    }
    return rs_text_take(&text);
}

static cl_program CL_API_CALL create_with_source(cl_context context, cl_uint count,
                                                 const char **strings, const size_t *lengths,
                                                 cl_int *error)
{
    cl_program handle =
        rs_driver()->clCreateProgramWithSource(context, count, strings, lengths, error);
    if (handle != NULL)
        follow_program(handle, context, join_source(count, strings, lengths), NULL, NULL);
    return handle;
}

static cl_program CL_API_CALL create_with_binary(cl_context context, cl_uint count,
                                                 const cl_device_id *devices, const size_t *lengths,
                                                 const unsigned char **binaries, cl_int *statuses,
                                                 cl_int *error)
{
    cl_program handle = rs_driver()->clCreateProgramWithBinary(context, count, devices, lengths,
                                                               binaries, statuses, error);
    if (handle == NULL)
        return NULL;
    char *source = NULL, *options = NULL;
    bool known = count == 1 && rs_binary_origin(binaries[0], lengths[0], &source, &options);
    follow_program(handle, context, source, options,
                   known
                       ? NULL
                       : "the program was made from a binary, and its source is not known; let it "
                         "build from source (PYOPENCL_NO_CACHE=1 in PyOpenCL)");
    return handle;
}

static cl_program CL_API_CALL create_with_il(cl_context context, const void *il, size_t length,
                                             cl_int *error)
{
    cl_program handle = rs_driver()->clCreateProgramWithIL(context, il, length, error);
    if (handle != NULL)
        follow_program(
            handle, context, NULL, NULL,
            "the program was made from an intermediate language; build it from OpenCL C");
    return handle;
}

static cl_program CL_API_CALL create_with_built_in(cl_context context, cl_uint count,
                                                   const cl_device_id *devices, const char *names,
                                                   cl_int *error)
{
    cl_program handle =
        rs_driver()->clCreateProgramWithBuiltInKernels(context, count, devices, names, error);
    if (handle != NULL)
        follow_program(handle, context, NULL, NULL, "its kernels are built into the device");
    return handle;
}

static cl_int CL_API_CALL retain_program(cl_program handle)
{
    cl_int error = rs_driver()->clRetainProgram(handle);
    rs_layer_lock(rs_the_layer());
    rs_layer_program *program = rs_program_find(handle);
    if (program != NULL && error == CL_SUCCESS)
        program->references++;
    rs_layer_unlock(rs_the_layer());
    return error;
}

static cl_int CL_API_CALL release_program(cl_program handle)
{
    rs_layer_lock(rs_the_layer());
    rs_layer_program *program = rs_program_find(handle);
    if (program != NULL && --program->references == 0) {
        rs_map_remove(&rs_opencl.programs, handle);
        rs_program_trim(program);
    }
    rs_layer_unlock(rs_the_layer());
    return rs_driver()->clReleaseProgram(handle);
}

void rs_layer_add_programs(cl_icd_dispatch *table)
{
    table->clCreateProgramWithSource = create_with_source;
    table->clCreateProgramWithBinary = create_with_binary;
    table->clCreateProgramWithIL = create_with_il;
    table->clCreateProgramWithBuiltInKernels = create_with_built_in;
    table->clRetainProgram = retain_program;
    table->clReleaseProgram = release_program;
}
