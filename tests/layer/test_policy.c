/*
 * Policy auto, by itself with times that are made up, and in the layer on a made-up GPU: it
 * converts only what pays, measures, keeps the better, remembers it, and never changes a result.
 */
#include "cmocka_all.h"

#include "layer/policy.h"

#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/* ---- by itself ---- */

static rs_policy_knowledge knowing(double own, double moved, double ratio)
{
    rs_policy_knowledge known = {.predicted_ratio = ratio};
    for (int i = 0; i < RS_POLICY_SAMPLES; i++) {
        rs_policy_add_time(&known.own, own, 1);
        rs_policy_add_time(&known.moved, moved, 1);
    }
    return known;
}

static bool chooses(const rs_policy_knowledge *known, rs_policy_launch launch)
{
    if (launch.work_items <= 0)
        launch.work_items = 1;
    rs_policy_decision decision = rs_policy_decide(known, &launch);
    assert_non_null(decision.reason);
    return decision.rewritten;
}

static void test_median_of_the_last_samples(void **state)
{
    (void)state;
    rs_policy_times times = {.count = 0};
    assert_true(rs_policy_time(&times) == 0);
    const double seconds[] = {1000, 30, 10, 20, 40, 50};
    for (int i = 0; i < 6; i++)
        rs_policy_add_time(&times, seconds[i], 10);
    assert_true(fabs(rs_policy_time(&times) - 3) < 1e-12); /* of 1, 2, 3, 4, 5: 1000 is gone */
    rs_policy_add_time(&times, 0, 10);
    assert_int_equal(times.count, 6);
}

static void test_predictions(void **state)
{
    (void)state;
    static const struct {
        bool is_cpu;
        size_t record, used;
        double least, most;
    } cases[] = {
        {false, 16, 0, 1, 1},   {false, 20, 20, 1, 1},    {false, 32, 0, 2.5, 3},
        {false, 64, 64, 4, 5},  {false, 80, 0, 4.7, 5.5}, {false, 128, 0, 6, 7},
        {false, 1000, 0, 6, 7}, {false, 32, 4, 6, 10},    {false, 20, 4, 2, 3},
        {true, 64, 0, 1, 1},    {true, 128, 128, 1, 1},   {true, 32, 4, 1, 1},
        {true, 256, 8, 2, 20},  {false, 0, 0, 1, 1},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        double ratio = rs_policy_predict(cases[i].is_cpu, cases[i].record, cases[i].used, false);
        if (ratio < cases[i].least || ratio > cases[i].most)
            fail_msg("%zu of %zu bytes: %f", cases[i].used, cases[i].record, ratio);
    }
    assert_true(rs_policy_predict(false, 20, 20, true) > 1.2);
    assert_true(rs_policy_predict(false, 16, 16, true) < 1.1);
    assert_true(rs_policy_predict(true, 20, 20, true) < 1.1);
}

static void test_own_form_is_timed_first(void **state)
{
    (void)state;
    rs_policy_knowledge known = {.predicted_ratio = 4};
    assert_false(chooses(&known, (rs_policy_launch){.there_seconds = 1e-9}));
    assert_true(rs_policy_wants_time(&known, false, 1));
    /* Buffers that another kernel has had converted are used as they are. */
    assert_true(chooses(&known, (rs_policy_launch){.back_seconds = 1}));
    known.predicted_ratio = 1;
    assert_false(rs_policy_wants_time(&known, false, 0));
    assert_false(chooses(&known, (rs_policy_launch){.there_seconds = 1}));
    assert_true(chooses(&known, (rs_policy_launch){.back_seconds = 1}));
    /* Once it may have lost so much, they are brought back for it, there and back again. */
    known.moved_work_items = 3.9;
    rs_policy_add_time(&known.moved, 1, 1);
    assert_true(chooses(&known, (rs_policy_launch){.back_seconds = 1}));
    known.moved_work_items = 4.1;
    assert_false(chooses(&known, (rs_policy_launch){.back_seconds = 1}));
}

