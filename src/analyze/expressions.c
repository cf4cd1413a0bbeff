/* What an expression's value is, with every array element that it touches on the way. */
#include "analyze/walk.h"
#include "source/query.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

enum { TEXT_ROOM = 60, STEP_LIMIT = 400000, OPERATOR_ROOM = 8, INT_SIZE = 4 };

char *rs_walk_source(const rs_walk *walk, int node)
{
    const rs_node *n = &walk->tree->nodes[node];
    char *text = malloc(n->end - n->begin + 1);
    size_t length = 0;
    bool blank = false;
    for (size_t i = n->begin; text != NULL && i < n->end; i++) {
        char c = walk->tree->text[i];
        if (isspace((unsigned char)c)) {
            blank = length > 0;
        } else {
            if (blank)
                text[length++] = ' ';
            blank = false;
            text[length++] = c;
        }
    }
    if (text != NULL)
        text[length] = '\0';
    return text;
}

char *rs_walk_text(const rs_walk *walk, int node)
{
    char *text = rs_walk_source(walk, node);
    if (text != NULL && strlen(text) > TEXT_ROOM)
        memcpy(text + TEXT_ROOM - 3, "...", 4);
    return text;
}

static char *operator_between(const rs_walk *walk, int left, int right)
{
    char text[OPERATOR_ROOM];
    size_t length = 0;
    size_t begin = walk->tree->nodes[left].end, end = walk->tree->nodes[right].begin;
    for (size_t i = begin; i < end && length + 1 < sizeof text; i++)
        if (!isspace((unsigned char)walk->tree->text[i]))
            text[length++] = walk->tree->text[i];
    text[length] = '\0';
    return strdup(text);
}

static bool is_integer(const rs_walk *walk, int node)
{
    enum CXTypeKind kind = rs_node_type(walk->tree, node).kind;
    return (kind >= CXType_Bool && kind <= CXType_Int128) || kind == CXType_Enum;
}

/* Evaluates all parts of an expression whose value is not followed. */
static rs_value evaluate_parts(rs_walk *walk, int node)
{
    rs_value result = rs_value_unknown(0, false);
    for (int child = walk->tree->nodes[node].first; child >= 0;
         child = walk->tree->nodes[child].next) {
        rs_value part = rs_walk_evaluate(walk, child);
        result.depends |= rs_value_depends(walk, &part);
        result.data = result.data || rs_value_has_data(walk, &part);
    }
    return result;
}

/* ---- arithmetic ---- */

static rs_value move_address(rs_walk *walk, const rs_value *address, const rs_value *by, bool back)
{
    rs_polynomial step = rs_walk_number(walk, by, "offset");
    if (back)
        step = rs_polynomial_scale(&step, -1);
    rs_value result = rs_walk_move(walk, address, &step);
    result.approximated = result.approximated || by->approximated;
    result.carried_loop = -1;
    return result;
}

static const char *symbol_text(char symbol)
{
    static const struct {
        char symbol;
        const char *text;
    } texts[] = {{'/', "/"}, {'%', "%"}, {'*', "*"}, {'+', "+"},  {'-', "-"},
                 {'&', "&"}, {'|', "|"}, {'^', "^"}, {'<', "<<"}, {'>', ">>"}};
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++)
        if (texts[i].symbol == symbol)
            return texts[i].text;
    return "?";
}

static rs_polynomial operate_numbers(char symbol, const rs_polynomial *a, const rs_polynomial *b)
{
    int64_t constant, left;
    bool fixed = rs_polynomial_is_constant(b, &constant);
    switch (symbol) {
    case '+':
        return rs_polynomial_add(a, b);
    case '-':
        return rs_polynomial_subtract(a, b);
    case '*':
        return rs_polynomial_multiply(a, b);
    case '<':
        return fixed && constant >= 0 && constant < 62
                   ? rs_polynomial_scale(a, (int64_t)1 << constant)
                   : rs_polynomial_unknown();
    case '>':
        return fixed && constant >= 0 && constant < 62
                   ? rs_polynomial_divide(a, (int64_t)1 << constant)
                   : rs_polynomial_unknown();
    case '/':
        if (fixed && constant != 0 && rs_polynomial_is_constant(a, &left) &&
            !(left == INT64_MIN && constant == -1))
            return rs_polynomial_constant(left / constant);
        return fixed ? rs_polynomial_divide(a, constant) : rs_polynomial_unknown();
    case '%':
        if (fixed && constant > 0 && rs_polynomial_is_constant(a, &left))
            return rs_polynomial_constant(left % constant);
        return rs_polynomial_unknown();
    case '&':
        if (fixed && rs_polynomial_is_constant(a, &left))
            return rs_polynomial_constant(left & constant);
        return rs_polynomial_unknown();
    default:
        return rs_polynomial_unknown();
    }
}

