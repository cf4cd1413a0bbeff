/*
 * With MADE_UP_TIMES (made_up_gpu.h) the clock of this process is made up, too, for all that is in
 * it: the program, the layer and the driver. So a busy machine changes nothing of what is decided
 * by times. Time passes
 *
 *   - by what launches are said to take, and a little whenever somebody looks at the clock;
 *   - when a thread of the program sleeps, or waits for a condition with a time-out, but not before
 *     all other threads sleep or wait and no child process is at work: whatever is done beside the
 *     program is done by then.
 *
 * Other threads, such as those that build conversions, sleep or wait until that time has come.
 */
#include "made_up_clock.h"

#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { READING = 1000, SECOND = 1000000000, MOST_THREADS = 256 }; /* nanoseconds */

extern atomic_ullong made_up_nanoseconds;
atomic_ullong made_up_nanoseconds = SECOND;

static pthread_mutex_t turn = PTHREAD_MUTEX_INITIALIZER; /* of the program's threads that sleep */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* of what follows */
static pthread_cond_t passed = PTHREAD_COND_INITIALIZER;

/* Other threads that sleep, or wait for a condition. */
static struct {
    unsigned long long end; /* 0: none */
    pthread_cond_t
        *condition; /* that is theirs, and is woken up as time passes; NULL: they sleep */
    pthread_mutex_t *mutex;
} sleepers[MOST_THREADS];

static bool is_made_up; /* from the start of the program */
static _Thread_local bool is_of_program;

__attribute__((constructor)) static void begin(void)
{
    const char *times = getenv("MADE_UP_TIMES");
    is_made_up = times != NULL && *times != '\0';
    if (is_made_up &&
        dlsym(RTLD_DEFAULT, "pthread_cond_clockwait") != (void *)pthread_cond_clockwait) {
        fprintf(stderr, "the made-up clock is not the layer's\n");
        exit(1);
    }
    is_of_program = true;
}

void made_up_clock_join(void)
{
    is_of_program = true;
}

/* ---- whether anybody works ---- */

typedef struct {
    bool works;
    unsigned long long switches; /* how often a thread was given a processor, of all but this one */
} activity;

static void add_thread(activity *seen, const char *task)
{
    char path[300], line[128], state;
    unsigned long long switches;
    snprintf(path, sizeof path, "/proc/self/task/%s/status", task);
    FILE *file = fopen(path, "r");
    if (file == NULL) /* it has ended */
        return;
    while (fgets(line, sizeof line, file) != NULL)
        if (sscanf(line, "State: %c", &state) == 1)
            seen->works |= strchr("SZXT", state) == NULL;
        else if (sscanf(line, "voluntary_ctxt_switches: %llu", &switches) == 1 ||
                 sscanf(line, "nonvoluntary_ctxt_switches: %llu", &switches) == 1)
            seen->switches += switches;
    fclose(file);
}

static activity look_at_threads(void)
{
    const long own = syscall(SYS_gettid);
    activity seen = {false, 0};
    DIR *tasks = opendir("/proc/self/task");
    const struct dirent *task;
    while (tasks != NULL && (task = readdir(tasks)) != NULL)
        if (task->d_name[0] != '.' && strtol(task->d_name, NULL, 10) != own)
            add_thread(&seen, task->d_name);
    if (tasks != NULL)
        closedir(tasks);
    return seen;
}

static bool has_working_child(void)
{
    siginfo_t about = {0};
    return waitid(P_ALL, 0, &about, WEXITED | WNOHANG | WNOWAIT) == 0 && about.si_pid == 0;
}

/* One that works may wake another up that was looked at before: nobody works when all have slept
 * through two looks. */
static void wait_until_nobody_works(void)
{
    static const struct timespec moment = {0, 100000};
    activity before, seen = {true, 0};
    do {
        syscall(SYS_nanosleep, &moment, NULL);
        before = seen;
        seen = look_at_threads();
    } while (before.works || seen.works || before.switches != seen.switches || has_working_child());
}

/* ---- sleep ---- */

/* The time goes on to the end of the first sleep, `most` at the latest. */
static void pass(unsigned long long most)
{
    pthread_cond_t *conditions[MOST_THREADS];
    pthread_mutex_t *mutexes[MOST_THREADS];
    int count = 0;
    pthread_mutex_lock(&lock);
    unsigned long long next = most;
    for (int i = 0; i < MOST_THREADS; i++)
        if (sleepers[i].end != 0 && sleepers[i].end < next)
            next = sleepers[i].end;
    if (next > atomic_load(&made_up_nanoseconds))
        atomic_store(&made_up_nanoseconds, next);
    pthread_cond_broadcast(&passed);
    for (int i = 0; i < MOST_THREADS; i++)
        if (sleepers[i].end != 0 && sleepers[i].condition != NULL) {
            conditions[count] = sleepers[i].condition;
            mutexes[count++] = sleepers[i].mutex;
        }
    pthread_mutex_unlock(&lock);
    for (int i = 0; i < count; i++) {
        pthread_mutex_lock(mutexes[i]);
        pthread_cond_broadcast(conditions[i]);
        pthread_mutex_unlock(mutexes[i]);
    }
}

