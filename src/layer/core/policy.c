/* Policy auto: see policy.h. */
#include "layer/core/policy.h"
#include "base/seconds.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    SMALL_RECORD = 16,           /* one access */
    CACHE_LINE = 64,             /* of a CPU */
    TRIALS_TO_TRUST = 2,         /* the first run of a kernel may be slow for reasons of its own */
    OWN_TO_TRY = 2,              /* what more would cost is left for the trial */
    LAUNCHES_BETWEEN_TIMES = 32, /* of a form that is known */
    LAUNCHES_BETWEEN_DOUBTS = 4, /* of one that seems to have changed */
    LAUNCHES_TO_DOUBT = 4096     /* what earlier runs took */
};

static const double ratio_of_changed = 1.5;

/* Below this the rewritten form is not worth the risk of a trial. */
static const double worthwhile_ratio = 1.1;

/* What trials that fail may cost, of the time before. */
static const double affordable_part = 0.04;

/* What it may cost to time again what this run, or an earlier one, has timed twice. */
static const double affordable_again = 0.01;

/* What it may cost to look again at what is known, of the time before. */
static const double affordable_looks = 0.0025;

/* What compilers may take of the program's time, and of a short program's altogether. */
static const double affordable_builds = 0.03, affordable_build_seconds = 0.02;

static const double doubtful_ratio = 1.5;

/* What a trial costs beside its conversions: waiting, enqueueing, kernels that run for the first
 * time. On one H100 the sum was 0.4 ms. */
static const double fixed_trial_seconds = 5e-4;

/* Beside launches of this length the fixed costs do not count. */
static const double long_launch_seconds = 2.5e-4;

/* ---- times ---- */

static double median_of(const double *seconds, size_t count)
{
    double sorted[RS_POLICY_SAMPLES];
    memcpy(sorted, seconds, count * sizeof *sorted);
    qsort(sorted, count, sizeof *sorted, rs_seconds_compare);
    return sorted[(count - 1) / 2];
}

void rs_policy_add_time(rs_policy_times *times, double seconds, double work_items)
{
    if (seconds <= 0 || work_items <= 0)
        return;
    times->seconds[times->count % RS_POLICY_SAMPLES] = seconds / work_items;
    times->count++;
    times->median = median_of(times->seconds,
                              times->count < RS_POLICY_SAMPLES ? times->count : RS_POLICY_SAMPLES);
}

/* ---- prediction ---- */

/* Kernels that use whole structures, on one NVIDIA H100 (lab/docs/performance.md): how many times
 * faster from tiles. Up to five words neighbouring work-items share their lines well enough. */
static const struct {
    double bytes, ratio;
} whole_records[] = {{20, 1.0}, {32, 2.8}, {64, 4.6}, {76, 5.1}, {128, 6.6}, {256, 6.9}};
enum { WHOLE_RECORDS = sizeof whole_records / sizeof whole_records[0] };

static double ratio_of_whole(double bytes)
{
    if (bytes <= whole_records[0].bytes)
        return 1;
    for (size_t i = 1; i < WHOLE_RECORDS; i++) {
        double from = whole_records[i - 1].bytes, to = whole_records[i].bytes;
        if (bytes <= to)
            return whole_records[i - 1].ratio +
                   (whole_records[i].ratio - whole_records[i - 1].ratio) * (bytes - from) /
                       (to - from);
    }
    return whole_records[WHOLE_RECORDS - 1].ratio;
}

double rs_policy_predict(bool is_cpu, size_t record_bytes, size_t used_bytes, bool changes)
{
    if (record_bytes == 0)
        return 1;
    if (used_bytes == 0 || used_bytes > record_bytes)
        used_bytes = record_bytes;
    double unused = (double)record_bytes / (double)used_bytes;
    /* A CPU's thread walks through a structure's lines one after the other: only lines that are
     * fetched for a small part of them are lost. */
    if (is_cpu)
        return record_bytes > CACHE_LINE && unused >= 4 ? unused / 2 : 1;
    double ratio = ratio_of_whole((double)record_bytes) * sqrt(unused);
    /* Records of five words that are read are fast enough, but to write a part of each is not:
     * Black-Scholes runs 1.7 times faster from tiles. */
    bool writes_parts = changes && record_bytes > SMALL_RECORD;
    return writes_parts && ratio < ratio_of_changed ? ratio_of_changed : ratio;
}

