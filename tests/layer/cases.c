/*
 * An OpenCL program with one case for each unusual way to use the interface. Each knows its result;
 * test_layer.c says which of them must run in another layout.
 *
 * usage: cases NAME; exit status 0 when the result is right, 77 when the device lacks something.
 */
#include <CL/cl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

typedef struct {
    int a;
    float b;
    int c[2];
} cell;

enum { CELLS = 1000, LACKS = 77, THREADS = 4 };

static const char source[] =
    "typedef struct { int a; float b; int c[2]; } cell;\n"
    "__kernel void add(__global cell *cells) { cells[get_global_id(0)].a += 1; }\n"
    "__kernel void twice(__global cell *cells) { cells[get_global_id(0)].c[1] *= 2; }\n";

static cl_platform_id platform;
static cl_device_id device;
static cl_context context;
static cl_command_queue queue;
static cl_program program;
static cl_mem cells;
static cell expected[CELLS];

static void check(int right, const char *what)
{
    if (right)
        return;
    fprintf(stderr, "%s\n", what);
    exit(1);
}

static void done(cl_int error, const char *what)
{
    if (error != CL_SUCCESS)
        fprintf(stderr, "error %d: ", error);
    check(error == CL_SUCCESS, what);
}

static cl_mem make_cells(cl_mem_flags flags, void *host)
{
    cl_int error;
    cl_mem made = clCreateBuffer(context, flags, sizeof expected, host, &error);
    done(error, "clCreateBuffer");
    return made;
}

static cl_kernel make_kernel(cl_program from, const char *name, cl_mem buffer)
{
    cl_int error;
    cl_kernel kernel = clCreateKernel(from, name, &error);
    done(error, "clCreateKernel");
    done(clSetKernelArg(kernel, 0, sizeof buffer, &buffer), "clSetKernelArg");
    return kernel;
}

static void build(void)
{
    const char *text = source;
    cl_int error;
    program = clCreateProgramWithSource(context, 1, &text, NULL, &error);
    done(error, "clCreateProgramWithSource");
    done(clBuildProgram(program, 1, &device, "-cl-kernel-arg-info", NULL, NULL), "clBuildProgram");
}

static void set_up(void)
{
    cl_int error;
    done(clGetPlatformIDs(1, &platform, NULL), "clGetPlatformIDs");
    done(clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 1, &device, NULL), "clGetDeviceIDs");
    context = clCreateContext(NULL, 1, &device, NULL, NULL, &error);
    done(error, "clCreateContext");
    queue = clCreateCommandQueueWithProperties(context, device, NULL, &error);
    done(error, "clCreateCommandQueueWithProperties");
    for (int i = 0; i < CELLS; i++)
        expected[i] = (cell){i, (float)i, {i * 3, i * 5}};
    cells = make_cells(CL_MEM_READ_WRITE | CL_MEM_COPY_HOST_PTR, expected);
    build();
}

static void launch_on(cl_command_queue on, cl_kernel kernel, cl_event wait, cl_event *event)
{
    size_t count = CELLS;
    done(clEnqueueNDRangeKernel(on, kernel, 1, NULL, &count, NULL, wait != NULL,
                                wait != NULL ? &wait : NULL, event),
         "clEnqueueNDRangeKernel");
}

static void add_once(cl_kernel kernel)
{
    launch_on(queue, kernel, NULL, NULL);
    for (int i = 0; i < CELLS; i++)
        expected[i].a++;
}

static int as_expected(const void *bytes)
{
    const void *const wanted = expected;
    return memcmp(bytes, wanted, sizeof expected) == 0;
}

static void compare(cl_mem buffer)
{
    static cell got[CELLS];
    done(clEnqueueReadBuffer(queue, buffer, CL_TRUE, 0, sizeof got, got, 0, NULL, NULL),
         "clEnqueueReadBuffer");
    check(as_expected(got), "bytes differ");
}

/* ---- the cases ---- */