static void test_conversions_must_be_paid_back(void **state)
{
    (void)state;
    rs_policy_knowledge known = knowing(4, 1, 4); /* 3 s a launch are gained */
    assert_true(chooses(&known, (rs_policy_launch){.there_seconds = 1.4}));
    assert_false(chooses(&known, (rs_policy_launch){.there_seconds = 1.6}));
    /* After as many launches as would have paid for it, and when it was so the last time. */
    assert_false(chooses(&known, (rs_policy_launch){.there_seconds = 10, .run = 6}));
    assert_true(chooses(&known, (rs_policy_launch){.there_seconds = 10, .run = 7}));
    assert_true(chooses(&known, (rs_policy_launch){.there_seconds = 10, .previous_run = 7}));
    assert_false(
        chooses(&known, (rs_policy_launch){.there_seconds = 10, .run = 5, .previous_run = 7}));
    known.usual_run = 20;
    assert_true(chooses(&known, (rs_policy_launch){.there_seconds = 10}));
    assert_true(chooses(&known, (rs_policy_launch){.there_seconds = 10, .plan_seconds = 39}));
    assert_false(chooses(&known, (rs_policy_launch){.there_seconds = 10, .plan_seconds = 41}));
    assert_false(chooses(&known, (rs_policy_launch){.there_seconds = 10, .previous_run = 1}));
}

static void test_measurement_goes_before_prediction(void **state)
{
    (void)state;
    rs_policy_knowledge known = knowing(1, 1.2, 5);
    assert_false(chooses(&known, (rs_policy_launch){.run = 1000}));
    assert_false(chooses(&known, (rs_policy_launch){.back_seconds = 0.1, .run = 1000}));
    /* What is in another layout stays there if to go back costs more than it brings. */
    assert_true(chooses(&known, (rs_policy_launch){.back_seconds = 0.3, .run = 1}));
    /* One slow first run is no measurement yet. */
    known = (rs_policy_knowledge){.predicted_ratio = 4};
    rs_policy_add_time(&known.own, 1, 1);
    rs_policy_add_time(&known.moved, 5, 1);
    assert_true(chooses(&known, (rs_policy_launch){.back_seconds = 0.1, .run = 1}));
    rs_policy_add_time(&known.moved, 5, 1);
    assert_false(chooses(&known, (rs_policy_launch){.back_seconds = 0.1, .run = 10}));
}

/* As long as the times of a trial are not known, no more launches are like it. */
static void test_trials_are_few(void **state)
{
    (void)state;
    rs_policy_knowledge known = {.predicted_ratio = 4, .own_taken = 1, .trial_seconds = 1};
    const rs_policy_launch launch = {.back_seconds = 0.1, .run = 10};
    rs_policy_add_time(&known.own, 1, 1);
    rs_policy_take_time(&known, true, 1);
    assert_true(chooses(&known, launch));
    rs_policy_take_time(&known, true, 1);
    assert_false(chooses(&known, launch));
    rs_policy_add_time(&known.moved, 0.3, 1);
    assert_false(chooses(&known, launch));
    rs_policy_add_time(&known.moved, 0.3, 1);
    assert_true(chooses(&known, launch));
    /* One that has no time in the end is repeated. */
    known.moved = (rs_policy_times){.count = 0};
    rs_policy_lose_time(&known, true);
    assert_true(chooses(&known, launch));
}

/* Who has nothing to gain does not wait for another layout, who cannot afford it yet does. */
static void test_what_is_wanted(void **state)
{
    (void)state;
    rs_policy_knowledge known = knowing(4, 1, 4);
    const rs_policy_launch dear = {.work_items = 1, .there_seconds = 10, .run = 1};
    assert_int_equal(rs_policy_decide(&known, &dear).demand, RS_FOR_LAYOUT);
    known = knowing(1, 4, 4);
    assert_int_equal(rs_policy_decide(&known, &dear).demand, RS_AGAINST_LAYOUT);
    known = (rs_policy_knowledge){.predicted_ratio = 1};
    assert_int_equal(rs_policy_decide(&known, &dear).demand, RS_INDIFFERENT);
}

static void test_times_count_by_work_item(void **state)
{
    (void)state;
    rs_policy_knowledge known = knowing(4, 1, 4);
    assert_false(chooses(&known, (rs_policy_launch){.work_items = 0.1, .there_seconds = 1}));
    assert_true(chooses(&known, (rs_policy_launch){.work_items = 10, .there_seconds = 1}));
}

