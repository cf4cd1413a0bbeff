/*
 * Launches: each chooses between the program's own kernel and the rewritten one (choice.h). The
 * rewritten one is launched only when every buffer that it wants in another layout can be had in
 * it, and the policy wants it; otherwise all buffers are brought to AoS and the program's own
 * kernel runs.
 */
#include "layer/core/launch.h"
#include "layer/core/repeat.h"
#include "layer/core/verify.h"
#include "layer/opencl/profiled_launch.h"

/* The quicker form holds where every array ends with a full tile. */
static rs_form form_of_launch(const rs_kernel *kernel) RS_LOCKED
{
    bool full = kernel->rewritten[RS_FORM_FULL] != NULL;
    for (size_t i = 0; i < kernel->target_count; i++) {
        const rs_target *target = &kernel->targets[i];
        full = full && target->relayout.tile > 0 &&
               target->buffer->size % target->relayout.record.size == 0 &&
               target->buffer->size / target->relayout.record.size % target->relayout.tile == 0;
    }
    return full ? RS_FORM_FULL : RS_FORM_ANY;
}

/* The arguments of the rewritten kernels that the program does not set. */
static cl_int set_counts(rs_kernel *kernel) RS_LOCKED
{
    for (size_t i = 0; i < kernel->target_count; i++) {
        rs_target *wanted = &kernel->targets[i];
        cl_ulong count = wanted->buffer->size / wanted->relayout.record.size;
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

/* `handle` is the program's own kernel at first, and then the one that was launched. */
static cl_int enqueue(rs_command *command, const rs_choice *choice, cl_kernel *handle,
                      cl_event *event) RS_LOCKED
{
    const rs_range *r = choice->range;
    rs_kernel *kernel = choice->kernel;
    const unsigned form = bit_of_form(choice);
    cl_int error = rs_launch_place(command, choice, form);
    if (error == CL_SUCCESS && choice->rewritten)
        error = set_counts(kernel);
    if (error != CL_SUCCESS)
        return error;
    if (choice->rewritten)
        *handle = kernel->rewritten[form_of_launch(kernel)];
    error = rs_driver()->clEnqueueNDRangeKernel(command->handle, *handle, r->dimensions, r->offset,
                                                r->global, r->local, command->wait_count,
                                                command->wait_list, event);
    if (error == CL_SUCCESS && kernel != NULL && kernel->facts != NULL)
        kernel->facts->forms_run |= form;
    return error;
}

static double count_work_items(cl_uint dimensions, const size_t *global)
{
    double count = 1;
    for (cl_uint i = 0; global != NULL && dimensions <= RS_MOST_DIMENSIONS && i < dimensions; i++)
        count *= (double)global[i];
    return count;
}

/* Whether the launch repeats the one before and was enqueued so. */
static bool repeat(rs_choice *choice, cl_command_queue queue, cl_kernel handle, cl_uint wait_count,
                   const cl_event *wait_list, cl_event *event) RS_LOCKED
{
    const rs_range *r = choice->range;
    choice->kernel = rs_kernel_find(rs_the_layer(), handle);
    if (!rs_choice_repeats(choice, queue) ||
        rs_driver()->clEnqueueNDRangeKernel(queue, choice->kernel->repeat.form, r->dimensions,
                                            r->offset, r->global, r->local, wait_count, wait_list,
                                            event) != CL_SUCCESS)
        return false;
    rs_choice_note_repeated(choice);
    return true;
}

/* What find() and run_own() need. */
typedef struct {
    cl_command_queue queue;
    cl_kernel handle;
    cl_uint wait_count;
    const cl_event *wait_list;
} own_launch;

static bool find(rs_choice *choice, void *launch) RS_LOCKED
{
    const own_launch *as = launch;
    const bool has_valid_list = (as->wait_count == 0) == (as->wait_list == NULL);
    choice->queue = has_valid_list ? rs_queue_of(rs_the_layer(), as->queue) : NULL;
    choice->kernel = rs_kernel_find(rs_the_layer(), as->handle);
    return true;
}

static int run_own(const rs_choice *own, void *launch) RS_LOCKED
{
    const own_launch *as = launch;
    rs_command command;
    cl_kernel form = as->handle;
    rs_command_start(&command, rs_the_layer(), own->queue, as->queue, as->wait_count,
                     as->wait_list);
    const cl_int error = enqueue(&command, own, &form, NULL);
    rs_command_finish(&command);
    return error;
}

/* With all that the layer has to do. */
static cl_int launch(rs_choice *choice, cl_command_queue queue, cl_kernel handle,
                     cl_uint wait_count, const cl_event *wait_list, cl_event *event) RS_LOCKED
{
    rs_command command;
    cl_event mine = NULL;
    cl_kernel form = handle;
    own_launch own = {queue, handle, wait_count, wait_list};
    rs_launch_choose(rs_the_layer(), choice, queue, handle, find, &own);
    rs_verification verification;
    rs_verify_begin(&verification, choice, run_own, &own);
    rs_command_start(&command, rs_the_layer(), choice->queue, queue, wait_count, wait_list);
    bool timed = choice->is_timed;
    const bool by_profiling_queue = timed && !command.queue->profiling;
    if (by_profiling_queue)
        timed = rs_profiled_launch_begin(&command);
    cl_event *out = timed ? &mine : event;

    cl_int error = enqueue(&command, choice, &form, out);
    if (error != CL_SUCCESS && choice->rewritten &&
        rs_launch_falls_back(&command, choice, error, "rewritten kernel")) {
        form = handle;
        error = enqueue(&command, choice, &form, out);
    }
    if (error == CL_SUCCESS) {
        rs_choice_note(choice);
        rs_choice_keep(choice, &command, form);
    }
    if (by_profiling_queue && timed)
        rs_profiled_launch_end(&command, mine, error == CL_SUCCESS ? event : NULL);
    else if (error == CL_SUCCESS && timed && event != NULL) {
        *event = mine;
        rs_driver()->clRetainEvent(mine);
    }
    if (error == CL_SUCCESS && timed)
        rs_choice_take_time(choice, mine);
    rs_command_finish(&command);
    rs_verify_end(&verification, error == CL_SUCCESS && choice->rewritten);
    return error;
}

static cl_int CL_API_CALL enqueue_range(cl_command_queue queue, cl_kernel handle,
                                        cl_uint dimensions, const size_t *offset,
                                        const size_t *global, const size_t *local,
                                        cl_uint wait_count, const cl_event *wait_list,
                                        cl_event *event)
{
    const rs_range range = {dimensions, offset, global, local};
    const rs_device_layout *layouts[RS_MOST_TARGETS];
    rs_choice choice = {
        .range = &range, .work_items = count_work_items(dimensions, global), .layouts = layouts};
    cl_int error = CL_SUCCESS;
    rs_layer_lock(rs_the_layer());
    if (!repeat(&choice, queue, handle, wait_count, wait_list, event))
        error = launch(&choice, queue, handle, wait_count, wait_list, event);
    rs_layer_unlock(rs_the_layer());
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
