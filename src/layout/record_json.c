/* A record as JSON: see record_json.h. */
#include "layout/record_json.h"

/* A member that is a size; what is none becomes 0, which no leaf can have. */
static size_t size_of(const json_t *object, const char *key)
{
    json_int_t value = json_integer_value(json_object_get(object, key));
    return value > 0 ? (size_t)value : 0;
}

/* Of a member that wants less than its size would: a structure of two floats. */
static restride_status take_alignment(rs_leaf *leaf, const json_t *description)
{
    if (json_object_get(description, "alignment") == NULL)
        return RESTRIDE_OK;
    leaf->alignment = size_of(description, "alignment");
    return leaf->alignment != 0 && (leaf->alignment & (leaf->alignment - 1)) == 0
               ? RESTRIDE_OK
               : rs_fail(RESTRIDE_SYNTAX, "The alignment of leaf \"%s\" is no power of two.",
                         leaf->name);
}

restride_status rs_record_from_json(rs_record *record, const json_t *description)
{
    size_t i;
    json_t *leaf;
    *record = (rs_record){0};
    json_array_foreach(json_object_get(description, "leaves"), i, leaf)
    {
        const char *name = json_string_value(json_object_get(leaf, "name"));
        if (name == NULL)
            return rs_fail(RESTRIDE_SYNTAX, "Leaf %zu of a record has no name.", i);
        restride_status status =
            rs_record_add_leaf(record, name, size_of(leaf, "offset"), size_of(leaf, "size"));
        if (status == RESTRIDE_OK)
            status = take_alignment(&record->leaves[record->leaf_count - 1], leaf);
        if (status != RESTRIDE_OK)
            return status;
    }
    return rs_record_complete(record, size_of(description, "size"),
                              size_of(description, "alignment"));
}

json_t *rs_record_to_json(const rs_record *record)
{
    json_t *leaves = json_array();
    for (size_t i = 0; i < record->leaf_count; i++) {
        const rs_leaf *leaf = &record->leaves[i];
        if (leaf->padding)
            continue;
        json_t *written = json_pack("{s:s, s:I, s:I}", "name", leaf->name, "offset",
                                    (json_int_t)leaf->offset, "size", (json_int_t)leaf->size);
        if (leaf->alignment != 0 && leaf->size % (2 * leaf->alignment) == 0)
            json_object_set_new(written, "alignment", json_integer((json_int_t)leaf->alignment));
        json_array_append_new(leaves, written);
    }
    return json_pack("{s:I, s:I, s:o}", "size", (json_int_t)record->size, "alignment",
                     (json_int_t)record->alignment, "leaves", leaves);
}
