/* Values, what varies, and references. */
#include "apply/lanes.h"

#include "source/query.h"

#include <stdlib.h>

/* ---- strings and values ---- */

static char *keep(rs_lanes *b, rs_text *text)
{
    char *string = rs_text_take(text);
    if (string == NULL || b->kept_count == RS_KEPT_LIMIT) {
        b->no_memory = true;
        free(string);
        return NULL;
    }
    return b->kept[b->kept_count++] = string;
}

rs_lane_value rs_lanes_make(rs_lanes *b, rs_text *text, rs_kind kind, bool vector)
{
    char *string = keep(b, text);
    return string == NULL ? RS_NO_VALUE : (rs_lane_value){string, kind, vector, false};
}

rs_lane_value rs_lanes_refuse(rs_lanes *b, int node, const char *what)
{
    int length;
    const char *text = rs_nest_text(b->nest, node, &length);
    rs_nest_refuse(b->nest, node, "%.*s%s %s", length > 60 ? 60 : length, text,
                   length > 60 ? "..." : "", what);
    return RS_NO_VALUE;
}

void rs_lanes_indent(rs_lanes *b)
{
    rs_text_format(b->text, "%*s", 4 * b->depth, "");
}

/* As the type that C would convert it to. */
rs_lane_value rs_lanes_convert(rs_lanes *b, rs_lane_value v, rs_kind kind)
{
    rs_text text = RS_TEXT_EMPTY;
    if (v.text == NULL || (v.kind == kind && !v.mask))
        return v;
    if (v.mask) /* true is 1 in C */
        rs_text_format(&text, "convert_%s%d(%s & 1)", rs_kind_name(kind), b->width, v.text);
    else if (v.vector)
        rs_text_format(&text, "convert_%s%d(%s)", rs_kind_name(kind), b->width, v.text);
    else
        rs_text_format(&text, "((%s)%s)", rs_kind_name(kind), v.text);
    return rs_lanes_make(b, &text, kind, v.vector);
}

rs_lane_value rs_lanes_widen(rs_lanes *b, rs_lane_value v)
{
    rs_text text = RS_TEXT_EMPTY;
    if (v.text == NULL || v.vector)
        return v;
    rs_text_format(&text, "((%s%d)%s)", rs_kind_name(v.kind), b->width, v.text);
    return rs_lanes_make(b, &text, v.kind, true);
}

/* Gives a vector a name, so that its elements can be taken without computing it again. */
rs_lane_value rs_lanes_name(rs_lanes *b, rs_lane_value v)
{
    rs_text text = RS_TEXT_EMPTY;
    if (v.text == NULL)
        return v;
    int number = ++b->temporaries;
    rs_lanes_indent(b);
    rs_text_format(b->text, "const %s%d restride_t%d = %s;\n", rs_kind_name(v.kind), b->width,
                   number, v.text);
    rs_text_format(&text, "restride_t%d", number);
    return rs_lanes_make(b, &text, v.kind, true);
}

/* ---- what varies between the elements of a vector ---- */

bool rs_lanes_is_local(const rs_lanes *b, size_t declaration)
{
    for (int i = 0; i < b->local_count; i++)
        if (b->locals[i] == declaration)
            return true;
    return false;
}

rs_placed rs_lanes_placed(const rs_lanes *b, int reference)
{
    return b->kernels->copies->placed[reference];
}

bool rs_lanes_varies(const rs_lanes *b, int node)
{
    const rs_tree *tree = b->tree;
    size_t declaration = rs_node_declaration(tree, node);
    if (declaration != 0)
        return declaration == b->variable || rs_lanes_is_local(b, declaration);
    if (rs_node_is_memory(tree, node)) {
        int reference = rs_nest_reference(b->nest, node);
        if (reference >= 0 && rs_lanes_placed(b, reference) != RS_PLACED_UNIFORM)
            return true;
    }
    RS_EACH_CHILD(child, tree, node)
        if (rs_lanes_varies(b, child))
            return true;
    return false;
}

static bool add_local(rs_lanes *b, size_t declaration)
{
    if (rs_lanes_is_local(b, declaration))
        return false;
    if (b->local_count == RS_LOCAL_LIMIT) {
        b->no_memory = true;
        return false;
    }
    b->locals[b->local_count++] = declaration;
    return true;
}

