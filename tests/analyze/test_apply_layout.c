/*
 * Kernels whose grids got another layout, run on an OpenCL device: the source that comes out gives
 * what the kernel means, element by element, in every layout and with extents that tiles do not
 * divide. Numbers are integers, so that nothing depends on an order of arithmetic.
 */
#include "cmocka_all.h"

#define CL_USE_DEPRECATED_OPENCL_1_2_APIS
#include "analyze/apply_layout.h"
#include "base/json.h"
#include "restride/layout.h"

#include <CL/cl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { FIELDS = 3, RUNS = 3 };

static cl_context context;
static cl_device_id device;
static cl_command_queue queue; /* NULL: there is no device */

typedef struct {
    size_t z, y, x;
} shape;

/* The grids as the kernel sees them: rows. */
typedef struct {
    shape n;
    int *to, *from;
} grids;

static int *at(const grids *g, int *grid, size_t z, size_t y, size_t x, size_t e)
{
    return &grid[((z * g->n.y + y) * g->n.x + x) * FIELDS + e];
}

static bool is_inside(const grids *g, size_t z, size_t y, size_t x)
{
    return z > 0 && y > 0 && x > 0 && z + 1 < g->n.z && y + 1 < g->n.y && x + 1 < g->n.x;
}

static void heat(const grids *g, size_t z, size_t y, size_t x)
{
    if (is_inside(g, z, y, x))
        *at(g, g->to, z, y, x, 0) =
            *at(g, g->from, z - 1, y, x, 1) + *at(g, g->from, z + 1, y, x, 2) -
            *at(g, g->from, z, y - 1, x, 0) + *at(g, g->from, z, y + 1, x, 0) +
            3 * *at(g, g->from, z, y, x - 1, 2) - *at(g, g->from, z, y, x + 1, 1);
}

static void scatter(const grids *g, size_t z, size_t y, size_t x)
{
    if (!is_inside(g, z, y, x))
        return;
    int *old = at(g, g->from, z, y, x, 0);
    *at(g, g->to, z, y, x - 1, 0) = old[1] - old[2];
    *at(g, g->to, z, y + 1, x, 1) = old[0] + 5 * old[2];
    *at(g, g->to, z - 1, y, x, 2) = old[0] ^ old[1];
}

static void red_black(const grids *g, size_t z, size_t y, size_t x)
{
    if (is_inside(g, z, y, x) && (z + y + x) % 2 == 0)
        *at(g, g->to, z, y, x, 1) += *at(g, g->to, z - 1, y, x, 1) + *at(g, g->to, z, y + 1, x, 1) -
                                     *at(g, g->to, z, y, x - 1, 1) + *at(g, g->from, z, y, x, 2);
}

#define HEAD                                                                                       \
    "__kernel void run(int nz, int ny, int nx, __global int to[nz][ny][nx][3],\n"                  \
    "                  __global int from[nz][ny][nx][3])\n"                                        \
    "{\n"                                                                                          \
    "    int x = get_global_id(0), y = get_global_id(1), z = get_global_id(2);\n"                  \
    "    if (x < 1 || y < 1 || z < 1 || x + 1 >= nx || y + 1 >= ny || z + 1 >= nz)\n"              \
    "        return;\n"

static const struct {
    const char *name, *source;
    void (*step)(const grids *g, size_t z, size_t y, size_t x);
} kernels[] = {
    {"heat",
     HEAD "    to[z][y][x][0] = from[z - 1][y][x][1] + from[z + 1][y][x][2] - from[z][y - 1][x][0] "
          "+\n        from[z][y + 1][x][0] + 3 * from[z][y][x - 1][2] - from[z][y][x + 1][1];\n}\n",
     heat},
    {"scatter",
     "enum { A, B, C };\n"
     "int other(int d, int h, int w, __global int g[d][h][w][3], int z, int y, int x)\n"
     "{ return g[z][y][x][A] + 5 * g[z][y][x][C]; }\n" HEAD
     "    __global int (*same)[ny][nx][3] = from; /* an alias */\n"
     "    to[z][y][x - 1][A] = same[z][y][x][B] - same[z][y][x][C];\n"
     "    to[z][y + 1][x][B] = other(nz, ny, nx, from, z, y, x);\n"
     "    to[z - 1][y][x][C] = same[z][y][x][A] ^ from[z][y][x][B];\n}\n",
     scatter},
    {"flat",
     "// restride: grid to[nz][ny][nx][3]\n"
     "// restride: grid from[nz][ny][nx][3]\n"
     "__kernel void run(int nz, int ny, int nx, __global int *to, __global const int *restrict "
     "from)\n"
     "{\n"
     "    int x = get_global_id(0), y = get_global_id(1), z = get_global_id(2);\n"
     "    if (x < 1 || y < 1 || z < 1 || x + 1 >= nx || y + 1 >= ny || z + 1 >= nz)\n"
     "        return;\n"
     "    int at = ((z * ny + y) * nx + x) * 3, row = 3 * nx, plane = row * ny;\n"
     "    to[at] = from[at - plane + 1] + from[at + plane + 2] - from[at - row] + from[at + row] "
     "+\n"
     "             3 * from[at - 1] - from[at + 4];\n}\n",
     heat},
    {"red_black",
     HEAD "    if ((z + y + x) % 2 == 0)\n"
          "        to[z][y][x][1] += to[z - 1][y][x][1] + to[z][y + 1][x][1] -\n"
          "                          to[z][y][x - 1][1] + from[z][y][x][2];\n}\n",
     red_black},
};

