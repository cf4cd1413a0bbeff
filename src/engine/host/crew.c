/* Crews of threads that sleep; see crew.h. A member that has nothing to do looks for a while before
 * it sleeps, for the stages of a plan follow each other; unless it would take the processor of
 * another one. */
#include "engine/host/crew.h"

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <signal.h>
#include <stdalign.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
    LINE_BYTES = 64,
    LOOKS = 1000,                /* some 30 microseconds */
    KEPT = RS_HOST_MOST_MEMBERS, /* threads that sleep, of all crews */
};

typedef struct {
    alignas(LINE_BYTES) sem_t called;
    pthread_t thread; /* not of member 0 */
    rs_host_crew *crew;
    size_t index;
} crew_member;

struct rs_host_crew {
    rs_host_crew *next; /* of those that sleep */
    size_t size;        /* members that it has threads for, and the caller */
    size_t count;       /* members of this run */
    atomic_bool looks;
    bool dismissed;
    cpu_set_t processors; /* on which its threads run */
    void (*work)(void *context, size_t index);
    void *context;
    alignas(LINE_BYTES) atomic_size_t working;
    crew_member members[RS_HOST_MOST_MEMBERS];
};

static struct {
    pthread_mutex_t lock;
    pthread_once_t once;
    rs_host_crew *asleep;
    size_t threads; /* of those */
    pid_t process;  /* that started them */
} pool = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_ONCE_INIT, NULL, 0, 0};

/* ---- members ---- */

static inline void relax(void)
{
#if defined(__x86_64__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    __asm__ volatile("yield");
#endif
}

void rs_host_crew_call(rs_host_crew *crew, size_t index)
{
    sem_post(&crew->members[index].called);
}

void rs_host_crew_sleep(rs_host_crew *crew, size_t index)
{
    sem_t *called = &crew->members[index].called;
    if (atomic_load_explicit(&crew->looks, memory_order_relaxed))
        for (size_t i = 0; i < LOOKS; i++) {
            if (sem_trywait(called) == 0)
                return;
            relax();
        }
    while (sem_wait(called) != 0 && errno == EINTR)
        continue;
}

static void *serve(void *argument)
{
    const crew_member *own = argument;
    rs_host_crew *crew = own->crew;
    for (;;) {
        rs_host_crew_sleep(crew, own->index);
        if (crew->dismissed)
            return NULL;
        crew->work(crew->context, own->index);
        if (atomic_fetch_sub(&crew->working, 1) == 1)
            rs_host_crew_call(crew, 0);
    }
}

/* ---- crews ---- */

static rs_host_crew *create(void)
{
    rs_host_crew *crew = aligned_alloc(LINE_BYTES, sizeof *crew);
    if (crew == NULL)
        return NULL;
    crew->size = 1;
    crew->dismissed = false;
    atomic_init(&crew->looks, false);
    atomic_init(&crew->working, 0);
    CPU_ZERO(&crew->processors);
    sem_init(&crew->members[0].called, 0, 0);
    return crew;
}

/* Starts threads until there are `members`, or no more can be started. */
static void grow(rs_host_crew *crew, size_t members)
{
    sigset_t all;
    sigset_t before;
    if (crew->size >= members)
        return;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    while (crew->size < members) {
        crew_member *next = &crew->members[crew->size];
        next->crew = crew;
        next->index = crew->size;
        sem_init(&next->called, 0, 0);
        if (pthread_create(&next->thread, NULL, serve, next) != 0) {
            sem_destroy(&next->called);
            break;
        }
        crew->size++;
    }
    pthread_sigmask(SIG_SETMASK, &before, NULL);
}

static void release(rs_host_crew *crew)
{
    for (size_t i = 0; i < crew->size; i++)
        sem_destroy(&crew->members[i].called);
    free(crew);
}

static void dismiss(rs_host_crew *crew)
{
    crew->dismissed = true;
    for (size_t i = 1; i < crew->size; i++)
        rs_host_crew_call(crew, i);
    for (size_t i = 1; i < crew->size; i++)
        pthread_join(crew->members[i].thread, NULL);
    release(crew);
}

