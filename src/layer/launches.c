/*
 * Launches: each chooses between the program's own kernel and the rewritten one. The rewritten one
 * is launched only when every buffer that it wants in another layout can be had in it, and the
 * policy wants it; otherwise all buffers are brought to AoS and the program's own kernel runs.
 */
#include "base/log.h"
#include "layer/detour.h"
#include "layer/knowledge.h"
#include "layer/report.h"
#include "layer/timing.h"
#include "rewrite/launch_limits.h"

#include <string.h>
#include <time.h>

enum { MAXIMUM_TARGETS = 64, LAUNCHES_BETWEEN_LOOKS = 16 };

/* The program's parameters of one launch. */
typedef struct {
    cl_uint dimensions;
    const size_t *offset, *global, *local;
} range;

typedef struct {
    rs_kernel *kernel;
    const range *range;
    rs_known_kernel *known; /* NULL: no policy to ask */
    double work_items;
    const rs_residence **residences; /* of each target, when `rewritten` */
    bool rewritten;
    bool by_policy; /* the program's own kernel by choice: its buffers could be had otherwise */
    bool is_trial;  /* it is to be timed */
    rs_policy_demand demand;
    double gain;     /* seconds, as the policy says */
    bool is_pending; /* it would be rewritten if its conversions were built */
} launch;

/* ---- what stands in the way ---- */

/* Whether another argument of the kernel reads the same buffer in another layout. */
static bool seen_otherwise(const rs_kernel *kernel, const rs_target *wanted, cl_mem buffer)
{
    for (size_t i = 0; i < kernel->argument_count; i++) {
        if (i == wanted->index || kernel->arguments[i].buffer == NULL)
            continue;
        if (kernel->arguments[i].buffer != buffer) {
            const rs_view *view = rs_view_find(kernel->arguments[i].buffer);
            if (view != NULL && view->parent->handle == buffer)
                return true;
            continue;
        }
        const rs_target *other = rs_kernel_target(kernel, i);
        if (other == NULL || !rs_relayout_equal(&other->relayout, &wanted->relayout))
            return true;
    }
    return false;
}

/* Why this argument's buffer cannot be had in the wanted layout; NULL when nothing is known to
 * stand in the way. */
static const char *obstacle(const rs_kernel *kernel, const rs_queue *queue, const rs_target *wanted)
{
    cl_mem handle = kernel->arguments[wanted->index].buffer;
    rs_buffer *buffer = rs_buffer_find(handle);
    if (rs_view_find(handle) != NULL)
        return "the argument is a sub-buffer";
    if (buffer == NULL)
        return "the argument is not a buffer that the layer knows";
    if (seen_otherwise(kernel, wanted, handle))
        return "the buffer is also bound to an argument with another layout";
    if (buffer->context->handle != queue->context)
        return "the buffer is of another context than the queue";
    if (buffer->pinned != NULL)
        return buffer->pinned;
    if (buffer->map_count > 0)
        return "the buffer is mapped while the kernel is launched";
    if (buffer->size < wanted->relayout.record.size)
        return "the buffer is smaller than one structure";
    if (buffer->is_lost)
        return "the buffer's content was lost in a conversion";
    return NULL;
}

/* Whether a launch is larger than rewritten kernels count on. */
static bool is_too_large(const range *r)
{
    for (cl_uint d = 0; r->global != NULL && d < r->dimensions; d++)
        if (r->global[d] > RS_MOST_WORK_ITEMS ||
            (r->offset != NULL && r->offset[d] > RS_MOST_WORK_ITEMS - r->global[d]) ||
            (r->local != NULL && r->local[d] > RS_MOST_IN_A_GROUP))
            return true;
    return false;
}

