/* What a nest became, as JSON. */
#include "apply/describe.h"

#include "analyze/analyze.h"
#include "apply/types.h"
#include "base/json.h"

#include <string.h>

/* ---- quantities ---- */

static json_t *describe_quantity(const rs_unit *unit, const rs_quantity *q)
{
    json_t *terms = json_array();
    for (int t = 0; t < q->above.count; t++) {
        json_t *term = json_array();
        json_array_append_new(term, json_integer((json_int_t)q->above.terms[t].coefficient));
        for (int s = 0; s < RS_DEGREE_LIMIT && q->above.terms[t].symbols[s] >= 0; s++)
            json_array_append_new(
                term, json_string(unit->symbols.symbols[q->above.terms[t].symbols[s]].name));
        json_array_append_new(terms, term);
    }
    return json_pack("{s:o, s:I}", "terms", terms, "divisor", (json_int_t)q->divisor);
}

static json_t *describe_polynomial(const rs_unit *unit, const rs_polynomial *p)
{
    rs_quantity q = {*p, 1};
    return describe_quantity(unit, &q);
}

/* ---- parameters ---- */

/* One more than the largest index of an array, flat, for one reference; false: not known. */
static bool size_for(const rs_nest *nest, int reference, rs_polynomial *size)
{
    const rs_reference *r = &nest->unit->references[reference];
    const rs_array *array = &nest->unit->arrays[r->array];
    rs_polynomial least, most;
    *size = rs_polynomial_constant(1);
    for (int row = 0; row < r->count; row++) {
        rs_polynomial bytes = rs_access_row_stride(array, r, row);
        int64_t stride;
        if (array->element <= 0 || !rs_polynomial_is_constant(&bytes, &stride))
            return false;
        if (stride < array->element) /* of an array that is a member: it stays in its element */
            continue;
        if (stride % array->element != 0 ||
            !rs_range_supposed(nest, &r->subscripts[row], r->loop, &least, &most))
            return false;
        most = rs_polynomial_scale(&most, stride / array->element);
        *size = rs_polynomial_add(size, &most);
    }
    return size->known;
}

/* The declared extents' product; 0: not known. Behind them may be those of members. */
static int64_t declared_size(const rs_array *array)
{
    int64_t size = array->extents[0];
    for (int d = 1; d < array->dimensions && array->extents[d] > 0; d++)
        size *= array->extents[d];
    return size;
}

static json_t *describe_sizes(const rs_nest *nest, int array)
{
    json_t *sizes = json_array();
    int64_t whole = array >= 0 ? declared_size(&nest->unit->arrays[array]) : 0;
    if (array < 0 || whole > 0)
        json_array_append_new(sizes, json_pack("{s:[[I]], s:i}", "terms",
                                               (json_int_t)(array < 0 ? 1 : whole), "divisor", 1));
    if (array >= 0 && whole > 0)
        return sizes;
    for (int i = 0; array >= 0 && i < nest->unit->reference_count; i++) {
        rs_polynomial size;
        if (!rs_nest_has(nest, i) || nest->unit->references[i].array != array)
            continue;
        if (!size_for(nest, i, &size)) {
            json_decref(sizes);
            return json_null();
        }
        json_array_append_new(sizes, describe_polynomial(nest->unit, &size));
    }
    return sizes;
}

static int array_called(const rs_unit *unit, const char *name)
{
    for (int i = 0; i < unit->array_count; i++)
        if (strcmp(unit->arrays[i].name, name) == 0)
            return i;
    return -1;
}

static const rs_syntax_type *element_type(const rs_syntax_type *type, bool *array)
{
    *array = false;
    while (rs_kind_of(type) == RS_KIND_NONE && rs_type_is_fixed(type)) {
        *array = true;
        type = rs_type_below(type);
    }
    return type;
}

static json_t *describe_parameter(const rs_nest *nest, const rs_syntax_declaration *parameter)
{
    bool array;
    const rs_syntax_type *type = element_type(rs_declared_type(parameter), &array);
    const char *name = parameter->name;
    const char *spelling = type->plain->name;
    rs_kind kind = rs_kind_of(type);
    int which = array ? array_called(nest->unit, name) : -1;
    json_t *entry = json_pack(
        "{s:s, s:s, s:s, s:I}", "name", name, "kind", array ? "array" : "scalar", "type",
        kind != RS_KIND_NONE ? rs_kind_name(kind) : spelling, "bytes", (json_int_t)type->size);
    if (array) {
        json_object_set_new(entry, "written",
                            json_boolean(which >= 0 && nest->unit->arrays[which].written));
        json_object_set_new(entry, "sizes", describe_sizes(nest, which));
    }
    return entry;
}

