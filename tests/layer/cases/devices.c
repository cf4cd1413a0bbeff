/* Cases of several devices, contexts and threads, and of how a program begins and ends. */
#include "cases.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <time.h>

enum { THREADS = 4 };

/* One of the contexts: its devices with a queue each, a program, and its own cells. */
typedef struct {
    cl_context context;
    cl_device_id devices[2];
    cl_command_queue queues[2];
    cl_mem cells;
    cl_kernel add;
    int added;
} place;

static place make_place(int device_count, const cl_device_id *devices)
{
    static cell initial[CELLS];
    const char *text = cell_source;
    cl_int error;
    place p = {.added = 0};
    p.context = clCreateContext(NULL, (cl_uint)device_count, devices, NULL, NULL, &error);
    done(error, "clCreateContext");
    for (int i = 0; i < device_count; i++) {
        p.devices[i] = devices[i];
        p.queues[i] = clCreateCommandQueueWithProperties(p.context, devices[i], NULL, &error);
        done(error, "clCreateCommandQueueWithProperties");
    }
    for (int i = 0; i < CELLS; i++)
        initial[i] = (cell){i, (float)i, {i * 3, i * 5}};
    p.cells = clCreateBuffer(p.context, CL_MEM_READ_WRITE | CL_MEM_COPY_HOST_PTR, sizeof initial,
                             initial, &error);
    done(error, "clCreateBuffer");
    cl_program own = clCreateProgramWithSource(p.context, 1, &text, NULL, &error);
    done(error, "clCreateProgramWithSource");
    done(clBuildProgram(own, 0, NULL, "", NULL, NULL), "clBuildProgram");
    p.add = make_kernel(own, "add", p.cells);
    return p;
}

/* Adds on one device after the other, the second waiting for the first. */
static void add_in_turns(place *p, int device_count)
{
    cl_event before = NULL;
    for (int i = 0; i < device_count; i++) {
        cl_event event;
        launch_on(p->queues[i], p->add, before, &event);
        done(clFlush(p->queues[i]), "clFlush");
        before = event;
        p->added++;
    }
    done(clWaitForEvents(1, &before), "clWaitForEvents");
}

static void compare_place(const place *p, int on)
{
    static cell got[CELLS];
    done(clEnqueueReadBuffer(p->queues[on], p->cells, CL_TRUE, 0, sizeof got, got, 0, NULL, NULL),
         "clEnqueueReadBuffer");
    for (int i = 0; i < CELLS; i++)
        check(got[i].a == i + p->added && got[i].c[1] == i * 5, "bytes differ");
}

/* A context with two devices, whose program is built for both at once, and one for each of them. */
void case_several_devices(void)
{
    cl_device_id devices[2];
    cl_uint count;
    done(clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 2, devices, &count), "clGetDeviceIDs");
    if (count < 2)
        exit(LACKS);
    place both = make_place(2, devices);
    place second = make_place(1, devices + 1);
    place first = make_place(1, devices);
    for (int round = 0; round < 3; round++) {
        add_in_turns(&both, 2);
        add_in_turns(&first, 1);
        add_in_turns(&second, 1);
        compare_place(&both, round % 2);
        compare_place(&second, 0);
        add_in_turns(&both, 2);
    }
    compare_place(&both, 0);
    compare_place(&first, 0);
    compare_place(&second, 0);
}

/* A buffer in the layout that a launch wants is used as it is, whichever device has converted it.
 * With ONE_DEVICE all is on the first. */
void case_in_place(void)
{
    cl_device_id devices[2];
    cl_uint count;
    done(clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 2, devices, &count), "clGetDeviceIDs");
    if (count < 2)
        exit(LACKS);
    place both = make_place(2, devices);
    add_in_turns(&both, 1);
    if (getenv("ONE_DEVICE") != NULL)
        both.queues[1] = both.queues[0];
    add_in_turns(&both, 2);
    compare_place(&both, 0);
}

/* Two devices whose compilers may predefine another macro each: what the program tests decides what
 * it does, so no rewritten source serves both then. */
void case_unequal_devices(void)
{
    static const char *const text =
        "typedef struct { int a; float b; int c[2]; } cell;\n"
        "__kernel void add(__global cell *cells)\n"
        "{\n#ifdef MADE_UP_MACRO\n    cells[get_global_id(0)].a += 1;\n#else\n"
        "    cells[get_global_id(0)].a += 2;\n#endif\n}\n";
    const size_t count = CELLS;
    cl_device_id devices[2];
    cl_uint present;
    cl_int error;
    done(clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 2, devices, &present), "clGetDeviceIDs");
    if (present < 2)
        exit(LACKS);
    context = clCreateContext(NULL, 2, devices, NULL, NULL, &error);
    done(error, "clCreateContext");
    queue = clCreateCommandQueueWithProperties(context, devices[1], NULL, &error);
    done(error, "clCreateCommandQueueWithProperties");
    cells = make_cells(CL_MEM_COPY_HOST_PTR, expected);
    cl_program made = clCreateProgramWithSource(context, 1, (const char **)&text, NULL, &error);
    done(error, "clCreateProgramWithSource");
    done(clBuildProgram(made, 2, devices, "", NULL, NULL), "clBuildProgram");
    cl_kernel add = make_kernel(made, "add", cells);
    done(clEnqueueNDRangeKernel(queue, add, 1, NULL, &count, NULL, 0, NULL, NULL), "launch");
    for (int i = 0; i < CELLS; i++)
        expected[i].a += getenv("MADE_UP_MACRO") != NULL ? 1 : 2;
    compare(cells);
}

