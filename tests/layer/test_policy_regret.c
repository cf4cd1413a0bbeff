/*
 * Policy auto under simulated programs, whose kernels and conversions take made-up times: no
 * program loses more than a little, whatever is predicted, and gains are not waited for too long.
 */
#include "cmocka_all.h"

#include "layer/core/policy.h"

#include <math.h>

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
    double remembered; /* of what earlier runs took, in what the kernels take; 0: nothing */
    double hoped;      /* what the first conversions are expected to take, in what they take */
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
                                     .forward_seconds = s->is_moved ? 0 : conversion,
                                     .forward_predicted =
                                         s->is_moved ? 0 : conversion * s->program->hoped,
                                     .inverse_seconds = s->is_moved ? conversion : 0,
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
    if (rs_policy_wants_time(known, s->is_moved, 1, timing_seconds,
                             s->times.seconds - s->program->start)) {
        rs_policy_take_time(known, s->is_moved, timing_seconds);
        rs_policy_add_time(s->is_moved ? &known->moved : &known->own, s->is_moved ? moved : own, 1);
        s->owed += timing_seconds;
        s->times.seconds += timing_seconds;
        s->times.timed++;
    }
}

static simulated_times simulate(const simulated *p)
{
    rs_policy_knowledge known = {.predicted_ratio = p->predicted_ratio,
                                 .is_unsure = p->is_unsure,
                                 .remembered_own = p->own * p->remembered};
    rs_policy_knowledge other = {.predicted_ratio = p->other_ratio,
                                 .is_unsure = p->is_unsure,
                                 .remembered_own = p->other_own * p->remembered};
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
                                 i % 2 == 0 ? 0 : (int)random_between(&seed, 1, 1000),
                             .remembered = i % 5 < 2 ? 0 : random_between(&seed, 0.01, 100),
                             .hoped = i % 7 < 3 ? 0 : random_between(&seed, 0.01, 1)};
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
                             .other_ratio = i % 3 == 0 ? 1 : random_between(&seed, 1, 8),
                             .remembered = i % 5 < 2 ? 0 : random_between(&seed, 0.01, 100),
                             .hoped = i % 7 < 3 ? 0 : random_between(&seed, 0.01, 1)};
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
        assert_true(rs_policy_wants_time(&known, false, 1, 0, 0));
        rs_policy_take_time(&known, false, 0);
    }
    assert_false(rs_policy_wants_time(&known, false, 1, 0, 0));
    assert_true(rs_policy_awaits_time(&known));
    rs_policy_add_time(&known.own, 1, 1);
    for (int i = 1; i < RS_POLICY_SAMPLES; i++)
        rs_policy_lose_time(&known, false);
    assert_false(rs_policy_awaits_time(&known));
}

/* What is gained is not waited for too long, whatever earlier runs are said to have taken. */
static void test_gains_are_found(void **state)
{
    (void)state;
    static const struct {
        simulated program;
        double least_gain;
    } cases[] = {
        /* lbm, structures of 32 floats (also where the conversions are taken for as long as a
         * launch, before one was measured), and a kernel of 10 microseconds, on one H100 */
        {{0.71e-3, 0.16e-3, 0.25e-3, 0.3, 5, false, 200, 0, 0, 0, 0, 0, 0, 0}, 3.5},
        {{4.57e-3, 0.73e-3, 0.75e-3, 0.2, 6, false, 200, 0, 0, 0, 0, 0, 0, 0}, 5.5},
        {{4.57e-3, 0.73e-3, 4.57e-3, 0.2, 6, false, 200, 0, 0, 0, 0, 0, 0, 0}, 4.5},
        {{8.5e-6, 6.8e-6, 4e-5, 0.3, 5, false, 100000, 0, 0, 0, 0, 0, 0, 0}, 1.2},
    };
    /* How far earlier runs may be wrong, and what part of the gain must be left. */
    static const struct {
        double remembered, part;
    } earlier[] = {{0, 1}, {1, 1}, {10, 1}, {1e12, 1}, {0.1, 0.95}, {1e-12, 0}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        for (size_t k = 0; k < sizeof earlier / sizeof earlier[0]; k++) {
            simulated p = cases[i].program;
            p.remembered = earlier[k].remembered;
            simulated_times t = simulate(&p);
            double gain = (t.own_seconds - p.start) / (t.seconds - p.start);
            double least = cases[i].least_gain * earlier[k].part;
            if (gain < fmax(least, 0.99))
                fail_msg("program %zu, remembered %g times as long, gains %f", i, p.remembered,
                         gain);
        }
    /* What is remembered as nothing is timed at last. */
    simulated p = cases[3].program;
    p.remembered = 1e-12;
    simulated_times t = simulate(&p);
    assert_true((t.own_seconds - p.start) / (t.seconds - p.start) > 1.15);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_regret_is_bounded),
        cmocka_unit_test(test_regret_of_two_kernels_is_bounded),
        cmocka_unit_test(test_timing_is_bounded),
        cmocka_unit_test(test_changes_are_noticed),
        cmocka_unit_test(test_gains_are_found),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
