/* The steps of the analysis, and its JSON. */
#include "analyze/analyze.h"

#include "analyze/access.h"
#include "analyze/deep.h"
#include "analyze/dependence.h"
#include "analyze/discover.h"
#include "analyze/lanes.h"
#include "analyze/memory.h"
#include "analyze/program.h"
#include "analyze/vector.h"
#include "analyze/walk.h"
#include "base/json.h"

#include <stdlib.h>
#include <string.h>

typedef struct {
    const json_t *request;
    rs_device_model device;
    rs_memory_parallelism launch;
    rs_model_set set;
    json_t *units;
    const rs_translation_unit *program;
} analysis;

/* ---- text ---- */

static json_t *text_of_polynomial(const rs_polynomial *p, const rs_symbols *symbols)
{
    rs_text text = RS_TEXT_EMPTY;
    rs_polynomial_print(&text, p, symbols);
    json_t *value = text.failed ? NULL : json_string(text.data);
    rs_text_free(&text);
    return value != NULL ? value : json_string("?");
}

static json_t *text_or_null(const char *text)
{
    json_t *value = text == NULL ? NULL : json_string(text);
    return value != NULL ? value : json_null();
}

static const char *name_of(const rs_unit *unit, int symbol)
{
    return unit->symbols.symbols[symbol].name;
}

/* ---- the parts of a unit ---- */

static json_t *describe_loops(const rs_accesses *accesses, const rs_dependence *dependences)
{
    static const char *const kinds[] = {"nothing", "reduction", "value"};
    const rs_unit *unit = accesses->unit;
    json_t *loops = json_array();
    for (int i = 0; i < unit->loop_count; i++) {
        const rs_loop *loop = &unit->loops[i];
        const rs_dependence *d = &dependences[i];
        json_t *entry = json_pack(
            "{s:s, s:i, s:i, s:I, s:o, s:o, s:b, s:s, s:b}", "name", name_of(unit, loop->symbol),
            "line", loop->line, "parent", loop->parent, "step", (json_int_t)loop->step, "lower",
            text_of_polynomial(&loop->lower, &unit->symbols), "room",
            text_of_polynomial(&loop->bound, &unit->symbols), "thread", accesses->threads[i],
            "carried", kinds[d->kind], "early", loop->leaves_early);
        if (d->kind != RS_CARRIED_NOTHING) {
            json_object_set_new(entry, "what", text_or_null(d->what));
            json_object_set_new(entry, "lines", json_pack("[i, i]", d->first, d->last));
            json_object_set_new(entry, "certain", json_boolean(d->certain));
        }
        json_array_append_new(loops, entry);
    }
    return loops;
}

static json_t *describe_advice(const rs_layout_advice *advice)
{
    json_t *entry = json_pack("{s:s, s:s, s:i, s:i}", "layout", advice->layout, "dims",
                              advice->dims, "now", advice->now, "then", advice->then);
    if (advice->record > 0)
        json_object_set_new(entry, "record", json_integer(advice->record));
    return entry;
}

/* A layout for many concurrent accesses, of grids in kernels. */
static void add_parallel(const analysis *a, const rs_accesses *accesses, int array, json_t *entry)
{
    const rs_array *described = &accesses->unit->arrays[array];
    rs_text layout = RS_TEXT_EMPTY, dims = RS_TEXT_EMPTY;
    const char *reason;
    if (!accesses->unit->kernel || described->space != RS_SPACE_GLOBAL || described->dimensions < 2)
        return;
    if (!rs_array_discover(accesses, array, &a->launch, &layout, &dims, &reason))
        json_object_set_new(entry, "parallel", json_pack("{s:s}", "reason", reason));
    else if (!layout.failed && !dims.failed)
        json_object_set_new(entry, "parallel",
                            json_pack("{s:s, s:s}", "layout", layout.data, "dims", dims.data));
    rs_text_free(&layout);
    rs_text_free(&dims);
}

