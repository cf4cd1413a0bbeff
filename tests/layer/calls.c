/*
 * An OpenCL program that knows nothing of the layer: a long random sequence of every kind of call
 * on a few buffers of structures, on three queues (one out of order), each step also carried out on
 * plain arrays. Every read is compared with the arrays, so a buffer that is in another layout at
 * the wrong moment shows at once.
 *
 * usage: calls KERNELS.cl SEED STEPS [cells [devices]]; exit status 0 when every comparison held,
 * 77 when the platform has fewer devices. The queues are those of the devices in turn.
 */
#include "calls.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

size_t cell_count = 1007;
static cl_context context;
static cl_device_id devices[QUEUES];
static cl_uint device_count = 1;
cl_command_queue queues[QUEUES];
cl_mem buffers[BUFFERS], out;
cell *model[BUFFERS];
cl_kernel bump, join, take, words, sweep, both;
static cl_event last; /* every step waits for the one before */
static uint32_t seed;
static int step;
static const char *doing;

void fail(const char *what, long code)
{
    fprintf(stderr, "step %d (%s): %s (%ld)\n", step, doing, what, code);
    exit(1);
}

void check(cl_int error)
{
    if (error != CL_SUCCESS)
        fail("an OpenCL call failed", error);
}

uint32_t random_below(uint32_t limit)
{
    seed = seed * 1664525u + 1013904223u;
    return (uint32_t)(((uint64_t)(seed >> 4) * limit) >> 28);
}

static size_t bytes(void)
{
    return cell_count * sizeof(cell);
}

static void random_bytes(void *data, size_t size)
{
    uint8_t *at = data;
    for (size_t i = 0; i < size; i++)
        at[i] = (uint8_t)(random_below(100) +
                          20); /* no NaN: comparisons are of bytes, sums of floats are not */
}

/* Every call takes part in one chain of events. */
cl_uint wait_count(void)
{
    return last != NULL ? 1 : 0;
}

const cl_event *wait_list(void)
{
    return last != NULL ? &last : NULL;
}

void chain(cl_event event)
{
    if (last != NULL)
        check(clReleaseEvent(last));
    last = event;
}

cl_command_queue any_queue(void)
{
    return queues[random_below(QUEUES)];
}

/* Waits for the chain; steps on the host's side need it. */
void settle(void)
{
    if (last != NULL)
        check(clWaitForEvents(1, &last));
    for (int i = 0; i < QUEUES; i++)
        check(clFlush(queues[i]));
}

static void compare(const void *got, const void *expected, size_t size)
{
    if (memcmp(got, expected, size) == 0)
        return;
    for (size_t i = 0; i < size; i++)
        if (((const uint8_t *)got)[i] != ((const uint8_t *)expected)[i])
            fail("a byte differs", (long)i);
}

/* ---- one function a kind of step; b is the buffer it works on ---- */

static size_t random_range(size_t *offset)
{
    if (random_below(3) == 0) {
        *offset = 0;
        return bytes();
    }
    *offset = random_below((uint32_t)bytes());
    return 1 + random_below((uint32_t)(bytes() - *offset));
}

void do_write(int b)
{
    size_t offset, size = random_range(&offset);
    uint8_t *data = malloc(size);
    cl_event event;
    random_bytes(data, size);
    check(clEnqueueWriteBuffer(any_queue(), buffers[b], CL_TRUE, offset, size, data, wait_count(),
                               wait_list(), &event));
    chain(event);
    memcpy((uint8_t *)model[b] + offset, data, size);
    free(data);
}

static void do_write_later(int b)
{
    size_t offset, size = random_range(&offset);
    uint8_t *data = malloc(size);
    cl_event event;
    random_bytes(data, size);
    check(clEnqueueWriteBuffer(any_queue(), buffers[b], CL_FALSE, offset, size, data, wait_count(),
                               wait_list(), &event));
    chain(event);
    settle();
    memcpy((uint8_t *)model[b] + offset, data, size);
    free(data);
}

