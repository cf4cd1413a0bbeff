/* Kernels: their rewritten forms, and their arguments, which are remembered as they are set. What
 * is done with them at a launch is in launches.c. */
#include "layer/core/choice.h"
#include "layer/core/device_layouts.h"
#include "layer/core/knowledge.h"
#include "layer/core/report.h"
#include "layer/opencl/profiled_launch.h"
#include "layer/opencl/programs.h"
#include "layout/record_json.h"

#include <stdlib.h>
#include <string.h>

/* ---- records ---- */

static void free_targets(rs_kernel *kernel)
{
    for (size_t i = 0; i < kernel->target_count; i++)
        rs_record_free(&kernel->targets[i].relayout.record);
    free(kernel->targets);
    kernel->targets = NULL;
    kernel->target_count = 0;
    free(kernel->foretold_reason);
    kernel->foretold_reason = NULL;
    kernel->foretold_gain = 0;
}

/* What the rewriter saw of how the argument is used; it may not say. */
static void read_access(rs_target *target, const json_t *access)
{
    const json_t *places = json_object_get(access, "accesses");
    json_int_t used = json_integer_value(json_object_get(access, "bytes_used"));
    target->used_bytes = used > 0 ? (size_t)used : 0;
    target->is_changed = json_is_true(json_object_get(access, "reads")) &&
                         json_is_true(json_object_get(access, "writes"));
    target->regular = (size_t)json_integer_value(json_object_get(places, "unit"));
    target->irregular = (size_t)(json_integer_value(json_object_get(places, "strided")) +
                                 json_integer_value(json_object_get(places, "other")));
    if (places == NULL)
        target->regular = 1;
}

static bool read_target(rs_target *target, const json_t *argument)
{
    *target = (rs_target){
        .index = (size_t)json_integer_value(json_object_get(argument, "index")),
        .count_index = (size_t)json_integer_value(json_object_get(argument, "count_argument"))};
    target->relayout.tile = (size_t)json_integer_value(json_object_get(argument, "tile"));
    target->relayout.from_soa = json_object_get(argument, "source_layout") != NULL;
    read_access(target, json_object_get(argument, "access"));
    return rs_record_from_json(&target->relayout.record, json_object_get(argument, "record")) ==
           RESTRIDE_OK;
}

/* The rewritten arguments of a kernel, from the rewriter's reply. */
static bool read_targets(rs_kernel *kernel, const json_t *arguments)
{
    size_t i;
    json_t *argument;
    kernel->targets = calloc(json_array_size(arguments) + 1, sizeof *kernel->targets);
    if (kernel->targets == NULL)
        return false;
    json_array_foreach((json_t *)arguments, i, argument)
    {
        if (!rs_report_is_transformed(argument))
            continue;
        rs_target *found = &kernel->targets[kernel->target_count++];
        if (!read_target(found, argument) || found->index >= kernel->argument_count) {
            free_targets(kernel);
            return false;
        }
        rs_relayout_give_number(&rs_the_layer()->relayouts, &found->relayout);
    }
    for (i = 0; i < kernel->target_count; i++)
        kernel->arguments[kernel->targets[i].index].target = &kernel->targets[i];
    return kernel->target_count > 0;
}

/* Whether the policy of a kernel wants its rewritten form without asking. */
static bool is_forced(const json_t *described) RS_LOCKED
{
    size_t i;
    json_t *argument;
    const char *name = json_string_value(json_object_get(described, "name"));
    const rs_policy policy = rs_policy_of_kernel(rs_the_layer(), name != NULL ? name : "*");
    json_array_foreach(json_object_get(described, "arguments"), i, argument)
    {
        if (rs_report_is_transformed(argument))
            return policy == RS_POLICY_ASTA || policy == RS_POLICY_SOA;
    }
    return false;
}