/*
 * An operation that is not affine gets a symbol named by its text: equal ones are the same symbol.
 * What is negative is shifted and masked otherwise than it is divided. `suffix` tells operations
 * of unsigned numbers apart.
 */
static rs_value auxiliary_operation(rs_walk *walk, char symbol, const rs_polynomial *a,
                                    const rs_polynomial *b, const char *suffix)
{
    const rs_symbols *symbols = &walk->unit->symbols;
    rs_text name = RS_TEXT_EMPTY;
    int64_t constant;
    rs_polynomial folded = rs_walk_fold(walk, a);
    rs_polynomial divisor = *b;
    bool natural = rs_polynomial_is_natural(a, symbols);
    if (natural && rs_polynomial_is_constant(b, &constant) && constant > 0) {
        if (symbol == '>' && constant < 62) {
            symbol = '/';
            divisor = rs_polynomial_constant((int64_t)1 << constant);
        } else if (symbol == '&' && constant < INT64_MAX && ((constant + 1) & constant) == 0) {
            symbol = '%';
            divisor = rs_polynomial_constant(constant + 1);
        }
    }
    rs_text_add_string(&name, folded.count > 1 ? "((" : "(");
    rs_polynomial_print(&name, &folded, symbols);
    rs_text_format(&name, folded.count > 1 ? ") %s " : " %s ", symbol_text(symbol));
    rs_text_add_string(&name, divisor.count > 1 ? "(" : "");
    rs_polynomial_print(&name, &divisor, symbols);
    rs_text_format(&name, divisor.count > 1 ? ")%s)" : "%s)", suffix);
    uint64_t depends = rs_polynomial_depends(a, symbols) | rs_polynomial_depends(b, symbols);
    bool data = rs_polynomial_has_data(a, symbols) || rs_polynomial_has_data(b, symbols);
    bool exact = !name.failed && name.size < 100;
    rs_polynomial number =
        rs_walk_auxiliary(walk, exact ? name.data : "expression", depends, data, !exact);
    rs_text_free(&name);
    if (number.known && natural && rs_polynomial_is_natural(b, symbols) &&
        strchr("/%>", symbol) != NULL)
        walk->unit->symbols.symbols[number.terms[0].symbols[0]].natural = true;
    return rs_value_number(number);
}

static bool is_integer_type(CXType type)
{
    return type.kind >= CXType_Bool && type.kind <= CXType_Int128;
}

static bool is_unsigned(CXType type)
{
    return type.kind >= CXType_Bool && type.kind <= CXType_UInt128;
}

/* What an operation of these types on numbers that may be negative has behind it; "" otherwise. */
static const char *unsigned_suffix(const rs_walk *walk, char symbol, const rs_value *a,
                                   const rs_value *b, CXType type)
{
    const rs_symbols *symbols = &walk->unit->symbols;
    bool differs = is_unsigned(type) && strchr("/%>", symbol) != NULL &&
                   a->kind == RS_VALUE_NUMBER && b->kind == RS_VALUE_NUMBER &&
                   !(rs_polynomial_is_natural(&a->number, symbols) &&
                     rs_polynomial_is_natural(&b->number, symbols));
    return !differs ? "" : clang_Type_getSizeOf(type) > 4 ? "ul" : "u";
}

/* The same as rs_walk_operate() for numbers of a type. */
static rs_value operate_typed(rs_walk *walk, char symbol, const rs_value *a, const rs_value *b,
                              CXType type)
{
    const char *suffix = unsigned_suffix(walk, symbol, a, b, type);
    if (suffix[0] == '\0')
        return rs_walk_operate(walk, symbol, a, b);
    rs_value result = auxiliary_operation(walk, symbol, &a->number, &b->number, suffix);
    result.approximated = a->approximated || b->approximated;
    return result;
}

