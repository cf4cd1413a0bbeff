/* See commands.h. */
#include "commands.h"

#include <stdlib.h>
#include <string.h>

enum { MOST_PENDING = 256, MOST_STREAMS = 256 };

typedef struct {
    command_id *behind;
    size_t behind_count;
    doing *doing;
    void *data;
    size_t bytes;
    bool is_over;
} command;

/* Those from `base` on; all before are over. */
static command *commands;
static command_id base = 1;
static size_t count, capacity, over;

static made_up_stream *streams[MOST_STREAMS];
static size_t stream_count;

static unsigned random_below(unsigned limit)
{
    static uint64_t state;
    if (state == 0) {
        const char *seed = getenv("MADE_UP_SEED");
        state = 88172645463325252u + (seed != NULL ? strtoul(seed, NULL, 10) : 0);
    }
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return (unsigned)(state % limit);
}

static command *find(command_id id)
{
    return id >= base ? &commands[id - base] : NULL;
}

bool command_is_over(command_id id)
{
    const command *c = find(id);
    return c == NULL || c->is_over;
}

void command_finish(command_id id)
{
    const command *c = find(id);
    if (c == NULL || c->is_over)
        return;
    for (size_t i = 0; i < c->behind_count; i++)
        command_finish(commands[id - base].behind[i]);
    command *now = find(id);
    if (now->doing != NULL)
        now->doing(now->data);
    now->is_over = true;
    over++;
}

static double now;

double device_time(void)
{
    return now;
}

void device_take(double microseconds)
{
    now += microseconds;
}

static void drop_all(void)
{
    for (size_t i = 0; i < count; i++) {
        free(commands[i].behind);
        free(commands[i].data);
    }
    base += count;
    count = over = 0;
}

void command_finish_all(void)
{
    while (over < count)
        command_finish(base + random_below((unsigned)count));
    drop_all();
}

/* With MADE_UP_LATE commands run only when something waits for them. */
void command_finish_some(void)
{
    static int is_late = -1;
    if (is_late < 0)
        is_late = getenv("MADE_UP_LATE") != NULL;
    if (!is_late && count > 0 && random_below(4) == 0)
        command_finish(base + random_below((unsigned)count));
}

bool command_names(uintptr_t address, size_t bytes)
{
    uintptr_t word;
    for (const command *c = commands; c < commands + count; c++)
        for (size_t i = 0; !c->is_over && i + sizeof word <= c->bytes; i++) {
            memcpy(&word, (const char *)c->data + i, sizeof word);
            if (word - address < bytes)
                return true;
        }
    return false;
}

static void add_behind(command *c, command_id id)
{
    if (command_is_over(id))
        return;
    c->behind = realloc(c->behind, (c->behind_count + 1) * sizeof *c->behind);
    c->behind[c->behind_count++] = id;
}

/* ---- graphs ---- */

typedef struct {
    doing *doing;
    void *data;
    size_t bytes;
} node;

struct graph {
    node *nodes;
    size_t count;
};

graph *graph_make(void)
{
    return calloc(1, sizeof(graph));
}

static void *copy_bytes(const void *data, size_t bytes)
{
    void *copy = malloc(bytes + 1);
    if (bytes > 0)
        memcpy(copy, data, bytes);
    return copy;
}

static void graph_add(graph *g, doing *doing, const void *data, size_t bytes)
{
    g->nodes = realloc(g->nodes, (g->count + 1) * sizeof *g->nodes);
    g->nodes[g->count++] = (node){doing, copy_bytes(data, bytes), bytes};
}

graph *graph_copy(const graph *from)
{
    graph *copy = graph_make();
    for (size_t i = 0; i < from->count; i++)
        graph_add(copy, from->nodes[i].doing, from->nodes[i].data, from->nodes[i].bytes);
    return copy;
}

void graph_free(graph *g)
{
    for (size_t i = 0; i < g->count; i++)
        free(g->nodes[i].data);
    free(g->nodes);
    free(g);
}

void graph_launch(const graph *g, made_up_stream *stream)
{
    for (size_t i = 0; i < g->count; i++)
        command_give(stream, g->nodes[i].doing, g->nodes[i].data, g->nodes[i].bytes);
}

/* ---- streams ---- */

made_up_stream *stream_make(void *context, made_up_stream *legacy, bool is_legacy)
{
    made_up_stream *made = calloc(1, sizeof *made);
    made->context = context;
    made->legacy = is_legacy ? made : legacy;
    if (stream_count < MOST_STREAMS)
        streams[stream_count++] = made;
    return made;
}

