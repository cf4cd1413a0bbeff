/* What is written at a place, and what a store through a pointer that is not followed may change.
 */
#include "analyze/walk.h"
#include "source/query.h"

/* What a variable may keep: integers that are unknown get a symbol with the variable's name. */
static rs_value stored_value(rs_walk *walk, const rs_value *value, int node)
{
    bool integer = rs_type_is_integer(rs_type_of(walk->tree, node));
    rs_value stored = *value;
    stored.carried_loop = -1;
    if (integer && value->kind == RS_VALUE_UNKNOWN) {
        stored = rs_walk_named(walk, value, node);
        stored.approximated = value->approximated;
    } else if (!integer && value->kind == RS_VALUE_NUMBER) {
        stored = rs_value_like(walk, value, value);
    }
    return stored;
}

/* A pointer that some call returned: an array of its own, with the pointer's name. */
static rs_value new_array(rs_walk *walk, uint64_t key, int node)
{
    rs_value value =
        rs_walk_array(walk, rs_walk_text(walk, node).text, key, rs_type_of(walk->tree, node));
    if (value.kind == RS_VALUE_ADDRESS)
        rs_value_decay(&value, rs_type_of(walk->tree, node));
    return value;
}

/* What a variable was before its first store, where it may have been something. */
static void keep_initial(rs_walk *walk, const rs_location *place, int node)
{
    node = rs_node_inner(walk->tree, node);
    int kind = node < 0 ? RS_NODE_NONE : walk->tree->nodes[node].is;
    if (kind == RS_NODE_MEMBER && rs_walk_assigned_whole(walk, place->key) < 0)
        (void)rs_walk_load_variable(walk, place, node, rs_type_of(walk->tree, node));
    if (kind != RS_NODE_REFERENCE)
        return;
    const rs_syntax_declaration *declared = walk->tree->nodes[node].declaration;
    if (rs_is_declared(declared, RS_DECLARATION_PARAMETER) || rs_variable_lasts(declared))
        (void)rs_walk_variable(walk, node);
}

/* A record's arrays are memory: assigning the record writes them. */
static void write_arrays(rs_walk *walk, uint64_t key, int node)
{
    for (int i = 0; i < walk->unit->array_count; i++) {
        uint64_t of = walk->unit->arrays[i].key;
        if (of == key || rs_walk_whole(walk, of) == 0 || !rs_walk_is_part(walk, of, key))
            continue;
        rs_value all = rs_value_unknown(0, true);
        all.array = i;
        rs_reference *reference = rs_walk_refer(walk, &all, node, rs_type_of(walk->tree, node));
        if (reference == NULL)
            return;
        reference->understood = false;
        reference->written = walk->unit->arrays[i].written = true;
        walk->stores++;
    }
}

static void store_variable(rs_walk *walk, const rs_location *place, const rs_value *value, int node)
{
    if (rs_walk_find(walk, place->key) < 0)
        keep_initial(walk, place, node);
    rs_value stored = stored_value(walk, value, node);
    if (place->part) {
        int known = rs_walk_find(walk, place->key);
        rs_value old = known < 0 ? rs_value_unknown(0, false) : walk->values[known];
        old = rs_value_copy_of(walk, &old, place->key);
        stored =
            rs_value_unknown(rs_value_depends(walk, &old) | rs_value_depends(walk, value), true);
    } else if (stored.kind == RS_VALUE_UNKNOWN && rs_walk_is_pointer(walk, node)) {
        stored = new_array(walk, place->key, node);
        stored.lost = value->lost;
    }
    stored = rs_walk_view(walk, &stored, rs_type_of(walk->tree, node));
    rs_walk_note_stored(walk, place->key, place->part ? NULL : &stored);
    if (place->part || rs_type_is_record(rs_type_of(walk->tree, node)))
        write_arrays(walk, place->key, node);
    rs_walk_set(walk, place->key, &stored);
}

void rs_walk_store(rs_walk *walk, const rs_location *place, const rs_value *value, int node,
                   bool reads)
{
    const rs_syntax_type *type = rs_type_of(walk->tree, node);
    if (place->kind == RS_PLACE_VARIABLE) {
        store_variable(walk, place, value, node);
    } else if (place->kind == RS_PLACE_MEMORY) {
        rs_reference *reference = rs_walk_refer(walk, &place->address, node, type);
        if (reference == NULL)
            return;
        rs_array *array = &walk->unit->arrays[place->address.array];
        reference->written = true;
        reference->read = reads;
        walk->stores += rs_type_may_hold_index(type);
        array->written = true;
        array->read = array->read || reads;
        bool anywhere = place->address.lost || place->address.pointers > 0;
        rs_walk_invalidate(walk, rs_stored_of(type), array->argument || anywhere, anywhere);
    } else {
        rs_walk_invalidate(walk, rs_stored_of(type), true, true);
    }
}

void rs_walk_touch(rs_walk *walk, const rs_location *place, int node)
{
    if (rs_walk_find(walk, place->key) >= 0 || rs_walk_assigned_whole(walk, place->key) >= 0)
        return;
    rs_value value = rs_walk_evaluate(walk, node);
    if (rs_walk_find(walk, place->key) < 0 && value.kind != RS_VALUE_RECORD)
        rs_walk_set(walk, place->key, &value);
}

void rs_walk_bind_reference(rs_walk *walk, uint64_t key, int node)
{
    rs_location place = node < 0 ? rs_place_none(walk) : rs_walk_locate(walk, node);
    rs_value target = place.address;
    if (place.kind == RS_PLACE_VARIABLE) {
        rs_walk_touch(walk, &place, node);
        target = rs_value_pointer(place.part ? 0 : place.key);
    }
    bool some = target.kind == RS_VALUE_POINTER && target.key == 0;
    if (place.kind != RS_PLACE_NONE || some) {
        rs_walk_set(walk, key, &target);
        return;
    }
    target = rs_value_pointer(rs_walk_member(walk, key, "&", 0));
    rs_walk_set(walk, key, &target);
    rs_walk_set(walk, target.key, &place.address);
}