/* A user event holds a launch back; when that is over, launches are as before. */
static void user_event(void)
{
    cl_int error;
    cl_kernel add = make_kernel(program, "add", cells);
    add_once(add);
    cl_event user = clCreateUserEvent(context, &error);
    done(error, "clCreateUserEvent");
    launch_on(queue, add, user, NULL);
    done(clSetUserEventStatus(user, CL_COMPLETE), "clSetUserEventStatus");
    for (int i = 0; i < CELLS; i++)
        expected[i].a++;
    done(clFinish(queue), "clFinish");
    add_once(add);
    add_once(add);
    compare(cells);
    done(clReleaseEvent(user), "clReleaseEvent");
}

/* What was held back is still under way when the next launch comes: nothing is converted then. */
static void held_and_slow(void)
{
    static const char *const text =
        "__kernel void work(__global int *out)\n"
        "{ uint s = get_global_id(0); for (uint i = 0; i < (1u << 20); i++) s = s * 1664525u + i;\n"
        "  out[get_global_id(0)] = (int)s; }\n";
    cl_int error;
    cl_kernel add = make_kernel(program, "add", cells);
    cl_mem out = make_cells(CL_MEM_READ_WRITE, NULL);
    cl_program slow = clCreateProgramWithSource(context, 1, (const char **)&text, NULL, &error);
    done(error, "clCreateProgramWithSource");
    done(clBuildProgram(slow, 1, &device, "", NULL, NULL), "clBuildProgram");
    cl_kernel work = make_kernel(slow, "work", out);
    cl_event user = clCreateUserEvent(context, &error);
    done(error, "clCreateUserEvent");
    launch_on(queue, work, user, NULL);
    done(clSetUserEventStatus(user, CL_COMPLETE), "clSetUserEventStatus");
    add_once(add);
    done(clFinish(queue), "clFinish");
    add_once(add);
    compare(cells);
    done(clReleaseEvent(user), "clReleaseEvent");
}

/* An event outlives its queue: times that the program did not ask for stay hidden. */
static void released_queue(void)
{
    cl_event event;
    cl_ulong time;
    cl_kernel add = make_kernel(program, "add", cells);
    launch_on(queue, add, NULL, &event);
    done(clWaitForEvents(1, &event), "clWaitForEvents");
    done(clReleaseCommandQueue(queue), "clReleaseCommandQueue");
    check(clGetEventProfilingInfo(event, CL_PROFILING_COMMAND_END, sizeof time, &time, NULL) ==
              CL_PROFILING_INFO_NOT_AVAILABLE,
          "an event of a queue without profiling has times");
}

static void profiling(void)
{
    static const cl_queue_properties list[] = {CL_QUEUE_PROPERTIES, CL_QUEUE_PROFILING_ENABLE, 0};
    cl_int error;
    cl_event event;
    cl_ulong times[4];
    cl_command_type type;
    cl_command_queue timed = clCreateCommandQueueWithProperties(context, device, list, &error);
    done(error, "clCreateCommandQueueWithProperties");
    cl_kernel add = make_kernel(program, "add", cells);
    launch_on(timed, add, NULL, &event);
    done(clWaitForEvents(1, &event), "clWaitForEvents");
    for (cl_profiling_info i = 0; i < 4; i++)
        done(clGetEventProfilingInfo(event, CL_PROFILING_COMMAND_QUEUED + i, sizeof times[i],
                                     &times[i], NULL),
             "clGetEventProfilingInfo");
    check(times[0] <= times[1] && times[1] <= times[2] && times[2] <= times[3],
          "times are out of order");
    done(clGetEventInfo(event, CL_EVENT_COMMAND_TYPE, sizeof type, &type, NULL), "clGetEventInfo");
    check(type == CL_COMMAND_NDRANGE_KERNEL, "the event is not the kernel's");
}

static void kernels_in_program(void)
{
    cl_kernel kernels[2];
    cl_uint count;
    done(clCreateKernelsInProgram(program, 2, kernels, &count), "clCreateKernelsInProgram");
    check(count == 2, "another number of kernels");
    for (int k = 0; k < 2; k++) {
        char name[16];
        done(clGetKernelInfo(kernels[k], CL_KERNEL_FUNCTION_NAME, sizeof name, name, NULL),
             "clGetKernelInfo");
        done(clSetKernelArg(kernels[k], 0, sizeof cells, &cells), "clSetKernelArg");
        launch_on(queue, kernels[k], NULL, NULL);
        for (int i = 0; i < CELLS; i++)
            if (strcmp(name, "add") == 0)
                expected[i].a++;
            else
                expected[i].c[1] *= 2;
    }
    compare(cells);
}

