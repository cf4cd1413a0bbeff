/*
 * An OpenCL layer that makes the device below it a GPU whose kernels take made-up times, so that
 * what is decided by measuring can be tested: the profiling times of a launch are those that
 * MADE_UP_TIMES gives for its kernel,
 *
 *     MADE_UP_TIMES="grow 100 20, aos_to_asta 50 50, asta_to_aos 50 50"
 *
 * in microseconds: of the first kernel of that name, and of any that has more arguments than the
 * first (a rewritten one). So much later it is then for a program that keeps such a clock
 * (sequence.c). With MADE_UP_COMPILER its compiler is slow, calls the function that the
 * program gave to the last context, from a thread of its own, and ends with the program: the exit
 * status is then 3 if someone is still inside. It works for one at a time.
 *
 *     MADE_UP_FAULT="kernel 2 3"
 *
 * makes the second and third call of a kind fail that come after it was set; the program may set
 * and unset it as it runs. The kinds are buffer (clCreateBuffer), queue (clCreateCommandQueue),
 * migrate, kernel, marker, barrier, and run: a kernel that fails while it runs, and with it the
 * copies, reads and kernels that wait for its event.
 *
 * With MADE_UP_LAZY=1 the second queue begins when it is flushed for the first time, as any may,
 * and the third cannot be flushed, as one on the device.
 *
 * With MADE_UP_LAUNCHES=none a launch without an event does nothing.
 *
 * Into the file that MADE_UP_TALLY names it writes at the end how many launches went to queues
 * with profiling, how many to others, and how many programs were built.
 *
 *     MADE_UP_MACRO=1
 *
 * lets the compiler predefine MADE_UP_MACRO, but not where it builds for a second device alone.
 *
 * Rectangles must lie in lines and slices that are all in the buffer. Everything else goes through.
 */
#include <CL/cl_icd.h>
#include <CL/cl_layer.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define EXPORTED __attribute__((visibility("default")))

enum { EVENTS = 65536, NAMES = 16 };

static cl_icd_dispatch ours;
static const cl_icd_dispatch *below;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static cl_ulong clock_now = 1000;

/* Of the program, in nanoseconds, where it has one. */
extern atomic_ullong made_up_nanoseconds __attribute__((weak));

/* By the event's place in memory; later events replace earlier ones at the same address. */
static struct {
    cl_event event;
    cl_ulong start, end;
} timed[EVENTS];
static size_t timed_count;

static struct {
    char name[64];
    cl_uint arguments;
} first_of_name[NAMES];

/* The kernel that a rewritten form with a name of its own is a form of. */
static const char *own_name(const char *name)
{
    static const char prefix[] = "restride_full_";
    return strncmp(name, prefix, strlen(prefix)) == 0 ? name + strlen(prefix) : name;
}

static cl_uint arguments_of_first(const char *name, cl_uint arguments)
{
    for (int i = 0; i < NAMES; i++) {
        if (first_of_name[i].name[0] == '\0') {
            snprintf(first_of_name[i].name, sizeof first_of_name[i].name, "%s", name);
            first_of_name[i].arguments = arguments;
        }
        if (strcmp(first_of_name[i].name, name) == 0)
            return first_of_name[i].arguments;
    }
    return arguments;
}

/* 0 when no time is made up for it. */
static cl_ulong nanoseconds_of(const char *name, cl_uint arguments)
{
    const char *times = getenv("MADE_UP_TIMES");
    size_t length = strlen(name);
    while (times != NULL && *times != '\0') {
        double first, others;
        times += strspn(times, ", ");
        if (strncmp(times, name, length) == 0 && times[length] == ' ' &&
            sscanf(times + length, "%lf %lf", &first, &others) == 2)
            return (cl_ulong)(1000 *
                              (arguments > arguments_of_first(name, arguments) ? others : first));
        times += strcspn(times, ",");
    }
    return 0;
}

/* ---- faults ---- */

