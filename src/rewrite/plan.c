/* Which offset functions, copying functions, copies of helpers and added parameters the new source
 * needs. */
#include "rewrite/linear.h"

#include "base/list.h"
#include "source/query.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

/* The byte before a declaration, and before the comments on the lines above it. */
static size_t place_before(const rs_model *model, size_t start)
{
    const char *text = model->tree->text;
    size_t place = start, line = start;
    while (line > 0 && isspace((unsigned char)text[line - 1])) {
        line--;
        if (text[line] == '\n')
            place = line + 1;
    }
    while (line > 0 && text[line - 1] != '\n')
        line--;
    bool directive = text[line + strspn(text + line, " \t")] == '#';
    return directive || line == start ? start : place;
}

/* Definitions stand before the first function that needs them. */
static void move_before(const rs_model *model, size_t *position, int function)
{
    size_t name = model->functions[function].declaration->place;
    if (name < *position) {
        size_t start = place_before(model, rs_declaration_start(model, name));
        *position = start < *position ? start : *position;
    }
}

static bool same_extent(const char *a, const char *b)
{
    return a == NULL || b == NULL ? a == b : strcmp(a, b) == 0;
}

static restride_status choose_accessor(rs_model *model, const rs_pointer_parameter *argument,
                                       bool full, int *accessor)
{
    for (int i = 0; i < model->accessor_count; i++)
        if (model->accessors[i].structure == argument->structure &&
            model->accessors[i].full == full &&
            strcmp(model->accessors[i].layout, argument->layout) == 0 &&
            same_extent(model->accessors[i].extent, argument->extent)) {
            *accessor = i;
            return RESTRIDE_OK;
        }
    const bool room = RS_LIST_GROW(model->accessors, model->accessor_count);
    char *layout = room ? strdup(argument->layout) : NULL;
    if (layout == NULL)
        return rs_fail_memory("an accessor");
    model->accessors[model->accessor_count] = (rs_accessor){.structure = argument->structure,
                                                            .layout = layout,
                                                            .tile = argument->tile,
                                                            .extent = argument->extent,
                                                            .full = full,
                                                            .position = model->tree->size};
    *accessor = model->accessor_count++;
    return RESTRIDE_OK;
}

int rs_instance_accessor(const rs_model *model, const rs_instance *instance, int argument)
{
    return instance->accessors[argument - model->functions[instance->function].first_argument];
}

bool rs_access_in_bytes(const rs_model *model, int accessor, const rs_member_access *access)
{
    return !access->flat && access->pointee != model->accessors[accessor].structure;
}

