/* The arithmetic of chains and cycles: against the definition on small shapes, and at sizes beyond
 * 2^32 that no memory holds. */
#include "cmocka_all.h"
#include "engine/host/cycle.h"

#include <stdlib.h>

/* Every position is moved exactly once: by the chain that it is on, or by its marked cycle. */
static void check_cover(size_t rows, size_t cols, size_t stride)
{
    rs_host_cycles cycles;
    assert_int_equal(rs_host_cycles_create(&cycles, rows, cols, stride), RESTRIDE_OK);
    unsigned char *moved = calloc(cycles.total, 1);
    assert_non_null(moved);
    for (size_t start = 1; start <= cycles.starts; start++) {
        size_t position = start * cycles.stride;
        do {
            moved[position]++;
            position = rs_host_source(&cycles, position);
        } while (rs_host_chain_at(&cycles, position) == 0);
    }
    for (size_t word = 0; word < cycles.leader_words; word++)
        for (size_t bit = 0; bit < 64; bit++) {
            if ((cycles.leaders[word] >> bit & 1) == 0)
                continue;
            size_t leader = word * 64 + bit;
            size_t position = leader;
            do {
                moved[position]++;
                position = rs_host_source(&cycles, position);
            } while (position != leader);
        }
    for (size_t i = 0; i < rows; i++)
        for (size_t j = 0; j < cols; j++) {
            size_t position = j * rows + i;
            assert_int_equal(rs_host_source(&cycles, position), i * cols + j);
            bool stays = position == i * cols + j;
            if (moved[position] != 1 && !(stays && moved[position] == 0))
                fail_msg("%zu x %zu, stride %zu: position %zu is moved %d times", rows, cols,
                         cycles.stride, position, moved[position]);
        }
    free(moved);
    rs_host_cycles_free(&cycles);
}

static void test_cover(void **state)
{
    (void)state;
    for (size_t rows = 1; rows <= 40; rows++)
        for (size_t cols = 1; cols <= 40; cols++)
            for (size_t stride = 2; stride <= 13; stride += 11)
                check_cover(rows, cols, stride);
    check_cover(450, 1800, 509);
    check_cover(450, 450, 509);
    check_cover(509, 1018, 509);
    check_cover(3, 33331, 509);
    check_cover(65521, 2, 509);
    /* Cycles of three, classes that chains reach in part, and beyond the vectors' lanes. */
    check_cover(50, 2500, 509);
    check_cover(625, 1000, 509);
    check_cover(225, 1800, 509);
    check_cover(1201, 1100, 3);
}

/* The position of q*cols mod (rows*cols - 1), by the definition, where products need 128 bits. */
static size_t defined_source(size_t rows, size_t cols, size_t position)
{
    __extension__ typedef unsigned __int128 wide;
    size_t modulus = rows * cols - 1;
    return position == modulus ? modulus : (size_t)((wide)position * cols % modulus);
}

static void test_large(void **state)
{
    (void)state;
    static const struct {
        size_t rows;
        size_t cols;
    } shapes[] = {{65536, 65535},           {65536, 65536},        {65537, 65537},
                  {4294967291, 4294967279}, {3, 6148914691236517}, {19, 4000000000000001},
                  {4294967296, 3},          {1000003, 1000033},    {92681, 46341},
                  {2, 9223372036854775},    {9223372036854775, 2}};
    for (size_t s = 0; s < sizeof shapes / sizeof shapes[0]; s++) {
        rs_host_cycles cycles;
        rs_host_cycles_begin(&cycles, shapes[s].rows, shapes[s].cols, 509);
        assert_int_equal(cycles.total, shapes[s].rows * shapes[s].cols);
        size_t step = cycles.total / 10007;
        for (size_t k = 0; k < 10007; k++) {
            size_t position = k % 2 == 0 ? k * step : cycles.total - 1 - k * step;
            assert_int_equal(rs_host_source(&cycles, position),
                             defined_source(shapes[s].rows, shapes[s].cols, position));
            size_t chain = rs_host_chain_at(&cycles, position);
            assert_int_equal(chain, position % cycles.stride == 0 ? position / cycles.stride : 0);
        }
        assert_int_equal(rs_host_source(&cycles, cycles.total - 1), cycles.total - 1);
        assert_true((cycles.total - 1) % cycles.stride != 0);
    }
}

/* The reciprocal is exact up to the largest number for which it is used. */
static void test_divider(void **state)
{
    (void)state;
    for (size_t divisor = 1; divisor < 70000; divisor += divisor < 300 ? 1 : 997) {
        rs_host_divider divider = rs_host_divider_make(divisor, UINT32_MAX);
        for (size_t number = UINT32_MAX; number > UINT32_MAX - 3 * divisor && number > 0;
             number -= 1 + divisor / 50)
            assert_int_equal(rs_host_divide(&divider, number), number / divisor);
        for (size_t k = 1; k <= 64; k++) {
            size_t multiple = UINT32_MAX / divisor / k * divisor;
            assert_int_equal(rs_host_divide(&divider, multiple), multiple / divisor);
            if (multiple > 0)
                assert_int_equal(rs_host_divide(&divider, multiple - 1), (multiple - 1) / divisor);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_cover),
        cmocka_unit_test(test_large),
        cmocka_unit_test(test_divider),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
