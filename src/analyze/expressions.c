/* What an expression's value is, with every array element that it touches on the way. */
#include "analyze/evaluate.h"
#include "source/query.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

enum { STEP_LIMIT = 400000 };

/* Writes a node's text as one line, as far as there is room; its whole length. */
static size_t write_line(const rs_walk *walk, int node, char *line, size_t room)
{
    const rs_node *n = &walk->tree->nodes[node];
    size_t length = 0;
    bool blank = false;
    for (size_t i = n->begin; i < n->end; i++) {
        const char c = walk->tree->text[i];
        if (isspace((unsigned char)c)) {
            blank = length > 0;
            continue;
        }
        if (blank && length++ + 1 < room)
            line[length - 1] = ' ';
        blank = false;
        if (length++ + 1 < room)
            line[length - 1] = c;
    }
    line[length < room ? length : room - 1] = '\0';
    return length;
}

char *rs_walk_source(const rs_walk *walk, int node)
{
    const size_t room = walk->tree->nodes[node].end - walk->tree->nodes[node].begin + 1;
    char *text = malloc(room);
    if (text != NULL)
        write_line(walk, node, text, room);
    return text;
}

rs_shown_text rs_walk_text(const rs_walk *walk, int node)
{
    rs_shown_text shown;
    if (write_line(walk, node, shown.text, sizeof shown.text) >= sizeof shown.text)
        memcpy(shown.text + sizeof shown.text - 4, "...", 4);
    return shown;
}

bool rs_node_is_integer(const rs_walk *walk, int node)
{
    const rs_syntax_type *type = rs_type_of(walk->tree, node);
    return rs_type_is_integer(type) || type->kind == RS_TYPE_ENUM;
}

/* Evaluates all parts of an expression whose value is not followed. */
rs_value rs_walk_parts(rs_walk *walk, int node)
{
    rs_value result = rs_value_unknown(0, false);
    RS_EACH_CHILD(child, walk->tree, node) {
        rs_value part = rs_walk_evaluate(walk, child);
        rs_value_mix(walk, &result, &part);
    }
    return result;
}

/*
 * The values of two expressions (-1: none) of which only one is evaluated, by a condition that
 * varies with `chosen`.
 */
static void evaluate_either(rs_walk *walk, int yes, int no, rs_value *a, rs_value *b,
                            uint64_t chosen)
{
    rs_environment before;
    bool assigns =
        !rs_node_is_pure(walk->tree, yes) || (no >= 0 && !rs_node_is_pure(walk->tree, no));
    if (assigns && !rs_environment_copy(&before, &walk->variables)) {
        walk->no_memory = true;
        return;
    }
    uint64_t around = walk->reach.around;
    walk->reach.around |= chosen;
    walk->guards++;
    *a = rs_walk_evaluate(walk, yes);
    if (assigns) {
        rs_environment after = walk->variables;
        walk->variables = before;
        before = after;
    }
    if (no >= 0)
        *b = rs_walk_evaluate(walk, no);
    walk->guards--;
    walk->reach.around = around;
    if (assigns) {
        rs_walk_merge_by(walk, &before, chosen);
        rs_environment_free(&before);
    }
}

