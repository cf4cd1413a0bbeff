/* The OpenCL device for the tests of all devices, with guards behind its buffers. */
#ifndef RS_TESTS_ENGINE_OPENCL_BUFFERS_H
#define RS_TESTS_ENGINE_OPENCL_BUFFERS_H

#include "machine.h"

/* False, with the reason on standard output, when there is no device or no engine for it. */
bool opencl_buffers_open(test_machine *machine);
void opencl_buffers_close(test_machine *machine);

#endif
