/*
 * Wisdom: what is learned is planned, nothing else is; files that are damaged, foreign or cannot be
 * written never fail a plan; several processes and threads lose nothing; every allocation may fail.
 */
#include "base/text.h"
#include "cmocka_all.h"
#include "faults/heap.h"
#include "reference.h"
#include "restride/restride.h"
#include "transpose/wisdom.h"
#include "transpose/wisdom_file.h"
#include "wisdom_files.h"

#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* ---- plans ---- */

enum { ROWS = 720, COLS = 600, UNIT = 4 };
static const rs_matrices matrices = {ROWS, COLS, UNIT, 1, 0};
static const char learned_method[] = "3-stage 0100! 0010! 100!";
static const rs_tiles learned_tiles = {24, 20};

static restride_engine *make_engine(int threads)
{
    restride_engine *engine;
    assert_int_equal(restride_engine_create_host(&engine, threads), RESTRIDE_OK);
    return engine;
}

static restride_status learn(restride_engine *engine, const rs_matrices *m, const char *method,
                             rs_tiles tiles, double seconds)
{
    const rs_engine_traits traits = engine->operations->traits(engine);
    rs_stage_choice choice = {.method = method, .tiles = tiles};
    return rs_wisdom_learn(engine, m, &traits, &choice, seconds, 2 * seconds);
}

/* The plan transposes, whatever the wisdom says; tells whether it is what was learned. */
static bool plan_is_learned(restride_engine *engine, const rs_matrices *m)
{
    restride_plan *plan;
    if (restride_plan_transpose(&plan, engine, m->rows, m->cols, m->unit, m->batch) != RESTRIDE_OK)
        fail_msg("%s", restride_last_error());
    char *text = restride_plan_describe(plan);
    bool learned = strstr(text, "Wisdom of a measurement") != NULL;
    assert_int_equal(learned, strstr(text, learned_method) != NULL);
    free(text);
    size_t size = m->rows * m->cols * m->unit * m->batch;
    guarded_buffer buffer = guarded_create(size, 0, 1);
    unsigned char *expected = malloc(size);
    assert_non_null(expected);
    reference_transpose(expected, buffer.bytes, m->batch, m->rows, m->cols, m->unit);
    assert_int_equal(restride_execute(plan, buffer.bytes), RESTRIDE_OK);
    assert_memory_equal(buffer.bytes, expected, size);
    free(expected);
    guarded_free(&buffer);
    restride_plan_destroy(plan);
    return learned;
}

static bool new_plan_is_learned(const rs_matrices *m, int threads)
{
    restride_engine *engine = make_engine(threads);
    bool learned = plan_is_learned(engine, m);
    restride_engine_destroy(engine);
    return learned;
}

static void learn_one(double seconds)
{
    restride_engine *engine = make_engine(2);
    if (learn(engine, &matrices, learned_method, learned_tiles, seconds) != RESTRIDE_OK)
        fail_msg("%s", restride_last_error());
    assert_true(plan_is_learned(engine, &matrices));
    restride_engine_destroy(engine);
}

/* ---- tests ---- */

static void test_only_the_exact_problem(void **state)
{
    (void)state;
    use_fresh_wisdom();
    assert_false(new_plan_is_learned(&matrices, 2));
    learn_one(0.001);
    assert_true(new_plan_is_learned(&matrices, 2));
    assert_false(new_plan_is_learned(&matrices, 3));
    static const rs_matrices others[] = {{COLS, ROWS, UNIT, 1, 0},
                                         {ROWS, COLS, UNIT, 2, 0},
                                         {ROWS, COLS, 2 * UNIT, 1, 0},
                                         {ROWS + 24, COLS, UNIT, 1, 0}};
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++)
        assert_false(new_plan_is_learned(&others[i], 2));
    /* Options are stronger than wisdom. */
    restride_engine *engine = make_engine(2);
    restride_plan *plan;
    const restride_plan_options options = {.method = "direct"};
    assert_int_equal(restride_plan_transpose_with(&plan, engine, ROWS, COLS, UNIT, 1, &options),
                     RESTRIDE_OK);
    char *text = restride_plan_describe(plan);
    assert_non_null(strstr(text, "\"direct\""));
    free(text);
    restride_plan_destroy(plan);
    restride_engine_destroy(engine);
    setenv("RESTRIDE_WISDOM", "", 1);
    assert_false(new_plan_is_learned(&matrices, 2));
}

