/*
 * What other work-items may write while a function runs: the first walk collects what it modifies
 * and references (mod_ref.h), the second one knows of it.
 */
#include "analyze/walk.h"

#include "base/list.h"
#include "source/query.h"

/* ---- the first walk ---- */

static bool has(const uint64_t *keys, int count, uint64_t key)
{
    for (int i = 0; i < count; i++)
        if (keys[i] == key)
            return true;
    return false;
}

static void add(rs_walk *walk, uint64_t **keys, int *count, uint64_t key)
{
    if (has(*keys, *count, key))
        return;
    if (RS_LIST_GROW(*keys, *count))
        (*keys)[(*count)++] = key;
    else
        walk->no_memory = true;
}

static uint64_t root_of(const rs_walk *walk, uint64_t key)
{
    for (uint64_t whole = key; whole != 0; whole = rs_walk_whole(walk, whole))
        key = whole;
    return key;
}

static const rs_common *find_common(const rs_walk *walk, uint64_t key)
{
    key = root_of(walk, key);
    for (int i = 0; i < walk->common->count; i++)
        if (walk->common->list[i].key == key)
            return &walk->common->list[i];
    return NULL;
}

/* An array by its declaration and the rows that a pointer has passed; 0: none that is known. */
static uint64_t array_of(const rs_walk *walk, const rs_value *value)
{
    if (value == NULL || value->kind != RS_VALUE_ADDRESS || value->lost || value->pointers > 0 ||
        value->member[0] != '\0' || walk->unit->arrays[value->array].mixed > 0)
        return 0;
    const rs_array *array = &walk->unit->arrays[value->array];
    uint64_t key = array->key ^ rs_name_hash(array->name);
    return (key * 1099511628211u + (uint64_t)value->count) | 1;
}

static rs_leading *find_leading(const rs_walk *walk, uint64_t key)
{
    for (int i = 0; i < walk->effects->leading_count; i++)
        if (walk->effects->leading[i].key == key)
            return &walk->effects->leading[i];
    return NULL;
}

static void add_leading(rs_walk *walk, uint64_t key, uint64_t array)
{
    rs_mod_ref *effects = walk->effects;
    rs_leading *known = find_leading(walk, key);
    if (known != NULL) {
        known->array = known->array == array ? array : 0;
        return;
    }
    RS_LIST_ADD(effects->leading, effects->leading_count, walk->no_memory,
                (rs_leading){key, array, -1});
}

/* Notes a store to a memory, or to a variable, for the loops around it. */
static void add_around(rs_walk *walk, int loop, uint64_t memory)
{
    rs_mod_ref *effects = walk->effects;
    for (; loop >= 0; loop = walk->unit->loops[loop].parent) {
        bool known = false;
        for (int i = 0; i < effects->storing_count && !known; i++)
            known = effects->storing[i].memory == memory && effects->storing[i].loop == loop;
        if (known)
            continue;
        RS_LIST_ADD(effects->storing, effects->storing_count, walk->no_memory,
                    (rs_storing){memory, loop});
    }
}

static void add_variable(rs_walk *walk, uint64_t key, uint64_t array)
{
    add_leading(walk, key, array);
    add_around(walk, walk->loop, key);
    add(walk, &walk->effects->written, &walk->effects->written_count, key);
    walk->effects->variables = true;
}

void rs_walk_note_stored(rs_walk *walk, uint64_t key, const rs_value *value)
{
    const rs_common *common = find_common(walk, key);
    if (!walk->unit->kernel || walk->effects->settled || common == NULL)
        return;
    bool own = key == common->key && !common->outlives; /* no other kernel has stored there */
    add_variable(walk, common->key, own ? array_of(walk, value) : 0);
}

void rs_walk_note_written(rs_walk *walk, uint64_t key)
{
    rs_walk_note_stored(walk, key, NULL);
}

void rs_walk_note_all_written(rs_walk *walk, rs_stored stored)
{
    for (int i = 0; i < walk->common->count && walk->unit->kernel && !walk->effects->settled; i++) {
        bool escaped = walk->common->list[i].outlives;
        for (int j = 0; j < walk->escaped->count; j++)
            if (walk->escaped->list[j].key == walk->common->list[i].key)
                escaped = rs_stored_may_change(stored, walk->escaped->list[j].type);
        if (escaped)
            add_variable(walk, walk->common->list[i].key, 0);
    }
}

/*
 * Pointers in a memory: those so many pointers deep, at some bytes in an element, or (-1) at any
 * depth and any bytes; of memory 0 all that there are.
 */
static uint64_t pointers_of(uint64_t memory, int level, int64_t at)
{
    uint64_t key = memory == 0 ? 0 : (memory ^ (uint64_t)(level + 1) << 56) + (uint64_t)(at + 2);
    return key * 0x9e3779b97f4a7c15u + 1;
}

