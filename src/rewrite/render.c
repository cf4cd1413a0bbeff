/*
 * Writes the new source: the flat text, in which every understood access goes through the offset
 * function of its argument's layout (the software form of Tseng 2014, equations 1 and 2), with
 * copies of the helper functions that get pointers into transformed buffers.
 */
#include "rewrite/render.h"
#include "rewrite/planes.h"
#include "rewrite/ranges.h"
#include "rewrite/way.h"

#include "source/query.h"
#include "source/words.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

/* What is being written: an instance of a function, or the source as a whole. */
typedef struct {
    const rs_model *model;
    rs_numbered_text *out;
    rs_locals *locals;
    const rs_instance *instance; /* NULL: each kernel is its own */
    bool nested;                 /* inside an access */
} writer;

static void write_range(const writer *w, size_t begin, size_t end, int from);

static void write_node(const writer *w, int node, int from)
{
    const rs_node *n = &w->model->tree->nodes[node];
    write_range(w, n->begin, n->end, from);
}

static const char *const_word(bool is_const)
{
    return is_const ? "const " : "";
}

static const char *volatile_word(bool is_volatile)
{
    return is_volatile ? "volatile " : "";
}

/* Whether the argument itself, as it was passed, is where the buffer starts. */
static bool is_direct(const rs_model *model, const rs_access *a)
{
    const rs_argument *argument = &model->arguments[a->argument];
    return a->is_parameter && !argument->moved && model->functions[argument->function].kernel;
}

static const char *base_prefix(const rs_model *model, const rs_access *a)
{
    return is_direct(model, a) ? "" : "restride_base_";
}

/* The distance of the access's pointer from the start of the buffer, when it is not that start. */
static void write_distance(const writer *w, const rs_access *a, int self)
{
    const rs_model *model = w->model;
    const rs_argument *argument = &model->arguments[a->argument];
    const char *type = a->flat ? a->type : model->structures[argument->structure].name;
    rs_text_add_string(&w->out->text, "((");
    write_node(w, a->pointer, self + 1);
    rs_text_format(&w->out->text, ") - (%s %s *)restride_base_%s)", a->space, type, argument->name);
}

/* The index of the structure, or of the member in a flat access. */
static void write_index(const writer *w, const rs_access *a, int self)
{
    /* Index arithmetic wraps as pointer arithmetic of the device does. */
    const char *index_type = w->model->address_bits == 32 ? "int" : "long";
    rs_text *text = &w->out->text;
    bool direct = is_direct(w->model, a);
    if (!direct)
        write_distance(w, a, self);
    for (int i = 0; i < a->index_count; i++) {
        bool first = i == 0 && direct;
        rs_text_format(text, "%s(%s)(",
                       a->negative[i] ? (first ? "-" : " - ") : (first ? "" : " + "), index_type);
        write_node(w, a->index[i], self + 1);
        rs_text_add_string(text, ")");
    }
    if (a->index_count == 0 && direct)
        rs_text_add_string(text, "0");
    if (a->vector_index >= 0) {
        rs_text_format(text, " + (%s)(", index_type);
        write_node(w, a->vector_index, self + 1);
        rs_text_format(text, ") * %d", a->block.lanes);
    }
}

static void write_subscripts(const writer *w, const rs_access *a, int self, int first, int end)
{
    rs_text *text = &w->out->text;
    for (int i = first; i < end; i++) {
        rs_text_add_string(text, " + (long)(");
        write_node(w, a->subscript[i], self + 1);
        rs_text_format(text, ") * %zu", a->stride[i]);
    }
}

