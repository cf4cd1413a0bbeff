/* The flat text with every understood access replaced by one that goes through the offset function
 * of its argument's layout. */
#include "rewrite/render.h"
#include "rewrite/way.h"
#include "source/query.h"

/* A call of the function that takes the place of OpenCL's: with the operands that tell no place
 * behind it. */
static void write_block(const rs_writer *w, const rs_member_access *a, int self,
                        const char *qualifiers)
{
    rs_text *text = &w->out->text;
    const rs_tree *tree = w->model->tree;
    rs_text_format(text, "restride_block_%d((%s char *)%s%s, ",
                   rs_model_copier(w->model, w->instance, a), qualifiers,
                   rs_base_prefix(w->model, a), w->model->arguments[a->argument].name);
    rs_write_block_place(w, a, self);
    int number = 0;
    for (int n = rs_node_child(tree, a->call, 1); n >= 0; n = tree->nodes[n].next, number++) {
        bool place = n == a->operand || (a->block.kind == RS_BLOCK_LOAD && number == 0) ||
                     (a->block.kind == RS_BLOCK_STORE && number == 1);
        if (place)
            continue;
        rs_text_add_string(text, ", ");
        rs_write_range(w, tree->nodes[n].begin, rs_operand_end(tree, n), self + 1);
    }
    rs_text_add_string(text, ")");
}

static void write_leaf(const rs_writer *w, const rs_member_access *a, int self,
                       const char *qualifiers)
{
    const rs_pointer_parameter *argument = &w->model->arguments[a->argument];
    rs_text *text = &w->out->text;
    rs_text_format(text, "(%s*(%s %s *)((%s char *)%s%s + ", a->address ? "&" : "", qualifiers,
                   a->type, qualifiers, rs_base_prefix(w->model, a), argument->name);
    if (a->flat) {
        rs_write_flat_place(w, a, self);
    } else {
        int accessor = rs_instance_accessor(w->model, w->instance, a->argument);
        rs_text_format(text, "restride_layout_%d_%s(", accessor,
                       rs_access_in_bytes(w->model, accessor, a) ? "byte" : "offset");
        rs_write_place(w, a, self);
        rs_text_format(text, ", %zu)", a->union_size > 0 ? a->union_size : a->size);
        if (a->union_size > 0) {
            rs_text_format(text, " + %zu", a->union_offset);
            rs_write_subscripts(w, a, self, a->union_subscript, a->subscript_count);
        }
    }
    rs_text_add_string(text, "))");
}

