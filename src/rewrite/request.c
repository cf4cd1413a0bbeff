/* The request: whether it has the form that rewrite.h tells, and what stands in it. */
#include "rewrite/rewriting.h"

#include "base/text.h"
#include "rewrite/cpp_differences.h"

#include <stdlib.h>
#include <string.h>

const char *rs_request_text(const json_t *request, const char *key, const char *otherwise)
{
    const json_t *value = json_object_get(request, key);
    return json_is_string(value) ? json_string_value(value) : otherwise;
}

/* What is wrong with the request's form, or NULL. */
const char *rs_request_check(const json_t *request)
{
    static const struct {
        const char *key;
        json_type types[2];
        const char *sentence;
    } rules[] = {
        {"source", {JSON_STRING, JSON_STRING}, "The member \"source\" is not a string."},
        {"file", {JSON_STRING, JSON_STRING}, "The member \"file\" is not a string."},
        {"options", {JSON_STRING, JSON_STRING}, "The member \"options\" is not a string."},
        {"address_bits",
         {JSON_INTEGER, JSON_INTEGER},
         "The member \"address_bits\" is not 32 or 64."},
        {"tile", {JSON_INTEGER, JSON_INTEGER}, "The member \"tile\" is not an integer."},
        {"defaults", {JSON_OBJECT, JSON_OBJECT}, "The member \"defaults\" is not an object."},
        {"layouts", {JSON_OBJECT, JSON_OBJECT}, "The member \"layouts\" is not an object."},
        {"records", {JSON_OBJECT, JSON_OBJECT}, "The member \"records\" is not an object."},
        {"references", {JSON_OBJECT, JSON_OBJECT}, "The member \"references\" is not an object."},
        {"config", {JSON_OBJECT, JSON_OBJECT}, "The member \"config\" is not an object."},
        {"macros", {JSON_OBJECT, JSON_OBJECT}, "The member \"macros\" is not an object."},
        {"assume_undefined",
         {JSON_TRUE, JSON_FALSE},
         "The member \"assume_undefined\" is not true or false."},
        {"header", {JSON_TRUE, JSON_FALSE}, "The member \"header\" is not true or false."},
        {"comments", {JSON_TRUE, JSON_FALSE}, "The member \"comments\" is not true or false."},
        {"beside", {JSON_TRUE, JSON_FALSE}, "The member \"beside\" is not true or false."},
        {"errors", {JSON_TRUE, JSON_FALSE}, "The member \"errors\" is not true or false."},
        {"soa", {JSON_TRUE, JSON_FALSE}, "The member \"soa\" is not true or false."},
        {"full", {JSON_TRUE, JSON_FALSE}, "The member \"full\" is not true or false."},
    };
    if (!json_is_object(request))
        return "The request is not a JSON object.";
    for (size_t i = 0; i < sizeof rules / sizeof rules[0]; i++) {
        const json_t *value = json_object_get(request, rules[i].key);
        if (value != NULL && json_typeof(value) != rules[i].types[0] &&
            json_typeof(value) != rules[i].types[1])
            return rules[i].sentence;
    }
    if (json_object_get(request, "source") == NULL)
        return "The request has no member \"source\".";
    const json_t *bits = json_object_get(request, "address_bits");
    if (bits != NULL && json_integer_value(bits) != 32 && json_integer_value(bits) != 64)
        return "The member \"address_bits\" is not 32 or 64.";
    const json_t *tile = json_object_get(request, "tile");
    if (tile != NULL &&
        (json_integer_value(tile) < 1 || json_integer_value(tile) >= RS_SAMPLE_COUNT))
        return "The member \"tile\" is not a sensible tile size; 32 is usual.";
    return NULL;
}

/* The macros that the device's compiler predefines, as options for cpp. One without a known value
 * has the one that the language fixes, or is its own name, for that compiler to expand. */
restride_status rs_request_macros(rs_rewriting *r)
{
    json_t *macros = json_object_get(r->request, "macros");
    r->definitions = calloc(json_object_size(macros) + 1, sizeof *r->definitions);
    if (r->definitions == NULL)
        return rs_fail_memory("the macros of a request");
    const char *name;
    json_t *value;
    json_object_foreach(macros, name, value)
    {
        if (!json_is_string(value) && !json_is_true(value))
            continue;
        rs_text option = RS_TEXT_EMPTY;
        const char *fixed = rs_fixed_value(name), *told = json_string_value(value);
        rs_text_format(&option, "-D%s=%s", name,
                       told != NULL    ? told
                       : fixed != NULL ? fixed
                                       : name);
        char *text = rs_text_take(&option);
        if (text == NULL)
            return rs_fail_memory("the macros of a request");
        r->definitions[r->definition_count++] = text;
    }
    return RESTRIDE_OK;
}
