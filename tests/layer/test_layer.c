/*
 * The layer and `restride run`, from outside: a program that makes every kind of call keeps its
 * results in every tile size while its kernels really run in ASTA; what cannot be transformed is
 * kept with the right reason; and whatever is wrong with Restride's own part, the program runs.
 */
#include "base/folder.h"
#include "cmocka_all.h"

#include <jansson.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static char report_path[64];
static char errors_path[64];
static char config_path[64];
static char plain_path[64], layer_path[64]; /* what a program prints without and under the layer */

/* Runs a command of the shell with standard error kept; returns its wait status. */
static int run(const char *format, ...)
{
    char command[4096];
    va_list arguments;
    va_start(arguments, format);
    int length = vsnprintf(command, sizeof command, format, arguments);
    va_end(arguments);
    assert_in_range(length, 1, (int)sizeof command - 200);
    snprintf(command + length, sizeof command - (size_t)length, " >/dev/null 2>%s", errors_path);
    unlink(report_path);
    return system(command);
}

static int exit_status(int status)
{
    return WIFEXITED(status) ? WEXITSTATUS(status) : 1000 + WTERMSIG(status);
}

/* What the last command said on standard error. */
static const char *errors(void)
{
    static char text[65536];
    FILE *file = fopen(errors_path, "r");
    assert_non_null(file);
    text[fread(text, 1, sizeof text - 1, file)] = '\0';
    fclose(file);
    return text;
}

#ifdef HAVE_CONFIG
static void write_config(const char *text)
{
    FILE *file = fopen(config_path, "w");
    assert_non_null(file);
    fputs(text, file);
    assert_int_equal(fclose(file), 0);
}
#endif

static json_t *report(void)
{
    json_t *loaded = json_load_file(report_path, 0, NULL);
    assert_non_null(loaded);
    return loaded;
}

static json_t *kernel_of(json_t *loaded, const char *name)
{
    size_t i;
    json_t *kernel;
    json_array_foreach(json_object_get(loaded, "kernels"), i, kernel)
    {
        if (strcmp(json_string_value(json_object_get(kernel, "name")), name) == 0)
            return kernel;
    }
    fail_msg("the report has no kernel %s", name);
    return NULL;
}

static long number_of(json_t *object, const char *key)
{
    return (long)json_number_value(json_object_get(object, key));
}

static const char *argument_word(json_t *kernel, size_t index, const char *key)
{
    json_t *argument = json_array_get(json_object_get(kernel, "arguments"), index);
    const char *word = json_string_value(json_object_get(argument, key));
    return word != NULL ? word : "";
}

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

/* What plans take is known, also where markers have no times. */
static void test_times_of_plans(void **state)
{
    (void)state;
    assert_int_equal(exit_status(run("env OPENCL_LAYERS=%s %s run --policy soa --report %s -- "
                                     "%s wlr 40009",
                                     MADE_UP_GPU, RESTRIDE_PROGRAM, report_path, SEQUENCE_PROGRAM)),
                     0);
    json_t *loaded = report();
    double seconds =
        json_number_value(json_object_get(json_object_get(loaded, "marshal"), "seconds"));
    json_decref(loaded);
    if (seconds < 1e-6 || seconds > 60)
        fail_msg("%f s", seconds);
}

#ifdef HAVE_CONFIG
/* One kernel in SoA, one argument of another, the rest in tiles; the same buffers go through all.
 */
