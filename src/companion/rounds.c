/*
 * Loops over the elements of an array, one after the other. Eight rounds that begin at a multiple
 * of eight have their elements in one tile, side by side: unrolled, they share the arithmetic of
 * one address, which the compiler sees. Left alone, it unrolls a loop of this size by two.
 */
#include "companion/edit.h"
#include "source/words.h"

#include <string.h>

enum { ROUNDS = 8 /* as RESTRIDE_ROUNDS of the prelude has it */, MOST_NODES = 256 };

typedef struct {
    const rs_companion_editing *at;
    const rs_syntax_declaration *variable;
    size_t nodes;
    bool has_element; /* of the array, by the variable's number */
    bool is_large;    /* or not a plain sequence of operators and the toolkit's functions */
} loop_look;

static const rs_syntax_node *written(const rs_syntax_node *node)
{
    while (node != NULL && node->kind == RS_NODE_IMPLICIT)
        node = node->children[0];
    return node;
}

static bool look(void *context, const rs_syntax_node *node)
{
    loop_look *in = context;
    const rs_syntax_node *index;
    in->nodes++;
    switch (node->kind) {
    case RS_NODE_SUBSCRIPT:
        index = written(node->children[1]);
        in->has_element |=
            index->kind == RS_NODE_REFERENCE && index->declaration == in->variable &&
            rs_fact_node_shape(in->at->frame, node->children[0]).shape == RS_SHAPE_POINTER;
        break;
    case RS_NODE_CALL:
        in->is_large |= node->declaration == NULL || !node->declaration->is_system;
        break;
    case RS_NODE_FOR:
    case RS_NODE_RANGE_FOR:
    case RS_NODE_WHILE:
    case RS_NODE_DO:
    case RS_NODE_GOTO:
    case RS_NODE_LABEL:
    case RS_NODE_ASM:
    case RS_NODE_LAMBDA:
    case RS_NODE_UNKNOWN:
        in->is_large = true;
        break;
    default:
        break;
    }
    return true;
}

/* Of for (int j = 0; ...; j++): j, where it begins at a multiple of ROUNDS. */
static const rs_syntax_declaration *variable_of(const rs_syntax_node *loop)
{
    const rs_syntax_node *start = loop->children[0], *step = written(loop->children[2]);
    const rs_syntax_node *value = NULL;
    const rs_syntax_declaration *variable = NULL;
    if (start != NULL && start->kind == RS_NODE_DECLARE && start->child_count == 1) {
        variable = start->children[0]->declaration;
        value = variable == NULL ? NULL : variable->initializer;
    } else if (start != NULL && start->kind == RS_NODE_ASSIGN && strcmp(start->symbol, "=") == 0) {
        variable = written(start->children[0])->declaration;
        value = start->children[1];
    }
    if (variable == NULL || value == NULL || value->constant.kind != RS_CONSTANT_INTEGER ||
        value->constant.integer % ROUNDS != 0 || step == NULL || step->kind != RS_NODE_UNARY ||
        strcmp(step->symbol, "++") != 0)
        return NULL;
    const rs_syntax_node *target = written(step->children[0]);
    return target->kind == RS_NODE_REFERENCE && target->declaration == variable ? variable : NULL;
}

/* Whether a statement stands behind another one: a pragma, a label or a comment may not be before
 * it. */
static bool is_behind_statement(const rs_companion_editing *at, size_t begin)
{
    while (begin > 0 && strchr(" \t\r\n", at->file->text[begin - 1]) != NULL)
        begin--;
    return begin > 0 && strchr(";{}", at->file->text[begin - 1]) != NULL;
}

static bool visit(void *context, const rs_syntax_node *node)
{
    rs_companion_editing *at = context;
    for (size_t i = 0; node->kind == RS_NODE_COMPOUND && i < node->child_count; i++) {
        const rs_syntax_node *loop = node->children[i];
        if (loop->kind != RS_NODE_FOR || !rs_companion_is_text(at, loop->range) ||
            !is_behind_statement(at, loop->range.begin))
            continue;
        loop_look in = {.at = at, .variable = variable_of(loop)};
        if (in.variable == NULL)
            continue;
        rs_syntax_walk(loop->children[3], look, &in);
        if (in.has_element && !in.is_large && in.nodes <= MOST_NODES)
            rs_companion_edit(at, loop->range.begin, loop->range.begin, "RESTRIDE_ROUNDS ");
    }
    return true;
}

void rs_companion_unroll(rs_companion_editing *at)
{
    rs_syntax_walk(at->frame->function->body, visit, at);
}