static bool has_obstacle(const rs_kernel *kernel, const rs_queue *queue, const range *r)
{
    const char *why = rs_layer_frozen();
    size_t i = 0;
    if (is_too_large(r))
        why = "the launch has too many work-items";
    if (kernel->policy == RS_POLICY_OFF)
        why = "the configuration keeps this kernel as it is";
    if (kernel->target_count > MAXIMUM_TARGETS)
        why = "the kernel has too many arguments to follow";
    for (; why == NULL && i < kernel->target_count; i++)
        why = obstacle(kernel, queue, &kernel->targets[i]);
    if (why != NULL)
        rs_report_hold(kernel->facts, i > 0 ? kernel->targets[i - 1].index : 0, why);
    return why != NULL;
}

/* ---- what the policy says ---- */

static rs_buffer *target_buffer(const rs_kernel *kernel, size_t target)
{
    return rs_buffer_find(kernel->arguments[kernel->targets[target].index].buffer);
}

/* Whether an earlier argument has the same buffer. */
static bool seen_before(const rs_kernel *kernel, size_t target)
{
    cl_mem handle = kernel->arguments[kernel->targets[target].index].buffer;
    for (size_t i = 0; i < target; i++)
        if (kernel->arguments[kernel->targets[i].index].buffer == handle)
            return true;
    return false;
}

/* The whole kernel's ratio: its buffers' bytes count, each as many times faster as it is. */
static void predict(const rs_kernel *kernel, cl_device_id device, rs_policy_knowledge *knowledge)
{
    double bytes = 0, faster = 0;
    size_t regular = 0, irregular = 0;
    for (size_t i = 0; i < kernel->target_count; i++) {
        const rs_target *target = &kernel->targets[i];
        double size = (double)target_buffer(kernel, i)->size;
        bool one_for_all = target->regular + target->irregular == 0;
        double ratio = one_for_all ? 1 : rs_knowledge_predict(target, device);
        bytes += size;
        faster += size / ratio;
        regular += target->regular;
        irregular += target->irregular;
    }
    knowledge->predicted_ratio = faster > 0 ? bytes / faster : 1;
    knowledge->is_unsure = irregular > regular;
}

static rs_known_kernel *known_on(rs_kernel *kernel, cl_device_id device, double work_items)
{
    if (kernel->known != NULL && kernel->known_device == device &&
        rs_knowledge_covers(kernel->known, work_items))
        return kernel->known;
    kernel->known_device = device;
    kernel->known = rs_known_kernel_find(kernel->program->hash, kernel->facts->name, device,
                                         kernel->targets[0].relayout.tile, work_items);
    if (kernel->known != NULL)
        predict(kernel, device, &kernel->known->knowledge);
    return kernel->known;
}

static bool in_layout(const rs_buffer *buffer, const rs_target *target)
{
    return buffer->residence != NULL &&
           rs_relayout_equal(&buffer->residence->relayout, &target->relayout);
}

static size_t smaller(size_t a, size_t b)
{
    return a < b ? a : b;
}

/* Bytes a second that the kernel itself is known to use, if each work-item has a record: the device
 * converts them no slower. */
static double least_rate(const launch *choice)
{
    const rs_kernel *kernel = choice->kernel;
    double seconds = rs_policy_time(&choice->known->knowledge.own) * choice->work_items;
    double bytes = 0;
    for (size_t i = 0; i < kernel->target_count; i++) {
        const rs_target *target = &kernel->targets[i];
        double size = (double)target_buffer(kernel, i)->size;
        if (choice->work_items < size / (double)target->relayout.record.size)
            return 0;
        if (!seen_before(kernel, i) && target->regular >= target->irregular)
            bytes += size;
    }
    return seconds > 0 ? bytes / seconds : 0;
}

/* What is not waited for is looked at now and then. */
static bool is_to_be_looked_at(const rs_kernel *kernel)
{
    return kernel->facts->launches % LAUNCHES_BETWEEN_LOOKS == 0;
}

/* Since the program's start, as of a few launches ago: less is no harm, and clocks take time. */
static double elapsed_seconds(const rs_kernel *kernel)
{
    const bool is_new = kernel->facts->launches < LAUNCHES_BETWEEN_LOOKS;
    if (rs_the_layer.owed > 0 && (is_new || is_to_be_looked_at(kernel)))
        rs_the_layer.elapsed = rs_layer_clock() - rs_the_layer.loaded_at;
    return rs_the_layer.elapsed;
}

