/* Arithmetic of polynomials with 64-bit coefficients, every step checked for overflow. */
#include "analyze/polynomial.h"

#include <string.h>

static const int16_t no_symbols[RS_DEGREE_LIMIT] = {-1, -1, -1};

rs_polynomial rs_polynomial_unknown(void)
{
    rs_polynomial result;
    memset(&result, 0, sizeof result);
    return result;
}

rs_polynomial rs_polynomial_constant(int64_t value)
{
    rs_polynomial result = rs_polynomial_unknown();
    result.known = true;
    result.count = value != 0;
    result.terms[0].coefficient = value;
    memcpy(result.terms[0].symbols, no_symbols, sizeof no_symbols);
    return result;
}

rs_polynomial rs_polynomial_symbol(int symbol)
{
    if (symbol < 0)
        return rs_polynomial_unknown();
    rs_polynomial result = rs_polynomial_constant(1);
    result.terms[0].symbols[0] = (int16_t)symbol;
    return result;
}

/* Terms without symbols come last. */
static int compare(const rs_monomial *a, const rs_monomial *b)
{
    for (int i = 0; i < RS_DEGREE_LIMIT; i++)
        if (a->symbols[i] != b->symbols[i])
            return (uint16_t)a->symbols[i] < (uint16_t)b->symbols[i] ? -1 : 1;
    return 0;
}

static void add_term(rs_polynomial *sum, const rs_monomial *term)
{
    if (!sum->known || term->coefficient == 0)
        return;
    int at = 0;
    while (at < sum->count && compare(&sum->terms[at], term) < 0)
        at++;
    if (at < sum->count && compare(&sum->terms[at], term) == 0) {
        int64_t *coefficient = &sum->terms[at].coefficient;
        if (__builtin_add_overflow(*coefficient, term->coefficient, coefficient)) {
            *sum = rs_polynomial_unknown();
        } else if (*coefficient == 0) {
            sum->count--;
            memmove(&sum->terms[at], &sum->terms[at + 1],
                    (size_t)(sum->count - at) * sizeof *sum->terms);
        }
        return;
    }
    if (sum->count == RS_TERM_LIMIT) {
        *sum = rs_polynomial_unknown();
        return;
    }
    memmove(&sum->terms[at + 1], &sum->terms[at], (size_t)(sum->count - at) * sizeof *sum->terms);
    sum->terms[at] = *term;
    sum->count++;
}

rs_polynomial rs_polynomial_add(const rs_polynomial *a, const rs_polynomial *b)
{
    if (!a->known || !b->known)
        return rs_polynomial_unknown();
    rs_polynomial sum = *a;
    for (int i = 0; i < b->count; i++)
        add_term(&sum, &b->terms[i]);
    return sum;
}

rs_polynomial rs_polynomial_scale(const rs_polynomial *a, int64_t factor)
{
    if (!a->known || factor == 0)
        return a->known ? rs_polynomial_constant(0) : rs_polynomial_unknown();
    rs_polynomial result = *a;
    for (int i = 0; i < result.count; i++)
        if (__builtin_mul_overflow(result.terms[i].coefficient, factor,
                                   &result.terms[i].coefficient))
            return rs_polynomial_unknown();
    return result;
}

rs_polynomial rs_polynomial_subtract(const rs_polynomial *a, const rs_polynomial *b)
{
    rs_polynomial negative = rs_polynomial_scale(b, -1);
    return rs_polynomial_add(a, &negative);
}

/* Merges the symbols of two terms; false when the degree is too high. */
static bool multiply_terms(const rs_monomial *a, const rs_monomial *b, rs_monomial *product)
{
    int i = 0, j = 0, count = 0;
    memcpy(product->symbols, no_symbols, sizeof no_symbols);
    while ((i < RS_DEGREE_LIMIT && a->symbols[i] >= 0) ||
           (j < RS_DEGREE_LIMIT && b->symbols[j] >= 0)) {
        bool from_a = j >= RS_DEGREE_LIMIT || b->symbols[j] < 0 ||
                      (i < RS_DEGREE_LIMIT && a->symbols[i] >= 0 && a->symbols[i] <= b->symbols[j]);
        if (count == RS_DEGREE_LIMIT)
            return false;
        product->symbols[count++] = from_a ? a->symbols[i++] : b->symbols[j++];
    }
    return !__builtin_mul_overflow(a->coefficient, b->coefficient, &product->coefficient);
}

rs_polynomial rs_polynomial_multiply(const rs_polynomial *a, const rs_polynomial *b)
{
    if (!a->known || !b->known)
        return rs_polynomial_unknown();
    rs_polynomial product = rs_polynomial_constant(0);
    for (int i = 0; i < a->count; i++)
        for (int j = 0; j < b->count; j++) {
            rs_monomial term;
            if (!multiply_terms(&a->terms[i], &b->terms[j], &term))
                return rs_polynomial_unknown();
            add_term(&product, &term);
        }
    return product;
}

rs_polynomial rs_polynomial_divide(const rs_polynomial *a, int64_t divisor)
{
    rs_polynomial result = *a;
    if (divisor == 0 || divisor == -1)
        return divisor == 0 ? rs_polynomial_unknown() : rs_polynomial_scale(a, -1);
    for (int i = 0; i < result.count; i++) {
        if (result.terms[i].coefficient % divisor != 0)
            return rs_polynomial_unknown();
        result.terms[i].coefficient /= divisor;
    }
    return result;
}

