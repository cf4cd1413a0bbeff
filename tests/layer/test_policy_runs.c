/*
 * Policy auto in the layer, with programs on a made-up GPU: it converts only what pays, measures,
 * keeps the better, remembers it, and never changes a result.
 */
#include "cmocka_all.h"

#include "base/folder.h"

#include <jansson.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static char folder[] = "/tmp/restride-policy-XXXXXX";

static int run_program(const char *times, const char *variables, const char *options,
                       const char *arguments)
{
    char command[4096];
    snprintf(command, sizeof command,
             "cd %s && RESTRIDE_WISDOM=%s/wisdom.json MADE_UP_TIMES='%s' %s %s%s %s run %s "
             "--report report.json -- %s %s 2>errors",
             folder, folder, times, variables, times[0] != '\0' ? "OPENCL_LAYERS=" : "",
             times[0] != '\0' ? MADE_UP_GPU : "", RESTRIDE_PROGRAM, options, SEQUENCE_PROGRAM,
             arguments);
    int status = system(command);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

typedef struct {
    long timed, untimed, builds;
} tally;

static tally read_tally(void)
{
    tally seen = {-1, -1, -1};
    char path[64];
    snprintf(path, sizeof path, "%s/tally", folder);
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    assert_int_equal(fscanf(file, "%ld %ld %ld", &seen.timed, &seen.untimed, &seen.builds), 3);
    fclose(file);
    return seen;
}

static void forget(void)
{
    char path[64];
    snprintf(path, sizeof path, "%s/wisdom.json", folder);
    unlink(path);
}

/* At the end of the program no launch wanted the rewritten form, or it is in the compiler with the
 * conversions, or there: nothing is begun any more, and what was begun ends first. The made-up
 * compiler ends the process with another status if it is at work when its own exit function comes.
 */
static void test_compilers_end_after_all_builds(void **state)
{
    (void)state;
    static const struct {
        const char *commands; /* a build takes three tenths of a second */
        long least, most;     /* builds: the program's, the rewritten one, and conversions */
    } cases[] = {{"x", 1, 1}, {"lfllx", 2, 9}, {"lfllzzzzzzx", 2, 9}};
    enum { TENTHS = 220 }; /* so much of the program's time that a build is little of it */
    char commands[TENTHS + 20] = "w";
    memset(commands + 1, 'z', TENTHS);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        forget();
        strcpy(commands + 1 + TENTHS, cases[i].commands);
        assert_int_equal(run_program("grow 1000 100", "MADE_UP_COMPILER=1 MADE_UP_TALLY=tally",
                                     "--policy auto", commands),
                         0);
        assert_in_range(read_tally().builds, cases[i].least, cases[i].most);
    }
}

static json_t *load_report(void)
{
    char path[64];
    snprintf(path, sizeof path, "%s/report.json", folder);
    json_t *report = json_load_file(path, 0, NULL);
    assert_non_null(report);
    return report;
}

typedef struct {
    long launches, transformed, conversions; /* of "grow", of "grow", of all */
    long shrink_transformed;
    char reason[256];
    bool is_held; /* there is a reason why launches of "grow" were not transformed */
} outcome;

/* Without options: as most programs run, in queues without profiling and with no times in the
 * report. */
