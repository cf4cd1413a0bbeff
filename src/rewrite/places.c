/*
 * Where an understood access goes in its array: what the offset function of the array's layout gets
 * (the software form of Tseng 2014, equations 1 and 2).
 */
#include "rewrite/planes.h"
#include "rewrite/ranges.h"
#include "rewrite/render.h"

/* Whether the argument itself, as it was passed, is where the buffer starts. */
static bool is_direct(const rs_model *model, const rs_member_access *a)
{
    const rs_pointer_parameter *argument = &model->arguments[a->argument];
    return a->is_parameter && !argument->moved && model->functions[argument->function].kernel;
}

const char *rs_base_prefix(const rs_model *model, const rs_member_access *a)
{
    return is_direct(model, a) ? "" : "restride_base_";
}

/* The distance of the access's pointer from the start of the buffer, when it is not that start. */
static void write_distance(const rs_writer *w, const rs_member_access *a, int self)
{
    const rs_model *model = w->model;
    const rs_pointer_parameter *argument = &model->arguments[a->argument];
    const char *type = a->flat ? a->type : model->structures[argument->structure].name;
    rs_text_add_string(&w->out->text, "((");
    rs_write_node(w, a->pointer, self + 1);
    rs_text_format(&w->out->text, ") - (%s %s *)restride_base_%s)", a->space, type, argument->name);
}

/* The index of the structure, or of the member in a flat access. */
static void write_index(const rs_writer *w, const rs_member_access *a, int self)
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
        rs_write_node(w, a->index[i], self + 1);
        rs_text_add_string(text, ")");
    }
    if (a->index_count == 0 && direct)
        rs_text_add_string(text, "0");
    if (a->vector_index >= 0) {
        rs_text_format(text, " + (%s)(", index_type);
        rs_write_node(w, a->vector_index, self + 1);
        rs_text_format(text, ") * %d", a->block.lanes);
    }
}

void rs_write_subscripts(const rs_writer *w, const rs_member_access *a, int self, int first,
                         int end)
{
    rs_text *text = &w->out->text;
    for (int i = first; i < end; i++) {
        rs_text_add_string(text, " + (long)(");
        rs_write_node(w, a->subscript[i], self + 1);
        rs_text_format(text, ") * %zu", a->stride[i]);
    }
}

/* "COUNT, DISTANCE": the same in bytes from the start, through a pointer to a nested structure. */
static void write_byte_place(const rs_writer *w, const rs_member_access *a, int self)
{
    rs_text *text = &w->out->text;
    const char *name = w->model->arguments[a->argument].name;
    rs_text_format(text, "restride_count_%s, (unsigned long)((%s char *)((", name, a->space);
    rs_write_node(w, a->pointer, self + 1);
    rs_text_add_string(text, ")");
    for (int i = 0; i < a->index_count; i++) {
        rs_text_add_string(text, a->negative[i] ? " - (" : " + (");
        rs_write_node(w, a->index[i], self + 1);
        rs_text_add_string(text, ")");
    }
    rs_text_format(text, ") - (%s char *)restride_base_%s) + %zu", a->space, name, a->offset);
    rs_write_subscripts(w, a, self, 0, a->union_size > 0 ? a->union_subscript : a->subscript_count);
}

/* "COUNT, INDEX, OFFSET": where in the array the access goes. */
void rs_write_place(const rs_writer *w, const rs_member_access *a, int self)
{
    rs_text *text = &w->out->text;
    if (rs_access_in_bytes(w->model, rs_instance_accessor(w->model, w->instance, a->argument), a)) {
        write_byte_place(w, a, self);
        return;
    }
    rs_text_format(text, "restride_count_%s, ", w->model->arguments[a->argument].name);
    write_index(w, a, self);
    rs_text_format(text, ", %zu", a->offset);
    rs_write_subscripts(w, a, self, 0, a->union_size > 0 ? a->union_subscript : a->subscript_count);
}

/* The sum of a constant and the terms that count records, or those that count members. */
static void write_terms(const rs_writer *w, const rs_linear *sum, long long constant, bool records,
                        int self)
{
    rs_text *text = &w->out->text;
    rs_text_format(text, "%lld", constant);
    for (int i = 0; i < sum->count; i++) {
        const rs_linear_term *term = &sum->terms[i];
        if (term->counts_records != records)
            continue;
        rs_text_add_string(text, term->factor < 0 ? " - (long)(" : " + (long)(");
        rs_write_node(w, term->node, self + 1);
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
static size_t record_length(const rs_writer *w, const rs_member_access *a)
{
    const rs_model *model = w->model;
    int accessor = rs_instance_accessor(model, w->instance, a->argument);
    const rs_structure *s = &model->structures[model->accessors[accessor].structure];
    return s->record.size / s->uniform;
}

/* How the place of a flat access is passed: the function that gets it, and whether record and
 * member are given apart, with `carried` whole records of the index's constant. */
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
static flat_place find_flat_place(const rs_writer *w, const rs_member_access *a, rs_linear *sum)
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
static void write_apart(const rs_writer *w, const rs_member_access *a, int self,
                        const rs_linear *sum, long long carried)
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
static const char *extent_of(const rs_writer *w, const rs_member_access *a)
{
    int accessor = rs_instance_accessor(w->model, w->instance, a->argument);
    return w->model->accessors[accessor].extent;
}

/* "MEMBER, RECORD, EXTENT" in an array that is SoA. */
static void write_planes(const rs_writer *w, const rs_member_access *a, int self,
                         const rs_planes *planes)
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
    rs_write_node(w, planes->extent, self + 1);
    rs_text_add_string(text, ")");
}

/* Where the member of a flat access lies in an array that is SoA. */
static void write_plane_place(const rs_writer *w, const rs_member_access *a, int self)
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
void rs_write_flat_place(const rs_writer *w, const rs_member_access *a, int self)
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
static void write_block_planes(const rs_writer *w, const rs_member_access *a, int self)
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
void rs_write_block_place(const rs_writer *w, const rs_member_access *a, int self)
{
    rs_linear sum;
    if (!a->flat) {
        rs_write_place(w, a, self);
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
