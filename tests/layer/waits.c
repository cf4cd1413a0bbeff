/*
 * An OpenCL program whose commands are held back, abandoned, or interleaved with callbacks, and one
 * whose header changes between build and use. Each case knows its result; a layer that converts
 * buffers in front of such commands can lose the bytes or wait forever.
 *
 * usage: waits CASE, one of those in main(); exit status 0 when the result is right.
 */
#include <CL/cl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

typedef struct {
    int a;
    float b;
    int c[2];
} cell;

enum { CELLS = 1000 };

static const char source[] = "typedef struct { int a; float b; int c[2]; } cell;\n"
                             "__kernel void add(__global cell *cells)\n"
                             "{ cells[get_global_id(0)].a += 1; }\n"
                             "__kernel void sum(__global const cell *cells, __global int *out)\n"
                             "{ int i = get_global_id(0); out[i] = cells[i].a + cells[i].c[1]; }\n";

/* Structures that policy auto wants in another layout, so that it has their conversions built. */
static const char wide_source[] =
    "typedef struct { float f[16]; } item;\n"
    "__kernel void grow(__global item *items)\n"
    "{ for (int k = 0; k < 16; k++) items[get_global_id(0)].f[k] += 1; }\n"
    "__kernel void grow_at_once(__global item *items)\n"
    "{ for (int k = 0; k < 16; k++) items[get_global_id(0)].f[k] += 1; }\n";

static cl_context context;
static cl_device_id device;
static cl_command_queue queues[2];
static cl_kernel add, sum;
static cl_mem cells, out;
static cell expected[CELLS];
static cl_command_queue notified; /* when set, a queue to ask about in the context's callback */

static void check(int right, const char *what)
{
    if (right)
        return;
    fprintf(stderr, "%s\n", what);
    exit(1);
}

/* The driver has something to tell. */
static void CL_CALLBACK notice(const char *text, const void *more, size_t size, void *data)
{
    cl_context asked;
    (void)text, (void)more, (void)size, (void)data;
    if (notified == NULL)
        return;
    nanosleep(&(struct timespec){0, 200000000}, NULL);
    clGetCommandQueueInfo(notified, CL_QUEUE_CONTEXT, sizeof asked, &asked, NULL);
}

static cl_program build(const char *text, const char *options)
{
    cl_int error;
    cl_program program = clCreateProgramWithSource(context, 1, &text, NULL, &error);
    check(error == CL_SUCCESS, "a program could not be made");
    check(clBuildProgram(program, 1, &device, options, NULL, NULL) == CL_SUCCESS,
          "a program could not be built");
    return program;
}

static cl_kernel make_kernel(const char *text, const char *options, const char *name)
{
    cl_int error;
    cl_kernel kernel = clCreateKernel(build(text, options), name, &error);
    check(error == CL_SUCCESS, "a kernel could not be made");
    return kernel;
}

static void set_up(void)
{
    cl_platform_id platform;
    cl_int error;
    check(clGetPlatformIDs(1, &platform, NULL) == CL_SUCCESS, "no platform");
    check(clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 1, &device, NULL) == CL_SUCCESS,
          "no device");
    context = clCreateContext(NULL, 1, &device, notice, NULL, &error);
    check(error == CL_SUCCESS, "no context");
    for (int i = 0; i < 2; i++)
        queues[i] = clCreateCommandQueue(context, device, 0, &error);
    for (int i = 0; i < CELLS; i++)
        expected[i] = (cell){i, (float)i, {i * 3, i * 5}};
    cells = clCreateBuffer(context, CL_MEM_READ_WRITE | CL_MEM_COPY_HOST_PTR, sizeof expected,
                           expected, &error);
    check(error == CL_SUCCESS, "no buffer");
    out = clCreateBuffer(context, CL_MEM_READ_WRITE, CELLS * sizeof(int), NULL, &error);
    add = make_kernel(source, "", "add");
    sum = make_kernel(source, "", "sum");
    check(clSetKernelArg(add, 0, sizeof cells, &cells) == CL_SUCCESS &&
              clSetKernelArg(sum, 0, sizeof cells, &cells) == CL_SUCCESS &&
              clSetKernelArg(sum, 1, sizeof out, &out) == CL_SUCCESS,
          "arguments were refused");
}

static void launch(cl_command_queue queue, cl_kernel kernel, cl_event wait, cl_event *event)
{
    size_t count = CELLS;
    check(clEnqueueNDRangeKernel(queue, kernel, 1, NULL, &count, NULL, wait != NULL,
                                 wait != NULL ? &wait : NULL, event) == CL_SUCCESS,
          "a launch was refused");
}