/* Whether this call of a kind is to fail. */
static bool fails(const char *kind)
{
    static size_t calls;
    const char *fault = getenv("MADE_UP_FAULT");
    char named[16];
    size_t first, last;
    bool found = false;
    pthread_mutex_lock(&mutex);
    if (fault == NULL)
        calls = 0;
    else if (sscanf(fault, "%15s %zu %zu", named, &first, &last) == 3 && strcmp(named, kind) == 0)
        found = ++calls >= first && calls <= last;
    pthread_mutex_unlock(&mutex);
    return found;
}

static cl_mem CL_API_CALL create_buffer(cl_context context, cl_mem_flags flags, size_t size,
                                        void *host, cl_int *error)
{
    if (!fails("buffer"))
        return below->clCreateBuffer(context, flags, size, host, error);
    if (error != NULL)
        *error = CL_MEM_OBJECT_ALLOCATION_FAILURE;
    return NULL;
}

static cl_int CL_API_CALL migrate(cl_command_queue queue, cl_uint count, const cl_mem *handles,
                                  cl_mem_migration_flags flags, cl_uint wait_count,
                                  const cl_event *wait_list, cl_event *event)
{
    return fails("migrate") ? CL_MEM_OBJECT_ALLOCATION_FAILURE
                            : below->clEnqueueMigrateMemObjects(queue, count, handles, flags,
                                                                wait_count, wait_list, event);
}

static struct {
    cl_command_queue queue;
    cl_event gate; /* before its first command */
    cl_command_queue third;
} lazy;

static void make_lazy(cl_command_queue queue, cl_context context)
{
    static atomic_int queues;
    const int before = getenv("MADE_UP_LAZY") != NULL ? atomic_fetch_add(&queues, 1) : 0;
    if (before == 2)
        lazy.third = queue;
    if (before != 1)
        return;
    lazy.gate = below->clCreateUserEvent(context, NULL);
    lazy.queue = queue;
    below->clEnqueueBarrierWithWaitList(queue, 1, &lazy.gate, NULL);
}

static cl_int CL_API_CALL flush(cl_command_queue queue)
{
    if (queue == lazy.third)
        return CL_INVALID_COMMAND_QUEUE;
    if (queue == lazy.queue)
        below->clSetUserEventStatus(lazy.gate, CL_COMPLETE);
    return below->clFlush(queue);
}

static cl_command_queue CL_API_CALL create_queue(cl_context context, cl_device_id device,
                                                 cl_command_queue_properties properties,
                                                 cl_int *error)
{
    if (!fails("queue")) {
        cl_command_queue queue = below->clCreateCommandQueue(context, device, properties, error);
        make_lazy(queue, context);
        return queue;
    }
    if (error != NULL)
        *error = CL_OUT_OF_RESOURCES;
    return NULL;
}

static cl_int CL_API_CALL enqueue_marker(cl_command_queue queue, cl_uint wait_count,
                                         const cl_event *wait_list, cl_event *event)
{
    return fails("marker")
               ? CL_OUT_OF_RESOURCES
               : below->clEnqueueMarkerWithWaitList(queue, wait_count, wait_list, event);
}

static cl_int CL_API_CALL enqueue_barrier(cl_command_queue queue, cl_uint wait_count,
                                          const cl_event *wait_list, cl_event *event)
{
    return fails("barrier")
               ? CL_OUT_OF_RESOURCES
               : below->clEnqueueBarrierWithWaitList(queue, wait_count, wait_list, event);
}

/* ---- launches are counted ---- */

static atomic_size_t launches[2]; /* in queues without profiling and with it */

static atomic_size_t builds;
static bool launches_nothing;

static void write_tally(void)
{
    FILE *file = fopen(getenv("MADE_UP_TALLY"), "w");
    if (file == NULL)
        return;
    fprintf(file, "%zu %zu %zu\n", atomic_load(&launches[true]), atomic_load(&launches[false]),
            atomic_load(&builds));
    fclose(file);
}

static void count_launch(cl_command_queue queue)
{
    cl_command_queue_properties properties = 0;
    below->clGetCommandQueueInfo(queue, CL_QUEUE_PROPERTIES, sizeof properties, &properties, NULL);
    atomic_fetch_add(&launches[(properties & CL_QUEUE_PROFILING_ENABLE) != 0], 1);
}

