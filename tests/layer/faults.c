/*
 * An OpenCL program on a device that runs out of memory, or refuses a command, at the worst moment:
 * made_up_gpu/faults.c fails the calls that made_up_fault names, which this program sets around its
 * own calls. What a layer does for itself may fail; what the program asked for may not, as long as
 * its bytes exist.
 *
 * usage: faults CASE RECORDS, a case of main(); exit status 0 when all is as it should be.
 */
#include "items.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_BUFFERS = 12, PART = 5 };

static const char no_memory[] = "buffer 1 1000000", no_room[] = "migrate 1 1000000",
                  first_kernel[] = "kernel 1 1", second_kernel[] = "kernel 2 2",
                  first_run[] = "run 1 1", second_argument[] = "argument 2 2";

/* For made_up_gpu/faults.c. */
extern const char *_Atomic made_up_fault;
const char *_Atomic made_up_fault;

static cl_context context;
static cl_command_queue queue, other_queue; /* of another device, if there is one */
static cl_kernel grow, plain;
static size_t count;

typedef struct {
    cl_mem handle;
    item *model;
    size_t count;
} array;

static item *got;
static item *models[MOST_BUFFERS];
static int model_count;

/* ---- checks ---- */

static void expect(cl_int error, cl_int expected, const char *what)
{
    if (error == expected)
        return;
    fprintf(stderr, "%s: %d instead of %d\n", what, error, expected);
    exit(1);
}

static void check(cl_int error, const char *what)
{
    expect(error, CL_SUCCESS, what);
}

static void fail_calls(const char *which)
{
    made_up_fault = which;
}

static void fail_no_calls(void)
{
    made_up_fault = NULL;
}

static cl_int read_items(cl_command_queue on, const array *a, size_t first, size_t end)
{
    cl_int error = clEnqueueReadBuffer(on, a->handle, CL_TRUE, first * sizeof(item),
                                       (end - first) * sizeof(item), got, 0, NULL, NULL);
    if (error == CL_SUCCESS && memcmp(got, a->model + first, (end - first) * sizeof(item)) != 0) {
        fprintf(stderr, "bytes differ\n");
        exit(1);
    }
    return error;
}

static void check_all(const array *a)
{
    check(read_items(queue, a, 0, a->count), "reading all");
}

/* ---- arrays ---- */

static array make_array(size_t records)
{
    cl_int error;
    array made = {NULL, malloc(records * sizeof(item)), records};
    if (made.model == NULL || model_count == MOST_BUFFERS)
        exit(1);
    models[model_count++] = made.model;
    for (size_t i = 0; i < records * FLOATS; i++)
        made.model[i / FLOATS].f[i % FLOATS] = (float)(i % 10007);
    made.handle = clCreateBuffer(context, CL_MEM_READ_WRITE | CL_MEM_COPY_HOST_PTR,
                                 records * sizeof(item), made.model, &error);
    check(error, "clCreateBuffer");
    return made;
}

static cl_int launch(cl_kernel kernel, const array *a)
{
    check(clSetKernelArg(kernel, 0, sizeof a->handle, &a->handle), "clSetKernelArg");
    cl_int error = clEnqueueNDRangeKernel(queue, kernel, 1, NULL, &a->count, NULL, 0, NULL, NULL);
    if (error == CL_SUCCESS)
        items_grow(a->model, a->count);
    return error;
}

/* ---- cases ---- */

/* An array that was converted once, so that its plans are made. */
static array make_known_array(void)
{
    array a = make_array(count);
    check(launch(grow, &a), "a launch");
    check_all(&a);
    return a;
}

static void run_without_memory(array a)
{
    const char *const faults[] = {no_memory, no_room};
    for (int i = 0; i < 2; i++) {
        fail_calls(faults[i]);
        check(launch(grow, &a), "a launch without scratch memory");
        check(clFinish(queue), "clFinish");
        fail_no_calls();
    }
    check(launch(grow, &a), "a launch");
    check_all(&a);
}

/* Without scratch memory the program's own kernel runs. */
static void no_memory_there(void)
{
    run_without_memory(make_known_array());
}

/* The same when not even plans can be made. */
static void no_memory_for_plans(void)
{
    run_without_memory(make_array(count));
}

/* Nothing needs memory on the way back, in parts or as a whole. */
static void no_memory_back(void)
{
    array a = make_array(count);
    check(launch(grow, &a), "a launch");
    fail_calls(no_memory);
    check(read_items(queue, &a, 3, 3 + PART), "reading a part");
    check_all(&a);
    fail_no_calls();
    check(launch(grow, &a), "a launch");
    fail_calls(no_memory);
    check(clEnqueueWriteBuffer(queue, a.handle, CL_TRUE, 0, PART * sizeof(item), a.model + 10, 0,
                               NULL, NULL),
          "writing a part");
    memcpy(a.model, a.model + 10, PART * sizeof(item));
    check_all(&a);
    fail_no_calls();
}