static void clone(void)
{
    cl_int error;
    cl_kernel add = make_kernel(program, "add", cells);
    cl_kernel copy = clCloneKernel(add, &error);
    if (error == CL_INVALID_OPERATION)
        exit(LACKS);
    done(error, "clCloneKernel");
    cl_mem other = make_cells(CL_MEM_READ_WRITE | CL_MEM_COPY_HOST_PTR, expected);
    done(clSetKernelArg(add, 0, sizeof other, &other), "clSetKernelArg");
    launch_on(queue, add, NULL, NULL);
    add_once(copy);
    compare(cells);
    compare(other);
}

enum { VIEW_FIRST = 256, VIEW_CELLS = 64 }; /* cells, at an offset that every device allows */

static cl_mem make_view(void)
{
    const cl_buffer_region region = {VIEW_FIRST * sizeof(cell), VIEW_CELLS * sizeof(cell)};
    cl_int error;
    cl_mem view = clCreateSubBuffer(cells, 0, CL_BUFFER_CREATE_TYPE_REGION, &region, &error);
    done(error, "clCreateSubBuffer");
    return view;
}

static void compare_view(cl_mem view)
{
    cell got[VIEW_CELLS];
    done(clEnqueueReadBuffer(queue, view, CL_TRUE, 0, sizeof got, got, 0, NULL, NULL),
         "clEnqueueReadBuffer");
    const void *const bytes = got, *const wanted = expected + VIEW_FIRST;
    check(memcmp(bytes, wanted, sizeof got) == 0, "bytes of the sub-buffer differ");
}

static void write_view(cl_mem view)
{
    static const cell two[] = {{-1, 1.5f, {-2, -3}}, {-4, 2.5f, {-5, -6}}};
    done(clEnqueueWriteBuffer(queue, view, CL_FALSE, 3 * sizeof(cell), sizeof two, two, 0, NULL,
                              NULL),
         "clEnqueueWriteBuffer");
    memcpy(expected + VIEW_FIRST + 3, two, sizeof two);
}

static void fill_view(cl_mem view)
{
    const int one = 77;
    const size_t offset = 12 * sizeof one, bytes = 15 * sizeof one;
    done(clEnqueueFillBuffer(queue, view, &one, sizeof one, offset, bytes, 0, NULL, NULL),
         "clEnqueueFillBuffer");
    for (size_t i = 0; i < bytes / sizeof one; i++)
        memcpy((char *)(expected + VIEW_FIRST) + offset + i * sizeof one, &one, sizeof one);
}

static void map_view(cl_mem view, cl_kernel add)
{
    cl_int error;
    cell *mapped = clEnqueueMapBuffer(queue, view, CL_TRUE, CL_MAP_READ | CL_MAP_WRITE, 0,
                                      VIEW_CELLS * sizeof(cell), 0, NULL, NULL, &error);
    done(error, "clEnqueueMapBuffer");
    check(mapped[1].a == expected[VIEW_FIRST + 1].a, "a mapped cell differs");
    mapped[1].c[0] = expected[VIEW_FIRST + 1].c[0] = 4711;
    done(clEnqueueUnmapMemObject(queue, view, mapped, 0, NULL, NULL), "clEnqueueUnmapMemObject");
    add_once(add);
}

static void copy_view(cl_mem view)
{
    done(clEnqueueCopyBuffer(queue, view, cells, 2 * sizeof(cell), 0, 5 * sizeof(cell), 0, NULL,
                             NULL),
         "clEnqueueCopyBuffer");
    memcpy(expected, expected + VIEW_FIRST + 2, 5 * sizeof(cell));
}

static void add_in_view(cl_kernel kernel)
{
    size_t count = VIEW_CELLS;
    done(clEnqueueNDRangeKernel(queue, kernel, 1, NULL, &count, NULL, 0, NULL, NULL),
         "clEnqueueNDRangeKernel");
    for (int i = 0; i < VIEW_CELLS; i++)
        expected[VIEW_FIRST + i].a++;
}

/* A sub-buffer and its parent in turns: launches on the parent run in the other layout before and
 * after each use of the sub-buffer, and the sub-buffer outlives the program's hold on the parent.
 */
