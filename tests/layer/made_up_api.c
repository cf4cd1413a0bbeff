/* An API without a driver: see made_up_api.h. */
#include "made_up_api.h"

#include "layer/core/choice.h"
#include "layer/core/timing.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_COMMANDS = 4096, MOST_STREAMS = 256, MOST_WAITS = 1 << 16 };

typedef struct {
    command_kind kind;
    int stream, buffer, from, to;
    int status; /* as of an event */
    bool is_begun, fails;
    unsigned references;
    size_t first_wait, wait_count;
    rs_event placed; /* of a conversion: behind which its scratch memory is there; or NULL */
} command;

typedef struct {
    bool out_of_order, is_own, is_open;
    int commands[MOST_COMMANDS];
    int count, flushed, done; /* all before the last are over */
} stream;

typedef struct {
    int layout, users;
    bool is_changing, is_spoiled;
} bytes;

typedef struct {
    unsigned long long random;
    command commands[MOST_COMMANDS];
    stream streams[MOST_STREAMS];
    command *waits[MOST_WAITS];
    bytes buffers[BUFFERS];
    int command_count, stream_count;
    size_t wait_count;
    unsigned refusals, scratch;
    const char *mistake;
} made_up_world;

static made_up_world worlds[WORLDS];
static made_up_world *world = &worlds[0];

void enter_world(int number)
{
    world = &worlds[number];
}

rs_device_layout device_layouts[LAYOUTS][DEVICES];

const int rs_api_lost = -5, rs_api_no_memory = -6;
const char rs_api_lost_name[] = "LOST";

const double rs_profiled_launch_seconds = 1;

/* No kernel of this API is rewritten. */
rs_forms_state rs_kernel_forms(rs_kernel *kernel)
{
    kernel->lacks_forms = "no kernel is rewritten";
    return RS_FORMS_NEVER;
}

void rs_kernel_find_buffers(rs_kernel *kernel)
{
    for (size_t i = 0; i < kernel->argument_count; i++)
        kernel->arguments[i].buffer = rs_buffer_find(kernel->layer, kernel->arguments[i].handle);
}

unsigned pick(unsigned count)
{
    world->random = world->random * 6364136223846793005ull + 1442695040888963407ull;
    return (unsigned)(world->random >> 33) % count;
}

static bool is_unlucky(unsigned one_in)
{
    const bool unlucky = pick(one_in) == 0;
    world->refusals += unlucky;
    return unlucky;
}

static void note_mistake(const char *what)
{
    if (world->mistake == NULL)
        world->mistake = what;
}

void begin_world(unsigned long long seed)
{
    for (int i = 0; i < world->stream_count; i++)
        world->streams[i].count = world->streams[i].flushed = world->streams[i].done = 0;
    memset(world->buffers, 0, sizeof world->buffers);
    world->command_count = world->stream_count = 0;
    world->wait_count = 0;
    world->refusals = world->scratch = 0;
    world->mistake = NULL;
    world->random = seed * 2862933555777941757ull + 3037000493ull;
    for (int layout = 1; layout < LAYOUTS; layout++)
        for (int device = 0; device < DEVICES; device++) {
            rs_device_layout *one = &device_layouts[layout][device];
            one->relayout.number = (size_t)layout;
            one->relayout.record.size = 16;
            one->device = &device_layouts[0][device];
            one->converter = (rs_converter *)one;
        }
}

rs_allocation world_buffer(int number)
{
    return &world->buffers[number];
}

void renew_world_buffer(int number)
{
    world->buffers[number] = (bytes){0};
}

void blank_world_buffer(int number)
{
    world->buffers[number].layout = ANY_LAYOUT;
}

rs_stream world_stream(bool out_of_order)
{
    if (world->stream_count == MOST_STREAMS)
        return NULL;
    stream *one = &world->streams[world->stream_count++];
    one->out_of_order = out_of_order;
    one->is_own = false;
    one->is_open = true;
    return one;
}

/* ---- commands ---- */