bool rs_program_is_wanted(const rs_layer_program *program, const json_t *kernels)
{
    bool is_wanted = false;
    for (size_t i = 0; !is_wanted && i < json_array_size(kernels); i++)
        is_wanted = is_forced(json_array_get(kernels, i));
    for (cl_uint d = 0; !is_wanted && d < program->device_count; d++)
        is_wanted =
            rs_knowledge_promises(rs_the_layer(), program->core.hash, program->devices[d]) &&
            rs_program_can_build(program);
    return is_wanted;
}

static void read_foretold(rs_kernel *kernel, const json_t *foretold)
{
    const char *reason = json_string_value(json_object_get(foretold, "reason"));
    if (reason == NULL)
        return;
    free(kernel->foretold_reason);
    kernel->foretold_reason = strdup(reason);
    kernel->foretold_gain = json_number_value(json_object_get(foretold, "gain"));
}

static void add_targets(rs_kernel *kernel, const char *name)
{
    size_t i;
    json_t *description;
    json_array_foreach(rs_program_of(kernel)->kernels, i, description)
    {
        const char *described = json_string_value(json_object_get(description, "name"));
        if (described != NULL && strcmp(described, name) == 0 &&
            read_targets(kernel, json_object_get(description, "arguments")))
            read_foretold(kernel, json_object_get(description, "foretold"));
    }
}

/* Makes ready what policy auto may want, before the first launch asks for it: a queue with
 * profiling, and for a kernel that is known to gain its forms and conversions. */
static void prepare_launches(rs_kernel *kernel) RS_LOCKED
{
    const rs_layer_program *program = rs_program_of(kernel);
    rs_context *context = rs_context_find(rs_the_layer(), program->context);
    const bool is_built =
        program->rewritten_build == RS_BUILD_DONE && rs_kernel_forms(kernel) == RS_FORMS_READY;
    if (context == NULL || kernel->policy != RS_POLICY_AUTO ||
        rs_the_layer()->settings.policy != RS_POLICY_AUTO)
        return;
    for (cl_uint d = 0; d < program->device_count; d++)
        for (size_t i = 0; i < kernel->target_count; i++) {
            const rs_target *target = &kernel->targets[i];
            if (rs_knowledge_predict(kernel, target, program->devices[d]) <= 1)
                continue;
            rs_profiling_queue_prepare(program->context, program->devices[d]);
            if (is_built)
                rs_device_layout_prepare(context, program->devices[d], &target->relayout);
        }
}

/* As the driver says it; the caller frees it. NULL when it cannot be had. */
static char *name_of(cl_kernel kernel)
{
    size_t size = 0;
    rs_driver()->clGetKernelInfo(kernel, CL_KERNEL_FUNCTION_NAME, 0, NULL, &size);
    char *name = calloc(size + 1, 1);
    if (name == NULL || rs_driver()->clGetKernelInfo(kernel, CL_KERNEL_FUNCTION_NAME, size, name,
                                                     NULL) == CL_SUCCESS)
        return name;
    free(name);
    return NULL;
}

static const char not_answered[] = "the rewriter has not answered yet";

/* The targets of a kernel whose program is prepared. */
static void take_targets(rs_kernel *kernel) RS_LOCKED
{
    if (rs_program_of(kernel)->left != NULL)
        rs_report_hold(kernel->facts, 0, rs_program_of(kernel)->left);
    add_targets(kernel, kernel->facts->name);
    prepare_launches(kernel);
}

/* What is known of a kernel by its name. */
static void read_program(rs_kernel *kernel, const char *name, bool is_of_build) RS_LOCKED
{
    kernel->facts = rs_report_kernel(kernel->program, name);
    kernel->policy = rs_policy_of_kernel(rs_the_layer(), name);
    if (kernel->facts == NULL)
        return;
    if (!is_of_build) {
        rs_report_hold(
            kernel->facts, 0,
            "the driver refused the program's last build, or another build came between");
        return;
    }
    kernel->is_being_prepared = rs_program_of(kernel)->preparation == RS_BEING_PREPARED;
    if (kernel->is_being_prepared)
        rs_report_hold(kernel->facts, 0, not_answered);
    else
        take_targets(kernel);
}