static void write_load(const rs_writer *w, const rs_member_access *a, int self,
                       const char *qualifiers)
{
    int copier = rs_model_copier(w->model, w->instance, a);
    rs_text *text = &w->out->text;
    rs_text_format(text, "((union restride_value_%d){.bytes = restride_load_%d((%s char *)%s%s, ",
                   copier, copier, qualifiers, rs_base_prefix(w->model, a),
                   w->model->arguments[a->argument].name);
    rs_write_place(w, a, self);
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
static void catch_up(const rs_writer *w, size_t start, size_t begin, size_t end)
{
    rs_text *text = &w->out->text;
    if (text->failed)
        return;
    size_t wanted = count_newlines(w->model->tree->text + begin, end - begin);
    for (size_t had = count_newlines(text->data + start, text->size - start); had < wanted; had++)
        rs_text_add_string(text, "\n");
}

static void write_store(const rs_writer *w, const rs_member_access *a, int self,
                        const char *qualifiers)
{
    int copier = rs_model_copier(w->model, w->instance, a);
    rs_text *text = &w->out->text;
    size_t start = text->size;
    if (a->value_used)
        rs_text_format(text, "((union restride_value_%d){.bytes = ", copier);
    rs_text_format(text, "restride_store_%d((%s char *)%s%s, ", copier, qualifiers,
                   rs_base_prefix(w->model, a), w->model->arguments[a->argument].name);
    rs_write_place(w, a, self);
    rs_text_format(text, ", ((union restride_value_%d){.value = ", copier);
    catch_up(w, start, a->begin, w->model->tree->nodes[a->value].begin);
    rs_write_node(w, a->value, self + 1);
    rs_text_add_string(text, "}).bytes)");
    if (a->value_used)
        rs_text_add_string(text, "}).value");
}

/* "NAME_NUMBER", which no other function has. */
void rs_write_instance_name(const rs_model *model, rs_text *text, int instance)
{
    rs_text_format(text, "restride_%s_%d",
                   model->functions[model->instances[instance].function].name, instance);
}

/* A call goes to the copy for the layouts of its pointers, which gets their buffers too. */
static void write_call(const rs_writer *w, const rs_member_access *a, int self)
{
    const rs_model *model = w->model;
    const rs_tree *tree = model->tree;
    rs_text *text = &w->out->text;
    int instance = rs_model_called_instance(model, w->instance, a);
    const rs_function *callee = &model->functions[a->callee];
    const rs_node *name = &tree->nodes[tree->nodes[a->pointer].first];
    rs_write_instance_name(model, text, instance);
    rs_write_range(w, name->end, a->end - 1, self + 1);
    for (int k = 0; k < callee->argument_count; k++) {
        if (model->instances[instance].accessors[k] < 0)
            continue;
        int passed = rs_model_passed_argument(model, a, callee->first_argument + k);
        const char *caller = model->arguments[passed].name;
        rs_text_format(text, ", restride_base_%s, restride_count_%s", caller, caller);
    }
    rs_text_add_string(text, ")");
}

static void write_access(const rs_writer *outer, const rs_member_access *a, int self)
{
    rs_writer w = *outer;
    w.nested = true;
    rs_text qualifiers = RS_TEXT_EMPTY;
    rs_text_format(&qualifiers, "%s%s%s", a->is_volatile ? "volatile " : "",
                   a->is_const ? "const " : "", w.model->arguments[a->argument].address_space);
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

const rs_instance *rs_kernel_instance(const rs_model *model, int function)
{
    const rs_function *f = &model->functions[function];
    return f->kernel && f->first_instance >= 0 ? &model->instances[f->first_instance] : NULL;
}

static bool is_transformed(const rs_model *model, const rs_instance *instance,
                           const rs_member_access *a)
{
    if (instance == NULL)
        return false;
    if (a->kind == RS_ACCESS_CALL)
        return rs_model_called_instance(model, instance, a) >= 0;
    return rs_instance_accessor(model, instance, a->argument) >= 0;
}

/* Writes an access, and the line ends that it left out. */
static void write_access_in_lines(const rs_writer *w, const rs_member_access *a, int self)
{
    rs_text *text = &w->out->text;
    size_t start = text->size;
    write_access(w, a, self);
    catch_up(w, start, a->begin, a->end);
}

/* Writes the bytes [begin, end) of the flat text with the accesses inside them replaced, those
 * before number `from` aside. */
void rs_write_range(const rs_writer *outer, size_t begin, size_t end, int from)
{
    const rs_model *model = outer->model;
    rs_writer w = *outer;
    size_t at = begin;
    int first = rs_model_first_access(model, begin);
    for (int i = first > from ? first : from; i < model->access_count; i++) {
        const rs_member_access *a = &model->accesses[i];
        if (a->begin >= end)
            break;
        if (a->begin < at || a->end > end)
            continue; /* inside one that is written already, or around this range */
        w.instance =
            outer->instance != NULL ? outer->instance : rs_kernel_instance(model, a->function);
        if (!is_transformed(model, w.instance, a))
            continue;
        rs_numbered_add(w.out, at, a->begin, !w.nested);
        write_access_in_lines(&w, a, i);
        at = a->end;
    }
    rs_numbered_add(w.out, at, end, !w.nested);
}

void rs_write_node(const rs_writer *w, int node, int from)
{
    const rs_node *n = &w->model->tree->nodes[node];
    rs_write_range(w, n->begin, n->end, from);
}
