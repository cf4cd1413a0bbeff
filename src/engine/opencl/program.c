/* Programs of the OpenCL engine, built when they are first wanted, and the commands that use them.
 */
#include "base/log.h"
#include "base/text.h"
#include "engine/opencl/error.h"
#include "engine/opencl/opencl.h"

#include <stdlib.h>
#include <string.h>

extern const char rs_opencl_prelude[];

typedef struct made_kernel {
    struct made_kernel *next;
    const char *name;
    cl_kernel kernel;
} made_kernel;

/* Its kernels are made once: every launch sets all arguments anew. */
struct rs_opencl_program {
    rs_opencl_program *next;
    const char *source; /* a text that outlives the engine */
    char *options;
    cl_program program;
    made_kernel *kernels;
};

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
    const char *texts[] = {rs_opencl_prelude, rs_device_division_functions, made->source};
    cl_int code;
    made->program = api->clCreateProgramWithSource(engine->context, 3, texts, NULL, &code);
    if (code != CL_SUCCESS)
        return rs_opencl_fail(code, "creating a program of transposition");
    code = api->clBuildProgram(made->program, 1, &engine->device, made->options, NULL, NULL);
    if (code != CL_SUCCESS)
        return fail_build(engine, made->program, code);
    return RESTRIDE_OK;
}

static void forget_program(const rs_opencl_engine *engine, rs_opencl_program *program)
{
    while (program->kernels != NULL) {
        made_kernel *first = program->kernels;
        program->kernels = first->next;
        engine->api->clReleaseKernel(first->kernel);
        free(first);
    }
    if (program->program != NULL)
        engine->api->clReleaseProgram(program->program);
    free(program->options);
    free(program);
}

/* The caller holds the mutex of builds. */
static restride_status find_program(rs_opencl_engine *engine, const char *source,
                                    const char *options, rs_opencl_program **program)
{
    for (rs_opencl_program *p = engine->programs; p != NULL; p = p->next)
        if (p->source == source && strcmp(p->options, options) == 0) {
            *program = p;
            return RESTRIDE_OK;
        }
    rs_opencl_program *made = calloc(1, sizeof *made);
    char *copy = malloc(strlen(options) + 1);
    if (made == NULL || copy == NULL) {
        free(made);
        free(copy);
        return rs_fail_memory("a program of transposition");
    }
    *made = (rs_opencl_program){engine->programs, source, strcpy(copy, options), NULL, NULL};
    restride_status status = build(engine, made);
    if (status != RESTRIDE_OK) {
        forget_program(engine, made);
        return status;
    }
    engine->programs = made;
    *program = made;
    return RESTRIDE_OK;
}

/* The same. */
static restride_status find_kernel(const rs_opencl_engine *engine, rs_opencl_program *program,
                                   const char *name, rs_device_kernel *kernel)
{
    for (made_kernel *k = program->kernels; k != NULL; k = k->next)
        if (strcmp(k->name, name) == 0) {
            *kernel = k->kernel;
            return RESTRIDE_OK;
        }
    made_kernel *made = malloc(sizeof *made);
    if (made == NULL)
        return rs_fail_memory("a kernel of transposition");
    cl_int code;
    *made = (made_kernel){program->kernels, name,
                          engine->api->clCreateKernel(program->program, name, &code)};
    if (code != CL_SUCCESS) {
        free(made);
        return rs_opencl_fail(code, "creating a kernel of transposition");
    }
    program->kernels = made;
    *kernel = made->kernel;
    return RESTRIDE_OK;
}

