/* Cases for the marshaling kernel. The expected bytes come from the definition of ASTA, leaf by
 * leaf. */
#include "marshal_cases.h"

#include "cmocka_all.h"

#include <stdlib.h>
#include <string.h>

enum {
    CANARY_BEFORE = 4096, /* a multiple of any device's base alignment, so that a sub-buffer may
                             start behind it */
    CANARY_BEHIND = 61,
};

uint32_t test_random(uint32_t *state)
{
    uint32_t x = *state;
    x ^= x << 13;
    x ^= x >> 17;
    x ^= x << 5;
    return *state = x;
}

void test_random_record(rs_record *record, size_t size, uint32_t *state)
{
    *record = (rs_record){0};
    size_t alignment = 1;
    size_t offset = 0;
    while (offset < size) {
        size_t leaf = (size_t)1 << test_random(state) % 5;
        if (offset % leaf != 0 || offset + leaf > size || size % leaf != 0) {
            offset++; /* perhaps a gap: padding */
            continue;
        }
        if (test_random(state) % 8 != 0) {
            assert_int_equal(rs_record_add_leaf(record, "leaf", offset, leaf), RESTRIDE_OK);
            alignment = leaf > alignment ? leaf : alignment;
        }
        offset += leaf;
    }
    assert_int_equal(rs_record_complete(record, size, alignment), RESTRIDE_OK);
}

void test_uniform_record(rs_record *record, size_t count, size_t leaf_size)
{
    *record = (rs_record){0};
    for (size_t i = 0; i < count; i++)
        assert_int_equal(rs_record_add_leaf(record, "leaf", i * leaf_size, leaf_size), RESTRIDE_OK);
    assert_int_equal(rs_record_complete(record, count * leaf_size, leaf_size), RESTRIDE_OK);
}

/* The definition: leaf f of record i, in a tile of `width` records that starts at record `first`.
 */
static void reference_to_asta(unsigned char *asta, const unsigned char *aos,
                              const rs_record *record, size_t tile, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        size_t first = i - i % tile;
        size_t width = count - first < tile ? count - first : tile;
        for (size_t f = 0; f < record->leaf_count; f++) {
            const rs_leaf *leaf = &record->leaves[f];
            memcpy(asta + first * record->size + leaf->offset * width + (i - first) * leaf->size,
                   aos + i * record->size + leaf->offset, leaf->size);
        }
    }
}

/* Runs one direction in place and reads everything back, canaries included. */
static void convert(const test_device *device, rs_opencl_marshal *marshal, cl_mem whole,
                    cl_mem records, size_t count, rs_marshal_direction direction,
                    unsigned char *bytes, size_t size)
{
    cl_event event = NULL;
    assert_int_equal(rs_opencl_marshal_enqueue(marshal, device->queue, records, count, direction, 0,
                                               NULL, &event),
                     RESTRIDE_OK);
    assert_non_null(event);
    assert_int_equal(device->api->clWaitForEvents(1, &event), CL_SUCCESS);
    assert_int_equal(device->api->clReleaseEvent(event), CL_SUCCESS);
    assert_int_equal(device->api->clEnqueueReadBuffer(device->queue, whole, CL_TRUE, 0, size, bytes,
                                                      0, NULL, NULL),
                     CL_SUCCESS);
}

static void expect_equal(const unsigned char *found, const unsigned char *expected, size_t size,
                         const rs_record *record, size_t tile, size_t count, const char *direction)
{
    for (size_t i = 0; i < size; i++)
        if (found[i] != expected[i])
            fail_msg("%s: record of %zu bytes and %zu leaves, tile %zu, %zu records: byte %ld is "
                     "%d, not %d",
                     direction, record->size, record->leaf_count, tile, count,
                     (long)i - CANARY_BEFORE, found[i], expected[i]);
}

void test_marshal_both_ways(const test_device *device, rs_opencl_marshal *marshal,
                            const rs_record *record, size_t tile, size_t count)
{
    const cl_icd_dispatch *api = device->api;
    size_t bytes = count * record->size;
    size_t size = CANARY_BEFORE + bytes + CANARY_BEHIND;
    unsigned char *aos = malloc(size);
    unsigned char *asta = malloc(size);
    unsigned char *found = malloc(size);
    assert_true(aos != NULL && asta != NULL && found != NULL);
    uint32_t seed = (uint32_t)(count * 7919 + tile * 31 + record->size) | 1;
    for (size_t i = 0; i < size; i++)
        aos[i] = (unsigned char)(test_random(&seed) >> 11);
    memcpy(asta, aos, size);
    reference_to_asta(asta + CANARY_BEFORE, aos + CANARY_BEFORE, record, tile, count);

    cl_int code;
    cl_mem whole = api->clCreateBuffer(device->context, CL_MEM_READ_WRITE, size, NULL, &code);
    assert_int_equal(code, CL_SUCCESS);
    cl_buffer_region region = {CANARY_BEFORE, bytes + CANARY_BEHIND};
    cl_mem records = api->clCreateSubBuffer(whole, CL_MEM_READ_WRITE, CL_BUFFER_CREATE_TYPE_REGION,
                                            &region, &code);
    assert_int_equal(code, CL_SUCCESS);
    assert_int_equal(
        api->clEnqueueWriteBuffer(device->queue, whole, CL_TRUE, 0, size, aos, 0, NULL, NULL),
        CL_SUCCESS);

    convert(device, marshal, whole, records, count, RS_AOS_TO_ASTA, found, size);
    expect_equal(found, asta, size, record, tile, count, "AoS to ASTA");
    convert(device, marshal, whole, records, count, RS_ASTA_TO_AOS, found, size);
    expect_equal(found, aos, size, record, tile, count, "ASTA to AoS");

    api->clReleaseMemObject(records);
    api->clReleaseMemObject(whole);
    free(aos);
    free(asta);
    free(found);
}