rs_value rs_walk_operate(rs_walk *walk, char symbol, const rs_value *a, const rs_value *b)
{
    if (a->kind == RS_VALUE_ADDRESS && b->kind != RS_VALUE_ADDRESS &&
        (symbol == '+' || symbol == '-'))
        return move_address(walk, a, b, symbol == '-');
    if (b->kind == RS_VALUE_ADDRESS && a->kind != RS_VALUE_ADDRESS && symbol == '+')
        return move_address(walk, b, a, false);
    if (a->kind != RS_VALUE_NUMBER || b->kind != RS_VALUE_NUMBER) {
        rs_value unknown =
            rs_value_unknown(rs_value_depends(walk, a) | rs_value_depends(walk, b),
                             rs_value_has_data(walk, a) || rs_value_has_data(walk, b));
        unknown.lost = a->lost || b->lost;
        return unknown;
    }
    rs_polynomial number = operate_numbers(symbol, &a->number, &b->number);
    rs_value result = number.known ? rs_value_number(rs_walk_fold(walk, &number))
                                   : auxiliary_operation(walk, symbol, &a->number, &b->number, "");
    result.approximated = a->approximated || b->approximated;
    return result;
}

/* Whether all numbers of a type are numbers of the other one. */
static bool holds_all(CXType wide, CXType from)
{
    int64_t size = clang_Type_getSizeOf(wide), other = clang_Type_getSizeOf(from);
    if (wide.kind == from.kind)
        return true;
    if (!is_integer_type(from) || wide.kind == CXType_Bool)
        return false;
    return is_unsigned(wide) == is_unsigned(from) ? other <= size
                                                  : is_unsigned(from) && other < size;
}

/* A number that was turned into another type and may be another one there: a symbol "(type)(...)".
 */
static rs_value converted(rs_walk *walk, const rs_value *value, CXType type)
{
    rs_text name = RS_TEXT_EMPTY;
    CXString spelling = clang_getTypeSpelling(type);
    rs_text_format(&name, "(%s)(", clang_getCString(spelling));
    clang_disposeString(spelling);
    rs_polynomial_print(&name, &value->number, &walk->unit->symbols);
    rs_text_add_string(&name, ")");
    bool exact = !name.failed && name.size < 100;
    rs_value result = rs_value_number(rs_walk_auxiliary(walk, exact ? name.data : "narrow",
                                                        rs_value_depends(walk, value),
                                                        rs_value_has_data(walk, value), !exact));
    rs_text_free(&name);
    result.approximated = value->approximated;
    return result;
}

/* Whether 32 bits surely do not hold an unsigned number of this form: i + 0xffffffffu is i - 1. */
static bool starts_over(const rs_value *value, CXType type)
{
    int64_t constant;
    return value->kind == RS_VALUE_NUMBER && is_unsigned(type) && is_integer_type(type) &&
           clang_Type_getSizeOf(type) == INT_SIZE && !rs_polynomial_is_small(&value->number) &&
           !rs_polynomial_is_constant(&value->number, &constant);
}

/*
 * A node's value where 64 bits are wanted: an unsigned number of 32 bits that would be negative
 * has started over.
 */
static rs_value widen(rs_walk *walk, const rs_value *value, int node, CXType type)
{
    node = rs_node_inner(walk->tree, node);
    if (node < 0 || value->kind != RS_VALUE_NUMBER || !is_integer_type(type) ||
        clang_Type_getSizeOf(type) <= INT_SIZE)
        return *value;
    CXType from = rs_node_type(walk->tree, node);
    if (!is_integer_type(from) || !is_unsigned(from) || clang_Type_getSizeOf(from) != INT_SIZE ||
        rs_polynomial_is_natural(&value->number, &walk->unit->symbols))
        return *value;
    return converted(walk, value, from);
}

rs_value rs_walk_narrow(rs_walk *walk, const rs_value *value, int node, CXType type)
{
    int inner = rs_node_inner(walk->tree, node);
    int64_t size = clang_Type_getSizeOf(type), constant;
    if (value->kind == RS_VALUE_NUMBER && size > INT_SIZE)
        return widen(walk, value, inner, type);
    if (value->kind != RS_VALUE_NUMBER || !is_integer_type(type) || size <= 0 || size >= INT_SIZE ||
        (inner >= 0 && holds_all(type, rs_node_type(walk->tree, inner))))
        return *value;
    int64_t most =
        type.kind == CXType_Bool ? 1 : ((int64_t)1 << (8 * size - !is_unsigned(type))) - 1;
    int64_t least = is_unsigned(type) ? 0 : -most - 1;
    bool fits = rs_polynomial_is_constant(&value->number, &constant) && constant >= least &&
                constant <= most;
    return fits ? *value : converted(walk, value, type);
}

static rs_value evaluate_assignment(rs_walk *walk, int left, int right);

/* Whether evaluating an expression may assign a variable. */
static bool may_assign(const rs_tree *tree, int node)
{
    enum CXCursorKind kind = tree->nodes[node].kind;
    if (rs_node_is_assignment(tree, node) || kind == CXCursor_CallExpr ||
        rs_node_is_binary(tree, node, "="))
        return true;
    for (int child = tree->nodes[node].first; child >= 0; child = tree->nodes[child].next)
        if (may_assign(tree, child))
            return true;
    return false;
}

