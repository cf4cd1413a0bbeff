/*
 * Random programs on the layer's core, without a driver (made_up_api.h): whatever is enqueued, in
 * whatever order it runs, and whatever fails, each command finds its buffer in the layout that it
 * expects, a buffer's state follows the table (layer/core/buffer.h), and nothing is held in the
 * end. Two such programs on layers of their own do not influence each other.
 *
 * usage: test_core SEQUENCES [FIRST SEED]; or --table, which prints the table for the document.
 */
#include "layer/core/buffer.h"
#include "layer/core/repeat.h"
#include "layer/core/restore.h"
#include "made_up_api.h"
#include "states_table.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { QUEUES = 4, LONGEST = 24 };

/* A kernel with a buffer as its argument, which it may want in another layout. */
typedef struct {
    rs_kernel kernel;
    rs_argument argument;
    rs_target target;
    rs_kernel_facts facts;
} made_up_kernel;

/* A program on a layer of its own. */
static struct program {
    rs_layer layer;
    rs_context context;
    made_up_kernel kernels[BUFFERS][LAYOUTS]; /* those of layout 0 want the program's own */
    rs_queue *queues[QUEUES];
    rs_buffer *buffers[BUFFERS];
    rs_event last_used[QUEUES]; /* by a command of the program; NULL: none */
    bool depends[QUEUES];       /* on commands of other queues */
    unsigned steps_left;
    unsigned last_queue, last_number, last_layout; /* of launch_kernel() */
    unsigned long long repeats;                    /* launches, in all sequences */
    unsigned long long trace;                      /* a hash of all states so far */
    const char *mistake;
} programs[WORLDS], *program = &programs[0];

static void enter(int number)
{
    program = &programs[number];
    enter_world(number);
}

static void expect(bool right, const char *what)
{
    if (!right && program->mistake == NULL)
        program->mistake = what;
}

/* ---- the program's objects ---- */

static rs_queue *open_queue(void)
{
    rs_queue *queue = calloc(1, sizeof *queue);
    queue->layer = &program->layer;
    queue->out_of_order = pick(3) == 0;
    queue->handle = world_stream(queue->out_of_order);
    queue->context = &program->context;
    queue->device = device_layouts[1][pick(DEVICES)].device;
    rs_map_set(&program->layer.queues, queue->handle, queue);
    return queue;
}

static bool repeats(int number, unsigned layout, rs_stream queue)
{
    static const size_t one = 1;
    const rs_range range = {.dimensions = 1, .global = &one};
    const rs_choice choice = {
        .kernel = &program->kernels[number][layout].kernel, .range = &range, .work_items = 1};
    return rs_choice_repeats(&choice, queue);
}

/* Another queue may have the handle of one that has ended. */
static void expect_no_repeats(rs_stream queue)
{
    for (int i = 0; i < BUFFERS; i++)
        for (unsigned layout = 0; layout < LAYOUTS; layout++)
            expect(!repeats(i, layout, queue), "a launch would repeat one of what has ended");
}

static void close_queue(rs_queue *queue)
{
    rs_queue_retire(queue);
    expect_no_repeats(queue->handle);
    rs_map_remove(&program->layer.queues, queue->handle);
    rs_api_stream_flush(queue->handle);
    free(queue);
}

static rs_buffer *open_buffer(int number)
{
    rs_buffer *buffer = calloc(1, sizeof *buffer);
    buffer->handle = world_buffer(number);
    buffer->context = &program->context;
    buffer->size = 64;
    rs_map_set(&program->layer.buffers, buffer->handle, buffer);
    program->layer.generation++;
    if (pick(2) == 0) { /* nobody knows what its memory comes with */
        blank_world_buffer(number);
        rs_buffer_set_blank(buffer);
    }
    return buffer;
}

static void open_all(void)
{
    program->context.layer = &program->layer;
    program->context.handle = &program->context;
    for (int i = 0; i < QUEUES; i++)
        program->queues[i] = open_queue();
    memset(program->last_used, 0, sizeof program->last_used);
    memset(program->depends, 0, sizeof program->depends);
    for (int i = 0; i < BUFFERS; i++)
        program->buffers[i] = open_buffer(i);
}

