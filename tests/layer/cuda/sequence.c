/* See sequence.h. */
#include "sequence.h"

#include "arrays.h"
#include "elsewhere.h"
#include "memories.h"
#include "starts.h"

#include <stdlib.h>
#include <string.h>

bool by_thread, calls_unknown, has_contexts, forks;

static void upload(array *a, int stream, size_t first, size_t count)
{
    char content[MOST_COUNT * sizeof(particle)];
    const size_t record = record_bytes[a->type];
    fill(content, a->type, count);
    order(a, stream, true);
    if (stream == 0 && below(2) == 0)
        CHECK(cu.cuMemcpyHtoD_v2(a->address + first * record, content, count * record));
    else
        CHECK(cu.cuMemcpyHtoDAsync_v2(a->address + first * record, content, count * record,
                                      streams[stream]));
    note(a, stream, true);
}

static void clear(array *a, int stream)
{
    order(a, stream, true);
    CHECK(cu.cuMemsetD8Async(a->address, (unsigned char)(below(2) * below(256)), bytes_of(a),
                             streams[stream]));
    note(a, stream, true);
}

/* What a new array begins with: content, one byte, or what its memory comes with. */
static void begin(array *a, int stream)
{
    const unsigned way = below(4);
    if (way == 0)
        clear(a, stream);
    else if (way == 1 && knows_new_memory)
        note(a, stream, true);
    else
        upload(a, stream, 0, a->count);
}

static void make(void)
{
    for (int i = 0; i < MOST_ARRAYS; i++) {
        array *a = &arrays[i];
        if (a->address != 0)
            continue;
        *a = (array){.type = (type)below(TYPES), .count = 1 + below(MOST_COUNT)};
        if (below(4) == 0)
            a->count = 32 * (1 + below(3));
        const int stream = (int)below(STREAMS);
        const bool has_part = i + 1 < MOST_ARRAYS && arrays[i + 1].address == 0 && below(4) == 0;
        const size_t bytes = bytes_of(a) * (has_part ? 2 : 1);
        a->kind = choose_kind();
        allocate(a, bytes, stream);
        begin(a, stream);
        if (has_part) {
            const bool is_other = below(2) == 0 && bytes_of(a) % sizeof(mixed) == 0;
            const type other = is_other ? MIXED : a->type;
            arrays[i + 1] = (array){.type = other,
                                    .count = bytes_of(a) / record_bytes[other],
                                    .kind = a->kind,
                                    .address = a->address + bytes_of(a),
                                    .host = a->host != NULL ? a->host + bytes_of(a) : NULL,
                                    .is_part = true};
            order(a, stream, false);
            begin(&arrays[i + 1], stream);
        }
        return;
    }
}

static void end(array *a, bool at_once)
{
    const int stream = (int)below(STREAMS);
    if (a == NULL || a->is_part)
        return;
    const bool both = has_part(a);
    order(a, stream, true);
    if (both)
        order(a + 1, stream, true);
    const bool is_later = !at_once && is_pooled(a) && below(2) != 0;
    /* The driver waits for other memory alone. */
    if (!is_later && (is_pooled(a) || a->kind == MAPPED || a->texture != 0))
        wait_for_context();
    if (is_later)
        release_later(a, stream);
    else
        release(a, bytes_of(a) * (both ? 2 : 1));
    forget(a);
    a->address = 0;
    if (both) {
        forget(a + 1);
        a[1].address = 0;
    }
}

static void read_back(array *a, int stream)
{
    char content[MOST_COUNT * sizeof(particle)];
    const size_t record = record_bytes[a->type];
    const size_t first = below((unsigned)a->count);
    const size_t count = below(2) == 0 ? a->count : 1 + below((unsigned)(a->count - first));
    const pointer from = a->address + (count == a->count ? 0 : first * record);
    order(a, stream, false);
    if (stream == 0 && below(2) == 0) {
        CHECK(cu.cuMemcpyDtoH_v2(content, from, count * record));
    } else {
        CHECK(cu.cuMemcpyDtoHAsync_v2(content, from, count * record, streams[stream]));
        if (below(4) == 0)
            wait_for_context();
        else
            CHECK(cu.cuStreamSynchronize(streams[stream]));
    }
    note(a, stream, false);
    add(content, count * record);
}