/*
 * The values of two expressions (-1: none) of which only one is evaluated, by a condition that
 * varies with `chosen`.
 */
static void evaluate_either(rs_walk *walk, int yes, int no, rs_value *a, rs_value *b,
                            uint64_t chosen)
{
    rs_environment before;
    bool assigns = may_assign(walk->tree, yes) || (no >= 0 && may_assign(walk->tree, no));
    if (assigns && !rs_environment_copy(&before, &walk->variables)) {
        walk->no_memory = true;
        return;
    }
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
    if (assigns) {
        rs_walk_merge_by(walk, &before, chosen);
        rs_environment_free(&before);
    }
}

static rs_value evaluate_binary(rs_walk *walk, int node)
{
    int left = rs_node_child(walk->tree, node, 0), right = rs_node_child(walk->tree, node, 1);
    if (right < 0)
        return evaluate_parts(walk, node);
    char *symbol = operator_between(walk, left, right);
    if (symbol == NULL) {
        walk->no_memory = true;
        return rs_value_unknown(0, false);
    }
    rs_value result;
    if (strcmp(symbol, "=") == 0) {
        result = evaluate_assignment(walk, left, right);
    } else {
        rs_value a = rs_walk_evaluate(walk, left), b = rs_value_unknown(0, true), none;
        if (strcmp(symbol, "&&") == 0 || strcmp(symbol, "||") == 0)
            evaluate_either(walk, right, -1, &b, &none, rs_value_depends(walk, &a));
        else
            b = rs_walk_evaluate(walk, right);
        bool shift = strcmp(symbol, "<<") == 0 || strcmp(symbol, ">>") == 0;
        bool plain = symbol[0] != '\0' && symbol[1] == '\0' && strchr("+-*/%&|^", symbol[0]);
        bool number = is_integer(walk, node) || rs_node_is_pointer(walk->tree, node);
        if (strcmp(symbol, ",") == 0)
            result = b;
        else if ((plain || shift) && (number || a.kind == RS_VALUE_ADDRESS)) {
            CXType type = rs_node_type(walk->tree, node);
            a = widen(walk, &a, left, type);
            b = shift ? b : widen(walk, &b, right, type);
            result = operate_typed(walk, symbol[0], &a, &b, type);
            if (starts_over(&result, type))
                result = converted(walk, &result, type);
        } else
            result = rs_value_unknown(rs_value_depends(walk, &a) | rs_value_depends(walk, &b),
                                      rs_value_has_data(walk, &a) || rs_value_has_data(walk, &b));
    }
    free(symbol);
    return result;
}

/* ---- assignments ---- */

/* Whether an expression is the variable with this key. */
static bool is_variable(rs_walk *walk, int node, uint64_t key)
{
    node = rs_node_inner(walk->tree, node);
    if (node < 0 || walk->tree->nodes[node].kind != CXCursor_DeclRefExpr)
        return false;
    CXCursor declared = clang_getCursorReferenced(walk->tree->nodes[node].cursor);
    return rs_cursor_key(walk, declared) == key;
}

/* In "s = s + e", the node of e and the operator; -1 when the assignment is no such reduction. */
static int reduction_operand(rs_walk *walk, uint64_t key, int right, char *operation)
{
    int node = rs_node_inner(walk->tree, right);
    if (node < 0 || walk->tree->nodes[node].kind != CXCursor_BinaryOperator)
        return -1;
    int a = rs_node_child(walk->tree, node, 0), b = rs_node_child(walk->tree, node, 1);
    if (b < 0)
        return -1;
    char *symbol = operator_between(walk, a, b);
    int operand = -1;
    if (symbol != NULL && symbol[0] != '\0' && symbol[1] == '\0') {
        *operation = symbol[0];
        if (strchr("+*-&|^", symbol[0]) != NULL && is_variable(walk, a, key))
            operand = b;
        else if (strchr("+*&|^", symbol[0]) != NULL && is_variable(walk, b, key))
            operand = a;
    }
    free(symbol);
    return operand;
}