bool rs_lanes_is_inside(const rs_lanes *b, size_t offset)
{
    const rs_node *statement = &b->tree->nodes[b->loop->parts.body];
    return offset >= statement->begin && offset < statement->end;
}

/* Marks the variables below a node that get a varying value; true when one was new. */
bool rs_lanes_mark_locals(rs_lanes *b, int node)
{
    const rs_tree *tree = b->tree;
    bool grown = false;
    int left = rs_node_assigned(tree, node);
    if (tree->nodes[node].is == RS_NODE_VARIABLE) {
        RS_EACH_CHILD(child, tree, node)
            if (rs_lanes_varies(b, child))
                grown = add_local(b, tree->nodes[node].place) || grown;
    } else if (left >= 0) {
        size_t declaration = rs_node_declaration(tree, left);
        if (declaration != 0 && rs_lanes_is_inside(b, declaration) && rs_lanes_varies(b, node))
            grown = add_local(b, declaration);
    }
    RS_EACH_CHILD(child, tree, node)
        grown = rs_lanes_mark_locals(b, child) || grown;
    return grown;
}

/* ---- one element of a vector ---- */

typedef struct {
    size_t at; /* copied so far */
    int lane;
} element;

static void write_element(rs_lanes *b, rs_text *text, int node, element *e)
{
    const rs_tree *tree = b->tree;
    const rs_node *n = &tree->nodes[node];
    bool name = n->is == RS_NODE_REFERENCE;
    size_t declaration = name ? rs_node_declaration(tree, node) : 0;
    if (name && (declaration == b->variable || rs_lanes_is_local(b, declaration))) {
        int64_t step = b->nest->unit->loops[b->loop->loop].step;
        rs_text_add(text, tree->text + e->at, n->begin - e->at);
        rs_text_add_string(text, "(");
        rs_text_add(text, tree->text + n->begin, n->end - n->begin);
        if (declaration != b->variable)
            rs_text_format(text, ".s%x)", (unsigned)e->lane);
        else
            rs_text_format(text, " + %lld)", (long long)e->lane * (long long)step);
        e->at = n->end;
        return;
    }
    for (int child = n->first; child >= 0; child = tree->nodes[child].next)
        write_element(b, text, child, e);
}

/* The source's expression for one of the vector's iterations. */
static void write_lane(rs_lanes *b, rs_text *text, int node, int lane)
{
    const rs_node *n = &b->tree->nodes[node];
    element e = {n->begin, lane};
    write_element(b, text, node, &e);
    rs_text_add(text, b->tree->text + e.at, n->end - e.at);
}

/* ---- references ---- */

static const char *space_of(const rs_lanes *b, int reference)
{
    const rs_array *array = &b->nest->unit->arrays[b->nest->unit->references[reference].array];
    return array->space == RS_SPACE_CONSTANT ? "__constant const" : "__global const";
}

/* The vector of a copy that holds a reference's elements. */
static bool write_copy(rs_lanes *b, rs_text *text, int reference)
{
    int number = b->kernels->copies->copy_of[reference];
    const rs_copy *copy = &b->kernels->copies->copies[number];
    const rs_reference *r = &b->nest->unit->references[reference];
    rs_polynomial rows[RS_SUBSCRIPT_LIMIT];
    bool divided, ok = true;
    rs_reference_rows(b->nest->unit, r, rows, &divided);
    rs_text_format(text, "%s_%d[", b->nest->unit->arrays[r->array].name, number + 1);
    for (int i = 0; i + 1 < copy->rows; i++)
        rs_text_add_string(text, "(");
    for (int i = 0; i + 1 < copy->rows; i++) {
        int row = rs_copy_row(copy, i);
        rs_polynomial from = rs_polynomial_subtract(&rows[row], &copy->least[row]);
        rs_text_format(text, "%s", i > 0 ? " + " : "");
        ok = rs_range_write(b->nest, text, &from) && ok;
        if (i + 2 < copy->rows)
            rs_text_format(text, ") * restride_rows_%d_%d", number + 1, i + 1);
        else
            rs_text_add_string(text, ") * restride_most + ");
    }
    rs_text_add_string(text, "restride_strip]");
    return ok;
}

