/* Wisdom of many thousand problems, which is found as fast as that of one and never outgrows what
 * is read; and of many processes, which wait for each other. */
#include "base/text.h"
#include "cmocka_all.h"
#include "restride/restride.h"
#include "transpose/wisdom.h"
#include "transpose/wisdom_file.h"
#include "wisdom_files.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { ROWS = 720, COLS = 600, UNIT = 4 };
static const rs_matrices matrices = {ROWS, COLS, UNIT, 1, 0};
static const char learned_method[] = "3-stage 0100! 0010! 100!";

static restride_engine *make_engine(void)
{
    restride_engine *engine;
    assert_int_equal(restride_engine_create_host(&engine, 2), RESTRIDE_OK);
    return engine;
}

static void learn(restride_engine *engine, const rs_matrices *m, double seconds)
{
    const rs_engine_traits traits = engine->operations->traits(engine);
    const rs_stage_choice choice = {.method = learned_method, .tiles = {24, 20}};
    if (rs_wisdom_learn(engine, m, &traits, &choice, seconds, 2 * seconds) != RESTRIDE_OK)
        fail_msg("%s", restride_last_error());
}

static void learn_one(void)
{
    restride_engine *engine = make_engine();
    learn(engine, &matrices, 0.001);
    restride_engine_destroy(engine);
}

static bool plan_is_learned(restride_engine *engine, const rs_matrices *m)
{
    restride_plan *plan;
    if (restride_plan_transpose(&plan, engine, m->rows, m->cols, m->unit, m->batch) != RESTRIDE_OK)
        fail_msg("%s", restride_last_error());
    char *text = restride_plan_describe(plan);
    bool learned = strstr(text, "Wisdom of a measurement") != NULL;
    free(text);
    restride_plan_destroy(plan);
    return learned;
}

static json_t *read_records(void)
{
    json_t *records;
    if (rs_wisdom_file_read(wisdom_path, true, &records) != RESTRIDE_OK)
        fail_msg("%s", restride_last_error());
    return records;
}

static size_t records_in_file(void)
{
    json_t *records = read_records();
    size_t count = json_array_size(records);
    json_decref(records);
    return count;
}

/* `count` records of other matrices, and then the one of the file. */
static json_t *make_records(size_t count)
{
    json_t *records = read_records();
    json_t *many = json_array();
    const json_t *one = json_array_get(records, 0);
    for (size_t i = 0; i < count; i++) {
        json_t *other = json_deep_copy(one);
        json_object_set_new(json_object_get(other, "problem"), "rows",
                            json_integer(ROWS + 1 + (json_int_t)i));
        assert_int_equal(json_array_append_new(many, other), 0);
    }
    assert_int_equal(json_array_extend(many, records), 0);
    json_decref(records);
    return many;
}

static double processor_seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static double least_seconds_of_a_plan(restride_engine *engine)
{
    enum { PLANS = 9 };
    double least = 1;
    for (int i = 0; i < PLANS; i++) {
        restride_plan *plan;
        double before = processor_seconds();
        assert_int_equal(restride_plan_transpose(&plan, engine, ROWS, COLS, UNIT, 1), RESTRIDE_OK);
        double taken = processor_seconds() - before;
        least = taken < least ? taken : least;
        restride_plan_destroy(plan);
    }
    return least;
}

/* Every tuned shape and every kernel that the layer timed leaves a record; a plan takes less than a
 * millisecond among any number of them. Walking through these took some 20. */