/* Whether nobody uses the value of an expression. */
static bool is_discarded(const rs_tree *tree, int node)
{
    int parent = tree->nodes[node].parent;
    switch (parent < 0 ? -1 : (int)tree->nodes[parent].kind) {
    case CXCursor_ParenExpr:
    case CXCursor_UnexposedExpr:
        return is_discarded(tree, parent);
    case CXCursor_BinaryOperator:
        return rs_node_is_binary(tree, parent, ",") &&
               (tree->nodes[parent].first == node || is_discarded(tree, parent));
    case CXCursor_CompoundStmt:
        return tree->nodes[parent].parent < 0 ||
               tree->nodes[tree->nodes[parent].parent].kind != CXCursor_StmtExpr;
    case CXCursor_LabelStmt:
    case CXCursor_CaseStmt:
    case CXCursor_DefaultStmt:
    case CXCursor_UnexposedStmt:
        return true;
    case CXCursor_ForStmt:
        return rs_for_read(tree, parent).condition != node;
    case CXCursor_IfStmt:
    case CXCursor_WhileStmt:
        return tree->nodes[parent].first != node;
    case CXCursor_DoStmt:
        return tree->nodes[parent].first == node;
    default:
        return false;
    }
}

/*
 * Whether "target op= operand" may be done in another order: an integer is cut off each time when
 * the operand is a floating-point number, and so is _Bool by most operators.
 */
static bool may_be_reordered(const rs_walk *walk, char operation, int target, int operand)
{
    CXType type = rs_node_type(walk->tree, target);
    CXType by = operand < 0 ? type : rs_node_type(walk->tree, rs_node_inner(walk->tree, operand));
    if (!is_discarded(walk->tree, walk->tree->nodes[target].parent) ||
        strchr(type.kind == CXType_Bool ? "&|" : "+-*&|^", operation) == NULL)
        return false; /* every step's value is used, or the operators do not commute */
    return !rs_type_may_hold_index(type) || rs_type_may_hold_index(by);
}

/*
 * Notes that a variable is reduced in the loops that carry it. False when one of them reduces it
 * by another operator as well: then their order matters.
 */
static bool note_reduction(rs_walk *walk, uint64_t key, int value, char operation)
{
    char kind = operation == '-' ? '+' : operation;
    bool same = true;
    while (value >= 0 && walk->values[value].carried_loop >= 0) {
        int loop = walk->values[value].carried_loop, at = 0;
        while (at < walk->reduction_count &&
               (walk->reductions[at].key != key || walk->reductions[at].loop != loop))
            at++;
        if (at == RS_REDUCTION_LIMIT)
            return false;
        if (at == walk->reduction_count)
            walk->reductions[walk->reduction_count++] = (rs_reduction){key, loop, kind};
        same = same && walk->reductions[at].operation == kind;
        value = walk->values[value].carried_from;
    }
    return same;
}

/*
 * A reduction into a variable that the loop carries. Its new value is marked as carried too, so
 * that another use in the same iteration is seen for what it is.
 */
static bool evaluate_reduction(rs_walk *walk, const rs_location *place, int left, int operand,
                               char operation, rs_value *result)
{
    if (place->kind != RS_PLACE_VARIABLE || place->part || operand < 0)
        return false;
    int value = rs_walk_find(walk, place->key);
    if (value < 0 || walk->values[value].carried_loop < 0 ||
        !may_be_reordered(walk, operation, left, operand))
        return false;
    rs_value part = rs_walk_evaluate(walk, operand);
    char *name = rs_walk_text(walk, left);
    bool same = note_reduction(walk, place->key, value, operation);
    rs_walk_read_carried(walk, value, name != NULL ? name : "?", same);
    free(name);
    rs_value old = walk->values[value];
    *result = rs_walk_operate(walk, operation, &old, &part);
    *result = rs_walk_narrow(walk, result, -1, rs_node_type(walk->tree, left));
    result->carried_loop = old.carried_loop;
    result->carried_from = old.carried_from;
    rs_walk_set(walk, place->key, result);
    result->carried_loop = -1;
    return true;
}

/* The first operand of a sum: s in "s + a - b". */
static int first_operand(rs_walk *walk, int node)
{
    node = rs_node_inner(walk->tree, node);
    while (node >= 0 && walk->tree->nodes[node].kind == CXCursor_BinaryOperator &&
           (rs_node_is_binary(walk->tree, node, "+") || rs_node_is_binary(walk->tree, node, "-")))
        node = rs_node_inner(walk->tree, rs_node_child(walk->tree, node, 0));
    return node;
}

static bool has_call(const rs_tree *tree, int node)
{
    bool found = tree->nodes[node].kind == CXCursor_CallExpr;
    for (int child = tree->nodes[node].first; child >= 0 && !found; child = tree->nodes[child].next)
        found = has_call(tree, child);
    return found;
}