void do_read(int b)
{
    size_t offset, size = random_range(&offset);
    uint8_t *data = malloc(size);
    check(clEnqueueReadBuffer(any_queue(), buffers[b], CL_TRUE, offset, size, data, wait_count(),
                              wait_list(), NULL));
    compare(data, (uint8_t *)model[b] + offset, size);
    free(data);
}

/* A column of 5 bytes out of rows of two cells. */
static void do_rect(int b)
{
    size_t rows = bytes() / ROW, column = random_below(ROW - 5);
    size_t origin[3] = {column, random_below((uint32_t)rows / 2), 0}, zero[3] = {0, 0, 0};
    size_t region[3] = {5, rows / 3, 1};
    uint8_t *data = malloc(region[0] * region[1]);
    uint8_t *at = (uint8_t *)model[b] + origin[1] * ROW + column;
    cl_event event;
    check(clEnqueueReadBufferRect(any_queue(), buffers[b], CL_TRUE, origin, zero, region, ROW, 0,
                                  region[0], 0, data, wait_count(), wait_list(), NULL));
    for (size_t row = 0; row < region[1]; row++)
        compare(data + row * region[0], at + row * ROW, region[0]);
    random_bytes(data, region[0] * region[1]);
    check(clEnqueueWriteBufferRect(any_queue(), buffers[b], CL_TRUE, origin, zero, region, ROW, 0,
                                   region[0], 0, data, wait_count(), wait_list(), &event));
    chain(event);
    for (size_t row = 0; row < region[1]; row++)
        memcpy(at + row * ROW, data + row * region[0], region[0]);
    free(data);
}

static void do_copy(int b)
{
    int from = (b + 1) % BUFFERS;
    size_t offset, size = random_range(&offset);
    cl_event event;
    check(clEnqueueCopyBuffer(any_queue(), buffers[from], buffers[b], offset, offset, size,
                              wait_count(), wait_list(), &event));
    chain(event);
    memcpy((uint8_t *)model[b] + offset, (uint8_t *)model[from] + offset, size);
}

static void do_copy_rect(int b)
{
    int from = (b + 1) % BUFFERS;
    size_t origin[3] = {7, 3, 0}, region[3] = {11, bytes() / ROW - 5, 1};
    cl_event event;
    check(clEnqueueCopyBufferRect(any_queue(), buffers[from], buffers[b], origin, origin, region,
                                  ROW, 0, ROW, 0, wait_count(), wait_list(), &event));
    chain(event);
    for (size_t row = 0; row < region[1]; row++)
        memcpy((uint8_t *)model[b] + (row + 3) * ROW + 7,
               (uint8_t *)model[from] + (row + 3) * ROW + 7, 11);
}

static void do_fill(int b)
{
    bool all = random_below(2) == 0;
    size_t offset = all ? 0 : 4 * random_below(100), size = all ? bytes() : 4 * 321;
    uint32_t pattern = random_below(1u << 20);
    cl_event event;
    check(clEnqueueFillBuffer(any_queue(), buffers[b], &pattern, sizeof pattern, offset, size,
                              wait_count(), wait_list(), &event));
    chain(event);
    for (size_t i = 0; i < size; i += 4)
        memcpy((uint8_t *)model[b] + offset + i, &pattern, 4);
}

static void do_map(int b)
{
    size_t offset, size = random_range(&offset);
    cl_int error;
    cl_event event;
    cl_command_queue queue = any_queue();
    uint8_t *mapped = clEnqueueMapBuffer(queue, buffers[b], CL_TRUE, CL_MAP_READ | CL_MAP_WRITE,
                                         offset, size, wait_count(), wait_list(), NULL, &error);
    check(error);
    compare(mapped, (uint8_t *)model[b] + offset, size);
    random_bytes(mapped, size);
    memcpy((uint8_t *)model[b] + offset, mapped, size);
    check(clEnqueueUnmapMemObject(queue, buffers[b], mapped, 0, NULL, &event));
    check(clFlush(queue));
    chain(event);
}

/* Two parts mapped at once, of which one is only read, and another part that is read meanwhile;
 * they are unmapped in the other order, on other queues. */
