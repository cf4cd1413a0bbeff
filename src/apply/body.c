/*
 * The body of a loop as vectors. An expression that is the same for all iterations stays as it is
 * written; all others are built anew, with C's conversions written out, because OpenCL C converts
 * no vector by itself. Functions are called for each element, so that they give what they give
 * elsewhere.
 */
#include "apply/body.h"

#include "apply/types.h"
#include "source/query.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

enum { LOCAL_LIMIT = 64, KEPT_LIMIT = 4096, OPERATOR_ROOM = 8 };

/* An expression in OpenCL C. */
typedef struct {
    char *text;
    rs_kind kind;
    bool vector;
    bool mask; /* 0 and -1 of a comparison of vectors */
} value;

static const value no_value = {NULL, RS_KIND_NONE, false, false};

/* A sum that is gathered over the iterations. */
typedef struct {
    int left; /* the node that is assigned */
    int leaf; /* the node that reads it in "x = x + e"; -1 */
    rs_kind kind;
} gathering;

typedef struct {
    const rs_kernels *kernels;
    rs_nest *nest;
    const rs_tree *tree;
    const rs_nest_loop *loop;
    int width, depth;
    size_t variable;            /* the declaration of the loop's */
    size_t locals[LOCAL_LIMIT]; /* declarations of variables that are vectors */
    int local_count;
    const gathering *sum; /* whose statement is written */
    int sums, temporaries, guards;
    rs_text *text, *before, *after;
    char *kept[KEPT_LIMIT]; /* strings of values, until the body is written */
    int kept_count;
    bool no_memory;
} body;

/* ---- strings and values ---- */

static char *keep(body *b, rs_text *text)
{
    char *string = rs_text_take(text);
    if (string == NULL || b->kept_count == KEPT_LIMIT) {
        b->no_memory = true;
        free(string);
        return NULL;
    }
    return b->kept[b->kept_count++] = string;
}

static value make(body *b, rs_text *text, rs_kind kind, bool vector)
{
    char *string = keep(b, text);
    return string == NULL ? no_value : (value){string, kind, vector, false};
}

static value refuse(body *b, int node, const char *what)
{
    int length;
    const char *text = rs_nest_text(b->nest, node, &length);
    rs_nest_refuse(b->nest, node, "%.*s%s %s", length > 60 ? 60 : length, text,
                   length > 60 ? "..." : "", what);
    return no_value;
}

static void indent(body *b)
{
    rs_text_format(b->text, "%*s", 4 * b->depth, "");
}

/* As the type that C would convert it to. */
static value convert(body *b, value v, rs_kind kind)
{
    rs_text text = RS_TEXT_EMPTY;
    if (v.text == NULL || (v.kind == kind && !v.mask))
        return v;
    if (v.mask) /* true is 1 in C */
        rs_text_format(&text, "convert_%s%d(%s & 1)", rs_kind_name(kind), b->width, v.text);
    else if (v.vector)
        rs_text_format(&text, "convert_%s%d(%s)", rs_kind_name(kind), b->width, v.text);
    else
        rs_text_format(&text, "((%s)%s)", rs_kind_name(kind), v.text);
    return make(b, &text, kind, v.vector);
}

static value widen(body *b, value v)
{
    rs_text text = RS_TEXT_EMPTY;
    if (v.text == NULL || v.vector)
        return v;
    rs_text_format(&text, "((%s%d)%s)", rs_kind_name(v.kind), b->width, v.text);
    return make(b, &text, v.kind, true);
}

/* Gives a vector a name, so that its elements can be taken without computing it again. */
static value name_value(body *b, value v)
{
    rs_text text = RS_TEXT_EMPTY;
    if (v.text == NULL)
        return v;
    int number = ++b->temporaries;
    indent(b);
    rs_text_format(b->text, "const %s%d restride_t%d = %s;\n", rs_kind_name(v.kind), b->width,
                   number, v.text);
    rs_text_format(&text, "restride_t%d", number);
    return make(b, &text, v.kind, true);
}

/* ---- what varies between the elements of a vector ---- */

static bool is_vector_local(const body *b, size_t declaration)
{
    for (int i = 0; i < b->local_count; i++)
        if (b->locals[i] == declaration)
            return true;
    return false;
}