/* "COUNT, DISTANCE": the same in bytes from the start, through a pointer to a nested structure. */
static void write_byte_place(const writer *w, const rs_access *a, int self)
{
    rs_text *text = &w->out->text;
    const char *name = w->model->arguments[a->argument].name;
    rs_text_format(text, "restride_count_%s, (unsigned long)((%s char *)((", name, a->space);
    write_node(w, a->pointer, self + 1);
    rs_text_add_string(text, ")");
    for (int i = 0; i < a->index_count; i++) {
        rs_text_add_string(text, a->negative[i] ? " - (" : " + (");
        write_node(w, a->index[i], self + 1);
        rs_text_add_string(text, ")");
    }
    rs_text_format(text, ") - (%s char *)restride_base_%s) + %zu", a->space, name, a->offset);
    write_subscripts(w, a, self, 0, a->union_size > 0 ? a->union_subscript : a->subscript_count);
}

/* "COUNT, INDEX, OFFSET": where in the array the access goes. */
static void write_place(const writer *w, const rs_access *a, int self)
{
    rs_text *text = &w->out->text;
    if (rs_access_in_bytes(w->model, rs_instance_accessor(w->model, w->instance, a->argument), a)) {
        write_byte_place(w, a, self);
        return;
    }
    rs_text_format(text, "restride_count_%s, ", w->model->arguments[a->argument].name);
    write_index(w, a, self);
    rs_text_format(text, ", %zu", a->offset);
    write_subscripts(w, a, self, 0, a->union_size > 0 ? a->union_subscript : a->subscript_count);
}

/* The sum of a constant and the terms that count records, or those that count members. */
static void write_terms(const writer *w, const rs_linear *sum, long long constant, bool records,
                        int self)
{
    rs_text *text = &w->out->text;
    rs_text_format(text, "%lld", constant);
    for (int i = 0; i < sum->count; i++) {
        const rs_linear_term *term = &sum->terms[i];
        if (term->counts_records != records)
            continue;
        rs_text_add_string(text, term->factor < 0 ? " - (long)(" : " + (long)(");
        write_node(w, term->node, self + 1);
        rs_text_add_string(text, ")");
        long long factor = term->factor < 0 ? -term->factor : term->factor;
        if (factor != 1)
            rs_text_format(text, " * %lld", factor);
    }
}

static bool has_records(const rs_linear *sum)
{
    for (int i = 0; i < sum->count; i++)
        if (sum->terms[i].counts_records)
            return true;
    return sum->count == 0;
}

/* The members in a record of a flat access. */
static size_t record_length(const writer *w, const rs_access *a)
{
    const rs_model *model = w->model;
    int accessor = rs_instance_accessor(model, w->instance, a->argument);
    const rs_structure *s = &model->structures[model->accessors[accessor].structure];
    return s->record.size / s->uniform;
}

/* How the place of a flat access is told: the function that gets it, and whether record and member
 * are given apart, with `carried` whole records of the index's constant. */
typedef struct {
    const char *function;
    bool apart;
    long long carried;
} flat_place;

/*
 * Record and member are given apart when the index tells them, so that the compiler has nothing to
 * divide; when the member is proved to be one of that record, nothing is asked there either. A
 * pointer variable usually stands at the start of some record, and compilers divide its distance
 * only once.
 */
static flat_place find_flat_place(const writer *w, const rs_access *a, rs_linear *sum)
{
    const rs_model *model = w->model;
    bool direct = is_direct(model, a), variable = rs_model_variable(model, a->pointer) >= 0;
    size_t length = record_length(w, a);
    flat_place place = {"element", false, 0};
    rs_linear_of_access(sum, model->tree, a, length);
    if (model->address_bits != 64 || sum->overflow || (!direct && !variable))
        return place;
    if (direct && rs_range_proves_member(w->locals, sum, length, &place.carried))
        return (flat_place){"within", true, place.carried};
    if (direct && !has_records(sum))
        return place;
    long long member = sum->constant % (long long)length;
    member += member < 0 ? (long long)length : 0;
    return (flat_place){"member", true, (sum->constant - member) / (long long)length};
}