/* ---- rectangles ---- */

typedef struct {
    const size_t *origin, *region;
    size_t row, slice;
} rectangle;

/* NVIDIA's driver refuses what PoCL takes: rows that go on in the next line, and a last slice that
 * is not in the buffer as a whole. */
static bool is_refused(cl_mem buffer, rectangle r)
{
    size_t size = 0;
    if (r.origin == NULL || r.region == NULL ||
        below->clGetMemObjectInfo(buffer, CL_MEM_SIZE, sizeof size, &size, NULL) != CL_SUCCESS)
        return false;
    const size_t row = r.row != 0 ? r.row : r.region[0];
    const size_t slice = r.slice != 0 ? r.slice : row * r.region[1];
    return r.origin[0] + r.region[0] > row ||
           r.origin[0] + r.origin[1] * row + (r.origin[2] + r.region[2]) * slice > size;
}

static cl_int CL_API_CALL read_rectangle(cl_command_queue queue, cl_mem buffer, cl_bool blocking,
                                         const size_t *origin, const size_t *host_origin,
                                         const size_t *region, size_t row, size_t slice,
                                         size_t host_row, size_t host_slice, void *data,
                                         cl_uint wait_count, const cl_event *wait_list,
                                         cl_event *event)
{
    if (is_refused(buffer, (rectangle){origin, region, row, slice}))
        return CL_INVALID_VALUE;
    return below->clEnqueueReadBufferRect(queue, buffer, blocking, origin, host_origin, region, row,
                                          slice, host_row, host_slice, data, wait_count, wait_list,
                                          event);
}

static cl_int CL_API_CALL write_rectangle(cl_command_queue queue, cl_mem buffer, cl_bool blocking,
                                          const size_t *origin, const size_t *host_origin,
                                          const size_t *region, size_t row, size_t slice,
                                          size_t host_row, size_t host_slice, const void *data,
                                          cl_uint wait_count, const cl_event *wait_list,
                                          cl_event *event)
{
    if (is_refused(buffer, (rectangle){origin, region, row, slice}))
        return CL_INVALID_VALUE;
    return below->clEnqueueWriteBufferRect(queue, buffer, blocking, origin, host_origin, region,
                                           row, slice, host_row, host_slice, data, wait_count,
                                           wait_list, event);
}

static cl_int CL_API_CALL copy_rectangle(cl_command_queue queue, cl_mem from, cl_mem to,
                                         const size_t *from_origin, const size_t *to_origin,
                                         const size_t *region, size_t from_row, size_t from_slice,
                                         size_t to_row, size_t to_slice, cl_uint wait_count,
                                         const cl_event *wait_list, cl_event *event)
{
    if (is_refused(from, (rectangle){from_origin, region, from_row, from_slice}) ||
        is_refused(to, (rectangle){to_origin, region, to_row, to_slice}))
        return CL_INVALID_VALUE;
    return below->clEnqueueCopyBufferRect(queue, from, to, from_origin, to_origin, region, from_row,
                                          from_slice, to_row, to_slice, wait_count, wait_list,
                                          event);
}

/* ---- times ---- */

/* The event, where there is one, gets the time. */
static void note(cl_event event, cl_kernel kernel)
{
    char name[64] = "";
    cl_uint arguments = 0;
    below->clGetKernelInfo(kernel, CL_KERNEL_FUNCTION_NAME, sizeof name, name, NULL);
    below->clGetKernelInfo(kernel, CL_KERNEL_NUM_ARGS, sizeof arguments, &arguments, NULL);
    cl_ulong taken = nanoseconds_of(own_name(name), arguments);
    if (&made_up_nanoseconds != NULL)
        atomic_fetch_add(&made_up_nanoseconds, taken);
    pthread_mutex_lock(&mutex);
    if (event != NULL && taken > 0) {
        timed[timed_count % EVENTS].event = event;
        timed[timed_count % EVENTS].start = clock_now;
        timed[timed_count++ % EVENTS].end = clock_now + taken;
    }
    clock_now += taken;
    pthread_mutex_unlock(&mutex);
}