static command *append(rs_stream to, command_kind kind, unsigned wait_count, const void *wait_list)
{
    stream *one = to;
    if (world->command_count == MOST_COMMANDS || world->wait_count + wait_count > MOST_WAITS) {
        fprintf(stderr, "the made-up world is too small\n");
        abort();
    }
    command *made = &world->commands[world->command_count];
    *made = (command){.kind = kind,
                      .stream = (int)(one - world->streams),
                      .buffer = -1,
                      .status = 3,
                      .references = 0,
                      .first_wait = world->wait_count,
                      .wait_count = wait_count};
    const rs_event *list = wait_list;
    for (unsigned i = 0; i < wait_count; i++)
        world->waits[world->wait_count++] = list[i];
    one->commands[one->count++] = world->command_count++;
    return made;
}

rs_event enqueue_command(rs_stream on, command_kind kind, int buffer, int from, int to,
                         unsigned wait_count, const void *wait_list)
{
    command *made = append(on, kind, wait_count, wait_list);
    made->buffer = buffer;
    made->from = from;
    made->to = to;
    return made;
}

static bool is_behind_others(const stream *one, const command *what, int place)
{
    return (!one->out_of_order || what->kind == MARK) && place > one->done;
}

static bool can_begin(const stream *one, int place)
{
    const command *what = &world->commands[one->commands[place]];
    if (what->is_begun || what->status <= 0 || place >= one->flushed ||
        is_behind_others(one, what, place))
        return false;
    for (size_t i = 0; i < what->wait_count; i++)
        if (world->waits[what->first_wait + i]->status > 0)
            return false;
    return true;
}

static bool is_abandoned(const command *what)
{
    for (size_t i = 0; i < what->wait_count; i++)
        if (world->waits[what->first_wait + i]->status < 0)
            return true;
    return false;
}

/* A conversion that fails, or never runs, leaves the bytes where nobody expects them; so does a
 * copy that was to replace them. */
static void begin_command(command *what)
{
    bytes *on = what->buffer >= 0 ? &world->buffers[what->buffer] : NULL;
    what->is_begun = true;
    if (is_abandoned(what)) {
        what->status = -14;
        if ((what->kind == CHANGE || what->kind == REPLACE) && on != NULL)
            on->is_spoiled = true;
    }
    if (what->placed != NULL && rs_api_event_status(what->placed) > 0)
        note_mistake("a conversion ran before its scratch memory was there");
    if (what->status < 0 || on == NULL || on->is_spoiled)
        return;
    if (on->is_changing || (what->kind != USE && on->users > 0))
        note_mistake("a command ran beside a conversion");
    if (what->kind != REPLACE && on->layout == ANY_LAYOUT)
        on->layout = what->from;
    if (what->kind != REPLACE && on->layout != what->from)
        note_mistake("a command found its buffer in another layout");
    if (what->kind == USE)
        on->users++;
    else
        on->is_changing = true;
}

static void end_command(command *what)
{
    bytes *on = what->buffer >= 0 ? &world->buffers[what->buffer] : NULL;
    if (what->status < 0)
        return;
    what->status = what->fails ? -36 : 0;
    if (on == NULL)
        return;
    if (what->fails)
        on->is_spoiled = true;
    if (what->kind == USE) {
        on->users -= on->users > 0;
        return;
    }
    on->is_changing = false;
    on->layout = what->to;
}

/* Begins or ends one command; false when none can. */
static bool run_one(void)
{
    const int count = world->stream_count;
    const int first = count > 0 ? (int)pick((unsigned)count) : 0;
    for (int i = 0; i < count; i++) {
        stream *one = &world->streams[(first + i) % count];
        while (one->done < one->count && world->commands[one->commands[one->done]].status <= 0)
            one->done++;
        const int waiting = one->flushed - one->done;
        const int start = waiting > 0 ? (int)pick((unsigned)waiting) : 0;
        for (int k = 0; k < waiting; k++) {
            const int place = one->done + (start + k) % waiting;
            command *what = &world->commands[one->commands[place]];
            if (can_begin(one, place)) {
                begin_command(what);
                return true;
            }
            if (what->is_begun && what->status > 0) {
                end_command(what);
                return true;
            }
        }
    }
    return false;
}

void run_some(int count)
{
    while (count-- > 0 && run_one())
        continue;
}