static rs_placed placed(const body *b, int reference)
{
    return b->kernels->copies->placed[reference];
}

static bool varies(const body *b, int node)
{
    const rs_tree *tree = b->tree;
    size_t declaration = rs_node_declaration(tree, node);
    if (declaration != 0)
        return declaration == b->variable || is_vector_local(b, declaration);
    if (rs_node_is_memory(tree, node)) {
        int reference = rs_nest_reference(b->nest, node);
        if (reference >= 0 && placed(b, reference) != RS_PLACED_UNIFORM)
            return true;
    }
    for (int child = tree->nodes[node].first; child >= 0; child = tree->nodes[child].next)
        if (varies(b, child))
            return true;
    return false;
}

static bool add_local(body *b, size_t declaration)
{
    if (is_vector_local(b, declaration))
        return false;
    if (b->local_count == LOCAL_LIMIT) {
        b->no_memory = true;
        return false;
    }
    b->locals[b->local_count++] = declaration;
    return true;
}

static bool is_inside(const body *b, size_t offset)
{
    const rs_node *statement = &b->tree->nodes[b->loop->parts.body];
    return offset >= statement->begin && offset < statement->end;
}

/* Marks the variables below a node that get a varying value; true when one was new. */
static bool mark_locals(body *b, int node)
{
    const rs_tree *tree = b->tree;
    bool grown = false;
    int left = rs_node_assigned(tree, node);
    if (tree->nodes[node].kind == CXCursor_VarDecl) {
        for (int child = tree->nodes[node].first; child >= 0; child = tree->nodes[child].next)
            if (varies(b, child))
                grown = add_local(b, rs_cursor_offset(tree->nodes[node].cursor)) || grown;
    } else if (left >= 0) {
        size_t declaration = rs_node_declaration(tree, left);
        if (declaration != 0 && is_inside(b, declaration) && varies(b, node))
            grown = add_local(b, declaration);
    }
    for (int child = tree->nodes[node].first; child >= 0; child = tree->nodes[child].next)
        grown = mark_locals(b, child) || grown;
    return grown;
}

/* ---- one element of a vector ---- */

typedef struct {
    size_t at; /* copied so far */
    int lane;
} element;

static void write_element(body *b, rs_text *text, int node, element *e)
{
    const rs_tree *tree = b->tree;
    const rs_node *n = &tree->nodes[node];
    bool name = n->kind == CXCursor_DeclRefExpr;
    size_t declaration = name ? rs_node_declaration(tree, node) : 0;
    if (name && (declaration == b->variable || is_vector_local(b, declaration))) {
        int64_t step = b->nest->unit->loops[b->loop->loop].step;
        rs_text_add(text, tree->text + e->at, n->begin - e->at);
        rs_text_add_string(text, "(");
        rs_text_add(text, tree->text + n->begin, n->end - n->begin);
        if (declaration != b->variable)
            rs_text_format(text, ".s%x)", (unsigned)e->lane);
        else
            rs_text_format(text, " + %lld)", (long long)e->lane * (long long)step);
        e->at = n->end;
        return;
    }
    for (int child = n->first; child >= 0; child = tree->nodes[child].next)
        write_element(b, text, child, e);
}

/* The source's expression for one of the vector's iterations. */
static void write_lane(body *b, rs_text *text, int node, int lane)
{
    const rs_node *n = &b->tree->nodes[node];
    element e = {n->begin, lane};
    write_element(b, text, node, &e);
    rs_text_add(text, b->tree->text + e.at, n->end - e.at);
}

/* ---- references ---- */

static const char *space_of(const body *b, int reference)
{
    const rs_array *array = &b->nest->unit->arrays[b->nest->unit->references[reference].array];
    return array->space == RS_SPACE_CONSTANT ? "__constant const" : "__global const";
}

