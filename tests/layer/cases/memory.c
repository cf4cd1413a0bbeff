/* Cases of memory that is not a whole buffer of records. */
#include "cases.h"

#include <stdlib.h>
#include <string.h>

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
void case_views(void)
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
void case_view_beside_parent(void)
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

void case_svm(void)
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

void case_host_pointer(void)
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

void case_image(void)
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

/* Numbers of work-items so large that an index wraps around, which unsigned numbers may. */
void case_far_work_items(void)
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
    for (int i = 0; i < 2; i++) /* the next one could repeat them */
        done(clEnqueueNDRangeKernel(queue, kernel, 1, &near, &count, NULL, 0, NULL, NULL), "near");
    done(clEnqueueNDRangeKernel(queue, kernel, 1, &far, &count, NULL, 0, NULL, NULL), "far");
    for (int i = 0; i < CELLS; i++)
        expected[i].c[1] *= 8;
    compare(cells);
}

/* Arrays that end with a full tile, with another, and with a part of a record: there are kernels
 * that hold for the first alone. */
void case_full_tiles(void)
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