/* Marks "x[e] = x[e] + ..." as what "x[e] += ..." is: both references belong together. */
static void pair_references(rs_walk *walk, int left, int right, int first)
{
    int operand = first_operand(walk, right), last = walk->unit->reference_count - 1;
    right = rs_node_inner(walk->tree, right);
    if (operand == right || has_call(walk->tree, left) || !may_be_reordered(walk, '+', left, right))
        return;
    char *target = rs_walk_source(walk, left);
    char *source = operand < 0 ? NULL : rs_walk_source(walk, operand);
    if (target != NULL && source != NULL && strcmp(target, source) == 0)
        for (int i = first; i < last; i++) {
            rs_reference *r = &walk->unit->references[i];
            if (r->text != NULL && !r->loads_pointer &&
                r->offset == walk->tree->nodes[operand].begin &&
                r->array == walk->unit->references[last].array) {
                r->partner = last + 1;
                walk->unit->references[last].partner = i + 1;
            }
        }
    free(target);
    free(source);
}

static rs_value evaluate_assignment(rs_walk *walk, int left, int right)
{
    int first = walk->unit->reference_count;
    rs_value value;
    rs_location place = rs_walk_locate(walk, left);
    char operation = '+';
    int operand = place.kind == RS_PLACE_VARIABLE
                      ? reduction_operand(walk, place.key, right, &operation)
                      : -1;
    if (evaluate_reduction(walk, &place, left, operand, operation, &value))
        return value;
    value = rs_walk_evaluate(walk, right);
    value = rs_walk_narrow(walk, &value, right, rs_node_type(walk->tree, left));
    rs_walk_store(walk, &place, &value, left, false);
    if (place.kind == RS_PLACE_MEMORY)
        pair_references(walk, left, right, first);
    return value;
}

/* Of the reference that was stored last. */
static void mark_reduction(rs_walk *walk, bool reduces)
{
    if (walk->unit->reference_count > 0)
        walk->unit->references[walk->unit->reference_count - 1].reduces = reduces;
}

static rs_value evaluate_compound(rs_walk *walk, int node)
{
    int left = rs_node_child(walk->tree, node, 0), right = rs_node_child(walk->tree, node, 1);
    if (right < 0)
        return evaluate_parts(walk, node);
    char *symbol = operator_between(walk, left, right);
    rs_location place = rs_walk_locate(walk, left);
    rs_value result = rs_value_unknown(0, false);
    bool reduces = symbol != NULL && strchr("+-*&|^", symbol[0]) != NULL;
    if (!reduces || !evaluate_reduction(walk, &place, left, right, symbol[0], &result)) {
        rs_value added = rs_walk_evaluate(walk, right);
        rs_value old = rs_value_unknown(rs_walk_anything(walk), true);
        if (place.kind != RS_PLACE_MEMORY)
            old = rs_walk_load(walk, &place, left);
        bool number = is_integer(walk, left) || old.kind == RS_VALUE_ADDRESS;
        CXType type = rs_node_type(walk->tree, rs_node_inner(walk->tree, right));
        if (number && symbol != NULL)
            result = operate_typed(walk, symbol[0], &old, &added,
                                   is_unsigned(type) ? type : rs_node_type(walk->tree, left));
        else
            result = rs_value_unknown(rs_value_depends(walk, &old) | rs_value_depends(walk, &added),
                                      true);
        result = rs_walk_narrow(walk, &result, -1, rs_node_type(walk->tree, left));
        rs_walk_store(walk, &place, &result, left, true);
        if (place.kind == RS_PLACE_MEMORY && symbol != NULL)
            mark_reduction(walk, may_be_reordered(walk, symbol[0], left, right));
    }
    free(symbol);
    return result;
}

