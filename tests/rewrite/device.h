/*
 * Differential runs on an OpenCL device: the kernel as written on arrays of structures, and the
 * rewritten kernel on the same data in the new layout, converted on the host. Afterwards all bytes
 * must agree.
 */
#ifndef RS_TESTS_REWRITE_DEVICE_H
#define RS_TESTS_REWRITE_DEVICE_H

#define CL_USE_DEPRECATED_OPENCL_1_2_APIS
#include <CL/cl.h>
#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

enum { BUFFER_LIMIT = 4 };

/* A kernel whose parameters are its buffers, then `int n`: work-items, and elements of each buffer.
 */
typedef struct {
    const char *title, *kernel;
    int buffer_count;
    const char *names[BUFFER_LIMIT];   /* of the buffers' arguments */
    size_t element_size[BUFFER_LIMIT]; /* bytes */
} device_case;

/* False, after a message, when there is no OpenCL device: the caller skips. */
bool device_available(void);
void device_release(void);

/* Whether it compiles OpenCL C 2.0 with pointers that may lie in any address space. */
bool device_has_generic_pointers(void);

/* Builds a source; a failure fails the test. Release it with clReleaseProgram(). */
cl_program device_build(const char *source, const char *options);

/* Builds a source that must not build; what the compiler says, for the caller to free. */
char *device_build_log(const char *source);

/* Runs a kernel of both programs and compares; and its copy for arrays whose tiles are all full,
 * when n is a multiple of the tiles. Fails the test with what differs. */
void device_compare(const device_case *test, cl_program original, cl_program rewritten,
                    const json_t *reply, size_t n, unsigned seed);

#endif
