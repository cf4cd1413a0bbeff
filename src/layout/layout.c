/*
 * Offsets (the flattening functions of the Sung thesis, section 6.3.1, generalised to ragged tiles
 * and records).
 *
 * One idea serves all cases: the offset of an element is its rank among all valid index vectors in
 * the lexicographic order of their term values; with a record, the rank is weighted by the sizes of
 * the leaves. So a layout is a bijection by construction. The walk below goes through the terms
 * from slowest to fastest. What it keeps true for each dimension: the indices that agree with the
 * element in all terms seen so far number `span`, and, when the terms of the dimension descend,
 * they are exactly those from `start` on.
 */
#include "layout/layout.h"
#include "base/arithmetic.h"

#include <stdlib.h>
#include <string.h>

typedef struct {
    size_t start[RS_LAYOUT_MAX_RANK];
    size_t span[RS_LAYOUT_MAX_RANK];
    size_t weight; /* of one element: the record's size until its term is met, then the leaf's */
} walk;

static void begin_walk(const restride_layout *layout, walk *w)
{
    for (int d = 0; d < layout->rank; d++) {
        w->start[d] = 0;
        w->span[d] = layout->dimensions[d].padded_extent;
    }
    w->weight = layout->record >= 0 ? layout->dimensions[layout->record].record.size : 1;
}

/* The weight of the elements that share one index of dimension `d` and agree in all terms seen so
 * far. */
static size_t weight_of_one_index(const restride_layout *layout, const walk *w, int d)
{
    size_t product = w->weight;
    for (int other = 0; other < layout->rank; other++)
        if (other != d && other != layout->record)
            product *= w->span[other];
    return product;
}

/* The bytes that one byte of the record stands for once its term is met. */
static size_t elements_of_one_leaf(const restride_layout *layout, const walk *w)
{
    size_t product = 1;
    for (int d = 0; d < layout->rank; d++)
        if (d != layout->record)
            product *= w->span[d];
    return product;
}

/* Passes a term of a dimension whose terms descend; the result is the number of indices that come
 * before. */
static size_t pass_descending(const rs_dimension *dimension, const rs_term *term, size_t index,
                              size_t *start, size_t *span)
{
    size_t begin = index - index % term->divisor;
    size_t before = begin - *start;
    size_t left = dimension->padded_extent - begin;
    *start = begin;
    *span = left < term->divisor ? left : term->divisor;
    return before;
}

/* The number of values of a term, in a dimension that its tiles divide. */
static size_t value_count(const rs_dimension *dimension, const rs_term *term)
{
    return term->modulus != 0 ? term->modulus : dimension->padded_extent / term->divisor;
}

size_t restride_layout_offset(const restride_layout *layout, const size_t index[])
{
    walk w;
    size_t offset = 0;
    if (layout == NULL || index == NULL)
        return 0;
    begin_walk(layout, &w);
    for (int t = 0; t < layout->term_count; t++) {
        const rs_term *term = &layout->terms[t];
        int d = term->dimension;
        const rs_dimension *dimension = &layout->dimensions[d];
        if (dimension->is_record) {
            const rs_leaf *leaf = &dimension->record.leaves[index[d]];
            offset += leaf->offset * elements_of_one_leaf(layout, &w);
            w.weight = leaf->size;
            continue;
        }
        size_t unit = weight_of_one_index(layout, &w, d);
        if (dimension->descending) {
            offset += pass_descending(dimension, term, index[d], &w.start[d], &w.span[d]) * unit;
        } else {
            w.span[d] /= value_count(dimension, term);
            offset += rs_term_value(term, index[d]) * w.span[d] * unit;
        }
    }
    return offset;
}

/* The leaf that covers a byte of a record. */
static size_t find_leaf(const rs_record *record, size_t byte)
{
    size_t low = 0, high = record->leaf_count;
    while (high - low > 1) {
        size_t middle = low + (high - low) / 2;
        if (record->leaves[middle].offset <= byte)
            low = middle;
        else
            high = middle;
    }
    return low;
}

