/*
 * Permutations of axes against a loop over all elements. `test_permute all` runs more of them, and
 * larger ones.
 */
#include "cmocka_all.h"
#include "engine/slots.h"
#include "host_engine.h"
#include "reference.h"
#include "restride/restride.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_RANK = 16, BOX_BYTES = 6 << 10, CHIP_BYTES = 2 << 10 };

typedef struct {
    int rank;
    size_t dims[MOST_RANK];
    int axes[MOST_RANK];
    size_t unit;
    int threads;
    size_t scratch;
    bool whole; /* by the stages that take all axes at once */
} problem;

static size_t element_count(const problem *p)
{
    size_t count = 1;
    for (int i = 0; i < p->rank; i++)
        count *= p->dims[i];
    return count;
}

static problem inverse(const problem *p)
{
    problem back = *p;
    for (int k = 0; k < p->rank; k++) {
        back.dims[k] = p->dims[p->axes[k]];
        back.axes[p->axes[k]] = k;
    }
    return back;
}

static void say(const problem *p, uint64_t seed)
{
    for (int i = 0; i < p->rank; i++)
        print_message("%zu%s", p->dims[i], i + 1 < p->rank ? " x " : " to ");
    for (int i = 0; i < p->rank; i++)
        print_message("%d ", p->axes[i]);
    print_message(": %zu bytes, %d threads, scratch %zu, seed %llu\n", p->unit, p->threads,
                  p->scratch, (unsigned long long)seed);
}

/* A chip of a few kilobytes, and the cheapest stages are those that take all axes at once, which
 * the host has for such tests. */
static double whole_cost(const restride_engine *engine, const rs_transpose_task *task,
                         size_t scratch_limit)
{
    (void)engine;
    (void)scratch_limit;
    size_t bytes = task->rows * task->cols * task->unit;
    rs_slots slots;
    switch (task->method) {
    case RS_TRANSPOSE_ON_CHIP:
        return bytes <= CHIP_BYTES ? 1.1 : INFINITY;
    case RS_TRANSPOSE_BOXES:
        return rs_slots_of(&slots, task) ? 1 + 1 / (double)task->tile : INFINITY;
    case RS_TRANSPOSE_SLOTS:
        return rs_slots_of(&slots, task) ? 1.1 : INFINITY;
    case RS_TRANSPOSE_CHAINS:
    case RS_TRANSPOSE_SQUARE:
        return 4;
    default:
        return INFINITY;
    }
}

static rs_engine_traits whole_traits(const restride_engine *engine)
{
    return (rs_engine_traits){.chip_bytes = CHIP_BYTES,
                              .group_bytes = CHIP_BYTES,
                              .box_bytes = BOX_BYTES,
                              .line_bytes = 64,
                              .workers = 4,
                              .chip_only = true,
                              .cost = whole_cost,
                              .engine = engine,
                              .least_cost = 1};
}

static size_t whole_stages; /* of the plans so far */

static void run(const problem *p, unsigned char *data, uint64_t seed)
{
    restride_engine *engine;
    restride_plan *plan;
    const restride_plan_options options = {.scratch_bytes = p->scratch};
    assert_int_equal(test_host_engine(&engine, p->threads), RESTRIDE_OK);
    rs_engine_operations operations = *engine->operations;
    operations.traits = whole_traits;
    if (p->whole)
        engine->operations = &operations;
    if (restride_plan_permute_with(&plan, engine, p->rank, p->dims, p->axes, p->unit, &options) !=
        RESTRIDE_OK) {
        say(p, seed);
        fail_msg("%s", restride_last_error());
    }
    size_t bound = p->scratch != 0 ? p->scratch
                                   : element_count(p) * p->unit / 200 +
                                         (size_t)(p->threads > 0 ? p->threads : 64) * (4 << 20);
    assert_true(restride_plan_scratch_bytes(plan) <= bound);
    char *text = p->whole ? restride_plan_describe(plan) : NULL;
    for (const char *c = text; c != NULL && (c = strstr(c, "all of an array")) != NULL; c++)
        whole_stages++;
    free(text);
    assert_int_equal(restride_execute(plan, data), RESTRIDE_OK);
    restride_plan_destroy(plan);
    restride_engine_destroy(engine);
}

