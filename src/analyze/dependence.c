/*
 * Two references conflict in different iterations of a loop when a system of equations and
 * inequalities has an integer solution: equal subscripts, the bounds of all loops, the same
 * iteration of the loops outside and a later one of this loop. isl decides. What is not affine is
 * left out of the system, so that the answer errs towards a dependence.
 */
#include "analyze/dependence.h"

#include "analyze/access.h"

#include <isl/ctx.h>
#include <isl/options.h>
#include <isl/set.h>
#include <stdlib.h>
#include <string.h>

enum { PAIR_LIMIT = 4000, OPERATION_LIMIT = 200000, NEST_LIMIT = 16 };

typedef struct {
    rs_unit *unit;
    isl_ctx *context;
    int loop;  /* the one whose iterations are compared */
    int outer; /* from here inwards the other loops' iterations differ as well */
    int pairs;
    rs_text constraints, parameters;
} system_of;

/* The columns of a loop and those inside. */
static uint64_t inner_columns(const rs_unit *unit, int loop)
{
    uint64_t inside = 0;
    for (int i = 0; i < unit->loop_count; i++)
        if (rs_unit_is_within(unit, i, loop))
            inside |= rs_loop_varies(unit, i);
    return inside;
}

/* The same in both iterations: parameters, threads, loops outside, and what depends on those. */
static bool is_shared(const rs_unit *unit, int symbol, int loop)
{
    return (rs_symbol_depends(&unit->symbols, symbol) & inner_columns(unit, loop)) == 0;
}

/* Adds the name of a product of symbols, the same in both iterations. */
static void add_parameter(system_of *s, rs_text *text, const rs_monomial *term)
{
    rs_text name = RS_TEXT_EMPTY;
    rs_text_add_string(&name, "p");
    for (int i = 0; i < RS_DEGREE_LIMIT && term->symbols[i] >= 0; i++)
        rs_text_format(&name, "_%d", term->symbols[i]);
    rs_text_add_string(&name, "x");
    if (!name.failed &&
        (s->parameters.data == NULL || strstr(s->parameters.data, name.data) == NULL))
        rs_text_format(&s->parameters, "%s%s", s->parameters.size > 0 ? ", " : "", name.data);
    rs_text_add_string(text, name.data != NULL ? name.data : "0");
    rs_text_free(&name);
}

/* Writes a polynomial for one side; false when it is not affine there. */
static bool write_side(system_of *s, rs_text *text, const rs_polynomial *p, char side)
{
    if (!p->known)
        return false;
    rs_text_add_string(text, "0");
    for (int t = 0; t < p->count; t++) {
        const rs_monomial *term = &p->terms[t];
        int moving = -1, symbols = 0;
        for (int i = 0; i < RS_DEGREE_LIMIT && term->symbols[i] >= 0; i++) {
            symbols++;
            if (!is_shared(s->unit, term->symbols[i], s->outer))
                moving = term->symbols[i];
        }
        if (moving >= 0 && (symbols > 1 || !rs_symbol_iterates(&s->unit->symbols, moving)))
            return false;
        rs_text_format(text, " + %lld", (long long)term->coefficient);
        if (moving >= 0)
            rs_text_format(text, " * %c%d", side, moving);
        else if (symbols > 0) {
            rs_text_add_string(text, " * ");
            add_parameter(s, text, term);
        }
    }
    return true;
}

static void add_constraint(system_of *s, rs_text *text, bool usable)
{
    if (usable && !text->failed)
        rs_text_format(&s->constraints, " and %s", text->data);
    rs_text_free(text);
}

/*
 * The bounds of the loops around a reference. False when one is left out of a loop inside that the
 * element depends on: numbers that were loaded, say, so that each iteration may have its own part;
 * or when such a loop may end before its bound.
 */