/* A trial costs 2 * there + 2 * own and half a millisecond: at most a twenty-fifth of the time. */
static void test_trials_wait_until_they_cost_little(void **state)
{
    (void)state;
    rs_policy_knowledge known = {.predicted_ratio = 4, .is_unsure = true};
    rs_policy_add_time(&known.own, 1, 1);
    known.own_work_items = 90;
    assert_false(chooses(&known, (rs_policy_launch){.there_seconds = 1, .run = 90}));
    known.own_work_items = 110;
    assert_true(chooses(&known, (rs_policy_launch){.there_seconds = 1, .run = 110}));
    /* Plans that are not made yet are a part of it. */
    assert_false(
        chooses(&known, (rs_policy_launch){.there_seconds = 1, .plan_seconds = 1, .run = 110}));
    known.own_work_items = 130;
    assert_true(
        chooses(&known, (rs_policy_launch){.there_seconds = 1, .plan_seconds = 1, .run = 130}));
    /* Earlier runs count as far as this one took so long to start. */
    known.own_work_items = 60;
    known.earlier_seconds = 1000;
    assert_false(
        chooses(&known, (rs_policy_launch){.there_seconds = 1, .run = 90, .start_seconds = 30}));
    assert_true(
        chooses(&known, (rs_policy_launch){.there_seconds = 1, .run = 90, .start_seconds = 50}));
    known.earlier_seconds = 30;
    assert_false(
        chooses(&known, (rs_policy_launch){.there_seconds = 1, .run = 90, .start_seconds = 50}));
    known.own_work_items = 110;
    assert_true(chooses(&known, (rs_policy_launch){.back_seconds = 0.1, .run = 1}));
    /* What an earlier trial may have cost counts. */
    known.trial_seconds = 1;
    assert_false(chooses(&known, (rs_policy_launch){.there_seconds = 1, .run = 110}));
    known.trial_seconds = 0;
    /* Regular accesses and long launches: the program's start counts, and no launch
     * is expected to be longer. */
    known.is_unsure = false;
    known.own_work_items = 10;
    assert_true(
        chooses(&known, (rs_policy_launch){.there_seconds = 1, .run = 10, .start_seconds = 60}));
    assert_false(
        chooses(&known, (rs_policy_launch){.there_seconds = 1, .run = 10, .start_seconds = 40}));
    /* Short launches: of their own time. */
    known = (rs_policy_knowledge){.predicted_ratio = 4, .own_work_items = 1000};
    rs_policy_add_time(&known.own, 1e-5, 1);
    rs_policy_add_time(&known.own, 1e-5, 1);
    const rs_policy_launch brief = {.there_seconds = 1e-5, .run = 1000, .start_seconds = 1000};
    assert_false(chooses(&known, brief));
    known.own_work_items = 1500;
    assert_true(chooses(&known, brief));
}

/* ---- simulated programs ---- */

/* A program that launches a kernel on a buffer, or two in turn, and reads the buffer now and then.
 */
typedef struct {
    double own, moved, conversion; /* seconds */
    double start;                  /* before the first launch */
    double predicted_ratio;
    bool is_unsure;
    int launches, launches_between_reads;
    double other_own, other_moved, other_ratio; /* of the second kernel; 0: there is none */
    double later_moved;                         /* from the middle on; 0: as before */
} simulated;

typedef struct {
    double seconds, own_seconds; /* with the policy, and without it */
    double worst; /* the ratio of both, at any time, but for the first timed launches */
    size_t timed, conversions;
} simulated_times;

static const double timing_seconds = 4e-5;

/* What happens to the buffer, as in the layer. */
typedef struct {
    const simulated *program;
    simulated_times times;
    size_t run, previous_run;
    double owed;
    bool is_moved;
} simulation;

static void end_run(simulation *s)
{
    if (s->run > 0)
        s->previous_run = s->run;
    s->run = 0;
}

static void convert(simulation *s, bool to_moved)
{
    s->times.seconds += s->is_moved != to_moved ? s->program->conversion : 0;
    s->times.conversions += s->is_moved != to_moved;
    s->is_moved = to_moved;
}

/* The clock is that of the device. A trial takes half a millisecond besides, and a launch longer if
 * it is timed. */