size_t rs_layout_index(const restride_layout *layout, size_t offset, size_t index[])
{
    walk w;
    begin_walk(layout, &w);
    for (int d = 0; d < layout->rank; d++)
        index[d] = 0;
    for (int t = 0; t < layout->term_count; t++) {
        const rs_term *term = &layout->terms[t];
        int d = term->dimension;
        const rs_dimension *dimension = &layout->dimensions[d];
        if (dimension->is_record) {
            size_t elements = elements_of_one_leaf(layout, &w);
            index[d] = find_leaf(&dimension->record, offset / elements);
            const rs_leaf *leaf = &dimension->record.leaves[index[d]];
            offset -= leaf->offset * elements;
            w.weight = leaf->size;
            continue;
        }
        size_t unit = weight_of_one_index(layout, &w, d);
        if (dimension->descending) {
            size_t reached = w.start[d] + offset / unit;
            offset -= pass_descending(dimension, term, reached, &w.start[d], &w.span[d]) * unit;
            index[d] = w.start[d];
        } else {
            w.span[d] /= value_count(dimension, term);
            size_t value = offset / (w.span[d] * unit);
            offset -= value * w.span[d] * unit;
            index[d] += value * term->divisor;
        }
    }
    return offset;
}

size_t restride_layout_size(const restride_layout *layout)
{
    return layout == NULL ? 0 : layout->size;
}

bool rs_layout_count_bytes(const restride_layout *layout, size_t elem_size, size_t *bytes)
{
    *bytes = layout->size;
    return layout->record >= 0 ||
           rs_size_multiply(layout->size, layout->unit != 0 ? layout->unit : elem_size, bytes);
}

restride_status rs_layout_check_element(const restride_layout *layout, size_t *elem_size)
{
    if (layout->record < 0 && layout->unit == 0 && *elem_size == 0)
        return rs_fail(RESTRIDE_UNSUPPORTED,
                       "The array %s does not say how large its elements are; write their type "
                       "behind the dimensions, for example \"%s float\", or give their size.",
                       layout->dims_text, layout->dims_text);
    if (layout->record >= 0 && *elem_size != 0)
        return rs_fail(RESTRIDE_INVALID_ARGUMENT,
                       "The record in %s says how large its members are; give an element size of "
                       "0, not %zu.",
                       layout->dims_text, *elem_size);
    if (layout->unit != 0 && *elem_size != 0 && *elem_size != layout->unit)
        return rs_fail(RESTRIDE_INVALID_ARGUMENT,
                       "The elements of %s have %zu bytes, not %zu; give one size.",
                       layout->dims_text, layout->unit, *elem_size);
    *elem_size = layout->unit != 0 ? layout->unit : *elem_size;
    return RESTRIDE_OK;
}

size_t restride_layout_bytes(const restride_layout *layout)
{
    size_t bytes; /* fits: the parser has looked */
    return layout != NULL && rs_layout_count_bytes(layout, 0, &bytes) ? bytes : 0;
}

int restride_layout_rank(const restride_layout *layout)
{
    return layout == NULL ? 0 : layout->rank;
}

size_t restride_layout_extent(const restride_layout *layout, int dimension)
{
    bool exists = dimension >= 0 && dimension < restride_layout_rank(layout);
    return exists ? layout->dimensions[dimension].extent : 0;
}

static bool is_whole(const rs_term *term)
{
    return term->divisor == 1 && term->modulus == 0;
}

rs_layout_form rs_layout_classify(const restride_layout *layout, size_t *tile)
{
    *tile = 0;
    if (layout->rank != 2)
        return RS_FORM_OTHER;
    int field = layout->record >= 0 ? layout->record : 1;
    const rs_dimension *elements = &layout->dimensions[1 - field];
    if (elements->padded_extent != elements->extent)
        return RS_FORM_OTHER;
    const rs_term *terms = layout->terms;
    if (layout->term_count == 2 && is_whole(&terms[0]) && is_whole(&terms[1]))
        return terms[0].dimension == field ? RS_FORM_SOA : RS_FORM_AOS;
    if (layout->term_count == 3 && terms[1].dimension == field && is_whole(&terms[1]) &&
        elements->descending) {
        *tile = terms[0].divisor;
        return RS_FORM_ASTA;
    }
    return RS_FORM_OTHER;
}

void restride_layout_destroy(restride_layout *layout)
{
    if (layout == NULL)
        return;
    for (int d = 0; d < layout->rank; d++) {
        free(layout->dimensions[d].name);
        rs_record_free(&layout->dimensions[d].record);
    }
    free(layout->dimensions);
    free(layout->terms);
    free(layout->dims_text);
    free(layout->expression_text);
    free(layout);
}
