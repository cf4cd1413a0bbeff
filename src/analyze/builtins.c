/* Functions of the languages and of the host by their names: what some of them mean, and what
 * others surely do not do. */
#include "analyze/builtins.h"

#include "base/text.h"
#include "source/query.h"
#include "source/words.h"

#include <stdlib.h>
#include <string.h>

bool rs_name_starts_with(const char *text, const char *prefix)
{
    return strncmp(text, prefix, strlen(prefix)) == 0;
}

/* min, max and clamp: the bound is taken not to matter. */
static rs_value clamp(rs_walk *walk, const rs_value *values, int count)
{
    rs_value result = values[0];
    for (int i = 1; i < count; i++)
        result = rs_value_merge(walk, &result, &values[i], "bounded");
    result.approximated = true;
    return result;
}

static rs_value multiply_add(rs_walk *walk, const rs_value *values, int count)
{
    rs_value product = rs_walk_operate(walk, '*', &values[0], &values[1]);
    return count > 2 ? rs_walk_operate(walk, '+', &product, &values[2]) : product;
}

static rs_value same(rs_walk *walk, const rs_value *values, int count)
{
    (void)walk;
    (void)count;
    return values[0];
}

static const struct {
    const char *name;
    int least;
    rs_value (*apply)(rs_walk *walk, const rs_value *values, int count);
} functions[] = {{"min", 2, clamp},
                 {"max", 2, clamp},
                 {"clamp", 3, clamp},
                 {"mul24", 2, multiply_add},
                 {"__mul24", 2, multiply_add},
                 {"__umul24", 2, multiply_add},
                 {"mad24", 3, multiply_add},
                 {"mad_sat", 3, multiply_add},
                 {"convert_int", 1, same},
                 {"convert_uint", 1, same},
                 {"convert_int_rtz", 1, same},
                 {"__builtin_expect", 1, same},
                 {"__builtin_assume_aligned", 1, same},
                 {"__cvta_generic_to_global", 1, same}};

static void refer(rs_walk *walk, const rs_value *address, int node, int64_t lanes, bool reads,
                  bool writes, bool atomic)
{
    const rs_syntax_type *type = rs_type_of(walk->tree, node);
    rs_reference *r = rs_walk_refer(walk, address, node, type);
    if (r == NULL)
        return;
    rs_array *array = &walk->unit->arrays[address->array];
    r->width = array->element * lanes;
    r->read = reads;
    r->written = writes;
    r->atomic = atomic;
    array->read = array->read || reads;
    array->written = array->written || writes;
    walk->stores += writes;
}

/* vloadN(i, p), vstoreN(v, i, p): N neighbouring elements from p + N*i on. */
static bool vector_access(rs_walk *walk, const char *name, int node, const rs_value *values,
                          int count, rs_value *result)
{
    bool store = rs_name_starts_with(name, "vstore");
    if (!store && !rs_name_starts_with(name, "vload"))
        return false;
    int64_t lanes = strtol(name + (store ? 6 : 5), NULL, 10);
    if (lanes == 0 || count < (store ? 3 : 2))
        return false;
    rs_value factor = rs_value_constant(lanes);
    rs_value offset = rs_walk_operate(walk, '*', &values[store ? 1 : 0], &factor);
    rs_value address = rs_walk_operate(walk, '+', &values[store ? 2 : 1], &offset);
    if (address.kind == RS_VALUE_ADDRESS)
        refer(walk, &address, node, lanes, !store, store, false);
    bool loads = !store && address.kind == RS_VALUE_ADDRESS;
    *result = rs_value_unknown(
        loads ? rs_walk_load_varies(walk, &address) : rs_value_depends(walk, &address), true);
    return true;
}

/* Atomic operations and cached loads touch what their first argument points to. */
static bool single_access(rs_walk *walk, const char *name, int node, const rs_value *values,
                          int count, rs_value *result)
{
    bool atomic = rs_name_starts_with(name, "atom"),
         load = rs_begins_among(name, "__ldg __ldcg __ldcs");
    bool texture = rs_name_starts_with(name, "tex1Dfetch");
    if (!(atomic || load || texture) || count < 1 || values[0].kind != RS_VALUE_ADDRESS)
        return false;
    rs_value address = values[0];
    if (texture && count > 1)
        address = rs_walk_operate(walk, '+', &values[0], &values[1]);
    refer(walk, &address, node, 1, true, atomic, atomic);
    uint64_t varies = atomic ? rs_walk_anything(walk) : 0; /* each work-item's comes in turn */
    *result = rs_value_unknown(rs_walk_load_varies(walk, &address) | varies, true);
    return true;
}

