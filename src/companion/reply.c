/* See reply.h. */
#include "companion/reply.h"

#include "base/json.h"
#include "companion/forms.h"
#include "companion/header.h"
#include "facts/judged.h"
#include "layout/layout.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct {
    const rs_companion_request *request;
    rs_companion_layout layout;
    json_t *reply;
    rs_syntax *tree;
    rs_companion companion;
    const rs_syntax_declaration *chosen_of; /* the kernel whose arguments were chosen last */
    uint64_t chosen;
    const char *reasons[64];
    restride_status status;
} replying;

static restride_status put_place(const replying *at, json_t *object, rs_syntax_range range,
                                 const char *what)
{
    const char *file =
        range.file < at->tree->file_count ? at->tree->files[range.file].path : at->request->path;
    return rs_json_explain(object, what, file, rs_syntax_line(at->tree, range));
}

/* --- layouts --- */

static bool read_layout(const char *text, rs_companion_layout *layout)
{
    size_t tile = 0, again = 0;
    int end = -1;
    layout->group = 1;
    if (strcmp(text, "i f") == 0 || strcmp(text, "f i") == 0) {
        layout->tile = text[0] == 'i';
        return true;
    }
    if (sscanf(text, "i/%zu f i%%%zu%n", &tile, &again, &end) != 2 || end < 0 ||
        text[end] != '\0' || tile != again)
        return false;
    layout->tile = tile;
    return tile >= 1 && (tile & (tile - 1)) == 0 && tile <= RS_LAYOUT_MOST_TILE;
}

/* What the request says of an argument, or NULL. */
static const char *layout_of(const json_t *layouts, const rs_syntax_declaration *kernel,
                             const rs_syntax_declaration *argument)
{
    rs_text name = RS_TEXT_EMPTY;
    rs_text_format(&name, "%s.%s", kernel->name, argument->name);
    const char *found = name.failed ? NULL : rs_json_string_of(layouts, name.data);
    rs_text_free(&name);
    return found != NULL ? found : rs_json_string_of(layouts, argument->name);
}

/* Whether "ARGUMENT" or "KERNEL.ARGUMENT" names an array of structures of a kernel. */
static bool is_argument(const rs_companion *companion, const char *name)
{
    for (size_t i = 0; i < companion->kernel_count; i++)
        for (size_t k = 0; k < 64; k++) {
            const rs_syntax_declaration *kernel = companion->kernels[i].kernel;
            if ((companion->kernels[i].found >> k & 1) == 0)
                continue;
            if (rs_json_key_names(name, kernel->name, kernel->parameters[k]->name))
                return true;
        }
    return false;
}

static restride_status refuse_request(json_t *reply, const char *sentence)
{
    return rs_json_add(
        reply, json_pack("{s:o, s:b}", "error", rs_json_string(sentence), "bad_request", 1));
}

/* A configuration may serve several programs; what a command names must be here. */
static restride_status check_names(const replying *at)
{
    const char *name;
    json_t *value, *unused = json_array();
    rs_text text = RS_TEXT_EMPTY;
    json_object_foreach((json_t *)at->request->layouts, name, value)
    {
        if (text.size == 0 && !is_argument(&at->companion, name))
            rs_text_format(&text, "No kernel has an argument %s that is an array of structures.",
                           name);
    }
    json_object_foreach((json_t *)at->request->config, name, value)
    {
        if (!is_argument(&at->companion, name))
            json_array_append_new(unused, json_string(name));
    }
    restride_status status = rs_json_put(at->reply, "unused", unused);
    if (status == RESTRIDE_OK && text.size > 0)
        status = refuse_request(at->reply, text.data);
    rs_text_free(&text);
    return status;
}

static bool is_wanted(const replying *at, const rs_syntax_declaration *kernel,
                      const rs_syntax_declaration *argument)
{
    rs_companion_layout own = {1, 1};
    const char *text = layout_of(at->request->layouts, kernel, argument);
    if (text == NULL)
        text = layout_of(at->request->config, kernel, argument);
    if (text == NULL)
        return at->request->tile > 0;
    return read_layout(text, &own) && own.tile != 1;
}

static uint64_t wanted_of(void *context, const rs_syntax_declaration *kernel)
{
    const replying *at = context;
    uint64_t arrays = 0;
    for (size_t i = 0; i < kernel->parameter_count && i < 64; i++)
        if (rs_fact_is_array_of_structures(kernel->parameters[i]) &&
            is_wanted(at, kernel, kernel->parameters[i]))
            arrays |= UINT64_C(1) << i;
    return arrays;
}