static bool add_bounds(system_of *s, const rs_reference *r, char side)
{
    const rs_symbols *symbols = &s->unit->symbols;
    uint64_t decides = 0;
    bool exact = true;
    for (int i = 0; i < r->count; i++)
        decides |= rs_polynomial_depends(&r->subscripts[i], symbols);
    for (int at = r->loop; at >= 0; at = s->unit->loops[at].parent) {
        const rs_loop *l = &s->unit->loops[at];
        bool matters = at != s->loop && rs_unit_is_within(s->unit, at, s->outer) &&
                       (decides & rs_symbol_depends(symbols, l->symbol)) != 0;
        rs_polynomial symbol = rs_polynomial_symbol(l->symbol);
        rs_polynomial room = rs_polynomial_subtract(&symbol, &l->lower);
        rs_text text = RS_TEXT_EMPTY;
        bool usable = write_side(s, &text, &room, side), both = usable;
        rs_text_add_string(&text, " >= 0");
        add_constraint(s, &text, usable);
        usable = write_side(s, &text, &l->bound, side);
        rs_text_add_string(&text, " >= 0");
        add_constraint(s, &text, usable);
        exact = exact && (!matters || (both && usable && !l->shortened));
        if (matters)
            decides |= rs_polynomial_depends(&l->lower, symbols) |
                       rs_polynomial_depends(&l->bound, symbols);
    }
    return exact;
}

/* ---- which bytes of one memory are touched ---- */

/* A reference to several elements: a vector of them, or a larger type. */
static bool is_wide(const rs_reference *r)
{
    return r->count > 0 && r->member == NULL && r->strides[r->count - 1] > 0 &&
           r->width > r->strides[r->count - 1];
}

/* "p + extra" on one side of a comparison. */
static bool write_sum(system_of *s, rs_text *text, const rs_polynomial *p, int64_t extra, char side)
{
    bool usable = write_side(s, text, p, side);
    rs_text_format(text, " + %lld", (long long)extra);
    return usable;
}

/* The bytes from `a` and those from `b` on have one in common; false when they are not affine. */
static bool add_overlap(system_of *s, const rs_polynomial *a, int64_t width_a,
                        const rs_polynomial *b, int64_t width_b)
{
    rs_text first = RS_TEXT_EMPTY, second = RS_TEXT_EMPTY;
    bool usable = width_a > 0 && width_b > 0;
    usable = write_sum(s, &first, a, width_a - 1, 's') && usable;
    rs_text_add_string(&first, " >= ");
    usable = write_side(s, &first, b, 't') && usable;
    usable = write_sum(s, &second, b, width_b - 1, 't') && usable;
    rs_text_add_string(&second, " >= ");
    usable = write_side(s, &second, a, 's') && usable;
    add_constraint(s, &first, usable);
    add_constraint(s, &second, usable);
    return usable;
}

/* The terms of a subscript that no iteration changes which is compared, parameters aside. */
static rs_polynomial unmoved_part(const system_of *s, const rs_polynomial *p)
{
    rs_polynomial part = rs_polynomial_constant(0);
    for (int t = 0; t < p->count; t++) {
        bool shared = true;
        uint64_t depends = 0;
        for (int i = 0; i < RS_DEGREE_LIMIT && p->terms[t].symbols[i] >= 0; i++) {
            shared = shared && is_shared(s->unit, p->terms[t].symbols[i], s->outer);
            depends |= rs_symbol_depends(&s->unit->symbols, p->terms[t].symbols[i]);
        }
        if (shared && depends != 0)
            part.terms[part.count++] = p->terms[t];
    }
    return part;
}

/*
 * Two flat subscripts without what both have and no iteration changes: a loaded number times a
 * parameter, or a thread's own place, may hide the rows in the rest. False where it has none.
 */