/* Wisdom about little is not asked for, since that would take longer than is gained. */
static void test_least_bytes(void **state)
{
    (void)state;
    use_fresh_wisdom();
    static const rs_matrices little = {512, 500, UNIT, 1, 0};
    static const rs_matrices enough = {512, 520, UNIT, 1, 0};
    static const rs_tiles tiles = {16, 20};
    restride_engine *engine = make_engine(2);
    assert_int_equal(learn(engine, &little, learned_method, tiles, 0.001), RESTRIDE_OK);
    assert_int_equal(learn(engine, &enough, learned_method, tiles, 0.001), RESTRIDE_OK);
    assert_false(plan_is_learned(engine, &little));
    assert_true(plan_is_learned(engine, &enough));
    restride_engine_destroy(engine);
}

/* Where the file lies. */
static void test_places(void **state)
{
    (void)state;
    char path[300];
    unsetenv("RESTRIDE_WISDOM");
    setenv("HOME", wisdom_folder, 1);
    snprintf(path, sizeof path, "%s/cache", wisdom_folder);
    setenv("XDG_CACHE_HOME", path, 1);
    learn_one(0.001);
    snprintf(path, sizeof path, "%s/cache/restride/wisdom.json", wisdom_folder);
    assert_int_equal(records_in(path), 1);
    unsetenv("XDG_CACHE_HOME");
    assert_false(new_plan_is_learned(&matrices, 2));
    learn_one(0.001);
    snprintf(path, sizeof path, "%s/.cache/restride/wisdom.json", wisdom_folder);
    assert_int_equal(records_in(path), 1);
    unsetenv("HOME");
    restride_engine *engine = make_engine(2);
    assert_false(plan_is_learned(engine, &matrices));
    assert_int_equal(learn(engine, &matrices, learned_method, learned_tiles, 1),
                     RESTRIDE_UNSUPPORTED);
    assert_int_equal(restride_wisdom_import(engine, path), RESTRIDE_UNSUPPORTED);
    assert_int_equal(restride_wisdom_check(engine), RESTRIDE_OK);
    restride_engine_destroy(engine);
}

/* Methods and tiles that do not suit the shape are passed over. */
static void test_impossible_wisdom(void **state)
{
    (void)state;
    static const struct {
        const char *method;
        rs_tiles tiles;
    } cases[] = {
        {"3-stage 0100! 0010! 100!", {7, 20}},
        {"3-stage 0100! 0010! 100!", {0, 0}},
        {"3-stage 0100! 0010! 100!", {720, 6}},
        {"5-stage", {2, 2}},
        {"2-stage 010! 100!", {721, 0}},
        {"2-stage 010! 100!", {0, 0}},
        {"2-stage 010! 100!", {2, 2}},
        {"2-stage 100! 010!", {0, SIZE_MAX / 2}},
        {"square", {0, 0}},
        {"nothing", {0, 0}},
        {"2-stage squares 100!", {3, 3}},
        {"", {0, 0}},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        use_fresh_wisdom();
        restride_engine *engine = make_engine(2);
        assert_int_equal(learn(engine, &matrices, cases[i].method, cases[i].tiles, 1), RESTRIDE_OK);
        restride_plan *plan;
        assert_int_equal(restride_plan_transpose(&plan, engine, ROWS, COLS, UNIT, 1), RESTRIDE_OK);
        restride_plan_destroy(plan);
        assert_false(plan_is_learned(engine, &matrices));
        restride_engine_destroy(engine);
        assert_false(new_plan_is_learned(&matrices, 2));
    }
}

static void check_ignored(const char *bytes, size_t count)
{
    write_wisdom(bytes, count);
    restride_engine *engine = make_engine(2);
    assert_false(plan_is_learned(engine, &matrices));
    if (restride_wisdom_check(engine) != RESTRIDE_IO)
        fail_msg("accepted: %.*s", (int)count, bytes);
    assert_non_null(strstr(restride_last_error(), wisdom_path));
    /* It is not overwritten either, whatever it may be. */
    assert_int_equal(learn(engine, &matrices, learned_method, learned_tiles, 1), RESTRIDE_IO);
    assert_true(plan_is_learned(engine, &matrices));
    struct stat info;
    assert_int_equal(stat(wisdom_path, &info), 0);
    assert_int_equal(info.st_size, count);
    restride_engine_destroy(engine);
}