/* "RECORD, MEMBER" of an access that tells them apart. */
static void write_apart(const writer *w, const rs_access *a, int self, const rs_linear *sum,
                        long long carried)
{
    rs_text *text = &w->out->text;
    size_t length = record_length(w, a);
    bool direct = is_direct(w->model, a);
    write_terms(w, sum, carried, true, self);
    if (!direct) {
        rs_text_add_string(text, " + ");
        write_distance(w, a, self);
        rs_text_format(text, " / %zu", length);
    }
    rs_text_add_string(text, ", ");
    write_terms(w, sum, sum->constant - carried * (long long)length, false, self);
    if (!direct) {
        rs_text_add_string(text, " + ");
        write_distance(w, a, self);
        rs_text_format(text, " %% %zu", length);
    }
}

/* The extent of arrays in SoA; NULL for all others. */
static const char *extent_of(const writer *w, const rs_access *a)
{
    int accessor = rs_instance_accessor(w->model, w->instance, a->argument);
    return w->model->accessors[accessor].extent;
}

/* "MEMBER, RECORD, EXTENT" in an array that is SoA. */
static void write_planes(const writer *w, const rs_access *a, int self, const rs_planes *planes)
{
    rs_text *text = &w->out->text;
    write_terms(w, &planes->sum, planes->planes, true, self);
    rs_text_add_string(text, ", ");
    write_terms(w, &planes->sum, 0, false, self);
    if (planes->extent < 0) {
        rs_text_format(text, ", (long)restride_count_%s", w->model->arguments[a->argument].name);
        return;
    }
    rs_text_add_string(text, ", (long)(");
    write_node(w, planes->extent, self + 1);
    rs_text_add_string(text, ")");
}

/* Where the member of a flat access lies in an array that is SoA. */
static void write_plane_place(const writer *w, const rs_access *a, int self)
{
    rs_text *text = &w->out->text;
    rs_planes planes;
    bool direct = is_direct(w->model, a);
    rs_planes_of_access(&planes, w->model->tree, a, extent_of(w, a));
    bool apart = w->model->address_bits == 64 && !planes.sum.overflow &&
                 (direct || !planes.narrow) &&
                 (direct || rs_model_variable(w->model, a->pointer) >= 0);
    const char *function = !apart          ? "element"
                           : !direct       ? "moved"
                           : planes.narrow ? "narrow"
                                           : "plane";
    rs_text_format(text, "restride_layout_%d_%s(restride_count_%s, ",
                   rs_instance_accessor(w->model, w->instance, a->argument), function,
                   w->model->arguments[a->argument].name);
    if (apart && !direct) {
        write_distance(w, a, self);
        rs_text_add_string(text, ", ");
    }
    if (apart)
        write_planes(w, a, self, &planes);
    else
        write_index(w, a, self);
    rs_text_add_string(text, ")");
}

/* Where the member of a flat access lies. */
static void write_flat_place(const writer *w, const rs_access *a, int self)
{
    rs_text *text = &w->out->text;
    rs_linear sum;
    if (extent_of(w, a) != NULL) {
        write_plane_place(w, a, self);
        return;
    }
    flat_place place = find_flat_place(w, a, &sum);
    rs_text_format(text, "restride_layout_%d_%s(restride_count_%s, ",
                   rs_instance_accessor(w->model, w->instance, a->argument), place.function,
                   w->model->arguments[a->argument].name);
    if (place.apart)
        write_apart(w, a, self, &sum, place.carried);
    else
        write_index(w, a, self);
    rs_text_add_string(text, ")");
}

/* The place of a block in an array that is SoA: "MEMBER, RECORD, EXTENT". */
static void write_block_planes(const writer *w, const rs_access *a, int self)
{
    rs_planes planes;
    rs_planes_of_access(&planes, w->model->tree, a, extent_of(w, a));
    if (w->model->address_bits == 64 && !planes.sum.overflow && !planes.narrow &&
        is_direct(w->model, a)) {
        write_planes(w, a, self, &planes);
        return;
    }
    rs_text_add_string(&w->out->text, "0, ");
    write_index(w, a, self);
    rs_text_format(&w->out->text, ", (long)restride_count_%s",
                   w->model->arguments[a->argument].name);
}

