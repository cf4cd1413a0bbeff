/* The kernel with its arrays in the spaces that were chosen. */
#include "apply/spaces.h"

#include "apply/types.h"
#include "source/query.h"

#include <string.h>

typedef struct {
    const rs_spaces *spaces;
    const rs_kernels *kernels;
    const rs_nest *nest;
} writer;

static const rs_placing *placing_of(const writer *w, int array)
{
    return &w->spaces->arrays[array];
}

static const char *name_of(const writer *w, int array)
{
    return w->nest->unit->arrays[array].name;
}

/* ---- images ---- */

/* The function that reads an element out of an image, with a cast where the image has only wider
 * integers. */
static const char *reader_of(rs_kind kind)
{
    static const char *const readers[] = {
        [RS_KIND_CHAR] = "(char)read_imagei",   [RS_KIND_UCHAR] = "(uchar)read_imageui",
        [RS_KIND_SHORT] = "(short)read_imagei", [RS_KIND_USHORT] = "(ushort)read_imageui",
        [RS_KIND_INT] = "read_imagei",          [RS_KIND_UINT] = "read_imageui",
        [RS_KIND_FLOAT] = "read_imagef",
    };
    return readers[kind];
}

static void write_flat_index(const writer *w, rs_text *text, int node,
                             const rs_replacement *replacement)
{
    const rs_tree *tree = &w->nest->program->tree;
    int base = rs_node_inner(tree, rs_node_child(tree, node, 0));
    int index = rs_node_child(tree, node, 1);
    if (base >= 0 && tree->nodes[base].is == RS_NODE_SUBSCRIPT) {
        const rs_syntax_type *row = rs_type_of(tree, base);
        rs_text_add_string(text, "(");
        write_flat_index(w, text, base, replacement);
        rs_text_format(text, ") * %lld + ", row->count);
    }
    rs_text written = RS_TEXT_EMPTY;
    rs_kernels_copy(w->kernels, &written, index, replacement);
    /* An expression is no statement. */
    if (written.size > 0 && written.data[written.size - 1] == ';')
        written.data[written.size - 1] = '\0';
    rs_text_format(text, "(%s)", written.data != NULL ? written.data : "0");
    rs_text_free(&written);
}

/* ---- tiles ---- */

static void write_tile_element(const writer *w, rs_text *text, int reference)
{
    const rs_reference *r = &w->nest->unit->references[reference];
    const rs_placing *p = placing_of(w, r->array);
    rs_polynomial rows[RS_SUBSCRIPT_LIMIT];
    bool divided;
    rs_reference_rows(w->nest->unit, r, rows, &divided);
    rs_text_format(text, "restride_%s_tile[", name_of(w, r->array));
    for (int row = 0; row + 1 < p->rows; row++)
        rs_text_add_string(text, "(");
    for (int row = 0; row < p->rows; row++) {
        rs_text_add_string(text, row > 0 ? " + (" : "(");
        rs_range_write(w->nest, text, &rows[row]);
        rs_text_format(text, " - restride_%s_base%d)", name_of(w, r->array), row);
        if (row + 1 < p->rows)
            rs_text_format(text, ") * %lld", (long long)p->extent[row + 1]);
    }
    rs_text_add_string(text, "]");
}

/* The first value of a loop's symbol that a tile covers, or the last. */
static void write_corner(const writer *w, rs_text *text, int at, bool last)
{
    const rs_nest_loop *loop = &w->nest->loops[at];
    if (loop->dimension < 0 && at != w->spaces->inner) {
        rs_polynomial symbol = rs_polynomial_symbol(w->nest->unit->loops[loop->loop].symbol);
        rs_range_write(w->nest, text, &symbol);
        return;
    }
    rs_range_write(w->nest, text, &loop->first);
    long long reach =
        loop->dimension >= 0 ? (long long)w->spaces->group[loop->dimension] : RS_SPACES_TILE;
    if (loop->dimension >= 0)
        rs_text_format(text, " + restride_g%d", loop->dimension);
    else
        rs_text_add_string(text, " + restride_l");
    if (last)
        rs_text_format(text, " + %lld", reach - 1);
}

static void write_base(const writer *w, rs_text *text, const rs_placing *p, int array, int row)
{
    rs_text_format(text, "const long restride_%s_base%d = ", name_of(w, array), row);
    rs_range_write(w->nest, text, &p->offset[row]);
    for (int i = 0; i < w->nest->count; i++) {
        if (p->factors[row][i] == 0)
            continue;
        rs_text_format(text, " + %lldL * (", (long long)p->factors[row][i]);
        write_corner(w, text, i, p->factors[row][i] < 0);
        rs_text_add_string(text, ")");
    }
    rs_text_add_string(text, ";\n");
}

static int64_t elements_of(const rs_placing *p, int from)
{
    int64_t count = 1;
    for (int row = from; row < p->rows; row++)
        count *= p->extent[row];
    return count;
}