static bool divide_rest(const system_of *s, const rs_reference *a, const rs_reference *b,
                        rs_polynomial rows_a[RS_SUBSCRIPT_LIMIT],
                        rs_polynomial rows_b[RS_SUBSCRIPT_LIMIT])
{
    rs_reference x = *a, y = *b;
    rs_polynomial part = unmoved_part(s, &a->subscripts[0]);
    rs_polynomial other = unmoved_part(s, &b->subscripts[0]);
    bool divided_x, divided_y;
    if (!a->subscripts[0].known || !b->subscripts[0].known || part.count == 0 ||
        !rs_polynomial_equal(&part, &other))
        return false;
    x.subscripts[0] = rs_polynomial_subtract(&x.subscripts[0], &part);
    y.subscripts[0] = rs_polynomial_subtract(&y.subscripts[0], &part);
    rs_polynomial of_x[RS_SUBSCRIPT_LIMIT], of_y[RS_SUBSCRIPT_LIMIT];
    int count = rs_reference_rows(s->unit, &x, of_x, &divided_x);
    if (count != 2 || rs_reference_rows(s->unit, &y, of_y, &divided_y) != 2 || !divided_x ||
        !divided_y || !rs_references_divide_alike(s->unit, &x, &y) ||
        rs_reference_leaves_rows(s->unit, &x) || rs_reference_leaves_rows(s->unit, &y))
        return false;
    memcpy(rows_a, of_x, 2 * sizeof *of_x);
    memcpy(rows_b, of_y, 2 * sizeof *of_y);
    return true;
}

/* Equal subscripts, the last ones by what is touched from there on. */
static bool add_equations(system_of *s, const rs_reference *a, const rs_reference *b)
{
    rs_polynomial rows_a[RS_SUBSCRIPT_LIMIT], rows_b[RS_SUBSCRIPT_LIMIT];
    bool divided_a, divided_b, exact = !a->approximated && !b->approximated;
    int count_a = rs_reference_rows(s->unit, a, rows_a, &divided_a);
    int count_b = rs_reference_rows(s->unit, b, rows_b, &divided_b);
    bool stays = !rs_reference_leaves_rows(s->unit, a) && !rs_reference_leaves_rows(s->unit, b);
    bool alike =
        count_a == count_b && (!divided_a || (stays && rs_references_divide_alike(s->unit, a, b)));
    if (a->count == 1 && b->count == 1 && !(alike && divided_a) &&
        divide_rest(s, a, b, rows_a, rows_b)) {
        count_a = 2;
    } else if (!alike) { /* compare them as they are */
        count_a = a->count < b->count ? a->count : b->count;
        memcpy(rows_a, a->subscripts, sizeof rows_a);
        memcpy(rows_b, b->subscripts, sizeof rows_b);
    }
    for (int row = 0; row < count_a && exact; row++) {
        if (row == count_a - 1 && (is_wide(a) || is_wide(b))) {
            int64_t stride = a->strides[a->count - 1];
            rs_polynomial from_a = rs_polynomial_scale(&rows_a[row], stride);
            rs_polynomial from_b = rs_polynomial_scale(&rows_b[row], stride);
            return add_overlap(s, &from_a, a->width, &from_b, b->width);
        }
        rs_text text = RS_TEXT_EMPTY;
        bool usable = write_side(s, &text, &rows_a[row], 's');
        rs_text_add_string(&text, " = ");
        usable = usable && write_side(s, &text, &rows_b[row], 't');
        exact = exact && usable;
        add_constraint(s, &text, usable);
    }
    return exact;
}

/* The place of a reference in bytes, from where its last pointer points to. */
static rs_polynomial bytes_of(const rs_reference *r)
{
    rs_polynomial bytes = rs_polynomial_constant(r->member_offset);
    for (int i = r->path; i < r->count; i++) {
        if (r->strides[i] == 0 && !rs_polynomial_is_zero(&r->subscripts[i]))
            return rs_polynomial_unknown();
        rs_polynomial part = rs_polynomial_scale(&r->subscripts[i], r->strides[i]);
        bytes = rs_polynomial_add(&bytes, &part);
    }
    return bytes;
}

static bool add_bytes(system_of *s, const rs_reference *a, const rs_reference *b)
{
    if (a->approximated || b->approximated)
        return false; /* what an offset is that was not found may be no whole number of elements */
    rs_polynomial from_a = bytes_of(a), from_b = bytes_of(b);
    bool usable = add_overlap(s, &from_a, a->width, &from_b, b->width);
    return usable && !a->loose && !b->loose && !rs_reference_has_gaps(a) &&
           !rs_reference_has_gaps(b);
}