static void let_time_pass(unsigned long long nanoseconds)
{
    pthread_mutex_lock(&turn);
    wait_until_nobody_works();
    const unsigned long long end = atomic_load(&made_up_nanoseconds) + nanoseconds;
    while (atomic_load(&made_up_nanoseconds) < end) {
        pass(end);
        wait_until_nobody_works();
    }
    pthread_mutex_unlock(&turn);
}

/* Notes a thread that sleeps to an end; its place. */
static int add_sleeper(unsigned long long end, pthread_cond_t *condition, pthread_mutex_t *mutex)
{
    int own = 0;
    pthread_mutex_lock(&lock);
    while (sleepers[own].end != 0 && own < MOST_THREADS - 1)
        own++;
    sleepers[own].end = end;
    sleepers[own].condition = condition;
    sleepers[own].mutex = mutex;
    pthread_mutex_unlock(&lock);
    return own;
}

static void remove_sleeper(int own)
{
    pthread_mutex_lock(&lock);
    sleepers[own].end = 0;
    pthread_mutex_unlock(&lock);
}

static void sleep_until_time_has_passed(unsigned long long nanoseconds)
{
    const unsigned long long end = atomic_load(&made_up_nanoseconds) + nanoseconds;
    const int own = add_sleeper(end, NULL, NULL);
    pthread_mutex_lock(&lock);
    while (atomic_load(&made_up_nanoseconds) < end)
        pthread_cond_wait(&passed, &lock);
    pthread_mutex_unlock(&lock);
    remove_sleeper(own);
}

/*
 * A thread of the program returns once nobody works, for its condition may hold by now. Time passes
 * when it comes again with the same end and nobody has worked since.
 */
static void wait_for_others(pthread_mutex_t *mutex, unsigned long long end)
{
    static _Thread_local unsigned long long last_end, last_switches;
    pthread_mutex_unlock(mutex);
    pthread_mutex_lock(&turn);
    wait_until_nobody_works();
    const unsigned long long switches = look_at_threads().switches;
    if (end == last_end && switches == last_switches)
        pass(end);
    last_end = end;
    last_switches = switches;
    pthread_mutex_unlock(&turn);
    pthread_mutex_lock(mutex);
}

void sleep_nanoseconds(long nanoseconds)
{
    nanosleep(&(struct timespec){nanoseconds / SECOND, nanoseconds % SECOND}, NULL);
}

void pass_nanoseconds(long nanoseconds)
{
    atomic_fetch_add(&made_up_nanoseconds, (unsigned long long)nanoseconds);
}

/* ---- in place of the C library's ---- */

int clock_gettime(clockid_t clock, struct timespec *time)
{
    if (clock != CLOCK_MONOTONIC || !is_made_up)
        return (int)syscall(SYS_clock_gettime, clock, time);
    unsigned long long now = atomic_fetch_add(&made_up_nanoseconds, READING);
    time->tv_sec = (time_t)(now / SECOND);
    time->tv_nsec = (long)(now % SECOND);
    return 0;
}

int pthread_cond_clockwait(pthread_cond_t *condition, pthread_mutex_t *mutex, clockid_t clock,
                           const struct timespec *until)
{
    if (!is_made_up) {
        int (*own)(pthread_cond_t *, pthread_mutex_t *, clockid_t, const struct timespec *);
        *(void **)&own = dlsym(RTLD_NEXT, "pthread_cond_clockwait");
        return own(condition, mutex, clock, until);
    }
    const unsigned long long end =
        (unsigned long long)until->tv_sec * SECOND + (unsigned long long)until->tv_nsec;
    if (atomic_load(&made_up_nanoseconds) >= end)
        return ETIMEDOUT;
    if (is_of_program) {
        wait_for_others(mutex, end);
    } else {
        const int own = add_sleeper(end, condition, mutex);
        pthread_cond_wait(condition, mutex); /* time passes only once this mutex is free */
        remove_sleeper(own);
    }
    return atomic_load(&made_up_nanoseconds) >= end ? ETIMEDOUT : 0;
}

int nanosleep(const struct timespec *time, struct timespec *left)
{
    if (!is_made_up)
        return (int)syscall(SYS_nanosleep, time, left);
    unsigned long long nanoseconds =
        (unsigned long long)time->tv_sec * SECOND + (unsigned long long)time->tv_nsec;
    if (is_of_program)
        let_time_pass(nanoseconds);
    else
        sleep_until_time_has_passed(nanoseconds);
    return 0;
}