/* All work-items of a group load a tile together; what lies outside the array is left out. */
static void write_loading(const writer *w, rs_text *text, int array)
{
    const rs_placing *p = placing_of(w, array);
    const int64_t *g = w->spaces->group;
    for (int row = 0; row < p->rows; row++)
        write_base(w, text, p, array, row);
    rs_text_format(text,
                   "for (int restride_e = get_local_id(0) + %lld * (get_local_id(1) + %lld * "
                   "get_local_id(2)); restride_e < %lld; restride_e += %lld) {\n",
                   (long long)g[0], (long long)g[1], (long long)elements_of(p, 0),
                   (long long)g[0] * g[1] * g[2]);
    for (int row = 0; row < p->rows; row++)
        rs_text_format(
            text, "const long restride_row%d = restride_%s_base%d + restride_e / %lld %% %lld;\n",
            row, name_of(w, array), row, (long long)elements_of(p, row + 1),
            (long long)p->extent[row]);
    rs_text_add_string(text, "if (");
    for (int row = 0; row < p->rows; row++) {
        rs_text_format(text, "%srestride_row%d >= ", row > 0 ? " && " : "", row);
        rs_range_write(w->nest, text, &p->least[row]);
        rs_text_format(text, " && restride_row%d <= ", row);
        rs_range_write(w->nest, text, &p->most[row]);
    }
    rs_text_format(text, ")\nrestride_%s_tile[restride_e] = %s", name_of(w, array),
                   name_of(w, array));
    for (int row = 0; row < p->rows; row++)
        rs_text_format(text, "[restride_row%d]", row);
    rs_text_add_string(text, ";\n}\n");
}

static void write_all_loading(const writer *w, rs_text *text)
{
    for (int i = 0; i < w->nest->unit->array_count; i++)
        if (placing_of(w, i)->used && placing_of(w, i)->placed == RS_MEMORY_SHARED)
            write_loading(w, text, i);
    rs_text_add_string(text, "barrier(CLK_LOCAL_MEM_FENCE);\n");
}

/* ---- references ---- */

static bool replace_reference(const void *context, rs_text *text, int node)
{
    const writer *w = context;
    const rs_tree *tree = &w->nest->program->tree;
    const rs_replacement again = {replace_reference, context};
    if (tree->nodes[node].is != RS_NODE_SUBSCRIPT)
        return false;
    int reference = rs_nest_reference(w->nest, node);
    if (reference < 0)
        return false;
    int array = w->nest->unit->references[reference].array;
    rs_memory memory = placing_of(w, array)->placed;
    if (memory == RS_MEMORY_TEXTURE) {
        rs_kind kind = rs_kind_of(rs_type_of(&w->nest->program->tree, node));
        rs_text_format(text, "%s(%s, (int)(", reader_of(kind), name_of(w, array));
        write_flat_index(w, text, node, &again);
        rs_text_add_string(text, ")).x");
    } else if (memory == RS_MEMORY_SHARED)
        write_tile_element(w, text, reference);
    return memory == RS_MEMORY_TEXTURE || memory == RS_MEMORY_SHARED;
}

/* ---- the nest with tiles ---- */

static void copy(const writer *w, rs_text *text, int node)
{
    const rs_replacement replacement = {replace_reference, w};
    rs_kernels_copy(w->kernels, text, node, &replacement);
    rs_text_add_string(text, "\n");
}

/* The work-items of a group run a threads' loop together, so that all come to the barriers. */
static void open_thread(const writer *w, rs_text *text, const rs_nest_loop *loop)
{
    rs_quantity count = rs_range_count(w->nest, loop);
    int d = loop->dimension;
    long long group = (long long)w->spaces->group[d];
    rs_text number = RS_TEXT_EMPTY;
    rs_text_format(&number, "(restride_g%d + get_local_id(%d))", d, d);
    rs_text_format(text, "for (long restride_g%d = %lldL * get_group_id(%d); restride_g%d < ", d,
                   group, d, d);
    rs_quantity_write(w->nest, text, &count);
    rs_text_format(text, "; restride_g%d += %lldL * get_num_groups(%d)) {\n", d, group, d);
    rs_kernels_write_variable(w->kernels, text, loop, number.data != NULL ? number.data : "0", 1);
    rs_text_free(&number);
}

static void write_active(const writer *w, rs_text *text)
{
    bool first = true;
    rs_text_add_string(text, "const bool restride_active = ");
    for (int i = 0; i < w->nest->count; i++) {
        const rs_nest_loop *loop = &w->nest->loops[i];
        if (loop->dimension < 0)
            continue;
        rs_quantity count = rs_range_count(w->nest, loop);
        rs_text_format(text, "%s(long)(restride_g%d + get_local_id(%d)) < ", first ? "" : " && ",
                       loop->dimension, loop->dimension);
        rs_quantity_write(w->nest, text, &count);
        first = false;
    }
    rs_text_add_string(text, ";\n");
}