static void views(void)
{
    cl_kernel add = make_kernel(program, "add", cells);
    add_once(add);
    cl_mem view = make_view();
    cl_kernel add_view = make_kernel(program, "add", view);
    compare_view(view);
    write_view(view);
    add_once(add);
    compare_view(view);
    fill_view(view);
    add_once(add);
    map_view(view, add);
    copy_view(view);
    add_once(add);
    add_in_view(add_view);
    add_once(add);
    compare(cells);
    add_once(add);
    done(clRetainMemObject(view), "clRetainMemObject");
    done(clReleaseMemObject(view), "clReleaseMemObject");
    done(clReleaseMemObject(cells), "clReleaseMemObject");
    compare_view(view);
    add_in_view(add_view);
    compare_view(view);
    done(clReleaseMemObject(view), "clReleaseMemObject");
}

/* One kernel that gets a buffer and a part of it. */
static void view_beside_parent(void)
{
    const char *text = "typedef struct { int a; float b; int c[2]; } cell;\n"
                       "__kernel void take(__global cell *cells, __global const int *part) {\n"
                       "    int i = get_global_id(0);\n"
                       "    if (i < 256) cells[i].a = part[i % 64 * 4];\n"
                       "}\n";
    cl_int error;
    cl_program both = clCreateProgramWithSource(context, 1, &text, NULL, &error);
    done(error, "clCreateProgramWithSource");
    done(clBuildProgram(both, 1, &device, NULL, NULL, NULL), "clBuildProgram");
    cl_mem view = make_view();
    add_once(make_kernel(program, "add", cells));
    cl_kernel take = make_kernel(both, "take", cells);
    done(clSetKernelArg(take, 1, sizeof view, &view), "clSetKernelArg");
    launch_on(queue, take, NULL, NULL);
    for (int i = 0; i < VIEW_FIRST; i++)
        expected[i].a = expected[VIEW_FIRST + i % VIEW_CELLS].a;
    compare(cells);
}

/* ---- several devices and contexts ---- */

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
    const char *text = source;
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
static void several_devices(void)
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

/* Two devices whose compilers may predefine another macro each: what the program tests decides what
 * it does, so no rewritten source serves both then. */
static void unequal_devices(void)
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

/* The program sees its own source, arguments and counts. */
static void queries(void)
{
    char text[sizeof source + 1], name[16];
    cl_uint count;
    size_t size, kernels;
    cl_kernel add = make_kernel(program, "add", cells);
    add_once(add);
    done(clGetProgramInfo(program, CL_PROGRAM_SOURCE, sizeof text, text, &size),
         "clGetProgramInfo");
    check(size == sizeof source && strcmp(text, source) == 0, "another source");
    done(clGetProgramInfo(program, CL_PROGRAM_NUM_KERNELS, sizeof kernels, &kernels, NULL),
         "clGetProgramInfo");
    check(kernels == 2, "another number of kernels");
    done(clGetKernelArgInfo(add, 0, CL_KERNEL_ARG_TYPE_NAME, sizeof name, name, NULL),
         "clGetKernelArgInfo");
    check(strcmp(name, "cell*") == 0, "another type of the argument");
    check(clGetKernelArgInfo(add, 1, CL_KERNEL_ARG_TYPE_NAME, sizeof name, name, NULL) !=
              CL_SUCCESS,
          "the kernel has a second argument");
    done(clGetKernelInfo(add, CL_KERNEL_NUM_ARGS, sizeof count, &count, NULL), "clGetKernelInfo");
    check(count == 1, "another number of arguments");
    done(clGetKernelInfo(add, CL_KERNEL_REFERENCE_COUNT, sizeof count, &count, NULL),
         "clGetKernelInfo");
    check(count == 1, "another number of references");
    compare(cells);
}

static cl_program compile(const char *text)
{
    cl_int error;
    cl_program compiled = clCreateProgramWithSource(context, 1, &text, NULL, &error);
    done(error, "clCreateProgramWithSource");
    done(clCompileProgram(compiled, 1, &device, "", 0, NULL, NULL, NULL, NULL), "clCompileProgram");
    return compiled;
}

