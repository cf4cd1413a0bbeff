/* Goes through the statements of a kernel. */
#include "facts/walk.h"

#include <stdlib.h>
#include <string.h>

/* --- branches --- */

static bool is_same(const rs_fact_value *a, const rs_fact_value *b)
{
    return a->kind == b->kind && a->parameter == b->parameter && a->offset == b->offset &&
           a->local == b->local && a->is_copy == b->is_copy && rs_form_equals(&a->form, &b->form);
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

/* Each way goes from what was before. */
static void go_if(rs_fact_walk *walk, const rs_syntax_node *node)
{
    const rs_fact_shares shares = rs_fact_split(walk, node->children[0]);
    const double share = walk->share;
    rs_fact_expression(walk, node->children[0]);
    const size_t count = walk->binding_count;
    rs_fact_binding *before = keep(walk), *when_true = NULL, *when_false = NULL;
    walk->conditions += shares.is_divided;
    walk->share = share * shares.when_true;
    if (before != NULL)
        rs_fact_statement(walk, node->children[1]);
    when_true = keep(walk);
    walk->share = share * shares.when_false;
    if (before != NULL)
        memcpy(walk->bindings, before, count * sizeof *before);
    if (before != NULL && when_true != NULL)
        rs_fact_statement(walk, node->children[2]);
    when_false = keep(walk);
    walk->conditions -= shares.is_divided;
    walk->share = share;
    if (when_true != NULL && when_false != NULL) {
        /* What variables are behind two ways; each list has the bindings of one of them. */
        for (size_t i = 0; i < count && i < walk->binding_count; i++) {
            const rs_fact_value *a = &when_true[i].value, *b = &when_false[i].value;
            if (when_true[i].variable == when_false[i].variable &&
                when_true[i].offset == when_false[i].offset)
                walk->bindings[i].value = is_same(a, b) ? *a : rs_fact_select(shares, a, b);
        }
    }
    free(before);
    free(when_true);
    free(when_false);
}

/* --- statements --- */

static void declare(rs_fact_walk *walk, const rs_syntax_node *node)
{
    const rs_syntax_declaration *variable = node->declaration;
    const bool is_reference = variable->type != NULL && variable->type->kind == RS_TYPE_REFERENCE;
    const rs_syntax_node *initializer = node->children[0];
    rs_fact_value value =
        is_reference ? rs_fact_place(walk, initializer) : rs_fact_expression(walk, initializer);
    if (value.kind == RS_FACT_ELEMENT && value.is_memory && !is_reference)
        value.is_copy = true;
    if (variable->space == RS_SYNTAX_SPACE_SHARED) {
        value = rs_fact_other();
        if (variable->type != NULL && variable->type->size > 0)
            walk->facts->shared_bytes += (double)variable->type->size;
    }
    rs_fact_bind(walk, variable, value);
}

static void go_return(rs_fact_walk *walk, const rs_syntax_node *node)
{
    rs_fact_value value = rs_fact_expression(walk, node->children[0]);
    if (walk->has_returned && !is_same(&value, &walk->returned))
        value = rs_fact_select((rs_fact_shares){1, 1, .is_data = true}, &value, &walk->returned);
    walk->returned = value;
    walk->has_returned = true;
}

void rs_fact_statement(rs_fact_walk *walk, const rs_syntax_node *node)
{
    if (node == NULL || walk->failed || walk->work > RS_WALK_LIMIT)
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
        rs_fact_go_loop(walk, node->children[1], node->children[2], node->children[3]);
        break;
    case RS_NODE_WHILE:
        rs_fact_go_loop(walk, node->children[0], NULL, node->children[1]);
        break;
    case RS_NODE_DO:
        rs_fact_go_loop(walk, node->children[1], NULL, node->children[0]);
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