/* The same for a queue of another device, which has no plans of its own. */
static void no_memory_elsewhere(void)
{
    array a = make_array(count);
    check(launch(grow, &a), "a launch");
    check(clFinish(queue), "clFinish");
    fail_calls(no_memory);
    check(read_items(other_queue, &a, 0, a.count), "reading all on another device");
    fail_no_calls();
}

/* The conversion's first kernel is refused: the program's own runs. */
static void refused_there(void)
{
    array a = make_known_array();
    fail_calls(first_kernel);
    check(launch(grow, &a), "a launch whose conversion is refused");
    fail_no_calls();
    check_all(&a);
    check(launch(grow, &a), "a launch");
    check_all(&a);
}

/* The rewritten kernel does not take an argument that the program's own has taken: it is gone, also
 * for a launch that repeats one before. */
static void refused_argument(void)
{
    array a = make_array(count);
    for (int i = 0; i < 2; i++)
        check(launch(grow, &a), "a launch");
    fail_calls(second_argument);
    check(launch(grow, &a), "a launch without the rewritten kernel");
    fail_no_calls();
    check(launch(grow, &a), "a launch after it");
    check_all(&a);
}

/* A part goes the way of the whole then; the whole can be asked for again. */
static void refused_back(void)
{
    array a = make_array(count);
    check(launch(grow, &a), "a launch");
    fail_calls(first_kernel);
    check(read_items(queue, &a, 3, 3 + PART), "reading a part that is refused");
    fail_no_calls();
    check(launch(grow, &a), "a launch");
    fail_calls(first_kernel);
    expect(read_items(queue, &a, 0, a.count), CL_OUT_OF_RESOURCES, "reading all, refused");
    fail_no_calls();
    check_all(&a);
}

/* Nothing can be done with an array whose bytes are lost, nor does it do harm to others. */
static void expect_lost(const array *a)
{
    static const float zero;
    static const size_t origin[3], region[] = {64, 2, 1};
    const size_t all = a->count * sizeof(item);
    const cl_buffer_region some = {0, 4096};
    array other = make_array(a->count);
    cl_int error;
    cl_mem view = clCreateSubBuffer(a->handle, 0, CL_BUFFER_CREATE_TYPE_REGION, &some, &error);
    const struct {
        const char *what;
        cl_int error;
    } tried[] = {
        {"reading all", read_items(queue, a, 0, a->count)},
        {"reading a part", read_items(queue, a, 3, 3 + PART)},
        {"writing all",
         clEnqueueWriteBuffer(queue, a->handle, CL_TRUE, 0, all, got, 0, NULL, NULL)},
        {"writing a part",
         clEnqueueWriteBuffer(queue, a->handle, CL_TRUE, 64, 64, got, 0, NULL, NULL)},
        {"filling",
         clEnqueueFillBuffer(queue, a->handle, &zero, sizeof zero, 0, all, 0, NULL, NULL)},
        {"copying from it",
         clEnqueueCopyBuffer(queue, a->handle, other.handle, 0, 0, all, 0, NULL, NULL)},
        {"copying to it",
         clEnqueueCopyBuffer(queue, other.handle, a->handle, 0, 0, all, 0, NULL, NULL)},
        {"reading a rectangle", clEnqueueReadBufferRect(queue, a->handle, CL_TRUE, origin, origin,
                                                        region, 128, 0, 64, 0, got, 0, NULL, NULL)},
        {"migrating", clEnqueueMigrateMemObjects(queue, 1, &a->handle, 0, 0, NULL, NULL)},
        {"launching", launch(grow, a)},
        {"launching as floats", launch(plain, a)},
        {"reading by a sub-buffer",
         clEnqueueReadBuffer(queue, view, CL_TRUE, 0, 64, got, 0, NULL, NULL)},
    };
    for (size_t i = 0; i < sizeof tried / sizeof tried[0]; i++)
        expect(tried[i].error, CL_OUT_OF_RESOURCES, tried[i].what);
    clEnqueueMapBuffer(queue, a->handle, CL_TRUE, CL_MAP_READ, 0, all, 0, NULL, NULL, &error);
    expect(error, CL_OUT_OF_RESOURCES, "mapping");
    check(launch(grow, &other), "a launch on another array");
    check_all(&other);
    check(clReleaseMemObject(view), "releasing the sub-buffer");
    check(clReleaseMemObject(a->handle), "releasing the lost array");
    check(clFinish(queue), "clFinish");
}

static void torn_there(void)
{
    array a = make_known_array();
    fail_calls(second_kernel);
    expect(launch(grow, &a), CL_OUT_OF_RESOURCES, "a launch whose conversion is torn");
    fail_no_calls();
    expect_lost(&a);
}

static void torn_back(void)
{
    array a = make_array(count);
    check(launch(grow, &a), "a launch");
    fail_calls(second_kernel);
    expect(read_items(queue, &a, 0, a.count), CL_OUT_OF_RESOURCES, "reading all, torn");
    fail_no_calls();
    expect_lost(&a);
}