/* The vector of a copy in which a reference's elements are. */
static bool write_copy(body *b, rs_text *text, int reference)
{
    int number = b->kernels->copies->copy_of[reference];
    const rs_copy *copy = &b->kernels->copies->copies[number];
    const rs_reference *r = &b->nest->unit->references[reference];
    rs_polynomial rows[RS_SUBSCRIPT_LIMIT];
    bool divided, ok = true;
    rs_reference_rows(b->nest->unit, r, rows, &divided);
    rs_text_format(text, "%s_%d[", b->nest->unit->arrays[r->array].name, number + 1);
    for (int i = 0; i + 1 < copy->rows; i++)
        rs_text_add_string(text, "(");
    for (int i = 0; i + 1 < copy->rows; i++) {
        int row = rs_copy_row(copy, i);
        rs_polynomial from = rs_polynomial_subtract(&rows[row], &copy->least[row]);
        rs_text_format(text, "%s", i > 0 ? " + " : "");
        ok = rs_range_write(b->nest, text, &from) && ok;
        if (i + 2 < copy->rows)
            rs_text_format(text, ") * restride_rows_%d_%d", number + 1, i + 1);
        else
            rs_text_add_string(text, ") * restride_most + ");
    }
    rs_text_add_string(text, "restride_strip]");
    return ok;
}

/* Whether the same element is accessed under no condition as well, so that it is in its array. */
static bool is_covered(const body *b, int reference)
{
    const rs_access *own = &b->nest->accesses->accesses[reference];
    for (int i = 0; i < b->nest->unit->reference_count; i++) {
        const rs_access *other = &b->nest->accesses->accesses[i];
        if (!other->reference->guarded && other->reference->loop == own->reference->loop &&
            rs_access_same(own, other))
            return true;
    }
    return false;
}

static value load(body *b, int node, int reference)
{
    rs_kind kind = rs_kind_of(rs_node_type(b->tree, node));
    rs_text text = RS_TEXT_EMPTY;
    const rs_reference *r = &b->nest->unit->references[reference];
    if (kind == RS_KIND_NONE)
        return refuse(b, node, "has a type that is no number");
    if (r->guarded && b->guards > 0 && !is_covered(b, reference))
        return refuse(b, node, "is read under a condition, perhaps outside its array otherwise");
    switch (placed(b, reference)) {
    case RS_PLACED_ALIGNED:
        rs_text_format(&text, "(*(%s %s%d *)&", space_of(b, reference), rs_kind_name(kind),
                       b->width);
        write_lane(b, &text, node, 0);
        rs_text_add_string(&text, ")");
        break;
    case RS_PLACED_UNALIGNED:
        rs_text_format(&text, "vload%d(0, &", b->width);
        write_lane(b, &text, node, 0);
        rs_text_add_string(&text, ")");
        break;
    case RS_PLACED_COPY:
        if (!write_copy(b, &text, reference)) {
            rs_text_free(&text);
            return refuse(b, node, "has a subscript that the kernel cannot compute");
        }
        break;
    default:
        rs_text_format(&text, "(%s%d)(", rs_kind_name(kind), b->width);
        for (int lane = 0; lane < b->width; lane++) {
            rs_text_add_string(&text, lane > 0 ? ", " : "");
            write_lane(b, &text, node, lane);
        }
        rs_text_add_string(&text, ")");
    }
    return make(b, &text, kind, true);
}

static bool store(body *b, int node, int reference, value v)
{
    rs_kind kind = rs_kind_of(rs_node_type(b->tree, node));
    if (kind == RS_KIND_NONE)
        return refuse(b, node, "has a type that is no number").vector;
    v = widen(b, convert(b, v, kind));
    if (placed(b, reference) == RS_PLACED_ELEMENTS)
        v = name_value(b, v);
    if (v.text == NULL)
        return false;
    int lanes = placed(b, reference) == RS_PLACED_ELEMENTS ? b->width : 1;
    bool ok = true;
    for (int lane = 0; lane < lanes && ok; lane++) {
        indent(b);
        if (placed(b, reference) == RS_PLACED_UNALIGNED) {
            rs_text_format(b->text, "vstore%d(%s, 0, &", b->width, v.text);
            write_lane(b, b->text, node, lane);
            rs_text_add_string(b->text, ");\n");
            continue;
        }
        if (placed(b, reference) == RS_PLACED_ALIGNED)
            rs_text_format(b->text, "*(__global %s%d *)&", rs_kind_name(kind), b->width);
        if (placed(b, reference) == RS_PLACED_COPY)
            ok = write_copy(b, b->text, reference);
        else
            write_lane(b, b->text, node, lane);
        if (lanes > 1)
            rs_text_format(b->text, " = %s.s%x;\n", v.text, (unsigned)lane);
        else
            rs_text_format(b->text, " = %s;\n", v.text);
    }
    return ok || refuse(b, node, "has a subscript that the kernel cannot compute").vector;
}

