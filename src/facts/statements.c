/* Goes through a kernel: variables, branches, loops with their rounds. */
#include "facts/walk.h"

#include <stdlib.h>
#include <string.h>

void *rs_fact_add(rs_fact_walk *walk, void **list, size_t *count, size_t *capacity, size_t size)
{
    if (*count == *capacity) {
        const size_t wanted = *capacity == 0 ? 16 : 2 * *capacity;
        void *grown = realloc(*list, wanted * size);
        if (grown == NULL) {
            walk->failed = true;
            return NULL;
        }
        *list = grown;
        *capacity = wanted;
    }
    void *added = (char *)*list + (*count)++ * size;
    memset(added, 0, size);
    return added;
}

/* --- variables --- */

static rs_fact_binding *find_binding(const rs_fact_walk *walk,
                                     const rs_syntax_declaration *variable)
{
    for (size_t i = walk->binding_count; i-- > 0;)
        if (walk->bindings[i].variable == variable)
            return &walk->bindings[i];
    return NULL;
}

const rs_fact_value *rs_fact_find(const rs_fact_walk *walk, const rs_syntax_declaration *variable)
{
    const rs_fact_binding *found = find_binding(walk, variable);
    return found == NULL ? NULL : &found->value;
}

void rs_fact_bind(rs_fact_walk *walk, const rs_syntax_declaration *variable, rs_fact_value value)
{
    rs_fact_binding *found = find_binding(walk, variable);
    if (found == NULL) {
        void *list = walk->bindings;
        found =
            rs_fact_add(walk, &list, &walk->binding_count, &walk->binding_capacity, sizeof *found);
        walk->bindings = list;
    }
    if (found != NULL)
        *found = (rs_fact_binding){variable, value};
}

static void declare(rs_fact_walk *walk, const rs_syntax_node *node)
{
    const rs_syntax_declaration *variable = node->declaration;
    rs_fact_value value = rs_fact_expression(walk, node->children[0]);
    const bool is_reference = variable->type != NULL && variable->type->kind == RS_TYPE_REFERENCE;
    if (value.kind == RS_FACT_ELEMENT && value.is_memory && !is_reference)
        value.is_copy = true;
    if (variable->space == RS_SYNTAX_SPACE_SHARED)
        value = rs_fact_other();
    rs_fact_bind(walk, variable, value);
}

static bool is_same(const rs_fact_value *a, const rs_fact_value *b)
{
    return a->kind == b->kind && a->parameter == b->parameter && a->offset == b->offset &&
           a->is_copy == b->is_copy && rs_form_equals(&a->form, &b->form);
}

/* What a variable is behind two ways: the same, or nothing is known. `before` has the bindings of
 * the way that was not taken last. */
static void merge(rs_fact_walk *walk, const rs_fact_binding *before, size_t count)
{
    for (size_t i = 0; i < count && i < walk->binding_count; i++) {
        rs_fact_binding *now = &walk->bindings[i];
        if (now->variable == before[i].variable && !is_same(&now->value, &before[i].value))
            now->value =
                now->value.kind == RS_FACT_ELEMENT ? now->value : rs_fact_number(rs_form_data());
    }
}

static rs_fact_binding *keep(rs_fact_walk *walk)
{
    rs_fact_binding *kept = malloc((walk->binding_count + 1) * sizeof *kept);
    if (kept == NULL)
        walk->failed = true;
    else if (walk->binding_count > 0)
        memcpy(kept, walk->bindings, walk->binding_count * sizeof *kept);
    return kept;
}

/* --- branches --- */

bool rs_fact_is_guard(rs_fact_walk *walk, const rs_syntax_node *condition)
{
    const rs_syntax_node *node = rs_syntax_plain(condition);
    if (node == NULL || node->kind != RS_NODE_BINARY)
        return false;
    if (strcmp(node->symbol, "&&") == 0 || strcmp(node->symbol, "||") == 0)
        return rs_fact_is_guard(walk, node->children[0]) &&
               rs_fact_is_guard(walk, node->children[1]);
    if (node->symbol[0] != '<' && node->symbol[0] != '>')
        return false;
    const size_t accesses = walk->facts->access_count, unknown = walk->facts->unknown_count;
    const rs_fact_value left = rs_fact_expression(walk, node->children[0]);
    const rs_fact_value right = rs_fact_expression(walk, node->children[1]);
    walk->facts->access_count = accesses; /* which are recorded where it is gone through */
    walk->facts->unknown_count = unknown;
    return left.kind == RS_FACT_NUMBER && right.kind == RS_FACT_NUMBER &&
           left.form.kind == RS_FORM_SUM && right.form.kind == RS_FORM_SUM;
}

