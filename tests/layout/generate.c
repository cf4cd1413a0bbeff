/* Random layouts with a definition of their own, from which the tests work out offsets the slow
 * way. */
#include "generate.h"

#include "cmocka_all.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct {
    const char *head;
    const char *members;
    size_t size;
    size_t leaf_count;
    size_t leaf_sizes[MADE_LEAVES]; /* in order, padding included */
} known_record;

/* Written down by hand, not taken from the code under test. */
static const known_record known_records[] = {
    {"", "float x; float y;", 8, 2, {4, 4}},
    {"", "float x; char c; double m; int id;", 24, 7, {4, 1, 1, 2, 8, 4, 4}},
    {"", "uchar kind;", 1, 1, {1}},
    {"", "double m; float v[3]; short s;", 24, 6, {8, 4, 4, 4, 2, 2}},
    {"", "struct { char a; short b; } in[2]; float4 p;", 32, 8, {1, 1, 2, 1, 1, 2, 8, 16}},
    {"", "char[7] name; float[3] v; short s;", 24, 5, {7, 1, 12, 2, 2}},
    {" packed ", "char kind; double m; short s;", 11, 3, {1, 8, 2}},
    {" packed", "char[3] id; float[3] v; uchar k;", 16, 3, {3, 12, 1}},
};

size_t made_random(uint64_t *state, size_t bound)
{
    uint64_t z = *state += 0x9e3779b97f4a7c15u;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return (size_t)((z ^ (z >> 31)) % bound);
}

static void append(char *text, size_t capacity, const char *format, ...)
{
    size_t length = strlen(text);
    va_list arguments;
    va_start(arguments, format);
    int added = vsnprintf(text + length, capacity - length, format, arguments);
    va_end(arguments);
    assert_true(added >= 0 && (size_t)added < capacity - length);
}

static void make_record(made_layout *made, int d, uint64_t *state)
{
    size_t which = made_random(state, sizeof known_records / sizeof known_records[0]);
    const known_record *known = &known_records[which];
    made->record = d;
    made->record_size = known->size;
    made->leaf_count = known->leaf_count;
    made->extent[d] = made->padded[d] = made->leaf_count;
    size_t offset = 0;
    for (size_t l = 0; l < made->leaf_count; l++) {
        made->leaf_offset[l] = offset;
        made->leaf_size[l] = known->leaf_sizes[l];
        offset += known->leaf_sizes[l];
    }
    assert_int_equal(offset, known->size);
    append(made->dims, sizeof made->dims, "%c%s{ %s } ", 'a' + d, known->head, known->members);
    made->terms[made->term_count++] = (made_term){.dimension = d, .divisor = 1};
}

/* Makes one to three terms of a dimension, from the slowest to the fastest; `free_order` says that
 * any order is valid. */
static void make_terms(made_layout *made, int d, uint64_t *state, bool *free_order)
{
    size_t levels = 1 + made_random(state, 3);
    size_t divisors[4] = {1};
    for (size_t level = 1; level < levels; level++)
        divisors[level] = divisors[level - 1] * (1 + made_random(state, level == 1 ? 6 : 4));
    size_t pad = 1;
    for (size_t level = levels; level-- > 0;) {
        made_term *term = &made->terms[made->term_count++];
        term->dimension = d;
        term->divisor = divisors[level];
        term->modulus = level + 1 < levels ? divisors[level + 1] / divisors[level] : 0;
        term->padded = level > 0 && made_random(state, 4) == 0;
        if (term->padded && pad == 1)
            pad = term->divisor;
    }
    made->padded[d] = (made->extent[d] + pad - 1) / pad * pad;
    *free_order = made->padded[d] % divisors[levels - 1] == 0;
}

static void make_dimension(made_layout *made, int d, uint64_t *state, bool *free_order)
{
    static const size_t largest[MADE_RANK] = {40, 14, 7, 5};
    made->extent[d] = 1 + made_random(state, largest[made->rank - 1]);
    make_terms(made, d, state, free_order);
    append(made->dims, sizeof made->dims, "%c:%zu ", 'a' + d, made->extent[d]);
}

/* Shuffles all terms, then puts those of dimensions that need it back into descending order. */
static void shuffle(made_layout *made, uint64_t *state, const bool free_order[])
{
    for (int t = made->term_count - 1; t > 0; t--) {
        int other = (int)made_random(state, (size_t)t + 1);
        made_term swapped = made->terms[t];
        made->terms[t] = made->terms[other];
        made->terms[other] = swapped;
    }
    for (int d = 0; d < made->rank; d++) {
        if (free_order[d] && made_random(state, 2) == 0)
            continue;
        for (int t = 0; t < made->term_count; t++)
            for (int u = t + 1; u < made->term_count; u++)
                if (made->terms[t].dimension == d && made->terms[u].dimension == d &&
                    made->terms[t].divisor < made->terms[u].divisor) {
                    made_term swapped = made->terms[t];
                    made->terms[t] = made->terms[u];
                    made->terms[u] = swapped;
                }
    }
}

