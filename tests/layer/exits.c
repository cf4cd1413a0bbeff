/*
 * An OpenCL program that ends by exit() while its other threads launch kernels. All of them were
 * launched before, so that the driver has nothing to compile for the program itself any more.
 *
 * usage: exits WHO MICROSECONDS; exit status 0. The threads have launched for so long when the
 * program ends, by WHO:
 *   main    the main thread
 *   other   a thread that has made no call of OpenCL
 *   joined  the main thread; a function that exit() calls stops the threads and waits for them
 */
#include <CL/cl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { THREADS = 4, FIELDS = 16 };

static const char source[] =
    "typedef struct { float f[16]; } item;\n"
    "__kernel void grow(__global item *items)\n"
    "{ for (int k = 0; k < 16; k++) items[get_global_id(0)].f[k] += 1; }\n"
    "typedef struct { int a; float b; int c[6]; } cell;\n"
    "__kernel void add(__global cell *cells) { cells[get_global_id(0)].a += 1; }\n"
    "__kernel void warm(__global int *any) { any[get_global_id(0)] = 1; }\n";

static cl_context context;
static cl_device_id device;
static cl_program program;
static const size_t records = 4096;
static pthread_barrier_t all_launch;
static pthread_t threads[THREADS];
static atomic_bool is_stopped;

static void check(int right, const char *what)
{
    if (right)
        return;
    fprintf(stderr, "%s\n", what);
    _exit(1);
}

static void launch(cl_command_queue queue, cl_kernel kernel)
{
    check(clEnqueueNDRangeKernel(queue, kernel, 1, NULL, &records, NULL, 0, NULL, NULL) ==
              CL_SUCCESS,
          "a launch was refused");
}

/* Each thread has a queue, kernels and buffers of its own. */
static void *launch_all_the_time(void *data)
{
    const size_t bytes = records * FIELDS * sizeof(float);
    cl_int error;
    cl_command_queue queue = clCreateCommandQueue(context, device, 0, &error);
    check(error == CL_SUCCESS, "no queue");
    cl_mem buffer = clCreateBuffer(context, CL_MEM_READ_WRITE, bytes, NULL, &error);
    check(error == CL_SUCCESS, "no buffer");
    cl_kernel kernels[] = {clCreateKernel(program, "grow", &error),
                           clCreateKernel(program, "add", NULL)};
    check(error == CL_SUCCESS && kernels[1] != NULL, "no kernel");
    for (int i = 0; i < 2; i++)
        clSetKernelArg(kernels[i], 0, sizeof buffer, &buffer);
    pthread_barrier_wait(&all_launch);
    for (unsigned i = data != NULL; !is_stopped; i++) {
        launch(queue, kernels[i % 2]);
        if (i % 4 == 3)
            clFinish(queue);
    }
    return NULL;
}

/* The driver compiles what the threads are going to launch, also in the layers below the program.
 */
static void compile_all(void)
{
    static const char *const names[] = {"grow", "add"};
    const size_t bytes = records * FIELDS * sizeof(float);
    const int zero = 0;
    cl_int error;
    cl_command_queue queue = clCreateCommandQueue(context, device, 0, &error);
    cl_mem buffer = clCreateBuffer(context, CL_MEM_READ_WRITE, bytes, NULL, &error);
    check(error == CL_SUCCESS, "no buffer");
    for (int i = 0; i < 2; i++) {
        cl_kernel kernel = clCreateKernel(program, names[i], &error);
        check(error == CL_SUCCESS, "no kernel");
        clSetKernelArg(kernel, 0, sizeof buffer, &buffer);
        launch(queue, kernel);
        check(clEnqueueFillBuffer(queue, buffer, &zero, sizeof zero, 0, bytes / 2 + bytes / 4, 0,
                                  NULL, NULL) == CL_SUCCESS,
              "a fill was refused");
        clFinish(queue);
        clReleaseKernel(kernel);
    }
}

static void stop_all(void)
{
    is_stopped = 1;
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
}

static void *end(void *unused)
{
    (void)unused;
    exit(0);
}

static void set_up(void)
{
    const char *text = source;
    cl_platform_id platform;
    cl_int error;
    check(clGetPlatformIDs(1, &platform, NULL) == CL_SUCCESS, "no platform");
    check(clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 1, &device, NULL) == CL_SUCCESS,
          "no device");
    context = clCreateContext(NULL, 1, &device, NULL, NULL, &error);
    check(error == CL_SUCCESS, "no context");
    program = clCreateProgramWithSource(context, 1, &text, NULL, &error);
    check(clBuildProgram(program, 1, &device, NULL, NULL, NULL) == CL_SUCCESS,
          "the program could not be built");
    compile_all();
}

int main(int argc, char **argv)
{
    const char *who = argc > 2 ? argv[1] : "main";
    const long delay = argc > 2 ? atol(argv[2]) : 0;
    pthread_t other;
    if (strcmp(who, "joined") == 0)
        atexit(stop_all);
    set_up();
    pthread_barrier_init(&all_launch, NULL, THREADS + 1);
    for (int i = 0; i < THREADS; i++)
        check(pthread_create(&threads[i], NULL, launch_all_the_time,
                             i % 2 == 0 ? NULL : &program) == 0,
              "no thread");
    pthread_barrier_wait(&all_launch);
    nanosleep(&(struct timespec){delay / 1000000, delay % 1000000 * 1000}, NULL);
    if (strcmp(who, "other") != 0)
        exit(0);
    check(pthread_create(&other, NULL, end, NULL) == 0, "no thread");
    pthread_join(other, NULL);
    return 1;
}
