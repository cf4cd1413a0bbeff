/*
 * Policy auto: whether the next launch of a kernel uses the program's own form or the rewritten one
 * (Sung thesis, chapter 5, leaves this to the user).
 *
 *  1. On a GPU the rewriter has foretold how many times faster the rewritten form runs (the judge
 *     of layouts). Else that is predicted from the size of the structures and the bytes of them
 *     that are used. Where nothing is to be gained, nothing is tried.
 *  2. The program's own form is timed first. The rewritten form is tried when the gain, as
 *     predicted, would pay for the conversions, and when the program can bear it if it does not:
 *  3. Both times known, they alone decide, and wisdom keeps them.
 *
 * The bound of regret: all trials of a kernel together (conversions in both directions, the making
 * of their plans, what waiting and enqueueing take, and launches that turn out to take twice as
 * long) cost at most a twenty-fifth of the time that the kernel has taken before. With what is
 * measured besides, a program is never slower by more than a twentieth for a prediction that was
 * wrong; a kernel of 10 microseconds is tried after some thousand launches. For launches that are
 * so long that the fixed costs of a trial do not count, of a kernel whose accesses are regular, the
 * time from the program's start to the kernel's first launch counts too, and they are expected to
 * take no longer. What the kernel took in earlier runs of programs, while it was not tried, counts
 * as far as this run took so long to start: so kernels with few launches are tried at last, and no
 * run is slower by more than a twentieth either.
 *
 * The rewritten form is built when it is wanted for the first time, by a thread beside the program,
 * if that is expected to take no more than 3 % of the program's time so far and 20 ms, all builds
 * together. An earlier run that wanted it, and ended before it was tried, or that measured a gain,
 * has it built before the first launch.
 *
 * To time a launch of a queue without profiling costs something too (profiled_launch.h). The first
 * launch of a kernel that may gain is timed if all such first times, with all that is waited for,
 * times and conversions that are being built, stay within a twenty-fifth of the program's time so
 * far; others, outside of trials, as long as the kernel's trials and times together stay within
 * that of its own time. Where launches were short in earlier runs the first one is not timed at
 * once, either; what nobody has timed is taken for as short as its buffers are small, until the
 * program has waited for it. Until the times of a trial are known, no more launches than it has are
 * in the rewritten form.
 *
 * How long a layout will be of use is not known. It is expected to be of use for as many launches
 * as it has already been wanted, or as it was the time before: so the conversions never cost more
 * than about what waiting for them has already cost, and a buffer that is launched on once is
 * converted only if that one launch pays for it. Where no conversion has been timed, one that is to
 * be tried is expected to be as fast as the rewritten form, but must be affordable if it is not. A
 * use ends when something needs the program's own layout: a read, or a kernel that is faster there.
 * Kernels that gain nothing use what they find.
 *
 * Expectations fail. So there is an account of all kernels together: conversions, trials and timed
 * launches are owed, what launches gain by their measured times pays, and while something is owed
 * nothing more is converted that would make it more than a twenty-fifth of the program's time.
 *
 * Times fail, too: a kernel is known for one size of launches, between powers of two, what is known
 * is timed again from time to time for at most a four-hundredth of the kernel's time, and wisdom
 * counts as two times, so that three new ones go before it. A kernel that finds its buffers
 * converted by another has never been timed in its own form: it is, once it may have lost what that
 * takes.
 *
 * Nothing here calls OpenCL. All seconds come in as arguments, so that tests can make them up.
 */
#ifndef RS_LAYER_POLICY_H
#define RS_LAYER_POLICY_H

#include <stdbool.h>
#include <stddef.h>

enum { RS_POLICY_SAMPLES = 5 };

/* Seconds a work-item, of the last few launches. */
typedef struct {
    double seconds[RS_POLICY_SAMPLES];
    double median; /* of them; 0: there is none */
    size_t count;  /* of all launches that were timed */
} rs_policy_times;

/* What is known of one kernel on one device. */
typedef struct {
    rs_policy_times own;
    rs_policy_times moved;       /* of the rewritten form */
    double predicted_ratio;      /* own / moved; 1: nothing to gain */
    const char *nothing_to_gain; /* why, if so, for the user; NULL: by its structures */
    bool is_unsure;              /* most accesses are irregular: a trial may well fail */
    size_t usual_run;      /* launches until something else needed the buffers in AoS; 0: unknown */
    double own_work_items; /* of all launches in the program's own form */
    double moved_work_items;
    size_t launches_since_timed;
    size_t own_taken, moved_taken; /* launches that were given out to be timed */
    size_t own_lost, moved_lost;   /* of them, those that had no time in the end */
    double timing_seconds;         /* that this may have cost, outside of trials */
    double trial_seconds;          /* that trials may have cost so far */
    double earlier_seconds;        /* that it took in earlier runs, without having been tried */
    double remembered_own;         /* a work-item of it then, or as far as it can be known without
                                      having timed it; 0: unknown. Nothing is tried by it */
} rs_policy_knowledge;

