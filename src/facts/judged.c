/*
 * From forms of indices to what the lanes of a warp do. Accesses of one kind to one array are a use
 * of it; an array that a kernel reaches in several ways has several, the one with the most bytes
 * first.
 */
#include "facts/judged.h"

#include <stdlib.h>
#include <string.h>

bool rs_fact_is_array_of_structures(const rs_syntax_declaration *parameter)
{
    static const char *const vectors[] = {"char",     "uchar",     "short", "ushort",
                                          "int",      "uint",      "long",  "ulong",
                                          "longlong", "ulonglong", "float", "double"};
    const rs_syntax_type *type = parameter->type;
    if (type == NULL || (type->kind != RS_TYPE_POINTER && type->kind != RS_TYPE_ARRAY) ||
        type->of == NULL || type->of->kind != RS_TYPE_RECORD || type->of->size < 8)
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

/* --- records of flat arrays --- */

enum { MOST_RECORD = 256, SCALAR = 8 /* bytes */ };

/* Numbers of a record; 0: the array has none. */
static long long find_record(const rs_fact_accesses *facts, size_t parameter)
{
    const rs_syntax_type *type = facts->kernel->parameters[parameter]->type->of;
    long long record = 0;
    if ((type->kind != RS_TYPE_INTEGER && type->kind != RS_TYPE_FLOAT) || type->size > SCALAR)
        return 0;
    for (size_t i = 0; i < facts->access_count; i++) {
        const rs_fact_access *one = &facts->accesses[i];
        const long long step = rs_form_lane_step(&one->index);
        if (one->parameter != parameter)
            continue;
        if (one->index.is_data || step == RS_FORM_SOME || step == 0 ||
            (record != 0 && llabs(step) != record))
            return 0;
        record = llabs(step);
    }
    return record > 1 && record <= MOST_RECORD ? record : 0;
}

/* Loops that lead through the members of one record become the span of the access. */
static void split_access(const rs_fact_accesses *facts, rs_fact_access *access, long long record,
                         long long size)
{
    rs_fact_form *index = &access->index;
    const rs_fact_form first = rs_form_constant(index->constant);
    long long span = 0;
    for (int i = 0; i < RS_FORM_LOOPS; i++) {
        const long long step = index->steps[i];
        const int loop = index->loops[i];
        const long long count = loop < 0 ? 0 : facts->loops[loop].count;
        if (step == 0 || step == RS_FORM_SOME || step % record == 0)
            continue;
        span += llabs(step) >= record || count == 0 || count > record ? record
                                                                      : (count - 1) * llabs(step);
        access->inner_loops |= loop < 64 ? 1ull << (unsigned)loop : 0;
        index->steps[i] = 0;
    }
    const bool is_known = index->uniform % record == 0;
    const rs_fact_form inner = rs_form_combine("%", first, rs_form_constant(record));
    *index = rs_form_combine("/", *index, rs_form_constant(record));
    const bool is_whole = !is_known || inner.constant + span >= record;
    access->offset = is_whole ? 0 : inner.constant * size;
    access->size = is_whole ? record * size : access->size + span * size;
}

static void split_records(const rs_fact_accesses *facts, size_t parameter, long long record)
{
    const long long size = facts->kernel->parameters[parameter]->type->of->size;
    for (size_t i = 0; i < facts->access_count; i++)
        if (facts->accesses[i].parameter == parameter)
            split_access(facts, &facts->accesses[i], record, size);
}

/* --- lanes --- */

enum {
    SOME_ROUNDS = 64,     /* of a loop whose bounds are no numbers */
    SOME_ELEMENTS = 4096, /* of a loop over all */
    OPEN_ROUNDS = 2       /* of one that ends by what it finds: samples that are seldom rejected */
};

typedef struct {
    rs_judge_lanes lanes;
    int group;
    double visits, again;
    bool for_each; /* visits: for each thread of the kernel */
} use;

static double rounds_of(const rs_fact_loop *loop)
{
    return loop->count > 0                 ? (double)loop->count
           : loop->is_open || loop->varies ? OPEN_ROUNDS
                                           : SOME_ROUNDS;
}

/* Multiplies by the rounds of a loop; those of the first one over all elements are for each thread.
 */
static void take_rounds(const rs_fact_loop *loop, double *rounds, bool *for_each)
{
    *rounds *= loop->for_each > 0 && !*for_each ? loop->for_each : rounds_of(loop);
    *for_each = *for_each || loop->for_each > 0;
}

/* The instructions in a loop: a round's, by its rounds and those of the loops around it. */
static void add_instructions(rs_judge_kernel *kernel, const rs_fact_accesses *facts, int loop)
{
    double work = facts->loops[loop].work;
    bool for_each = false;
    for (; loop >= 0; loop = facts->loops[loop].outer)
        take_rounds(&facts->loops[loop], &work, &for_each);
    *(for_each ? &kernel->instructions_for_each : &kernel->instructions) += work;
}

/* Rounds of the loops around that change which element it is; those of others come to it again, or
 * are the fields of one visit. What is only read and nothing else may change stays in registers. */
static void count_visits(const rs_fact_accesses *facts, const rs_fact_access *access, use *found)
{
    const rs_fact_form *index = &access->index;
    const rs_syntax_type *type = facts->kernel->parameters[access->parameter]->type;
    const bool stays = !access->writes && type->is_restrict;
    found->visits = access->share;
    found->again = 1;
    for (int loop = access->loop; loop >= 0; loop = facts->loops[loop].outer) {
        const bool is_inner = loop < 64 && (access->inner_loops >> (unsigned)loop & 1) != 0;
        const double rounds = rounds_of(&facts->loops[loop]);
        if (rs_form_step(index, loop) != 0 || (index->is_data && !is_inner))
            take_rounds(&facts->loops[loop], &found->visits, &found->for_each);
        else if (!is_inner && !stays)
            found->again *= rounds;
    }
}

/* Whether all of a group's elements are meant: by rounds of a loop, or by constants. */
static bool is_group(const rs_fact_accesses *facts, const rs_fact_access *access)
{
    const long long size = rs_form_lane_step(&access->index);
    unsigned long long found = 0;
    if (size < 2 || size > 64)
        return false;
    for (size_t i = 0; i < facts->access_count; i++) {
        const rs_fact_access *one = &facts->accesses[i];
        if (one->parameter != access->parameter || one->is_copying ||
            rs_form_lane_step(&one->index) != size)
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
    const long long step = rs_form_lane_step(index);
    long long span;
    if (access->is_inner_lane && !index->is_data)
        return !index->some_lane && rs_form_distinct(index, &span) <= RS_FORM_LANES / 2
                   ? RS_LANES_WITHIN
                   : RS_LANES_UNKNOWN;
    if (index->is_data)
        return RS_LANES_GATHER;
    if (rs_form_is_uniform(index))
        return RS_LANES_SAME;
    if (index->some_lane)
        return walks(facts, access) ? RS_LANES_WALK : RS_LANES_UNKNOWN;
    const int distinct = rs_form_distinct(index, &span);
    if (distinct <= RS_FORM_LANES / 2)
        return RS_LANES_WITHIN;
    if (step == 1 || step == -1 || span < 2 * RS_FORM_LANES)
        return step == 2 && is_group(facts, access) ? RS_LANES_GROUP : RS_LANES_ONE;
    if (is_group(facts, access))
        return RS_LANES_GROUP;
    return walks(facts, access) ? RS_LANES_WALK : RS_LANES_UNKNOWN;
}

static use use_of(const rs_fact_accesses *facts, const rs_fact_access *access)
{
    const rs_judge_lanes lanes = find_lanes(facts, access);
    const int group = lanes == RS_LANES_GROUP ? (int)rs_form_lane_step(&access->index) : 1;
    use found = {.lanes = lanes, .group = group};
    count_visits(facts, access, &found);
    return found;
}

/* --- members --- */

static void add_field(rs_judge_argument *argument, long long offset, long long bytes)
{
    if (argument->field_count < RS_JUDGE_MOST_FIELDS && bytes > 0 && bytes <= 16)
        argument->fields[argument->field_count++] = (rs_judge_field){(int)offset, (int)bytes};
}

typedef struct {
    const rs_fact_accesses *facts;
    const rs_judge_lanes *lanes; /* of each access */
    size_t parameter;
    bool writes; /* those that write; else those that read */
    rs_judge_argument *argument;
} member_search;

static bool is_counted(const member_search *at, size_t access)
{
    const rs_fact_access *one = &at->facts->accesses[access];
    return one->parameter == at->parameter && at->lanes[access] == at->argument->lanes &&
           (at->writes ? one->writes : one->reads);
}

/* Whether an access of this kind touches some of these bytes. */
static bool is_touched(const member_search *at, long long offset, long long bytes)
{
    for (size_t i = 0; i < at->facts->access_count; i++) {
        const rs_fact_access *one = &at->facts->accesses[i];
        if (is_counted(at, i) && one->offset < offset + bytes && offset < one->offset + one->size)
            return true;
    }
    return false;
}

/* The leaves of a type that are touched; a union is one, up to its size. */
static void add_leaves(const member_search *at, const rs_syntax_type *type, long long offset)
{
    if (type == NULL || type->size <= 0 || !is_touched(at, offset, type->size))
        return;
    const rs_syntax_declaration *record = type->declaration;
    if (type->kind == RS_TYPE_ARRAY && type->of != NULL && type->of->size > 0) {
        for (long long i = 0; i < type->count; i++)
            add_leaves(at, type->of, offset + i * type->of->size);
    } else if (type->kind == RS_TYPE_RECORD && record != NULL && !record->is_union) {
        for (size_t i = 0; i < record->base_count; i++)
            if (record->bases[i].offset >= 0)
                add_leaves(at, record->bases[i].type, offset + record->bases[i].offset);
        for (size_t i = 0; i < record->field_count; i++)
            if (record->fields[i]->bit_offset >= 0)
                add_leaves(at, record->fields[i]->type, offset + record->fields[i]->bit_offset / 8);
    } else {
        for (long long i = 0; i < type->size; i += 16)
            add_field(at->argument, offset + i, type->size - i < 16 ? type->size - i : 16);
    }
}

/* --- arguments --- */

/* The use of all accesses of one kind: most visits count, as they share their rounds. */
static double add_use(const member_search *at)
{
    const rs_fact_accesses *facts = at->facts;
    rs_judge_argument *a = at->argument;
    double weight = 0, again = 0;
    for (size_t i = 0; i < facts->access_count; i++) {
        const rs_fact_access *one = &facts->accesses[i];
        if (!is_counted(at, i))
            continue;
        const use found = use_of(facts, one);
        const double touched =
            (double)one->size * found.visits * (found.for_each ? SOME_ELEMENTS : 1);
        a->reads |= !at->writes;
        a->writes |= at->writes;
        a->atomic |= one->is_atomic;
        a->group = found.group > a->group ? found.group : a->group;
        if (found.for_each > a->for_each ||
            (found.for_each == a->for_each && found.visits > a->visits))
            a->visits = found.visits;
        a->for_each |= found.for_each;
        again += touched * found.again;
        weight += touched;
    }
    a->again = weight > 0 ? again / weight : 1;
    if (a->lanes == RS_LANES_GROUP) /* whose rounds are one visit */
        a->visits = a->visits / a->group;
    return weight;
}

static bool is_unknown(const rs_fact_accesses *facts, size_t parameter)
{
    for (size_t i = 0; i < facts->unknown_count; i++)
        if (facts->unknown[i].parameter == parameter)
            return true;
    return false;
}

static rs_judge_argument make_use(const rs_syntax_declaration *declared, rs_judge_lanes lanes,
                                  long long record)
{
    return (rs_judge_argument){
        .name = declared->name,
        .element = (int)(declared->type->of->size * (record > 0 ? record : 1)),
        .words = (int)record,
        .lanes = lanes,
        .group = 1,
        .is_fixed = record == 0 && !rs_fact_is_array_of_structures(declared)};
}

static bool has_same_fields(const rs_judge_argument *a, const rs_judge_argument *b)
{
    return a->field_count == b->field_count && a->group == b->group && a->for_each == b->for_each &&
           memcmp(a->fields, b->fields, (size_t)a->field_count * sizeof a->fields[0]) == 0;
}

/* Adds a use behind the others of its array, or before them if it is the heaviest. */
static void place_use(rs_judge_kernel *kernel, int first, double weight, double *heaviest)
{
    rs_judge_argument *a = &kernel->arguments[kernel->argument_count++];
    if (weight > *heaviest && a > &kernel->arguments[first]) {
        const rs_judge_argument lighter = kernel->arguments[first];
        kernel->arguments[first] = *a;
        *a = lighter;
    }
    *heaviest = weight > *heaviest ? weight : *heaviest;
}

/* Adds an argument's uses: of each kind the members that are read and those that are written, which
 * are one use where they are the same. */
static void add_argument(rs_judge_kernel *kernel, const rs_fact_accesses *facts,
                         const rs_judge_lanes *lanes, size_t parameter, long long record)
{
    const rs_syntax_declaration *declared = facts->kernel->parameters[parameter];
    const int first = kernel->argument_count;
    double heaviest = -1;
    bool is_large = false; /* with more members than are counted */
    for (int kind = 0; kind <= RS_LANES_UNKNOWN; kind++)
        for (int writes = 0, reader = -1; writes < 2; writes++) {
            if (kernel->argument_count == RS_JUDGE_MOST_ARGUMENTS)
                break;
            rs_judge_argument *a = &kernel->arguments[kernel->argument_count];
            *a = make_use(declared, (rs_judge_lanes)kind, record);
            const member_search at = {facts, lanes, parameter, writes != 0, a};
            const double weight = add_use(&at);
            if (weight <= 0)
                continue;
            for (int at_word = 0; at_word < (record > 0 ? record : 1); at_word++)
                add_leaves(&at, declared->type->of, at_word * declared->type->of->size);
            is_large |= a->field_count == RS_JUDGE_MOST_FIELDS;
            if (reader >= 0 && has_same_fields(&kernel->arguments[reader], a)) {
                kernel->arguments[reader].writes = true;
                continue;
            }
            const bool leads = weight > heaviest;
            place_use(kernel, first, weight, &heaviest);
            reader = writes != 0 ? -1 : leads ? first : kernel->argument_count - 1;
        }
    if (kernel->argument_count == first && first < RS_JUDGE_MOST_ARGUMENTS)
        kernel->arguments[kernel->argument_count++] = make_use(declared, RS_LANES_UNKNOWN, record);
    for (int k = first; k < kernel->argument_count; k++) {
        kernel->arguments[k].continues = k > first;
        if (is_large || is_unknown(facts, parameter))
            kernel->arguments[k].lanes = RS_LANES_UNKNOWN;
    }
}

static bool is_array(const rs_syntax_declaration *parameter)
{
    const rs_syntax_type *type = parameter->type;
    return type != NULL && (type->kind == RS_TYPE_POINTER || type->kind == RS_TYPE_ARRAY) &&
           type->of != NULL && type->of->size > 0;
}

restride_status rs_fact_judged(rs_judge_kernel *kernel, rs_fact_accesses *facts)
{
    const size_t parameters = facts->kernel->parameter_count;
    rs_judge_lanes *lanes = calloc(facts->access_count + 1, sizeof *lanes);
    long long *records = calloc(parameters + 1, sizeof *records);
    memset(kernel, 0, sizeof *kernel);
    kernel->name = facts->kernel->qualified;
    kernel->group = facts->group;
    kernel->local_bytes = facts->shared_bytes;
    kernel->instructions = facts->work;
    for (size_t i = 0; i < facts->loop_count; i++)
        add_instructions(kernel, facts, (int)i);
    for (size_t i = 0; records != NULL && i < parameters; i++) {
        records[i] = is_array(facts->kernel->parameters[i]) ? find_record(facts, i) : 0;
        if (records[i] > 0)
            split_records(facts, i, records[i]);
    }
    for (size_t i = 0; lanes != NULL && i < facts->access_count; i++)
        lanes[i] = find_lanes(facts, &facts->accesses[i]);
    for (int pass = 0; records != NULL && lanes != NULL && pass < 2; pass++)
        for (size_t i = 0; i < parameters; i++) { /* arrays of structures first */
            const rs_syntax_declaration *one = facts->kernel->parameters[i];
            if (is_array(one) &&
                (records[i] > 0 || rs_fact_is_array_of_structures(one)) == (pass == 0))
                add_argument(kernel, facts, lanes, i, records[i]);
        }
    const bool has_memory = records != NULL && lanes != NULL;
    free(lanes);
    free(records);
    return has_memory ? RESTRIDE_OK : rs_fail_memory("a kernel's accesses");
}
