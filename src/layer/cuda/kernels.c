/* Kernels: see kernels.h. */
#include "layer/cuda/kernels.h"

#include "base/log.h"
#include "base/text.h"
#include "layer/core/knowledge.h"
#include "layer/core/report.h"
#include "layer/cuda/nvrtc.h"

#include <stdlib.h>
#include <string.h>

enum { POINTER_BYTES = sizeof(uintptr_t) };

static rs_forms forms;

/* The last module that had the witness of a description. */
static struct {
    rs_cuda_module module;
    unsigned long long name; /* a hash */
} witnessed;

/* Kernels that are not described count as one program in the report. */
static rs_program undescribed;
static unsigned program_count = 1;

/* ---- what the driver says ---- */

/* A handle of a kernel of all contexts may stand for a function. */
static rs_cuda_function function_of(rs_cuda_function handle, const char **name)
{
    const rs_cuda_more *more = &rs_cuda.more;
    rs_cuda_kernel_handle kernel;
    rs_cuda_function function = NULL;
    *name = NULL;
    if (more->cuFuncGetName == NULL)
        return handle;
    if (more->cuFuncGetName(name, handle) == RS_CUDA_SUCCESS && *name != NULL)
        return handle;
    memcpy(&kernel, &handle, sizeof kernel);
    if (more->cuKernelGetFunction == NULL ||
        more->cuKernelGetFunction(&function, kernel) != RS_CUDA_SUCCESS ||
        more->cuFuncGetName(name, function) != RS_CUDA_SUCCESS)
        *name = NULL;
    return function;
}

/* The sizes of all parameters; false where the driver does not say them, or otherwise than the
 * description. */
static bool read_parameters(rs_cuda_kernel_record *kernel, size_t count)
{
    const rs_cuda_more *more = &rs_cuda.more;
    size_t offset, size, all = 0;
    kernel->sizes = calloc(count + 1, sizeof *kernel->sizes);
    kernel->places = calloc(count + 1, sizeof *kernel->places);
    if (more->cuFuncGetParamInfo == NULL || kernel->sizes == NULL || kernel->places == NULL ||
        count > RS_CUDA_MOST_PARAMETERS)
        return false;
    for (size_t i = 0; i < count; i++) {
        if (more->cuFuncGetParamInfo(kernel->own, i, &offset, &size) != RS_CUDA_SUCCESS)
            return false;
        kernel->sizes[i] = size;
        kernel->places[i] = all;
        all += size;
    }
    kernel->values = calloc(all + 1, 1);
    kernel->parameters = count;
    return kernel->values != NULL &&
           more->cuFuncGetParamInfo(kernel->own, count, &offset, &size) != RS_CUDA_SUCCESS;
}

/* ---- descriptions ---- */

static json_t *describe_argument(const rs_form_argument *argument)
{
    json_t *description =
        json_pack("{s:I, s:s, s:s, s:s, s:s}", "index", (json_int_t)argument->index, "name",
                  argument->name, "type", argument->type, "status",
                  argument->is_transformed ? "transformed" : "kept", "layout", argument->layout);
    if (argument->is_transformed)
        json_object_set_new(description, "tile", json_integer((json_int_t)argument->tile));
    if (argument->reason != NULL)
        json_object_set_new(description, "reason", json_string(argument->reason));
    if (argument->file != NULL) {
        json_object_set_new(description, "file", json_string(argument->file));
        json_object_set_new(description, "line", json_integer((json_int_t)argument->line));
    }
    return description;
}

/* Makes one record of `times` records, one behind the other. A tile of groups, i/(TG) i%G f i/G%T,
 * is one of such records: (i/G)/T (i%G f) (i/G)%T. */
