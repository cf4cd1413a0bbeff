/*
 * The analysis sees which layout of an array of records needs fewer transactions; the rewriter
 * knows whether it can write it. So it is asked, and advice that it would not follow is kept apart
 * with its reason.
 */
#include "base/json.h"
#include "companion/reply.h"
#include "console/page.h"
#include "programs/analyze/report.h"
#include "rewrite/rewrite.h"

#include <string.h>

/* Whether advice is for the rewriter: the layouts of matrices are not. */
static bool is_for_rewriter(const json_t *advice)
{
    return strchr(rs_page_string(advice, "layout"), 'f') != NULL;
}

/* Adds what a kernel's arguments are advised to become to a request; whether there is any. */
static bool add_wishes(const json_t *unit, json_t *layouts, json_t *records)
{
    size_t i;
    json_t *array;
    bool any = false;
    json_array_foreach(json_object_get(unit, "arrays"), i, array)
    {
        const json_t *advice = json_object_get(array, "advice");
        if (!is_for_rewriter(advice) || !rs_json_flag_of(array, "argument"))
            continue;
        any = true;
        rs_text key = RS_TEXT_EMPTY;
        rs_text_format(&key, "%s.%s", rs_page_string(unit, "name"), rs_page_string(array, "name"));
        json_object_set(layouts, key.data, json_object_get(advice, "layout"));
        if (json_object_get(advice, "record") != NULL)
            json_object_set_new(records, key.data,
                                json_sprintf("%lld", rs_json_integer_of(advice, "record")));
        rs_text_free(&key);
    }
    return any;
}

/* What says why the rewriter keeps an array, with file and line; NULL when it does not. */
static const json_t *find_reason(const json_t *reply, const json_t *unit, const json_t *array)
{
    const json_t *kernel =
        rs_json_named(json_object_get(reply, "kernels"), rs_page_string(unit, "name"));
    const json_t *argument =
        rs_json_named(json_object_get(kernel, "arguments"), rs_page_string(array, "name"));
    if (json_object_get(argument, "reason") != NULL)
        return argument;
    if (argument != NULL)
        return NULL;
    return json_object_get(kernel, "reason") != NULL ? kernel : reply;
}

static void check_unit(const json_t *unit, const char *file, const json_t *reply)
{
    size_t i;
    json_t *array;
    json_array_foreach(json_object_get(unit, "arrays"), i, array)
    {
        json_t *advice = json_object_get(array, "advice");
        if (!is_for_rewriter(advice))
            continue;
        bool named = rs_json_flag_of(array, "argument");
        const json_t *why = named ? find_reason(reply, unit, array) : unit;
        if (why == NULL)
            continue;
        const char *reason = rs_json_string_of(why, "reason");
        const char *error = rs_json_string_of(why, "error");
        json_object_set_new(advice, "reason",
                            json_string(!named           ? "it is not an argument of the kernel"
                                        : reason != NULL ? reason
                                        : error != NULL  ? error
                                                         : "it is not seen"));
        const json_t *place = json_object_get(why, "file");
        json_object_set_new(advice, "file",
                            json_string(place != NULL ? json_string_value(place) : file));
        json_object_set(advice, "line", json_object_get(why, "line"));
        json_object_set(array, "kept_advice", advice);
        json_object_del(array, "advice");
    }
}

/* Companions have no flat arrays. */
static restride_status ask_for_companion(const char *file, char *const options[], int option_count,
                                         json_t *layouts, const json_t *records, json_t **reply)
{
    const char *name;
    json_t *value;
    json_object_foreach((json_t *)records, name, value)
    {
        json_object_del(layouts, name);
    }
    const rs_companion_request asked = {.path = file,
                                        .options = (const char *const *)options,
                                        .option_count = (size_t)option_count,
                                        .layouts = layouts};
    restride_status status = rs_companion_reply(&asked, reply);
    if (status == RESTRIDE_OK && json_object_get(*reply, "reason") == NULL)
        json_object_set_new(*reply, "reason",
                            json_string("flat arrays of CUDA C++ are not rewritten"));
    return status;
}

static restride_status ask(const json_t *request, json_t *layouts, json_t *records, json_t **reply)
{
    json_t *question = json_pack(
        "{s:O, s:O, s:O, s:b, s:b, s:O, s:O}", "source", json_object_get(request, "source"), "file",
        json_object_get(request, "file"), "options", json_object_get(request, "options"),
        "assume_undefined", 1, "beside", 1, "layouts", layouts, "records", records);
    if (question == NULL)
        return rs_fail_memory("a question to the rewriter");
    restride_status status = rs_rewrite(question, reply);
    json_decref(question);
    return status;
}

restride_status rs_advice_check(const json_t *request, char *const options[], int option_count,
                                json_t *analysis)
{
    size_t i;
    json_t *unit, *reply = NULL, *layouts = json_object(), *records = json_object();
    bool any = false;
    restride_status status = RESTRIDE_OK;
    json_array_foreach(json_object_get(analysis, "units"), i, unit)
    {
        if (rs_json_flag_of(unit, "kernel"))
            any = add_wishes(unit, layouts, records) || any;
    }
    if (any)
        status = strcmp(rs_page_string(analysis, "language"), "CUDA C") == 0
                     ? ask_for_companion(rs_page_string(request, "file"), options, option_count,
                                         layouts, records, &reply)
                     : ask(request, layouts, records, &reply);
    json_array_foreach(json_object_get(analysis, "units"), i, unit)
    {
        if (status == RESTRIDE_OK && rs_json_flag_of(unit, "kernel"))
            check_unit(unit, rs_page_string(request, "file"), reply);
    }
    json_decref(reply);
    json_decref(layouts);
    json_decref(records);
    return status;
}
