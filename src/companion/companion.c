/* See companion.h: which arguments, one kernel after the other, and whether what comes out
 * compiles.
 */
#include "companion/companion.h"

#include "base/list.h"
#include "companion/copies.h"
#include "companion/instances.h"
#include "companion/write.h"
#include "facts/judged.h"

#include <stdlib.h>
#include <string.h>

typedef struct {
    rs_companion *companion;
    rs_syntax *tree;
    const rs_invocation_request *how;
    const rs_companion_layout *layout;
    size_t main_file;
} making;

/* --- kernels and their arguments --- */

static bool is_same_kernel(const rs_syntax_declaration *a, const rs_syntax_declaration *b)
{
    return a->name_range.file == b->name_range.file && a->name_range.begin == b->name_range.begin &&
           strcmp(a->name, b->name) == 0;
}

static void keep(rs_companion_kernel *kernel, uint64_t arguments, rs_syntax_range range,
                 const char *what, const char *more)
{
    const uint64_t kept = kernel->transformed & arguments;
    kernel->transformed &= ~kept;
    for (size_t i = 0; i < 64; i++) {
        rs_text text = RS_TEXT_EMPTY;
        if ((kept >> i & 1) == 0 || kernel->reasons[i].what != NULL)
            continue;
        rs_text_format(&text, "%s%s", what, more);
        kernel->reasons[i].range = range;
        kernel->reasons[i].what = rs_text_take(&text);
    }
}

static bool is_kernel(const rs_syntax_declaration *of)
{
    return of->kind == RS_DECLARATION_FUNCTION && of->is_kernel && of->is_defined &&
           of->body != NULL;
}

static size_t place_of(const rs_companion *companion, const rs_syntax_declaration *of)
{
    size_t i = 0;
    while (i < companion->kernel_count && !is_same_kernel(companion->kernels[i].kernel, of))
        i++;
    return i;
}

size_t rs_companion_place_of(const rs_companion *companion, const rs_syntax_declaration *kernel)
{
    return is_kernel(kernel) ? place_of(companion, kernel) : companion->kernel_count;
}

static rs_companion_kernel *find_kernel(const making *at, const rs_syntax_declaration *of)
{
    rs_companion *companion = at->companion;
    const size_t known = place_of(companion, of);
    if (known < companion->kernel_count)
        return &companion->kernels[known];
    if (!RS_LIST_GROW(companion->kernels, companion->kernel_count))
        return NULL;
    rs_companion_kernel *added = &companion->kernels[companion->kernel_count++];
    memset(added, 0, sizeof *added);
    added->kernel = of;
    return added;
}

/* Templates that nothing launches or names have no types. */
static restride_status find_templates(const making *at)
{
    for (size_t i = 0; i < at->tree->declaration_count; i++) {
        const rs_syntax_declaration *of = at->tree->declarations[i];
        const size_t known = at->companion->kernel_count;
        if (of->kind != RS_DECLARATION_TEMPLATE || !of->is_kernel)
            continue;
        rs_companion_kernel *kernel = find_kernel(at, of);
        if (kernel == NULL)
            return rs_fail_memory("a companion");
        if (at->companion->kernel_count > known)
            kernel->reason = "no instance of this template is launched or named here";
    }
    return RESTRIDE_OK;
}

static restride_status find_kernels(making *at, rs_companion_refuses *refuses, void *context)
{
    for (size_t i = 0; i < at->tree->declaration_count; i++) {
        const rs_syntax_declaration *of = at->tree->declarations[i];
        if (!is_kernel(of))
            continue;
        rs_companion_kernel *kernel = find_kernel(at, of);
        if (kernel == NULL)
            return rs_fail_memory("a companion");
        for (size_t k = 0; k < of->parameter_count && k < 64; k++) {
            const rs_syntax_declaration *argument = of->parameters[k];
            const uint64_t bit = UINT64_C(1) << k;
            const char *why = NULL, *unwanted = NULL;
            if (!rs_fact_is_array_of_structures(argument))
                continue;
            kernel->found |= bit;
            if (kernel->reasons[k].what != NULL)
                continue;
            if (refuses != NULL && (kernel->transformed & bit) == 0)
                unwanted = refuses(context, of, argument);
            kernel->transformed |= bit;
            if (argument->name[0] == '\0')
                keep(kernel, bit, argument->range, "it has no name", "");
            else if (unwanted != NULL)
                keep(kernel, bit, argument->range, unwanted, "");
            else if (argument->type->of->is_volatile)
                keep(kernel, bit, argument->range, "its elements are volatile", "");
            else if (!rs_companion_record_is_known(at->tree, argument->type->of->plain, &why))
                keep(kernel, bit, argument->range, "its structure ", why);
        }
    }
    return find_templates(at);
}

/* Parameters of an instance: others of the template may have numbers there. */
static uint64_t arrays_of(const rs_syntax_declaration *kernel)
{
    uint64_t found = 0;
    for (size_t i = 0; i < kernel->parameter_count && i < 64; i++)
        if (rs_fact_is_array_of_structures(kernel->parameters[i]))
            found |= UINT64_C(1) << i;
    return found;
}