/* Bytes a second of launches that read whole structures: on one H100 480e9. */
static const double usual_rate[] = {[false] = 500e9, [true] = 20e9};

double rs_policy_guess(bool is_cpu, double bytes)
{
    return bytes / usual_rate[is_cpu];
}

/* ---- decision ---- */

static size_t expected_launches(const rs_policy_knowledge *known, const rs_policy_launch *launch)
{
    size_t usual = launch->previous_run > 0 ? launch->previous_run : known->usual_run;
    size_t rest = usual > launch->run ? usual - launch->run : 0;
    size_t expected = rest > launch->run ? rest : launch->run;
    return expected > 0 ? expected : 1;
}

/* Seconds a work-item of the rewritten form: as measured, else as predicted; the better of the two
 * while the measurement is young. */
static double time_moved(const rs_policy_knowledge *known)
{
    double predicted = rs_policy_time(&known->own) / known->predicted_ratio;
    double measured = rs_policy_time(&known->moved);
    if (known->moved.count == 0)
        return predicted;
    return known->moved.count < TRIALS_TO_TRUST && predicted < measured ? predicted : measured;
}

bool rs_policy_is_long(const rs_policy_knowledge *known, double work_items)
{
    return rs_policy_time(&known->own) * work_items >= long_launch_seconds;
}

double rs_policy_build_budget(double elapsed)
{
    return affordable_builds * elapsed + affordable_build_seconds;
}

bool rs_policy_can_build(double seconds, double spent, double elapsed)
{
    return spent + seconds <= rs_policy_build_budget(elapsed);
}

bool rs_policy_is_near_trial(double earlier_seconds)
{
    return 2 * affordable_part * earlier_seconds >= fixed_trial_seconds;
}

/* Whether the prediction is trusted: regular accesses, and launches beside which the fixed costs do
 * not count. */
static bool is_trusted(const rs_policy_knowledge *known, const rs_policy_launch *launch)
{
    return !known->is_unsure && rs_policy_is_long(known, launch->work_items);
}

/* What the first launches of the rewritten form may cost, when they take twice as long. */
static double cost_of_trial(const rs_policy_knowledge *known, const rs_policy_launch *launch,
                            double own)
{
    double longer = is_trusted(known, launch) ? 0 : TRIALS_TO_TRUST * own;
    return 2 * launch->forward_seconds + launch->plan_seconds + longer + fixed_trial_seconds;
}

/* What the kernel has taken so far. */
static double seconds_before(const rs_policy_knowledge *known)
{
    return rs_policy_time(&known->own) * known->own_work_items +
           rs_policy_time(&known->moved) * known->moved_work_items;
}

/* Whether the kernel can bear a cost beside what it has taken, and `more` seconds besides. */
static bool can_bear(const rs_policy_knowledge *known, double cost, double more)
{
    return known->trial_seconds + known->timing_seconds + cost <=
           affordable_part * (seconds_before(known) + more);
}

static bool is_affordable(const rs_policy_knowledge *known, const rs_policy_launch *launch,
                          double cost)
{
    return can_bear(known, cost,
                    is_trusted(known, launch)
                        ? launch->start_seconds
                        : fmin(known->earlier_seconds, launch->start_seconds));
}

/* The times of the first launches of a trial are a part of its cost. */
static bool belongs_to_trial(const rs_policy_knowledge *known, bool rewritten)
{
    return known->trial_seconds > 0 &&
           (rewritten ? known->moved_taken < TRIALS_TO_TRUST
                      : known->moved.count > 0 && known->own_taken < OWN_TO_TRY);
}

/* Whether the last time is far from those before. */
static bool is_doubted(const rs_policy_times *times)
{
    double last = times->count > 0 ? times->seconds[(times->count - 1) % RS_POLICY_SAMPLES] : 0;
    return last > times->median * doubtful_ratio || last * doubtful_ratio < times->median;
}

/* What is known may have changed since, or have been true of another run alone. */
static bool wants_another_look(const rs_policy_knowledge *known, bool rewritten, double seconds)
{
    if (is_doubted(rewritten ? &known->moved : &known->own))
        return known->launches_since_timed >= LAUNCHES_BETWEEN_DOUBTS &&
               can_bear(known, seconds, 0);
    return known->launches_since_timed >= LAUNCHES_BETWEEN_TIMES &&
           known->timing_seconds + seconds <= affordable_looks * seconds_before(known);
}

