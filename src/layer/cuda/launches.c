/*
 * Launches: each chooses between the program's own kernel and its second form (core/choice.h). The
 * second form has the parameters of the program's own and, behind them, how many records each array
 * has. All other launches bring what they may use into the program's layout first (kernels.h).
 */
#include "layer/core/launch.h"
#include "layer/core/repeat.h"
#include "layer/core/report.h"
#include "layer/core/restore.h"
#include "layer/core/timing.h"
#include "layer/core/verify.h"
#include "layer/cuda/events.h"
#include "layer/cuda/kernels.h"

#include <string.h>

/* A launch of the program, by whichever function. */
typedef struct {
    const rs_entry *entry;
    rs_word *words;
    int function, values; /* which words these are */
    size_t global[RS_MOST_DIMENSIONS], local[RS_MOST_DIMENSIONS];
    rs_word stream;
    void **parameters; /* NULL: they are given otherwise */
    bool is_plain;     /* nothing is asked for that second forms are not known to do alike */
} launching;

static rs_cuda_function handle_of(const launching *l)
{
    return (rs_cuda_function)l->words[l->function];
}

static double count_work_items(const launching *l)
{
    double count = 1;
    for (size_t i = 0; i < RS_MOST_DIMENSIONS; i++)
        count *= (double)l->global[i];
    return count;
}

/* ---- the driver's call ---- */

static rs_word call_second(const launching *l, const rs_cuda_kernel_record *kernel,
                           rs_cuda_function second)
{
    rs_cuda_extent extents[RS_MOST_TARGETS];
    void *values[RS_CUDA_MOST_PARAMETERS + RS_MOST_TARGETS];
    rs_word words[RS_CUDA_WORDS];
    memcpy(values, l->parameters, kernel->parameters * sizeof *values);
    for (size_t i = 0; i < kernel->core.target_count; i++) {
        const rs_target *target = &kernel->core.targets[i];
        extents[i] = (rs_cuda_extent){
            (long long)(target->buffer->size / target->relayout.record.size * kernel->groups[i]),
            (long long)(target->first * kernel->groups[i])};
        values[kernel->extents[i]] = &extents[i];
    }
    memcpy(words, l->words, sizeof words);
    words[l->function] = (rs_word)second;
    words[l->values] = (rs_word)values;
    return rs_entry_call(l->entry, words);
}

static rs_word call(const launching *l, const rs_cuda_kernel_record *kernel, rs_cuda_function form)
{
    return form == handle_of(l) ? rs_entry_call(l->entry, l->words) : call_second(l, kernel, form);
}

/* ---- launches that may use anything ---- */

static void count_launch(const rs_cuda_kernel_record *kernel) RS_LOCKED
{
    if (kernel == NULL || kernel->core.facts == NULL)
        return;
    rs_report_begin(kernel->core.layer);
    kernel->core.facts->launches++;
}

/* The time of a launch that nobody chooses for. */
static void take_time(const rs_command *command, const rs_cuda_kernel_record *kernel,
                      rs_cuda_mark *mark, const launching *l) RS_LOCKED
{
    rs_timing_take(command->layer, &(rs_timed){.event = mark,
                                               .facts = kernel->core.facts,
                                               .work_items = count_work_items(l),
                                               .is_profiled = true,
                                               .device = command->queue->device});
}

static rs_word launch_anything(const launching *l, rs_cuda_queue *queue,
                               const rs_cuda_kernel_record *kernel) RS_LOCKED
{
    rs_layer *layer = rs_the_layer();
    rs_command command;
    rs_cuda_mark *mark = NULL;
    const bool is_timed = kernel != NULL && kernel->core.facts != NULL && rs_report_times(layer);
    rs_command_start(&command, layer, &queue->core, queue, 0, NULL);
    rs_cuda_use_all(&command);
    if (command.error == 0)
        command.error = rs_cuda_apply_waits(&command);
    if (command.error == 0 && is_timed)
        rs_cuda_mark_begin(queue, true, true, &mark);
    const rs_word result =
        command.error != 0 ? (rs_word)command.error : rs_entry_call(l->entry, l->words);
    if ((rs_cuda_result)result == RS_CUDA_SUCCESS)
        count_launch(kernel);
    if (mark != NULL && (rs_cuda_result)result == RS_CUDA_SUCCESS &&
        rs_cuda_mark_end(queue, mark) == RS_CUDA_SUCCESS)
        take_time(&command, kernel, mark, l);
    else if (mark != NULL)
        rs_api_event_release(mark);
    rs_command_finish(&command);
    return result;
}

/* One with attributes that are not known: it may begin before what is in front of it in the stream
 * has ended. So nothing is in front of it that the program does not know of. */
static rs_word launch_alone(const launching *l, rs_cuda_queue *queue,
                            const rs_cuda_kernel_record *kernel) RS_LOCKED
{
    rs_layer *layer = rs_the_layer();
    layer->holds++;
    rs_layer_unlock(layer);
    rs_layer_restore(layer);
    rs_layer_lock(layer);
    layer->holds--;
    return launch_anything(l, queue, kernel);
}