static void test_soa_by_kernel_and_argument(void **state)
{
    (void)state;
    char options[128], path[64];
    snprintf(path, sizeof path, "/tmp/restride-test-%ld.ini", (long)getpid());
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fputs("policy = asta\n[bump]\n.policy = soa\n[join]\nfrom = f i\n", file);
    fclose(file);
    snprintf(options, sizeof options, "--config %s", path);
    expect_calls(options, 5, 500, 1007);
    unlink(path);
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

/* Held back, abandoned and interleaved with callbacks: no result changes and nothing hangs. */
static void test_commands_that_wait(void **state)
{
    (void)state;
    static const char *const cases[] = {"abandoned", "held-back", "shared", "callback", "header"};
    static const char *const policies[] = {"asta", "soa"};
    for (int i = 0; i < 10; i++) {
        int status = run("%s run --policy %s --report %s -- timeout 60 %s %s", RESTRIDE_PROGRAM,
                         policies[i % 2], report_path, WAITS_PROGRAM, cases[i / 2]);
        if (exit_status(status) != 0)
            fail_msg("%s, %s: status %d: %s", policies[i % 2], cases[i / 2], exit_status(status),
                     errors());
    }
    for (int i = 0; i < 2; i++) {
        int status = run("env OPENCL_LAYERS=%s MADE_UP_LAZY=1 %s run --policy %s --report %s -- "
                         "timeout 20 %s flushed-later",
                         MADE_UP_GPU, RESTRIDE_PROGRAM, policies[i], report_path, WAITS_PROGRAM);
        if (exit_status(status) != 0)
            fail_msg("flushed-later, %s: status %d: %s", policies[i], exit_status(status),
                     errors());
    }
}

/* The driver calls the program, or the program forks, while conversions are being built: nothing
 * waits for what waits for it. On PoCL's "basic", which has no threads, a child can go on with
 * OpenCL. */
static void test_builds_beside(void **state)
{
    (void)state;
    static const struct {
        const char *name, *policy;
        long transformed; /* launches of grow_at_once */
    } cases[] = {
        {"notified-at-end", "auto", -1},   {"notified-at-release", "auto", -1},
        {"notified-at-kernel", "asta", 1}, {"notified-at-launch", "auto", 1},
        {"notified-at-plans", "soa", 1},   {"notified-at-plans", "asta", 1},
        {"fork-beside-build", "auto", -1}, {"fork-beside-call", "auto", -1},
    };
    char config[96] = "";
#ifdef HAVE_CONFIG
    write_config("[grow_at_once]\n.policy = asta\n");
    snprintf(config, sizeof config, "--config %s", config_path);
#endif
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const bool forced = strcmp(cases[i].policy, "auto") != 0;
        int status =
            run("env MADE_UP_COMPILER=1 POCL_DEVICES=basic OPENCL_LAYERS=%s RESTRIDE_WISDOM= "
                "%s run --policy %s %s --report %s -- timeout 60 %s %s",
                MADE_UP_GPU, RESTRIDE_PROGRAM, cases[i].policy, forced ? "" : config, report_path,
                WAITS_PROGRAM, cases[i].name);
        if (exit_status(status) != 0)
            fail_msg("%s, %s: status %d: %s", cases[i].name, cases[i].policy, exit_status(status),
                     errors());
        json_t *loaded = report();
        if (cases[i].transformed >= 0 && (forced || config[0] != '\0'))
            assert_int_equal(number_of(kernel_of(loaded, "grow_at_once"), "transformed_launches"),
                             cases[i].transformed);
        json_decref(loaded);
    }
}

static long transformed_launches(void)
{
    size_t i;
    long transformed = 0;
    json_t *loaded = report(), *kernel;
    json_array_foreach(json_object_get(loaded, "kernels"), i, kernel)
    {
        transformed += number_of(kernel, "transformed_launches");
    }
    json_decref(loaded);
    return transformed;
}

/* A device without memory for what the layer wants, or that refuses its commands: arrays that the
 * marshaling kernel converts, that are copied out and back, and that plans convert. */
static void test_faults(void **state)
{
    (void)state;
    enum { SMALL = 1000, LARGE = 40009 };
    static const struct {
        const char *policy;
        int records;
        const char *name;
        long transformed;
        bool loses;
    } cases[] = {
        {"asta", LARGE, "no-memory-there", 4, false},
        {"soa", SMALL, "no-memory-there", 2, false},
        {"soa", LARGE, "no-memory-there", 2, false},
        {"soa", LARGE, "no-memory-for-plans", 0, false},
        {"asta", LARGE, "no-memory-back", 2, false},
        {"soa", SMALL, "no-memory-back", 2, false},
        {"soa", LARGE, "no-memory-back", 2, false},
        {"soa", LARGE, "no-memory-elsewhere", 1, false},
        {"asta", LARGE, "refused-there", 2, false},
        {"soa", SMALL, "refused-there", 2, false},
        {"soa", LARGE, "refused-there", 2, false},
        {"asta", LARGE, "refused-back", 2, false},
        {"soa", SMALL, "refused-back", 2, false},
        {"soa", LARGE, "refused-back", 2, false},
        {"soa", LARGE, "torn-there", 2, true},
        {"soa", LARGE, "torn-back", 2, true},
        {"asta", LARGE, "fails-there", 3, true},
        {"soa", SMALL, "fails-there", 3, true},
        {"soa", LARGE, "fails-there", 3, true},
        {"asta", LARGE, "fails-back", 2, true},
        {"soa", SMALL, "fails-back", 2, true},
        {"soa", LARGE, "fails-back", 2, true},
        {"asta", LARGE, "copied", 3, false},
        {"soa", SMALL, "copied", 3, false},
        {"soa", LARGE, "copied", 3, false},
        {"soa", LARGE, "many", 12, false},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        int status = run("env OPENCL_LAYERS=%s POCL_DEVICES='pthread pthread' "
                         "%s run --policy %s --report %s -- timeout 60 %s %s %d",
                         MADE_UP_GPU, RESTRIDE_PROGRAM, cases[i].policy, report_path,
                         FAULTS_PROGRAM, cases[i].name, cases[i].records);
        if (exit_status(status) != 0)
            fail_msg("%s, %s, %d: status %d: %s", cases[i].name, cases[i].policy, cases[i].records,
                     exit_status(status), errors());
        if (transformed_launches() != cases[i].transformed)
            fail_msg("%s, %s, %d: %ld launches in the other layout", cases[i].name, cases[i].policy,
                     cases[i].records, transformed_launches());
        const char *told = strstr(errors(), "content is lost");
        if ((told != NULL) != cases[i].loses)
            fail_msg("%s, %s, %d: %s", cases[i].name, cases[i].policy, cases[i].records, errors());
        if (told != NULL)
            assert_null(strstr(told + 1, "content is lost"));
    }
}

