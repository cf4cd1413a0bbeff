/*
 * An OpenCL program that makes each call with right and wrong arguments and prints what came of it:
 * the status, and a hash of all bytes that it could have changed. Under the layer it must print the
 * same as without. Before each call a kernel fills all buffers, so that the layer has them in
 * another layout.
 *
 * A call is a row of choices, one for each parameter; choice 0 is right. All rows with at most two
 * other choices are tried. An event that cannot be waited for is a row's only other choice: a
 * conversion finds it before the driver looks at the rest.
 */
#include <CL/cl.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { CELLS = 1000, CELL = 16, BYTES = CELLS * CELL, BUFFERS = 6, MOST_PARAMETERS = 9 };

static const char source[] =
    "typedef struct { int a; float b; int c[2]; } cell;\n"
    "void set(__global cell *p, int start)\n"
    "{ int i = get_global_id(0); p[i].a = start + i; p[i].b = i; p[i].c[0] = -i; p[i].c[1] = 7 * "
    "i; }\n"
    "__kernel void fill(__global cell *p, __global cell *q, __global cell *r, __global cell *s,\n"
    "                   __global cell *t, __global cell *u)\n"
    "{ set(p, 1); set(q, 2); set(r, 3); set(s, 4); set(t, 5); set(u, 6); }\n"
    "__kernel void one(__global cell *p, int step, __local int *few, __constant int *table)\n"
    "{ p[get_global_id(0)].a += step; }\n";

static cl_platform_id platform;
static cl_device_id device;
static cl_context context, other_context;
static cl_command_queue queue, other_queue;
static cl_program program;
static cl_kernel fill, one, unset;
static cl_mem buffers[BUFFERS], view, beside, image, elsewhere;
static cl_event done_event, other_event;
static unsigned char host[2 * BYTES];

static const cl_mem_flags access_of[BUFFERS] = {
    CL_MEM_READ_WRITE,
    CL_MEM_READ_WRITE,
    CL_MEM_READ_WRITE | CL_MEM_HOST_NO_ACCESS,
    CL_MEM_READ_ONLY | CL_MEM_HOST_READ_ONLY,
    CL_MEM_WRITE_ONLY | CL_MEM_HOST_WRITE_ONLY,
    CL_MEM_READ_WRITE | CL_MEM_ALLOC_HOST_PTR,
};

static void need(cl_int error, const char *what)
{
    if (error == CL_SUCCESS)
        return;
    fprintf(stderr, "%s failed (%d)\n", what, error);
    exit(1);
}

/* ---- what may be chosen ---- */

static cl_command_queue queue_of(int choice)
{
    const cl_command_queue queues[] = {queue, NULL, other_queue};
    return queues[choice];
}

static cl_mem buffer_of(int choice)
{
    const cl_mem all[] = {buffers[0], NULL, elsewhere, buffers[2], buffers[3], buffers[4],
                          buffers[5], view, image,     buffers[1], beside};
    return all[choice];
}

static size_t offset_of(int choice)
{
    static const size_t offsets[] = {192, 0, 5, 168, 176, 4000, BYTES - 16, BYTES, BYTES + 16};
    return offsets[choice];
}

static size_t size_of(int choice)
{
    static const size_t sizes[] = {192, 0, 7, 12, 96, 6000, 12000, BYTES, BYTES + 1};
    return sizes[choice];
}

static cl_uint wait_count_of(int choice)
{
    static const cl_uint counts[] = {0, 1, 1, 0, 1, 1};
    return counts[choice];
}

static const cl_event *wait_list_of(int choice)
{
    static cl_event none;
    const cl_event *const lists[] = {NULL, &done_event, NULL, &done_event, &none, &other_event};
    return lists[choice];
}

static const size_t *region_of(int choice)
{
    static const size_t regions[][3] = {{16, 4, 2},  {0, 0, 0},     {16, 4, 1},
                                        {7, 3, 1},   {16, 0, 1},    {64, 60, 4},
                                        {160, 1, 1}, {16, 1000, 1}, {1, 1, 9000}};
    return choice == 1 ? NULL : regions[choice];
}

static const size_t *origin_of(int choice)
{
    static const size_t origins[][3] = {{0, 0, 0},   {0, 0, 0}, {16, 2, 1},
                                        {0, 100, 0}, {5, 0, 0}, {0, 0, 20000}};
    return choice == 1 ? NULL : origins[choice];
}

