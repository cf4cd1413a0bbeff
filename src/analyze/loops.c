/*
 * Loops become iteration symbols. A variable that grows by a constant in every iteration is that
 * constant times the symbol; what is assigned otherwise has an unknown value at the start of an
 * iteration, and reading it there is a dependence from one iteration to the next.
 */
#include "analyze/changes.h"
#include "source/query.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { NAME_ROOM = 128, INT_SIZE = 4 };

/* What is known of a loop while it is entered. */
typedef struct {
    rs_for_parts p;
    rs_changes in_body, in_step;
    rs_assignment main;  /* of the variable that counts; key 0: there is none */
    rs_polynomial count; /* of the iterations before this one */
    bool stores;         /* what may be loaded as a number */
    bool number;         /* the main variable is one, and no pointer */
    bool after_body;     /* the condition comes behind the body: do */
    uint64_t condition;  /* the columns that the condition varies with */
} entry;

/* The first node of an expression that names a variable which the loop assigns; -1 for none. */
static int find_changed(rs_walk *walk, int node, const entry *e, uint64_t but)
{
    uint64_t key;
    int found = -1;
    if (rs_variable_key(walk, node, &key) && key != but &&
        (rs_changes_count(walk, &e->in_body, key) > 0 ||
         rs_changes_count(walk, &e->in_step, key) > 0))
        return node;
    bool member = walk->tree->nodes[node].is == RS_NODE_MEMBER && rs_variable_key(walk, node, &key);
    for (int child = member ? -1 : walk->tree->nodes[node].first; child >= 0 && found < 0;
         child = walk->tree->nodes[child].next)
        found = find_changed(walk, child, e, but);
    return found;
}

/* A variable that the body declares is new in every iteration, but a static one. */
static bool is_declared_inside(const rs_walk *walk, int body, uint64_t key)
{
    for (uint64_t whole = key; whole != 0; whole = rs_walk_whole(walk, whole))
        key = whole;
    return body >= 0 && key >= walk->tree->nodes[body].begin && key < walk->tree->nodes[body].end;
}

static bool names_declared_inside(rs_walk *walk, int node, const entry *e)
{
    uint64_t key;
    for (int at = node, end = rs_node_behind(walk->tree, node); at < end; at++)
        if (walk->tree->nodes[at].is == RS_NODE_REFERENCE && rs_variable_key(walk, at, &key) &&
            is_declared_inside(walk, e->p.body, key))
            return true;
    return false;
}

/* ---- the loop's own variable ---- */

/* By how much a change moves its variable; unknown when that varies inside the loop. */
static rs_polynomial step_of(rs_walk *walk, const rs_assignment *c, const entry *e)
{
    if (c->sign == 0 || !c->always)
        return rs_polynomial_unknown();
    if (c->by < 0)
        return rs_polynomial_constant(c->sign);
    if (find_changed(walk, c->by, e, 0) >= 0 || names_declared_inside(walk, c->by, e))
        return rs_polynomial_unknown();
    bool loaded;
    rs_value by = rs_walk_evaluate_quietly(walk, c->by, &loaded);
    if (by.kind != RS_VALUE_NUMBER || loaded || by.approximated ||
        rs_polynomial_has_data(&by.number, &walk->unit->symbols) ||
        !rs_polynomial_is_small(&by.number)) /* the variable starts over */
        return rs_polynomial_unknown();
    return rs_polynomial_scale(&by.number, c->sign);
}

static void find_main(rs_walk *walk, int step, int condition, const rs_changes *in_step,
                      rs_assignment *found)
{
    found->key = 0;
    char *text = condition < 0 ? NULL : rs_walk_source(walk, condition);
    for (int i = 0; i < in_step->count && step >= 0; i++) {
        char *name = rs_walk_source(walk, in_step->list[i].target);
        if (found->key == 0 || (text != NULL && name != NULL && strstr(text, name) == text))
            *found = in_step->list[i];
        free(name);
    }
    free(text);
}

/* A name for the symbol that no other loop of the unit has. */
static int new_symbol(rs_walk *walk, const char *name)
{
    char candidate[NAME_ROOM];
    rs_symbols *symbols = &walk->unit->symbols;
    snprintf(candidate, sizeof candidate, "%.100s", name);
    for (int n = 2; n < 1000; n++) {
        bool taken = false;
        for (int i = 0; i < symbols->column_count && !taken; i++)
            taken = strcmp(symbols->symbols[symbols->columns[i]].name, candidate) == 0;
        if (!taken)
            break;
        snprintf(candidate, sizeof candidate, "%.100s.%d", name, n);
    }
    return rs_symbols_find(symbols, candidate, RS_SYMBOL_LOOP, -1);
}

