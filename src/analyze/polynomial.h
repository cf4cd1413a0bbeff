/*
 * Integer polynomials over the symbols of a unit. A subscript is one; the entries of its access
 * matrix are the coefficients of the iteration symbols, themselves polynomials in the parameters
 * (the N of A[i*N + j]).
 *
 * Values of fixed size: what has too many terms, too high a degree or overflows is "unknown", and
 * the caller replaces it by an auxiliary symbol.
 */
#ifndef RS_ANALYZE_POLYNOMIAL_H
#define RS_ANALYZE_POLYNOMIAL_H

#include "analyze/symbols.h"
#include "base/text.h"

enum { RS_DEGREE_LIMIT = 3, RS_TERM_LIMIT = 16 };

typedef struct {
    int64_t coefficient;
    int16_t symbols[RS_DEGREE_LIMIT]; /* ascending, then -1 */
} rs_monomial;

typedef struct {
    bool known;
    int count;
    rs_monomial terms[RS_TERM_LIMIT]; /* sorted by their symbols, no zero coefficients */
} rs_polynomial;

rs_polynomial rs_polynomial_constant(int64_t value);
rs_polynomial rs_polynomial_symbol(int symbol);
rs_polynomial rs_polynomial_unknown(void);
rs_polynomial rs_polynomial_of_term(const rs_monomial *term); /* that is not 0 */
rs_polynomial rs_polynomial_add(const rs_polynomial *a, const rs_polynomial *b);
rs_polynomial rs_polynomial_subtract(const rs_polynomial *a, const rs_polynomial *b);
rs_polynomial rs_polynomial_multiply(const rs_polynomial *a, const rs_polynomial *b);
rs_polynomial rs_polynomial_scale(const rs_polynomial *a, int64_t factor);

/* Divides by a constant; unknown when a coefficient is no multiple of it. */
rs_polynomial rs_polynomial_divide(const rs_polynomial *a, int64_t divisor);

bool rs_polynomial_equal(const rs_polynomial *a, const rs_polynomial *b);
bool rs_polynomial_is_constant(const rs_polynomial *a, int64_t *value);
bool rs_polynomial_is_zero(const rs_polynomial *a);
int64_t rs_polynomial_constant_term(const rs_polynomial *a);

/* Whether no coefficient reaches 2^31 or more: then nothing starts over in 32 bits by its own size.
 */
bool rs_polynomial_is_small(const rs_polynomial *a);

/* The factor of `symbol` in the terms that have it; *power is the highest power it comes in. */
rs_polynomial rs_polynomial_coefficient(const rs_polynomial *a, int symbol, int *power);

/* `a` without the terms that have `symbol`. */
rs_polynomial rs_polynomial_without(const rs_polynomial *a, int symbol);

/* The columns it varies with, and whether a loaded value is in it. */
uint64_t rs_polynomial_depends(const rs_polynomial *a, const rs_symbols *symbols);
bool rs_polynomial_has_data(const rs_polynomial *a, const rs_symbols *symbols);

/* Whether it is never negative because no part of it is. */
bool rs_polynomial_is_natural(const rs_polynomial *a, const rs_symbols *symbols);

void rs_polynomial_print(rs_text *text, const rs_polynomial *a, const rs_symbols *symbols);

#endif