static void test_plans_take_no_longer(void **state)
{
    (void)state;
    enum { RECORDS = 10000 };
    use_fresh_wisdom();
    learn_one();
    json_t *many = make_records(RECORDS);
    assert_int_equal(rs_wisdom_file_write(wisdom_path, many), RESTRIDE_OK);
    json_decref(many);
    restride_engine *engine = make_engine();
    assert_true(plan_is_learned(engine, &matrices)); /* this reads the file */
    double least = least_seconds_of_a_plan(engine);
    if (least > 0.001)
        fail_msg("a plan took %.3f ms among %d records", 1e3 * least, RECORDS);
    /* A record that is replaced keeps its place, and one that is new is found. */
    const rs_matrices new_one = {ROWS, COLS, UNIT, 3, 0};
    learn(engine, &matrices, 0.002);
    learn(engine, &new_one, 0.001);
    assert_true(plan_is_learned(engine, &matrices) && plan_is_learned(engine, &new_one));
    restride_engine_destroy(engine);
    assert_int_equal(records_in_file(), RECORDS + 2);
}

/* A file that is written without blanks is shorter than Restride would write it. */
static void test_the_file_never_outgrows_its_bound(void **state)
{
    (void)state;
    enum { RECORDS = 45000 };
    use_fresh_wisdom();
    learn_one();
    char path[300];
    snprintf(path, sizeof path, "%s/many.json", wisdom_folder);
    json_t *root = json_pack("{s:s, s:i, s:o}", "format", "restride wisdom", "version", 1,
                             "records", make_records(RECORDS));
    assert_int_equal(json_dump_file(root, path, JSON_COMPACT), 0);
    json_decref(root);
    restride_engine *engine = make_engine();
    assert_int_equal(restride_wisdom_import(engine, path), RESTRIDE_IO);
    assert_non_null(strstr(restride_last_error(), "longer than 16777216 bytes"));
    assert_int_equal(restride_wisdom_check(engine), RESTRIDE_OK);
    restride_engine_destroy(engine);
    assert_int_equal(records_in_file(), 1);
    remove(path);
}

/* ---- waiting for another process ---- */

typedef enum { BY_ENDING, BY_TOUCHING } release;

/* Another process has the lock for half a second, and releases it: by ending, or as Restride does,
 * which also counts where a child keeps the file open. */
static pid_t hold_lock(const char *path, release how)
{
    int ready[2];
    char byte;
    assert_int_equal(pipe(ready), 0);
    const pid_t child = fork();
    if (child == 0) {
        const int descriptor = open(path, O_RDWR | O_CREAT, 0600);
        if (flock(descriptor, LOCK_EX) != 0 || write(ready[1], "", 1) != 1)
            _exit(1);
        nanosleep(&(struct timespec){0, 500000000}, NULL);
        if (how == BY_ENDING)
            _exit(0);
        flock(descriptor, LOCK_UN);
        futimens(descriptor, NULL);
        for (;;)
            pause();
    }
    close(ready[1]);
    assert_int_equal(read(ready[0], &byte, 1), 1);
    close(ready[0]);
    return child;
}

static double seconds_now(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* A writer goes on as soon as the lock is free, not at the end of its patience of 10 seconds. */
static void test_writers_wait(void **state)
{
    (void)state;
    char path[300];
    use_fresh_wisdom();
    learn_one(); /* makes the folder */
    snprintf(path, sizeof path, "%s.lock", wisdom_path);
    for (int how = BY_ENDING; how <= BY_TOUCHING; how++) {
        const double start = seconds_now();
        const pid_t child = hold_lock(path, (release)how);
        learn_one();
        const double took = seconds_now() - start;
        kill(child, SIGKILL);
        waitpid(child, NULL, 0);
        if (took < 0.5 || took > 5)
            fail_msg("a writer went on after %.3f s", took);
    }
    struct stat about;
    const struct timespec long_ago[2] = {{1, 0}, {1, 0}};
    assert_int_equal(utimensat(AT_FDCWD, path, long_ago, 0), 0);
    learn_one();
    assert_int_equal(stat(path, &about), 0);
    assert_true(about.st_mtim.tv_sec > 1); /* it was touched */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_plans_take_no_longer),
        cmocka_unit_test(test_the_file_never_outgrows_its_bound),
        cmocka_unit_test(test_writers_wait),
    };
    return cmocka_run_group_tests(tests, make_wisdom_folder, remove_wisdom_folder);
}