static void open_kernels(void)
{
    for (int i = 0; i < BUFFERS; i++)
        for (int layout = 0; layout < LAYOUTS; layout++) {
            made_up_kernel *made = &program->kernels[i][layout];
            *made = (made_up_kernel){.argument = {.handle = world_buffer(i)},
                                     .target.relayout = device_layouts[layout][0].relayout};
            made->argument.target = layout > 0 ? &made->target : NULL;
            made->kernel = (rs_kernel){.layer = &program->layer,
                                       .handle = made,
                                       .argument_count = 1,
                                       .arguments = &made->argument,
                                       .target_count = layout > 0,
                                       .targets = &made->target,
                                       .facts = &made->facts,
                                       .policy = RS_POLICY_ASTA};
        }
}

static void close_all(void)
{
    for (int i = 0; i < BUFFERS; i++) {
        rs_map_remove(&program->layer.buffers, program->buffers[i]->handle);
        rs_buffer_forget(program->buffers[i]);
        for (int k = 0; k < QUEUES; k++)
            expect_no_repeats(program->queues[k]->handle);
        free(program->buffers[i]);
    }
    for (int i = 0; i < QUEUES; i++)
        close_queue(program->queues[i]);
}

/* ---- what a program does ---- */

static int layout_of(const rs_buffer *buffer)
{
    return buffer->layout != NULL ? (int)buffer->layout->relayout.number : 0;
}

/* The state is that of the table, where nothing was refused. A buffer that may not leave stays. */
static void check_step(int number, rs_buffer_state before, rs_buffer_event event, unsigned refusals)
{
    const rs_buffer *buffer = program->buffers[number];
    const rs_buffer_state now = rs_buffer_state_of(buffer);
    const rs_buffer_state next = rs_buffer_next(before, event).next;
    const bool is_kept_at_last = next == RS_BUFFER_ORIGINAL && now == RS_BUFFER_KEPT;
    if (count_refusals() == refusals && !is_spoiled(number))
        expect(now == next || is_kept_at_last, "a state is not that of the table");
}

static int number_of(const rs_queue *queue)
{
    int number = 0;
    while (number < QUEUES - 1 && program->queues[number] != queue)
        number++;
    return number;
}

static void enqueue_use(const rs_command *command, int number)
{
    program->last_used[number_of(command->queue)] =
        enqueue_command(command->handle, USE, number, layout_of(program->buffers[number]), 0,
                        command->wait_count, command->wait_list);
}

/* It waits for a command of another queue, if there is one, which the program may flush later. */
static bool use_original(rs_queue *queue, int number, bool waits)
{
    rs_command command;
    rs_event other = waits ? program->last_used[pick(QUEUES)] : NULL;
    const rs_buffer_state before = rs_buffer_state_of(program->buffers[number]);
    const unsigned refusals = count_refusals();
    program->depends[number_of(queue)] = program->depends[number_of(queue)] || other != NULL;
    rs_command_begin(&command, &program->layer, queue->handle, other != NULL,
                     other != NULL ? &other : NULL);
    rs_command_use(&command, program->buffers[number], NULL);
    if (command.error == 0) {
        expect(layout_of(program->buffers[number]) == 0,
               "a use of the original layout found the buffer converted");
        enqueue_use(&command, number);
    }
    expect(command.error == 0 || count_refusals() > refusals || is_spoiled(number),
           "a command failed for no reason");
    expect(command.error != 0 || before != RS_BUFFER_LOST, "a command got a lost buffer");
    rs_command_end(&command);
    check_step(number, before, RS_USE_ORIGINAL, refusals);
    return command.error == 0;
}

/* What a queue's commands wait for in other queues, the program has flushed; but not what they wait
 * for on behalf of the layer. */
static void read_and_wait(rs_queue *queue, int number)
{
    rs_event event;
    for (int i = 0; program->depends[number_of(queue)] && i < QUEUES; i++)
        rs_api_stream_flush(program->queues[i]->handle);
    if (use_original(queue, number, false) && rs_api_stream_mark(queue->handle, &event) == 0) {
        rs_api_event_wait(event);
        rs_api_event_release(event);
    }
}