bool rs_polynomial_equal(const rs_polynomial *a, const rs_polynomial *b)
{
    if (!a->known || !b->known || a->count != b->count)
        return false;
    for (int i = 0; i < a->count; i++)
        if (a->terms[i].coefficient != b->terms[i].coefficient ||
            compare(&a->terms[i], &b->terms[i]) != 0)
            return false;
    return true;
}

bool rs_polynomial_is_constant(const rs_polynomial *a, int64_t *value)
{
    if (!a->known || a->count > 1 || (a->count == 1 && a->terms[0].symbols[0] >= 0))
        return false;
    *value = a->count == 0 ? 0 : a->terms[0].coefficient;
    return true;
}

bool rs_polynomial_is_zero(const rs_polynomial *a)
{
    return a->known && a->count == 0;
}

rs_polynomial rs_polynomial_of_term(const rs_monomial *term)
{
    rs_polynomial p = rs_polynomial_constant(1);
    p.terms[0] = *term;
    return p;
}

int64_t rs_polynomial_constant_term(const rs_polynomial *a)
{
    for (int t = 0; t < a->count; t++)
        if (a->terms[t].symbols[0] < 0)
            return a->terms[t].coefficient;
    return 0;
}

/* How often a term has a symbol. */
static int power_of(const rs_monomial *term, int symbol)
{
    int power = 0;
    for (int i = 0; i < RS_DEGREE_LIMIT; i++)
        power += term->symbols[i] == symbol;
    return power;
}

static rs_monomial without_one(const rs_monomial *term, int symbol)
{
    rs_monomial result = *term;
    int kept = 0;
    bool removed = false;
    for (int i = 0; i < RS_DEGREE_LIMIT; i++) {
        if (!removed && term->symbols[i] == symbol)
            removed = true;
        else
            result.symbols[kept++] = term->symbols[i];
    }
    while (kept < RS_DEGREE_LIMIT)
        result.symbols[kept++] = -1;
    return result;
}

rs_polynomial rs_polynomial_coefficient(const rs_polynomial *a, int symbol, int *power)
{
    rs_polynomial result = rs_polynomial_constant(0);
    *power = 0;
    for (int i = 0; i < a->count; i++) {
        int here = power_of(&a->terms[i], symbol);
        *power = here > *power ? here : *power;
        if (here > 0) {
            rs_monomial term = without_one(&a->terms[i], symbol);
            add_term(&result, &term);
        }
    }
    return result;
}

rs_polynomial rs_polynomial_without(const rs_polynomial *a, int symbol)
{
    rs_polynomial result = a->known ? rs_polynomial_constant(0) : rs_polynomial_unknown();
    for (int i = 0; i < a->count; i++)
        if (power_of(&a->terms[i], symbol) == 0)
            add_term(&result, &a->terms[i]);
    return result;
}

uint64_t rs_polynomial_depends(const rs_polynomial *a, const rs_symbols *symbols)
{
    uint64_t depends = 0;
    for (int i = 0; i < a->count; i++)
        for (int s = 0; s < RS_DEGREE_LIMIT && a->terms[i].symbols[s] >= 0; s++)
            depends |= rs_symbol_depends(symbols, a->terms[i].symbols[s]);
    return depends;
}

bool rs_polynomial_has_data(const rs_polynomial *a, const rs_symbols *symbols)
{
    for (int i = 0; i < a->count; i++)
        for (int s = 0; s < RS_DEGREE_LIMIT && a->terms[i].symbols[s] >= 0; s++)
            if (symbols->symbols[a->terms[i].symbols[s]].data)
                return true;
    return false;
}

static void print_term(rs_text *text, const rs_monomial *term, const rs_symbols *symbols,
                       bool first)
{
    int64_t c = term->coefficient;
    uint64_t magnitude = c < 0 ? 0 - (uint64_t)c : (uint64_t)c;
    if (first)
        rs_text_add_string(text, c < 0 ? "-" : "");
    else
        rs_text_add_string(text, c < 0 ? " - " : " + ");
    if (magnitude != 1 || term->symbols[0] < 0)
        rs_text_format(text, "%llu", (unsigned long long)magnitude);
    for (int s = 0; s < RS_DEGREE_LIMIT && term->symbols[s] >= 0; s++)
        rs_text_format(text, "%s%s", s > 0 || magnitude != 1 ? "*" : "",
                       symbols->symbols[term->symbols[s]].name);
}

bool rs_polynomial_is_natural(const rs_polynomial *a, const rs_symbols *symbols)
{
    for (int i = 0; i < a->count; i++) {
        if (a->terms[i].coefficient < 0)
            return false;
        for (int j = 0; j < RS_DEGREE_LIMIT && a->terms[i].symbols[j] >= 0; j++)
            if (!rs_symbol_is_natural(symbols, a->terms[i].symbols[j]))
                return false;
    }
    return a->known;
}

void rs_polynomial_print(rs_text *text, const rs_polynomial *a, const rs_symbols *symbols)
{
    if (!a->known)
        rs_text_add_string(text, "?");
    else if (a->count == 0)
        rs_text_add_string(text, "0");
    for (int i = 0; i < a->count; i++)
        print_term(text, &a->terms[i], symbols, i == 0);
}

bool rs_polynomial_is_small(const rs_polynomial *a)
{
    for (int i = 0; i < a->count; i++)
        if (a->terms[i].coefficient > INT32_MAX || a->terms[i].coefficient < INT32_MIN)
            return false;
    return a->known;
}
