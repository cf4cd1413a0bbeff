/* The kernel with vectors, and those that pack its copies and unpack them. */
#include "apply/body.h"
#include "apply/types.h"

#include <stdio.h>
#include <string.h>

/* ---- copies ---- */

static const char *element_name(const rs_nest *nest, const rs_copy *copy)
{
    /* Copies are of numbers: load() and store() have seen to that. */
    const char *name = nest->unit->arrays[copy->array].type;
    static const struct {
        const char *c, *opencl;
    } names[] = {{"unsigned char", "uchar"},     {"signed char", "char"},
                 {"unsigned short", "ushort"},   {"unsigned int", "uint"},
                 {"long long", "long"},          {"unsigned long", "ulong"},
                 {"unsigned long long", "ulong"}};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if (strcmp(names[i].c, name) == 0)
            return names[i].opencl;
    return name;
}

static rs_polynomial extent_of(const rs_copy *copy, int row)
{
    rs_polynomial one = rs_polynomial_constant(1);
    rs_polynomial width = rs_polynomial_subtract(&copy->most[row], &copy->least[row]);
    return rs_polynomial_add(&width, &one);
}

/* The vectors of a row of all copies, and the extents of each. */
static void write_extents(const rs_kernels *kernels, rs_text *text)
{
    rs_quantity most;
    const rs_nest *nest = kernels->nest;
    if (kernels->copies->copy_count == 0 ||
        !rs_range_count_most(nest, &nest->loops[nest->vector], &most))
        return;
    rs_text_add_string(text, "    const long restride_most = (");
    rs_quantity_write(nest, text, &most);
    rs_text_format(text, ") / %d;\n", kernels->width);
    for (int c = 0; c < kernels->copies->copy_count; c++) {
        const rs_copy *copy = &kernels->copies->copies[c];
        for (int i = 0; i + 1 < copy->rows; i++) {
            rs_polynomial extent = extent_of(copy, rs_copy_row(copy, i));
            rs_text_format(text, "    const long restride_rows_%d_%d = ", c + 1, i);
            rs_range_write(nest, text, &extent);
            rs_text_add_string(text, ";\n");
        }
    }
}

/* The row that the vector's loop moves, from the others and from p. */
static void write_moved_row(const rs_nest *nest, rs_text *text, const rs_copy *copy)
{
    const rs_nest_loop *loop = &nest->loops[nest->vector];
    rs_text_add_string(text, "(");
    rs_range_write(nest, text, &copy->stride);
    rs_text_add_string(text, ") * (restride_p + ");
    rs_range_write(nest, text, &loop->first);
    rs_text_add_string(text, ") + ");
    rs_range_write(nest, text, &copy->shift);
    for (int row = 0; row < copy->rows; row++) {
        if (rs_polynomial_is_zero(&copy->slope[row]))
            continue;
        rs_text_add_string(text, " + (");
        rs_range_write(nest, text, &copy->slope[row]);
        rs_text_format(text, ") * restride_row%d", row);
    }
}

static void write_array_element(const rs_nest *nest, rs_text *text, const rs_copy *copy)
{
    const rs_access *access = &nest->accesses->accesses[copy->access];
    rs_text_add_string(text, nest->unit->arrays[copy->array].name);
    if (!access->divided) {
        for (int row = 0; row < copy->rows; row++)
            rs_text_format(text, "[restride_row%d]", row);
        return;
    }
    /* A flat array: row 0 times its stride, as in the source. */
    rs_polynomial rows[RS_SUBSCRIPT_LIMIT];
    bool divided;
    rs_reference_rows(nest->unit, access->reference, rows, &divided);
    rs_polynomial flat = rs_polynomial_subtract(&access->reference->subscripts[0], &rows[1]);
    for (int i = 0; i < nest->unit->symbols.count; i++) {
        rs_polynomial symbol = rs_polynomial_symbol(i);
        rs_polynomial product = rs_polynomial_multiply(&rows[0], &symbol);
        if (rs_polynomial_equal(&product, &flat)) {
            rs_text_add_string(text, "[restride_row0 * ");
            rs_range_write(nest, text, &symbol);
            rs_text_add_string(text, " + restride_row1]");
            return;
        }
    }
}

