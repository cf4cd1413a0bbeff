/*
 * Which plan each of a thousand random problems gets, and what it is expected to cost, for engines
 * that are made up: threads with caches, and a device with local memory. Compared with planned.txt,
 * so a change of the planner shows which problems it concerns. `test_planned update` writes that
 * file again, after the differences have been looked at.
 */
#include "cmocka_all.h"
#include "engine/stage.h"
#include "restride/restride.h"

#include "../layout/generate.h"

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct {
    rs_stage base;
    rs_transpose_task task;
} paper_stage;

/* An engine that takes every stage and runs none. */
static restride_status create_transpose(restride_engine *engine, const rs_transpose_task *task,
                                        size_t scratch_limit, rs_stage **stage)
{
    (void)scratch_limit;
    paper_stage *made = malloc(sizeof *made);
    assert_non_null(made);
    *made = (paper_stage){{engine}, *task};
    *stage = &made->base;
    return RESTRIDE_OK;
}

static json_t *describe_stage(const rs_stage *stage)
{
    const rs_transpose_task *task = &((const paper_stage *)stage)->task;
    const rs_named_number numbers[] = {
        {"method", task->method},
        {"outer", task->outer},
        {"count", task->count},
        {"rows", task->rows},
        {"cols", task->cols},
        {"tail", task->tail},
        {"inner_rows", task->inner_rows},
        {"inner_cols", task->inner_cols},
        {"tile", task->tile},
        {"unit", task->unit},
        {"repeats", task->repeats},
        {"pieces", task->piece_count},
    };
    return rs_describe_numbers(json_object(), numbers, sizeof numbers / sizeof numbers[0]);
}

static json_t *describe_device(const restride_engine *engine)
{
    (void)engine;
    return json_string("made up");
}

static size_t scratch_bytes(const rs_stage *stage, size_t *kept)
{
    (void)stage;
    *kept = 0;
    return 0;
}

static void destroy_stage(rs_stage *stage)
{
    free(stage);
}

static void destroy(restride_engine *engine)
{
    (void)engine;
}

static rs_engine_traits host_traits(const restride_engine *engine)
{
    (void)engine;
    return (rs_engine_traits){.chip_bytes = (size_t)512 << 10,
                              .line_bytes = 64,
                              .workers = 4,
                              .serial_bytes = (size_t)256 << 10};
}

static rs_engine_traits device_traits(const restride_engine *engine)
{
    (void)engine;
    return (rs_engine_traits){.chip_bytes = (size_t)48 << 10,
                              .group_bytes = (size_t)48 << 10,
                              .line_bytes = 128,
                              .workers = 132,
                              .chip_only = true,
                              .scratch_parts = 458,
                              .scratch_bytes = 7 << 17};
}

#define PAPER(NAME, TRAITS)                                                                        \
    {                                                                                              \
        .name = (NAME), .traits = (TRAITS), .create_transpose = create_transpose,                  \
        .scratch_bytes = scratch_bytes, .describe_stage = describe_stage,                          \
        .describe_device = describe_device, .destroy_stage = destroy_stage, .destroy = destroy     \
    }

static const rs_engine_operations papers[] = {PAPER("host", host_traits),
                                              PAPER("device", device_traits)};
enum { PAPERS = sizeof papers / sizeof papers[0], EACH = 170 };

/* The plan as one line: its cost and its stages, each a list of the numbers that are not 0. */
static void write_plan(FILE *file, restride_status status, restride_plan *plan)
{
    if (status != RESTRIDE_OK) {
        fprintf(file, "refused %d\n", (int)status);
        return;
    }
    char *text = restride_plan_describe(plan);
    json_t *description = json_loads(text, 0, NULL);
    assert_non_null(description);
    fprintf(file, "%.3f", json_number_value(json_object_get(description, "estimated_passes")));
    size_t i;
    json_t *stage;
    json_array_foreach(json_object_get(description, "stages"), i, stage)
    {
        const char *key;
        json_t *number;
        fprintf(file, " |");
        json_object_foreach(stage, key, number) if (json_integer_value(number) != 0)
            fprintf(file, " %s %lld", key, (long long)json_integer_value(number));
    }
    fprintf(file, "\n");
    json_decref(description);
    free(text);
    restride_plan_destroy(plan);
}

static const size_t units[] = {1, 2, 3, 4, 4, 4, 8, 8, 12, 16, 20, 100};

static size_t random_unit(uint64_t *seed)
{
    return units[made_random(seed, sizeof units / sizeof units[0])];
}

/* Small, round and prime sides alike. */
static size_t random_side(uint64_t *seed, size_t most)
{
    size_t side = 1 + made_random(seed, 1 + made_random(seed, most));
    size_t round = made_random(seed, 3) == 0 ? 1 : (size_t)1 << made_random(seed, 6);
    return side < round ? side : side / round * round;
}