static int run_plainly(const char *times, const char *arguments)
{
    char command[4096];
    snprintf(command, sizeof command,
             "cd %s && mkdir facts && MADE_UP_TALLY=tally RESTRIDE_WISDOM=%s/wisdom.json "
             "MADE_UP_TIMES='%s' "
             "OPENCL_LAYERS=%s:%s RESTRIDE_REWRITER=%s RESTRIDE_REPORT_FOLDER=facts %s %s 2>errors "
             "&& mv facts/*.json report.json && rmdir facts",
             folder, folder, times, MADE_UP_GPU, LAYER_PATH, REWRITER, SEQUENCE_PROGRAM, arguments);
    int status = system(command);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static outcome run(const char *times, const char *options, const char *arguments)
{
    outcome seen = {0};
    if (times[0] != '\0' && options[0] == '\0')
        assert_int_equal(run_plainly(times, arguments), 0);
    else
        assert_int_equal(run_program(times, "", options, arguments), 0);
    json_t *report = load_report();
    size_t i;
    json_t *kernel;
    seen.conversions =
        (long)json_integer_value(json_object_get(json_object_get(report, "marshal"), "count"));
    json_array_foreach(json_object_get(report, "kernels"), i, kernel)
    {
        if (strcmp(json_string_value(json_object_get(kernel, "name")), "shrink") == 0)
            seen.shrink_transformed =
                (long)json_integer_value(json_object_get(kernel, "transformed_launches"));
        if (strcmp(json_string_value(json_object_get(kernel, "name")), "grow") != 0)
            continue;
        const json_t *policy = json_object_get(kernel, "policy");
        const char *reason = json_string_value(json_object_get(policy, "reason"));
        seen.is_held = json_object_get(kernel, "held_reason") != NULL;
        seen.launches = (long)json_integer_value(json_object_get(kernel, "launches"));
        seen.transformed =
            (long)json_integer_value(json_object_get(kernel, "transformed_launches"));
        snprintf(seen.reason, sizeof seen.reason, "%s", reason != NULL ? reason : "");
    }
    json_decref(report);
    return seen;
}

/* How many launches were in another layout. */
static void assert_transformed(outcome seen, long least, long most)
{
    if (seen.transformed < least || seen.transformed > most)
        fail_msg("%ld of %ld launches transformed, not %ld to %ld; %ld conversions, %s",
                 seen.transformed, seen.launches, least, most, seen.conversions, seen.reason);
}

#define FAST "grow 300 60, aos_to_asta 90 90, asta_to_aos 90 90"
#define SLOW "grow 300 900, aos_to_asta 90 90, asta_to_aos 90 90"
#define DEAR "grow 300 60, aos_to_asta 9000 9000, asta_to_aos 9000 9000"
#define BRIEF "grow 10 2, aos_to_asta 30 30, asta_to_aos 30 30"
#define LARGE " 32768" /* records: 2 MiB, so that conversions count as measured */

static void test_cpu_stays_as_it_is(void **state)
{
    (void)state;
    forget();
    outcome seen = run("", "", "wzzzzzzzzzzllllllllllllr");
    assert_int_equal(seen.launches, 12);
    assert_transformed(seen, 0, 0);
    assert_int_equal(seen.conversions, 0);
    assert_non_null(strstr(seen.reason, "nothing is to be gained"));
}

static void write_config(const char *text)
{
#ifndef HAVE_CONFIG
    skip();
#endif
    char path[64];
    snprintf(path, sizeof path, "%s/config.ini", folder);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fputs(text, file);
    fclose(file);
}

/* Where no kernel can gain, its device's compiler does not see a second program. */
static void test_only_what_may_gain_is_built(void **state)
{
    (void)state;
    static const char cpu[] = "MADE_UP_CPU=1 MADE_UP_TALLY=tally";
    static const char gpu[] = "MADE_UP_TALLY=tally";
    forget();
    assert_int_equal(run_program(FAST, cpu, "--policy auto", "wzzzlllr" LARGE), 0);
    assert_int_equal(read_tally().builds, 1);
    assert_int_equal(run_program(FAST, cpu, "--policy asta", "wzzzlllr" LARGE), 0);
    assert_in_range(read_tally().builds, 3, 9); /* the rewritten program, and conversions */
    assert_int_equal(run_program(FAST, gpu, "--policy auto", "wzzzlllr" LARGE), 0);
    assert_in_range(read_tally().builds, 3, 9);
    write_config("[grow]\n.policy = asta\n");
    assert_int_equal(run_program(FAST, cpu, "--policy auto --config config.ini", "wzzzlllr" LARGE),
                     0);
    assert_in_range(read_tally().builds, 3, 9);
}

static void test_faster_form_is_kept_and_remembered(void **state)
{
    (void)state;
    forget();
    outcome seen = run(FAST, "", "wzzzzzzzzzzlflflflllllllllr" LARGE);
    assert_int_equal(seen.launches, 12);
    assert_transformed(seen, 8, 11); /* the first is in the program's own layout */
    assert_int_equal(seen.conversions, 2);
    assert_non_null(strstr(seen.reason, "measured to be faster"));
    seen = run(FAST, "", "wzzzzzzzzzzlflflflllllllllr" LARGE);
    assert_transformed(seen, 12, 12);
    /* 240 us are gained, 180 paid. */
    seen = run(FAST, "", "wzzzzzlr" LARGE);
    assert_transformed(seen, 1, 1);
    /* The compiler is not waited for. */
    seen = run(FAST, "", "wlr" LARGE);
    assert_transformed(seen, 0, 0);
}

static void test_slower_form_is_left(void **state)
{
    (void)state;
    forget();
    outcome seen = run(SLOW, "", "wzzzzzzzzzzlflflfllllllllllllllllr" LARGE);
    assert_transformed(seen, 1, 4);
    assert_int_equal(seen.conversions, 2);
    assert_non_null(strstr(seen.reason, "measured to be no faster"));
    seen = run(SLOW, "", "wzzzzzzzzzzlflflfllllllllllllllllr" LARGE);
    assert_transformed(seen, 0, 0);
    assert_int_equal(seen.conversions, 0);
}

/* Three hundred launches take three milliseconds: a trial would take half of one. */
static void test_short_launches_are_not_tried_at_once(void **state)
{
    (void)state;
    char commands[400] = "wzzzzzzzzzz";
    forget();
    memset(commands + 11, 'l', 301);
    commands[11 + 250] = 'f';
    strcpy(commands + 312, "r" LARGE);
    outcome seen = run(BRIEF, "", commands);
    assert_int_equal(seen.launches, 300);
    assert_transformed(seen, 0, 0);
    assert_int_equal(seen.conversions, 0);
    assert_non_null(strstr(seen.reason, "a trial would cost too much"));
}

/* Ten milliseconds a run: the second run has seen enough of them. */
static void test_short_launches_are_tried_in_later_runs(void **state)
{
    (void)state;
    char commands[1100] = "wzzzzzzzzzz";
    forget();
    memset(commands + 11, 'l', 1000);
    strcpy(commands + 1011, "r" LARGE);
    assert_transformed(run(BRIEF, "", commands), 0, 0);
    /* On a busy machine the first run may know its times too late to say what the second should
     * build at once. What is built beside its launches is done after a sleep. */
    char with_sleeps[sizeof commands];
    memcpy(with_sleeps, commands, sizeof commands);
    for (int i = 1; i < 5; i++)
        with_sleeps[11 + 200 * i] = 'z';
    outcome seen = run(BRIEF, "", with_sleeps);
    assert_transformed(seen, 2, 990);
    assert_non_null(strstr(seen.reason, "measured to be faster"));
    assert_transformed(run(BRIEF, "", commands), 1000, 1000);
}

/* Three tenths of a millisecond a run, by small buffers: no launch is timed. In one and a half one
 * is, when the kernel has taken enough. That is remembered, and after four more runs the first
 * launch is timed at once. Where launches have become long, the next run knows at least. */
static void test_short_kernels_are_remembered(void **state)
{
    (void)state;
    static const struct {
        size_t launches;
        long timed;
    } runs[] = {{30, 0}, {30, 0}, {150, 1}, {30, 0}, {30, 0}, {30, 0}, {30, 0}, {30, 1}, {30, 0}};
    forget();
    for (size_t i = 0; i < sizeof runs / sizeof runs[0]; i++) {
        char commands[300] = "wzzz";
        memset(commands + 4, 'l', runs[i].launches);
        strcpy(commands + 4 + runs[i].launches, "r" LARGE);
        assert_transformed(run(BRIEF, "", commands), 0, 0);
        if (read_tally().timed != runs[i].timed)
            fail_msg("run %zu: %ld launches timed", i, read_tally().timed);
    }
    char commands[300] = "wzzz";
    memset(commands + 4, 'l', 100);
    strcpy(commands + 104, "r" LARGE);
    static const char longer[] = "grow 10000 2000, aos_to_asta 30 30, asta_to_aos 30 30";
    assert_transformed(run(longer, "", commands), 0, 99); /* by when its time is seen */
    assert_transformed(run(longer, "", commands), 90, 100);
}

static void test_dear_conversions_are_not_paid_for_few_launches(void **state)
{
    (void)state;
    forget();
    /* Learns what a conversion costs. */
    outcome seen = run(DEAR, "", "wzzzzzzzzzzlflflfllllllllllr" LARGE);
    assert_transformed(seen, 1, 12);
    seen = run(DEAR, "", "wlrwlrwlrwlrwlr" LARGE);
    assert_transformed(seen, 0, 0);
    assert_non_null(strstr(seen.reason, "would not pay"));
    assert_int_equal(seen.conversions, 0);
}

/* Another use between two launches takes the layout away each time. */
static void test_uses_in_between_count(void **state)
{
    (void)state;
    forget();
    outcome seen = run(DEAR, "", "wzzzzzzzzzzlslslslslslslslslslslslslslslslslslslslslr" LARGE);
    assert_transformed(seen, 0, 2);
}

/* Another kernel finds the buffer converted. */
static void test_kernels_in_turn(void **state)
{
    (void)state;
    static const struct {
        const char *times;
        long least_transformed, most_transformed, most_shrink_transformed, most_conversions;
    } cases[] = {
        /* It is so slow there that the first one's gain is lost: both keep the program's layout. */
        {"grow 1000 500, shrink 1000 3000, aos_to_asta 300 300, asta_to_aos 300 300", 1, 60, 10,
         12},
        {"grow 1000 500, shrink 1000 1200, aos_to_asta 900 900, asta_to_aos 900 900", 1, 60, 20,
         12},
        /* It loses nothing, and the conversions between would cost more: both use the other. */
        {"grow 1000 500, shrink 1000 1000, aos_to_asta 900 900, asta_to_aos 900 900", 90, 120, 100,
         8},
    };
    char commands[600] = "wzlflflflllllllllllllllf";
    for (int i = 0; i < 100; i++)
        strcat(commands, "ltf");
    strcat(commands, LARGE);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        forget();
        outcome seen = run(cases[i].times, "", commands);
        if (seen.transformed < cases[i].least_transformed ||
            seen.transformed > cases[i].most_transformed ||
            seen.shrink_transformed > cases[i].most_shrink_transformed ||
            seen.conversions > cases[i].most_conversions)
            fail_msg("%s: %ld and %ld launches transformed, %ld conversions (%s)", cases[i].times,
                     seen.transformed, seen.shrink_transformed, seen.conversions, seen.reason);
    }
}

