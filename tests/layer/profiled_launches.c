/*
 * An OpenCL program whose queues have no profiling, so that the launches which policy auto times go
 * by a queue of the layer's own: whose order, events and results are as if they did not.
 *
 * usage: profiled_launches CASE, one of those in main(); exit status 0 when everything is as it
 * should be.
 */
#include "made_up_clock.h"

#include <CL/cl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ITEMS = 64, FLOATS = 16, ALL = ITEMS * FLOATS, ROUNDS = 6, THREADS = 4 };

static const char source[] =
    "typedef struct { float f[16]; } item;\n"
    "__kernel void grow(__global item *items)\n"
    "{ size_t i = get_global_id(0); for (int k = 0; k < 16; k++) items[i].f[k] += (float)k; }\n"
    /* Takes its time before it looks at the array. */
    "__kernel void turn(__global float *all, uint rounds)\n"
    "{ uint x = rounds; for (uint r = 0; r < rounds; r++) x = x * 1664525u + 1013904223u;\n"
    "  for (int i = 0; i < 1024; i++) all[i] = (x == 1u ? 0.0f : 100.0f) - all[i]; }\n";

/* For made_up_gpu/faults.c. */
extern const char *_Atomic made_up_fault;
const char *_Atomic made_up_fault;

static cl_context context;
static cl_device_id device;
static cl_program program;

/* One thread's objects and what its array is to hold. */
typedef struct {
    cl_command_queue queue;
    cl_kernel grow, turn;
    cl_mem buffer;
    float model[ALL];
} setting;

static void check(int right, const char *what)
{
    if (right)
        return;
    fprintf(stderr, "%s\n", what);
    exit(1);
}

static void make_program(void)
{
    cl_platform_id platform;
    cl_int error;
    const char *text = source;
    check(clGetPlatformIDs(1, &platform, NULL) == CL_SUCCESS &&
              clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 1, &device, NULL) == CL_SUCCESS,
          "no device");
    context = clCreateContext(NULL, 1, &device, NULL, NULL, &error);
    check(error == CL_SUCCESS, "no context");
    program = clCreateProgramWithSource(context, 1, &text, NULL, &error);
    check(clBuildProgram(program, 1, &device, "", NULL, NULL) == CL_SUCCESS, "no program");
}

static void set_up(setting *s, cl_command_queue_properties properties)
{
    static const cl_uint rounds = 20000000;
    cl_int error;
    memset(s->model, 0, sizeof s->model);
    s->queue = clCreateCommandQueue(context, device, properties, &error);
    check(error == CL_SUCCESS, "no queue");
    s->grow = clCreateKernel(program, "grow", &error);
    s->turn = clCreateKernel(program, "turn", &error);
    s->buffer = clCreateBuffer(context, CL_MEM_READ_WRITE | CL_MEM_COPY_HOST_PTR, sizeof s->model,
                               s->model, &error);
    check(error == CL_SUCCESS, "no buffer");
    check(clSetKernelArg(s->grow, 0, sizeof s->buffer, &s->buffer) == CL_SUCCESS &&
              clSetKernelArg(s->turn, 0, sizeof s->buffer, &s->buffer) == CL_SUCCESS &&
              clSetKernelArg(s->turn, 1, sizeof rounds, &rounds) == CL_SUCCESS,
          "arguments were refused");
}

static void tear_down(setting *s)
{
    clReleaseMemObject(s->buffer);
    clReleaseKernel(s->grow);
    clReleaseKernel(s->turn);
    clReleaseCommandQueue(s->queue);
}

/* A layer builds conversions beside the program, and has a part of its time for measuring. */
static void sleep_a_second(void)
{
    sleep_nanoseconds(1000000000);
}

/* ---- commands, and what they do to the model ---- */

static void grow(setting *s, cl_uint wait_count, const cl_event *wait_list, cl_event *event)
{
    size_t count = ITEMS;
    check(clEnqueueNDRangeKernel(s->queue, s->grow, 1, NULL, &count, NULL, wait_count, wait_list,
                                 event) == CL_SUCCESS,
          "a launch was refused");
    for (int i = 0; i < ALL; i++)
        s->model[i] += (float)(i % FLOATS);
}