/* What there may be any number of does not keep that from the report. */
static void torn_among_notes(void)
{
    enum { NOTES = 300 };
    char name[32];
    cl_platform_id platform;
    array a = make_array(count);
    check(clGetPlatformIDs(1, &platform, NULL), "clGetPlatformIDs");
    check(launch(grow, &a), "a launch");
    fail_calls(second_kernel); /* at the first name everything is converted back */
    for (int i = 0; i < NOTES; i++) {
        snprintf(name, sizeof name, "clUnheardOf%d", i);
        clGetExtensionFunctionAddressForPlatform(platform, name);
    }
    fail_no_calls();
    expect_lost(&a);
}

/* A conversion fails while it runs, which the next one finds. */
static void fails_there(void)
{
    array a = make_known_array();
    fail_calls(first_run);
    check(launch(grow, &a), "a launch whose conversion fails later");
    fail_no_calls();
    clFinish(queue);
    expect(read_items(queue, &a, 0, a.count), CL_OUT_OF_RESOURCES, "reading all");
    expect_lost(&a);
}

/* The command that waits for it tells. */
static void fails_back(void)
{
    array a = make_array(count);
    check(launch(grow, &a), "a launch");
    fail_calls(first_run);
    expect(read_items(queue, &a, 0, a.count), CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST,
           "reading all");
    fail_no_calls();
    expect_lost(&a);
}

/* A copy takes the layout along if it can be brought back. */
static void copied(void)
{
    array a = make_array(count), b = make_array(count), c = make_array(count);
    const size_t all = count * sizeof(item);
    check(launch(grow, &a), "a launch");
    check(clEnqueueCopyBuffer(queue, a.handle, b.handle, 0, 0, all, 0, NULL, NULL), "copying");
    fail_calls(no_memory);
    check(clEnqueueCopyBuffer(queue, a.handle, c.handle, 0, 0, all, 0, NULL, NULL),
          "copying without memory");
    memcpy(b.model, a.model, all);
    memcpy(c.model, a.model, all);
    check_all(&b);
    check_all(&c);
    check_all(&a);
    fail_no_calls();
    /* Onto one that has the layout already. */
    check(launch(grow, &a), "a launch");
    check(launch(grow, &b), "a launch");
    check(clEnqueueCopyBuffer(queue, a.handle, b.handle, 0, 0, all, 0, NULL, NULL), "copying");
    memcpy(b.model, a.model, all);
    fail_calls(no_memory);
    check_all(&b);
    check_all(&a);
    fail_no_calls();
}

/* More lengths of arrays at a time than plans are kept of unused ones, or need be. */
static void many(void)
{
    array arrays[MOST_BUFFERS];
    for (size_t i = 0; i < MOST_BUFFERS; i++) {
        arrays[i] = make_array(count - i);
        check(launch(grow, &arrays[i]), "a launch");
    }
    fail_calls(no_memory);
    for (size_t i = 0; i < MOST_BUFFERS; i++)
        check_all(&arrays[i]);
    fail_no_calls();
}

static void set_up(void)
{
    cl_platform_id platform;
    cl_device_id devices[2];
    cl_uint device_count;
    cl_int error;
    const char *text = items_source;
    check(clGetPlatformIDs(1, &platform, NULL), "clGetPlatformIDs");
    check(clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 2, devices, &device_count),
          "clGetDeviceIDs");
    device_count = device_count > 2 ? 2 : device_count;
    context = clCreateContext(NULL, device_count, devices, NULL, NULL, &error);
    check(error, "clCreateContext");
    queue = clCreateCommandQueue(context, devices[0], 0, &error);
    check(error, "clCreateCommandQueue");
    other_queue = clCreateCommandQueue(context, devices[device_count - 1], 0, &error);
    check(error, "clCreateCommandQueue");
    cl_program program = clCreateProgramWithSource(context, 1, &text, NULL, &error);
    check(error, "clCreateProgramWithSource");
    check(clBuildProgram(program, 1, devices, "", NULL, NULL), "clBuildProgram");
    grow = clCreateKernel(program, "grow", &error);
    check(error, "clCreateKernel");
    plain = clCreateKernel(program, "plain", &error);
    check(error, "clCreateKernel");
    got = malloc(count * sizeof(item));
}

int main(int argc, char **argv)
{
    static const struct {
        const char *name;
        void (*run)(void);
    } cases[] = {{"no-memory-there", no_memory_there},
                 {"no-memory-for-plans", no_memory_for_plans},
                 {"no-memory-back", no_memory_back},
                 {"no-memory-elsewhere", no_memory_elsewhere},
                 {"refused-there", refused_there},
                 {"refused-argument", refused_argument},
                 {"refused-back", refused_back},
                 {"torn-there", torn_there},
                 {"torn-back", torn_back},
                 {"torn-among-notes", torn_among_notes},
                 {"fails-there", fails_there},
                 {"fails-back", fails_back},
                 {"copied", copied},
                 {"many", many}};
    if (argc != 3)
        return 2;
    count = strtoul(argv[2], NULL, 10);
    set_up();
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        if (strcmp(argv[1], cases[i].name) == 0) {
            cases[i].run();
            while (model_count > 0)
                free(models[--model_count]);
            free(got);
            return 0;
        }
    return 2;
}