static const char *const layouts[] = {"i j k l", "l i j k", "i/2 j/4 k/8 l i%2 j%4 k%8",
                                      "i j/4 k/32 l j%4 k%32", "i/3 l j k/5 i%3 k%5"};

static json_t *apply(const char *source, const char *to, const char *from)
{
    json_t *request = json_pack("{s:s, s:s, s:{}}", "source", source, "file", "k.cl", "layouts");
    json_t *reply = NULL;
    if (to != NULL)
        json_object_set_new(json_object_get(request, "layouts"), "to", json_string(to));
    if (from != NULL)
        json_object_set_new(json_object_get(request, "layouts"), "from", json_string(from));
    if (rs_apply_layout(request, &reply) != RESTRIDE_OK)
        fail_msg("%s", restride_last_error());
    json_decref(request);
    return reply;
}

/* The layout that a grid has now. */
static const char *layout_of(const json_t *reply, const char *name)
{
    const json_t *grid = rs_json_named(json_object_get(reply, "grids"), name);
    if (grid == NULL)
        fail_msg("there is no grid %s", name);
    return json_string_value(json_object_get(grid, "layout"));
}

/* Copies between rows and a layout. */
static void convert(const grids *g, const char *expression, int *rows, int *other, bool to_rows)
{
    char dims[128];
    restride_layout *layout;
    snprintf(dims, sizeof dims, "i:%zu j:%zu k:%zu l:%d", g->n.z, g->n.y, g->n.x, FIELDS);
    assert_int_equal(restride_layout_parse(&layout, dims, expression), RESTRIDE_OK);
    assert_int_equal(restride_layout_size(layout), g->n.z * g->n.y * g->n.x * FIELDS);
    for (size_t z = 0; z < g->n.z; z++)
        for (size_t y = 0; y < g->n.y; y++)
            for (size_t x = 0; x < g->n.x; x++)
                for (size_t e = 0; e < FIELDS; e++) {
                    const size_t index[] = {z, y, x, e};
                    int *b = &other[restride_layout_offset(layout, index)];
                    int *a = at(g, rows, z, y, x, e);
                    *(to_rows ? a : b) = *(to_rows ? b : a);
                }
    restride_layout_destroy(layout);
}

static cl_program build(const char *source)
{
    cl_program program = clCreateProgramWithSource(context, 1, &source, NULL, NULL);
    if (clBuildProgram(program, 1, &device, "", NULL, NULL) != CL_SUCCESS) {
        char log[4096] = "";
        clGetProgramBuildInfo(program, device, CL_PROGRAM_BUILD_LOG, sizeof log - 1, log, NULL);
        fail_msg("a source does not build: %s", log);
    }
    return program;
}

static void run(cl_program program, const grids *g, int *to, int *from)
{
    size_t bytes = g->n.z * g->n.y * g->n.x * FIELDS * sizeof *to;
    cl_kernel kernel = clCreateKernel(program, "run", NULL);
    cl_mem buffers[2];
    int *const data[] = {to, from};
    const cl_int extents[] = {(cl_int)g->n.z, (cl_int)g->n.y, (cl_int)g->n.x};
    const size_t global[] = {g->n.x, g->n.y, g->n.z};
    for (cl_uint i = 0; i < 3; i++)
        clSetKernelArg(kernel, i, sizeof extents[i], &extents[i]);
    for (cl_uint i = 0; i < 2; i++) {
        buffers[i] = clCreateBuffer(context, CL_MEM_COPY_HOST_PTR, bytes, data[i], NULL);
        clSetKernelArg(kernel, 3 + i, sizeof buffers[i], &buffers[i]);
    }
    assert_int_equal(clEnqueueNDRangeKernel(queue, kernel, 3, NULL, global, NULL, 0, NULL, NULL),
                     CL_SUCCESS);
    for (int i = 0; i < 2; i++) {
        clEnqueueReadBuffer(queue, buffers[i], CL_TRUE, 0, bytes, data[i], 0, NULL, NULL);
        clReleaseMemObject(buffers[i]);
    }
    clReleaseKernel(kernel);
}

