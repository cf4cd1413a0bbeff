/* Ranges of polynomials over the loops of a nest. */
#include "apply/range.h"

#include <string.h>

/* 1 or -1 where a coefficient is known to be at least, or at most, 0. */
static int sign_of(const rs_polynomial *coefficient, bool parameters_are_positive)
{
    int64_t constant;
    int sign = 0;
    if (rs_polynomial_is_constant(coefficient, &constant))
        return constant < 0 ? -1 : 1;
    for (int t = 0; t < coefficient->count && parameters_are_positive; t++) {
        int here = coefficient->terms[t].coefficient < 0 ? -1 : 1;
        if (sign != 0 && here != sign)
            return 0;
        sign = here;
    }
    return sign;
}

/* The least and the most value of coefficient * (the symbol of a loop), in terms of outer loops. */
static bool loop_range(const rs_nest *nest, const rs_nest_loop *loop,
                       const rs_polynomial *coefficient, int sign, rs_polynomial *least,
                       rs_polynomial *most)
{
    const rs_loop *l = &nest->unit->loops[loop->loop];
    int power;
    int64_t step = 0;
    rs_polynomial own = rs_polynomial_coefficient(&l->bound, l->symbol, &power);
    if (sign == 0 || !loop->countable || power != 1 || !rs_polynomial_is_constant(&own, &step) ||
        step >= 0)
        return false;
    /* The bound shrinks by -step in every iteration. */
    rs_polynomial end = rs_polynomial_without(&l->bound, l->symbol);
    rs_polynomial steps = rs_polynomial_divide(coefficient, -step);
    rs_polynomial far = rs_polynomial_multiply(&end, &steps);
    rs_polynomial near = rs_polynomial_multiply(&loop->first, coefficient);
    *least = sign > 0 ? near : far;
    *most = sign > 0 ? far : near;
    return steps.known;
}

static bool add_range(rs_polynomial *p, const rs_nest *nest, const rs_nest_loop *loop, bool least,
                      bool positive)
{
    int power;
    int symbol = nest->unit->loops[loop->loop].symbol;
    rs_polynomial factor = rs_polynomial_coefficient(p, symbol, &power), low, high;
    if (power == 0)
        return true;
    if (power > 1 || rs_polynomial_depends(&factor, &nest->unit->symbols) != 0 ||
        !loop_range(nest, loop, &factor, sign_of(&factor, positive), &low, &high))
        return false;
    rs_polynomial rest = rs_polynomial_without(p, symbol);
    *p = rs_polynomial_add(&rest, least ? &low : &high);
    return p->known;
}

/* From the innermost loop outwards: an inner bound may contain an outer index. */
static bool find_range(const rs_nest *nest, const rs_polynomial *p, int loop, bool positive,
                       rs_polynomial *least, rs_polynomial *most)
{
    *least = *most = *p;
    for (int i = nest->count - 1; i >= 0; i--)
        if (rs_unit_is_within(nest->unit, loop, nest->loops[i].loop) &&
            (!add_range(least, nest, &nest->loops[i], true, positive) ||
             !add_range(most, nest, &nest->loops[i], false, positive)))
            return false;
    return least->known && most->known && rs_polynomial_depends(least, &nest->unit->symbols) == 0 &&
           rs_polynomial_depends(most, &nest->unit->symbols) == 0;
}

bool rs_range_of(const rs_nest *nest, const rs_polynomial *p, int loop, rs_polynomial *least,
                 rs_polynomial *most)
{
    return find_range(nest, p, loop, false, least, most);
}

bool rs_range_supposed(const rs_nest *nest, const rs_polynomial *p, int loop, rs_polynomial *least,
                       rs_polynomial *most)
{
    return find_range(nest, p, loop, true, least, most);
}

rs_quantity rs_range_count(const rs_nest *nest, const rs_nest_loop *loop)
{
    const rs_loop *l = &nest->unit->loops[loop->loop];
    int power;
    int64_t step = -1;
    rs_polynomial own = rs_polynomial_coefficient(&l->bound, l->symbol, &power);
    rs_polynomial_is_constant(&own, &step);
    /* bound(first) / step + 1, with the bound at least -step where the loop does not run. */
    rs_polynomial moved = rs_polynomial_multiply(&own, &loop->first);
    rs_polynomial room = rs_polynomial_without(&l->bound, l->symbol);
    rs_polynomial extra = rs_polynomial_constant(-step);
    room = rs_polynomial_add(&room, &moved);
    return (rs_quantity){rs_polynomial_add(&room, &extra), -step};
}

bool rs_range_count_most(const rs_nest *nest, const rs_nest_loop *loop, rs_quantity *count)
{
    rs_quantity own = rs_range_count(nest, loop);
    rs_polynomial least;
    count->divisor = own.divisor;
    return rs_range_of(nest, &own.above, nest->unit->loops[loop->loop].parent, &least,
                       &count->above);
}

/* ---- text ---- */

static const rs_nest_loop *loop_of_symbol(const rs_nest *nest, int symbol)
{
    for (int i = 0; i < nest->count; i++)
        if (nest->unit->loops[nest->loops[i].loop].symbol == symbol)
            return &nest->loops[i];
    return NULL;
}

static bool write_symbol(const rs_nest *nest, rs_text *text, int symbol)
{
    const rs_nest_loop *loop = loop_of_symbol(nest, symbol);
    if (loop == NULL) {
        const char *name = nest->unit->symbols.symbols[symbol].name;
        rs_text_format(text, "%s", name);
        const rs_syntax_declaration *function =
            nest->program->tree.nodes[nest->function].declaration;
        for (size_t i = 0; i < function->parameter_count; i++)
            if (strcmp(function->parameters[i]->name, name) == 0)
                return true;
        return false;
    }
    if (loop->variable == NULL)
        return false;
    int64_t step = nest->unit->loops[loop->loop].step;
    int length;
    const char *first = rs_nest_text(nest, loop->begin, &length);
    if (step == 1)
        rs_text_format(text, "%s", loop->variable);
    else
        rs_text_format(text, "((%s - (%.*s)) / %lld)", loop->variable, length, first,
                       (long long)step);
    return true;
}

bool rs_range_write(const rs_nest *nest, rs_text *text, const rs_polynomial *p)
{
    bool ok = p->known;
    rs_text_add_string(text, p->count == 0 ? "0L" : "");
    for (int t = 0; t < p->count && ok; t++) {
        rs_text_format(text, "%s%lldL", t > 0 ? " + " : "", (long long)p->terms[t].coefficient);
        for (int s = 0; s < RS_DEGREE_LIMIT && p->terms[t].symbols[s] >= 0 && ok; s++) {
            rs_text_add_string(text, " * ");
            ok = write_symbol(nest, text, p->terms[t].symbols[s]);
        }
    }
    return ok;
}

bool rs_quantity_write(const rs_nest *nest, rs_text *text, const rs_quantity *q)
{
    rs_text_add_string(text, "(");
    bool ok = rs_range_write(nest, text, &q->above);
    if (q->divisor != 1)
        rs_text_format(text, ") / %lldL", (long long)q->divisor);
    else
        rs_text_add_string(text, ")");
    return ok;
}