#define RECORD                                                                                     \
    "\"method\":\"square\",\"tile_rows\":0,\"tile_cols\":0,\"seconds\":1.0,\"planner_seconds\":1." \
    "0"

static void test_damaged_files(void **state)
{
    (void)state;
    static const char *const cases[] = {
        "",
        "{",
        "[]",
        "null",
        "\xff\xfe\x01",
        "{\"format\":\"shopping list\",\"version\":1,\"records\":[]}",
        "{\"format\":\"restride wisdom\",\"version\":2,\"records\":[]}",
        "{\"format\":\"restride wisdom\",\"version\":\"1\",\"records\":[]}",
        "{\"format\":\"restride wisdom\",\"version\":1}",
        "{\"format\":\"restride wisdom\",\"version\":1,\"records\":{}}",
        "{\"format\":\"restride wisdom\",\"version\":1,\"records\":[3]}",
        "{\"format\":\"restride wisdom\",\"version\":1,\"records\":[{" RECORD "}]}",
        "{\"format\":\"restride wisdom\",\"version\":1,\"records\":[{\"problem\":{},\"method\":4,"
        "\"tile_rows\":0,\"tile_cols\":0,\"seconds\":1.0,\"planner_seconds\":1.0}]}",
        "{\"format\":\"restride wisdom\",\"version\":1,\"records\":[{\"problem\":{},\"method\":"
        "\"square\",\"tile_rows\":-1,\"tile_cols\":0,\"seconds\":1.0,\"planner_seconds\":1.0}]}",
        "{\"format\":\"restride wisdom\",\"version\":1,\"records\":[{\"problem\":{},\"method\":"
        "\"square\",\"tile_rows\":1,\"tile_cols\":0,\"seconds\":0,\"planner_seconds\":1.0}]}",
        "{\"format\":\"restride wisdom\",\"version\":1,\"records\":[{\"problem\":{},\"method\":"
        "\"square\",\"tile_rows\":\"1\",\"tile_cols\":0,\"seconds\":1,\"planner_seconds\":1.0}]}",
    };
    use_fresh_wisdom();
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        check_ignored(cases[i], strlen(cases[i]));
    /* A file that ends early, wherever that is. */
    use_fresh_wisdom();
    learn_one(0.001);
    rs_text whole = RS_TEXT_EMPTY;
    assert_int_equal(rs_text_read_file(&whole, wisdom_path), RESTRIDE_OK);
    for (size_t size = 0; size < whole.size; size += 1 + whole.size / 40)
        check_ignored(whole.data, size);
    write_wisdom(whole.data, whole.size);
    assert_true(new_plan_is_learned(&matrices, 2));
    /* Bytes that changed: right or wrong, planning goes on. */
    uint64_t seed = 8;
    for (int i = 0; i < 60; i++) {
        char *changed = malloc(whole.size);
        assert_non_null(changed);
        memcpy(changed, whole.data, whole.size);
        changed[test_random(&seed, whole.size)] = (char)test_random(&seed, 256);
        write_wisdom(changed, whole.size);
        restride_engine *engine = make_engine(2);
        restride_plan *plan;
        assert_int_equal(restride_plan_transpose(&plan, engine, ROWS, COLS, UNIT, 1), RESTRIDE_OK);
        restride_plan_destroy(plan);
        restride_engine_destroy(engine);
        free(changed);
    }
    rs_text_free(&whole);
}

/* A folder in the file's place, and a file in a folder's. */
static void test_unusable_places(void **state)
{
    (void)state;
    use_fresh_wisdom();
    write_wisdom("", 0);
    char inside[300];
    snprintf(inside, sizeof inside, "%s/more/wisdom.json", wisdom_path);
    setenv("RESTRIDE_WISDOM", inside, 1);
    restride_engine *engine = make_engine(2);
    assert_false(plan_is_learned(engine, &matrices));
    assert_int_equal(learn(engine, &matrices, learned_method, learned_tiles, 1), RESTRIDE_IO);
    assert_non_null(strstr(restride_last_error(), inside));
    restride_engine_destroy(engine);
    use_fresh_wisdom();
    write_wisdom("", 0);
    assert_int_equal(unlink(wisdom_path), 0);
    assert_int_equal(mkdir(wisdom_path, 0700), 0);
    engine = make_engine(2);
    assert_false(plan_is_learned(engine, &matrices));
    assert_int_equal(restride_wisdom_check(engine), RESTRIDE_IO);
    assert_int_equal(restride_wisdom_forget(engine), RESTRIDE_IO);
    restride_engine_destroy(engine);
}

