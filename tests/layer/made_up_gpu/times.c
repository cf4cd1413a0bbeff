/* Launches take the times that MADE_UP_TIMES gives. */
#include "made_up_gpu.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { EVENTS = 65536, NAMES = 16 };

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

static cl_ulong clock_now = 1000;

/* Of the program, in nanoseconds, where it has one. */
extern atomic_ullong made_up_nanoseconds __attribute__((weak));

/* By the event's place in memory; later events replace earlier ones at the same address. */
static struct {
    cl_event event;
    cl_ulong start, end;
} timed[EVENTS];
static size_t timed_count;

static struct {
    char name[64];
    cl_uint arguments;
} first_of_name[NAMES];

/* The kernel that a rewritten form with a name of its own is a form of. */
static const char *own_name(const char *name)
{
    static const char prefix[] = "restride_full_";
    return strncmp(name, prefix, strlen(prefix)) == 0 ? name + strlen(prefix) : name;
}

static cl_uint arguments_of_first(const char *name, cl_uint arguments)
{
    for (int i = 0; i < NAMES; i++) {
        if (first_of_name[i].name[0] == '\0') {
            snprintf(first_of_name[i].name, sizeof first_of_name[i].name, "%s", name);
            first_of_name[i].arguments = arguments;
        }
        if (strcmp(first_of_name[i].name, name) == 0)
            return first_of_name[i].arguments;
    }
    return arguments;
}

/* 0 when no time is made up for it. */
static cl_ulong nanoseconds_of(const char *name, cl_uint arguments)
{
    const char *times = getenv("MADE_UP_TIMES");
    size_t length = strlen(name);
    while (times != NULL && *times != '\0') {
        double first, others;
        times += strspn(times, ", ");
        if (strncmp(times, name, length) == 0 && times[length] == ' ' &&
            sscanf(times + length, "%lf %lf", &first, &others) == 2)
            return (cl_ulong)(1000 *
                              (arguments > arguments_of_first(name, arguments) ? others : first));
        times += strcspn(times, ",");
    }
    return 0;
}

void take_time(cl_event event, cl_kernel kernel)
{
    char name[64] = "";
    cl_uint arguments = 0;
    below->clGetKernelInfo(kernel, CL_KERNEL_FUNCTION_NAME, sizeof name, name, NULL);
    below->clGetKernelInfo(kernel, CL_KERNEL_NUM_ARGS, sizeof arguments, &arguments, NULL);
    cl_ulong taken = nanoseconds_of(own_name(name), arguments);
    if (&made_up_nanoseconds != NULL)
        atomic_fetch_add(&made_up_nanoseconds, taken);
    pthread_mutex_lock(&mutex);
    if (event != NULL && taken > 0) {
        timed[timed_count % EVENTS].event = event;
        timed[timed_count % EVENTS].start = clock_now;
        timed[timed_count++ % EVENTS].end = clock_now + taken;
    }
    clock_now += taken;
    pthread_mutex_unlock(&mutex);
}

/* The program's own kernels are made before their rewritten forms. */
static cl_kernel CL_API_CALL create_kernel(cl_program program, const char *name, cl_int *error)
{
    cl_uint arguments = 0;
    cl_kernel kernel = below->clCreateKernel(program, name, error);
    if (kernel != NULL && below->clGetKernelInfo(kernel, CL_KERNEL_NUM_ARGS, sizeof arguments,
                                                 &arguments, NULL) == CL_SUCCESS) {
        pthread_mutex_lock(&mutex);
        arguments_of_first(own_name(name), arguments);
        pthread_mutex_unlock(&mutex);
    }
    return kernel;
}

static cl_int CL_API_CALL get_profiling_info(cl_event event, cl_profiling_info name,
                                             size_t value_size, void *value, size_t *value_size_ret)
{
    cl_int error = below->clGetEventProfilingInfo(event, name, value_size, value, value_size_ret);
    if (error != CL_SUCCESS || value == NULL)
        return error;
    cl_command_type type = 0;
    below->clGetEventInfo(event, CL_EVENT_COMMAND_TYPE, sizeof type, &type, NULL);
    if (type == CL_COMMAND_MARKER) /* NVIDIA's driver does not always know */
        *(cl_ulong *)value = 0;
    pthread_mutex_lock(&mutex);
    for (size_t i = timed_count; i-- > 0 && i + EVENTS > timed_count;)
        if (timed[i % EVENTS].event == event) {
            cl_ulong *time = value;
            if (name == CL_PROFILING_COMMAND_END)
                *time = timed[i % EVENTS].end;
            else
                *time = timed[i % EVENTS].start;
            break;
        }
    pthread_mutex_unlock(&mutex);
    return error;
}

void add_times(cl_icd_dispatch *table)
{
    table->clCreateKernel = create_kernel;
    table->clGetEventProfilingInfo = get_profiling_info;
}