/* Whether the first subscripts are the same number in all iterations that are compared. */
static bool same_beginning(const system_of *s, const rs_reference *a, const rs_reference *b,
                           int count)
{
    if (count > a->count || count > b->count)
        return false;
    for (int i = 0; i < count; i++) {
        if (!rs_polynomial_equal(&a->subscripts[i], &b->subscripts[i]) || !a->subscripts[i].known)
            return false;
        for (int t = 0; t < a->subscripts[i].count; t++)
            for (int d = 0; d < RS_DEGREE_LIMIT && a->subscripts[i].terms[t].symbols[d] >= 0; d++)
                if (!is_shared(s->unit, a->subscripts[i].terms[t].symbols[d], s->outer))
                    return false;
    }
    return true;
}

/* The least and the greatest number of a polynomial; false when its loops' bounds are not numbers.
 */
static bool find_range(const rs_unit *unit, const rs_polynomial *p, int64_t *least, int64_t *most)
{
    *least = *most = 0;
    for (int t = 0; t < p->count; t++) {
        const rs_monomial *term = &p->terms[t];
        int64_t first = 1, last = 1;
        if (term->symbols[0] >= 0) {
            int at = 0;
            while (at < unit->loop_count && unit->loops[at].symbol != term->symbols[0])
                at++;
            if (at == unit->loop_count || term->symbols[1] >= 0)
                return false;
            rs_polynomial symbol = rs_polynomial_symbol(term->symbols[0]);
            rs_polynomial end = rs_polynomial_add(&unit->loops[at].bound, &symbol);
            if (!rs_polynomial_is_constant(&unit->loops[at].lower, &first) ||
                !rs_polynomial_is_constant(&end, &last))
                return false;
        }
        int64_t a = term->coefficient * first, b = term->coefficient * last;
        *least += a < b ? a : b;
        *most += a < b ? b : a;
    }
    return p->known;
}

/* Whether a subscript is seen to reach beyond its row, as in x[0][10 * i] of x[10][10]. */
static bool leaves_row(const rs_unit *unit, const rs_reference *r)
{
    for (int row = r->path + 1; row < r->count; row++) {
        int64_t least, most;
        if (r->strides[row] > 0 && r->strides[row - 1] > 0 &&
            find_range(unit, &r->subscripts[row], &least, &most) &&
            (least < 0 || most >= r->strides[row - 1] / r->strides[row]))
            return true;
    }
    return false;
}

typedef enum { COMPARE_ROWS, COMPARE_BYTES, COMPARE_NOTHING } comparison;

/*
 * References of one memory are compared row by row where both have the same rows and stay in them,
 * otherwise by the bytes that they touch. Which memory a loaded pointer leads to is known only to
 * be the same for the same pointer.
 */
static comparison compare_by(const system_of *s, const rs_reference *a, const rs_reference *b)
{
    int path = a->path > b->path ? a->path : b->path;
    bool same = a->array == b->array && a->path == b->path && a->count == b->count &&
                memcmp(a->strides, b->strides, sizeof a->strides) == 0;
    if (path > 0 && (a->array != b->array || a->path != b->path || a->approximated ||
                     b->approximated || !same_beginning(s, a, b, path)))
        return COMPARE_NOTHING;
    bool loose = a->loose || b->loose || leaves_row(s->unit, a) || leaves_row(s->unit, b);
    if (same && (!loose || same_beginning(s, a, b, a->count - 1)))
        return COMPARE_ROWS;
    return COMPARE_BYTES;
}

/* The symbols of all loops inside the one in question. */
static int inner_symbols(const rs_unit *unit, int loop, int symbols[NEST_LIMIT * 4])
{
    int count = 0;
    for (int i = 0; i < unit->loop_count && count < NEST_LIMIT * 4; i++)
        if (rs_unit_is_within(unit, i, loop))
            symbols[count++] = unit->loops[i].symbol;
    return count;
}

/* Whether conditions may choose in which of the iterations that are compared they are reached. */
static bool is_decided(const system_of *s, const rs_reference *a, const rs_reference *b)
{
    return ((a->decided | b->decided) & inner_columns(s->unit, s->outer)) != 0;
}

/*
 * Whether `a` in one iteration and `b` in a later one touch the same element; certainly unless
 * something is left out, or conditions may choose other iterations than those.
 */
