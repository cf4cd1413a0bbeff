/*
 * Scratch memory: what a plan holds and what its run takes from the heap is what
 * restride_plan_scratch_bytes() states, and that is within what was granted, or the default. Over
 * generated transpositions, permutations and conversions, numbers of threads and budgets.
 */
#include "cmocka_all.h"
#include "faults/heap.h"
#include "host_engine.h"
#include "layout/generate.h"
#include "restride/restride.h"

#include <jansson.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { THREAD_BYTES = 4 << 20, DEFAULT_PARTS = 200, MOST_RANK = 6 };

/* A conversion when there are expressions, else a permutation of `rank` axes, else matrices. */
typedef struct {
    const char *dims;
    const char *from;
    const char *to;
    int rank;
    size_t axes[MOST_RANK];
    int permutation[MOST_RANK];
    size_t rows;
    size_t cols;
    size_t batch;
    size_t unit;
    int threads;
    size_t budget; /* 0: the default */
} problem;

static void describe(const problem *p, char *text, size_t size)
{
    if (p->from != NULL) {
        snprintf(text, size, "\"%s\" from \"%s\" to \"%s\"", p->dims, p->from, p->to);
    } else if (p->rank > 0) {
        int length = snprintf(text, size, "axes");
        for (int i = 0; i < p->rank; i++)
            length += snprintf(text + length, size - (size_t)length, " %zu>%d", p->axes[i],
                               p->permutation[i]);
    } else {
        snprintf(text, size, "%zu times %zu x %zu", p->batch, p->rows, p->cols);
    }
}

static void fail_for(const problem *p, const char *what, size_t a, size_t b)
{
    char text[900];
    describe(p, text, sizeof text);
    fail_msg("%s of %zu bytes, %d threads, budget %zu: %s (%zu and %zu); %s", text, p->unit,
             p->threads, p->budget, what, a, b, restride_last_error());
}

typedef struct {
    restride_engine *engine;
    restride_layout *from;
    restride_layout *to;
    size_t bytes;
} setting;

static void open_setting(const problem *p, setting *s)
{
    *s = (setting){.bytes = p->unit};
    assert_int_equal(test_host_engine(&s->engine, p->threads), RESTRIDE_OK);
    if (p->from != NULL) {
        if (restride_layout_parse(&s->from, p->dims, p->from) != RESTRIDE_OK ||
            restride_layout_parse(&s->to, p->dims, p->to) != RESTRIDE_OK)
            fail_for(p, "no layout", 0, 0);
        size_t from = restride_layout_size(s->from);
        size_t to = restride_layout_size(s->to);
        s->bytes = (from > to ? from : to) * (p->unit == 0 ? 1 : p->unit);
    } else if (p->rank > 0) {
        for (int i = 0; i < p->rank; i++)
            s->bytes *= p->axes[i];
    } else {
        s->bytes *= p->batch * p->rows * p->cols;
    }
}

static void close_setting(setting *s)
{
    restride_layout_destroy(s->from);
    restride_layout_destroy(s->to);
    restride_engine_destroy(s->engine);
}

static restride_status make_plan(const problem *p, const setting *s, restride_plan **plan)
{
    const restride_plan_options options = {.scratch_bytes = p->budget};
    if (p->from != NULL)
        return restride_plan_convert_with(plan, s->engine, s->from, s->to, p->unit, &options);
    if (p->rank > 0)
        return restride_plan_permute_with(plan, s->engine, p->rank, p->axes, p->permutation,
                                          p->unit, &options);
    return restride_plan_transpose_with(plan, s->engine, p->rows, p->cols, p->unit, p->batch,
                                        &options);
}

static size_t count_stages(const restride_plan *plan)
{
    char *text = restride_plan_describe(plan);
    json_t *description = json_loads(text, 0, NULL);
    size_t count = json_array_size(json_object_get(description, "stages"));
    json_decref(description);
    free(text);
    return count;
}

static size_t bound_of(const problem *p, const setting *s)
{
    const size_t of_threads = s->bytes / DEFAULT_PARTS + (size_t)p->threads * THREAD_BYTES;
    const size_t of_array = s->bytes + THREAD_BYTES;
    return p->budget != 0 ? p->budget : of_threads < of_array ? of_threads : of_array;
}

