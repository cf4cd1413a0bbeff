/* Values for parameters, by trying. */
#include "apply/values.h"

#include "base/arithmetic.h"

#include <string.h>

enum { MOST_TRIES = 60000, CANDIDATES = 14 };

static int64_t value_of(const rs_values *values, const char *name)
{
    for (int i = 0; i < values->count; i++)
        if (strcmp(values->names[i], name) == 0)
            return values->values[i];
    return 0;
}

/* As a double: exact as far as sizes go, and it cannot overflow. */
static double evaluate(const rs_values *values, const json_t *quantity)
{
    size_t t, s;
    json_t *term, *factor;
    double sum = 0;
    json_array_foreach(json_object_get(quantity, "terms"), t, term)
    {
        double product = 1;
        json_array_foreach(term, s, factor)
        {
            product *= json_is_integer(factor)
                           ? (double)json_integer_value(factor)
                           : (double)value_of(values, json_string_value(factor));
        }
        sum += product;
    }
    return sum;
}

size_t rs_values_quantity(const rs_values *values, const json_t *quantity)
{
    double sum = evaluate(values, quantity);
    size_t divisor = (size_t)json_integer_value(json_object_get(quantity, "divisor"));
    if (sum <= 0 || divisor == 0)
        return 0;
    return sum >= 9e15 ? SIZE_MAX : (size_t)sum / divisor;
}

size_t rs_values_product(const rs_values *values, const json_t *quantities)
{
    size_t i, product = 1;
    json_t *quantity;
    json_array_foreach(quantities, i, quantity) product =
        rs_size_multiply_capped(product, rs_values_quantity(values, quantity));
    return product;
}

size_t rs_values_largest(const rs_values *values, const json_t *quantities)
{
    size_t i, largest = 0;
    json_t *quantity;
    json_array_foreach(quantities, i, quantity)
    {
        size_t size = rs_values_quantity(values, quantity);
        largest = size > largest ? size : largest;
    }
    return largest;
}

size_t rs_values_bytes(const rs_values *values, const json_t *nest, int width)
{
    size_t i, sum = 0;
    json_t *entry;
    json_array_foreach(json_object_get(nest, "parameters"), i, entry)
    {
        size_t bytes = (size_t)json_integer_value(json_object_get(entry, "bytes"));
        size_t count = rs_values_largest(values, json_object_get(entry, "sizes"));
        sum = rs_size_add_capped(sum, rs_size_multiply_capped(count, bytes));
    }
    json_array_foreach(json_object_get(nest, "copies"), i, entry)
    {
        size_t bytes = (size_t)json_integer_value(json_object_get(entry, "bytes"));
        size_t count = rs_values_product(values, json_object_get(entry, "elements"));
        count = rs_size_add_capped(count, (size_t)width);
        sum = rs_size_add_capped(sum, rs_size_multiply_capped(count, bytes));
    }
    return sum;
}

static bool is_possible(const rs_values *values, const json_t *nest, size_t bytes)
{
    size_t i;
    json_t *quantity;
    json_array_foreach(json_object_get(nest, "constraints"), i, quantity)
    {
        if (evaluate(values, quantity) < 0)
            return false;
    }
    return rs_values_bytes(values, nest, 16) <= bytes;
}

/* Whether a parameter decides how far the nest goes. */
static bool is_named(const json_t *value, const char *name)
{
    size_t i;
    const char *key;
    json_t *child;
    if (json_is_string(value))
        return strcmp(json_string_value(value), name) == 0;
    json_array_foreach(value, i, child)
    {
        if (is_named(child, name))
            return true;
    }
    json_object_foreach((json_t *)value, key, child)
    {
        if (is_named(child, name))
            return true;
    }
    return false;
}

static bool decides(const json_t *nest, const char *name)
{
    static const char *const members[] = {"constraints", "trips", "items"};
    for (int i = 0; i < 3; i++)
        if (is_named(json_object_get(nest, members[i]), name))
            return true;
    return false;
}

static restride_status read_given(rs_values *values, const json_t *given)
{
    const char *name;
    json_t *value;
    json_object_foreach((json_t *)given, name, value)
    {
        for (int i = 0; i < values->count; i++)
            if (strcmp(values->names[i], name) == 0) {
                values->values[i] = json_integer_value(value);
                values->given[i] = true;
            }
    }
    return RESTRIDE_OK;
}

static void collect(rs_values *values, const json_t *nest)
{
    static const char *const integers[] = {"char", "uchar", "short", "ushort",
                                           "int",  "uint",  "long",  "ulong"};
    size_t i;
    json_t *parameter;
    values->count = 0;
    json_array_foreach(json_object_get(nest, "parameters"), i, parameter)
    {
        const char *type = json_string_value(json_object_get(parameter, "type"));
        bool scalar = strcmp(json_string_value(json_object_get(parameter, "kind")), "scalar") == 0;
        for (size_t t = 0; t < sizeof integers / sizeof integers[0] && scalar; t++)
            if (strcmp(type, integers[t]) == 0 && values->count < RS_VALUE_NAMES) {
                values->names[values->count] =
                    json_string_value(json_object_get(parameter, "name"));
                values->values[values->count] = 3;
                values->given[values->count++] = false;
            }
    }
}

restride_status rs_values_choose(rs_values *values, const json_t *nest, const json_t *given,
                                 int64_t size, size_t bytes)
{
    const int64_t candidates[CANDIDATES] = {size, size / 2, 131, 101, 62, 39, 24,
                                            11,   5,        4,   3,   2,  1,  0};
    int free_names[RS_VALUE_NAMES], free_count = 0, choices = CANDIDATES;
    collect(values, nest);
    restride_status status = read_given(values, given);
    for (int i = 0; i < values->count; i++)
        if (!values->given[i] && decides(nest, values->names[i]))
            free_names[free_count++] = i;
    size_t tries = MOST_TRIES + 1;
    for (; tries > MOST_TRIES && choices > 0; choices--) {
        tries = 1;
        for (int i = 0; i < free_count; i++)
            tries = rs_size_multiply_capped(tries, (size_t)choices);
    }
    choices++;
    rs_values best = *values;
    double most = 0;
    for (size_t attempt = 0; attempt < tries && status == RESTRIDE_OK; attempt++) {
        size_t rest = attempt;
        for (int i = 0; i < free_count; i++, rest /= (size_t)choices) {
            size_t which = rest % (size_t)choices;
            /* With few choices, the last ones are the small numbers. */
            int at = which == 0 ? 0 : CANDIDATES - choices + (int)which;
            values->values[free_names[i]] = candidates[at] < size ? candidates[at] : size;
        }
        size_t trips = rs_values_product(values, json_object_get(nest, "trips"));
        if (trips == 0 || (double)trips <= most || !is_possible(values, nest, bytes))
            continue;
        most = (double)trips;
        best = *values;
    }
    *values = best;
    if (status == RESTRIDE_OK && most <= 0)
        return rs_fail(RESTRIDE_INVALID_ARGUMENT,
                       "No values were found with which %s stays inside its arrays and %zu MiB; "
                       "give some with --set.",
                       json_string_value(json_object_get(nest, "function")), bytes >> 20);
    return status;
}
