/* Loops: their rounds, and what these do to variables. */
#include "facts/walk.h"

#include <string.h>

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
    const rs_fact_value by = rs_fact_peek(at->walk, node->children[1]);
    if (by.kind != RS_FACT_NUMBER || !rs_form_is_uniform(&by.form))
        return false;
    *step = rs_form_is_constant(&by.form) ? by.form.constant : RS_FORM_SOME;
    if (node->symbol[0] == '-' && *step != RS_FORM_SOME)
        *step = -*step;
    return true;
}

/* Where a round begins, of a variable that one ends with a new number: what it is after one round,
 * if that depends on the thread as it did before; i = (i + n) % m. */
static rs_fact_value after_rounds(const loop_visit *at, const rs_syntax_node *node,
                                  const rs_fact_value *before)
{
    const bool is_step = node->kind == RS_NODE_UNARY || before->kind != RS_FACT_NUMBER;
    const bool is_plain = !is_step && strcmp(node->symbol, "=") == 0;
    rs_fact_form form = rs_fact_form_of(before);
    if (!is_step) {
        const rs_fact_value value = rs_fact_peek(at->walk, node->children[1]);
        const char symbol[2] = {node->symbol[0], '\0'};
        form = is_plain ? rs_fact_form_of(&value)
                        : rs_form_combine(symbol, form, rs_fact_form_of(&value));
    }
    if (form.is_data || !rs_form_has_equal_lanes(&form, &before->form))
        return rs_fact_number(rs_form_data());
    return rs_fact_number(rs_form_add(before->form, rs_form_round(at->loop, RS_FORM_SOME)));
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
    const rs_fact_value *bound =
        target->kind == RS_NODE_REFERENCE ? rs_fact_find(at->walk, target->declaration) : NULL;
    if (bound == NULL || bound->kind == RS_FACT_LOCAL)
        return true;
    rs_fact_value value = *bound;
    long long step;
    const bool is_pointer = value.kind == RS_FACT_ELEMENT && !value.is_copy;
    if ((value.kind == RS_FACT_NUMBER || is_pointer) && is_each_round(at, node) &&
        find_step(at, node, &step))
        value.form = rs_form_add(value.form, rs_form_round(at->loop, step));
    else if (!is_pointer)
        value = after_rounds(at, node, &value);
    rs_fact_bind(at->walk, target->declaration, value);
    return true;
}

/* A variable that rounds change, behind a loop in which threads have different numbers of them. */
static bool visit_end(void *context, const rs_syntax_node *node)
{
    const loop_visit *at = context;
    if (node->kind != RS_NODE_ASSIGN &&
        !(node->kind == RS_NODE_UNARY &&
          (strcmp(node->symbol, "++") == 0 || strcmp(node->symbol, "--") == 0)))
        return true;
    const rs_syntax_node *target = rs_syntax_plain(node->children[0]);
    const rs_fact_value *bound =
        target->kind == RS_NODE_REFERENCE ? rs_fact_find(at->walk, target->declaration) : NULL;
    if (bound != NULL && bound->kind == RS_FACT_NUMBER)
        rs_fact_bind(at->walk, target->declaration, rs_fact_number(rs_form_data()));
    return true;
}

/* Whether threads have different numbers of rounds: by data, or as one begins or ends where its
 * number says, by steps that do not lead past its neighbours. */
static bool find_varies(rs_fact_walk *walk, const rs_syntax_node *condition, int loop)
{
    const rs_syntax_node *node = rs_syntax_plain(condition);
    if (rs_fact_split(walk, condition).is_data)
        return true;
    if (node == NULL || node->kind != RS_NODE_BINARY)
        return false;
    const rs_fact_value left = rs_fact_peek(walk, node->children[0]);
    const rs_fact_value right = rs_fact_peek(walk, node->children[1]);
    const rs_fact_form a = rs_fact_form_of(&left), b = rs_fact_form_of(&right);
    const rs_fact_form distance = rs_form_add(a, rs_form_negate(b));
    const long long step = rs_form_step(&distance, loop);
    return !rs_form_is_uniform(&distance) && !(a.some_lane && b.some_lane) &&
           step != RS_FORM_SOME && step < RS_FORM_LANES && step > -RS_FORM_LANES;
}

