/*
 * Which plan each of many random problems gets, and what it is expected to cost, for engines that
 * are made up: threads with caches, for data in memory and in files, a device with local memory,
 * one that refuses stages, and one that knows its own costs. Then how the host engine divides
 * random stages: threads, scratch memory and tables. Compared with planned.txt, so a change of the
 * planner shows which problems it concerns. `test_planned update` writes that file again, after the
 * differences have been looked at.
 */
#include "cmocka_all.h"
#include "engine/boxes.h"
#include "engine/host/host.h"
#include "engine/stage.h"
#include "restride/restride.h"
#include "transpose/methods.h"

#include "../layout/generate.h"

#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct {
    rs_stage base;
    rs_transpose_task task;
    rs_piece pieces[RS_AXES_MOST];
    size_t order; /* a number of what the pieces are and where they go */
} paper_stage;

enum { BOX_BYTES = 113 << 10, CHIP_BYTES = 48 << 10 };

/* An engine that takes every stage, or all of blocks whose sides have an even sum, and runs none.
 */
static restride_status create_transpose(restride_engine *engine, const rs_transpose_task *task,
                                        size_t scratch_limit, rs_stage **stage)
{
    (void)scratch_limit;
    if (strcmp(engine->operations->name, "picky") == 0 && (task->rows + task->cols) % 2 != 0)
        return rs_fail(RESTRIDE_DEVICE_LIMIT, "These sides are not liked.");
    paper_stage *made = malloc(sizeof *made);
    assert_non_null(made);
    *made = (paper_stage){.base = {engine}, .task = *task};
    if (task->piece_count <= RS_AXES_MOST && task->piece_count > 0) {
        memcpy(made->pieces, task->pieces, task->piece_count * sizeof *task->pieces);
        made->task.pieces = made->pieces;
    }
    for (size_t i = 0; i < task->piece_count; i++)
        made->order += (i + 1) * (task->pieces[i].count + 3 * task->pieces[i].unit +
                                  5 * task->pieces[i].place);
    *stage = &made->base;
    return RESTRIDE_OK;
}

/* How boxes lie on the chip: the numbers that kernels are made of. */
static json_t *describe_boxes(json_t *object, const rs_transpose_task *task)
{
    rs_slots slots;
    rs_box_cut cut;
    if (task->method != RS_TRANSPOSE_BOXES || !rs_slots_of(&slots, task) ||
        !rs_boxes_cut(&cut, &slots, task, BOX_BYTES))
        return object;
    const rs_named_number numbers[] = {
        {"boxes", cut.boxes},   {"run", cut.run},   {"low", cut.low},           {"word", cut.word},
        {"vector", cut.vector}, {"room", cut.room}, {"local", cut.local_bytes},
    };
    return rs_describe_numbers(object, numbers, sizeof numbers / sizeof numbers[0]);
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
        {"factor", task->factor},
        {"shift", task->shift},
        {"backward", task->backward},
        {"unit", task->unit},
        {"repeats", task->repeats},
        {"pieces", task->piece_count},
        {"order", ((const paper_stage *)stage)->order},
    };
    json_t *object =
        rs_describe_numbers(json_object(), numbers, sizeof numbers / sizeof numbers[0]);
    return describe_boxes(object, task);
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

static double box_cost(const rs_transpose_task *task)
{
    rs_slots slots;
    rs_box_cut cut;
    if (!rs_slots_of(&slots, task) || !rs_boxes_cut(&cut, &slots, task, BOX_BYTES))
        return INFINITY;
    return 1.15 + 16.0 / (double)(cut.run * task->unit) +
           0.6 * (double)cut.local_bytes / (double)BOX_BYTES +
           1.6 / (double)(cut.vector * cut.word);
}

static size_t prices; /* that were asked for */