static rs_value evaluate_step(rs_walk *walk, int operand, char symbol, bool after)
{
    rs_location place = rs_walk_locate(walk, operand);
    rs_value old = rs_value_unknown(rs_walk_anything(walk), true), one = rs_value_constant(1);
    if (place.kind != RS_PLACE_MEMORY)
        old = rs_walk_load(walk, &place, operand);
    rs_value result = rs_walk_operate(walk, symbol, &old, &one);
    result = rs_walk_narrow(walk, &result, -1, rs_node_type(walk->tree, operand));
    rs_walk_store(walk, &place, &result, operand, true);
    if (place.kind == RS_PLACE_MEMORY)
        mark_reduction(walk, may_be_reordered(walk, symbol, operand, -1));
    return after ? old : result;
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
    if (rs_node_is_prefix(tree, node, "&"))
        return address_of(walk, operand);
    if (rs_node_is_prefix(tree, node, "*")) {
        rs_location place = rs_walk_locate(walk, node);
        return rs_walk_load(walk, &place, node);
    }
    static const struct {
        const char *text;
        char symbol;
        bool after;
    } steps[] = {{"++", '+', false}, {"--", '-', false}, {"++", '+', true}, {"--", '-', true}};
    for (size_t i = 0; i < sizeof steps / sizeof steps[0]; i++)
        if (steps[i].after ? rs_node_is_postfix(tree, node, steps[i].text)
                           : rs_node_is_prefix(tree, node, steps[i].text))
            return evaluate_step(walk, operand, steps[i].symbol, steps[i].after);
    rs_value value = rs_walk_evaluate(walk, operand);
    if (rs_node_is_prefix(tree, node, "+"))
        return value;
    if (rs_node_is_prefix(tree, node, "-") && value.kind == RS_VALUE_NUMBER) {
        value.number = rs_polynomial_scale(&value.number, -1);
        return value.number.known ? value : rs_value_unknown(0, true);
    }
    return rs_value_unknown(rs_value_depends(walk, &value), rs_value_has_data(walk, &value));
}

/* ---- the rest ---- */

/* What the compiler makes of a literal or of sizeof. */
static rs_value evaluate_constant(const rs_walk *walk, int node)
{
    CXEvalResult result = clang_Cursor_Evaluate(walk->tree->nodes[node].cursor);
    rs_value value = rs_value_unknown(0, false);
    if (result == NULL)
        return value;
    bool huge = clang_EvalResult_isUnsignedInt(result) != 0 &&
                clang_EvalResult_getAsUnsigned(result) > INT64_MAX;
    if (clang_EvalResult_getKind(result) == CXEval_Int && !huge)
        value = rs_value_constant(clang_EvalResult_getAsLongLong(result));
    clang_EvalResult_dispose(result);
    return value;
}

static rs_value evaluate_conditional(rs_walk *walk, int node)
{
    int condition = rs_node_child(walk->tree, node, 0);
    int yes = rs_node_child(walk->tree, node, 1), no = rs_node_child(walk->tree, node, 2);
    if (no < 0)
        return evaluate_parts(walk, node);
    rs_value c = rs_walk_evaluate(walk, condition);
    rs_value a = rs_value_unknown(0, true), b = a;
    uint64_t outer = walk->chosen, chosen = rs_value_depends(walk, &c);
    evaluate_either(walk, yes, no, &a, &b, chosen);
    char *name = rs_walk_text(walk, node);
    walk->chosen = chosen;
    rs_value result = rs_value_merge(walk, &a, &b, name != NULL ? name : "?");
    walk->chosen = outer;
    free(name);
    if (result.kind == RS_VALUE_UNKNOWN) {
        result.depends |= rs_value_depends(walk, &c);
        result.data = result.data || rs_value_has_data(walk, &c);
    }
    return result;
}

/* A number that becomes a pointer may point anywhere, and rows of unknown length are new ones. */
static rs_value cast_pointer(rs_walk *walk, const rs_value *value, int operand, CXType type)
{
    rs_value result = *value;
    operand = rs_node_inner(walk->tree, operand);
    CXType from = operand < 0 ? type : rs_node_type(walk->tree, operand);
    int64_t constant;
    bool null = value->kind == RS_VALUE_NUMBER &&
                rs_polynomial_is_constant(&value->number, &constant) && constant == 0;
    if (value->kind == RS_VALUE_ADDRESS && rs_type_pitch(type) == 0 &&
        clang_equalTypes(from, type) == 0)
        return rs_walk_renew(walk, value, type);
    if (value->kind != RS_VALUE_ADDRESS && is_integer_type(from) && !null) {
        result = rs_value_unknown(rs_value_depends(walk, value), true);
        result.lost = true;
    }
    return result;
}

static rs_value evaluate_cast(rs_walk *walk, int node)
{
    int last = -1;
    for (int child = walk->tree->nodes[node].first; child >= 0;
         child = walk->tree->nodes[child].next)
        if (walk->tree->nodes[child].kind != CXCursor_TypeRef)
            last = child;
    if (last < 0)
        return rs_value_unknown(0, false);
    rs_value value = rs_walk_evaluate(walk, last);
    CXType type = rs_node_type(walk->tree, node);
    if (type.kind == CXType_Pointer)
        return cast_pointer(walk, &value, last, type);
    if (is_integer(walk, node))
        return rs_walk_narrow(walk, &value, last, type);
    if (value.kind == RS_VALUE_UNKNOWN || value.kind == RS_VALUE_ADDRESS)
        return value;
    int64_t constant;
    return rs_polynomial_is_constant(&value.number, &constant)
               ? value
               : rs_value_unknown(rs_value_depends(walk, &value), rs_value_has_data(walk, &value));
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
    return is_discarded(walk->tree, node) ? rs_value_unknown(0, true)
                                          : rs_walk_load(walk, &place, node);
}