/* Kernels that the program has released meanwhile are kept for the same reason. */
static void name_reason(const rs_layer_program *program) RS_LOCKED
{
    for (rs_kernel_facts *facts = rs_the_layer()->facts; facts != NULL; facts = facts->next)
        if (facts->program_number == program->core.number && facts->held_reason != NULL &&
            strcmp(facts->held_reason, not_answered) == 0)
            rs_report_hold(facts, 0, program->left);
}

void rs_kernels_take_targets(const rs_layer_program *program)
{
    rs_kernel *kernel;
    for (size_t at = 0; (kernel = rs_map_next(&rs_the_layer()->kernels, &at)) != NULL;)
        if (kernel->is_being_prepared && rs_program_of(kernel) == program) {
            kernel->is_being_prepared = false;
            rs_report_release_hold(kernel->facts, not_answered);
            take_targets(kernel);
            if (kernel->target_count == 0)
                rs_kernel_forget_values(kernel);
            kernel->generation = 0;
            kernel->repeat.generation = 0;
        }
    if (program->left != NULL)
        name_reason(program);
}

/* Makes the record of a new kernel, made from a program of that build. A kernel that cannot be
 * followed must not exist, for its launches could find a buffer in another layout. */
static cl_int new_kernel(cl_kernel handle, cl_program program_handle, unsigned build) RS_LOCKED
{
    cl_uint argument_count = 0;
    rs_kernel *kernel = calloc(1, sizeof *kernel);
    if (kernel == NULL)
        return CL_OUT_OF_HOST_MEMORY;
    rs_driver()->clGetKernelInfo(handle, CL_KERNEL_NUM_ARGS, sizeof argument_count, &argument_count,
                                 NULL);
    kernel->layer = rs_the_layer();
    kernel->handle = handle;
    kernel->references = 1;
    kernel->argument_count = argument_count;
    kernel->arguments = calloc(argument_count + 1u, sizeof *kernel->arguments);
    if (kernel->arguments == NULL || !rs_map_set(&rs_the_layer()->kernels, handle, kernel)) {
        free(kernel->arguments);
        free(kernel);
        return CL_OUT_OF_HOST_MEMORY;
    }
    kernel->program = (rs_program *)rs_program_find(program_handle);
    if (kernel->program != NULL) {
        rs_program_of(kernel)->live_kernels++;
        char *name = name_of(handle);
        if (name != NULL)
            read_program(kernel, name,
                         build != 0 && build == rs_program_recorded_build(rs_program_of(kernel)));
        free(name);
    }
    return CL_SUCCESS;
}

/* `build`: rs_program_build() before the driver made the kernel. */
static cl_kernel adopt(cl_kernel handle, cl_program program, unsigned build, cl_int *error)
{
    if (handle == NULL)
        return NULL;
    if (build != 0)
        rs_program_begin_preparing(program);
    rs_layer_lock(rs_the_layer());
    cl_int failed = new_kernel(handle, program, build);
    rs_layer_unlock(rs_the_layer());
    if (failed == CL_SUCCESS)
        return handle;
    rs_driver()->clReleaseKernel(handle);
    if (error != NULL)
        *error = failed;
    return NULL;
}

static cl_kernel CL_API_CALL create_kernel(cl_program program, const char *name, cl_int *error)
{
    const unsigned build = rs_program_build(program);
    return adopt(rs_driver()->clCreateKernel(program, name, error), program, build, error);
}

static cl_int CL_API_CALL create_kernels(cl_program program, cl_uint count, cl_kernel *kernels,
                                         cl_uint *count_ret)
{
    cl_uint made = 0;
    const unsigned build = rs_program_build(program);
    cl_int error = rs_driver()->clCreateKernelsInProgram(program, count, kernels, &made);
    if (error == CL_SUCCESS && count_ret != NULL)
        *count_ret = made;
    for (cl_uint i = 0; kernels != NULL && error == CL_SUCCESS && i < made; i++)
        if (adopt(kernels[i], program, build, &error) == NULL)
            kernels[i] = NULL;
    return error;
}