/* ---- expressions ---- */

static value express(body *b, int node);

static void read_operator(const body *b, int left, int right, char symbol[OPERATOR_ROOM])
{
    int length = 0;
    for (size_t i = b->tree->nodes[left].end; i < b->tree->nodes[right].begin; i++)
        if (strchr("+-*/%<>=!&|^,", b->tree->text[i]) != NULL && length + 1 < OPERATOR_ROOM)
            symbol[length++] = b->tree->text[i];
    symbol[length] = '\0';
}

/* 0 and -1 in elements of `kind`. */
static value as_mask(body *b, value v, rs_kind kind)
{
    rs_text text = RS_TEXT_EMPTY;
    if (v.text == NULL || (v.mask && v.kind == kind))
        return v;
    if (v.mask)
        rs_text_format(&text, "convert_%s%d(%s)", rs_kind_name(kind), b->width, v.text);
    else if (v.vector)
        rs_text_format(&text, "convert_%s%d(%s != 0)", rs_kind_name(kind), b->width, v.text);
    else
        rs_text_format(&text, "((%s%d)(%s != 0 ? -1 : 0))", rs_kind_name(kind), b->width, v.text);
    value made = make(b, &text, kind, true);
    made.mask = made.text != NULL;
    return made;
}

static value compare(body *b, value left, value right, const char *symbol)
{
    rs_text text = RS_TEXT_EMPTY;
    rs_kind kind = rs_kind_common(left.kind, right.kind);
    left = widen(b, convert(b, left, kind));
    right = widen(b, convert(b, right, kind));
    if (left.text == NULL || right.text == NULL)
        return no_value;
    rs_text_format(&text, "(%s %s %s)", left.text, symbol, right.text);
    value made = make(b, &text, rs_kind_mask(kind), true);
    made.mask = made.text != NULL;
    return made;
}

static value combine_masks(body *b, value left, value right, const char *symbol)
{
    rs_text text = RS_TEXT_EMPTY;
    left = as_mask(b, left, RS_KIND_LONG);
    right = as_mask(b, right, RS_KIND_LONG);
    if (left.text == NULL || right.text == NULL)
        return no_value;
    rs_text_format(&text, "(%s %s %s)", left.text, symbol, right.text);
    value made = make(b, &text, RS_KIND_LONG, true);
    made.mask = made.text != NULL;
    return made;
}

static value calculate(body *b, int node, value left, value right, const char *symbol)
{
    rs_text text = RS_TEXT_EMPTY;
    if (left.text == NULL || right.text == NULL)
        return no_value;
    bool shifts = strcmp(symbol, "<<") == 0 || strcmp(symbol, ">>") == 0;
    rs_kind kind = shifts ? rs_kind_promoted(left.kind) : rs_kind_common(left.kind, right.kind);
    if (left.mask || right.mask)
        kind = rs_kind_common(kind, RS_KIND_INT);
    if (b->guards > 0 && rs_kind_is_integer(kind) && strpbrk(symbol, "/%") != NULL)
        return refuse(b, node, "may divide by zero where its condition does not hold");
    left = convert(b, left, kind);
    right = convert(b, right, kind);
    if (left.text == NULL || right.text == NULL)
        return no_value;
    if (!left.vector && right.vector)
        left = widen(b, left);
    rs_text_format(&text, "(%s %s %s)", left.text, symbol, right.text);
    return make(b, &text, kind, left.vector || right.vector);
}

static value express_binary(body *b, int node)
{
    static const struct {
        const char *symbol;
        value (*apply)(body *b, value left, value right, const char *symbol);
        const char *vector;
    } masks[] = {{"<", compare, "<"},        {">", compare, ">"},       {"<=", compare, "<="},
                 {">=", compare, ">="},      {"==", compare, "=="},     {"!=", compare, "!="},
                 {"&&", combine_masks, "&"}, {"||", combine_masks, "|"}};
    int first = rs_node_child(b->tree, node, 0), second = rs_node_child(b->tree, node, 1);
    char symbol[OPERATOR_ROOM];
    if (second < 0)
        return refuse(b, node, "is no expression that has a vector form");
    read_operator(b, first, second, symbol);
    if (strcmp(symbol, "=") == 0)
        return refuse(b, node, "assigns inside an expression");
    if (strchr(symbol, ',') != NULL)
        return refuse(b, node, "has a comma");
    value left = express(b, first);
    value right = express(b, second);
    if (left.text == NULL || right.text == NULL)
        return no_value;
    for (size_t i = 0; i < sizeof masks / sizeof masks[0]; i++)
        if (strcmp(masks[i].symbol, symbol) == 0)
            return masks[i].apply(b, left, right, masks[i].vector);
    return calculate(b, node, left, right, symbol);
}