static void copy(int stream)
{
    array *from = pick(TYPES), *to = from != NULL ? pick(from->type) : NULL;
    if (from == NULL || from == to)
        return;
    const size_t count = from->count < to->count ? from->count : to->count;
    const size_t bytes = count * record_bytes[from->type];
    order(from, stream, false);
    order(to, stream, true);
    const copying_rows rows = {{0, 0, 2, NULL, from->address, NULL, record_bytes[from->type]},
                               {0, 0, 2, NULL, to->address, NULL, record_bytes[from->type]},
                               record_bytes[from->type],
                               count};
    switch (below(4)) {
    case 0:
        CHECK(cu.cuMemcpy2DAsync_v2(&rows, streams[stream]));
        break;
    case 1:
        if (stream == 0)
            CHECK(cu.cuMemcpyDtoD_v2(to->address, from->address, bytes));
        else
            CHECK(cu.cuMemcpyDtoDAsync_v2(to->address, from->address, bytes, streams[stream]));
        break;
    case 2:
        if (stream == 0 && !by_thread) {
            CHECK(cu.cuMemcpy2D_v2(&rows));
            break;
        } /* fall through */
    default:
        CHECK(cu.cuMemcpyDtoDAsync_v2(to->address, from->address, bytes, streams[stream]));
    }
    note(from, stream, false);
    note(to, stream, true);
}

static void launch_move(int stream, bool is_recorded)
{
    array *a = pick(PARTICLES);
    if (a == NULL)
        return;
    const size_t skipped = below(4) == 0 ? below((unsigned)a->count) : 0;
    pointer from = a->address + skipped * sizeof(particle);
    int n = (int)(a->count - skipped);
    float k = (float)below(3);
    if (!is_recorded)
        order(a, stream, true);
    start(MOVE, (size_t)n, streams[stream], (void *[]){&from, &n, &k});
    if (!is_recorded)
        note(a, stream, true);
}

static void launch_mix(int stream)
{
    array *a = pick(PARTICLES), *b = pick(PARTICLES), *c = pick(MIXED);
    if (a == NULL || a == b || c == NULL)
        return;
    size_t least = a->count < b->count ? a->count : b->count;
    least = least < c->count ? least : c->count;
    int n = (int)least;
    order(a, stream, false);
    order(b, stream, true);
    order(c, stream, true);
    start(MIX, least, streams[stream], (void *[]){&a->address, &b->address, &c->address, &n});
    note(a, stream, false);
    note(b, stream, true);
    note(c, stream, true);
}

static void launch_fold(int stream)
{
    array *a = pick(PARTICLES), *sums = pick(FLOATS);
    if (a == NULL || sums == NULL)
        return;
    int n = (int)(a->count < sums->count ? a->count : sums->count);
    order(a, stream, false);
    order(sums, stream, true);
    start(FOLD, (size_t)n, streams[stream], (void *[]){&a->address, &sums->address, &n});
    note(a, stream, false);
    note(sums, stream, true);
}

static void launch_inside(int stream)
{
    array *a = pick(PARTICLES), *b = pick(PARTICLES);
    if (a == NULL || a == b)
        return;
    int n = (int)(a->count < b->count ? a->count : b->count);
    packed_pointer p = {.tag = 1};
    memcpy(p.address, &b->address, sizeof b->address);
    order(a, stream, true);
    order(b, stream, false);
    start(INSIDE, (size_t)n, streams[stream], (void *[]){&a->address, &p, &n});
    note(a, stream, true);
    note(b, stream, false);
}

static void launch_pairs(int stream)
{
    array *a = pick(PARTICLES);
    if (a == NULL)
        return;
    int n = (int)a->count;
    order(a, stream, true);
    start(PAIRS, a->count, streams[stream], (void *[]){&a->address, &n});
    note(a, stream, true);
}

static void launch_unknown(int stream)
{
    array *a = pick(TYPES);
    if (a == NULL)
        return;
    const bool is_open = a->type == PARTICLES && below(2) == 0;
    int n = (int)(a->type == FLOATS || is_open ? a->count : 1);
    if (a->type == MIXED)
        return;
    order(a, stream, true);
    start(is_open ? OPEN : SCALE - (int)below(2), (size_t)n, streams[stream],
          (void *[]){&a->address, &n});
    note(a, stream, true);
}

