/* Buffers of the tests' device; see buffers.h. */
#include "buffers.h"
#include "cmocka_all.h"

cl_mem test_device_buffer(const test_device *device, const unsigned char *bytes, size_t size)
{
    cl_int code;
    cl_mem buffer =
        device->api->clCreateBuffer(device->context, CL_MEM_READ_WRITE | CL_MEM_COPY_HOST_PTR, size,
                                    (void *)(uintptr_t)bytes, &code);
    assert_int_equal(code, CL_SUCCESS);
    return buffer;
}

void test_device_read(const test_device *device, cl_mem buffer, unsigned char *bytes, size_t size)
{
    assert_int_equal(device->api->clEnqueueReadBuffer(device->queue, buffer, CL_TRUE, 0, size,
                                                      bytes, 0, NULL, NULL),
                     CL_SUCCESS);
}
