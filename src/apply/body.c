/* The body of a loop as vectors: its statements, and the sums that it gathers. */
#include "apply/body.h"

#include "apply/lanes.h"
#include "source/query.h"

#include <stdlib.h>
#include <string.h>

/* ---- sums ---- */

static int first_operand(const rs_tree *tree, int node)
{
    node = rs_node_inner(tree, node);
    while (rs_node_is_binary(tree, node, "+ -"))
        node = rs_node_inner(tree, rs_node_child(tree, node, 0));
    return node;
}

/* Whether a node below `at` touches what the sum is kept in, other than in its own statement. */
static bool is_touched(const rs_lanes *b, const rs_gathering *sum, int at)
{
    const rs_tree *tree = b->tree;
    if (at == sum->left || at == sum->leaf)
        return false;
    size_t declaration = rs_node_declaration(tree, sum->left);
    if (declaration != 0 && tree->nodes[at].is == RS_NODE_REFERENCE &&
        rs_node_declaration(tree, at) == declaration)
        return true;
    if (declaration == 0 && rs_node_is_memory(tree, at)) {
        int reference = rs_nest_reference(b->nest, at), own = rs_nest_reference(b->nest, sum->left);
        if (reference >= 0 &&
            b->nest->unit->references[reference].array == b->nest->unit->references[own].array)
            return true;
    }
    RS_EACH_CHILD(child, tree, at)
        if (is_touched(b, sum, child))
            return true;
    return false;
}

/* Whether the sum is the same element in all iterations of the vector's loop and those inside. */
static bool is_fixed(const rs_lanes *b, int left)
{
    const rs_nest *nest = b->nest;
    int reference = rs_node_declaration(b->tree, left) != 0 ? -1 : rs_nest_reference(nest, left);
    for (int i = 0; i < nest->count && reference >= 0; i++) {
        const rs_access *access = &nest->accesses->accesses[reference];
        if (!rs_unit_is_within(nest->unit, nest->loops[i].loop, b->loop->loop))
            continue;
        for (int row = 0; row < access->rows; row++) {
            rs_polynomial entry =
                rs_access_entry(access, row, nest->unit->loops[nest->loops[i].loop].symbol);
            if (!rs_polynomial_is_zero(&entry))
                return false;
        }
    }
    return true;
}

static void write_sum(rs_lanes *b, const rs_gathering *sum)
{
    const char *type = rs_kind_name(sum->kind);
    int length;
    const char *left = rs_nest_text(b->nest, sum->left, &length);
    rs_text_format(b->before, "        %s%d restride_sum%d = (%s%d)(0);\n", type, b->width, b->sums,
                   type, b->width);
    rs_text_format(b->after, "        %.*s += ", length, left);
    for (int lane = 0; lane < b->width; lane++)
        rs_text_format(b->after, "%srestride_sum%d.s%x", lane > 0 ? " + " : "", b->sums,
                       (unsigned)lane);
    rs_text_add_string(b->after, ";\n");
}

/* "s += e", "s -= e" or "s = s + e": into an accumulator that has an element for each iteration. */
static bool gather(rs_lanes *b, int node, int left, int right, const char *symbol)
{
    rs_gathering sum = {left, -1, rs_kind_of(rs_type_of(b->tree, left))};
    int operand = first_operand(b->tree, right);
    int length, other_length;
    const char *own = rs_nest_text(b->nest, left, &length);
    const char *other = rs_nest_text(b->nest, operand, &other_length);
    bool plain = strcmp(symbol, "=") == 0;
    if (plain && operand != rs_node_inner(b->tree, right) && length == other_length &&
        memcmp(own, other, (size_t)length) == 0)
        sum.leaf = operand;
    bool sums = sum.leaf >= 0 || strcmp(symbol, "+=") == 0 || strcmp(symbol, "-=") == 0;
    if (!b->loop->reduction || !sums || sum.kind == RS_KIND_NONE || !is_fixed(b, left) ||
        is_touched(b, &sum, b->loop->parts.body))
        return rs_lanes_refuse(b, node,
                               "assigns the same variable in all iterations, and is no sum")
            .vector;
    b->sums++;
    b->sum = &sum;
    rs_text name = RS_TEXT_EMPTY;
    rs_text_format(&name, "restride_sum%d", b->sums);
    rs_lane_value total = rs_lanes_make(b, &name, sum.kind, true);
    rs_lane_value added = rs_lanes_express(b, right);
    b->sum = NULL;
    char sign[2] = {symbol[0], '\0'};
    rs_lane_value v = plain ? added : rs_lanes_calculate(b, node, total, added, sign);
    v = rs_lanes_widen(b, rs_lanes_convert(b, v, sum.kind));
    if (v.text == NULL || total.text == NULL)
        return false;
    rs_lanes_indent(b);
    rs_text_format(b->text, "%s = %s;\n", total.text, v.text);
    write_sum(b, &sum);
    return true;
}