static void plan_matrix(FILE *file, restride_engine *engine, uint64_t *seed)
{
    size_t rows = random_side(seed, 30000), cols = random_side(seed, 30000);
    size_t unit = random_unit(seed),
           batch = made_random(seed, 4) == 0 ? 1 + made_random(seed, 40) : 1;
    const restride_plan_options options = {
        .scratch_bytes = made_random(seed, 5) == 0 ? rows * cols * unit / 8 + 4096 : 0};
    restride_plan *plan;
    fprintf(file, "%s %zu x %zu, %zu bytes, %zu times: ", engine->operations->name, rows, cols,
            unit, batch);
    restride_status status =
        restride_plan_transpose_with(&plan, engine, rows, cols, unit, batch, &options);
    write_plan(file, status, plan);
}

static void plan_tensor(FILE *file, restride_engine *engine, uint64_t *seed)
{
    enum { MOST_RANK = 6 };
    size_t dims[MOST_RANK];
    int axes[MOST_RANK];
    int rank = 3 + (int)made_random(seed, MOST_RANK - 2);
    size_t unit = random_unit(seed);
    fprintf(file, "%s", engine->operations->name);
    for (int i = 0; i < rank; i++) {
        dims[i] = random_side(seed, rank < 5 ? 400 : 60);
        int place = (int)made_random(seed, (size_t)i + 1);
        axes[i] = axes[place];
        axes[place] = i;
    }
    for (int i = 0; i < rank; i++)
        fprintf(file, "%s%zu", i == 0 ? " " : ".", dims[i]);
    for (int i = 0; i < rank; i++)
        fprintf(file, "%s%d", i == 0 ? " to " : ".", axes[i]);
    fprintf(file, ", %zu bytes: ", unit);
    restride_plan *plan;
    restride_status status = restride_plan_permute(&plan, engine, rank, dims, axes, unit);
    write_plan(file, status, plan);
}

static void plan_conversion(FILE *file, restride_engine *engine, uint64_t *seed)
{
    made_layout from, to;
    make_layout(&from, seed);
    make_another(&to, &from, seed);
    restride_layout *before, *after;
    assert_int_equal(restride_layout_parse(&before, from.dims, from.expression), RESTRIDE_OK);
    assert_int_equal(restride_layout_parse(&after, to.dims, to.expression), RESTRIDE_OK);
    fprintf(file, "%s %s, \"%s\" to \"%s\": ", engine->operations->name, from.dims, from.expression,
            to.expression);
    restride_plan *plan;
    restride_status status =
        restride_plan_convert_with(&plan, engine, before, after, from.record >= 0 ? 0 : 4, NULL);
    write_plan(file, status, plan);
    restride_layout_destroy(before);
    restride_layout_destroy(after);
}

static void plan_all(FILE *file)
{
    static void (*const kinds[])(FILE *, restride_engine *, uint64_t *) = {plan_matrix, plan_tensor,
                                                                           plan_conversion};
    for (size_t paper = 0; paper < PAPERS; paper++)
        for (size_t kind = 0; kind < sizeof kinds / sizeof kinds[0]; kind++) {
            uint64_t seed = 77 + kind;
            for (int i = 0; i < EACH; i++) {
                restride_engine engine = {.operations = &papers[paper]};
                kinds[kind](file, &engine, &seed);
                if (engine.wisdom != NULL)
                    engine.wisdom->destroy(engine.wisdom);
            }
        }
}

static void test_plans_are_as_they_were(void **state)
{
    (void)state;
    FILE *now = tmpfile(), *then = fopen(PLANNED_FILE, "r");
    assert_non_null(now);
    assert_non_null(then);
    plan_all(now);
    rewind(now);
    char *lines[2] = {NULL, NULL};
    size_t sizes[2] = {0, 0}, lines_read = 0, different = 0;
    for (;; lines_read++) {
        bool has_now = getline(&lines[0], &sizes[0], now) > 0;
        bool has_then = getline(&lines[1], &sizes[1], then) > 0;
        assert_int_equal(has_now, has_then);
        if (!has_now)
            break;
        if (strcmp(lines[0], lines[1]) != 0 && ++different <= 5)
            print_error("was %snow %s", lines[1], lines[0]);
    }
    free(lines[0]);
    free(lines[1]);
    fclose(now);
    fclose(then);
    assert_int_equal(lines_read, PAPERS * 3 * EACH);
    if (different > 0)
        fail_msg("%zu of %zu plans differ from %s", different, lines_read, PLANNED_FILE);
}

int main(int argc, char **argv)
{
    setenv("RESTRIDE_WISDOM", "", 1);
    if (argc == 2 && strcmp(argv[1], "update") == 0) {
        FILE *file = fopen(PLANNED_FILE, "w");
        if (file == NULL)
            return 1;
        plan_all(file);
        return fclose(file) == 0 ? 0 : 1;
    }
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_plans_are_as_they_were)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
