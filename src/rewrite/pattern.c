/* Collects the accesses of an argument, with those of the helpers that it is passed to. */
#include "rewrite/pattern.h"

#include "rewrite/planes.h"

#include <stdlib.h>
#include <string.h>

/* Helpers that call helpers; a source can make their ways more than anyone wants to count. */
enum { VISIT_LIMIT = 4096, NESTING_LIMIT = 64 };

typedef struct {
    const rs_model *model;
    const rs_structure *structure;
    rs_usage *usage;
    const char *extent; /* not NULL: a record's members lie far apart in the program's own array */
    int visits;
} collection;

const char *rs_pattern_name(rs_pattern pattern)
{
    static const char *const names[RS_PATTERN_COUNT] = {"unit", "uniform", "strided", "other"};
    return names[pattern];
}

rs_pattern rs_usage_pattern(const rs_usage *usage)
{
    rs_pattern most = RS_PATTERN_UNIT;
    for (rs_pattern p = RS_PATTERN_UNIT; p < RS_PATTERN_COUNT; p++)
        if (usage->accesses[p] >= usage->accesses[most])
            most = p;
    return most;
}

/* How the records lie to each other that a warp's threads use; `length` is that of one in elements
 * of the argument. */
static rs_pattern pattern_of(const rs_fact_access *access, long long length)
{
    const rs_fact_form *index = &access->index;
    const long long step = rs_form_lane_step(index);
    if (index->is_data)
        return RS_PATTERN_OTHER;
    if (rs_form_is_uniform(index))
        return access->is_inner_lane ? RS_PATTERN_OTHER : RS_PATTERN_UNIFORM;
    if (index->some_lane)
        return RS_PATTERN_STRIDED;
    if (step == length || step == -length)
        return RS_PATTERN_UNIT;
    return step != RS_FORM_SOME && step != 0 && step % length == 0 ? RS_PATTERN_STRIDED
                                                                   : RS_PATTERN_OTHER;
}

/* The same in an array that is SoA: one member when the index names it by a number. */
static void touched_plane(const collection *c, const rs_member_access *a, size_t *begin,
                          size_t *end)
{
    const rs_tree *tree = c->model->tree;
    rs_planes planes;
    rs_planes_of_access(&planes, tree, a, c->extent);
    bool known = a->is_parameter && !planes.sum.overflow;
    long long member = planes.planes;
    for (int i = 0; i < planes.sum.count && known; i++) {
        long long value;
        if (!planes.sum.terms[i].counts_records)
            continue;
        known = rs_constant_value(tree, planes.sum.terms[i].node, &value);
        member += known ? value * planes.sum.terms[i].factor : 0;
    }
    size_t size = c->structure->uniform;
    if (!known || member < 0 || (size_t)member >= c->structure->record.size / size)
        return;
    *begin = (size_t)member * size;
    *end = *begin + size;
}

/* The bytes [begin, end) of a record that an access can touch. */
static void touched(const collection *c, const rs_member_access *a, size_t *begin, size_t *end)
{
    *begin = 0;
    *end = c->structure->record.size;
    if (!a->flat) {
        if (&c->model->structures[a->pointee] != c->structure)
            return; /* through a pointer to a nested structure */
        size_t size = a->union_size > 0 ? a->union_size : a->size;
        *begin = a->touched_offset;
        *end = *begin + (a->touched_size > 0 ? a->touched_size : size);
        return;
    }
    if (c->extent != NULL) {
        touched_plane(c, a, begin, end);
        return;
    }
    /* A flat access tells its member when the index does and the pointer is the array itself. */
    rs_linear sum = {.count = 0};
    size_t length = c->structure->uniform > 0 ? *end / c->structure->uniform : 0;
    if (length > 0)
        rs_linear_of_access(&sum, c->model->tree, a, length);
    bool known = a->is_parameter && length > 0 && !sum.overflow &&
                 (a->kind != RS_ACCESS_BLOCK || a->block.lanes > 0);
    for (int i = 0; i < sum.count; i++)
        known = known && sum.terms[i].counts_records;
    if (!known)
        return;
    long long member = sum.constant % (long long)length;
    member += member < 0 ? (long long)length : 0;
    size_t members = a->block.lanes > 0 ? (size_t)a->block.lanes : 1;
    if ((size_t)member + members > length)
        return;
    *begin = (size_t)member * c->structure->uniform;
    *end = *begin + members * c->structure->uniform;
}

static void add_access(collection *c, const rs_member_access *a)
{
    size_t begin, end;
    touched(c, a, &begin, &end);
    for (size_t m = 0; m < c->structure->member_count; m++) {
        const rs_member *member = &c->structure->members[m];
        if (member->offset < end && member->offset + member->size > begin) {
            char *use = &c->usage->members[m];
            bool reads = !a->written || a->updated;
            const bool is_read = reads || *use == 'r' || *use == 'b';
            const bool is_written = a->written || *use == 'w' || *use == 'b';
            *use = is_read && is_written ? 'b' : is_read ? 'r' : 'w';
        }
    }
    c->usage->is_written = c->usage->is_written || a->written;
    c->usage->is_read = c->usage->is_read || !a->written || a->updated;
}

static void add_argument(collection *c, int argument, int nesting)
{
    const rs_model *model = c->model;
    if (nesting > NESTING_LIMIT || ++c->visits > VISIT_LIMIT)
        return;
    int first, end;
    rs_model_accesses_of(model, model->arguments[argument].function, &first, &end);
    for (int i = first; i < end; i++)
        if (model->accesses[i].argument == argument && model->accesses[i].kind != RS_ACCESS_CALL)
            add_access(c, &model->accesses[i]);
    for (int b = 0; b < model->binding_count; b++)
        if (model->bindings[b].caller_argument == argument)
            add_argument(c, model->bindings[b].callee_argument, nesting + 1);
}

/* What is not followed is no regular use. */
static void count_accesses(rs_usage *usage, const rs_fact_accesses *facts, size_t parameter,
                           long long length)
{
    for (size_t i = 0; i < facts->access_count; i++) {
        const rs_fact_access *one = &facts->accesses[i];
        if (one->parameter == parameter && !one->of_copy)
            usage->accesses[pattern_of(one, length)]++;
    }
    for (size_t i = 0; i < facts->unknown_count; i++)
        usage->accesses[RS_PATTERN_OTHER] += facts->unknown[i].parameter == parameter;
}

restride_status rs_usage_find(const rs_model *model, const rs_fact_accesses *facts, int argument,
                              rs_usage *usage)
{
    *usage = (rs_usage){{0}, 0, 0, false, false, NULL};
    const rs_pointer_parameter *a = &model->arguments[argument];
    const rs_structure *s = &model->structures[a->structure];
    collection c = {.model = model, .structure = s, .usage = usage, .extent = a->extent};
    usage->members = calloc(s->member_count + 1, 1);
    if (usage->members == NULL)
        return rs_fail_memory("the uses of an array");
    memset(usage->members, '-', s->member_count);
    add_argument(&c, argument, 0);
    for (size_t m = 0; m < s->member_count; m++)
        if (usage->members[m] != '-') {
            usage->bytes_used += s->members[m].size;
            usage->members_used++;
        }
    const bool is_flat = s->declaration == NULL && a->extent == NULL;
    count_accesses(usage, facts, a->index, is_flat ? (long long)s->member_count : 1);
    return RESTRIDE_OK;
}

void rs_usage_free(rs_usage *usage)
{
    free(usage->members);
    usage->members = NULL;
}
