/* Policy auto by itself: what it decides when it knows this and that. */
#include "cmocka_all.h"

#include "layer/core/policy.h"

#include <math.h>

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

/* 3 % and 20 ms, of all builds together. */
static void test_builds(void **state)
{
    (void)state;
    assert_true(rs_policy_can_build(0.02, 0, 0));
    assert_false(rs_policy_can_build(0.03, 0, 0.1));
    assert_true(rs_policy_can_build(0.3, 0, 10));
    assert_false(rs_policy_can_build(0.3, 0.1, 10));
    assert_false(rs_policy_is_near_trial(1e-3));
    assert_true(rs_policy_is_near_trial(0.02));
}

/* A GPU reads some hundred gigabytes a second of whole structures: launches on small buffers are
 * taken for short, and that is corrected by what is measured. */
static void test_guesses(void **state)
{
    (void)state;
    rs_policy_knowledge known = {.predicted_ratio = 4};
    known.remembered_own = rs_policy_guess(false, 5e6);
    assert_true(rs_policy_was_short(&known, 1));
    assert_false(rs_policy_wants_time(&known, false, 1, 4e-5, 0));
    assert_true(rs_policy_wants_time(&known, false, 1, 4e-5, 1.1e-3));
    known.remembered_own = rs_policy_guess(false, 345e6);
    assert_false(rs_policy_was_short(&known, 1));
    assert_true(rs_policy_wants_time(&known, false, 1, 4e-5, 0));
    assert_true(rs_policy_guess(true, 5e6) > rs_policy_guess(false, 5e6));
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
    assert_false(chooses(&known, (rs_policy_launch){.forward_seconds = 1e-9}));
    assert_true(rs_policy_wants_time(&known, false, 1, 1, 0));
    /* Buffers that another kernel has had converted are used as they are. */
    assert_true(chooses(&known, (rs_policy_launch){.inverse_seconds = 1}));
    known.predicted_ratio = 1;
    assert_false(rs_policy_wants_time(&known, false, 1, 0, 0));
    assert_false(chooses(&known, (rs_policy_launch){.forward_seconds = 1}));
    assert_true(chooses(&known, (rs_policy_launch){.inverse_seconds = 1}));
    /* Once it may have lost so much, they are brought back for it, there and back again. */
    known.moved_work_items = 3.9;
    rs_policy_add_time(&known.moved, 1, 1);
    assert_true(chooses(&known, (rs_policy_launch){.inverse_seconds = 1}));
    known.moved_work_items = 4.1;
    assert_false(chooses(&known, (rs_policy_launch){.inverse_seconds = 1}));
}

/* What both forms take is known twice, as from an earlier run: to time a launch again costs at most
 * a hundredth of what the kernel has taken. */
static void test_known_times_are_taken_again_at_leisure(void **state)
{
    (void)state;
    rs_policy_knowledge known = {.predicted_ratio = 2};
    for (int i = 0; i < 2; i++) {
        rs_policy_add_time(&known.own, 1e-5, 1);
        rs_policy_add_time(&known.moved, 8e-6, 1);
    }
    for (int i = 0; i < 390; i++)
        rs_policy_note_launch(&known, false, 1);
    assert_false(rs_policy_wants_time(&known, false, 1, 4e-5, 0));
    for (int i = 0; i < 20; i++)
        rs_policy_note_launch(&known, false, 1);
    assert_true(rs_policy_wants_time(&known, false, 1, 4e-5, 0));
    rs_policy_take_time(&known, false, 4e-5);
    assert_false(rs_policy_wants_time(&known, false, 1, 4e-5, 0));
}