/* The conversions that either form needs, and how long the layout has been wanted. */
static rs_policy_launch describe_launch(const launch *choice, cl_device_id device)
{
    const rs_kernel *kernel = choice->kernel;
    rs_policy_launch described = {.work_items = choice->work_items,
                                  .run = (size_t)-1,
                                  .previous_run = (size_t)-1,
                                  .start_seconds =
                                      choice->known->first_launch - rs_the_layer.loaded_at,
                                  .owed_seconds = rs_the_layer.owed,
                                  .elapsed_seconds = elapsed_seconds(kernel)};
    double rate = least_rate(choice);
    choice->known->bytes_to_convert = 0;
    for (size_t i = 0; i < kernel->target_count; i++) {
        const rs_buffer *buffer = target_buffer(kernel, i);
        if (seen_before(kernel, i))
            continue;
        double seconds = rs_knowledge_conversion_seconds(device, buffer->size, rate);
        if (buffer->residence != NULL)
            described.back_seconds += seconds;
        if (!in_layout(buffer, &kernel->targets[i]))
            described.there_seconds += buffer->residence != NULL ? 2 * seconds : seconds;
        if (rs_relayout_needs_plans(&kernel->targets[i].relayout, buffer->size) &&
            rs_residence_lacks_plans(buffer->context, device, &kernel->targets[i].relayout,
                                     buffer->size))
            described.plan_seconds += rs_knowledge_plan_seconds(device);
        described.run = smaller(described.run, buffer->run);
        described.previous_run = smaller(described.previous_run, buffer->previous_run);
        choice->known->bytes_to_convert += buffer->size;
    }
    return described;
}

/* Whether a thread still makes something that the launch needs. */
static bool is_pending(const rs_kernel *kernel, cl_device_id device)
{
    for (size_t i = 0; i < kernel->target_count; i++) {
        const rs_target *wanted = &kernel->targets[i];
        const rs_buffer *buffer = target_buffer(kernel, i);
        if (buffer != NULL && rs_residence_is_pending(buffer->context, device, &wanted->relayout))
            return true;
    }
    return false;
}

/* Begins to make what the launch needs; whether it has to wait for that. */
static bool begin_conversions(const rs_kernel *kernel, cl_device_id device)
{
    bool pending = false;
    for (size_t i = 0; i < kernel->target_count; i++) {
        const rs_buffer *buffer = target_buffer(kernel, i);
        pending = rs_residence_begin(buffer->context, device, &kernel->targets[i].relayout,
                                     buffer->size) ||
                  pending;
    }
    return pending;
}

/* The time that plans have taken is a part of what trials cost. */
static void count_plans(const launch *choice, cl_device_id device)
{
    const rs_kernel *kernel = choice->kernel;
    for (size_t i = 0; i < kernel->target_count; i++) {
        const rs_relayout *wanted = &kernel->targets[i].relayout;
        const rs_buffer *buffer = target_buffer(kernel, i);
        if (!rs_relayout_needs_plans(wanted, buffer->size))
            continue;
        double seconds = rs_residence_take_seconds(buffer->context, device, wanted);
        rs_knowledge_add_plan(device, seconds);
        choice->known->knowledge.trial_seconds += seconds;
    }
}

static const char being_built[] = "its conversions are being built";

static const char not_timed[] = "launches on this queue cannot be timed";