static void do_two_maps(int b)
{
    size_t third = bytes() / 3, offsets[2], sizes[2];
    uint8_t *mapped[2], data[64];
    cl_event events[2];
    cl_int error;
    for (size_t i = 0; i < 2; i++) {
        sizes[i] = 1 + random_below((uint32_t)third / 4);
        offsets[i] = i * third + random_below((uint32_t)(third - sizes[i]));
        mapped[i] = clEnqueueMapBuffer(any_queue(), buffers[b], CL_TRUE,
                                       i == 0 ? CL_MAP_WRITE : CL_MAP_READ, offsets[i], sizes[i],
                                       wait_count(), wait_list(), NULL, &error);
        check(error);
    }
    compare(mapped[1], (uint8_t *)model[b] + offsets[1], sizes[1]);
    random_bytes(mapped[0], sizes[0]);
    check(clEnqueueReadBuffer(any_queue(), buffers[b], CL_TRUE, 2 * third, sizeof data, data,
                              wait_count(), wait_list(), NULL));
    compare(data, (uint8_t *)model[b] + 2 * third, sizeof data);
    memcpy((uint8_t *)model[b] + offsets[0], mapped[0], sizes[0]);
    for (size_t i = 2; i-- > 0;) {
        cl_command_queue queue = any_queue();
        check(clEnqueueUnmapMemObject(queue, buffers[b], mapped[i], 0, NULL, &events[i]));
        check(clFlush(queue));
    }
    check(clWaitForEvents(2, events));
    check(clReleaseEvent(events[1]));
    chain(events[0]);
}

/* A copy within one buffer, of parts that do not overlap. */
static void do_copy_inside(int b)
{
    size_t half = bytes() / 2, size = 1 + random_below((uint32_t)half / 2);
    size_t from = random_below((uint32_t)(half - size)), to = half + from;
    cl_event event;
    check(clEnqueueCopyBuffer(any_queue(), buffers[b], buffers[b], from, to, size, wait_count(),
                              wait_list(), &event));
    chain(event);
    memcpy((uint8_t *)model[b] + to, (uint8_t *)model[b] + from, size);
}

/* A launch is held back by the program, with a read behind it. */
void do_hold(int b)
{
    cl_int error;
    cl_uint by = random_below(7);
    cl_event user = clCreateUserEvent(context, &error), both_events[2], event;
    cl_command_queue queue = any_queue();
    check(error);
    both_events[0] = user;
    both_events[1] = last;
    check(clSetKernelArg(words, 0, sizeof(cl_mem), &buffers[b]));
    check(clSetKernelArg(words, 1, sizeof by, &by));
    check(clEnqueueNDRangeKernel(queue, words, 1, NULL, &cell_count, NULL, 1 + wait_count(),
                                 both_events, &event));
    check(clFlush(queue));
    chain(event);
    check(clSetUserEventStatus(user, CL_COMPLETE));
    check(clReleaseEvent(user));
    for (size_t i = 0; i < cell_count; i++)
        model[b][i].n += by;
}

/* The chain is settled first: NVIDIA's driver completes a migration without waiting for its wait
 * list. */
static void do_migrate(int b)
{
    cl_event event;
    settle();
    check(clEnqueueMigrateMemObjects(any_queue(), 1, &buffers[b], 0, wait_count(), wait_list(),
                                     &event));
    chain(event);
}

cl_mem views[BUFFERS]; /* NULL: none */

void make_view(int b)
{
    const cl_buffer_region region = {VIEW_ORIGIN, VIEW_BYTES};
    cl_int error;
    views[b] = clCreateSubBuffer(buffers[b], CL_MEM_READ_WRITE, CL_BUFFER_CREATE_TYPE_REGION,
                                 &region, &error);
    check(error);
}

void end_view(int b)
{
    if (views[b] != NULL)
        check(clReleaseMemObject(views[b]));
    views[b] = NULL;
}