int rs_model_first_access(const rs_model *model, size_t begin)
{
    int low = 0, high = model->access_count;
    while (low < high) {
        int middle = low + (high - low) / 2;
        if (model->accesses[middle].begin < begin)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

void rs_model_accesses_of(const rs_model *model, int function, int *first, int *end)
{
    const rs_node *node = &model->tree->nodes[model->functions[function].node];
    *first = rs_model_first_access(model, node->begin);
    *end = rs_model_first_access(model, node->end);
}

/* ---- copies of whole structures ---- */

static rs_copier copier_for(const rs_model *model, const rs_instance *instance,
                            const rs_member_access *access)
{
    int accessor = rs_instance_accessor(model, instance, access->argument);
    rs_copier copier = {.kind = access->kind,
                        .accessor = accessor,
                        .structure = access->structure,
                        .address_space = model->arguments[access->argument].address_space,
                        .bytes = rs_access_in_bytes(model, accessor, access),
                        .is_const = access->is_const,
                        .is_volatile = access->is_volatile,
                        .block = access->block,
                        .flat = access->flat,
                        .soa = model->accessors[accessor].extent != NULL,
                        .size = access->size,
                        .position = model->tree->size};
    if (access->kind == RS_ACCESS_BLOCK)
        strcpy(copier.type, access->type);
    return copier;
}

int rs_model_copier(const rs_model *model, const rs_instance *instance,
                    const rs_member_access *access)
{
    rs_copier wanted = copier_for(model, instance, access);
    for (int i = 0; i < model->copier_count; i++) {
        const rs_copier *copier = &model->copiers[i];
        if (copier->kind == wanted.kind && copier->accessor == wanted.accessor &&
            copier->structure == wanted.structure && copier->bytes == wanted.bytes &&
            strcmp(copier->address_space, wanted.address_space) == 0 &&
            copier->is_const == wanted.is_const && copier->is_volatile == wanted.is_volatile &&
            copier->block.kind == wanted.block.kind && copier->block.lanes == wanted.block.lanes &&
            copier->block.strided == wanted.block.strided && copier->flat == wanted.flat &&
            strcmp(copier->type, wanted.type) == 0)
            return i;
    }
    return -1;
}

static restride_status choose_copier(rs_model *model, const rs_instance *instance,
                                     const rs_member_access *access)
{
    int copier = rs_model_copier(model, instance, access);
    if (copier < 0) {
        if (!RS_LIST_GROW(model->copiers, model->copier_count))
            return rs_fail_memory("a copying function");
        copier = model->copier_count++;
        model->copiers[copier] = copier_for(model, instance, access);
    }
    move_before(model, &model->copiers[copier].position, instance->function);
    return RESTRIDE_OK;
}

/* ---- instances ---- */

static restride_status add_instance(rs_model *model, int function, int *instance)
{
    if (!RS_LIST_GROW(model->instances, model->instance_count))
        return rs_fail_memory("a copy of a function");
    int count = model->functions[function].argument_count;
    int *accessors = malloc((size_t)(count + 1) * sizeof *accessors);
    if (accessors == NULL)
        return rs_fail_memory("a copy of a function");
    for (int i = 0; i < count; i++)
        accessors[i] = -1;
    *instance = model->instance_count++;
    model->instances[*instance] = (rs_instance){function, accessors, -1};
    rs_function *f = &model->functions[function];
    if (f->first_instance < 0)
        f->first_instance = *instance;
    else
        model->instances[f->last_instance].next = *instance;
    f->last_instance = *instance;
    return RESTRIDE_OK;
}

/* The first binding of a call; they are sorted. */
static int first_binding(const rs_model *model, int call)
{
    int low = 0, high = model->binding_count;
    while (low < high) {
        int middle = low + (high - low) / 2;
        if (model->bindings[middle].call < call)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

int rs_model_passed_argument(const rs_model *model, const rs_member_access *call,
                             int callee_argument)
{
    for (int b = first_binding(model, call->pointer);
         b < model->binding_count && model->bindings[b].call == call->pointer; b++)
        if (model->bindings[b].callee_argument == callee_argument)
            return model->bindings[b].caller_argument;
    return -1;
}

/* What an argument of the called function becomes when `caller` calls it. */
static int passed_accessor(const rs_model *model, const rs_instance *caller,
                           const rs_member_access *call, int callee_argument)
{
    int passed = rs_model_passed_argument(model, call, callee_argument);
    return passed < 0 ? -1 : rs_instance_accessor(model, caller, passed);
}

int rs_model_called_instance(const rs_model *model, const rs_instance *caller,
                             const rs_member_access *call)
{
    const rs_function *callee = &model->functions[call->callee];
    for (int i = callee->first_instance; i >= 0; i = model->instances[i].next) {
        bool same = true;
        for (int k = 0; k < callee->argument_count && same; k++)
            same = model->instances[i].accessors[k] ==
                   passed_accessor(model, caller, call, callee->first_argument + k);
        if (same)
            return i;
    }
    return -1;
}

static restride_status plan_call(rs_model *model, int caller, const rs_member_access *call)
{
    const rs_function *callee = &model->functions[call->callee];
    bool any = false;
    for (int k = 0; k < callee->argument_count; k++)
        any = any || passed_accessor(model, &model->instances[caller], call,
                                     callee->first_argument + k) >= 0;
    if (!any || rs_model_called_instance(model, &model->instances[caller], call) >= 0)
        return RESTRIDE_OK;
    int added;
    restride_status status = add_instance(model, call->callee, &added);
    for (int k = 0; k < callee->argument_count && status == RESTRIDE_OK; k++)
        model->instances[added].accessors[k] =
            passed_accessor(model, &model->instances[caller], call, callee->first_argument + k);
    return status;
}

/* What the accesses inside one instance need. */
static restride_status plan_instance(rs_model *model, int instance)
{
    restride_status status = RESTRIDE_OK;
    int function = model->instances[instance].function;
    const rs_function *f = &model->functions[function];
    for (int i = 0; i < f->argument_count; i++)
        if (model->instances[instance].accessors[i] >= 0)
            move_before(model, &model->accessors[model->instances[instance].accessors[i]].position,
                        function);
    int first, end;
    rs_model_accesses_of(model, function, &first, &end);
    for (int i = first; i < end && status == RESTRIDE_OK; i++) {
        const rs_member_access *access = &model->accesses[i];
        int accessor = rs_instance_accessor(model, &model->instances[instance], access->argument);
        if (access->kind == RS_ACCESS_CALL)
            status = plan_call(model, instance, access);
        else if (accessor >= 0 && access->kind != RS_ACCESS_LEAF)
            status = choose_copier(model, &model->instances[instance], access);
        else if (accessor >= 0 && rs_access_in_bytes(model, accessor, access))
            model->accessors[accessor].bytes = true;
        if (accessor >= 0 && access->flat)
            model->accessors[accessor].flat = true;
    }
    return status;
}

static restride_status plan_kernel(rs_model *model, int function)
{
    int instance, added = 0;
    restride_status status = add_instance(model, function, &instance);
    const rs_function *kernel = &model->functions[function];
    for (int i = 0; i < kernel->argument_count && status == RESTRIDE_OK; i++) {
        rs_pointer_parameter *argument = &model->arguments[kernel->first_argument + i];
        if (argument->reason != NULL)
            continue;
        argument->count_argument = kernel->parameter_count + added++;
        status = choose_accessor(model, argument, false, &model->instances[instance].accessors[i]);
    }
    return status;
}

/* ---- copies of kernels for arrays whose tiles are all full ---- */

int rs_model_full_instance(const rs_model *model, int kernel)
{
    int own = model->functions[kernel].first_instance;
    return own < 0 ? -1 : model->instances[own].next;
}

/* Whether the number of a member is computed where the kernel runs. */
static bool chooses_member(const rs_model *model, const rs_member_access *access)
{
    const rs_pointer_parameter *argument = &model->arguments[access->argument];
    long long value;
    rs_linear sum;
    bool chooses = false;
    for (int i = 0; i < access->subscript_count && !chooses; i++)
        chooses = !rs_constant_value(model->tree, access->subscript[i], &value);
    if (!access->flat || chooses)
        return chooses;
    if (!model->functions[access->function].kernel)
        return true; /* the records are the callers' */
    const rs_structure *s = &model->structures[argument->structure];
    rs_linear_of_access(&sum, model->tree, access, s->record.size / s->uniform);
    for (int i = 0; i < sum.count && !chooses; i++)
        chooses = !sum.terms[i].counts_records;
    return chooses || sum.overflow;
}

/*
 * Only the last tile of an array may be shorter, and for its sake the distance from member to
 * member is computed. Where members are chosen by numbers, as in loops, a constant distance makes
 * the kernel up to three times faster (lab/docs/performance.md).
 */
static bool gains_by_full_tiles(const rs_model *model, int function)
{
    const rs_function *kernel = &model->functions[function];
    bool calls = false, gains = false;
    for (int i = 0; i < kernel->argument_count; i++) {
        const rs_pointer_parameter *argument = &model->arguments[kernel->first_argument + i];
        if (argument->reason == NULL && (argument->tile == 0 || argument->extent != NULL))
            return false;
    }
    int first, end;
    rs_model_accesses_of(model, function, &first, &end);
    for (int i = first; i < end; i++)
        calls = calls || model->accesses[i].kind == RS_ACCESS_CALL;
    for (int i = calls ? 0 : first; i < (calls ? model->access_count : end) && !gains; i++) {
        const rs_member_access *access = &model->accesses[i];
        bool reached = access->function == function || !model->functions[access->function].kernel;
        gains = reached && access->kind != RS_ACCESS_CALL &&
                model->arguments[access->argument].reason == NULL && chooses_member(model, access);
    }
    return gains;
}

static bool is_transformed(const rs_model *model, int function)
{
    const rs_function *kernel = &model->functions[function];
    bool transformed = false;
    for (int i = 0; i < kernel->argument_count; i++)
        transformed = transformed || model->arguments[kernel->first_argument + i].reason == NULL;
    return transformed;
}

static restride_status plan_full_kernel(rs_model *model, int function)
{
    int instance;
    if (rs_function_names_itself(model, &model->functions[function]) ||
        !is_transformed(model, function) || !gains_by_full_tiles(model, function))
        return RESTRIDE_OK;
    restride_status status = add_instance(model, function, &instance);
    const rs_function *kernel = &model->functions[function];
    for (int i = 0; i < kernel->argument_count && status == RESTRIDE_OK; i++) {
        const rs_pointer_parameter *argument = &model->arguments[kernel->first_argument + i];
        if (argument->reason == NULL)
            status =
                choose_accessor(model, argument, true, &model->instances[instance].accessors[i]);
    }
    return status;
}

restride_status rs_model_plan(rs_model *model)
{
    restride_status status = RESTRIDE_OK;
    for (int f = 0; f < model->function_count && status == RESTRIDE_OK; f++)
        if (model->functions[f].kernel)
            status = plan_kernel(model, f);
    for (int f = 0; f < model->function_count && status == RESTRIDE_OK && model->full; f++)
        if (model->functions[f].kernel)
            status = plan_full_kernel(model, f);
    for (int i = 0; i < model->instance_count && status == RESTRIDE_OK; i++)
        status = plan_instance(model, i); /* which may add instances */
    return status;
}