static bool policy_wants(launch *choice, rs_queue *queue)
{
    rs_kernel *kernel = choice->kernel;
    if (kernel->policy != RS_POLICY_AUTO)
        return true;
    rs_residences_hold_off();
    choice->known = known_on(kernel, queue->device, choice->work_items);
    if (choice->known == NULL)
        return false;
    if (choice->known->first_launch <= 0)
        choice->known->first_launch = rs_layer_clock();
    count_plans(choice, queue->device);
    rs_policy_launch described = describe_launch(choice, queue->device);
    rs_policy_decision decision = rs_policy_decide(&choice->known->knowledge, &described);
    /* Nothing is so urgent that it could not wait for a compiler: await_build() does, a little. */
    choice->known->awaits_build = decision.rewritten && described.there_seconds > 0 &&
                                  begin_conversions(kernel, queue->device);
    if (choice->known->awaits_build)
        decision = (rs_policy_decision){false, being_built, 0, RS_FOR_LAYOUT};
    if (decision.trial_seconds > 0 && !rs_detour_is_possible(queue))
        decision = (rs_policy_decision){!decision.rewritten, not_timed, 0, RS_INDIFFERENT};
    if (!decision.rewritten && choice->known->knowledge.own.count == 0 &&
        decision.demand == RS_FOR_LAYOUT && queue->out_of_order && !queue->profiling)
        decision.reason = not_timed;
    choice->is_trial = decision.trial_seconds > 0;
    choice->gain = rs_policy_gain(&choice->known->knowledge, &described, &decision);
    choice->demand = decision.demand;
    choice->known->knowledge.trial_seconds += decision.trial_seconds;
    choice->known->reason = decision.reason;
    choice->known->last_rewritten = decision.rewritten;
    choice->known->work_items = choice->work_items;
    choice->by_policy = !decision.rewritten;
    kernel->facts->known = choice->known;
    if (!decision.rewritten)
        rs_report_hold(kernel->facts, kernel->targets[0].index, decision.reason);
    return decision.rewritten;
}

static void unreserve(const rs_kernel *kernel)
{
    for (size_t i = 0; i < kernel->target_count; i++) {
        rs_buffer *buffer = target_buffer(kernel, i);
        if (buffer != NULL)
            rs_buffer_unreserve(buffer);
    }
}

/* Whether all buffers are where the launch wants them. */
static bool are_in_place(launch *choice, cl_device_id device)
{
    const rs_kernel *kernel = choice->kernel;
    for (size_t i = 0; i < kernel->target_count; i++) {
        const rs_buffer *buffer = target_buffer(kernel, i);
        if (!in_layout(buffer, &kernel->targets[i]) || buffer->residence->device != device)
            return false;
        choice->residences[i] = buffer->residence;
    }
    return true;
}

/* Finds the residences, and all that the buffers need on the way. */
static bool find_residences(launch *choice, rs_command *command)
{
    rs_kernel *kernel = choice->kernel;
    cl_device_id device = command->queue->device;
    if (are_in_place(choice, device))
        return true;
    choice->is_pending = begin_conversions(kernel, device);
    if (choice->is_pending) {
        rs_report_hold(kernel->facts, kernel->targets[0].index, being_built);
        return false;
    }
    for (size_t i = 0; i < kernel->target_count; i++) {
        const rs_target *wanted = &kernel->targets[i];
        const char *why = NULL;
        rs_buffer *buffer = target_buffer(kernel, i);
        const rs_residence *residence =
            rs_residence_find(buffer->context, device, &wanted->relayout, buffer->size, &why);
        choice->residences[i] = residence;
        if (residence != NULL && rs_command_reserve(command, buffer, residence))
            continue;
        rs_report_hold(kernel->facts, wanted->index,
                       residence != NULL ? restride_last_error() : why);
        unreserve(kernel);
        return false;
    }
    return true;
}

static void choose(launch *choice, rs_command *command)
{
    rs_kernel *kernel = choice->kernel;
    rs_queue *queue = command->queue;
    choice->is_pending = false;
    if (kernel == NULL || kernel->rewritten[RS_FORM_ANY] == NULL || kernel->facts == NULL ||
        queue == NULL || has_obstacle(kernel, queue, choice->range))
        return;
    choice->rewritten = policy_wants(choice, queue) && find_residences(choice, command);
}

/* ---- waiting for the time of the launch before ---- */

