/* What the example programs share: choosing a device, building a kernel file, checking every OpenCL
 * call. */
#include "example.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static const struct {
    cl_int code;
    const char *name;
} error_names[] = {
    {CL_DEVICE_NOT_FOUND, "no device found"},
    {CL_DEVICE_NOT_AVAILABLE, "device not available"},
    {CL_COMPILER_NOT_AVAILABLE, "compiler not available"},
    {CL_MEM_OBJECT_ALLOCATION_FAILURE, "memory object allocation failure"},
    {CL_OUT_OF_RESOURCES, "out of resources"},
    {CL_OUT_OF_HOST_MEMORY, "out of host memory"},
    {CL_BUILD_PROGRAM_FAILURE, "build program failure"},
    {CL_INVALID_VALUE, "invalid value"},
    {CL_INVALID_MEM_OBJECT, "invalid memory object"},
    {CL_INVALID_BUFFER_SIZE, "invalid buffer size"},
    {CL_INVALID_KERNEL_NAME, "invalid kernel name"},
    {CL_INVALID_KERNEL_ARGS, "invalid kernel arguments"},
    {CL_INVALID_WORK_GROUP_SIZE, "invalid work-group size"},
    {-1001, "no OpenCL platform found"},
};

void example_fail(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    vfprintf(stderr, format, arguments);
    fputc('\n', stderr);
    va_end(arguments);
    exit(EXIT_FAILURE);
}

void example_check(cl_int code, const char *what)
{
    if (code == CL_SUCCESS)
        return;
    for (size_t i = 0; i < sizeof error_names / sizeof error_names[0]; i++)
        if (error_names[i].code == code)
            example_fail("%s failed: %s (error %d).", what, error_names[i].name, code);
    example_fail("%s failed with error %d.", what, code);
}

static cl_device_type device_type(const char *kind)
{
    if (strcmp(kind, "cpu") == 0)
        return CL_DEVICE_TYPE_CPU;
    if (strcmp(kind, "gpu") == 0)
        return CL_DEVICE_TYPE_GPU;
    if (strcmp(kind, "any") == 0)
        return CL_DEVICE_TYPE_ALL;
    example_fail("\"%s\" is no kind of device; use cpu, gpu or any.", kind);
}

static cl_device_id find_device(const char *kind)
{
    const cl_device_type type = device_type(kind);
    cl_platform_id platforms[16];
    cl_uint platform_count = 0;
    example_check(clGetPlatformIDs(16, platforms, &platform_count), "clGetPlatformIDs");
    for (cl_uint i = 0; i < platform_count && i < 16; i++) {
        cl_device_id device;
        if (clGetDeviceIDs(platforms[i], type, 1, &device, NULL) == CL_SUCCESS)
            return device;
    }
    example_fail("No OpenCL device of kind \"%s\" was found; --device chooses another kind.", kind);
}

example_device example_open_quietly(const char *kind, cl_command_queue_properties properties)
{
    example_device opened = {.device = find_device(kind)};
    cl_int code;
    opened.context = clCreateContext(NULL, 1, &opened.device, NULL, NULL, &code);
    example_check(code, "clCreateContext");
    opened.queue = clCreateCommandQueue(opened.context, opened.device, properties, &code);
    example_check(code, "clCreateCommandQueue");
    return opened;
}

example_device example_open(const char *kind)
{
    char name[256] = "";
    example_device opened = example_open_quietly(kind, CL_QUEUE_PROFILING_ENABLE);
    example_check(clGetDeviceInfo(opened.device, CL_DEVICE_NAME, sizeof name, name, NULL),
                  "clGetDeviceInfo");
    printf("device           %s\n", name);
    return opened;
}

void example_close(example_device *device)
{
    example_check(clReleaseCommandQueue(device->queue), "clReleaseCommandQueue");
    example_check(clReleaseContext(device->context), "clReleaseContext");
}

const char *example_folder(void)
{
    static char folder[4096];
    const ssize_t length = readlink("/proc/self/exe", folder, sizeof folder - 1);
    if (length <= 0)
        example_fail("The path of the executable could not be read: %s.", strerror(errno));
    folder[length] = '\0';
    *(strrchr(folder, '/') + 1) = '\0';
    return folder;
}