static void test_conversions_must_be_paid_back(void **state)
{
    (void)state;
    rs_policy_knowledge known = knowing(4, 1, 4); /* 3 s a launch are gained */
    assert_true(chooses(&known, (rs_policy_launch){.forward_seconds = 1.4}));
    assert_false(chooses(&known, (rs_policy_launch){.forward_seconds = 1.6}));
    /* After as many launches as would have paid for it, and when it was so the last time. */
    assert_false(chooses(&known, (rs_policy_launch){.forward_seconds = 10, .run = 6}));
    assert_true(chooses(&known, (rs_policy_launch){.forward_seconds = 10, .run = 7}));
    assert_true(chooses(&known, (rs_policy_launch){.forward_seconds = 10, .previous_run = 7}));
    assert_false(
        chooses(&known, (rs_policy_launch){.forward_seconds = 10, .run = 5, .previous_run = 7}));
    known.usual_run = 20;
    assert_true(chooses(&known, (rs_policy_launch){.forward_seconds = 10}));
    assert_true(chooses(&known, (rs_policy_launch){.forward_seconds = 10, .plan_seconds = 39}));
    assert_false(chooses(&known, (rs_policy_launch){.forward_seconds = 10, .plan_seconds = 41}));
    assert_false(chooses(&known, (rs_policy_launch){.forward_seconds = 10, .previous_run = 1}));
}

static void test_measurement_goes_before_prediction(void **state)
{
    (void)state;
    rs_policy_knowledge known = knowing(1, 1.2, 5);
    assert_false(chooses(&known, (rs_policy_launch){.run = 1000}));
    assert_false(chooses(&known, (rs_policy_launch){.inverse_seconds = 0.1, .run = 1000}));
    /* What is in another layout stays there if to go back costs more than it brings. */
    assert_true(chooses(&known, (rs_policy_launch){.inverse_seconds = 0.3, .run = 1}));
    /* One slow first run is no measurement yet. */
    known = (rs_policy_knowledge){.predicted_ratio = 4};
    rs_policy_add_time(&known.own, 1, 1);
    rs_policy_add_time(&known.moved, 5, 1);
    assert_true(chooses(&known, (rs_policy_launch){.inverse_seconds = 0.1, .run = 1}));
    rs_policy_add_time(&known.moved, 5, 1);
    assert_false(chooses(&known, (rs_policy_launch){.inverse_seconds = 0.1, .run = 10}));
}

/* Where none has been timed, conversions are expected to be fast, but a trial must be affordable if
 * they are not. */
static void test_first_conversions_are_expected_to_be_fast(void **state)
{
    (void)state;
    const rs_policy_launch launch = {
        .forward_seconds = 1, .forward_predicted = 0.3, .run = 1, .start_seconds = 60};
    rs_policy_knowledge known = {.predicted_ratio = 4};
    rs_policy_add_time(&known.own, 1, 1);
    known.own_work_items = 1;
    assert_true(chooses(&known, launch));
    rs_policy_launch early = launch;
    early.start_seconds = 40;
    assert_false(chooses(&known, early));
    rs_policy_add_time(&known.moved, 0.25, 1);
    assert_false(chooses(&known, launch));
}

/* As long as the times of a trial are not known, no more launches are like it. */
static void test_trials_are_few(void **state)
{
    (void)state;
    rs_policy_knowledge known = {.predicted_ratio = 4, .own_taken = 1, .trial_seconds = 1};
    const rs_policy_launch launch = {.inverse_seconds = 0.1, .run = 10};
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
    const rs_policy_launch dear = {.work_items = 1, .forward_seconds = 10, .run = 1};
    assert_int_equal(rs_policy_decide(&known, &dear).demand, RS_FOR_LAYOUT);
    known = knowing(1, 4, 4);
    assert_int_equal(rs_policy_decide(&known, &dear).demand, RS_AGAINST_LAYOUT);
    known = (rs_policy_knowledge){.predicted_ratio = 1};
    assert_int_equal(rs_policy_decide(&known, &dear).demand, RS_INDIFFERENT);
    known.nothing_to_gain = "a gather";
    assert_string_equal(rs_policy_decide(&known, &dear).reason, "a gather");
    assert_false(rs_policy_wants_time(&known, false, 1, 0, 1));
}

