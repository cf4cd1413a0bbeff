/* The variables of the walk and what is known of their values. */
#include "analyze/walk.h"
#include "base/list.h"

#include <stdlib.h>
#include <string.h>

enum { VALUE_LIMIT = 1 << 15, MOST_NUMBERS = 1000 };

rs_value rs_value_unknown(uint64_t depends, bool data)
{
    rs_value value;
    memset(&value, 0, sizeof value);
    value.depends = depends;
    value.data = data;
    value.carried_loop = -1;
    value.carried_from = -1;
    value.array = -1;
    return value;
}

rs_value rs_value_number(rs_polynomial number)
{
    rs_value value = rs_value_unknown(0, false);
    value.kind = number.known ? RS_VALUE_NUMBER : RS_VALUE_UNKNOWN;
    value.number = number;
    return value;
}

rs_value rs_value_constant(int64_t number)
{
    return rs_value_number(rs_polynomial_constant(number));
}

rs_value rs_value_pointer(uint64_t key)
{
    rs_value value = rs_value_unknown(0, false);
    value.kind = RS_VALUE_POINTER;
    value.key = key;
    return value;
}

int rs_walk_keep(rs_walk *walk, const rs_value *value)
{
    if (walk->value_count == VALUE_LIMIT || !RS_LIST_GROW(walk->values, walk->value_count)) {
        walk->exhausted = true;
        return walk->value_count - 1;
    }
    walk->values[walk->value_count] = *value;
    return walk->value_count++;
}

static rs_binding *find(const rs_environment *environment, uint64_t key)
{
    for (int i = environment->count - 1; i >= 0; i--)
        if (environment->bindings[i].key == key)
            return &environment->bindings[i];
    return NULL;
}

int rs_walk_find(const rs_walk *walk, uint64_t key)
{
    const rs_binding *binding = find(&walk->variables, key);
    return binding == NULL ? -1 : binding->value;
}

static void bind_in(rs_walk *walk, rs_environment *variables, uint64_t key, int value)
{
    rs_binding *binding = find(variables, key);
    if (binding != NULL) {
        binding->value = value;
        return;
    }
    RS_LIST_ADD(variables->bindings, variables->count, walk->no_memory, (rs_binding){key, value});
}

static void bind_key(rs_walk *walk, uint64_t key, int value)
{
    bind_in(walk, &walk->variables, key, value);
}

/* What was known of the members of a variable that is assigned as a whole no longer holds. */
static void drop_members(rs_walk *walk, uint64_t key)
{
    rs_environment *variables = &walk->variables;
    int kept = 0;
    bool record = false;
    for (int i = 0; i < walk->member_count && !record; i++)
        record = walk->members[i].whole == key;
    if (!record)
        return;
    for (int i = 0; i < variables->count; i++)
        if (variables->bindings[i].key == key ||
            !rs_walk_is_part(walk, variables->bindings[i].key, key))
            variables->bindings[kept++] = variables->bindings[i];
    variables->count = kept;
}

/* The members that are known of the variable a record was copied from are known of the copy. */
static void copy_members(rs_walk *walk, uint64_t key, uint64_t from)
{
    for (int i = 0; i < walk->member_count; i++) {
        rs_variable_member member = walk->members[i];
        if (member.whole != from || member.key == key)
            continue;
        int value = rs_walk_find(walk, member.key);
        uint64_t copy = rs_walk_member(walk, key, member.name, member.offset);
        if (value >= 0)
            bind_key(walk, copy, value);
        copy_members(walk, copy, member.key);
    }
}

void rs_walk_set(rs_walk *walk, uint64_t key, const rs_value *value)
{
    rs_value clobbered;
    if (rs_walk_is_clobbered(walk, key)) {
        clobbered = rs_walk_clobbered_value(walk, key, value);
        value = &clobbered;
    }
    bool copies = value->kind == RS_VALUE_RECORD && value->key != 0 &&
                  !rs_walk_is_part(walk, key, value->key) &&
                  !rs_walk_is_part(walk, value->key, key);
    drop_members(walk, key);
    bind_key(walk, key, rs_walk_keep(walk, value));
    if (copies)
        copy_members(walk, key, value->key);
}

void rs_walk_set_initial(rs_walk *walk, uint64_t key, const rs_value *value)
{
    if (find(&walk->initial, key) == NULL)
        bind_in(walk, &walk->initial, key, rs_walk_keep(walk, value));
}

int rs_walk_find_initial(const rs_walk *walk, uint64_t key)
{
    const rs_binding *binding = find(&walk->initial, key);
    return binding == NULL ? -1 : binding->value;
}