/* What was true of an earlier run is timed again. */
static void test_old_wisdom_is_corrected(void **state)
{
    (void)state;
    char commands[600] = "wz";
    forget();
    outcome seen = run(FAST, "", "wzzzzzzzzzzlflflflllllllllr" LARGE);
    assert_non_null(strstr(seen.reason, "measured to be faster"));
    for (int i = 0; i < 200; i++)
        strcat(commands, "lf");
    strcat(commands, LARGE);
    seen = run(SLOW, "", commands);
    assert_transformed(seen, 0, 120);
    assert_non_null(strstr(seen.reason, "measured to be no faster"));
}

static void test_forced_policies(void **state)
{
    (void)state;
    forget();
    outcome seen = run(SLOW, "--policy asta", "wlllr" LARGE);
    assert_transformed(seen, 3, 3);
    assert_false(seen.is_held); /* but the first one waited for conversions that were being built */
    seen = run(FAST, "--policy off", "wlllr" LARGE);
    assert_transformed(seen, 0, 0);
}

static void test_configuration(void **state)
{
    (void)state;
    forget();
    write_config("[grow]\n.policy = asta\n");
    assert_transformed(run(SLOW, "--config config.ini", "wlllr" LARGE), 3, 3);
    write_config("policy = asta\n[grow]\n.policy = off\n");
    assert_transformed(run(FAST, "--config config.ini", "wlllr" LARGE), 0, 0);
    write_config("policy = asta\n");
    assert_transformed(run(SLOW, "--config config.ini", "wlllr" LARGE), 3, 3);
    assert_transformed(run(SLOW, "--config config.ini --policy off", "wlllr" LARGE), 0, 0);
    write_config("policy = asta\n[grow]\nitems = i f\n");
    assert_transformed(run(FAST, "--config config.ini", "wlllr" LARGE), 0, 0);
    static const char *const wrong[] = {"policy = soon\n", "[grow]\n.speed = 3\n", "[grow\n"};
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        write_config(wrong[i]);
        assert_int_equal(run_program("", "", "--config config.ini", "w"), 2);
    }
}