static void count_launch(void)
{
    for (int i = 0; i < CELLS; i++)
        expected[i].a++;
}

static void compare(cl_command_queue queue)
{
    static cell got[CELLS];
    check(clEnqueueReadBuffer(queue, cells, CL_TRUE, 0, sizeof got, got, 0, NULL, NULL) ==
              CL_SUCCESS,
          "a read was refused");
    for (int i = 0; i < CELLS; i++)
        check(got[i].a == expected[i].a && got[i].b == expected[i].b &&
                  got[i].c[0] == expected[i].c[0] && got[i].c[1] == expected[i].c[1],
              "a cell differs");
}

/* A queue's launch waits for what the program flushes only after a read by another queue, of what
 * was only read before: nothing that a layer adds between the two may wait for that launch. */
static void flushed_later(void)
{
    cl_int error;
    cl_event event;
    const int zero = 0;
    cl_command_queue third = clCreateCommandQueue(context, device, 0, &error);
    cl_mem other = clCreateBuffer(context, CL_MEM_READ_WRITE, sizeof expected, NULL, &error);
    cl_mem more = clCreateBuffer(context, CL_MEM_READ_WRITE, sizeof expected, NULL, &error);
    check(error == CL_SUCCESS, "no buffer");
    launch(queues[0], sum, NULL, NULL);
    check(clEnqueueFillBuffer(queues[1], other, &zero, sizeof zero, 0, sizeof expected, 0, NULL,
                              &event) == CL_SUCCESS,
          "a fill was refused");
    check(clSetKernelArg(sum, 0, sizeof more, &more) == CL_SUCCESS, "an argument was refused");
    launch(queues[0], sum, event, NULL);
    compare(third);
    clFlush(queues[1]);
    clFinish(queues[0]);
}

/* A launch whose wait list fails never runs, and the bytes stay. */
static void abandoned(void)
{
    cl_event event, user = clCreateUserEvent(context, NULL);
    launch(queues[0], add, user, &event);
    check(clSetUserEventStatus(user, -5) == CL_SUCCESS, "the user event was refused");
    clWaitForEvents(1, &event);
    compare(queues[0]);
    launch(queues[0], add, NULL, NULL);
    count_launch();
    compare(queues[0]);
}

/* A sub-buffer is made while a launch on the buffer is held back. */
static void held_back(void)
{
    cl_int error;
    cl_buffer_region region = {0, 2048};
    launch(queues[0], add, NULL, NULL);
    cl_event user = clCreateUserEvent(context, NULL);
    launch(queues[0], add, user, NULL);
    cl_mem view =
        clCreateSubBuffer(cells, CL_MEM_READ_WRITE, CL_BUFFER_CREATE_TYPE_REGION, &region, &error);
    check(error == CL_SUCCESS, "the sub-buffer was refused");
    clSetUserEventStatus(user, CL_COMPLETE);
    count_launch();
    count_launch();
    compare(queues[0]);
    clReleaseMemObject(view);
}

/* Two queues read one buffer, one of them held back until the other has read. */
static void shared(void)
{
    launch(queues[1], add, NULL, NULL);
    clFinish(queues[1]);
    count_launch();
    cl_event user = clCreateUserEvent(context, NULL);
    launch(queues[0], sum, user, NULL);
    clFlush(queues[0]);
    compare(queues[1]);
    clSetUserEventStatus(user, CL_COMPLETE);
    clFinish(queues[0]);
    compare(queues[0]);
}

static void CL_CALLBACK slow_callback(cl_event event, cl_int status, void *data)
{
    const struct timespec while_main_waits = {0, 200000000};
    size_t size;
    (void)event;
    (void)status;
    nanosleep(&while_main_waits, NULL);
    clGetMemObjectInfo(data, CL_MEM_SIZE, sizeof size, &size, NULL);
    clRetainMemObject(data);
    clReleaseMemObject(data);
}

/* A callback that calls OpenCL while the main thread makes a sub-buffer. */
static void callback(void)
{
    cl_event event;
    cl_int error;
    cl_buffer_region region = {0, 2048};
    launch(queues[0], add, NULL, &event);
    count_launch();
    check(clSetEventCallback(event, CL_COMPLETE, slow_callback, cells) == CL_SUCCESS,
          "the callback was refused");
    clFlush(queues[0]);
    clCreateSubBuffer(cells, CL_MEM_READ_WRITE, CL_BUFFER_CREATE_TYPE_REGION, &region, &error);
    check(error == CL_SUCCESS, "the sub-buffer was refused");
    compare(queues[0]);
}