/* ---- members ---- */

static const rs_variable_member *find_member(const rs_walk *walk, uint64_t key)
{
    for (int i = 0; i < walk->member_count; i++)
        if (walk->members[i].key == key)
            return &walk->members[i];
    return NULL;
}

uint64_t rs_walk_member(rs_walk *walk, uint64_t whole, const char *name, int64_t offset)
{
    /* Not the same way back: a member may have the name of the one that it is in. */
    uint64_t key = (whole ^ rs_name_hash(name)) * 0x9e3779b97f4a7c15u;
    if (find_member(walk, key) != NULL)
        return key;
    char *kept = RS_LIST_GROW(walk->members, walk->member_count) ? strdup(name) : NULL;
    if (kept != NULL)
        walk->members[walk->member_count++] = (rs_variable_member){key, whole, offset, kept};
    else
        walk->no_memory = true;
    return key;
}

uint64_t rs_walk_whole(const rs_walk *walk, uint64_t key)
{
    const rs_variable_member *member = find_member(walk, key);
    return member == NULL ? 0 : member->whole;
}

bool rs_walk_is_part(const rs_walk *walk, uint64_t key, uint64_t whole)
{
    while (key != whole && key != 0)
        key = rs_walk_whole(walk, key);
    return key == whole;
}

void rs_walk_drop_declared(rs_walk *walk, size_t begin, size_t end)
{
    rs_environment *variables = &walk->variables;
    int kept = 0;
    for (int i = 0; i < variables->count; i++) {
        uint64_t key = variables->bindings[i].key, whole;
        while ((whole = rs_walk_whole(walk, key)) != 0)
            key = whole;
        if (key < begin || key >= end)
            variables->bindings[kept++] = variables->bindings[i];
    }
    variables->count = kept;
}

/* The value of a variable in an environment, also where it is not stored there; -1: none. */
static int value_in(rs_walk *walk, const rs_environment *environment, uint64_t key)
{
    const rs_binding *binding = find(environment, key);
    if (binding != NULL)
        return binding->value;
    for (uint64_t whole = rs_walk_whole(walk, key); whole != 0; whole = rs_walk_whole(walk, whole))
        if ((binding = find(environment, whole)) != NULL) {
            rs_value record = walk->values[binding->value];
            rs_value part = rs_value_unknown(rs_value_depends(walk, &record), record.data);
            rs_value_carry(&part, &record);
            return rs_walk_keep(walk, &part);
        }
    binding = find(&walk->initial, key);
    return binding == NULL ? -1 : binding->value;
}

bool rs_environment_copy(rs_environment *copy, const rs_environment *from)
{
    bool copied =
        rs_list_copy(&copy->bindings, from->bindings, (size_t)from->count, sizeof *copy->bindings);
    copy->count = copied ? from->count : 0;
    return copied;
}

void rs_environment_free(rs_environment *environment)
{
    free(environment->bindings);
    memset(environment, 0, sizeof *environment);
}

uint64_t rs_value_depends(const rs_walk *walk, const rs_value *value)
{
    if (value->kind == RS_VALUE_NUMBER)
        return rs_polynomial_depends(&value->number, &walk->unit->symbols);
    uint64_t depends = value->depends;
    bool placed = value->kind == RS_VALUE_ADDRESS || value->kind == RS_VALUE_RECORD;
    for (int i = 0; placed && i < value->count; i++)
        depends |= rs_polynomial_depends(&value->subscripts[i], &walk->unit->symbols);
    return depends;
}

bool rs_value_has_data(const rs_walk *walk, const rs_value *value)
{
    if (value->kind == RS_VALUE_NUMBER)
        return rs_polynomial_has_data(&value->number, &walk->unit->symbols);
    return value->data;
}

void rs_value_mix(const rs_walk *walk, rs_value *value, const rs_value *part)
{
    value->depends |= rs_value_depends(walk, part);
    value->data = value->data || rs_value_has_data(walk, part);
}

void rs_value_carry(rs_value *value, const rs_value *as)
{
    value->carried_loop = as == NULL ? -1 : as->carried_loop;
    value->carried_from = as == NULL ? -1 : as->carried_from;
    value->guessed = as != NULL && as->guessed;
}

rs_value rs_value_like(const rs_walk *walk, const rs_value *a, const rs_value *b)
{
    rs_value value = rs_value_unknown(0, false);
    rs_value_mix(walk, &value, a);
    rs_value_mix(walk, &value, b);
    return value;
}

