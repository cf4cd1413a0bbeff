/* Tables of types and functions. */
#include "apply/types.h"

#include <string.h>

static const struct {
    const char *name;
    int bytes;
    rs_kind promoted, mask;
} kinds[] = {
    [RS_KIND_NONE] = {NULL, 0, RS_KIND_NONE, RS_KIND_NONE},
    [RS_KIND_CHAR] = {"char", 1, RS_KIND_INT, RS_KIND_CHAR},
    [RS_KIND_UCHAR] = {"uchar", 1, RS_KIND_INT, RS_KIND_CHAR},
    [RS_KIND_SHORT] = {"short", 2, RS_KIND_INT, RS_KIND_SHORT},
    [RS_KIND_USHORT] = {"ushort", 2, RS_KIND_INT, RS_KIND_SHORT},
    [RS_KIND_INT] = {"int", 4, RS_KIND_INT, RS_KIND_INT},
    [RS_KIND_UINT] = {"uint", 4, RS_KIND_UINT, RS_KIND_INT},
    [RS_KIND_LONG] = {"long", 8, RS_KIND_LONG, RS_KIND_LONG},
    [RS_KIND_ULONG] = {"ulong", 8, RS_KIND_ULONG, RS_KIND_LONG},
    [RS_KIND_FLOAT] = {"float", 4, RS_KIND_FLOAT, RS_KIND_INT},
    [RS_KIND_DOUBLE] = {"double", 8, RS_KIND_DOUBLE, RS_KIND_LONG},
};

rs_kind rs_kind_of(const rs_syntax_type *type)
{
    for (rs_kind kind = RS_KIND_CHAR; kind <= RS_KIND_DOUBLE; kind++) {
        const bool is_float = kind >= RS_KIND_FLOAT;
        const bool is_signed = is_float || kinds[kind].mask == kind;
        if (type->kind == (is_float ? RS_TYPE_FLOAT : RS_TYPE_INTEGER) &&
            kinds[kind].bytes == type->size && type->is_signed == is_signed)
            return kind;
    }
    return type->kind == RS_TYPE_ENUM ? RS_KIND_INT : RS_KIND_NONE;
}

bool rs_type_is_fixed(const rs_syntax_type *type)
{
    return type->kind == RS_TYPE_POINTER ||
           (type->kind == RS_TYPE_ARRAY && (type->count >= 0 || type->is_unbounded));
}

const char *rs_kind_name(rs_kind kind)
{
    return kinds[kind].name;
}

int rs_kind_bytes(rs_kind kind)
{
    return kinds[kind].bytes;
}

bool rs_kind_is_integer(rs_kind kind)
{
    return kind >= RS_KIND_CHAR && kind <= RS_KIND_ULONG;
}

rs_kind rs_kind_promoted(rs_kind kind)
{
    return kinds[kind].promoted;
}

rs_kind rs_kind_common(rs_kind a, rs_kind b)
{
    a = rs_kind_promoted(a);
    b = rs_kind_promoted(b);
    return a > b ? a : b;
}

rs_kind rs_kind_mask(rs_kind kind)
{
    return kinds[kind].mask;
}

const rs_math_function *rs_function_find(const char *name, bool *is_float)
{
    static const rs_math_function functions[] = {
        {"sqrt", "sqrt", 1},   {"fabs", "fabs", 1},   {"exp", "exp", 1},
        {"log", "log", 1},     {"sin", "sin", 1},     {"cos", "cos", 1},
        {"tan", "tan", 1},     {"exp2", "exp2", 1},   {"log2", "log2", 1},
        {"log10", "log10", 1}, {"floor", "floor", 1}, {"ceil", "ceil", 1},
        {"trunc", "trunc", 1}, {"round", "round", 1}, {"atan", "atan", 1},
        {"asin", "asin", 1},   {"acos", "acos", 1},   {"sinh", "sinh", 1},
        {"cosh", "cosh", 1},   {"tanh", "tanh", 1},   {"cbrt", "cbrt", 1},
        {"pow", "pow", 2},     {"fmin", "fmin", 2},   {"fmax", "fmax", 2},
        {"fmod", "fmod", 2},   {"atan2", "atan2", 2}, {"hypot", "hypot", 2},
        {"fma", "fma", 3},     {"rsqrt", "rsqrt", 1}, {"copysign", "copysign", 2},
    };
    size_t length = strlen(name);
    for (size_t i = 0; i < sizeof functions / sizeof functions[0]; i++) {
        size_t own = strlen(functions[i].name);
        if (strncmp(functions[i].name, name, own) != 0)
            continue;
        *is_float = length == own + 1 && name[own] == 'f';
        if (length == own || *is_float)
            return &functions[i];
    }
    return NULL;
}