static size_t row_of(int choice)
{
    static const size_t rows[] = {0, 64, 8, 160, 5};
    return rows[choice];
}

static size_t slice_of(int choice)
{
    static const size_t slices[] = {0, 640, 8, 1000, 100};
    return slices[choice];
}

enum {
    QUEUE = 3,
    BUFFER = 11,
    OFFSET = 9,
    SIZE = 9,
    WAIT = 6,
    BAD_EVENTS = 4,
    REGION = 9,
    ORIGIN = 6,
    PITCH = 5
};

/* ---- calls ---- */

static cl_int call_read(const int *c)
{
    return clEnqueueReadBuffer(queue_of(c[0]), buffer_of(c[1]), (cl_bool)c[2], offset_of(c[3]),
                               size_of(c[4]), c[5] ? NULL : host, wait_count_of(c[6]),
                               wait_list_of(c[6]), NULL);
}

static cl_int call_write(const int *c)
{
    return clEnqueueWriteBuffer(queue_of(c[0]), buffer_of(c[1]), (cl_bool)c[2], offset_of(c[3]),
                                size_of(c[4]), c[5] ? NULL : host, wait_count_of(c[6]),
                                wait_list_of(c[6]), NULL);
}

static cl_int call_read_rect(const int *c)
{
    return clEnqueueReadBufferRect(queue_of(c[0]), buffer_of(c[1]), CL_TRUE, origin_of(c[2]),
                                   origin_of(c[3] ? 1 : 0), region_of(c[4]), row_of(c[5]),
                                   slice_of(c[6]), 0, 0, c[7] ? NULL : host, wait_count_of(c[8]),
                                   wait_list_of(c[8]), NULL);
}

static cl_int call_write_rect(const int *c)
{
    return clEnqueueWriteBufferRect(queue_of(c[0]), buffer_of(c[1]), CL_FALSE, origin_of(c[2]),
                                    origin_of(c[3] ? 1 : 0), region_of(c[4]), row_of(c[5]),
                                    slice_of(c[6]), 0, 0, c[7] ? NULL : host, wait_count_of(c[8]),
                                    wait_list_of(c[8]), NULL);
}

static cl_int call_fill(const int *c)
{
    static const size_t pattern_sizes[] = {16, 0, 1, 3, 4, 8, 12, 64, 128, 256};
    static const unsigned char pattern[256] = {1, 2, 3, 4, 5, 6, 7, 8, 9};
    return clEnqueueFillBuffer(queue_of(c[0]), buffer_of(c[1]), c[2] ? NULL : pattern,
                               pattern_sizes[c[3]], offset_of(c[4]), size_of(c[5]),
                               wait_count_of(c[6]), wait_list_of(c[6]), NULL);
}

static cl_int call_copy(const int *c)
{
    return clEnqueueCopyBuffer(queue_of(c[0]), c[1] == BUFFER ? buffers[1] : buffer_of(c[1]),
                               c[2] == 0 ? buffers[5] : buffer_of(c[2]), offset_of(c[3]),
                               offset_of(c[4]), size_of(c[5]), wait_count_of(c[6]),
                               wait_list_of(c[6]), NULL);
}

/* PoCL 3.1 crashes when a rectangle is copied from or to no buffer, or a sub-buffer. */
static cl_mem whole_buffer_of(int choice)
{
    return buffer_of(choice == 1 || choice == 7 ? 0 : choice);
}

static cl_int call_copy_rect(const int *c)
{
    return clEnqueueCopyBufferRect(queue_of(c[0]), whole_buffer_of(c[1]),
                                   c[2] == 0 ? buffers[5] : whole_buffer_of(c[2]), origin_of(c[3]),
                                   origin_of(c[4]), region_of(c[5]), row_of(c[6]), slice_of(c[7]),
                                   row_of(c[8]), 0, 0, NULL, NULL);
}

