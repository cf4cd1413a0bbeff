/* From forms of indices to what the lanes of a warp do. */
#include "facts/judged.h"

#include <string.h>

bool rs_fact_is_array_of_structures(const rs_syntax_declaration *parameter)
{
    static const char *const vectors[] = {"char",     "uchar",     "short", "ushort",
                                          "int",      "uint",      "long",  "ulong",
                                          "longlong", "ulonglong", "float", "double"};
    const rs_syntax_type *type = parameter->type;
    if (type == NULL || type->kind != RS_TYPE_POINTER || type->of == NULL ||
        type->of->kind != RS_TYPE_RECORD || type->of->size < 8)
        return false;
    const char *name = type->of->plain->name;
    if (type->of->declaration == NULL || !type->of->declaration->is_system)
        return true;
    for (size_t i = 0; i < sizeof vectors / sizeof vectors[0]; i++) {
        const size_t length = strlen(vectors[i]);
        if (strncmp(name, vectors[i], length) == 0 && name[length] != '\0' &&
            strchr("1234", name[length]) != NULL &&
            (name[length + 1] == '\0' || name[length + 1] == '_'))
            return false;
    }
    return true;
}

/* --- members --- */

static void add_field(rs_judge_argument *argument, long long offset, long long bytes)
{
    if (argument->field_count < RS_JUDGE_MOST_FIELDS && bytes > 0 && bytes <= 16)
        argument->fields[argument->field_count++] = (rs_judge_field){(int)offset, (int)bytes};
}

/* Whether an access touches some of these bytes. */
static bool is_touched(const rs_fact_accesses *facts, size_t parameter, long long offset,
                       long long bytes)
{
    for (size_t i = 0; i < facts->access_count; i++) {
        const rs_fact_access *one = &facts->accesses[i];
        if (one->parameter == parameter && one->offset < offset + bytes &&
            offset < one->offset + one->size)
            return true;
    }
    return false;
}

/* The leaves of a type that are touched; a union is one, up to its size. */
static void add_leaves(rs_judge_argument *argument, const rs_fact_accesses *facts, size_t parameter,
                       const rs_syntax_type *type, long long offset)
{
    if (type == NULL || type->size <= 0 || !is_touched(facts, parameter, offset, type->size))
        return;
    const rs_syntax_declaration *record = type->declaration;
    if (type->kind == RS_TYPE_ARRAY && type->of != NULL && type->of->size > 0) {
        for (long long i = 0; i < type->count; i++)
            add_leaves(argument, facts, parameter, type->of, offset + i * type->of->size);
    } else if (type->kind == RS_TYPE_RECORD && record != NULL && !record->is_union) {
        for (size_t i = 0; i < record->base_count; i++)
            if (record->bases[i].offset >= 0)
                add_leaves(argument, facts, parameter, record->bases[i].type,
                           offset + record->bases[i].offset);
        for (size_t i = 0; i < record->field_count; i++)
            if (record->fields[i]->bit_offset >= 0)
                add_leaves(argument, facts, parameter, record->fields[i]->type,
                           offset + record->fields[i]->bit_offset / 8);
    } else {
        for (long long at = 0; at < type->size; at += 16)
            add_field(argument, offset + at, type->size - at < 16 ? type->size - at : 16);
    }
}

/* --- lanes --- */

/* Rounds of the loops around an access; 0: not known. */
static double count_rounds(const rs_fact_accesses *facts, int loop)
{
    double rounds = 1;
    for (; loop >= 0; loop = facts->loops[loop].outer)
        rounds *= (double)facts->loops[loop].count;
    return rounds;
}

