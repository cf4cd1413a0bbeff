/* A team of threads; see team.h. */
#include "engine/host/team.h"

#include <pthread.h>
#include <stdalign.h>
#include <stdatomic.h>

enum { MOST_THREADS = 256, LINE_BYTES = 64 };

/* Items taken of one member's share. Alone in its line: others read it only when they have no more
 * of their own. */
typedef struct {
    alignas(LINE_BYTES) atomic_size_t taken;
} cursor;

struct rs_host_team {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    size_t count; /* members; 0 until all that can be started are */
    size_t waiting;
    size_t round; /* of the barrier */
    void (*work)(void *context, const rs_host_member *member);
    void *context;
    cursor *cursors; /* one a member */
};

typedef struct {
    rs_host_team *team;
    size_t index;
} place;

static void *enter(void *argument)
{
    const place *own = argument;
    rs_host_team *team = own->team;
    pthread_mutex_lock(&team->lock);
    while (team->count == 0)
        pthread_cond_wait(&team->changed, &team->lock);
    const rs_host_member member = {team, own->index, team->count};
    pthread_mutex_unlock(&team->lock);
    team->work(team->context, &member);
    return NULL;
}

void rs_host_team_run(size_t threads, void (*work)(void *context, const rs_host_member *member),
                      void *context)
{
    if (threads > MOST_THREADS)
        threads = MOST_THREADS;
    cursor cursors[MOST_THREADS];
    for (size_t i = 0; i < threads; i++)
        atomic_init(&cursors[i].taken, 0);
    rs_host_team team = {
        PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, 0, 0, 0, work, context, cursors};
    pthread_t started[MOST_THREADS];
    place places[MOST_THREADS];
    size_t count = 1;
    while (count < threads) {
        places[count] = (place){&team, count};
        if (pthread_create(&started[count], NULL, enter, &places[count]) != 0)
            break;
        count++;
    }
    pthread_mutex_lock(&team.lock);
    team.count = count;
    pthread_cond_broadcast(&team.changed);
    pthread_mutex_unlock(&team.lock);
    const rs_host_member caller = {&team, 0, count};
    work(context, &caller);
    for (size_t i = 1; i < count; i++)
        pthread_join(started[i], NULL);
    pthread_cond_destroy(&team.changed);
    pthread_mutex_destroy(&team.lock);
}

void rs_host_team_wait(const rs_host_member *member)
{
    rs_host_team *team = member->team;
    if (member->count == 1)
        return;
    pthread_mutex_lock(&team->lock);
    size_t round = team->round;
    if (++team->waiting == team->count) {
        team->waiting = 0;
        team->round++;
        pthread_cond_broadcast(&team->changed);
    }
    while (team->round == round)
        pthread_cond_wait(&team->changed, &team->lock);
    pthread_mutex_unlock(&team->lock);
}

static void share_of(size_t index, size_t count, size_t items, size_t *begin, size_t *end)
{
    size_t each = items / count;
    size_t more = items % count;
    *begin = index * each + (index < more ? index : more);
    *end = *begin + each + (index < more ? 1 : 0);
}

void rs_host_team_share(const rs_host_member *member, size_t items, size_t *begin, size_t *end)
{
    share_of(member->index, member->count, items, begin, end);
}

rs_host_loop rs_host_loop_begin(const rs_host_member *member, size_t items, size_t grain)
{
    return (rs_host_loop){member, items, grain, 0};
}

bool rs_host_loop_next(rs_host_loop *loop, size_t *begin, size_t *end)
{
    const rs_host_member *member = loop->member;
    for (; loop->passed < member->count; loop->passed++) {
        size_t owner = (member->index + loop->passed) % member->count;
        size_t taken = atomic_fetch_add_explicit(&member->team->cursors[owner].taken, loop->grain,
                                                 memory_order_relaxed);
        size_t last;
        share_of(owner, member->count, loop->items, begin, &last);
        if (taken < last - *begin) {
            *begin += taken;
            *end = last - *begin < loop->grain ? last : *begin + loop->grain;
            return true;
        }
    }
    return false;
}

void rs_host_loop_again(const rs_host_member *member)
{
    atomic_store_explicit(&member->team->cursors[member->index].taken, 0, memory_order_relaxed);
}
