/* Coordinates and parts of spread layouts; see spread.h. */
#include "layout/spread.h"
#include "base/arithmetic.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* The values of a spread term. */
static size_t values_of(const restride_layout *layout, const rs_term *term)
{
    if (term->modulus != 0)
        return term->modulus;
    const size_t values =
        rs_size_divide_up(layout->dimensions[term->dimension].extent, term->divisor);
    return values == 0 ? 1 : values;
}

/* The product of the values of the spread terms behind `t`; of one dimension, or of all (-1). */
static size_t stride_of(const restride_layout *layout, int t, int d)
{
    size_t stride = 1;
    for (int next = t + 1; next < layout->term_count; next++)
        if (layout->terms[next].spread && (d < 0 || layout->terms[next].dimension == d))
            stride = rs_size_multiply_capped(stride, values_of(layout, &layout->terms[next]));
    return stride;
}

size_t rs_spread_processes(const restride_layout *layout)
{
    return stride_of(layout, -1, -1);
}

size_t rs_spread_coordinates(const restride_layout *layout, int d)
{
    return stride_of(layout, -1, d);
}

size_t rs_spread_coordinate(const restride_layout *layout, int d, size_t process)
{
    size_t coordinate = 0;
    for (int t = 0; t < layout->term_count; t++) {
        const rs_term *term = &layout->terms[t];
        if (term->spread && term->dimension == d)
            coordinate += process / stride_of(layout, t, -1) % values_of(layout, term) *
                          stride_of(layout, t, d);
    }
    return coordinate;
}

size_t rs_spread_share(const restride_layout *layout, int d, size_t coordinate)
{
    size_t share = 0;
    for (int t = 0; t < layout->term_count; t++) {
        const rs_term *term = &layout->terms[t];
        if (term->spread && term->dimension == d)
            share += coordinate / stride_of(layout, t, d) % values_of(layout, term) *
                     stride_of(layout, t, -1);
    }
    return share;
}

size_t rs_spread_owner(const restride_layout *layout, int d, size_t index)
{
    size_t coordinate = 0;
    for (int t = 0; t < layout->term_count; t++) {
        const rs_term *term = &layout->terms[t];
        if (term->spread && term->dimension == d)
            coordinate += rs_term_value(term, index) * stride_of(layout, t, d);
    }
    return coordinate;
}

size_t rs_spread_border(const restride_layout *layout, int d, size_t index)
{
    size_t border = layout->dimensions[d].extent;
    for (int t = 0; t < layout->term_count; t++) {
        const rs_term *term = &layout->terms[t];
        const size_t step = term->divisor - index % term->divisor;
        if (term->spread && term->dimension == d && border - index > step)
            border = index + step;
    }
    return border;
}

/* The term of a dimension with the largest divisor below `limit`; -1: there is none. */
static int next_lower(const restride_layout *layout, int d, size_t limit)
{
    int best = -1;
    for (int t = 0; t < layout->term_count; t++) {
        const rs_term *term = &layout->terms[t];
        if (term->dimension == d && term->divisor < limit &&
            (best < 0 || term->divisor > layout->terms[best].divisor))
            best = t;
    }
    return best;
}

rs_axis rs_spread_axis(const restride_layout *layout, int d, size_t coordinate)
{
    rs_axis axis = {.extent = layout->dimensions[d].extent};
    size_t limit = SIZE_MAX;
    for (int t; (t = next_lower(layout, d, limit)) >= 0; limit = layout->terms[t].divisor) {
        const rs_term *term = &layout->terms[t];
        const int a = axis.count++;
        axis.terms[a].divisor = term->divisor;
        axis.terms[a].modulus = term->modulus;
        axis.terms[a].spread = term->spread;
        if (term->spread)
            axis.terms[a].digit = coordinate / stride_of(layout, t, d) % values_of(layout, term);
    }
    size_t below = 1;
    for (int a = axis.count; a-- > 0;) {
        axis.terms[a].below = below;
        if (!axis.terms[a].spread && axis.terms[a].modulus != 0)
            below *= axis.terms[a].modulus;
    }
    return axis;
}

size_t rs_axis_below(const rs_axis *axis, size_t index)
{
    size_t before = 0;
    for (int a = 0; a < axis->count; a++) {
        size_t value = index / axis->terms[a].divisor;
        if (axis->terms[a].modulus != 0)
            value %= axis->terms[a].modulus;
        if (!axis->terms[a].spread) {
            before += value * axis->terms[a].below;
            continue;
        }
        if (value != axis->terms[a].digit)
            return value > axis->terms[a].digit ? before + axis->terms[a].below : before;
    }
    return before;
}

size_t rs_axis_index(const rs_axis *axis, size_t before)
{
    size_t index = 0;
    for (int a = 0; a < axis->count; a++) {
        size_t value = before / axis->terms[a].below;
        if (axis->terms[a].spread)
            value = axis->terms[a].digit;
        else if (axis->terms[a].modulus != 0)
            value %= axis->terms[a].modulus;
        index += value * axis->terms[a].divisor;
    }
    return index;
}