/* False when the plan was refused. */
static bool check(const problem *p)
{
    enum { PLAN_BYTES = 4096, STAGE_BYTES = 2048 };
    setting s;
    open_setting(p, &s);
    unsigned char *data = calloc(s.bytes + 1, 1);
    assert_non_null(data);
    restride_plan *plan = NULL;
    restride_status status = make_plan(p, &s, &plan);
    if (status != RESTRIDE_OK && (status != RESTRIDE_UNSUPPORTED || p->budget == 0))
        fail_for(p, "refused", 0, 0);
    if (status == RESTRIDE_OK) {
        size_t stated = restride_plan_scratch_bytes(plan);
        size_t structures = PLAN_BYTES + STAGE_BYTES * count_stages(plan);
        /* The first run starts threads, which sleep afterwards and are no plan's. */
        assert_int_equal(restride_execute(plan, data), RESTRIDE_OK);
        restride_plan_destroy(plan);
        heap_watch(SIZE_MAX, HEAP_FAILS_ONCE);
        assert_int_equal(make_plan(p, &s, &plan), RESTRIDE_OK);
        /* To compare sequences of transpositions takes some memory for a while. */
        if (p->from != NULL || p->rank > 0)
            heap_mark();
        assert_int_equal(restride_execute(plan, data), RESTRIDE_OK);
        restride_plan_destroy(plan);
        heap_report report = heap_stop();
        assert_int_equal(report.live, 0);
        if (stated > bound_of(p, &s))
            fail_for(p, "more stated than allowed", stated, bound_of(p, &s));
        if ((size_t)report.most > stated + structures)
            fail_for(p, "more taken than stated", (size_t)report.most, stated);
    }
    free(data);
    close_setting(&s);
    return status == RESTRIDE_OK;
}

/* With all budgets from a few bytes on: once one is enough, no larger one is refused. */
static void check_budgets(problem p, size_t bytes)
{
    bool possible = false;
    for (p.budget = 40; p.budget < 2 * bytes + 100000; p.budget += p.budget / 5 + 7) {
        bool made = check(&p);
        if (possible && !made)
            fail_for(&p, "refused, though less was enough", p.budget, 0);
        possible = made;
    }
    assert_true(possible);
    p.budget = 0;
    check(&p);
}

static void test_matrices(void **state)
{
    (void)state;
    static const size_t units[] = {1, 2, 3, 4, 8, 12, 16, 100};
    uint64_t seed = 11;
    for (int i = 0; i < 30; i++) {
        problem p = {.rows = 1 + made_random(&seed, 300),
                     .cols = 1 + made_random(&seed, 300),
                     .batch = 1 + (i % 4 == 0) * made_random(&seed, 20),
                     .unit = units[made_random(&seed, 8)],
                     .threads = 1 + (int)made_random(&seed, 5)};
        if (i % 5 == 0)
            p.cols = p.rows + made_random(&seed, 3);
        check_budgets(p, p.batch * p.rows * p.cols * p.unit);
    }
}

static void test_permutations(void **state)
{
    (void)state;
    uint64_t seed = 12;
    for (int i = 0; i < 40; i++) {
        problem p = {.rank = 2 + (int)made_random(&seed, MOST_RANK - 1),
                     .unit = 1 + made_random(&seed, 16),
                     .threads = 1 + (int)made_random(&seed, 5)};
        size_t bytes = p.unit;
        for (int d = 0; d < p.rank; d++) {
            p.axes[d] = 1 + made_random(&seed, p.rank < 4 ? 40 : 9);
            bytes *= p.axes[d];
            p.permutation[d] = d;
        }
        for (int d = p.rank - 1; d > 0; d--) {
            int other = (int)made_random(&seed, (size_t)d + 1);
            int held = p.permutation[d];
            p.permutation[d] = p.permutation[other];
            p.permutation[other] = held;
        }
        check_budgets(p, bytes);
    }
}

static void test_conversions(void **state)
{
    (void)state;
    uint64_t seed = 13;
    for (int i = 0; i < 40; i++) {
        made_layout a;
        made_layout b;
        make_layout(&a, &seed);
        make_another(&b, &a, &seed);
        problem p = {.dims = a.dims,
                     .from = a.expression,
                     .to = b.expression,
                     .unit = a.record >= 0 ? 0 : 1 + made_random(&seed, 12),
                     .threads = 1 + (int)made_random(&seed, 5)};
        setting s;
        open_setting(&p, &s);
        size_t bytes = s.bytes;
        close_setting(&s);
        if (bytes > 0)
            check_budgets(p, bytes);
    }
}

