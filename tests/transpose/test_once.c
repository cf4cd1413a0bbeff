/*
 * Conversions, transpositions and permutations in one call, against plans and against their
 * definition; and the plans that an engine keeps for them. `test_once all` runs more cases.
 */
#include "cmocka_all.h"
#include "host_engine.h"
#include "layout/generate.h"
#include "layout/layout.h"
#include "reference.h"
#include "restride/restride.h"
#include "transpose/kept.h"

#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct {
    char dims[500];
    const char *from;
    const char *to;
    restride_layout *layouts[2];
    size_t bytes;
} problem;

static void parse(problem *p)
{
    const char *expressions[] = {p->from, p->to};
    p->bytes = 0;
    for (int i = 0; i < 2; i++) {
        if (restride_layout_parse(&p->layouts[i], p->dims, expressions[i]) != RESTRIDE_OK)
            fail_msg("\"%s\" of \"%s\": %s", expressions[i], p->dims, restride_last_error());
        size_t bytes = restride_layout_bytes(p->layouts[i]);
        p->bytes = bytes > p->bytes ? bytes : p->bytes;
    }
}

static void destroy(problem *p)
{
    restride_layout_destroy(p->layouts[0]);
    restride_layout_destroy(p->layouts[1]);
}

/* Every element, by the definition of the two layouts. */
static bool all_moved(const problem *p, const unsigned char *before, const unsigned char *after)
{
    return reference_converted(p->layouts[0], p->layouts[1], p->layouts[0]->unit, before, after);
}

static void run_plan(restride_engine *engine, const problem *p, unsigned char *data)
{
    restride_plan *plan;
    if (restride_plan_convert(&plan, engine, p->layouts[0], p->layouts[1]) != RESTRIDE_OK ||
        restride_execute(plan, data) != RESTRIDE_OK)
        fail_msg("%s", restride_last_error());
    assert_int_equal(restride_plan_bytes(plan), p->bytes);
    restride_plan_destroy(plan);
}

/* How the array is converted: by a plan, in one call, or by plans that the engine keeps. */
enum { BY_PLAN, IN_ONE_CALL, WITH_ENGINE, AGAIN, WAYS };

static void convert(int way, restride_engine *engine, const problem *p, unsigned char *data)
{
    restride_status status = RESTRIDE_OK;
    if (way == BY_PLAN)
        run_plan(engine, p, data);
    else if (way == IN_ONE_CALL)
        status = restride_convert(data, p->dims, p->from, p->to);
    else
        status = restride_convert_with(engine, data, p->bytes, p->dims, p->from, p->to);
    if (status != RESTRIDE_OK)
        fail_msg("%s", restride_last_error());
}

static void check_random(restride_engine *engine, uint64_t *seed)
{
    made_layout from;
    made_layout to;
    make_layout(&from, seed);
    make_another(&to, &from, seed);
    problem p = {.from = from.expression, .to = to.expression};
    const size_t unit = 1 + made_random(seed, 16);
    if (from.record >= 0)
        snprintf(p.dims, sizeof p.dims, "%s", from.dims);
    else
        snprintf(p.dims, sizeof p.dims, "%s char[%zu]", from.dims, unit);
    parse(&p);
    const size_t misalignment = made_random(seed, 65);
    const uint64_t content = *seed;
    guarded_buffer before = guarded_create(p.bytes, misalignment, content);
    guarded_buffer first = {.bytes = NULL};
    for (int way = 0; way < WAYS; way++) {
        guarded_buffer buffer = guarded_create(p.bytes, misalignment, content);
        convert(way, engine, &p, buffer.bytes);
        if (!guarded_intact(&buffer) || !all_moved(&p, before.bytes, buffer.bytes))
            fail_msg("way %d is wrong: \"%s\" of \"%s\" to \"%s\"", way, p.from, p.dims, p.to);
        if (way == BY_PLAN)
            first = buffer;
        else if (memcmp(first.bytes, buffer.bytes, p.bytes) != 0)
            fail_msg("way %d differs: \"%s\" of \"%s\" to \"%s\"", way, p.from, p.dims, p.to);
        if (way != BY_PLAN)
            guarded_free(&buffer);
    }
    guarded_free(&first);
    guarded_free(&before);
    destroy(&p);
}

static void check_many(int cases, uint64_t seed)
{
    restride_engine *engine;
    assert_int_equal(test_host_engine(&engine, 2), RESTRIDE_OK);
    for (int i = 0; i < cases; i++)
        check_random(engine, &seed);
    restride_engine_destroy(engine);
}

static void test_generated(void **state)
{
    (void)state;
    check_many(2000, 7);
}

static void test_generated_long(void **state)
{
    (void)state;
    check_many(100000, 8);
}

