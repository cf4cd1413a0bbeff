/*
 * Expressions. One that is the same for all iterations stays as it is written; all others are built
 * anew, with C's conversions written out, because OpenCL C converts no vector by itself. Functions
 * are called for each element, so that they give what they give elsewhere.
 */
#include "apply/lanes.h"

#include "source/query.h"

#include <string.h>

/* 0 and -1 in elements of `kind`. */
static rs_lane_value as_mask(rs_lanes *b, rs_lane_value v, rs_kind kind)
{
    rs_text text = RS_TEXT_EMPTY;
    if (v.text == NULL || (v.mask && v.kind == kind))
        return v;
    if (v.mask)
        rs_text_format(&text, "convert_%s%d(%s)", rs_kind_name(kind), b->width, v.text);
    else if (v.vector)
        rs_text_format(&text, "convert_%s%d(%s != (%s)0)", rs_kind_name(kind), b->width, v.text,
                       rs_kind_name(v.kind));
    else
        rs_text_format(&text, "((%s%d)(%s != 0 ? -1 : 0))", rs_kind_name(kind), b->width, v.text);
    rs_lane_value made = rs_lanes_make(b, &text, kind, true);
    made.mask = made.text != NULL;
    return made;
}

static rs_lane_value compare(rs_lanes *b, rs_lane_value left, rs_lane_value right,
                             const char *symbol)
{
    rs_text text = RS_TEXT_EMPTY;
    rs_kind kind = rs_kind_common(left.kind, right.kind);
    left = rs_lanes_widen(b, rs_lanes_convert(b, left, kind));
    right = rs_lanes_widen(b, rs_lanes_convert(b, right, kind));
    if (left.text == NULL || right.text == NULL)
        return RS_NO_VALUE;
    rs_text_format(&text, "(%s %s %s)", left.text, symbol, right.text);
    rs_lane_value made = rs_lanes_make(b, &text, rs_kind_mask(kind), true);
    made.mask = made.text != NULL;
    return made;
}

static rs_lane_value combine_masks(rs_lanes *b, rs_lane_value left, rs_lane_value right,
                                   const char *symbol)
{
    rs_text text = RS_TEXT_EMPTY;
    left = as_mask(b, left, RS_KIND_LONG);
    right = as_mask(b, right, RS_KIND_LONG);
    if (left.text == NULL || right.text == NULL)
        return RS_NO_VALUE;
    rs_text_format(&text, "(%s %s %s)", left.text, symbol, right.text);
    rs_lane_value made = rs_lanes_make(b, &text, RS_KIND_LONG, true);
    made.mask = made.text != NULL;
    return made;
}

rs_lane_value rs_lanes_calculate(rs_lanes *b, int node, rs_lane_value left, rs_lane_value right,
                                 const char *symbol)
{
    rs_text text = RS_TEXT_EMPTY;
    if (left.text == NULL || right.text == NULL)
        return RS_NO_VALUE;
    bool shifts = strcmp(symbol, "<<") == 0 || strcmp(symbol, ">>") == 0;
    rs_kind kind = shifts ? rs_kind_promoted(left.kind) : rs_kind_common(left.kind, right.kind);
    if (left.mask || right.mask)
        kind = rs_kind_common(kind, RS_KIND_INT);
    if (b->guards > 0 && rs_kind_is_integer(kind) && strpbrk(symbol, "/%") != NULL)
        return rs_lanes_refuse(b, node, "may divide by zero where its condition does not hold");
    left = rs_lanes_convert(b, left, kind);
    right = rs_lanes_convert(b, right, kind);
    if (left.text == NULL || right.text == NULL)
        return RS_NO_VALUE;
    if (!left.vector && right.vector)
        left = rs_lanes_widen(b, left);
    rs_text_format(&text, "(%s %s %s)", left.text, symbol, right.text);
    return rs_lanes_make(b, &text, kind, left.vector || right.vector);
}