static void write_header(const char *path, int value)
{
    FILE *file = fopen(path, "w");
    check(file != NULL, "the header could not be written");
    fprintf(file, "typedef struct { int a; float b; int c[2]; } cell;\n#define VALUE %d\n", value);
    fclose(file);
}

/* The header of the moment when the program was built counts, not that of the moment when its
 * kernel is made. */
static void header(void)
{
    const char *text = "#include \"header.h\"\n"
                       "__kernel void set(__global cell *cells)\n"
                       "{ cells[get_global_id(0)].a = VALUE; }\n";
    char folder[] = "/tmp/restride-waits-XXXXXX", path[128], options[128];
    cl_int error;
    check(mkdtemp(folder) != NULL, "no folder for the header");
    snprintf(path, sizeof path, "%s/header.h", folder);
    snprintf(options, sizeof options, "-I%s", folder);
    cl_program program = clCreateProgramWithSource(context, 1, &text, NULL, &error);
    write_header(path, 5);
    check(clBuildProgram(program, 1, &device, options, NULL, NULL) == CL_SUCCESS,
          "the program with a header could not be built");
    write_header(path, 6);
    cl_kernel kernel = clCreateKernel(program, "set", &error);
    unlink(path);
    rmdir(folder);
    check(error == CL_SUCCESS, "the kernel could not be made");
    clSetKernelArg(kernel, 0, sizeof cells, &cells);
    launch(queues[0], kernel, NULL, NULL);
    for (int i = 0; i < CELLS; i++)
        expected[i].a = 5;
    compare(queues[0]);
}

/* ---- conversions that are being built ---- */

static float wide[CELLS][16];

static void launch_wide(cl_kernel kernel)
{
    cl_int error;
    cl_mem items = clCreateBuffer(context, CL_MEM_READ_WRITE | CL_MEM_COPY_HOST_PTR, sizeof wide,
                                  wide, &error);
    check(error == CL_SUCCESS, "no buffer of items");
    clSetKernelArg(kernel, 0, sizeof items, &items);
    launch(queues[0], kernel, NULL, NULL);
    check(clEnqueueReadBuffer(queues[0], items, CL_TRUE, 0, sizeof wide, wide, 0, NULL, NULL) ==
              CL_SUCCESS,
          "a read was refused");
    for (int i = 0; i < CELLS; i++)
        for (int k = 0; k < 16; k++)
            check(wide[i][k] == 1, "an item differs");
    clReleaseMemObject(items);
}

/* The program ends while they are built, and the driver calls it. */
static void notified_at_end(void)
{
    make_kernel(wide_source, "", "grow");
    notified = queues[0];
}

/* The context ends. */
static void notified_at_release(void)
{
    cl_kernel kernel = make_kernel(wide_source, "", "grow");
    cl_program program;
    clGetKernelInfo(kernel, CL_KERNEL_PROGRAM, sizeof program, &program, NULL);
    notified = queues[0];
    clReleaseKernel(kernel);
    clReleaseProgram(program);
    clReleaseMemObject(out);
    clReleaseMemObject(cells);
    clReleaseContext(context);
}

/* The second program is built. */
static void notified_at_kernel(void)
{
    cl_int error;
    cl_program program = build(wide_source, "");
    notified = queues[0];
    cl_kernel kernel = clCreateKernel(program, "grow_at_once", &error);
    check(error == CL_SUCCESS, "no kernel");
    notified = NULL;
    launch_wide(kernel);
}

/* A kernel of another policy needs them at once. */
static void notified_at_launch(void)
{
    cl_kernel kernel = make_kernel(wide_source, "", "grow");
    cl_program program;
    cl_int error;
    clGetKernelInfo(kernel, CL_KERNEL_PROGRAM, sizeof program, &program, NULL);
    cl_kernel at_once = clCreateKernel(program, "grow_at_once", &error);
    check(error == CL_SUCCESS, "no second kernel");
    notified = queues[0];
    launch_wide(at_once);
}