static rs_value evaluate_binary(rs_walk *walk, int node)
{
    int left = rs_node_child(walk->tree, node, 0), right = rs_node_child(walk->tree, node, 1);
    if (right < 0)
        return rs_walk_parts(walk, node);
    const char *symbol = walk->tree->nodes[node].symbol;
    rs_value result;
    if (strcmp(symbol, "=") == 0) {
        result = rs_walk_assign(walk, left, right);
    } else {
        rs_value a = rs_walk_evaluate(walk, left), b = rs_value_unknown(0, true), none;
        if (strcmp(symbol, "&&") == 0 || strcmp(symbol, "||") == 0)
            evaluate_either(walk, right, -1, &b, &none, rs_value_depends(walk, &a));
        else
            b = rs_walk_evaluate(walk, right);
        bool shift = strcmp(symbol, "<<") == 0 || strcmp(symbol, ">>") == 0;
        bool plain = symbol[0] != '\0' && symbol[1] == '\0' && strchr("+-*/%&|^", symbol[0]);
        bool number = rs_node_is_integer(walk, node) || rs_node_is_pointer(walk->tree, node);
        if (strcmp(symbol, ",") == 0)
            result = b;
        else if ((plain || shift) && (number || a.kind == RS_VALUE_ADDRESS)) {
            const rs_syntax_type *type = rs_type_of(walk->tree, node);
            a = rs_walk_widen(walk, &a, left, type);
            b = shift ? b : rs_walk_widen(walk, &b, right, type);
            result = rs_walk_operate_typed(walk, symbol[0], &a, &b, type);
            if (rs_value_starts_over(&result, type))
                result = rs_walk_convert(walk, &result, type);
        } else
            result = rs_value_like(walk, &a, &b);
    }
    return result;
}

static rs_value address_of(rs_walk *walk, int operand)
{
    rs_location place = rs_walk_locate(walk, operand);
    rs_value value = rs_value_unknown(0, true);
    if (place.kind == RS_PLACE_MEMORY || place.address.kind == RS_VALUE_POINTER)
        value = place.address;
    if (place.kind == RS_PLACE_VARIABLE) {
        rs_walk_touch(walk, &place, operand);
        value = rs_value_pointer(place.part ? 0 : place.key); /* to some bytes is to anything */
    }
    return value;
}

static rs_value evaluate_unary(rs_walk *walk, int node)
{
    const rs_tree *tree = walk->tree;
    int operand = rs_node_child(tree, node, 0);
    if (operand < 0)
        return rs_value_unknown(0, false);
    if (rs_node_is_unary(tree, node, "&"))
        return address_of(walk, operand);
    if (rs_node_is_unary(tree, node, "*")) {
        rs_location place = rs_walk_locate(walk, node);
        return rs_walk_load(walk, &place, node);
    }
    if (rs_node_is_step(tree, node))
        return rs_walk_assign_step(walk, operand, tree->nodes[node].symbol[0],
                                   rs_node_is_postfix(tree, node));
    rs_value value = rs_walk_evaluate(walk, operand);
    if (rs_node_is_unary(tree, node, "+"))
        return value;
    if (rs_node_is_unary(tree, node, "-") && value.kind == RS_VALUE_NUMBER) {
        value.number = rs_polynomial_scale(&value.number, -1);
        return value.number.known ? value : rs_value_unknown(0, true);
    }
    return rs_value_like(walk, &value, &value);
}

/* ---- the rest ---- */

/* What the compiler makes of a literal or of sizeof. */
static rs_value evaluate_constant(rs_walk *walk, int node)
{
    int64_t value;
    return rs_tree_evaluate(walk->tree, node, &value) ? rs_value_constant(value)
                                                      : rs_value_unknown(0, false);
}

static rs_value evaluate_conditional(rs_walk *walk, int node)
{
    int condition = rs_node_child(walk->tree, node, 0);
    int yes = rs_node_child(walk->tree, node, 1), no = rs_node_child(walk->tree, node, 2);
    if (no < 0)
        return rs_walk_parts(walk, node);
    rs_value c = rs_walk_evaluate(walk, condition);
    rs_value a = rs_value_unknown(0, true), b = a;
    uint64_t outer = walk->chosen, chosen = rs_value_depends(walk, &c);
    evaluate_either(walk, yes, no, &a, &b, chosen);
    walk->chosen = chosen;
    rs_value result = rs_value_merge(walk, &a, &b, rs_walk_text(walk, node).text);
    walk->chosen = outer;
    if (result.kind == RS_VALUE_UNKNOWN)
        rs_value_mix(walk, &result, &c);
    return result;
}