/* Moves one copy: out of the array (pack), or back (unpack). */
static void write_mover(const rs_kernels *kernels, rs_text *text, int number, bool pack)
{
    const rs_nest *nest = kernels->nest;
    const rs_copy *copy = &kernels->copies->copies[number];
    const char *array = nest->unit->arrays[copy->array].name;
    char ending[40];
    snprintf(ending, sizeof ending, "%spack_%d", pack ? "" : "un", number + 1);
    rs_kernels_write_signature(kernels, text, ending);
    rs_text_format(text, ", __global %s *%s_%d)\n{\n", element_name(nest, copy), array, number + 1);
    write_extents(kernels, text);
    rs_text_add_string(text, "    const long restride_others = 1");
    for (int i = 0; i + 1 < copy->rows; i++)
        rs_text_format(text, " * restride_rows_%d_%d", number + 1, i);
    rs_text_format(text,
                   ";\n    for (long restride_q = get_global_id(1); restride_q < restride_others; "
                   "restride_q += get_global_size(1)) {\n"
                   "        long restride_rest = restride_q;\n");
    for (int i = copy->rows - 2; i >= 0; i--) {
        int row = rs_copy_row(copy, i);
        rs_text_format(text,
                       "        const long restride_row%d = restride_rest %% "
                       "restride_rows_%d_%d + ",
                       row, number + 1, i);
        rs_range_write(nest, text, &copy->least[row]);
        rs_text_format(text, ";\n        restride_rest /= restride_rows_%d_%d;\n", number + 1, i);
    }
    rs_text_format(text,
                   "        for (long restride_p = get_global_id(0); restride_p < restride_most * "
                   "%d; restride_p += get_global_size(0)) {\n"
                   "            const long restride_row%d = ",
                   kernels->width, copy->row);
    write_moved_row(nest, text, copy);
    rs_text_format(text, ";\n            if (restride_row%d >= ", copy->row);
    rs_range_write(nest, text, &copy->least[copy->row]);
    rs_text_format(text, " && restride_row%d <= ", copy->row);
    rs_range_write(nest, text, &copy->most[copy->row]);
    rs_text_add_string(text, ")\n                ");
    rs_text moved = RS_TEXT_EMPTY, element = RS_TEXT_EMPTY;
    rs_text_format(&moved, "%s_%d[restride_q * restride_most * %d + restride_p]", array, number + 1,
                   kernels->width);
    write_array_element(nest, &element, copy);
    text->failed = text->failed || moved.failed || element.failed;
    if (!text->failed)
        rs_text_format(text, "%s = %s;\n        }\n    }\n}\n\n", pack ? moved.data : element.data,
                       pack ? element.data : moved.data);
    rs_text_free(&moved);
    rs_text_free(&element);
}

/* ---- the vectors ---- */

/* A loop over something that is spread over work-items like the vectors' loop. */
static void write_spread(rs_text *text, const rs_nest_loop *loop, const char *variable,
                         const char *first, const char *end)
{
    if (loop->dimension < 0)
        rs_text_format(text, "        for (long %s = %s; %s < %s; %s++) {\n", variable, first,
                       variable, end, variable);
    else
        rs_text_format(text,
                       "        for (long %s = %s + get_global_id(%d); %s < %s; %s += "
                       "get_global_size(%d)) {\n",
                       variable, first, loop->dimension, variable, end, variable, loop->dimension);
}

static void write_lanes(const rs_kernels *kernels, rs_text *text, const rs_nest_loop *loop)
{
    const rs_nest *nest = kernels->nest;
    const char *type = rs_nest_loop_type(nest, loop);
    long long step = (long long)nest->unit->loops[loop->loop].step;
    rs_text_format(text, "            const %s%d %s_lanes = %s + (%s)%lld * (%s%d)(", type,
                   kernels->width, loop->variable, loop->variable, type, step, type,
                   kernels->width);
    for (int lane = 0; lane < kernels->width; lane++)
        rs_text_format(text, "%s%d", lane > 0 ? ", " : "", lane);
    rs_text_add_string(text, ");\n");
}