/* ---- variables that a loop carries ---- */

/* An address that moves in some way; one that is not only added to may get into another array. */
static void misplace(rs_walk *walk, rs_value *address, const rs_changes *all, uint64_t key,
                     uint64_t depends)
{
    bool data = false;
    for (int i = 0; i < all->count; i++)
        if (all->list[i].key == key) {
            data = data || all->list[i].data;
            address->lost = address->lost || all->list[i].sign == 0;
        }
    if (address->count > 0)
        address->subscripts[address->count - 1] =
            rs_walk_auxiliary(walk, "position", depends, data, true);
    address->loose = address->count > 1;
}

/* What the new values of a variable vary with that a loop changes in some way. */
static uint64_t changes_vary(rs_walk *walk, const entry *e, uint64_t key)
{
    uint64_t varies = 0;
    for (int i = 0; i < e->in_body.count; i++) {
        const rs_assignment *c = &e->in_body.list[i];
        bool step = rs_node_is_step(walk->tree, c->node);
        bool known = c->always && rs_node_is_assignment(walk->tree, c->node);
        int by = step ? -1 : rs_node_child(walk->tree, c->node, 1);
        if (c->key != key || (known && step))
            continue;
        known = known && by >= 0 && rs_node_is_pure(walk->tree, by) &&
                find_changed(walk, by, e, key) < 0 && !names_declared_inside(walk, by, e);
        if (!known)
            return rs_walk_anything(walk);
        bool loaded;
        rs_value value = rs_walk_evaluate_quietly(walk, by, &loaded);
        varies |= rs_value_depends(walk, &value);
    }
    return varies;
}

/* Gives a variable its value at the start of an iteration. */
static void carry(rs_walk *walk, const rs_assignment *c, const entry *e, int loop)
{
    const rs_changes *all = &e->in_body;
    const rs_polynomial *count = &e->count;
    int before = rs_walk_find(walk, c->key);
    rs_value start = before >= 0 ? walk->values[before] : rs_walk_variable(walk, c->target);
    uint64_t column = rs_loop_varies(walk->unit, loop);
    const rs_syntax_type *type = rs_type_of(walk->tree, c->target);
    bool small = rs_type_is_integer(type) && type->size < INT_SIZE; /* it soon starts over */
    bool single = rs_changes_count(walk, all, c->key) == 1 && !c->lasts && !small &&
                  !rs_walk_is_clobbered(walk, c->key);
    rs_polynomial step = single && count->known ? step_of(walk, c, e) : rs_polynomial_unknown();
    if ((rs_polynomial_depends(&step, &walk->unit->symbols) & column) != 0)
        step = rs_polynomial_unknown(); /* it is another one in every iteration */
    rs_polynomial moved = rs_polynomial_multiply(&step, count);
    if (moved.known && start.kind != RS_VALUE_UNKNOWN) {
        rs_value by = rs_value_number(moved);
        rs_value value = rs_walk_operate(walk, '+', &start, &by);
        value.carried_loop = before >= 0 ? start.carried_loop : -1; /* by a loop outside */
        value.carried_from = start.carried_from;
        value.guessed = start.guessed;
        rs_walk_set(walk, c->key, &value);
        return;
    }
    rs_value value = start;
    uint64_t varies = column | changes_vary(walk, e, c->key);
    if (start.kind != RS_VALUE_ADDRESS)
        value = rs_value_unknown(varies | rs_value_depends(walk, &start), true);
    else
        misplace(walk, &value, all, c->key, varies);
    if (value.kind == RS_VALUE_UNKNOWN && rs_type_is_integer(type)) {
        bool data = false;
        for (int i = 0; i < all->count; i++)
            data = data || (all->list[i].key == c->key && all->list[i].data);
        value = rs_value_number(
            rs_walk_auxiliary(walk, rs_walk_text(walk, c->target).text, value.depends, data, true));
    }
    value.carried_loop = loop;
    value.carried_from = before;
    value.guessed = rs_changes_are_guessed(walk, all, c->key);
    rs_walk_set(walk, c->key, &value);
}

