/* The layer under unusual programs, and one that is refused whatever can be: their results are as
 * without it. */
#include "runs.h"

#include "base/folder.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What is run, and how many launches must be in the other layout. */
static const struct {
    const char *name, *options;
    long least, most;
} programs[] = {
    {"user-event", "", 3, 3},
    {"held-and-slow", "", 1, 1},
    {"released-queue", "", 1, 1},
    {"many-queues", "", 1, 1},
    {"profiling", "", 1, 1},
    {"refused-native", "", 2, 2},
    {"many-programs", "", 24, 24},
    {"no-files", "", 1, 1},
    {"released-user-event", "", 3, 3},
    {"forgotten-user-event", "", 0, 1},
    {"kernels-in-program", "", 2, 2},
    {"clone", "", 2, 2},
    {"queries", "", 1, 1},
    {"references", "", 2, 2},
    {"views", "", 7, 7},
    {"several-devices", "", 18, 18},
    {"unequal-devices", "", 1, 1},
    {"view-beside-parent", "", 1, 1},
    {"compile-and-link", "", 1, 1},
    {"link-two", "", 0, 0},
    {"refused-build", "", 1, 2},
    {"notified-build", "", 1, 1},
    {"notified-link", "", 3, 3},
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
    {"far-work-items", "", 2, 2},
    {"full-tiles", "", 3, 3},
    {"constant-macros", "", 1, 1},
};

/* One case of cases.c each: how many launches must run in the other layout at least and at most,
 * of all kernels. */
static void test_cases(void **state)
{
    (void)state;
    static const char *const policies[] = {"asta", "soa"};
    const size_t count = sizeof programs / sizeof programs[0];
    for (size_t n = 0; n < 2 * count; n++) {
        const size_t i = n % count;
        const char *policy = policies[n / count];
        /* Two devices of PoCL; others take no notice. */
        if (strstr(programs[i].name, "-devices") != NULL)
            setenv("POCL_DEVICES", "pthread pthread", 1);
        else
            unsetenv("POCL_DEVICES");
        int status = exit_status(run("%s run --policy %s %s --report %s -- %s " LIMITED " %s %s",
                                     RESTRIDE_PROGRAM, policy, programs[i].options, report_path,
                                     n < count ? UNTIMED : "", CASES_PROGRAM, programs[i].name));
        if (status == 77) {
            print_message("%s: this device cannot\n", programs[i].name);
            continue;
        }
        if (status != 0)
            fail_msg("%s, %s: status %d: %s", policy, programs[i].name, status, errors());
        /* PoCL counts errors and warnings there: none in what the layer builds. */
        if (strstr(errors(), " generated.") != NULL)
            fail_msg("%s, %s: %s", policy, programs[i].name, errors());
        long transformed = transformed_launches();
        if (transformed < programs[i].least || transformed > programs[i].most)
            fail_msg("%s, %s: %ld launches in the other layout", policy, programs[i].name,
                     transformed);
    }
}

static void test_no_device(void **state)
{
    (void)state;
    assert_int_not_equal(
        exit_status(run("%s run --device gpu -- %s gpu-only", RESTRIDE_PROGRAM, CASES_PROGRAM)), 0);
    assert_int_not_equal(
        exit_status(run("%s run --device nosuch -- %s svm", RESTRIDE_PROGRAM, CASES_PROGRAM)), 0);
    assert_non_null(strstr(errors(), "--device nosuch: no device is of this kind or has this word "
                                     "in its name; there are: "));
    /* However long the sentence is, and whatever its bytes are. */
    assert_int_not_equal(
        exit_status(run("%s run --device $(printf '%%0600d' 0 | sed 's/0/ä/g')x -- %s svm",
                        RESTRIDE_PROGRAM, CASES_PROGRAM)),
        0);
    assert_non_null(strstr(errors(), "ääx: no device is of this kind or has"));
    assert_non_null(strstr(errors(), "; there are: "));
    assert_int_not_equal(exit_status(run("%s run --device $(printf '\377') -- %s svm",
                                         RESTRIDE_PROGRAM, CASES_PROGRAM)),
                         0);
    assert_non_null(strstr(errors(), ": no device is of this kind or has"));
}

/* What the driver refuses it refuses under the layer, with the same status and without a byte
 * changed, whatever layout the buffers are in. */