static bool conflict(system_of *s, const rs_reference *a, const rs_reference *b, comparison by,
                     bool *certain)
{
    int symbols[NEST_LIMIT * 4];
    int count = inner_symbols(s->unit, s->outer, symbols);
    int own = s->unit->loops[s->loop].symbol;
    s->constraints = RS_TEXT_EMPTY;
    s->parameters = RS_TEXT_EMPTY;
    rs_text_format(&s->constraints, "s%d < t%d", own, own);
    bool bounded = add_bounds(s, a, 's');
    bounded = add_bounds(s, b, 't') && bounded;
    *certain = (by == COMPARE_ROWS ? add_equations(s, a, b) : add_bytes(s, a, b)) && bounded &&
               !is_decided(s, a, b);
    rs_text text = RS_TEXT_EMPTY;
    rs_text_format(&text, "[%s] -> { [", s->parameters.data != NULL ? s->parameters.data : "");
    for (int i = 0; i < count; i++)
        rs_text_format(&text, "%ss%d, t%d", i > 0 ? ", " : "", symbols[i], symbols[i]);
    rs_text_format(&text, "] : %s }", s->constraints.data);
    isl_bool empty = isl_bool_error;
    if (!text.failed && !s->constraints.failed && !s->parameters.failed) {
        isl_ctx_reset_operations(s->context);
        isl_set *set = isl_set_read_from_str(s->context, text.data);
        empty = isl_set_is_empty(set);
        isl_set_free(set);
    }
    if (empty == isl_bool_error)
        *certain = false;
    rs_text_free(&text);
    rs_text_free(&s->constraints);
    rs_text_free(&s->parameters);
    return empty != isl_bool_true;
}

/* The parts of one size that a reference's bytes have: components, or all of them as one. */
static int count_pieces(const rs_reference *r)
{
    int count = 1;
    while (r->components >> count != 0)
        count++;
    return count;
}

static bool has_piece(const rs_reference *r, int i)
{
    return i == 0 || (r->components >> i & 1U) != 0;
}

/* Whether it has one of `size` bytes of an element. */
static bool touches(const rs_reference *r, int64_t offset, int64_t size)
{
    const int pieces = count_pieces(r);
    const int64_t piece = r->width / pieces;
    for (int i = 0; i < pieces; i++) {
        const int64_t begin = r->member_offset + i * piece;
        if (has_piece(r, i) && begin < offset + size && offset < begin + piece)
            return true;
    }
    return false;
}

static bool overlap(const rs_reference *a, const rs_reference *b)
{
    if (a->member == NULL || b->member == NULL || a->width == 0 || b->width == 0)
        return true;
    int pieces = count_pieces(a);
    for (int i = 0; i < pieces; i++)
        if (has_piece(a, i) &&
            touches(b, a->member_offset + i * (a->width / pieces), a->width / pieces))
            return true;
    return false;
}

/* "x[e] op= ..." gathers into the same element: an order that may be changed. */
static bool is_reduction(const rs_unit *unit, const rs_reference *a, const rs_reference *b)
{
    int at_a = (int)(a - unit->references), at_b = (int)(b - unit->references);
    if (!a->understood || !b->understood)
        return false;
    if (a->partner > 0)
        return a->partner == at_b + 1 || at_a == at_b;
    return a == b && a->reduces;
}

static bool set_dependence(rs_dependence *found, rs_carried kind, const char *what, int first,
                           int last, bool certain)
{
    if (found->kind >= kind && (found->kind > kind || found->certain || !certain))
        return true;
    free(found->what);
    *found = (rs_dependence){kind, strdup(what), first, last, certain};
    return found->what != NULL;
}