/* One case of cases.c each: how many launches must run in the other layout at least and at most,
 * of all kernels. */
static void test_cases(void **state)
{
    (void)state;
    static const struct {
        const char *name, *options;
        long least, most;
    } cases[] = {
        {"user-event", "", 3, 3},
        {"held-and-slow", "", 1, 1},
        {"released-queue", "", 1, 1},
        {"profiling", "", 1, 1},
        {"kernels-in-program", "", 2, 2},
        {"clone", "", 2, 2},
        {"queries", "", 1, 1},
        {"views", "", 7, 7},
        {"several-devices", "", 18, 18},
        {"unequal-devices", "", 1, 1},
        {"view-beside-parent", "", 1, 1},
        {"compile-and-link", "", 1, 1},
        {"link-two", "", 0, 0},
        {"refused-build", "", 1, 1},
        {"notified-build", "", 1, 1},
        {"binary", "", 3, 3},
        {"il", "", 1, 1},
        {"svm", "", 1, 1},
        {"host-pointer", "", 0, 0},
        {"image", "", 1, 1},
        {"extension", "", 2, 2},
        {"leak", "", 2, 2},
        {"threads", "", 200, 200},
        {"gpu-only", "--device cpu", 1, 1},
        {"gpu-only", "--device PTHREAD", 1, 1},
        {"far-work-items", "", 1, 1},
        {"full-tiles", "", 3, 3},
        {"floating-macros", "", 1, 1},
    };
    static const char *const policies[] = {"asta", "soa"};
    const size_t count = sizeof cases / sizeof cases[0];
    for (size_t n = 0; n < 2 * count; n++) {
        const size_t i = n % count;
        const char *policy = policies[n / count];
        /* Two devices of PoCL; others take no notice. */
        if (strstr(cases[i].name, "-devices") != NULL)
            setenv("POCL_DEVICES", "pthread pthread", 1);
        else
            unsetenv("POCL_DEVICES");
        int status = exit_status(run("%s run --policy %s %s --report %s -- timeout 60 %s %s",
                                     RESTRIDE_PROGRAM, policy, cases[i].options, report_path,
                                     CASES_PROGRAM, cases[i].name));
        if (status == 77) {
            print_message("%s: this device cannot\n", cases[i].name);
            continue;
        }
        if (status != 0)
            fail_msg("%s, %s: status %d: %s", policy, cases[i].name, status, errors());
        /* PoCL counts errors and warnings there: none in what the layer builds. */
        if (strstr(errors(), " generated.") != NULL)
            fail_msg("%s, %s: %s", policy, cases[i].name, errors());
        long transformed = transformed_launches();
        if (transformed < cases[i].least || transformed > cases[i].most)
            fail_msg("%s, %s: %ld launches in the other layout", policy, cases[i].name,
                     transformed);
    }
    assert_int_not_equal(
        exit_status(run("%s run --device gpu -- %s gpu-only", RESTRIDE_PROGRAM, CASES_PROGRAM)), 0);
}

/* What the driver refuses it refuses under the layer, with the same status and without a byte
 * changed, whatever layout the buffers are in. */
