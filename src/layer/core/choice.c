/* Which form a launch uses: see choice.h. */
#include "layer/core/choice.h"

#include "layer/core/device_layouts.h"
#include "layer/core/file_limit.h"
#include "layer/core/process_exit.h"
#include "layer/core/report.h"
#include "layer/core/restore.h"
#include "layer/core/timing.h"
#include "layer/core/wait.h"
#include "rewrite/launch_limits.h"

#include <math.h>

enum {
    FIRST_LAUNCHES = 64,         /* at each the policy is asked, and then */
    LAUNCHES_BETWEEN_LOOKS = 16, /* once in so many, where it has settled */
    MOST_AROUND_A_PIECE = 16     /* times the records of the launch's work-items */
};

/* ---- what stands in the way ---- */

/* Whether the argument names a whole record of an array that begins where its buffer does. */
static bool names_a_record(const rs_argument *argument, const rs_target *target)
{
    const size_t record = target->relayout.record.size;
    return !argument->is_part && argument->offset % record == 0 &&
           (argument->offset == 0 || argument->offset + record <= argument->buffer->size);
}

/* Whether another argument of the kernel has the target's buffer in another layout. */
static bool is_used_otherwise(const rs_kernel *kernel, const rs_target *target)
{
    for (size_t i = 0; i < kernel->argument_count; i++) {
        const rs_argument *other = &kernel->arguments[i];
        if (i != target->index && other->buffer == target->buffer &&
            (other->target == NULL || !names_a_record(other, target) ||
             !rs_relayout_equal(&other->target->relayout, &target->relayout)))
            return true;
    }
    return false;
}

/* Whether an earlier target has the same buffer. */
static bool is_repeated(const rs_kernel *kernel, const rs_target *target)
{
    for (const rs_target *other = kernel->targets; other < target; other++)
        if (other->buffer == target->buffer)
            return true;
    return false;
}

void rs_kernel_bind(rs_kernel *kernel)
{
    if (kernel->generation == kernel->layer->generation)
        return;
    rs_kernel_find_buffers(kernel);
    for (size_t i = 0; i < kernel->target_count; i++) {
        rs_target *target = &kernel->targets[i];
        const rs_argument *argument = &kernel->arguments[target->index];
        target->buffer = names_a_record(argument, target) ? argument->buffer : NULL;
        target->first = argument->offset / target->relayout.record.size;
        target->is_repeated = is_repeated(kernel, target);
        target->is_used_otherwise = target->buffer != NULL && is_used_otherwise(kernel, target);
    }
    kernel->generation = kernel->layer->generation;
}

/* Allocators hand out pieces of large allocations, and only all of one can be converted. */
static bool is_small_piece(const rs_target *wanted, const rs_range *r)
{
    double work_items = MOST_AROUND_A_PIECE;
    if (wanted->first == 0)
        return false;
    for (unsigned d = 0; r->global != NULL && d < r->dimensions; d++)
        work_items *= (double)r->global[d];
    return work_items * (double)wanted->relayout.record.size < (double)wanted->buffer->size;
}

/* Why this argument's buffer cannot be had in the wanted layout; NULL when nothing is known to
 * stand in the way. */
static const char *obstacle(const rs_kernel *kernel, const rs_queue *queue, const rs_range *r,
                            const rs_target *wanted) RS_LOCKED
{
    const rs_buffer *buffer = wanted->buffer;
    if (buffer == NULL && kernel->arguments[wanted->index].buffer == NULL)
        return "the argument is not a buffer that the layer knows";
    if (buffer == NULL)
        return kernel->arguments[wanted->index].is_part
                   ? "the argument is a sub-buffer"
                   : "the argument does not name a whole structure of its allocation";
    if (is_small_piece(wanted, r))
        return "the argument is a small piece of a large allocation";
    if (wanted->is_used_otherwise)
        return "the buffer is also bound to an argument with another layout";
    if (buffer->context->handle != queue->context)
        return "the buffer is of another context than the queue";
    if (buffer->kept_reason != NULL)
        return buffer->kept_reason;
    if (buffer->map_count > 0)
        return "the buffer is mapped while the kernel is launched";
    if (buffer->size < wanted->relayout.record.size)
        return "the buffer is smaller than one structure";
    if (wanted->needs_whole_tiles &&
        (buffer->size % (wanted->relayout.tile * wanted->relayout.record.size) != 0 ||
         wanted->first % wanted->relayout.tile != 0))
        return "the array is not whole tiles of groups";
    if (buffer->is_lost)
        return "the buffer's content was lost in a conversion";
    return NULL;
}