static void turn(setting *s, cl_uint wait_count, const cl_event *wait_list, cl_event *event)
{
    size_t one = 1;
    check(clEnqueueNDRangeKernel(s->queue, s->turn, 1, NULL, &one, NULL, wait_count, wait_list,
                                 event) == CL_SUCCESS,
          "a launch was refused");
    for (int i = 0; i < ALL; i++)
        s->model[i] = 100.0f - s->model[i];
}

static void compare(const setting *s, cl_uint wait_count, const cl_event *wait_list)
{
    float got[ALL];
    check(clEnqueueReadBuffer(s->queue, s->buffer, CL_TRUE, 0, sizeof got, got, wait_count,
                              wait_list, NULL) == CL_SUCCESS,
          "a read was refused");
    for (int i = 0; i < ALL; i++)
        check(got[i] == s->model[i], "the results differ");
}

/* Before the first wait a layer may take the launches for short, since the buffer is small. */
static void show_length(setting *s)
{
    grow(s, 0, NULL, NULL);
    compare(s, 0, NULL);
}

/* ---- cases ---- */

/* Each command's result depends on the one before. */
static void in_order(void)
{
    setting s;
    set_up(&s, 0);
    sleep_a_second();
    for (int i = 0; i < ROUNDS; i++) {
        turn(&s, 0, NULL, NULL);
        grow(&s, 0, NULL, NULL);
        turn(&s, 0, NULL, NULL);
        grow(&s, 0, NULL, NULL);
        compare(&s, 0, NULL);
        grow(&s, 0, NULL, NULL);
    }
    compare(&s, 0, NULL);
    for (int i = 0; i < ROUNDS; i++)
        grow(&s, 0, NULL, NULL);
    compare(&s, 0, NULL);
    tear_down(&s);
}

/* The same by wait lists, then by barriers, in a queue that keeps no order by itself: none is
 * timed.
 */
static void out_of_order(void)
{
    setting s;
    cl_event events[2];
    set_up(&s, CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE);
    sleep_a_second();
    turn(&s, 0, NULL, &events[0]);
    for (int i = 0; i < ROUNDS; i++) {
        grow(&s, 1, &events[0], &events[1]);
        clReleaseEvent(events[0]);
        turn(&s, 1, &events[1], &events[0]);
        clReleaseEvent(events[1]);
    }
    compare(&s, 1, events);
    clReleaseEvent(events[0]);
    for (int i = 0; i < ROUNDS; i++) {
        grow(&s, 0, NULL, NULL);
        check(clEnqueueBarrierWithWaitList(s.queue, 0, NULL, NULL) == CL_SUCCESS, "no barrier");
        turn(&s, 0, NULL, NULL);
        check(clEnqueueBarrierWithWaitList(s.queue, 0, NULL, NULL) == CL_SUCCESS, "no barrier");
    }
    grow(&s, 0, NULL, NULL);
    check(clFinish(s.queue) == CL_SUCCESS, "no finish");
    compare(&s, 0, NULL);
    tear_down(&s);
}

static void CL_CALLBACK notice(cl_event event, cl_int status, void *count)
{
    (void)event;
    if (status == CL_COMPLETE)
        atomic_fetch_add((atomic_int *)count, 1);
}

/* The driver itself holds it until shortly after the command has ended, or the next in the queue.
 */
static void check_references(cl_event event)
{
    cl_uint references = 0;
    sleep_nanoseconds(1000000);
    clGetEventInfo(event, CL_EVENT_REFERENCE_COUNT, sizeof references, &references, NULL);
    check(references == 1, "others hold the event");
}

/* What the program finds out about the event of a launch. */
static void check_event(cl_event event, const setting *s)
{
    cl_command_queue queue;
    cl_context found;
    cl_command_type type;
    cl_ulong time;
    cl_int status = CL_QUEUED;
    check(clGetEventInfo(event, CL_EVENT_COMMAND_QUEUE, sizeof(void *), (void *)&queue, NULL) ==
                  CL_SUCCESS &&
              queue == s->queue,
          "the event is of another queue");
    check(clGetEventInfo(event, CL_EVENT_CONTEXT, sizeof(void *), (void *)&found, NULL) ==
                  CL_SUCCESS &&
              found == context,
          "the event is of another context");
    check(clGetEventInfo(event, CL_EVENT_COMMAND_TYPE, sizeof type, &type, NULL) == CL_SUCCESS &&
              type == CL_COMMAND_NDRANGE_KERNEL,
          "the event is of another command");
    check(clGetEventProfilingInfo(event, CL_PROFILING_COMMAND_START, sizeof time, &time, NULL) ==
              CL_PROFILING_INFO_NOT_AVAILABLE,
          "the event has times");
    check(clWaitForEvents(1, &event) == CL_SUCCESS &&
              clGetEventInfo(event, CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof status, &status,
                             NULL) == CL_SUCCESS &&
              status == CL_COMPLETE,
          "the event is not complete");
    check_references(event);
}

