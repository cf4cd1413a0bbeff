/* Every method of the planner's table against the definition, on every shape that it accepts. */
#include "cmocka_all.h"
#include "host_engine.h"
#include "reference.h"
#include "restride/restride.h"
#include "transpose/choose.h"
#include "transpose/methods.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>

typedef struct {
    size_t rows;
    size_t cols;
    size_t unit;
    size_t batch;
    int threads;
} problem;

/* Runs the stages with exactly the scratch memory that they state, and within what they may. */
static void run_tasks(restride_engine *engine, const rs_stage_choice *choice, unsigned char *data)
{
    const rs_engine_operations *operations = engine->operations;
    for (size_t i = 0; i < choice->count; i++) {
        rs_stage *stage;
        assert_int_equal(
            operations->create_transpose(engine, &choice->tasks[i], choice->scratch_limit, &stage),
            RESTRIDE_OK);
        size_t kept;
        size_t bytes = operations->scratch_bytes(stage, &kept);
        if (bytes > choice->scratch_limit)
            fail_msg("%s: stage %zu takes %zu of %zu bytes", choice->method, i, bytes,
                     choice->scratch_limit);
        void *scratch = NULL;
        if (bytes != 0)
            assert_int_equal(posix_memalign(&scratch, 64, bytes), 0);
        assert_int_equal(operations->run(stage, data, scratch, NULL, NULL), RESTRIDE_OK);
        free(scratch);
        operations->destroy_stage(stage);
    }
}

static void check_choice(const problem *p, const rs_stage_choice *choice, restride_engine *engine)
{
    size_t size = p->batch * p->rows * p->cols * p->unit;
    guarded_buffer buffer = guarded_create(size, (p->rows + p->cols) % 65, p->rows * p->cols);
    unsigned char *expected = malloc(size);
    assert_non_null(expected);
    reference_transpose(expected, buffer.bytes, p->batch, p->rows, p->cols, p->unit);
    run_tasks(engine, choice, buffer.bytes);
    if (memcmp(buffer.bytes, expected, size) != 0 || !guarded_intact(&buffer))
        fail_msg("%s with tiles %zu x %zu: %zu times %zu x %zu elements of %zu bytes, %d threads",
                 choice->method, choice->tiles.rows, choice->tiles.cols, p->batch, p->rows, p->cols,
                 p->unit, p->threads);
    free(expected);
    guarded_free(&buffer);
}

/* All tiles that a method offers for a shape, or some of them. */
typedef struct {
    rs_offers offers;
    const problem *problem;
    const rs_matrices *matrices;
    const rs_engine_traits *traits;
    restride_engine *engine;
    uint64_t seed;
    size_t offered;
    size_t checked;
    size_t stages;
} trial;

enum { MOST_CHECKED = 6 };

static void try_tiles(rs_offers *offers, const rs_method *method, rs_tiles tiles)
{
    trial *t = (trial *)offers;
    t->offered++;
    if (t->checked >= MOST_CHECKED || (t->offered > 2 && test_random(&t->seed, 8) != 0))
        return;
    const restride_plan_options options = {.scratch_bytes = (size_t)64 << 20,
                                           .method = method->name};
    rs_stage_choice choice;
    if (rs_choose_exactly(&choice, t->matrices, t->traits, &options, tiles) != RESTRIDE_OK)
        return;
    t->checked++;
    t->stages += choice.count;
    check_choice(t->problem, &choice, t->engine);
}

static size_t try_method(const rs_method *method, const problem *p, uint64_t seed, size_t *stages)
{
    const rs_matrices matrices = {p->rows, p->cols, p->unit, p->batch, 0};
    const rs_engine_traits traits = {.chip_bytes = (size_t)64 << test_random(&seed, 12),
                                     .line_bytes = 64,
                                     .workers = (size_t)p->threads};
    const rs_problem offered = {.matrices = &matrices,
                                .traits = traits,
                                .scratch_limit = (size_t)64 << 20,
                                .granted = true,
                                .named = true};
    restride_engine *engine;
    assert_int_equal(test_host_engine(&engine, p->threads), RESTRIDE_OK);
    trial t = {.offers = {try_tiles, SIZE_MAX},
               .problem = p,
               .matrices = &matrices,
               .traits = &traits,
               .engine = engine,
               .seed = seed};
    method->offer(method, &offered, &t.offers);
    restride_engine_destroy(engine);
    *stages += t.stages;
    return t.checked;
}