static uint64_t stored_pointers(const rs_walk *walk, const rs_reference *r)
{
    uint64_t memory = r->anywhere ? 0 : walk->unit->arrays[r->array].memory;
    bool whole = r->around || r->stored != RS_STORED_POINTER;
    return pointers_of(memory, r->around ? -1 : r->pointers, whole ? -1 : r->member_offset);
}

enum { WAYS = 4 };

/* The ways in which a pointer may be stored that lies at an address. */
static void ways_of(const rs_walk *walk, const rs_value *address, uint64_t ways[WAYS])
{
    uint64_t memory = walk->unit->arrays[address->array].memory;
    ways[0] = pointers_of(memory, address->pointers, address->member_offset);
    ways[1] = pointers_of(memory, address->pointers, -1);
    ways[2] = pointers_of(memory, -1, -1);
    ways[3] = pointers_of(0, 0, 0);
}

bool rs_walk_pointer_changes(rs_walk *walk, const rs_value *address)
{
    const rs_mod_ref *effects = walk->effects;
    uint64_t ways[WAYS], varies = 0;
    bool written = false;
    ways_of(walk, address, ways);
    for (int way = 0; way < WAYS && !effects->settled; way++)
        add(walk, &walk->effects->loaded, &walk->effects->loaded_count, ways[way]);
    for (int way = 0; way < WAYS && effects->settled; way++) {
        written = written || has(effects->written, effects->written_count, ways[way]);
        for (int loop = walk->loop; loop >= 0; loop = walk->unit->loops[loop].parent)
            for (int i = 0; i < effects->storing_count; i++)
                if (effects->storing[i].loop == loop && effects->storing[i].memory == ways[way])
                    varies |= rs_loop_varies(walk->unit, loop);
    }
    return written || (varies & ~rs_value_depends(walk, address)) != 0;
}

void rs_walk_note_loaded(rs_walk *walk, int array)
{
    if (!walk->effects->settled)
        add(walk, &walk->effects->loaded, &walk->effects->loaded_count,
            walk->unit->arrays[array].memory);
}

/* The loops around a store to what is loaded somewhere, too. */
static void add_storing(rs_walk *walk, const rs_reference *r, uint64_t memory)
{
    const rs_mod_ref *effects = walk->effects;
    if (!r->written || (memory != 0 && !has(effects->loaded, effects->loaded_count, memory)))
        return;
    add_around(walk, r->loop, memory);
}

/* Of what it stores, and of the pointers among that. */
static void add_stores(rs_walk *walk, const rs_reference *r)
{
    const rs_array *array = &walk->unit->arrays[r->array];
    rs_mod_ref *effects = walk->effects;
    add_storing(walk, r, r->anywhere ? 0 : array->memory);
    if (!r->written || !rs_stored_may_change((rs_stored)r->stored, RS_STORED_POINTER))
        return;
    uint64_t pointers = stored_pointers(walk, r);
    add_storing(walk, r, pointers);
    if (walk->unit->kernel && array->space != RS_SPACE_PRIVATE &&
        has(effects->loaded, effects->loaded_count, pointers)) {
        add(walk, &effects->written, &effects->written_count, pointers);
        effects->pointers = true;
    }
}

bool rs_walk_needs_another(rs_walk *walk)
{
    rs_mod_ref *effects = walk->effects;
    const rs_unit *unit = walk->unit;
    bool needed = effects->variables;
    if (effects->settled)
        return false;
    for (int i = 0; i < unit->reference_count && effects->loaded_count > 0; i++)
        add_stores(walk, &unit->references[i]);
    if (!unit->kernel)
        return effects->storing_count > 0;
    for (int i = 0; i < unit->reference_count; i++)
        effects->anywhere =
            effects->anywhere || (unit->references[i].anywhere && unit->references[i].written);
    for (int i = 0; i < unit->array_count; i++) {
        const rs_array *array = &unit->arrays[i];
        if (!array->written || array->space == RS_SPACE_PRIVATE)
            continue;
        add(walk, &effects->written, &effects->written_count, array->memory);
        needed = needed || has(effects->loaded, effects->loaded_count, array->memory);
    }
    needed = needed || effects->pointers || effects->storing_count > 0;
    return needed || (effects->anywhere && effects->loaded_count > 0);
}

/* ---- the second walk ---- */

bool rs_walk_is_clobbered(const rs_walk *walk, uint64_t key)
{
    const rs_mod_ref *effects = walk->effects;
    return effects->settled && effects->variables &&
           has(effects->written, effects->written_count, root_of(walk, key));
}

bool rs_walk_array_is_clobbered(const rs_walk *walk, int array)
{
    const rs_mod_ref *effects = walk->effects;
    return effects->settled && (effects->anywhere || has(effects->written, effects->written_count,
                                                         walk->unit->arrays[array].memory));
}

