/*
 * Instructions of a thread, from the operators of its source: what an operator takes on a processor
 * of 128 lanes for int and float, which has half of them for double. Sums with a product count
 * once, as the compiler joins them; constant parts and copies of registers count nothing. The
 * functions' numbers are those of the instructions that nvcc 13 makes of them for sm_90, those for
 * large and other unusual arguments aside; one of the special function unit counts as 4.
 */
#include "facts/walk.h"

#include <string.h>

enum { DIVISION = 20, FLOAT_DIVISION = 8, DOUBLE_FACTOR = 2, DOUBLE_DIVISION = 12, CALL = 1 };

/* By the begin of the name, in float; the first that fits. */
static const struct {
    const char *name;
    double work;
} functions[] = {
    {"__fdividef", 5}, {"__exp", 5}, {"__log", 5},   {"__sin", 5}, {"__cos", 5},    {"__pow", 10},
    {"native_", 5},    {"half_", 5}, {"rsqrt", 5},   {"sqrt", 8},  {"__fsqrt", 8},  {"exp", 17},
    {"log", 40},       {"pow", 128}, {"sincos", 50}, {"sinh", 36}, {"sin", 30},     {"cosh", 23},
    {"cos", 30},       {"tanh", 23}, {"tan", 35},    {"erf", 27},  {"cbrt", 16},    {"hypot", 24},
    {"atan", 30},      {"asin", 33}, {"acos", 37},   {"fmod", 40}, {"normcdf", 90}, {"curand", 15},
};

static bool is_floating(const rs_syntax_type *type)
{
    return type != NULL &&
           (type->kind == RS_TYPE_FLOAT || (type->kind == RS_TYPE_VECTOR && is_floating(type->of)));
}

/* How many times the work in float. */
static double factor_of(const rs_syntax_type *type)
{
    const double lanes = type != NULL && type->kind == RS_TYPE_VECTOR ? (double)type->count : 1;
    const rs_syntax_type *one = type != NULL && type->kind == RS_TYPE_VECTOR ? type->of : type;
    return lanes *
           (one != NULL && one->kind == RS_TYPE_FLOAT && one->size == 8 ? DOUBLE_FACTOR : 1);
}

static bool is_product(const rs_syntax_node *node)
{
    const rs_syntax_node *plain = rs_syntax_plain(node);
    return plain != NULL && plain->kind == RS_NODE_BINARY && strcmp(plain->symbol, "*") == 0;
}

static double work_of_operator(const rs_syntax_node *node)
{
    const char symbol = node->symbol[0];
    const rs_syntax_node *right = node->child_count > 1 ? node->children[1] : NULL;
    const bool has_constant = right != NULL && right->constant.kind == RS_CONSTANT_INTEGER;
    const rs_syntax_type *type = node->children[0]->type;
    const double factor = factor_of(type);
    if (strcmp(node->symbol, "=") == 0 || symbol == ',' || strcmp(node->symbol, "&&") == 0 ||
        strcmp(node->symbol, "||") == 0)
        return 0;
    if ((symbol == '/' || symbol == '%') && is_floating(type))
        return factor > 1 ? factor * DOUBLE_DIVISION : FLOAT_DIVISION;
    if (symbol == '/' || symbol == '%') {
        const long long by = has_constant ? right->constant.integer : 0;
        return by > 0 && (by & (by - 1)) == 0 ? 1 : by != 0 ? 3 : DIVISION;
    }
    if ((symbol == '+' || symbol == '-') && node->symbol[1] != symbol &&
        (is_product(node->children[0]) || is_product(right)))
        return 0; /* counted with the product */
    return factor;
}

static double work_of_call(const rs_syntax_node *node)
{
    const char *name = node->declaration == NULL ? "" : node->declaration->name;
    for (size_t i = 0; i < sizeof functions / sizeof functions[0]; i++)
        if (strncmp(name, functions[i].name, strlen(functions[i].name)) == 0)
            return functions[i].work *
                   (is_floating(node->type) && factor_of(node->type) > 1 ? 2 * DOUBLE_FACTOR : 1);
    return CALL * factor_of(node->type);
}

void rs_fact_count_work(rs_fact_walk *walk, const rs_syntax_node *node)
{
    double work = 0;
    if (node->kind == RS_NODE_BINARY || node->kind == RS_NODE_ASSIGN ||
        (node->kind == RS_NODE_UNARY && strchr("&*+", node->symbol[0]) == NULL) ||
        (node->kind == RS_NODE_UNARY && strcmp(node->symbol, "++") == 0))
        work = work_of_operator(node);
    else if (node->kind == RS_NODE_CALL)
        work = work_of_call(node);
    else if (node->kind == RS_NODE_CONDITIONAL)
        work = factor_of(node->type);
    *(walk->loop < 0 ? &walk->facts->work : &walk->facts->loops[walk->loop].work) +=
        work * walk->share;
}