/* "COUNT, RECORD, MEMBER" or, in a structure, "COUNT, INDEX, OFFSET" of a block's first element. */
static void write_block_place(const writer *w, const rs_access *a, int self)
{
    rs_linear sum;
    if (!a->flat) {
        write_place(w, a, self);
        return;
    }
    rs_text_format(&w->out->text, "restride_count_%s, ", w->model->arguments[a->argument].name);
    if (extent_of(w, a) != NULL) {
        write_block_planes(w, a, self);
        return;
    }
    flat_place place = find_flat_place(w, a, &sum);
    if (place.apart) {
        write_apart(w, a, self, &sum, place.carried);
        return;
    }
    rs_text_add_string(&w->out->text, "0, ");
    write_index(w, a, self);
}

/* A call of the function that takes the place of OpenCL's: with the operands that tell no place
 * behind it. */
static void write_block(const writer *w, const rs_access *a, int self, const char *qualifiers)
{
    rs_text *text = &w->out->text;
    const rs_tree *tree = w->model->tree;
    rs_text_format(text, "restride_block_%d((%s char *)%s%s, ",
                   rs_model_copier(w->model, w->instance, a), qualifiers, base_prefix(w->model, a),
                   w->model->arguments[a->argument].name);
    write_block_place(w, a, self);
    int number = 0;
    for (int n = rs_node_child(tree, a->call, 1); n >= 0; n = tree->nodes[n].next, number++) {
        bool place = n == a->operand || (a->block.kind == RS_BLOCK_LOAD && number == 0) ||
                     (a->block.kind == RS_BLOCK_STORE && number == 1);
        if (place)
            continue;
        rs_text_add_string(text, ", ");
        write_range(w, tree->nodes[n].begin, rs_operand_end(tree, n), self + 1);
    }
    rs_text_add_string(text, ")");
}

static void write_leaf(const writer *w, const rs_access *a, int self, const char *qualifiers)
{
    const rs_argument *argument = &w->model->arguments[a->argument];
    rs_text *text = &w->out->text;
    rs_text_format(text, "(%s*(%s %s *)((%s char *)%s%s + ", a->address ? "&" : "", qualifiers,
                   a->type, qualifiers, base_prefix(w->model, a), argument->name);
    if (a->flat) {
        write_flat_place(w, a, self);
    } else {
        int accessor = rs_instance_accessor(w->model, w->instance, a->argument);
        rs_text_format(text, "restride_layout_%d_%s(", accessor,
                       rs_access_in_bytes(w->model, accessor, a) ? "byte" : "offset");
        write_place(w, a, self);
        rs_text_format(text, ", %zu)", a->union_size > 0 ? a->union_size : a->size);
        if (a->union_size > 0) {
            rs_text_format(text, " + %zu", a->union_offset);
            write_subscripts(w, a, self, a->union_subscript, a->subscript_count);
        }
    }
    rs_text_add_string(text, "))");
}

static void write_load(const writer *w, const rs_access *a, int self, const char *qualifiers)
{
    int copier = rs_model_copier(w->model, w->instance, a);
    rs_text *text = &w->out->text;
    if (w->model->language == RS_CUDA_C) {
        rs_text_format(text, "restride_load_%d((%s char *)%s%s, ", copier, qualifiers,
                       base_prefix(w->model, a), w->model->arguments[a->argument].name);
        write_place(w, a, self);
        rs_text_add_string(text, ")");
        return;
    }
    rs_text_format(text, "((union restride_value_%d){.bytes = restride_load_%d((%s char *)%s%s, ",
                   copier, copier, qualifiers, base_prefix(w->model, a),
                   w->model->arguments[a->argument].name);
    write_place(w, a, self);
    rs_text_add_string(text, ")}).value");
}

static size_t count_newlines(const char *text, size_t size)
{
    size_t count = 0;
    for (size_t i = 0; i < size; i++)
        count += text[i] == '\n';
    return count;
}

/* Ends as many lines as the user did in [begin, end), which the text written since `start` stands
 * for. */
