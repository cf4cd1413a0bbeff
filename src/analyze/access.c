/* From subscripts to matrices and classes. */
#include "analyze/access.h"

#include <stdlib.h>
#include <string.h>

/* ---- columns ---- */

static int find_column(const rs_access *access, int symbol)
{
    for (int i = 0; i < access->columns; i++)
        if (access->symbols[i] == symbol)
            return i;
    return -1;
}

static int add_column(rs_access *access, int symbol, bool between, bool auxiliary)
{
    int found = find_column(access, symbol);
    if (found >= 0 || access->columns == RS_COLUMN_LIMIT)
        return found;
    int at = access->columns++;
    access->symbols[at] = symbol;
    access->between[at] = between;
    access->auxiliary[at] = auxiliary;
    for (int row = 0; row < RS_SUBSCRIPT_LIMIT; row++)
        access->matrix[row][at] = rs_polynomial_constant(0);
    return at;
}

/* Whether a subscript has a symbol, or a loop starts elsewhere for each of its values. */
static bool unit_uses(const rs_unit *unit, int symbol)
{
    uint64_t bit = rs_symbol_depends(&unit->symbols, symbol);
    for (int i = 0; i < unit->loop_count; i++)
        if ((rs_polynomial_depends(&unit->loops[i].lower, &unit->symbols) & bit) != 0)
            return true;
    for (int i = 0; i < unit->reference_count; i++)
        for (int s = 0; s < unit->references[i].count; s++) {
            int power;
            rs_polynomial_coefficient(&unit->references[i].subscripts[s], symbol, &power);
            if (power > 0)
                return true;
            if ((rs_polynomial_depends(&unit->references[i].subscripts[s], &unit->symbols) & bit) !=
                0)
                return true;
        }
    return false;
}

/* Groups before global indices before local ones, z before y before x. */
static void add_thread_columns(rs_access *access, const rs_unit *unit)
{
    static const rs_symbol_kind kinds[] = {RS_SYMBOL_GROUP, RS_SYMBOL_GLOBAL, RS_SYMBOL_LOCAL};
    for (int k = 0; k < 3; k++)
        for (int dimension = 2; dimension >= 0; dimension--)
            for (int i = 0; i < unit->symbols.column_count; i++) {
                int symbol = unit->symbols.columns[i];
                const rs_symbol *s = &unit->symbols.symbols[symbol];
                if (s->kind == kinds[k] && s->dimension == dimension && unit_uses(unit, symbol))
                    add_column(access, symbol, true, false);
            }
}

static void add_loop_columns(rs_access *access, const rs_unit *unit, const bool *threads, int loop)
{
    if (loop < 0)
        return;
    add_loop_columns(access, unit, threads, unit->loops[loop].parent);
    add_column(access, unit->loops[loop].symbol, threads[loop], false);
}

/* ---- the matrix ---- */

/* The symbol for a product of several indices. */
static int product_symbol(rs_unit *unit, const rs_monomial *term)
{
    rs_text name = RS_TEXT_EMPTY;
    uint64_t depends = 0;
    bool data = false;
    for (int s = 0; s < RS_DEGREE_LIMIT && term->symbols[s] >= 0; s++) {
        uint64_t here = rs_symbol_depends(&unit->symbols, term->symbols[s]);
        if (here == 0)
            continue;
        rs_text_format(&name, "%s%s", name.size > 0 ? "*" : "",
                       unit->symbols.symbols[term->symbols[s]].name);
        depends |= here;
        data = data || unit->symbols.symbols[term->symbols[s]].data;
    }
    int symbol = name.failed || name.size == 0
                     ? -1
                     : rs_symbols_find(&unit->symbols, name.data, RS_SYMBOL_AUXILIARY, -1);
    rs_text_free(&name);
    if (symbol >= 0) {
        unit->symbols.symbols[symbol].depends = depends;
        unit->symbols.symbols[symbol].data = data;
    }
    return symbol;
}

