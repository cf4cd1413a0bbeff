/* Which layout each argument is to have: by the request, its configuration and the comments. */
#include "rewrite/rewriting.h"

#include "base/json.h"
#include "base/text.h"
#include "layout/layout.h"
#include "rewrite/reply.h"

#include <string.h>

/* What an object says of "KERNEL.ARGUMENT", or else of "ARGUMENT"; NULL when neither is there. */
static const char *find_expression(const json_t *layouts, const char *full, const char *name)
{
    const char *expression = json_string_value(json_object_get(layouts, full));
    return expression != NULL ? expression : json_string_value(json_object_get(layouts, name));
}

/* The layout that the request, its configuration or a comment names for the argument, or else for
 * all of the kernel; "i f" when none does. */
static restride_status wanted_layout(const rs_rewriting *r, const rs_pointer_parameter *argument,
                                     rs_text *found)
{
    const json_t *layouts = json_object_get(r->request, "layouts");
    const json_t *config = json_object_get(json_object_get(r->request, "config"), "layouts");
    const json_t *defaults = json_object_get(r->request, "defaults");
    const json_t *tile = json_object_get(r->request, "tile");
    const char *kernel = r->model.functions[argument->function].name;
    rs_text full = RS_TEXT_EMPTY;
    rs_text_format(&full, "%s.%s", kernel, argument->name);
    if (full.failed)
        return rs_fail_memory("a layout");
    const char *expression = find_expression(layouts, full.data, argument->name);
    if (expression == NULL)
        expression = find_expression(config, full.data, argument->name);
    rs_text_free(&full);
    const rs_annotation *annotation = rs_annotations_find(&r->annotations, kernel, argument->name);
    if (expression == NULL && annotation != NULL)
        expression = annotation->layout;
    if (expression == NULL)
        expression = find_expression(defaults, kernel, "*");
    if (expression != NULL)
        rs_text_add_string(found, expression);
    else if (tile != NULL)
        rs_text_format(found, "i/%d f i%%%d", (int)json_integer_value(tile),
                       (int)json_integer_value(tile));
    else
        rs_text_add_string(found, "i f");
    return found->failed ? rs_fail_memory("a layout") : RESTRIDE_OK;
}

/* Parses the wanted layout of an argument that could have one; *sentence is set when the request is
 * wrong. */
static restride_status set_layout(rs_rewriting *r, rs_pointer_parameter *argument,
                                  const char **sentence)
{
    rs_text wanted = RS_TEXT_EMPTY;
    restride_status status = wanted_layout(r, argument, &wanted);
    if (status != RESTRIDE_OK)
        return status;
    restride_layout *layout;
    status = rs_layout_of_record(&layout, &r->model.structures[argument->structure].record,
                                 RS_SAMPLE_COUNT, wanted.data);
    if (status != RESTRIDE_OK) {
        rs_text_free(&wanted);
        *sentence = restride_last_error();
        return status == RESTRIDE_OUT_OF_MEMORY ? status : RESTRIDE_OK;
    }
    rs_layout_form form = rs_layout_classify(layout, &argument->tile);
    restride_layout_destroy(layout);
    if (form == RS_FORM_AOS || (form == RS_FORM_SOA && argument->extent != NULL))
        status = rs_argument_refuse(argument, argument->offset, "layout requested");
    else if (form == RS_FORM_OTHER)
        *sentence =
            "Only the layouts \"i f\", \"f i\" and \"i/T f i%T\" can be written into a kernel.";
    argument->layout = rs_text_take(&wanted);
    return argument->layout == NULL ? rs_fail_memory("a layout") : status;
}

/* Whether "ARG" or "KERNEL.ARG" names an argument of the source. */
static bool is_argument(const rs_model *model, const char *name)
{
    for (int i = 0; i < model->argument_count; i++) {
        const rs_pointer_parameter *argument = &model->arguments[i];
        if (rs_argument_kernel(model, argument) == NULL)
            continue;
        if (rs_json_key_names(name, rs_argument_kernel(model, argument)->name, argument->name))
            return true;
    }
    return false;
}

/* Whether an expression can be parsed at all, for arguments whose structure has no layout. */
static restride_status check_expression(const char *expression, const char **sentence)
{
    rs_record sample = {0, 0, 0, NULL};
    restride_layout *layout = NULL;
    restride_status status = rs_record_add_leaf(&sample, "x", 0, 4);
    if (status == RESTRIDE_OK)
        status = rs_record_complete(&sample, 4, 4);
    if (status == RESTRIDE_OK)
        status = rs_layout_of_record(&layout, &sample, RS_SAMPLE_COUNT, expression);
    restride_layout_destroy(layout);
    rs_record_free(&sample);
    if (status != RESTRIDE_OK && status != RESTRIDE_OUT_OF_MEMORY) {
        *sentence = restride_last_error();
        return RESTRIDE_OK;
    }
    return status;
}

/* The names of a configuration that this source does not have: it may serve several programs. */
static restride_status list_unused(rs_rewriting *r)
{
    static const char *const parts[] = {"layouts", "records"};
    const json_t *config = json_object_get(r->request, "config");
    json_t *unused = json_array(), *value;
    const char *name;
    for (size_t p = 0; unused != NULL && p < sizeof parts / sizeof parts[0]; p++)
        json_object_foreach(json_object_get(config, parts[p]), name, value)
        {
            if (!is_argument(&r->model, name))
                json_array_append_new(unused, json_string(name));
        }
    if (json_array_size(unused) > 0)
        return rs_json_put(r->reply, "unused", unused);
    json_decref(unused);
    return RESTRIDE_OK;
}

restride_status rs_set_layouts(rs_rewriting *r, bool *stopped)
{
    const char *name, *sentence = NULL;
    json_t *value;
    rs_text text = RS_TEXT_EMPTY;
    restride_status status = RESTRIDE_OK;
    json_object_foreach(json_object_get(r->request, "layouts"), name, value)
    {
        if (!json_is_string(value))
            rs_text_format(&text, "The layout of %s is not a string.", name);
        else if (!is_argument(&r->model, name))
            rs_text_format(&text,
                           "No kernel has an argument %s that points to global or constant memory.",
                           name);
        else if (status == RESTRIDE_OK && sentence == NULL)
            status = check_expression(json_string_value(value), &sentence);
        if (text.size > 0)
            sentence = text.data;
    }
    if (status == RESTRIDE_OK && sentence == NULL)
        status = list_unused(r);
    for (int i = 0; i < r->model.argument_count && status == RESTRIDE_OK && sentence == NULL; i++)
        if (r->model.arguments[i].reason == NULL &&
            rs_argument_kernel(&r->model, &r->model.arguments[i]) != NULL)
            status = set_layout(r, &r->model.arguments[i], &sentence);
    *stopped = sentence != NULL;
    if (status == RESTRIDE_OK && sentence != NULL)
        status = rs_reply_error(r, sentence, true);
    rs_text_free(&text);
    return status;
}
