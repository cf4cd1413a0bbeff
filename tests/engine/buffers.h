/* Buffers of the tests' device; a call of OpenCL that fails, fails the test. */
#ifndef RS_TESTS_ENGINE_BUFFERS_H
#define RS_TESTS_ENGINE_BUFFERS_H

#include "device.h"

#include <stddef.h>

/* A new buffer with a copy of `size` bytes; the caller releases it. */
cl_mem test_device_buffer(const test_device *device, const unsigned char *bytes, size_t size);

/* Reads the first `size` bytes of a buffer. */
void test_device_read(const test_device *device, cl_mem buffer, unsigned char *bytes, size_t size);

#endif
