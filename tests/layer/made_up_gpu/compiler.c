/* A slow compiler, and one that predefines a macro. */
#include "made_up_gpu.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

static atomic_size_t builds;

size_t count_builds(void)
{
    return atomic_load(&builds);
}

static struct {
    void(CL_CALLBACK *function)(const char *, const void *, size_t, void *);
    void *data;
} notified;

static cl_context CL_API_CALL create_context(const cl_context_properties *properties, cl_uint count,
                                             const cl_device_id *devices,
                                             void(CL_CALLBACK *notify)(const char *, const void *,
                                                                       size_t, void *),
                                             void *data, cl_int *error)
{
    notified.function = notify;
    notified.data = data;
    return below->clCreateContext(properties, count, devices, notify, data, error);
}

static void *notify(void *unused)
{
    notified.function("a program was built", NULL, 0, notified.data);
    return unused;
}

/* Waits for the program's function, which may wait for a thread of the program. */
static void notify_beside(void)
{
    pthread_t thread;
    if (pthread_create(&thread, NULL, notify, NULL) == 0)
        pthread_join(thread, NULL);
}

static atomic_int compiling;
static pthread_mutex_t compiler = PTHREAD_MUTEX_INITIALIZER;

static void end_compiler(void)
{
    if (atomic_load(&compiling) > 0)
        _exit(3);
}

/* The options with the macro that the first device's compiler predefines. */
static const char *add_macro(char *with, size_t room, const char *options, cl_uint count,
                             const cl_device_id *devices)
{
    static cl_device_id first;
    if (getenv("MADE_UP_MACRO") == NULL || count == 0)
        return options;
    if (first == NULL)
        first = devices[0];
    if (count == 1 && devices[0] != first)
        return options;
    snprintf(with, room, "%s -DMADE_UP_MACRO", options != NULL ? options : "");
    return with;
}

static cl_int CL_API_CALL build_program(cl_program program, cl_uint count,
                                        const cl_device_id *devices, const char *options,
                                        void(CL_CALLBACK *notify)(cl_program, void *), void *data)
{
    bool slow = getenv("MADE_UP_COMPILER") != NULL;
    atomic_fetch_add(&builds, 1);
    char with[4096];
    options = add_macro(with, sizeof with, options, count, devices);
    if (slow) {
        atomic_fetch_add(&compiling, 1);
        atexit(end_compiler); /* as compilers that prepare themselves at their first work */
        pthread_mutex_lock(&compiler);
        nanosleep(&(struct timespec){0, 300000000}, NULL);
    }
    cl_int error = below->clBuildProgram(program, count, devices, options, notify, data);
    if (slow) {
        pthread_mutex_unlock(&compiler);
        if (notified.function != NULL)
            notify_beside();
        atomic_fetch_sub(&compiling, 1);
    }
    return error;
}

/* ---- programs that do not come from a source ---- */

static cl_program CL_API_CALL create_with_il(cl_context context, const void *il, size_t length,
                                             cl_int *error)
{
    const char *text = il;
    return below->clCreateProgramWithSource(context, 1, &text, &length, error);
}

static cl_program CL_API_CALL create_with_built_in(cl_context context, cl_uint count,
                                                   const cl_device_id *devices, const char *names,
                                                   cl_int *error)
{
    const char *text = "typedef struct { int a; float b; int c[2]; } cell;\n"
                       "__kernel void twice(__global cell *cells)\n"
                       "{ cells[get_global_id(0)].c[1] *= 2; }\n";
    (void)names;
    cl_program made = below->clCreateProgramWithSource(context, 1, &text, NULL, error);
    if (made != NULL)
        below->clBuildProgram(made, count, devices, "", NULL, NULL);
    return made;
}

static cl_program CL_API_CALL link_program(cl_context context, cl_uint device_count,
                                           const cl_device_id *devices, const char *options,
                                           cl_uint count, const cl_program *programs,
                                           void(CL_CALLBACK *notify)(cl_program, void *),
                                           void *data, cl_int *error)
{
    (void)options;
    return below->clLinkProgram(context, device_count, devices, "", count, programs, notify, data,
                                error);
}

void add_compiler(cl_icd_dispatch *table)
{
    table->clCreateProgramWithIL = create_with_il;
    table->clCreateProgramWithBuiltInKernels = create_with_built_in;
    table->clLinkProgram = link_program;
    table->clCreateContext = create_context;
    table->clBuildProgram = build_program;
}