static rs_lane_value express_binary(rs_lanes *b, int node)
{
    static const struct {
        const char *symbol;
        rs_lane_value (*apply)(rs_lanes *b, rs_lane_value left, rs_lane_value right,
                               const char *symbol);
        const char *vector;
    } masks[] = {{"<", compare, "<"},        {">", compare, ">"},       {"<=", compare, "<="},
                 {">=", compare, ">="},      {"==", compare, "=="},     {"!=", compare, "!="},
                 {"&&", combine_masks, "&"}, {"||", combine_masks, "|"}};
    int first = rs_node_child(b->tree, node, 0), second = rs_node_child(b->tree, node, 1);
    const char *symbol = b->tree->nodes[node].symbol;
    if (second < 0)
        return rs_lanes_refuse(b, node, "is no expression that has a vector form");
    if (strcmp(symbol, "=") == 0)
        return rs_lanes_refuse(b, node, "assigns inside an expression");
    if (strchr(symbol, ',') != NULL)
        return rs_lanes_refuse(b, node, "has a comma");
    rs_lane_value left = rs_lanes_express(b, first);
    rs_lane_value right = rs_lanes_express(b, second);
    if (left.text == NULL || right.text == NULL)
        return RS_NO_VALUE;
    for (size_t i = 0; i < sizeof masks / sizeof masks[0]; i++)
        if (strcmp(masks[i].symbol, symbol) == 0)
            return masks[i].apply(b, left, right, masks[i].vector);
    return rs_lanes_calculate(b, node, left, right, symbol);
}

static rs_lane_value express_unary(rs_lanes *b, int node)
{
    rs_text text = RS_TEXT_EMPTY;
    int child = rs_node_child(b->tree, node, 0);
    rs_lane_value v = rs_lanes_express(b, child);
    if (v.text == NULL)
        return v;
    if (rs_node_is_unary(b->tree, node, "!")) {
        rs_lane_value zero = {"0", RS_KIND_INT, false, false};
        if (!v.mask)
            return compare(b, v, zero, "==");
        rs_text_format(&text, "(~%s)", v.text);
        rs_lane_value made = rs_lanes_make(b, &text, v.kind, true);
        made.mask = made.text != NULL;
        return made;
    }
    v = rs_lanes_convert(b, v, rs_kind_promoted(v.kind));
    if (v.text != NULL && rs_node_is_unary(b->tree, node, "- + ~")) {
        rs_text_format(&text, "(%s%s)", b->tree->nodes[node].symbol, v.text);
        return rs_lanes_make(b, &text, v.kind, v.vector);
    }
    return rs_lanes_refuse(b, node, "is no expression that has a vector form");
}

/* Both sides are computed; what must not be is refused where it is met. */
static rs_lane_value express_conditional(rs_lanes *b, int node)
{
    rs_text text = RS_TEXT_EMPTY;
    rs_lane_value condition = rs_lanes_express(b, rs_node_child(b->tree, node, 0));
    b->guards++;
    rs_lane_value yes = rs_lanes_express(b, rs_node_child(b->tree, node, 1));
    rs_lane_value no = rs_lanes_express(b, rs_node_child(b->tree, node, 2));
    b->guards--;
    if (condition.text == NULL || yes.text == NULL || no.text == NULL)
        return RS_NO_VALUE;
    rs_kind kind = rs_kind_common(yes.kind, no.kind);
    yes = rs_lanes_widen(b, rs_lanes_convert(b, yes, kind));
    no = rs_lanes_widen(b, rs_lanes_convert(b, no, kind));
    condition = as_mask(b, condition, rs_kind_mask(kind));
    if (condition.text == NULL || yes.text == NULL || no.text == NULL)
        return RS_NO_VALUE;
    rs_text_format(&text, "select(%s, %s, %s)", no.text, yes.text, condition.text);
    return rs_lanes_make(b, &text, kind, true);
}

static rs_lane_value express_cast(rs_lanes *b, int node)
{
    int inner = -1;
    rs_kind kind = rs_kind_of(rs_type_of(b->tree, node));
    RS_EACH_CHILD(child, b->tree, node)
        inner = child;
    if (kind == RS_KIND_NONE || inner < 0)
        return rs_lanes_refuse(b, node, "has a type that is no number");
    return rs_lanes_convert(b, rs_lanes_express(b, inner), kind);
}

/* The type of an argument, and of the result with -1. */
static rs_kind kind_of_call(const rs_lanes *b, const rs_syntax_declaration *function,
                            const char *name, int argument, rs_kind own)
{
    bool is_float;
    if (rs_function_find(name, &is_float) == NULL)
        return rs_kind_of(argument < 0 ? rs_result_type(function)
                                       : rs_declared_type(rs_parameter(function, argument)));
    if (b->nest->program->language != RS_LANGUAGE_C)
        return own == RS_KIND_DOUBLE ? RS_KIND_DOUBLE : RS_KIND_FLOAT;
    return is_float ? RS_KIND_FLOAT : RS_KIND_DOUBLE;
}