rs_polynomial rs_walk_auxiliary(rs_walk *walk, const char *name, uint64_t depends, bool data,
                                bool unique)
{
    rs_symbols *symbols = &walk->unit->symbols;
    rs_text text = RS_TEXT_EMPTY;
    rs_text_format(&text, "%.100s", name);
    if (unique)
        for (int n = 2;; n++) {
            if (text.failed || !rs_symbols_has(symbols, text.data))
                break;
            rs_text_free(&text);
            if (n == MOST_NUMBERS) {
                walk->exhausted = true;
                return rs_polynomial_unknown();
            }
            rs_text_format(&text, "%.100s.%d", name, n);
        }
    int symbol = text.failed ? -1 : rs_symbols_find(symbols, text.data, RS_SYMBOL_AUXILIARY, -1);
    rs_text_free(&text);
    if (symbol < 0) {
        walk->exhausted = true;
        return rs_polynomial_unknown();
    }
    symbols->symbols[symbol].depends |= depends;
    symbols->symbols[symbol].data |= data;
    return rs_polynomial_symbol(symbol);
}

rs_polynomial rs_walk_number(rs_walk *walk, const rs_value *value, const char *name)
{
    if (value->kind == RS_VALUE_NUMBER)
        return value->number;
    return rs_walk_auxiliary(walk, name, rs_value_depends(walk, value),
                             rs_value_has_data(walk, value), true);
}

rs_value rs_walk_named(rs_walk *walk, const rs_value *value, int node)
{
    return rs_value_number(rs_walk_number(walk, value, rs_walk_text(walk, node).text));
}

/* Two addresses that differ only in the last subscript. */
static bool same_object(const rs_value *a, const rs_value *b)
{
    if (a->array != b->array || a->count != b->count || strcmp(a->member, b->member) != 0 ||
        memcmp(a->strides, b->strides, sizeof a->strides) != 0 || a->path != b->path ||
        a->pointers != b->pointers || a->width != b->width || a->components != b->components)
        return false;
    for (int i = 0; i + 1 < a->count; i++)
        if (!rs_polynomial_equal(&a->subscripts[i], &b->subscripts[i]))
            return false;
    return true;
}

/*
 * The common case of two numbers: the one that moves with the iterations, where the other is a
 * border's constant; or either of two that differ by a constant. There is none where the choice
 * varies with threads or iterations that the numbers do not vary with: it would be lost.
 */
static bool common_case(rs_walk *walk, const rs_polynomial *a, const rs_polynomial *b,
                        rs_polynomial *result)
{
    const rs_symbols *symbols = &walk->unit->symbols;
    uint64_t in_a = rs_polynomial_depends(a, symbols), in_b = rs_polynomial_depends(b, symbols);
    rs_polynomial difference = rs_polynomial_subtract(a, b);
    int64_t constant;
    if (rs_polynomial_has_data(a, symbols) || rs_polynomial_has_data(b, symbols) ||
        (walk->chosen & ~(in_a | in_b)) != 0)
        return false;
    if (in_a != 0 && (in_a & in_b) == in_b &&
        (in_b != in_a || rs_polynomial_is_constant(&difference, &constant))) {
        *result = in_b == in_a ? *b : *a;
        return true;
    }
    if (in_b != 0 && (in_a & in_b) == in_a) {
        *result = *b;
        return true;
    }
    return false;
}

static bool is_null(const rs_value *value)
{
    int64_t constant;
    return value->kind == RS_VALUE_NUMBER && rs_polynomial_is_constant(&value->number, &constant) &&
           constant == 0;
}

/* A pointer to a variable, or another value: nobody follows the one that is null. */
static rs_value merge_pointers(const rs_value *a, const rs_value *b)
{
    rs_value result = rs_value_pointer(0);
    if (a->kind == RS_VALUE_ADDRESS || b->kind == RS_VALUE_ADDRESS) {
        result = a->kind == RS_VALUE_ADDRESS ? *a : *b;
        result.lost = result.approximated = true;
    } else if (is_null(a) || is_null(b) || (a->kind == b->kind && a->key == b->key)) {
        result = is_null(a) ? *b : *a;
    }
    return result;
}