static void simulate_launch(simulation *s, rs_policy_knowledge *known, double own, double moved)
{
    const double conversion = s->program->conversion;
    const rs_policy_launch launch = {.work_items = 1,
                                     .there_seconds = s->is_moved ? 0 : conversion,
                                     .back_seconds = s->is_moved ? conversion : 0,
                                     .run = s->run,
                                     .previous_run = s->previous_run,
                                     .start_seconds = s->program->start,
                                     .owed_seconds = s->owed,
                                     .elapsed_seconds = s->times.seconds};
    const rs_policy_decision decision = rs_policy_decide(known, &launch);
    known->trial_seconds += decision.trial_seconds;
    s->owed -= rs_policy_gain(known, &launch, &decision);
    s->times.seconds += decision.trial_seconds > 0 ? 5e-4 : 0;
    if (!decision.rewritten && (decision.demand == RS_AGAINST_LAYOUT ||
                                (decision.demand == RS_INDIFFERENT && s->is_moved)))
        end_run(s);
    convert(s, decision.rewritten);
    s->run += decision.demand == RS_FOR_LAYOUT;
    s->times.seconds += s->is_moved ? moved : own;
    s->times.own_seconds += own;
    rs_policy_note_launch(known, s->is_moved, 1);
    if (rs_policy_wants_time(known, s->is_moved, timing_seconds)) {
        rs_policy_take_time(known, s->is_moved, timing_seconds);
        rs_policy_add_time(s->is_moved ? &known->moved : &known->own, s->is_moved ? moved : own, 1);
        s->owed += timing_seconds;
        s->times.seconds += timing_seconds;
        s->times.timed++;
    }
}

static simulated_times simulate(const simulated *p)
{
    rs_policy_knowledge known = {.predicted_ratio = p->predicted_ratio, .is_unsure = p->is_unsure};
    rs_policy_knowledge other = {.predicted_ratio = p->other_ratio, .is_unsure = p->is_unsure};
    simulation s = {.program = p, .times = {p->start, p->start, 1, 0, 0}};
    const int kernels = p->other_own > 0 ? 2 : 1;
    for (int i = 0; i < p->launches; i++) {
        bool is_later = p->later_moved > 0 && i >= p->launches / 2;
        simulate_launch(&s, &known, p->own, is_later ? p->later_moved : p->moved);
        if (kernels == 2)
            simulate_launch(&s, &other, p->other_own, p->other_moved);
        if (p->launches_between_reads > 0 && (i + 1) % p->launches_between_reads == 0) {
            end_run(&s);
            convert(&s, false);
        }
        double ratio = (s.times.seconds - kernels * timing_seconds) / s.times.own_seconds;
        if (ratio > s.times.worst)
            s.times.worst = ratio;
    }
    return s.times;
}

static double random_between(unsigned long long *seed, double least, double most)
{
    *seed = *seed * 6364136223846793005ull + 1442695040888963407ull;
    return least * pow(most / least, (double)(*seed >> 33) / 2147483648.0);
}

/* Whatever was predicted, at no time is a program slower by more than a twentieth, as long as the
 * rewritten form takes at most twice the time; where the prediction is trusted, the same time. */
static void test_regret_is_bounded(void **state)
{
    (void)state;
    unsigned long long seed = 1;
    for (int i = 0; i < 5000; i++) {
        double own = random_between(&seed, 1e-6, 1e-1);
        bool is_unsure = i % 3 == 0, is_trusted = !is_unsure && own >= 2.5e-4;
        const simulated p = {.own = own,
                             .moved = own * random_between(&seed, 0.1, is_trusted ? 1 : 2),
                             .conversion = own * random_between(&seed, 0.01, 100),
                             .start = 0.1,
                             .predicted_ratio = random_between(&seed, 1, 8),
                             .is_unsure = is_unsure,
                             .launches = (int)random_between(&seed, 1, 5000),
                             .launches_between_reads =
                                 i % 2 == 0 ? 0 : (int)random_between(&seed, 1, 1000)};
        simulated_times t = simulate(&p);
        if (t.worst > 1.05)
            fail_msg("program %d, read every %d launches: %f times slower (own %g, moved %g, "
                     "conversion %g)",
                     i, p.launches_between_reads, t.worst, p.own, p.moved, p.conversion);
    }
}

/* Two kernels in turn on one buffer, each of which may be faster or slower in the other layout, and
 * be expected to be or not. */
static void test_regret_of_two_kernels_is_bounded(void **state)
{
    (void)state;
    unsigned long long seed = 2;
    for (int i = 0; i < 5000; i++) {
        double own = random_between(&seed, 1e-5, 1e-2), other = random_between(&seed, 1e-5, 1e-2);
        const simulated p = {.own = own,
                             .moved = own * random_between(&seed, 0.1, 2),
                             .conversion = own * random_between(&seed, 0.01, 10),
                             .start = 0.1,
                             .predicted_ratio = random_between(&seed, 1, 8),
                             .is_unsure = true,
                             .launches = (int)random_between(&seed, 1, 5000),
                             .launches_between_reads =
                                 i % 2 == 0 ? 0 : (int)random_between(&seed, 1, 1000),
                             .other_own = other,
                             .other_moved = other * random_between(&seed, 0.1, 2),
                             .other_ratio = i % 3 == 0 ? 1 : random_between(&seed, 1, 8)};
        simulated_times t = simulate(&p);
        if (t.worst > 1.05)
            fail_msg("program %d, read every %d launches: %f times slower (own %g, %g, moved %g, "
                     "%g, conversion %g)",
                     i, p.launches_between_reads, t.worst, p.own, p.other_own, p.moved,
                     p.other_moved, p.conversion);
    }
}