/* ---- a thread that ends while another builds ---- */

static struct {
    pthread_t thread;
    atomic_bool has_built, may_end, is_awaited;
    cl_program programs[2];
} ending;

/* By the driver, in a build. */
static void CL_CALLBACK await_thread(const char *text, const void *more, size_t size, void *data)
{
    (void)text, (void)more, (void)size, (void)data;
    if (!atomic_exchange(&ending.is_awaited, false))
        return;
    atomic_store(&ending.may_end, true);
    pthread_join(ending.thread, NULL);
}

static void *build_and_end(void *unused)
{
    clReleaseKernel(make_kernel(ending.programs[0], "add", cells));
    atomic_store(&ending.has_built, true);
    while (!atomic_load(&ending.may_end))
        nanosleep(&(struct timespec){0, 1000000}, NULL);
    return unused;
}

/* The second build lasts until the thread has ended that began the first. */
void case_thread_ends(void)
{
    const char *text = cell_source;
    cl_int error;
    context = clCreateContext(NULL, 1, &device, await_thread, NULL, &error);
    done(error, "clCreateContext");
    queue = clCreateCommandQueueWithProperties(context, device, NULL, &error);
    done(error, "clCreateCommandQueueWithProperties");
    cells = make_cells(CL_MEM_COPY_HOST_PTR, expected);
    for (int i = 0; i < 2; i++) {
        ending.programs[i] = clCreateProgramWithSource(context, 1, &text, NULL, &error);
        done(error, "clCreateProgramWithSource");
        done(clBuildProgram(ending.programs[i], 1, &device, "", NULL, NULL), "clBuildProgram");
    }
    check(pthread_create(&ending.thread, NULL, build_and_end, NULL) == 0, "no thread");
    while (!atomic_load(&ending.has_built))
        nanosleep(&(struct timespec){0, 1000000}, NULL);
    atomic_store(&ending.is_awaited, true);
    const time_t start = time(NULL);
    cl_kernel add = make_kernel(ending.programs[1], "add", cells);
    check(time(NULL) - start < 30, "the thread's end has waited for the build");
    check(atomic_load(&ending.may_end), "nothing was built");
    add_once(add);
    compare(cells);
}

/* A program that asks for a GPU and nothing else. */
void case_gpu_only(void)
{
    cl_device_id found;
    cl_uint count;
    cl_int error;
    done(clGetDeviceIDs(platform, CL_DEVICE_TYPE_GPU, 1, &found, &count), "clGetDeviceIDs");
    check(count >= 1, "no device");
    check(clGetDeviceIDs(platform, 0, 1, &found, &count) != CL_SUCCESS, "devices of no type");
    clCreateContextFromType(NULL, 0, NULL, NULL, &error);
    check(error != CL_SUCCESS, "a context of no type");
    cl_context made = clCreateContextFromType(NULL, CL_DEVICE_TYPE_GPU, NULL, NULL, &error);
    done(error, "clCreateContextFromType");
    clReleaseContext(made);
    add_once(make_kernel(program, "add", cells));
    compare(cells);
}

/* Functions by pointer, as programs that load extensions get them. */
void case_extension(void)
{
    add_once(make_kernel(program, "add", cells));
    clGetExtensionFunctionAddressForPlatform(platform, "clGetPlatformInfo");
    add_once(make_kernel(program, "add", cells));
    clGetExtensionFunctionAddressForPlatform(platform, "clEnqueueSomethingEXT");
    add_once(make_kernel(program, "add", cells));
    compare(cells);
}

/* The program ends without releasing anything, with commands that were never waited for. */
void case_leak(void)
{
    cl_kernel add = make_kernel(program, "add", cells);
    add_once(add);
    compare(cells);
    make_cells(CL_MEM_READ_WRITE, NULL);
    launch_on(queue, add, NULL, NULL);
}

static void *work(void *data)
{
    cl_int error;
    static cell got[THREADS][CELLS];
    const int me = (int)(intptr_t)data;
    cl_command_queue own = clCreateCommandQueueWithProperties(context, device, NULL, &error);
    cl_mem buffer = clCreateBuffer(context, CL_MEM_READ_WRITE | CL_MEM_COPY_HOST_PTR,
                                   sizeof expected, expected, &error);
    cl_kernel add = make_kernel(program, "add", buffer);
    for (int i = 0; i < 50; i++) {
        launch_on(own, add, NULL, NULL);
        if (i % 7 == me)
            clEnqueueReadBuffer(own, buffer, CL_TRUE, 0, sizeof got[me], got[me], 0, NULL, NULL);
    }
    clEnqueueReadBuffer(own, buffer, CL_TRUE, 0, sizeof got[me], got[me], 0, NULL, NULL);
    for (int i = 0; i < CELLS; i++)
        if (got[me][i].a != i + 50 || got[me][i].c[1] != i * 5)
            return data == NULL ? "" : data;
    clReleaseKernel(add);
    clReleaseMemObject(buffer);
    clReleaseCommandQueue(own);
    return NULL;
}

void case_threads(void)
{
    pthread_t running[THREADS];
    for (int i = 0; i < THREADS; i++)
        check(pthread_create(&running[i], NULL, work, (void *)(intptr_t)i) == 0, "no thread");
    for (int i = 0; i < THREADS; i++) {
        void *wrong;
        pthread_join(running[i], &wrong);
        check(wrong == NULL, "bytes of a thread differ");
    }
}
