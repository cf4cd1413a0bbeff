/* Collects the accesses of an argument, with those of the helpers that it is passed to. */
#include "rewrite/pattern.h"

#include "rewrite/planes.h"

#include <stdlib.h>
#include <string.h>

/* Helpers that call helpers; a source can make their ways more than anyone wants to count. */
enum { VISIT_LIMIT = 4096, NESTING_LIMIT = 64 };

typedef struct {
    const rs_lane_strides *steps;
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

static rs_pattern pattern_of(rs_lane_stride step, long long record_size)
{
    if (step.kind == RS_STEP_NONE)
        return RS_PATTERN_UNIFORM;
    if (step.kind != RS_STEP_BY)
        return step.kind == RS_STEP_STRIDED ? RS_PATTERN_STRIDED : RS_PATTERN_OTHER;
    if (step.distance == 0)
        return RS_PATTERN_UNIFORM;
    if (step.distance == record_size || step.distance == -record_size)
        return RS_PATTERN_UNIT;
    return step.distance % record_size == 0 ? RS_PATTERN_STRIDED : RS_PATTERN_OTHER;
}

/* The same in an array that is SoA: one member when the index names it by a number. */
static void touched_plane(const collection *c, const rs_member_access *a, size_t *begin,
                          size_t *end)
{
    const rs_tree *tree = c->steps->model->tree;
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
        if (&c->steps->model->structures[a->pointee] != c->structure)
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
        rs_linear_of_access(&sum, c->steps->model->tree, a, length);
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
    rs_lane_stride step = rs_steps_of_access(c->steps, a);
    size_t next = c->extent != NULL ? c->structure->uniform : c->structure->record.size;
    c->usage->accesses[pattern_of(step, (long long)next)]++;
    c->usage->is_written = c->usage->is_written || a->written;
    c->usage->is_read = c->usage->is_read || !a->written || a->updated;
}

static void add_argument(collection *c, int argument, int nesting)
{
    const rs_model *model = c->steps->model;
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

restride_status rs_usage_find(const rs_lane_strides *steps, int argument, rs_usage *usage)
{
    const rs_model *model = steps->model;
    *usage = (rs_usage){{0}, 0, 0, false, false, NULL};
    const rs_pointer_parameter *a = &model->arguments[argument];
    collection c = {.steps = steps,
                    .structure = &model->structures[a->structure],
                    .usage = usage,
                    .extent = a->extent};
    usage->members = calloc(c.structure->member_count + 1, 1);
    if (usage->members == NULL)
        return rs_fail_memory("the uses of an array");
    memset(usage->members, '-', c.structure->member_count);
    add_argument(&c, argument, 0);
    for (size_t m = 0; m < c.structure->member_count; m++)
        if (usage->members[m] != '-') {
            usage->bytes_used += c.structure->members[m].size;
            usage->members_used++;
        }
    return RESTRIDE_OK;
}

void rs_usage_free(rs_usage *usage)
{
    free(usage->members);
    usage->members = NULL;
}