/* Simple, and each stage that is to be met is the cheapest for some sizes. */
static double gpu_cost(const restride_engine *engine, const rs_transpose_task *task,
                       size_t scratch_limit)
{
    (void)engine;
    double bytes = (double)task->rows * (double)task->cols * (double)task->unit;
    rs_slots slots;
    prices++;
    switch (task->method) {
    case RS_TRANSPOSE_ON_CHIP:
        return bytes <= 4 * CHIP_BYTES ? 1.2 : INFINITY;
    case RS_TRANSPOSE_BOXES:
        return box_cost(task);
    case RS_TRANSPOSE_SLOTS:
        return rs_slots_of(&slots, task) ? 1.3 + 40 / (double)(task->unit * task->tile) : INFINITY;
    case RS_TRANSPOSE_PANELS:
        return bytes <= CHIP_BYTES ? 1.1 : INFINITY;
    case RS_TRANSPOSE_GROUPS:
        return bytes / 100 <= (double)scratch_limit ? 2.3 : INFINITY;
    case RS_TRANSPOSE_CHAINS:
    case RS_TRANSPOSE_REVERSE:
        return 1.1 + 95 / (double)task->unit;
    case RS_TRANSPOSE_TILES:
        return (double)(task->tile * task->tile * task->unit) <= CHIP_BYTES ? 1.06 : INFINITY;
    case RS_TRANSPOSE_SQUARE:
    case RS_TRANSPOSE_UNZIP:
    case RS_TRANSPOSE_ZIP:
        return 1.25;
    case RS_TRANSPOSE_REORDER:
        return 2;
    default:
        return INFINITY;
    }
}

static rs_engine_traits gpu_traits(const restride_engine *engine)
{
    return (rs_engine_traits){.chip_bytes = CHIP_BYTES,
                              .group_bytes = CHIP_BYTES,
                              .box_bytes = BOX_BYTES,
                              .line_bytes = 128,
                              .workers = 132,
                              .chip_only = true,
                              .scratch_parts = 458,
                              .scratch_bytes = 7 << 17,
                              .cost = gpu_cost,
                              .engine = engine,
                              .least_cost = 1};
}

#define PAPER(NAME, TRAITS)                                                                        \
    {                                                                                              \
        .name = (NAME), .traits = (TRAITS), .create_transpose = create_transpose,                  \
        .scratch_bytes = scratch_bytes, .describe_stage = describe_stage,                          \
        .describe_device = describe_device, .destroy_stage = destroy_stage, .destroy = destroy     \
    }

static const rs_engine_operations host = PAPER("host", host_traits);
static const rs_engine_operations device = PAPER("device", device_traits);
static const rs_engine_operations gpu = PAPER("gpu", gpu_traits);
static const rs_engine_operations picky = PAPER("picky", device_traits);

/* The numbers of a sentence, whatever its words are. */
static void write_numbers(FILE *file, const char *sentence)
{
    static const char digits[] = "0123456789.";
    fprintf(file, " |");
    for (const char *c = sentence; c != NULL && *(c += strcspn(c, digits)) != '\0';
         c += strspn(c, digits))
        if (strspn(c, ".") == 0)
            fprintf(file, " %.*s", (int)strspn(c, "0123456789"), c);
}

/* The plan as one line: its cost, its stages, each a list of the numbers that are not 0, and the
 * numbers in the reason for it. */
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
    write_numbers(file, json_string_value(json_object_get(description, "why")));
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

/* Problems of one kind: the engine, how many, and in which of them data are in a file or scratch
 * memory is granted. */
typedef struct problems problems;
struct problems {
    const rs_engine_operations *operations;
    void (*plan)(FILE *, restride_engine *, const problems *, uint64_t *seed);
    uint64_t seed;
    int count;
    size_t run_bytes;
    size_t scratch_part; /* of the array, in every fifth problem; 0: never */
};

static restride_plan_options choose_options(const problems *p, size_t bytes, uint64_t *seed)
{
    restride_plan_options options = {.run_bytes = p->run_bytes};
    if (p->scratch_part != 0 && made_random(seed, 5) == 0)
        options.scratch_bytes = bytes / p->scratch_part + 4096;
    return options;
}

static void plan_matrix(FILE *file, restride_engine *engine, const problems *p, uint64_t *seed)
{
    size_t rows = random_side(seed, 30000), cols = random_side(seed, 30000);
    size_t unit = random_unit(seed),
           batch = made_random(seed, 4) == 0 ? 1 + made_random(seed, 40) : 1;
    const restride_plan_options options = choose_options(p, rows * cols * unit, seed);
    restride_plan *plan;
    fprintf(file, "%s %zu x %zu, %zu bytes, %zu times: ", engine->operations->name, rows, cols,
            unit, batch);
    restride_status status =
        restride_plan_transpose_with(&plan, engine, rows, cols, unit, batch, &options);
    write_plan(file, status, plan);
}

