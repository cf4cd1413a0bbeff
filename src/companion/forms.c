/* See forms.h. */
#include "companion/forms.h"

#include "base/json.h"
#include "facts/closed.h"
#include "facts/judged.h"
#include "layout/record_json.h"

#include <ctype.h>
#include <string.h>

/* Less of a gain is not worth a conversion; an argument without which more of it stays is none. */
static const double least_gain = 1.02, least_loss = 0.99;

/* What groups must gain over tiles of records: arrays that do not end with a whole tile are kept.
 */
static const double worthwhile_group = 1.1;

/* Launches of less are taken to leave most of a GPU idle: 8 warps a processor. */
static const double few_threads = 1 << 15, least_few = 1.1;

typedef struct {
    rs_companion_judge *judge;
    rs_syntax *tree;
    const rs_companion *companion;
    const rs_companion_layout *layout;
} describing;

/* Those of `all` that have the elements of parameter `which`. */
static uint64_t alike(const rs_syntax_declaration *kernel, uint64_t all, size_t which)
{
    const rs_syntax_type *element = kernel->parameters[which]->type->of->plain;
    uint64_t found = 0;
    for (size_t i = 0; i < kernel->parameter_count && i < 64; i++)
        if ((all >> i & 1) != 0 && kernel->parameters[i]->type->of->plain == element)
            found |= UINT64_C(1) << i;
    return found;
}

/* The gain without the arguments of each type in turn; which are missed least. */
static restride_status find_idle(const describing *at, const rs_syntax_declaration *kernel,
                                 uint64_t all, uint64_t *idle, double *gain)
{
    restride_status status = RESTRIDE_OK;
    *gain = 0;
    for (size_t i = 0; i < 64 && status == RESTRIDE_OK; i++) {
        const uint64_t rest = (all >> i & 1) == 0 ? all : all & ~alike(kernel, all, i);
        const char *why;
        double without;
        if (rest == all || rest == 0)
            continue;
        status = at->judge(at->tree, kernel, rest, 0, at->layout, &without, &why);
        if (without <= *gain)
            continue;
        *gain = without;
        *idle = all & ~rest;
    }
    return status;
}

restride_status rs_forms_choose(rs_companion_judge *judge, rs_syntax *tree,
                                const rs_syntax_declaration *kernel, uint64_t arrays,
                                const rs_companion_layout *layout, uint64_t *chosen,
                                const char *reasons[64])
{
    const describing at = {judge, tree, NULL, layout};
    restride_status status = RESTRIDE_OK;
    uint64_t good = 0;
    double gain = 0;
    const char *why;
    *chosen = arrays;
    for (size_t i = 0; i < 64 && judge != NULL && status == RESTRIDE_OK; i++) {
        double alone;
        if ((arrays >> i & 1) == 0)
            continue;
        status = judge(tree, kernel, alike(kernel, arrays, i), 0, layout, &alone, &reasons[i]);
        if (alone > 0) /* what the judge knows */
            good |= UINT64_C(1) << i;
    }
    if (good != 0 && status == RESTRIDE_OK)
        status = judge(tree, kernel, good, 0, layout, &gain, &why);
    while (good != 0 && status == RESTRIDE_OK) {
        uint64_t idle = 0;
        double without;
        status = find_idle(&at, kernel, good, &idle, &without);
        if (idle == 0 || without < least_loss * gain)
            break;
        good &= ~idle;
        gain = without;
    }
    if (gain >= least_gain)
        *chosen = good;
    return status;
}

/* The gain of what would be chosen; 1 where nothing is known. */
static restride_status gain_of(rs_companion_judge *judge, rs_syntax *tree,
                               const rs_syntax_declaration *kernel, uint64_t arrays,
                               const rs_companion_layout *layout, double *gain)
{
    const char *reasons[64], *why;
    uint64_t chosen = 0;
    *gain = 0;
    restride_status status = rs_forms_choose(judge, tree, kernel, arrays, layout, &chosen, reasons);
    if (status == RESTRIDE_OK && chosen != 0)
        status = judge(tree, kernel, chosen, 0, layout, gain, &why);
    if (*gain <= 0)
        *gain = 1;
    return status;
}

restride_status rs_forms_choose_group(rs_companion_judge *judge, rs_syntax *tree,
                                      rs_forms_wants *wants, void *context,
                                      rs_companion_layout *layout)
{
    static const size_t groups[] = {2, 4, 8, 16};
    double best = worthwhile_group;
    restride_status status = RESTRIDE_OK;
    const rs_companion_layout plain = *layout;
    for (size_t g = 0; g < sizeof groups / sizeof groups[0]; g++) {
        const rs_companion_layout grouped = {plain.tile, groups[g]};
        double most = 0, least = 1;
        for (size_t i = 0; i < tree->declaration_count && status == RESTRIDE_OK; i++) {
            const rs_syntax_declaration *of = tree->declarations[i];
            double own = 1, other = 1;
            if (of->kind != RS_DECLARATION_FUNCTION || !of->is_kernel || !of->is_defined ||
                of->body == NULL || wants(context, of) == 0)
                continue;
            status = gain_of(judge, tree, of, wants(context, of), &plain, &own);
            if (status == RESTRIDE_OK)
                status = gain_of(judge, tree, of, wants(context, of), &grouped, &other);
            most = other / own > most ? other / own : most;
            least = other / own < least ? other / own : least;
        }
        if (status != RESTRIDE_OK || least < least_loss || most < best)
            continue;
        best = most;
        *layout = grouped;
    }
    return status;
}

