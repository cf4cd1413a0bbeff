/* `restride run`: whatever is wrong with Restride's own part, the program runs. */
#include "runs.h"

#include <stdio.h>
#include <string.h>

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
    assert_non_null(strstr(errors(), "; chmod +x makes a program executable.\n"));
    assert_int_equal(exit_status(run("%s run -- nosuchprogram", RESTRIDE_PROGRAM)), 127);
    assert_non_null(strstr(errors(), "; write its folder too, as in ./NAME."));
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
    assert_int_equal(exit_status(run("%s run --report 1.json --report 2.json --report 3.json "
                                     "--report 4.json --report 5.json -- true",
                                     RESTRIDE_PROGRAM)),
                     2);
    assert_non_null(strstr(errors(), "--report takes at most 4 files; leave out 5.json."));
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

/* Where the rewriter is slower than the program, the first line says so, also of kernels that the
 * program has released. */
static void test_slow_rewriter(void **state)
{
    (void)state;
    char path[128];
    snprintf(path, sizeof path, "%s", in_folder("slow"));
    write_file(path, "#!/bin/sh\nsleep 4\n");
    assert_int_equal(exit_status(run("sh -c 'chmod +x %s'", path)), 0);
    assert_int_equal(
        exit_status(run("env XDG_CACHE_HOME=%s %s run -- env RESTRIDE_REWRITER=%s %s wlr",
                        in_folder("cache"), RESTRIDE_PROGRAM, path, SEQUENCE_PROGRAM)),
        0);
    assert_non_null(strstr(errors(), "; 1 program kept: the program ended before the rewriter had "
                                     "answered; the next run has its answer.\n"));
    assert_null(strstr(errors(), "has not answered yet"));
}

/* A process without an end leaves what it had counted when it last waited, if that was long enough
 * ago, and else no zeros. */
static void test_program_without_an_end(void **state)
{
    (void)state;
    assert_int_equal(exit_status(run("%s run --policy asta --report %s -- %s wlle",
                                     RESTRIDE_PROGRAM, report_path, SEQUENCE_PROGRAM)),
                     0);
    assert_non_null(strstr(errors(), "what it launched and converted is not known"));
    assert_null(strstr(errors(), "0 launches"));
    json_t *loaded = report(), *grow = kernel_of(loaded, "grow");
    assert_int_equal(number_of(loaded, "unfinished"), 1);
    assert_int_equal(number_of(loaded, "uncounted"), 1);
    assert_null(json_object_get(grow, "launches"));
    assert_string_equal(argument_word(grow, 0, "status"), "possible");
    json_decref(loaded);
    assert_int_equal(exit_status(run("%s run --policy asta -- sh -c '%s wllf && %s wle'",
                                     RESTRIDE_PROGRAM, SEQUENCE_PROGRAM, SEQUENCE_PROGRAM)),
                     0);
    assert_non_null(strstr(errors(), "; 2 launches, "));
    assert_non_null(strstr(errors(), "1 of 2 processes with OpenCL or CUDA ended without"));
    assert_int_equal(
        exit_status(
            run("%s run --policy asta --report %s -- %s wzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzllfle",
                RESTRIDE_PROGRAM, report_path, SEQUENCE_PROGRAM)),
        0);
    assert_non_null(strstr(errors(), "1 kernel argument in the ASTA layout, "));
    assert_non_null(strstr(errors(), "; 2 launches, 1 conversion of "));
    assert_non_null(
        strstr(errors(), " s after its first call of OpenCL or CUDA is not counted.\n"));
    loaded = report();
    assert_int_equal(number_of(loaded, "uncounted"), 0);
    assert_null(json_object_get(kernel_of(loaded, "plain"), "launches"));
    assert_string_equal(argument_word(kernel_of(loaded, "grow"), 0, "status"), "transformed");
    json_decref(loaded);
}

static const char until_loaded[] = "until ls $RESTRIDE_REPORT_FOLDER/*.json; do sleep 0.01; done";

