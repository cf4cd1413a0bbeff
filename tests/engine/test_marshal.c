/*
 * The marshaling kernel against the definition of ASTA, byte by byte, in both directions.
 *
 *     test_marshal            a cross-section, for every build
 *     test_marshal all        every record size with every tile, and every variant
 *     test_marshal reduced    a few small cases, for a simulator that checks every access
 */
#include "cmocka_all.h"
#include "marshal_cases.h"

#include <stdio.h>
#include <string.h>

static test_device device;
static enum { CROSS_SECTION, ALL, REDUCED } tier;

static const size_t tiles[] = {1, 2, 3, 7, 8, 16, 31, 32, 33, 64};
enum { TILES = sizeof tiles / sizeof tiles[0] };

static rs_opencl_marshal *create(const rs_record *record, size_t tile,
                                 const rs_marshal_variant *variant)
{
    rs_opencl_marshal *marshal = NULL;
    restride_status status = rs_opencl_marshal_create_variant(&marshal, device.api, device.context,
                                                              device.device, record, tile, variant);
    if (status != RESTRIDE_OK)
        fail_msg("record of %zu bytes, tile %zu: %s", record->size, tile, restride_last_error());
    return marshal;
}

/* Counts around a tile, and enough for several work-groups with a ragged end. */
static void check_counts(const rs_record *record, size_t tile, const rs_marshal_variant *variant)
{
    rs_opencl_marshal *marshal = create(record, tile, variant);
    const rs_marshal_shape *shape = rs_opencl_marshal_shape(marshal);
    size_t chunk = shape->identity ? 3 * tile : shape->tiles * tile;
    const size_t counts[] = {0,         1,       tile - 1,  tile,
                             tile + 1,  chunk,   chunk - 1, 2 * chunk + tile / 2 + 1,
                             chunk + 1, tile * 2};
    size_t count_end = tier == REDUCED ? 6 : sizeof counts / sizeof counts[0];
    for (size_t c = 0; c < count_end; c++)
        test_marshal_both_ways(&device, marshal, record, tile, counts[c]);
    rs_opencl_marshal_destroy(marshal);
}

/* Sizes 1 to 80 with random mixes of leaves. In a cross-section some sizes meet one tile each. */
static void test_random_records(void **state)
{
    (void)state;
    static const size_t steps[] = {[CROSS_SECTION] = 6, [ALL] = 1, [REDUCED] = 19};
    uint32_t random = 20131113;
    for (size_t size = 1; size <= 80; size++) {
        rs_record record;
        test_random_record(&record, size, &random);
        for (size_t t = 0; t < TILES; t++)
            if (tier == ALL || (size % steps[tier] == 0 && t == size / steps[tier] % TILES))
                check_counts(&record, tiles[t], NULL);
        rs_record_free(&record);
    }
}

/* Leaves of one size, with the shapes that a GPU gets: unrolled batches, padded rows, vectors of
 * every width. */
static void test_variants(void **state)
{
    (void)state;
    static const struct {
        size_t leaves, leaf_size, tile;
        rs_marshal_variant variant;
    } cases[] = {
        {5, 4, 32, {256, 8, 16, 8, 0}},  {8, 4, 32, {64, 2, 16, 4, 2}},
        {3, 8, 7, {32, 0, 8, 3, 2}},     {19, 4, 33, {32, 3, 4, 2, 1}},
        {16, 4, 16, {128, 0, 0, 16, 2}}, {7, 2, 64, {64, 1, 16, 1, 0}},
        {13, 1, 31, {16, 5, 1, 7, 0}},   {4, 16, 8, {64, 4, 16, 2, 2}},
        {20, 4, 64, {256, 3, 16, 8, 2}}, {64, 4, 32, {1024, 0, 16, 8, 2}},
        {6, 8, 32, {96, 7, 16, 5, 2}},   {32, 4, 3, {32, 9, 16, 8, 2}},
    };
    static const size_t ends[] = {
        [CROSS_SECTION] = 6, [ALL] = sizeof cases / sizeof cases[0], [REDUCED] = 3};
    for (size_t i = 0; i < ends[tier]; i++) {
        rs_record record;
        test_uniform_record(&record, cases[i].leaves, cases[i].leaf_size);
        check_counts(&record, cases[i].tile, &cases[i].variant);
        rs_record_free(&record);
    }
}