/* What the number of a loop's iterations varies with, its own column aside. */
static uint64_t turns_vary(rs_walk *walk, int at, const entry *e)
{
    const rs_loop *loop = &walk->unit->loops[at];
    const rs_symbols *symbols = &walk->unit->symbols;
    uint64_t varies = e->condition | rs_polynomial_depends(&loop->lower, symbols) |
                      rs_polynomial_depends(&loop->bound, symbols);
    if (loop->leaves_early)
        varies |= rs_walk_anything(walk);
    return varies & ~rs_symbol_depends(symbols, loop->symbol);
}

/* After the loop the variables that it assigned have some value that no longer follows it. */
static void forget(rs_walk *walk, const entry *e, int loop)
{
    const rs_changes *all = &e->in_body;
    uint64_t turns = turns_vary(walk, loop, e);
    uint64_t column = rs_loop_varies(walk->unit, loop);
    for (int i = 0; i < all->count; i++) {
        uint64_t key = all->list[i].key;
        int value = rs_walk_find(walk, key);
        if (value < 0)
            continue;
        rs_value v = walk->values[value];
        bool follows = (rs_value_depends(walk, &v) & column) != 0;
        if (v.carried_loop < 0 && !follows)
            continue;
        int outer = v.carried_loop == loop ? v.carried_from : v.carried_loop >= 0 ? value : -1;
        uint64_t depends = (rs_value_depends(walk, &v) & ~column) | turns;
        rs_value after = rs_value_unknown(depends, rs_value_has_data(walk, &v));
        if (v.kind == RS_VALUE_ADDRESS) {
            after = v;
            misplace(walk, &after, all, key, depends);
        } else if (v.kind == RS_VALUE_NUMBER) {
            after = rs_value_number(rs_walk_auxiliary(walk,
                                                      rs_walk_text(walk, all->list[i].target).text,
                                                      after.depends, after.data, true));
        }
        rs_value_carry(&after, outer < 0 ? NULL : &walk->values[outer]);
        rs_walk_set(walk, key, &after);
    }
}

static int add_loop(rs_walk *walk, int node, const char *name)
{
    int symbol = new_symbol(walk, name);
    rs_loop *loop = symbol < 0 ? NULL : rs_unit_add_loop(walk->unit);
    if (loop == NULL) {
        walk->exhausted = true;
        return -1;
    }
    loop->symbol = symbol;
    walk->unit->symbols.symbols[symbol].natural = true; /* it counts, unless it starts elsewhere */
    loop->parent = walk->loop;
    loop->line = rs_walk_line(walk, node);
    loop->offset = walk->tree->nodes[node].begin;
    loop->bound = rs_polynomial_unknown();
    loop->lower = rs_polynomial_constant(0);
    return walk->unit->loop_count - 1;
}

static void walk_condition(rs_walk *walk, entry *e)
{
    if (e->p.condition < 0)
        return;
    rs_value condition = rs_walk_evaluate(walk, e->p.condition);
    rs_walk_end_expression(walk, e->p.condition);
    e->condition |= rs_value_depends(walk, &condition);
    walk->conditions |= e->condition;
}

/* What the condition of a do varies with, which decides over the second iteration of its body. */
static void foresee_condition(rs_walk *walk, entry *e)
{
    bool loads;
    rs_environment before;
    if (e->p.condition < 0 || !rs_environment_copy(&before, &walk->variables)) {
        walk->no_memory = walk->no_memory || e->p.condition >= 0;
        return;
    }
    rs_value condition = rs_walk_evaluate_quietly(walk, e->p.condition, &loads);
    e->condition = rs_value_depends(walk, &condition);
    walk->conditions |= e->condition;
    rs_environment_free(&walk->variables);
    walk->variables = before;
}

/*
 * What moves in the step has its values already; here is what else it touches, with the variables
 * as they are behind the body, or as nobody knows when some iterations end before.
 */