static bool repeat_record(rs_record *made, const rs_record *record, size_t times)
{
    *made = (rs_record){.size = record->size * times,
                        .alignment = record->alignment,
                        .leaves = calloc(record->leaf_count * times + 1, sizeof *made->leaves)};
    for (size_t i = 0; made->leaves != NULL && i < record->leaf_count * times; i++) {
        rs_text name = RS_TEXT_EMPTY;
        rs_leaf *leaf = &made->leaves[made->leaf_count++];
        *leaf = record->leaves[i % record->leaf_count];
        leaf->offset += i / record->leaf_count * record->size;
        if (leaf->name != NULL)
            rs_text_format(&name, "[%zu].%s", i / record->leaf_count, leaf->name);
        const bool has_name = leaf->name != NULL;
        leaf->name = has_name ? rs_text_take(&name) : NULL;
        if (has_name && leaf->name == NULL)
            return false;
    }
    return made->leaves != NULL;
}

static bool take_record(rs_record *made, const rs_form_argument *argument)
{
    return argument->group > 1 ? repeat_record(made, &argument->record, argument->group)
                               : rs_record_copy(made, &argument->record) == RESTRIDE_OK;
}

static bool add_target(rs_cuda_kernel_record *kernel, const rs_form_argument *argument)
{
    rs_kernel *core = &kernel->core;
    rs_target *target = &core->targets[core->target_count];
    if (core->target_count == RS_MOST_TARGETS || kernel->sizes[argument->index] != POINTER_BYTES)
        return false;
    if (!take_record(&target->relayout.record, argument)) {
        rs_record_free(&target->relayout.record);
        return false;
    }
    kernel->groups[core->target_count] = argument->group;
    target->needs_whole_tiles = argument->group > 1;
    kernel->extents[core->target_count++] = argument->extent;
    target->index = argument->index;
    target->relayout.tile = argument->tile;
    target->regular = 1;
    rs_relayout_give_number(&core->layer->relayouts, &target->relayout);
    return true;
}

static bool add_targets(rs_cuda_kernel_record *kernel, const rs_form_kernel *form)
{
    rs_kernel *core = &kernel->core;
    core->targets = calloc(form->argument_count + 1, sizeof *core->targets);
    core->arguments = calloc(kernel->parameters + RS_CUDA_MOST_INSIDE + 1, sizeof *core->arguments);
    if (core->targets == NULL || core->arguments == NULL)
        return false;
    core->argument_count = kernel->parameters + RS_CUDA_MOST_INSIDE;
    for (size_t i = 0; i < form->argument_count; i++)
        if (form->arguments[i].is_transformed && !add_target(kernel, &form->arguments[i]))
            return false;
    for (size_t i = 0; i < core->target_count; i++)
        core->arguments[core->targets[i].index].target = &core->targets[i];
    kernel->second_parameters = form->parameters + core->target_count;
    if (form->second[RS_SECOND_FULL] == NULL)
        return true;
    for (int kind = 0; kind < RS_FORM_KINDS; kind++)
        kernel->names[kind] = rs_form_symbol(form, (rs_form_kind)kind, kernel->symbol);
    if (form->gain > 0) {
        core->foretold_gain = form->gain;
        core->foretold_reason = strdup(form->why != NULL ? form->why : "");
        core->few_items = form->few_gain > 0 ? form->few_threads : 0;
        core->few_gain = form->few_gain;
        core->few_reason = strdup(form->few_why != NULL ? form->few_why : "");
    }
    return true;
}

static void drop_targets(rs_kernel *core)
{
    for (size_t i = 0; i < core->target_count; i++)
        rs_record_free(&core->targets[i].relayout.record);
    free(core->targets);
    free(core->arguments);
    core->targets = NULL;
    core->arguments = NULL;
    core->target_count = core->argument_count = 0;
}

/* Why the arguments stay, or NULL. */
static const char *read_form(rs_cuda_kernel_record *kernel, const rs_form_kernel *form)
{
    if (!form->is_closed)
        return form->open != NULL ? form->open
                                  : "the kernel may reach memory by other ways than its arguments";
    if (!read_parameters(kernel, form->parameters))
        return "the driver does not say what the kernel's parameters are";
    if (!add_targets(kernel, form)) {
        drop_targets(&kernel->core);
        return "the kernel's arguments cannot be followed";
    }
    kernel->is_closed = true;
    return kernel->core.target_count > 0 ? NULL : "no argument has a second form";
}

