/* Flat subscripts read as rows: i*N*M + j*M + k is [i][j][k], as long as j stays below N and k
 * below M. That is assumed, unless the loops around are seen to do otherwise. */
#include "analyze/access.h"

#include <string.h>

/* The part of a term that is made of parameters alone, as a term with coefficient 1. */
static rs_monomial parameters_of(const rs_symbols *symbols, const rs_monomial *term)
{
    rs_monomial part = {1, {-1, -1, -1}};
    int count = 0;
    for (int s = 0; s < RS_DEGREE_LIMIT && term->symbols[s] >= 0; s++)
        if (rs_symbol_depends(symbols, term->symbols[s]) == 0)
            part.symbols[count++] = term->symbols[s];
    return part;
}

static int degree(const rs_monomial *term)
{
    int count = 0;
    while (count < RS_DEGREE_LIMIT && term->symbols[count] >= 0)
        count++;
    return count;
}

static bool same_symbols(const rs_monomial *a, const rs_monomial *b)
{
    return memcmp(a->symbols, b->symbols, sizeof a->symbols) == 0;
}

/* The strides of a flat subscript: the parameter parts that multiply an index, largest first. */
static int find_strides(const rs_symbols *symbols, const rs_polynomial *flat,
                        rs_monomial strides[RS_SUBSCRIPT_LIMIT])
{
    int count = 0;
    for (int t = 0; t < flat->count; t++) {
        rs_monomial part = parameters_of(symbols, &flat->terms[t]);
        if (degree(&part) == 0 || degree(&part) == degree(&flat->terms[t]))
            continue;
        int at = 0;
        while (at < count && degree(&strides[at]) > degree(&part))
            at++;
        bool known = false;
        for (int i = 0; i < count; i++)
            known = known || same_symbols(&strides[i], &part);
        if (known)
            continue;
        if (count + 1 >= RS_SUBSCRIPT_LIMIT ||
            (at < count && degree(&strides[at]) == degree(&part)))
            return 0; /* two strides of one degree: not a plain array of several dimensions */
        memmove(&strides[at + 1], &strides[at], (size_t)(count - at) * sizeof *strides);
        strides[at] = part;
        count++;
    }
    return count;
}

/* Whether every symbol of `part` is in `term`; *rest is the term without them. */
static bool take_out(const rs_monomial *term, const rs_monomial *part, rs_monomial *rest)
{
    rs_polynomial p = rs_polynomial_constant(1);
    p.terms[0] = *term;
    p.terms[0].coefficient = 1;
    for (int s = 0; s < RS_DEGREE_LIMIT && part->symbols[s] >= 0; s++) {
        int power;
        p = rs_polynomial_coefficient(&p, part->symbols[s], &power);
        if (power == 0 || p.count != 1)
            return false;
    }
    *rest = p.terms[0];
    rest->coefficient = term->coefficient;
    return true;
}

/* Whether indices multiply each other: (i + n) * (i + n) is no row and column of a matrix. */
static bool multiplies_indices(const rs_symbols *symbols, const rs_polynomial *flat)
{
    for (int t = 0; t < flat->count; t++) {
        rs_monomial part = parameters_of(symbols, &flat->terms[t]);
        if (degree(&flat->terms[t]) > degree(&part) + 1)
            return true;
    }
    return false;
}

/* i*N*M + j*M + k becomes [i][j][k]. */
static int divide_flat(const rs_symbols *symbols, const rs_polynomial *flat,
                       rs_polynomial rows[RS_SUBSCRIPT_LIMIT])
{
    rs_monomial strides[RS_SUBSCRIPT_LIMIT];
    int count = multiplies_indices(symbols, flat) ? 0 : find_strides(symbols, flat, strides);
    if (count == 0)
        return 0;
    for (int i = 0; i <= count; i++)
        rows[i] = rs_polynomial_constant(0);
    for (int t = 0; t < flat->count; t++) {
        int row = count;
        rs_monomial rest = flat->terms[t];
        for (int i = count - 1; i >= 0; i--) {
            rs_monomial without;
            if (take_out(&flat->terms[t], &strides[i], &without)) {
                row = i;
                rest = without;
            }
        }
        rs_polynomial term = rs_polynomial_of_term(&rest);
        rows[row] = rs_polynomial_add(&rows[row], &term);
    }
    return count + 1;
}