enum { MOST_WAITS = 8, SHORTEST_SLEEP = 10000, LONGEST_SLEEP = 1000000 };

static const double longest_build = 30;

/* Of the program's time so far, for all that is waited for: another might have used it. */
static const double affordable_wait = 0.04;

/* What is left of that now. */
static double affordable_seconds(double now)
{
    return affordable_wait * (now - rs_the_layer.loaded_at) - rs_the_layer.waited;
}

/* A thread that sleeps wakes up late: short launches are waited for without. */
static const double longest_spin = 1e-4;

/* Waits until the event is complete, for `longest` seconds: it may depend on something that the
 * program does later. Returns the seconds that it took. */
static double wait_a_while(cl_event event, double longest)
{
    const double start = rs_layer_clock();
    double waited = 0;
    long sleep = SHORTEST_SLEEP;
    while (waited < longest && !rs_event_is_over(event)) {
        const struct timespec pause = {0, sleep};
        if (waited >= longest_spin) {
            nanosleep(&pause, NULL);
            sleep = sleep * 2 < LONGEST_SLEEP ? sleep * 2 : LONGEST_SLEEP;
        }
        waited = rs_layer_clock() - start;
    }
    return waited;
}

static bool is_undecided(const rs_known_kernel *known)
{
    const rs_policy_knowledge *k = &known->knowledge;
    return known->waits < MOST_WAITS && rs_layer_frozen() == NULL &&
           (known->last_rewritten ? k->moved.count < 2 : k->own.count < 1);
}

/* Whether a build is worth waiting for, and a little of the program's time so far is left for it.
 */
static bool still_builds(cl_kernel handle, double since)
{
    rs_layer_lock();
    const rs_kernel *kernel = rs_kernel_find(handle);
    const rs_known_kernel *known = kernel != NULL ? kernel->known : NULL;
    double now = rs_layer_clock();
    bool wanted = known != NULL && known->awaits_build &&
                  rs_policy_is_long(&known->knowledge, known->work_items) &&
                  now - since < affordable_seconds(since) &&
                  is_pending(kernel, kernel->known_device);
    rs_layer_unlock();
    return wanted;
}

static void await_build(cl_kernel handle)
{
    static const struct timespec pause = {0, SHORTEST_SLEEP * 10};
    const double start = rs_layer_clock();
    if (!still_builds(handle, start))
        return;
    do
        nanosleep(&pause, NULL);
    while (still_builds(handle, start));
    rs_layer_lock();
    rs_the_layer.waited += rs_layer_clock() - start;
    rs_layer_unlock();
}

/*
 * A program that enqueues all its launches at once would be over before the first time is known. So
 * the second launch of a kernel waits for the first one, and those of a trial for the one before.
 * Called without the lock: a callback of the program may need it.
 */
static void await_times(cl_command_queue queue, cl_kernel handle)
{
    rs_layer_lock();
    rs_kernel *kernel = rs_kernel_find(handle);
    rs_known_kernel *known = kernel != NULL ? kernel->known : NULL;
    cl_event event = NULL;
    double longest = 0;
    if (known != NULL && rs_policy_awaits_time(&known->knowledge)) {
        if (is_undecided(known))
            event = rs_timing_open_launch(known);
        else if (is_to_be_looked_at(kernel))
            rs_timing_harvest();
        longest = event != NULL ? affordable_seconds(rs_layer_clock()) : 0;
    }
    rs_layer_unlock();
    if (event == NULL)
        return;
    double waited = rs_driver()->clFlush(queue) == CL_SUCCESS ? wait_a_while(event, longest) : 0;
    rs_driver()->clReleaseEvent(event);
    rs_layer_lock();
    rs_the_layer.waited += waited;
    known->waits++;
    rs_timing_harvest();
    rs_layer_unlock();
}

/* Whether there may be something to wait for. */
static bool awaits(const rs_kernel *kernel)
{
    const rs_known_kernel *known = kernel != NULL ? kernel->known : NULL;
    return known != NULL && (known->awaits_build || rs_policy_awaits_time(&known->knowledge));
}

