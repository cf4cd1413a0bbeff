/* Cases for the marshaling kernel: records of fixed-seed random leaves, and one check of both
 * directions. */
#ifndef RS_TESTS_ENGINE_MARSHAL_CASES_H
#define RS_TESTS_ENGINE_MARSHAL_CASES_H

#include "device.h"
#include "engine/opencl/marshal.h"

#include <stdint.h>

/* A generator of its own, so that the cases are the same everywhere. */
uint32_t test_random(uint32_t *state);

/* A record of `size` bytes with random leaves of 1 to 16 bytes at natural offsets, gaps included.
 */
void test_random_record(rs_record *record, size_t size, uint32_t *state);

/* A record of `count` leaves of `leaf_size` bytes. */
void test_uniform_record(rs_record *record, size_t count, size_t leaf_size);

/*
 * Converts `count` records of random bytes to ASTA and back, and compares every byte with the
 * definition each time; canaries before and behind the records must stay. Fails the running test
 * with a message that names the case.
 */
void test_marshal_both_ways(const test_device *device, rs_opencl_marshal *marshal,
                            const rs_record *record, size_t tile, size_t count);

#endif