void run_all(void)
{
    for (int i = 0; i < world->stream_count; i++)
        world->streams[i].flushed = world->streams[i].count;
    while (run_one())
        continue;
    for (int i = 0; i < world->command_count; i++)
        if (world->commands[i].status > 0)
            note_mistake("commands wait for each other");
}

bool is_spoiled(int buffer)
{
    return world->buffers[buffer].is_spoiled;
}

unsigned count_refusals(void)
{
    return world->refusals;
}

unsigned count_held(void)
{
    unsigned held = world->scratch;
    for (int i = 0; i < world->command_count; i++)
        held += world->commands[i].references;
    for (int i = 0; i < world->stream_count; i++)
        held += world->streams[i].is_own && world->streams[i].is_open;
    return held;
}

const char *world_mistake(void)
{
    return world->mistake;
}

/* ---- what the core asks ---- */

void rs_api_fail(int error, const char *what)
{
    rs_fail(RESTRIDE_DEVICE_ERROR, "%s: %d", what, error);
}

void rs_api_event_retain(rs_event event)
{
    ((command *)event)->references++;
}

void rs_api_event_release(rs_event event)
{
    command *one = event;
    if (one->references == 0)
        note_mistake("an event was released once too often");
    else
        one->references--;
}

int rs_api_event_status(rs_event event)
{
    return ((command *)event)->status;
}

int rs_api_event_wait(rs_event event)
{
    const command *one = event;
    world->streams[one->stream].flushed = world->streams[one->stream].count;
    while (one->status > 0)
        if (!run_one()) {
            note_mistake("a wait has no end");
            return -1;
        }
    return one->status < 0 ? -14 : 0;
}

void rs_api_event_notify(rs_event event, void (*function)(void *data), void *data)
{
    rs_api_event_wait(event);
    function(data);
}

bool rs_api_event_times(rs_event first, rs_event last, uint64_t *start, uint64_t *end)
{
    (void)first, (void)last;
    *start = *end = 0;
    return false;
}

int rs_api_stream_open(rs_group group, rs_device device, rs_stream *made)
{
    (void)group, (void)device;
    *made = is_unlucky(30) ? NULL : world_stream(false);
    if (*made != NULL)
        ((stream *)*made)->is_own = true;
    return *made != NULL ? 0 : rs_api_no_memory;
}

void rs_api_stream_close(rs_stream one)
{
    rs_api_stream_flush(one);
    ((stream *)one)->is_open = false;
}

int rs_api_stream_flush(rs_stream one)
{
    ((stream *)one)->flushed = ((stream *)one)->count;
    return 0;
}

void rs_api_stream_finish(rs_stream one)
{
    rs_api_stream_flush(one);
    for (int i = 0; i < ((stream *)one)->count; i++)
        rs_api_event_wait(&world->commands[((stream *)one)->commands[i]]);
}

int rs_api_stream_mark(rs_stream one, rs_event *event)
{
    command *marker = is_unlucky(60) ? NULL : append(one, MARK, 0, NULL);
    if (marker != NULL)
        marker->references = 1;
    *event = marker;
    return marker != NULL ? 0 : rs_api_no_memory;
}

rs_allocation rs_api_memory_create(rs_group group, size_t size, rs_allocation like)
{
    (void)group, (void)size, (void)like;
    return NULL;
}

int rs_api_memory_read(rs_stream from, rs_allocation memory, size_t size, void *to)
{
    (void)from, (void)memory, (void)size, (void)to;
    return rs_api_lost;
}

int rs_api_memory_write(rs_stream to, rs_allocation memory, size_t size, const void *from)
{
    (void)to, (void)memory, (void)size, (void)from;
    return rs_api_lost;
}

bool rs_api_is_confined(const rs_kernel *kernel)
{
    (void)kernel;
    return false;
}

void rs_api_memory_release(rs_allocation memory)
{
    (void)memory;
}

bool rs_api_group_retain(rs_group group)
{
    return group != NULL;
}

void rs_api_group_release(rs_group group)
{
    (void)group;
}

char *rs_api_device_name(rs_device device)
{
    (void)device;
    return strdup("made up");
}

bool rs_api_device_is_cpu(rs_device device)
{
    return device == NULL;
}

