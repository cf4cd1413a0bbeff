/* See forms.h: descriptions, and which kernel a name means. */
#include "layer/cuda/forms.h"

#include "base/json.h"
#include "base/list.h"
#include "layer/cuda/names.h"
#include "layout/record_json.h"

#include <stdlib.h>
#include <string.h>

static const char *const kinds[RS_FORM_KINDS] = {"full", "ragged", "full_large", "ragged_large"};

static void free_kernel(rs_form_kernel *kernel)
{
    for (size_t i = 0; i < kernel->argument_count; i++) {
        rs_form_argument *argument = &kernel->arguments[i];
        free(argument->name);
        free(argument->type);
        free(argument->layout);
        free(argument->reason);
        free(argument->file);
        rs_record_free(&argument->record);
    }
    for (size_t i = 0; i < RS_FORM_KINDS; i++)
        free(kernel->second[i]);
    free(kernel->arguments);
    free(kernel->symbol);
    free(kernel->name);
    free(kernel->witness);
    free(kernel->why);
    free(kernel->few_why);
    free(kernel->open);
}

/* A member that must be there. */
static restride_status take(char **text, const json_t *object, const char *key)
{
    const char *found = rs_json_string_of(object, key);
    if (found == NULL)
        return rs_fail(RESTRIDE_SYNTAX, "A description of kernels has no \"%s\".", key);
    *text = strdup(found);
    return *text == NULL ? rs_fail_memory("a description of kernels") : RESTRIDE_OK;
}

static restride_status parse_argument(rs_form_argument *argument, const json_t *from,
                                      size_t parameters)
{
    const long long index = rs_json_integer_of(from, "index"),
                    extent = rs_json_integer_of(from, "extent"),
                    tile = rs_json_integer_of(from, "tile"),
                    group = rs_json_integer_of(from, "group"),
                    line = rs_json_integer_of(from, "line");
    const char *status_word = rs_json_string_of(from, "status");
    argument->is_transformed = status_word != NULL && strcmp(status_word, "transformed") == 0;
    argument->index = (size_t)index;
    argument->line = line > 0 ? (size_t)line : 0;
    restride_status status = take(&argument->name, from, "name");
    if (status == RESTRIDE_OK)
        status = take(&argument->type, from, "type");
    if (status == RESTRIDE_OK)
        status = take(&argument->layout, from, "layout");
    if (status == RESTRIDE_OK && (index < 0 || (size_t)index >= parameters))
        status = rs_fail(RESTRIDE_SYNTAX, "A described kernel has no parameter %lld.", index);
    if (status != RESTRIDE_OK)
        return status;
    if (!argument->is_transformed) {
        if (rs_json_string_of(from, "file") != NULL)
            status = take(&argument->file, from, "file");
        return status == RESTRIDE_OK ? take(&argument->reason, from, "reason") : status;
    }
    if (tile < 0 || extent < (long long)parameters)
        return rs_fail(RESTRIDE_SYNTAX, "A described argument has no tile or extent.");
    if (group < 0 || group > RS_FORM_MOST_GROUP || (group & (group - 1)) != 0 ||
        (group > 1 && tile == 0))
        return rs_fail(RESTRIDE_SYNTAX, "A described argument has groups of %lld records.", group);
    argument->tile = (size_t)tile;
    argument->group = group > 1 ? (size_t)group : 1;
    argument->extent = (size_t)extent;
    return rs_record_from_json(&argument->record, json_object_get(from, "record"));
}

/* The names of a kernel's second forms, and what is foretold of them. */
static restride_status parse_second(rs_form_kernel *kernel, const json_t *from)
{
    restride_status status = take(&kernel->why, from, "why");
    kernel->gain = rs_json_number_of(from, "gain");
    const json_t *few = json_object_get(from, "few");
    if (status == RESTRIDE_OK && few != NULL)
        status = take(&kernel->few_why, few, "why");
    kernel->few_threads = rs_json_number_of(few, "threads");
    kernel->few_gain = rs_json_number_of(few, "gain");
    for (size_t i = 0; i < RS_FORM_KINDS && status == RESTRIDE_OK; i++) {
        char *mangled = NULL;
        status = take(&mangled, json_object_get(from, "second"), kinds[i]);
        if (status == RESTRIDE_OK)
            kernel->second[i] = rs_name_plain(mangled);
        free(mangled);
        if (status == RESTRIDE_OK && kernel->second[i] == NULL)
            status = rs_fail_memory("a description of kernels");
    }
    return status;
}

/* Of all in a description, which may have a witness: one without second forms must. */
static restride_status parse_kernel(rs_form_kernel *kernel, const json_t *from, const json_t *all,
                                    bool has_second)
{
    const json_t *arguments = json_object_get(from, "arguments");
    const size_t count = json_array_size(arguments);
    const char *symbol = rs_json_string_of(from, "symbol");
    const long long parameters = rs_json_integer_of(from, "parameters");
    restride_status status = RESTRIDE_OK;
    *kernel = (rs_form_kernel){.arguments = calloc(count + 1, sizeof *kernel->arguments),
                               .is_closed = json_is_true(json_object_get(from, "closed")),
                               .parameters = parameters > 0 ? (size_t)parameters : 0};
    if (symbol == NULL)
        return rs_fail(RESTRIDE_SYNTAX, "A described kernel has no symbol.");
    kernel->symbol = has_second ? rs_name_plain(symbol) : strdup(symbol);
    if (kernel->arguments == NULL || kernel->symbol == NULL)
        return rs_fail_memory("a description of kernels");
    status = take(&kernel->name, from, "name");
    if (status == RESTRIDE_OK && rs_json_string_of(from, "open") != NULL)
        status = take(&kernel->open, from, "open");
    if (status == RESTRIDE_OK)
        status = has_second ? parse_second(kernel, from) : RESTRIDE_OK;
    if (status == RESTRIDE_OK && (!has_second || rs_json_string_of(all, "witness") != NULL))
        status = take(&kernel->witness, all, "witness");
    for (size_t i = 0; i < count && status == RESTRIDE_OK; i++) {
        rs_form_argument *argument = &kernel->arguments[i];
        kernel->argument_count = i + 1;
        status = parse_argument(argument, json_array_get(arguments, i), kernel->parameters);
        if (status == RESTRIDE_OK && !has_second && argument->is_transformed)
            status = rs_fail(RESTRIDE_SYNTAX, "A kernel without second forms has one.");
    }
    return status;
}