/* Where the caller may run, and whether all members have a processor there. */
static void follow_caller(rs_host_crew *crew, const cpu_set_t *processors)
{
    bool known = CPU_COUNT(processors) > 0;
    if (known && !CPU_EQUAL(processors, &crew->processors))
        for (size_t i = 1; i < crew->size; i++)
            pthread_setaffinity_np(crew->members[i].thread, sizeof *processors, processors);
    crew->processors = *processors;
    atomic_store_explicit(&crew->looks, (size_t)CPU_COUNT(processors) >= crew->count,
                          memory_order_relaxed);
}

/* ---- those that sleep ---- */

static void begin_fork(void)
{
    pthread_mutex_lock(&pool.lock);
}

static void end_fork(void)
{
    pthread_mutex_unlock(&pool.lock);
}

/* The child has none of their threads. */
static void begin_child(void)
{
    while (pool.asleep != NULL) {
        rs_host_crew *crew = pool.asleep;
        pool.asleep = crew->next;
        free(crew);
    }
    pool.threads = 0;
    pthread_mutex_unlock(&pool.lock);
}

static void watch_forks(void)
{
    pthread_atfork(begin_fork, end_fork, begin_child);
}

/* One whose threads run on these processors, if there is one, or the last one. */
static rs_host_crew *wake(const cpu_set_t *processors)
{
    pthread_mutex_lock(&pool.lock);
    rs_host_crew **place = &pool.asleep;
    while (*place != NULL && !CPU_EQUAL(&(*place)->processors, processors))
        place = &(*place)->next;
    if (*place == NULL)
        place = &pool.asleep;
    rs_host_crew *crew = *place;
    if (crew != NULL) {
        *place = crew->next;
        pool.threads -= crew->size - 1;
    }
    pool.process = getpid();
    pthread_mutex_unlock(&pool.lock);
    return crew;
}

/* False when so many sleep already. */
static bool lay_down(rs_host_crew *crew)
{
    pthread_mutex_lock(&pool.lock);
    bool kept = pool.threads + crew->size - 1 <= KEPT;
    if (kept) {
        crew->next = pool.asleep;
        pool.asleep = crew;
        pool.threads += crew->size - 1;
    }
    pthread_mutex_unlock(&pool.lock);
    return kept;
}

/* A child that was made without fork() has none of the threads and waits for none. */
__attribute__((destructor)) static void end_all(void)
{
    pthread_mutex_lock(&pool.lock);
    rs_host_crew *crew = pool.process == getpid() ? pool.asleep : NULL;
    pool.asleep = NULL;
    pool.threads = 0;
    pthread_mutex_unlock(&pool.lock);
    while (crew != NULL) {
        rs_host_crew *next = crew->next;
        dismiss(crew);
        crew = next;
    }
}

rs_host_crew *rs_host_crew_take(size_t members, size_t *count)
{
    cpu_set_t processors;
    *count = 1;
    pthread_once(&pool.once, watch_forks);
    /* Fails where there are more processors than the set has room for. */
    if (sched_getaffinity(0, sizeof processors, &processors) != 0)
        CPU_ZERO(&processors);
    rs_host_crew *crew = wake(&processors);
    if (crew == NULL)
        crew = create();
    if (crew == NULL)
        return NULL;
    grow(crew, members < RS_HOST_MOST_MEMBERS ? members : RS_HOST_MOST_MEMBERS);
    if (crew->size == 1) {
        release(crew);
        return NULL;
    }
    *count = crew->count = crew->size < members ? crew->size : members;
    follow_caller(crew, &processors);
    return crew;
}

void rs_host_crew_begin(rs_host_crew *crew, void (*work)(void *context, size_t index),
                        void *context)
{
    crew->work = work;
    crew->context = context;
    atomic_store(&crew->working, crew->count - 1);
    for (size_t i = 1; i < crew->count; i++)
        rs_host_crew_call(crew, i);
}

void rs_host_crew_end(rs_host_crew *crew)
{
    rs_host_crew_sleep(crew, 0);
    if (!lay_down(crew))
        dismiss(crew);
}