static void write_inner_loop(const writer *w, rs_text *text)
{
    const rs_nest_loop *loop = &w->nest->loops[w->spaces->inner];
    rs_quantity count = rs_range_count(w->nest, loop);
    rs_text_add_string(text, "for (long restride_l = 0; restride_l < ");
    rs_quantity_write(w->nest, text, &count);
    rs_text_format(text, "; restride_l += %d) {\n", RS_SPACES_TILE);
    write_all_loading(w, text);
    rs_text_format(text,
                   "if (restride_active)\nfor (long restride_s = restride_l; restride_s < "
                   "restride_l + %d && restride_s < ",
                   RS_SPACES_TILE);
    rs_quantity_write(w->nest, text, &count);
    rs_text_add_string(text, "; restride_s++) {\n");
    rs_kernels_write_variable(w->kernels, text, loop, "restride_s", 1);
    copy(w, text, loop->parts.body);
    rs_text_add_string(text, "}\nbarrier(CLK_LOCAL_MEM_FENCE);\n}\n");
}

static void write_guarded(const writer *w, rs_text *text, int node)
{
    rs_text_add_string(text, "if (restride_active) {\n");
    copy(w, text, node);
    rs_text_add_string(text, "}\n");
}

static void write_thread_body(const writer *w, rs_text *text, int body)
{
    const rs_tree *tree = &w->nest->program->tree;
    int inner = w->spaces->inner < 0 ? -1 : w->nest->loops[w->spaces->inner].node;
    write_active(w, text);
    if (inner < 0) {
        write_all_loading(w, text);
        write_guarded(w, text, body);
        rs_text_add_string(text, "barrier(CLK_LOCAL_MEM_FENCE);\n");
        return;
    }
    if (inner == body) {
        write_inner_loop(w, text);
        return;
    }
    RS_EACH_CHILD(child, tree, body) {
        if (child == inner)
            write_inner_loop(w, text);
        else if (tree->nodes[child].is == RS_NODE_DECLARE)
            copy(w, text, child);
        else
            write_guarded(w, text, child);
    }
}

static void write_staged_nest(const writer *w, rs_text *text)
{
    int opened = 0, body = -1;
    for (int i = 0; i < w->nest->count; i++) {
        const rs_nest_loop *loop = &w->nest->loops[i];
        if (body >= 0)
            break;
        if (loop->dimension >= 0) {
            open_thread(w, text, loop);
        } else {
            (void)rs_kernels_write_for(w->kernels, text, loop);
            rs_text_add_string(text, "{\n");
        }
        opened++;
        if (loop->dimension == 0)
            body = loop->parts.body;
    }
    write_thread_body(w, text, body);
    while (opened-- > 0)
        rs_text_add_string(text, "}\n");
}

/* ---- the kernel ---- */

static const char *space_of(const writer *w, const char *name, bool *image)
{
    *image = false;
    for (int i = 0; i < w->nest->unit->array_count; i++) {
        const rs_placing *p = placing_of(w, i);
        if (!p->used || strcmp(name_of(w, i), name) != 0)
            continue;
        *image = p->placed == RS_MEMORY_TEXTURE;
        return p->placed == RS_MEMORY_CONSTANT ? "__constant" : "__global";
    }
    return "__global";
}

static void write_memory_signature(const writer *w, rs_text *text)
{
    const rs_syntax_declaration *function =
        w->nest->program->tree.nodes[w->nest->function].declaration;
    const int64_t *g = w->spaces->group;
    rs_text_add_string(text, "__kernel ");
    if (w->spaces->staged)
        rs_text_format(text, "__attribute__((reqd_work_group_size(%lld, %lld, %lld))) ",
                       (long long)g[0], (long long)g[1], (long long)g[2]);
    rs_text_format(text, "void %s_memory(", w->kernels->name);
    for (int i = 0; i < (int)function->parameter_count; i++) {
        const rs_syntax_declaration *parameter = rs_parameter(function, i);
        const char *name = parameter->name;
        bool image;
        const char *space = space_of(w, name, &image);
        rs_text_add_string(text, i > 0 ? ", " : "");
        if (image)
            rs_text_format(text, "__read_only image1d_buffer_t %s", name);
        else
            rs_kernels_write_parameter(text, parameter, space);
    }
    rs_text_add_string(text, ")\n{\n");
}

restride_status rs_spaces_write(const rs_spaces *spaces, const rs_kernels *kernels, rs_text *text)
{
    const writer w = {spaces, kernels, kernels->nest};
    rs_kernels_write_plain(kernels, text, false);
    rs_kernels_write_plain(kernels, text, true);
    write_memory_signature(&w, text);
    rs_kernels_write_prologue(kernels, text);
    for (int i = 0; i < w.nest->unit->array_count; i++) {
        const rs_array *array = &w.nest->unit->arrays[i];
        if (placing_of(&w, i)->used && placing_of(&w, i)->placed == RS_MEMORY_SHARED)
            rs_text_format(text, "    __local %s restride_%s_tile[%lld];\n", array->type,
                           array->name, (long long)elements_of(placing_of(&w, i), 0));
    }
    if (spaces->staged)
        write_staged_nest(&w, text);
    else
        copy(&w, text, kernels->nest->node);
    rs_kernels_write_epilogue(kernels, text);
    return text->failed ? rs_fail_memory("the kernels of a nest") : RESTRIDE_OK;
}