static void walk_step(rs_walk *walk, const entry *e)
{
    rs_environment before;
    if (e->p.step < 0 || !rs_loads_memory(walk->tree, e->p.step))
        return;
    if (!rs_environment_copy(&before, &walk->variables)) {
        walk->no_memory = true;
        return;
    }
    rs_value unknown = rs_value_unknown(rs_walk_anything(walk), true);
    for (int i = 0; i < e->in_body.count && e->p.body >= 0 && rs_loop_skips(walk->tree, e->p.body);
         i++)
        rs_walk_set(walk, e->in_body.list[i].key, &unknown);
    (void)rs_walk_evaluate(walk, e->p.step);
    rs_walk_end_expression(walk, e->p.step);
    rs_environment_free(&walk->variables);
    walk->variables = before;
}

static void walk_body(rs_walk *walk, int loop, entry *e)
{
    int outer = walk->loop;
    rs_exit *breaking = walk->breaking;
    const rs_reach reach = walk->reach;
    walk->loop = loop;
    walk->breaking = NULL;
    if (e->after_body)
        foresee_condition(walk, e);
    else
        walk_condition(walk, e);
    if (e->p.body >= 0)
        rs_walk_statement(walk, e->p.body);
    walk_step(walk, e);
    if (e->after_body)
        walk_condition(walk, e);
    walk->loop = outer;
    walk->breaking = breaking;
    walk->reach.broken = reach.broken;
    walk->reach.continued = reach.continued;
}

/* The variable that counts the iterations, in terms of the loop's symbol. */
static rs_value main_value(rs_walk *walk, rs_loop *loop, const rs_value *start,
                           const rs_polynomial *step)
{
    rs_polynomial symbol = rs_polynomial_symbol(loop->symbol);
    int64_t constant = 0;
    rs_polynomial_is_constant(step, &constant);
    loop->step = constant;
    if (constant == 1 && start->kind == RS_VALUE_NUMBER) {
        loop->lower = start->number;
        walk->unit->symbols.symbols[loop->symbol].natural =
            rs_polynomial_is_natural(&start->number, &walk->unit->symbols);
        return rs_value_number(symbol);
    }
    rs_value moved = rs_value_number(rs_polynomial_multiply(step, &symbol));
    return rs_walk_operate(walk, '+', start, &moved);
}

static void collect_changes(rs_walk *walk, entry *e)
{
    const int parts[] = {e->p.condition, e->p.body, e->p.step};
    bool all = e->p.body < 0 || !rs_loop_skips(walk->tree, e->p.body);
    rs_changes_collect(walk, e->p.step, true, &e->in_step);
    rs_changes_collect(walk, e->p.condition, true, &e->in_body);
    rs_changes_collect(walk, e->p.body, all, &e->in_body);
    for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++)
        rs_changes_collect_unseen(walk, parts[i], parts, &e->in_body);
    find_main(walk, e->p.step, e->p.condition, &e->in_step, &e->main);
}

/* Gives the counting variable its value in terms of the symbol; without one, main.key becomes 0. */
static void start_counting(rs_walk *walk, int at, entry *e)
{
    rs_loop *loop = &walk->unit->loops[at];
    rs_polynomial step = rs_polynomial_unknown();
    rs_value start = rs_value_unknown(0, true);
    if (e->main.key != 0) {
        step = step_of(walk, &e->main, e);
        start = rs_walk_variable(walk, e->main.target);
    }
    if (start.approximated && start.kind == RS_VALUE_NUMBER)
        start = rs_value_number(rs_walk_auxiliary(walk, rs_walk_text(walk, e->main.target).text,
                                                  rs_value_depends(walk, &start),
                                                  rs_value_has_data(walk, &start), true));
    e->count = rs_polynomial_symbol(loop->symbol);
    for (int i = 0; i < e->in_step.count; i++)
        if (e->in_step.list[i].key != e->main.key)
            rs_changes_add(walk, &e->in_body, &e->in_step.list[i]);
    rs_walk_note_written(walk, e->main.key);
    if (!step.known || start.kind == RS_VALUE_UNKNOWN || rs_walk_is_clobbered(walk, e->main.key)) {
        if (e->main.key != 0)
            rs_changes_add(walk, &e->in_body, &e->main);
        e->main.key = 0;
        return;
    }
    e->number = start.kind == RS_VALUE_NUMBER;
    rs_value value = main_value(walk, loop, &start, &step);
    rs_walk_set(walk, e->main.key, &value);
    if (loop->step == 1 && start.kind == RS_VALUE_NUMBER)
        e->count = rs_polynomial_subtract(&e->count, &loop->lower);
    rs_polynomial bound = rs_walk_bound(walk, e->p.condition, e->main.key, &value);
    walk->unit->loops[at].bound = bound;
}

