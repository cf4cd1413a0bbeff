/* A team of threads; see team.h. */
#include "engine/host/team.h"

#include "engine/host/crew.h"

#include <stdalign.h>
#include <stdatomic.h>
#include <string.h>

enum { LINE_BYTES = 64 };

/* Items taken of one member's share. Alone in its line: others read it only when they have no more
 * of their own. */
typedef struct {
    alignas(LINE_BYTES) atomic_size_t taken;
} cursor;

struct rs_host_team {
    rs_host_crew *crew; /* NULL: the caller is alone */
    size_t count;
    atomic_size_t arrived; /* at the barrier */
    void (*work)(void *context, const rs_host_member *member);
    void *context;
    cursor *cursors; /* one a member */
};

static void enter(void *context, size_t index)
{
    rs_host_team *team = context;
    const rs_host_member member = {team, index, team->count};
    team->work(team->context, &member);
}

void rs_host_team_run(size_t threads, void (*work)(void *context, const rs_host_member *member),
                      void *context)
{
    cursor cursors[RS_HOST_MOST_MEMBERS];
    rs_host_team team = {.count = 1, .work = work, .context = context, .cursors = cursors};
    if (threads > 1)
        team.crew = rs_host_crew_take(threads, &team.count);
    atomic_init(&team.arrived, 0);
    for (size_t i = 0; i < team.count; i++)
        atomic_init(&cursors[i].taken, 0);
    if (team.crew != NULL)
        rs_host_crew_begin(team.crew, enter, &team);
    enter(&team, 0);
    if (team.crew != NULL)
        rs_host_crew_end(team.crew);
}

/* The last one calls the others. */
void rs_host_team_wait(const rs_host_member *member)
{
    rs_host_team *team = member->team;
    if (member->count == 1)
        return;
    if (atomic_fetch_add(&team->arrived, 1) + 1 < team->count) {
        rs_host_crew_sleep(team->crew, member->index);
        return;
    }
    atomic_store(&team->arrived, 0);
    for (size_t i = 0; i < team->count; i++)
        if (i != member->index)
            rs_host_crew_call(team->crew, i);
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

typedef struct {
    unsigned char *to;
    const unsigned char *from;
    size_t bytes;
} copied;

static void copy_share(void *context, const rs_host_member *member)
{
    const copied *c = context;
    size_t begin;
    size_t end;
    rs_host_team_share(member, c->bytes / LINE_BYTES, &begin, &end);
    size_t last = member->index + 1 == member->count ? c->bytes : end * LINE_BYTES;
    memcpy(c->to + begin * LINE_BYTES, c->from + begin * LINE_BYTES, last - begin * LINE_BYTES);
}

void rs_host_team_copy(size_t threads, void *to, const void *from, size_t bytes)
{
    copied c = {to, from, bytes};
    rs_host_team_run(threads, copy_share, &c);
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