static const size_t units[] = {1, 2, 3, 4, 8, 12, 16, 20, 64, 100};
enum { UNIT_COUNT = sizeof units / sizeof units[0] };

/* Shapes with factors, near squares, multiples of squares and primes, so that each method gets its
 * share. */
static problem make_shape(uint64_t *seed, int i)
{
    problem p = {.rows = 1 + test_random(seed, 90), .unit = units[test_random(seed, UNIT_COUNT)]};
    size_t across = 1 + test_random(seed, 90);
    switch (i % 5) {
    case 0:
        p.rows *= 1 + test_random(seed, 6);
        across *= 1 + test_random(seed, 6);
        break;
    case 1:
        across = p.rows + test_random(seed, 4);
        break;
    case 2:
        across = p.rows * (1 + test_random(seed, 5)) + test_random(seed, 3);
        break;
    case 3:
        p.rows = 16 * (1 + test_random(seed, 12));
        across = 24 * (1 + test_random(seed, 8));
        break;
    default:
        break;
    }
    p.cols = across;
    if (test_random(seed, 2) == 0) {
        p.cols = p.rows;
        p.rows = across;
    }
    p.batch = 1 + (i % 4 == 0) * test_random(seed, 3);
    p.threads = 1 + (int)test_random(seed, 4);
    return p;
}

/* The host has no such stages; tests/engine/test_transpose_opencl.c tries them. */
static bool is_for_devices(const rs_method *method)
{
    static const char *const names[] = {"tiles 210!",
                                        "groups and square",
                                        "C2R in panels",
                                        "R2C in panels",
                                        "on chip",
                                        "3-stage P-IPT",
                                        "3-stage PTTWAC",
                                        "3-stage PTTWAC packed",
                                        "3-stage PTTWAC remapped"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if (strcmp(method->name, names[i]) == 0)
            return true;
    return false;
}

static void test_every_method(void **state)
{
    (void)state;
    enum { SHAPES = 240, LEAST = 20 };
    for (size_t k = 0; k < rs_methods_count(); k++) {
        uint64_t seed = 4484;
        size_t checked = 0;
        size_t stages = 0;
        for (int i = 0; i < SHAPES; i++) {
            const problem p = make_shape(&seed, i);
            checked += try_method(rs_methods_at(k), &p, seed, &stages);
        }
        /* Shapes of one row or column are few. */
        size_t least = strcmp(rs_methods_at(k)->name, "nothing") == 0 ? 1 : LEAST;
        if (checked < least && !is_for_devices(rs_methods_at(k)))
            fail_msg("%s was tried %zu times only", rs_methods_at(k)->name, checked);
    }
}

/* Large enough for several threads a stage. */
static void test_every_method_in_threads(void **state)
{
    (void)state;
    static const problem problems[] = {
        {720, 360, 4, 1, 4},  {360, 720, 4, 2, 3},  {600, 610, 4, 1, 4},  {613, 601, 8, 1, 2},
        {400, 1201, 4, 1, 4}, {1203, 400, 8, 1, 3}, {512, 512, 4, 1, 4},  {480, 1920, 2, 3, 4},
        {997, 499, 12, 1, 4}, {40000, 18, 4, 1, 4}, {18, 40000, 4, 1, 4}, {96, 72, 300, 1, 4},
    };
    for (size_t k = 0; k < rs_methods_count(); k++)
        for (size_t i = 0; i < sizeof problems / sizeof problems[0]; i++) {
            size_t stages = 0;
            try_method(rs_methods_at(k), &problems[i], i, &stages);
        }
}

/* Methods that cut both sides take tiles that divide both, and leave more than one of each. */
static void test_tiles_of_grids(void **state)
{
    (void)state;
    static const char *const grids[] = {"3-stage 100! 0010! 0100!", "3-stage 0100! 0010! 100!",
                                        "4-stage 0100! 0010! 1000! 0100!", "4-stage fused"};
    static const rs_tiles wrong[] = {{7, 20},   {24, 7},   {1, 20}, {24, 1},   {0, 20},  {24, 0},
                                     {720, 20}, {24, 600}, {7, 7},  {1440, 2}, {2, 1200}};
    static const rs_matrices m = {720, 600, 4, 1, 0};
    const rs_engine_traits traits = {.chip_bytes = 1 << 20, .line_bytes = 64, .workers = 2};
    rs_stage_choice choice;
    for (size_t k = 0; k < sizeof grids / sizeof grids[0]; k++) {
        const restride_plan_options options = {.method = grids[k]};
        assert_int_equal(rs_choose_exactly(&choice, &m, &traits, &options, (rs_tiles){24, 20}),
                         RESTRIDE_OK);
        for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++)
            if (rs_choose_exactly(&choice, &m, &traits, &options, wrong[i]) != RESTRIDE_UNSUPPORTED)
                fail_msg("%s took tiles of %zu x %zu", grids[k], wrong[i].rows, wrong[i].cols);
    }
}