/* The program's own kernels are made before their rewritten forms. */
static cl_kernel CL_API_CALL create_kernel(cl_program program, const char *name, cl_int *error)
{
    cl_uint arguments = 0;
    cl_kernel kernel = below->clCreateKernel(program, name, error);
    if (kernel != NULL && below->clGetKernelInfo(kernel, CL_KERNEL_NUM_ARGS, sizeof arguments,
                                                 &arguments, NULL) == CL_SUCCESS) {
        pthread_mutex_lock(&mutex);
        arguments_of_first(own_name(name), arguments);
        pthread_mutex_unlock(&mutex);
    }
    return kernel;
}

/* ---- commands that fail while they run ---- */

enum { MOST_FAILED = 256 };

static struct {
    cl_event events[MOST_FAILED]; /* held for good, so that none becomes another's handle */
    cl_int statuses[MOST_FAILED];
    int count;
} failed;

static void note_failure(cl_event event, cl_int status)
{
    pthread_mutex_lock(&mutex);
    if (failed.count < MOST_FAILED) {
        below->clRetainEvent(event);
        failed.events[failed.count] = event;
        failed.statuses[failed.count++] = status;
    }
    pthread_mutex_unlock(&mutex);
}

/* CL_COMPLETE when the event is none of a command that fails. */
static cl_int status_of(cl_event event)
{
    cl_int status = CL_COMPLETE;
    pthread_mutex_lock(&mutex);
    for (int i = 0; i < failed.count; i++)
        if (failed.events[i] == event)
            status = failed.statuses[i];
    pthread_mutex_unlock(&mutex);
    return status;
}

static bool has_failure(cl_uint count, const cl_event *events)
{
    for (cl_uint i = 0; events != NULL && i < count; i++)
        if (status_of(events[i]) < 0)
            return true;
    return false;
}

/* What waits for such a command fails, too. */
static cl_int pass_on(cl_int error, cl_uint wait_count, const cl_event *wait_list,
                      const cl_event *event)
{
    if (error == CL_SUCCESS && event != NULL && has_failure(wait_count, wait_list))
        note_failure(*event, CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST);
    return error;
}

static cl_int CL_API_CALL read_all(cl_command_queue queue, cl_mem buffer, cl_bool blocking,
                                   size_t offset, size_t size, void *data, cl_uint wait_count,
                                   const cl_event *wait_list, cl_event *event)
{
    return pass_on(below->clEnqueueReadBuffer(queue, buffer, blocking, offset, size, data,
                                              wait_count, wait_list, event),
                   wait_count, wait_list, event);
}

static cl_int CL_API_CALL copy_all(cl_command_queue queue, cl_mem from, cl_mem to,
                                   size_t from_offset, size_t to_offset, size_t size,
                                   cl_uint wait_count, const cl_event *wait_list, cl_event *event)
{
    return pass_on(below->clEnqueueCopyBuffer(queue, from, to, from_offset, to_offset, size,
                                              wait_count, wait_list, event),
                   wait_count, wait_list, event);
}

static cl_int CL_API_CALL wait_for_events(cl_uint count, const cl_event *events)
{
    cl_int error = below->clWaitForEvents(count, events);
    return error == CL_SUCCESS && has_failure(count, events)
               ? CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST
               : error;
}

static cl_int CL_API_CALL get_event_info(cl_event event, cl_event_info name, size_t value_size,
                                         void *value, size_t *value_size_ret)
{
    cl_int error = below->clGetEventInfo(event, name, value_size, value, value_size_ret);
    if (error == CL_SUCCESS && name == CL_EVENT_COMMAND_EXECUTION_STATUS && value != NULL &&
        *(cl_int *)value == CL_COMPLETE)
        *(cl_int *)value = status_of(event);
    return error;
}

/* In place of the kernel. */
static cl_int enqueue_failure(cl_command_queue queue, cl_uint wait_count, const cl_event *wait_list,
                              cl_event *event)
{
    cl_int error = below->clEnqueueMarkerWithWaitList(queue, wait_count, wait_list, event);
    if (error == CL_SUCCESS)
        note_failure(*event, CL_OUT_OF_RESOURCES);
    return error;
}