static void describe(rs_cuda_kernel_record *kernel, const rs_form_kernel *form) RS_LOCKED
{
    rs_kernel *core = &kernel->core;
    const char *second = form->second[RS_SECOND_FULL];
    const unsigned long long hash =
        rs_knowledge_hash(second != NULL ? second : form->witness, form->symbol);
    const unsigned number = rs_report_program_of(core->layer, hash, form->name);
    kernel->program = (rs_program){
        .layer = core->layer, .number = number > 0 ? number : ++program_count, .hash = hash};
    core->program = &kernel->program;
    core->facts = rs_report_kernel(&kernel->program, form->name);
    core->policy = rs_policy_of_kernel(core->layer, form->name);
    const char *why = read_form(kernel, form);
    if (core->facts == NULL)
        return;
    const bool is_new = core->facts->arguments == NULL;
    if (is_new)
        core->facts->arguments = json_array();
    for (size_t i = 0; is_new && i < form->argument_count; i++)
        json_array_append_new(core->facts->arguments, describe_argument(&form->arguments[i]));
    if (why != NULL)
        rs_report_hold(core->facts, core->target_count > 0 ? core->targets[0].index : 0, why);
}

static void read_undescribed(rs_cuda_kernel_record *kernel, const char *name) RS_LOCKED
{
    undescribed = (rs_program){.layer = kernel->core.layer, .number = 1};
    kernel->core.program = &undescribed;
    kernel->core.facts = rs_report_kernel(&undescribed, name != NULL ? name : "(a kernel)");
    rs_report_hold(kernel->core.facts, 0,
                   name != NULL
                       ? "the kernel has no second form: it was built without restride nvcc, "
                         "linked at run time (nvJitLink, cuLinkComplete), or compiled by NVRTC in "
                         "a run without Restride"
                       : "the driver does not tell the names of kernels");
}

/* ---- records ---- */

/* Whether a policy may ever want one of its forms. */
static bool may_be_wanted(const rs_kernel *kernel)
{
    if (kernel->target_count == 0 || kernel->policy == RS_POLICY_OFF)
        return false;
    return kernel->policy != RS_POLICY_AUTO || kernel->foretold_gain <= 0 ||
           kernel->foretold_gain > 1 || kernel->few_gain > 1;
}

/* Whether a module was made with the source that a description tells of. To look for a function
 * may load it: one look is enough for each module. */
static bool is_of(rs_cuda_module module, const rs_form_kernel *found) RS_LOCKED
{
    rs_cuda_function function;
    if (found->witness == NULL)
        return true;
    const unsigned long long name = rs_knowledge_hash(found->witness, NULL);
    if (module != NULL && module == witnessed.module && name == witnessed.name)
        return true;
    if (module == NULL ||
        rs_cuda.driver->cuModuleGetFunction(&function, module, found->witness) != RS_CUDA_SUCCESS)
        return false;
    witnessed.module = module;
    witnessed.name = name;
    return true;
}

/* Run-time compiled modules have descriptions of their own; other names are those of all objects.
 */
static const rs_form_kernel *find_form(const rs_cuda_kernel_record *kernel) RS_LOCKED
{
    rs_cuda_module module = NULL;
    const rs_forms *own = NULL;
    if (rs_cuda.more.cuFuncGetModule != NULL &&
        rs_cuda.more.cuFuncGetModule(&module, kernel->own) == RS_CUDA_SUCCESS)
        own = rs_nvrtc_forms_of(module);
    if (own == NULL && rs_forms_read_loaded(&forms) == RESTRIDE_OK)
        own = &forms;
    const rs_form_kernel *found = own != NULL ? rs_forms_find(own, kernel->symbol) : NULL;
    return found == NULL || is_of(module, found) ? found : NULL;
}