/* Adds one term of a subscript to the row it belongs to. */
static void place_term(rs_access *access, rs_unit *unit, int row, const rs_monomial *term)
{
    int indices = 0, index = -1;
    rs_monomial factor = {term->coefficient, {-1, -1, -1}};
    int parameters = 0;
    for (int s = 0; s < RS_DEGREE_LIMIT && term->symbols[s] >= 0; s++) {
        if (rs_symbol_depends(&unit->symbols, term->symbols[s]) != 0) {
            indices++;
            index = term->symbols[s];
        } else {
            factor.symbols[parameters++] = term->symbols[s];
        }
    }
    if (indices > 1)
        index = product_symbol(unit, term);
    rs_polynomial part = rs_polynomial_of_term(&factor);
    if (indices == 0) {
        access->offset[row] = rs_polynomial_add(&access->offset[row], &part);
        return;
    }
    bool auxiliary = index < 0 || !rs_symbol_iterates(&unit->symbols, index);
    int column = index < 0 ? -1 : add_column(access, index, false, auxiliary);
    if (column < 0) {
        access->classes |= RS_CLASS_UNKNOWN;
        return;
    }
    access->approximated = access->approximated || auxiliary;
    access->matrix[row][column] = rs_polynomial_add(&access->matrix[row][column], &part);
}

static void fill_matrix(rs_access *access, rs_unit *unit)
{
    rs_polynomial rows[RS_SUBSCRIPT_LIMIT];
    access->rows = rs_reference_rows(unit, access->reference, rows, &access->divided);
    for (int row = 0; row < access->rows; row++) {
        access->offset[row] = rs_polynomial_constant(0);
        if (!rows[row].known)
            access->classes |= RS_CLASS_UNKNOWN;
        for (int t = 0; t < rows[row].count; t++)
            place_term(access, unit, row, &rows[row].terms[t]);
    }
    /* A column of an auxiliary symbol is between threads when it varies with one of those. */
    uint64_t between = 0;
    for (int i = 0; i < access->columns; i++)
        if (access->between[i])
            between |= rs_symbol_depends(&unit->symbols, access->symbols[i]);
    for (int i = 0; i < access->columns; i++)
        if (access->auxiliary[i])
            access->between[i] =
                (rs_symbol_depends(&unit->symbols, access->symbols[i]) & between) != 0;
}

/* ---- classes ---- */

/* The column that moves fastest: the innermost loop with an entry; of threads alone, the last. */
static int fastest_column(const rs_access *access)
{
    for (int i = access->columns - 1; i >= 0; i--)
        for (int row = 0; row < access->rows && !access->auxiliary[i]; row++)
            if (!rs_polynomial_is_zero(&access->matrix[row][i]))
                return i;
    return -1;
}

static unsigned class_of_entry(const rs_polynomial *entry)
{
    int64_t constant;
    if (!rs_polynomial_is_constant(entry, &constant))
        return RS_CLASS_STRIDE;
    return constant == 1 ? RS_CLASS_LINEAR : constant == -1 ? RS_CLASS_REVERSE : RS_CLASS_STRIDE;
}

static bool has_data(const rs_unit *unit, const rs_access *access)
{
    for (int i = 0; i < access->columns; i++)
        if (unit->symbols.symbols[access->symbols[i]].data)
            return true;
    for (int row = 0; row < access->rows; row++)
        if (rs_polynomial_has_data(&access->offset[row], &unit->symbols))
            return true;
    return false;
}

static void classify(rs_access *access, const rs_unit *unit)
{
    unsigned classes = access->classes;
    bool moves = false;
    for (int row = 0; row < access->rows; row++) {
        int entries = 0;
        for (int i = 0; i < access->columns; i++) {
            if (rs_polynomial_is_zero(&access->matrix[row][i]))
                continue;
            entries++;
            classes |= class_of_entry(&access->matrix[row][i]);
        }
        moves = moves || entries > 0;
        if (entries > 1)
            classes |= RS_CLASS_OVERLAPPED;
        if (!rs_polynomial_is_zero(&access->offset[row]))
            classes |= RS_CLASS_SHIFTED;
    }
    int fastest = fastest_column(access);
    if (fastest >= 0 && rs_polynomial_is_zero(&access->matrix[access->rows - 1][fastest]))
        classes |= RS_CLASS_STRIDE;
    if (!moves)
        classes = (classes & RS_CLASS_UNKNOWN) | RS_CLASS_SINGLE;
    if (has_data(unit, access))
        classes = (classes & RS_CLASS_UNKNOWN) | RS_CLASS_RANDOM;
    if (!access->reference->understood)
        classes = RS_CLASS_UNKNOWN;
    access->classes = classes;
}

bool rs_access_is_random(const rs_access *access)
{
    return (access->classes & (RS_CLASS_RANDOM | RS_CLASS_UNKNOWN)) != 0;
}