static void events_of_launches(void)
{
    setting s;
    cl_event events[2 * ROUNDS];
    cl_command_type type;
    atomic_int noticed = 0;
    set_up(&s, 0);
    sleep_a_second();
    show_length(&s);
    for (int i = 0; i < 2 * ROUNDS; i++) {
        grow(&s, 0, NULL, &events[i]);
        check(clSetEventCallback(events[i], CL_COMPLETE, notice, &noticed) == CL_SUCCESS,
              "a callback was refused");
    }
    grow(&s, 0, NULL, NULL);
    for (int i = 0; i < 2 * ROUNDS; i++)
        check_event(events[i], &s);
    compare(&s, 0, NULL);
    tear_down(&s);
    for (int i = 0; i < 2 * ROUNDS; i++) { /* they outlive the queue */
        check(clGetEventInfo(events[i], CL_EVENT_COMMAND_TYPE, sizeof type, &type, NULL) ==
                      CL_SUCCESS &&
                  type == CL_COMMAND_NDRANGE_KERNEL,
              "the event is of another command");
        clReleaseEvent(events[i]);
    }
    sleep_nanoseconds(1000000);
    check(atomic_load(&noticed) == 2 * ROUNDS, "a callback was not called");
}

/* Real markers and barriers are what they are. */
static void other_events(void)
{
    setting s;
    cl_event event;
    cl_command_type type;
    set_up(&s, 0);
    for (int i = 0; i < ROUNDS; i++) {
        grow(&s, 0, NULL, &event);
        clReleaseEvent(event);
        check(clEnqueueBarrierWithWaitList(s.queue, 0, NULL, &event) == CL_SUCCESS &&
                  clGetEventInfo(event, CL_EVENT_COMMAND_TYPE, sizeof type, &type, NULL) ==
                      CL_SUCCESS &&
                  type == CL_COMMAND_BARRIER,
              "a barrier's event is of another command");
        clReleaseEvent(event);
    }
    compare(&s, 0, NULL);
    tear_down(&s);
}

/* In a queue of its own. */
static void run_rounds(void)
{
    setting s;
    set_up(&s, 0);
    for (int i = 0; i < ROUNDS; i++) {
        turn(&s, 0, NULL, NULL);
        grow(&s, 0, NULL, NULL);
        compare(&s, 0, NULL);
    }
    tear_down(&s);
}

static void *run_thread(void *unused)
{
    (void)unused;
    made_up_clock_join();
    run_rounds();
    return NULL;
}

static void threads(void)
{
    pthread_t all[THREADS];
    for (int i = 0; i < THREADS; i++)
        check(pthread_create(&all[i], NULL, run_thread, NULL) == 0, "no thread");
    for (int i = 0; i < THREADS; i++)
        pthread_join(all[i], NULL);
}

/* Things that the driver refuses to the layer while it times a launch; the program goes on. */
static void with_fault(const char *fault)
{
    setting s;
    cl_event event;
    set_up(&s, 0);
    sleep_a_second();
    show_length(&s);
    for (int i = 0; i < ROUNDS; i++) {
        turn(&s, 0, NULL, NULL);
        made_up_fault = fault;
        grow(&s, 0, NULL, i % 2 == 0 ? NULL : &event);
        made_up_fault = NULL;
        if (i % 2 == 0) {
            compare(&s, 0, NULL);
            continue;
        }
        turn(&s, 1, &event, NULL);
        clReleaseEvent(event);
    }
    compare(&s, 0, NULL);
    tear_down(&s);
}

/* The first queue is the program's. */
static void no_queue(void)
{
    made_up_fault = "queue 2 9";
    run_rounds();
}

static void no_marker(void)
{
    with_fault("marker 1 1");
}

static void no_barrier(void)
{
    with_fault("barrier 1 1");
}

