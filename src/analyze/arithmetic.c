/* What operators make of two values, and what becomes of a number in another type. */
#include "analyze/evaluate.h"
#include "source/query.h"

#include <string.h>

enum { INT_SIZE = 4 };

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

/* What an operation of these types on numbers that may be negative has behind it; "" otherwise. */
static const char *unsigned_suffix(const rs_walk *walk, char symbol, const rs_value *a,
                                   const rs_value *b, const rs_syntax_type *type)
{
    const rs_symbols *symbols = &walk->unit->symbols;
    bool differs = rs_type_is_unsigned(type) && strchr("/%>", symbol) != NULL &&
                   a->kind == RS_VALUE_NUMBER && b->kind == RS_VALUE_NUMBER &&
                   !(rs_polynomial_is_natural(&a->number, symbols) &&
                     rs_polynomial_is_natural(&b->number, symbols));
    return !differs ? "" : type->size > 4 ? "ul" : "u";
}

/* The same as rs_walk_operate() for numbers of a type. */
rs_value rs_walk_operate_typed(rs_walk *walk, char symbol, const rs_value *a, const rs_value *b,
                               const rs_syntax_type *type)
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
        rs_value unknown = rs_value_like(walk, a, b);
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
static bool holds_all(const rs_syntax_type *wide, const rs_syntax_type *from)
{
    int64_t size = wide->size, other = from->size;
    if (wide->kind == from->kind &&
        (wide->kind == RS_TYPE_ENUM || (size == other && wide->is_signed == from->is_signed)))
        return true;
    if (!rs_type_is_integer(from) || wide->kind == RS_TYPE_BOOL)
        return false;
    return rs_type_is_unsigned(wide) == rs_type_is_unsigned(from)
               ? other <= size
               : rs_type_is_unsigned(from) && other < size;
}

/* A number that was turned into another type and may be another one there: a symbol "(type)(...)".
 */
rs_value rs_walk_convert(rs_walk *walk, const rs_value *value, const rs_syntax_type *type)
{
    rs_text name = RS_TEXT_EMPTY;
    const char *spelling = type->name;
    rs_text_format(&name, "(%s)(", spelling);
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
bool rs_value_starts_over(const rs_value *value, const rs_syntax_type *type)
{
    int64_t constant;
    return value->kind == RS_VALUE_NUMBER && rs_type_is_unsigned(type) &&
           rs_type_is_integer(type) && type->size == INT_SIZE &&
           !rs_polynomial_is_small(&value->number) &&
           !rs_polynomial_is_constant(&value->number, &constant);
}

/*
 * A node's value where 64 bits are wanted: an unsigned number of 32 bits that would be negative
 * has started over.
 */
rs_value rs_walk_widen(rs_walk *walk, const rs_value *value, int node, const rs_syntax_type *type)
{
    node = rs_node_inner(walk->tree, node);
    if (node < 0 || value->kind != RS_VALUE_NUMBER || !rs_type_is_integer(type) ||
        type->size <= INT_SIZE)
        return *value;
    const rs_syntax_type *from = rs_type_of(walk->tree, node);
    if (!rs_type_is_integer(from) || !rs_type_is_unsigned(from) || from->size != INT_SIZE ||
        rs_polynomial_is_natural(&value->number, &walk->unit->symbols))
        return *value;
    return rs_walk_convert(walk, value, from);
}

rs_value rs_walk_narrow(rs_walk *walk, const rs_value *value, int node, const rs_syntax_type *type)
{
    int inner = rs_node_inner(walk->tree, node);
    int64_t size = type->size, constant;
    if (value->kind == RS_VALUE_NUMBER && size > INT_SIZE)
        return rs_walk_widen(walk, value, inner, type);
    if (value->kind != RS_VALUE_NUMBER || !rs_type_is_integer(type) || size <= 0 ||
        size >= INT_SIZE || (inner >= 0 && holds_all(type, rs_type_of(walk->tree, inner))))
        return *value;
    int64_t most = type->kind == RS_TYPE_BOOL
                       ? 1
                       : ((int64_t)1 << (8 * size - !rs_type_is_unsigned(type))) - 1;
    int64_t least = rs_type_is_unsigned(type) ? 0 : -most - 1;
    bool fits = rs_polynomial_is_constant(&value->number, &constant) && constant >= least &&
                constant <= most;
    return fits ? *value : rs_walk_convert(walk, value, type);
}
