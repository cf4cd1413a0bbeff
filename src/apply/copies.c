/* Where the vectors of each reference come from. */
#include "apply/copies.h"

#include <stdlib.h>
#include <string.h>

typedef struct {
    rs_copies *copies;
    const rs_nest *nest;
    const rs_nest_loop *loop; /* of the vectors */
    int symbol, width;
} decision;

const char *rs_placed_text(rs_placed placed)
{
    static const char *const texts[] = {"one element for all", "vector", "unaligned vector",
                                        "vector of a copy", "element by element"};
    return texts[placed];
}

int rs_copy_row(const rs_copy *copy, int position)
{
    return position == copy->row ? copy->rows - 1 : position;
}

/* ---- one reference ---- */

static const rs_access *access_of(const decision *d, int reference)
{
    return &d->nest->accesses->accesses[reference];
}

/* Whether the vector's loop moves a reference, and if so one row of it only. */
static bool is_moved(const decision *d, int reference, int *row)
{
    const rs_access *access = access_of(d, reference);
    int count = 0;
    for (int r = 0; r < access->rows; r++) {
        rs_polynomial entry = rs_access_entry(access, r, d->symbol);
        if (rs_polynomial_is_zero(&entry))
            continue;
        count++;
        *row = r;
    }
    if (count > 1)
        *row = -1;
    return count > 0 && rs_nest_loop_has(d->nest, d->loop, reference);
}

/* Side by side in memory, in the order of the iterations. */
static bool is_contiguous(const decision *d, int reference, int row)
{
    const rs_access *access = access_of(d, reference);
    int64_t stride;
    if (row < 0 || row != access->rows - 1 || access->reference->member != NULL)
        return false;
    rs_polynomial entry = rs_access_entry(access, row, d->symbol);
    return rs_polynomial_is_constant(&entry, &stride) && stride == 1;
}

/* The column of the first element of the first vector, less what other loops add. */
static rs_polynomial start_of(const decision *d, const rs_access *access, int row)
{
    return rs_polynomial_add(&access->offset[row], &d->loop->first);
}

/* Whether every vector of a contiguous reference begins at a multiple of its size. */
static bool is_aligned(const decision *d, int reference)
{
    const rs_access *access = access_of(d, reference);
    const rs_array *array = &d->nest->unit->arrays[access->reference->array];
    int last = access->rows - 1;
    int64_t constant;
    for (int i = 0; i < access->columns; i++)
        if (access->symbols[i] != d->symbol && !rs_polynomial_is_zero(&access->matrix[last][i]))
            return false;
    rs_polynomial start = start_of(d, access, last);
    if (access->divided || !rs_polynomial_is_constant(&start, &constant) ||
        constant % d->width != 0)
        return false;
    return last == 0 || (array->extents[last] > 0 && array->extents[last] % d->width == 0);
}

/* ---- copies ---- */

static unsigned kinds_of(const decision *d, const rs_copy *copy)
{
    int64_t stride = 0;
    bool fixed = rs_polynomial_is_constant(&copy->stride, &stride);
    rs_polynomial start = start_of(d, access_of(d, copy->access), copy->row);
    unsigned kinds = 0;
    kinds |= copy->row != copy->rows - 1 ? RS_RULE_SWITCH : 0;
    kinds |= !fixed || (stride != 1 && stride != -1) ? RS_RULE_GATHER : 0;
    kinds |= fixed && stride < 0 ? RS_RULE_REVERSE : 0;
    kinds |= !rs_polynomial_is_zero(&start) ? RS_RULE_SHIFT : 0;
    for (int row = 0; row < copy->rows; row++)
        kinds |= !rs_polynomial_is_zero(&copy->slope[row]) ? RS_RULE_SKEW : 0;
    return kinds;
}

/* Whether a flat array is surely as large as the ranges of its two rows say: each element of one
 * meets each of the other. */