/* Red-black sweeps read neighbours of the other colour only, so the order does not matter. */
static void compare(size_t k, const json_t *reply, cl_program program, shape n)
{
    size_t count = n.z * n.y * n.x * FIELDS;
    int *memory = malloc(4 * count * sizeof *memory);
    assert_non_null(memory);
    grids g = {n, memory, memory + count};
    int *to = memory + 2 * count, *from = memory + 3 * count;
    for (size_t i = 0; i < 2 * count; i++)
        memory[i] = (int)(i * 2654435761u >> 8) % 1000;
    convert(&g, layout_of(reply, "to"), g.to, to, false);
    convert(&g, layout_of(reply, "from"), g.from, from, false);
    run(program, &g, to, from);
    for (size_t z = 0; z < n.z; z++)
        for (size_t y = 0; y < n.y; y++)
            for (size_t x = 0; x < n.x; x++)
                kernels[k].step(&g, z, y, x);
    int *back = malloc(count * sizeof *back);
    assert_non_null(back);
    convert(&g, layout_of(reply, "to"), back, to, true);
    if (memcmp(back, g.to, count * sizeof *back) != 0)
        fail_msg("%s with %zu x %zu x %zu in \"%s\" and \"%s\" gives something else",
                 kernels[k].name, n.z, n.y, n.x, layout_of(reply, "to"), layout_of(reply, "from"));
    free(back);
    free(memory);
}

static void gives_the_same_in_every_layout(void **state)
{
    (void)state;
    static const shape shapes[] = {{4, 8, 32}, {5, 7, 37}, {3, 3, 3}};
    enum { LAYOUTS = sizeof layouts / sizeof layouts[0] };
    if (queue == NULL)
        skip();
    for (size_t k = 0; k < sizeof kernels / sizeof kernels[0]; k++)
        for (size_t l = 0; l <= LAYOUTS; l++) {
            /* The last time both are those that are found. */
            json_t *reply = apply(kernels[k].source, l < LAYOUTS ? layouts[l] : NULL,
                                  l < LAYOUTS ? layouts[(l + 3) % LAYOUTS] : NULL);
            cl_program program = build(json_string_value(json_object_get(reply, "source")));
            for (size_t s = 0; s < RUNS; s++)
                compare(k, reply, program, shapes[s]);
            clReleaseProgram(program);
            json_decref(reply);
        }
}

/* What is no grid stays as it was written, comments included. */
static void leaves_the_rest(void **state)
{
    (void)state;
    static const char source[] = "/* first */\n__kernel void run(int n, __global float *flat)\n"
                                 "{ flat[n] = flat[n + 1]; /* second */ }\n";
    json_t *reply = apply(source, NULL, NULL);
    assert_string_equal(json_string_value(json_object_get(reply, "source")), source);
    assert_int_equal(json_array_size(json_object_get(reply, "grids")), 0);
    json_decref(reply);
}

static int open_device(void **state)
{
    (void)state;
    cl_platform_id platform;
    if (clGetPlatformIDs(1, &platform, NULL) == CL_SUCCESS &&
        clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 1, &device, NULL) == CL_SUCCESS)
        context = clCreateContext(NULL, 1, &device, NULL, NULL, NULL);
    if (context != NULL)
        queue = clCreateCommandQueue(context, device, 0, NULL);
    if (queue == NULL)
        print_message("There is no OpenCL device here; install pocl-opencl-icd to run this.\n");
    return 0;
}

static int close_device(void **state)
{
    (void)state;
    if (queue != NULL)
        clReleaseCommandQueue(queue);
    if (context != NULL)
        clReleaseContext(context);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(gives_the_same_in_every_layout),
                                       cmocka_unit_test(leaves_the_rest)};
    return cmocka_run_group_tests(tests, open_device, close_device);
}