rs_value rs_value_merge(rs_walk *walk, const rs_value *a, const rs_value *b, const char *name)
{
    rs_value result = rs_value_like(walk, a, b);
    result.approximated = a->approximated || b->approximated;
    if (a->kind == RS_VALUE_NUMBER && b->kind == RS_VALUE_NUMBER) {
        result = rs_value_number(a->number);
        result.approximated = a->approximated || b->approximated;
        if (!rs_polynomial_equal(&a->number, &b->number)) {
            if (!common_case(walk, &a->number, &b->number, &result.number))
                result.number = rs_walk_auxiliary(
                    walk, name,
                    rs_value_depends(walk, a) | rs_value_depends(walk, b) | walk->chosen,
                    rs_value_has_data(walk, a) || rs_value_has_data(walk, b), true);
            result.approximated = true;
        }
    } else if (a->kind == RS_VALUE_ADDRESS && b->kind == RS_VALUE_ADDRESS && same_object(a, b)) {
        result = *a;
        result.lost = a->lost || b->lost;
        result.loose = a->loose || b->loose;
        if (a->count > 0) {
            int last = a->count - 1;
            rs_value x = rs_value_number(a->subscripts[last]);
            rs_value y = rs_value_number(b->subscripts[last]);
            rs_value merged = rs_value_merge(walk, &x, &y, name);
            result.subscripts[last] = merged.number;
            result.approximated = merged.approximated || a->approximated || b->approximated;
        }
    } else if (a->kind == RS_VALUE_POINTER || b->kind == RS_VALUE_POINTER) {
        result = merge_pointers(a, b);
    } else if (a->kind == RS_VALUE_ADDRESS && b->kind == RS_VALUE_ADDRESS) {
        result = *a; /* into one of several arrays */
        result.lost = true;
        if (a->array != b->array)
            walk->unit->arrays[b->array].mixed = a->array + 1;
    } else if (a->kind == RS_VALUE_ADDRESS) {
        result = *a; /* the other is a null pointer, or nothing is known of it */
        result.approximated = true;
        result.lost = a->lost || b->kind == RS_VALUE_UNKNOWN;
    } else if (b->kind == RS_VALUE_ADDRESS) {
        result = *b;
        result.approximated = true;
        result.lost = b->lost || a->kind == RS_VALUE_UNKNOWN;
    } else {
        result.lost = a->lost || b->lost;
    }
    if (result.kind ==
        RS_VALUE_UNKNOWN) { /* which of them may differ from iteration to iteration */
        result.depends |= rs_walk_columns(walk) | walk->chosen;
        result.approximated = true;
    }
    const rs_value *carried = a->carried_loop >= 0 ? a : b;
    rs_value_carry(&result, carried);
    if (a->carried_loop >= 0 && b->carried_loop >= 0)
        result.guessed = a->guessed && b->guessed;
    return result;
}

static void merge_key(rs_walk *walk, uint64_t key, int other)
{
    int here = value_in(walk, &walk->variables, key);
    if (here < 0) {
        bind_key(walk, key, other);
    } else if (here != other) {
        rs_value a = walk->values[other], b = walk->values[here];
        rs_value merged = rs_value_merge(walk, &a, &b, "merged");
        if (merged.kind == RS_VALUE_NUMBER && rs_walk_is_clobbered(walk, key))
            merged = rs_walk_clobbered_value(walk, key, &merged); /* whoever took which way */
        bind_key(walk, key, rs_walk_keep(walk, &merged));
    }
}

void rs_walk_merge_key(rs_walk *walk, const rs_environment *other, uint64_t key)
{
    int there = value_in(walk, other, key);
    if (there >= 0)
        merge_key(walk, key, there);
}

static void merge(rs_walk *walk, const rs_environment *other)
{
    rs_environment here;
    if (!rs_environment_copy(&here, &walk->variables)) {
        walk->no_memory = true;
        return;
    }
    for (int i = 0; i < here.count; i++) {
        uint64_t key = here.bindings[i].key;
        int there = find(other, key) != NULL ? -1 : value_in(walk, other, key);
        if (there >= 0)
            merge_key(walk, key, there);
    }
    for (int i = 0; i < other->count; i++)
        merge_key(walk, other->bindings[i].key, other->bindings[i].value);
    rs_environment_free(&here);
}

void rs_walk_merge_by(rs_walk *walk, const rs_environment *other, uint64_t condition)
{
    uint64_t outer = walk->chosen;
    walk->chosen = condition;
    merge(walk, other);
    walk->chosen = outer;
}