static void write_expression(made_layout *made)
{
    for (int t = 0; t < made->term_count; t++) {
        const made_term *term = &made->terms[t];
        char *text = made->expression;
        size_t capacity = sizeof made->expression;
        append(text, capacity, "%s%c", t > 0 ? " " : "", 'a' + term->dimension);
        if (term->divisor > 1 || term->padded)
            append(text, capacity, "/%zu", term->divisor);
        if (term->modulus > 0)
            append(text, capacity, "%%%zu", term->modulus);
        if (term->padded)
            append(text, capacity, ":pad");
    }
}

void make_layout(made_layout *made, uint64_t *state)
{
    memset(made, 0, sizeof *made);
    made->rank = 1 + (int)made_random(state, MADE_RANK);
    made->record = -1;
    int record = made_random(state, 2) == 0 ? (int)made_random(state, (size_t)made->rank) : -1;
    bool free_order[MADE_RANK] = {false};
    for (int d = 0; d < made->rank; d++) {
        if (d == record)
            make_record(made, d, state);
        else
            make_dimension(made, d, state, &free_order[d]);
    }
    shuffle(made, state, free_order);
    write_expression(made);
}

void make_another(made_layout *made, const made_layout *like, uint64_t *state)
{
    *made = *like;
    made->term_count = 0;
    made->expression[0] = '\0';
    bool free_order[MADE_RANK] = {false};
    for (int d = 0; d < made->rank; d++) {
        if (d == made->record)
            made->terms[made->term_count++] = (made_term){.dimension = d, .divisor = 1};
        else
            make_terms(made, d, state, &free_order[d]);
    }
    shuffle(made, state, free_order);
    write_expression(made);
}

typedef struct {
    size_t values[MADE_TERMS];
    size_t index[MADE_RANK];
} element;

static int compare_values(const void *a, const void *b)
{
    const element *x = a, *y = b;
    for (int t = 0; t < MADE_TERMS; t++)
        if (x->values[t] != y->values[t])
            return x->values[t] < y->values[t] ? -1 : 1;
    return 0;
}

size_t sort_elements(const made_layout *made, size_t (**indices)[MADE_RANK], size_t **offsets)
{
    size_t count = 1;
    for (int d = 0; d < made->rank; d++)
        count *= made->padded[d];
    element *elements = calloc(count, sizeof *elements);
    *indices = calloc(count, sizeof **indices);
    *offsets = calloc(count, sizeof **offsets);
    assert_true(elements != NULL && *indices != NULL && *offsets != NULL);
    for (size_t e = 0; e < count; e++) {
        size_t left = e;
        for (int d = made->rank - 1; d >= 0; d--) {
            elements[e].index[d] = left % made->padded[d];
            left /= made->padded[d];
        }
        for (int t = 0; t < made->term_count; t++) {
            const made_term *term = &made->terms[t];
            size_t value = elements[e].index[term->dimension] / term->divisor;
            elements[e].values[t] = term->modulus > 0 ? value % term->modulus : value;
        }
    }
    qsort(elements, count, sizeof *elements, compare_values);
    size_t offset = 0;
    for (size_t e = 0; e < count; e++) {
        memcpy((*indices)[e], elements[e].index, sizeof elements[e].index);
        (*offsets)[e] = offset;
        offset += made->record >= 0 ? made->leaf_size[elements[e].index[made->record]] : 1;
    }
    free(elements);
    return count;
}

bool is_inside(const made_layout *made, const size_t index[])
{
    for (int d = 0; d < made->rank; d++)
        if (index[d] >= made->extent[d])
            return false;
    return true;
}

size_t row_major_offset(const made_layout *made, const size_t index[])
{
    size_t weight = made->record >= 0 ? made->record_size : 1;
    size_t offset = 0;
    for (int d = 0; d < made->rank; d++) {
        size_t faster = 1;
        for (int other = d + 1; other < made->rank; other++)
            faster *= other == made->record ? 1 : made->extent[other];
        if (d == made->record) {
            offset += made->leaf_offset[index[d]] * faster;
            weight = made->leaf_size[index[d]];
        } else {
            offset += index[d] * faster * weight;
        }
    }
    return offset;
}