/* As many groups as there are rows or columns across are a square of super-elements. */
static void test_squares_of_groups(void **state)
{
    (void)state;
    static const struct {
        const char *method;
        problem problem;
        rs_tiles tiles;
    } cases[] = {
        {"2-stage 010! 100!", {480, 120, 4, 2, 3}, {4, 0}},
        {"2-stage 100! 010!", {120, 480, 4, 2, 3}, {0, 4}},
        {"2-stage 010! 100!", {363, 120, 4, 1, 2}, {3, 0}},
        {"3-stage 100! 0010! 0100!", {120, 480, 4, 1, 2}, {8, 4}},
    };
    const rs_engine_traits traits = {.chip_bytes = 1 << 20, .line_bytes = 64, .workers = 2};
    restride_engine *engine;
    assert_int_equal(test_host_engine(&engine, 2), RESTRIDE_OK);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const problem *p = &cases[i].problem;
        const rs_matrices m = {p->rows, p->cols, p->unit, p->batch, 0};
        const restride_plan_options options = {.method = cases[i].method};
        rs_stage_choice choice;
        size_t squares = 0;
        if (rs_choose_exactly(&choice, &m, &traits, &options, cases[i].tiles) != RESTRIDE_OK)
            fail_msg("%s", restride_last_error());
        for (size_t k = 0; k < choice.count; k++)
            squares += choice.tasks[k].method == RS_TRANSPOSE_SQUARE &&
                       choice.tasks[k].rows == 120 && choice.tasks[k].unit > p->unit;
        bool has_square = p->rows % p->cols == 0 || p->cols % p->rows == 0;
        if (squares != has_square)
            fail_msg("case %zu has %zu squares", i, squares);
        check_choice(p, &choice, engine);
    }
    restride_engine_destroy(engine);
}

/* By its name through the public interface: the method is taken, or the reason is said. */
static void test_named(void **state)
{
    (void)state;
    restride_engine *engine;
    assert_int_equal(restride_engine_create_host(&engine, 2), RESTRIDE_OK);
    static const size_t shapes[][2] = {{720, 360}, {600, 607}, {512, 512}, {300, 900}, {1, 50}};
    for (size_t k = 0; k < rs_methods_count(); k++) {
        const restride_plan_options options = {.method = rs_methods_at(k)->name};
        size_t taken = 0;
        for (size_t i = 0; i < sizeof shapes / sizeof shapes[0]; i++) {
            const problem p = {shapes[i][0], shapes[i][1], 4, 1, 2};
            restride_plan *plan;
            restride_status status =
                restride_plan_transpose_with(&plan, engine, p.rows, p.cols, 4, 1, &options);
            if (status != RESTRIDE_OK) {
                assert_int_equal(status, RESTRIDE_UNSUPPORTED);
                assert_non_null(strstr(restride_last_error(), options.method));
                continue;
            }
            taken++;
            char *text = restride_plan_describe(plan);
            json_t *description = json_loads(text, 0, NULL);
            assert_string_equal(json_string_value(json_object_get(description, "method")),
                                options.method);
            json_decref(description);
            free(text);
            restride_plan_destroy(plan);
        }
        if (taken == 0 && !rs_methods_at(k)->only_when_named && !is_for_devices(rs_methods_at(k)))
            fail_msg("%s was never taken", options.method);
    }
    restride_plan *plan;
    const restride_plan_options unknown = {.method = "5-stage"};
    assert_int_equal(restride_plan_transpose_with(&plan, engine, 4, 6, 4, 1, &unknown),
                     RESTRIDE_INVALID_ARGUMENT);
    assert_non_null(strstr(restride_last_error(), "5-stage"));
    restride_engine_destroy(engine);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_method),   cmocka_unit_test(test_every_method_in_threads),
        cmocka_unit_test(test_tiles_of_grids), cmocka_unit_test(test_squares_of_groups),
        cmocka_unit_test(test_named),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