static bool examine_pair(system_of *s, const rs_reference *a, const rs_reference *b,
                         rs_dependence *found)
{
    const rs_array *array = &s->unit->arrays[a->array];
    const rs_array *other = &s->unit->arrays[b->array];
    bool anywhere = a->anywhere || b->anywhere;
    bool one_memory = array->memory == other->memory && a->pointers == b->pointers;
    if (!(a->written || b->written) || !(one_memory || anywhere))
        return true;
    if (!rs_unit_is_within(s->unit, a->loop, s->loop) ||
        !rs_unit_is_within(s->unit, b->loop, s->loop))
        return true;
    if (!anywhere && array->scope >= 0 && rs_unit_is_within(s->unit, array->scope, s->loop))
        return true; /* every iteration has its own */
    if (a->atomic && b->atomic)
        return true;
    if (found->kind == RS_CARRIED_VALUE && is_decided(s, a, b))
        return true; /* it could only be there perhaps, and one such is found */
    comparison by = anywhere || a->around || b->around ? COMPARE_NOTHING : compare_by(s, a, b);
    if (by == COMPARE_ROWS && !overlap(a, b))
        return true;
    if (by == COMPARE_NOTHING || ++s->pairs > PAIR_LIMIT)
        return set_dependence(found, RS_CARRIED_VALUE, array->name, a->line, b->line, false);
    bool certain;
    if (!conflict(s, a, b, by, &certain))
        return true;
    rs_carried kind = is_reduction(s->unit, a, b) ? RS_CARRIED_REDUCTION : RS_CARRIED_VALUE;
    return set_dependence(found, kind, array->name, a->line, b->line, certain);
}

static bool examine_loop(system_of *s, rs_dependence *found)
{
    const rs_loop *loop = &s->unit->loops[s->loop];
    if (loop->carried != NULL &&
        !set_dependence(found, RS_CARRIED_VALUE, loop->carried, 0, 0, !loop->guessed))
        return false;
    if (loop->carried != NULL && !loop->guessed)
        return true;
    if (loop->reduced != NULL &&
        !set_dependence(found, RS_CARRIED_REDUCTION, loop->reduced, 0, 0, true))
        return false;
    for (int i = 0; i < s->unit->reference_count; i++)
        for (int j = 0; j < s->unit->reference_count; j++) {
            if (found->kind == RS_CARRIED_VALUE && found->certain)
                return true;
            if (!examine_pair(s, &s->unit->references[i], &s->unit->references[j], found))
                return false;
        }
    const rs_loop *nest = &s->unit->loops[s->outer];
    return nest->unsupported == NULL ||
           set_dependence(found, RS_CARRIED_VALUE, nest->unsupported, nest->unsupported_line,
                          nest->unsupported_line, false);
}

/* With limits on what isl may take, so that no source can hold it up. */
static bool open_system(system_of *s, rs_unit *unit)
{
    *s = (system_of){unit, isl_ctx_alloc(), 0, 0, 0, RS_TEXT_EMPTY, RS_TEXT_EMPTY};
    if (s->context == NULL)
        return false;
    isl_options_set_on_error(s->context, ISL_ON_ERROR_CONTINUE);
    isl_ctx_set_max_operations(s->context, OPERATION_LIMIT);
    return true;
}

restride_status rs_dependences_find(rs_unit *unit, rs_dependence **dependences)
{
    system_of s;
    *dependences = calloc((size_t)unit->loop_count + 1, sizeof **dependences);
    bool ok = open_system(&s, unit) && *dependences != NULL;
    for (; ok && s.loop < unit->loop_count; s.loop++) {
        s.outer = s.loop;
        ok = examine_loop(&s, &(*dependences)[s.loop]);
    }
    isl_ctx_free(s.context);
    return ok ? RESTRIDE_OK : rs_fail_memory("the dependences");
}

restride_status rs_dependence_between(rs_unit *unit, int loop, int outer, rs_dependence *found)
{
    system_of s;
    *found = (rs_dependence){RS_CARRIED_NOTHING, NULL, 0, 0, false};
    bool ok = open_system(&s, unit);
    s.loop = loop;
    s.outer = outer;
    ok = ok && examine_loop(&s, found);
    isl_ctx_free(s.context);
    return ok ? RESTRIDE_OK : rs_fail_memory("the dependences");
}

void rs_dependences_free(rs_dependence *dependences, int count)
{
    for (int i = 0; dependences != NULL && i < count; i++)
        free(dependences[i].what);
    free(dependences);
}