bool rs_references_divide_alike(const rs_unit *unit, const rs_reference *a, const rs_reference *b)
{
    rs_monomial of_a[RS_SUBSCRIPT_LIMIT], of_b[RS_SUBSCRIPT_LIMIT];
    int count = find_strides(&unit->symbols, &a->subscripts[0], of_a);
    if (count != find_strides(&unit->symbols, &b->subscripts[0], of_b))
        return false;
    for (int i = 0; i < count; i++)
        if (!same_symbols(&of_a[i], &of_b[i]))
            return false;
    return true;
}

int rs_reference_rows(rs_unit *unit, const rs_reference *reference,
                      rs_polynomial rows[RS_SUBSCRIPT_LIMIT], bool *divided)
{
    *divided = false;
    if (reference->count == 1) {
        int count = divide_flat(&unit->symbols, &reference->subscripts[0], rows);
        *divided = count > 0;
        if (count > 0)
            return count;
    }
    for (int i = 0; i < reference->count; i++)
        rows[i] = reference->subscripts[i];
    return reference->count;
}

/* A factor times the symbol of a loop in its last iteration, or what it at least comes to there;
 * unknown where the loop may end before its bound says. */
static rs_polynomial last_of(const rs_loop *loop, const rs_polynomial *factor)
{
    int power;
    int64_t step = 0, times;
    rs_polynomial own = rs_polynomial_coefficient(&loop->bound, loop->symbol, &power);
    if (loop->shortened || power != 1 || !rs_polynomial_is_constant(&own, &step) || step >= 0 ||
        !rs_polynomial_is_constant(factor, &times))
        return rs_polynomial_unknown();
    /* the bound leaves up to -step - 1 */
    rs_polynomial end = rs_polynomial_without(&loop->bound, loop->symbol);
    rs_polynomial rest = rs_polynomial_constant(1 + step);
    end = rs_polynomial_add(&end, &rest);
    end = rs_polynomial_scale(&end, times);
    return rs_polynomial_divide(&end, -step);
}

/* What a row is where the loops around have their first, or their last, values; from the innermost
 * one outwards, since its bound may have the others. */
static rs_polynomial row_at(const rs_unit *unit, int loop, const rs_polynomial *row, bool greatest)
{
    rs_polynomial p = *row;
    for (; loop >= 0; loop = unit->loops[loop].parent) {
        const rs_loop *l = &unit->loops[loop];
        int power;
        int64_t times = 0;
        rs_polynomial factor = rs_polynomial_coefficient(&p, l->symbol, &power);
        if (power == 0)
            continue;
        if (power > 1 || !rs_polynomial_is_constant(&factor, &times))
            return rs_polynomial_unknown();
        rs_polynomial first = rs_polynomial_multiply(&factor, &l->lower);
        rs_polynomial last = last_of(l, &factor);
        p = rs_polynomial_without(&p, l->symbol);
        p = rs_polynomial_add(&p, (times > 0) == greatest ? &last : &first);
    }
    return p;
}

/* Whether a row is seen not to be negative, or not to be less than zero, whatever a parameter is
 * from some number on; what other parameters there are says nothing. */
static bool is_seen(const rs_polynomial *p, const rs_monomial *parameter)
{
    int64_t constant = rs_polynomial_constant_term(p), times = 0;
    for (int t = 0; t < p->count; t++) {
        if (same_symbols(&p->terms[t], parameter))
            times = p->terms[t].coefficient;
        else if (p->terms[t].symbols[0] >= 0)
            return false;
    }
    return p->known && (times > 0 || (times == 0 && constant >= 0));
}

bool rs_reference_leaves_rows(const rs_unit *unit, const rs_reference *reference)
{
    rs_polynomial rows[RS_SUBSCRIPT_LIMIT];
    rs_monomial strides[RS_SUBSCRIPT_LIMIT], length;
    const rs_polynomial *flat = &reference->subscripts[0];
    int count = reference->count == 1 && !reference->guarded && reference->decided == 0
                    ? divide_flat(&unit->symbols, flat, rows)
                    : 0;
    find_strides(&unit->symbols, flat, strides);
    for (int row = 1; row < count; row++) {
        if (row + 1 < count && !take_out(&strides[row - 1], &strides[row], &length))
            continue;
        if (row + 1 == count)
            length = strides[row - 1];
        length.coefficient = 1;
        rs_polynomial extent = rs_polynomial_of_term(&length);
        rs_polynomial most = row_at(unit, reference->loop, &rows[row], true);
        rs_polynomial least = row_at(unit, reference->loop, &rows[row], false);
        rs_polynomial minus_one = rs_polynomial_constant(-1);
        most = rs_polynomial_subtract(&most, &extent);
        least = rs_polynomial_subtract(&minus_one, &least);
        if (is_seen(&most, &length) || is_seen(&least, &length))
            return true;
    }
    return false;
}