static json_t *describe_arrays(const analysis *a, const rs_accesses *accesses)
{
    static const char *const spaces[] = {"global", "constant", "local", "private"};
    const rs_unit *unit = accesses->unit;
    json_t *arrays = json_array();
    for (int i = 0; i < unit->array_count; i++) {
        const rs_array *array = &unit->arrays[i];
        rs_placement p = rs_array_place(accesses, i, &a->device);
        json_t *extents = json_array(), *candidates = json_array();
        for (int d = 0; d < array->dimensions; d++)
            json_array_append_new(extents, json_integer(array->extents[d]));
        for (int m = 0; m < 4; m++)
            if ((p.candidates & 1U << m) != 0)
                json_array_append_new(candidates, json_string(rs_memory_text((rs_memory)m)));
        json_t *entry = json_pack(
            "{s:s, s:o, s:I, s:i, s:o, s:s, s:b, s:b, s:b, s:b, s:b, s:b, s:b, s:I, s:o}", "name",
            array->name, "type", text_or_null(array->type), "element", (json_int_t)array->element,
            "dimensions", array->dimensions, "extents", extents, "space", spaces[array->space],
            "argument", array->argument, "read", array->read, "written", array->written, "reused",
            p.reused, "chunkable", p.chunkable, "same_address", p.same_address, "coalesced",
            p.coalesced, "bytes", (json_int_t)p.bytes, "candidates", candidates);
        if (p.candidates != 0 &&
            (array->space == RS_SPACE_GLOBAL || array->space == RS_SPACE_CONSTANT))
            json_object_set_new(entry, "memory", json_string(rs_memory_text(p.memory)));
        rs_layout_advice advice;
        if (rs_array_advise(accesses, i, &a->device, &advice))
            json_object_set_new(entry, "advice", describe_advice(&advice));
        add_parallel(a, accesses, i, entry);
        json_array_append_new(arrays, entry);
    }
    return arrays;
}

/* The place in a group stands for all that may differ between threads, also where no subscript has
 * it. */
static bool is_shown(const rs_access *access, const rs_unit *unit, int column)
{
    const rs_symbol *symbol = &unit->symbols.symbols[access->symbols[column]];
    return symbol->kind != RS_SYMBOL_LOCAL || symbol->dimension != 0 || symbol->used;
}

static json_t *describe_matrix(const rs_access *access, const rs_unit *unit)
{
    json_t *matrix = json_array();
    for (int row = 0; row < access->rows; row++) {
        json_t *entries = json_array();
        for (int column = 0; column < access->columns; column++)
            if (is_shown(access, unit, column))
                json_array_append_new(
                    entries, text_of_polynomial(&access->matrix[row][column], &unit->symbols));
        json_array_append_new(matrix, entries);
    }
    return matrix;
}

static json_t *describe_reference(const analysis *a, const rs_accesses *accesses, int index)
{
    const rs_unit *unit = accesses->unit;
    const rs_access *access = &accesses->accesses[index];
    const rs_reference *r = access->reference;
    json_t *columns = json_array(), *offset = json_array();
    for (int i = 0; i < access->columns; i++)
        if (is_shown(access, unit, i))
            json_array_append_new(columns,
                                  json_pack("{s:s, s:b, s:b}", "name",
                                            name_of(unit, access->symbols[i]), "between",
                                            access->between[i], "auxiliary", access->auxiliary[i]));
    for (int row = 0; row < access->rows; row++)
        json_array_append_new(offset, text_of_polynomial(&access->offset[row], &unit->symbols));
    rs_text classes = RS_TEXT_EMPTY;
    rs_class_print(&classes, access->classes);
    bool exact;
    int transactions = rs_access_transactions(accesses, access, &a->device, &exact);
    json_t *entry = json_pack(
        "{s:s, s:o, s:i, s:b, s:b, s:b, s:i, s:o, s:o, s:o, s:s, s:b, s:b, s:b, s:I, s:i, s:b, "
        "s:o}",
        "array", unit->arrays[r->array].name, "text", text_or_null(r->text), "line", r->line,
        "read", r->read, "write", r->written, "atomic", r->atomic, "loop", r->loop, "columns",
        columns, "matrix", describe_matrix(access, unit), "offset", offset, "classes",
        classes.data != NULL ? classes.data : "", "divided", access->divided, "approximated",
        access->approximated, "guarded", r->guarded, "width", (json_int_t)r->width, "transactions",
        transactions, "exact", exact, "stride",
        text_of_polynomial(&access->thread_stride, &unit->symbols));
    rs_text_free(&classes);
    if (r->member != NULL)
        json_object_set_new(entry, "member", text_or_null(r->member));
    return entry;
}