static void catch_up(const writer *w, size_t start, size_t begin, size_t end)
{
    rs_text *text = &w->out->text;
    if (text->failed)
        return;
    size_t wanted = count_newlines(w->model->tree->text + begin, end - begin);
    for (size_t had = count_newlines(text->data + start, text->size - start); had < wanted; had++)
        rs_text_add_string(text, "\n");
}

static void write_store(const writer *w, const rs_access *a, int self, const char *qualifiers)
{
    int copier = rs_model_copier(w->model, w->instance, a);
    rs_text *text = &w->out->text;
    size_t start = text->size;
    const bool unions = w->model->language == RS_OPENCL_C;
    if (a->value_used && unions)
        rs_text_format(text, "((union restride_value_%d){.bytes = ", copier);
    rs_text_format(text, "restride_store_%d((%s char *)%s%s, ", copier, qualifiers,
                   base_prefix(w->model, a), w->model->arguments[a->argument].name);
    write_place(w, a, self);
    if (unions)
        rs_text_format(text, ", ((union restride_value_%d){.value = ", copier);
    else
        rs_text_add_string(text, ", ");
    catch_up(w, start, a->begin, w->model->tree->nodes[a->value].begin);
    write_node(w, a->value, self + 1);
    rs_text_add_string(text, unions ? "}).bytes)" : ")");
    if (a->value_used && unions)
        rs_text_add_string(text, "}).value");
}

/* "NAME_NUMBER", which no other function has. */
static void write_instance_name(const rs_model *model, rs_text *text, int instance)
{
    rs_text_format(text, "restride_%s_%d",
                   model->functions[model->instances[instance].function].name, instance);
}

/* A call goes to the copy for the layouts of its pointers, which gets their buffers too. */
static void write_call(const writer *w, const rs_access *a, int self)
{
    const rs_model *model = w->model;
    const rs_tree *tree = model->tree;
    rs_text *text = &w->out->text;
    int instance = rs_model_called_instance(model, w->instance, a);
    const rs_function *callee = &model->functions[a->callee];
    const rs_node *name = &tree->nodes[tree->nodes[a->pointer].first];
    write_instance_name(model, text, instance);
    write_range(w, name->end, a->end - 1, self + 1);
    for (int k = 0; k < callee->argument_count; k++) {
        if (model->instances[instance].accessors[k] < 0)
            continue;
        int passed = rs_model_passed_argument(model, a, callee->first_argument + k);
        const char *caller = model->arguments[passed].name;
        rs_text_format(text, ", restride_base_%s, restride_count_%s", caller, caller);
    }
    rs_text_add_string(text, ")");
}

static void write_access(const writer *outer, const rs_access *a, int self)
{
    writer w = *outer;
    w.nested = true;
    rs_text qualifiers = RS_TEXT_EMPTY;
    rs_text_format(&qualifiers, "%s%s%s", volatile_word(a->is_volatile), const_word(a->is_const),
                   w.model->arguments[a->argument].address_space);
    const char *q = qualifiers.failed ? "" : qualifiers.data;
    switch (a->kind) {
    case RS_ACCESS_LEAF:
        write_leaf(&w, a, self, q);
        break;
    case RS_ACCESS_LOAD:
        write_load(&w, a, self, q);
        break;
    case RS_ACCESS_STORE:
        write_store(&w, a, self, q);
        break;
    case RS_ACCESS_BLOCK:
        write_block(&w, a, self, q);
        break;
    case RS_ACCESS_CALL:
        write_call(&w, a, self);
        break;
    }
    if (qualifiers.failed)
        w.out->text.failed = true;
    rs_text_free(&qualifiers);
}

static const rs_instance *kernel_instance(const rs_model *model, int function)
{
    const rs_function *f = &model->functions[function];
    return f->kernel && f->first_instance >= 0 ? &model->instances[f->first_instance] : NULL;
}

