/* Engines of the host whose plans have threads for small arrays, too. */
#ifndef RS_TESTS_HOST_ENGINE_H
#define RS_TESTS_HOST_ENGINE_H

#include "engine/host/host.h"

enum { TEST_SERIAL_BYTES = 64 << 10 };

static inline restride_status test_host_engine(restride_engine **engine, int threads)
{
    return rs_host_engine_create(engine, threads, TEST_SERIAL_BYTES);
}

#endif
