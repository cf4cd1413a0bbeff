/*
 * Processes as threads: see threads.h. A message is matched when both sides have begun it; whoever
 * comes second copies the bytes. Each pair of processes has its messages in order, so the n-th that
 * is sent is the n-th that is received; both must be of one size.
 */
#include "threads.h"
#include "distributed/group.h"

#include <errno.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

typedef struct message message;
struct message {
    message *next;
    unsigned char *bytes; /* where it comes from, or goes to */
    size_t count;
    bool sends;
    bool done;
};

enum { OPEN_OPERATIONS = 2 };

typedef struct {
    message *sends;
    message *receives;
} operation;

typedef struct {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    int size;
    message **waiting; /* of each pair, all of one side */
    unsigned char *words;
    int arrived;
    int round;
} world;

typedef struct {
    world *world;
    int rank;
    process_work *work;
    void *context;
    restride_group *group; /* NULL: it makes its own */
    pthread_t thread;
    operation *open[OPEN_OPERATIONS]; /* begun and not finished */
} process;

static restride_group_memory addressed = RESTRIDE_GROUP_HOST;
static bool uses_peer_memory = true;
static bool overlaps_all;
static void (*make_groups)(restride_group *groups[], int size);
static void (*end_groups)(int size);
static int failing_rank = -1;
static int failing_after = -1;

void fail_message(int rank, int after)
{
    failing_rank = rank;
    failing_after = after;
}

void address_memory(restride_group_memory memory)
{
    addressed = memory;
}

void make_groups_with(void (*make)(restride_group *groups[], int size), void (*end)(int size))
{
    make_groups = make;
    end_groups = end;
}

void use_peer_memory(bool use)
{
    uses_peer_memory = use;
}

void overlap_all(bool all)
{
    overlaps_all = all;
}

static void fail_test(const char *what)
{
    fprintf(stderr, "threads: %s\n", what);
    abort();
}

/* Matches a message with the oldest one of the other side, or leaves it waiting. */
static message *post(world *w, int from, int to, unsigned char *bytes, size_t count, bool sends)
{
    message *mine = calloc(1, sizeof *mine);
    if (mine == NULL)
        fail_test("no memory");
    *mine = (message){.bytes = bytes, .count = count, .sends = sends};
    message **list = &w->waiting[from * w->size + to];
    message *other = *list;
    if (other == NULL || other->sends == sends) {
        while (*list != NULL)
            list = &(*list)->next;
        *list = mine;
        return mine;
    }
    if (other->count != count)
        fail_test("the sizes of a message's two sides differ");
    *list = other->next;
    memcpy(sends ? other->bytes : bytes, sends ? bytes : other->bytes, count);
    other->done = mine->done = true;
    pthread_cond_broadcast(&w->changed);
    return mine;
}

static int begin(void *context, const void *send, size_t send_bytes, int to, void *receive,
                 size_t receive_bytes, int from, void **result)
{
    process *p = context;
    if (p->rank == failing_rank && failing_after >= 0 && failing_after-- == 0)
        return 1;
    operation *o = calloc(1, sizeof *o);
    if (o == NULL)
        fail_test("no memory");
    pthread_mutex_lock(&p->world->lock);
    if (send_bytes > 0)
        o->sends = post(p->world, p->rank, to, (unsigned char *)(uintptr_t)send, send_bytes, true);
    if (receive_bytes > 0)
        o->receives = post(p->world, from, p->rank, receive, receive_bytes, false);
    pthread_mutex_unlock(&p->world->lock);
    *result = o;
    operation **open = &p->open[p->open[0] != NULL];
    if (*open != NULL)
        fail_test("more than two operations at once");
    *open = o;
    return 0;
}

static void free_operation(operation *o)
{
    if (o == NULL)
        return;
    free(o->sends);
    free(o->receives);
    free(o);
}

static struct timespec deadline(double seconds)
{
    struct timespec until;
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_sec += (time_t)seconds;
    until.tv_nsec += (long)((seconds - (double)(time_t)seconds) * 1e9);
    until.tv_sec += until.tv_nsec / 1000000000;
    until.tv_nsec %= 1000000000;
    return until;
}

