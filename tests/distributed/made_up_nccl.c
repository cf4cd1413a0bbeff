/*
 * NCCL for the tests, as libnccl.so.2: processes are threads of one process, and memory is the
 * host's, as that of the emulated CUDA device is. Messages of a group of calls have arrived when
 * ncclGroupEnd() returns. What NCCL does not allow ends the program.
 *
 * MADE_UP_NCCL=stuck: ncclGroupEnd() returns before anything arrives, and nothing ever does;
 * =failing: the same, and then an error is told. made_up_aborts() counts ncclCommAbort().
 */
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef int result;
enum { SUCCESS = 0, REMOTE_ERROR = 6, INVALID_ARGUMENT = 4, IN_PROGRESS = 7, MOST_MESSAGES = 2 };

typedef struct message {
    struct message *next;
    const void *send;
    void *receive;
    size_t bytes;
    bool done;
} message;

typedef struct {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    int size;
    int members; /* that are not destroyed */
    message **waiting;
    const void **gathered; /* of each process */
    int arrived;
    int round;
} world;

typedef struct {
    world *world;
    int rank;
} communicator;

#define EXPORT __attribute__((visibility("default")))

EXPORT result ncclCommInitAll(communicator **made, int size, const int *devices);
EXPORT result ncclCommDestroy(communicator *c);
EXPORT result ncclCommAbort(communicator *c);
EXPORT result ncclCommCount(const communicator *c, int *count);
EXPORT result ncclCommUserRank(const communicator *c, int *rank);
EXPORT result ncclCommGetAsyncError(const communicator *c, result *error);
EXPORT result ncclGroupStart(void);
EXPORT result ncclGroupEnd(void);
EXPORT result ncclSend(const void *send, size_t count, int type, int to, communicator *c, void *s);
EXPORT result ncclRecv(void *receive, size_t count, int type, int from, communicator *c, void *s);
EXPORT result ncclAllGather(const void *send, void *receive, size_t count, int type,
                            communicator *c, void *s);
EXPORT int made_up_aborts(void);

static int aborts;

static void fail(const char *what)
{
    fprintf(stderr, "made-up NCCL: %s\n", what);
    abort();
}

static bool does(const char *what)
{
    const char *value = getenv("MADE_UP_NCCL");
    return value != NULL && strcmp(value, what) == 0;
}

/* ---- communicators ---- */

result ncclCommInitAll(communicator **made, int size, const int *devices)
{
    (void)devices;
    world *w = calloc(1, sizeof *w);
    *w = (world){.size = size, .members = size};
    pthread_mutex_init(&w->lock, NULL);
    pthread_cond_init(&w->changed, NULL);
    w->waiting = calloc((size_t)size * (size_t)size, sizeof(message *));
    w->gathered = calloc((size_t)size, sizeof(void *));
    for (int rank = 0; rank < size; rank++) {
        made[rank] = calloc(1, sizeof *made[rank]);
        *made[rank] = (communicator){w, rank};
    }
    return SUCCESS;
}

result ncclCommDestroy(communicator *c)
{
    world *w = c->world;
    pthread_mutex_lock(&w->lock);
    const bool last = --w->members == 0;
    pthread_mutex_unlock(&w->lock);
    free(c);
    if (!last)
        return SUCCESS;
    for (int pair = 0; pair < w->size * w->size; pair++)
        if (w->waiting[pair] != NULL)
            fail("a message was never matched");
    free(w->waiting);
    free(w->gathered);
    free(w);
    return SUCCESS;
}

result ncclCommAbort(communicator *c)
{
    __atomic_add_fetch(&aborts, 1, __ATOMIC_SEQ_CST);
    return ncclCommDestroy(c);
}

int made_up_aborts(void)
{
    return aborts;
}

result ncclCommCount(const communicator *c, int *count)
{
    *count = c->world->size;
    return SUCCESS;
}

result ncclCommUserRank(const communicator *c, int *rank)
{
    *rank = c->rank;
    return SUCCESS;
}

static _Thread_local bool under_way;

result ncclCommGetAsyncError(const communicator *c, result *error)
{
    (void)c;
    *error = !under_way ? SUCCESS : does("failing") ? REMOTE_ERROR : IN_PROGRESS;
    return SUCCESS;
}

/* ---- messages ---- */

static _Thread_local int depth;
static _Thread_local communicator *user;
static _Thread_local message messages[MOST_MESSAGES];
static _Thread_local message **lists[MOST_MESSAGES];
static _Thread_local int count_of_messages;

result ncclGroupStart(void)
{
    depth++;
    return SUCCESS;
}

static result add(communicator *c, int from, int to, const message *added)
{
    if (depth != 1 || count_of_messages == MOST_MESSAGES || from == to)
        fail("a message outside a group, too many, or to itself");
    user = c;
    messages[count_of_messages] = *added;
    lists[count_of_messages++] = &c->world->waiting[from * c->world->size + to];
    return SUCCESS;
}

result ncclSend(const void *send, size_t count, int type, int to, communicator *c, void *s)
{
    (void)s;
    if (type != 0)
        fail("bytes are sent");
    return add(c, c->rank, to, &(message){.send = send, .bytes = count});
}

result ncclRecv(void *receive, size_t count, int type, int from, communicator *c, void *s)
{
    (void)s;
    if (type != 0)
        fail("bytes are received");
    return add(c, from, c->rank, &(message){.receive = receive, .bytes = count});
}

/* Matches it with the oldest one of the other side, or leaves it waiting. */
static void post(message *mine, message **list)
{
    message *other = *list;
    if (other == NULL || (other->send == NULL) == (mine->send == NULL)) {
        while (*list != NULL)
            list = &(*list)->next;
        *list = mine;
        return;
    }
    if (other->bytes != mine->bytes)
        fail("the sizes of a message's two sides differ");
    *list = other->next;
    memcpy(mine->send == NULL ? mine->receive : other->receive,
           mine->send == NULL ? other->send : mine->send, mine->bytes);
    other->done = mine->done = true;
}

result ncclGroupEnd(void)
{
    const int count = count_of_messages;
    depth--;
    count_of_messages = 0;
    if (does("stuck") || does("failing")) {
        under_way = count > 0;
        return IN_PROGRESS;
    }
    if (count == 0)
        return SUCCESS;
    world *w = user->world;
    pthread_mutex_lock(&w->lock);
    for (int i = 0; i < count; i++)
        post(&messages[i], lists[i]);
    pthread_cond_broadcast(&w->changed);
    for (int i = 0; i < count; i++)
        while (!messages[i].done)
            pthread_cond_wait(&w->changed, &w->lock);
    pthread_mutex_unlock(&w->lock);
    return SUCCESS;
}

static void meet(world *w)
{
    const int round = w->round;
    if (++w->arrived == w->size) {
        w->arrived = 0;
        w->round++;
        pthread_cond_broadcast(&w->changed);
    }
    while (w->round == round)
        pthread_cond_wait(&w->changed, &w->lock);
}

result ncclAllGather(const void *send, void *receive, size_t count, int type, communicator *c,
                     void *s)
{
    (void)s;
    world *w = c->world;
    if (type != 0 || depth != 0)
        fail("bytes are gathered, outside a group");
    pthread_mutex_lock(&w->lock);
    w->gathered[c->rank] = send;
    meet(w);
    for (int p = 0; p < w->size; p++)
        memcpy((unsigned char *)receive + (size_t)p * count, w->gathered[p], count);
    meet(w);
    pthread_mutex_unlock(&w->lock);
    return SUCCESS;
}