void rs_class_print(rs_text *text, unsigned classes)
{
    static const struct {
        unsigned bit;
        const char *name;
    } names[] = {{RS_CLASS_SINGLE, "single address"},  {RS_CLASS_LINEAR, "linear"},
                 {RS_CLASS_REVERSE, "reverse linear"}, {RS_CLASS_SHIFTED, "shifted"},
                 {RS_CLASS_OVERLAPPED, "overlapped"},  {RS_CLASS_STRIDE, "non-unit stride"},
                 {RS_CLASS_RANDOM, "random"},          {RS_CLASS_UNKNOWN, "unknown"}};
    bool first = true;
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if ((classes & names[i].bit) != 0) {
            rs_text_format(text, "%s%s", first ? "" : " + ", names[i].name);
            first = false;
        }
}

/* ---- from one thread to the next ---- */

/* Whether a column is an index inside a work-group or over all of them: both step together. */
static bool is_thread(const rs_symbol *symbol)
{
    return symbol->kind == RS_SYMBOL_LOCAL || symbol->kind == RS_SYMBOL_GLOBAL;
}

bool rs_symbols_step_together(const rs_symbols *symbols, int a, int b)
{
    const rs_symbol *x = &symbols->symbols[a], *y = &symbols->symbols[b];
    return a == b || (is_thread(x) && is_thread(y) && x->dimension == y->dimension);
}

int rs_access_neighbour_column(const rs_access *access, const rs_unit *unit)
{
    int best = -1, rank = -1;
    for (int i = 0; i < access->columns; i++) {
        const rs_symbol *s = &unit->symbols.symbols[access->symbols[i]];
        if (!access->between[i] || access->auxiliary[i] || s->kind == RS_SYMBOL_GROUP)
            continue;
        int here = s->kind == RS_SYMBOL_LOOP ? 10 + i : 3 - s->dimension;
        if (here > rank) {
            rank = here;
            best = i;
        }
    }
    return best;
}

/* A polynomial with `with` in the place of a symbol. */
static rs_polynomial replace(const rs_polynomial *a, int symbol, const rs_polynomial *with)
{
    int power;
    rs_polynomial factor = rs_polynomial_coefficient(a, symbol, &power);
    if (power == 0)
        return *a;
    factor = replace(&factor, symbol, with);
    factor = rs_polynomial_multiply(&factor, with);
    rs_polynomial rest = rs_polynomial_without(a, symbol);
    return rs_polynomial_add(&rest, &factor);
}

/* Whether a loop starts at one value in all iterations of the loops around it and in all threads.
 */
static bool starts_alike(const rs_unit *unit, const rs_loop *loop)
{
    return loop->lower.known && rs_polynomial_depends(&loop->lower, &unit->symbols) == 0;
}

/*
 * What neighbouring threads touch at one time: each is in the n-th iteration of a loop, whose index
 * is then the loop's start in that thread, plus n. The loops' symbols become those n.
 */
static rs_polynomial at_one_time(const rs_unit *unit, int loop, const rs_polynomial *subscript)
{
    rs_polynomial result = *subscript;
    for (; loop >= 0; loop = unit->loops[loop].parent) {
        const rs_loop *l = &unit->loops[loop];
        if (starts_alike(unit, l))
            continue;
        rs_polynomial symbol = rs_polynomial_symbol(l->symbol);
        rs_polynomial index = rs_polynomial_add(&l->lower, &symbol);
        result = replace(&result, l->symbol, &index);
    }
    return result;
}

/* What an auxiliary symbol varies with, and what the starts of the loops do that it varies with. */
static uint64_t auxiliary_varies(const rs_unit *unit, int loop, int symbol)
{
    uint64_t depends = rs_symbol_depends(&unit->symbols, symbol);
    for (; loop >= 0; loop = unit->loops[loop].parent) {
        const rs_loop *l = &unit->loops[loop];
        if ((depends & rs_symbol_depends(&unit->symbols, l->symbol)) != 0)
            depends |= rs_polynomial_depends(&l->lower, &unit->symbols);
    }
    return depends;
}

