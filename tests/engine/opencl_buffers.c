/* See opencl_buffers.h. */
#include "opencl_buffers.h"
#include "buffers.h"
#include "cmocka_all.h"

#include "restride/opencl.h"
#include "restride/restride.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { GUARD_BYTES = 64, GUARD = 0x5C };

static test_device device;

static void *create_buffer(const unsigned char *bytes, size_t size)
{
    unsigned char *guarded = malloc(size + GUARD_BYTES);
    assert_non_null(guarded);
    memcpy(guarded, bytes, size);
    memset(guarded + size, GUARD, GUARD_BYTES);
    cl_mem buffer = test_device_buffer(&device, guarded, size + GUARD_BYTES);
    free(guarded);
    return buffer;
}

static bool read_buffer(void *buffer, unsigned char *bytes, size_t size)
{
    unsigned char *guarded = malloc(size + GUARD_BYTES);
    assert_non_null(guarded);
    test_device_read(&device, buffer, guarded, size + GUARD_BYTES);
    memcpy(bytes, guarded, size);
    bool intact = true;
    for (size_t i = 0; i < GUARD_BYTES; i++)
        intact = intact && guarded[size + i] == GUARD;
    free(guarded);
    return intact;
}

static void destroy_buffer(void *buffer)
{
    device.api->clReleaseMemObject(buffer);
}

bool opencl_buffers_open(test_machine *machine)
{
    if (!test_device_open(&device))
        return false;
    *machine =
        (test_machine){.create = create_buffer, .read = read_buffer, .destroy = destroy_buffer};
    if (test_device_engine(&device, &machine->engine) == RESTRIDE_OK)
        return true;
    printf("%s\n", restride_last_error());
    test_device_close(&device);
    return false;
}

void opencl_buffers_close(test_machine *machine)
{
    restride_engine_destroy(machine->engine);
    test_device_close(&device);
}