static void test_import_export_forget(void **state)
{
    (void)state;
    use_fresh_wisdom();
    learn_one(0.005);
    char exported[300];
    snprintf(exported, sizeof exported, "%s/exported.json", wisdom_folder);
    restride_engine *engine = make_engine(2);
    assert_int_equal(restride_wisdom_export(engine, exported), RESTRIDE_OK);
    assert_int_equal(records_in(exported), 1);
    assert_int_equal(restride_wisdom_forget(engine), RESTRIDE_OK);
    assert_false(plan_is_learned(engine, &matrices));
    assert_int_not_equal(access(wisdom_path, F_OK), 0);
    assert_int_equal(restride_wisdom_forget(engine), RESTRIDE_OK);
    assert_int_equal(restride_wisdom_import(engine, exported), RESTRIDE_OK);
    assert_true(plan_is_learned(engine, &matrices));
    assert_int_equal(records_in(wisdom_path), 1);
    /* The faster record stays on import; what was just measured replaces anything. */
    assert_int_equal(learn(engine, &matrices, "direct", (rs_tiles){0, 0}, 0.001), RESTRIDE_OK);
    assert_int_equal(restride_wisdom_import(engine, exported), RESTRIDE_OK);
    restride_engine_destroy(engine);
    restride_plan *plan;
    engine = make_engine(2);
    assert_int_equal(restride_plan_transpose(&plan, engine, ROWS, COLS, UNIT, 1), RESTRIDE_OK);
    char *text = restride_plan_describe(plan);
    assert_non_null(strstr(text, "\"direct\""));
    free(text);
    restride_plan_destroy(plan);
    assert_int_equal(learn(engine, &matrices, learned_method, learned_tiles, 0.1), RESTRIDE_OK);
    assert_true(plan_is_learned(engine, &matrices));
    assert_int_equal(records_in(wisdom_path), 1);
    /* Nothing changes when an import fails. */
    assert_int_equal(restride_wisdom_import(engine, "/nowhere/wisdom.json"), RESTRIDE_IO);
    assert_int_equal(restride_wisdom_import(engine, NULL), RESTRIDE_INVALID_ARGUMENT);
    assert_int_equal(records_in(wisdom_path), 1);
    restride_engine_destroy(engine);
    /* Only wisdom is removed. */
    write_wisdom("{}", 2);
    engine = make_engine(2);
    assert_int_equal(restride_wisdom_forget(engine), RESTRIDE_IO);
    assert_int_equal(access(wisdom_path, F_OK), 0);
    restride_engine_destroy(engine);
}

/* ---- several at a time ---- */

enum { PROCESSES = 8, RECORDS_EACH = 12 };

static void test_processes(void **state)
{
    (void)state;
    use_fresh_wisdom();
    pid_t children[PROCESSES];
    for (size_t p = 0; p < PROCESSES; p++) {
        children[p] = fork();
        assert_true(children[p] >= 0);
        if (children[p] != 0)
            continue;
        restride_engine *engine = make_engine(2);
        int failed = 0;
        for (size_t i = 0; i < RECORDS_EACH; i++) {
            const rs_matrices own = {1000 + p, 1000 + i, UNIT, 1, 0};
            failed |= learn(engine, &own, "direct", (rs_tiles){0, 0}, 1) != RESTRIDE_OK;
        }
        restride_engine_destroy(engine);
        _exit(failed);
    }
    for (size_t p = 0; p < PROCESSES; p++) {
        int status;
        assert_int_equal(waitpid(children[p], &status, 0), children[p]);
        assert_int_equal(status, 0);
    }
    assert_int_equal(records_in(wisdom_path), PROCESSES * RECORDS_EACH);
}