/* Whether a branch that goes along the condition is one that some threads of a warp leave out. */
static bool leaves_out(rs_fact_walk *walk, const rs_syntax_node *condition)
{
    const bool is_guard = rs_fact_is_guard(walk, condition);
    const rs_fact_value value = rs_fact_expression(walk, condition);
    return !is_guard && !(value.kind == RS_FACT_NUMBER && rs_form_is_uniform(&value.form));
}

static void go_if(rs_fact_walk *walk, const rs_syntax_node *node)
{
    const bool some = leaves_out(walk, node->children[0]);
    rs_fact_binding *before = keep(walk);
    const size_t count = walk->binding_count;
    if (before == NULL)
        return;
    walk->conditions += some;
    rs_fact_statement(walk, node->children[1]);
    if (node->children[2] != NULL) { /* from what was before, and the first way is kept instead */
        rs_fact_binding *first = keep(walk);
        if (first != NULL) {
            memcpy(walk->bindings, before, count * sizeof *before);
            rs_fact_statement(walk, node->children[2]);
            memcpy(before, first, count * sizeof *before);
        }
        free(first);
    }
    walk->conditions -= some;
    merge(walk, before, count);
    free(before);
}

/* --- loops --- */

typedef struct {
    rs_fact_walk *walk;
    int loop;
    const rs_syntax_node *step; /* what a round ends with */
    const rs_syntax_node *body;
} loop_visit;

/* Whether a node is the step, or a statement of the body itself: then each round passes it once. */
static bool is_each_round(const loop_visit *at, const rs_syntax_node *node)
{
    if (at->step == node || at->body == node)
        return true;
    if (at->step != NULL && at->step->kind == RS_NODE_BINARY && /* i++, j++ */
        (at->step->children[0] == node || at->step->children[1] == node))
        return true;
    for (size_t i = 0; at->body->kind == RS_NODE_COMPOUND && i < at->body->child_count; i++)
        if (at->body->children[i] == node)
            return true;
    return false;
}

/* What a round adds: a number that is the same in all, or false. */
static bool find_step(const loop_visit *at, const rs_syntax_node *node, long long *step)
{
    if (node->kind == RS_NODE_UNARY) {
        *step = node->symbol[0] == '+' ? 1 : -1;
        return true;
    }
    if (strcmp(node->symbol, "+=") != 0 && strcmp(node->symbol, "-=") != 0)
        return false;
    const size_t count = at->walk->facts->access_count;
    const rs_fact_value by = rs_fact_expression(at->walk, node->children[1]);
    at->walk->facts->access_count = count;
    if (by.kind != RS_FACT_NUMBER || !rs_form_is_uniform(&by.form))
        return false;
    *step = rs_form_is_constant(&by.form) ? by.form.constant : RS_FORM_SOME;
    if (node->symbol[0] == '-' && *step != RS_FORM_SOME)
        *step = -*step;
    return true;
}

/* A variable that rounds change: by a step, or nothing is known of it where a round begins. */
static bool visit_change(void *context, const rs_syntax_node *node)
{
    const loop_visit *at = context;
    const bool is_step = node->kind == RS_NODE_UNARY &&
                         (strcmp(node->symbol, "++") == 0 || strcmp(node->symbol, "--") == 0);
    if (!is_step && node->kind != RS_NODE_ASSIGN)
        return true;
    const rs_syntax_node *target = rs_syntax_plain(node->children[0]);
    if (target->kind != RS_NODE_REFERENCE)
        return true;
    rs_fact_binding *binding = find_binding(at->walk, target->declaration);
    if (binding == NULL)
        return true;
    rs_fact_value *value = &binding->value;
    long long step;
    const bool is_pointer = value->kind == RS_FACT_ELEMENT && !value->is_copy;
    if ((value->kind == RS_FACT_NUMBER || is_pointer) && is_each_round(at, node) &&
        find_step(at, node, &step))
        value->form = rs_form_add(value->form, rs_form_round(at->loop, step));
    else if (!is_pointer)
        *value = rs_fact_number(rs_form_is_uniform(&value->form) && !is_step &&
                                        node->symbol[1] == '=' && node->symbol[0] != '='
                                    ? rs_form_uniform()
                                    : rs_form_data());
    return true;
}