/* One launch to be decided. */
typedef struct {
    double work_items;
    double forward_seconds;   /* conversions before the rewritten form can run */
    double forward_predicted; /* the same, if the device is as fast as predicted; 0: as above */
    double inverse_seconds;   /* conversions before the program's own form can run */
    double plan_seconds;      /* making the plans of those conversions, beside the program */
    size_t run;               /* launches so far that wanted the layout, this one not counted */
    size_t previous_run;      /* the same, the time before; 0: there was none */
    double start_seconds;     /* from the program's start to the kernel's first launch */
    double owed_seconds;      /* that all kernels have lost so far, less what they have gained */
    double elapsed_seconds;   /* since the program's start; needed only where something is owed */
} rs_policy_launch;

/* What a launch means for the layout of its buffers: it ends its use, is one of those that it is
 * expected to be of use for, or neither. */
typedef enum { RS_INDIFFERENT, RS_FOR_LAYOUT, RS_AGAINST_LAYOUT } rs_policy_demand;

typedef struct {
    bool rewritten;
    bool is_near;         /* it would be, once a trial costs less of the time before */
    const char *reason;   /* a constant string, or `nothing_to_gain` */
    double trial_seconds; /* what this launch may cost as a trial, to be added to the kernel's */
    rs_policy_demand demand;
} rs_policy_decision;

void rs_policy_add_time(rs_policy_times *times, double seconds, double work_items);

/* Whether its times are of any use. */
bool rs_policy_may_gain(const rs_policy_knowledge *known);

/* Whether a launch has been given out whose time is not known yet, and would be of use. */
bool rs_policy_awaits_time(const rs_policy_knowledge *known);

/* The median of the last samples; 0 when there is none. */
static inline double rs_policy_time(const rs_policy_times *times)
{
    return times->median;
}

/* How many times faster a kernel is that uses `used_bytes` of each record of `record_bytes`, and
 * perhaps changes them, if they lie in tiles. 1 where nothing is gained. */
double rs_policy_predict(bool is_cpu, size_t record_bytes, size_t used_bytes, bool changes);

/* Whether to time the next launch, `since_first` seconds after the kernel's first one, and that it
 * is timed. It costs `seconds`. */
bool rs_policy_wants_time(const rs_policy_knowledge *known, bool rewritten, double work_items,
                          double seconds, double since_first);
void rs_policy_take_time(rs_policy_knowledge *known, bool rewritten, double seconds);

/* Whether none has been timed so far. */
bool rs_policy_is_first_time(const rs_policy_knowledge *known);

/* A launch that was to be timed has no time. */
void rs_policy_lose_time(rs_policy_knowledge *known, bool rewritten);

/* Counts a launch. */
void rs_policy_note_launch(rs_policy_knowledge *known, bool rewritten, double work_items);

/* Seconds that a launch gains over the program without the policy; less than 0: it loses them.
 * Conversions back have been counted with those there. */
double rs_policy_gain(const rs_policy_knowledge *known, const rs_policy_launch *launch,
                      const rs_policy_decision *decision);

/* About how many seconds a launch takes that uses so many bytes, if memory bounds it. */
double rs_policy_guess(bool is_cpu, double bytes);

/* Whether such launches were short in earlier runs, or are by a guess: the first one is not timed
 * at once then, in front of an idle device, and none waits for its time. */
bool rs_policy_was_short(const rs_policy_knowledge *known, double work_items);

/* Whether a kernel that took so many seconds in earlier runs is soon tried in this one. */
bool rs_policy_is_near_trial(double earlier_seconds);

/* Seconds that a program may wait for builds until it has run for so long. */
double rs_policy_build_budget(double elapsed);

/* Whether compilers may work for so many seconds, beside the program, on a form that may gain
 * nothing in the end; `spent` is what they have worked before, and `elapsed` the program's time. */
bool rs_policy_can_build(double seconds, double spent, double elapsed);

/* Whether a launch is so long that the fixed costs of a trial do not count. */
bool rs_policy_is_long(const rs_policy_knowledge *known, double work_items);

rs_policy_decision rs_policy_decide(const rs_policy_knowledge *known,
                                    const rs_policy_launch *launch);

#endif