static atomic_bool has_forked;

static void *keep_learning(void *engine)
{
    const rs_matrices own = {1000, 1000, UNIT, 1, 0};
    while (!atomic_load(&has_forked))
        if (learn(engine, &own, "direct", (rs_tiles){0, 0}, 1) != RESTRIDE_OK)
            return engine;
    return NULL;
}

/* Children that a program forks while its wisdom is written, and that live on, hold no lock. */
static void test_forked_children(void **state)
{
    (void)state;
    use_fresh_wisdom();
    enum { CHILDREN = 40 };
    pid_t children[CHILDREN];
    pthread_t thread;
    void *failed = NULL;
    restride_engine *engine = make_engine(2);
    atomic_store(&has_forked, false);
    assert_int_equal(pthread_create(&thread, NULL, keep_learning, engine), 0);
    for (int i = 0; i < CHILDREN; i++) {
        const struct timespec while_it_learns = {0, 1000000};
        nanosleep(&while_it_learns, NULL);
        children[i] = fork();
        assert_true(children[i] >= 0);
        while (children[i] == 0)
            pause();
    }
    atomic_store(&has_forked, true);
    pthread_join(thread, &failed);
    for (int i = 0; i < CHILDREN; i++) {
        kill(children[i], SIGKILL);
        waitpid(children[i], NULL, 0);
    }
    restride_engine_destroy(engine);
    assert_null(failed);
}

enum { THREADS = 8 };

static void *plan_and_learn(void *context)
{
    restride_engine *engine = context;
    static atomic_size_t next;
    for (int i = 0; i < 6; i++) {
        restride_plan *plan;
        if (restride_plan_transpose(&plan, engine, ROWS, COLS, UNIT, 1) != RESTRIDE_OK)
            return context;
        restride_plan_destroy(plan);
        const rs_matrices own = {2000, 1000 + atomic_fetch_add(&next, 1), UNIT, 1, 0};
        if (learn(engine, &own, "direct", (rs_tiles){0, 0}, 1) != RESTRIDE_OK ||
            restride_wisdom_check(engine) != RESTRIDE_OK)
            return context;
    }
    return NULL;
}

static void test_threads(void **state)
{
    (void)state;
    use_fresh_wisdom();
    learn_one(0.001);
    restride_engine *engine = make_engine(2);
    pthread_t threads[THREADS];
    for (int i = 0; i < THREADS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, plan_and_learn, engine), 0);
    for (int i = 0; i < THREADS; i++) {
        void *failed;
        assert_int_equal(pthread_join(threads[i], &failed), 0);
        assert_null(failed);
    }
    assert_true(plan_is_learned(engine, &matrices));
    restride_engine_destroy(engine);
    assert_int_equal(records_in(wisdom_path), 1 + THREADS * 6);
}

/* ---- allocations that fail ---- */

typedef restride_status (*deed)(restride_engine *engine, const char *file);

static restride_status do_plan(restride_engine *engine, const char *file)
{
    (void)file;
    restride_plan *plan;
    restride_status status = restride_plan_transpose(&plan, engine, ROWS, COLS, UNIT, 1);
    restride_plan_destroy(plan);
    return status;
}

static restride_status do_learn(restride_engine *engine, const char *file)
{
    (void)file;
    return learn(engine, &matrices, learned_method, learned_tiles, 0.001);
}

static restride_status do_check(restride_engine *engine, const char *file)
{
    (void)file;
    return restride_wisdom_check(engine);
}

static restride_status do_forget(restride_engine *engine, const char *file)
{
    (void)file;
    return restride_wisdom_forget(engine);
}