/* Two seconds are expected for plans: launches of together six are not worth the risk, but those of
 * a quarter of an hour are. The plans are made beside the program. */
static void test_plans_count(void **state)
{
    (void)state;
    char commands[256] = "w";
    write_config("[grow]\nitems = f i\n");
    memset(commands + 1, 'l', 60);
    commands[2] = 'f'; /* so it is known that they are long */
    strcpy(commands + 61, "r" LARGE);
    forget();
    outcome seen = run("grow 100000 10000", "--config config.ini", commands);
    assert_transformed(seen, 0, 0);
    assert_int_equal(seen.conversions, 0);
    assert_non_null(strstr(seen.reason, "a trial would cost too much"));
    for (int i = 41; i < 201; i += 2)
        commands[i] = 'z';
    for (int i = 42; i < 201; i += 2)
        commands[i] = 'l';
    strcpy(commands + 201, "r" LARGE);
    forget();
    seen = run("grow 20000000 2000000", "--config config.ini", commands);
    assert_transformed(seen, 1, 119); /* of 120; the own kernel is timed first */
}

/* ---- launches that are timed on a queue of the layer's own ---- */

/* The rewriter's answers are there at first, for a run that measures for a report waits for them:
 * the made-up clock does not see a process that is no child. */
static tally run_profiled(const char *name, const char *microseconds)
{
    char command[4096];
    snprintf(command, sizeof command,
             "cd %s && mkdir facts && RESTRIDE_REPORT_TIMES=1 RESTRIDE_REPORT_FOLDER=facts "
             "MADE_UP_TIMES='grow 10 10' RESTRIDE_WISDOM= RESTRIDE_REWRITER=%s "
             "OPENCL_LAYERS=%s:%s %s %s >errors 2>&1; rm -r facts",
             folder, REWRITER, MADE_UP_GPU, LAYER_PATH, PROFILED_LAUNCHES_PROGRAM, name);
    assert_int_equal(system(command), 0);
    snprintf(
        command, sizeof command,
        "cd %s && mkdir facts && MADE_UP_TIMES='grow %s, aos_to_asta 50 50, asta_to_aos 50 50' "
        "MADE_UP_TALLY=tally RESTRIDE_REPORT_FOLDER=facts RESTRIDE_WISDOM= "
        "RESTRIDE_REWRITER=%s OPENCL_LAYERS=%s:%s %s %s 2>errors "
        "&& mv facts/*.json report.json && rmdir facts || { cat errors; ls facts; exit 1; } >&2",
        folder, microseconds, REWRITER, MADE_UP_GPU, LAYER_PATH, PROFILED_LAUNCHES_PROGRAM, name);
    int status = system(command);
    if (!WIFEXITED(status) || WEXITSTATUS(status) != 0)
        fail_msg("%s: status %d", name, status);
    return read_tally();
}