/* ---- launches of described kernels ---- */

static unsigned bit_of_form(const rs_choice *choice)
{
    return choice->rewritten ? 2u : 1u;
}

static rs_word enqueue(const launching *l, rs_command *command, const rs_choice *choice,
                       rs_cuda_function *form, rs_cuda_mark **mark) RS_LOCKED
{
    rs_cuda_kernel_record *kernel = (rs_cuda_kernel_record *)choice->kernel;
    rs_cuda_queue *queue = (rs_cuda_queue *)command->queue;
    const unsigned bit = bit_of_form(choice);
    *form = handle_of(l);
    if (rs_launch_place(command, choice, bit) == 0)
        command->error = rs_cuda_apply_waits(command);
    if (command->error != 0)
        return (rs_word)command->error;
    if (choice->rewritten)
        *form = rs_cuda_kernel_form(kernel);
    if (choice->is_timed && *mark == NULL)
        rs_cuda_mark_begin(queue, true, true, mark);
    const rs_word result = call(l, kernel, *form);
    if ((rs_cuda_result)result == RS_CUDA_SUCCESS && choice->kernel->facts != NULL)
        choice->kernel->facts->forms_run |= bit;
    return result;
}

/* What find() and run_own() need. */
typedef struct {
    const launching *launch;
    rs_cuda_queue *queue;
} own_launch;

static bool find(rs_choice *choice, void *launch) RS_LOCKED
{
    const launching *l = ((const own_launch *)launch)->launch;
    choice->kernel = rs_kernel_find(rs_the_layer(), handle_of(l));
    if (choice->kernel != NULL)
        rs_cuda_kernel_take_values((rs_cuda_kernel_record *)choice->kernel, l->parameters);
    return choice->kernel != NULL;
}

static int run_own(const rs_choice *own, void *launch) RS_LOCKED
{
    const own_launch *as = launch;
    rs_command command;
    rs_cuda_mark *mark = NULL;
    rs_cuda_function form;
    rs_command_start(&command, rs_the_layer(), &as->queue->core, as->queue, 0, NULL);
    const rs_word result = enqueue(as->launch, &command, own, &form, &mark);
    rs_command_finish(&command);
    return (int)(rs_cuda_result)result;
}

static rs_word launch_chosen(const launching *l, rs_choice *choice, rs_cuda_queue *queue) RS_LOCKED
{
    rs_command command;
    rs_cuda_mark *mark = NULL;
    rs_cuda_function form;
    own_launch own = {l, queue};
    rs_verification verification;
    rs_verify_begin(&verification, choice, run_own, &own);
    rs_command_start(&command, rs_the_layer(), &queue->core, queue, 0, NULL);
    command.is_profiled = command.is_profiled || choice->is_timed;
    rs_word result = enqueue(l, &command, choice, &form, &mark);
    if ((rs_cuda_result)result != RS_CUDA_SUCCESS && choice->rewritten &&
        rs_launch_falls_back(&command, choice, (int)result, "second form"))
        result = enqueue(l, &command, choice, &form, &mark);
    const bool is_launched = (rs_cuda_result)result == RS_CUDA_SUCCESS;
    if (is_launched) {
        rs_choice_note(choice);
        rs_choice_keep(choice, &command, form);
    }
    if (mark != NULL && is_launched && rs_cuda_mark_end(queue, mark) == RS_CUDA_SUCCESS)
        rs_choice_take_time(choice, mark);
    else if (mark != NULL)
        rs_api_event_release(mark);
    rs_command_finish(&command);
    rs_verify_end(&verification, is_launched && choice->rewritten);
    return result;
}

static rs_word launch_described(const launching *l, rs_cuda_queue *queue,
                                rs_cuda_kernel_record *kernel) RS_LOCKED
{
    static const size_t none[RS_MOST_DIMENSIONS];
    const rs_range range = {RS_MOST_DIMENSIONS, none, l->global, l->local};
    const rs_device_layout *layouts[RS_MOST_TARGETS];
    rs_choice choice = {.kernel = &kernel->core,
                        .queue = &queue->core,
                        .range = &range,
                        .work_items = count_work_items(l),
                        .layouts = layouts};
    rs_cuda_kernel_take_values(kernel, l->parameters);
    if (rs_choice_repeats(&choice, queue)) {
        const rs_word result = call(l, kernel, kernel->core.repeat.form);
        if ((rs_cuda_result)result == RS_CUDA_SUCCESS) {
            rs_choice_note_repeated(&choice);
            return result;
        }
    }
    rs_kernel_bind(&kernel->core);
    if (kernel->reaches_many)
        return launch_anything(l, queue, kernel);
    own_launch own = {l, queue};
    rs_launch_choose(rs_the_layer(), &choice, queue, handle_of(l), find, &own);
    return choice.kernel != NULL ? launch_chosen(l, &choice, queue)
                                 : launch_anything(l, queue, NULL);
}