static cl_int call_map(const int *c)
{
    static const cl_map_flags flags[] = {CL_MAP_READ, CL_MAP_WRITE, CL_MAP_WRITE_INVALIDATE_REGION,
                                         CL_MAP_READ | CL_MAP_WRITE,
                                         CL_MAP_READ | CL_MAP_WRITE_INVALIDATE_REGION};
    cl_int error = 1;
    void *mapped = clEnqueueMapBuffer(queue_of(c[0]), buffer_of(c[1]), CL_TRUE, flags[c[2]],
                                      offset_of(c[3]), size_of(c[4]), wait_count_of(c[5]),
                                      wait_list_of(c[5]), NULL, c[6] ? NULL : &error);
    cl_int unmapped = 0;
    if (mapped != NULL) {
        if (c[2] == 1 || c[2] == 3)
            memset(mapped, 0x5a, size_of(c[4]) / 2);
        cl_mem from = c[7] == 0 ? buffer_of(c[1]) : buffer_of(c[7]);
        unmapped =
            clEnqueueUnmapMemObject(c[7] == 8 ? other_queue : queue, from, mapped, 0, NULL, NULL);
        if (unmapped != CL_SUCCESS)
            clEnqueueUnmapMemObject(queue, buffer_of(c[1]), mapped, 0, NULL, NULL);
    }
    return error * 1000 + unmapped;
}

static cl_int call_unmap(const int *c)
{
    const void *const places[] = {host, NULL};
    return clEnqueueUnmapMemObject(queue_of(c[0]), buffer_of(c[1]), (void *)places[c[2]],
                                   wait_count_of(c[3]), wait_list_of(c[3]), NULL);
}

static cl_int call_sub_buffer(const int *c)
{
    static const cl_mem_flags flags[] = {0,
                                         CL_MEM_READ_WRITE,
                                         CL_MEM_READ_ONLY,
                                         CL_MEM_WRITE_ONLY,
                                         CL_MEM_READ_ONLY | CL_MEM_WRITE_ONLY,
                                         CL_MEM_USE_HOST_PTR,
                                         CL_MEM_COPY_HOST_PTR,
                                         CL_MEM_HOST_READ_ONLY,
                                         CL_MEM_HOST_NO_ACCESS,
                                         1 << 30};
    static const size_t origins[] = {0, 128, 5, BYTES, BYTES + 128};
    cl_int error = 1;
    cl_mem_flags seen = 0;
    const cl_buffer_region region = {origins[c[2]], size_of(c[3])};
    cl_mem made =
        clCreateSubBuffer(buffer_of(c[0]), flags[c[1]], c[4] ? 77 : CL_BUFFER_CREATE_TYPE_REGION,
                          c[5] ? NULL : &region, &error);
    if (made != NULL) {
        clGetMemObjectInfo(made, CL_MEM_FLAGS, sizeof seen, &seen, NULL);
        clReleaseMemObject(made);
    }
    return error * 1000 + (cl_int)(seen & 0x3ff);
}

static cl_int call_create(const int *c)
{
    static const cl_mem_flags flags[] = {0,
                                         CL_MEM_READ_WRITE,
                                         CL_MEM_READ_ONLY,
                                         CL_MEM_READ_WRITE | CL_MEM_READ_ONLY,
                                         CL_MEM_READ_ONLY | CL_MEM_WRITE_ONLY,
                                         CL_MEM_COPY_HOST_PTR,
                                         CL_MEM_READ_ONLY | CL_MEM_COPY_HOST_PTR,
                                         CL_MEM_USE_HOST_PTR | CL_MEM_COPY_HOST_PTR,
                                         CL_MEM_HOST_READ_ONLY | CL_MEM_HOST_NO_ACCESS,
                                         CL_MEM_WRITE_ONLY | CL_MEM_HOST_WRITE_ONLY,
                                         1 << 30};
    cl_int error = 1;
    cl_mem_flags seen = 0;
    cl_mem made = clCreateBuffer(c[0] ? NULL : context, flags[c[1]], size_of(c[2]),
                                 c[3] ? host : NULL, &error);
    if (made != NULL) {
        clGetMemObjectInfo(made, CL_MEM_FLAGS, sizeof seen, &seen, NULL);
        clReleaseMemObject(made);
    }
    return error * 1000 + (cl_int)(seen & 0x3ff);
}

static cl_int call_set_argument(const int *c)
{
    static const cl_uint indexes[] = {0, 1, 2, 3, 4, 1000};
    static const size_t sizes[] = {8, 0, 4, 7, 16};
    cl_mem buffer = buffer_of(c[3]);
    const size_t zeros[2] = {0, 0};
    const void *const values[] = {&buffer, NULL, zeros};
    return clSetKernelArg(c[0] ? NULL : one, indexes[c[1]], sizes[c[2]], values[c[4]]);
}