/* Whether the report of the last such run has the words. */
static bool was_told(const char *words)
{
    char command[256];
    snprintf(command, sizeof command, "grep -q '%s' %s/report.json", words, folder);
    return system(command) == 0;
}

/* Conversions are launches too; with them, only few are timed. */
static void test_timed_launches_change_nothing(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        long least, most;
    } cases[] = {{"in-order", 2, 12},    {"out-of-order", 0, 0}, {"events", 2, 12},
                 {"other-events", 1, 8}, {"threads", 1, 12},     {"no-queue", 0, 0},
                 {"no-marker", 0, 0},    {"no-barrier", 2, 12},  {"no-kernel", 1, 3}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        tally seen = run_profiled(cases[i].name, "300 60");
        if (seen.timed < cases[i].least || seen.timed > cases[i].most || seen.untimed < 2)
            fail_msg("%s: %ld launches with times, %ld without", cases[i].name, seen.timed,
                     seen.untimed);
        assert_int_equal(was_told("launches on this queue cannot be timed"),
                         strcmp(cases[i].name, "out-of-order") == 0);
    }
}

/* Where no launch is worth a trial the program's own kernels alone are built, and in the next runs
 * too. */
static void test_no_compiler_beside_launches(void **state)
{
    (void)state;
    assert_int_equal(run_profiled("other-events", "10 9").builds, 1);
    assert_int_equal(run_profiled("events", "10 9").builds, 1);
    forget();
    for (int i = 0; i < 3; i++) {
        assert_transformed(run(BRIEF, "", "wzzzlllr" LARGE), 0, 0);
        assert_int_equal(read_tally().builds, 1);
    }
    /* The conversions between its launches would cost more than they gain, as the first run finds
     * out and the second has it still that they may not. */
    for (int i = 0; i < 4; i++) {
        assert_transformed(run(DEAR, "", "wlrwlrwlrwlrwlr" LARGE), 0, i < 1);
        assert_in_range(read_tally().builds, 1, i < 2 ? 9 : 1);
    }
}