static restride_status create_kernels(rs_device_engine *base, const char *source,
                                      const char *options, const char *const names[], size_t count,
                                      rs_device_kernel kernels[])
{
    rs_opencl_engine *engine = (rs_opencl_engine *)base;
    rs_opencl_program *program = NULL;
    pthread_mutex_lock(&engine->building);
    restride_status status = find_program(engine, source, options, &program);
    for (size_t i = 0; i < count && status == RESTRIDE_OK; i++)
        status = find_kernel(engine, program, names[i], &kernels[i]);
    pthread_mutex_unlock(&engine->building);
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

/* ---- memory ---- */

static restride_status allocate(rs_device_engine *base, size_t bytes, rs_device_memory *memory)
{
    rs_opencl_engine *engine = (rs_opencl_engine *)base;
    cl_int code;
    *memory = engine->api->clCreateBuffer(engine->context, CL_MEM_READ_WRITE, bytes, NULL, &code);
    return code == CL_SUCCESS ? RESTRIDE_OK
                              : rs_opencl_fail(code, "allocating the tables of a plan");
}

static void release(rs_device_engine *base, rs_device_memory memory)
{
    ((rs_opencl_engine *)base)->api->clReleaseMemObject((cl_mem)memory);
}

static restride_status write_memory(rs_device_engine *base, rs_device_memory to, const void *from,
                                    size_t bytes, const char *doing)
{
    rs_opencl_engine *engine = (rs_opencl_engine *)base;
    cl_int code = engine->api->clEnqueueWriteBuffer(engine->queue, (cl_mem)to, CL_TRUE, 0, bytes,
                                                    from, 0, NULL, NULL);
    return code == CL_SUCCESS ? RESTRIDE_OK : rs_opencl_fail(code, doing);
}

static restride_status read_memory(rs_device_engine *base, void *to, rs_device_memory from,
                                   size_t bytes, const char *doing)
{
    rs_opencl_engine *engine = (rs_opencl_engine *)base;
    cl_int code = engine->api->clEnqueueReadBuffer(engine->queue, (cl_mem)from, CL_TRUE, 0, bytes,
                                                   to, 0, NULL, NULL);
    return code == CL_SUCCESS ? RESTRIDE_OK : rs_opencl_fail(code, doing);
}

/* ---- launches ---- */

/* A kernel's arguments are not thread-safe between setting and enqueuing, hence the mutex. */
static void launch(rs_device_sequence *sequence, rs_device_kernel kernel,
                   const rs_device_argument *arguments, size_t count, size_t groups,
                   size_t groups_2, size_t items)
{
    rs_opencl_engine *engine = (rs_opencl_engine *)sequence->engine;
    const cl_icd_dispatch *api = engine->api;
    const size_t global[] = {groups * items, groups_2};
    const size_t local[] = {items, 1};
    cl_command_queue queue = sequence->on != NULL ? sequence->on : engine->queue;
    const bool chained = engine->out_of_order || sequence->on != NULL;
    cl_event before = sequence->last;
    cl_event event = NULL;
    pthread_mutex_lock(&engine->mutex);
    for (cl_uint i = 0; i < count && sequence->code == CL_SUCCESS; i++)
        sequence->code =
            api->clSetKernelArg((cl_kernel)kernel, i, arguments[i].size, arguments[i].value);
    if (sequence->code == CL_SUCCESS)
        sequence->code = api->clEnqueueNDRangeKernel(
            queue, (cl_kernel)kernel, 2, NULL, global, local, before != NULL,
            before != NULL ? &before : NULL, chained ? &event : NULL);
    pthread_mutex_unlock(&engine->mutex);
    if (sequence->code != CL_SUCCESS)
        return;
    if (before != NULL)
        api->clReleaseEvent(before);
    sequence->last = event;
    if (sequence->on != NULL && sequence->first == NULL) {
        api->clRetainEvent(event);
        sequence->first = event;
    }
}

/* The last event of an out-of-order queue, or all commands of an ordinary one. */
static cl_int wait_for_all(const rs_opencl_engine *engine, cl_event last)
{
    if (!engine->out_of_order)
        return engine->api->clFinish(engine->queue);
    if (last == NULL)
        return CL_SUCCESS;
    cl_int code = engine->api->clWaitForEvents(1, &last);
    engine->api->clReleaseEvent(last);
    return code;
}

static restride_status finish(rs_device_sequence *sequence, const char *doing)
{
    cl_int code = wait_for_all((rs_opencl_engine *)sequence->engine, sequence->last);
    sequence->last = NULL;
    if (sequence->code == CL_SUCCESS)
        sequence->code = code;
    return sequence->code == CL_SUCCESS ? RESTRIDE_OK : rs_opencl_fail(sequence->code, doing);
}

static restride_status finish_reading(rs_device_sequence *sequence, void *to, rs_device_memory from,
                                      size_t bytes, const char *doing)
{
    const cl_icd_dispatch *api = ((rs_opencl_engine *)sequence->engine)->api;
    cl_command_queue queue = ((rs_opencl_engine *)sequence->engine)->queue;
    cl_event before = sequence->last;
    if (sequence->code == CL_SUCCESS)
        sequence->code =
            api->clEnqueueReadBuffer(queue, (cl_mem)from, CL_TRUE, 0, bytes, to, before != NULL,
                                     before != NULL ? &before : NULL, NULL);
    if (sequence->code != CL_SUCCESS)
        return finish(sequence, doing);
    if (before != NULL)
        api->clReleaseEvent(before);
    sequence->last = NULL;
    return RESTRIDE_OK;
}

const rs_device_operations rs_opencl_device_operations = {
    .create_kernels = create_kernels,
    .allocate = allocate,
    .release = release,
    .write = write_memory,
    .read = read_memory,
    .launch = launch,
    .finish = finish,
    .finish_reading = finish_reading,
};