/* A form that is slower from some time on is left. */
static void test_changes_are_noticed(void **state)
{
    (void)state;
    static const double times[] = {1e-5, 3e-5, 1e-4, 3e-4, 1e-3, 3e-3};
    for (size_t i = 0; i < sizeof times / sizeof times[0]; i++) {
        const double own = times[i];
        const simulated p = {.own = own,
                             .moved = own / 2,
                             .conversion = own,
                             .start = 0.1,
                             .predicted_ratio = 2,
                             .launches = 40000,
                             .later_moved = own * 3};
        simulated_times t = simulate(&p);
        double ratio = t.seconds / t.own_seconds; /* 0.5 before, 1 after */
        if (ratio > 0.9)
            fail_msg("own %g: %f times slower", own, ratio);
    }
}

/* A kernel that is never tried pays for its timed launches: one, and others as long as they all
 * together take a twenty-fifth of its time. */
static void test_timing_is_bounded(void **state)
{
    (void)state;
    for (int launches = 1; launches <= 3000; launches = launches * 5 / 4 + 1) {
        const simulated p = {.own = 9e-6,
                             .moved = 9e-6,
                             .conversion = 1,
                             .start = 0.1,
                             .predicted_ratio = 8,
                             .is_unsure = true,
                             .launches = launches};
        simulated_times t = simulate(&p);
        double more = (t.seconds - t.own_seconds) / (t.own_seconds - p.start);
        if (t.timed < 1 || (t.timed > 1 && more > 0.04))
            fail_msg("%d launches: %zu timed, %f more", launches, t.timed, more);
    }
    /* Where that costs nothing, it is done. */
    rs_policy_knowledge known = {.predicted_ratio = 4};
    for (int i = 0; i < RS_POLICY_SAMPLES; i++) {
        assert_true(rs_policy_wants_time(&known, false, 0));
        rs_policy_take_time(&known, false, 0);
    }
    assert_false(rs_policy_wants_time(&known, false, 0));
    assert_true(rs_policy_awaits_time(&known));
    rs_policy_add_time(&known.own, 1, 1);
    for (int i = 1; i < RS_POLICY_SAMPLES; i++)
        rs_policy_lose_time(&known, false);
    assert_false(rs_policy_awaits_time(&known));
}

/* What is gained is not waited for too long. */
static void test_gains_are_found(void **state)
{
    (void)state;
    static const struct {
        simulated program;
        double least_gain;
    } cases[] = {
        /* lbm, structures of 32 floats (also where the conversions are taken for as long as a
         * launch, before one was measured), and a kernel of 10 microseconds, on one H100 */
        {{0.71e-3, 0.16e-3, 0.25e-3, 0.3, 5, false, 200, 0, 0, 0, 0, 0}, 3.5},
        {{4.57e-3, 0.73e-3, 0.75e-3, 0.2, 6, false, 200, 0, 0, 0, 0, 0}, 5.5},
        {{4.57e-3, 0.73e-3, 4.57e-3, 0.2, 6, false, 200, 0, 0, 0, 0, 0}, 4.5},
        {{8.5e-6, 6.8e-6, 4e-5, 0.3, 5, false, 100000, 0, 0, 0, 0, 0}, 1.2},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const simulated *p = &cases[i].program;
        simulated_times t = simulate(p);
        double gain = (t.own_seconds - p->start) / (t.seconds - p->start);
        if (gain < cases[i].least_gain)
            fail_msg("program %zu gains %f", i, gain);
    }
}

/* ---- in the layer ---- */

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

/* A conversion is still being built then. */
static void test_compilers_end_after_all_builds(void **state)
{
    (void)state;
    assert_int_equal(run_program("grow 1000 100", "MADE_UP_COMPILER=1", "--policy auto", "zx"), 0);
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
} outcome;

static void forget(void)
{
    char path[64];
    snprintf(path, sizeof path, "%s/wisdom.json", folder);
    unlink(path);
}

/* Without options: as most programs run, in queues without profiling and with no times in the
 * report. */