static void compile_and_link(void)
{
    cl_int error;
    cl_program compiled = compile(source);
    cl_program linked = clLinkProgram(context, 1, &device, "", 1, &compiled, NULL, NULL, &error);
    done(error, "clLinkProgram");
    add_once(make_kernel(linked, "add", cells));
    compare(cells);
}

static void link_two(void)
{
    cl_int error;
    cl_program parts[2] = {
        compile(source),
        compile("__kernel void nothing(__global int *a) { a[0] += 0; }\n"),
    };
    cl_program linked = clLinkProgram(context, 1, &device, "", 2, parts, NULL, NULL, &error);
    done(error, "clLinkProgram");
    add_once(make_kernel(linked, "add", cells));
    compare(cells);
}

static void binary(void)
{
    size_t size;
    cl_int error, status;
    done(clGetProgramInfo(program, CL_PROGRAM_BINARY_SIZES, sizeof size, &size, NULL),
         "clGetProgramInfo");
    unsigned char *bytes = malloc(size);
    done(clGetProgramInfo(program, CL_PROGRAM_BINARIES, sizeof bytes, &bytes, NULL),
         "clGetProgramInfo");
    cl_program again = clCreateProgramWithBinary(context, 1, &device, &size,
                                                 (const unsigned char **)&bytes, &status, &error);
    done(error, "clCreateProgramWithBinary");
    done(clBuildProgram(again, 1, &device, "", NULL, NULL), "clBuildProgram");
    add_once(make_kernel(program, "add", cells));
    add_once(make_kernel(again, "add", cells));
    add_once(make_kernel(program, "add", cells));
    compare(cells);
}

/* What it says depends on its options, which a program from its binary does not repeat. */
static const char *const step_source =
    "typedef struct { int a; float b; int c[2]; } cell;\n"
    "__kernel void add(__global cell *cells) { cells[get_global_id(0)].a += STEP; }\n";

/* A build that the driver refuses, for a command with a kernel of the program is not over yet,
 * leaves the program what it was. */
static void refused_build(void)
{
    cl_int error;
    cl_program made =
        clCreateProgramWithSource(context, 1, (const char **)&step_source, NULL, &error);
    done(error, "clCreateProgramWithSource");
    done(clBuildProgram(made, 1, &device, "-DSTEP=1", NULL, NULL), "clBuildProgram");
    cl_event user = clCreateUserEvent(context, &error);
    cl_kernel add = make_kernel(made, "add", cells);
    launch_on(queue, add, user, NULL);
    clReleaseKernel(add);
    error = clBuildProgram(made, 1, &device, "-DSTEP=3", NULL, NULL);
    done(clSetUserEventStatus(user, CL_COMPLETE), "clSetUserEventStatus");
    clFinish(queue);
    if (error == CL_SUCCESS)
        exit(LACKS);
    add = make_kernel(made, "add", cells);
    launch_on(queue, add, NULL, NULL);
    clReleaseKernel(add);
    clFinish(queue);
    for (int i = 0; i < CELLS; i++)
        expected[i].a += 2;
    compare(cells);
    for (int i = 0; i < 100 && error != CL_SUCCESS; i++) { /* until the command has let go of it */
        error = clBuildProgram(made, 1, &device, "-DSTEP=5", NULL, NULL);
        nanosleep(&(struct timespec){0, 10000000}, NULL);
    }
    done(error, "clBuildProgram");
    launch_on(queue, make_kernel(made, "add", cells), NULL, NULL);
    for (int i = 0; i < CELLS; i++)
        expected[i].a += 5;
    compare(cells);
}

static void CL_CALLBACK make_added(cl_program made, void *kernel)
{
    atomic_store((_Atomic(cl_kernel) *)kernel, make_kernel(made, "add", cells));
}

/* The kernel is made by the function that the driver calls when the program is built. */
static void notified_build(void)
{
    cl_int error;
    _Atomic(cl_kernel) kernel = NULL;
    cl_program made =
        clCreateProgramWithSource(context, 1, (const char **)&step_source, NULL, &error);
    done(error, "clCreateProgramWithSource");
    done(clBuildProgram(made, 1, &device, "-DSTEP=1", make_added, (void *)&kernel),
         "clBuildProgram");
    for (int i = 0; i < 3000 && atomic_load(&kernel) == NULL; i++)
        nanosleep(&(struct timespec){0, 10000000}, NULL);
    check(atomic_load(&kernel) != NULL, "no notice");
    add_once(kernel);
    compare(cells);
}