/* The signal that ended the program itself is told by its number and name. */
static void test_program_ended_by_a_signal(void **state)
{
    (void)state;
    assert_int_equal(
        exit_status(run("exec %s run --policy asta --report %s -- sh -c "
                        "'(%s; kill -TERM $$) & exec %s wllzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzz'",
                        RESTRIDE_PROGRAM, report_path, until_loaded, SEQUENCE_PROGRAM)),
        1000 + 15);
    assert_non_null(strstr(errors(), "The program was ended by signal 15 (Terminated): what it "));
    assert_null(strstr(errors(), "_exit"));
    json_t *loaded = report();
    assert_int_equal(number_of(loaded, "signalled"), 1);
    json_decref(loaded);
}

/* A process that goes on beside the command, or as another program, has not ended. */
static void test_program_that_goes_on(void **state)
{
    (void)state;
    assert_int_equal(
        exit_status(
            run("%s run --policy asta --report %s -- sh -c '%s wlzzzzzzzzzzzzzzzzzzzz & %s'",
                RESTRIDE_PROGRAM, report_path, SEQUENCE_PROGRAM, until_loaded)),
        0);
    assert_non_null(strstr(errors(), "The program was still running when the command ended: what"));
    json_t *loaded = report();
    assert_int_equal(number_of(loaded, "running"), 1);
    json_decref(loaded);
    assert_int_equal(
        exit_status(run("%s run --policy asta -- %s wlywll", RESTRIDE_PROGRAM, SEQUENCE_PROGRAM)),
        0);
    assert_non_null(strstr(errors(), "; 2 launches, "));
    assert_non_null(strstr(errors(), "1 of 2 programs with OpenCL or CUDA ended without"));
    assert_non_null(
        strstr(errors(), "became another program (by exec), or could not write its report: "));
}

/* A process that writes its last part and ends just after an earlier one was read: a pipe gives one
 * after the other. */
static void test_program_that_ends_meanwhile(void **state)
{
    (void)state;
    char script[128];
    snprintf(script, sizeof script, "%s", in_folder("parts.sh"));
    FILE *file = fopen(script, "w");
    assert_non_null(file);
    fprintf(file, "pipe=$RESTRIDE_REPORT_FOLDER/1.json\n"
                  "mkfifo $pipe\n"
                  "{ echo '{\"at_end\": false}' >$pipe\n"
                  "  sleep 1\n"
                  "  echo '{\"at_end\": true}' | timeout 20 dd of=$pipe; } &\n");
    fclose(file);
    assert_int_equal(
        exit_status(run("%s run --report %s -- sh %s", RESTRIDE_PROGRAM, report_path, script)), 0);
    json_t *loaded = report();
    assert_int_equal(number_of(loaded, "processes"), 1);
    assert_int_equal(number_of(loaded, "unfinished"), 0);
    json_decref(loaded);
}

/* Where a process may write no large file, the time line alone is missing. */
static void test_program_with_small_files(void **state)
{
    (void)state;
    enum { LAUNCHES = 1500 };
    static char commands[LAUNCHES + 5] = "wu";
    memset(commands + 2, 'l', LAUNCHES);
    assert_int_equal(exit_status(run("%s wlsr", SEQUENCE_PROGRAM)),
                     0); /* the driver has its files */
    assert_int_equal(exit_status(run("%s run --policy off --report %s -- %s %s", RESTRIDE_PROGRAM,
                                     report_path, SEQUENCE_PROGRAM, commands)),
                     0);
    json_t *loaded = report();
    assert_int_equal(number_of(loaded, "unfinished"), 0);
    assert_int_equal(number_of(kernel_of(loaded, "grow"), "launches"), LAUNCHES);
    assert_int_equal(json_array_size(json_object_get(loaded, "timeline")), 0);
    json_decref(loaded);
    assert_non_null(strstr(errors(), "The time line was left out"));
}

/* In a namespace of processes without a /proc of its own the number of a process is another one's
 * there, which still runs. */
static void test_program_in_a_namespace(void **state)
{
    (void)state;
    if (exit_status(run("unshare -Urpf true")) != 0)
        skip();
    assert_int_equal(exit_status(run("%s run --report %s -- unshare -Urpf %s wllfe",
                                     RESTRIDE_PROGRAM, report_path, SEQUENCE_PROGRAM)),
                     0);
    json_t *loaded = report();
    assert_int_equal(number_of(loaded, "unfinished"), 1);
    assert_int_equal(number_of(loaded, "running"), 0);
    json_decref(loaded);
    assert_null(strstr(errors(), "still running"));
}

