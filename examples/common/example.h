/* What the example programs share: choosing a device, building a kernel file, checking every OpenCL
 * call. */
#ifndef EXAMPLE_H
#define EXAMPLE_H

#include <CL/cl.h>
#include <stddef.h>

/* One device with its context and a queue that measures times. */
typedef struct {
    cl_device_id device;
    cl_context context;
    cl_command_queue queue;
} example_device;

/* Prints "NAME: SENTENCE" on standard error and ends the program with status 1. */
_Noreturn void example_fail(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Ends the program when an OpenCL call returned something else than CL_SUCCESS; `what` is the
 * call's name. */
void example_check(cl_int code, const char *what);

/* Opens the first device of a kind: "cpu", "gpu" or "any". */
example_device example_open(const char *kind);

/* The same without a line of text, with a queue of these properties. */
example_device example_open_quietly(const char *kind, cl_command_queue_properties properties);
void example_close(example_device *device);

/* Builds the kernel file that lies beside the executable; prints the compiler's messages when that
 * fails. */
cl_program example_build(const example_device *device, const char *file, const char *options);

cl_kernel example_kernel(cl_program program, const char *name);
void example_set_argument(cl_kernel kernel, cl_uint index, size_t size, const void *value);

/* A buffer that starts with a copy of `data`, or uninitialised when `data` is NULL. */
cl_mem example_buffer(const example_device *device, size_t size, const void *data);
void example_read(const example_device *device, cl_mem buffer, size_t size, void *data);

/* The folder of the executable, with a final slash; a static string. */
const char *example_folder(void);

/* Seconds between the start and the end of a finished command. */
double example_event_seconds(cl_event event);

/* Seconds of a clock that only moves forward. */
double example_clock(void);

void *example_allocate(size_t count, size_t size);
void example_write_file(const char *path, const void *data, size_t size);

/* The number in `text`, which must lie in [least, most]; `option` names it in the message. */
long example_number(const char *option, const char *text, long least, long most);

#endif