/* Each method in turn, by its name. */
static void plan_named(FILE *file, restride_engine *engine, const problems *p, uint64_t *seed)
{
    for (size_t i = 0; i < rs_methods_count(); i++) {
        size_t rows = random_side(seed, 3000), cols = random_side(seed, 3000);
        size_t unit = random_unit(seed), batch = 1 + made_random(seed, 3);
        restride_plan_options options = choose_options(p, rows * cols * unit, seed);
        options.method = rs_methods_at(i)->name;
        restride_plan *plan;
        fprintf(file, "%s %s %zu x %zu, %zu bytes, %zu times: ", engine->operations->name,
                options.method, rows, cols, unit, batch);
        restride_status status =
            restride_plan_transpose_with(&plan, engine, rows, cols, unit, batch, &options);
        write_plan(file, status, plan);
    }
}

/* Records of unequal members between arrays, structures and tiles, as many as they come. */
static void plan_records(FILE *file, restride_engine *engine, const problems *p, uint64_t *seed)
{
    static const char *const records[] = {"float x; double m; char c;", "short s; float v[3];",
                                          "double m; float4 p; char tail[3];"};
    char dims[80], layouts[2][40];
    restride_layout *made[2];
    size_t count = 1 + made_random(seed, (size_t)1 << (4 + made_random(seed, 17)));
    snprintf(dims, sizeof dims, "i:%zu f{ %s }", count, records[made_random(seed, 3)]);
    for (int side = 0; side < 2; side++) {
        size_t odd = 1 + made_random(seed, 12), tile = odd << made_random(seed, 7);
        switch (made_random(seed, 4)) {
        case 0:
            strcpy(layouts[side], "i f");
            break;
        case 1:
            strcpy(layouts[side], "f i");
            break;
        default:
            snprintf(layouts[side], sizeof layouts[side], "i/%zu f i%%%zu", tile, tile);
        }
        assert_int_equal(restride_layout_parse(&made[side], dims, layouts[side]), RESTRIDE_OK);
    }
    const restride_plan_options options = choose_options(p, count * 40, seed);
    restride_plan *plan;
    fprintf(file, "%s %s, \"%s\" to \"%s\": ", engine->operations->name, dims, layouts[0],
            layouts[1]);
    restride_status status =
        restride_plan_convert_with(&plan, engine, made[0], made[1], 0, &options);
    write_plan(file, status, plan);
    restride_layout_destroy(made[0]);
    restride_layout_destroy(made[1]);
}

/* Squares, with rows of whole lines or pages and others. */
static void plan_square(FILE *file, restride_engine *engine, const problems *p, uint64_t *seed)
{
    size_t odd = 1 + made_random(seed, 60), side = odd << made_random(seed, 8);
    size_t unit = random_unit(seed), batch = 1 + made_random(seed, 3);
    const restride_plan_options options = choose_options(p, side * side * unit, seed);
    restride_plan *plan;
    fprintf(file, "%s square %zu, %zu bytes, %zu times: ", engine->operations->name, side, unit,
            batch);
    restride_status status =
        restride_plan_transpose_with(&plan, engine, side, side, unit, batch, &options);
    write_plan(file, status, plan);
}

static void plan_tensor(FILE *file, restride_engine *engine, const problems *p, uint64_t *seed)
{
    enum { MOST_RANK = 6 };
    size_t dims[MOST_RANK];
    int axes[MOST_RANK];
    int rank = 3 + (int)made_random(seed, MOST_RANK - 2);
    size_t unit = random_unit(seed), bytes = unit;
    fprintf(file, "%s", engine->operations->name);
    for (int i = 0; i < rank; i++) {
        dims[i] = random_side(seed, rank < 5 ? 400 : 60);
        bytes *= dims[i];
        int place = (int)made_random(seed, (size_t)i + 1);
        axes[i] = axes[place];
        axes[place] = i;
    }
    for (int i = 0; i < rank; i++)
        fprintf(file, "%s%zu", i == 0 ? " " : ".", dims[i]);
    for (int i = 0; i < rank; i++)
        fprintf(file, "%s%d", i == 0 ? " to " : ".", axes[i]);
    fprintf(file, ", %zu bytes: ", unit);
    const restride_plan_options options = choose_options(p, bytes, seed);
    restride_plan *plan;
    restride_status status =
        restride_plan_permute_with(&plan, engine, rank, dims, axes, unit, &options);
    write_plan(file, status, plan);
}

