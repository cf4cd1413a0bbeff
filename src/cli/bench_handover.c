/* Two threads hand a cache line over in turns; see bench.h. */
#include "cli/bench.h"
#include "console/progress.h"

#include <pthread.h>
#include <stdalign.h>
#include <stdatomic.h>

/* Few turns a group: on one processor each of them waits for the scheduler. */
enum { GROUPS = 512, TURNS = 16, LINE_BYTES = 64 };
static const double MOST_SECONDS = 0.1;

typedef struct {
    alignas(LINE_BYTES) atomic_size_t turn; /* odd: the other thread's; 0: the end */
} line;

static void *hand_back(void *argument)
{
    line *shared = argument;
    for (size_t turn = 1;; turn += 2) {
        size_t seen;
        do
            seen = atomic_load_explicit(&shared->turn, memory_order_acquire);
        while (seen != turn && seen != 0);
        if (seen == 0)
            return NULL;
        atomic_store_explicit(&shared->turn, turn + 1, memory_order_release);
    }
}

/* Seconds for TURNS round trips, of which the first is the given turn. */
static double time_group(line *shared, size_t first)
{
    double start = rs_seconds_now();
    for (size_t turn = first; turn < first + 2 * (size_t)TURNS; turn += 2) {
        atomic_store_explicit(&shared->turn, turn, memory_order_release);
        while (atomic_load_explicit(&shared->turn, memory_order_acquire) != turn + 1)
            ;
    }
    return rs_seconds_now() - start;
}

double rs_bench_handover(void)
{
    line shared;
    atomic_init(&shared.turn, 2); /* nobody's yet */
    pthread_t other;
    if (pthread_create(&other, NULL, hand_back, &shared) != 0)
        return 0;
    double start = rs_seconds_now();
    double least = time_group(&shared, 1);
    for (size_t group = 1; group < GROUPS && rs_seconds_now() - start < MOST_SECONDS; group++) {
        double seconds = time_group(&shared, 1 + group * 2 * (size_t)TURNS);
        least = seconds < least ? seconds : least;
    }
    atomic_store_explicit(&shared.turn, 0, memory_order_release);
    pthread_join(other, NULL);
    return least / (2 * TURNS);
}