/* --- one kernel --- */

/* Adds the copies that an instance needs, or keeps what stops it. */
static restride_status add_instance(const making *at, rs_companion_kernel *kernel,
                                    const rs_syntax_declaration *instance,
                                    rs_companion_copies *copies, bool *is_kept)
{
    rs_fact_elements facts;
    rs_companion_problem problem;
    const uint64_t wanted = kernel->transformed & arrays_of(instance);
    restride_status status = RESTRIDE_OK;
    if (wanted == 0)
        return status;
    status =
        rs_fact_elements_read(&facts, at->tree, instance, wanted, rs_companion_member_is_whole);
    if (status != RESTRIDE_OK)
        return status;
    for (size_t i = 0; i < facts.refusal_count; i++) {
        const rs_fact_refusal *one = &facts.refusals[i];
        *is_kept |= (kernel->transformed & one->arguments) != 0;
        keep(kernel, one->arguments, one->range, one->what, "");
    }
    if (!*is_kept) {
        status = rs_companion_copies_add(copies, &facts, &problem);
        if (status == RESTRIDE_OK && problem.what != NULL) {
            *is_kept = true;
            keep(kernel, problem.arguments == 0 ? ~UINT64_C(0) : problem.arguments, problem.range,
                 problem.what, "");
        }
    }
    rs_fact_elements_free(&facts);
    return status;
}

static restride_status add_kernel(const making *at, rs_companion_kernel *kernel,
                                  rs_companion_copies *copies)
{
    const size_t count = copies->count;
    restride_status status = RESTRIDE_OK;
    bool is_kept = true;
    while (is_kept && status == RESTRIDE_OK && kernel->transformed != 0) {
        is_kept = false;
        rs_companion_copies_drop(copies, count);
        for (size_t i = 0; i < at->tree->declaration_count && status == RESTRIDE_OK && !is_kept;
             i++)
            if (is_kernel(at->tree->declarations[i]) &&
                is_same_kernel(at->tree->declarations[i], kernel->kernel))
                status = add_instance(at, kernel, at->tree->declarations[i], copies, &is_kept);
    }
    if (is_kept)
        rs_companion_copies_drop(copies, count);
    return status;
}

/* --- the text --- */

typedef struct {
    const rs_syntax_type **at;
    size_t count;
} types;

static bool add_type(types *list, const rs_syntax_type *type)
{
    for (size_t i = 0; i < list->count; i++)
        if (list->at[i] == type)
            return true;
    if (!RS_LIST_GROW(list->at, list->count))
        return false;
    list->at[list->count++] = type;
    return true;
}

static bool find_records(const making *at, const rs_companion_kernel *only, types *records)
{
    bool has_room = true;
    for (size_t i = 0; i < at->tree->declaration_count && has_room; i++) {
        const rs_syntax_declaration *of = at->tree->declarations[i];
        if (!is_kernel(of))
            continue;
        const rs_companion_kernel *kernel = find_kernel(at, of);
        if (kernel == NULL || (only != NULL && kernel != only))
            continue;
        const uint64_t wanted = kernel->transformed & arrays_of(of);
        for (size_t k = 0; k < of->parameter_count && k < 64 && has_room; k++)
            if ((wanted >> k & 1) != 0)
                has_room = add_type(records, of->parameters[k]->type->of->plain);
    }
    return has_room;
}

/* Of all kernels, or `only` one. */
static restride_status find_instances(const making *at, const rs_companion_kernel *only,
                                      const rs_companion_copies *copies)
{
    restride_status status = RESTRIDE_OK;
    rs_instances_drop(&at->companion->instances);
    for (size_t i = 0; i < at->tree->declaration_count && status == RESTRIDE_OK; i++) {
        const rs_syntax_declaration *of = at->tree->declarations[i];
        const rs_companion_kernel *kernel = is_kernel(of) ? find_kernel(at, of) : NULL;
        if (kernel != NULL && (only == NULL || kernel == only))
            status = rs_instances_add(
                &at->companion->instances, of, (size_t)(kernel - at->companion->kernels),
                kernel->transformed & arrays_of(of), copies, at->layout->group > 1);
    }
    return status;
}

/* The companion with all kernels, or `only` one. */
static restride_status make_text(const making *at, rs_companion_kernel *only, rs_text *text,
                                 rs_text *uses)
{
    rs_companion_copies copies = {NULL, 0, at->main_file};
    types records = {NULL, 0};
    restride_status status = RESTRIDE_OK;
    for (size_t i = 0; i < at->companion->kernel_count && status == RESTRIDE_OK; i++)
        if (only == NULL || only == &at->companion->kernels[i])
            status = add_kernel(at, &at->companion->kernels[i], &copies);
    if (status == RESTRIDE_OK && !find_records(at, only, &records))
        status = rs_fail_memory("a companion");
    if (status == RESTRIDE_OK && copies.count > 0)
        status = rs_companion_write(text, at->tree, at->main_file, at->how->path, &copies,
                                    records.at, records.count, at->layout);
    if (status == RESTRIDE_OK)
        status = find_instances(at, only, &copies);
    rs_instances_use(uses, &at->companion->instances);
    rs_companion_copies_free(&copies);
    free((void *)records.at);
    return status;
}