/* i < 8 with a variable that began at 0 and takes steps of 2: 4 rounds; 0: not constant. */
static long long count_rounds(rs_fact_walk *walk, const rs_syntax_node *condition, int loop)
{
    const rs_syntax_node *node = rs_syntax_plain(condition);
    if (node == NULL || node->kind != RS_NODE_BINARY)
        return 0;
    const rs_fact_value left = rs_fact_peek(walk, node->children[0]);
    const rs_fact_value right = rs_fact_peek(walk, node->children[1]);
    const rs_fact_form *form = &left.form;
    const long long step = rs_form_step(form, loop);
    if (left.kind != RS_FACT_NUMBER || right.kind != RS_FACT_NUMBER || form->uniform != 0 ||
        !rs_form_is_uniform(form) || !rs_form_is_constant(&right.form) || step == 0 ||
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

/* for (j = 0; j < n; j++) where threads have the numbers below n. */
static double count_for_each(rs_fact_walk *walk, const rs_syntax_node *condition, int loop)
{
    const rs_syntax_node *node = rs_syntax_plain(condition);
    if (node == NULL || node->kind != RS_NODE_BINARY || node->symbol[0] != '<' ||
        !rs_fact_is_bound(walk, node->children[1]))
        return 0;
    const rs_fact_value from = rs_fact_peek(walk, node->children[0]);
    const long long step = rs_form_step(&from.form, loop);
    return from.kind == RS_FACT_NUMBER && rs_form_is_uniform(&from.form) &&
                   from.form.uniform == 0 && step > 0 && step <= RS_FORM_LANES
               ? 1.0 / (double)step
               : 0;
}

void rs_fact_go_loop(rs_fact_walk *walk, const rs_syntax_node *condition,
                     const rs_syntax_node *step, const rs_syntax_node *body)
{
    rs_fact_accesses *facts = walk->facts;
    rs_fact_loop *added = RS_FACT_ADD(walk, facts->loops, facts->loop_count);
    if (added == NULL)
        return;
    const int loop = (int)facts->loop_count - 1, outer = walk->loop;
    added->outer = outer;
    loop_visit at = {walk, loop, step, body};
    rs_syntax_walk(body, visit_change, &at);
    rs_syntax_walk(step, visit_change, &at);
    walk->loop = loop;
    bool some = false;
    facts->loops[loop].is_open =
        condition == NULL || condition->constant.kind == RS_CONSTANT_INTEGER;
    if (condition != NULL) {
        const long long rounds = count_rounds(walk, condition, loop);
        some = find_varies(walk, condition, loop);
        rs_fact_expression(walk, condition);
        facts->loops[loop].count = rounds;
        facts->loops[loop].for_each = rounds > 0 ? 0 : count_for_each(walk, condition, loop);
        facts->loops[loop].varies = some;
    }
    walk->conditions += some;
    rs_fact_statement(walk, body);
    rs_fact_statement(walk, step);
    walk->conditions -= some;
    walk->loop = outer;
    /* Behind a loop a variable that it stepped has a value that is not known. */
    for (size_t i = 0; i < walk->binding_count; i++) {
        rs_fact_form *form = &walk->bindings[i].value.form;
        for (int k = 0; k < RS_FORM_LOOPS; k++)
            if (form->loops[k] == loop && form->steps[k] != 0) {
                form->steps[k] = 0;
                form->uniform = 1;
            }
    }
    if (some || facts->loops[loop].is_open) {
        rs_syntax_walk(body, visit_end, &at);
        rs_syntax_walk(step, visit_end, &at);
    }
}