static int run_plainly(const char *times, const char *arguments)
{
    char command[4096];
    snprintf(command, sizeof command,
             "cd %s && mkdir facts && RESTRIDE_WISDOM=%s/wisdom.json MADE_UP_TIMES='%s' "
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
        seen.launches = (long)json_integer_value(json_object_get(kernel, "launches"));
        seen.transformed =
            (long)json_integer_value(json_object_get(kernel, "transformed_launches"));
        snprintf(seen.reason, sizeof seen.reason, "%s", reason != NULL ? reason : "");
    }
    json_decref(report);
    return seen;
}

#define FAST "grow 300 60, aos_to_asta 90 90, asta_to_aos 90 90"
#define SLOW "grow 300 900, aos_to_asta 90 90, asta_to_aos 90 90"
#define DEAR "grow 300 60, aos_to_asta 9000 9000, asta_to_aos 9000 9000"
#define BRIEF "grow 10 2, aos_to_asta 30 30, asta_to_aos 30 30"
#define LARGE " 32768" /* records: 2 MiB, so that conversions count as measured */
/* Below, programs wait for their first launches: on a busy machine the layer waits in vain. */

static void test_cpu_stays_as_it_is(void **state)
{
    (void)state;
    forget();
    outcome seen = run("", "", "wzzzzzzzzzzllllllllllllr");
    assert_int_equal(seen.launches, 12);
    assert_int_equal(seen.transformed, 0);
    assert_int_equal(seen.conversions, 0);
    assert_non_null(strstr(seen.reason, "nothing is to be gained"));
}

static void test_faster_form_is_kept_and_remembered(void **state)
{
    (void)state;
    forget();
    outcome seen = run(FAST, "", "wzzzzzzzzzzlflflflllllllllr" LARGE);
    assert_int_equal(seen.launches, 12);
    assert_in_range(seen.transformed, 8, 11); /* the first is in the program's own layout */
    assert_int_equal(seen.conversions, 2);
    assert_non_null(strstr(seen.reason, "measured to be faster"));
    seen = run(FAST, "", "wzzzzzzzzzzlflflflllllllllr" LARGE);
    assert_int_equal(seen.transformed, 12);
    /* 240 us are gained, 180 paid. */
    seen = run(FAST, "", "wzzzzzlr" LARGE);
    assert_int_equal(seen.transformed, 1);
    /* The compiler is not waited for. */
    seen = run(FAST, "", "wlr" LARGE);
    assert_int_equal(seen.transformed, 0);
}

static void test_slower_form_is_left(void **state)
{
    (void)state;
    forget();
    outcome seen = run(SLOW, "", "wzzzzzzzzzzlflflfllllllllllllllllr" LARGE);
    assert_in_range(seen.transformed, 1, 4);
    assert_int_equal(seen.conversions, 2);
    assert_non_null(strstr(seen.reason, "measured to be no faster"));
    seen = run(SLOW, "", "wzzzzzzzzzzlflflfllllllllllllllllr" LARGE);
    assert_int_equal(seen.transformed, 0);
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
    assert_int_equal(seen.transformed, 0);
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
    assert_int_equal(run(BRIEF, "", commands).transformed, 0);
    outcome seen = run(BRIEF, "", commands);
    assert_in_range(seen.transformed, 2, 990);
    assert_non_null(strstr(seen.reason, "measured to be faster"));
    assert_int_equal(run(BRIEF, "", commands).transformed, 1000);
}

static void test_dear_conversions_are_not_paid_for_few_launches(void **state)
{
    (void)state;
    forget();
    /* Learns what a conversion costs. */
    outcome seen = run(DEAR, "", "wzzzzzzzzzzlflflfllllllllllr" LARGE);
    assert_in_range(seen.transformed, 1, 12);
    seen = run(DEAR, "", "wlrwlrwlrwlrwlr" LARGE);
    assert_int_equal(seen.transformed, 0);
    assert_non_null(strstr(seen.reason, "would not pay"));
    assert_int_equal(seen.conversions, 0);
}

/* Another use between two launches takes the layout away each time. */
static void test_uses_in_between_count(void **state)
{
    (void)state;
    forget();
    outcome seen = run(DEAR, "", "wzzzzzzzzzzlslslslslslslslslslslslslslslslslslslslslr" LARGE);
    assert_in_range(seen.transformed, 0, 2);
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
    assert_in_range(seen.transformed, 0, 120);
    assert_non_null(strstr(seen.reason, "measured to be no faster"));
}