static void test_refusals(void **state)
{
    (void)state;
    static const char *const options[] = {"--policy asta --tile 32", "--policy asta --tile 7",
                                          "--policy soa"};
    assert_int_equal(exit_status(run("sh -c 'exec %s >%s'", REFUSALS_PROGRAM, plain_path)), 0);
    for (int i = 0; i < 3; i++) {
        assert_int_equal(
            exit_status(run("%s run %s --report %s -- sh -c 'exec %s >%s'", RESTRIDE_PROGRAM,
                            options[i], report_path, REFUSALS_PROGRAM, layer_path)),
            0);
        json_t *loaded = report();
        assert_in_range(number_of(kernel_of(loaded, "fill"), "transformed_launches"), 1000, 100000);
        json_decref(loaded);
        if (run("sh -c 'diff %s %s >&2'", plain_path, layer_path) != 0)
            fail_msg("%s: %s", options[i], errors());
    }
}

/* A program from a binary is rewritten once an earlier run was seen to make that from a source. */
static void test_binaries(void **state)
{
    (void)state;
    char *folder, environment[400], layered[1000];
    assert_int_equal(rs_folder_create(&folder), RESTRIDE_OK);
    snprintf(environment, sizeof environment, "env XDG_CACHE_HOME=%s BINARY=%s/binary", folder,
             folder);
    snprintf(layered, sizeof layered, "%s %s run --policy asta --report %s -- timeout 60 %s",
             environment, RESTRIDE_PROGRAM, report_path, CASES_PROGRAM);
    assert_int_equal(exit_status(run("%s %s binary-to-file", environment, CASES_PROGRAM)), 0);
    assert_int_equal(exit_status(run("%s binary-from-file", layered)), 0);
    assert_int_equal(transformed_launches(), 0);
    assert_non_null(strstr(errors(), "its source is not known"));
    assert_int_equal(exit_status(run("%s binary-to-file", layered)), 0);
    assert_int_equal(exit_status(run("%s binary-from-file", layered)), 0);
    assert_int_equal(transformed_launches(), 1);
    assert_int_equal(exit_status(run("env PLAIN= %s binary-to-file", layered)), 0);
    assert_int_equal(exit_status(run("env PLAIN= %s binary-from-file", layered)), 0);
    assert_null(strstr(errors(), "its source is not known"));
    rs_folder_remove(folder);
}

