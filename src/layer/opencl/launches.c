/*
 * Launches: each chooses between the program's own kernel and the rewritten one (choice.h). The
 * rewritten one is launched only when every buffer that it wants in another layout can be had in
 * it, and the policy wants it; otherwise all buffers are brought to AoS and the program's own
 * kernel runs.
 */
#include "base/log.h"
#include "layer/core/choice.h"
#include "layer/core/launch_wait.h"
#include "layer/core/process_exit.h"
#include "layer/core/report.h"
#include "layer/core/timing.h"
#include "layer/core/wait.h"
#include "layer/opencl/profiled_launch.h"

/* Whether a buffer that this launch wants as the program has it may soon be of use in the other
 * layout. */
static bool goes_on(const rs_choice *choice, const rs_target *target) RS_LOCKED
{
    const rs_buffer *buffer =
        rs_buffer_find(rs_the_layer(), choice->kernel->arguments[target->index].buffer);
    return choice->by_policy &&
           (choice->demand == RS_FOR_LAYOUT ||
            (choice->demand == RS_INDIFFERENT && (buffer == NULL || buffer->layout == NULL)));
}

/* Brings every buffer of the launch into place. */
static void place_buffers(const rs_choice *choice, rs_command *command) RS_LOCKED
{
    rs_kernel *kernel = choice->kernel;
    for (size_t i = 0; kernel != NULL && i < kernel->argument_count; i++) {
        const rs_target *wanted = rs_kernel_target(kernel, i);
        command->keeps_run = wanted != NULL && goes_on(choice, wanted);
        rs_command_use(
            command, kernel->arguments[i].buffer,
            wanted != NULL && choice->rewritten ? choice->layouts[wanted - kernel->targets] : NULL);
    }
}

/* The quicker form holds where every array ends with a full tile. */
static rs_form form_of_launch(const rs_kernel *kernel) RS_LOCKED
{
    bool full = kernel->rewritten[RS_FORM_FULL] != NULL;
    for (size_t i = 0; i < kernel->target_count; i++) {
        const rs_target *target = &kernel->targets[i];
        full = full && target->relayout.tile > 0 &&
               rs_target_buffer(kernel, i)->size % target->relayout.record.size == 0 &&
               rs_target_buffer(kernel, i)->size / target->relayout.record.size %
                       target->relayout.tile ==
                   0;
    }
    return full ? RS_FORM_FULL : RS_FORM_ANY;
}

/* The arguments of the rewritten kernels that the program does not set. */
static cl_int set_counts(rs_kernel *kernel) RS_LOCKED
{
    for (size_t i = 0; i < kernel->target_count; i++) {
        rs_target *wanted = &kernel->targets[i];
        cl_ulong count = rs_target_buffer(kernel, i)->size / wanted->relayout.record.size;
        if (count == wanted->count)
            continue;
        for (int form = 0; form < RS_FORMS; form++) {
            cl_int error = kernel->rewritten[form] == NULL
                               ? CL_SUCCESS
                               : rs_driver()->clSetKernelArg(kernel->rewritten[form],
                                                             (cl_uint)wanted->count_index,
                                                             sizeof count, &count);
            if (error != CL_SUCCESS)
                return error;
        }
        wanted->count = count;
    }
    return CL_SUCCESS;
}

/* The form of a launch as a bit of `forms_run`. */
static unsigned bit_of_form(const rs_choice *choice) RS_LOCKED
{
    return choice->rewritten ? 2u << form_of_launch(choice->kernel) : 1u;
}

/* Whether the kernel has been launched before in this form. It is the program's own business
 * whether the driver still compiles its own form, if it has launched no other. */
static bool has_run(const rs_choice *choice, unsigned form)
{
    const rs_kernel *kernel = choice->kernel;
    if (kernel == NULL || kernel->facts == NULL)
        return !choice->rewritten;
    return (kernel->facts->forms_run & form) != 0 ||
           (!choice->rewritten && kernel->facts->forms_run == 0);
}