/* A launch in another layout, and in the program's own if that is refused. */
static void use_converted(rs_queue *queue, int number)
{
    rs_command command;
    rs_buffer *buffer = program->buffers[number];
    const unsigned refusals = count_refusals();
    const rs_buffer_state before = rs_buffer_state_of(buffer);
    const unsigned layout = 1 + pick(LAYOUTS - 1);
    const rs_device_layout *wanted =
        &device_layouts[layout][queue->device == device_layouts[1][0].device ? 0 : 1];
    const bool is_there = layout_of(buffer) == (int)layout;
    if (buffer->kept_reason != NULL || buffer->map_count > 0 || buffer->is_lost)
        return;
    rs_command_begin(&command, &program->layer, queue->handle, 0, NULL);
    bool stays = !rs_command_reserve(&command, buffer, wanted);
    if (!stays)
        rs_command_use(&command, buffer, wanted);
    if (stays || command.refusal != NULL) {
        command.error = 0;
        command.refusal = NULL;
        rs_buffer_unreserve(buffer);
        rs_command_use(&command, buffer, NULL);
    }
    if (command.error == 0)
        enqueue_use(&command, number);
    expect(command.error == 0 || count_refusals() > refusals || is_spoiled(number),
           "a launch failed for no reason");
    rs_buffer_unreserve(buffer);
    rs_command_end(&command);
    check_step(number, before, is_there ? RS_USE_SAME : RS_USE_OTHER, refusals);
}

/* A launch of a kernel that is forced into its layout: as one before, if it repeats that. Often it
 * is the last one again. */
static void launch_kernel(void)
{
    const bool is_last = pick(4) != 0;
    program->last_queue = is_last ? program->last_queue : pick(QUEUES);
    program->last_number = is_last ? program->last_number : pick(BUFFERS);
    program->last_layout = is_last ? program->last_layout : pick(LAYOUTS);
    rs_queue *queue = program->queues[program->last_queue];
    const int number = (int)program->last_number;
    const unsigned layout = program->last_layout;
    rs_buffer *buffer = program->buffers[number];
    rs_kernel *kernel = &program->kernels[number][layout].kernel;
    const rs_device_layout *wanted =
        &device_layouts[layout][queue->device == device_layouts[1][0].device ? 0 : 1];
    const rs_choice choice = {
        .kernel = kernel, .queue = queue, .layouts = &wanted, .rewritten = layout > 0};
    rs_event other = pick(4) == 0 ? program->last_used[pick(QUEUES)] : NULL;
    const rs_event *wait_list = other != NULL ? &other : NULL;
    rs_command command;
    program->depends[program->last_queue] |= other != NULL;
    rs_layer_lock(&program->layer);
    if (repeats(number, layout, queue->handle)) {
        expect(!buffer->is_lost, "a launch on a lost buffer repeats one before");
        program->last_used[number_of(queue)] =
            enqueue_command(queue->handle, USE, number, (int)layout, 0, other != NULL, wait_list);
        program->repeats++;
    } else if (layout == 0 || (buffer->kept_reason == NULL && buffer->map_count == 0)) {
        const unsigned refusals = count_refusals();
        rs_kernel_bind(kernel);
        rs_command_start(&command, &program->layer, queue, queue->handle, other != NULL, wait_list);
        rs_command_use_all(&command, kernel, layout > 0 ? choice.layouts : NULL, RS_AGAINST_LAYOUT);
        expect(command.error == 0 || count_refusals() > refusals || is_spoiled(number),
               "a kernel's launch failed for no reason");
        if (command.error == 0 && pick(8) != 0) { /* else the driver refuses the launch */
            enqueue_use(&command, number);
            rs_choice_keep(&choice, &command, layout > 0 ? &kernel->repeat : kernel->handle);
        }
        if (buffer->run == 0 && pick(4) == 0) { /* which a kernel that has ended runs must end */
            rs_buffer_note_wanted(buffer, NULL);
            expect(!repeats(number, layout, queue->handle), "a launch would not end a run");
        }
        rs_command_finish(&command);
    }
    rs_layer_unlock(&program->layer);
}

/* The program itself orders a command that writes after all others: all bytes, in its own layout or
 * the same one everywhere. */
static void replace(rs_queue *queue, int number, bool is_fill)
{
    rs_command command;
    rs_buffer *buffer = program->buffers[number];
    const rs_buffer_state before = rs_buffer_state_of(buffer);
    run_all();
    const unsigned refusals = count_refusals();
    rs_command_begin(&command, &program->layer, queue->handle, 0, NULL);
    rs_command_touch(&command, buffer);
    if (command.error == 0) {
        enqueue_command(command.handle, REPLACE, number, 0, is_fill ? ANY_LAYOUT : 0,
                        command.wait_count, command.wait_list);
        if (is_fill)
            rs_buffer_set_blank(buffer);
        else
            rs_buffer_set_layout(buffer, NULL);
        check_step(number, before, is_fill ? RS_USE_OPAQUE : RS_REPLACED_ORIGINAL, refusals);
    }
    rs_command_end(&command);
    run_all();
}