uint64_t rs_walk_stored_around(const rs_walk *walk, int array)
{
    const rs_mod_ref *effects = walk->effects;
    uint64_t varies = 0, memory = walk->unit->arrays[array].memory;
    for (int loop = walk->loop; loop >= 0 && effects->settled;
         loop = walk->unit->loops[loop].parent)
        for (int i = 0; i < effects->storing_count; i++)
            if (effects->storing[i].loop == loop &&
                (effects->storing[i].memory == memory || effects->storing[i].memory == 0))
                varies |= rs_loop_varies(walk->unit, loop);
    return varies;
}

uint64_t rs_walk_varies_in_group(rs_walk *walk, uint64_t memory)
{
    const rs_mod_ref *effects = walk->effects;
    uint64_t varies = rs_walk_lane(walk);
    for (int loop = walk->loop; loop >= 0; loop = walk->unit->loops[loop].parent) {
        bool changes = !effects->settled || walk->unit->loops[loop].meets;
        for (int i = 0; i < effects->storing_count && !changes; i++)
            changes = effects->storing[i].loop == loop &&
                      (effects->storing[i].memory == memory || effects->storing[i].memory == 0);
        if (changes)
            varies |= rs_loop_varies(walk->unit, loop);
    }
    return varies;
}

uint64_t rs_walk_clobbered_varies(rs_walk *walk, uint64_t key)
{
    const rs_common *common = find_common(walk, key);
    return common != NULL && common->group ? rs_walk_varies_in_group(walk, common->key)
                                           : rs_walk_anything(walk);
}

/* What is known of a pointer that some work-item has stored: where all lead to one array, that. */
static rs_value clobbered_pointer(rs_walk *walk, uint64_t key, const char *name,
                                  const rs_value *value, uint64_t varies)
{
    rs_value result = *value;
    rs_leading *leading = find_leading(walk, key);
    result.lost = leading == NULL || leading->array == 0 || leading->array != array_of(walk, value);
    for (int i = 0; i < value->count && !result.lost; i++)
        result.subscripts[i] = rs_walk_auxiliary(walk, name, varies, true, true);
    result.approximated = true;
    if (!result.lost)
        leading->value = rs_walk_keep(walk, &result);
    return result;
}

/* Members are left as they are: terms of their own where they were stored last. */
static bool is_number_of_group(const rs_common *common, uint64_t key)
{
    return common->group && common->integer && key == common->key;
}

rs_value rs_walk_clobbered_value(rs_walk *walk, uint64_t key, const rs_value *value)
{
    const rs_common *common = find_common(walk, key);
    const char *name = common != NULL ? common->name : "common";
    uint64_t varies = rs_walk_clobbered_varies(walk, key);
    if (value->carried_loop >= 0)
        varies |= rs_loop_varies(walk->unit, value->carried_loop);
    bool number = common != NULL && is_number_of_group(common, key);
    rs_value result = rs_value_unknown(varies, true);
    if (value->kind == RS_VALUE_ADDRESS) {
        result = clobbered_pointer(walk, key, name, value, varies);
    } else if (value->kind == RS_VALUE_POINTER) {
        result = rs_value_pointer(0);
    } else if (value->kind == RS_VALUE_NUMBER || number) {
        result = rs_value_number(rs_walk_auxiliary(walk, name, result.depends, true, true));
    }
    result.approximated = !number || value->kind == RS_VALUE_ADDRESS;
    rs_value_carry(&result, value);
    return result;
}

/*
 * What a number of a group is where it is read: one symbol for all reads between which this
 * work-item neither stores it nor meets others, by how much was stored so far.
 */
static int heard(rs_walk *walk, const rs_common *common, uint64_t key, int known)
{
    int now = rs_walk_find(walk, key);
    rs_value value = walk->values[now >= 0 ? now : known];
    if (value.kind != RS_VALUE_NUMBER)
        return known;
    rs_text text = RS_TEXT_EMPTY;
    rs_text_format(&text, "%s %d %ld", common->name, now, walk->stores);
    uint64_t varies = rs_walk_varies_in_group(walk, common->key) | rs_value_depends(walk, &value);
    int symbol = text.failed
                     ? -1
                     : rs_symbols_find_keyed(&walk->unit->symbols, common->name,
                                             RS_SYMBOL_AUXILIARY, rs_name_hash(text.data) | 1);
    rs_text_free(&text);
    if (symbol < 0) {
        walk->exhausted = true;
        return known;
    }
    walk->unit->symbols.symbols[symbol].depends |= varies;
    walk->unit->symbols.symbols[symbol].data = true;
    value.number = rs_polynomial_symbol(symbol);
    return rs_walk_keep(walk, &value);
}

rs_value rs_walk_settled(rs_walk *walk, uint64_t key, int known)
{
    const rs_leading *leading = walk->effects->settled ? find_leading(walk, key) : NULL;
    const rs_common *common = rs_walk_is_clobbered(walk, key) ? find_common(walk, key) : NULL;
    if (leading != NULL && leading->array != 0 && leading->value >= 0)
        known = leading->value;
    else if (common != NULL && is_number_of_group(common, key))
        known = heard(walk, common, key, known); /* the values may move meanwhile */
    return walk->values[known];
}
