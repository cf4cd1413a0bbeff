/* Launches that repeat the one before: see repeat.h. */
#include "layer/core/repeat.h"

#include "layer/core/device_layouts.h"
#include "layer/core/report.h"

/* Whether nothing but the generation can change what the next launch of the same kernel does, at
 * least until the policy looks again: there is nothing to choose from, the form is forced, or the
 * policy has nothing to gain, or has settled. */
static bool is_lasting(const rs_choice *choice) RS_LOCKED
{
    const rs_kernel *kernel = choice->kernel;
    if (choice->is_timed || kernel->facts == NULL ||
        (choice->rewritten && kernel->layer->settings.verifies))
        return false;
    if (kernel->target_count == 0)
        return true;
    if (kernel->policy != RS_POLICY_AUTO)
        return choice->rewritten || kernel->policy == RS_POLICY_OFF;
    return !choice->rewritten && choice->known != NULL &&
           (!rs_policy_may_gain(&choice->known->knowledge) || choice->known->is_settled);
}

void rs_choice_keep(const rs_choice *choice, const rs_command *command, void *form)
{
    rs_kernel *kernel = choice->kernel;
    const rs_queue *queue = command->queue;
    bool repeats =
        kernel != NULL && queue != NULL && command->handle == queue->handle && is_lasting(choice);
    for (size_t i = 0; repeats && i < kernel->argument_count; i++) {
        const rs_buffer *buffer = kernel->arguments[i].buffer;
        repeats = buffer == NULL || rs_command_is_repeatable(command, buffer);
    }
    if (repeats)
        kernel->repeat = (rs_repeat){.generation = kernel->layer->generation,
                                     .queue = queue->handle,
                                     .form = form,
                                     .known = choice->known,
                                     .demand = choice->demand,
                                     .is_to_look = choice->known != NULL &&
                                                   rs_policy_may_gain(&choice->known->knowledge)};
}

/* Whether the policy, by which a launch would be as the one before, is not to be asked again: other
 * kernels may share what is known. Times that are awaited are collected at the next look. */
static bool holds(const rs_repeat *repeat, const rs_kernel *kernel, double work_items) RS_LOCKED
{
    const rs_known_kernel *known = repeat->known;
    if (known == NULL)
        return true;
    return rs_knowledge_covers(known, work_items) &&
           (!repeat->is_to_look || (!rs_kernel_is_looked_at(kernel) && known->is_settled &&
                                    known->settled_demand == repeat->demand));
}

bool rs_choice_repeats(const rs_choice *choice, rs_stream queue)
{
    const rs_kernel *kernel = choice->kernel;
    const rs_repeat *repeat = kernel != NULL ? &kernel->repeat : NULL;
    return kernel != NULL && repeat->generation == kernel->layer->generation &&
           repeat->queue == queue && rs_layer_has_noted_thread(kernel->layer) &&
           holds(repeat, kernel, choice->work_items) &&
           (repeat->form == kernel->handle || !rs_range_is_too_large(choice->range));
}

void rs_choice_note_repeated(const rs_choice *choice)
{
    const rs_kernel *kernel = choice->kernel;
    rs_report_begin(kernel->layer);
    kernel->facts->launches++;
    kernel->facts->transformed_launches += kernel->repeat.form != kernel->handle;
    if (kernel->repeat.known == NULL)
        return;
    rs_device_layouts_defer(kernel->layer);
    rs_policy_note_launch(&kernel->repeat.known->knowledge, false, choice->work_items);
    rs_kernel_note_wanted(kernel, kernel->repeat.demand, kernel->repeat.known);
}