/* The same without a structure: nothing to rewrite, and nothing to complain of. */
static const char *const plain_source =
    "__kernel void add(__global int *words) { words[4 * get_global_id(0)] += STEP; }\n";

static const char *binary_path(void)
{
    const char *path = getenv("BINARY");
    check(path != NULL, "BINARY names no file");
    return path;
}

static void binary_to_file(void)
{
    size_t size;
    cl_int error;
    const char *source = getenv("PLAIN") != NULL ? plain_source : step_source;
    cl_program made = clCreateProgramWithSource(context, 1, &source, NULL, &error);
    done(error, "clCreateProgramWithSource");
    done(clBuildProgram(made, 1, &device, " -DSTEP=1  ", NULL, NULL), "clBuildProgram");
    done(clGetProgramInfo(made, CL_PROGRAM_BINARY_SIZES, sizeof size, &size, NULL),
         "clGetProgramInfo");
    unsigned char *bytes = malloc(size);
    done(clGetProgramInfo(made, CL_PROGRAM_BINARIES, sizeof bytes, &bytes, NULL),
         "clGetProgramInfo");
    FILE *file = fopen(binary_path(), "wb");
    check(file != NULL && fwrite(bytes, 1, size, file) == size && fclose(file) == 0, "fwrite");
    free(bytes);
}

static void binary_from_file(void)
{
    enum { MOST = 1 << 24 };
    cl_int error, status;
    unsigned char *bytes = malloc(MOST);
    FILE *file = fopen(binary_path(), "rb");
    check(bytes != NULL && file != NULL, "fopen");
    size_t size = fread(bytes, 1, MOST, file);
    fclose(file);
    cl_program again = clCreateProgramWithBinary(context, 1, &device, &size,
                                                 (const unsigned char **)&bytes, &status, &error);
    done(error, "clCreateProgramWithBinary");
    free(bytes);
    done(clBuildProgram(again, 1, &device, "-DSTEP=3", NULL, NULL), "clBuildProgram");
    add_once(make_kernel(again, "add", cells));
    compare(cells);
}

/* An intermediate language that is none is refused as without the layer. */
static void il(void)
{
    static const char nonsense[] = "this is no intermediate language";
    cl_int error = CL_SUCCESS;
    cl_program from = clCreateProgramWithIL(context, nonsense, sizeof nonsense, &error);
    check(from == NULL ? error != CL_SUCCESS
                       : clBuildProgram(from, 1, &device, "", NULL, NULL) != CL_SUCCESS,
          "nonsense was built");
    add_once(make_kernel(program, "add", cells));
    compare(cells);
}

static void svm(void)
{
    cl_int error;
    cell *shared = clSVMAlloc(context, CL_MEM_READ_WRITE, sizeof expected, 0);
    if (shared == NULL)
        exit(LACKS);
    done(clEnqueueSVMMemcpy(queue, CL_TRUE, shared, expected, sizeof expected, 0, NULL, NULL),
         "clEnqueueSVMMemcpy");
    cl_kernel add = clCreateKernel(program, "add", &error);
    done(error, "clCreateKernel");
    done(clSetKernelArgSVMPointer(add, 0, shared), "clSetKernelArgSVMPointer");
    launch_on(queue, add, NULL, NULL);
    static cell got[CELLS];
    done(clEnqueueSVMMemcpy(queue, CL_TRUE, got, shared, sizeof got, 0, NULL, NULL),
         "clEnqueueSVMMemcpy");
    done(clSetKernelArg(add, 0, sizeof cells, &cells), "clSetKernelArg");
    add_once(add);
    check(as_expected(got), "bytes of shared memory differ");
    compare(cells);
    clSVMFree(context, shared);
}