static const char *refuses(void *context, const rs_syntax_declaration *kernel,
                           const rs_syntax_declaration *argument)
{
    replying *at = context;
    size_t which = 0;
    if (!is_wanted(at, kernel, argument))
        return "no other layout is wanted";
    if (!at->request->is_chosen || at->status != RESTRIDE_OK)
        return NULL;
    if (at->chosen_of != kernel) {
        /* The judge is asked once for all arguments of a kernel. */
        at->chosen_of = kernel;
        at->status = rs_forms_choose(at->request->judge, at->tree, kernel, wanted_of(at, kernel),
                                     &at->layout, &at->chosen, at->reasons);
    }
    while (which < 63 && kernel->parameters[which] != argument)
        which++;
    return at->status != RESTRIDE_OK || (at->chosen >> which & 1) != 0 ? NULL : at->reasons[which];
}

/* One layout for all: the accessors of a structure know one. */
static void add_layouts(replying *at, const json_t *layouts, bool *has_one, const char **problem)
{
    const char *name;
    json_t *value;
    rs_companion_layout one;
    json_object_foreach((json_t *)layouts, name, value)
    {
        if (!json_is_string(value) || !read_layout(json_string_value(value), &one))
            *problem = "Layouts of CUDA C++ are \"i f\", \"f i\" and \"i/T f i%T\", T a power of "
                       "two.";
        else if (one.tile != 1 && *has_one && one.tile != at->layout.tile)
            *problem = "Arguments of CUDA C++ get one layout: give one, in runs of their own.";
        else if (one.tile != 1)
            at->layout = one;
        *has_one |= one.tile != 1;
    }
}

static void choose_layout(replying *at, const char **problem)
{
    bool has_one = at->request->tile > 0;
    at->layout = (rs_companion_layout){has_one ? at->request->tile : 1, 1};
    if (has_one && (at->request->tile & (at->request->tile - 1)) != 0)
        *problem = "Tiles of CUDA C++ are powers of two.";
    add_layouts(at, at->request->layouts, &has_one, problem);
    add_layouts(at, at->request->config, &has_one, problem);
}

/* --- kernels --- */

static restride_status add_argument(const replying *at, const rs_companion_kernel *kernel,
                                    size_t which, json_t *list, size_t extent)
{
    const rs_syntax_declaration *argument = kernel->kernel->parameters[which];
    const bool is_transformed = (kernel->transformed >> which & 1) != 0;
    rs_text layout = RS_TEXT_EMPTY;
    rs_companion_layout_write(&layout, &at->layout);
    json_t *entry =
        json_pack("{s:I, s:s, s:s, s:s, s:s}", "index", (json_int_t)which, "name", argument->name,
                  "type", argument->type->name, "status", is_transformed ? "transformed" : "kept",
                  "layout", is_transformed && !layout.failed ? layout.data : "i f");
    rs_text_free(&layout);
    if (entry == NULL || json_array_append_new(list, entry) != 0)
        return rs_fail_memory("the rewriter's reply");
    if (!is_transformed) {
        const struct rs_companion_reason *reason = &kernel->reasons[which];
        return put_place(at, entry, reason->what == NULL ? argument->range : reason->range,
                         reason->what == NULL ? "no other layout is wanted" : reason->what);
    }
    return rs_json_add(
        entry, json_pack("{s:I, s:I}", "tile", (json_int_t)at->layout.tile, "extent_argument",
                         (json_int_t)kernel->kernel->parameter_count + (json_int_t)extent));
}

static restride_status add_kernel(const replying *at, const rs_companion_kernel *kernel,
                                  json_t *kernels)
{
    json_t *arguments = json_array();
    json_t *entry = json_pack("{s:s, s:o}", "name", kernel->kernel->name, "arguments", arguments);
    size_t extent = 0;
    if (entry == NULL || json_array_append_new(kernels, entry) != 0)
        return rs_fail_memory("the rewriter's reply");
    restride_status status = RESTRIDE_OK;
    if (kernel->reason != NULL)
        status = put_place(at, entry, kernel->kernel->name_range, kernel->reason);
    if (kernel->transformed != 0)
        status = rs_json_put(entry, "second", json_sprintf("%s__asta", kernel->kernel->name));
    for (size_t i = 0; i < 64 && status == RESTRIDE_OK; i++) {
        if ((kernel->found >> i & 1) != 0)
            status = add_argument(at, kernel, i, arguments, extent);
        extent += kernel->transformed >> i & 1;
    }
    return status;
}

