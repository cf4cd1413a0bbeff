/* See elsewhere.h. */
#include "elsewhere.h"

#include "memories.h"
#include "starts.h"

#include <stdio_ext.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

static void *current(void)
{
    void *context;
    CHECK(cuCtxGetCurrent(&context));
    return context;
}

/* ---- copies between contexts ---- */

static copying_peer rows_of(pointer to, void *to_context, pointer from, void *from_context,
                            size_t record, size_t count)
{
    enum { DEVICE = 2 };
    return (copying_peer){
        {.type = DEVICE, .device = from, .context = from_context, .pitch = record},
        {.type = DEVICE, .device = to, .context = to_context, .pitch = record},
        record,
        count,
        1};
}

/* In the stream; by cuMemcpyPeer, which has none, only what nothing else uses. */
static void copy_over(pointer to, void *to_context, pointer from, void *from_context, size_t record,
                      size_t count, pointer stream)
{
    const copying_peer rows = rows_of(to, to_context, from, from_context, record, count);
    switch (below(3)) {
    case 0:
        CHECK(cu.cuMemcpyPeerAsync(to, to_context, from, from_context, record * count, stream));
        break;
    case 1:
        CHECK(cu.cuMemcpy3DPeerAsync(&rows, stream));
        break;
    default:
        CHECK(cu.cuStreamSynchronize(stream));
        CHECK(cu.cuMemcpyPeer(to, to_context, from, from_context, record * count));
    }
}

void copy_as_peer(int stream)
{
    array *from = pick(TYPES), *to = from != NULL ? pick(from->type) : NULL;
    if (from == NULL || from == to || !is_of_device(from) || !is_of_device(to))
        return;
    const size_t count = from->count < to->count ? from->count : to->count;
    order(from, stream, false);
    order(to, stream, true);
    copy_over(to->address, current(), from->address, current(), record_bytes[from->type], count,
              streams[stream]);
    note(from, stream, false);
    note(to, stream, true);
}

/* ---- a second context ---- */

static void move_there(array *a, void *own, void *second, pointer stream)
{
    const size_t bytes = bytes_of(a);
    int n = (int)a->count;
    float k = (float)below(3);
    pointer there;
    CHECK(cu.cuMemAlloc_v2(&there, bytes));
    copy_over(there, second, a->address, own, sizeof(particle), a->count, stream);
    start_elsewhere(MOVE, a->count, stream, (void *[]){&there, &n, &k});
    copy_over(a->address, own, there, second, sizeof(particle), a->count, stream);
    CHECK(cu.cuStreamSynchronize(stream));
    wait_for_context();
    CHECK(cu.cuMemFree_v2(there));
}

/* Nothing of the own context is under way meanwhile. */
void use_context(int stream)
{
    static _Thread_local void *second;
    static _Thread_local pointer stream_there;
    char content[MOST_COUNT * sizeof(particle)];
    array *a = pick(PARTICLES);
    void *popped, *own = current();
    (void)stream;
    if (a == NULL)
        return;
    wait_for_context();
    if (second == NULL) {
        CHECK(cuCtxCreate_v2(&second, 0, 0));
        CHECK(cuStreamCreate(&stream_there, 1));
    } else {
        CHECK(cuCtxPushCurrent_v2(second));
    }
    if (below(2) == 0) {
        CHECK(cu.cuMemcpyDtoH_v2(content, a->address, bytes_of(a)));
        add(content, bytes_of(a));
    }
    if (below(2) == 0)
        move_there(a, own, second, stream_there);
    CHECK(cuCtxPopCurrent_v2(&popped));
    forget(a);
}

/* ---- a child ---- */

/* What it does not get is an error, and it ends like another process. */
static int run_child(const array *a)
{
    char content[MOST_COUNT * sizeof(particle)];
    pointer address = 0;
    if (cu.cuMemAlloc_v2(&address, 64) == 0 || cuInit(0) == 0)
        return 1;
    if (a != NULL && (cu.cuMemcpyDtoH_v2(content, a->address, bytes_of(a)) == 0 ||
                      cu.cuMemsetD8Async(a->address, 1, bytes_of(a), streams[0]) == 0 ||
                      cu.cuMemFree_v2(a->address) == 0))
        return 2;
    return cu.cuCtxSynchronize() == 0 || cu.cuStreamSynchronize(streams[1]) == 0 ? 3 : 0;
}

void fork_some(int stream)
{
    const array *a = pick(TYPES);
    const bool runs_handlers = below(2) == 0;
    int status = 0;
    (void)stream;
    const pid_t child = fork();
    if (child == 0) {
        __fpurge(stdout); /* the parent writes it */
        status = run_child(a);
        if (runs_handlers)
            exit(status);
        _exit(status);
    }
    if (child < 0 || waitpid(child, &status, 0) != child || status != 0)
        fail("a child", status);
}