/* The columns that a subscript varies with, as at_one_time() gave it. */
static uint64_t varies_with(const rs_unit *unit, int loop, const rs_polynomial *moved)
{
    uint64_t varies = moved->known ? 0 : ~(uint64_t)0;
    for (int t = 0; t < moved->count; t++)
        for (int s = 0; s < RS_DEGREE_LIMIT && moved->terms[t].symbols[s] >= 0; s++) {
            int symbol = moved->terms[t].symbols[s];
            varies |= rs_symbol_iterates(&unit->symbols, symbol)
                          ? rs_symbol_depends(&unit->symbols, symbol)
                          : auxiliary_varies(unit, loop, symbol);
        }
    return varies;
}

/* Whether what a subscript has beside the indices varies with them. */
static bool has_auxiliary(const rs_unit *unit, const rs_polynomial *moved)
{
    for (int t = 0; t < moved->count; t++)
        for (int s = 0; s < RS_DEGREE_LIMIT && moved->terms[t].symbols[s] >= 0; s++)
            if (!rs_symbol_iterates(&unit->symbols, moved->terms[t].symbols[s]) &&
                rs_symbol_depends(&unit->symbols, moved->terms[t].symbols[s]) != 0)
                return true;
    return !moved->known;
}

rs_polynomial rs_access_row_stride(const rs_array *array, const rs_reference *reference, int row)
{
    if (reference->strides[row] > 0 && row >= reference->path)
        return rs_polynomial_constant(reference->strides[row]);
    rs_polynomial stride =
        array->element > 0 ? rs_polynomial_constant(array->element) : rs_polynomial_unknown();
    for (int i = row + 1; i < reference->count; i++)
        stride = array->extents[i] > 0 ? rs_polynomial_scale(&stride, array->extents[i])
                                       : rs_polynomial_unknown();
    return stride;
}

/* How far one subscript moves from one thread to the next, whose columns are `bits`. */
static rs_polynomial thread_step(const rs_access *access, const rs_unit *unit, int subscript,
                                 int neighbour, uint64_t bits)
{
    const rs_reference *r = access->reference;
    rs_polynomial rest = at_one_time(unit, r->loop, &r->subscripts[subscript]);
    rs_polynomial step = rs_polynomial_constant(0);
    for (int i = 0; i < access->columns; i++) {
        int symbol = access->symbols[i], power;
        if (!rs_symbols_step_together(&unit->symbols, symbol, neighbour))
            continue;
        rs_polynomial entry = rs_polynomial_coefficient(&rest, symbol, &power);
        step = rs_polynomial_add(&step, &entry);
        rest = rs_polynomial_without(&rest, symbol);
    }
    bool affine = rest.known && step.known && (varies_with(unit, r->loop, &rest) & bits) == 0 &&
                  (rs_polynomial_depends(&step, &unit->symbols) & bits) == 0;
    return affine ? step : rs_polynomial_unknown();
}

/* Bytes from a thread to its neighbour along a column. */
static rs_polynomial stride_along(const rs_access *access, const rs_unit *unit, int column)
{
    rs_polynomial total = rs_polynomial_constant(0);
    if (rs_access_is_random(access) || column < 0)
        return rs_access_is_random(access) ? rs_polynomial_unknown() : total;
    const rs_reference *reference = access->reference;
    int neighbour = access->symbols[column];
    uint64_t bits = 0;
    for (int i = 0; i < access->columns; i++)
        if (rs_symbols_step_together(&unit->symbols, access->symbols[i], neighbour))
            bits |= rs_symbol_depends(&unit->symbols, access->symbols[i]);
    for (int i = 0; i < reference->count && total.known; i++) {
        rs_polynomial step = thread_step(access, unit, i, neighbour, bits);
        if (rs_polynomial_is_zero(&step))
            continue;
        rs_polynomial stride = rs_access_row_stride(&unit->arrays[reference->array], reference, i);
        stride = rs_polynomial_multiply(&step, &stride);
        total = rs_polynomial_add(&total, &stride);
    }
    return total;
}

rs_polynomial rs_access_stride_along(const rs_access *access, const rs_unit *unit, int dimension)
{
    int column = -1;
    for (int i = 0; i < access->columns && column < 0; i++) {
        const rs_symbol *s = &unit->symbols.symbols[access->symbols[i]];
        if (is_thread(s) && s->dimension == dimension)
            column = i;
    }
    return stride_along(access, unit, column);
}