static void test_refusals(void **state)
{
    (void)state;
    char plain_path[128], layer_path[128]; /* what it prints without and under the layer */
    snprintf(plain_path, sizeof plain_path, "%s", in_folder("plain"));
    snprintf(layer_path, sizeof layer_path, "%s", in_folder("layered"));
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
    snprintf(layered, sizeof layered, "%s %s run --policy asta --report %s -- " LIMITED " %s",
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

/* Programs that are not followed stay as they are, and the summary's first line says why and what
 * to do; so do sources that cannot be rewritten. */
static void test_causes(void **state)
{
    (void)state;
    static const struct {
        const char *program, *source, *options, *cause;
    } cases[] = {
        {"link-two", "", "", "1 program kept: the program was linked from several programs; build"},
        {"link-options", "", "", "1 program kept: the program was linked with options; link it "},
        {"header-program", "", "", "headers that are programs; give them as files (-I)."},
        {"il-of-source", "", "", "intermediate language; build it from OpenCL C."},
        {"built-in", "", "", "1 program kept: its kernels are built into the device."},
        {"of-file",
         "#define S(x) #x\nkernel void f(global P *a) { a->x = sizeof(S(FLT_MAX)); }\n"
         "kernel void g(global P *a) { a->x = 1; }\n",
         "",
         "; 1 program kept: a macro with # or ## (here) may get names that only the device's "
         "compiler knows (program-2.cl:2).\n"},
        {"of-file", "#if __has_builtin(f)\n#endif\nkernel void f(global P *a) { a->x = 1; }\n", "",
         "kept: the source asks the compiler about its features (__has_...) (program-2.cl:2).\n"},
        {"of-file", "kernel void f(global P *a) { a->x = X; }\n", "-DX='1'",
         "kept: compilers disagree on the quotes in the build options (program-2.cl).\n"},
        {"of-file", "// \344\nkernel void f(global P *a) { a->x = 1; }\n", "",
         "; 1 program kept: its source is not a text in UTF-8; save it in UTF-8.\n"},
        {"of-file", "kernel void f(global P *a) { a->x = 1; }\n", "-DX=__has_builtin(f)",
         "kept: the source asks the compiler about its features (__has_...) (the build "
         "options).\n"},
        {"of-file",
         "kernel void f(global P *a, global P *b) { *(global int *)a = 1; "
         "*(global int *)b = 1; }\n",
         "", "2 arguments kept: the pointer is cast (program-2.cl:2, ...).\n"},
        {"of-file", "kernel void f(global float *a) { a[0] = 1; }\n", "",
         "1 argument kept: it is not an array of structures (program-2.cl:2).\n"},
        {"of-file", "kernel void f(int a) { a++; }\n", "", "; no kernel has an array of struct"},
    };
    char source[128];
    snprintf(source, sizeof source, "%s", in_folder("source.cl"));
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        FILE *file = fopen(source, "w");
        assert_non_null(file);
        fprintf(file, "typedef struct { short k; float x, y; } P;\n%s", cases[i].source);
        fclose(file);
        const int status = exit_status(
            run("env OPENCL_LAYERS=%s SOURCE=%s OPTIONS=\"%s\" %s run --policy asta -- %s %s",
                MADE_UP_GPU, source, cases[i].options, RESTRIDE_PROGRAM, CASES_PROGRAM,
                cases[i].program));
        if (status != 0)
            fail_msg("%s: status %d: %s", cases[i].program, status, errors());
        const char *told = strstr(errors(), cases[i].cause);
        if (told == NULL)
            fail_msg("%s: no \"%s\" in \"%s\"", cases[i].program, cases[i].cause, errors());
        if (strstr(told, "was not rewritten") != NULL)
            fail_msg("%s: told twice: \"%s\"", cases[i].program, errors());
    }
}

/* What an earlier run was told of the compiler's macros is checked before anything is built by it.
 */
static void test_other_macros(void **state)
{
    (void)state;
    static const struct {
        const char *macro, *told;
    } runs[] = {{"NONE=", "1 possible, 0 kept"},
                {"MADE_UP_MACRO=1", "predefines other macros than were assumed"},
                {"MADE_UP_MACRO=1", "1 possible, 0 kept"}};
    char source[128], cache[128];
    snprintf(source, sizeof source, "%s", in_folder("source.cl"));
    snprintf(cache, sizeof cache, "%s", in_folder("macros"));
    write_file(source, "typedef struct { float x, y; } P;\n"
                       "#ifdef MADE_UP_MACRO\n#define W 2\n#else\n#define W 1\n#endif\n"
                       "kernel void f(global P *a) { a->x = W; }\n");
    for (size_t i = 0; i < sizeof runs / sizeof runs[0]; i++) {
        assert_int_equal(
            exit_status(run("env OPENCL_LAYERS=%s SOURCE=%s XDG_CACHE_HOME=%s %s %s run "
                            "--policy asta -- %s of-file",
                            MADE_UP_GPU, source, cache, runs[i].macro, RESTRIDE_PROGRAM,
                            CASES_PROGRAM)),
            0);
        if (strstr(errors(), runs[i].told) == NULL)
            fail_msg("run %zu: %s", i, errors());
    }
}

/* A kernel that the program does not launch, and that could not change anyway, is kept for that. */
static void test_causes_of_idle_kernels(void **state)
{
    (void)state;
    char source[128];
    snprintf(source, sizeof source, "%s", in_folder("source.cl"));
    write_file(source, "typedef struct { short k; float x, y; } P;\n"
                       "kernel void f(global P *a) { *(global int *)a = 1; }\n"
                       "kernel void g(global P *a) { a->x = 1; }\n");
    assert_int_equal(exit_status(run("env SOURCE=%s %s run --policy asta --report %s -- %s of-file",
                                     source, RESTRIDE_PROGRAM, report_path, CASES_PROGRAM)),
                     0);
    json_t *loaded = report();
    assert_null(json_object_get(kernel_of(loaded, "f"), "held_reason"));
    assert_string_equal(argument_word(kernel_of(loaded, "f"), 0, "status"), "kept");
    assert_string_equal(argument_word(kernel_of(loaded, "g"), 0, "status"), "possible");
    assert_string_equal(json_string_value(json_object_get(kernel_of(loaded, "g"), "held_reason")),
                        "the kernel was not launched");
    json_t *cause = json_array_get(json_object_get(loaded, "causes"), 0);
    assert_string_equal(json_string_value(json_object_get(cause, "kept")), "argument");
    assert_string_equal(json_string_value(json_object_get(cause, "place")), "program-2.cl:2");
    assert_int_equal(number_of(cause, "count"), 1);
    json_decref(loaded);
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_cases),
        cmocka_unit_test(test_no_device),
        cmocka_unit_test(test_refusals),
        cmocka_unit_test(test_binaries),
        cmocka_unit_test(test_parts),
        cmocka_unit_test(test_times_of_plans),
        cmocka_unit_test(test_causes),
        cmocka_unit_test(test_other_macros),
        cmocka_unit_test(test_causes_of_idle_kernels),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