static cl_int CL_API_CALL enqueue(cl_command_queue queue, cl_kernel kernel, cl_uint dimensions,
                                  const size_t *offset, const size_t *global, const size_t *local,
                                  cl_uint wait_count, const cl_event *wait_list, cl_event *event)
{
    if (fails("kernel"))
        return CL_OUT_OF_RESOURCES;
    if (launches_nothing && event == NULL)
        return CL_SUCCESS;
    count_launch(queue);
    if (event != NULL && fails("run"))
        return enqueue_failure(queue, wait_count, wait_list, event);
    cl_int error = below->clEnqueueNDRangeKernel(queue, kernel, dimensions, offset, global, local,
                                                 wait_count, wait_list, event);
    if (error == CL_SUCCESS)
        note(event != NULL ? *event : NULL, kernel);
    return pass_on(error, wait_count, wait_list, event);
}

static cl_int CL_API_CALL get_profiling_info(cl_event event, cl_profiling_info name,
                                             size_t value_size, void *value, size_t *value_size_ret)
{
    cl_int error = below->clGetEventProfilingInfo(event, name, value_size, value, value_size_ret);
    if (error != CL_SUCCESS || value == NULL)
        return error;
    cl_command_type type = 0;
    below->clGetEventInfo(event, CL_EVENT_COMMAND_TYPE, sizeof type, &type, NULL);
    if (type == CL_COMMAND_MARKER) /* NVIDIA's driver does not always know */
        *(cl_ulong *)value = 0;
    pthread_mutex_lock(&mutex);
    for (size_t i = timed_count; i-- > 0 && i + EVENTS > timed_count;)
        if (timed[i % EVENTS].event == event) {
            cl_ulong *time = value;
            if (name == CL_PROFILING_COMMAND_END)
                *time = timed[i % EVENTS].end;
            else
                *time = timed[i % EVENTS].start;
            break;
        }
    pthread_mutex_unlock(&mutex);
    return error;
}

static cl_int CL_API_CALL get_device_info(cl_device_id device, cl_device_info name,
                                          size_t value_size, void *value, size_t *value_size_ret)
{
    cl_int error = below->clGetDeviceInfo(device, name, value_size, value, value_size_ret);
    if (error == CL_SUCCESS && name == CL_DEVICE_TYPE && value != NULL)
        *(cl_device_type *)value = CL_DEVICE_TYPE_GPU;
    return error;
}

static struct {
    void(CL_CALLBACK *function)(const char *, const void *, size_t, void *);
    void *data;
} notified;

static cl_context CL_API_CALL create_context(const cl_context_properties *properties, cl_uint count,
                                             const cl_device_id *devices,
                                             void(CL_CALLBACK *notify)(const char *, const void *,
                                                                       size_t, void *),
                                             void *data, cl_int *error)
{
    notified.function = notify;
    notified.data = data;
    return below->clCreateContext(properties, count, devices, notify, data, error);
}

static void *notify(void *unused)
{
    notified.function("a program was built", NULL, 0, notified.data);
    return unused;
}

/* Waits for the program's function, which may wait for a thread of the program. */
static void notify_beside(void)
{
    pthread_t thread;
    if (pthread_create(&thread, NULL, notify, NULL) == 0)
        pthread_join(thread, NULL);
}

static atomic_int compiling;
static pthread_mutex_t compiler = PTHREAD_MUTEX_INITIALIZER;

static void end_compiler(void)
{
    if (atomic_load(&compiling) > 0)
        _exit(3);
}

/* The options with the macro that the first device's compiler predefines. */
static const char *add_macro(char *with, size_t room, const char *options, cl_uint count,
                             const cl_device_id *devices)
{
    static cl_device_id first;
    if (getenv("MADE_UP_MACRO") == NULL || count == 0)
        return options;
    if (first == NULL)
        first = devices[0];
    if (count == 1 && devices[0] != first)
        return options;
    snprintf(with, room, "%s -DMADE_UP_MACRO", options != NULL ? options : "");
    return with;
}