static json_t *describe_parameters(const rs_kernels *kernels)
{
    const rs_nest *nest = kernels->nest;
    const rs_syntax_declaration *function = nest->program->tree.nodes[nest->function].declaration;
    json_t *list = json_array();
    for (int i = 0; i < (int)function->parameter_count; i++)
        json_array_append_new(list, describe_parameter(nest, rs_parameter(function, i)));
    for (int i = 0; i < kernels->gathered_count; i++) {
        const rs_gathered *g = &kernels->gathered[i];
        json_array_append_new(list, json_pack("{s:o, s:s, s:s, s:i, s:b, s:[{s:[[i]], s:i}]}",
                                              "name", json_sprintf("%s_gathered", g->name), "kind",
                                              "array", "type", g->type, "bytes", g->bytes,
                                              "written", 1, "sizes", "terms", 1, "divisor", 1));
    }
    return list;
}

/* ---- copies ---- */

static json_t *describe_elements(const rs_kernels *kernels, const rs_copy *copy)
{
    const rs_nest *nest = kernels->nest;
    json_t *elements = json_array();
    rs_polynomial one = rs_polynomial_constant(1);
    for (int i = 0; i + 1 < copy->rows; i++) {
        int row = rs_copy_row(copy, i);
        rs_polynomial extent = rs_polynomial_subtract(&copy->most[row], &copy->least[row]);
        extent = rs_polynomial_add(&extent, &one);
        json_array_append_new(elements, describe_polynomial(nest->unit, &extent));
    }
    rs_quantity most = {rs_polynomial_constant(0), 1};
    (void)rs_range_count_most(nest, &nest->loops[nest->vector], &most);
    json_array_append_new(elements, describe_quantity(nest->unit, &most));
    return elements;
}

/* The layout of the array in the project's words, where a copy is no more than that. */
static bool write_layout(const rs_copy *copy, rs_text *dims, rs_text *layout)
{
    unsigned worded = RS_RULE_SWITCH | RS_RULE_GATHER;
    int64_t stride;
    bool fixed = rs_polynomial_is_constant(&copy->stride, &stride);
    if ((copy->kinds & ~worded) != 0 || !fixed)
        return false;
    for (int row = 0; row < copy->rows; row++)
        rs_text_format(dims, "%s%c", row > 0 ? " " : "", 'i' + row);
    for (int position = 0; position < copy->rows; position++) {
        bool last = position + 1 == copy->rows;
        char name = (char)('i' + (last ? copy->row : rs_copy_row(copy, position)));
        rs_text_add_string(layout, position > 0 ? " " : "");
        if (last && stride != 1)
            rs_text_format(layout, "%c%%%lld %c/%lld", name, (long long)stride, name,
                           (long long)stride);
        else
            rs_text_format(layout, "%c", name);
    }
    return true;
}

static void add_rule(const rs_kernels *kernels, const rs_copy *copy, json_t *entry)
{
    const rs_nest *nest = kernels->nest;
    rs_rule rule;
    memset(&rule, 0, sizeof rule);
    rule.row = copy->row;
    int symbol = nest->unit->loops[nest->loops[nest->vector].loop].symbol;
    const bool is_made =
        rs_rule_make(&rule, &nest->accesses->accesses[copy->access], nest->unit, symbol);
    rs_rule_describe(is_made ? &rule : &(rs_rule){.size = 0}, entry);
    rs_rule_free(&rule);
    rs_text kinds = RS_TEXT_EMPTY, dims = RS_TEXT_EMPTY, layout = RS_TEXT_EMPTY;
    rs_rule_print(&kinds, copy->kinds);
    json_object_set_new(entry, "rule", rs_json_take(&kinds));
    bool worded = write_layout(copy, &dims, &layout) && !dims.failed && !layout.failed;
    json_object_set_new(entry, "dims", worded ? json_string(dims.data) : json_null());
    json_object_set_new(entry, "layout", worded ? json_string(layout.data) : json_null());
    rs_text_free(&dims);
    rs_text_free(&layout);
}

static json_t *describe_copy(const rs_kernels *kernels, int number)
{
    const rs_nest *nest = kernels->nest;
    const rs_copy *copy = &kernels->copies->copies[number];
    const rs_array *array = &nest->unit->arrays[copy->array];
    json_t *references = json_array();
    for (int i = 0; i < nest->unit->reference_count; i++)
        if (kernels->copies->copy_of[i] == number)
            json_array_append_new(references, json_string(nest->unit->references[i].text));
    json_t *entry = json_pack(
        "{s:o, s:s, s:s, s:I, s:o, s:o, s:o, s:o}", "name",
        json_sprintf("%s_%d", array->name, number + 1), "array", array->name, "type", array->type,
        "bytes", (json_int_t)array->element, "elements", describe_elements(kernels, copy), "pack",
        json_sprintf("%s_pack_%d", kernels->name, number + 1), "unpack",
        copy->written ? json_sprintf("%s_unpack_%d", kernels->name, number + 1) : json_null(),
        "references", references);
    if (entry != NULL)
        add_rule(kernels, copy, entry);
    return entry;
}

/* ---- the nest ---- */