/*
 * A condition on a variable that the body changes brings from one iteration to the next whether
 * there is one; only one variable may count them. What changes says nothing as a bound.
 */
static void check_bound(rs_walk *walk, int at, const entry *e)
{
    rs_loop *loop = &walk->unit->loops[at];
    uint64_t counting = e->main.key, key = 0;
    int changed = e->p.condition < 0 ? -1 : find_changed(walk, e->p.condition, e, counting);
    bool loads = e->p.condition >= 0 && rs_loads_memory(walk->tree, e->p.condition);
    bool heard = loop->meets && rs_polynomial_has_data(&loop->bound, &walk->unit->symbols);
    if (changed >= 0 || (loads && e->stores) || heard)
        loop->bound = rs_polynomial_unknown();
    if (changed >= 0 && counting == 0) {
        rs_variable_key(walk, changed, &counting);
        changed = find_changed(walk, e->p.condition, e, counting);
    }
    if (changed >= 0 && rs_variable_key(walk, changed, &key) && loop->carried == NULL &&
        rs_changes_count(walk, &e->in_step, key) < rs_changes_count(walk, &e->in_body, key))
        loop->carried = strdup(rs_walk_text(walk, changed).text);
    loop->guessed = loop->carried != NULL && rs_changes_are_guessed(walk, &e->in_body, key);
}

static void carry_all(rs_walk *walk, int at, const entry *e)
{
    const rs_changes *all = &e->in_body;
    for (int i = 0; i < all->count; i++) {
        bool first = all->list[i].lasts || !is_declared_inside(walk, e->p.body, all->list[i].key);
        for (int j = 0; j < i; j++)
            first = first && all->list[j].key != all->list[i].key;
        if (first)
            carry(walk, &all->list[i], e, at);
    }
}

/* Whether a loop is known to run at least `least` times, or to have been about to. */
static bool runs(const rs_walk *walk, int at, int64_t least)
{
    const rs_loop *loop = &walk->unit->loops[at];
    int power;
    int64_t constant;
    rs_polynomial factor = rs_polynomial_coefficient(&loop->bound, loop->symbol, &power);
    if (!loop->bound.known || power > 1)
        return false;
    rs_polynomial first = rs_polynomial_without(&loop->bound, loop->symbol);
    rs_polynomial moved = rs_polynomial_multiply(&factor, &loop->lower);
    rs_polynomial more = rs_polynomial_constant(1 - least);
    first = rs_polynomial_add(&first, &moved);
    first = rs_polynomial_add(&first, &more);
    return first.known && (rs_polynomial_is_constant(&first, &constant)
                               ? constant >= 0
                               : rs_polynomial_is_natural(&first, &walk->unit->symbols));
}

static bool is_comparison(const rs_tree *tree, int condition)
{
    condition = condition < 0 ? -1 : rs_node_inner(tree, condition);
    return condition >= 0 && !rs_node_is_binary(tree, condition, "&&");
}

/* Behind the loop its variable is the first value that it did not run with, if that is known. */
static void stop_counting(rs_walk *walk, int at, const entry *e)
{
    const rs_loop *loop = &walk->unit->loops[at];
    if (e->main.key == 0)
        return;
    uint64_t column = rs_symbol_depends(&walk->unit->symbols, loop->symbol);
    uint64_t depends = rs_polynomial_depends(&loop->bound, &walk->unit->symbols) |
                       rs_polynomial_depends(&loop->lower, &walk->unit->symbols);
    bool ends = e->number && loop->bound.known && !loop->leaves_early &&
                is_comparison(walk->tree, e->p.condition);
    rs_value after = rs_value_unknown(ends ? depends & ~column : rs_walk_anything(walk), !ends);
    if (ends && loop->step == 1 && runs(walk, at, 0)) {
        rs_polynomial symbol = rs_polynomial_symbol(loop->symbol);
        rs_polynomial one = rs_polynomial_constant(1);
        rs_polynomial end = rs_polynomial_add(&loop->bound, &symbol);
        after = rs_value_number(rs_polynomial_add(&end, &one));
    } else {
        after = rs_walk_named(walk, &after, e->main.target);
    }
    rs_walk_set(walk, e->main.key, &after);
}

