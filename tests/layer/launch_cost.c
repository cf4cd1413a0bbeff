/*
 * An OpenCL program that launches a kernel on buffers of structures over and over and tells what
 * the host takes for a launch, in nanoseconds, and for locking and unlocking a mutex, to compare
 * with: the least of many batches each, so that what a machine does besides does not count. For a
 * driver that does nothing at a launch (made_up_gpu.h). The third to fifth number are calls of
 * pthread_mutex_lock(), of malloc() and its like, and of clock_gettime() in all launches of the
 * last batch, 1000. The sixth is the seconds that clCreateKernel() took.
 *
 * usage: launch_cost [BATCHES [ARRAYS [FLOATS]]], so many arrays of structures of so many floats,
 * 2 of 64 if not given
 */
#include <CL/cl.h>
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { ITEMS = 1024, LAUNCHES = 1000, MOST_ARRAYS = 30 };

/* ---- calls that are counted, of all libraries ---- */

static unsigned locks, allocations, clocks;

#ifdef COUNT_CALLS
/* The C library's function of that name. */
static void find(const char *name, void *function)
{
    void *const found = dlsym(RTLD_NEXT, name);
    memcpy(function, &found, sizeof found);
}

int pthread_mutex_lock(pthread_mutex_t *mutex)
{
    static int (*function)(pthread_mutex_t *);
    if (function == NULL)
        find("pthread_mutex_lock", &function);
    locks++;
    return function(mutex);
}

int clock_gettime(clockid_t clock, struct timespec *time)
{
    static int (*function)(clockid_t, struct timespec *);
    if (function == NULL)
        find("clock_gettime", &function);
    clocks++;
    return function(clock, time);
}

extern void *__libc_malloc(size_t size); /* dlsym() may allocate */ /* NOLINT */
extern void *__libc_calloc(size_t count, size_t size);              /* NOLINT */
extern void *__libc_realloc(void *old, size_t size);                /* NOLINT */

void *malloc(size_t size)
{
    allocations++;
    return __libc_malloc(size);
}

void *calloc(size_t count, size_t size)
{
    allocations++;
    return __libc_calloc(count, size);
}

void *realloc(void *old, size_t size)
{
    allocations++;
    return __libc_realloc(old, size);
}

#endif

/* ---- the program ---- */

/* Adds up all members of all arrays. */
static const char *make_source(int arrays, int floats)
{
    static char text[4096];
    size_t end = (size_t)sprintf(text,
                                 "typedef struct { float f[%d]; } item;\n"
                                 "__kernel void grow(__global float *sums, float by",
                                 floats);
    for (int i = 0; i < arrays; i++)
        end += (size_t)sprintf(text + end, ", __global const item *a%d", i);
    end += (size_t)sprintf(text + end,
                           ")\n{ size_t i = get_global_id(0); float sum = 0;\n"
                           "  for (int k = 0; k < %d; k++)\n    sum += by",
                           floats);
    for (int i = 0; i < arrays; i++)
        end += (size_t)sprintf(text + end, " + a%d[i].f[k]", i);
    sprintf(text + end, ";\n  sums[i] = sum; }\n");
    return text;
}

static void check(cl_int error, const char *what)
{
    if (error == CL_SUCCESS)
        return;
    fprintf(stderr, "%s failed (%d)\n", what, error);
    exit(1);
}

static double seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

static void launch(cl_command_queue queue, cl_kernel kernel)
{
    static const size_t count = ITEMS;
    check(clEnqueueNDRangeKernel(queue, kernel, 1, NULL, &count, NULL, 0, NULL, NULL),
          "clEnqueueNDRangeKernel");
}

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

static void lock_and_unlock(void)
{
    pthread_mutex_lock(&mutex);
    pthread_mutex_unlock(&mutex);
}

int main(int argc, char **argv)
{
    const int batches = argc > 1 ? atoi(argv[1]) : 200;
    const int arrays = argc > 2 ? atoi(argv[2]) : 2;
    const int floats = argc > 3 ? atoi(argv[3]) : 64;
    const float by = 2;
    const char *text = make_source(arrays, floats);
    unsigned counts[3] = {0};
    cl_platform_id platform;
    cl_device_id device;
    cl_mem buffers[1 + MOST_ARRAYS];
    cl_int error;
    double least = 1, least_of_lock = 1;
    check(clGetPlatformIDs(1, &platform, NULL), "clGetPlatformIDs");
    check(clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 1, &device, NULL), "clGetDeviceIDs");
    cl_context context = clCreateContext(NULL, 1, &device, NULL, NULL, &error);
    cl_command_queue queue = clCreateCommandQueue(context, device, 0, &error);
    cl_program program = clCreateProgramWithSource(context, 1, &text, NULL, &error);
    check(clBuildProgram(program, 1, &device, "", NULL, NULL), "clBuildProgram");
    const double before_kernel = seconds();
    cl_kernel kernel = clCreateKernel(program, "grow", &error);
    const double to_make_kernel = seconds() - before_kernel;
    for (cl_uint i = 0; i <= (cl_uint)arrays; i++) {
        buffers[i] = clCreateBuffer(context, CL_MEM_READ_WRITE,
                                    ITEMS * (size_t)floats * sizeof(float), NULL, &error);
        check(error, "clCreateBuffer");
        check(clSetKernelArg(kernel, i > 0 ? i + 1 : 0, sizeof buffers[i], &buffers[i]),
              "clSetKernelArg");
    }
    check(clSetKernelArg(kernel, 1, sizeof by, &by), "clSetKernelArg");
    for (int batch = 0; batch < batches; batch++) {
        double start = seconds();
        locks = allocations = clocks = 0;
        for (int i = 0; i < LAUNCHES; i++)
            launch(queue, kernel);
        counts[0] = locks;
        counts[1] = allocations;
        counts[2] = clocks;
        const double taken = (seconds() - start) / LAUNCHES;
        check(clFinish(queue), "clFinish");
        least = taken < least ? taken : least;
        start = seconds();
        for (int i = 0; i < LAUNCHES; i++)
            lock_and_unlock();
        const double taken_by_lock = (seconds() - start) / LAUNCHES;
        least_of_lock = taken_by_lock < least_of_lock ? taken_by_lock : least_of_lock;
    }
    printf("%.1f %.1f %u %u %u %.6f\n", least * 1e9, least_of_lock * 1e9, counts[0], counts[1],
           counts[2], to_make_kernel);
    for (int i = 0; i <= arrays; i++)
        clReleaseMemObject(buffers[i]);
    clReleaseKernel(kernel);
    clReleaseProgram(program);
    clReleaseCommandQueue(queue);
    clReleaseContext(context);
    return 0;
}