static restride_status put(json_t *object, const char *key, json_t *value)
{
    return value == NULL || json_object_set_new(object, key, value) != 0
               ? rs_fail_memory("a description of kernels")
               : RESTRIDE_OK;
}

/* --- arguments --- */

static restride_status add_transformed(const describing *at, const rs_syntax_declaration *argument,
                                       size_t extent, json_t *entry)
{
    rs_record record;
    rs_text layout = RS_TEXT_EMPTY;
    restride_status status = rs_companion_record_of(&record, at->tree, argument->type->of->plain);
    if (status != RESTRIDE_OK)
        return status;
    rs_companion_layout_write(&layout, at->layout);
    status = put(entry, "layout", rs_json_string(layout.data));
    if (status == RESTRIDE_OK)
        status = put(entry, "tile", json_integer((json_int_t)at->layout->tile));
    if (status == RESTRIDE_OK)
        status = put(entry, "group",
                     json_integer(at->layout->group > 1 ? (json_int_t)at->layout->group : 1));
    if (status == RESTRIDE_OK)
        status = put(entry, "extent", json_integer((json_int_t)extent));
    if (status == RESTRIDE_OK)
        status = put(entry, "record", rs_record_to_json(&record));
    rs_text_free(&layout);
    rs_record_free(&record);
    return status;
}

static restride_status add_kept(const describing *at, const rs_syntax_declaration *argument,
                                const struct rs_companion_reason *reason, json_t *entry)
{
    const rs_syntax_range range = reason->what == NULL ? argument->range : reason->range;
    restride_status status = put(entry, "layout", json_string("i f"));
    if (status == RESTRIDE_OK)
        status =
            put(entry, "reason",
                rs_json_string(reason->what == NULL ? "no other layout is wanted" : reason->what));
    if (status == RESTRIDE_OK && range.file < at->tree->file_count)
        status = put(entry, "file", rs_json_string(at->tree->files[range.file].path));
    return status == RESTRIDE_OK
               ? put(entry, "line", json_integer((json_int_t)rs_syntax_line(at->tree, range)))
               : status;
}

static restride_status add_arguments(const describing *at, const rs_companion_instance *instance,
                                     json_t *list)
{
    const rs_syntax_declaration *kernel = instance->kernel;
    const rs_companion_kernel *of = &at->companion->kernels[instance->of];
    size_t extent = kernel->parameter_count;
    restride_status status = RESTRIDE_OK;
    for (size_t i = 0; i < kernel->parameter_count && i < 64 && status == RESTRIDE_OK; i++) {
        const rs_syntax_declaration *argument = kernel->parameters[i];
        const bool is_transformed = (instance->transformed >> i & 1) != 0;
        if (!rs_fact_is_array_of_structures(argument))
            continue;
        json_t *entry = json_pack("{s:I, s:s, s:s, s:s}", "index", (json_int_t)i, "name",
                                  argument->name, "type", argument->type->name, "status",
                                  is_transformed ? "transformed" : "kept");
        if (entry == NULL || json_array_append_new(list, entry) != 0)
            return rs_fail_memory("a description of kernels");
        status = is_transformed ? add_transformed(at, argument, extent, entry)
                                : add_kept(at, argument, &of->reasons[i], entry);
        extent += is_transformed && argument->name[0] != '\0';
    }
    return status;
}

/* --- kernels --- */

static restride_status add_closed(const describing *at, const rs_companion_instance *instance,
                                  json_t *entry)
{
    const char *why;
    const bool is_closed = rs_fact_is_closed(at->tree, instance->kernel, &why);
    restride_status status = put(entry, "closed", json_boolean(is_closed));
    return status == RESTRIDE_OK && !is_closed ? put(entry, "open", json_string(why)) : status;
}

/* What is said of any kernel. */
static restride_status add_kernel(const describing *at, const rs_companion_instance *instance,
                                  json_t *list, json_t **entry)
{
    json_t *arguments = json_array();
    *entry = json_pack("{s:s, s:s, s:I, s:o}", "symbol", instance->symbol, "name", instance->name,
                       "parameters", (json_int_t)instance->kernel->parameter_count, "arguments",
                       arguments);
    if (*entry == NULL || json_array_append_new(list, *entry) != 0)
        return rs_fail_memory("a description of kernels");
    restride_status status = add_arguments(at, instance, arguments);
    return status == RESTRIDE_OK ? add_closed(at, instance, *entry) : status;
}

/* What the judge foretells; of launches that leave most of a GPU idle where that is more: there,
 * one element for all threads is waited for. */
