/* Programs of the OpenCL engine, built when they are first wanted, and the commands that use them.
 */
#include "base/log.h"
#include "base/text.h"
#include "engine/opencl/error.h"
#include "engine/opencl/opencl.h"

#include <stdlib.h>
#include <string.h>

extern const char rs_opencl_prelude[];
extern const char rs_opencl_blocks_kernels[];
extern const char rs_opencl_chains_kernels[];
extern const char rs_opencl_shuffles_kernels[];

static const char *const sources[] = {
    [RS_KERNELS_BLOCKS] = rs_opencl_blocks_kernels,
    [RS_KERNELS_CHAINS] = rs_opencl_chains_kernels,
    [RS_KERNELS_SHUFFLES] = rs_opencl_shuffles_kernels,
};

struct rs_opencl_program {
    rs_opencl_program *next;
    rs_opencl_source source;
    char *options;
    cl_program program;
};

const char *rs_opencl_word_type(size_t bytes)
{
    static const char *const types[] = {"uchar", "ushort", "uint", "ulong", "uint4"};
    int index = 0;
    while (bytes >>= 1)
        index++;
    return types[index];
}

static restride_status fail_build(const rs_opencl_engine *engine, cl_program program, cl_int code)
{
    char messages[4096] = "";
    size_t size = 0;
    if (engine->api->clGetProgramBuildInfo(program, engine->device, CL_PROGRAM_BUILD_LOG, 0, NULL,
                                           &size) == CL_SUCCESS &&
        size <= sizeof messages)
        engine->api->clGetProgramBuildInfo(program, engine->device, CL_PROGRAM_BUILD_LOG,
                                           sizeof messages, messages, NULL);
    rs_log(RS_LOG_ERROR, "a kernel of transposition was not built: %s", messages);
    return rs_opencl_fail(code, "building a kernel of transposition (RESTRIDE_LOG=error shows the "
                                "compiler's messages)");
}

static restride_status build(rs_opencl_engine *engine, rs_opencl_program *made)
{
    const cl_icd_dispatch *api = engine->api;
    const char *texts[] = {rs_opencl_prelude, sources[made->source]};
    cl_int code;
    made->program = api->clCreateProgramWithSource(engine->context, 2, texts, NULL, &code);
    if (code != CL_SUCCESS)
        return rs_opencl_fail(code, "creating a program of transposition");
    code = api->clBuildProgram(made->program, 1, &engine->device, made->options, NULL, NULL);
    if (code != CL_SUCCESS)
        return fail_build(engine, made->program, code);
    return RESTRIDE_OK;
}

static void forget_program(const rs_opencl_engine *engine, rs_opencl_program *program)
{
    if (program->program != NULL)
        engine->api->clReleaseProgram(program->program);
    free(program->options);
    free(program);
}

/* The caller holds the mutex. */
static restride_status find_program(rs_opencl_engine *engine, rs_opencl_source source,
                                    const char *options, cl_program *program)
{
    for (rs_opencl_program *p = engine->programs; p != NULL; p = p->next)
        if (p->source == source && strcmp(p->options, options) == 0) {
            *program = p->program;
            return RESTRIDE_OK;
        }
    rs_opencl_program *made = calloc(1, sizeof *made);
    char *copy = malloc(strlen(options) + 1);
    if (made == NULL || copy == NULL) {
        free(made);
        free(copy);
        return rs_fail_memory("a program of transposition");
    }
    *made = (rs_opencl_program){engine->programs, source, strcpy(copy, options), NULL};
    restride_status status = build(engine, made);
    if (status != RESTRIDE_OK) {
        forget_program(engine, made);
        return status;
    }
    engine->programs = made;
    *program = made->program;
    return RESTRIDE_OK;
}

restride_status rs_opencl_create_kernels(rs_opencl_engine *engine, rs_opencl_source source,
                                         const char *options, const char *const names[],
                                         size_t count, cl_kernel kernels[])
{
    cl_program program = NULL;
    pthread_mutex_lock(&engine->mutex);
    restride_status status = find_program(engine, source, options, &program);
    pthread_mutex_unlock(&engine->mutex);
    for (size_t i = 0; i < count && status == RESTRIDE_OK; i++) {
        cl_int code;
        kernels[i] = engine->api->clCreateKernel(program, names[i], &code);
        if (code != CL_SUCCESS)
            status = rs_opencl_fail(code, "creating a kernel of transposition");
    }
    return status;
}

void rs_opencl_forget_programs(rs_opencl_engine *engine)
{
    while (engine->programs != NULL) {
        rs_opencl_program *first = engine->programs;
        engine->programs = first->next;
        forget_program(engine, first);
    }
}

/* A kernel's arguments are not thread-safe between setting and enqueuing, hence the mutex. */
void rs_opencl_launch(rs_opencl_sequence *sequence, cl_kernel kernel,
                      const rs_opencl_argument *arguments, size_t count, size_t groups,
                      size_t groups_2, size_t items)
{
    rs_opencl_engine *engine = sequence->engine;
    const cl_icd_dispatch *api = engine->api;
    if (sequence->code != CL_SUCCESS || groups == 0 || groups_2 == 0)
        return;
    const size_t global[] = {groups * items, groups_2};
    const size_t local[] = {items, 1};
    cl_event event = NULL;
    pthread_mutex_lock(&engine->mutex);
    for (cl_uint i = 0; i < count && sequence->code == CL_SUCCESS; i++)
        sequence->code = api->clSetKernelArg(kernel, i, arguments[i].size, arguments[i].value);
    if (sequence->code == CL_SUCCESS)
        sequence->code = api->clEnqueueNDRangeKernel(
            engine->queue, kernel, 2, NULL, global, local, sequence->last != NULL,
            sequence->last != NULL ? &sequence->last : NULL, &event);
    pthread_mutex_unlock(&engine->mutex);
    if (sequence->code != CL_SUCCESS)
        return;
    if (sequence->last != NULL)
        api->clReleaseEvent(sequence->last);
    sequence->last = event;
}

restride_status rs_opencl_finish(rs_opencl_sequence *sequence, const char *doing)
{
    const cl_icd_dispatch *api = sequence->engine->api;
    if (sequence->last != NULL) {
        cl_int code = api->clWaitForEvents(1, &sequence->last);
        api->clReleaseEvent(sequence->last);
        sequence->last = NULL;
        if (sequence->code == CL_SUCCESS)
            sequence->code = code;
    }
    return sequence->code == CL_SUCCESS ? RESTRIDE_OK : rs_opencl_fail(sequence->code, doing);
}