static bool is_rectangle(const decision *d, const rs_access *access)
{
    const rs_symbols *symbols = &d->nest->unit->symbols;
    for (int i = 0; i < d->nest->count; i++) {
        const rs_nest_loop *loop = &d->nest->loops[i];
        int symbol = d->nest->unit->loops[loop->loop].symbol;
        rs_polynomial entries[2] = {rs_access_entry(access, 0, symbol),
                                    rs_access_entry(access, 1, symbol)};
        bool moves[2] = {!rs_polynomial_is_zero(&entries[0]), !rs_polynomial_is_zero(&entries[1])};
        rs_quantity count = rs_range_count(d->nest, loop);
        bool fixed = rs_polynomial_depends(&count.above, symbols) == 0 &&
                     rs_polynomial_depends(&loop->first, symbols) == 0;
        if ((moves[0] && moves[1]) || ((moves[0] || moves[1]) && !fixed))
            return false;
    }
    return true;
}

/* What the copy for one reference is; false when it cannot have one. */
static bool describe_copy(const decision *d, int reference, int row, rs_copy *copy)
{
    const rs_access *access = access_of(d, reference);
    rs_polynomial rows[RS_SUBSCRIPT_LIMIT];
    bool divided;
    rs_quantity count;
    memset(copy, 0, sizeof *copy);
    copy->array = access->reference->array;
    copy->access = reference;
    copy->row = row;
    copy->rows = rs_reference_rows(d->nest->unit, access->reference, rows, &divided);
    if (row < 0 || access->reference->member != NULL || copy->rows != access->rows ||
        rs_polynomial_depends(&d->loop->first, &d->nest->unit->symbols) != 0 ||
        !rs_range_count_most(d->nest, d->loop, &count))
        return false;
    if (divided && (copy->rows != 2 || !is_rectangle(d, access)))
        return false;
    copy->stride = rs_access_entry(access, row, d->symbol);
    copy->shift = access->offset[row];
    for (int r = 0; r < copy->rows; r++) {
        copy->slope[r] = rs_polynomial_constant(0);
        if (!rs_range_of(d->nest, &rows[r], access->reference->loop, &copy->least[r],
                         &copy->most[r]))
            return false;
    }
    for (int i = 0; i < access->columns; i++) {
        const rs_polynomial *entry = &access->matrix[row][i];
        if (access->symbols[i] == d->symbol || rs_polynomial_is_zero(entry))
            continue;
        int other = rs_access_single_row(access, row, access->symbols[i]);
        if (other < 0)
            return false;
        rs_polynomial taken = rs_polynomial_multiply(entry, &access->offset[other]);
        copy->slope[other] = *entry;
        copy->shift = rs_polynomial_subtract(&copy->shift, &taken);
    }
    copy->kinds = kinds_of(d, copy);
    return true;
}

static bool same_rule(const rs_copy *a, const rs_copy *b)
{
    bool same = a->array == b->array && a->row == b->row && a->rows == b->rows &&
                rs_polynomial_equal(&a->stride, &b->stride) &&
                rs_polynomial_equal(&a->shift, &b->shift);
    for (int r = 0; r < a->rows && same; r++)
        same = rs_polynomial_equal(&a->slope[r], &b->slope[r]);
    return same;
}

/* Lets a copy serve another reference too; false when it is not known which of both reaches
 * further. */
static bool widen(rs_copy *copy, const rs_copy *by)
{
    rs_copy wide = *copy;
    for (int r = 0; r < copy->rows; r++) {
        int64_t below, above;
        rs_polynomial low = rs_polynomial_subtract(&by->least[r], &copy->least[r]);
        rs_polynomial high = rs_polynomial_subtract(&by->most[r], &copy->most[r]);
        if (!rs_polynomial_is_constant(&low, &below) || !rs_polynomial_is_constant(&high, &above))
            return false;
        if (below < 0)
            wide.least[r] = by->least[r];
        if (above > 0)
            wide.most[r] = by->most[r];
    }
    *copy = wide;
    return true;
}

/* Uses a copy that is there, or adds one; its number. */
static int take_copy(rs_copies *copies, const rs_copy *wanted)
{
    for (int i = 0; i < copies->copy_count; i++)
        if (same_rule(&copies->copies[i], wanted) && widen(&copies->copies[i], wanted))
            return i;
    copies->copies[copies->copy_count] = *wanted;
    return copies->copy_count++;
}

/* ---- one array ---- */

static bool is_of(const decision *d, int reference, int array)
{
    return rs_nest_has(d->nest, reference) && access_of(d, reference)->reference->array == array;
}

static bool is_written(const decision *d, int array)
{
    for (int i = 0; i < d->nest->unit->reference_count; i++)
        if (is_of(d, i, array) && d->nest->unit->references[i].written)
            return true;
    return false;
}