static bool is_same_text(const char *a, const char *b)
{
    return a == NULL || b == NULL ? a == b : strcmp(a, b) == 0;
}

/* Whether two descriptions of one name mean the same to a launch. */
static bool is_same(const rs_form_kernel *a, const rs_form_kernel *b)
{
    bool same = a->parameters == b->parameters && a->argument_count == b->argument_count &&
                a->is_closed == b->is_closed;
    for (size_t i = 0; same && i < RS_FORM_KINDS; i++)
        same = is_same_text(a->second[i], b->second[i]);
    for (size_t i = 0; same && i < a->argument_count; i++) {
        const rs_form_argument *x = &a->arguments[i], *y = &b->arguments[i];
        same = x->index == y->index && x->is_transformed == y->is_transformed &&
               x->tile == y->tile && x->group == y->group && x->extent == y->extent &&
               rs_record_equal(&x->record, &y->record);
    }
    return same;
}

static const rs_form_kernel *find_plain(const rs_forms *forms, const char *plain)
{
    for (size_t i = 0; i < forms->count; i++)
        if (strcmp(forms->kernels[i].symbol, plain) == 0)
            return &forms->kernels[i];
    return NULL;
}

static restride_status add_kernel(rs_forms *forms, const rs_form_kernel *kernel)
{
    if (!RS_LIST_GROW(forms->kernels, forms->count))
        return rs_fail_memory("descriptions of kernels");
    forms->kernels[forms->count++] = *kernel;
    return RESTRIDE_OK;
}

/* Takes over a kernel, or frees it where it is known. */
static restride_status give(rs_forms *forms, rs_form_kernel *kernel)
{
    rs_form_kernel *known = (rs_form_kernel *)find_plain(forms, kernel->symbol);
    if (known == NULL)
        return add_kernel(forms, kernel);
    known->is_ambiguous |= !is_same(known, kernel);
    free_kernel(kernel);
    *kernel = (rs_form_kernel){0};
    return RESTRIDE_OK;
}

/* Of both lists nothing is added unless all of it can be read. */
static restride_status parse_all(rs_forms *forms, const json_t *all)
{
    const json_t *kernels = json_object_get(all, "kernels"),
                 *others = json_object_get(all, "others");
    const size_t first = json_array_size(kernels), count = first + json_array_size(others);
    size_t made = 0;
    restride_status status = RESTRIDE_OK;
    rs_form_kernel *parsed = calloc(count + 1, sizeof *parsed);
    if (parsed == NULL)
        return rs_fail_memory("a description of kernels");
    while (made < count && status == RESTRIDE_OK) {
        const bool has_second = made < first;
        const json_t *from =
            has_second ? json_array_get(kernels, made) : json_array_get(others, made - first);
        status = parse_kernel(&parsed[made], from, all, has_second);
        made++;
    }
    for (size_t i = 0; i < made; i++) {
        if (status == RESTRIDE_OK)
            status = give(forms, &parsed[i]);
        if (status != RESTRIDE_OK)
            free_kernel(&parsed[i]);
    }
    free(parsed);
    return status;
}

restride_status rs_forms_parse(rs_forms *forms, const char *text, size_t size)
{
    json_error_t error;
    json_t *all = json_loadb(text, size, 0, &error);
    restride_status status =
        all == NULL || rs_json_integer_of(all, "version") != 1 ||
                !json_is_array(json_object_get(all, "kernels"))
            ? rs_fail(RESTRIDE_SYNTAX, "No description of kernels that this version reads%s%s.",
                      all == NULL ? ": " : "", all == NULL ? error.text : "")
            : parse_all(forms, all);
    json_decref(all);
    return status;
}

const rs_form_kernel *rs_forms_find(const rs_forms *forms, const char *symbol)
{
    if (forms->count == 0)
        return NULL;
    char *plain = rs_name_plain(symbol);
    const rs_form_kernel *found = plain == NULL ? NULL : find_plain(forms, plain);
    free(plain);
    if (found != NULL && found->second[0] == NULL && strcmp(found->symbol, symbol) != 0)
        return NULL;
    return found == NULL || found->is_ambiguous ? NULL : found;
}

char *rs_form_symbol(const rs_form_kernel *kernel, rs_form_kind kind, const char *symbol)
{
    return rs_name_beside(kernel->second[kind], symbol);
}

void rs_forms_free(rs_forms *forms)
{
    for (size_t i = 0; i < forms->count; i++)
        free_kernel(&forms->kernels[i]);
    free(forms->kernels);
    *forms = (rs_forms){0};
}