/* A number that becomes a pointer may point anywhere, and rows of unknown length are new ones. */
static rs_value cast_pointer(rs_walk *walk, const rs_value *value, int operand,
                             const rs_syntax_type *type)
{
    rs_value result = *value;
    operand = rs_node_inner(walk->tree, operand);
    const rs_syntax_type *from = operand < 0 ? type : rs_type_of(walk->tree, operand);
    int64_t constant;
    bool null = value->kind == RS_VALUE_NUMBER &&
                rs_polynomial_is_constant(&value->number, &constant) && constant == 0;
    if (value->kind == RS_VALUE_ADDRESS && rs_type_pitch(type) == 0 && from != type)
        return rs_walk_renew(walk, value, type);
    if (value->kind != RS_VALUE_ADDRESS && rs_type_is_integer(from) && !null) {
        result = rs_value_unknown(rs_value_depends(walk, value), true);
        result.lost = true;
    }
    return result;
}

static rs_value evaluate_cast(rs_walk *walk, int node)
{
    int last = -1;
    RS_EACH_CHILD(child, walk->tree, node)
        if (walk->tree->nodes[child].is != RS_NODE_TYPE_NAME)
            last = child;
    if (last < 0)
        return rs_value_unknown(0, false);
    rs_value value = rs_walk_evaluate(walk, last);
    const rs_syntax_type *type = rs_type_of(walk->tree, node);
    if (type->kind == RS_TYPE_POINTER)
        return cast_pointer(walk, &value, last, type);
    if (rs_node_is_integer(walk, node))
        return rs_walk_narrow(walk, &value, last, type);
    if (value.kind == RS_VALUE_UNKNOWN || value.kind == RS_VALUE_ADDRESS)
        return value;
    int64_t constant;
    return rs_polynomial_is_constant(&value.number, &constant)
               ? value
               : rs_value_like(walk, &value, &value);
}

static rs_value evaluate_memory(rs_walk *walk, int node)
{
    rs_location place = rs_walk_locate(walk, node);
    return rs_walk_load(walk, &place, node);
}

/* Where a call gives a place that nobody uses, nothing is loaded from it. */
static rs_value evaluate_call(rs_walk *walk, int node)
{
    if (!rs_walk_gives_place(walk, node))
        return rs_walk_call(walk, node);
    rs_location place = rs_walk_locate(walk, node);
    return rs_node_is_discarded(walk->tree, node) ? rs_value_unknown(0, true)
                                                  : rs_walk_load(walk, &place, node);
}

static rs_value evaluate_delete(rs_walk *walk, int node)
{
    rs_value value = rs_walk_parts(walk, node);
    int operand = rs_node_last(walk->tree, node);
    const rs_syntax_type *type =
        operand < 0 ? rs_type_of(walk->tree, node) : rs_type_below(rs_type_of(walk->tree, operand));
    if (rs_type_has_destructor(type))
        rs_walk_note_unfollowed(walk, node,
                                "What the destructor in \"%s\" touches is not followed.");
    return value;
}

/* ({ ... }): its value is that of its last statement. */
static rs_value evaluate_statements(rs_walk *walk, int node)
{
    int body = rs_node_child(walk->tree, node, 0);
    rs_value value = rs_value_unknown(0, false);
    for (int child = body < 0 ? -1 : walk->tree->nodes[body].first; child >= 0;
         child = walk->tree->nodes[child].next) {
        if (walk->tree->nodes[child].next < 0 && walk->tree->nodes[child].group == RS_NODES_EXPRESS)
            value = rs_walk_evaluate(walk, child);
        else
            rs_walk_statement(walk, child);
    }
    return value;
}

/* What braces leave out of a structure has its own constructors and defaults. */
static void make_rest(rs_walk *walk, int node, const rs_syntax_type *type, rs_value *value)
{
    bool classes = walk->program->language == RS_LANGUAGE_CUDA;
    rs_making making = classes ? rs_walk_making(walk, type->declaration, false) : RS_MAKING_NOTHING;
    if (making == RS_MAKING_NOTHING)
        return;
    value->depends |= rs_walk_anything(walk);
    value->data = true;
    if (making == RS_MAKING_ANYTHING)
        rs_walk_note_unfollowed(walk, node, "What the constructor in \"%s\" does is not followed.");
}