/* Makes what varies with a loop that is left unknown: no symbol of it means anything outside. */
static void forget_inner(rs_walk *walk, rs_environment *variables, int outer)
{
    uint64_t inner = rs_walk_columns(walk), kept = 0;
    for (int loop = outer; loop >= 0; loop = walk->unit->loops[loop].parent)
        kept |= rs_loop_varies(walk->unit, loop);
    inner &= ~kept;
    for (int i = 0; i < variables->count; i++) {
        rs_value value = walk->values[variables->bindings[i].value];
        int from = variables->bindings[i].value;
        if ((rs_value_depends(walk, &value) & inner) == 0 && value.carried_loop < 0)
            continue;
        rs_value unknown = rs_value_unknown(kept | rs_walk_lane(walk), true);
        if (value.kind == RS_VALUE_ADDRESS) {
            unknown = value;
            unknown.lost = true;
            for (int s = 0; s < unknown.count; s++)
                if ((rs_polynomial_depends(&unknown.subscripts[s], &walk->unit->symbols) & inner) !=
                    0)
                    unknown.subscripts[s] =
                        rs_walk_auxiliary(walk, "position", kept | rs_walk_lane(walk), true, true);
        }
        /* What brings a value from one iteration of `outer`, or of a loop around it, to the next.
         */
        while (from >= 0 && walk->values[from].carried_loop >= 0 &&
               !rs_unit_is_within(walk->unit, outer, walk->values[from].carried_loop))
            from = walk->values[from].carried_from;
        rs_value_carry(&unknown, from < 0 ? NULL : &walk->values[from]);
        variables->bindings[i].value = rs_walk_keep(walk, &unknown);
    }
}

void rs_walk_leave(rs_walk *walk, rs_exit *exit)
{
    rs_environment here;
    if (exit == NULL)
        return;
    if (!rs_environment_copy(&here, &walk->variables)) {
        walk->no_memory = true;
        return;
    }
    if (walk->loop != exit->loop)
        forget_inner(walk, &here, exit->loop);
    if (exit->variables.bindings == NULL) {
        exit->variables = here;
        return;
    }
    rs_environment outer = walk->variables;
    walk->variables = exit->variables;
    rs_walk_merge_by(walk, &here, walk->conditions);
    exit->variables = walk->variables;
    walk->variables = outer;
    rs_environment_free(&here);
}

void rs_walk_join(rs_walk *walk, rs_exit *exit, uint64_t condition)
{
    if (exit->variables.bindings != NULL)
        rs_walk_merge_by(walk, &exit->variables, condition);
    rs_environment_free(&exit->variables);
}

static int thread_symbol(const rs_symbols *symbols, rs_symbol_kind kind, int dimension)
{
    for (int i = 0; i < symbols->column_count; i++) {
        const rs_symbol *symbol = &symbols->symbols[symbols->columns[i]];
        if (symbol->kind == kind && symbol->dimension == dimension)
            return symbols->columns[i];
    }
    return -1;
}

static int size_symbol(const rs_symbols *symbols, int dimension)
{
    for (int i = 0; i < symbols->count; i++)
        if (symbols->symbols[i].size && symbols->symbols[i].dimension == dimension)
            return i;
    return -1;
}

static rs_polynomial fold_dimension(rs_walk *walk, const rs_polynomial *number, int dimension)
{
    rs_symbols *symbols = &walk->unit->symbols;
    int local = thread_symbol(symbols, RS_SYMBOL_LOCAL, dimension);
    int group = thread_symbol(symbols, RS_SYMBOL_GROUP, dimension);
    int power;
    if (local < 0 || group < 0)
        return *number;
    rs_polynomial inner = rs_polynomial_coefficient(number, local, &power);
    if (power != 1)
        return *number;
    rs_polynomial outer = rs_polynomial_coefficient(number, group, &power);
    rs_polynomial size = rs_polynomial_constant(walk->unit->group[dimension]);
    if (walk->unit->group[dimension] == 0)
        size = rs_polynomial_symbol(size_symbol(symbols, dimension));
    rs_polynomial expected = rs_polynomial_multiply(&inner, &size);
    if (power != 1 || !rs_polynomial_equal(&outer, &expected))
        return *number;
    static const char *const names[] = {"global.x", "global.y", "global.z"};
    rs_polynomial global = rs_polynomial_symbol(
        rs_symbols_find(symbols, names[dimension], RS_SYMBOL_GLOBAL, dimension));
    global = rs_polynomial_multiply(&inner, &global);
    rs_polynomial rest = rs_polynomial_without(number, local);
    rest = rs_polynomial_without(&rest, group);
    return rs_polynomial_add(&rest, &global);
}

rs_polynomial rs_walk_fold(rs_walk *walk, const rs_polynomial *number)
{
    rs_polynomial result = *number;
    for (int dimension = 0; dimension < 3; dimension++)
        result = fold_dimension(walk, &result, dimension);
    return result;
}