/* Whether all of a group's elements are meant: by rounds of a loop, or by constants. */
static bool is_group(const rs_fact_accesses *facts, const rs_fact_access *access)
{
    const long long size = access->index.lane;
    unsigned long long found = 0;
    if (size < 2 || size > 64)
        return false;
    for (size_t i = 0; i < facts->access_count; i++) {
        const rs_fact_access *one = &facts->accesses[i];
        if (one->parameter != access->parameter || one->index.kind != RS_FORM_SUM ||
            one->index.lane != size)
            continue;
        for (int loop = one->loop; loop >= 0; loop = facts->loops[loop].outer)
            if (rs_form_step(&one->index, loop) == 1 && facts->loops[loop].count == size)
                return true;
        found |= 1ull << (unsigned)(((one->index.constant % size) + size) % size);
    }
    return found == (size == 64 ? ~0ull : (1ull << (unsigned)size) - 1);
}

/* Whether a round of a loop goes on to the next element. */
static bool walks(const rs_fact_accesses *facts, const rs_fact_access *access)
{
    for (int loop = access->loop; loop >= 0; loop = facts->loops[loop].outer) {
        const long long step = rs_form_step(&access->index, loop);
        if (step == 1 || step == -1)
            return true;
    }
    return false;
}

static rs_judge_lanes find_lanes(const rs_fact_accesses *facts, const rs_fact_access *access)
{
    const rs_fact_form *index = &access->index;
    if (access->is_inner_lane || index->kind == RS_FORM_QUOTIENT)
        return RS_LANES_WITHIN;
    if (index->kind == RS_FORM_DATA)
        return RS_LANES_GATHER;
    if (index->kind == RS_FORM_REMAINDER)
        return index->lane == 1 && index->divisor != RS_FORM_SOME && index->divisor % 32 == 0
                   ? RS_LANES_ONE
                   : RS_LANES_UNKNOWN;
    if (index->lane == 0)
        return RS_LANES_SAME;
    if (index->lane == 1)
        return RS_LANES_ONE;
    if (is_group(facts, access))
        return RS_LANES_GROUP;
    return walks(facts, access) ? RS_LANES_WALK : RS_LANES_UNKNOWN;
}

static void judge_argument(rs_judge_argument *argument, const rs_fact_accesses *facts,
                           size_t parameter)
{
    double weights[RS_LANES_UNKNOWN + 1] = {0}, heaviest = 0;
    for (size_t i = 0; i < facts->access_count; i++) {
        const rs_fact_access *one = &facts->accesses[i];
        if (one->parameter != parameter)
            continue;
        const rs_judge_lanes lanes = find_lanes(facts, one);
        const double rounds = count_rounds(facts, one->loop);
        /* A loop without a constant number of rounds is taken to have many. */
        double weight = (double)one->size * (rounds > 0 ? rounds : 32);
        weights[lanes] += weight;
        argument->reads |= one->reads;
        argument->writes |= one->writes;
        argument->atomic |= one->is_atomic;
        if (weights[lanes] <= heaviest)
            continue;
        heaviest = weights[lanes];
        argument->lanes = lanes;
        argument->visits = rounds;
        argument->group = lanes == RS_LANES_GROUP ? (int)one->index.lane : 1;
    }
    if (argument->lanes == RS_LANES_GROUP) /* whose rounds are one visit */
        argument->visits = argument->visits / argument->group;
    for (size_t i = 0; i < facts->unknown_count; i++)
        if (facts->unknown[i].parameter == parameter)
            argument->lanes = RS_LANES_UNKNOWN;
}

void rs_fact_judged(rs_judge_kernel *kernel, const rs_fact_accesses *facts)
{
    memset(kernel, 0, sizeof *kernel);
    kernel->name = facts->kernel->qualified;
    for (size_t i = 0; i < facts->kernel->parameter_count; i++) {
        const rs_syntax_declaration *parameter = facts->kernel->parameters[i];
        if (!rs_fact_is_array_of_structures(parameter) ||
            kernel->argument_count == RS_JUDGE_MOST_ARGUMENTS)
            continue;
        rs_judge_argument *argument = &kernel->arguments[kernel->argument_count++];
        argument->name = parameter->name;
        argument->element = (int)parameter->type->of->size;
        argument->lanes = RS_LANES_UNKNOWN;
        argument->group = 1;
        judge_argument(argument, facts, i);
        add_leaves(argument, facts, i, parameter->type->of, 0);
    }
}