static cl_int enqueue(rs_command *command, const rs_choice *choice, cl_kernel handle,
                      cl_event *event) RS_LOCKED
{
    const rs_range *r = choice->range;
    const unsigned form = bit_of_form(choice);
    if (!rs_exit_admits(rs_the_layer(), has_run(choice, form)))
        return command->error = CL_OUT_OF_RESOURCES;
    place_buffers(choice, command);
    cl_int error = command->error;
    if (error == CL_SUCCESS && choice->rewritten)
        error = set_counts(choice->kernel);
    if (error != CL_SUCCESS)
        return error;
    if (choice->rewritten)
        handle = choice->kernel->rewritten[form_of_launch(choice->kernel)];
    error = rs_driver()->clEnqueueNDRangeKernel(command->handle, handle, r->dimensions, r->offset,
                                                r->global, r->local, command->wait_count,
                                                command->wait_list, event);
    if (error == CL_SUCCESS && choice->kernel != NULL && choice->kernel->facts != NULL)
        choice->kernel->facts->forms_run |= form;
    return error;
}

static void note_launch(const rs_choice *choice) RS_LOCKED
{
    rs_kernel *kernel = choice->kernel;
    if (kernel == NULL || kernel->facts == NULL)
        return;
    rs_report_begin(rs_the_layer());
    kernel->facts->launches++;
    kernel->facts->transformed_launches += choice->rewritten;
    if (choice->known != NULL)
        rs_policy_note_launch(&choice->known->knowledge, choice->rewritten, choice->work_items);
    if (choice->rewritten != choice->by_policy) /* as it was chosen */
        rs_the_layer()->owed -= choice->gain;
    for (size_t i = 0; choice->demand == RS_FOR_LAYOUT && i < kernel->target_count; i++) {
        rs_buffer *buffer = rs_target_buffer(kernel, i);
        if (buffer == NULL || rs_target_seen_before(kernel, i))
            continue;
        buffer->run++;
        buffer->last_wanted = choice->known;
    }
}

static double count_work_items(cl_uint dimensions, const size_t *global)
{
    double count = 1;
    for (cl_uint i = 0; global != NULL && dimensions <= RS_MOST_DIMENSIONS && i < dimensions; i++)
        count *= (double)global[i];
    return count;
}

/* What it takes to time a launch. */
static double timing_seconds(const rs_queue *queue)
{
    return queue->profiling ? 0 : rs_profiled_launch_seconds;
}

/* The first time of each kernel is a part of what the program can bear altogether. */
static bool is_worth_timing(const rs_choice *choice, const rs_queue *queue) RS_LOCKED
{
    const rs_policy_knowledge *known = &choice->known->knowledge;
    const double seconds = timing_seconds(queue);
    const bool was_short = known->own.count == 0 && rs_policy_was_short(known, choice->work_items);
    const double since_first = was_short ? rs_layer_clock() - choice->known->first_launch : 0;
    return rs_policy_wants_time(known, choice->rewritten, choice->work_items, seconds,
                                since_first) &&
           (seconds <= 0 || !rs_policy_is_first_time(known) ||
            rs_wait_budget(rs_the_layer(), rs_layer_clock()) >= seconds);
}

/* Whether this launch is to be timed. */
static bool is_timed(const rs_choice *choice, const rs_queue *queue) RS_LOCKED
{
    if (choice->kernel == NULL || choice->kernel->facts == NULL || queue == NULL)
        return false;
    return (rs_report_times(rs_the_layer()) && queue->profiling) ||
           (choice->known != NULL && (choice->is_trial || is_worth_timing(choice, queue)));
}

/* The launch has an event of ours from now on. */
static void take_time(const rs_choice *choice, const rs_queue *queue, cl_event event) RS_LOCKED
{
    if (choice->known != NULL && rs_policy_is_first_time(&choice->known->knowledge))
        rs_the_layer()->waited += timing_seconds(queue);
    if (choice->known != NULL) {
        rs_policy_take_time(&choice->known->knowledge, choice->rewritten, timing_seconds(queue));
        rs_the_layer()->owed += timing_seconds(queue);
    }
    if (!rs_report_times(rs_the_layer())) /* few are open then */
        rs_timing_collect(rs_the_layer());
    rs_timing_take(rs_the_layer(), &(rs_timed){.event = event,
                                               .facts = choice->kernel->facts,
                                               .known = choice->known,
                                               .rewritten = choice->rewritten,
                                               .work_items = choice->work_items,
                                               .is_profiled = true,
                                               .device = queue->device});
}