static json_t *describe_references(const rs_kernels *kernels)
{
    const rs_nest *nest = kernels->nest;
    json_t *list = json_array();
    for (int i = 0; i < nest->unit->reference_count; i++)
        if (rs_nest_has(nest, i))
            json_array_append_new(list, json_pack("{s:s, s:i, s:b, s:s}", "text",
                                                  nest->unit->references[i].text, "line",
                                                  nest->unit->references[i].line, "write",
                                                  nest->unit->references[i].written, "access",
                                                  rs_placed_text(kernels->copies->placed[i])));
    return list;
}

/* Subscripts from 0 on, and below declared extents. */
static json_t *describe_constraints(const rs_nest *nest)
{
    json_t *list = json_array();
    for (int i = 0; i < nest->unit->reference_count; i++) {
        const rs_reference *r = &nest->unit->references[i];
        for (int row = 0; rs_nest_has(nest, i) && row < r->count; row++) {
            rs_polynomial least, most;
            if (!rs_range_supposed(nest, &r->subscripts[row], r->loop, &least, &most))
                continue;
            json_array_append_new(list, describe_polynomial(nest->unit, &least));
            rs_polynomial end =
                rs_polynomial_constant(nest->unit->arrays[r->array].extents[row] - 1);
            rs_polynomial room = rs_polynomial_subtract(&end, &most);
            if (nest->unit->arrays[r->array].extents[row] > 0)
                json_array_append_new(list, describe_polynomial(nest->unit, &room));
        }
    }
    return list;
}

static void add_threads(const rs_kernels *kernels, json_t *entry)
{
    const rs_nest *nest = kernels->nest;
    json_t *threads = json_array(), *items = json_array();
    for (int i = 0; i < nest->count; i++)
        if (nest->loops[i].dimension >= 0)
            json_array_append_new(threads, json_pack("{s:s, s:i}", "loop", nest->loops[i].variable,
                                                     "dimension", nest->loops[i].dimension));
    for (int d = 0; d < nest->dimensions; d++)
        for (int i = 0; i < nest->count; i++) {
            rs_quantity count = {rs_polynomial_constant(1), 1};
            if (nest->loops[i].dimension != d)
                continue;
            if (!rs_range_count_most(nest, &nest->loops[i], &count))
                count = (rs_quantity){rs_polynomial_constant(1024), 1};
            json_array_append_new(items, describe_quantity(nest->unit, &count));
        }
    json_t *trips = json_array();
    for (int i = 0; i < nest->count; i++) {
        rs_quantity count;
        if (rs_range_count_most(nest, &nest->loops[i], &count))
            json_array_append_new(trips, describe_quantity(nest->unit, &count));
    }
    json_object_set_new(entry, "trips", trips);
    json_object_set_new(entry, "threads", threads);
    json_object_set_new(entry, "items", items);
}

static void add_kernels(const rs_kernels *kernels, const char *changed, json_t *entry)
{
    static const char *const roles[] = {"original", "threads", "changed"};
    const char *const endings[] = {"original", "threads", changed};
    json_t *names = json_object();
    for (int i = 0; i < 3; i++)
        json_object_set_new(names, roles[i], json_sprintf("%s_%s", kernels->name, endings[i]));
    json_object_set_new(entry, "kernels", names);
}

/* Whether a subscript is data, which another run of the nest may find changed. */
static bool has_random(const rs_nest *nest)
{
    for (int i = 0; i < nest->unit->reference_count; i++)
        if (rs_nest_has(nest, i) && rs_access_is_random(&nest->accesses->accesses[i]))
            return true;
    return false;
}

json_t *rs_describe_nest(const rs_kernels *kernels, const rs_spaces *spaces)
{
    const rs_nest *nest = kernels->nest;
    const char *file;
    size_t line;
    rs_flat_locate(&nest->program->flat, nest->program->tree.nodes[nest->node].begin, &file, &line);
    json_t *entry = json_pack("{s:s, s:i, s:b}", "function", nest->unit->name, "line", (int)line,
                              "applied", nest->refusal == NULL);
    if (nest->refusal != NULL) {
        json_object_set_new(entry, "reason", json_string(nest->refusal));
        json_object_set_new(entry, "reason_line", json_integer(nest->refusal_line));
        return entry;
    }
    add_kernels(kernels, spaces != NULL ? "memory" : "vector", entry);
    add_threads(kernels, entry);
    json_object_set_new(entry, "parameters", describe_parameters(kernels));
    json_object_set_new(entry, "constraints", describe_constraints(nest));
    json_object_set_new(entry, "random", json_boolean(has_random(nest)));
    if (spaces != NULL)
        rs_spaces_describe(spaces, kernels, entry);
    else {
        const rs_nest_loop *loop = &kernels->nest->loops[kernels->nest->vector];
        json_t *copies = json_array();
        for (int i = 0; i < kernels->copies->copy_count; i++)
            json_array_append_new(copies, describe_copy(kernels, i));
        json_object_set_new(entry, "along", json_string(loop->variable));
        json_object_set_new(entry, "reduction", json_boolean(loop->reduction));
        json_object_set_new(entry, "copies", copies);
        json_object_set_new(entry, "references", describe_references(kernels));
    }
    return entry;
}
