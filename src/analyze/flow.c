/* See flow.h. */
#include "analyze/flow.h"

#include "analyze/extents.h"
#include "base/list.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *rs_grid_name(const rs_translation_unit *program, int grid, char name[64])
{
    const rs_grid *g = &program->grids.grids[grid];
    size_t length = g->name_length < 63 ? g->name_length : 63;
    memcpy(name, program->flat.text + g->name, length);
    name[length] = '\0';
    return name;
}

/* ---- classes ---- */

void rs_class_keep_at(rs_flow_context *context, int class, size_t offset, const char *sentence)
{
    bool told = rs_propagation_keep(context->found, context->program, class, offset, sentence);
    context->no_memory = context->no_memory || !told;
}

void rs_class_keep(rs_flow_context *context, int class, int node, const char *format, ...)
{
    char sentence[512];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(sentence, sizeof sentence, format, arguments);
    va_end(arguments);
    rs_class_keep_at(context, class, context->program->tree.nodes[node].begin, sentence);
}

/* The reason of either holds for both. */
void rs_class_unite(rs_flow_context *context, int a, int b)
{
    rs_propagation *found = context->found;
    a = rs_grid_class(found, a);
    b = rs_grid_class(found, b);
    if (a == b)
        return;
    if (found->kept[a].sentence == NULL) {
        found->kept[a] = found->kept[b];
        found->kept[b] = (rs_note){NULL, 0, NULL};
    }
    found->parents[b] = a;
}

void rs_grid_link_add(rs_flow_context *context, int grid, int class)
{
    rs_propagation *found = context->found;
    for (int i = 0; i < found->link_count; i++)
        if (found->links[i].grid == grid && found->links[i].class == class)
            return;
    RS_LIST_ADD(found->links, found->link_count, context->no_memory, (rs_grid_link){grid, class});
}

void rs_grid_keep_declared(rs_flow_context *context, int grid, int node, const char *format)
{
    char name[64];
    rs_class_keep(context, grid, node, format, rs_grid_name(context->program, grid, name));
    rs_grid_link_add(context, grid, grid);
}

/* ---- types ---- */

static void let_escape(rs_flow_context *context, uint64_t key);

static bool same_type(const rs_flow_context *context, rs_extended_type a, rs_extended_type b)
{
    if (a.kind != b.kind)
        return false;
    if (a.kind == RS_EXTENDED_REFERENCE)
        return a.target == b.target;
    if (a.kind == RS_EXTENDED_NEW)
        return a.source == b.source && a.via == b.via;
    return a.kind != RS_EXTENDED_GRID ||
           (a.grid == b.grid &&
            rs_grid_class(context->found, a.class) == rs_grid_class(context->found, b.class));
}

static rs_extended_type meet_grids(rs_flow_context *context, rs_extended_type a, rs_extended_type b,
                                   int node)
{
    char first[64], second[64];
    if (!rs_extents_same(context->program, context->found, a.grid, b.grid)) {
        rs_grid_name(context->program, a.grid, first);
        rs_grid_name(context->program, b.grid, second);
        rs_class_keep(context, a.class, node, "a pointer may be %s or %s, whose extents differ",
                      first, second);
        rs_class_keep(context, b.class, node, "a pointer may be %s or %s, whose extents differ",
                      first, second);
        return RS_EXTENDED_OF(RS_EXTENDED_INCOMPATIBLE);
    }
    rs_class_unite(context, a.class, b.class);
    return a;
}

rs_extended_type rs_type_meet(rs_flow_context *context, rs_extended_type a, rs_extended_type b,
                              int node)
{
    if (a.kind == RS_EXTENDED_NEW && b.kind == RS_EXTENDED_NEW && !same_type(context, a, b)) {
        bool both = a.source != 0 && b.source != 0;
        a.via = both ? 0 : a.via + b.via;
        a.source = both ? -1 : a.source + b.source;
        return a;
    }
    if (same_type(context, a, b) || b.kind == RS_EXTENDED_NEW)
        return a;
    if (a.kind == RS_EXTENDED_NEW)
        return b;
    if (a.kind == RS_EXTENDED_GRID && b.kind == RS_EXTENDED_GRID)
        return meet_grids(context, a, b, node);
    const rs_extended_type *const both[] = {&a, &b};
    for (int i = 0; i < 2; i++) {
        char name[64];
        if (both[i]->kind == RS_EXTENDED_GRID)
            rs_class_keep(context, both[i]->class, node,
                          "a pointer may be %s or memory that is no grid",
                          rs_grid_name(context->program, both[i]->grid, name));
        if (both[i]->kind == RS_EXTENDED_REFERENCE)
            let_escape(context, both[i]->target);
    }
    return RS_EXTENDED_OF(RS_EXTENDED_INCOMPATIBLE);
}