/* ---- by their names ---- */

/* Functions of the host that touch nothing that a loop's pattern is made of. */
bool rs_function_is_housekeeping(const char *name)
{
    return rs_begins_among(name, "free malloc calloc realloc exit assert __assert fclose fopen "
                                 "pthread_ omp_ perror cudaMalloc cudaFree cudaEvent cudaStream "
                                 "cudaGet cudaSet cudaDevice cudaThread cudaLaunch cudaFuncSet "
                                 "cudaBind cudaUnbind cudaConfig cudaSetup clCreate clRelease "
                                 "clRetain clGet clSet clBuild clFinish clFlush clWait clUnload");
}

/* Functions of the host that read what they are handed. */
bool rs_function_only_reads(const char *name)
{
    return rs_begins_among(name, "printf fprintf puts fputs fwrite strlen strcmp atoi atof");
}

/* Whether a function assigns all of what an argument points to, and reads nothing of it. */
bool rs_function_fills(const char *name, int which)
{
    static const struct {
        const char *name;
        int first; /* and all behind it */
    } rows[] = {{"sincos", 1},     {"sincosf", 1},   {"sincospi", 1}, {"sincospif", 1},
                {"__sincosf", 1},  {"modf", 1},      {"modff", 1},    {"frexp", 1},
                {"frexpf", 1},     {"remquo", 2},    {"remquof", 2},  {"fract", 1},
                {"lgamma_r", 1},   {"lgammaf_r", 1}, {"time", 0},     {"gettimeofday", 0},
                {"curand_init", 3}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        if (strcmp(name, rows[i].name) == 0)
            return which >= rows[i].first;
    return false;
}

/* Those of floating-point numbers may end with an f. */
static const char arithmetic[] =
    "abs labs abs_diff fabs sqrt rsqrt cbrt floor ceil round rint trunc lround lrint fract "
    "exp exp2 exp10 expm1 log log2 log10 log1p pow pown powr sin cos tan asin acos atan "
    "atan2 sinh cosh tanh hypot fmod fmin fmax fdim fma mad mad_hi mul_hi ldexp ilogb sign "
    "mix step dot cross length distance copysign select rotate clz ctz popcount hadd rhadd "
    "add_sat sub_sat bitselect __mulhi __umulhi __clz __ffs __popc __brev __fdividef __expf "
    "__logf __log2f __powf __sinf __cosf umin umax isnan isinf get_work_dim "
    "get_sub_group_size get_max_sub_group_size get_num_sub_groups";

/*
 * Whether a function computes something from its arguments alone. Every other one may ask which
 * work-item it runs in.
 */
bool rs_function_is_arithmetic(const char *name)
{
    const size_t length = strlen(name);
    if (rs_begins_among(name, "native_ half_ fast_ convert_ as_ __float __double __int __uint "
                              "__ll2 __ull2 __half __fadd __fsub __fmul __fdiv __fsqrt __frcp "
                              "__fmaf make_ get_image_ __builtin_"))
        return true;
    return rs_is_among(name, length, arithmetic) ||
           (length > 0 && name[length - 1] == 'f' && rs_is_among(name, length - 1, arithmetic));
}

/* The compiler's own may be barriers: __builtin_amdgcn_s_barrier. */
bool rs_function_is_apart(const char *name)
{
    for (size_t i = 0; i < sizeof functions / sizeof functions[0]; i++)
        if (strcmp(functions[i].name, name) == 0)
            return true;
    return rs_begins_among(name, "vload vstore __ldg") ||
           (rs_function_is_arithmetic(name) && !rs_name_starts_with(name, "__builtin_"));
}

/* Whether OpenCL C has a function that CUDA has not, where somebody else may call his so. */
bool rs_function_is_of_opencl(const char *name)
{
    return rs_begins_among(name, "vload vstore") ||
           rs_is_among(name, strlen(name),
                       "fract pown powr sign mix step dot cross length distance select rotate "
                       "clz ctz popcount hadd rhadd bitselect mad mul24 mad24 clamp");
}

bool rs_walk_builtin(rs_walk *walk, const char *name, int node, const rs_value *values, int count,
                     rs_value *result)
{
    for (size_t i = 0; i < sizeof functions / sizeof functions[0]; i++)
        if (strcmp(functions[i].name, name) == 0 && count >= functions[i].least) {
            *result = functions[i].apply(walk, values, count);
            return true;
        }
    return vector_access(walk, name, node, values, count, result) ||
           single_access(walk, name, node, values, count, result);
}