/* There, compared with the definition, and back. */
static void check(const problem *p, size_t misalignment, uint64_t seed)
{
    size_t size = element_count(p) * p->unit;
    guarded_buffer buffer = guarded_create(size, misalignment, seed);
    unsigned char *before = malloc(size);
    unsigned char *expected = malloc(size);
    assert_true(before != NULL && expected != NULL);
    memcpy(before, buffer.bytes, size);
    reference_permute(expected, before, p->rank, p->dims, p->axes, p->unit);
    run(p, buffer.bytes, seed);
    bool right = memcmp(buffer.bytes, expected, size) == 0 && guarded_intact(&buffer);
    const problem back = inverse(p);
    run(&back, buffer.bytes, seed);
    right = right && memcmp(buffer.bytes, before, size) == 0 && guarded_intact(&buffer);
    if (!right) {
        say(p, seed);
        fail_msg("wrong elements");
    }
    free(before);
    free(expected);
    guarded_free(&buffer);
}

static void shuffle(problem *p, uint64_t *seed)
{
    for (int i = 0; i < p->rank; i++)
        p->axes[i] = i;
    for (int i = p->rank; i-- > 1;) {
        size_t other = test_random(seed, (size_t)i + 1);
        int held = p->axes[i];
        p->axes[i] = p->axes[other];
        p->axes[other] = held;
    }
}

static void check_random(uint64_t *seed, int most_rank, size_t most_bytes, bool whole)
{
    static const size_t units[] = {1, 2, 4, 8, 4, 12, 16, 3};
    problem p = {.rank = 1 + (int)test_random(seed, (size_t)most_rank),
                 .unit = units[test_random(seed, 8)],
                 .threads = (int)test_random(seed, 4)};
    size_t left = 1 + test_random(seed, most_bytes / p.unit);
    for (int i = 0; i < p.rank; i++) {
        size_t most = i + 1 == p.rank ? left : left > 12 ? 12 : left;
        p.dims[i] = 1 + test_random(seed, most);
        left = left / p.dims[i] > 0 ? left / p.dims[i] : 1;
    }
    for (int i = 0; i < p.rank; i++) { /* the long axis anywhere */
        size_t other = test_random(seed, (size_t)p.rank);
        size_t held = p.dims[i];
        p.dims[i] = p.dims[other];
        p.dims[other] = held;
    }
    shuffle(&p, seed);
    p.whole = whole;
    p.scratch = whole ? 2 * element_count(&p) * p.unit + 4096 : 0;
    check(&p, test_random(seed, 65), *seed);
}

static void test_every_order_of_four(void **state)
{
    (void)state;
    problem p = {.rank = 4, .dims = {3, 5, 4, 7}, .unit = 4, .threads = 2};
    for (int code = 0; code < 256; code++) {
        unsigned seen = 0;
        for (int k = 0; k < 4; k++) {
            p.axes[k] = code >> (2 * k) & 3;
            seen |= 1u << p.axes[k];
        }
        if (seen == 15)
            check(&p, 0, (uint64_t)code);
    }
}

static void test_generated(void **state)
{
    (void)state;
    uint64_t seed = 404;
    for (int i = 0; i < 120; i++)
        check_random(&seed, 7, i % 8 == 0 ? 2 << 20 : 100000, false);
}

static void test_whole(void **state)
{
    (void)state;
    uint64_t seed = 406;
    for (int i = 0; i < 300; i++)
        check_random(&seed, 6, i % 3 == 0 ? 4000 : 60000, true);
    assert_in_range(whole_stages, 300, 2000);
}

static void test_high_rank(void **state)
{
    (void)state;
    uint64_t seed = 16;
    for (int i = 0; i < 6; i++) {
        problem p = {.rank = 9 + (int)test_random(&seed, 8), .unit = 4, .threads = 2};
        for (int k = 0; k < p.rank; k++)
            p.dims[k] = 1 + test_random(&seed, p.rank > 12 ? 2 : 3);
        shuffle(&p, &seed);
        check(&p, 0, seed);
    }
}

static void test_long(void **state)
{
    (void)state;
    uint64_t seed = 405;
    for (int i = 0; i < 3000; i++)
        check_random(&seed, 7, i % 50 == 0 ? 60 << 20 : i % 8 == 0 ? 2 << 20 : 50000, false);
}