/* Whether the same element is also accessed without a condition, so that it lies inside the array.
 */
static bool is_covered(const rs_lanes *b, int reference)
{
    const rs_access *own = &b->nest->accesses->accesses[reference];
    for (int i = 0; i < b->nest->unit->reference_count; i++) {
        const rs_access *other = &b->nest->accesses->accesses[i];
        if (!other->reference->guarded && other->reference->loop == own->reference->loop &&
            rs_access_same(own, other))
            return true;
    }
    return false;
}

rs_lane_value rs_lanes_load(rs_lanes *b, int node, int reference)
{
    rs_kind kind = rs_kind_of(rs_type_of(b->tree, node));
    rs_text text = RS_TEXT_EMPTY;
    const rs_reference *r = &b->nest->unit->references[reference];
    if (kind == RS_KIND_NONE)
        return rs_lanes_refuse(b, node, "has a type that is no number");
    if (r->guarded && b->guards > 0 && !is_covered(b, reference))
        return rs_lanes_refuse(b, node,
                               "is read under a condition, perhaps outside its array otherwise");
    switch (rs_lanes_placed(b, reference)) {
    case RS_PLACED_ALIGNED:
        rs_text_format(&text, "(*(%s %s%d *)&", space_of(b, reference), rs_kind_name(kind),
                       b->width);
        write_lane(b, &text, node, 0);
        rs_text_add_string(&text, ")");
        break;
    case RS_PLACED_UNALIGNED:
        rs_text_format(&text, "vload%d(0, &", b->width);
        write_lane(b, &text, node, 0);
        rs_text_add_string(&text, ")");
        break;
    case RS_PLACED_COPY:
        if (!write_copy(b, &text, reference)) {
            rs_text_free(&text);
            return rs_lanes_refuse(b, node, "has a subscript that the kernel cannot compute");
        }
        break;
    default:
        rs_text_format(&text, "(%s%d)(", rs_kind_name(kind), b->width);
        for (int lane = 0; lane < b->width; lane++) {
            rs_text_add_string(&text, lane > 0 ? ", " : "");
            write_lane(b, &text, node, lane);
        }
        rs_text_add_string(&text, ")");
    }
    return rs_lanes_make(b, &text, kind, true);
}

bool rs_lanes_store(rs_lanes *b, int node, int reference, rs_lane_value v)
{
    rs_kind kind = rs_kind_of(rs_type_of(b->tree, node));
    if (kind == RS_KIND_NONE)
        return rs_lanes_refuse(b, node, "has a type that is no number").vector;
    v = rs_lanes_widen(b, rs_lanes_convert(b, v, kind));
    if (rs_lanes_placed(b, reference) == RS_PLACED_ELEMENTS)
        v = rs_lanes_name(b, v);
    if (v.text == NULL)
        return false;
    int lanes = rs_lanes_placed(b, reference) == RS_PLACED_ELEMENTS ? b->width : 1;
    bool ok = true;
    for (int lane = 0; lane < lanes && ok; lane++) {
        rs_lanes_indent(b);
        if (rs_lanes_placed(b, reference) == RS_PLACED_UNALIGNED) {
            rs_text_format(b->text, "vstore%d(%s, 0, &", b->width, v.text);
            write_lane(b, b->text, node, lane);
            rs_text_add_string(b->text, ");\n");
            continue;
        }
        if (rs_lanes_placed(b, reference) == RS_PLACED_ALIGNED)
            rs_text_format(b->text, "*(__global %s%d *)&", rs_kind_name(kind), b->width);
        if (rs_lanes_placed(b, reference) == RS_PLACED_COPY)
            ok = write_copy(b, b->text, reference);
        else
            write_lane(b, b->text, node, lane);
        if (lanes > 1)
            rs_text_format(b->text, " = %s.s%x;\n", v.text, (unsigned)lane);
        else
            rs_text_format(b->text, " = %s;\n", v.text);
    }
    return ok || rs_lanes_refuse(b, node, "has a subscript that the kernel cannot compute").vector;
}