static rs_cuda_kernel_record *make_kernel(rs_cuda_function handle) RS_LOCKED
{
    const char *name;
    rs_cuda_kernel_record *kernel = calloc(1, sizeof *kernel);
    if (kernel == NULL || !rs_map_set(&rs_the_layer()->kernels, handle, kernel)) {
        free(kernel);
        return NULL;
    }
    kernel->core.layer = rs_the_layer();
    kernel->core.handle = handle;
    kernel->core.references = 1;
    kernel->own = function_of(handle, &name);
    kernel->symbol = name != NULL ? strdup(name) : NULL;
    const rs_form_kernel *form = NULL;
    if (kernel->symbol != NULL && rs_the_layer()->settings.policy != RS_POLICY_OFF)
        form = find_form(kernel);
    if (form != NULL)
        describe(kernel, form);
    else
        read_undescribed(kernel, kernel->symbol);
    if (may_be_wanted(&kernel->core) && !rs_cuda.is_wanted) {
        rs_cuda.is_wanted = true;
        rs_cuda_assume_all_used();
    }
    return kernel;
}

rs_cuda_kernel_record *rs_cuda_kernel_of(rs_cuda_function function)
{
    rs_kernel *kernel = rs_kernel_find(rs_the_layer(), function);
    return kernel != NULL ? (rs_cuda_kernel_record *)kernel : make_kernel(function);
}

static void free_kernel(rs_cuda_kernel_record *kernel)
{
    drop_targets(&kernel->core);
    free(kernel->core.foretold_reason);
    free(kernel->core.few_reason);
    for (int kind = 0; kind < RS_FORM_KINDS; kind++)
        free(kernel->names[kind]);
    free(kernel->symbol);
    free(kernel->sizes);
    free(kernel->places);
    free(kernel->values);
    free(kernel);
}

/* Handles may be those of other kernels afterwards, so all are looked at anew. */
rs_word rs_follow_unload(const rs_entry *entry, rs_word *w)
{
    rs_layer *layer = rs_the_layer();
    rs_cuda_kernel_record *kernel;
    rs_cuda_collect_times();
    rs_layer_lock(layer);
    for (size_t at = 0; (kernel = rs_map_next(&layer->kernels, &at)) != NULL;)
        free_kernel(kernel);
    rs_map_free(&layer->kernels);
    layer->kernels = (rs_map)RS_MAP_EMPTY;
    witnessed.module = NULL;
    rs_layer_unlock(layer);
    rs_nvrtc_forget((const void *)w[0]);
    return rs_entry_call(entry, w);
}

/* A linked image is none that NVRTC made: its kernels have no descriptions. */
rs_word rs_follow_link(const rs_entry *entry, rs_word *w)
{
    rs_layer *layer = rs_the_layer();
    rs_layer_lock(layer);
    rs_report_note(layer, "The program links kernels at run time (cuLinkComplete): the arrays of "
                          "these keep their layout.");
    rs_layer_unlock(layer);
    return rs_entry_call(entry, w);
}

/* ---- second forms ---- */

/* The program may change how much shared memory its kernel has, and the like. */
static bool copy_attributes(rs_cuda_kernel_record *kernel)
{
    static const int attributes[] = {8, 9, 11, 12, 13, 14, 15};
    bool is_copied = rs_cuda.more.cuFuncGetAttribute != NULL;
    for (size_t i = 0; i < sizeof attributes / sizeof attributes[0]; i++) {
        int wanted, present;
        if (!is_copied ||
            rs_cuda.more.cuFuncGetAttribute(&wanted, attributes[i], kernel->own) != RS_CUDA_SUCCESS)
            continue; /* a driver that does not know it */
        for (int kind = 0; kind < RS_FORM_KINDS; kind++)
            if (kernel->second[kind] != NULL &&
                rs_cuda.more.cuFuncGetAttribute(&present, attributes[i], kernel->second[kind]) ==
                    RS_CUDA_SUCCESS &&
                present != wanted)
                is_copied = rs_cuda.driver->cuFuncSetAttribute(kernel->second[kind], attributes[i],
                                                               wanted) == RS_CUDA_SUCCESS &&
                            is_copied;
    }
    return is_copied;
}