/* Mixed leaves in padded rows, with whole vectors in a leaf (tiles of 16 and more) and without. */
static void test_variants_of_mixed_records(void **state)
{
    (void)state;
    static const struct {
        size_t size, tile;
        rs_marshal_variant variant;
    } cases[] = {
        {24, 32, {256, 2, 16, 1, 2}}, {32, 16, {64, 4, 16, 2, 2}}, {40, 7, {32, 16, 16, 1, 2}},
        {64, 32, {128, 1, 16, 2, 2}}, {20, 64, {64, 1, 16, 8, 0}}, {80, 8, {64, 3, 8, 3, 2}},
        {12, 16, {32, 2, 4, 2, 2}},   {48, 33, {32, 1, 16, 8, 2}},
    };
    static const size_t ends[] = {
        [CROSS_SECTION] = 3, [ALL] = sizeof cases / sizeof cases[0], [REDUCED] = 2};
    uint32_t random = 5141;
    for (size_t i = 0; i < ends[tier]; i++) {
        rs_record record;
        test_random_record(&record, cases[i].size, &random);
        check_counts(&record, cases[i].tile, &cases[i].variant);
        rs_record_free(&record);
    }
}

/* Leaves whose size is no power of two are moved whole as well. */
static void test_leaves_of_twelve_bytes(void **state)
{
    (void)state;
    rs_record record = {0};
    assert_int_equal(rs_record_add_leaf(&record, "a", 0, 12), RESTRIDE_OK);
    assert_int_equal(rs_record_add_leaf(&record, "b", 12, 4), RESTRIDE_OK);
    assert_int_equal(rs_record_add_leaf(&record, "c", 16, 8), RESTRIDE_OK);
    assert_int_equal(rs_record_complete(&record, 24, 8), RESTRIDE_OK);
    check_counts(&record, 8, NULL);
    rs_record_free(&record);
}

static void test_a_tile_that_does_not_fit(void **state)
{
    (void)state;
    cl_ulong local_bytes = 0;
    device.api->clGetDeviceInfo(device.device, CL_DEVICE_LOCAL_MEM_SIZE, sizeof local_bytes,
                                &local_bytes, NULL);
    rs_record record;
    test_uniform_record(&record, 5, 4);
    const size_t large[] = {(size_t)local_bytes / 20 + 1, SIZE_MAX / 20 + 2, SIZE_MAX};
    for (size_t i = 0; i < sizeof large / sizeof large[0]; i++) {
        rs_opencl_marshal *marshal = (rs_opencl_marshal *)&record;
        assert_int_equal(rs_opencl_marshal_create(&marshal, device.api, device.context,
                                                  device.device, &record, large[i]),
                         RESTRIDE_DEVICE_LIMIT);
        assert_null(marshal);
        char bytes[32];
        snprintf(bytes, sizeof bytes, "%llu bytes", (unsigned long long)local_bytes);
        assert_non_null(strstr(restride_last_error(), bytes));
    }
    rs_record_free(&record);
}

static void test_more_records_than_the_buffer_holds(void **state)
{
    (void)state;
    rs_record record;
    test_uniform_record(&record, 5, 4);
    rs_opencl_marshal *marshal = create(&record, 4, NULL);
    cl_int code;
    cl_mem buffer = device.api->clCreateBuffer(device.context, CL_MEM_READ_WRITE, 199, NULL, &code);
    assert_int_equal(code, CL_SUCCESS);
    cl_event event = NULL;
    assert_int_equal(rs_opencl_marshal_enqueue(marshal, device.queue, buffer, 10, RS_AOS_TO_ASTA, 0,
                                               NULL, &event),
                     RESTRIDE_INVALID_ARGUMENT);
    assert_int_equal(rs_opencl_marshal_enqueue(marshal, device.queue, buffer, SIZE_MAX / 2,
                                               RS_AOS_TO_ASTA, 0, NULL, &event),
                     RESTRIDE_OVERFLOW);
    assert_null(event);
    device.api->clReleaseMemObject(buffer);
    rs_opencl_marshal_destroy(marshal);
    rs_record_free(&record);
}

int main(int argc, char **argv)
{
    tier = CROSS_SECTION;
    if (argc > 1)
        tier = strcmp(argv[1], "all") == 0 ? ALL : REDUCED;
    if (!test_device_open(&device))
        return 77;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_random_records),
        cmocka_unit_test(test_variants),
        cmocka_unit_test(test_variants_of_mixed_records),
        cmocka_unit_test(test_leaves_of_twelve_bytes),
        cmocka_unit_test(test_a_tile_that_does_not_fit),
        cmocka_unit_test(test_more_records_than_the_buffer_holds),
    };
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    test_device_close(&device);
    return failed;
}