bool rs_range_is_too_large(const rs_range *r)
{
    if (r->dimensions > RS_MOST_DIMENSIONS) /* the arrays may be shorter */
        return true;
    for (unsigned d = 0; r->global != NULL && d < r->dimensions; d++)
        if (r->global[d] > RS_MOST_WORK_ITEMS ||
            (r->offset != NULL && r->offset[d] > RS_MOST_WORK_ITEMS - r->global[d]) ||
            (r->local != NULL && r->local[d] > RS_MOST_IN_A_GROUP))
            return true;
    return false;
}

static bool has_obstacle(const rs_kernel *kernel, const rs_queue *queue,
                         const rs_range *r) RS_LOCKED
{
    const char *why = rs_layer_frozen(kernel->layer);
    size_t i = 0;
    if (rs_range_is_too_large(r))
        why = "the launch has too many work-items";
    if (kernel->policy == RS_POLICY_OFF)
        why = "the configuration keeps this kernel as it is";
    if (kernel->target_count > RS_MOST_TARGETS)
        why = "the kernel has too many arguments to follow";
    for (; why == NULL && i < kernel->target_count; i++)
        why = obstacle(kernel, queue, r, &kernel->targets[i]);
    if (why != NULL)
        rs_report_hold(kernel->facts, i > 0 ? kernel->targets[i - 1].index : 0, why);
    return why != NULL;
}

/* ---- what the policy says ---- */

static bool in_layout(const rs_buffer *buffer, const rs_target *target)
{
    return buffer->layout != NULL &&
           rs_relayout_equal(&buffer->layout->relayout, &target->relayout);
}

static size_t smaller(size_t a, size_t b)
{
    return a < b ? a : b;
}

/* Bytes a second that the kernel itself is known to use, if each work-item has a record: the device
 * converts them no slower. */
static double least_rate(const rs_choice *choice) RS_LOCKED
{
    const rs_kernel *kernel = choice->kernel;
    double seconds = rs_policy_time(&choice->known->knowledge.own) * choice->work_items;
    double bytes = 0;
    for (size_t i = 0; i < kernel->target_count; i++) {
        const rs_target *target = &kernel->targets[i];
        double size = (double)target->buffer->size;
        if (choice->work_items < size / (double)target->relayout.record.size)
            return 0;
        if (!target->is_repeated && target->regular >= target->irregular)
            bytes += size;
    }
    return seconds > 0 ? bytes / seconds : 0;
}

/* Bytes a second that the kernel would use in the other layout, by its prediction alone: one that
 * only reads moves half of what a conversion does. */
static double predicted_rate(const rs_choice *choice, rs_device device, double least_rate) RS_LOCKED
{
    const rs_kernel *kernel = choice->kernel;
    double faster = choice->known->knowledge.is_unsure ? 1 : HUGE_VAL;
    for (size_t i = 0; i < kernel->target_count; i++) {
        const rs_target *target = &kernel->targets[i];
        double ratio = rs_knowledge_predict_whole(kernel->layer, target, device) *
                       (target->is_changed ? 1 : 0.5);
        faster = fmin(faster, ratio);
    }
    return least_rate * fmax(faster, 1);
}

bool rs_kernel_is_looked_at(const rs_kernel *kernel)
{
    return kernel->facts->launches % LAUNCHES_BETWEEN_LOOKS == 0;
}