void rs_rule_describe(const rs_rule *rule, json_t *entry)
{
    json_t *matrix = json_array(), *shift = json_array();
    for (int row = 0; row < rule->size; row++) {
        json_t *entries = json_array();
        for (int column = 0; column < rule->size; column++)
            json_array_append_new(entries, text_or_null(rule->matrix[row][column]));
        json_array_append_new(matrix, entries);
        json_array_append_new(shift, text_or_null(rule->shift[row]));
    }
    json_object_set_new(entry, "matrix", matrix);
    json_object_set_new(entry, "shift", shift);
}

static json_t *describe_rule(const rs_rule *rule)
{
    rs_text kinds = RS_TEXT_EMPTY;
    rs_rule_print(&kinds, rule->kinds);
    json_t *entry =
        json_pack("{s:i, s:o}", "reference", rule->access, "rule", rs_json_take(&kinds));
    rs_rule_describe(rule, entry);
    return entry;
}

static json_t *describe_groups(const rs_accesses *accesses, const rs_vector_group *groups,
                               int count)
{
    const rs_unit *unit = accesses->unit;
    json_t *list = json_array();
    for (int i = 0; i < count; i++) {
        const rs_vector_group *g = &groups[i];
        json_t *rules = json_array(), *left_out = json_array();
        for (int r = 0; r < g->rule_count; r++)
            json_array_append_new(rules, describe_rule(&g->rules[r]));
        for (int r = 0; r < g->left_out_count; r++)
            json_array_append_new(left_out, json_integer(g->left_out[r]));
        double qv = g->instances > 0 ? 100.0 * g->rule_count / g->instances : 0;
        json_array_append_new(
            list, json_pack("{s:i, s:i, s:o, s:s, s:o, s:i, s:i, s:f, s:o, s:o}", "loop", g->loop,
                            "line", g->loop >= 0 ? unit->loops[g->loop].line : unit->line, "target",
                            g->symbol >= 0 ? json_string(name_of(unit, g->symbol)) : json_null(),
                            "verdict", rs_vector_verdict_text(g->verdict), "reason",
                            text_or_null(g->reason), "instances", g->instances, "vectorizable",
                            g->rule_count, "qv", qv, "rules", rules, "left_out", left_out));
    }
    return list;
}

/* ---- threads ---- */

static bool is_named(const json_t *names, const char *name)
{
    size_t i;
    json_t *value;
    json_array_foreach(names, i, value)
    {
        const char *text = json_string_value(value);
        if (text != NULL && strcmp(text, name) == 0)
            return true;
    }
    return false;
}

/* The outermost one or two loops of each nest that carry nothing; or those that were named. */
static void choose_threads(const analysis *a, const rs_unit *unit, const rs_dependence *dependences,
                           bool *threads)
{
    const json_t *names = json_object_get(a->request, "threads");
    for (int i = 0; i < unit->loop_count; i++) {
        bool parallel = dependences[i].kind == RS_CARRIED_NOTHING && !unit->loops[i].leaves_early;
        int above = 0;
        for (int up = unit->loops[i].parent; up >= 0; up = unit->loops[up].parent)
            above += threads[up];
        int parent = unit->loops[i].parent;
        bool continues = above == 0 || (parent >= 0 && threads[parent]);
        threads[i] = names != NULL ? is_named(names, name_of(unit, unit->loops[i].symbol))
                                   : parallel && above < 2 && continues && !unit->kernel;
    }
}

/* ---- a unit ---- */