/* ---- statements ---- */

static bool write_statement(rs_lanes *b, int node);

static bool assign_local(rs_lanes *b, int left, rs_lane_value v)
{
    rs_kind kind = rs_kind_of(rs_type_of(b->tree, left));
    int length;
    const char *name = rs_nest_text(b->nest, left, &length);
    v = rs_lanes_convert(b, v, kind);
    if (v.text == NULL)
        return false;
    rs_lanes_indent(b);
    rs_text_format(b->text, "%.*s = %s;\n", length, name, v.text);
    return true;
}

static bool write_assignment(rs_lanes *b, int node)
{
    int left = rs_node_inner(b->tree, rs_node_child(b->tree, node, 0));
    int right = rs_node_child(b->tree, node, 1);
    const char *symbol = b->tree->nodes[node].symbol;
    if (right < 0)
        return rs_lanes_refuse(b, node, "has no vector form").vector;
    size_t declaration = rs_node_declaration(b->tree, left);
    int reference = declaration == 0 ? rs_nest_reference(b->nest, left) : -1;
    bool local = declaration != 0 && rs_lanes_is_inside(b, declaration);
    if (declaration != 0 && !local && rs_lanes_varies(b, right))
        return gather(b, node, left, right, symbol);
    if (declaration != 0 && !local)
        return rs_lanes_refuse(b, node, "assigns a variable that is declared outside the loop")
            .vector;
    if (declaration == 0 && reference < 0)
        return rs_lanes_refuse(b, node, "is not followed by the analysis").vector;
    if (declaration == 0 && rs_lanes_placed(b, reference) == RS_PLACED_UNIFORM)
        return gather(b, node, left, right, symbol);
    if (declaration != 0 && !rs_lanes_is_local(b, declaration)) { /* the same for all */
        int length;
        const char *text = rs_nest_text(b->nest, node, &length);
        rs_lanes_indent(b);
        rs_text_format(b->text, "%.*s;\n", length, text);
        return true;
    }
    rs_lane_value v = rs_lanes_express(b, right);
    if (b->tree->nodes[node].is == RS_NODE_ASSIGN && v.text != NULL) {
        const char sign[] = {symbol[0], symbol[1] == '=' ? '\0' : symbol[1], '\0'};
        v = rs_lanes_calculate(b, node, rs_lanes_express(b, left), v, sign);
    }
    if (v.text == NULL)
        return false;
    return declaration != 0 ? assign_local(b, left, v) : rs_lanes_store(b, left, reference, v);
}

static bool write_declaration(rs_lanes *b, int declared)
{
    const rs_node *n = &b->tree->nodes[declared];
    const rs_syntax_type *type = rs_type_of(b->tree, declared);
    rs_kind kind = rs_kind_of(type);
    int initial = -1;
    for (int child = n->first; child >= 0; child = b->tree->nodes[child].next)
        initial = child;
    if (n->is != RS_NODE_VARIABLE || kind == RS_KIND_NONE)
        return rs_lanes_refuse(b, declared, "declares something that is no number").vector;
    bool vector = rs_lanes_is_local(b, n->place);
    rs_lane_value v = RS_NO_VALUE;
    if (initial >= 0) {
        v = rs_lanes_convert(b, rs_lanes_express(b, initial), kind);
        if (v.text == NULL)
            return false;
    }
    rs_lanes_indent(b);
    if (vector)
        rs_text_format(b->text, "%s%d %s", rs_kind_name(kind), b->width, n->name);
    else
        rs_text_format(b->text, "%s %s", rs_kind_name(kind), n->name);
    rs_text_format(b->text, v.text != NULL ? " = %s;\n" : "%s;\n", v.text != NULL ? v.text : "");
    return true;
}

static bool write_for(rs_lanes *b, int node)
{
    const rs_nest_loop *loop = NULL;
    for (int i = 0; i < b->nest->count; i++)
        if (b->nest->loops[i].node == node)
            loop = &b->nest->loops[i];
    if (loop == NULL || loop->parts.body < 0)
        return rs_lanes_refuse(b, node, "is not followed by the analysis").vector;
    const int header[] = {loop->parts.begin, loop->parts.condition, loop->parts.step};
    for (int i = 0; i < 3; i++)
        if (header[i] >= 0 && rs_lanes_varies(b, header[i]))
            return rs_lanes_refuse(b, header[i], "differs between the iterations of a vector")
                .vector;
    rs_lanes_indent(b);
    bool opened = rs_kernels_write_for(b->kernels, b->text, loop);
    rs_text_add_string(b->text, "{\n");
    b->depth++;
    bool ok = write_statement(b, loop->parts.body);
    b->depth--;
    rs_lanes_indent(b);
    rs_text_add_string(b->text, opened ? "}\n}\n" : "}\n");
    return ok;
}