static void test_refusals(void **state)
{
    (void)state;
    restride_engine *engine;
    restride_plan *plan;
    assert_int_equal(test_host_engine(&engine, 1), RESTRIDE_OK);
    static const struct {
        int rank;
        size_t dims[3];
        int axes[3];
        size_t unit;
        restride_status status;
    } cases[] = {
        {0, {1, 1, 1}, {0, 1, 2}, 4, RESTRIDE_INVALID_ARGUMENT},
        {17, {1, 1, 1}, {0, 1, 2}, 4, RESTRIDE_INVALID_ARGUMENT},
        {3, {2, 0, 2}, {0, 1, 2}, 4, RESTRIDE_INVALID_ARGUMENT},
        {3, {2, 2, 2}, {0, 1, 1}, 4, RESTRIDE_INVALID_ARGUMENT},
        {3, {2, 2, 2}, {0, 1, 3}, 4, RESTRIDE_INVALID_ARGUMENT},
        {3, {2, 2, 2}, {0, -1, 1}, 4, RESTRIDE_INVALID_ARGUMENT},
        {3, {2, 2, 2}, {0, 1, 2}, 0, RESTRIDE_INVALID_ARGUMENT},
        {3, {SIZE_MAX / 2, 2, 2}, {0, 1, 2}, 4, RESTRIDE_OVERFLOW},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        plan = (restride_plan *)&plan;
        assert_int_equal(restride_plan_permute(&plan, engine, cases[i].rank, cases[i].dims,
                                               cases[i].axes, cases[i].unit),
                         cases[i].status);
        assert_null(plan);
        assert_true(strlen(restride_last_error()) > 20);
    }
    const size_t dims[] = {2, 3};
    const int axes[] = {1, 0};
    assert_int_equal(restride_plan_permute(NULL, engine, 2, dims, axes, 4),
                     RESTRIDE_INVALID_ARGUMENT);
    assert_int_equal(restride_plan_permute(&plan, NULL, 2, dims, axes, 4),
                     RESTRIDE_INVALID_ARGUMENT);
    assert_int_equal(restride_plan_permute(&plan, engine, 2, NULL, axes, 4),
                     RESTRIDE_INVALID_ARGUMENT);
    assert_int_equal(restride_plan_permute(&plan, engine, 2, dims, NULL, 4),
                     RESTRIDE_INVALID_ARGUMENT);
    restride_engine_destroy(engine);
}

static void test_engine_without_stages(void **state)
{
    (void)state;
    const size_t dims[] = {4, 5};
    const int axes[] = {1, 0};
    restride_engine *engine;
    restride_plan *plan;
    assert_int_equal(test_host_engine(&engine, 1), RESTRIDE_OK);
    rs_engine_operations operations = *engine->operations;
    operations.create_transpose = NULL;
    engine->operations = &operations;
    assert_int_equal(restride_plan_permute(&plan, engine, 2, dims, axes, 4), RESTRIDE_UNSUPPORTED);
    assert_null(plan);
    restride_engine_destroy(engine);
}

static void test_describe(void **state)
{
    (void)state;
    restride_engine *engine;
    restride_plan *plan;
    const size_t dims[] = {40, 50, 60};
    const int axes[] = {2, 1, 0};
    assert_int_equal(test_host_engine(&engine, 1), RESTRIDE_OK);
    assert_int_equal(restride_plan_permute(&plan, engine, 3, dims, axes, 4), RESTRIDE_OK);
    char *text = restride_plan_describe(plan);
    assert_non_null(text);
    assert_non_null(strstr(text, "\"from\": \"0 1 2\""));
    assert_non_null(strstr(text, "\"to\": \"2 1 0\""));
    assert_non_null(strstr(text, "steps"));
    free(text);
    restride_plan_destroy(plan);
    restride_engine_destroy(engine);
}

int main(int argc, char **argv)
{
    if (argc > 1 && strcmp(argv[1], "all") == 0) {
        const struct CMUnitTest tests[] = {cmocka_unit_test(test_long)};
        return cmocka_run_group_tests(tests, NULL, NULL);
    }
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_order_of_four),
        cmocka_unit_test(test_generated),
        cmocka_unit_test(test_whole),
        cmocka_unit_test(test_high_rank),
        cmocka_unit_test(test_refusals),
        cmocka_unit_test(test_describe),
        cmocka_unit_test(test_engine_without_stages),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
