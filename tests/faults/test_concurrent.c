/*
 * One plan run by several threads on buffers of their own, with engines of 1 to 8 threads, and
 * plans made at the same time on one engine: what ThreadSanitizer is to see. Each run has a
 * team of its own.
 */
#include "cmocka_all.h"
#include "host_engine.h"
#include "restride/restride.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>

enum { CALLERS = 4, RUNS = 2 };

typedef struct {
    size_t rows;
    size_t cols;
    size_t unit;
    const char *method;
} matrix;

typedef struct {
    const matrix *m;
    restride_engine *engine;
    restride_plan *shared;
    size_t number; /* of the caller: its buffer differs from all others */
    bool right;
} caller;

static unsigned char byte_of(size_t element, size_t byte, size_t number)
{
    uint64_t mixed = (element * 1000003 + byte * 7919 + number) * 0x9E3779B97F4A7C15u;
    return (unsigned char)(mixed >> 56);
}

static void fill(unsigned char *data, const matrix *m, size_t number)
{
    for (size_t e = 0; e < m->rows * m->cols; e++)
        for (size_t b = 0; b < m->unit; b++)
            data[e * m->unit + b] = byte_of(e, b, number);
}

static bool transposed(const unsigned char *data, const matrix *m, size_t number)
{
    for (size_t j = 0; j < m->cols; j++)
        for (size_t i = 0; i < m->rows; i++)
            for (size_t b = 0; b < m->unit; b++)
                if (data[(j * m->rows + i) * m->unit + b] != byte_of(i * m->cols + j, b, number))
                    return false;
    return true;
}

static bool run_plan(restride_plan *plan, const caller *c, unsigned char *data, size_t number)
{
    fill(data, c->m, number);
    return restride_execute(plan, data) == RESTRIDE_OK && transposed(data, c->m, number);
}

static void *call(void *context)
{
    caller *c = context;
    const restride_plan_options options = {.scratch_bytes = (size_t)32 << 20,
                                           .method = c->m->method};
    unsigned char *data = malloc(c->m->rows * c->m->cols * c->m->unit);
    c->right = data != NULL;
    for (size_t run = 0; run < RUNS && c->right; run++)
        c->right = run_plan(c->shared, c, data, c->number * RUNS + run);
    restride_plan *own = NULL;
    c->right = c->right && restride_plan_transpose_with(&own, c->engine, c->m->rows, c->m->cols,
                                                        c->m->unit, 1, &options) == RESTRIDE_OK;
    c->right = c->right && run_plan(own, c, data, 1000 + c->number);
    char *text = restride_plan_describe(c->shared);
    c->right = c->right && text != NULL;
    free(text);
    restride_plan_destroy(own);
    free(data);
    return NULL;
}

static void check(const matrix *m, int threads)
{
    const restride_plan_options options = {.scratch_bytes = (size_t)32 << 20, .method = m->method};
    restride_engine *engine;
    restride_plan *plan;
    assert_int_equal(test_host_engine(&engine, threads), RESTRIDE_OK);
    assert_int_equal(
        restride_plan_transpose_with(&plan, engine, m->rows, m->cols, m->unit, 1, &options),
        RESTRIDE_OK);
    pthread_t started[CALLERS];
    caller callers[CALLERS];
    for (size_t i = 0; i < CALLERS; i++) {
        callers[i] = (caller){m, engine, plan, i, false};
        assert_int_equal(pthread_create(&started[i], NULL, call, &callers[i]), 0);
    }
    for (size_t i = 0; i < CALLERS; i++)
        pthread_join(started[i], NULL);
    for (size_t i = 0; i < CALLERS; i++)
        if (!callers[i].right)
            fail_msg("%zu x %zu elements of %zu bytes (%s), %d threads: caller %zu failed: %s",
                     m->rows, m->cols, m->unit, m->method == NULL ? "any method" : m->method,
                     threads, i, restride_last_error());
    restride_plan_destroy(plan);
    restride_engine_destroy(engine);
}

static const matrix matrices[] = {
    {480, 300, 4, NULL},    {293, 307, 4, NULL},     {260, 260, 8, NULL},
    {3, 40000, 4, NULL},    {37000, 5, 2, NULL},     {60, 70, 100, NULL},
    {280, 260, 4, "P-IPT"}, {280, 260, 4, "PTTWAC"}, {300, 330, 4, "2-stage 100! 010!"},
};
enum { MATRIX_COUNT = sizeof matrices / sizeof matrices[0] };

static void test_callers(void **state)
{
    (void)state;
    for (size_t i = 0; i < MATRIX_COUNT; i++)
        check(&matrices[i], 1 + (int)(i % 8));
    for (int threads = 1; threads <= 8; threads++)
        check(&matrices[(size_t)threads % 3], threads);
}

/* The same where the system gives no huge pages. Last: it holds for the rest of the process. */
static void test_small_pages(void **state)
{
    (void)state;
#ifdef PR_SET_THP_DISABLE
    assert_int_equal(prctl(PR_SET_THP_DISABLE, 1, 0, 0, 0), 0);
#endif
    static const matrix large = {1800, 1200, 8, NULL};
    check(&large, 2);
    check(&matrices[1], 3);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_callers),
        cmocka_unit_test(test_small_pages),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