/* A command that no buffer is told of. There are none while one is converted. */
static void use_unseen(rs_queue *queue, int number)
{
    for (int i = 0; i < BUFFERS; i++)
        if (program->buffers[i]->layout != NULL || program->buffers[i]->is_lost)
            return;
    run_all();
    program->layer.unseen++;
    enqueue_command(queue->handle, USE, number, 0, 0, 0, NULL);
    run_all();
}

/* A part of the buffer is written, in whatever layout it is. */
static void change_part(rs_queue *queue, int number)
{
    rs_command command;
    rs_buffer *buffer = program->buffers[number];
    rs_command_begin(&command, &program->layer, queue->handle, 0, NULL);
    if (!buffer->is_lost)
        rs_command_wait_for_users(&command, buffer);
    if (!buffer->is_lost && command.error == 0) {
        const int layout = layout_of(buffer);
        rs_event event = enqueue_command(command.handle, CHANGE, number, layout, layout,
                                         command.wait_count, command.wait_list);
        rs_api_event_retain(event);
        rs_buffer_changed(buffer, queue, event);
    }
    rs_command_end(&command);
}

/* A copy of a whole buffer takes the layout along. */
static void copy_layout(rs_queue *queue, int from, int to)
{
    rs_command command;
    rs_buffer *source = program->buffers[from], *target = program->buffers[to];
    const rs_buffer_state before = rs_buffer_state_of(target);
    if (from == to || source->layout == NULL || source->layout->device != queue->device ||
        target->kept_reason != NULL || target->map_count > 0 || target->is_lost)
        return;
    run_all();
    const unsigned refusals = count_refusals();
    rs_command_begin(&command, &program->layer, queue->handle, 0, NULL);
    if (rs_command_reserve(&command, target, source->layout)) {
        rs_command_touch(&command, source);
        rs_command_touch(&command, target);
        if (command.error == 0) {
            enqueue_use(&command, from);
            enqueue_command(command.handle, REPLACE, to, 0, layout_of(source), command.wait_count,
                            command.wait_list);
            rs_buffer_set_layout(target, source->layout);
            check_step(to, before, RS_REPLACED_CONVERTED, refusals);
        }
    }
    rs_buffer_unreserve(target);
    rs_command_end(&command);
    run_all();
}

static void map_or_unmap(rs_queue *queue, int number)
{
    rs_buffer *buffer = program->buffers[number];
    if (buffer->map_count > 0)
        buffer->map_count--;
    else if (use_original(queue, number, false))
        buffer->map_count++;
}

static void keep(int number)
{
    const rs_buffer_state before = rs_buffer_state_of(program->buffers[number]);
    const unsigned refusals = count_refusals();
    const int error = rs_buffer_keep(&program->layer, program->buffers[number]->handle, "kept");
    expect(error == 0 || count_refusals() > refusals || is_spoiled(number), "a keep failed");
    expect(error != 0 || rs_buffer_state_of(program->buffers[number]) == RS_BUFFER_KEPT,
           "what is kept is not in the original layout");
    if (before != RS_BUFFER_MAPPED && before != RS_BUFFER_ORIGINAL)
        check_step(number, before, RS_RESTORE, refusals);
}

/* After a wait, what has failed is known. */
static void look_for_failures(rs_queue *queue)
{
    run_all();
    rs_api_stream_finish(queue->handle);
    rs_layer_look_for_failures(&program->layer);
    for (int i = 0; i < BUFFERS; i++)
        expect(program->buffers[i]->ready == NULL ||
                   rs_api_event_status(program->buffers[i]->ready) >= 0 ||
                   program->buffers[i]->is_lost,
               "a failed conversion was not seen");
}

/* The program releases a buffer, and another gets its handle. */
static void renew_buffer(int number)
{
    rs_buffer *before = program->buffers[number];
    run_all();
    rs_map_remove(&program->layer.buffers, before->handle);
    rs_buffer_forget(before);
    renew_world_buffer(number);
    program->buffers[number] = open_buffer(number);
    memset(before, 0x5a, sizeof *before); /* nobody may look there */
    free(before);
}

