/* Requests to the rewriter. */
#include "ask.h"

#include "base/json.h"
#include "cmocka_all.h"
#include "rewrite/rewrite.h"

#include <string.h>

json_t *ask(json_t *request)
{
    json_t *reply = NULL;
    assert_non_null(request);
    restride_status status = rs_rewrite(request, &reply);
    json_decref(request);
    if (status != RESTRIDE_OK)
        fail_msg("no reply: %s", restride_last_error());
    assert_non_null(reply);
    return reply;
}

json_t *ask_for_tiles(const char *source, const char *options, int tile)
{
    json_t *request =
        json_pack("{s:s, s:s, s:s, s:b, s:b, s:b}", "source", source, "file", "kernel.cl",
                  "options", options, "assume_undefined", 1, "soa", 1, "full", 1);
    if (tile > 0)
        json_object_set_new(request, "tile", json_integer(tile));
    else
        json_object_set_new(request, "defaults", json_pack("{s:s}", "*", "f i"));
    return ask(request);
}

json_t *find_argument(const json_t *reply, const char *kernel, const char *argument)
{
    const json_t *named = rs_json_named(json_object_get(reply, "kernels"), kernel);
    return rs_json_named(json_object_get(named, "arguments"), argument);
}

void read_record(const json_t *argument, rs_record *record)
{
    const json_t *description = json_object_get(argument, "record");
    *record = (rs_record){0, 0, 0, NULL};
    size_t i;
    json_t *leaf;
    json_array_foreach(json_object_get(description, "leaves"), i, leaf)
    {
        assert_int_equal(rs_record_add_leaf(record, string_of(leaf, "name"),
                                            (size_t)number_of(leaf, "offset"),
                                            (size_t)number_of(leaf, "size")),
                         RESTRIDE_OK);
    }
    assert_int_equal(rs_record_complete(record, (size_t)number_of(description, "size"),
                                        (size_t)number_of(description, "alignment")),
                     RESTRIDE_OK);
}

const char *string_of(const json_t *object, const char *key)
{
    const char *value = json_string_value(json_object_get(object, key));
    return value != NULL ? value : "";
}

long long number_of(const json_t *object, const char *key)
{
    return json_integer_value(json_object_get(object, key));
}
