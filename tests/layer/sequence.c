/*
 * An OpenCL program that carries out the commands its argument spells, on one buffer of structures
 * of 16 floats:
 *
 *   w  writes the whole buffer      l  launches on it            r  reads all of it
 *   p  writes a part                s  launches a kernel that    q  reads a part
 *   m  maps a part and writes it       takes it as floats        f  waits for everything
 *   t  launches another kernel on it
 *   x  ends the program at once       z  sleeps for a tenth of a second
 *   e  the same by _exit()            b  builds the program again, whose kernels come next
 *   n  the same, with a kernel of a    y  becomes this program again, with the
 *      long name for s                    commands that are left
 *   o  overwrites its environment       i  releases the program and builds it again
 *   h  launches twenty times and waits for the first
 *   u  may write no file of more than
 *      64 KiB any more
 *   k  forks a child that goes on; first, it does so behind the first call of OpenCL
 *
 * usage: sequence COMMANDS [records]; exit status 0 when every byte read is as expected. With
 * MADE_UP_TIMES the clock is made up (made_up_clock.c). The source tests the macro TESTED_MACRO.
 */
#include "items.h"
#include "made_up_clock.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

static cl_device_id device;
static cl_context context;
static cl_command_queue queue;
static cl_program program;
static cl_kernel grow, shrink, plain;
static cl_mem buffer;
static item *model, *scratch;
static size_t count = 1000;
static char long_name[201];
static float next;

static void check(cl_int error, const char *what)
{
    if (error == CL_SUCCESS)
        return;
    fprintf(stderr, "%s failed (%d)\n", what, error);
    exit(1);
}

enum {
    START = 300000000,
    TENTH = 100000000
}; /* nanoseconds, of everything before the first
       launch, and of a sleep */

/* ---- the commands ---- */

static cl_kernel make_kernel(const char *name)
{
    cl_int error;
    cl_kernel kernel = clCreateKernel(program, name, &error);
    check(error, "clCreateKernel");
    /* As programs do that set all to nothing first. */
    check(clSetKernelArg(kernel, 0, sizeof buffer, NULL), "clSetKernelArg");
    check(clSetKernelArg(kernel, 0, sizeof buffer, &buffer), "clSetKernelArg");
    return kernel;
}

/* With another name for the kernel "plain". */
static void build(const char *plain_name)
{
    const char *tested = getenv("TESTED_MACRO");
    char options[300], test[200] = "";
    const char *const text[] = {test, items_source};
    cl_int error;
    snprintf(options, sizeof options, "-Dplain=%s", plain_name);
    if (tested != NULL)
        snprintf(test, sizeof test, "#ifdef %s\n#define DEFINED\n#endif\n", tested);
    program = clCreateProgramWithSource(context, 2, (const char **)text, NULL, &error);
    check(error, "clCreateProgramWithSource");
    check(clBuildProgram(program, 1, &device, options, NULL, NULL), "clBuildProgram");
    if (grow == NULL)
        pass_nanoseconds(START);
    grow = make_kernel("grow");
    shrink = make_kernel("shrink");
    plain = make_kernel(plain_name);
}

static void release(void)
{
    clReleaseKernel(grow);
    clReleaseKernel(shrink);
    clReleaseKernel(plain);
    clReleaseProgram(program);
}

static void set_up(void)
{
    cl_platform_id platform;
    cl_int error;
    check(clGetPlatformIDs(1, &platform, NULL), "clGetPlatformIDs");
    check(clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 1, &device, NULL), "clGetDeviceIDs");
    context = clCreateContext(NULL, 1, &device, NULL, NULL, &error);
    check(error, "clCreateContext");
    queue = clCreateCommandQueue(context, device, 0, &error);
    check(error, "clCreateCommandQueue");
    model = calloc(count, sizeof(item));
    scratch = calloc(count, sizeof(item));
    buffer = clCreateBuffer(context, CL_MEM_READ_WRITE | CL_MEM_COPY_HOST_PTR, count * sizeof(item),
                            model, &error);
    check(error, "clCreateBuffer");
    build("plain");
}

static void launch(cl_kernel kernel)
{
    check(clEnqueueNDRangeKernel(queue, kernel, 1, NULL, &count, NULL, 0, NULL, NULL),
          "clEnqueueNDRangeKernel");
    if (kernel == grow)
        items_grow(model, count);
    for (size_t i = 0; kernel == shrink && i < count; i++)
        for (int k = 0; k < FLOATS; k++)
            model[i].f[k] -= (float)k;
    for (size_t i = 0; kernel == plain && i < count; i++)
        model[i].f[0] *= 0.5f;
}

static void launch_and_wait_for_the_first(void)
{
    enum { LAUNCHES = 20 };
    cl_event first;
    for (int i = 0; i < LAUNCHES; i++)
        check(clEnqueueNDRangeKernel(queue, grow, 1, NULL, &count, NULL, 0, NULL,
                                     i == 0 ? &first : NULL),
              "clEnqueueNDRangeKernel");
    check(clWaitForEvents(1, &first), "clWaitForEvents");
    clReleaseEvent(first);
    for (int i = 0; i < LAUNCHES; i++)
        items_grow(model, count);
}

