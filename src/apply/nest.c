/* Questions about a loop nest, its nodes, references and loops. */
#include "apply/nest.h"

#include "apply/types.h"
#include "source/query.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- questions about nodes ---- */

bool rs_node_holds(const rs_tree *tree, int outer, int inner)
{
    while (inner > outer)
        inner = tree->nodes[inner].parent;
    return inner == outer;
}

bool rs_node_is_memory(const rs_tree *tree, int node)
{
    int kind = tree->nodes[node].is;
    if (kind == RS_NODE_SUBSCRIPT || rs_node_is_unary(tree, node, "*"))
        return true;
    int child = rs_node_inner(tree, rs_node_child(tree, node, 0));
    return kind == RS_NODE_MEMBER && child >= 0 &&
           (rs_node_is_pointer(tree, child) || rs_node_is_memory(tree, child));
}

size_t rs_node_declaration(const rs_tree *tree, int node)
{
    node = rs_node_inner(tree, node);
    if (node < 0 || tree->nodes[node].is != RS_NODE_REFERENCE)
        return 0;
    const rs_syntax_declaration *declared = tree->nodes[node].declaration;
    return rs_is_variable(declared) ? declared->place : 0;
}

int rs_node_assigned(const rs_tree *tree, int node)
{
    int left = rs_node_child(tree, node, 0);
    return left >= 0 && rs_node_is_assignment(tree, node) ? rs_node_inner(tree, left) : -1;
}

/* ---- refusals ---- */

static void refuse(rs_nest *nest, size_t offset, const char *format, va_list arguments)
{
    char sentence[512];
    const char *file;
    size_t line;
    if (nest->refusal != NULL)
        return;
    vsnprintf(sentence, sizeof sentence, format, arguments);
    nest->refusal = strdup(sentence);
    rs_flat_locate(&nest->program->flat, offset, &file, &line);
    nest->refusal_line = (int)line;
}

bool rs_nest_refuse(rs_nest *nest, int node, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    refuse(nest, nest->program->tree.nodes[node].begin, format, arguments);
    va_end(arguments);
    return false;
}

bool rs_nest_refuse_at(rs_nest *nest, size_t offset, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    refuse(nest, offset, format, arguments);
    va_end(arguments);
    return false;
}

/* ---- references ---- */

const char *rs_nest_text(const rs_nest *nest, int node, int *length)
{
    const rs_node *n = &nest->program->tree.nodes[node];
    *length = (int)(n->end - n->begin);
    return nest->program->tree.text + n->begin;
}

bool rs_nest_has(const rs_nest *nest, int reference)
{
    return nest->count > 0 && rs_nest_loop_has(nest, &nest->loops[0], reference);
}

bool rs_nest_loop_has(const rs_nest *nest, const rs_nest_loop *loop, int reference)
{
    return loop->loop >= 0 &&
           rs_unit_is_within(nest->unit, nest->unit->references[reference].loop, loop->loop);
}

int rs_nest_reference(const rs_nest *nest, int node)
{
    size_t begin = nest->program->tree.nodes[node].begin;
    for (int i = 0; i < nest->unit->reference_count; i++)
        if (nest->unit->references[i].offset == begin && rs_nest_has(nest, i))
            return i;
    return -1;
}

/* ---- loops ---- */

const char *rs_nest_loop_type(const rs_nest *nest, const rs_nest_loop *loop)
{
    const rs_tree *tree = &nest->program->tree;
    return rs_kind_name(rs_kind_of(rs_type_of(tree, rs_node_child(tree, loop->parts.begin, 0))));
}

rs_nest_condition rs_nest_condition_of(const rs_nest *nest, const rs_nest_loop *loop)
{
    static const struct {
        const char *text;
        bool down, equal;
    } operators[] = {
        {"<", false, false}, {"<=", false, true}, {">", true, false}, {">=", true, true}};
    const rs_tree *tree = &nest->program->tree;
    rs_nest_condition found = {-1, false, false};
    int condition = loop->parts.condition < 0 ? -1 : rs_node_inner(tree, loop->parts.condition);
    if (condition < 0 || tree->nodes[condition].is != RS_NODE_BINARY)
        return found;
    int left = rs_node_child(tree, condition, 0), right = rs_node_child(tree, condition, 1);
    size_t own = tree->nodes[rs_node_child(tree, loop->parts.begin, 0)].place;
    bool swapped = rs_node_declaration(tree, left) != own;
    if (swapped && rs_node_declaration(tree, right) != own)
        return found;
    for (size_t i = 0; i < sizeof operators / sizeof operators[0]; i++)
        if (rs_node_is_binary(tree, condition, operators[i].text))
            found = (rs_nest_condition){swapped ? left : right, operators[i].down != swapped,
                                        operators[i].equal};
    return found;
}

void rs_nest_free(rs_nest *nest)
{
    for (int i = 0; i < nest->count; i++)
        free(nest->loops[i].variable);
    free(nest->refusal);
}