/* Begins the command and chooses. What is being built and is needed at once is waited for without
 * the lock (device_layouts.h), and not for ever: the build may itself wait for this call, in a
 * callback. */
static void begin_launch(rs_command *command, rs_choice *choice, cl_command_queue queue,
                         cl_kernel handle, cl_uint wait_count, const cl_event *wait_list) RS_LOCKS
{
    const double longest = 30;
    double end = 0;
    bool is_in_time = true;
    rs_layer *layer = rs_the_layer();
    rs_command_begin(command, layer, queue, wait_count, wait_list);
    if (rs_launch_may_wait(rs_kernel_find(layer, handle))) {
        rs_command_end(command);
        rs_launch_wait(layer, queue, handle);
        rs_command_begin(command, layer, queue, wait_count, wait_list);
    }
    for (;;) {
        const unsigned long long seen = rs_layer_changes(layer);
        choice->kernel = rs_kernel_find(layer, handle);
        rs_choose(choice, command);
        if (!choice->is_pending || rs_exit_has_begun(layer) || !is_in_time)
            return;
        rs_command_end(command);
        if (end <= 0)
            end = rs_layer_clock() + longest;
        is_in_time = rs_layer_wait(layer, seen, end);
        rs_command_begin(command, layer, queue, wait_count, wait_list);
    }
}

/* After the rewritten kernel could not be launched: whether the program's own can be. */
static bool fall_back(rs_command *command, rs_choice *choice, cl_int error) RS_LOCKED
{
    rs_kernel_unreserve(choice->kernel);
    if (command->error != CL_SUCCESS && !command->is_refused)
        return false;
    rs_log(RS_LOG_INFO, "a rewritten kernel could not be launched (error %d)", error);
    rs_report_hold(choice->kernel->facts, choice->kernel->targets[0].index,
                   command->is_refused ? "the device refused to convert a buffer"
                                       : "the device refused to launch the rewritten kernel");
    command->error = CL_SUCCESS;
    command->is_refused = false;
    choice->rewritten = false;
    return true;
}

static cl_int CL_API_CALL enqueue_range(cl_command_queue queue, cl_kernel handle,
                                        cl_uint dimensions, const size_t *offset,
                                        const size_t *global, const size_t *local,
                                        cl_uint wait_count, const cl_event *wait_list,
                                        cl_event *event)
{
    const rs_range parameters = {dimensions, offset, global, local};
    rs_command command;
    const rs_device_layout *layouts[RS_MOST_TARGETS];
    rs_choice choice = {.range = &parameters,
                        .work_items = count_work_items(dimensions, global),
                        .layouts = layouts};
    cl_event mine = NULL;
    begin_launch(&command, &choice, queue, handle, wait_count, wait_list);
    bool timed = is_timed(&choice, command.queue);
    const bool by_profiling_queue = timed && !command.queue->profiling;
    if (by_profiling_queue)
        timed = rs_profiled_launch_begin(&command);
    cl_event *out = timed ? &mine : event;

    cl_int error = enqueue(&command, &choice, handle, out);
    if (error != CL_SUCCESS && choice.rewritten && fall_back(&command, &choice, error))
        error = enqueue(&command, &choice, handle, out);
    if (error == CL_SUCCESS)
        note_launch(&choice);
    if (by_profiling_queue && timed)
        rs_profiled_launch_end(&command, mine, error == CL_SUCCESS ? event : NULL);
    else if (error == CL_SUCCESS && timed && event != NULL) {
        *event = mine;
        rs_driver()->clRetainEvent(mine);
    }
    if (error == CL_SUCCESS && timed)
        take_time(&choice, command.queue, mine);
    rs_command_end(&command);
    return error;
}

static cl_int CL_API_CALL enqueue_task(cl_command_queue queue, cl_kernel kernel, cl_uint wait_count,
                                       const cl_event *wait_list, cl_event *event)
{
    static const size_t one = 1;
    return enqueue_range(queue, kernel, 1, NULL, &one, &one, wait_count, wait_list, event);
}

void rs_layer_add_launches(cl_icd_dispatch *table)
{
    table->clEnqueueNDRangeKernel = enqueue_range;
    table->clEnqueueTask = enqueue_task;
}