/* ---- matrices and tensors ---- */

static void test_transpose(void **state)
{
    (void)state;
    enum { BATCH = 3, ROWS = 37, COLS = 90, UNIT = 12, SIZE = BATCH * ROWS * COLS * UNIT };
    static unsigned char expected[SIZE];
    restride_engine *engine;
    assert_int_equal(test_host_engine(&engine, 2), RESTRIDE_OK);
    restride_engine *engines[] = {NULL, engine, engine};
    for (size_t i = 0; i < 3; i++) {
        guarded_buffer buffer = guarded_create(SIZE, 3, 5);
        reference_transpose(expected, buffer.bytes, BATCH, ROWS, COLS, UNIT);
        assert_int_equal(
            restride_transpose_with(engines[i], buffer.bytes, SIZE, ROWS, COLS, UNIT, BATCH),
            RESTRIDE_OK);
        assert_memory_equal(buffer.bytes, expected, SIZE);
        assert_true(guarded_intact(&buffer));
        guarded_free(&buffer);
    }
    restride_engine_destroy(engine);
}

/* As the layouts "a b c" and the permuted order say it. */
static void test_permute(void **state)
{
    (void)state;
    static const size_t dims[] = {11, 7, 26};
    static const int permutation[] = {2, 0, 1};
    problem p = {.dims = "a:11 b:7 c:26 double", .from = "a b c", .to = "c a b"};
    parse(&p);
    restride_engine *engine;
    assert_int_equal(test_host_engine(&engine, 2), RESTRIDE_OK);
    guarded_buffer before = guarded_create(p.bytes, 0, 9);
    for (int i = 0; i < 3; i++) {
        guarded_buffer buffer = guarded_create(p.bytes, 0, 9);
        restride_status status =
            i == 0 ? restride_permute(buffer.bytes, 3, dims, permutation, sizeof(double))
                   : restride_permute_with(engine, buffer.bytes, p.bytes, 3, dims, permutation,
                                           sizeof(double));
        assert_int_equal(status, RESTRIDE_OK);
        assert_true(all_moved(&p, before.bytes, buffer.bytes) && guarded_intact(&buffer));
        guarded_free(&buffer);
    }
    guarded_free(&before);
    restride_engine_destroy(engine);
    destroy(&p);
}

/* ---- refusals ---- */

#define RECORDS "i:10 f{ float x; double m; }"

static const struct {
    const char *dims;
    const char *from;
    const char *to;
    size_t bytes;
    restride_status status;
    const char *words;
} wrong[] = {
    {RECORDS, "i f", "f i", 159, RESTRIDE_INVALID_ARGUMENT, "has 159 bytes"},
    {RECORDS, "i f", "f i", 0, RESTRIDE_INVALID_ARGUMENT, "describes 160"},
    {RECORDS, "i f", "i/4:pad f i%4", 160, RESTRIDE_INVALID_ARGUMENT, "describes 192"},
    {"i:10 f:4", "i f", "f i", 160, RESTRIDE_UNSUPPORTED, "how large its elements are"},
    {"i:10 f:4 flat", "i f", "f i", 160, RESTRIDE_SYNTAX, "needs an extent"},
    {RECORDS, "i", "f i", 160, RESTRIDE_SYNTAX, "the dimension f has no term"},
    {RECORDS, "i f", "f j", 160, RESTRIDE_SYNTAX, "no dimension \"j\""},
    {NULL, "i f", "f i", 160, RESTRIDE_INVALID_ARGUMENT, "is NULL"},
    {RECORDS, NULL, "f i", 160, RESTRIDE_INVALID_ARGUMENT, "is NULL"},
    {RECORDS, "i f", NULL, 160, RESTRIDE_INVALID_ARGUMENT, "is NULL"},
    {"i:9223372036854775807 f:9", "i f", "f i", 160, RESTRIDE_OVERFLOW, "64 bits"},
};

/* A sentence that names what is wrong and ends with what is left. */
static void check_refused(restride_status status, restride_status expected, const char *words)
{
    const char *end = " is unchanged.";
    const char *sentence = restride_last_error();
    size_t length = strlen(sentence);
    if (status != expected || (words != NULL && strstr(sentence, words) == NULL) ||
        length < strlen(end) || strcmp(sentence + length - strlen(end), end) != 0)
        fail_msg("status %d instead of %d, and \"%s\"", (int)status, (int)expected, sentence);
}