static void finish(const made_up_stream *stream)
{
    for (size_t i = 0; i < stream->awaited_count; i++)
        command_finish(stream->awaited[i]);
    command_finish(stream->last);
}

void stream_end(made_up_stream *stream)
{
    for (size_t i = 0; i < stream_count; i++)
        if (streams[i] == stream)
            streams[i--] = streams[--stream_count];
    finish(stream);
    free(stream->awaited);
    free(stream);
}

void stream_finish_all(const void *context)
{
    for (size_t i = 0; i < stream_count; i++)
        if (streams[i]->context == context)
            finish(streams[i]);
}

static void keep_awaited(made_up_stream *stream, command_id id)
{
    stream->awaited =
        realloc(stream->awaited, (stream->awaited_count + 1) * sizeof *stream->awaited);
    stream->awaited[stream->awaited_count++] = id;
}

/* The legacy stream and those that wait for it come behind each other. */
static void add_order(command *c, const made_up_stream *stream)
{
    for (size_t i = 0; i < stream->awaited_count; i++)
        add_behind(c, stream->awaited[i]);
    if (stream->legacy != NULL && stream->legacy != stream)
        add_behind(c, stream->legacy->last);
    for (size_t i = 0; stream->legacy == stream && i < stream_count; i++)
        if (streams[i]->legacy == stream)
            add_behind(c, streams[i]->last);
}

static void add_command(made_up_stream *stream, command c)
{
    stream->awaited_count = 0;
    stream->kernel = 0;
    commands[count++] = c;
    stream->last = base + count - 1;
}

static command make_command(doing *doing, const void *data, size_t bytes)
{
    if (count >= MOST_PENDING)
        command_finish_all();
    if (count == capacity) {
        capacity = MOST_PENDING;
        commands = realloc(commands, capacity * sizeof *commands);
    }
    return (command){.doing = doing, .data = copy_bytes(data, bytes), .bytes = bytes};
}

command_id command_give(made_up_stream *stream, doing *doing, const void *data, size_t bytes)
{
    if (stream->capture != NULL) {
        graph_add(stream->capture, doing, data, bytes);
        return 0;
    }
    command c = make_command(doing, data, bytes);
    add_behind(&c, stream->last);
    add_order(&c, stream);
    add_command(stream, c);
    return stream->last;
}

command_id command_give_mark(made_up_stream *stream, doing *doing, const void *data, size_t bytes)
{
    const command_id kernel = stream->kernel;
    const bool is_alone = stream->awaited_count == 0;
    command_give(stream, doing, data, bytes);
    stream->kernel = is_alone ? kernel : 0;
    return stream->last;
}

/* The early one comes behind what the kernel in front comes behind, the next command behind both.
 */
command_id command_give_kernel(made_up_stream *stream, doing *doing, const void *data, size_t bytes,
                               bool is_early)
{
    const command_id kernel = stream->kernel, last = stream->last;
    if (!is_early || kernel == 0 || stream->awaited_count > 0 || stream->capture != NULL) {
        command_give(stream, doing, data, bytes);
    } else {
        command c = make_command(doing, data, bytes);
        const command *before = find(kernel);
        for (size_t i = 0; before != NULL && i < before->behind_count; i++)
            add_behind(&c, before->behind[i]);
        add_order(&c, stream);
        add_command(stream, c);
        keep_awaited(stream, last);
    }
    stream->kernel = stream->last;
    return stream->last;
}

void command_await(made_up_stream *stream, command_id id)
{
    keep_awaited(stream, id);
    command_give(stream, NULL, NULL, 0);
}

static bool is_one_of(const void *context, void *const *contexts, size_t number)
{
    for (size_t i = 0; i < number; i++)
        if (contexts[i] == context)
            return true;
    return false;
}

command_id command_give_between(made_up_stream *stream, void *const *contexts, size_t number,
                                doing *doing, const void *data, size_t bytes)
{
    for (size_t i = 0; i < stream_count; i++)
        if (streams[i] != stream && is_one_of(streams[i]->context, contexts, number))
            keep_awaited(stream, streams[i]->last);
    const command_id id = command_give(stream, doing, data, bytes);
    for (size_t i = 0; i < stream_count; i++)
        if (streams[i] != stream && streams[i]->capture == NULL &&
            is_one_of(streams[i]->context, contexts, number))
            command_await(streams[i], id);
    return id;
}