/* Since the program's start, as of a few launches ago: less is no harm, and clocks take time. */
static double elapsed_seconds(const rs_kernel *kernel) RS_LOCKED
{
    const bool is_new = kernel->facts->launches < LAUNCHES_BETWEEN_LOOKS;
    if (kernel->layer->owed > 0 && (is_new || rs_kernel_is_looked_at(kernel)))
        kernel->layer->elapsed = rs_seconds_now() - kernel->layer->loaded_at;
    return kernel->layer->elapsed;
}

/* Conversions before a launch in another layout, as parts of one there and one back: a blank array
 * takes only the one back. */
static double ways_to_convert(const rs_buffer *buffer)
{
    if (rs_buffer_is_blank(buffer))
        return 0.5;
    return buffer->layout != NULL ? 2 : 1;
}

/* The conversions that either form needs, and how long the layout has been wanted. */
static rs_policy_launch describe_launch(const rs_choice *choice, rs_device device) RS_LOCKED
{
    const rs_kernel *kernel = choice->kernel;
    rs_policy_launch described = {.work_items = choice->work_items,
                                  .run = (size_t)-1,
                                  .previous_run = (size_t)-1,
                                  .start_seconds =
                                      choice->known->first_launch - kernel->layer->loaded_at,
                                  .owed_seconds = kernel->layer->owed,
                                  .elapsed_seconds = elapsed_seconds(kernel)};
    const bool is_tried = choice->known->knowledge.moved.count > 0;
    const double rate = least_rate(choice);
    const double fast = is_tried ? rate : predicted_rate(choice, device, rate);
    choice->known->bytes_to_convert = 0;
    for (size_t i = 0; i < kernel->target_count; i++) {
        const rs_buffer *buffer = kernel->targets[i].buffer;
        if (kernel->targets[i].is_repeated)
            continue;
        double seconds = rs_knowledge_conversion_seconds(kernel->layer, device, buffer->size, rate);
        if (buffer->layout != NULL)
            described.inverse_seconds += seconds;
        if (!in_layout(buffer, &kernel->targets[i])) {
            const double times = ways_to_convert(buffer);
            described.forward_seconds += times * seconds;
            described.forward_predicted +=
                times * rs_knowledge_conversion_seconds(kernel->layer, device, buffer->size, fast);
        }
        if (rs_relayout_needs_plans(&kernel->targets[i].relayout, buffer->size) &&
            rs_device_layout_lacks_plans(buffer->context, device, &kernel->targets[i].relayout,
                                         buffer->size))
            described.plan_seconds += rs_knowledge_plan_seconds(kernel->layer, device);
        described.run = smaller(described.run, buffer->run);
        described.previous_run = smaller(described.previous_run, buffer->previous_run);
        choice->known->bytes_to_convert += buffer->size;
    }
    return described;
}

bool rs_kernel_is_pending(rs_kernel *kernel, rs_device device)
{
    rs_kernel_bind(kernel);
    if (kernel->rewritten[RS_FORM_ANY] == NULL && rs_kernel_forms(kernel) == RS_FORMS_BEING_BUILT)
        return true;
    for (size_t i = 0; i < kernel->target_count; i++) {
        const rs_target *wanted = &kernel->targets[i];
        const rs_buffer *buffer = kernel->targets[i].buffer;
        if (buffer != NULL &&
            rs_device_layout_is_pending(buffer->context, device, &wanted->relayout))
            return true;
    }
    return false;
}

/* Begins to make what the launch needs; whether it has to wait for that. */
static bool begin_conversions(const rs_kernel *kernel, rs_device device) RS_LOCKED
{
    bool pending = false;
    for (size_t i = 0; i < kernel->target_count; i++) {
        const rs_buffer *buffer = kernel->targets[i].buffer;
        pending = rs_device_layout_begin(buffer->context, device, &kernel->targets[i].relayout,
                                         buffer->size) ||
                  pending;
    }
    return pending;
}