static void find_second(rs_cuda_kernel_record *kernel)
{
    rs_cuda_module module = NULL;
    if (rs_cuda.more.cuFuncGetModule == NULL ||
        rs_cuda.more.cuFuncGetModule(&module, kernel->own) != RS_CUDA_SUCCESS)
        return;
    for (int kind = 0; kind < RS_FORM_KINDS; kind++)
        if (kernel->names[kind] == NULL ||
            rs_cuda.driver->cuModuleGetFunction(&kernel->second[kind], module,
                                                kernel->names[kind]) != RS_CUDA_SUCCESS)
            kernel->second[kind] = NULL;
}

/* The most general one must be there: it stands for each. */
rs_forms_state rs_kernel_forms(rs_kernel *core)
{
    rs_cuda_kernel_record *kernel = (rs_cuda_kernel_record *)core;
    if (core->lacks_forms != NULL)
        return RS_FORMS_NEVER;
    const rs_cuda_entered entered = rs_cuda_enter(rs_cuda_current_context()->handle);
    if (!kernel->has_looked)
        find_second(kernel);
    kernel->has_looked = true;
    core->rewritten[RS_FORM_ANY] = kernel->second[RS_SECOND_RAGGED_LARGE];
    if (core->rewritten[RS_FORM_ANY] == NULL)
        core->lacks_forms = "the module has no second form of the kernel";
    else if (!kernel->has_attributes && !copy_attributes(kernel))
        core->lacks_forms = "the second form cannot have the attributes of the program's own";
    kernel->has_attributes = true;
    rs_cuda_leave(&entered);
    return core->lacks_forms != NULL ? RS_FORMS_NEVER : RS_FORMS_READY;
}

/* cuFuncSetAttribute(function, ...) and cuKernelSetAttribute(attribute, value, kernel, device). The
 * program may launch by either handle. */
static rs_word change(const rs_entry *entry, rs_word *w, rs_word handle)
{
    const char *name;
    const rs_word result = rs_entry_call(entry, w);
    rs_layer *layer = rs_the_layer();
    rs_layer_lock(layer);
    rs_cuda_function own = (rs_cuda_result)result == RS_CUDA_SUCCESS
                               ? function_of((rs_cuda_function)handle, &name)
                               : NULL;
    rs_cuda_kernel_record *kernel;
    for (size_t at = 0; (kernel = rs_map_next(&layer->kernels, &at)) != NULL;)
        if (kernel->own == own) {
            kernel->has_attributes = false;
            kernel->core.repeat.generation = 0;
        }
    rs_layer_unlock(layer);
    return result;
}

rs_word rs_follow_change_function(const rs_entry *entry, rs_word *w)
{
    return change(entry, w, w[0]);
}

rs_word rs_follow_change_kernel(const rs_entry *entry, rs_word *w)
{
    return change(entry, w, w[2]);
}

rs_cuda_function rs_cuda_kernel_form(const rs_cuda_kernel_record *kernel)
{
    static const size_t large = (size_t)1 << 31;
    bool is_full = true, is_large = false;
    for (size_t i = 0; i < kernel->core.target_count; i++) {
        const rs_target *target = &kernel->core.targets[i];
        const size_t record = target->relayout.record.size;
        const size_t count = target->buffer->size / record;
        is_full = is_full && count % target->relayout.tile == 0 &&
                  target->first % target->relayout.tile == 0;
        is_large = is_large || (count + target->relayout.tile) * record >= large;
    }
    const rs_form_kind kinds[] = {is_full    ? is_large ? RS_SECOND_FULL_LARGE : RS_SECOND_FULL
                                  : is_large ? RS_SECOND_RAGGED_LARGE
                                             : RS_SECOND_RAGGED,
                                  RS_SECOND_RAGGED_LARGE};
    return kernel->second[kinds[0]] != NULL ? kernel->second[kinds[0]] : kernel->second[kinds[1]];
}