/* Those that once took more than they should have. */
static void test_known(void **state)
{
    (void)state;
    static const problem budgets[] = {
        {.dims = "i:45 j:8", .from = "i j", .to = "j i", .unit = 4, .threads = 1},
        {.dims = "i:1610 f:8", .from = "i/23 f i%23", .to = "f i/35 i%35", .unit = 1, .threads = 3},
        {.dims = "i:644 f:5 j:3",
         .from = "i/23 f i%23 j",
         .to = "f i/35 j i%35",
         .unit = 4,
         .threads = 3},
    };
    for (size_t i = 0; i < sizeof budgets / sizeof budgets[0]; i++)
        check_budgets(budgets[i], 40000);
}

/* Large enough for all kinds of stages, within the default. */
static void test_large_matrices(void **state)
{
    (void)state;
    static const size_t shapes[][5] = {
        {7200, 1800, 4, 1, 2}, {997, 1009, 4, 1, 1},  {1009, 1997, 8, 1, 2}, {3, 700001, 4, 1, 2},
        {700001, 3, 4, 1, 2},  {2000, 2000, 4, 1, 4}, {100, 100, 300, 1, 2}, {1500, 700, 4, 3, 2},
        {2, 2, 4000000, 1, 2}, {4093, 4091, 1, 1, 2}, {450, 28800, 2, 1, 2}, {625, 10000, 4, 1, 2},
    };
    for (size_t i = 0; i < sizeof shapes / sizeof shapes[0]; i++) {
        const problem p = {.rows = shapes[i][0],
                           .cols = shapes[i][1],
                           .unit = shapes[i][2],
                           .batch = shapes[i][3],
                           .threads = (int)shapes[i][4]};
        assert_true(check(&p));
    }
}

/* Of as many threads as a large machine has only those take scratch memory that have work. */
static void test_many_threads(void **state)
{
    (void)state;
    static const size_t shapes[][4] = {
        {4454, 449, 1, 1}, {4439, 150, 3, 1}, {700, 720, 4, 1}, {512, 700, 4, 1}, {18, 7352, 8, 2}};
    for (size_t i = 0; i < sizeof shapes / sizeof shapes[0]; i++)
        for (int threads = 4; threads <= 256; threads *= 8) {
            const problem p = {.rows = shapes[i][0],
                               .cols = shapes[i][1],
                               .unit = shapes[i][2],
                               .batch = shapes[i][3],
                               .threads = threads};
            assert_true(check(&p));
        }
    const problem records = {
        .dims = "i:10204 f:49", .from = "i f", .to = "f i", .unit = 4, .threads = 256};
    assert_true(check(&records));
}

/* A record of so many members of two sizes in turns, in tiles of about the bound of a thread. */
static void test_large_tiles(void **state)
{
    (void)state;
    enum { MEMBERS = 1024, RECORD_BYTES = MEMBERS / 2 * (8 + 4) + MEMBERS / 2 * 4, TEXT = 32768 };
    char *dims = malloc(TEXT);
    assert_non_null(dims);
    for (size_t tile = THREAD_BYTES / RECORD_BYTES - 20; tile < THREAD_BYTES / RECORD_BYTES + 5;
         tile += 5) {
        char to[64];
        int length = snprintf(dims, TEXT, "i:%zu f{", tile);
        for (int m = 0; m < MEMBERS; m++)
            length += snprintf(dims + length, (size_t)(TEXT - length), " %s m%d;",
                               m % 2 == 0 ? "double" : "float", m);
        snprintf(dims + length, (size_t)(TEXT - length), " }");
        snprintf(to, sizeof to, "i/%zu f i%%%zu", tile, tile);
        for (int threads = 1; threads <= 2; threads++) {
            const problem p = {.dims = dims, .from = "i f", .to = to, .threads = threads};
            check(&p);
        }
    }
    free(dims);
}

int main(void)
{
    heap_begin();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_matrices),       cmocka_unit_test(test_permutations),
        cmocka_unit_test(test_conversions),    cmocka_unit_test(test_known),
        cmocka_unit_test(test_large_matrices), cmocka_unit_test(test_large_tiles),
        cmocka_unit_test(test_many_threads),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