void rs_queue_follow(rs_layer *layer, rs_stream handle)
{
    (void)layer, (void)handle;
}

bool rs_queue_can_be_timed(rs_queue *queue)
{
    return queue->profiling;
}

/* ---- conversions ---- */

restride_status rs_converter_create(rs_converter **converter, rs_group group, rs_device device,
                                    const rs_relayout *relayout)
{
    (void)group, (void)device, (void)relayout;
    *converter = NULL;
    return rs_fail(RESTRIDE_UNSUPPORTED, "There is nothing to make.");
}

void rs_converter_destroy(rs_converter *converter)
{
    (void)converter;
}

bool rs_converter_lacks_plans(const rs_converter *converter, size_t size)
{
    return converter == NULL || size == 0;
}

rs_plans *rs_plans_make(rs_converter *converter, size_t size)
{
    (void)converter, (void)size;
    return NULL;
}

void rs_converter_add_plans(rs_converter *converter, rs_plans *plans)
{
    (void)converter, (void)plans;
}

void rs_plans_destroy(rs_plans *plans)
{
    (void)plans;
}

restride_status rs_workspace_take(rs_converter *converter, rs_stream queue, size_t size,
                                  rs_workspace *workspace, rs_event *placed)
{
    (void)converter, (void)size;
    *workspace = (rs_workspace){NULL, NULL};
    *placed = NULL;
    if (is_unlucky(20))
        return rs_fail(RESTRIDE_OUT_OF_MEMORY, "There is no scratch memory.");
    world->scratch++;
    workspace->scratch = &world->scratch;
    if (pick(2) == 0) {
        command *first = append(queue, OTHER, 0, NULL);
        first->references = 1;
        workspace->scratch = *placed = first;
    }
    return RESTRIDE_OK;
}

void rs_workspace_release(rs_workspace *workspace)
{
    if (workspace->scratch != NULL)
        world->scratch--;
    *workspace = (rs_workspace){NULL, NULL};
}

bool rs_converter_has_run(const rs_converter *converter, const rs_workspace *workspace,
                          rs_direction direction)
{
    (void)converter, (void)workspace, (void)direction;
    return true;
}

restride_status rs_converter_enqueue(rs_converter *converter, const rs_workspace *workspace,
                                     rs_stream queue, rs_allocation buffer, size_t size,
                                     rs_direction direction, unsigned wait_count,
                                     const void *wait_list, rs_conversion *conversion)
{
    const int layout = (int)((const rs_device_layout *)converter)->relayout.number;
    const int number = (int)((bytes *)buffer - world->buffers);
    (void)size;
    *conversion = (rs_conversion){NULL, NULL, false};
    if (workspace->scratch == NULL)
        note_mistake("a conversion has no way");
    if (is_unlucky(20)) {
        conversion->is_torn = pick(2) == 0;
        if (conversion->is_torn)
            world->buffers[number].is_spoiled = true;
        return rs_fail(RESTRIDE_DEVICE_ERROR, "A conversion was refused.");
    }
    command *made = append(queue, CHANGE, wait_count, wait_list);
    made->buffer = number;
    made->from = direction == RS_FORWARD ? 0 : layout;
    made->to = direction == RS_FORWARD ? layout : 0;
    made->fails = is_unlucky(40);
    made->placed = workspace->scratch != &world->scratch ? workspace->scratch : NULL;
    made->references = 2;
    conversion->began = conversion->event = made;
    return RESTRIDE_OK;
}

size_t rs_converter_granule(const rs_converter *converter)
{
    return converter != NULL ? 0 : 1;
}

bool rs_converter_has_copied(const rs_converter *converter, rs_direction direction)
{
    return converter != NULL && direction == RS_INVERSE;
}

restride_status rs_converter_copy_part(rs_converter *converter, rs_stream queue,
                                       rs_allocation buffer, size_t size,
                                       const rs_converter_part *part, rs_direction direction,
                                       unsigned wait_count, const void *wait_list, rs_event *event)
{
    (void)converter, (void)queue, (void)buffer, (void)size, (void)part, (void)direction;
    (void)wait_count, (void)wait_list;
    *event = NULL;
    return rs_fail(RESTRIDE_UNSUPPORTED, "There are no parts.");
}