/* What its rows vary with; a loop that starts at a loaded value, say, is no affine one. */
static void find_variation(rs_access *access, rs_unit *unit)
{
    rs_polynomial rows[RS_SUBSCRIPT_LIMIT];
    bool divided;
    int loop = access->reference->loop;
    int count = rs_reference_rows(unit, access->reference, rows, &divided);
    for (int row = 0; row < count; row++) {
        rs_polynomial moved = at_one_time(unit, loop, &rows[row]);
        access->varies[row] = varies_with(unit, loop, &moved);
        access->approximated = access->approximated || has_auxiliary(unit, &moved);
    }
}

bool rs_access_moves_between(const rs_access *access, const rs_unit *unit)
{
    uint64_t between = 0, varies = 0;
    for (int i = 0; i < access->columns; i++)
        if (access->between[i] && !access->auxiliary[i])
            between |= rs_symbol_depends(&unit->symbols, access->symbols[i]);
    for (int row = 0; row < access->rows; row++)
        varies |= access->varies[row];
    return (varies & between) != 0;
}

/* ---- a unit ---- */

static bool has_entry(const rs_access *access, int column)
{
    for (int row = 0; row < access->rows; row++)
        if (!rs_polynomial_is_zero(&access->matrix[row][column]))
            return true;
    return false;
}

/* Marks the symbols that a reference shows, in its matrix or in the text of a term. */
static void mark_used(const rs_access *access, rs_symbols *symbols)
{
    for (int i = 0; i < access->columns; i++) {
        rs_symbol *symbol = &symbols->symbols[access->symbols[i]];
        symbol->used = symbol->used || has_entry(access, i);
        for (int c = 0; c < symbols->column_count && access->auxiliary[i]; c++) {
            rs_symbol *inside = &symbols->symbols[symbols->columns[c]];
            inside->used = inside->used || strstr(symbol->name, inside->name) != NULL;
        }
    }
}

restride_status rs_accesses_make(rs_accesses *accesses, rs_unit *unit, const bool *threads)
{
    accesses->unit = unit;
    accesses->accesses = calloc((size_t)unit->reference_count + 1, sizeof *accesses->accesses);
    accesses->threads = calloc((size_t)unit->loop_count + 1, sizeof *accesses->threads);
    if (accesses->accesses == NULL || accesses->threads == NULL)
        return rs_fail_memory("the access matrices");
    if (unit->loop_count > 0 && threads != NULL)
        memcpy(accesses->threads, threads, (size_t)unit->loop_count * sizeof *threads);
    for (int i = 0; i < unit->reference_count; i++) {
        rs_access *access = &accesses->accesses[i];
        access->reference = &unit->references[i];
        access->approximated =
            access->reference->approximated || rs_reference_has_gaps(access->reference);
        add_thread_columns(access, unit);
        add_loop_columns(access, unit, accesses->threads, access->reference->loop);
        fill_matrix(access, unit);
        classify(access, unit);
        find_variation(access, unit);
        access->thread_stride =
            stride_along(access, unit, rs_access_neighbour_column(access, unit));
        mark_used(access, &unit->symbols);
    }
    return RESTRIDE_OK;
}

void rs_accesses_free(rs_accesses *accesses)
{
    free(accesses->accesses);
    free(accesses->threads);
    memset(accesses, 0, sizeof *accesses);
}

rs_polynomial rs_access_entry(const rs_access *access, int row, int symbol)
{
    int column = find_column(access, symbol);
    return column < 0 ? rs_polynomial_constant(0) : access->matrix[row][column];
}

bool rs_access_same(const rs_access *a, const rs_access *b)
{
    const rs_reference *x = a->reference, *y = b->reference;
    bool members = x->member == NULL ? y->member == NULL
                                     : y->member != NULL && strcmp(x->member, y->member) == 0;
    if (x->array != y->array || x->count != y->count || !members)
        return false;
    for (int i = 0; i < x->count; i++)
        if (!rs_polynomial_equal(&x->subscripts[i], &y->subscripts[i]))
            return false;
    return true;
}

int rs_access_single_row(const rs_access *access, int except, int symbol)
{
    for (int row = 0; row < access->rows; row++) {
        bool alone = row != except;
        for (int i = 0; i < access->columns && alone; i++) {
            int64_t constant = 0;
            bool fixed = rs_polynomial_is_constant(&access->matrix[row][i], &constant);
            alone = fixed && constant == (access->symbols[i] == symbol);
        }
        if (alone)
            return row;
    }
    return -1;
}