static void test_forced_policies(void **state)
{
    (void)state;
    forget();
    outcome seen = run(SLOW, "--policy asta", "wlllr" LARGE);
    assert_int_equal(seen.transformed, 3);
    seen = run(FAST, "--policy off", "wlllr" LARGE);
    assert_int_equal(seen.transformed, 0);
}

static void write_config(const char *text)
{
    char path[64];
    snprintf(path, sizeof path, "%s/config.ini", folder);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fputs(text, file);
    fclose(file);
}

static void test_configuration(void **state)
{
    (void)state;
    forget();
    write_config("[grow]\n.policy = asta\n");
    assert_int_equal(run(SLOW, "--config config.ini", "wlllr" LARGE).transformed, 3);
    write_config("policy = asta\n[grow]\n.policy = off\n");
    assert_int_equal(run(FAST, "--config config.ini", "wlllr" LARGE).transformed, 0);
    write_config("policy = asta\n");
    assert_int_equal(run(SLOW, "--config config.ini", "wlllr" LARGE).transformed, 3);
    assert_int_equal(run(SLOW, "--config config.ini --policy off", "wlllr" LARGE).transformed, 0);
    write_config("policy = asta\n[grow]\nitems = i f\n");
    assert_int_equal(run(FAST, "--config config.ini", "wlllr" LARGE).transformed, 0);
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
    strcpy(commands + 61, "r" LARGE);
    forget();
    outcome seen = run("grow 100000 10000", "--config config.ini", commands);
    assert_int_equal(seen.transformed, 0);
    assert_int_equal(seen.conversions, 0);
    assert_non_null(strstr(seen.reason, "a trial would cost too much"));
    for (int i = 41; i < 201; i += 2)
        commands[i] = 'z';
    for (int i = 42; i < 201; i += 2)
        commands[i] = 'l';
    strcpy(commands + 201, "r" LARGE);
    forget();
    seen = run("grow 20000000 2000000", "--config config.ini", commands);
    assert_in_range(seen.transformed, 1, 119); /* of 120; the own kernel is timed first */
}

/* ---- launches that are timed on a queue of the layer's own ---- */

typedef struct {
    long timed, untimed, builds;
} tally;

static tally run_detour(const char *name, const char *microseconds)
{
    char command[4096];
    tally seen = {-1, -1, -1};
    snprintf(
        command, sizeof command,
        "cd %s && mkdir facts && MADE_UP_TIMES='grow %s, aos_to_asta 50 50, asta_to_aos 50 50' "
        "MADE_UP_TALLY=tally RESTRIDE_REPORT_FOLDER=facts RESTRIDE_WISDOM= "
        "RESTRIDE_REWRITER=%s OPENCL_LAYERS=%s:%s %s %s 2>errors "
        "&& mv facts/*.json report.json && rmdir facts",
        folder, microseconds, REWRITER, MADE_UP_GPU, LAYER_PATH, DETOURS_PROGRAM, name);
    int status = system(command);
    if (!WIFEXITED(status) || WEXITSTATUS(status) != 0)
        fail_msg("%s: status %d", name, status);
    char path[64];
    snprintf(path, sizeof path, "%s/tally", folder);
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    assert_int_equal(fscanf(file, "%ld %ld %ld", &seen.timed, &seen.untimed, &seen.builds), 3);
    fclose(file);
    return seen;
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
        tally seen = run_detour(cases[i].name, "300 60");
        if (seen.timed < cases[i].least || seen.timed > cases[i].most || seen.untimed < 2)
            fail_msg("%s: %ld launches with times, %ld without", cases[i].name, seen.timed,
                     seen.untimed);
        assert_int_equal(was_told("launches on this queue cannot be timed"),
                         strcmp(cases[i].name, "out-of-order") == 0);
    }
}

/* The program's own and the rewritten program are built, and conversions only when nothing is
 * launched for a while. A machine may be slower than that while, but not always. */
static void test_no_compiler_beside_launches(void **state)
{
    (void)state;
    long least = 9;
    for (int i = 0; i < 5 && least > 2; i++) {
        const tally seen = run_detour("other-events", "10 9");
        least = seen.builds < least ? seen.builds : least;
    }
    assert_int_equal(least, 2);
    assert_in_range(run_detour("events", "10 9").builds, 3, 9);
}

/* ---- what a launch costs the host ---- */

#ifdef HAVE_TIMES
typedef struct {
    double launch, lock; /* nanoseconds */
} cost;