/* ---- arguments ---- */

static void find_buffer(rs_argument *argument, uintptr_t address) RS_LOCKED
{
    rs_cuda_buffer *buffer = rs_cuda_buffer_at(address);
    argument->handle = (rs_allocation)address;
    argument->buffer = buffer != NULL ? &buffer->core : NULL;
    argument->is_part = false;
    argument->offset = buffer != NULL ? address - (uintptr_t)buffer->core.handle : 0;
}

/* An address may stand at any byte of a structure: packed ones have them anywhere. */
static void find_inside(rs_cuda_kernel_record *kernel, size_t parameter, size_t *found) RS_LOCKED
{
    const unsigned char *value = kernel->values + kernel->places[parameter];
    rs_argument *inside = kernel->core.arguments + kernel->parameters;
    for (size_t at = 0; at + POINTER_BYTES <= kernel->sizes[parameter]; at++) {
        uintptr_t address;
        memcpy(&address, value + at, sizeof address);
        if (rs_cuda_buffer_at(address) == NULL)
            continue;
        if (*found == RS_CUDA_MOST_INSIDE) {
            kernel->reaches_many = true;
            return;
        }
        find_buffer(&inside[(*found)++], address);
    }
}

void rs_kernel_find_buffers(rs_kernel *core)
{
    rs_cuda_kernel_record *kernel = (rs_cuda_kernel_record *)core;
    size_t found = 0;
    kernel->reaches_many = false;
    for (size_t i = 0; i < kernel->parameters; i++) {
        uintptr_t address = 0;
        if (kernel->sizes[i] == POINTER_BYTES)
            memcpy(&address, kernel->values + kernel->places[i], sizeof address);
        find_buffer(&core->arguments[i], address);
        if (kernel->sizes[i] > POINTER_BYTES)
            find_inside(kernel, i, &found);
    }
    for (; found < RS_CUDA_MOST_INSIDE; found++)
        core->arguments[kernel->parameters + found].buffer = NULL;
}

/* An address of memory that has no record, as far as the driver knows: mapped memory of the host,
 * of modules, of others. */
static bool leads_elsewhere(const unsigned char *value)
{
    enum { MEMORY_TYPE = 2 };
    uintptr_t address;
    unsigned type = 0;
    memcpy(&address, value, sizeof address);
    return address != 0 && rs_cuda_buffer_at(address) == NULL &&
           rs_cuda.more.cuPointerGetAttribute(&type, MEMORY_TYPE, address) == RS_CUDA_SUCCESS;
}

bool rs_api_is_confined(const rs_kernel *core)
{
    const rs_cuda_kernel_record *kernel = (const rs_cuda_kernel_record *)core;
    if (rs_cuda.more.cuPointerGetAttribute == NULL || kernel->reaches_many)
        return false;
    for (size_t i = 0; i < kernel->parameters; i++)
        for (size_t at = 0; at + POINTER_BYTES <= kernel->sizes[i]; at++)
            if (leads_elsewhere(kernel->values + kernel->places[i] + at))
                return false;
    return true;
}

void rs_cuda_kernel_take_values(rs_cuda_kernel_record *kernel, void *const *values)
{
    bool is_changed = false;
    for (size_t i = 0; i < kernel->parameters; i++) {
        unsigned char *kept = kernel->values + kernel->places[i];
        const size_t size = kernel->sizes[i];
        if (size < POINTER_BYTES || memcmp(kept, values[i], size) == 0)
            continue;
        memcpy(kept, values[i], size);
        is_changed = true;
    }
    if (is_changed)
        kernel->core.generation = kernel->core.repeat.generation = 0;
}