static bool write_if(rs_lanes *b, int node)
{
    int parts[3] = {-1, -1, -1}, count = 0, length;
    for (int child = b->tree->nodes[node].first; child >= 0 && count < 3;
         child = b->tree->nodes[child].next)
        parts[count++] = child;
    if (count < 2 || rs_lanes_varies(b, parts[0]))
        return rs_lanes_refuse(b, parts[0] >= 0 ? parts[0] : node,
                               "is a condition that differs between the iterations of a vector")
            .vector;
    const char *condition = rs_nest_text(b->nest, parts[0], &length);
    bool ok = true;
    rs_lanes_indent(b);
    rs_text_format(b->text, "if (%.*s) {\n", length, condition);
    for (int i = 1; i < count && ok; i++) {
        b->depth++;
        ok = write_statement(b, parts[i]);
        b->depth--;
        rs_lanes_indent(b);
        rs_text_add_string(b->text, i + 1 < count ? "} else {\n" : "}\n");
    }
    return ok;
}

static bool write_children(rs_lanes *b, int node, bool (*write)(rs_lanes *b, int node))
{
    RS_EACH_CHILD(child, b->tree, node)
        if (!write(b, child))
            return false;
    return true;
}

/* "i++" of a variable that is the same for all. */
static bool write_step(rs_lanes *b, int node)
{
    int left = rs_node_assigned(b->tree, node), length;
    size_t declaration = left < 0 ? 0 : rs_node_declaration(b->tree, left);
    if (declaration == 0 || !rs_lanes_is_inside(b, declaration) ||
        rs_lanes_is_local(b, declaration))
        return rs_lanes_refuse(b, node, "has no vector form").vector;
    const char *text = rs_nest_text(b->nest, node, &length);
    rs_lanes_indent(b);
    rs_text_format(b->text, "%.*s;\n", length, text);
    return true;
}

/* A value that is used more or less often than it is written would be assigned as often. */
static bool assigns_below(const rs_tree *tree, int node)
{
    for (int at = node + 1, end = rs_node_behind(tree, node); at < end; at++)
        if (rs_node_assigned(tree, at) >= 0)
            return true;
    return false;
}

static bool write_statement(rs_lanes *b, int node)
{
    bool ok = true;
    int kind = b->tree->nodes[node].is;
    int condition = kind == RS_NODE_IF ? rs_node_child(b->tree, node, 0) : -1;
    bool plain = kind == RS_NODE_DECLARE || kind == RS_NODE_BINARY || kind == RS_NODE_ASSIGN;
    if ((plain && assigns_below(b->tree, node)) ||
        (condition >= 0 && assigns_below(b->tree, condition)))
        return rs_lanes_refuse(b, node, "assigns inside an expression").vector;
    switch (kind) {
    case RS_NODE_COMPOUND:
        if (node == b->loop->parts.body)
            return write_children(b, node, write_statement);
        rs_lanes_indent(b);
        rs_text_add_string(b->text, "{\n");
        b->depth++;
        ok = write_children(b, node, write_statement);
        b->depth--;
        rs_lanes_indent(b);
        rs_text_add_string(b->text, "}\n");
        return ok;
    case RS_NODE_DECLARE:
        return write_children(b, node, write_declaration);
    case RS_NODE_BINARY:
    case RS_NODE_ASSIGN:
        return write_assignment(b, node);
    case RS_NODE_FOR:
        return write_for(b, node);
    case RS_NODE_IF:
        return write_if(b, node);
    case RS_NODE_UNARY:
        return write_step(b, node);
    case RS_NODE_EMPTY:
        return true;
    default:
        return rs_lanes_refuse(b, node, "is a statement that has no vector form").vector;
    }
}

restride_status rs_body_write(const rs_kernels *kernels, rs_text *text, rs_text *before,
                              rs_text *after)
{
    rs_lanes *b = calloc(1, sizeof *b);
    if (b == NULL)
        return rs_fail_memory("the body of a loop");
    b->kernels = kernels;
    b->nest = kernels->nest;
    b->tree = &kernels->nest->program->tree;
    b->loop = &b->nest->loops[b->nest->vector];
    b->width = kernels->width;
    b->depth = 3;
    b->text = text;
    b->before = before;
    b->after = after;
    b->variable = b->tree->nodes[rs_node_child(b->tree, b->loop->parts.begin, 0)].place;
    while (rs_lanes_mark_locals(b, b->loop->parts.body)) {
    }
    bool ok = write_statement(b, b->loop->parts.body);
    bool no_memory = b->no_memory || text->failed || before->failed || after->failed;
    for (int i = 0; i < b->kept_count; i++)
        free(b->kept[i]);
    free(b);
    if (no_memory)
        return rs_fail_memory("the body of a loop");
    if (!ok && kernels->nest->refusal == NULL)
        rs_nest_refuse(kernels->nest, kernels->nest->node, "the body has no vector form");
    return RESTRIDE_OK;
}
