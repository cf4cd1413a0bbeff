/* Conditions: which part of the threads goes which way, and what a variable is behind them. */
#include "facts/walk.h"

#include <string.h>

/* i == n: of threads with different numbers one in a warp at most. */
static double share_of_equal(const rs_fact_form *form)
{
    int most = 1;
    for (int i = 0; i < RS_FORM_LANES && !form->some_lane; i++) {
        int same = 0;
        for (int k = 0; k < RS_FORM_LANES; k++)
            same += form->lanes[k] == form->lanes[i];
        most = same > most ? same : most;
    }
    return (double)most / RS_FORM_LANES;
}

static const rs_syntax_declaration *variable_of(const rs_syntax_node *node)
{
    const rs_syntax_node *plain = rs_syntax_plain(node);
    return plain != NULL && plain->kind == RS_NODE_REFERENCE ? plain->declaration : NULL;
}

bool rs_fact_is_bound(const rs_fact_walk *walk, const rs_syntax_node *node)
{
    const rs_syntax_declaration *variable = variable_of(node);
    for (int i = 0; i < walk->bound_count; i++)
        if (variable == walk->bounds[i])
            return true;
    return false;
}

/* i < n, where i numbers the threads of all groups: there are about n of them. */
static void note_bound(rs_fact_walk *walk, const rs_fact_form *number, const rs_syntax_node *node)
{
    const rs_syntax_declaration *variable = variable_of(node);
    bool is_plain = !number->is_data && !number->some_lane && number->uniform != 0 &&
                    rs_form_lane_step(number) == 1;
    for (int i = 0; i < RS_FORM_LOOPS; i++)
        is_plain = is_plain && number->steps[i] == 0;
    if (is_plain && variable != NULL && walk->bound_count < RS_WALK_BOUNDS &&
        !rs_fact_is_bound(walk, node))
        walk->bounds[walk->bound_count++] = variable;
}

static rs_fact_shares split_comparison(rs_fact_walk *walk, const rs_syntax_node *node)
{
    const rs_fact_value left = rs_fact_peek(walk, node->children[0]);
    const rs_fact_value right = rs_fact_peek(walk, node->children[1]);
    const rs_fact_form a = rs_fact_form_of(&left), b = rs_fact_form_of(&right);
    const rs_fact_form difference = rs_form_add(a, rs_form_negate(b));
    const bool is_equal = strcmp(node->symbol, "==") == 0;
    if ((node->symbol[0] == '<' || node->symbol[0] == '>') && rs_form_is_uniform(&b))
        note_bound(walk, &a, node->children[1]);
    if (rs_form_is_uniform(&a) && rs_form_is_uniform(&b))
        return (rs_fact_shares){1, 1, .is_uniform = true};
    if (difference.is_data || (!is_equal && strcmp(node->symbol, "!=") != 0))
        return (rs_fact_shares){1, 1, .is_divided = difference.is_data,
                                .is_data = difference.is_data};
    const double equal = share_of_equal(&difference);
    return (rs_fact_shares){is_equal ? equal : 1, is_equal ? 1 : equal, .is_divided = true};
}

rs_fact_shares rs_fact_split(rs_fact_walk *walk, const rs_syntax_node *condition)
{
    const rs_syntax_node *node = rs_syntax_plain(condition);
    const char *symbol = node != NULL && node->symbol != NULL ? node->symbol : "";
    if (node != NULL && node->kind == RS_NODE_UNARY && strcmp(symbol, "!") == 0) {
        const rs_fact_shares inner = rs_fact_split(walk, node->children[0]);
        return (rs_fact_shares){inner.when_false, inner.when_true, inner.is_uniform,
                                inner.is_divided, inner.is_data};
    }
    if (node != NULL && node->kind == RS_NODE_BINARY &&
        (strcmp(symbol, "&&") == 0 || strcmp(symbol, "||") == 0)) {
        const rs_fact_shares a = rs_fact_split(walk, node->children[0]);
        const rs_fact_shares b = rs_fact_split(walk, node->children[1]);
        const double sum_true = a.when_true + b.when_true, sum_false = a.when_false + b.when_false;
        rs_fact_shares both = {a.when_true * b.when_true, sum_false < 1 ? sum_false : 1,
                               a.is_uniform && b.is_uniform, a.is_divided || b.is_divided,
                               a.is_data || b.is_data};
        if (symbol[0] == '|') {
            both.when_true = sum_true < 1 ? sum_true : 1;
            both.when_false = a.when_false * b.when_false;
        }
        return both;
    }
    if (node != NULL && node->kind == RS_NODE_BINARY && strchr("=!<>", symbol[0]) != NULL &&
        strcmp(symbol, "<<") != 0 && strcmp(symbol, ">>") != 0)
        return split_comparison(walk, node);
    const rs_fact_value value = rs_fact_peek(walk, condition);
    const rs_fact_form form = rs_fact_form_of(&value);
    const bool is_uniform = rs_form_is_uniform(&form);
    /* if (i % 4): that is not 0 */
    return (rs_fact_shares){1, is_uniform || form.is_data ? 1 : share_of_equal(&form), is_uniform,
                            !is_uniform, form.is_data};
}

rs_fact_value rs_fact_select(rs_fact_shares shares, const rs_fact_value *when_true,
                             const rs_fact_value *when_false)
{
    const double few = 0.25;
    const bool is_pointer =
        when_true->kind == RS_FACT_ELEMENT && when_false->kind == RS_FACT_ELEMENT &&
        when_true->parameter == when_false->parameter && when_true->offset == when_false->offset;
    const rs_fact_form a = rs_fact_form_of(when_true), b = rs_fact_form_of(when_false);
    if (is_pointer) { /* into one array */
        const rs_fact_value left = rs_fact_number(when_true->form),
                            right = rs_fact_number(when_false->form);
        rs_fact_value either = *when_true;
        either.form = rs_fact_select(shares, &left, &right).form;
        return either;
    }
    if (when_true->kind == RS_FACT_ELEMENT || when_true->kind == RS_FACT_LOCAL)
        return *when_true;
    if (when_false->kind == RS_FACT_ELEMENT || when_false->kind == RS_FACT_LOCAL)
        return *when_false;
    if (shares.when_true <= few && shares.when_false > few)
        return *when_false;
    if (shares.when_false <= few && shares.when_true > few)
        return *when_true;
    rs_fact_form merged = rs_form_merge(a, b);
    const bool may_differ = a.uniform != 0 || !rs_form_equals(&a, &b);
    if (shares.is_data && rs_form_is_uniform(&merged) && may_differ)
        return rs_fact_number(rs_form_data());
    if (shares.is_uniform && merged.is_data && !a.is_data && !b.is_data) {
        merged = rs_form_lane(); /* either of two factors */
        merged = rs_form_combine("*", merged, rs_form_uniform());
    }
    return rs_fact_number(merged);
}