/* Braces around a number or a pointer; another pointer that is not followed may lead anywhere. */
static rs_value evaluate_other(rs_walk *walk, int node)
{
    const rs_syntax_type *type = rs_type_of(walk->tree, node);
    int first = rs_node_child(walk->tree, node, 0);
    bool scalar = type->kind == RS_TYPE_POINTER || rs_type_is_integer(type);
    if (walk->tree->nodes[node].is == RS_NODE_LIST && scalar && first >= 0)
        return rs_walk_evaluate(walk, first);
    rs_value value = rs_walk_parts(walk, node);
    value.lost = type->kind == RS_TYPE_POINTER;
    if (walk->tree->nodes[node].is == RS_NODE_LIST && type->kind == RS_TYPE_RECORD)
        make_rest(walk, node, type, &value);
    return value;
}

static rs_value evaluate_nothing(rs_walk *walk, int node)
{
    (void)walk, (void)node;
    return rs_value_unknown(0, false);
}

static rs_value evaluate_kind(rs_walk *walk, int node)
{
    static rs_value (*const kinds[RS_NODE_ANY_KINDS])(rs_walk * walk, int node) = {
        [RS_NODE_INTEGER] = evaluate_constant,
        [RS_NODE_SIZEOF] = evaluate_constant,
        [RS_NODE_NEW] = rs_walk_parts,
        [RS_NODE_DELETE] = evaluate_delete,
        [RS_NODE_LAMBDA] = rs_walk_make_lambda,
        [RS_NODE_STATEMENTS] = evaluate_statements,
        [RS_NODE_FLOATING] = evaluate_nothing,
        [RS_NODE_STRING] = evaluate_nothing,
        [RS_NODE_CHARACTER] = evaluate_nothing,
        [RS_NODE_TYPE_NAME] = evaluate_nothing,
        [RS_NODE_TEMPLATE_NAME] = evaluate_nothing,
        [RS_NODE_NAMESPACE_NAME] = evaluate_nothing,
        [RS_NODE_REFERENCE] = rs_walk_variable,
        [RS_NODE_SUBSCRIPT] = evaluate_memory,
        [RS_NODE_MEMBER] = evaluate_memory,
        [RS_NODE_UNARY] = evaluate_unary,
        [RS_NODE_BINARY] = evaluate_binary,
        [RS_NODE_ASSIGN] = rs_walk_assign_compound,
        [RS_NODE_CONDITIONAL] = evaluate_conditional,
        [RS_NODE_CALL] = evaluate_call,
        [RS_NODE_CAST] = evaluate_cast,
        [RS_NODE_STATIC_CAST] = evaluate_cast,
        [RS_NODE_REINTERPRET_CAST] = evaluate_cast,
        [RS_NODE_CONST_CAST] = evaluate_cast,
        [RS_NODE_FUNCTIONAL_CAST] = evaluate_cast};
    if (++walk->steps > STEP_LIMIT)
        walk->exhausted = true;
    if (walk->exhausted || walk->no_memory)
        return rs_value_unknown(0, true);
    const int kind = walk->tree->nodes[node].is;
    if (kinds[kind] != NULL)
        return kinds[kind](walk, node);
    if (kind == RS_NODE_NULL_POINTER)
        return rs_value_constant(0);
    if (kind == RS_NODE_THIS)
        return walk->self;
    return rs_walk_is_component(walk, node) ? evaluate_memory(walk, node)
                                            : evaluate_other(walk, node);
}

rs_value rs_walk_evaluate(rs_walk *walk, int node)
{
    node = rs_node_inner(walk->tree, node);
    if (node < 0)
        return rs_value_unknown(0, false);
    rs_value value = evaluate_kind(walk, node);
    if (value.kind != RS_VALUE_ADDRESS)
        return value;
    const rs_syntax_type *type = rs_type_of(walk->tree, node);
    if (!rs_type_is_integer(type))
        return rs_walk_view(walk, &value, type);
    return rs_value_unknown(rs_value_depends(walk, &value), true); /* a number made of it */
}
