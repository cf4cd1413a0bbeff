/* The transformer's cycle model against table 1 of Tseng 2014, and its addresses against ASTA. */
#include "cmocka_all.h"
#include "lab/sim/transformer.h"
#include "restride/layout.h"
#include "transpose/reference.h"

#include <stdio.h>

static void addresses_are_those_of_asta(void **state)
{
    (void)state;
    uint64_t seed = 12;
    for (int n = 0; n < 200; n++) {
        size_t fields = 1 + test_random(&seed, 24);
        size_t tile = 1 + test_random(&seed, 40);
        size_t structures = tile * (1 + test_random(&seed, 5));
        size_t size = (size_t)1 << test_random(&seed, 4);
        size_t begin = test_random(&seed, 10000);
        char dims[64], expression[64];
        snprintf(dims, sizeof dims, "i:%zu f:%zu", structures, fields);
        snprintf(expression, sizeof expression, "i/%zu f i%%%zu", tile, tile);
        restride_layout *layout;
        assert_int_equal(restride_layout_parse(&layout, dims, expression), RESTRIDE_OK);
        for (size_t i = 0; i < structures; i++)
            for (size_t f = 0; f < fields; f++) {
                const size_t index[] = {i, f};
                size_t byte = test_random(&seed, size);
                assert_int_equal(rs_translate_address(begin + (i * fields + f) * size + byte, begin,
                                                      size, fields, tile),
                                 begin + restride_layout_offset(layout, index) * size + byte);
            }
        restride_layout_destroy(layout);
    }
}

static rs_transformer make_transformer(uint64_t *seed)
{
    static const size_t tiles[] = {2, 4, 8, 16, 32};
    static const size_t buses[] = {8, 16, 64, 128};
    rs_transformer made;
    do {
        made = (rs_transformer){tiles[test_random(seed, 5)], 1 + test_random(seed, 20),
                                (size_t)8 << test_random(seed, 4), buses[test_random(seed, 4)],
                                (size_t)1 << test_random(seed, 6)};
    } while (rs_transformer_check(&made) != RESTRIDE_OK);
    return made;
}

static size_t largest(size_t a, size_t b)
{
    return a > b ? a : b;
}

/* Many chunks take as long as the slowest stage, in both directions; words leave in order. */
static void a_chunk_takes_as_long_as_its_slowest_stage(void **state)
{
    (void)state;
    uint64_t seed = 4;
    for (int n = 0; n < 300; n++) {
        const rs_transformer t = make_transformer(&seed);
        size_t slowest = largest(t.fields * t.tile * t.element_bits / t.bus_bits,
                                 t.fields * t.element_bits / t.bits_per_cycle);
        assert_int_equal(largest(rs_transformer_bus_cycles(&t), rs_transformer_gather_cycles(&t)),
                         slowest);
        assert_int_equal(rs_transformer_forward(&t, 9 * t.tile, NULL, NULL) -
                             rs_transformer_forward(&t, 8 * t.tile, NULL, NULL),
                         slowest);
        assert_int_equal(rs_transformer_backward(&t, 9, NULL, NULL) -
                             rs_transformer_backward(&t, 8, NULL, NULL),
                         slowest);
        size_t step = rs_transformer_balanced_bits(&t);
        if (step > 0) {
            rs_transformer balanced = t;
            balanced.bits_per_cycle = step;
            assert_int_equal(rs_transformer_bus_cycles(&balanced),
                             rs_transformer_gather_cycles(&balanced));
        }
    }
}

typedef struct {
    uint64_t seed;
    size_t asked;
} lazy_neighbour;

static bool sometimes(void *context, size_t cycle)
{
    lazy_neighbour *lazy = context;
    lazy->asked = cycle;
    return test_random(&lazy->seed, 3) == 0;
}

/* Slow neighbours only make it later; all words leave, one a cycle at most. */
static void words_leave_in_order(void **state)
{
    (void)state;
    uint64_t seed = 9;
    enum { MOST = 20000 };
    static size_t left_at[MOST];
    for (int n = 0; n < 100; n++) {
        const rs_transformer t = make_transformer(&seed);
        size_t structures = 1 + test_random(&seed, 3 * t.tile);
        size_t words = (structures + t.tile - 1) / t.tile * rs_transformer_words(&t);
        if (words > MOST)
            continue;
        lazy_neighbour lazy = {seed, 0};
        const rs_transformer_neighbours neighbours = {sometimes, sometimes, &lazy};
        size_t quick = rs_transformer_forward(&t, structures, NULL, NULL);
        size_t slow = rs_transformer_forward(&t, structures, &neighbours, left_at);
        assert_true(slow >= quick);
        assert_int_equal(left_at[words - 1] + 1, slow);
        for (size_t i = 1; i < words; i++)
            assert_true(left_at[i] > left_at[i - 1]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(addresses_are_those_of_asta),
        cmocka_unit_test(a_chunk_takes_as_long_as_its_slowest_stage),
        cmocka_unit_test(words_leave_in_order),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