/* The time that plans have taken is a part of what trials cost. */
static void count_plans(const rs_choice *choice, rs_device device) RS_LOCKED
{
    const rs_kernel *kernel = choice->kernel;
    for (size_t i = 0; i < kernel->target_count; i++) {
        const rs_relayout *wanted = &kernel->targets[i].relayout;
        const rs_buffer *buffer = kernel->targets[i].buffer;
        if (!rs_relayout_needs_plans(wanted, buffer->size))
            continue;
        double seconds = rs_device_layout_take_seconds(buffer->context, device, wanted);
        rs_knowledge_add_plan(kernel->layer, device, seconds);
        choice->known->knowledge.trial_seconds += seconds;
    }
}

static const char being_built[] = "its conversions are being built";

static const char form_being_built[] = "its rewritten form is being built";

static const char built_later[] =
    "to build its rewritten form might take too much of the time that the program has taken so far";

static const char not_timed[] = "launches on this queue cannot be timed";

/* A decision for the rewritten form, if it is there with all that the launch needs; what is not, is
 * begun. Nothing is so urgent that it could not wait for a compiler: wait_for_build() does, a
 * little. */
static rs_policy_decision look_for_forms(rs_choice *choice, rs_device device,
                                         const rs_policy_launch *described,
                                         rs_policy_decision decision) RS_LOCKED
{
    const rs_forms_state forms = rs_kernel_forms(choice->kernel);
    if (forms == RS_FORMS_NEVER)
        return (rs_policy_decision){false, false, choice->kernel->lacks_forms, 0,
                                    RS_AGAINST_LAYOUT};
    if (forms == RS_FORMS_LATER)
        return (rs_policy_decision){false, false, built_later, 0, RS_FOR_LAYOUT};
    choice->known->is_being_built =
        (described->forward_seconds > 0 && begin_conversions(choice->kernel, device)) ||
        forms == RS_FORMS_BEING_BUILT;
    if (!choice->known->is_being_built)
        return decision;
    return (rs_policy_decision){false, false,
                                forms == RS_FORMS_BEING_BUILT ? form_being_built : being_built, 0,
                                RS_FOR_LAYOUT};
}

static bool policy_wants(rs_choice *choice, rs_queue *queue) RS_LOCKED
{
    rs_kernel *kernel = choice->kernel;
    if (kernel->policy != RS_POLICY_AUTO)
        return true;
    rs_device_layouts_defer(kernel->layer);
    choice->known = rs_known_kernel_of(kernel, queue->device, choice->work_items);
    if (choice->known == NULL)
        return false;
    rs_knowledge_note_first_launch(kernel->layer, choice->known);
    count_plans(choice, queue->device);
    rs_policy_launch described = describe_launch(choice, queue->device);
    rs_policy_decision decision = rs_policy_decide(&choice->known->knowledge, &described);
    choice->known->is_being_built = false;
    choice->known->is_wanted |= decision.rewritten || decision.is_near;
    if (decision.rewritten)
        decision = look_for_forms(choice, queue->device, &described, decision);
    if (decision.trial_seconds > 0 && !rs_queue_can_be_timed(queue))
        decision = (rs_policy_decision){!decision.rewritten, false, not_timed, 0, RS_INDIFFERENT};
    if (!decision.rewritten && choice->known->knowledge.own.count == 0 &&
        decision.demand == RS_FOR_LAYOUT && queue->out_of_order && !queue->profiling)
        decision.reason = not_timed;
    choice->is_trial = decision.trial_seconds > 0;
    choice->gain = rs_policy_gain(&choice->known->knowledge, &described, &decision);
    choice->demand = decision.demand;
    choice->known->knowledge.trial_seconds += decision.trial_seconds;
    choice->known->reason = decision.reason;
    choice->known->last_rewritten = decision.rewritten;
    choice->known->own_seconds = rs_policy_time(&choice->known->knowledge.own);
    choice->known->moved_seconds = rs_policy_time(&choice->known->knowledge.moved);
    choice->known->work_items = choice->work_items;
    choice->by_policy = !decision.rewritten;
    choice->known->is_settled = kernel->facts->launches >= FIRST_LAUNCHES && !decision.rewritten &&
                                !choice->is_trial && !choice->known->is_being_built;
    choice->known->settled_demand = decision.demand;
    kernel->facts->known = choice->known;
    rs_report_count_decision(kernel->facts, decision.reason);
    if (!decision.rewritten)
        rs_report_hold(kernel->facts, kernel->targets[0].index, decision.reason);
    return decision.rewritten;
}