static restride_status add_judgement(const analysis *a, const rs_unit *unit, json_t *entry)
{
#ifdef RESTRIDE_HAVE_JUDGE
    const char *device = json_string_value(json_object_get(a->request, "device"));
    const int64_t *fixed = unit->group, *given = a->device.group;
    const int64_t *group = fixed[0] > 0 ? fixed : given;
    int64_t threads = 1;
    for (int d = 0; d < 3; d++)
        threads *= group[d] > 0 ? group[d] : 1;
    json_t *judgement = NULL;
    restride_status status = rs_kernel_judge(a->program, unit, group[0] > 0 ? threads : 0,
                                             device != NULL ? device : "h200", &judgement);
    if (status == RESTRIDE_OK)
        json_object_set_new(entry, "judgement", judgement);
    return status;
#else
    (void)a, (void)unit, (void)entry;
    return RESTRIDE_OK;
#endif
}

static restride_status describe_unit(analysis *a, rs_unit *unit)
{
    rs_dependence *dependences = NULL;
    rs_vector_group *groups = NULL;
    int group_count = 0;
    rs_accesses accesses = {unit, NULL, NULL};
    restride_status status = rs_dependences_find(unit, &dependences);
    bool *threads = calloc((size_t)unit->loop_count + 1, sizeof *threads);
    if (status == RESTRIDE_OK && threads == NULL)
        status = rs_fail_memory("the analysis");
    if (status == RESTRIDE_OK) {
        choose_threads(a, unit, dependences, threads);
        status = rs_accesses_make(&accesses, unit, threads);
    }
    if (status == RESTRIDE_OK)
        status = rs_vector_groups_find(&accesses, dependences, &groups, &group_count);
    if (status == RESTRIDE_OK) {
        json_t *references = json_array();
        for (int i = 0; i < unit->reference_count; i++)
            json_array_append_new(references, describe_reference(a, &accesses, i));
        json_t *entry =
            json_pack("{s:s, s:i, s:b, s:o, s:o, s:o, s:o}", "name", unit->name, "line", unit->line,
                      "kernel", unit->kernel, "loops", describe_loops(&accesses, dependences),
                      "arrays", describe_arrays(a, &accesses), "references", references, "groups",
                      describe_groups(&accesses, groups, group_count));
        if (entry == NULL || json_array_append_new(a->units, entry) != 0)
            status = rs_fail_memory("the analysis");
        else if (unit->kernel)
            status = add_judgement(a, unit, entry);
    }
    rs_vector_groups_free(groups, group_count);
    rs_dependences_free(dependences, unit->loop_count);
    rs_accesses_free(&accesses);
    free(threads);
    return status;
}

static restride_status read_integer(const json_t *request, const char *key, json_int_t least,
                                    json_int_t *value)
{
    const json_t *found = json_object_get(request, key);
    if (found == NULL)
        return RESTRIDE_OK;
    if (!json_is_integer(found) || json_integer_value(found) < least ||
        json_integer_value(found) > 1 << 20)
        return rs_fail(RESTRIDE_INVALID_ARGUMENT,
                       "The member \"%s\" is no number of at least %lld.", key, (long long)least);
    *value = json_integer_value(found);
    return RESTRIDE_OK;
}

static restride_status read_device(const json_t *request, rs_device_model *device)
{
    json_int_t warp = device->warp, burst = device->burst, constant = device->constant_size;
    restride_status status = read_integer(request, "warp", 1, &warp);
    if (status == RESTRIDE_OK)
        status = read_integer(request, "burst", 1, &burst);
    if (status == RESTRIDE_OK)
        status = read_integer(request, "constant", 0, &constant);
    device->warp = (int)warp;
    device->burst = (int)burst;
    device->constant_size = constant;
    return status;
}