static rs_value evaluate_delete(rs_walk *walk, int node)
{
    rs_value value = evaluate_parts(walk, node);
    int operand = rs_node_last(walk->tree, node);
    CXType type = operand < 0 ? rs_node_type(walk->tree, node)
                              : clang_getPointeeType(rs_node_type(walk->tree, operand));
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
        if (walk->tree->nodes[child].next < 0 && clang_isExpression(walk->tree->nodes[child].kind))
            value = rs_walk_evaluate(walk, child);
        else
            rs_walk_statement(walk, child);
    }
    return value;
}

/* Braces around a number or a pointer; another pointer that is not followed may lead anywhere. */
static rs_value evaluate_other(rs_walk *walk, int node)
{
    CXType type = rs_node_type(walk->tree, node);
    int first = rs_node_child(walk->tree, node, 0);
    bool scalar = type.kind == CXType_Pointer || is_integer_type(type);
    if (walk->tree->nodes[node].kind == CXCursor_InitListExpr && scalar && first >= 0)
        return rs_walk_evaluate(walk, first);
    rs_value value = evaluate_parts(walk, node);
    value.lost = type.kind == CXType_Pointer;
    return value;
}

static rs_value evaluate_kind(rs_walk *walk, int node)
{
    if (++walk->steps > STEP_LIMIT)
        walk->exhausted = true;
    if (walk->exhausted || walk->no_memory)
        return rs_value_unknown(0, true);
    switch ((int)walk->tree->nodes[node].kind) {
    case CXCursor_IntegerLiteral:
    case CXCursor_UnaryExpr: /* sizeof */
        return evaluate_constant(walk, node);
    case CXCursor_CXXNullPtrLiteralExpr:
    case CXCursor_GNUNullExpr:
        return rs_value_constant(0);
    case CXCursor_CXXNewExpr:
        return evaluate_parts(walk, node);
    case CXCursor_CXXDeleteExpr:
        return evaluate_delete(walk, node);
    case CXCursor_LambdaExpr:
        return rs_walk_make_lambda(walk, node);
    case CXCursor_StmtExpr:
        return evaluate_statements(walk, node);
    case CXCursor_FloatingLiteral:
    case CXCursor_StringLiteral:
    case CXCursor_CharacterLiteral:
    case CXCursor_TypeRef:
    case CXCursor_TemplateRef:
    case CXCursor_NamespaceRef:
        return rs_value_unknown(0, false);
    case CXCursor_DeclRefExpr:
        return rs_walk_variable(walk, node);
    case CXCursor_ArraySubscriptExpr:
    case CXCursor_MemberRefExpr:
        return evaluate_memory(walk, node);
    case CXCursor_UnaryOperator:
        return evaluate_unary(walk, node);
    case CXCursor_BinaryOperator:
        return evaluate_binary(walk, node);
    case CXCursor_CompoundAssignOperator:
        return evaluate_compound(walk, node);
    case CXCursor_ConditionalOperator:
        return evaluate_conditional(walk, node);
    case CXCursor_CallExpr:
        return evaluate_call(walk, node);
    case CXCursor_CXXThisExpr:
        return walk->self;
    case CXCursor_CStyleCastExpr:
    case CXCursor_CXXStaticCastExpr:
    case CXCursor_CXXReinterpretCastExpr:
    case CXCursor_CXXConstCastExpr:
    case CXCursor_CXXFunctionalCastExpr:
        return evaluate_cast(walk, node);
    default:
        return rs_walk_is_component(walk, node) ? evaluate_memory(walk, node)
                                                : evaluate_other(walk, node);
    }
}

rs_value rs_walk_evaluate(rs_walk *walk, int node)
{
    node = rs_node_inner(walk->tree, node);
    if (node < 0)
        return rs_value_unknown(0, false);
    rs_value value = evaluate_kind(walk, node);
    if (value.kind != RS_VALUE_ADDRESS)
        return value;
    CXType type = rs_node_type(walk->tree, node);
    if (!is_integer_type(type))
        return rs_walk_view(walk, &value, type);
    return rs_value_unknown(rs_value_depends(walk, &value), true); /* a number made of it */
}