static void host_pointer(void)
{
    static cell host[CELLS];
    cl_int error;
    memcpy(host, expected, sizeof host);
    cl_mem buffer = make_cells(CL_MEM_READ_WRITE | CL_MEM_USE_HOST_PTR, host);
    add_once(make_kernel(program, "add", buffer));
    cell *mapped = clEnqueueMapBuffer(queue, buffer, CL_TRUE, CL_MAP_READ, 0, sizeof host, 0, NULL,
                                      NULL, &error);
    done(error, "clEnqueueMapBuffer");
    check(mapped == host, "the map is elsewhere");
    check(as_expected(host), "bytes differ");
    done(clEnqueueUnmapMemObject(queue, buffer, mapped, 0, NULL, NULL), "clEnqueueUnmapMemObject");
}

static void image(void)
{
    const cl_image_format format = {CL_RGBA, CL_UNSIGNED_INT32};
    const cl_image_desc description = {
        .image_type = CL_MEM_OBJECT_IMAGE1D_BUFFER, .image_width = CELLS, .mem_object = cells};
    static cell got[CELLS];
    const size_t origin[3] = {0, 0, 0}, region[3] = {CELLS, 1, 1};
    cl_int error;
    add_once(make_kernel(program, "add", cells));
    cl_mem view = clCreateImage(context, CL_MEM_READ_WRITE, &format, &description, NULL, &error);
    if (error != CL_SUCCESS)
        exit(LACKS);
    add_once(make_kernel(program, "add", cells));
    done(clEnqueueReadImage(queue, view, CL_TRUE, origin, region, 0, 0, got, 0, NULL, NULL),
         "clEnqueueReadImage");
    check(as_expected(got), "bytes of the image differ");
    compare(cells);
}

/* Functions by pointer, as programs that load extensions get them. */
static void extension(void)
{
    add_once(make_kernel(program, "add", cells));
    clGetExtensionFunctionAddressForPlatform(platform, "clGetPlatformInfo");
    add_once(make_kernel(program, "add", cells));
    clGetExtensionFunctionAddressForPlatform(platform, "clEnqueueSomethingEXT");
    add_once(make_kernel(program, "add", cells));
    compare(cells);
}

/* The program ends without releasing anything, with commands that were never waited for. */
static void leak(void)
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

static void threads(void)
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

/* A program that asks for a GPU and nothing else. */
static void gpu_only(void)
{
    cl_device_id found;
    cl_uint count;
    cl_int error;
    done(clGetDeviceIDs(platform, CL_DEVICE_TYPE_GPU, 1, &found, &count), "clGetDeviceIDs");
    check(count >= 1, "no device");
    cl_context made = clCreateContextFromType(NULL, CL_DEVICE_TYPE_GPU, NULL, NULL, &error);
    done(error, "clCreateContextFromType");
    clReleaseContext(made);
    add_once(make_kernel(program, "add", cells));
    compare(cells);
}

/* Numbers of work-items so large that an index wraps around, which unsigned numbers may. */
static void far_work_items(void)
{
    static const char *const text = "// restride: words[n][4]\n"
                                    "__kernel void twice(__global int *words)\n"
                                    "{ words[get_global_id(0) * 4 + 3] *= 2; }\n";
    const size_t near = 0, far = (size_t)1 << 62, count = CELLS;
    cl_int error;
    cl_program made = clCreateProgramWithSource(context, 1, (const char **)&text, NULL, &error);
    done(error, "clCreateProgramWithSource");
    done(clBuildProgram(made, 1, &device, "", NULL, NULL), "clBuildProgram");
    cl_kernel kernel = make_kernel(made, "twice", cells);
    done(clEnqueueNDRangeKernel(queue, kernel, 1, &near, &count, NULL, 0, NULL, NULL), "near");
    done(clEnqueueNDRangeKernel(queue, kernel, 1, &far, &count, NULL, 0, NULL, NULL), "far");
    for (int i = 0; i < CELLS; i++)
        expected[i].c[1] *= 4;
    compare(cells);
}

/* Arrays that end with a full tile, with another, and with a part of a record: there are kernels
 * that hold for the first alone. */