/* A view of a part, which lives on while its parent is used otherwise, and may be mapped. */
static void do_sub_buffer(int b)
{
    uint8_t data[VIEW_BYTES], *bytes_there = (uint8_t *)model[b] + VIEW_ORIGIN;
    size_t offset = random_below(VIEW_BYTES),
           size = 1 + random_below((uint32_t)(VIEW_BYTES - offset));
    cl_command_queue queue = any_queue();
    cl_int error;
    settle();
    if (views[b] == NULL)
        make_view(b);
    check(clEnqueueReadBuffer(queue, views[b], CL_TRUE, offset, size, data, 0, NULL, NULL));
    compare(data, bytes_there + offset, size);
    random_bytes(data, sizeof data);
    if (random_below(2) == 0) {
        check(clEnqueueWriteBuffer(queue, views[b], CL_TRUE, offset, size, data, 0, NULL, NULL));
    } else {
        void *mapped = clEnqueueMapBuffer(queue, views[b], CL_TRUE, CL_MAP_WRITE, offset, size, 0,
                                          NULL, NULL, &error);
        check(error);
        memcpy(mapped, data, size);
        check(clEnqueueUnmapMemObject(queue, views[b], mapped, 0, NULL, NULL));
        check(clFinish(queue));
    }
    memcpy(bytes_there + offset, data, size);
    if (random_below(4) == 0)
        end_view(b);
}

static void make_buffer(int b)
{
    static const cl_mem_flags access[] = {CL_MEM_READ_WRITE, 0, CL_MEM_ALLOC_HOST_PTR};
    cl_mem_flags flags = access[random_below(3)] | CL_MEM_COPY_HOST_PTR, seen;
    cl_uint references;
    cl_int error;
    random_bytes(model[b], bytes());
    buffers[b] = clCreateBuffer(context, flags, bytes(), model[b], &error);
    check(error);
    check(clGetMemObjectInfo(buffers[b], CL_MEM_FLAGS, sizeof seen, &seen, NULL));
    check(clGetMemObjectInfo(buffers[b], CL_MEM_REFERENCE_COUNT, sizeof references, &references,
                             NULL));
    if ((flags & seen) != flags || references != 1)
        fail("flags or references of a new buffer are not the program's", (long)seen);
}

void do_new_buffer(int b)
{
    settle();
    end_view(b);
    check(clReleaseMemObject(buffers[b]));
    make_buffer(b);
}

static void make_queue(int i)
{
    cl_int error;
    cl_command_queue_properties properties = i == 2 ? CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE : 0;
    cl_command_queue_properties seen;
    queues[i] =
        clCreateCommandQueue(context, devices[(cl_uint)i % device_count], properties, &error);
    check(error);
    check(clGetCommandQueueInfo(queues[i], CL_QUEUE_PROPERTIES, sizeof seen, &seen, NULL));
    if (seen != properties)
        fail("the properties of a queue are not the program's", (long)seen);
}

/* A queue goes while its commands may still run. */
static void do_new_queue(int b)
{
    (void)b;
    int i = (int)random_below(QUEUES);
    check(clReleaseCommandQueue(queues[i]));
    make_queue(i);
}

typedef struct {
    const char *name;
    void (*run)(int b);
    uint32_t weight;
} kind;

static const kind kinds[] = {
    {"bump", do_bump, 12},
    {"again", do_again, 6},
    {"join", do_join, 8},
    {"take", do_take, 6},
    {"words", do_words, 3},
    {"sweep", do_sweep, 5},
    {"both", do_both, 2},
    {"write", do_write, 3},
    {"write later", do_write_later, 3},
    {"read", do_read, 5},
    {"rect", do_rect, 2},
    {"copy", do_copy, 4},
    {"copy rect", do_copy_rect, 2},
    {"fill", do_fill, 2},
    {"map", do_map, 3},
    {"two maps", do_two_maps, 2},
    {"copy inside", do_copy_inside, 1},
    {"hold", do_hold, 1},
    {"migrate", do_migrate, 1},
    {"sub-buffer", do_sub_buffer, 2},
    {"new buffer", do_new_buffer, 2},
    {"new queue", do_new_queue, 1},
};
enum { KINDS = sizeof kinds / sizeof kinds[0] };