/* ---- the program's calls ---- */

/* What is never converted needs no order. */
static rs_word launch_frozen(const launching *l)
{
    rs_layer *layer = rs_the_layer();
    const rs_word result = rs_entry_call(l->entry, l->words);
    if ((rs_cuda_result)result != RS_CUDA_SUCCESS || !rs_report_wanted(layer))
        return result;
    rs_layer_lock(layer);
    rs_cuda_note_frozen();
    const rs_cuda_queue *queue = rs_cuda_queue_of(l->stream, l->entry->is_per_thread);
    if (queue == NULL || !queue->is_capturing)
        count_launch(rs_cuda_kernel_of(handle_of(l)));
    rs_layer_unlock(layer);
    return result;
}

/* A launch that is recorded, or given to another stream meanwhile, or before anything is wanted. */
static rs_word launch_unordered(const launching *l, const rs_cuda_queue *queue,
                                const rs_cuda_kernel_record *kernel) RS_LOCKED
{
    rs_the_layer()->unseen++;
    const rs_word result = rs_entry_call(l->entry, l->words);
    if ((rs_cuda_result)result == RS_CUDA_SUCCESS && !queue->is_capturing)
        count_launch(kernel);
    return result;
}

/* The same with all that has to be done before, in order. */
static rs_word launch_ordered(const launching *l, rs_cuda_queue *queue,
                              rs_cuda_kernel_record *kernel) RS_LOCKED
{
    const rs_layer *layer = rs_the_layer();
    if (!l->is_plain)
        return launch_alone(l, queue, kernel);
    if (kernel != NULL && kernel->is_closed && l->parameters != NULL)
        return launch_described(l, queue, kernel);
    return queue->settled == layer->generation && !rs_report_times(rs_the_layer())
               ? launch_unordered(l, queue, kernel)
               : launch_anything(l, queue, kernel);
}

static rs_word launch(const launching *l)
{
    rs_layer *layer = rs_the_layer();
    if (handle_of(l) == NULL)
        return rs_entry_call(l->entry, l->words);
    if (rs_cuda_is_frozen())
        return launch_frozen(l);
    rs_layer_lock(layer);
    rs_cuda_kernel_record *kernel = rs_cuda_kernel_of(handle_of(l));
    rs_cuda_queue *queue = rs_cuda_queue_of(l->stream, l->entry->is_per_thread);
    if (queue == NULL || atomic_load(&rs_cuda.must_freeze) != NULL) {
        rs_layer_unlock(layer);
        rs_cuda_look_for_freeze();
        return launch_frozen(l);
    }
    const bool is_ordered = rs_cuda.captures == 0 && (rs_cuda.is_wanted || rs_report_times(layer));
    const rs_word result =
        is_ordered ? launch_ordered(l, queue, kernel) : launch_unordered(l, queue, kernel);
    rs_layer_unlock(layer);
    return result;
}

/* cuLaunchKernel(function, grid x y z, block x y z, shared bytes, stream, parameters, extra), and
 * cuLaunchCooperativeKernel() without the last. */
static rs_word launch_by_words(const rs_entry *entry, rs_word *w, bool is_plain)
{
    launching l = {.entry = entry,
                   .words = w,
                   .function = 0,
                   .values = 9,
                   .stream = w[8],
                   .parameters = (void **)w[9],
                   .is_plain = true};
    for (size_t i = 0; i < RS_MOST_DIMENSIONS; i++) {
        l.local[i] = (unsigned)w[4 + i];
        l.global[i] = l.local[i] * (unsigned)w[1 + i];
    }
    if (!is_plain || w[10] != 0)
        l.parameters = NULL;
    return launch(&l);
}

rs_word rs_follow_launch(const rs_entry *entry, rs_word *w)
{
    return launch_by_words(entry, w, true);
}

rs_word rs_follow_launch_cooperative(const rs_entry *entry, rs_word *w)
{
    return launch_by_words(entry, w, false);
}

/* CUlaunchConfig. */
typedef struct {
    unsigned grid[RS_MOST_DIMENSIONS], block[RS_MOST_DIMENSIONS];
    unsigned shared_bytes;
    rs_cuda_stream stream;
    void *attributes;
    unsigned attribute_count;
} launch_config;

/* cuLaunchKernelEx(config, function, parameters, extra). */
rs_word rs_follow_launch_extended(const rs_entry *entry, rs_word *w)
{
    launch_config config;
    if (w[0] == 0)
        return rs_entry_call(entry, w);
    memcpy(&config, (const void *)w[0], sizeof config);
    launching l = {.entry = entry,
                   .words = w,
                   .function = 1,
                   .values = 2,
                   .stream = (rs_word)config.stream,
                   .parameters = w[3] == 0 ? (void **)w[2] : NULL,
                   .is_plain = config.attribute_count == 0};
    for (size_t i = 0; i < RS_MOST_DIMENSIONS; i++) {
        l.local[i] = config.block[i];
        l.global[i] = l.local[i] * config.grid[i];
    }
    return launch(&l);
}