static bool is_transformed(const rs_model *model, const rs_instance *instance, const rs_access *a)
{
    if (instance == NULL)
        return false;
    if (a->kind == RS_ACCESS_CALL)
        return rs_model_called_instance(model, instance, a) >= 0;
    return rs_instance_accessor(model, instance, a->argument) >= 0;
}

/* Writes an access, and the line ends that it left out. */
static void write_access_in_lines(const writer *w, const rs_access *a, int self)
{
    rs_text *text = &w->out->text;
    size_t start = text->size;
    write_access(w, a, self);
    catch_up(w, start, a->begin, a->end);
}

/* Writes the bytes [begin, end) of the flat text with the accesses inside them replaced, those
 * before number `from` aside. */
static void write_range(const writer *outer, size_t begin, size_t end, int from)
{
    const rs_model *model = outer->model;
    writer w = *outer;
    size_t at = begin;
    int first = rs_model_first_access(model, begin);
    for (int i = first > from ? first : from; i < model->access_count; i++) {
        const rs_access *a = &model->accesses[i];
        if (a->begin >= end)
            break;
        if (a->begin < at || a->end > end)
            continue; /* inside one that is written already, or around this range */
        w.instance =
            outer->instance != NULL ? outer->instance : kernel_instance(model, a->function);
        if (!is_transformed(model, w.instance, a))
            continue;
        rs_numbered_add(w.out, at, a->begin, !w.nested);
        write_access_in_lines(&w, a, i);
        at = a->end;
    }
    rs_numbered_add(w.out, at, end, !w.nested);
}

/* ---- what is inserted ---- */

/* In the order in which they are written at one place. */
typedef enum { COPY, ACCESSOR, COPIER, PROTOTYPE, PARAMETERS, BASES } insertion_kind;

typedef struct {
    size_t position;
    insertion_kind kind;
    int number; /* of the accessor, copier or instance; of the function */
} insertion;

typedef struct {
    insertion *items;
    int count;
} insertion_list;

static int compare_insertions(const void *a, const void *b)
{
    const insertion *x = a, *y = b;
    if (x->position != y->position)
        return x->position < y->position ? -1 : 1;
    if (x->kind != y->kind)
        return x->kind < y->kind ? -1 : 1;
    return (x->number > y->number) - (x->number < y->number);
}

size_t rs_parameters_end(const rs_tree *tree, int function)
{
    size_t at = 0, depth = 0;
    for (int n = tree->nodes[function].first; n >= 0; n = tree->nodes[n].next)
        if (tree->nodes[n].kind == CXCursor_ParmDecl)
            at = tree->nodes[n].end;
    if (at == 0)
        return 0;
    for (; at < tree->size; at++) {
        if (strchr("([", tree->text[at]) != NULL)
            depth++;
        else if (tree->text[at] == ']')
            depth -= depth > 0;
        else if (tree->text[at] == ')' && depth-- == 0)
            return at;
    }
    return 0;
}

static bool is_changed(const rs_model *model, const rs_function *kernel)
{
    for (int i = 0; i < kernel->argument_count; i++)
        if (model->arguments[kernel->first_argument + i].reason == NULL)
            return true;
    return false;
}

static bool needs_bases(const rs_model *model, const rs_function *kernel)
{
    for (int i = 0; i < kernel->argument_count; i++) {
        const rs_argument *argument = &model->arguments[kernel->first_argument + i];
        if (argument->reason == NULL && argument->based)
            return true;
    }
    return false;
}

static void insert(insertion_list *list, size_t position, insertion_kind kind, int number)
{
    list->items[list->count++] = (insertion){position, kind, number};
}

static void insert_copy(const rs_model *model, insertion_list *list, int instance)
{
    const rs_function *function = &model->functions[model->instances[instance].function];
    if (kernel_instance(model, model->instances[instance].function) == &model->instances[instance])
        return;
    int declared = function->first_node;
    if (!function->kernel && declared >= 0 && declared != function->node) {
        size_t name = rs_cursor_offset(model->tree->nodes[declared].cursor);
        insert(list, rs_declaration_start(model, name), PROTOTYPE, instance);
    }
    insert(list, model->tree->nodes[function->node].end, COPY, instance);
}