/* Whether all buffers are where the launch wants them, whichever device has converted them. */
static bool are_in_place(rs_choice *choice) RS_LOCKED
{
    const rs_kernel *kernel = choice->kernel;
    for (size_t i = 0; i < kernel->target_count; i++) {
        const rs_buffer *buffer = kernel->targets[i].buffer;
        if (!in_layout(buffer, &kernel->targets[i]))
            return false;
        choice->layouts[i] = buffer->layout;
    }
    return true;
}

/* Finds the layouts, made or not yet. */
static bool find_layouts(rs_choice *choice) RS_LOCKED
{
    rs_kernel *kernel = choice->kernel;
    rs_device device = choice->queue->device;
    if (are_in_place(choice))
        return true;
    if (rs_file_limit_is_small()) { /* also the first use of what was built may need the compiler */
        rs_report_hold(kernel->facts, kernel->targets[0].index, rs_file_limit_reason);
        return false;
    }
    choice->is_pending = begin_conversions(kernel, device);
    if (choice->is_pending) {
        rs_report_hold(kernel->facts, kernel->targets[0].index, being_built);
        return false;
    }
    for (size_t i = 0; i < kernel->target_count; i++) {
        const rs_target *wanted = &kernel->targets[i];
        const char *why = NULL;
        choice->layouts[i] = rs_device_layout_find(wanted->buffer->context, device,
                                                   &wanted->relayout, wanted->buffer->size, &why);
        if (choice->layouts[i] != NULL)
            continue;
        rs_report_hold(kernel->facts, wanted->index, why);
        return false;
    }
    return true;
}

/* Whether a launch may have to wait for the time of the one before, or for a build. */
static bool may_wait(const rs_kernel *kernel)
{
    const rs_known_kernel *known = kernel->known;
    return known != NULL && !rs_exit_has_begun(kernel->layer) &&
           (known->is_being_built || rs_policy_awaits_time(&known->knowledge));
}

/* Whether the last decision for the program's own form holds for this launch too: most launches of
 * a kernel that is never rewritten are decided so. Nothing is in another layout, and every few
 * launches the policy is asked again. */
static bool is_settled(const rs_choice *choice, const rs_queue *queue) RS_LOCKED
{
    const rs_kernel *kernel = choice->kernel;
    if (kernel->known == NULL || !kernel->known->is_settled ||
        kernel->known_device != queue->device || rs_kernel_is_looked_at(kernel) ||
        !rs_knowledge_covers(kernel->known, choice->work_items))
        return false;
    for (size_t i = 0; i < kernel->target_count; i++) {
        const rs_buffer *buffer = kernel->targets[i].buffer;
        if (buffer == NULL || buffer->layout != NULL)
            return false;
    }
    return true;
}

/* Which form, and by whose word. */
static void choose_form(rs_choice *choice) RS_LOCKED
{
    rs_kernel *kernel = choice->kernel;
    if (is_settled(choice, choice->queue)) {
        choice->known = kernel->known;
        choice->by_policy = true;
        choice->demand = kernel->known->settled_demand;
        return;
    }
    if (kernel->target_count == 0 || has_obstacle(kernel, choice->queue, choice->range))
        return;
    if (kernel->lacks_forms != NULL)
        rs_report_hold(kernel->facts, kernel->targets[0].index, kernel->lacks_forms);
    else
        choice->rewritten = policy_wants(choice, choice->queue) &&
                            rs_kernel_forms(kernel) == RS_FORMS_READY && find_layouts(choice);
}

