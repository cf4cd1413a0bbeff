/* Names that C leaves to a program, and kernels do not. */
#include "apply/names.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

static bool starts_with(const char *name, const char *start)
{
    return strncmp(name, start, strlen(start)) == 0;
}

static bool is_one_of(const char *name, const char *const *names, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (strcmp(names[i], name) == 0)
            return true;
    return false;
}

/* float4, uchar16 and their like. */
static bool is_vector_type(const char *name)
{
    static const char *const elements[] = {"char", "short",  "int",   "long",
                                           "half", "double", "float", "bool"};
    const char *element = name[0] == 'u' ? name + 1 : name;
    for (size_t i = 0; i < sizeof elements / sizeof elements[0]; i++)
        if (starts_with(element, elements[i]) &&
            isdigit((unsigned char)element[strlen(elements[i])]))
            return true;
    return false;
}

/* NAME_lanes, and NAME_1 of a copy. */
static bool is_made(const char *name)
{
    const char *end = strrchr(name, '_');
    return starts_with(name, "restride_") ||
           (end != NULL && end > name &&
            (strcmp(end, "_lanes") == 0 || strcmp(end, "_gathered") == 0 ||
             (end[1] != '\0' && strspn(end + 1, "0123456789") == strlen(end + 1))));
}

bool rs_name_is_taken(const char *name)
{
    static const char *const others[] = {"event_t",     "sampler_t",    "queue_t", "ndrange_t",
                                         "clk_event_t", "reserve_id_t", "M_PI"};
    return is_vector_type(name) || is_made(name) || starts_with(name, "get_global_") ||
           starts_with(name, "get_local_") || starts_with(name, "get_group_") ||
           starts_with(name, "get_num_") || starts_with(name, "convert_") ||
           is_one_of(name, others, sizeof others / sizeof others[0]);
}

bool rs_name_is_built_in(const char *name)
{
    static const char *const starts[] = {
        "as_",   "convert_", "vload", "vstore", "read_",  "write_",  "get_",        "atomic",
        "atom_", "native_",  "half_", "fast_",  "async_", "shuffle", "work_group_", "sub_group_"};
    static const char *const names[] = {
        "dot",      "mix",      "cross",      "clamp",     "step",      "smoothstep",
        "sign",     "length",   "distance",   "normalize", "degrees",   "radians",
        "min",      "max",      "abs",        "abs_diff",  "select",    "rotate",
        "mad",      "mad24",    "mul24",      "mad_hi",    "mul_hi",    "mad_sat",
        "clz",      "ctz",      "popcount",   "hadd",      "rhadd",     "add_sat",
        "sub_sat",  "upsample", "any",        "all",       "bitselect", "fract",
        "nan",      "maxmag",   "minmag",     "rsqrt",     "sincos",    "sinpi",
        "cospi",    "tanpi",    "asinpi",     "acospi",    "atanpi",    "atan2pi",
        "pown",     "powr",     "rootn",      "exp10",     "barrier",   "mem_fence",
        "prefetch", "isequal",  "isnotequal", "isordered", "signbit",   "wait_group_events"};
    for (size_t i = 0; i < sizeof starts / sizeof starts[0]; i++)
        if (starts_with(name, starts[i]))
            return true;
    return is_vector_type(name) || is_one_of(name, names, sizeof names / sizeof names[0]);
}