static const kind *random_kind(void)
{
    uint32_t total = 0;
    for (int i = 0; i < KINDS; i++)
        total += kinds[i].weight;
    uint32_t at = random_below(total);
    int i = 0;
    for (; at >= kinds[i].weight; i++)
        at -= kinds[i].weight;
    return &kinds[i];
}

static char *read_source(const char *path)
{
    FILE *file = fopen(path, "rb");
    static char source[65536];
    if (file == NULL)
        fail(path, 0);
    source[fread(source, 1, sizeof source - 1, file)] = '\0';
    fclose(file);
    return source;
}

static cl_kernel make_kernel(cl_program program, const char *name, cl_uint arguments)
{
    cl_int error;
    cl_uint seen;
    cl_kernel kernel = clCreateKernel(program, name, &error);
    check(error);
    check(clGetKernelInfo(kernel, CL_KERNEL_NUM_ARGS, sizeof seen, &seen, NULL));
    if (seen != arguments)
        fail("a kernel has another number of arguments", (long)seen);
    return kernel;
}

static cl_program program;

static void set_up(const char *path)
{
    cl_platform_id platform;
    cl_uint present;
    cl_int error;
    check(clGetPlatformIDs(1, &platform, NULL));
    check(clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, QUEUES, devices, &present));
    if (present < device_count)
        exit(77);
    context = clCreateContext(NULL, device_count, devices, NULL, NULL, &error);
    check(error);
    const char *source = read_source(path);
    program = clCreateProgramWithSource(context, 1, &source, NULL, &error);
    check(error);
    check(clBuildProgram(program, device_count, devices, "", NULL, NULL));
    bump = make_kernel(program, "bump", 2);
    join = make_kernel(program, "join", 2);
    take = make_kernel(program, "take", 2);
    words = make_kernel(program, "words", 2);
    sweep = make_kernel(program, "sweep", 3);
    both = make_kernel(program, "both", 2);
    size_t source_size;
    check(clGetProgramInfo(program, CL_PROGRAM_SOURCE, 0, NULL, &source_size));
    if (source_size != strlen(source) + 1)
        fail("the program's source is not its own", (long)source_size);
    for (int i = 0; i < QUEUES; i++)
        make_queue(i);
    for (int b = 0; b < BUFFERS; b++) {
        model[b] = malloc(bytes());
        make_buffer(b);
    }
    out = clCreateBuffer(context, CL_MEM_WRITE_ONLY, cell_count * sizeof(uint32_t), NULL, &error);
    check(error);
}

static void tear_down(void)
{
    doing = "the end";
    for (int b = 0; b < BUFFERS; b++) {
        cell *data = malloc(bytes());
        check(clEnqueueReadBuffer(queues[0], buffers[b], CL_TRUE, 0, bytes(), data, wait_count(),
                                  wait_list(), NULL));
        compare(data, model[b], bytes());
        free(data);
        free(model[b]);
        check(clReleaseMemObject(buffers[b]));
    }
    chain(NULL);
    check(clReleaseMemObject(out));
    cl_kernel kernels[] = {bump, join, take, words, sweep, both};
    for (size_t i = 0; i < sizeof kernels / sizeof kernels[0]; i++)
        check(clReleaseKernel(kernels[i]));
    for (int i = 0; i < QUEUES; i++)
        check(clReleaseCommandQueue(queues[i]));
    check(clReleaseProgram(program));
    check(clReleaseContext(context));
}

int main(int argc, char **argv)
{
    if (argc < 4)
        return 2;
    doing = "setup";
    seed = (uint32_t)strtoul(argv[2], NULL, 10);
    long steps = strtol(argv[3], NULL, 10);
    if (argc > 4)
        cell_count = strtoul(argv[4], NULL, 10);
    if (argc > 5)
        device_count = (cl_uint)strtoul(argv[5], NULL, 10);
    if (device_count < 1 || device_count > QUEUES)
        return 2;
    set_up(argv[1]);
    for (step = 0; step < steps; step++) {
        const kind *next = random_kind();
        doing = next->name;
        next->run((int)random_below(BUFFERS));
    }
    tear_down();
    printf("%ld steps, every byte as expected\n", steps);
    return 0;
}
