/*
 * The marshaling kernel against the definition of ASTA, byte by byte, in both directions.
 *
 * `test_marshal reduced` runs a few small cases: enough for a simulator that checks every access.
 */
#include "cmocka_all.h"
#include "marshal_cases.h"

#include <stdio.h>
#include <string.h>

static test_device device;
static bool reduced;

static const size_t tiles[] = {1, 2, 3, 7, 8, 16, 31, 32, 33, 64};
enum { TILES = sizeof tiles / sizeof tiles[0] };

static rs_opencl_marshal *create(const rs_record *record, size_t tile)
{
    rs_opencl_marshal *marshal = NULL;
    restride_status status =
        rs_opencl_marshal_create(&marshal, device.api, device.context, device.device, record, tile);
    if (status != RESTRIDE_OK)
        fail_msg("record of %zu bytes, tile %zu: %s", record->size, tile, restride_last_error());
    return marshal;
}

/* Counts around a tile, and enough for several work-groups with a ragged end. */
static void check_counts(const rs_record *record, size_t tile)
{
    rs_opencl_marshal *marshal = create(record, tile);
    const rs_marshal_shape *shape = rs_opencl_marshal_shape(marshal);
    size_t chunk = shape->identity ? 3 * tile : shape->tiles * tile;
    const size_t counts[] = {
        0, 1, tile - 1, tile, tile + 1, chunk - 1, chunk, chunk + 1, 2 * chunk + tile / 2 + 1};
    for (size_t c = 0; c < sizeof counts / sizeof counts[0]; c++)
        test_marshal_both_ways(&device, marshal, record, tile, counts[c]);
    rs_opencl_marshal_destroy(marshal);
}

/* Sizes 1 to 80, each with one random mix of leaves and one tile; every tile meets several sizes.
 */
static void test_random_records(void **state)
{
    (void)state;
    uint32_t random = 20131113;
    size_t step = reduced ? 13 : 1;
    for (size_t size = 1; size <= 80; size += step) {
        rs_record record;
        test_random_record(&record, size, &random);
        check_counts(&record, tiles[(size + size / TILES) % TILES]);
        rs_record_free(&record);
    }
}

static void test_uniform_records(void **state)
{
    (void)state;
    static const struct {
        size_t leaves, leaf_size, tile;
    } cases[] = {{5, 4, 32}, {8, 4, 32}, {19, 4, 32}, {16, 4, 33}, {20, 4, 8}, {3, 8, 32},
                 {6, 8, 64}, {7, 2, 32}, {13, 1, 31}, {4, 16, 32}, {64, 4, 16}};
    size_t count = reduced ? 3 : sizeof cases / sizeof cases[0];
    for (size_t i = 0; i < count; i++) {
        rs_record record;
        test_uniform_record(&record, cases[i].leaves, cases[i].leaf_size);
        check_counts(&record, cases[i].tile);
        rs_record_free(&record);
    }
}

int main(int argc, char **argv)
{
    reduced = argc > 1 && strcmp(argv[1], "reduced") == 0;
    if (!test_device_open(&device))
        return 77;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_random_records),
        cmocka_unit_test(test_uniform_records),
    };
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    test_device_close(&device);
    return failed;
}