static int finish(void *context, void *handle, double seconds)
{
    process *p = context;
    operation *o = handle;
    const struct timespec until = deadline(seconds);
    int failure = 0;
    pthread_mutex_lock(&p->world->lock);
    while (failure == 0 &&
           ((o->sends != NULL && !o->sends->done) || (o->receives != NULL && !o->receives->done)))
        failure = pthread_cond_timedwait(&p->world->changed, &p->world->lock, &until);
    pthread_mutex_unlock(&p->world->lock);
    if (failure != 0)
        return failure; /* its messages stay in the lists of the world */
    if (o != p->open[0])
        fail_test("operations are finished out of order");
    p->open[0] = p->open[1];
    p->open[1] = NULL;
    free_operation(o);
    return 0;
}

static int gather(void *context, const void *mine, size_t bytes, void *all, double seconds)
{
    const process *p = context;
    world *w = p->world;
    const struct timespec until = deadline(seconds);
    int failure = 0;
    pthread_mutex_lock(&w->lock);
    const int round = w->round;
    memcpy(w->words + (size_t)p->rank * bytes, mine, bytes);
    if (++w->arrived == w->size) {
        w->arrived = 0;
        w->round++;
        pthread_cond_broadcast(&w->changed);
    }
    while (failure == 0 && w->round == round)
        failure = pthread_cond_timedwait(&w->changed, &w->lock, &until);
    if (failure == 0)
        memcpy(all, w->words, (size_t)w->size * bytes);
    pthread_mutex_unlock(&w->lock);
    /* The next words come when all have read these. */
    pthread_mutex_lock(&w->lock);
    const int read_round = w->round;
    if (failure == 0 && ++w->arrived == w->size) {
        w->arrived = 0;
        w->round++;
        pthread_cond_broadcast(&w->changed);
    }
    while (failure == 0 && w->round == read_round)
        failure = pthread_cond_timedwait(&w->changed, &w->lock, &until);
    pthread_mutex_unlock(&w->lock);
    return failure;
}

static void *run_process(void *argument)
{
    process *p = argument;
    const restride_group_functions functions = {
        .begin = begin, .finish = finish, .gather = gather, .memory = addressed};
    restride_group *group = p->group;
    if (group == NULL &&
        restride_group_create(&group, &functions, p, p->rank, p->world->size) != RESTRIDE_OK)
        fail_test("no group");
    restride_group_use_peer_memory(group, uses_peer_memory);
    if (overlaps_all)
        group->overlap_from = 0;
    p->work(group, p->context);
    restride_group_destroy(group);
    return NULL;
}

enum { WORD_BYTES = 4096, MOST_GROUPS = 16 };

void run_processes(int size, process_work *work, void *context)
{
    world w = {.size = size};
    pthread_mutex_init(&w.lock, NULL);
    pthread_cond_init(&w.changed, NULL);
    w.waiting = calloc((size_t)size * (size_t)size, sizeof(message *));
    w.words = malloc((size_t)size * WORD_BYTES);
    process *processes = calloc((size_t)size, sizeof *processes);
    if (w.waiting == NULL || w.words == NULL || processes == NULL)
        fail_test("no memory");
    restride_group *groups[MOST_GROUPS] = {NULL};
    if (make_groups != NULL)
        make_groups(groups, size);
    for (int p = 0; p < size; p++) {
        processes[p] =
            (process){.world = &w, .rank = p, .work = work, .context = context, .group = groups[p]};
        if (pthread_create(&processes[p].thread, NULL, run_process, &processes[p]) != 0)
            fail_test("no thread");
    }
    for (int p = 0; p < size; p++)
        pthread_join(processes[p].thread, NULL);
    if (end_groups != NULL)
        end_groups(size);
    for (int pair = 0; pair < size * size && failing_rank < 0; pair++)
        if (w.waiting[pair] != NULL)
            fail_test("a message was never matched");
    for (int p = 0; p < size; p++)
        for (int o = 0; o < OPEN_OPERATIONS; o++)
            free_operation(processes[p].open[o]);
    free(w.waiting);
    free(w.words);
    free(processes);
    pthread_cond_destroy(&w.changed);
    pthread_mutex_destroy(&w.lock);
}