static void plan_conversion(FILE *file, restride_engine *engine, const problems *p, uint64_t *seed)
{
    made_layout from, to;
    make_layout(&from, seed);
    make_another(&to, &from, seed);
    restride_layout *before, *after;
    assert_int_equal(restride_layout_parse(&before, from.dims, from.expression), RESTRIDE_OK);
    assert_int_equal(restride_layout_parse(&after, to.dims, to.expression), RESTRIDE_OK);
    fprintf(file, "%s %s, \"%s\" to \"%s\": ", engine->operations->name, from.dims, from.expression,
            to.expression);
    const restride_plan_options options = choose_options(p, 0, seed);
    restride_plan *plan;
    restride_status status = restride_plan_convert_with(&plan, engine, before, after,
                                                        from.record >= 0 ? 0 : 4, &options);
    write_plan(file, status, plan);
    restride_layout_destroy(before);
    restride_layout_destroy(after);
}

/* ---- stages of the host engine ---- */

static rs_transpose_task random_task(uint64_t *seed, rs_transpose_method method)
{
    static const size_t small[] = {1, 2, 3, 7, 16, 31, 64, 100, 333};
    enum { SMALL = sizeof small / sizeof small[0] };
    rs_transpose_task task = {.method = method, .outer = 1, .count = 1};
    if (made_random(seed, 2) != 0)
        task.outer = small[made_random(seed, SMALL)];
    task.rows = 1 + made_random(seed, 700);
    task.cols = 1 + made_random(seed, 700);
    task.unit = random_unit(seed);
    switch (method) {
    case RS_TRANSPOSE_PANELS:
    case RS_TRANSPOSE_COPY:
        task.count = small[made_random(seed, SMALL)];
        break;
    case RS_TRANSPOSE_CHAINS:
        task.unit *= small[made_random(seed, SMALL)];
        break;
    case RS_TRANSPOSE_JOIN:
    case RS_TRANSPOSE_SPLIT:
        task.tail = small[made_random(seed, SMALL)];
        break;
    case RS_TRANSPOSE_FUSED:
        task.inner_rows = small[made_random(seed, 6)];
        task.inner_cols = small[made_random(seed, 6)];
        break;
    default:
        break;
    }
    task.pitch = task.count * task.rows * (task.cols + task.tail) * task.unit;
    return task;
}

/* Square blocks go through a buffer that is as large as the processor's tiles, so they are left
 * out. */
static void write_host_stages(FILE *file)
{
    static const rs_transpose_method methods[] = {
        RS_TRANSPOSE_PANELS,   RS_TRANSPOSE_CHAINS,      RS_TRANSPOSE_JOIN,
        RS_TRANSPOSE_SPLIT,    RS_TRANSPOSE_PIPT,        RS_TRANSPOSE_PTTWAC,
        RS_TRANSPOSE_COPY,     RS_TRANSPOSE_FUSED,       RS_TRANSPOSE_C2R_ROTATE,
        RS_TRANSPOSE_C2R_ROWS, RS_TRANSPOSE_C2R_COLUMNS, RS_TRANSPOSE_R2C_COLUMNS,
        RS_TRANSPOSE_R2C_ROWS, RS_TRANSPOSE_R2C_ROTATE,
    };
    enum { METHODS = sizeof methods / sizeof methods[0], EACH = 12, THREADS = 6 };
    restride_engine *engine;
    uint64_t seed = 5;
    assert_int_equal(rs_host_engine_create(&engine, THREADS, (size_t)1 << 20), RESTRIDE_OK);
    for (size_t i = 0; i < METHODS * EACH; i++) {
        const rs_transpose_task task = random_task(&seed, methods[i % METHODS]);
        size_t limit = (size_t)1 << (12 + made_random(&seed, 14)), kept = 0;
        rs_stage *stage;
        fprintf(file, "stage %d of %zu x %zu x %zu, within %zu:", (int)task.method, task.outer,
                task.rows, task.cols, limit);
        if (engine->operations->create_transpose(engine, &task, limit, &stage) != RESTRIDE_OK) {
            fprintf(file, " refused\n");
            continue;
        }
        json_t *description = engine->operations->describe_stage(stage), *number;
        size_t scratch = engine->operations->scratch_bytes(stage, &kept);
        const char *key;
        json_object_foreach(description, key, number) if (json_is_integer(number))
            fprintf(file, " %s %lld", key, (long long)json_integer_value(number));
        fprintf(file, " scratch %zu kept %zu edge %zu apart %d\n", scratch, kept,
                ((rs_host_stage *)stage)->edge, ((rs_host_stage *)stage)->apart);
        json_decref(description);
        engine->operations->destroy_stage(stage);
    }
    restride_engine_destroy(engine);
}