/* ---- launching ---- */

/* Whether a buffer that this launch wants as the program has it may soon be of use in the other
 * layout. */
static bool goes_on(const launch *choice, const rs_target *target)
{
    const rs_buffer *buffer = rs_buffer_find(choice->kernel->arguments[target->index].buffer);
    return choice->by_policy &&
           (choice->demand == RS_FOR_LAYOUT ||
            (choice->demand == RS_INDIFFERENT && (buffer == NULL || buffer->residence == NULL)));
}

/* Brings every buffer of the launch into place. */
static void place_buffers(const launch *choice, rs_command *command)
{
    rs_kernel *kernel = choice->kernel;
    for (size_t i = 0; kernel != NULL && i < kernel->argument_count; i++) {
        const rs_target *wanted = rs_kernel_target(kernel, i);
        command->keeps_run = wanted != NULL && goes_on(choice, wanted);
        rs_command_use(command, kernel->arguments[i].buffer,
                       wanted != NULL && choice->rewritten
                           ? choice->residences[wanted - kernel->targets]
                           : NULL);
    }
}

/* The quicker form holds where every array ends with a full tile. */
static rs_form form_of_launch(const rs_kernel *kernel)
{
    bool full = kernel->rewritten[RS_FORM_FULL] != NULL;
    for (size_t i = 0; i < kernel->target_count; i++) {
        const rs_target *target = &kernel->targets[i];
        full =
            full && target->relayout.tile > 0 &&
            target_buffer(kernel, i)->size % target->relayout.record.size == 0 &&
            target_buffer(kernel, i)->size / target->relayout.record.size % target->relayout.tile ==
                0;
    }
    return full ? RS_FORM_FULL : RS_FORM_ANY;
}