static cost run_cost(const char *times, const char *policy, const char *layers)
{
    char command[4096];
    cost seen = {0, 0};
    snprintf(command, sizeof command,
             "MADE_UP_TIMES='%s' MADE_UP_LAUNCHES=none RESTRIDE_WISDOM= RESTRIDE_REWRITER=%s "
             "RESTRIDE_POLICY=%s OPENCL_LAYERS=%s %s",
             times, REWRITER, policy, layers, COST_PROGRAM);
    FILE *output = popen(command, "r");
    assert_non_null(output);
    assert_int_equal(fscanf(output, "%lf %lf", &seen.launch, &seen.lock), 2);
    assert_int_equal(pclose(output), 0);
    return seen;
}

/* In units of a mutex locked and unlocked, whose nanoseconds go up and down with a machine's speed
 * as the layer's do. Measured were 23 and 26 of them. */
static void test_launches_cost_little(void **state)
{
    (void)state;
    static const struct {
        const char *times, *policy;
    } cases[] = {{"grow 10 12", "auto"}, {"grow 10 9", "auto"}, {"grow 10 9", "asta"}};
    enum { MOST_RUNS = 8 }; /* the least counts: others may have the processor */
    const double most = 60;
    const cost driver = run_cost("grow 10 12", "off", MADE_UP_GPU);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        cost seen = run_cost(cases[i].times, cases[i].policy, MADE_UP_GPU ":" LAYER_PATH);
        for (int run = 1; run < MOST_RUNS && seen.launch - driver.launch > most * seen.lock; run++)
            seen = run_cost(cases[i].times, cases[i].policy, MADE_UP_GPU ":" LAYER_PATH);
        if (seen.launch - driver.launch > most * seen.lock)
            fail_msg("%s, %s: %f ns a launch, %f of the driver, %f to lock", cases[i].policy,
                     cases[i].times, seen.launch, driver.launch, seen.lock);
    }
}
#endif

static int clean_up(void **state)
{
    (void)state;
    static const char *const files[] = {"wisdom.json", "wisdom.json.lock", "report.json",
                                        "errors",      "config.ini",       "tally"};
    for (size_t i = 0; i < sizeof files / sizeof files[0]; i++) {
        char path[64];
        snprintf(path, sizeof path, "%s/%s", folder, files[i]);
        unlink(path);
    }
    return rmdir(folder);
}

static int make_folder(void **state)
{
    (void)state;
    return mkdtemp(folder) == NULL;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_median_of_the_last_samples),
        cmocka_unit_test(test_predictions),
        cmocka_unit_test(test_own_form_is_timed_first),
        cmocka_unit_test(test_conversions_must_be_paid_back),
        cmocka_unit_test(test_measurement_goes_before_prediction),
        cmocka_unit_test(test_trials_wait_until_they_cost_little),
        cmocka_unit_test(test_regret_is_bounded),
        cmocka_unit_test(test_regret_of_two_kernels_is_bounded),
        cmocka_unit_test(test_timing_is_bounded),
        cmocka_unit_test(test_changes_are_noticed),
        cmocka_unit_test(test_gains_are_found),
        cmocka_unit_test(test_times_count_by_work_item),
        cmocka_unit_test(test_trials_are_few),
        cmocka_unit_test(test_what_is_wanted),
        cmocka_unit_test(test_cpu_stays_as_it_is),
        cmocka_unit_test(test_faster_form_is_kept_and_remembered),
        cmocka_unit_test(test_slower_form_is_left),
        cmocka_unit_test(test_short_launches_are_not_tried_at_once),
        cmocka_unit_test(test_short_launches_are_tried_in_later_runs),
        cmocka_unit_test(test_dear_conversions_are_not_paid_for_few_launches),
        cmocka_unit_test(test_uses_in_between_count),
        cmocka_unit_test(test_kernels_in_turn),
        cmocka_unit_test(test_old_wisdom_is_corrected),
        cmocka_unit_test(test_forced_policies),
        cmocka_unit_test(test_compilers_end_after_all_builds),
        cmocka_unit_test(test_timed_launches_change_nothing),
        cmocka_unit_test(test_no_compiler_beside_launches),
#ifdef HAVE_TIMES
        cmocka_unit_test(test_launches_cost_little),
#endif
#ifdef HAVE_CONFIG
        cmocka_unit_test(test_configuration),
        cmocka_unit_test(test_plans_count),
#endif
    };
    return cmocka_run_group_tests(tests, make_folder, clean_up);
}
