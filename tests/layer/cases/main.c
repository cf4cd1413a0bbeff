/* usage: cases NAME; exit status 0 when the result is right, 77 when the device lacks something. */
#include "cases.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

cl_platform_id platform;
cl_device_id device;
cl_context context;
cl_command_queue queue;
cl_program program;
cl_mem cells;
cell expected[CELLS];

void check(int right, const char *what)
{
    if (right)
        return;
    fprintf(stderr, "%s\n", what);
    exit(1);
}

void done(cl_int error, const char *what)
{
    if (error != CL_SUCCESS)
        fprintf(stderr, "error %d: ", error);
    check(error == CL_SUCCESS, what);
}

cl_mem make_cells(cl_mem_flags flags, void *host)
{
    cl_int error;
    cl_mem made = clCreateBuffer(context, flags, sizeof expected, host, &error);
    done(error, "clCreateBuffer");
    return made;
}

cl_kernel make_kernel(cl_program from, const char *name, cl_mem buffer)
{
    cl_int error;
    cl_kernel kernel = clCreateKernel(from, name, &error);
    done(error, "clCreateKernel");
    done(clSetKernelArg(kernel, 0, sizeof buffer, &buffer), "clSetKernelArg");
    return kernel;
}

static void build(void)
{
    const char *text = cell_source;
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

void launch_on(cl_command_queue on, cl_kernel kernel, cl_event wait, cl_event *event)
{
    size_t count = CELLS;
    done(clEnqueueNDRangeKernel(on, kernel, 1, NULL, &count, NULL, wait != NULL,
                                wait != NULL ? &wait : NULL, event),
         "clEnqueueNDRangeKernel");
}

void add_once(cl_kernel kernel)
{
    launch_on(queue, kernel, NULL, NULL);
    for (int i = 0; i < CELLS; i++)
        expected[i].a++;
}

int as_expected(const void *bytes)
{
    const void *const wanted = expected;
    return memcmp(bytes, wanted, sizeof expected) == 0;
}

void compare(cl_mem buffer)
{
    static cell got[CELLS];
    done(clEnqueueReadBuffer(queue, buffer, CL_TRUE, 0, sizeof got, got, 0, NULL, NULL),
         "clEnqueueReadBuffer");
    check(as_expected(got), "bytes differ");
}

int main(int argc, char **argv)
{
    static const struct {
        const char *name;
        void (*run)(void);
    } cases[] = {{"user-event", case_user_event},
                 {"held-and-slow", case_held_and_slow},
                 {"released-queue", case_released_queue},
                 {"many-queues", case_many_queues},
                 {"profiling", case_profiling},
                 {"refused-native", case_refused_native},
                 {"many-programs", case_many_programs},
                 {"no-files", case_no_files},
                 {"released-user-event", case_released_user_event},
                 {"forgotten-user-event", case_forgotten_user_event},
                 {"kernels-in-program", case_kernels_in_program},
                 {"clone", case_clone},
                 {"queries", case_queries},
                 {"references", case_references},
                 {"several-devices", case_several_devices},
                 {"unequal-devices", case_unequal_devices},
                 {"views", case_views},
                 {"view-beside-parent", case_view_beside_parent},
                 {"compile-and-link", case_compile_and_link},
                 {"link-two", case_link_two},
                 {"link-options", case_link_options},
                 {"header-program", case_header_program},
                 {"built-in", case_built_in},
                 {"il-of-source", case_il_of_source},
                 {"of-file", case_of_file},
                 {"refused-build", case_refused_build},
                 {"notified-build", case_notified_build},
                 {"notified-link", case_notified_link},
                 {"binary", case_binary},
                 {"binary-to-file", case_binary_to_file},
                 {"binary-from-file", case_binary_from_file},
                 {"il", case_il},
                 {"svm", case_svm},
                 {"host-pointer", case_host_pointer},
                 {"image", case_image},
                 {"extension", case_extension},
                 {"leak", case_leak},
                 {"threads", case_threads},
                 {"gpu-only", case_gpu_only},
                 {"in-place", case_in_place},
                 {"thread-ends", case_thread_ends},
                 {"far-work-items", case_far_work_items},
                 {"full-tiles", case_full_tiles},
                 {"constant-macros", case_constant_macros}};
    for (size_t i = 0; argc > 1 && i < sizeof cases / sizeof cases[0]; i++)
        if (strcmp(argv[1], cases[i].name) == 0) {
            set_up();
            cases[i].run();
            return 0;
        }
    return 2;
}
