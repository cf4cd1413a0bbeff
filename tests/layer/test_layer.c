/*
 * The layer under a program that makes every kind of call: it keeps its results in every tile size
 * while its kernels really run in other layouts.
 */
#include "runs.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void test_every_kind_of_call(void **state)
{
    (void)state;
    static const int tiles[] = {16, 32, 64, 7};
    for (int i = 0; i < 4; i++) {
        int status =
            run("%s run --policy asta --tile %d --report %s -- %s %s %d 500", RESTRIDE_PROGRAM,
                tiles[i], report_path, CALLS_PROGRAM, CALLS_KERNELS, i + 1);
        if (exit_status(status) != 0)
            fail_msg("T = %d: %s", tiles[i], errors());
        json_t *loaded = report();
        json_t *bump = kernel_of(loaded, "bump");
        assert_in_range(number_of(bump, "transformed_launches"), 10, number_of(bump, "launches"));
        assert_in_range(number_of(kernel_of(loaded, "join"), "transformed_launches"), 5, 500);
        assert_in_range(number_of(kernel_of(loaded, "take"), "transformed_launches"), 5, 500);
        assert_in_range(number_of(json_object_get(loaded, "marshal"), "count"), 10, 2000);
        assert_string_equal(argument_word(bump, 0, "status"), "transformed");
        assert_int_equal(number_of(kernel_of(loaded, "words"), "transformed_launches"), 0);
        /* One buffer for two arguments that see it differently. */
        json_t *both = kernel_of(loaded, "both");
        assert_int_equal(number_of(both, "transformed_launches"), 0);
        assert_non_null(strstr(argument_word(both, 0, "reason"), "also bound"));
        json_decref(loaded);
    }
}

/* Those that come while a user event, or what it has held back, is under way are as written. */
static void assert_most_transformed(json_t *kernel)
{
    const long launches = number_of(kernel, "launches");
    assert_in_range(number_of(kernel, "transformed_launches"), launches - launches / 2, launches);
}

static const char *driver = ""; /* what expect_calls() runs programs with */

static void expect_calls(const char *options, int seed, int steps, int cells)
{
    int status = run("%s %s run %s --report %s -- %s %s %d %d %d", driver, RESTRIDE_PROGRAM,
                     options, report_path, CALLS_PROGRAM, CALLS_KERNELS, seed, steps, cells);
    if (exit_status(status) != 0)
        fail_msg("%s, %d cells: %s", options, cells, errors());
}

/* The same in SoA: of arrays that are copied out and back, and of such that plans convert, for an
 * even number of cells and a prime one; tiles of an array that the program keeps in SoA as well. */
static void test_soa(void **state)
{
    (void)state;
    static const struct {
        int steps, cells;
    } cases[] = {{500, 1007}, {60, 40000}, {60, 40009}};
    for (int i = 0; i < 3; i++) {
        expect_calls("--policy soa", i + 1, cases[i].steps, cases[i].cells);
        json_t *loaded = report(), *bump = kernel_of(loaded, "bump");
        json_t *sweep = kernel_of(loaded, "sweep");
        assert_string_equal(argument_word(bump, 0, "layout"), "f i");
        assert_most_transformed(bump);
        assert_in_range(number_of(bump, "launches"), 3, 500);
        assert_in_range(number_of(json_object_get(loaded, "marshal"), "count"), 6, 2000);
        /* It is in SoA as the program has it. */
        assert_int_equal(number_of(sweep, "transformed_launches"), 0);
        assert_string_equal(argument_word(sweep, 0, "layout"), "f i");
        json_decref(loaded);
        assert_non_null(strstr(errors(), "in the SoA layout"));

        expect_calls("--policy asta", i + 1, cases[i].steps, cases[i].cells);
        loaded = report();
        sweep = kernel_of(loaded, "sweep");
        assert_in_range(number_of(sweep, "transformed_launches"), 2, 500);
        assert_most_transformed(sweep);
        assert_string_equal(argument_word(sweep, 0, "layout"), "i/32 f i%32");
        assert_string_equal(argument_word(sweep, 0, "source_layout"), "f i");
        json_decref(loaded);
    }
}