static void test_wrong_arguments_change_nothing(void **state)
{
    (void)state;
    restride_engine *engine;
    assert_int_equal(test_host_engine(&engine, 1), RESTRIDE_OK);
    restride_engine *engines[] = {NULL, engine};
    guarded_buffer before = guarded_create(200, 0, 3);
    guarded_buffer buffer = guarded_create(200, 0, 3);
    static const size_t dims[] = {4, 5};
    static const int permutation[] = {1, 1};
    for (size_t e = 0; e < 2; e++) {
        for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++)
            check_refused(restride_convert_with(engines[e], buffer.bytes, wrong[i].bytes,
                                                wrong[i].dims, wrong[i].from, wrong[i].to),
                          wrong[i].status, wrong[i].words);
        check_refused(restride_convert_with(engines[e], NULL, 160, RECORDS, "i f", "f i"),
                      RESTRIDE_INVALID_ARGUMENT, "is NULL");
        check_refused(restride_transpose_with(engines[e], buffer.bytes, 79, 4, 5, 4, 1),
                      RESTRIDE_INVALID_ARGUMENT, "79 bytes");
        check_refused(restride_transpose_with(engines[e], buffer.bytes, 80, 4, 0, 4, 1),
                      RESTRIDE_INVALID_ARGUMENT, "at least 1");
        check_refused(restride_permute_with(engines[e], buffer.bytes, 80, 2, dims, permutation, 4),
                      RESTRIDE_INVALID_ARGUMENT, "axis 1 at place 1");
        check_refused(
            restride_permute_with(engines[e], buffer.bytes, 80, 1000, dims, permutation, 4),
            RESTRIDE_INVALID_ARGUMENT, NULL);
        check_refused(restride_permute_with(engines[e], buffer.bytes, 80, 2, NULL, permutation, 4),
                      RESTRIDE_INVALID_ARGUMENT, NULL);
    }
    check_refused(restride_convert(NULL, RECORDS, "i f", "f i"), RESTRIDE_INVALID_ARGUMENT, NULL);
    check_refused(restride_transpose(NULL, 4, 5, 4), RESTRIDE_INVALID_ARGUMENT, NULL);
    check_refused(restride_permute(buffer.bytes, 2, dims, permutation, 4),
                  RESTRIDE_INVALID_ARGUMENT, NULL);
    assert_true(guarded_intact(&buffer));
    assert_memory_equal(buffer.bytes, before.bytes, 200);
    guarded_free(&before);
    guarded_free(&buffer);
    restride_engine_destroy(engine);
}

static void test_nothing_to_convert(void **state)
{
    (void)state;
    assert_int_equal(restride_convert(NULL, "i:0 f:3 float", "i f", "f i"), RESTRIDE_OK);
    assert_int_equal(restride_convert_with(NULL, NULL, 0, "i:0 f:3 float", "i f", "f i"),
                     RESTRIDE_OK);
}

/* ---- kept plans ---- */

static int plans_made;

static restride_status make_counted(restride_plan **plan, restride_engine *engine, const void *rows)
{
    plans_made++;
    return restride_plan_transpose(plan, engine, *(const size_t *)rows, 50, 4, 1);
}

static restride_plan *acquire(restride_engine *engine, size_t rows)
{
    char key[32];
    restride_plan *plan;
    snprintf(key, sizeof key, "%zu", rows);
    assert_int_equal(rs_kept_acquire(&plan, engine, key, make_counted, &rows), RESTRIDE_OK);
    return plan;
}

static void use(restride_engine *engine, size_t rows)
{
    rs_kept_release(engine, acquire(engine, rows));
}

static void test_plans_are_kept(void **state)
{
    (void)state;
    restride_engine *engine;
    assert_int_equal(test_host_engine(&engine, 1), RESTRIDE_OK);
    plans_made = 0;
    for (int round = 0; round < 3; round++)
        for (size_t rows = 1; rows <= RS_KEPT_PLANS; rows++)
            use(engine, rows);
    assert_int_equal(plans_made, RS_KEPT_PLANS);
    use(engine, 1);
    use(engine, 100); /* takes the place of 2, whose use is longest ago */
    use(engine, 1);
    assert_int_equal(plans_made, RS_KEPT_PLANS + 1);
    use(engine, 2);
    assert_int_equal(plans_made, RS_KEPT_PLANS + 2);
    restride_engine_forget_plans(engine);
    use(engine, 1);
    assert_int_equal(plans_made, RS_KEPT_PLANS + 3);
    restride_engine_destroy(engine);
}