static value express_unary(body *b, int node)
{
    rs_text text = RS_TEXT_EMPTY;
    int child = rs_node_child(b->tree, node, 0);
    value v = express(b, child);
    if (v.text == NULL)
        return v;
    if (rs_node_is_prefix(b->tree, node, "!")) {
        value zero = {"0", RS_KIND_INT, false, false};
        if (!v.mask)
            return compare(b, v, zero, "==");
        rs_text_format(&text, "(~%s)", v.text);
        value made = make(b, &text, v.kind, true);
        made.mask = made.text != NULL;
        return made;
    }
    static const char *const symbols[] = {"-", "+", "~"};
    v = convert(b, v, rs_kind_promoted(v.kind));
    for (int i = 0; i < 3; i++)
        if (v.text != NULL && rs_node_is_prefix(b->tree, node, symbols[i])) {
            rs_text_format(&text, "(%s%s)", symbols[i], v.text);
            return make(b, &text, v.kind, v.vector);
        }
    return refuse(b, node, "is no expression that has a vector form");
}

/* Both sides are computed; what must not be is refused where it is met. */
static value express_conditional(body *b, int node)
{
    rs_text text = RS_TEXT_EMPTY;
    value condition = express(b, rs_node_child(b->tree, node, 0));
    b->guards++;
    value yes = express(b, rs_node_child(b->tree, node, 1));
    value no = express(b, rs_node_child(b->tree, node, 2));
    b->guards--;
    if (condition.text == NULL || yes.text == NULL || no.text == NULL)
        return no_value;
    rs_kind kind = rs_kind_common(yes.kind, no.kind);
    yes = widen(b, convert(b, yes, kind));
    no = widen(b, convert(b, no, kind));
    condition = as_mask(b, condition, rs_kind_mask(kind));
    if (condition.text == NULL || yes.text == NULL || no.text == NULL)
        return no_value;
    rs_text_format(&text, "select(%s, %s, %s)", no.text, yes.text, condition.text);
    return make(b, &text, kind, true);
}

static value express_cast(body *b, int node)
{
    int inner = -1;
    rs_kind kind = rs_kind_of(rs_node_type(b->tree, node));
    for (int child = b->tree->nodes[node].first; child >= 0; child = b->tree->nodes[child].next)
        inner = child;
    if (kind == RS_KIND_NONE || inner < 0)
        return refuse(b, node, "has a type that is no number");
    return convert(b, express(b, inner), kind);
}

/* The type of an argument, and of the result with -1. */
static rs_kind kind_of_call(const body *b, CXCursor function, const char *name, int argument,
                            rs_kind own)
{
    bool is_float;
    if (rs_function_find(name, &is_float) == NULL)
        return rs_kind_of(clang_getCanonicalType(
            argument < 0
                ? clang_getCursorResultType(function)
                : clang_getCursorType(clang_Cursor_getArgument(function, (unsigned)argument))));
    if (b->nest->program->language != RS_LANGUAGE_C)
        return own == RS_KIND_DOUBLE ? RS_KIND_DOUBLE : RS_KIND_FLOAT;
    return is_float ? RS_KIND_FLOAT : RS_KIND_DOUBLE;
}