/* A source that tests macros has the compiler entered only before its rewritten form is built, and
 * what was assumed wrongly stops that form, until the next run. */
static void test_macros_are_assumed(void **state)
{
    (void)state;
    static const struct {
        const char *tested;
        long first, second; /* launches transformed, at least */
    } cases[] = {{"OWN_WORD", 8, 12}, {"MADE_UP_MACRO", 0, 8}};
    char cache[64], macros[96], *before = getenv("XDG_CACHE_HOME");
    before = before != NULL ? strdup(before) : NULL;
    snprintf(cache, sizeof cache, "%s/cache", folder);
    snprintf(macros, sizeof macros, "%s/restride/macros", cache);
    setenv("XDG_CACHE_HOME", cache, 1);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        setenv("TESTED_MACRO", cases[i].tested, 1);
        unsetenv("MADE_UP_MACRO"); /* the rewriter answers what will be assumed */
        run(BRIEF, "--policy auto", "w" LARGE);
        setenv("MADE_UP_MACRO", "1", 1);
        rs_folder_remove(strdup(macros));
        forget();
        assert_transformed(run(BRIEF, "", "wzzzlllr" LARGE), 0, 0);
        assert_int_equal(read_tally().builds, 1);
        forget();
        assert_transformed(run(FAST, "", "wzzzzzzzzzzlflflflllllllllr" LARGE), cases[i].first,
                           cases[i].first > 0 ? 11 : 0);
        run(BRIEF, "--policy auto", "w" LARGE); /* with other macros it is asked again */
        assert_transformed(run(FAST, "", "wzzzzzzzzzzlflflflllllllllr" LARGE), cases[i].second, 12);
    }
    unsetenv("TESTED_MACRO");
    unsetenv("MADE_UP_MACRO");
    if (before != NULL)
        setenv("XDG_CACHE_HOME", before, 1);
    else
        unsetenv("XDG_CACHE_HOME");
    free(before);
}

/* On a CPU a kernel that uses all of a record gains nothing by itself, but it finds the buffer as
 * another program's kernel has had it converted; brought back each time, that would pay nothing. */
static void test_programs_share_a_layout(void **state)
{
    (void)state;
    setenv("MADE_UP_CPU", "1", 1);
    tally seen = run_profiled("two-programs", "10 10, some 1000 500, whole 1000 1000");
    unsetenv("MADE_UP_CPU");
    assert_int_equal(seen.builds, 7); /* three of the program's, two rewritten, two conversions */
    json_t *report = load_report();
    assert_in_range(
        json_integer_value(json_object_get(json_object_get(report, "marshal"), "count")), 2, 8);
    json_decref(report);
}

/* ---- what a launch costs the host ---- */

static int clean_up(void **state)
{
    (void)state;
    rs_folder_remove(strdup(folder));
    return 0;
}

static int make_folder(void **state)
{
    (void)state;
    return mkdtemp(folder) == NULL;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_cpu_stays_as_it_is),
        cmocka_unit_test(test_only_what_may_gain_is_built),
        cmocka_unit_test(test_faster_form_is_kept_and_remembered),
        cmocka_unit_test(test_slower_form_is_left),
        cmocka_unit_test(test_short_launches_are_not_tried_at_once),
        cmocka_unit_test(test_short_launches_are_tried_in_later_runs),
        cmocka_unit_test(test_short_kernels_are_remembered),
        cmocka_unit_test(test_dear_conversions_are_not_paid_for_few_launches),
        cmocka_unit_test(test_uses_in_between_count),
        cmocka_unit_test(test_kernels_in_turn),
        cmocka_unit_test(test_old_wisdom_is_corrected),
        cmocka_unit_test(test_forced_policies),
        cmocka_unit_test(test_compilers_end_after_all_builds),
        cmocka_unit_test(test_timed_launches_change_nothing),
        cmocka_unit_test(test_no_compiler_beside_launches),
        cmocka_unit_test(test_macros_are_assumed),
        cmocka_unit_test(test_programs_share_a_layout),
        cmocka_unit_test(test_configuration),
        cmocka_unit_test(test_plans_count),
    };
    return cmocka_run_group_tests(tests, make_folder, clean_up);
}