static restride_status read_launch(const json_t *request, rs_memory_parallelism *launch)
{
    const json_t *group = json_object_get(request, "group");
    json_int_t active = launch->active, steering = launch->steering_bits;
    restride_status status = read_integer(request, "active", 1, &active);
    if (status == RESTRIDE_OK)
        status = read_integer(request, "steering", 0, &steering);
    launch->active = active;
    launch->steering_bits = (int)steering;
    for (size_t i = 0; i < json_array_size(group) && i < 3; i++) {
        launch->group[i] = json_integer_value(json_array_get(group, i));
        if (launch->group[i] < 1)
            return rs_fail(RESTRIDE_INVALID_ARGUMENT,
                           "The member \"group\" has to be one to three numbers from 1 on.");
    }
    return status;
}

json_t *rs_analyze_notes(const rs_model_set *set)
{
    json_t *notes = json_array();
    for (int i = 0; i < set->note_count; i++)
        json_array_append_new(
            notes, json_pack("{s:o, s:i, s:o}", "file", text_or_null(set->notes[i].file), "line",
                             set->notes[i].line, "sentence", text_or_null(set->notes[i].sentence)));
    return notes;
}

/* ---- the walk ---- */

typedef struct {
    const rs_translation_unit *program;
    rs_model_set *set;
} walk_task;

static restride_status walk(void *context)
{
    walk_task *task = context;
    return rs_walk_program(task->program, task->set);
}

restride_status rs_analyze_read_launch(const json_t *request, rs_memory_parallelism *launch)
{
    rs_device_model device = RS_DEVICE_USUAL;
    *launch = RS_LAUNCH_USUAL;
    restride_status status = read_device(request, &device);
    if (status == RESTRIDE_OK)
        status = read_launch(request, launch);
    launch->burst = device.burst;
    return status;
}

restride_status rs_analyze_read_source(const json_t *request, rs_program_request *wanted)
{
    const char *source = json_string_value(json_object_get(request, "source"));
    const char *file = json_string_value(json_object_get(request, "file"));
    const char *options = json_string_value(json_object_get(request, "options"));
    *wanted = (rs_program_request){.source = source,
                                   .file = file != NULL ? file : "source.c",
                                   .options = options != NULL ? options : ""};
    wanted->language = rs_language_of(wanted->file);
    return source != NULL
               ? RESTRIDE_OK
               : rs_fail(RESTRIDE_INVALID_ARGUMENT, "The request has no member \"source\".");
}

restride_status rs_analyze(const json_t *request, json_t **reply)
{
    static const char *const languages[] = {"C", "OpenCL C", "CUDA C"};
    rs_translation_unit program;
    analysis a = {request,      RS_DEVICE_USUAL, RS_LAUNCH_USUAL, {NULL, 0, NULL, 0},
                  json_array(), &program};
    rs_program_request wanted;
    restride_status status = rs_analyze_read_source(request, &wanted);
    if (status == RESTRIDE_OK)
        status = read_device(request, &a.device);
    if (status == RESTRIDE_OK)
        status = rs_analyze_read_launch(request, &a.launch);
    if (json_object_get(request, "group") != NULL)
        memcpy(a.device.group, a.launch.group, sizeof a.device.group);
    memset(&program, 0, sizeof program);
    if (status == RESTRIDE_OK)
        status = rs_program_read(&program, &wanted, &a.set);
    if (status == RESTRIDE_OK && program.readable)
        status = rs_run_deep(walk, &(walk_task){&program, &a.set});
    for (int i = 0; i < a.set.unit_count && status == RESTRIDE_OK; i++)
        if (a.set.units[i].reference_count > 0 &&
            (a.set.units[i].kernel || a.set.units[i].loop_count > 0))
            status = describe_unit(&a, &a.set.units[i]);
    if (status == RESTRIDE_OK) {
        *reply = json_pack("{s:s, s:s, s:b, s:o, s:O}", "file", wanted.file, "language",
                           languages[wanted.language], "readable", program.readable, "notes",
                           rs_analyze_notes(&a.set), "units", a.units);
        status = *reply == NULL ? rs_fail_memory("the analysis") : RESTRIDE_OK;
    }
    json_decref(a.units);
    rs_model_set_free(&a.set);
    rs_program_free(&program);
    return status;
}