/* The arguments of the rewritten kernels that the program does not set. */
static cl_int set_counts(rs_kernel *kernel)
{
    for (size_t i = 0; i < kernel->target_count; i++) {
        rs_target *wanted = &kernel->targets[i];
        cl_ulong count = target_buffer(kernel, i)->size / wanted->relayout.record.size;
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

static cl_int enqueue(rs_command *command, const launch *choice, cl_kernel handle, cl_event *event)
{
    const range *r = choice->range;
    place_buffers(choice, command);
    cl_int error = command->error;
    if (error == CL_SUCCESS && choice->rewritten)
        error = set_counts(choice->kernel);
    if (error != CL_SUCCESS)
        return error;
    if (choice->rewritten)
        handle = choice->kernel->rewritten[form_of_launch(choice->kernel)];
    return rs_driver()->clEnqueueNDRangeKernel(command->handle, handle, r->dimensions, r->offset,
                                               r->global, r->local, command->wait_count,
                                               command->wait_list, event);
}

static void note_launch(const launch *choice)
{
    rs_kernel *kernel = choice->kernel;
    if (kernel == NULL || kernel->facts == NULL)
        return;
    kernel->facts->launches++;
    kernel->facts->transformed_launches += choice->rewritten;
    if (choice->known != NULL)
        rs_policy_note_launch(&choice->known->knowledge, choice->rewritten, choice->work_items);
    if (choice->rewritten != choice->by_policy) /* as it was chosen */
        rs_the_layer.owed -= choice->gain;
    for (size_t i = 0; choice->demand == RS_FOR_LAYOUT && i < kernel->target_count; i++) {
        rs_buffer *buffer = target_buffer(kernel, i);
        if (buffer == NULL || seen_before(kernel, i))
            continue;
        buffer->run++;
        buffer->last_wanted = choice->known;
    }
}

static double count_work_items(cl_uint dimensions, const size_t *global)
{
    double count = 1;
    for (cl_uint i = 0; global != NULL && i < dimensions; i++)
        count *= (double)global[i];
    return count;
}

/* What it takes to time a launch. */
static double timing_seconds(const rs_queue *queue)
{
    return queue->profiling ? 0 : rs_detour_seconds;
}

/* The first time of each kernel is a part of what the program can bear altogether. */
static bool is_worth_timing(const launch *choice, const rs_queue *queue)
{
    const rs_policy_knowledge *known = &choice->known->knowledge;
    const double seconds = timing_seconds(queue);
    return rs_policy_wants_time(known, choice->rewritten, seconds) &&
           (seconds <= 0 || !rs_policy_is_first_time(known) ||
            affordable_seconds(rs_layer_clock()) >= seconds);
}

/* Whether this launch is to be timed. */
static bool is_timed(const launch *choice, const rs_queue *queue)
{
    if (choice->kernel == NULL || choice->kernel->facts == NULL || queue == NULL)
        return false;
    return (rs_report_times() && queue->profiling) ||
           (choice->known != NULL && (choice->is_trial || is_worth_timing(choice, queue)));
}

/* The launch has an event of ours from now on. */
static void take_time(const launch *choice, const rs_queue *queue, cl_event event)
{
    if (choice->known != NULL && rs_policy_is_first_time(&choice->known->knowledge))
        rs_the_layer.waited += timing_seconds(queue);
    if (choice->known != NULL) {
        rs_policy_take_time(&choice->known->knowledge, choice->rewritten, timing_seconds(queue));
        rs_the_layer.owed += timing_seconds(queue);
    }
    if (!rs_report_times()) /* few are open then */
        rs_timing_harvest();
    rs_timing_take(&(rs_timed){.event = event,
                               .facts = choice->kernel->facts,
                               .known = choice->known,
                               .rewritten = choice->rewritten,
                               .work_items = choice->work_items,
                               .is_profiled = true,
                               .device = queue->device});
}

/* Begins the command and chooses. What is being built and is needed at once is waited for without
 * the lock (residences.h), and not for ever: the build may itself wait for this call, in a
 * callback. */
static void begin_launch(rs_command *command, launch *choice, cl_command_queue queue,
                         cl_kernel handle, cl_uint wait_count, const cl_event *wait_list)
{
    static const struct timespec pause = {0, SHORTEST_SLEEP * 10};
    double end = 0;
    rs_command_begin(command, queue, wait_count, wait_list);
    if (awaits(rs_kernel_find(handle))) {
        rs_command_end(command);
        await_times(queue, handle);
        await_build(handle);
        rs_command_begin(command, queue, wait_count, wait_list);
    }
    for (;;) {
        choice->kernel = rs_kernel_find(handle);
        choose(choice, command);
        if (!choice->is_pending || (end > 0 && rs_layer_clock() > end))
            return;
        rs_command_end(command);
        if (end <= 0)
            end = rs_layer_clock() + longest_build;
        nanosleep(&pause, NULL);
        rs_command_begin(command, queue, wait_count, wait_list);
    }
}

/* After the rewritten kernel could not be launched: whether the program's own can be. */
static bool fall_back(rs_command *command, launch *choice, cl_int error)
{
    unreserve(choice->kernel);
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
    const range parameters = {dimensions, offset, global, local};
    rs_command command;
    const rs_residence *residences[MAXIMUM_TARGETS];
    launch choice = {.range = &parameters,
                     .work_items = count_work_items(dimensions, global),
                     .residences = residences};
    cl_event mine = NULL;
    begin_launch(&command, &choice, queue, handle, wait_count, wait_list);
    bool timed = is_timed(&choice, command.queue);
    const bool by_detour = timed && !command.queue->profiling;
    if (by_detour)
        timed = rs_detour_begin(&command);
    cl_event *out = timed ? &mine : event;

    cl_int error = enqueue(&command, &choice, handle, out);
    if (error != CL_SUCCESS && choice.rewritten && fall_back(&command, &choice, error))
        error = enqueue(&command, &choice, handle, out);
    if (error == CL_SUCCESS)
        note_launch(&choice);
    if (by_detour && timed)
        rs_detour_end(&command, mine, error == CL_SUCCESS ? event : NULL);
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
