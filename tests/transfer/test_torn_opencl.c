/* What is left of buffers and arrays after failures of OpenCL: test_torn_opencl ENGINE, which is
 * "opencl" or "opencl-any-order". */
#include "../engine/lab.h"
#include "../engine/opencl_calls.h"
#include "torn.h"

#include <stdio.h>

enum { SKIPPED = 77 };

static torn_device device;

static void fail_at(const char *function, size_t n)
{
    opencl_calls_fail_at(n, function, CL_OUT_OF_RESOURCES);
}

static bool has_failed(void)
{
    return opencl_calls_failed() != NULL;
}

int main(int count, char **arguments)
{
    static const char *const functions[] = {"clEnqueueNDRangeKernel",
                                            "clGetMemObjectInfo",
                                            "clSetKernelArg",
                                            "clCreateBuffer",
                                            "clEnqueueReadBuffer",
                                            "clEnqueueWriteBuffer",
                                            "clEnqueueReadBufferRect",
                                            "clEnqueueWriteBufferRect",
                                            "clEnqueueCopyBuffer",
                                            "clFlush",
                                            "clFinish",
                                            "clWaitForEvents",
                                            NULL};
    if (!opencl_calls_open() ||
        lab_open(&device.engine, count == 2 ? arguments[1] : "opencl") != RESTRIDE_OK)
        return SKIPPED;
    device.functions = functions;
    device.launch = functions[0];
    device.build = "clBuildProgram";
    device.fail_at = fail_at;
    device.has_failed = has_failed;
    return torn_run(&device);
}
