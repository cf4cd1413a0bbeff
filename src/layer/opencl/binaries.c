/*
 * Programs from binaries: what PyOpenCL and others keep between their runs.
 *
 * When a program asks for the binary of what it built from source, source and options are kept on
 * disk under the binary (base/store.h compares all of its bytes). A program that is made from that
 * binary later is what was built then, so it can be rewritten as if its source had been given.
 */
#include "layer/core/file_limit.h"
#include "layer/opencl/programs.h"

#include "base/store.h"
#include "base/text.h"

#include <stdlib.h>
#include <string.h>

static const char kind[] = "binaries";

/* Larger ones are not kept: the disk would have each twice. */
enum { MOST_BYTES = 8 << 20 };

/* Whether a source, or options, say the same at another time and in another place. */
static bool is_complete(const char *text)
{
    static const char *const signs[] = {"include", "__DATE__", "__TIME__", "__TIMESTAMP__"};
    for (size_t i = 0; i < sizeof signs / sizeof signs[0]; i++)
        if (strstr(text, signs[i]) != NULL)
            return false;
    return true;
}

/* The size of the binary, when the program has one alone and it is all of the program; else 0. */
static size_t size_of_binary(const rs_layer_program *program)
{
    size_t size = 0, written = 0;
    cl_program_binary_type type = CL_PROGRAM_BINARY_TYPE_NONE;
    bool one = rs_driver()->clGetProgramInfo(program->handle, CL_PROGRAM_BINARY_SIZES, sizeof size,
                                             &size, &written) == CL_SUCCESS &&
               written == sizeof size;
    bool executable = rs_driver()->clGetProgramBuildInfo(program->handle, program->devices[0],
                                                         CL_PROGRAM_BINARY_TYPE, sizeof type, &type,
                                                         NULL) == CL_SUCCESS &&
                      type == CL_PROGRAM_BINARY_TYPE_EXECUTABLE;
    return one && executable && size <= MOST_BYTES ? size : 0;
}

/* Drivers tell options with other blanks than they were given. */
static bool same_words(const char *a, const char *b)
{
    static const char blanks[] = " \t\n\r\f\v";
    for (;;) {
        a += strspn(a, blanks);
        b += strspn(b, blanks);
        size_t length = strcspn(a, blanks);
        if (length != strcspn(b, blanks) || memcmp(a, b, length) != 0)
            return false;
        if (length == 0)
            return true;
        a += length;
        b += length;
    }
}

bool rs_program_was_built_with(const rs_layer_program *program, const char *options)
{
    size_t size = 0;
    if (rs_driver()->clGetProgramBuildInfo(program->handle, program->devices[0],
                                           CL_PROGRAM_BUILD_OPTIONS, 0, NULL, &size) != CL_SUCCESS)
        return false;
    char *found = calloc(1, size + 1);
    bool same = found != NULL &&
                rs_driver()->clGetProgramBuildInfo(program->handle, program->devices[0],
                                                   CL_PROGRAM_BUILD_OPTIONS, size, found,
                                                   NULL) == CL_SUCCESS &&
                same_words(found, options);
    free(found);
    return same;
}

static void remember(const rs_layer_program *program, const unsigned char *binary)
{
    size_t size = size_of_binary(program);
    if (size == 0 || !is_complete(program->core.source) || !is_complete(program->options) ||
        !rs_program_was_built_with(program, program->options))
        return;
    rs_text origin = RS_TEXT_EMPTY;
    rs_text_add(&origin, program->options, strlen(program->options) + 1);
    rs_text_add_string(&origin, program->core.source);
    sigset_t before;
    rs_file_limit_ignore(&before);
    if (!origin.failed)
        rs_store_write(kind, (const char *)binary, size, origin.data, origin.size);
    rs_file_limit_restore(&before);
    rs_text_free(&origin);
}

static cl_int CL_API_CALL get_program_info(cl_program handle, cl_program_info name, size_t room,
                                           void *value, size_t *size)
{
    cl_int error = rs_driver()->clGetProgramInfo(handle, name, room, value, size);
    if (error != CL_SUCCESS || name != CL_PROGRAM_BINARIES || value == NULL)
        return error;
    const unsigned char *binary = *(unsigned char **)value;
    rs_layer_lock(rs_the_layer());
    const rs_layer_program *program = rs_program_find(handle);
    if (binary != NULL && program != NULL && program->unknown == NULL &&
        program->core.source != NULL && program->options != NULL && program->device_count == 1 &&
        rs_the_layer()->settings.policy != RS_POLICY_OFF)
        remember(program, binary);
    rs_layer_unlock(rs_the_layer());
    return error;
}

bool rs_binary_origin(const unsigned char *binary, size_t size, char **source, char **options)
{
    rs_text origin = RS_TEXT_EMPTY;
    if (rs_the_layer()->settings.policy == RS_POLICY_OFF ||
        !rs_store_read(kind, (const char *)binary, size, &origin))
        return false;
    size_t length = strnlen(origin.data, origin.size);
    *options = length < origin.size ? strdup(origin.data) : NULL;
    *source = length < origin.size ? strdup(origin.data + length + 1) : NULL;
    rs_text_free(&origin);
    if (*source != NULL && *options != NULL)
        return true;
    free(*source);
    free(*options);
    return false;
}

void rs_layer_add_binaries(cl_icd_dispatch *table)
{
    table->clGetProgramInfo = get_program_info;
}