/* A copy starts with the original's arguments, in all forms. */
static cl_kernel CL_API_CALL clone_kernel(cl_kernel source, cl_int *error)
{
    cl_program program = NULL;
    cl_kernel handle = rs_driver()->clCloneKernel(source, error);
    if (handle != NULL)
        rs_driver()->clGetKernelInfo(handle, CL_KERNEL_PROGRAM, sizeof program, (void *)&program,
                                     NULL);
    handle = adopt(handle, program, rs_program_build(program), error);
    rs_layer_lock(rs_the_layer());
    rs_kernel *copy = rs_kernel_find(rs_the_layer(), handle);
    rs_kernel *original = rs_kernel_find(rs_the_layer(), source);
    if (copy != NULL && original != NULL && copy->argument_count == original->argument_count) {
        const bool has_forms = original->rewritten[RS_FORM_ANY] != NULL;
        const bool is_alike = copy->target_count == original->target_count;
        rs_kernel_release_forms(copy, NULL);
        if (is_alike)
            copy->lacks_forms = original->lacks_forms;
        rs_kernel_copy_values(copy, original);
        for (int form = 0; form < RS_FORMS && has_forms && is_alike; form++)
            if (original->rewritten[form] != NULL)
                copy->rewritten[form] = rs_driver()->clCloneKernel(original->rewritten[form], NULL);
        if (has_forms && copy->rewritten[RS_FORM_ANY] == NULL)
            rs_kernel_release_forms(copy, NULL);
    }
    rs_layer_unlock(rs_the_layer());
    return handle;
}

static cl_int CL_API_CALL retain_kernel(cl_kernel handle)
{
    cl_int error = rs_driver()->clRetainKernel(handle);
    rs_layer_lock(rs_the_layer());
    rs_kernel *kernel = rs_kernel_find(rs_the_layer(), handle);
    if (kernel != NULL && error == CL_SUCCESS)
        kernel->references++;
    rs_layer_unlock(rs_the_layer());
    return error;
}

static cl_int CL_API_CALL release_kernel(cl_kernel handle)
{
    rs_layer_lock(rs_the_layer());
    rs_kernel *kernel = rs_kernel_find(rs_the_layer(), handle);
    if (kernel != NULL && --kernel->references == 0) {
        rs_map_remove(&rs_the_layer()->kernels, handle);
        rs_kernel_release_forms(kernel, NULL);
        rs_kernel_forget_values(kernel);
        if (kernel->program != NULL) {
            rs_program_of(kernel)->live_kernels--;
            rs_program_trim(rs_program_of(kernel));
        }
        free_targets(kernel);
        free(kernel->arguments);
        free(kernel);
    }
    rs_layer_unlock(rs_the_layer());
    return rs_driver()->clReleaseKernel(handle);
}

/* ---- arguments ---- */

static void find_buffer(const rs_kernel *kernel, rs_argument *argument) RS_LOCKED
{
    argument->buffer = rs_buffer_behind(kernel->layer, argument->handle);
    argument->is_part = argument->buffer != NULL && argument->buffer->handle != argument->handle;
}

void rs_kernel_find_buffers(rs_kernel *kernel)
{
    for (size_t i = 0; i < kernel->argument_count; i++)
        find_buffer(kernel, &kernel->arguments[i]);
}

/* An argument was set, to a value that may be a handle. */
static void note_argument(rs_kernel *kernel, size_t index, rs_allocation handle) RS_LOCKED
{
    rs_argument *argument = &kernel->arguments[index];
    const rs_argument before = *argument;
    argument->set = true;
    argument->handle = handle;
    if (handle != before.handle || kernel->generation != kernel->layer->generation)
        find_buffer(kernel, argument);
    argument->is_buffer = argument->buffer != NULL;
    if (argument->buffer == before.buffer && argument->is_part == before.is_part)
        return;
    kernel->generation = 0;
    kernel->repeat.generation = 0;
}