static void merge_unless_carried(rs_walk *walk, uint64_t key, const rs_environment *before)
{
    int value = rs_walk_find(walk, key);
    if (value < 0 ? rs_walk_whole(walk, key) != 0 : walk->values[value].carried_loop < 0)
        rs_walk_merge_key(walk, before, key);
}

/*
 * What the loop assigned is not there when it has not run, nor surely when it was left or an
 * iteration was cut short before.
 */
static void merge_unentered(rs_walk *walk, int at, const entry *e, const rs_environment *before)
{
    bool whole = !walk->unit->loops[at].leaves_early &&
                 !(e->p.body >= 0 && rs_loop_skips(walk->tree, e->p.body));
    bool surely = whole && (e->after_body || runs(walk, at, 1));
    uint64_t outer = walk->chosen;
    walk->chosen = turns_vary(walk, at, e);
    for (int i = 0; i < e->in_body.count && !surely; i++) {
        uint64_t key = e->in_body.list[i].key;
        int value = rs_walk_find(walk, key);
        for (int m = 0; m < walk->member_count && whole; m++)
            if (walk->members[m].key != key && rs_walk_is_part(walk, walk->members[m].key, key))
                merge_unless_carried(walk, walk->members[m].key, before);
        if (whole || value < 0 || walk->values[value].carried_loop >= 0) {
            if (whole)
                merge_unless_carried(walk, key, before);
            continue;
        }
        rs_value unknown = rs_value_unknown(
            rs_value_depends(walk, &walk->values[value]) | rs_walk_anything(walk), true);
        rs_walk_set(walk, key, &unknown);
    }
    walk->chosen = outer;
}

static void walk_entered(rs_walk *walk, int node, entry *e, const char *fallback)
{
    if (e->p.body >= 0)
        rs_walk_drop_declared(walk, walk->tree->nodes[e->p.body].begin,
                              walk->tree->nodes[e->p.body].end);
    bool meets = walk->unit->kernel && rs_walk_meets(walk, node);
    e->stores = meets || rs_loop_stores_numbers(walk->tree, node);
    walk->stores += e->stores;
    collect_changes(walk, e);
    const bool is_named = e->main.key != 0;
    if (!is_named || rs_changes_count(walk, &e->in_body, e->main.key) > 0 ||
        rs_changes_count(walk, &e->in_step, e->main.key) > 1)
        e->main.key = 0;
    int at = add_loop(walk, node, is_named ? rs_walk_text(walk, e->main.target).text : fallback);
    if (at < 0)
        return;
    rs_environment before;
    if (!rs_environment_copy(&before, &walk->variables)) {
        walk->no_memory = true;
        return;
    }
    walk->unit->loops[at].leaves_early = e->p.body >= 0 && rs_loop_leaves(walk->tree, e->p.body);
    walk->unit->loops[at].shortened =
        walk->unit->loops[at].leaves_early ||
        (e->p.condition >= 0 && !is_comparison(walk->tree, e->p.condition));
    walk->unit->loops[at].meets = meets;
    rs_walk_note_unsupported(walk, node, at);
    start_counting(walk, at, e);
    check_bound(walk, at, e);
    carry_all(walk, at, e);
    walk_body(walk, at, e);
    forget(walk, e, at);
    merge_unentered(walk, at, e, &before);
    stop_counting(walk, at, e);
    rs_environment_free(&before);
}

static void walk_loop(rs_walk *walk, int node, const rs_for_parts *p, const char *fallback,
                      bool after_body)
{
    entry *e = calloc(1, sizeof *e);
    if (e == NULL) {
        walk->no_memory = true;
        return;
    }
    e->p = *p;
    e->after_body = after_body;
    walk_entered(walk, node, e, fallback);
    free(e->in_body.list);
    free(e->in_step.list);
    free(e);
}

void rs_walk_for(rs_walk *walk, int node)
{
    rs_for_parts p = rs_for_read(walk->tree, node);
    if (p.begin >= 0)
        rs_walk_statement(walk, p.begin);
    walk_loop(walk, node, &p, "for", false);
}

void rs_walk_while(rs_walk *walk, int node, int condition, int body)
{
    rs_for_parts p = {-1, condition, -1, body};
    walk_loop(walk, node, &p, "while", false);
}

void rs_walk_do(rs_walk *walk, int node, int condition, int body)
{
    rs_for_parts p = {-1, condition, -1, body};
    walk_loop(walk, node, &p, "while", true);
}
