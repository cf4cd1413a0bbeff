/*
 * The steps (a) to (f) of section 6.3.3. The tile of a dimension is the power of two that its busy
 * bits reach; the tile of the dimension that neighbouring threads walk along comes last, so that
 * its low bits are those of one burst, and the other tiles lie before it while steering bits are
 * left.
 */
#include "analyze/discover.h"

#include <string.h>

static int bits_of(int64_t count)
{
    int bits = 0;
    while (((int64_t)1 << bits) < count && bits < 40)
        bits++;
    return bits;
}

/* (a): how many low bits of an index differ among what runs at the same time. */
static int busy_bits(const rs_symbol *symbol, const rs_memory_parallelism *launch)
{
    if (symbol->kind == RS_SYMBOL_LOOP)
        return 0;
    int local = bits_of(launch->group[symbol->dimension]);
    int group = symbol->dimension == 0 ? bits_of(launch->active) : 0;
    return symbol->kind == RS_SYMBOL_LOCAL   ? local
           : symbol->kind == RS_SYMBOL_GROUP ? group
                                             : local + group;
}

/* (b): the highest busy bit of a row, and whether neighbouring threads walk along it. */
static bool row_bits(const rs_access *access, const rs_symbols *symbols, int row,
                     const rs_memory_parallelism *launch, int *bits, bool *neighbours)
{
    uint64_t varies = 0;
    *bits = 0;
    *neighbours = false;
    for (int i = 0; i < access->columns; i++) {
        varies |= rs_polynomial_is_zero(&access->matrix[row][i])
                      ? 0
                      : rs_symbol_depends(symbols, access->symbols[i]);
        const rs_symbol *symbol = &symbols->symbols[access->symbols[i]];
        int64_t factor = 0;
        if (rs_polynomial_is_zero(&access->matrix[row][i]))
            continue;
        if (access->auxiliary[i] || !rs_polynomial_is_constant(&access->matrix[row][i], &factor))
            return false;
        factor = factor < 0 ? -factor : factor;
        int busy = busy_bits(symbol, launch);
        if (busy > 0 && busy + bits_of(factor) > *bits)
            *bits = busy + bits_of(factor);
        bool thread = symbol->kind == RS_SYMBOL_LOCAL || symbol->kind == RS_SYMBOL_GLOBAL;
        *neighbours = *neighbours || (thread && symbol->dimension == 0);
    }
    return (access->varies[row] & ~varies) == 0; /* else a loop starts elsewhere in each thread */
}

/* Step 2: all references of the array have the same M. */
static const rs_access *common_pattern(const rs_accesses *accesses, int array, const char **reason)
{
    const rs_access *first = NULL;
    for (int i = 0; i < accesses->unit->reference_count; i++) {
        const rs_access *access = &accesses->accesses[i];
        if (access->reference->array != array)
            continue;
        if (rs_access_is_random(access)) {
            *reason = "a reference is random";
            return NULL;
        }
        if (first == NULL)
            first = access;
        if (first->rows != access->rows) {
            *reason = "its references have different numbers of subscripts";
            return NULL;
        }
        for (int row = 0; row < access->rows; row++)
            for (int c = 0; c < access->columns + first->columns; c++) {
                int symbol =
                    c < access->columns ? access->symbols[c] : first->symbols[c - access->columns];
                rs_polynomial a = rs_access_entry(first, row, symbol);
                rs_polynomial b = rs_access_entry(access, row, symbol);
                if (!rs_polynomial_equal(&a, &b)) {
                    *reason = "its references do not share one access matrix";
                    return NULL;
                }
            }
    }
    if (first == NULL)
        *reason = "it has no references";
    return first;
}

static void add_name(rs_text *text, int row)
{
    rs_text_format(text, "%c", "ijklmn"[row]);
}

static void add_part(rs_text *layout, int row, char operation, int bits)
{
    rs_text_add_string(layout, layout->size > 0 ? " " : "");
    add_name(layout, row);
    if (bits > 0)
        rs_text_format(layout, "%c%lld", operation, (long long)1 << bits);
}

/* Whether the only tile is that of the last dimension: behind its own number it changes nothing. */
static bool is_in_rows(const int bits[], int rows, int last)
{
    for (int row = 0; row < rows; row++)
        if (row != last && bits[row] > 0)
            return false;
    return last == rows - 1;
}

bool rs_array_discover(const rs_accesses *accesses, int array, const rs_memory_parallelism *launch,
                       rs_text *layout, rs_text *dims, const char **reason)
{
    const rs_array *a = &accesses->unit->arrays[array];
    const rs_access *pattern = common_pattern(accesses, array, reason);
    if (pattern == NULL)
        return false;
    int bits[RS_SUBSCRIPT_LIMIT] = {0}, last = -1;
    for (int row = 0; row < pattern->rows; row++) {
        bool neighbours;
        if (!row_bits(pattern, &accesses->unit->symbols, row, launch, &bits[row], &neighbours)) {
            *reason = "a subscript is not affine";
            return false;
        }
        if (neighbours)
            last = row;
        if (a->extents[row] > 0 && bits[row] > bits_of(a->extents[row]))
            bits[row] = bits_of(a->extents[row]);
    }
    if (last < 0 || pattern->rows < 2) {
        *reason = last < 0 ? "no dimension follows neighbouring threads" : "it has one dimension";
        return false;
    }
    /* (c), (d): the bits of a burst come first, then steering bits until they are used up. */
    int burst = bits_of(launch->burst / (a->element > 0 ? a->element : 4));
    if (bits[last] > burst + launch->steering_bits)
        bits[last] = burst + launch->steering_bits;
    int left = launch->steering_bits - (bits[last] > burst ? bits[last] - burst : 0);
    for (int row = pattern->rows - 1; row >= 0; row--) {
        if (row == last)
            continue;
        bits[row] = left <= 0 ? 0 : bits[row] > left ? left : bits[row];
        left -= bits[row];
    }
    if (is_in_rows(bits, pattern->rows, last))
        bits[last] = 0;
    for (int row = 0; row < pattern->rows; row++) {
        rs_text_add_string(dims, row > 0 ? " " : "");
        add_name(dims, row);
        add_part(layout, row, '/', bits[row]);
    }
    for (int row = 0; row < pattern->rows; row++)
        if (row != last && bits[row] > 0)
            add_part(layout, row, '%', bits[row]);
    if (bits[last] > 0)
        add_part(layout, last, '%', bits[last]);
    return true;
}