static void full_tiles(void)
{
    static const char *const text =
        "// restride: words[n][5]\n"
        "__kernel void add(__global int *words)\n"
        "{ for (int k = 0; k < 2; k++) words[get_global_id(0) * 5 + k] += 100 * k + 7; }\n";
    static const size_t words[] = {5 * 96, 5 * 100, 5 * 96 + 2};
    cl_int error, values[5 * 100];
    cl_program made = clCreateProgramWithSource(context, 1, (const char **)&text, NULL, &error);
    done(error, "clCreateProgramWithSource");
    done(clBuildProgram(made, 1, &device, "", NULL, NULL), "clBuildProgram");
    cl_kernel kernel = clCreateKernel(made, "add", &error);
    done(error, "clCreateKernel");
    for (size_t c = 0; c < sizeof words / sizeof words[0]; c++) {
        const size_t records = (words[c] + 4) / 5, size = words[c] * sizeof values[0];
        for (size_t i = 0; i < words[c]; i++)
            values[i] = (cl_int)i;
        cl_mem buffer = clCreateBuffer(context, CL_MEM_COPY_HOST_PTR, size, values, &error);
        done(error, "clCreateBuffer");
        done(clSetKernelArg(kernel, 0, sizeof buffer, &buffer), "clSetKernelArg");
        done(clEnqueueNDRangeKernel(queue, kernel, 1, NULL, &records, NULL, 0, NULL, NULL), "add");
        done(clEnqueueReadBuffer(queue, buffer, CL_TRUE, 0, size, values, 0, NULL, NULL), "read");
        for (size_t i = 0; i < words[c]; i++)
            check(values[i] == (cl_int)(i + (i % 5 < 2 ? 100 * (i % 5) + 7 : 0)), "wrong word");
        clReleaseMemObject(buffer);
    }
}

/* Macros of the device's compiler whose values are no words: asked about, and used. That compiler
 * has nothing to say of this source, and so should say nothing of what the layer builds. */
static void floating_macros(void)
{
    static const char *const text =
        "#ifndef FLT_MAX\n#define FLT_MAX 1.0f\n#endif\n#ifdef M_PI_F\n#define ADDED 3\n#else\n"
        "#define ADDED 4\n#endif\n"
        "typedef struct { int a; float b; int c[2]; } cell;\n"
        "__kernel void twice(__global cell *cells)\n"
        "{ if (get_global_id(0) > get_global_size(0)) cells[0] = cells[1];\n"
        " cells[get_global_id(0)].c[1] *= FLT_MAX > 1e30f * M_PI_F ? ADDED : 5; }\n";
    const size_t count = CELLS;
    cl_int error;
    cl_program made = clCreateProgramWithSource(context, 1, (const char **)&text, NULL, &error);
    done(error, "clCreateProgramWithSource");
    done(clBuildProgram(made, 1, &device, "", NULL, NULL), "clBuildProgram");
    cl_kernel kernel = make_kernel(made, "twice", cells);
    done(clEnqueueNDRangeKernel(queue, kernel, 1, NULL, &count, NULL, 0, NULL, NULL), "launch");
    for (int i = 0; i < CELLS; i++)
        expected[i].c[1] *= 3;
    compare(cells);
}

int main(int argc, char **argv)
{
    static const struct {
        const char *name;
        void (*run)(void);
    } cases[] = {{"user-event", user_event},
                 {"held-and-slow", held_and_slow},
                 {"released-queue", released_queue},
                 {"profiling", profiling},
                 {"kernels-in-program", kernels_in_program},
                 {"clone", clone},
                 {"queries", queries},
                 {"several-devices", several_devices},
                 {"unequal-devices", unequal_devices},
                 {"views", views},
                 {"view-beside-parent", view_beside_parent},
                 {"compile-and-link", compile_and_link},
                 {"link-two", link_two},
                 {"refused-build", refused_build},
                 {"notified-build", notified_build},
                 {"binary", binary},
                 {"binary-to-file", binary_to_file},
                 {"binary-from-file", binary_from_file},
                 {"il", il},
                 {"svm", svm},
                 {"host-pointer", host_pointer},
                 {"image", image},
                 {"extension", extension},
                 {"leak", leak},
                 {"threads", threads},
                 {"gpu-only", gpu_only},
                 {"far-work-items", far_work_items},
                 {"full-tiles", full_tiles},
                 {"floating-macros", floating_macros}};
    for (size_t i = 0; argc > 1 && i < sizeof cases / sizeof cases[0]; i++)
        if (strcmp(argv[1], cases[i].name) == 0) {
            set_up();
            cases[i].run();
            return 0;
        }
    return 2;
}