static rs_lane_value express_call(rs_lanes *b, int node)
{
    enum { MOST = 8 };
    rs_lane_value arguments[MOST];
    int count = -1;
    const rs_syntax_declaration *function = b->tree->nodes[node].declaration;
    if (!rs_function_is_callable(b->tree, function))
        return rs_lanes_refuse(b, node, "calls a function that kernels do not have");
    const char *name = function->name;
    rs_kind kind = RS_KIND_NONE;
    bool ok = true;
    for (int child = b->tree->nodes[node].first; child >= 0 && ok;
         child = b->tree->nodes[child].next, count++) {
        if (count < 0)
            continue; /* the function's name */
        ok = count < MOST;
        rs_lane_value v = ok ? rs_lanes_express(b, child) : RS_NO_VALUE;
        kind = v.kind > kind ? v.kind : kind;
        if (ok)
            arguments[count] = rs_lanes_name(
                b, rs_lanes_widen(
                       b, rs_lanes_convert(b, v, kind_of_call(b, function, name, count, v.kind))));
        ok = ok && arguments[count].text != NULL;
    }
    kind = kind_of_call(b, function, name, -1, kind);
    rs_text text = RS_TEXT_EMPTY;
    rs_text_format(&text, "(%s%d)(", kind != RS_KIND_NONE ? rs_kind_name(kind) : "?", b->width);
    for (int lane = 0; lane < b->width && ok; lane++) {
        rs_text_format(&text, "%s%s(", lane > 0 ? ", " : "", name);
        for (int i = 0; i < count; i++)
            rs_text_format(&text, "%s%s.s%x", i > 0 ? ", " : "", arguments[i].text, (unsigned)lane);
        rs_text_add_string(&text, ")");
    }
    rs_text_add_string(&text, ")");
    if (ok && kind != RS_KIND_NONE)
        return rs_lanes_make(b, &text, kind, true);
    rs_text_free(&text);
    return b->no_memory ? RS_NO_VALUE
                        : rs_lanes_refuse(b, node, "calls a function that has no vector form");
}

static rs_lane_value express_same(rs_lanes *b, int node)
{
    rs_text text = RS_TEXT_EMPTY;
    int length;
    const char *source = rs_nest_text(b->nest, node, &length);
    rs_kind kind = rs_kind_of(rs_type_of(b->tree, node));
    if (kind == RS_KIND_NONE)
        return rs_lanes_refuse(b, node, "has a type that is no number");
    rs_text_format(&text, "(%.*s)", length, source);
    return rs_lanes_make(b, &text, kind, false);
}

static rs_lane_value express_name(rs_lanes *b, int node)
{
    rs_text text = RS_TEXT_EMPTY;
    int length;
    const char *source = rs_nest_text(b->nest, node, &length);
    bool counts = rs_node_declaration(b->tree, node) == b->variable;
    rs_text_format(&text, "%.*s%s", length, source, counts ? "_lanes" : "");
    return rs_lanes_make(b, &text, rs_kind_of(rs_type_of(b->tree, node)), true);
}

rs_lane_value rs_lanes_express(rs_lanes *b, int node)
{
    node = rs_node_inner(b->tree, node);
    if (b->sum != NULL && node == b->sum->leaf) {
        rs_text text = RS_TEXT_EMPTY;
        rs_text_format(&text, "restride_sum%d", b->sums);
        return rs_lanes_make(b, &text, b->sum->kind, true);
    }
    if (!rs_lanes_varies(b, node) &&
        (b->sum == NULL || !rs_node_holds(b->tree, node, b->sum->leaf)))
        return express_same(b, node);
    if (rs_node_is_memory(b->tree, node)) {
        int reference = rs_nest_reference(b->nest, node);
        return reference >= 0 ? rs_lanes_load(b, node, reference)
                              : rs_lanes_refuse(b, node, "is not followed by the analysis");
    }
    switch (b->tree->nodes[node].is) {
    case RS_NODE_REFERENCE:
        return express_name(b, node);
    case RS_NODE_BINARY:
        return express_binary(b, node);
    case RS_NODE_UNARY:
        return express_unary(b, node);
    case RS_NODE_CONDITIONAL:
        return express_conditional(b, node);
    case RS_NODE_CAST:
        return express_cast(b, node);
    case RS_NODE_CALL:
        return express_call(b, node);
    default:
        return rs_lanes_refuse(b, node, "is no expression that has a vector form");
    }
}
