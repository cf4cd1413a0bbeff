/* The arithmetic of chains and cycles: against the definition on small shapes, and at sizes beyond
 * 2^32 that no memory holds. */
#include "cmocka_all.h"
#include "engine/host/cycle.h"

#include <stdlib.h>

/* Steps from a chain's start to its stop; counts where it comes by. */
static size_t walk(const rs_host_cycles *cycles, size_t start, size_t stop, unsigned char *moved)
{
    size_t length = 0;
    size_t position = start;
    do {
        moved[position]++;
        position = rs_host_source(cycles, position);
        length++;
    } while (position != stop && length <= cycles->total);
    return length;
}

static void check_chains(const rs_host_cycles *cycles, unsigned char *moved)
{
    size_t *starts = calloc(cycles->chains + 1, sizeof *starts);
    assert_non_null(starts);
    rs_host_chain_cursor chain;
    for (int round = 0; round < 2; round++)
        for (size_t i = 0; i < cycles->chains; i++) {
            if (i == 0 || i % 7 == 3) /* from anywhere on */
                rs_host_chain_begin(&chain, cycles, i);
            if (round == 0) {
                starts[i] = chain.start;
                size_t length = walk(cycles, chain.start, chain.stop, moved);
                assert_true(length >= cycles->length && length <= 3 * cycles->length);
            } else {
                assert_int_equal(starts[i], chain.start);
                assert_int_equal(starts[chain.following], chain.stop);
            }
            rs_host_chain_next(&chain);
        }
    free(starts);
}

static void check_whole_cycles(const rs_host_cycles *cycles, unsigned char *moved)
{
    size_t members = 1 + cycles->total % 4;
    size_t slices = 1 + cycles->total % 3;
    size_t *seen = calloc(cycles->total, sizeof *seen);
    assert_non_null(seen);
    for (size_t member = 0; member < members; member++) {
        rs_host_whole_cursor cycle;
        rs_host_whole_begin(&cycle, cycles, slices, member, members, member % 2 != 0);
        while (rs_host_whole_next(&cycle)) {
            assert_true(cycle.slice < slices);
            seen[cycle.leader] += (size_t)1 << cycle.slice;
            if (cycle.slice != 0)
                continue;
            size_t length = walk(cycles, cycle.leader, cycle.leader, moved);
            assert_true(length >= 2 && length / 2 < cycles->length);
        }
        assert_false(rs_host_whole_next(&cycle));
    }
    for (size_t q = 0; q < cycles->total; q++)
        assert_true(seen[q] == 0 || seen[q] == ((size_t)1 << slices) - 1);
    free(seen);
}

/* Every position is moved exactly once: by the chain that it is on, or with its whole cycle. */
static void check_cover(size_t rows, size_t cols, size_t length)
{
    rs_host_cycles cycles;
    assert_int_equal(rs_host_cycles_create(&cycles, rows, cols, length), RESTRIDE_OK);
    assert_true(cycles.chains <= cycles.total / length);
    unsigned char *moved = calloc(cycles.total, 1);
    assert_non_null(moved);
    check_chains(&cycles, moved);
    check_whole_cycles(&cycles, moved);
    for (size_t i = 0; i < rows; i++)
        for (size_t j = 0; j < cols; j++) {
            size_t position = j * rows + i;
            assert_int_equal(rs_host_source(&cycles, position), i * cols + j);
            bool stays = position == i * cols + j;
            if (moved[position] != !stays)
                fail_msg("%zu x %zu, chains of %zu: position %zu is moved %d times", rows, cols,
                         length, position, moved[position]);
        }
    free(moved);
    rs_host_cycles_free(&cycles);
}

static void test_cover(void **state)
{
    (void)state;
    for (size_t rows = 1; rows <= 40; rows++)
        for (size_t cols = 1; cols <= 40; cols++)
            for (size_t length = 1; length <= 13; length += 6)
                check_cover(rows, cols, length);
    check_cover(450, 1800, 509);
    check_cover(450, 450, 509);
    check_cover(509, 1018, 509);
    check_cover(3, 33331, 509);
    check_cover(65521, 2, 509);
    check_cover(50, 2500, 509);
    check_cover(625, 1000, 509);
    check_cover(225, 1800, 509);
    check_cover(1201, 1100, 3);
    check_cover(1201, 1100, SIZE_MAX);
}

/* The position of q*cols mod (rows*cols - 1), by the definition, where products need 128 bits. */
static size_t defined_source(size_t rows, size_t cols, size_t position)
{
    __extension__ typedef unsigned __int128 wide;
    size_t modulus = rows * cols - 1;
    return position == modulus ? modulus : (size_t)((wide)position * cols % modulus);
}

/* A chain ends where the next one begins, after as many steps as it should have. */
static void check_large_chains(const rs_host_cycles *cycles)
{
    enum { PLACES = 50 };
    for (size_t k = 0; k < PLACES && cycles->chains > 2; k++) {
        rs_host_chain_cursor chain;
        rs_host_chain_begin(&chain, cycles, cycles->chains / PLACES * k);
        size_t stop = chain.stop;
        size_t following = chain.following;
        size_t position = chain.start;
        size_t length = 0;
        do {
            position = rs_host_source(cycles, position);
            length++;
        } while (position != stop && length < 2 * cycles->length);
        assert_int_equal(position, stop);
        assert_true(length >= cycles->length);
        rs_host_chain_begin(&chain, cycles, following);
        assert_int_equal(chain.start, stop);
    }
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
        assert_int_equal(rs_host_cycles_create(&cycles, shapes[s].rows, shapes[s].cols, 509),
                         RESTRIDE_OK);
        assert_int_equal(cycles.total, shapes[s].rows * shapes[s].cols);
        assert_true(cycles.chains <= cycles.total / 509);
        size_t step = cycles.total / 10007;
        for (size_t k = 0; k < 10007; k++) {
            size_t position = k % 2 == 0 ? k * step : cycles.total - 1 - k * step;
            assert_int_equal(rs_host_source(&cycles, position),
                             defined_source(shapes[s].rows, shapes[s].cols, position));
        }
        assert_int_equal(rs_host_source(&cycles, cycles.total - 1), cycles.total - 1);
        check_large_chains(&cycles);
        rs_host_cycles_free(&cycles);
    }
}

/* The reciprocal is exact up to the largest number for which it is used. */
static void test_divider(void **state)
{
    (void)state;
    for (size_t divisor = 1; divisor < 70000; divisor += divisor < 300 ? 1 : 997) {
        rs_divider divider = rs_divider_make(divisor, UINT32_MAX);
        for (size_t number = UINT32_MAX; number > UINT32_MAX - 3 * divisor && number > 0;
             number -= 1 + divisor / 50)
            assert_int_equal(rs_divide(&divider, number), number / divisor);
        for (size_t k = 1; k <= 64; k++) {
            size_t multiple = UINT32_MAX / divisor / k * divisor;
            assert_int_equal(rs_divide(&divider, multiple), multiple / divisor);
            if (multiple > 0)
                assert_int_equal(rs_divide(&divider, multiple - 1), (multiple - 1) / divisor);
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