/* The program's launch fails, with its error; the next one does not. */
static void no_kernel(void)
{
    setting s;
    size_t count = ITEMS;
    cl_event event = NULL;
    set_up(&s, 0);
    sleep_a_second();
    show_length(&s);
    turn(&s, 0, NULL, NULL);
    made_up_fault = "kernel 1 1";
    check(clEnqueueNDRangeKernel(s.queue, s.grow, 1, NULL, &count, NULL, 0, NULL, &event) ==
                  CL_OUT_OF_RESOURCES &&
              event == NULL,
          "the launch did not fail");
    made_up_fault = NULL;
    grow(&s, 0, NULL, NULL);
    turn(&s, 0, NULL, NULL);
    compare(&s, 0, NULL);
    tear_down(&s);
}

/* ---- programs that share a buffer ---- */

enum { WIDE = 32, RECORDS = 16384 }; /* 2 MiB: conversions count as measured */

static cl_kernel make_wide_kernel(const char *name, const char *statement)
{
    char text[512];
    const char *strings = text;
    cl_int error;
    snprintf(text, sizeof text,
             "typedef struct { float f[32]; } wide;\n"
             "__kernel void %s(__global wide *all)\n"
             "{ __global wide *one = all + get_global_id(0); %s += 1.0f; }\n",
             name, statement);
    cl_program own = clCreateProgramWithSource(context, 1, &strings, NULL, &error);
    check(clBuildProgram(own, 1, &device, "", NULL, NULL) == CL_SUCCESS, "no program");
    cl_kernel kernel = clCreateKernel(own, name, &error);
    check(error == CL_SUCCESS, "no kernel");
    clReleaseProgram(own);
    return kernel;
}

/* One kernel uses a float of each record, and one of another program all, in turn. */
static void two_programs(void)
{
    static float all[RECORDS * WIDE];
    enum { TURNS = 200 };
    const size_t count = RECORDS;
    cl_int error;
    cl_kernel kernels[] = {make_wide_kernel("some", "one->f[3]"),
                           make_wide_kernel("whole", "for (int k = 0; k < 32; k++) one->f[k]")};
    cl_command_queue queue = clCreateCommandQueue(context, device, 0, &error);
    cl_mem buffer =
        clCreateBuffer(context, CL_MEM_READ_WRITE | CL_MEM_COPY_HOST_PTR, sizeof all, all, &error);
    check(error == CL_SUCCESS, "no buffer");
    sleep_a_second();
    for (int k = 0; k < 2; k++)
        check(clSetKernelArg(kernels[k], 0, sizeof buffer, &buffer) == CL_SUCCESS, "no argument");
    for (int i = 0; i < 2 * TURNS; i++) {
        check(clEnqueueNDRangeKernel(queue, kernels[i % 2], 1, NULL, &count, NULL, 0, NULL, NULL) ==
                  CL_SUCCESS,
              "a launch was refused");
        if (i == 1) /* so it is known that they are long */
            clFinish(queue);
    }
    check(clEnqueueReadBuffer(queue, buffer, CL_TRUE, 0, sizeof all, all, 0, NULL, NULL) ==
              CL_SUCCESS,
          "a read was refused");
    for (int i = 0; i < RECORDS * WIDE; i++)
        check(all[i] == (float)(i % WIDE == 3 ? 2 * TURNS : TURNS), "an element is wrong");
    clReleaseMemObject(buffer);
    clReleaseCommandQueue(queue);
    clReleaseKernel(kernels[0]);
    clReleaseKernel(kernels[1]);
}

int main(int argc, char **argv)
{
    static const struct {
        const char *name;
        void (*run)(void);
    } cases[] = {{"in-order", in_order},         {"out-of-order", out_of_order},
                 {"events", events_of_launches}, {"other-events", other_events},
                 {"threads", threads},           {"no-queue", no_queue},
                 {"no-marker", no_marker},       {"no-barrier", no_barrier},
                 {"no-kernel", no_kernel},       {"two-programs", two_programs}};
    make_program();
    for (size_t i = 0; argc == 2 && i < sizeof cases / sizeof cases[0]; i++)
        if (strcmp(argv[1], cases[i].name) == 0) {
            cases[i].run();
            clReleaseProgram(program);
            clReleaseContext(context);
            return 0;
        }
    fprintf(stderr, "usage: profiled_launches CASE\n");
    return 2;
}