/* ---- parts ---- */

/* The leaves of a record that a coordinate has: all of them, or one. */
static restride_status part_record(rs_dimension *part, const rs_dimension *whole,
                                   const rs_axis *axis, bool empty)
{
    const size_t count = empty ? 0 : rs_axis_below(axis, whole->extent);
    part->extent = part->padded_extent = count;
    if (count == whole->extent)
        return rs_record_copy(&part->record, &whole->record);
    if (count == 0)
        return RESTRIDE_OK;
    const rs_leaf *leaf = &whole->record.leaves[rs_axis_index(axis, 0)];
    restride_status status = rs_record_add_leaf(
        &part->record, leaf->name == NULL ? "padding" : leaf->name, 0, leaf->size);
    return status == RESTRIDE_OK ? rs_record_complete_packed(&part->record, leaf->size) : status;
}

static restride_status part_dimension(restride_layout *part, const restride_layout *layout, int d,
                                      const rs_axis *axis, bool empty)
{
    const rs_dimension *whole = &layout->dimensions[d];
    rs_dimension *own = &part->dimensions[d];
    own->pad = 1;
    own->descending = whole->descending;
    own->is_record = whole->is_record;
    own->name = strdup(whole->name);
    if (own->name == NULL)
        return rs_fail_memory("a part of a layout");
    part->rank = d + 1;
    if (own->is_record)
        return part_record(own, whole, axis, empty);
    own->extent = own->padded_extent = empty ? 0 : rs_axis_below(axis, whole->extent);
    return RESTRIDE_OK;
}

/* The term in the numbers of the part. The highest one has no modulus, since none is above. */
static rs_term own_term(const rs_term *term, const rs_axis *axis)
{
    rs_term own = {.dimension = term->dimension, .divisor = 1};
    bool highest = true;
    for (int a = 0; a < axis->count; a++) {
        if (axis->terms[a].spread)
            continue;
        if (axis->terms[a].divisor == term->divisor) {
            own.divisor = axis->terms[a].below;
            own.modulus = highest ? 0 : axis->terms[a].modulus;
        }
        highest = false;
    }
    return own;
}

static void part_terms(restride_layout *part, const restride_layout *layout, const rs_axis axes[],
                       const int order[])
{
    bool has_term[RS_LAYOUT_MAX_RANK] = {false};
    for (int t = 0; order == NULL && t < layout->term_count; t++) {
        const rs_term *term = &layout->terms[t];
        if (term->spread)
            continue;
        part->terms[part->term_count++] = own_term(term, &axes[term->dimension]);
        has_term[term->dimension] = true;
    }
    for (int k = 0; k < layout->rank; k++) {
        const int d = order == NULL ? k : order[k];
        if (has_term[d])
            continue;
        part->terms[part->term_count++] = (rs_term){.dimension = d, .divisor = 1};
        part->dimensions[d].descending = true;
    }
}

static restride_status fill_part(restride_layout *part, const restride_layout *layout,
                                 size_t process, const int order[])
{
    const size_t most_terms = (size_t)layout->term_count + (size_t)layout->rank;
    part->record = layout->record;
    part->unit = layout->unit;
    part->element = layout->element;
    part->dims_text = strdup(layout->dims_text);
    part->expression_text = strdup(layout->expression_text);
    part->dimensions = calloc((size_t)layout->rank, sizeof *part->dimensions);
    part->terms = calloc(most_terms, sizeof *part->terms);
    rs_axis *axes = calloc((size_t)layout->rank, sizeof *axes);
    restride_status status = RESTRIDE_OK;
    if (part->dims_text == NULL || part->expression_text == NULL || part->dimensions == NULL ||
        part->terms == NULL || axes == NULL)
        status = rs_fail_memory("a part of a layout");
    const bool empty = process >= rs_spread_processes(layout);
    part->size = 1;
    for (int d = 0; status == RESTRIDE_OK && d < layout->rank; d++) {
        axes[d] = rs_spread_axis(layout, d, rs_spread_coordinate(layout, d, process));
        status = part_dimension(part, layout, d, &axes[d], empty);
        part->size *= part->dimensions[d].is_record ? part->dimensions[d].record.size
                                                    : part->dimensions[d].extent;
    }
    if (status == RESTRIDE_OK)
        part_terms(part, layout, axes, order);
    free(axes);
    return status;
}

restride_status rs_spread_part(restride_layout **part, const restride_layout *layout,
                               size_t process, const int order[])
{
    *part = NULL;
    restride_layout *created = calloc(1, sizeof *created);
    if (created == NULL)
        return rs_fail_memory("a part of a layout");
    restride_status status = fill_part(created, layout, process, order);
    if (status == RESTRIDE_OK)
        *part = created;
    else
        restride_layout_destroy(created);
    return status;
}
