/* The OpenCL device of the tests: the one that RESTRIDE_TEST_DEVICE names (a part of its name),
 * else the first. */
#ifndef RS_TESTS_ENGINE_DEVICE_H
#define RS_TESTS_ENGINE_DEVICE_H

#include "restride/engine.h"

#include <CL/cl_icd.h>
#include <stdbool.h>

typedef struct {
    const cl_icd_dispatch *api;
    cl_device_id device;
    cl_context context;
    cl_command_queue queue;
} test_device;

/* False, with the reason on standard output, when there is no device. */
bool test_device_open(test_device *opened);
void test_device_close(test_device *opened);

/* An engine on its queue. With RESTRIDE_TEST_SIMD=N it takes the device for one that runs N
 * work-items together. */
restride_status test_device_engine(const test_device *opened, restride_engine **engine);

#endif