static void limit_files(void)
{
    const struct rlimit limit = {65536, 65536};
    check(setrlimit(RLIMIT_FSIZE, &limit), "setrlimit");
}

static void fill(item *items, size_t first, size_t end)
{
    for (size_t i = first; i < end; i++)
        for (int k = 0; k < FLOATS; k++)
            items[i].f[k] = next++;
    if (next > 1e6f)
        next = 0;
}

static void write_items(size_t first, size_t end)
{
    fill(model, first, end);
    check(clEnqueueWriteBuffer(queue, buffer, CL_TRUE, first * sizeof(item),
                               (end - first) * sizeof(item), model + first, 0, NULL, NULL),
          "clEnqueueWriteBuffer");
}

static void compare(const item *got, size_t first, size_t end)
{
    if (memcmp(got, model + first, (end - first) * sizeof(item)) != 0) {
        fprintf(stderr, "bytes differ\n");
        exit(1);
    }
}

static void read_items(size_t first, size_t end)
{
    check(clEnqueueReadBuffer(queue, buffer, CL_TRUE, first * sizeof(item),
                              (end - first) * sizeof(item), scratch, 0, NULL, NULL),
          "clEnqueueReadBuffer");
    compare(scratch, first, end);
}

static void map_items(size_t first, size_t end)
{
    cl_int error;
    item *mapped =
        clEnqueueMapBuffer(queue, buffer, CL_TRUE, CL_MAP_READ | CL_MAP_WRITE, first * sizeof(item),
                           (end - first) * sizeof(item), 0, NULL, NULL, &error);
    check(error, "clEnqueueMapBuffer");
    compare(mapped, first, end);
    fill(model, first, end);
    memcpy(mapped, model + first, (end - first) * sizeof(item));
    check(clEnqueueUnmapMemObject(queue, buffer, mapped, 0, NULL, NULL), "clEnqueueUnmapMemObject");
}

/* The parent ends as the child does. */
static void go_on_in_a_child(void)
{
    int status = 0;
    const pid_t child = fork();
    if (child == 0)
        return;
    waitpid(child, &status, 0);
    exit(WIFEXITED(status) ? WEXITSTATUS(status) : 1);
}

static void release_and_build(void)
{
    release();
    build("plain");
}

static void build_at_length(void)
{
    memset(long_name, 'n', sizeof long_name - 1);
    build(long_name);
}

static void overwrite_environment(void)
{
    for (char **variable = environ; *variable != NULL; variable++)
        memset(*variable, '#', strlen(*variable));
}

static void sleep_a_while(void)
{
    sleep_nanoseconds(TENTH);
}

/* What touches the buffer; false: the command is another one. */
static bool carry_out_on_buffer(char command)
{
    size_t first = count / 3, end = first + 5;
    switch (command) {
    case 'w':
        write_items(0, count);
        return true;
    case 'p':
        write_items(first, end);
        return true;
    case 'm':
        map_items(first, end);
        return true;
    case 'l':
        launch(grow);
        return true;
    case 't':
        launch(shrink);
        return true;
    case 's':
        launch(plain);
        return true;
    case 'r':
        read_items(0, count);
        return true;
    case 'q':
        read_items(first, end);
        return true;
    case 'f':
        check(clFinish(queue), "clFinish");
        return true;
    default:
        return false;
    }
}

static void carry_out(char command)
{
    static const struct {
        char command;
        void (*run)(void);
    } others[] = {{'i', release_and_build},
                  {'n', build_at_length},
                  {'o', overwrite_environment},
                  {'k', go_on_in_a_child},
                  {'h', launch_and_wait_for_the_first},
                  {'u', limit_files},
                  {'z', sleep_a_while}};
    if (carry_out_on_buffer(command))
        return;
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++)
        if (others[i].command == command) {
            others[i].run();
            return;
        }
    if (command == 'b') {
        build("plain");
    } else if (command == 'e') {
        _exit(0);
    } else if (command == 'x') {
        exit(0);
    } else {
        fprintf(stderr, "unknown command %c\n", command);
        exit(2);
    }
}

int main(int argc, char **argv)
{
    if (argc < 2)
        return 2;
    if (argc > 2)
        count = strtoul(argv[2], NULL, 10);
    cl_uint platforms;
    const char *command = argv[1];
    if (*command == 'k') {
        check(clGetPlatformIDs(0, NULL, &platforms), "clGetPlatformIDs");
        carry_out(*command++);
    }
    set_up();
    for (; *command != '\0'; command++)
        if (*command == 'y')
            check(execl(argv[0], argv[0], command + 1, NULL), "execl");
        else
            carry_out(*command);
    read_items(0, count);
    clReleaseMemObject(buffer);
    clReleaseKernel(grow);
    clReleaseKernel(shrink);
    clReleaseKernel(plain);
    clReleaseCommandQueue(queue);
    clReleaseContext(context);
    return 0;
}