static void test_plans_in_use_stay(void **state)
{
    (void)state;
    restride_engine *engine;
    restride_plan *plans[RS_KEPT_PLANS + 2];
    assert_int_equal(test_host_engine(&engine, 1), RESTRIDE_OK);
    for (size_t i = 0; i < RS_KEPT_PLANS + 2; i++)
        plans[i] = acquire(engine, i + 1); /* the last two find no place */
    plans_made = 0;
    assert_ptr_equal(acquire(engine, 1), plans[0]);
    restride_engine_forget_plans(engine);
    assert_int_equal(plans_made, 0);
    restride_plan *other = acquire(engine, 1);
    assert_ptr_not_equal(other, plans[0]);
    assert_int_equal(plans_made, 1);
    rs_kept_release(engine, plans[0]);
    for (size_t i = 0; i < RS_KEPT_PLANS + 2; i++) {
        assert_true(restride_plan_scratch_bytes(plans[i]) < SIZE_MAX);
        rs_kept_release(engine, plans[i]);
    }
    rs_kept_release(engine, other);
    restride_engine_destroy(engine);
}

/* More problems than places, in several threads on one engine. */
enum { CALLERS = 4, CALLS = 150, PROBLEMS = RS_KEPT_PLANS + 5 };

typedef struct {
    restride_engine *engine;
    uint64_t seed;
    bool right;
} caller;

static void *call_often(void *argument)
{
    caller *c = argument;
    c->right = true;
    for (int i = 0; i < CALLS; i++) {
        const size_t rows = 2 + test_random(&c->seed, PROBLEMS);
        const size_t size = rows * 60 * 4;
        guarded_buffer buffer = guarded_create(size, 0, c->seed);
        unsigned char *expected = malloc(size);
        if (expected == NULL)
            abort();
        reference_transpose(expected, buffer.bytes, 1, rows, 60, 4);
        c->right =
            c->right &&
            restride_transpose_with(c->engine, buffer.bytes, size, rows, 60, 4, 1) == RESTRIDE_OK &&
            memcmp(buffer.bytes, expected, size) == 0 && guarded_intact(&buffer);
        if (i % 20 == 0)
            restride_engine_forget_plans(c->engine);
        free(expected);
        guarded_free(&buffer);
    }
    return NULL;
}

static void test_threads_share_kept_plans(void **state)
{
    (void)state;
    restride_engine *engine;
    caller callers[CALLERS];
    pthread_t threads[CALLERS];
    assert_int_equal(test_host_engine(&engine, 2), RESTRIDE_OK);
    for (size_t i = 0; i < CALLERS; i++) {
        callers[i] = (caller){engine, 100 + i, false};
        assert_int_equal(pthread_create(&threads[i], NULL, call_often, &callers[i]), 0);
    }
    for (size_t i = 0; i < CALLERS; i++) {
        pthread_join(threads[i], NULL);
        assert_true(callers[i].right);
    }
    restride_engine_destroy(engine);
}

/* One engine, arrays of as many bytes, other axes: each call has a plan of its own. */
static void test_axes_have_plans_of_their_own(void **state)
{
    (void)state;
    static const size_t dims[][3] = {{4, 5, 6}, {5, 4, 6}, {2, 10, 6}, {4, 5, 6}};
    static const int axes[][3] = {{2, 0, 1}, {2, 0, 1}, {1, 0, 2}, {0, 2, 1}};
    enum { COUNT = 120 };
    restride_engine *engine;
    assert_int_equal(restride_engine_create_host(&engine, 1), RESTRIDE_OK);
    for (size_t round = 0; round < 2; round++)
        for (size_t c = 0; c < sizeof dims / sizeof dims[0]; c++) {
            const size_t *d = dims[c];
            const size_t strides[] = {d[1] * d[2], d[2], 1};
            const int *a = axes[c];
            uint32_t data[COUNT];
            for (uint32_t e = 0; e < COUNT; e++)
                data[e] = e;
            assert_int_equal(restride_permute_with(engine, data, sizeof data, 3, d, a, 4),
                             RESTRIDE_OK);
            for (size_t e = 0; e < COUNT; e++) {
                size_t last = e % d[a[2]], middle = e / d[a[2]] % d[a[1]];
                size_t first = e / d[a[2]] / d[a[1]];
                assert_int_equal(data[e], first * strides[a[0]] + middle * strides[a[1]] +
                                              last * strides[a[2]]);
            }
        }
    restride_engine_destroy(engine);
}

int main(int argc, char **argv)
{
    if (argc > 1 && strcmp(argv[1], "all") == 0) {
        const struct CMUnitTest tests[] = {cmocka_unit_test(test_generated_long)};
        return cmocka_run_group_tests(tests, NULL, NULL);
    }
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_axes_have_plans_of_their_own),
        cmocka_unit_test(test_generated),
        cmocka_unit_test(test_transpose),
        cmocka_unit_test(test_permute),
        cmocka_unit_test(test_wrong_arguments_change_nothing),
        cmocka_unit_test(test_nothing_to_convert),
        cmocka_unit_test(test_plans_are_kept),
        cmocka_unit_test(test_plans_in_use_stay),
        cmocka_unit_test(test_threads_share_kept_plans),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