/* Whether a companion is read without errors; the first one in `message`. */
static restride_status check_text(const making *at, const rs_text *text, const rs_text *uses,
                                  rs_text *message)
{
    rs_text whole = RS_TEXT_EMPTY;
    rs_invocation invocation;
    rs_invocation_request how = *at->how;
    rs_syntax *tree = NULL;
    rs_text_add(&whole, text->data, text->size);
    if (uses->size > 0)
        rs_text_add(&whole, uses->data, uses->size);
    rs_text_add_string(&whole, "\n");
    if (whole.failed)
        return rs_fail_memory("a companion");
    how.text = whole.data;
    how.size = whole.size;
    restride_status status = rs_invocation_make(&invocation, &how);
    if (status == RESTRIDE_OK) {
        status = rs_syntax_read(&tree, &invocation);
        rs_invocation_free(&invocation);
    }
    for (size_t i = 0; status == RESTRIDE_OK && i < tree->problem_count && message->size == 0; i++)
        if (tree->problems[i].is_error)
            rs_text_add_string(message, tree->problems[i].message);
    if (status == RESTRIDE_OK && tree->error_count > 0 && message->size == 0)
        rs_text_add_string(message, "an error");
    if (status == RESTRIDE_OK && message->size == 0)
        status = rs_instances_read(&at->companion->instances, tree);
    rs_syntax_free(tree);
    rs_text_free(&whole);
    return status;
}

/* Keeps the arguments of a kernel whose second form alone has errors. */
static restride_status check_kernel(const making *at, rs_companion_kernel *kernel)
{
    rs_text text = RS_TEXT_EMPTY, uses = RS_TEXT_EMPTY, message = RS_TEXT_EMPTY;
    restride_status status = make_text(at, kernel, &text, &uses);
    if (status == RESTRIDE_OK && text.size > 0)
        status = check_text(at, &text, &uses, &message);
    if (status == RESTRIDE_UNSUPPORTED) {
        rs_text_add_string(&message, restride_last_error());
        status = RESTRIDE_OK;
    }
    if (status == RESTRIDE_OK && message.size > 0)
        keep(kernel, ~UINT64_C(0), kernel->kernel->range,
             "the second form does not compile: ", message.data);
    rs_text_free(&text);
    rs_text_free(&uses);
    rs_text_free(&message);
    return status;
}

static restride_status make_checked(const making *at)
{
    restride_status status = RESTRIDE_OK;
    for (int round = 0; round < 3 && status == RESTRIDE_OK; round++) {
        rs_text text = RS_TEXT_EMPTY, uses = RS_TEXT_EMPTY, message = RS_TEXT_EMPTY;
        status = make_text(at, NULL, &text, &uses);
        if (status == RESTRIDE_OK && text.size > 0)
            status = check_text(at, &text, &uses, &message);
        const bool is_good = status == RESTRIDE_OK && message.size == 0;
        if (is_good) {
            at->companion->text = text;
            at->companion->uses = uses;
            uses = RS_TEXT_EMPTY;
        } else {
            rs_text_free(&text);
        }
        if (status == RESTRIDE_UNSUPPORTED)
            status = RESTRIDE_OK;
        for (size_t i = 0; !is_good && i < at->companion->kernel_count && status == RESTRIDE_OK;
             i++) {
            rs_companion_kernel *kernel = &at->companion->kernels[i];
            if (round < 2)
                status = check_kernel(at, kernel);
            else
                keep(kernel, ~UINT64_C(0), kernel->kernel->range,
                     "the second forms do not compile together: ",
                     message.size > 0 ? message.data : "a place for them is missing");
        }
        rs_text_free(&uses);
        rs_text_free(&message);
        if (is_good)
            break;
    }
    return status;
}

restride_status rs_companion_make(rs_companion *companion, rs_syntax *tree,
                                  const rs_invocation_request *how,
                                  const rs_companion_layout *layout, rs_companion_refuses *refuses,
                                  void *context)
{
    memset(companion, 0, sizeof *companion);
    rs_invocation invocation;
    making at = {companion, tree, how, layout, tree->file_count};
    restride_status status = rs_invocation_make(&invocation, how);
    if (status != RESTRIDE_OK)
        return status;
    for (size_t i = 0; i < tree->file_count; i++)
        if (strcmp(tree->files[i].path, invocation.path) == 0)
            at.main_file = i;
    rs_invocation_free(&invocation);
    status = find_kernels(&at, refuses, context);
    if (status == RESTRIDE_OK && at.main_file < tree->file_count)
        status = make_checked(&at);
    if (status != RESTRIDE_OK)
        rs_companion_free(companion);
    return status;
}

void rs_companion_free(rs_companion *companion)
{
    for (size_t i = 0; i < companion->kernel_count; i++)
        for (size_t k = 0; k < 64; k++)
            free(companion->kernels[i].reasons[k].what);
    free(companion->kernels);
    rs_instances_free(&companion->instances);
    rs_text_free(&companion->text);
    rs_text_free(&companion->uses);
    memset(companion, 0, sizeof *companion);
}
