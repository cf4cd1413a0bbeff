/* The shape of the marshaling kernel: what must hold for every record, tile and device. Needs no
 * device. */
#include "base/arithmetic.h"
#include "engine/opencl/shape.h"
#include "engine/opencl/simd.h"

#include "cmocka_all.h"
#include "marshal_cases.h"

#include <stdlib.h>
#include <string.h>

static const rs_marshal_limits gpu = {
    .local_bytes = 49152, .constant_bytes = 65536, .work_items = 1024, .simd_items = 32};

static void test_chunks_fit_and_start_on_vectors(void **state)
{
    (void)state;
    for (size_t words = 1; words <= 80; words++) {
        for (size_t tile = 2; tile <= 128; tile++) {
            rs_record record;
            rs_marshal_shape shape;
            test_uniform_record(&record, words, 4);
            assert_int_equal(rs_marshal_shape_choose(&shape, &record, tile, &gpu, NULL),
                             RESTRIDE_OK);
            size_t chunk = shape.tiles * tile * record.size;
            assert_true(shape.tiles >= 1 && shape.local_bytes <= gpu.local_bytes);
            assert_true(shape.row >= shape.width &&
                        shape.row * 4 * tile * shape.tiles == shape.local_bytes);
            assert_int_equal(chunk % (shape.components * shape.granule), 0);
            assert_true(shape.work_items >= 1 && shape.work_items <= gpu.work_items);
            assert_true(shape.batch >= 1 && shape.batch <= RS_MARSHAL_MAX_BATCH);
            rs_record_free(&record);
        }
    }
}

/* The speed of the common case hangs on these: whole 16-byte vectors, odd rows, chunks of 8 to 24
 * KB. */
static void test_the_common_case_is_wide(void **state)
{
    (void)state;
    for (size_t words = 2; words <= 64; words++) {
        rs_record record;
        rs_marshal_shape shape;
        test_uniform_record(&record, words, 4);
        assert_int_equal(rs_marshal_shape_choose(&shape, &record, 32, &gpu, NULL), RESTRIDE_OK);
        assert_int_equal(shape.components * shape.granule, 16);
        assert_int_equal(shape.row % 2, 1);
        assert_in_range(shape.tiles * 32 * record.size, 8192, 24576);
        rs_record_free(&record);
    }
}

static void test_padding_gives_way(void **state)
{
    (void)state;
    rs_record record;
    rs_marshal_shape shape;
    test_uniform_record(&record, 96, 4); /* 128 records of 96 words are 48 KB to the byte */
    assert_int_equal(rs_marshal_shape_choose(&shape, &record, 128, &gpu, NULL), RESTRIDE_OK);
    assert_int_equal(shape.row, 96);
    assert_int_equal(shape.local_bytes, 49152);
    assert_int_equal(rs_marshal_shape_choose(&shape, &record, 129, &gpu, NULL),
                     RESTRIDE_DEVICE_LIMIT);
    rs_record_free(&record);
}

static void test_nothing_to_do(void **state)
{
    (void)state;
    rs_record record;
    rs_marshal_shape shape;
    test_uniform_record(&record, 5, 4);
    assert_int_equal(rs_marshal_shape_choose(&shape, &record, 1, &gpu, NULL), RESTRIDE_OK);
    assert_true(shape.identity);
    assert_int_equal(rs_marshal_shape_choose(&shape, &record, 0, &gpu, NULL),
                     RESTRIDE_INVALID_ARGUMENT);
    rs_record_free(&record);
    test_uniform_record(&record, 1, 8);
    assert_int_equal(rs_marshal_shape_choose(&shape, &record, 32, &gpu, NULL), RESTRIDE_OK);
    assert_true(shape.identity);
    rs_record_free(&record);
}

static void test_variants_out_of_range(void **state)
{
    (void)state;
    static const rs_marshal_variant wrong[] = {
        {0, 0, 3, 0, 0}, {0, 0, 32, 0, 0}, {0, 0, 0, 17, 0}, {0, 0, 0, 0, 3}};
    rs_record record;
    rs_marshal_shape shape;
    test_uniform_record(&record, 5, 4);
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++)
        assert_int_equal(rs_marshal_shape_choose(&shape, &record, 32, &gpu, &wrong[i]),
                         RESTRIDE_INVALID_ARGUMENT);
    rs_record_free(&record);
}

/* Work-items are whole SIMD units of the device, whatever their size, unless the group has fewer.
 */
static void test_work_items_follow_the_device(void **state)
{
    (void)state;
    static const size_t simd_items[] = {1, 8, 16, 32, 64};
    for (size_t i = 0; i < sizeof simd_items / sizeof simd_items[0]; i++)
        for (size_t words = 2; words <= 64; words++) {
            rs_marshal_limits limits = gpu;
            rs_record record;
            rs_marshal_shape shape;
            limits.simd_items = simd_items[i];
            limits.local_bytes = 1024; /* small chunks */
            test_uniform_record(&record, words, 4);
            assert_int_equal(rs_marshal_shape_choose(&shape, &record, 4, &limits, NULL),
                             RESTRIDE_OK);
            size_t vectors = shape.tiles * 4 * record.size / shape.components / shape.granule;
            assert_int_equal(shape.work_items % simd_items[i], 0);
            assert_true(shape.work_items >= rs_size_smaller(vectors, 256));
            assert_true(shape.work_items < vectors + simd_items[i]);
            rs_record_free(&record);
        }
}

/* What devices say is bounded, and made a power of two. */
static void test_simd_items_are_bounded(void **state)
{
    (void)state;
    static const struct {
        size_t said;
        size_t used;
    } cases[] = {{0, 32}, {1, 8}, {8, 8}, {12, 8}, {16, 16}, {32, 32}, {64, 64}, {1024, 64}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        assert_int_equal(rs_opencl_bound_simd_items(cases[i].said), cases[i].used);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_chunks_fit_and_start_on_vectors),
        cmocka_unit_test(test_the_common_case_is_wide),
        cmocka_unit_test(test_padding_gives_way),
        cmocka_unit_test(test_nothing_to_do),
        cmocka_unit_test(test_variants_out_of_range),
        cmocka_unit_test(test_work_items_follow_the_device),
        cmocka_unit_test(test_simd_items_are_bounded),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