/* The caller frees the text. */
static char *read_text(const char *path)
{
    FILE *file = fopen(path, "rb");
    if (!file)
        example_fail("%s could not be opened: %s.", path, strerror(errno));
    size_t size = 0, capacity = 1 << 16;
    char *text = example_allocate(capacity, 1);
    size_t count;
    while ((count = fread(text + size, 1, capacity - size - 1, file)) > 0) {
        size += count;
        if (size + 1 == capacity) {
            capacity *= 2;
            text = realloc(text, capacity);
            if (!text)
                example_fail("There is not enough memory to read %s.", path);
        }
    }
    if (ferror(file))
        example_fail("%s could not be read: %s.", path, strerror(errno));
    fclose(file);
    text[size] = '\0';
    return text;
}

static void print_build_log(const example_device *device, cl_program program)
{
    size_t size = 0;
    if (clGetProgramBuildInfo(program, device->device, CL_PROGRAM_BUILD_LOG, 0, NULL, &size) !=
        CL_SUCCESS)
        return;
    char *log = example_allocate(size + 1, 1);
    if (clGetProgramBuildInfo(program, device->device, CL_PROGRAM_BUILD_LOG, size, log, NULL) ==
        CL_SUCCESS)
        fprintf(stderr, "%s\n", log);
    free(log);
}

cl_program example_build(const example_device *device, const char *file, const char *options)
{
    char path[8192];
    snprintf(path, sizeof path, "%s%s", example_folder(), file);
    char *source = read_text(path);
    cl_int code;
    cl_program program =
        clCreateProgramWithSource(device->context, 1, (const char **)&source, NULL, &code);
    example_check(code, "clCreateProgramWithSource");
    code = clBuildProgram(program, 1, &device->device, options, NULL, NULL);
    if (code != CL_SUCCESS)
        print_build_log(device, program);
    example_check(code, "clBuildProgram");
    free(source);
    return program;
}

cl_kernel example_kernel(cl_program program, const char *name)
{
    cl_int code;
    cl_kernel kernel = clCreateKernel(program, name, &code);
    example_check(code, "clCreateKernel");
    return kernel;
}

void example_set_argument(cl_kernel kernel, cl_uint index, size_t size, const void *value)
{
    example_check(clSetKernelArg(kernel, index, size, value), "clSetKernelArg");
}

cl_mem example_buffer(const example_device *device, size_t size, const void *data)
{
    cl_int code;
    cl_mem buffer = clCreateBuffer(device->context, CL_MEM_READ_WRITE, size, NULL, &code);
    example_check(code, "clCreateBuffer");
    if (data)
        example_check(
            clEnqueueWriteBuffer(device->queue, buffer, CL_TRUE, 0, size, data, 0, NULL, NULL),
            "clEnqueueWriteBuffer");
    return buffer;
}

void example_read(const example_device *device, cl_mem buffer, size_t size, void *data)
{
    example_check(clEnqueueReadBuffer(device->queue, buffer, CL_TRUE, 0, size, data, 0, NULL, NULL),
                  "clEnqueueReadBuffer");
}

double example_event_seconds(cl_event event)
{
    cl_ulong start, end;
    example_check(
        clGetEventProfilingInfo(event, CL_PROFILING_COMMAND_START, sizeof start, &start, NULL),
        "clGetEventProfilingInfo");
    example_check(clGetEventProfilingInfo(event, CL_PROFILING_COMMAND_END, sizeof end, &end, NULL),
                  "clGetEventProfilingInfo");
    return (double)(end - start) * 1e-9;
}

double example_clock(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

void *example_allocate(size_t count, size_t size)
{
    void *memory = calloc(count, size);
    if (!memory)
        example_fail("There is not enough host memory for %zu elements of %zu bytes.", count, size);
    return memory;
}

void example_write_file(const char *path, const void *data, size_t size)
{
    FILE *file = fopen(path, "wb");
    if (!file)
        example_fail("%s could not be opened for writing: %s.", path, strerror(errno));
    const size_t written = fwrite(data, 1, size, file);
    if (fclose(file) != 0 || written != size)
        example_fail("%s could not be written; is the disk full?", path);
}

long example_number(const char *option, const char *text, long least, long most)
{
    char *end;
    errno = 0;
    const long number = text ? strtol(text, &end, 10) : 0;
    if (!text || end == text || *end || errno || number < least || number > most)
        example_fail("%s needs a whole number from %ld to %ld, not \"%s\".", option, least, most,
                     text ? text : "nothing");
    return number;
}