/* One copy that every reference of a written array can use: it then replaces the array. */
static bool replace_array(const decision *d, int array)
{
    rs_copy whole, one;
    bool first = true;
    /* What remains behind the last whole vector is written in the array itself: all must agree
     * where that is. */
    rs_quantity count = rs_range_count(d->nest, d->loop);
    if (!d->loop->independent || rs_polynomial_depends(&count.above, &d->nest->unit->symbols) != 0)
        return false;
    for (int i = 0; i < d->nest->unit->reference_count; i++) {
        int row = -1;
        if (!is_of(d, i, array))
            continue;
        if (!is_moved(d, i, &row) || !describe_copy(d, i, row, &one))
            return false;
        if (first)
            whole = one;
        else if (!same_rule(&whole, &one) || !widen(&whole, &one))
            return false;
        first = false;
    }
    if (first || whole.kinds == 0)
        return false;
    int64_t stride;
    if (!rs_polynomial_is_constant(&whole.stride, &stride))
        return false; /* if it is 0, elements of the copy are the same element of the array */
    whole.written = true;
    int copy = take_copy(d->copies, &whole);
    for (int i = 0; i < d->nest->unit->reference_count; i++)
        if (is_of(d, i, array)) {
            d->copies->placed[i] = RS_PLACED_COPY;
            d->copies->copy_of[i] = copy;
        }
    return true;
}

static void place_in_array(const decision *d, int reference, int row)
{
    bool contiguous = is_contiguous(d, reference, row);
    d->copies->placed[reference] = !contiguous                ? RS_PLACED_ELEMENTS
                                   : is_aligned(d, reference) ? RS_PLACED_ALIGNED
                                                              : RS_PLACED_UNALIGNED;
}

/* A reference to an array that is only read may have a copy of its own. */
static void place_reading(const decision *d, int reference, int row)
{
    rs_copy copy;
    place_in_array(d, reference, row);
    if (d->copies->placed[reference] == RS_PLACED_ALIGNED ||
        !describe_copy(d, reference, row, &copy) || copy.kinds == 0)
        return;
    copy.written = false;
    d->copies->placed[reference] = RS_PLACED_COPY;
    d->copies->copy_of[reference] = take_copy(d->copies, &copy);
}

static void place_array(const decision *d, int array)
{
    bool written = is_written(d, array), contiguous = true;
    int row;
    for (int i = 0; i < d->nest->unit->reference_count; i++)
        if (is_of(d, i, array) && is_moved(d, i, &row))
            contiguous = contiguous && is_contiguous(d, i, row);
    if (written && !contiguous && replace_array(d, array))
        return;
    for (int i = 0; i < d->nest->unit->reference_count; i++) {
        if (!is_of(d, i, array) || !is_moved(d, i, &row))
            continue;
        if (written)
            place_in_array(d, i, row);
        else
            place_reading(d, i, row);
    }
}

/* Several copies of one array are duplicates. */
static void mark_duplicates(rs_copies *copies)
{
    for (int i = 0; i < copies->copy_count; i++)
        for (int j = 0; j < copies->copy_count; j++)
            if (i != j && copies->copies[i].array == copies->copies[j].array)
                copies->copies[i].kinds |= RS_RULE_DUPLICATE;
}

restride_status rs_copies_find(rs_copies *copies, rs_nest *nest, int width)
{
    size_t count = (size_t)nest->unit->reference_count + 1;
    const rs_nest_loop *loop = &nest->loops[nest->vector];
    copies->copy_count = 0;
    copies->placed = calloc(count, sizeof *copies->placed);
    copies->copy_of = calloc(count, sizeof *copies->copy_of);
    copies->copies = calloc(count, sizeof *copies->copies);
    if (copies->placed == NULL || copies->copy_of == NULL || copies->copies == NULL)
        return rs_fail_memory("the copies of a nest");
    for (size_t i = 0; i < count; i++)
        copies->copy_of[i] = -1;
    decision d = {copies, nest, loop, nest->unit->loops[loop->loop].symbol, width};
    for (int i = 0; i < nest->unit->array_count; i++)
        place_array(&d, i);
    mark_duplicates(copies);
    return RESTRIDE_OK;
}

void rs_copies_free(rs_copies *copies)
{
    free(copies->placed);
    free(copies->copy_of);
    free(copies->copies);
}