static restride_status describe_forms(replying *at)
{
    const rs_companion *companion = &at->companion;
    json_t *forms = NULL, *names = json_array();
    restride_status status =
        rs_forms_describe(&forms, at->request->judge, at->tree, companion, &at->layout);
    if (status == RESTRIDE_OK && forms != NULL)
        status = rs_json_put(at->reply, "forms", forms);
    for (size_t i = 0; i < companion->instances.count; i++)
        for (size_t k = 0; k < RS_COMPANION_FORMS; k++)
            json_array_append_new(names, json_string(companion->instances.at[i].names[k]));
    if (status == RESTRIDE_OK && companion->uses.size > 0)
        status = rs_json_put(at->reply, "uses", rs_json_string(companion->uses.data));
    return status == RESTRIDE_OK ? rs_json_put(at->reply, "names", names) : status;
}

static restride_status describe_header(const replying *at)
{
    rs_text header = RS_TEXT_EMPTY;
    restride_status status = rs_companion_header_write(&header, at->tree, &at->companion,
                                                       at->request->path, &at->layout);
    if (status == RESTRIDE_OK)
        status = rs_json_put(at->reply, "header", rs_json_string(header.data));
    rs_text_free(&header);
    return status;
}

static restride_status describe(replying *at)
{
    restride_status status = check_names(at);
    if (status != RESTRIDE_OK || json_object_get(at->reply, "error") != NULL)
        return status;
    json_t *kernels = json_array();
    status = rs_json_put(at->reply, "kernels", kernels);
    for (size_t i = 0; i < at->companion.kernel_count && status == RESTRIDE_OK; i++)
        status = add_kernel(at, &at->companion.kernels[i], kernels);
    if (status == RESTRIDE_OK && at->companion.text.size > 0) {
        json_t *text = json_stringn(at->companion.text.data, at->companion.text.size);
        if (text == NULL)
            return rs_json_put(at->reply, "error",
                               rs_json_string("The source is not a text in UTF-8."));
        status = rs_json_put(at->reply, "source", text);
        if (status == RESTRIDE_OK)
            status = describe_forms(at);
        if (status == RESTRIDE_OK && at->request->has_header)
            status = describe_header(at);
    }
    return status;
}

/* The first error that the compiler has. */
static restride_status refuse_source(const replying *at)
{
    for (size_t i = 0; i < at->tree->problem_count; i++) {
        const rs_syntax_problem *one = &at->tree->problems[i];
        if (!one->is_error)
            continue;
        return rs_json_explain(at->reply, one->message,
                               one->path == NULL ? at->request->path : one->path, one->line);
    }
    return rs_json_put(at->reply, "reason", rs_json_string("clang found an error"));
}

static restride_status answer(replying *at)
{
    rs_invocation invocation;
    const rs_invocation_request how = {.path = at->request->path,
                                       .text = at->request->text,
                                       .size = at->request->size,
                                       .language = RS_SYNTAX_CUDA,
                                       .options = at->request->options,
                                       .option_count = at->request->option_count};
    restride_status status = rs_invocation_make(&invocation, &how);
    if (status != RESTRIDE_OK)
        return status;
    status = rs_syntax_read(&at->tree, &invocation);
    rs_invocation_free(&invocation);
    if (status == RESTRIDE_OK && at->tree->error_count > 0)
        return refuse_source(at);
    if (status == RESTRIDE_OK && at->request->is_chosen && at->request->judge != NULL &&
        at->layout.tile > 1)
        status = rs_forms_choose_group(at->request->judge, at->tree, wanted_of, at, &at->layout);
    if (status == RESTRIDE_OK)
        status = rs_companion_make(&at->companion, at->tree, &how, &at->layout, refuses, at);
    if (status == RESTRIDE_OK)
        status = at->status;
    return status == RESTRIDE_OK ? describe(at) : status;
}

restride_status rs_companion_reply(const rs_companion_request *request, json_t **reply)
{
    replying at = {.request = request, .reply = json_object()};
    const char *problem = NULL;
    *reply = NULL;
    if (at.reply == NULL)
        return rs_fail_memory("the rewriter's reply");
    choose_layout(&at, &problem);
    restride_status status = problem != NULL ? refuse_request(at.reply, problem) : answer(&at);
    rs_companion_free(&at.companion);
    rs_syntax_free(at.tree);
    if (status == RESTRIDE_OK)
        *reply = at.reply;
    else
        json_decref(at.reply);
    return status;
}