/* The kernel in front and the early one use different memory, all of which is ready before both. */
static void launch_early(int stream)
{
    array *f = pick(FLOATS), *a = pick(PARTICLES);
    if (f == NULL || a == NULL)
        return;
    int n = (int)f->count, m = (int)a->count;
    float k = (float)below(3);
    const bool is_move = below(2) == 0;
    order(f, stream, true);
    order(a, stream, true);
    start(WEIGH, f->count, streams[stream], (void *[]){&f->address, &n});
    if (is_move)
        start_early(MOVE, a->count, streams[stream], (void *[]){&a->address, &m, &k});
    else
        start_early(OPEN, a->count, streams[stream], (void *[]){&a->address, &m});
    note(f, stream, true);
    note(a, stream, true);
}

/* The address comes from memory, which nobody sees in the call. */
static void launch_reach(int stream)
{
    static _Thread_local pointer table;
    static _Thread_local array place = {.type = FLOATS, .count = 2};
    array *a = pick(PARTICLES);
    if (a == NULL)
        return;
    if (table == 0)
        CHECK(cu.cuMemAlloc_v2(&table, sizeof table));
    place.address = table;
    int n = (int)a->count;
    order(&place, stream, true);
    CHECK(cu.cuMemcpyHtoDAsync_v2(table, &a->address, sizeof a->address, streams[stream]));
    order(a, stream, true);
    start(REACH, a->count, streams[stream], (void *[]){&table, &n});
    note(a, stream, true);
    note(&place, stream, true);
}

/* Launches are recorded once and run a few times. */
static void run_graph(void)
{
    void *graph, *made;
    const int stream = 1 + (int)below(STREAMS - 1);
    wait_for_context();
    pthread_rwlock_rdlock(&captures);
    CHECK(cu.cuStreamBeginCapture_v2(streams[stream], 1)); /* other threads allocate meanwhile */
    is_captured = true;
    for (unsigned i = 1 + below(3); i > 0; i--)
        launch_move(stream, true);
    is_captured = false;
    CHECK(cu.cuStreamEndCapture(streams[stream], &graph));
    pthread_rwlock_unlock(&captures);
    CHECK(cu.cuGraphInstantiateWithFlags(&made, graph, 0));
    for (unsigned i = 1 + below(3); i > 0; i--) {
        CHECK(cu.cuGraphLaunch(made, streams[stream]));
        if (below(2) == 0)
            launch_move(stream, true);
    }
    wait_for_context();
    CHECK(cu.cuGraphDestroy(graph));
    CHECK(cu.cuGraphExecDestroy(made));
}

static void call_unknown(void)
{
    array *a = pick(TYPES);
    if (a == NULL || !calls_unknown)
        return;
    wait_for_context();
    CHECK(cu.cuMadeUpFunction(a->address, 1, bytes_of(a) / 2));
}

static void renew_stream(void)
{
    const int stream = 1 + (int)below(STREAMS - 1);
    CHECK(cu.cuStreamSynchronize(streams[stream]));
    for (int i = 0; i < MOST_ARRAYS; i++)
        if (arrays[i].writer == stream)
            arrays[i].writer = -1;
    CHECK(cuStreamDestroy_v2(streams[stream]));
    CHECK(cuStreamCreate(&streams[stream], below(2)));
}

static void upload_some(int stream)
{
    array *a = pick(TYPES);
    if (a == NULL)
        return;
    if (below(2) == 0)
        upload(a, stream, 0, a->count);
    else
        upload(a, stream, a->count / 2, 1);
}

static void clear_some(int stream)
{
    array *a = pick(TYPES);
    if (a != NULL)
        clear(a, stream);
}

static void read_some(int stream)
{
    array *a = pick(TYPES);
    if (a != NULL)
        read_back(a, stream);
}

static void end_some(int stream)
{
    array *a = pick(TYPES);
    (void)stream;
    if (a != NULL)
        end(whole_of(a), false);
}

static void make_some(int stream)
{
    (void)stream;
    make();
}

static void run_some(int stream)
{
    (void)stream;
    if (pick(PARTICLES) != NULL && below(2) == 0)
        run_graph();
}

static void move_some(int stream)
{
    launch_move(stream, false);
}