static void do_something(void)
{
    rs_queue **queue = &program->queues[pick(QUEUES)];
    const int number = (int)pick(BUFFERS);
    switch (pick(18)) {
    case 0:
        read_and_wait(*queue, number);
        break;
    case 1:
        replace(*queue, number, false);
        break;
    case 2:
        copy_layout(*queue, number, (int)pick(BUFFERS));
        break;
    case 3:
        map_or_unmap(*queue, number);
        break;
    case 4:
        if (pick(4) == 0)
            keep(number);
        else
            renew_buffer(number);
        break;
    case 5:
        if (pick(3) == 0)
            rs_layer_restore(&program->layer);
        break;
    case 6:
        program->last_used[queue - program->queues] = NULL;
        program->depends[queue - program->queues] = false;
        close_queue(*queue);
        *queue = open_queue();
        break;
    case 7:
        look_for_failures(*queue);
        break;
    case 8:
        use_original(*queue, number, true);
        break;
    case 9:
        change_part(*queue, number);
        break;
    case 10:
    case 11:
        run_some((int)pick(20));
        break;
    case 12:
    case 13:
        use_converted(*queue, number);
        break;
    case 14:
        replace(*queue, number, true);
        break;
    case 15:
        use_unseen(*queue, number);
        break;
    default:
        launch_kernel();
    }
}

static void begin_sequence(unsigned long long seed)
{
    program->mistake = NULL;
    program->trace = 0;
    program->last_queue = program->last_number = program->last_layout = 0;
    begin_world(seed);
    open_all();
    open_kernels();
    program->steps_left = 1 + pick(LONGEST);
}

static void step_sequence(void)
{
    do_something();
    program->steps_left--;
    for (int i = 0; i < BUFFERS; i++) {
        const rs_buffer *buffer = program->buffers[i];
        expect(rs_buffer_is_sound(buffer), "a buffer is not sound");
        const unsigned seen[] = {rs_buffer_state_of(buffer), (unsigned)layout_of(buffer),
                                 (unsigned)buffer->users.queue_count, count_held()};
        for (size_t k = 0; k < sizeof seen / sizeof seen[0]; k++)
            program->trace = program->trace * 1099511628211ull + seen[k];
    }
}

static bool end_sequence(unsigned long long seed)
{
    run_all();
    close_all();
    expect(count_held() == 0, "something is held in the end");
    expect(world_mistake() == NULL, world_mistake());
    if (program->mistake != NULL)
        fprintf(stderr, "test_core: seed %llu: %s\n", seed, program->mistake);
    return program->mistake == NULL;
}

static bool run_sequence(unsigned long long seed)
{
    begin_sequence(seed);
    while (program->steps_left > 0)
        step_sequence();
    return end_sequence(seed);
}

/* Two programs, each on a layer of its own, take turns: each sees what it sees alone. */
static bool run_beside(unsigned long long seed)
{
    unsigned long long alone[WORLDS], turns = seed;
    bool is_right = true;
    for (int i = 0; i < WORLDS; i++) {
        enter(i);
        is_right = run_sequence(seed + (unsigned)i) && is_right;
        alone[i] = program->trace;
    }
    for (int i = 0; i < WORLDS; i++) {
        enter(i);
        begin_sequence(seed + (unsigned)i);
    }
    while (programs[0].steps_left + programs[1].steps_left > 0) {
        turns = turns * 6364136223846793005ull + 1442695040888963407ull;
        const int turn = (int)(turns >> 63);
        enter(programs[turn].steps_left > 0 ? turn : 1 - turn);
        step_sequence();
    }
    for (int i = 0; i < WORLDS; i++) {
        enter(i);
        is_right = end_sequence(seed + (unsigned)i) && is_right;
        if (program->trace != alone[i])
            fprintf(stderr, "test_core: seed %llu: two layers influence each other\n", seed);
        is_right = is_right && program->trace == alone[i];
    }
    enter(0);
    return is_right;
}

int main(int argc, char **argv)
{
    if (argc > 1 && strcmp(argv[1], "--table") == 0) {
        print_table();
        return 0;
    }
    const unsigned long long sequences = argc > 1 ? strtoull(argv[1], NULL, 10) : 1;
    const unsigned long long first = argc > 2 ? strtoull(argv[2], NULL, 10) : 1;
    enum { BESIDE = 8 }; /* one in so many is run beside another */
    for (int i = 0; i < WORLDS; i++) {
        rs_layer_init_locks(&programs[i].layer);
        programs[i].layer.generation = 1;
        programs[i].layer.unseen = 1;
    }
    for (unsigned long long i = 0; i < sequences; i++)
        if (!(i % BESIDE == 0 ? run_beside(first + i) : run_sequence(first + i)))
            return 1;
    printf("%llu sequences, %llu launches as one before\n", sequences, programs[0].repeats);
    return sequences > 1000 && programs[0].repeats * 10 < sequences;
}