/* The added parameters, in all declarations of the kernels that get some. */
static void insert_parameters(const rs_model *model, insertion_list *list)
{
    const rs_tree *tree = model->tree;
    for (int n = 0; n < tree->node_count; n++) {
        if (tree->nodes[n].kind != CXCursor_FunctionDecl)
            continue;
        int f = rs_model_function(model, tree->nodes[n].cursor);
        if (f < 0 || !model->functions[f].kernel || !is_changed(model, &model->functions[f]))
            continue;
        size_t end = rs_parameters_end(tree, n);
        if (end > 0)
            insert(list, end, PARAMETERS, f);
        if (n == model->functions[f].node && needs_bases(model, &model->functions[f]))
            insert(list, tree->nodes[model->functions[f].body].begin + 1, BASES, f);
    }
}

static restride_status list_insertions(const rs_model *model, insertion_list *list)
{
    const rs_tree *tree = model->tree;
    size_t limit = (size_t)model->accessor_count + (size_t)model->copier_count +
                   2 * (size_t)model->instance_count;
    for (int n = 0; n < tree->node_count; n++)
        limit += tree->nodes[n].kind == CXCursor_FunctionDecl ? 2 : 0;
    *list = (insertion_list){malloc((limit + 1) * sizeof *list->items), 0};
    if (list->items == NULL)
        return rs_fail_memory("the new source");
    for (int i = 0; i < model->accessor_count; i++)
        insert(list, model->accessors[i].position, ACCESSOR, i);
    for (int i = 0; i < model->copier_count; i++)
        insert(list, model->copiers[i].position, COPIER, i);
    for (int i = 0; i < model->instance_count; i++)
        insert_copy(model, list, i);
    insert_parameters(model, list);
    qsort(list->items, (size_t)list->count, sizeof *list->items, compare_insertions);
    return RESTRIDE_OK;
}

static void write_kernel_parameters(const rs_model *model, rs_text *text, int function, bool bases)
{
    const rs_function *kernel = &model->functions[function];
    for (int i = 0; i < kernel->argument_count; i++) {
        const rs_argument *argument = &model->arguments[kernel->first_argument + i];
        if (argument->reason != NULL)
            continue;
        if (!bases)
            rs_text_format(text, ", unsigned long restride_count_%s", argument->name);
        else if (argument->based)
            rs_text_format(text, " %s char *const restride_base_%s = (%s char *)%s;",
                           argument->address_space, argument->name, argument->address_space,
                           argument->name);
    }
}

static void write_copy_parameters(const rs_model *model, rs_text *text, const rs_instance *instance)
{
    const rs_function *function = &model->functions[instance->function];
    for (int i = 0; i < function->argument_count; i++) {
        const rs_argument *argument = &model->arguments[function->first_argument + i];
        if (instance->accessors[i] >= 0)
            rs_text_format(text, ", %s char *restride_base_%s, unsigned long restride_count_%s",
                           argument->address_space, argument->name, argument->name);
    }
}

static bool is_static(const rs_tree *tree, size_t begin, size_t end)
{
    size_t word, length;
    while (rs_word_next(tree->text, end, &begin, &word, &length))
        if (rs_word_equals(tree->text, word, length, "static"))
            return true;
    return false;
}

/* A copy of a kernel for arrays whose tiles are all full. */
static void write_kernel_copy(const writer *source, int number)
{
    const rs_model *model = source->model;
    rs_numbered_text *out = source->out;
    const rs_tree *tree = model->tree;
    const rs_instance *instance = &model->instances[number];
    const rs_function *kernel = &model->functions[instance->function];
    size_t name = rs_cursor_offset(kernel->cursor), start = rs_declaration_start(model, name);
    size_t end = rs_parameters_end(tree, kernel->node);
    size_t inside = tree->nodes[kernel->body].begin + 1;
    rs_numbered_start_line(out, start);
    rs_numbered_add(out, start, name, false);
    rs_text_format(&out->text, RS_FULL_KERNEL, kernel->name);
    rs_numbered_add(out, name + strlen(kernel->name), end, false);
    write_kernel_parameters(model, &out->text, instance->function, false);
    rs_numbered_add(out, end, inside, false);
    if (needs_bases(model, kernel))
        write_kernel_parameters(model, &out->text, instance->function, true);
    writer w = {model, out, source->locals, instance, false};
    write_range(&w, inside, tree->nodes[kernel->body].end, 0);
}

