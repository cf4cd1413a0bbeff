/*
 * The baselines P-IPT and PTTWAC against the definition. PTTWAC is compiled for this test with
 * pauses between the steps of the claim protocol: a thread that is overtaken there is what breaks a
 * wrong one.
 */
#include "cmocka_all.h"
#include "host_engine.h"
#include "reference.h"
#include "restride/restride.h"

#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

/* ---- pauses ---- */

void test_pause(void); /* RS_CLAIM_PAUSE in the object of pttwac.c */

static atomic_size_t pause_every; /* 0: never */

void test_pause(void)
{
    static _Thread_local size_t passed;
    size_t every = atomic_load_explicit(&pause_every, memory_order_relaxed);
    if (every != 0 && ++passed % every == 0)
        for (size_t i = 0; i < passed % 5 + 1; i++)
            sched_yield();
}

/* ---- correctness ---- */

typedef struct {
    size_t rows;
    size_t cols;
    size_t unit;
    size_t batch;
    size_t misalignment;
    int threads;
} problem;

static void check(const problem *p, const char *method, uint64_t seed)
{
    const restride_plan_options options = {.scratch_bytes = (size_t)64 << 20, .method = method};
    size_t size = p->batch * p->rows * p->cols * p->unit;
    guarded_buffer buffer = guarded_create(size, p->misalignment, seed);
    unsigned char *expected = malloc(size);
    assert_non_null(expected);
    reference_transpose(expected, buffer.bytes, p->batch, p->rows, p->cols, p->unit);
    restride_engine *engine;
    restride_plan *plan;
    assert_int_equal(test_host_engine(&engine, p->threads), RESTRIDE_OK);
    if (restride_plan_transpose_with(&plan, engine, p->rows, p->cols, p->unit, p->batch,
                                     &options) != RESTRIDE_OK)
        fail_msg("%s: %s", method, restride_last_error());
    assert_true(restride_plan_scratch_bytes(plan) <= options.scratch_bytes);
    assert_int_equal(restride_execute(plan, buffer.bytes), RESTRIDE_OK);
    if (memcmp(buffer.bytes, expected, size) != 0 || !guarded_intact(&buffer))
        fail_msg("%s: %zu times %zu x %zu elements of %zu bytes, %d threads, seed %llu", method,
                 p->batch, p->rows, p->cols, p->unit, p->threads, (unsigned long long)seed);
    restride_plan_destroy(plan);
    restride_engine_destroy(engine);
    free(expected);
    guarded_free(&buffer);
}

static problem generate(uint64_t *seed, int i)
{
    static const size_t units[] = {4, 1, 2, 8, 3, 12, 16, 100, 5000};
    problem p = {.unit = units[test_random(seed, i % 8 == 0 ? 9 : 5)],
                 .batch = 1 + (i % 5 == 0 ? test_random(seed, 4) : 0),
                 .misalignment = test_random(seed, 3) == 0 ? test_random(seed, 17) : 0,
                 .threads = 1 + (int)test_random(seed, 8)};
    size_t elements = 1 + test_random(seed, ((i % 4 == 0 ? 4u : 1u) << 20) / p.unit);
    p.rows = 1 + test_random(seed, i % 3 == 0 ? 30 : 1000);
    p.cols = elements / p.rows + 1;
    return p;
}

static void test_generated(void **state)
{
    (void)state;
    uint64_t seed = 516;
    for (int i = 0; i < 120; i++) {
        problem p = generate(&seed, i);
        check(&p, "P-IPT", seed);
        check(&p, "PTTWAC", seed);
    }
}

/*
 * Threads are overtaken between any two steps. Few positions with long elements: many threads start
 * on the same few cycles, and start is the delicate step.
 */
static void test_overtaken(void **state)
{
    (void)state;
    enum { LEAST_PARALLEL_BYTES = 256 << 10 };
    uint64_t seed = 44;
    for (int i = 0; i < 300; i++) {
        problem p = {.batch = 1, .misalignment = 0, .threads = 2 + (int)test_random(&seed, 7)};
        p.rows = 2 + test_random(&seed, 9);
        p.cols = 2 + test_random(&seed, 9);
        p.unit = (LEAST_PARALLEL_BYTES / (p.rows * p.cols) / 8 + 1) * 8;
        atomic_store(&pause_every, 1 + test_random(&seed, 4));
        check(&p, "PTTWAC", seed);
    }
    static const problem long_cycles[] = {{1009, 97, 4, 1, 0, 8}, {70003, 2, 4, 1, 1, 8}};
    for (size_t i = 0; i < sizeof long_cycles / sizeof long_cycles[0]; i++) {
        atomic_store(&pause_every, 31);
        check(&long_cycles[i], "PTTWAC", i);
    }
    atomic_store(&pause_every, 0);
}

/* A budget that the flags exceed is refused before anything moves. */
static void test_budget(void **state)
{
    (void)state;
    const restride_plan_options options = {.scratch_bytes = 1000, .method = "PTTWAC"};
    restride_engine *engine;
    restride_plan *plan;
    assert_int_equal(test_host_engine(&engine, 2), RESTRIDE_OK);
    assert_int_equal(restride_plan_transpose_with(&plan, engine, 100, 101, 4, 1, &options),
                     RESTRIDE_UNSUPPORTED);
    assert_int_equal(restride_plan_transpose_with(&plan, engine, 40, 51, 4, 1, &options),
                     RESTRIDE_OK);
    assert_true(restride_plan_scratch_bytes(plan) <= 1000);
    restride_plan_destroy(plan);
    restride_engine_destroy(engine);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_generated),
        cmocka_unit_test(test_overtaken),
        cmocka_unit_test(test_budget),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