static void test_no_memory(void **state)
{
    (void)state;
    static const deed deeds[] = {
        do_plan, do_check, do_learn, restride_wisdom_import, restride_wisdom_export, do_forget};
    use_fresh_wisdom();
    learn_one(0.001);
    char copy[300];
    snprintf(copy, sizeof copy, "%s/copy.json", wisdom_folder);
    restride_engine *engine = make_engine(2);
    assert_int_equal(restride_wisdom_export(engine, copy), RESTRIDE_OK);
    restride_engine_destroy(engine);
    for (size_t i = 0; i < sizeof deeds / sizeof deeds[0]; i++) {
        size_t failures = 0;
        for (;; failures++) {
            engine = make_engine(2);
            heap_watch(failures, HEAP_FAILS_ON);
            restride_status status = deeds[i](engine, copy);
            const heap_report report = heap_stop();
            if (report.refused == 0) {
                assert_int_equal(status, RESTRIDE_OK);
                restride_engine_destroy(engine);
                break;
            }
            /* A lack of memory inside jansson shows as text that it cannot read. */
            if (status != RESTRIDE_OUT_OF_MEMORY && status != RESTRIDE_IO)
                fail_msg("deed %zu, allocation %zu: status %d, %s", i, failures, (int)status,
                         restride_last_error());
            /* The file is as right as before, and so is the engine. */
            assert_true(deeds[i] == do_forget || records_in(wisdom_path) == 1);
            assert_int_equal(deeds[i](engine, copy), RESTRIDE_OK);
            assert_true(deeds[i] == do_forget || plan_is_learned(engine, &matrices));
            restride_engine_destroy(engine);
            if (deeds[i] == do_forget)
                learn_one(0.001);
        }
        assert_true(failures >= 3);
    }
}

/* ---- tuning ---- */

static void note_part(void *context, double part)
{
    double *last = context;
    assert_true(part >= *last && part <= 1);
    *last = part;
}

static void test_tune(void **state)
{
    (void)state;
    use_fresh_wisdom();
    double last = 0;
    const restride_tune_options options = {0.3, note_part, &last};
    restride_tuning tuning;
    restride_engine *engine = make_engine(2);
    if (restride_tune_transpose(engine, ROWS, COLS, UNIT, 1, &options, &tuning) != RESTRIDE_OK)
        fail_msg("%s", restride_last_error());
    assert_true(last == 1);
    assert_true(tuning.kept && tuning.tried >= 4 && tuning.runs >= 2 * tuning.tried);
    assert_true(tuning.best.seconds > 0 && tuning.best.seconds <= tuning.planner.seconds);
    restride_plan *plan;
    assert_int_equal(restride_plan_transpose(&plan, engine, ROWS, COLS, UNIT, 1), RESTRIDE_OK);
    char *text = restride_plan_describe(plan);
    assert_non_null(strstr(text, "Wisdom of a measurement"));
    free(text);
    restride_plan_destroy(plan);
    assert_int_equal(records_in(wisdom_path), 1);
    last = 0;
    /* Odd elements, a batch, a shape without factors. */
    assert_int_equal(restride_tune_transpose(engine, 127, 131, 23, 4, &options, NULL), RESTRIDE_OK);
    assert_int_equal(records_in(wisdom_path), 2);
    static const size_t refused_shapes[][4] = {{0, 4, 4, 1}, {100, 100, 4, 1}};
    for (size_t i = 0; i < 2; i++) {
        const size_t *s = refused_shapes[i];
        assert_int_equal(restride_tune_transpose(engine, s[0], s[1], s[2], s[3], NULL, NULL),
                         RESTRIDE_INVALID_ARGUMENT);
    }
    assert_int_equal(restride_tune_transpose(engine, SIZE_MAX, 4, 4, 1, NULL, NULL),
                     RESTRIDE_OVERFLOW);
    restride_engine_destroy(engine);
    setenv("RESTRIDE_WISDOM", "", 1);
    last = 0;
    engine = make_engine(2);
    assert_int_equal(restride_tune_transpose(engine, ROWS, COLS, UNIT, 1, &options, &tuning),
                     RESTRIDE_OK);
    assert_false(tuning.kept);
    restride_engine_destroy(engine);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_only_the_exact_problem),
        cmocka_unit_test(test_least_bytes),
        cmocka_unit_test(test_places),
        cmocka_unit_test(test_impossible_wisdom),
        cmocka_unit_test(test_damaged_files),
        cmocka_unit_test(test_unusable_places),
        cmocka_unit_test(test_import_export_forget),
        cmocka_unit_test(test_processes),
        cmocka_unit_test(test_forked_children),
        cmocka_unit_test(test_threads),
        cmocka_unit_test(test_no_memory),
        cmocka_unit_test(test_tune),
    };
    heap_begin();
    return cmocka_run_group_tests(tests, make_wisdom_folder, remove_wisdom_folder);
}