static void forget_wisdom(restride_engine *engine)
{
    if (engine->wisdom != NULL)
        engine->wisdom->destroy(engine->wisdom);
}

static void plan_all(FILE *file)
{
    static const problems all[] = {
        {&host, plan_matrix, 77, 170, 0, 8},     {&host, plan_tensor, 78, 170, 0, 0},
        {&host, plan_conversion, 79, 170, 0, 0}, {&device, plan_matrix, 77, 170, 0, 8},
        {&device, plan_tensor, 78, 170, 0, 0},   {&device, plan_conversion, 79, 170, 0, 0},
        {&host, plan_matrix, 80, 60, 4096, 8},   {&host, plan_square, 81, 60, 4096, 40},
        {&host, plan_tensor, 82, 60, 4096, 40},  {&host, plan_conversion, 83, 40, 4096, 1},
        {&host, plan_square, 84, 60, 0, 40},     {&host, plan_tensor, 85, 60, 0, 20},
        {&device, plan_square, 86, 40, 0, 40},   {&device, plan_tensor, 87, 60, 0, 20},
        {&gpu, plan_matrix, 88, 60, 0, 8},       {&gpu, plan_square, 89, 20, 0, 0},
        {&gpu, plan_tensor, 90, 120, 0, 20},     {&gpu, plan_conversion, 91, 60, 0, 0},
        {&host, plan_named, 92, 6, 0, 100},      {&device, plan_named, 93, 6, 0, 100},
        {&host, plan_records, 94, 100, 0, 50},   {&device, plan_records, 95, 60, 0, 50},
        {&picky, plan_matrix, 96, 60, 0, 8},     {&picky, plan_tensor, 97, 20, 0, 0},
        {&picky, plan_records, 98, 20, 0, 0},    {&device, plan_matrix, 99, 60, 0, 300},
    };
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) {
        uint64_t seed = all[i].seed;
        for (int n = 0; n < all[i].count; n++) {
            restride_engine engine = {.operations = all[i].operations};
            all[i].plan(file, &engine, &all[i], &seed);
            forget_wisdom(&engine);
        }
    }
    write_host_stages(file);
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
    assert_true(lines_read > 1000);
    if (different > 0)
        fail_msg("%zu of %zu plans differ from %s", different, lines_read, PLANNED_FILE);
}

/* Axes that can be cut into many parts make many boxes, few of which are different; and
 * transpositions cost more than boxes and slots. */
static void test_few_stages_are_priced(void **state)
{
    (void)state;
    static const struct {
        int rank;
        size_t dims[5];
        int axes[5];
        size_t unit, most;
    } tensors[] = {{4, {3, 60, 190, 124}, {1, 2, 3, 0}, 2, 500},
                   {4, {4, 7, 228, 288}, {1, 2, 3, 0}, 4, 500},
                   {5, {40, 40, 40, 40, 40}, {3, 1, 0, 4, 2}, 5, 1200},
                   {3, {620, 620, 620}, {2, 0, 1}, 1, 300},
                   {2, {83904, 64}, {1, 0}, 1, 300}};
    for (size_t i = 0; i < sizeof tensors / sizeof tensors[0]; i++) {
        restride_engine engine = {.operations = &gpu};
        restride_plan *plan;
        prices = 0;
        assert_int_equal(restride_plan_permute(&plan, &engine, tensors[i].rank, tensors[i].dims,
                                               tensors[i].axes, tensors[i].unit),
                         RESTRIDE_OK);
        restride_plan_destroy(plan);
        forget_wisdom(&engine);
        if (prices > tensors[i].most)
            fail_msg("tensor %zu: %zu prices", i, prices);
    }
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
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_plans_are_as_they_were),
                                       cmocka_unit_test(test_few_stages_are_priced)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