static cl_int call_launch(const int *c)
{
    static const size_t globals[][3] = {{CELLS, 1, 1}, {0, 1, 1}, {CELLS, 0, 1}, {1, 1, 1}};
    static const size_t locals[][3] = {{10, 1, 1}, {7, 1, 1}, {1 << 20, 1, 1}, {CELLS, 5, 1}};
    static const size_t offsets[][3] = {{0, 0, 0}, {0, 0, 0}};
    const cl_kernel kernels[] = {fill, unset};
    static const cl_uint dimensions[] = {1, 0, 2, 3, 4, 1u << 30};
    return clEnqueueNDRangeKernel(queue_of(c[0]), kernels[c[1]], dimensions[c[2]],
                                  c[3] ? offsets[0] : NULL, c[4] == 4 ? NULL : globals[c[4]],
                                  c[5] == 4 ? NULL : locals[c[5]], wait_count_of(c[6]),
                                  wait_list_of(c[6]), NULL);
}

static cl_int call_migrate(const int *c)
{
    const cl_mem first[] = {buffers[0], buffers[1]}, second[] = {buffers[0], NULL},
                 third[] = {elsewhere};
    const cl_mem *const lists[] = {first, NULL, second, third};
    static const cl_mem_migration_flags flags[] = {0, CL_MIGRATE_MEM_OBJECT_HOST, 1 << 20};
    static const cl_uint counts[] = {1, 0, 2};
    cl_uint count = c[1] == 3 ? 1 : counts[c[2]];
    return clEnqueueMigrateMemObjects(queue_of(c[0]), count, lists[c[1]], flags[c[3]],
                                      wait_count_of(c[4]), wait_list_of(c[4]), NULL);
}

static cl_int call_create_kernel(const int *c)
{
    const char *const names[] = {"fill", "", "shrink", NULL};
    cl_int error = 1;
    cl_kernel made = clCreateKernel(c[0] ? NULL : program, names[c[1]], c[2] ? NULL : &error);
    cl_uint references = 0;
    if (made != NULL) {
        clGetKernelInfo(made, CL_KERNEL_REFERENCE_COUNT, sizeof references, &references, NULL);
        clReleaseKernel(made);
    }
    return error * 1000 + (cl_int)references;
}

static cl_int call_ask(const int *c)
{
    static const cl_mem_info names[] = {CL_MEM_FLAGS,     CL_MEM_SIZE, CL_MEM_REFERENCE_COUNT,
                                        CL_MEM_MAP_COUNT, CL_MEM_TYPE, 0x1234};
    static const size_t sizes[] = {8, 4, 0, 64};
    size_t value[8] = {0}, size = 0;
    cl_int error = clGetMemObjectInfo(buffer_of(c[0]), names[c[1]], sizes[c[2]],
                                      c[3] ? NULL : value, c[4] ? NULL : &size);
    return error * 100000 + (cl_int)(value[0] & 0xffff) + (cl_int)size;
}

static cl_int call_ask_queue(const int *c)
{
    static const cl_command_queue_info names[] = {CL_QUEUE_PROPERTIES, CL_QUEUE_SIZE, 0x1234};
    static const size_t sizes[] = {8, 4, 0, 64};
    size_t value[8] = {0}, size = 0;
    cl_int error = clGetCommandQueueInfo(queue_of(c[0]), names[c[1]], sizes[c[2]],
                                         c[3] ? NULL : value, c[4] ? NULL : &size);
    return error * 100000 + (cl_int)(value[0] & 0xffff) + (cl_int)size;
}

static cl_int call_create_queue(const int *c)
{
    static const cl_queue_properties size_alone[] = {CL_QUEUE_SIZE, 100, 0},
                                     wrong_flags[] = {CL_QUEUE_PROPERTIES, 1 << 20, 0},
                                     unknown[] = {0x1234, 1, 0}, none[] = {0},
                                     flags[] = {CL_QUEUE_PROPERTIES, CL_QUEUE_PROFILING_ENABLE, 0},
                                     no_flags[] = {CL_QUEUE_PROPERTIES, 0, 0};
    const cl_queue_properties *const lists[] = {size_alone, wrong_flags, unknown, none,
                                                flags,      no_flags,    NULL};
    cl_int error = 1;
    cl_command_queue made = clCreateCommandQueueWithProperties(
        c[0] ? NULL : context, c[1] ? NULL : device, lists[c[2]], c[3] ? NULL : &error);
    if (made != NULL)
        clReleaseCommandQueue(made);
    return error * 10 + (made != NULL);
}