/* ---- times ---- */

/* What it takes to time a launch. */
static double timing_seconds(const rs_queue *queue)
{
    return queue->profiling ? 0 : rs_profiled_launch_seconds;
}

/* The first time of each kernel is a part of what the program can bear altogether. */
static bool is_worth_timing(const rs_choice *choice) RS_LOCKED
{
    const rs_policy_knowledge *known = &choice->known->knowledge;
    const double seconds = timing_seconds(choice->queue);
    const bool was_short = known->own.count == 0 && rs_policy_was_short(known, choice->work_items);
    const double since_first = was_short ? rs_seconds_now() - choice->known->first_launch : 0;
    return rs_policy_wants_time(known, choice->rewritten, choice->work_items, seconds,
                                since_first) &&
           (seconds <= 0 || !rs_policy_is_first_time(known) ||
            rs_wait_budget(choice->kernel->layer, rs_seconds_now()) >= seconds);
}

/* Whether this launch is to be timed. */
static bool is_timed(const rs_choice *choice) RS_LOCKED
{
    return (rs_report_times(choice->kernel->layer) && choice->queue->profiling) ||
           (choice->known != NULL && (choice->is_trial || is_worth_timing(choice)));
}

void rs_choice_take_time(const rs_choice *choice, rs_event event)
{
    rs_layer *layer = choice->kernel->layer;
    const double seconds = timing_seconds(choice->queue);
    if (choice->known != NULL && rs_policy_is_first_time(&choice->known->knowledge))
        layer->waited += seconds;
    if (choice->known != NULL) {
        rs_policy_take_time(&choice->known->knowledge, choice->rewritten, seconds);
        layer->owed += seconds;
    }
    if (!rs_report_times(layer)) /* few are open then */
        rs_timing_collect(layer);
    rs_timing_take(layer, &(rs_timed){.event = event,
                                      .facts = choice->kernel->facts,
                                      .known = choice->known,
                                      .rewritten = choice->rewritten,
                                      .work_items = choice->work_items,
                                      .is_profiled = true,
                                      .device = choice->queue->device});
}

/* ---- one launch ---- */

void rs_choose(rs_choice *choice)
{
    rs_kernel *kernel = choice->kernel;
    choice->is_pending = false;
    if (kernel == NULL)
        return;
    rs_kernel_bind(kernel);
    if (kernel->facts == NULL || choice->queue == NULL)
        return;
    if (!choice->has_waited && may_wait(kernel)) {
        choice->is_pending = true;
        return;
    }
    choose_form(choice);
    choice->is_timed = is_timed(choice);
}

void rs_kernel_note_wanted(const rs_kernel *kernel, rs_policy_demand demand, rs_known_kernel *known)
{
    for (size_t i = 0; demand == RS_FOR_LAYOUT && i < kernel->target_count; i++)
        if (kernel->targets[i].buffer != NULL && !kernel->targets[i].is_repeated)
            rs_buffer_note_wanted(kernel->targets[i].buffer, known);
}

void rs_choice_note(const rs_choice *choice)
{
    const rs_kernel *kernel = choice->kernel;
    if (kernel == NULL || kernel->facts == NULL)
        return;
    rs_report_begin(kernel->layer);
    kernel->facts->launches++;
    kernel->facts->transformed_launches += choice->rewritten;
    if (choice->known != NULL)
        rs_policy_note_launch(&choice->known->knowledge, choice->rewritten, choice->work_items);
    if (choice->rewritten != choice->by_policy) /* as it was chosen */
        kernel->layer->owed -= choice->gain;
    rs_kernel_note_wanted(kernel, choice->demand, choice->known);
}