/* The device's compiler may end a program that may write no large files: nothing is built there. */
static void test_kernels_with_small_files(void **state)
{
    (void)state;
    static const char *const cases[][2] = {
        {"true", "wzzzzzzzzzzullsr"},
        {"ulimit -f 1000000", "wllsr"},
    };
    char caches[300];
    snprintf(caches, sizeof caches, "env POCL_CACHE_DIR=%s", in_folder("small/pocl"));
    snprintf(caches + strlen(caches), sizeof caches - strlen(caches), " XDG_CACHE_HOME=%s",
             in_folder("small/own"));
    assert_int_equal(exit_status(run("mkdir -p %s", in_folder("small/pocl"))), 0);
    assert_int_equal(exit_status(run("%s %s wlsr", caches, SEQUENCE_PROGRAM)), 0);
    for (size_t i = 0; i < 2; i++) {
        assert_int_equal(
            exit_status(run("%s %s run --policy asta --report %s -- sh -c '%s && exec %s %s'",
                            caches, RESTRIDE_PROGRAM, report_path, cases[i][0], SEQUENCE_PROGRAM,
                            cases[i][1])),
            0);
        assert_int_equal(transformed_launches(), 0);
        json_t *loaded = report();
        const json_t *grow = kernel_of(loaded, "grow");
        assert_int_equal(number_of(grow, "launches"), 2);
        assert_non_null(strstr(json_string_value(json_object_get(grow, "held_reason")),
                               "the program may write no large files"));
        json_decref(loaded);
    }
}

/* A process that becomes another program has two parts, and kernels of both may be of one name. */
static void test_labels_of_one_process(void **state)
{
    (void)state;
    assert_int_equal(exit_status(run("%s run --policy off --report %s -- %s wlfzzzlfywlfzzzlf",
                                     RESTRIDE_PROGRAM, report_path, SEQUENCE_PROGRAM)),
                     0);
    size_t i, j;
    json_t *loaded = report(), *kernel, *other, *kernels = json_object_get(loaded, "kernels");
    assert_int_equal(json_array_size(kernels), 6);
    assert_int_equal(number_of(loaded, "processes"), 1);
    assert_int_equal(number_of(loaded, "programs"), 2);
    json_array_foreach(kernels, i, kernel)
    {
        json_array_foreach(kernels, j, other)
        {
            assert_true(i == j || !json_equal(json_object_get(kernel, "label"),
                                              json_object_get(other, "label")));
        }
    }
    json_decref(loaded);
}

/* A kernel that is launched has its name in the report, however many others came before it. */
static void test_kernel_behind_many(void **state)
{
    (void)state;
    enum { BUILDS = 175 };
    char commands[BUILDS + 10] = "w";
    memset(commands + 1, 'i', BUILDS);
    strcpy(commands + 1 + BUILDS, "nllfir");
    assert_int_equal(exit_status(run("%s run --policy off --report %s -- %s %s", RESTRIDE_PROGRAM,
                                     report_path, SEQUENCE_PROGRAM, commands)),
                     0);
    json_t *loaded = report(), *kernel;
    size_t i;
    long launches = 0;
    json_array_foreach(json_object_get(loaded, "kernels"), i, kernel)
    {
        if (strcmp(json_string_value(json_object_get(kernel, "name")), "grow") == 0)
            launches += number_of(kernel, "launches");
    }
    assert_int_equal(launches, 2);
    json_decref(loaded);
}

/* What a forked child does is told, and what its parent did is not told again. Drivers need not
 * work in one. */