static value express_call(body *b, int node)
{
    enum { MOST = 8 };
    value arguments[MOST];
    int count = -1;
    CXCursor function = clang_getCursorReferenced(b->tree->nodes[node].cursor);
    if (clang_Cursor_isNull(function) || !rs_function_is_callable(function))
        return refuse(b, node, "calls a function that kernels do not have");
    CXString spelling = clang_getCursorSpelling(function);
    const char *name = clang_getCString(spelling);
    rs_kind kind = RS_KIND_NONE;
    bool ok = true;
    for (int child = b->tree->nodes[node].first; child >= 0 && ok;
         child = b->tree->nodes[child].next, count++) {
        if (count < 0)
            continue; /* the function's name */
        ok = count < MOST;
        value v = ok ? express(b, child) : no_value;
        kind = v.kind > kind ? v.kind : kind;
        if (ok)
            arguments[count] = name_value(
                b, widen(b, convert(b, v, kind_of_call(b, function, name, count, v.kind))));
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
    clang_disposeString(spelling);
    if (ok && kind != RS_KIND_NONE)
        return make(b, &text, kind, true);
    rs_text_free(&text);
    return b->no_memory ? no_value : refuse(b, node, "calls a function that has no vector form");
}

static value express_same(body *b, int node)
{
    rs_text text = RS_TEXT_EMPTY;
    int length;
    const char *source = rs_nest_text(b->nest, node, &length);
    rs_kind kind = rs_kind_of(rs_node_type(b->tree, node));
    if (kind == RS_KIND_NONE)
        return refuse(b, node, "has a type that is no number");
    rs_text_format(&text, "(%.*s)", length, source);
    return make(b, &text, kind, false);
}

static value express_name(body *b, int node)
{
    rs_text text = RS_TEXT_EMPTY;
    int length;
    const char *source = rs_nest_text(b->nest, node, &length);
    bool counts = rs_node_declaration(b->tree, node) == b->variable;
    rs_text_format(&text, "%.*s%s", length, source, counts ? "_lanes" : "");
    return make(b, &text, rs_kind_of(rs_node_type(b->tree, node)), true);
}

static value express(body *b, int node)
{
    node = rs_node_inner(b->tree, node);
    if (b->sum != NULL && node == b->sum->leaf) {
        rs_text text = RS_TEXT_EMPTY;
        rs_text_format(&text, "restride_sum%d", b->sums);
        return make(b, &text, b->sum->kind, true);
    }
    if (!varies(b, node) && (b->sum == NULL || !rs_node_holds(b->tree, node, b->sum->leaf)))
        return express_same(b, node);
    if (rs_node_is_memory(b->tree, node)) {
        int reference = rs_nest_reference(b->nest, node);
        return reference >= 0 ? load(b, node, reference)
                              : refuse(b, node, "is not followed by the analysis");
    }
    switch (b->tree->nodes[node].kind) {
    case CXCursor_DeclRefExpr:
        return express_name(b, node);
    case CXCursor_BinaryOperator:
        return express_binary(b, node);
    case CXCursor_UnaryOperator:
        return express_unary(b, node);
    case CXCursor_ConditionalOperator:
        return express_conditional(b, node);
    case CXCursor_CStyleCastExpr:
        return express_cast(b, node);
    case CXCursor_CallExpr:
        return express_call(b, node);
    default:
        return refuse(b, node, "is no expression that has a vector form");
    }
}

/* ---- sums ---- */

static int first_operand(const rs_tree *tree, int node)
{
    node = rs_node_inner(tree, node);
    while (tree->nodes[node].kind == CXCursor_BinaryOperator &&
           (rs_node_is_binary(tree, node, "+") || rs_node_is_binary(tree, node, "-")))
        node = rs_node_inner(tree, rs_node_child(tree, node, 0));
    return node;
}

/* Whether a node below `at` touches what the sum is kept in, other than in its own statement. */
static bool is_touched(const body *b, const gathering *sum, int at)
{
    const rs_tree *tree = b->tree;
    if (at == sum->left || at == sum->leaf)
        return false;
    size_t declaration = rs_node_declaration(tree, sum->left);
    if (declaration != 0 && tree->nodes[at].kind == CXCursor_DeclRefExpr &&
        rs_node_declaration(tree, at) == declaration)
        return true;
    if (declaration == 0 && rs_node_is_memory(tree, at)) {
        int reference = rs_nest_reference(b->nest, at), own = rs_nest_reference(b->nest, sum->left);
        if (reference >= 0 &&
            b->nest->unit->references[reference].array == b->nest->unit->references[own].array)
            return true;
    }
    for (int child = tree->nodes[at].first; child >= 0; child = tree->nodes[child].next)
        if (is_touched(b, sum, child))
            return true;
    return false;
}

/* Whether the sum is the same element in all iterations of the vector's loop and those inside. */
static bool is_fixed(const body *b, int left)
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

static void write_sum(body *b, const gathering *sum)
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
static bool gather(body *b, int node, int left, int right, const char *symbol)
{
    gathering sum = {left, -1, rs_kind_of(rs_node_type(b->tree, left))};
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
        return refuse(b, node, "assigns the same variable in all iterations, and is no sum").vector;
    b->sums++;
    b->sum = &sum;
    rs_text name = RS_TEXT_EMPTY;
    rs_text_format(&name, "restride_sum%d", b->sums);
    value total = make(b, &name, sum.kind, true);
    value added = express(b, right);
    b->sum = NULL;
    char sign[2] = {symbol[0], '\0'};
    value v = plain ? added : calculate(b, node, total, added, sign);
    v = widen(b, convert(b, v, sum.kind));
    if (v.text == NULL || total.text == NULL)
        return false;
    indent(b);
    rs_text_format(b->text, "%s = %s;\n", total.text, v.text);
    write_sum(b, &sum);
    return true;
}

/* ---- statements ---- */

static bool write_statement(body *b, int node);

static bool assign_local(body *b, int left, value v)
{
    rs_kind kind = rs_kind_of(rs_node_type(b->tree, left));
    int length;
    const char *name = rs_nest_text(b->nest, left, &length);
    v = convert(b, v, kind);
    if (v.text == NULL)
        return false;
    indent(b);
    rs_text_format(b->text, "%.*s = %s;\n", length, name, v.text);
    return true;
}

static bool write_assignment(body *b, int node)
{
    int left = rs_node_inner(b->tree, rs_node_child(b->tree, node, 0));
    int right = rs_node_child(b->tree, node, 1);
    char symbol[OPERATOR_ROOM];
    if (right < 0)
        return refuse(b, node, "has no vector form").vector;
    read_operator(b, left, right, symbol);
    size_t declaration = rs_node_declaration(b->tree, left);
    int reference = declaration == 0 ? rs_nest_reference(b->nest, left) : -1;
    bool local = declaration != 0 && is_inside(b, declaration);
    if (declaration != 0 && !local && varies(b, right))
        return gather(b, node, left, right, symbol);
    if (declaration != 0 && !local)
        return refuse(b, node, "assigns a variable that is declared outside the loop").vector;
    if (declaration == 0 && reference < 0)
        return refuse(b, node, "is not followed by the analysis").vector;
    if (declaration == 0 && placed(b, reference) == RS_PLACED_UNIFORM)
        return gather(b, node, left, right, symbol);
    if (declaration != 0 && !is_vector_local(b, declaration)) { /* the same for all */
        int length;
        const char *text = rs_nest_text(b->nest, node, &length);
        indent(b);
        rs_text_format(b->text, "%.*s;\n", length, text);
        return true;
    }
    value v = express(b, right);
    size_t operation = strlen(symbol);
    if (operation > 1 && v.text != NULL) {
        symbol[operation - 1] = '\0';
        v = calculate(b, node, express(b, left), v, symbol);
    }
    if (v.text == NULL)
        return false;
    return declaration != 0 ? assign_local(b, left, v) : store(b, left, reference, v);
}

static bool write_declaration(body *b, int declared)
{
    const rs_node *n = &b->tree->nodes[declared];
    CXType type = rs_node_type(b->tree, declared);
    rs_kind kind = rs_kind_of(type);
    int initial = -1;
    for (int child = n->first; child >= 0; child = b->tree->nodes[child].next)
        initial = child;
    if (n->kind != CXCursor_VarDecl || kind == RS_KIND_NONE)
        return refuse(b, declared, "declares something that is no number").vector;
    bool vector = is_vector_local(b, rs_cursor_offset(n->cursor));
    value v = no_value;
    if (initial >= 0) {
        v = convert(b, express(b, initial), kind);
        if (v.text == NULL)
            return false;
    }
    CXString name = clang_getCursorSpelling(n->cursor);
    indent(b);
    if (vector)
        rs_text_format(b->text, "%s%d %s", rs_kind_name(kind), b->width, clang_getCString(name));
    else
        rs_text_format(b->text, "%s %s", rs_kind_name(kind), clang_getCString(name));
    clang_disposeString(name);
    rs_text_format(b->text, v.text != NULL ? " = %s;\n" : "%s;\n", v.text != NULL ? v.text : "");
    return true;
}

static bool write_for(body *b, int node)
{
    const rs_nest_loop *loop = NULL;
    for (int i = 0; i < b->nest->count; i++)
        if (b->nest->loops[i].node == node)
            loop = &b->nest->loops[i];
    if (loop == NULL || loop->parts.body < 0)
        return refuse(b, node, "is not followed by the analysis").vector;
    const int header[] = {loop->parts.begin, loop->parts.condition, loop->parts.step};
    for (int i = 0; i < 3; i++)
        if (header[i] >= 0 && varies(b, header[i]))
            return refuse(b, header[i], "differs between the iterations of a vector").vector;
    indent(b);
    rs_kernels_write_for(b->kernels, b->text, loop);
    rs_text_add_string(b->text, "{\n");
    b->depth++;
    bool ok = write_statement(b, loop->parts.body);
    b->depth--;
    indent(b);
    rs_text_add_string(b->text, "}\n");
    return ok;
}

static bool write_if(body *b, int node)
{
    int parts[3] = {-1, -1, -1}, count = 0, length;
    for (int child = b->tree->nodes[node].first; child >= 0 && count < 3;
         child = b->tree->nodes[child].next)
        parts[count++] = child;
    if (count < 2 || varies(b, parts[0]))
        return refuse(b, parts[0] >= 0 ? parts[0] : node,
                      "is a condition that differs between the iterations of a vector")
            .vector;
    const char *condition = rs_nest_text(b->nest, parts[0], &length);
    bool ok = true;
    indent(b);
    rs_text_format(b->text, "if (%.*s) {\n", length, condition);
    for (int i = 1; i < count && ok; i++) {
        b->depth++;
        ok = write_statement(b, parts[i]);
        b->depth--;
        indent(b);
        rs_text_add_string(b->text, i + 1 < count ? "} else {\n" : "}\n");
    }
    return ok;
}

static bool write_children(body *b, int node, bool (*write)(body *b, int node))
{
    for (int child = b->tree->nodes[node].first; child >= 0; child = b->tree->nodes[child].next)
        if (!write(b, child))
            return false;
    return true;
}

/* "i++" of a variable that is the same for all. */
static bool write_step(body *b, int node)
{
    int left = rs_node_assigned(b->tree, node), length;
    size_t declaration = left < 0 ? 0 : rs_node_declaration(b->tree, left);
    if (declaration == 0 || !is_inside(b, declaration) || is_vector_local(b, declaration))
        return refuse(b, node, "has no vector form").vector;
    const char *text = rs_nest_text(b->nest, node, &length);
    indent(b);
    rs_text_format(b->text, "%.*s;\n", length, text);
    return true;
}

static bool write_statement(body *b, int node)
{
    bool ok = true;
    switch (b->tree->nodes[node].kind) {
    case CXCursor_CompoundStmt:
        if (node == b->loop->parts.body)
            return write_children(b, node, write_statement);
        indent(b);
        rs_text_add_string(b->text, "{\n");
        b->depth++;
        ok = write_children(b, node, write_statement);
        b->depth--;
        indent(b);
        rs_text_add_string(b->text, "}\n");
        return ok;
    case CXCursor_DeclStmt:
        return write_children(b, node, write_declaration);
    case CXCursor_BinaryOperator:
    case CXCursor_CompoundAssignOperator:
        return write_assignment(b, node);
    case CXCursor_ForStmt:
        return write_for(b, node);
    case CXCursor_IfStmt:
        return write_if(b, node);
    case CXCursor_UnaryOperator:
        return write_step(b, node);
    case CXCursor_NullStmt:
        return true;
    default:
        return refuse(b, node, "is a statement that has no vector form").vector;
    }
}

restride_status rs_body_write(const rs_kernels *kernels, rs_text *text, rs_text *before,
                              rs_text *after)
{
    body *b = calloc(1, sizeof *b);
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
    b->variable =
        rs_cursor_offset(b->tree->nodes[rs_node_child(b->tree, b->loop->parts.begin, 0)].cursor);
    while (mark_locals(b, b->loop->parts.body)) {
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