static void test_times_count_by_work_item(void **state)
{
    (void)state;
    rs_policy_knowledge known = knowing(4, 1, 4);
    assert_false(chooses(&known, (rs_policy_launch){.work_items = 0.1, .forward_seconds = 1}));
    assert_true(chooses(&known, (rs_policy_launch){.work_items = 10, .forward_seconds = 1}));
}

/* A trial costs 2 * there + 2 * own and half a millisecond: at most a twenty-fifth of the time. */
static void test_trials_wait_until_they_cost_little(void **state)
{
    (void)state;
    rs_policy_knowledge known = {.predicted_ratio = 4, .is_unsure = true};
    rs_policy_add_time(&known.own, 1, 1);
    known.own_work_items = 90;
    assert_false(chooses(&known, (rs_policy_launch){.forward_seconds = 1, .run = 90}));
    known.own_work_items = 110;
    assert_true(chooses(&known, (rs_policy_launch){.forward_seconds = 1, .run = 110}));
    /* Plans that are not made yet are a part of it. */
    assert_false(
        chooses(&known, (rs_policy_launch){.forward_seconds = 1, .plan_seconds = 1, .run = 110}));
    known.own_work_items = 130;
    assert_true(
        chooses(&known, (rs_policy_launch){.forward_seconds = 1, .plan_seconds = 1, .run = 130}));
    /* Earlier runs count as far as this one took so long to start. */
    known.own_work_items = 60;
    known.earlier_seconds = 1000;
    assert_false(
        chooses(&known, (rs_policy_launch){.forward_seconds = 1, .run = 90, .start_seconds = 30}));
    assert_true(
        chooses(&known, (rs_policy_launch){.forward_seconds = 1, .run = 90, .start_seconds = 50}));
    known.earlier_seconds = 30;
    assert_false(
        chooses(&known, (rs_policy_launch){.forward_seconds = 1, .run = 90, .start_seconds = 50}));
    known.own_work_items = 110;
    assert_true(chooses(&known, (rs_policy_launch){.inverse_seconds = 0.1, .run = 1}));
    /* What an earlier trial may have cost counts. */
    known.trial_seconds = 1;
    assert_false(chooses(&known, (rs_policy_launch){.forward_seconds = 1, .run = 110}));
    known.trial_seconds = 0;
    /* Regular accesses and long launches: the program's start counts, and no launch
     * is expected to be longer. */
    known.is_unsure = false;
    known.own_work_items = 10;
    assert_true(
        chooses(&known, (rs_policy_launch){.forward_seconds = 1, .run = 10, .start_seconds = 60}));
    assert_false(
        chooses(&known, (rs_policy_launch){.forward_seconds = 1, .run = 10, .start_seconds = 40}));
    /* Short launches: of their own time. */
    known = (rs_policy_knowledge){.predicted_ratio = 4, .own_work_items = 1000};
    rs_policy_add_time(&known.own, 1e-5, 1);
    rs_policy_add_time(&known.own, 1e-5, 1);
    const rs_policy_launch brief = {.forward_seconds = 1e-5, .run = 1000, .start_seconds = 1000};
    assert_false(chooses(&known, brief));
    known.own_work_items = 1500;
    assert_true(chooses(&known, brief));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_median_of_the_last_samples),
        cmocka_unit_test(test_builds),
        cmocka_unit_test(test_guesses),
        cmocka_unit_test(test_predictions),
        cmocka_unit_test(test_own_form_is_timed_first),
        cmocka_unit_test(test_known_times_are_taken_again_at_leisure),
        cmocka_unit_test(test_conversions_must_be_paid_back),
        cmocka_unit_test(test_measurement_goes_before_prediction),
        cmocka_unit_test(test_trials_wait_until_they_cost_little),
        cmocka_unit_test(test_times_count_by_work_item),
        cmocka_unit_test(test_first_conversions_are_expected_to_be_fast),
        cmocka_unit_test(test_trials_are_few),
        cmocka_unit_test(test_what_is_wanted),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