static cl_int CL_API_CALL set_argument(cl_kernel handle, cl_uint index, size_t size,
                                       const void *value)
{
    cl_int error = rs_driver()->clSetKernelArg(handle, index, size, value);
    if (error != CL_SUCCESS)
        return error;
    rs_layer_lock(rs_the_layer());
    rs_kernel *kernel = rs_kernel_find(rs_the_layer(), handle);
    if (kernel != NULL && index < kernel->argument_count) {
        rs_allocation named = NULL;
        /* Any value of this size may be a handle; what is none is found in no table. */
        if (value != NULL && size == sizeof(cl_mem))
            memcpy(&named, value, sizeof(cl_mem));
        note_argument(kernel, index, named);
        rs_kernel_keep_value(kernel, index, size, value, false);
        for (int form = 0; form < RS_FORMS; form++)
            if (kernel->rewritten[form] != NULL &&
                rs_driver()->clSetKernelArg(kernel->rewritten[form], index, size, value) !=
                    CL_SUCCESS)
                rs_kernel_release_forms(kernel, NULL);
    }
    rs_layer_unlock(rs_the_layer());
    return error;
}

static cl_int CL_API_CALL set_argument_svm(cl_kernel handle, cl_uint index, const void *pointer)
{
    cl_int error = rs_driver()->clSetKernelArgSVMPointer(handle, index, pointer);
    rs_layer_lock(rs_the_layer());
    rs_kernel *kernel = rs_kernel_find(rs_the_layer(), handle);
    if (error == CL_SUCCESS && kernel != NULL && index < kernel->argument_count) {
        note_argument(kernel, index, NULL);
        rs_kernel_keep_value(kernel, index, sizeof pointer, &pointer, true);
        for (int form = 0; form < RS_FORMS; form++)
            if (kernel->rewritten[form] != NULL &&
                rs_driver()->clSetKernelArgSVMPointer(kernel->rewritten[form], index, pointer) !=
                    CL_SUCCESS)
                rs_kernel_release_forms(kernel, NULL);
    }
    rs_layer_unlock(rs_the_layer());
    return error;
}

static cl_int CL_API_CALL set_exec_info(cl_kernel handle, cl_kernel_exec_info name, size_t size,
                                        const void *value)
{
    cl_int error = rs_driver()->clSetKernelExecInfo(handle, name, size, value);
    rs_layer_lock(rs_the_layer());
    rs_kernel *kernel = rs_kernel_find(rs_the_layer(), handle);
    /* What is set before there are forms is not kept: they would lack it. */
    if (error == CL_SUCCESS && kernel != NULL && kernel->rewritten[RS_FORM_ANY] == NULL)
        kernel->lacks_forms =
            "the program called clSetKernelExecInfo() before a launch wanted the rewritten form";
    for (int form = 0; error == CL_SUCCESS && kernel != NULL && form < RS_FORMS; form++)
        if (kernel->rewritten[form] != NULL &&
            rs_driver()->clSetKernelExecInfo(kernel->rewritten[form], name, size, value) !=
                CL_SUCCESS)
            rs_kernel_release_forms(kernel, NULL);
    rs_layer_unlock(rs_the_layer());
    return error;
}

void rs_layer_add_kernels(cl_icd_dispatch *table)
{
    table->clCreateKernel = create_kernel;
    table->clCreateKernelsInProgram = create_kernels;
    table->clCloneKernel = clone_kernel;
    table->clRetainKernel = retain_kernel;
    table->clReleaseKernel = release_kernel;
    table->clSetKernelArg = set_argument;
    table->clSetKernelArgSVMPointer = set_argument_svm;
    table->clSetKernelExecInfo = set_exec_info;
}