/* A launch needs plans. */
static void notified_at_plans(void)
{
    enum { MANY = 40000 };
    const size_t many = MANY;
    static float large[MANY][16], got[MANY][16];
    cl_int error;
    cl_kernel kernel = make_kernel(wide_source, "", "grow_at_once");
    cl_mem items = clCreateBuffer(context, CL_MEM_READ_WRITE | CL_MEM_COPY_HOST_PTR, sizeof large,
                                  large, &error);
    check(error == CL_SUCCESS, "no buffer of items");
    clSetKernelArg(kernel, 0, sizeof items, &items);
    notified = queues[0];
    check(clEnqueueNDRangeKernel(queues[0], kernel, 1, NULL, &many, NULL, 0, NULL, NULL) ==
              CL_SUCCESS,
          "a launch was refused");
    notified = NULL;
    check(clEnqueueReadBuffer(queues[0], items, CL_TRUE, 0, sizeof got, got, 0, NULL, NULL) ==
              CL_SUCCESS,
          "a read was refused");
    for (int i = 0; i < MANY; i++)
        for (int k = 0; k < 16; k++)
            check(got[i][k] == 1, "an item differs");
}

/* ---- forks ---- */

/* A child that uses all that its parent had, and ends as programs do. */
static void fork_and_use(void)
{
    int status = -1;
    pid_t child = fork();
    check(child >= 0, "no child");
    if (child == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL); /* whoever ends a hanging parent ends it as well */
        clRetainMemObject(cells);
        clReleaseMemObject(cells);
        compare(queues[0]);
        launch_wide(make_kernel(wide_source, "", "grow"));
        exit(0);
    }
    check(waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 0,
          "the child failed");
    compare(queues[0]);
}

static void fork_beside_build(void)
{
    make_kernel(wide_source, "", "grow");
    nanosleep(&(struct timespec){0, 100000000}, NULL);
    fork_and_use();
}

static void *make_kernel_beside(void *program)
{
    cl_int error;
    return clCreateKernel(program, "grow", &error);
}

/* A thread is inside a call at that moment, for which the layer builds another program. */
static void fork_beside_call(void)
{
    pthread_t thread;
    void *kernel = NULL;
    cl_program program = build(wide_source, "");
    check(pthread_create(&thread, NULL, make_kernel_beside, program) == 0, "no thread");
    nanosleep(&(struct timespec){0, 150000000}, NULL);
    fork_and_use();
    pthread_join(thread, &kernel);
    launch_wide(kernel);
}

static volatile int is_free, sees_cells;
static cell before_native[CELLS];

static void CL_CALLBACK wait_until_free(void *arguments)
{
    const void *wanted = before_native;
    sees_cells = memcmp(*(void **)arguments, wanted, sizeof before_native) == 0;
    while (!is_free)
        nanosleep(&(struct timespec){0, 1000000}, NULL);
}

/* A native kernel has a buffer as the program left it, and waits for the program, which makes a
 * user event first. */
static void native(void)
{
    cl_device_exec_capabilities can;
    cl_int error;
    launch(queues[0], add, NULL, NULL);
    count_launch();
    clGetDeviceInfo(device, CL_DEVICE_EXECUTION_CAPABILITIES, sizeof can, &can, NULL);
    memcpy(before_native, expected, sizeof expected);
    void *place = NULL;
    const void *places[] = {&place};
    sees_cells = (can & CL_EXEC_NATIVE_KERNEL) == 0;
    if (!sees_cells)
        check(clEnqueueNativeKernel(queues[0], wait_until_free, &place, sizeof place, 1, &cells,
                                    places, 0, NULL, NULL) == CL_SUCCESS,
              "a native kernel was refused");
    launch(queues[0], add, NULL, NULL);
    count_launch();
    clFlush(queues[0]);
    cl_event user = clCreateUserEvent(context, &error);
    check(error == CL_SUCCESS, "no user event");
    is_free = 1;
    clSetUserEventStatus(user, CL_COMPLETE);
    compare(queues[0]);
    check(sees_cells, "a native kernel saw other bytes");
}

int main(int argc, char **argv)
{
    static const struct {
        const char *name;
        void (*run)(void);
    } cases[] = {{"abandoned", abandoned},
                 {"held-back", held_back},
                 {"flushed-later", flushed_later},
                 {"shared", shared},
                 {"callback", callback},
                 {"header", header},
                 {"native", native},
                 {"notified-at-end", notified_at_end},
                 {"notified-at-release", notified_at_release},
                 {"notified-at-kernel", notified_at_kernel},
                 {"notified-at-launch", notified_at_launch},
                 {"notified-at-plans", notified_at_plans},
                 {"fork-beside-build", fork_beside_build},
                 {"fork-beside-call", fork_beside_call}};
    set_up();
    for (size_t i = 0; argc > 1 && i < sizeof cases / sizeof cases[0]; i++)
        if (strcmp(argv[1], cases[i].name) == 0) {
            cases[i].run();
            return 0;
        }
    return 2;
}