/* Queues of two devices that share the buffers, and compilers that do not agree. */
static void test_two_devices(void **state)
{
    (void)state;
    static const struct {
        const char *options;
        int steps, cells;
    } cases[] = {{"--policy asta", 500, 1007},
                 {"--policy soa", 500, 1007},
                 {"--policy soa", 60, 40009},
                 {"--policy auto", 300, 1007}};
    setenv("POCL_DEVICES", "pthread pthread", 1);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        int status =
            run("%s run %s --report %s -- %s %s %zu %d %d 2", RESTRIDE_PROGRAM, cases[i].options,
                report_path, CALLS_PROGRAM, CALLS_KERNELS, i + 1, cases[i].steps, cases[i].cells);
        if (exit_status(status) == 77) {
            unsetenv("POCL_DEVICES");
            skip();
        }
        if (exit_status(status) != 0)
            fail_msg("%s, %d cells: %s", cases[i].options, cases[i].cells, errors());
        json_t *loaded = report(), *bump = kernel_of(loaded, "bump");
        if (strstr(cases[i].options, "auto") == NULL) /* which may keep what it likes */
            assert_most_transformed(bump);
        json_decref(loaded);
    }
    assert_int_equal(
        exit_status(run("env OPENCL_LAYERS=%s MADE_UP_MACRO=1 %s run --policy asta -- %s "
                        "unequal-devices",
                        MADE_UP_GPU, RESTRIDE_PROGRAM, CASES_PROGRAM)),
        0);
    assert_non_null(strstr(errors(), "the compilers of its devices define the macros"));
    unsetenv("POCL_DEVICES");
}

/* A driver that takes fewer rectangles than PoCL, as NVIDIA's does. */
static void test_narrow_rectangles(void **state)
{
    (void)state;
    driver = "env OPENCL_LAYERS=" MADE_UP_GPU;
    expect_calls("--policy asta", 1, 300, 1007);
    expect_calls("--policy soa", 1, 300, 1007);
    driver = "";
}

#ifdef HAVE_CONFIG
/* One kernel in SoA, one argument of another, the rest in tiles; the same buffers go through all.
 */
static void test_soa_by_kernel_and_argument(void **state)
{
    (void)state;
    char options[160];
    write_config("policy = asta\n[bump]\n.policy = soa\n[join]\nfrom = f i\n");
    snprintf(options, sizeof options, "--config %s", config_path);
    expect_calls(options, 5, 500, 1007);
    json_t *loaded = report(), *bump = kernel_of(loaded, "bump");
    json_t *join = kernel_of(loaded, "join"), *take = kernel_of(loaded, "take");
    assert_string_equal(argument_word(bump, 0, "layout"), "f i");
    assert_string_equal(argument_word(join, 0, "layout"), "i/32 f i%32");
    assert_string_equal(argument_word(join, 1, "layout"), "f i");
    assert_string_equal(argument_word(take, 0, "layout"), "i/32 f i%32");
    json_t *const kernels[] = {bump, join, take};
    for (int i = 0; i < 3; i++)
        assert_in_range(number_of(kernels[i], "transformed_launches"), 5, 500);
    json_decref(loaded);
}
#endif

/* Fewer cells than a tile, and exactly one tile. */
static void test_small_buffers(void **state)
{
    (void)state;
    static const int counts[] = {129, 160, 192};
    for (int i = 0; i < 3; i++) {
        int status =
            run("%s run --policy asta --tile 128 --report %s -- %s %s %d 200 %d", RESTRIDE_PROGRAM,
                report_path, CALLS_PROGRAM, CALLS_KERNELS, i + 10, counts[i]);
        if (exit_status(status) != 0)
            fail_msg("%d cells: %s", counts[i], errors());
    }
}

static void test_policy_off_changes_nothing(void **state)
{
    (void)state;
    int status = run("%s run --policy off --report %s -- %s %s 1 200", RESTRIDE_PROGRAM,
                     report_path, CALLS_PROGRAM, CALLS_KERNELS);
    assert_int_equal(exit_status(status), 0);
    json_t *loaded = report();
    assert_int_equal(number_of(kernel_of(loaded, "bump"), "transformed_launches"), 0);
    assert_int_equal(number_of(json_object_get(loaded, "marshal"), "count"), 0);
    json_decref(loaded);
}

/* A tile of a million structures is more local memory than any device has. */
static void test_tile_too_large_for_the_device(void **state)
{
    (void)state;
    int status = run("%s run --policy asta --tile 1048576 --report %s -- %s %s 1 200",
                     RESTRIDE_PROGRAM, report_path, CALLS_PROGRAM, CALLS_KERNELS);
    assert_int_equal(exit_status(status), 0);
    json_t *loaded = report();
    json_t *take = kernel_of(loaded, "take");
    assert_int_equal(number_of(take, "transformed_launches"), 0);
    assert_string_equal(argument_word(take, 0, "status"), "kept");
    assert_non_null(strstr(argument_word(take, 0, "reason"), "local memory"));
    json_decref(loaded);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_kind_of_call),
        cmocka_unit_test(test_soa),
        cmocka_unit_test(test_two_devices),
        cmocka_unit_test(test_narrow_rectangles),
#ifdef HAVE_CONFIG
        cmocka_unit_test(test_soa_by_kernel_and_argument),
#endif
        cmocka_unit_test(test_small_buffers),
        cmocka_unit_test(test_policy_off_changes_nothing),
        cmocka_unit_test(test_tile_too_large_for_the_device),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