static void test_forked_child(void **state)
{
    (void)state;
    static const struct {
        const char *commands;
        long launches, kernels;
    } cases[] = {{"kwllr", 2, 3}, {"wlkllr", 3, 4}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        if (exit_status(run("env POCL_DEVICES=basic " LIMITED " %s %s", SEQUENCE_PROGRAM,
                            cases[i].commands)) != 0)
            skip();
        assert_int_equal(
            exit_status(run("env POCL_DEVICES=basic %s run --policy asta --report %s -- " LIMITED
                            " %s %s",
                            RESTRIDE_PROGRAM, report_path, SEQUENCE_PROGRAM, cases[i].commands)),
            0);
        json_t *loaded = report(), *kernel;
        size_t k;
        long launches = 0;
        json_array_foreach(json_object_get(loaded, "kernels"), k, kernel)
        {
            launches += number_of(kernel, "launches");
        }
        assert_int_equal(number_of(loaded, "processes"), 2);
        assert_int_equal(number_of(loaded, "unfinished"), 0);
        assert_int_equal(json_array_size(json_object_get(loaded, "kernels")), cases[i].kernels);
        assert_int_equal(launches, cases[i].launches);
        assert_int_equal(number_of(json_object_get(loaded, "marshal"), "count"), 2);
        assert_int_equal(json_array_size(json_object_get(loaded, "devices")), 1);
        json_decref(loaded);
    }
}

/* As programs do that write a title over it. */
static void test_overwritten_environment(void **state)
{
    (void)state;
    assert_int_equal(exit_status(run("%s run --policy asta --report %s -- %s wollr",
                                     RESTRIDE_PROGRAM, report_path, SEQUENCE_PROGRAM)),
                     0);
    assert_int_equal(transformed_launches(), 2);
}

/* The text of a file, which the next call overwrites. */
static const char *text_of(const char *path)
{
    static char text[1 << 20];
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    text[fread(text, 1, sizeof text - 1, file)] = '\0';
    fclose(file);
    return text;
}

/* A kernel is compared with the one of the same program, once; kernels of one name are told apart,
 * and the page, the JSON and standard error have the same speed-up. */
static void test_baseline_of_two_programs(void **state)
{
    (void)state;
    char baseline[128], page[128], expected[160];
    snprintf(baseline, sizeof baseline, "%s", in_folder("baseline.json"));
    snprintf(page, sizeof page, "%s", in_folder("page.html"));
    const char *run_it = "%s run %s --report %s --report %s -- %s wbllllllflfr 40000";
    assert_int_equal(exit_status(run(run_it, RESTRIDE_PROGRAM, "--policy off", baseline, page,
                                     SEQUENCE_PROGRAM)),
                     0);
    snprintf(expected, sizeof expected, "--policy asta --baseline %s", baseline);
    assert_int_equal(
        exit_status(run(run_it, RESTRIDE_PROGRAM, expected, report_path, page, SEQUENCE_PROGRAM)),
        0);
    size_t i;
    double before = 0;
    json_t *loaded = report(), *kernel;
    const json_t *compared = json_object_get(loaded, "baseline");
    json_array_foreach(json_object_get(loaded, "kernels"), i, kernel)
    {
        before += json_number_value(json_object_get(kernel, "baseline_seconds"));
    }
    assert_true(before > 0);
    assert_float_equal(json_number_value(json_object_get(compared, "kernel_seconds")), before, 0);
    const double speedup = json_number_value(json_object_get(compared, "speedup"));
    snprintf(expected, sizeof expected, "(%.2f times)", speedup);
    assert_non_null(strstr(errors(), expected));
    snprintf(expected, sizeof expected, "<b>%.2f×</b>kernels against the baseline", speedup);
    assert_non_null(strstr(text_of(page), expected));
    assert_non_null(strstr(text_of(page), ">grow (program 1)<"));
    assert_non_null(strstr(text_of(page), ">grow (program 2), baseline<"));
    assert_null(strstr(text_of(page), ">grow (program 1), baseline<"));
    json_decref(loaded);
    /* Without conversions nothing is paid back, whichever run was faster. */
    snprintf(expected, sizeof expected, "--policy off --baseline %s", baseline);
    assert_int_equal(
        exit_status(run(run_it, RESTRIDE_PROGRAM, expected, report_path, page, SEQUENCE_PROGRAM)),
        0);
    assert_null(strstr(errors(), "paid back"));
    assert_null(strstr(text_of(page), "paid back"));
}

/* Of runs with different numbers of launches the time of a launch is compared, and what is said of
 * launches counts those of the compared kernels alone. */