/* ---- places ---- */

static rs_typed_variable *find(const rs_flow *flow, uint64_t key)
{
    for (int i = 0; i < flow->count; i++)
        if (flow->variables[i].key == key)
            return &flow->variables[i];
    return NULL;
}

rs_extended_type rs_flow_get(const rs_flow *flow, uint64_t key)
{
    const rs_typed_variable *found = find(flow, key);
    return found != NULL ? found->type : RS_UNTRANSFORMED_TYPE;
}

void rs_flow_set(rs_flow_context *context, rs_flow *flow, uint64_t key, rs_extended_type type)
{
    rs_typed_variable *there = find(flow, key);
    if (there != NULL) {
        there->type = type;
        return;
    }
    RS_LIST_ADD(flow->variables, flow->count, context->no_memory, (rs_typed_variable){key, type});
}

rs_flow rs_flow_copy(rs_flow_context *context, const rs_flow *from)
{
    rs_flow copy = *from;
    if (!rs_list_copy(&copy.variables, from->variables, (size_t)from->count,
                      sizeof *copy.variables)) {
        copy.count = 0;
        context->no_memory = true;
    }
    return copy;
}

void rs_flow_free(rs_flow *flow)
{
    free(flow->variables);
    *flow = (rs_flow){NULL, 0, false};
}

/* ---- variables that are not followed ---- */

bool rs_flow_has_escaped(const rs_flow_context *context, uint64_t key)
{
    for (int i = 0; i < context->escaped_count; i++)
        if (context->escaped[i] == key)
            return true;
    return false;
}

static void let_escape(rs_flow_context *context, uint64_t key)
{
    if (rs_flow_has_escaped(context, key))
        return;
    RS_LIST_ADD(context->escaped, context->escaped_count, context->no_memory, key);
}

void rs_flow_escape(rs_flow_context *context, rs_flow *flow, uint64_t key, int node)
{
    int grid = rs_grids_at(&context->program->grids, (size_t)(key - 1));
    let_escape(context, key);
    if (grid >= 0)
        rs_grid_keep_declared(context, grid, node, "the address of the pointer %s is not followed");
    rs_flow_settle(context, flow, node);
}

void rs_flow_settle(rs_flow_context *context, rs_flow *flow, int node)
{
    for (int i = 0; i < flow->count; i++) {
        rs_extended_type type = flow->variables[i].type;
        if (type.kind == RS_EXTENDED_UNTRANSFORMED ||
            !rs_flow_has_escaped(context, flow->variables[i].key))
            continue;
        flow->variables[i].type = RS_UNTRANSFORMED_TYPE;
        rs_type_lose(context, flow, type, node,
                     "a variable whose address is not followed gets the address");
    }
}

void rs_type_lose(rs_flow_context *context, rs_flow *flow, rs_extended_type type, int node,
                  const char *what)
{
    char name[64];
    if (type.kind == RS_EXTENDED_GRID)
        rs_class_keep(context, type.class, node, "%s of %s", what,
                      rs_grid_name(context->program, type.grid, name));
    else if (type.kind == RS_EXTENDED_REFERENCE)
        rs_flow_escape(context, flow, type.target, node);
    else if (type.kind == RS_EXTENDED_NEW && type.target != 0)
        rs_flow_set(context, flow, type.target, RS_UNTRANSFORMED_TYPE);
}

/* A variable that only one of the places knows was not declared in the other. */
void rs_flow_meet(rs_flow_context *context, rs_flow *flow, const rs_flow *other, int node)
{
    if (other->unreached)
        return;
    if (flow->unreached) {
        flow->count = 0;
        flow->unreached = false;
    }
    for (int i = 0; i < other->count; i++) {
        const rs_typed_variable *theirs = &other->variables[i];
        const rs_typed_variable *ours = find(flow, theirs->key);
        rs_flow_set(context, flow, theirs->key,
                    ours == NULL ? theirs->type
                                 : rs_type_meet(context, ours->type, theirs->type, node));
    }
    rs_flow_settle(context, flow, node);
}

bool rs_flow_equal(const rs_flow_context *context, const rs_flow *a, const rs_flow *b)
{
    if (a->unreached != b->unreached || a->count != b->count)
        return false;
    for (int i = 0; i < a->count; i++) {
        const rs_typed_variable *other = find(b, a->variables[i].key);
        if (other == NULL || !same_type(context, a->variables[i].type, other->type))
            return false;
    }
    return true;
}