/* What replaces the vectors' loop: whole vectors, then the iterations that remain. */
static restride_status write_vectors(const rs_kernels *kernels, rs_text *text)
{
    const rs_nest *nest = kernels->nest;
    const rs_nest_loop *loop = &nest->loops[nest->vector];
    rs_quantity count = rs_range_count(nest, loop);
    rs_text vectors = RS_TEXT_EMPTY, before = RS_TEXT_EMPTY, after = RS_TEXT_EMPTY;
    rs_text_add(&before, "", 0);
    rs_text_add(&after, "", 0);
    rs_text_add(&vectors, "", 0);
    restride_status status = rs_body_write(kernels, &vectors, &before, &after);
    if (status == RESTRIDE_OK && nest->refusal == NULL) {
        char rest[48];
        snprintf(rest, sizeof rest, "restride_strips * %d", kernels->width);
        rs_text_add_string(text, "{\n        const long restride_count = ");
        if (!rs_quantity_write(nest, text, &count))
            rs_nest_refuse(kernels->nest, loop->node,
                           "the number of iterations is not made of the function's parameters");
        rs_text_format(text, ";\n        const long restride_strips = restride_count / %d;\n%s",
                       kernels->width, before.data);
        write_spread(text, loop, "restride_strip", "0", "restride_strips");
        rs_kernels_write_variable(kernels, text, loop, "restride_strip", kernels->width);
        write_lanes(kernels, text, loop);
        rs_text_format(text, "%s        }\n%s", vectors.data, after.data);
        write_spread(text, loop, "restride_rest", rest, "restride_count");
        rs_kernels_write_variable(kernels, text, loop, "restride_rest", 1);
        rs_text_add_string(text, "            ");
        rs_kernels_write_changed(kernels, text, loop->parts.body, NULL);
        rs_text_add_string(text, "\n        }\n    }");
    }
    rs_text_free(&vectors);
    rs_text_free(&before);
    rs_text_free(&after);
    return status;
}

static restride_status write_vector_kernel(const rs_kernels *kernels, rs_text *text)
{
    const rs_nest *nest = kernels->nest;
    rs_text vectors = RS_TEXT_EMPTY;
    restride_status status = write_vectors(kernels, &vectors);
    if (status == RESTRIDE_OK && nest->refusal == NULL && !vectors.failed) {
        rs_kernels_write_signature(kernels, text, "vector");
        for (int i = 0; i < kernels->copies->copy_count; i++) {
            const rs_copy *copy = &kernels->copies->copies[i];
            rs_text_format(text, ", __global %s%s%d *%s_%d", copy->written ? "" : "const ",
                           element_name(nest, copy), kernels->width,
                           nest->unit->arrays[copy->array].name, i + 1);
        }
        rs_text_add_string(text, ")\n{\n");
        rs_kernels_write_prologue(kernels, text);
        write_extents(kernels, text);
        rs_text_add_string(text, "    ");
        rs_kernels_write_changed(kernels, text, nest->node, vectors.data);
        rs_kernels_write_epilogue(kernels, text);
    }
    text->failed = text->failed || vectors.failed;
    rs_text_free(&vectors);
    return status;
}

restride_status rs_kernels_write(rs_kernels *kernels, rs_text *text)
{
    rs_text vector = RS_TEXT_EMPTY;
    restride_status status = write_vector_kernel(kernels, &vector);
    if (status == RESTRIDE_OK && kernels->nest->refusal == NULL) {
        rs_kernels_write_plain(kernels, text, false);
        rs_kernels_write_plain(kernels, text, true);
        for (int i = 0; i < kernels->copies->copy_count; i++) {
            write_mover(kernels, text, i, true);
            if (kernels->copies->copies[i].written)
                write_mover(kernels, text, i, false);
        }
        if (!vector.failed)
            rs_text_add(text, vector.data, vector.size);
        if (text->failed || vector.failed)
            status = rs_fail_memory("the kernels of a nest");
    }
    rs_text_free(&vector);
    return status;
}