static void test_baseline_of_more_launches(void **state)
{
    (void)state;
    char baseline[128], page[128], text[64];
    snprintf(baseline, sizeof baseline, "%s", in_folder("baseline.json"));
    snprintf(page, sizeof page, "%s", in_folder("page.html"));
    static const char run_it[] = "env OPENCL_LAYERS=%s MADE_UP_TIMES='grow 400 80, shrink 100 100, "
                                 "aos_to_asta 520 520, asta_to_aos 520 520' %s run %s --report %s "
                                 "--report %s -- %s %s 32768";
    assert_int_equal(exit_status(run(run_it, MADE_UP_GPU, RESTRIDE_PROGRAM, "--policy off",
                                     baseline, page, SEQUENCE_PROGRAM, "wllllllllllllllllllllf")),
                     0);
    char options[200];
    snprintf(options, sizeof options, "--policy asta --baseline %s", baseline);
    assert_int_equal(exit_status(run(run_it, MADE_UP_GPU, RESTRIDE_PROGRAM, options, report_path,
                                     page, SEQUENCE_PROGRAM, "wllllttf")),
                     0);
    json_t *loaded = report();
    const json_t *compared = json_object_get(loaded, "baseline");
    assert_float_equal((float)json_number_value(json_object_get(compared, "kernel_seconds")),
                       1.6e-3F, 1e-7F);
    assert_float_equal(json_number_value(json_object_get(compared, "speedup")), 5, 1e-6);
    assert_int_equal(number_of(compared, "compared_launches"), 4);
    const double paid = json_number_value(json_object_get(compared, "paid_back_launches"));
    assert_float_equal(paid, 1040 / 320.0, 1e-6);
    assert_int_equal(number_of(kernel_of(loaded, "grow"), "baseline_launches"), 20);
    json_decref(loaded);
    assert_non_null(strstr(errors(), "(5.00 times); the conversions were paid back after 3.2 "));
    assert_non_null(strstr(errors(), "1 kernel has another number of timed launches than in the"));
    snprintf(text, sizeof text, "paid back after %.1f launches of 4", paid);
    assert_non_null(strstr(text_of(page), text));
}

/* A part that is written while launches are under way has the times of few of them: those alone are
 * compared. */
static void test_baseline_of_an_unfinished_run(void **state)
{
    (void)state;
    char baseline[128], page[128], text[160];
    snprintf(baseline, sizeof baseline, "%s", in_folder("baseline.json"));
    snprintf(page, sizeof page, "%s", in_folder("page.html"));
    static const char run_it[] = "%s run --policy off --report %s --report %s%s -- %s %s 1000000";
    assert_int_equal(
        exit_status(run(run_it, RESTRIDE_PROGRAM, baseline, page, "", SEQUENCE_PROGRAM, "wlllllr")),
        0);
    snprintf(text, sizeof text, " --baseline %s", baseline);
    assert_int_equal(exit_status(run(run_it, RESTRIDE_PROGRAM, report_path, page, text,
                                     SEQUENCE_PROGRAM, "wzzzzzzzzzzzzzzzzzzzzhe")),
                     0);
    json_t *loaded = report();
    const json_t *grow = kernel_of(loaded, "grow"), *compared = json_object_get(loaded, "baseline");
    const long timed = number_of(grow, "timed_launches");
    assert_int_equal(number_of(grow, "launches"), 20);
    assert_in_range(timed, 1, 19);
    assert_int_equal(number_of(grow, "baseline_launches"), 5);
    assert_int_equal(number_of(compared, "compared_launches"), timed);
    const double speedup = json_number_value(json_object_get(compared, "speedup"));
    assert_true(speedup > 0.1 && speedup < 10); /* by 20 launches it would be some 20 */
    snprintf(text, sizeof text, " s (%ld of 20), conversions ", timed);
    assert_non_null(strstr(errors(), text));
    snprintf(text, sizeof text, "in kernels (%ld of 20)<", timed);
    assert_non_null(strstr(text_of(page), text));
    json_decref(loaded);
}