static cl_int call_retain_and_release(const int *c)
{
    cl_int error = clRetainMemObject(buffer_of(c[0]));
    return error * 1000 + (error == CL_SUCCESS ? clReleaseMemObject(buffer_of(c[0])) : 0);
}

static const struct {
    const char *name;
    cl_int (*run)(const int *choices);
    int counts[MOST_PARAMETERS]; /* of choices, one for each parameter */
    int waits;                   /* which parameter is a wait list; 0: none */
} calls[] = {
    {"read", call_read, {QUEUE, BUFFER, 2, OFFSET, SIZE, 2, WAIT}, 6},
    {"write", call_write, {QUEUE, BUFFER, 2, OFFSET, SIZE, 2, WAIT}, 6},
    {"read rectangle",
     call_read_rect,
     {QUEUE, BUFFER, ORIGIN, 2, REGION, PITCH, PITCH, 2, WAIT},
     8},
    {"write rectangle",
     call_write_rect,
     {QUEUE, BUFFER, ORIGIN, 2, REGION, PITCH, PITCH, 2, WAIT},
     8},
    {"fill", call_fill, {QUEUE, BUFFER, 2, 10, OFFSET, SIZE, WAIT}, 6},
    {"copy", call_copy, {QUEUE, BUFFER + 1, BUFFER, OFFSET, OFFSET, SIZE, WAIT}, 6},
    {"copy rectangle",
     call_copy_rect,
     /* PoCL crashes in copies of rectangles of a second part of a buffer */
     {QUEUE, BUFFER - 1, BUFFER - 1, ORIGIN, ORIGIN, REGION, PITCH, PITCH, PITCH},
     0},
    /* PoCL takes a map of a buffer back through a part of it, too */
    {"map", call_map, {QUEUE, BUFFER - 2, 5, OFFSET, SIZE, WAIT, 2, BUFFER - 2}, 5},
    {"unmap", call_unmap, {QUEUE, BUFFER, 2, WAIT}, 3},
    {"sub-buffer", call_sub_buffer, {BUFFER, 10, 5, SIZE, 2, 2}, 0},
    {"create buffer", call_create, {2, 11, SIZE, 2}, 0},
    {"set argument", call_set_argument, {2, 6, 5, BUFFER, 3}, 0},
    {"launch", call_launch, {QUEUE, 2, 6, 2, 5, 5, 2}, 0},
    {"migrate", call_migrate, {QUEUE, 4, 3, 3, WAIT}, 4},
    {"create kernel", call_create_kernel, {2, 4, 2}, 0},
    {"ask buffer", call_ask, {BUFFER, 6, 4, 2, 2}, 0},
    {"ask queue", call_ask_queue, {QUEUE, 3, 4, 2, 2}, 0},
    {"create queue", call_create_queue, {2, 2, 7, 2}, 0},
    {"retain and release", call_retain_and_release, {BUFFER}, 0},
};

/* ---- running ---- */

static uint64_t hash_bytes(uint64_t hash, const unsigned char *bytes, size_t count)
{
    for (size_t i = 0; i < count; i++)
        hash = (hash ^ bytes[i]) * UINT64_C(0x100000001b3);
    return hash;
}

/* Of the host's bytes and all buffers that the host may read. */
static uint64_t hash_all(void)
{
    static unsigned char bytes[BYTES];
    uint64_t hash = hash_bytes(UINT64_C(0xcbf29ce484222325), host, sizeof host);
    for (int i = 0; i < BUFFERS; i++) {
        if ((access_of[i] & (CL_MEM_HOST_NO_ACCESS | CL_MEM_HOST_WRITE_ONLY)) != 0)
            continue;
        need(clEnqueueReadBuffer(queue, buffers[i], CL_TRUE, 0, BYTES, bytes, 0, NULL, NULL),
             "reading");
        hash = hash_bytes(hash, bytes, BYTES);
    }
    return hash;
}

