/* Buffers of the CUDA device for the tests of all devices. */
#ifndef RS_TESTS_CUDA_BUFFERS_H
#define RS_TESTS_CUDA_BUFFERS_H

#include "../machine.h"
#include "device.h"

/* Without an engine. */
extern const test_machine cuda_buffers;

#endif