/* i < 8 with a variable that began at 0 and takes steps of 2: 4 rounds; 0: not constant. */
static long long count_rounds(rs_fact_walk *walk, const rs_syntax_node *condition, int loop)
{
    const rs_syntax_node *node = rs_syntax_plain(condition);
    if (node == NULL || node->kind != RS_NODE_BINARY)
        return 0;
    const rs_fact_value left = rs_fact_expression(walk, node->children[0]);
    const rs_fact_value right = rs_fact_expression(walk, node->children[1]);
    const rs_fact_form *form = &left.form;
    const long long step = rs_form_step(form, loop);
    if (left.kind != RS_FACT_NUMBER || right.kind != RS_FACT_NUMBER || form->kind != RS_FORM_SUM ||
        form->has_uniform || form->lane != 0 || !rs_form_is_constant(&right.form) || step == 0 ||
        step == RS_FORM_SOME)
        return 0;
    const long long limit = 1LL << 40, end = right.form.constant;
    if (end > limit || end < -limit || form->constant > limit || form->constant < -limit ||
        step > limit || step < -limit)
        return 0;
    const long long distance = end - form->constant + (strcmp(node->symbol, "<=") == 0) -
                               (strcmp(node->symbol, ">=") == 0);
    const long long rounds = (distance + step - (step > 0 ? 1 : -1)) / step;
    return rounds > 0 ? rounds : 0;
}

/* Behind a loop a variable that it stepped has a value that is not known. */
static void forget_rounds(rs_fact_walk *walk, int loop)
{
    for (size_t i = 0; i < walk->binding_count; i++) {
        rs_fact_form *form = &walk->bindings[i].value.form;
        for (int k = 0; k < RS_FORM_LOOPS; k++)
            if (form->loops[k] == loop && form->steps[k] != 0) {
                form->steps[k] = 0;
                form->has_uniform = true;
            }
    }
}

static void go_loop(rs_fact_walk *walk, const rs_syntax_node *condition, const rs_syntax_node *step,
                    const rs_syntax_node *body)
{
    rs_fact_accesses *facts = walk->facts;
    void *list = facts->loops;
    rs_fact_loop *added =
        rs_fact_add(walk, &list, &facts->loop_count, &facts->loop_capacity, sizeof *added);
    facts->loops = list;
    if (added == NULL)
        return;
    const int loop = (int)facts->loop_count - 1, outer = walk->loop;
    added->outer = outer;
    loop_visit at = {walk, loop, step, body};
    rs_syntax_walk(body, visit_change, &at);
    rs_syntax_walk(step, visit_change, &at);
    walk->loop = loop;
    bool some = false;
    if (condition != NULL) {
        const size_t count = facts->access_count;
        const long long rounds = count_rounds(walk, condition, loop);
        facts->access_count = count;
        some = leaves_out(walk, condition);
        facts->loops[loop].count = rounds;
        facts->loops[loop].varies = some;
    }
    walk->conditions += some;
    rs_fact_statement(walk, body);
    rs_fact_statement(walk, step);
    walk->conditions -= some;
    walk->loop = outer;
    forget_rounds(walk, loop);
}

/* --- statements --- */

static void go_return(rs_fact_walk *walk, const rs_syntax_node *node)
{
    rs_fact_value value = rs_fact_expression(walk, node->children[0]);
    if (walk->has_returned && !is_same(&value, &walk->returned))
        value = rs_fact_other();
    walk->returned = value;
    walk->has_returned = true;
}

void rs_fact_statement(rs_fact_walk *walk, const rs_syntax_node *node)
{
    if (node == NULL || walk->failed)
        return;
    switch (node->kind) {
    case RS_NODE_VARIABLE:
        declare(walk, node);
        break;
    case RS_NODE_IF:
        go_if(walk, node);
        break;
    case RS_NODE_FOR:
        rs_fact_statement(walk, node->children[0]);
        go_loop(walk, node->children[1], node->children[2], node->children[3]);
        break;
    case RS_NODE_WHILE:
        go_loop(walk, node->children[0], NULL, node->children[1]);
        break;
    case RS_NODE_DO:
        go_loop(walk, node->children[1], NULL, node->children[0]);
        break;
    case RS_NODE_RETURN:
        go_return(walk, node);
        break;
    case RS_NODE_COMPOUND:
    case RS_NODE_DECLARE:
    case RS_NODE_SWITCH:
    case RS_NODE_CASE:
    case RS_NODE_DEFAULT:
    case RS_NODE_LABEL:
        for (size_t i = 0; i < node->child_count; i++)
            rs_fact_statement(walk, node->children[i]);
        break;
    default:
        rs_fact_expression(walk, node);
        break;
    }
}