static void try_call(size_t call, const int *choices)
{
    static const size_t count = CELLS;
    for (size_t i = 0; i < sizeof host; i++)
        host[i] = (unsigned char)(i * 7 + i / 256);
    need(clEnqueueNDRangeKernel(queue, fill, 1, NULL, &count, NULL, 0, NULL, NULL), "launching");
    need(clFinish(queue), "clFinish");
    printf("%s", calls[call].name);
    for (int i = 0; i < MOST_PARAMETERS && calls[call].counts[i] > 0; i++)
        printf(" %d", choices[i]);
    fflush(stdout); /* should the driver crash */
    cl_int status = calls[call].run(choices);
    clFinish(queue);
    clFinish(other_queue);
    printf(": %d %016llx\n", status, (unsigned long long)hash_all());
}

static void try_all_pairs(size_t call)
{
    const int *counts = calls[call].counts;
    int choices[MOST_PARAMETERS] = {0};
    try_call(call, choices);
    for (int i = 0; i < MOST_PARAMETERS; i++) {
        for (choices[i] = 1; choices[i] < counts[i]; choices[i]++) {
            try_call(call, choices);
            bool alone = i > 0 && i == calls[call].waits && choices[i] >= BAD_EVENTS;
            for (int j = 0; j < i && !alone; j++) {
                for (choices[j] = 1; choices[j] < counts[j]; choices[j]++)
                    try_call(call, choices);
                choices[j] = 0;
            }
        }
        choices[i] = 0;
    }
}

static void make_buffers(void)
{
    cl_int error;
    const cl_buffer_region region = {1024, 4096}, region_beside = {1152, 4096};
    const cl_image_format format = {CL_RGBA, CL_UNSIGNED_INT8};
    const cl_image_desc description = {
        .image_type = CL_MEM_OBJECT_IMAGE2D, .image_width = 16, .image_height = 16};
    for (int i = 0; i < BUFFERS; i++) {
        buffers[i] =
            clCreateBuffer(context, access_of[i] | CL_MEM_COPY_HOST_PTR, BYTES, host, &error);
        need(error, "clCreateBuffer");
        need(clSetKernelArg(fill, (cl_uint)i, sizeof(cl_mem), &buffers[i]), "clSetKernelArg");
    }
    view = clCreateSubBuffer(buffers[1], 0, CL_BUFFER_CREATE_TYPE_REGION, &region, &error);
    need(error, "clCreateSubBuffer");
    beside = clCreateSubBuffer(buffers[1], 0, CL_BUFFER_CREATE_TYPE_REGION, &region_beside, &error);
    need(error, "clCreateSubBuffer");
    image = clCreateImage(context, CL_MEM_COPY_HOST_PTR, &format, &description, host, &error);
    need(error, "clCreateImage");
    elsewhere = clCreateBuffer(other_context, CL_MEM_COPY_HOST_PTR, BYTES, host, &error);
    need(error, "clCreateBuffer in another context");
}

static void set_up(void)
{
    const char *text = source;
    cl_int error;
    need(clGetPlatformIDs(1, &platform, NULL), "clGetPlatformIDs");
    need(clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 1, &device, NULL), "clGetDeviceIDs");
    context = clCreateContext(NULL, 1, &device, NULL, NULL, &error);
    need(error, "clCreateContext");
    other_context = clCreateContext(NULL, 1, &device, NULL, NULL, &error);
    need(error, "clCreateContext");
    queue = clCreateCommandQueue(context, device, 0, &error);
    need(error, "clCreateCommandQueue");
    other_queue = clCreateCommandQueue(other_context, device, 0, &error);
    need(error, "clCreateCommandQueue");
    program = clCreateProgramWithSource(context, 1, &text, NULL, &error);
    need(error, "clCreateProgramWithSource");
    need(clBuildProgram(program, 1, &device, "", NULL, NULL), "clBuildProgram");
    fill = clCreateKernel(program, "fill", &error);
    need(error, "clCreateKernel");
    one = clCreateKernel(program, "one", &error);
    unset = clCreateKernel(program, "one", &error);
    need(error, "clCreateKernel");
    make_buffers();
    need(clEnqueueMarkerWithWaitList(queue, 0, NULL, &done_event), "a marker");
    need(clEnqueueMarkerWithWaitList(other_queue, 0, NULL, &other_event), "a marker");
    clFinish(queue);
    clFinish(other_queue);
}

int main(void)
{
    set_up();
    for (size_t call = 0; call < sizeof calls / sizeof calls[0]; call++)
        try_all_pairs(call);
    return 0;
}
