/* The chains and whole cycles that the CUDA engine's kernels are told: each position moves once. */
#include "cmocka_all.h"
#include "engine/cuda/cycles.h"

#include <stdbool.h>
#include <stdlib.h>

typedef struct {
    size_t rows;
    size_t cols;
    unsigned char *moved;
} matrix;

/* Steps until `end` comes; counts where it was. */
static size_t walk(const matrix *m, size_t start, size_t end)
{
    size_t length = 0;
    size_t position = start;
    do {
        m->moved[position]++;
        position = position % m->rows * m->cols + position / m->rows;
        length++;
    } while (position != end && length < m->rows * m->cols);
    return length;
}

static void walk_chains(const matrix *m, const rs_cuda_cycles *cycles, size_t most_chains)
{
    assert_true(cycles->chain_count == 0 || cycles->chain_count <= most_chains);
    size_t shortest = SIZE_MAX;
    size_t longest = 0;
    for (size_t i = 0; i < cycles->chain_count; i++) {
        size_t length = walk(m, cycles->ends[2 * i], cycles->ends[2 * i + 1]);
        shortest = length < shortest ? length : shortest;
        longest = length > longest ? length : longest;
    }
    /* A cycle just beyond the longest chain is cut into halves. */
    assert_true(cycles->chain_count == 0 || longest <= 2 * shortest + 1);
    size_t before = SIZE_MAX;
    for (size_t i = 0; i < cycles->whole_count; i++) {
        size_t length = walk(m, cycles->whole[i], cycles->whole[i]);
        assert_true(length > RS_CUDA_SHORT_CYCLE && length <= before);
        before = length;
    }
}

static void walk_marks(const matrix *m, const rs_cuda_cycles *cycles)
{
    assert_true(cycles->marks != NULL || cycles->mark_words == 0);
    for (size_t q = 0; q < cycles->mark_words * 64; q++) {
        if ((cycles->marks[q / 64] >> (q % 64) & 1) == 0)
            continue;
        size_t length = walk(m, q, q);
        assert_true(length >= 2 && length <= RS_CUDA_SHORT_CYCLE);
    }
}

static void check(size_t rows, size_t cols, size_t most_chains)
{
    const matrix m = {rows, cols, calloc(rows * cols, 1)};
    assert_non_null(m.moved);
    rs_cuda_cycles cycles;
    assert_int_equal(rs_cuda_cycles_create(&cycles, rows, cols, most_chains), RESTRIDE_OK);
    walk_chains(&m, &cycles, most_chains);
    walk_marks(&m, &cycles);
    for (size_t q = 0; q < rows * cols; q++) {
        bool stays = q % rows * cols + q / rows == q;
        if (m.moved[q] != !stays)
            fail_msg("%zu x %zu, %zu chains: position %zu is moved %d times", rows, cols,
                     most_chains, q, m.moved[q]);
    }
    rs_cuda_cycles_free(&cycles);
    free(m.moved);
}

static void test_small(void **state)
{
    (void)state;
    for (size_t rows = 1; rows <= 50; rows++)
        for (size_t cols = 1; cols <= 50; cols++)
            for (size_t chains = 0; chains <= 40; chains += 8)
                check(rows, cols, chains);
}

static void test_larger(void **state)
{
    (void)state;
    static const size_t shapes[][2] = {{450, 1800}, {625, 10000}, {1023, 1025}, {997, 1009},
                                       {3, 333331}, {65537, 2},   {1000, 1200}, {2048, 512}};
    static const size_t chains[] = {0, 1, 2, 33, 1000, 16896};
    for (size_t i = 0; i < sizeof shapes / sizeof shapes[0]; i++)
        for (size_t k = 0; k < sizeof chains / sizeof chains[0]; k++)
            check(shapes[i][0], shapes[i][1], chains[k]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_small),
        cmocka_unit_test(test_larger),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