static restride_status add_gains(const describing *at, const rs_companion_instance *instance,
                                 json_t *entry)
{
    double gain = 0, few = 0;
    const char *why = "the judge of layouts is not built in", *few_why = why;
    restride_status status = RESTRIDE_OK;
    if (at->judge != NULL)
        status = at->judge(at->tree, instance->kernel, instance->transformed, 0, at->layout, &gain,
                           &why);
    if (status == RESTRIDE_OK && gain > 0)
        status = at->judge(at->tree, instance->kernel, instance->transformed, few_threads / 2,
                           at->layout, &few, &few_why);
    if (status == RESTRIDE_OK && gain > 0)
        status = put(entry, "gain", json_real(gain));
    if (status == RESTRIDE_OK && few >= least_few && few > gain)
        status = put(entry, "few",
                     json_pack("{s:f, s:f, s:o}", "threads", few_threads, "gain", few, "why",
                               rs_json_string(few_why)));
    return status == RESTRIDE_OK ? put(entry, "why", rs_json_string(why)) : status;
}

static restride_status add_instance(const describing *at, const rs_companion_instance *instance,
                                    json_t *list)
{
    json_t *entry, *second = json_object();
    restride_status status = add_kernel(at, instance, list, &entry);
    if (status == RESTRIDE_OK)
        status = put(entry, "second", json_incref(second));
    for (size_t i = 0; i < RS_COMPANION_FORMS && status == RESTRIDE_OK; i++)
        status = put(second, rs_companion_forms[i], json_string(instance->symbols[i]));
    json_decref(second);
    return status == RESTRIDE_OK ? add_gains(at, instance, entry) : status;
}

static bool has_forms(const rs_companion_instance *instance)
{
    return instance->symbols[0] != NULL;
}

/* nvcc names what is internal after its file. */
static bool may_be_renamed(const rs_syntax_declaration *kernel, const char *symbol)
{
    if (kernel->is_static || strstr(symbol, "_GLOBAL__N_") != NULL)
        return true;
    /* Or a number among the arguments of a template: little is lost. */
    for (const char *at = symbol; (at = strchr(at, 'L')) != NULL; at++)
        if (isdigit((unsigned char)at[1]))
            return true;
    return false;
}

static bool is_described(const rs_companion *companion, const rs_syntax_declaration *kernel)
{
    for (size_t i = 0; i < companion->instances.count; i++)
        if (companion->instances.at[i].kernel == kernel && has_forms(&companion->instances.at[i]))
            return true;
    return false;
}

/* The kernels without second forms, and how a module of theirs is known. */
static restride_status add_others(const describing *at, json_t *description)
{
    const char *witness = NULL;
    json_t *list = json_array();
    restride_status status =
        list == NULL ? rs_fail_memory("a description of kernels") : RESTRIDE_OK;
    for (size_t i = 0; i < at->companion->instances.count && witness == NULL; i++)
        if (has_forms(&at->companion->instances.at[i]) &&
            !may_be_renamed(at->companion->instances.at[i].kernel,
                            at->companion->instances.at[i].symbols[0]))
            witness = at->companion->instances.at[i].symbols[0];
    for (size_t i = 0; witness != NULL && i < at->tree->declaration_count; i++) {
        const rs_syntax_declaration *of = at->tree->declarations[i];
        const rs_companion_instance other = {.kernel = of,
                                             .of = rs_companion_place_of(at->companion, of),
                                             .name = (char *)of->qualified,
                                             .symbol = (char *)of->mangled};
        json_t *entry;
        if (status == RESTRIDE_OK && other.of < at->companion->kernel_count && other.name != NULL &&
            other.symbol != NULL && !may_be_renamed(of, other.symbol) &&
            !is_described(at->companion, of))
            status = add_kernel(at, &other, list, &entry);
    }
    if (status == RESTRIDE_OK && json_array_size(list) > 0) {
        status = put(description, "others", json_incref(list));
        if (status == RESTRIDE_OK)
            status = put(description, "witness", json_string(witness));
    }
    json_decref(list);
    return status;
}

restride_status rs_forms_describe(json_t **description, rs_companion_judge *judge, rs_syntax *tree,
                                  const rs_companion *companion, const rs_companion_layout *layout)
{
    const describing at = {judge, tree, companion, layout};
    json_t *kernels = json_array();
    restride_status status = RESTRIDE_OK;
    *description = NULL;
    for (size_t i = 0; i < companion->instances.count && status == RESTRIDE_OK; i++)
        if (companion->text.size > 0 && has_forms(&companion->instances.at[i]))
            status = add_instance(&at, &companion->instances.at[i], kernels);
    if (status == RESTRIDE_OK && json_array_size(kernels) > 0) {
        *description = json_pack("{s:i, s:O}", "version", 1, "kernels", kernels);
        status = *description == NULL ? rs_fail_memory("a description of kernels")
                                      : add_others(&at, *description);
    }
    json_decref(kernels);
    return status;
}