static cl_int CL_API_CALL build_program(cl_program program, cl_uint count,
                                        const cl_device_id *devices, const char *options,
                                        void(CL_CALLBACK *notify)(cl_program, void *), void *data)
{
    bool slow = getenv("MADE_UP_COMPILER") != NULL;
    atomic_fetch_add(&builds, 1);
    char with[4096];
    options = add_macro(with, sizeof with, options, count, devices);
    if (slow) {
        atomic_fetch_add(&compiling, 1);
        atexit(end_compiler); /* as compilers that prepare themselves at their first work */
        pthread_mutex_lock(&compiler);
        nanosleep(&(struct timespec){0, 300000000}, NULL);
    }
    cl_int error = below->clBuildProgram(program, count, devices, options, notify, data);
    if (slow) {
        pthread_mutex_unlock(&compiler);
        if (notified.function != NULL)
            notify_beside();
        atomic_fetch_sub(&compiling, 1);
    }
    return error;
}

EXPORTED cl_int CL_API_CALL clGetLayerInfo(cl_layer_info name, size_t value_size, void *value,
                                           size_t *value_size_ret)
{
    static const cl_layer_api_version version = CL_LAYER_API_VERSION_100;
    if (name != CL_LAYER_API_VERSION || value_size < sizeof version || value == NULL)
        return CL_INVALID_VALUE;
    memcpy(value, &version, sizeof version);
    if (value_size_ret != NULL)
        *value_size_ret = sizeof version;
    return CL_SUCCESS;
}

EXPORTED cl_int CL_API_CALL clInitLayer(cl_uint entry_count, const cl_icd_dispatch *target,
                                        cl_uint *entry_count_ret, const cl_icd_dispatch **table)
{
    size_t given = entry_count * sizeof(void *);
    below = target;
    memcpy(&ours, target, given < sizeof ours ? given : sizeof ours);
    launches_nothing = getenv("MADE_UP_LAUNCHES") != NULL;
    if (getenv("MADE_UP_TALLY") != NULL)
        atexit(write_tally);
    ours.clCreateContext = create_context;
    ours.clCreateBuffer = create_buffer;
    ours.clEnqueueMigrateMemObjects = migrate;
    ours.clCreateCommandQueue = create_queue;
    ours.clFlush = flush;
    ours.clEnqueueMarkerWithWaitList = enqueue_marker;
    ours.clEnqueueBarrierWithWaitList = enqueue_barrier;
    ours.clEnqueueReadBufferRect = read_rectangle;
    ours.clEnqueueWriteBufferRect = write_rectangle;
    ours.clEnqueueCopyBufferRect = copy_rectangle;
    ours.clBuildProgram = build_program;
    ours.clCreateKernel = create_kernel;
    ours.clEnqueueNDRangeKernel = enqueue;
    ours.clGetEventProfilingInfo = get_profiling_info;
    ours.clGetDeviceInfo = get_device_info;
    ours.clEnqueueReadBuffer = read_all;
    ours.clEnqueueCopyBuffer = copy_all;
    ours.clWaitForEvents = wait_for_events;
    ours.clGetEventInfo = get_event_info;
    *table = &ours;
    *entry_count_ret = (cl_uint)(sizeof ours / sizeof(void *));
    return CL_SUCCESS;
}

/* The Khronos loader asks for this one alone. */
EXPORTED cl_int CL_API_CALL clInitLayerWithProperties(cl_uint entry_count,
                                                      const cl_icd_dispatch *target,
                                                      cl_uint *entry_count_ret,
                                                      const cl_icd_dispatch **table,
                                                      const void *properties);

cl_int CL_API_CALL clInitLayerWithProperties(cl_uint entry_count, const cl_icd_dispatch *target,
                                             cl_uint *entry_count_ret,
                                             const cl_icd_dispatch **table, const void *properties)
{
    (void)properties;
    return clInitLayer(entry_count, target, entry_count_ret, table);
}