bool rs_policy_may_gain(const rs_policy_knowledge *known)
{
    return known->predicted_ratio >= worthwhile_ratio || known->moved_taken > 0 ||
           known->moved.count > 0;
}

bool rs_policy_is_first_time(const rs_policy_knowledge *known)
{
    return known->own_taken + known->moved_taken == 0;
}

bool rs_policy_was_short(const rs_policy_knowledge *known, double work_items)
{
    return known->remembered_own > 0 && known->remembered_own * work_items < long_launch_seconds;
}

/* Whether the first time is worth its cost. Where launches have been short, only once the kernel
 * has taken enough: if it is what it was, or by the clock, or after many launches, if it is not. */
static bool wants_very_first_time(const rs_policy_knowledge *known, double work_items,
                                  double seconds, double since_first)
{
    const double taken = known->remembered_own * known->own_work_items;
    return !rs_policy_was_short(known, work_items) ||
           seconds <= affordable_part * fmax(taken, since_first) ||
           known->launches_since_timed >= LAUNCHES_TO_DOUBT;
}

/* Whether a form has not been timed often enough. */
static bool wants_first_times(const rs_policy_knowledge *known, bool rewritten, double work_items,
                              double seconds, double since_first)
{
    const size_t count = rewritten ? known->moved.count : known->own.count;
    const size_t taken = rewritten ? known->moved_taken : known->own_taken;
    const bool is_new = known->own.count + known->moved.count == 0;
    if (count >= RS_POLICY_SAMPLES || taken >= RS_POLICY_SAMPLES)
        return false;
    if (seconds > 0 && is_new && rs_policy_is_first_time(known))
        return rewritten || wants_very_first_time(known, work_items, seconds, since_first);
    if (seconds <= 0 || (rewritten && count < TRIALS_TO_TRUST) ||
        belongs_to_trial(known, rewritten))
        return true;
    if (count >= TRIALS_TO_TRUST && known->moved.count >= TRIALS_TO_TRUST) /* both are known */
        return known->timing_seconds + seconds <= affordable_again * seconds_before(known);
    return (known->moved.count > 0 || known->moved_taken > 0 || known->own_taken < OWN_TO_TRY) &&
           can_bear(known, seconds, 0);
}

bool rs_policy_wants_time(const rs_policy_knowledge *known, bool rewritten, double work_items,
                          double seconds, double since_first)
{
    return (rewritten || rs_policy_may_gain(known)) &&
           (wants_first_times(known, rewritten, work_items, seconds, since_first) ||
            wants_another_look(known, rewritten, seconds));
}

/* Whether a launch of a form is under way whose time is of use. */
static bool is_awaited(const rs_policy_times *times, size_t taken, size_t lost)
{
    return times->count < RS_POLICY_SAMPLES && times->count + lost < taken;
}

bool rs_policy_awaits_time(const rs_policy_knowledge *known)
{
    return rs_policy_may_gain(known) &&
           (is_awaited(&known->own, known->own_taken, known->own_lost) ||
            is_awaited(&known->moved, known->moved_taken, known->moved_lost));
}

void rs_policy_lose_time(rs_policy_knowledge *known, bool rewritten)
{
    *(rewritten ? &known->moved_lost : &known->own_lost) += 1;
}

void rs_policy_take_time(rs_policy_knowledge *known, bool rewritten, double seconds)
{
    if (!belongs_to_trial(known, rewritten))
        known->timing_seconds += seconds;
    *(rewritten ? &known->moved_taken : &known->own_taken) += 1;
    known->launches_since_timed = 0;
}

void rs_policy_note_launch(rs_policy_knowledge *known, bool rewritten, double work_items)
{
    *(rewritten ? &known->moved_work_items : &known->own_work_items) += work_items;
    known->launches_since_timed++;
}

/* Of launches that were never compared with the program's own: as if they took twice as long. */
static const double part_that_may_be_lost = 0.5;

double rs_policy_gain(const rs_policy_knowledge *known, const rs_policy_launch *launch,
                      const rs_policy_decision *decision)
{
    double own = rs_policy_time(&known->own), moved = rs_policy_time(&known->moved);
    double gain = 0;
    if (decision->trial_seconds > 0)
        gain -= decision->trial_seconds;
    else if (decision->rewritten && launch->forward_seconds > 0)
        gain -= 2 * launch->forward_seconds + launch->plan_seconds;
    if (decision->rewritten && moved > 0)
        gain += (own > 0 ? own - moved : -moved * part_that_may_be_lost) * launch->work_items;
    return gain;
}