/* The same launch again and again, as a loop of time steps has it: some by policy auto pay. */
static void repeat(int stream)
{
    static void (*const functions[])(int) = {move_some,   move_some,     launch_mix,
                                             launch_fold, launch_inside, launch_pairs};
    const unsigned chosen = below(sizeof functions / sizeof functions[0]);
    unsigned count = 1u << (1 + below(6));
    for (const uint64_t before = state; count > 0; count--) {
        state = before;
        functions[chosen](stream);
    }
}

/* The same memory with elements of another type; sometimes new ones, else whatever its bytes are.
 */
static void retype(int stream)
{
    const type from = below(2) == 0 ? PARTICLES : MIXED, to = from == MIXED ? PARTICLES : MIXED;
    array *a = pick(from);
    if (a == NULL || a->is_part || has_part(a) || bytes_of(a) % record_bytes[to] != 0)
        return;
    a->count = bytes_of(a) / record_bytes[to];
    a->type = to;
    if (below(2) == 0)
        upload(a, stream, 0, a->count);
}

static void do_rarely(int stream)
{
    if (below(4) == 0)
        renew_stream();
    if (below(16) == 0)
        call_unknown();
    if (has_contexts && below(2) == 0)
        use_context(stream);
    if (forks && below(4) == 0)
        fork_some(stream);
}

static void do_something(void)
{
    static const struct {
        void (*function)(int stream);
        unsigned weight;
    } things[] = {{make_some, 2},    {end_some, 1},      {read_some, 3},    {upload_some, 2},
                  {copy, 1},         {copy_as_peer, 1},  {clear_some, 1},   {launch_unknown, 1},
                  {launch_reach, 1}, {launch_inside, 1}, {launch_pairs, 1}, {launch_mix, 3},
                  {launch_fold, 2},  {run_some, 1},      {do_rarely, 1},    {move_some, 4},
                  {repeat, 1},       {retype, 1},        {launch_early, 1}, {look_some, 1},
                  {touch_some, 1},   {share_some, 1},    {launch_sample, 1}};
    unsigned weight = 0;
    for (size_t i = 0; i < sizeof things / sizeof things[0]; i++)
        weight += things[i].weight;
    unsigned chosen = below(weight);
    size_t i = 0;
    while (chosen >= things[i].weight)
        chosen -= things[i++].weight;
    things[i].function((int)below(STREAMS));
}

void make_streams(void)
{
    for (int i = 1; i < STREAMS; i++)
        CHECK(cuStreamCreate(&streams[i], (unsigned)i % 2));
}

static void launch_at(size_t offset, size_t bytes)
{
    enum { COUNT = 64 };
    char content[COUNT * sizeof(particle)];
    pointer whole;
    int n = COUNT;
    float k = 1;
    state = COUNT;
    fill(content, PARTICLES, COUNT);
    CHECK(cu.cuMemAlloc_v2(&whole, bytes));
    pointer piece = whole + offset;
    CHECK(cu.cuMemcpyHtoD_v2(piece, content, sizeof content));
    start_plainly(MOVE, COUNT, streams[0], (void *[]){&piece, &n, &k});
    CHECK(cu.cuMemcpyDtoH_v2(content, piece, sizeof content));
    add(content, sizeof content);
    CHECK(cu.cuMemFree_v2(whole));
}

/* The second is at no whole structure, the third of an allocation that is much larger. */
void launch_on_pieces(void)
{
    enum { BYTES = 64 * sizeof(particle), LARGE = 17 };
    launch_at(BYTES, 2 * BYTES);
    launch_at(sizeof(particle) / 2, 2 * BYTES);
    launch_at(BYTES, LARGE * BYTES);
}

void run_program(unsigned long seed)
{
    state = seed * 2862933555777941757u + 3037000493u;
    for (unsigned i = 2 + below(4); i > 0; i--)
        make();
    for (unsigned i = 10 + below(40); i > 0; i--)
        do_something();
    for (int i = 0; i < MOST_ARRAYS; i++)
        if (arrays[i].address != 0)
            read_back(&arrays[i], (int)below(STREAMS));
    wait_for_context();
    for (int i = 0; i < MOST_ARRAYS; i++)
        if (arrays[i].address != 0 && !arrays[i].is_part)
            end(&arrays[i], true);
}