/* Kernels of which no launch has a time are not compared. */
static void test_baseline_without_times(void **state)
{
    (void)state;
    char baseline[128];
    snprintf(baseline, sizeof baseline, "%s", in_folder("baseline.json"));
    FILE *file = fopen(baseline, "w");
    assert_non_null(file);
    fprintf(file, "{\"kernels\": [{\"name\": \"grow\", \"program\": 1, \"launches\": 9, "
                  "\"timed_launches\": 0, \"seconds\": 0.0}]}");
    fclose(file);
    assert_int_equal(exit_status(run("%s run --policy off --report %s --baseline %s -- %s wlr",
                                     RESTRIDE_PROGRAM, report_path, baseline, SEQUENCE_PROGRAM)),
                     0);
    assert_non_null(strstr(errors(), "1 kernel has no launch with a time in this run or in the"));
    assert_null(strstr(errors(), "against the baseline"));
}

/* Amounts have a fitting unit, and one is no plural. */
static void test_small_amounts(void **state)
{
    (void)state;
    assert_int_equal(exit_status(run("%s run --policy asta -- %s wlfx 1000", RESTRIDE_PROGRAM,
                                     SEQUENCE_PROGRAM)),
                     0);
    assert_non_null(strstr(errors(), "; 1 launch, 1 conversion of 64 kB in all.\n"));
    assert_int_equal(
        exit_status(run("%s run --policy off -- %s wlfx 1000", RESTRIDE_PROGRAM, SEQUENCE_PROGRAM)),
        0);
    assert_non_null(strstr(errors(), "; 1 launch, 0 conversions.\n"));
}

#ifdef HAVE_CONFIG
/* Names that nothing has are told; others are not. */
static void test_names_of_nothing(void **state)
{
    (void)state;
    write_config("[grow]\nitems = f i\nitens = f i\n[nosuch]\n.policy = off\nitems = f i\n"
                 "[*]\nother = f i\nitems = i/16 f i%16\n");
    assert_int_equal(exit_status(run("%s run --config %s --policy asta --report %s -- %s wllr",
                                     RESTRIDE_PROGRAM, config_path, report_path, SEQUENCE_PROGRAM)),
                     0);
    assert_non_null(strstr(errors(), "grow.itens: in the configuration, but no kernel here"));
    assert_non_null(strstr(errors(), "[nosuch]: in the configuration, but no kernel of this name"));
    assert_non_null(strstr(errors(), "restride: other: in the configuration"));
    assert_null(strstr(errors(), "items: in the configuration"));
    json_t *loaded = report();
    assert_int_equal(json_array_size(json_object_get(loaded, "notes")), 3);
    json_decref(loaded);
    assert_int_equal(exit_status(run("%s run --config %s -- true", RESTRIDE_PROGRAM, config_path)),
                     0);
    assert_null(strstr(errors(), "in the configuration"));
}
#endif

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_broken_rewriter),
        cmocka_unit_test(test_exit_status_and_signals),
        cmocka_unit_test(test_bad_usage),
        cmocka_unit_test(test_unwritable_report),
        cmocka_unit_test(test_program_without_opencl),
        cmocka_unit_test(test_slow_rewriter),
        cmocka_unit_test(test_program_without_an_end),
        cmocka_unit_test(test_program_ended_by_a_signal),
        cmocka_unit_test(test_program_that_goes_on),
        cmocka_unit_test(test_program_that_ends_meanwhile),
        cmocka_unit_test(test_program_with_small_files),
        cmocka_unit_test(test_program_in_a_namespace),
        cmocka_unit_test(test_kernels_with_small_files),
        cmocka_unit_test(test_labels_of_one_process),
        cmocka_unit_test(test_kernel_behind_many),
        cmocka_unit_test(test_forked_child),
        cmocka_unit_test(test_overwritten_environment),
        cmocka_unit_test(test_baseline_of_two_programs),
        cmocka_unit_test(test_baseline_of_more_launches),
        cmocka_unit_test(test_baseline_of_an_unfinished_run),
        cmocka_unit_test(test_baseline_without_times),
        cmocka_unit_test(test_small_amounts),
#ifdef HAVE_CONFIG
        cmocka_unit_test(test_names_of_nothing),
#endif
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