/* Partial transfers and maps convert their bytes alone; the buffer stays in its layout. */
static void test_parts(void **state)
{
    (void)state;
    static const struct {
        const char *commands;
        long conversions, least_parts; /* of whole buffers and of parts */
    } cases[] = {
        {"wlqlqlqlr", 2, 3}, {"wlplplpqlr", 2, 4}, {"wlmlmqlr", 2, 5},
        {"wlqslqsr", 4, 1},  {"wlr", 2, 0},
    };
    static const char *const policies[] = {"asta", "soa"};
    const size_t count = sizeof cases / sizeof cases[0];
    for (size_t n = 0; n < 2 * count; n++) {
        const size_t i = n % count;
        const char *policy = policies[n / count];
        int status = run("%s run --policy %s --report %s -- %s %s", RESTRIDE_PROGRAM, policy,
                         report_path, SEQUENCE_PROGRAM, cases[i].commands);
        if (exit_status(status) != 0)
            fail_msg("%s, %s: %s", policy, cases[i].commands, errors());
        json_t *loaded = report();
        json_t *marshal = json_object_get(loaded, "marshal");
        if (number_of(marshal, "count") != cases[i].conversions ||
            number_of(marshal, "parts") < cases[i].least_parts)
            fail_msg("%s, %s: %ld conversions, %ld parts", policy, cases[i].commands,
                     number_of(marshal, "count"), number_of(marshal, "parts"));
        json_decref(loaded);
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

/* A rewriter that is missing, fails, answers nonsense or nothing: the program runs in its own
 * layout. */
static void test_broken_rewriter(void **state)
{
    (void)state;
    static const char *const rewriters[] = {"/nonexistent/restride", "/bin/false", "/bin/echo",
                                            "/bin/true"};
    for (int i = 0; i < 4; i++) {
        int status =
            run("env OPENCL_LAYERS=%s RESTRIDE_REWRITER=%s RESTRIDE_LOG=warning %s %s 1 100",
                LAYER_PATH, rewriters[i], CALLS_PROGRAM, CALLS_KERNELS);
        assert_int_equal(exit_status(status), 0);
        assert_non_null(strstr(errors(), "was not rewritten"));
    }
}

static void test_exit_status_and_signals(void **state)
{
    (void)state;
    assert_int_equal(exit_status(run("%s run -- sh -c 'exit 7'", RESTRIDE_PROGRAM)), 7);
    /* The shell that system() starts would hide the signal: exec puts restride in its place. */
    assert_int_equal(exit_status(run("exec %s run -- sh -c 'kill -SEGV $$'", RESTRIDE_PROGRAM)),
                     1000 + 11);
    assert_int_equal(
        exit_status(run("exec %s run -- sh -c 'kill -TERM $PPID; sleep 20'", RESTRIDE_PROGRAM)),
        1000 + 15);
    assert_int_equal(exit_status(run("%s run -- /nonexistent/program", RESTRIDE_PROGRAM)), 127);
    assert_non_null(strstr(errors(), "/nonexistent/program could not be started"));
    assert_int_equal(exit_status(run("%s run -- /etc/passwd", RESTRIDE_PROGRAM)), 126);
}

static void test_bad_usage(void **state)
{
    (void)state;
    assert_int_equal(exit_status(run("%s run", RESTRIDE_PROGRAM)), 2);
    assert_int_equal(exit_status(run("%s run --policy soon -- true", RESTRIDE_PROGRAM)), 2);
    assert_int_equal(exit_status(run("%s run --policy asta --tile 0 -- true", RESTRIDE_PROGRAM)),
                     2);
    assert_int_equal(exit_status(run("%s run --policy asta --tile -3 -- true", RESTRIDE_PROGRAM)),
                     2);
    assert_int_equal(exit_status(run("%s run --report r.txt -- true", RESTRIDE_PROGRAM)), 2);
}

/* The program runs all the same, and the sentence names the path. */
static void test_unwritable_report(void **state)
{
    (void)state;
    int status =
        run("%s run --report /nonexistent/r.html -- sh -c 'echo ran >&2'", RESTRIDE_PROGRAM);
    assert_int_equal(exit_status(status), 1);
    assert_non_null(strstr(errors(), "ran"));
    assert_non_null(strstr(errors(), "/nonexistent/r.html"));
    status = run("%s run --report /nonexistent/r.html -- sh -c 'exit 3'", RESTRIDE_PROGRAM);
    assert_int_equal(exit_status(status), 3);
}

static void test_program_without_opencl(void **state)
{
    (void)state;
    assert_int_equal(exit_status(run("%s run -- true", RESTRIDE_PROGRAM)), 0);
    assert_non_null(strstr(errors(), "nothing was transformed"));
    assert_int_equal(exit_status(run("%s run --quiet -- true", RESTRIDE_PROGRAM)), 0);
    assert_string_equal(errors(), "");
}

int main(void)
{
    snprintf(report_path, sizeof report_path, "/tmp/restride-test-%ld.json", (long)getpid());
    snprintf(errors_path, sizeof errors_path, "/tmp/restride-test-%ld.txt", (long)getpid());
    snprintf(config_path, sizeof config_path, "/tmp/restride-test-%ld.ini", (long)getpid());
    snprintf(plain_path, sizeof plain_path, "/tmp/restride-test-%ld.plain", (long)getpid());
    snprintf(layer_path, sizeof layer_path, "/tmp/restride-test-%ld.layer", (long)getpid());
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_kind_of_call),
        cmocka_unit_test(test_soa),
        cmocka_unit_test(test_two_devices),
        cmocka_unit_test(test_narrow_rectangles),
        cmocka_unit_test(test_times_of_plans),
#ifdef HAVE_CONFIG
        cmocka_unit_test(test_soa_by_kernel_and_argument),
#endif
        cmocka_unit_test(test_small_buffers),
        cmocka_unit_test(test_commands_that_wait),
        cmocka_unit_test(test_builds_beside),
        cmocka_unit_test(test_cases),
        cmocka_unit_test(test_refusals),
        cmocka_unit_test(test_faults),
        cmocka_unit_test(test_binaries),
        cmocka_unit_test(test_parts),
        cmocka_unit_test(test_policy_off_changes_nothing),
        cmocka_unit_test(test_tile_too_large_for_the_device),
        cmocka_unit_test(test_broken_rewriter),
        cmocka_unit_test(test_exit_status_and_signals),
        cmocka_unit_test(test_bad_usage),
        cmocka_unit_test(test_unwritable_report),
        cmocka_unit_test(test_program_without_opencl),
    };
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    unlink(report_path);
    unlink(errors_path);
    unlink(config_path);
    unlink(plain_path);
    unlink(layer_path);
    return failed;
}