/* A copy of a helper for certain layouts, or its declaration alone. */
static void write_copy(const writer *source, int number, bool whole)
{
    const rs_model *model = source->model;
    rs_numbered_text *out = source->out;
    const rs_tree *tree = model->tree;
    const rs_instance *instance = &model->instances[number];
    const rs_function *function = &model->functions[instance->function];
    size_t name = rs_cursor_offset(function->cursor), start = rs_declaration_start(model, name);
    size_t end = rs_parameters_end(tree, function->node), body = tree->nodes[function->body].begin;
    rs_numbered_start_line(out, start);
    if (!is_static(tree, start, body))
        rs_text_add_string(&out->text, "static ");
    rs_numbered_add(out, start, name, false);
    write_instance_name(model, &out->text, number);
    rs_numbered_add(out, name + strlen(function->name), end, false);
    write_copy_parameters(model, &out->text, instance);
    size_t header_end = body;
    while (!whole && isspace((unsigned char)tree->text[header_end - 1]))
        header_end--; /* and the comments before the body */
    rs_numbered_add(out, end, header_end, false);
    writer w = {model, out, source->locals, instance, false};
    if (whole)
        write_range(&w, body, tree->nodes[function->body].end, 0);
    else
        rs_text_add_string(&out->text, ";");
}

static restride_status write_insertion(const writer *w, const insertion *i)
{
    const rs_model *model = w->model;
    rs_numbered_text *out = w->out;
    restride_status status = RESTRIDE_OK;
    if (i->kind == PARAMETERS || i->kind == BASES) {
        write_kernel_parameters(model, &out->text, i->number, i->kind == BASES);
        return RESTRIDE_OK;
    }
    if (out->text.size > 0 && out->text.data[out->text.size - 1] != '\n')
        rs_text_add_string(&out->text, "\n");
    if (i->kind == ACCESSOR)
        status = rs_render_accessor(model, i->number, &out->text);
    else if (i->kind == COPIER)
        rs_render_copier(model, i->number, &out->text);
    else if (model->functions[model->instances[i->number].function].kernel)
        write_kernel_copy(w, i->number);
    else
        write_copy(w, i->number, i->kind == COPY);
    rs_numbered_start_line(out, i->position);
    return status;
}

restride_status rs_model_render(const rs_model *model, char **source)
{
    insertion_list list;
    rs_numbered_text out = {model->flat, {NULL, 0}, RS_TEXT_EMPTY, 0, (size_t)-1, 1};
    restride_status status = list_insertions(model, &list);
    if (status == RESTRIDE_OK)
        status = rs_source_lines_read(model->flat, &out.lines);
    rs_locals locals = {NULL, NULL, 0, 0};
    if (status == RESTRIDE_OK)
        status = rs_locals_find(&locals, model);
    size_t at = 0;
    writer w = {model, &out, &locals, NULL, false};
    for (int i = 0; i < list.count && status == RESTRIDE_OK; i++) {
        write_range(&w, at, list.items[i].position, 0);
        at = list.items[i].position;
        status = write_insertion(&w, &list.items[i]);
    }
    if (status == RESTRIDE_OK)
        write_range(&w, at, model->flat->appendix, 0);
    rs_locals_free(&locals);
    free(list.items);
    free(out.lines.items);
    if (status != RESTRIDE_OK) {
        rs_text_free(&out.text);
        return status;
    }
    *source = rs_text_take(&out.text);
    return *source != NULL ? RESTRIDE_OK : rs_fail_memory("the new source");
}