static double may_have_lost(const rs_policy_knowledge *known)
{
    return rs_policy_time(&known->moved) * known->moved_work_items * part_that_may_be_lost;
}

/* Before the program's own form has been timed. A kernel that finds its buffers converted uses them
 * so until it may have lost what it takes to compare. */
static rs_policy_decision find_own_time(const rs_policy_knowledge *known,
                                        const rs_policy_launch *launch, bool in_place)
{
    double comparison = 2 * launch->inverse_seconds + fixed_trial_seconds;
    if (in_place && may_have_lost(known) < comparison)
        return (rs_policy_decision){true, false, "the buffers are in this layout already", 0,
                                    RS_INDIFFERENT};
    return (rs_policy_decision){false, false,
                                "its time in the program's own layout is not known yet",
                                in_place ? comparison : 0, RS_FOR_LAYOUT};
}

/* As many launches as a trial has are enqueued, and their times are not known. Others may be slow
 * as well. */
static bool is_trial_under_way(const rs_policy_knowledge *known)
{
    return known->moved.count < TRIALS_TO_TRUST &&
           known->moved_taken >= TRIALS_TO_TRUST + known->moved_lost;
}

/* Whether what was converted so far has not paid for itself, so that one more conversion might
 * make the program slower than it may become. */
static bool is_in_debt(const rs_policy_launch *launch)
{
    return launch->owed_seconds > 0 &&
           launch->owed_seconds + 2 * launch->forward_seconds + launch->plan_seconds >
               affordable_part * launch->elapsed_seconds;
}

/* What the conversions of a launch are expected to take, in both directions, with their plans. */
static double conversion_seconds(const rs_policy_knowledge *known, const rs_policy_launch *launch)
{
    const bool is_first = known->moved.count == 0 && launch->forward_predicted > 0;
    return 2 * (is_first ? launch->forward_predicted : launch->forward_seconds) +
           launch->plan_seconds;
}

rs_policy_decision rs_policy_decide(const rs_policy_knowledge *known,
                                    const rs_policy_launch *launch)
{
    bool in_place = launch->forward_seconds <= 0 && launch->inverse_seconds > 0;
    if (!in_place && known->moved.count == 0 && known->predicted_ratio < worthwhile_ratio)
        return (rs_policy_decision){false, false,
                                    known->nothing_to_gain != NULL
                                        ? known->nothing_to_gain
                                        : "by its structures and this device, nothing is to be "
                                          "gained from another layout",
                                    0, RS_INDIFFERENT};
    if (known->own.count < (rs_policy_is_long(known, launch->work_items) ? 1 : OWN_TO_TRY))
        return find_own_time(known, launch, in_place);
    double own = rs_policy_time(&known->own) * launch->work_items;
    double moved = time_moved(known) * launch->work_items;
    rs_policy_demand demand = own > moved ? RS_FOR_LAYOUT : RS_AGAINST_LAYOUT;
    double launches = (double)expected_launches(known, launch);
    /* What is converted must be converted back one day; what is converted already has been paid. */
    double cost_moved = launches * moved + conversion_seconds(known, launch);
    double cost_own = launches * own + launch->inverse_seconds;
    if (cost_moved >= cost_own)
        return (rs_policy_decision){false, false,
                                    own > moved
                                        ? "the gain would not pay for the conversions: too few "
                                          "launches between other uses of its buffers"
                                        : "measured to be no faster in another layout",
                                    0, demand};
    if (!in_place && is_in_debt(launch))
        return (rs_policy_decision){
            false, false, "the conversions so far have not paid for themselves", 0, demand};
    if (is_trial_under_way(known))
        return (rs_policy_decision){false, false, "the times of its trial are not known yet", 0,
                                    demand};
    if (known->moved.count > 0)
        return (rs_policy_decision){true, false, "measured to be faster", 0, demand};
    double trial = in_place ? 0 : cost_of_trial(known, launch, own);
    if (in_place || is_affordable(known, launch, trial))
        return (rs_policy_decision){true, false, "predicted to be faster", trial, demand};
    return (rs_policy_decision){
        false, true, "a trial would cost too much of the time that it has taken so far", 0, demand};
}
