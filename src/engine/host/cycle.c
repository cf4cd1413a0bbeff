/* Chains and the cycles without one; see cycle.h. */
#include "engine/host/cycle.h"
#include "base/arithmetic.h"

#include <stdlib.h>

enum { WORD_BITS = 64 };

static bool prime(size_t number)
{
    for (size_t factor = 2; factor * factor <= number; factor++)
        if (number % factor == 0)
            return false;
    return true;
}

/* Multiples of a divisor of total - 1 map to each other, and their chains would have length 1: a
 * prime that does not divide it spreads the starts over the cycles. */
static size_t choose_stride(size_t total, size_t least)
{
    size_t stride = least;
    while (!prime(stride) || (total > 1 && (total - 1) % stride == 0))
        stride++;
    return stride;
}

void rs_host_cycles_begin(rs_host_cycles *cycles, size_t rows, size_t cols, size_t stride)
{
    size_t total = rows * cols;
    stride = choose_stride(total, stride);
    *cycles = (rs_host_cycles){
        .rows = rows,
        .cols = cols,
        .total = total,
        .stride = stride,
        .starts = total > 2 ? (total - 2) / stride : 0,
        .by_rows = rs_host_divider_make(rows, total),
        .by_stride = rs_host_divider_make(stride, total),
    };
}

static void mark(uint64_t *bits, size_t position)
{
    bits[position / WORD_BITS] |= (uint64_t)1 << (position % WORD_BITS);
}

/* ---- classes ---- */

/*
 * Steps multiply positions by a number that is prime to last = total - 1, so all positions of a
 * cycle have the same greatest common divisor with it. The positions with divisor d are a class, of
 * phi(last / d) members. Chains reach a class completely or leave cycles of it over, which is
 * known from the sum of their lengths.
 */
typedef struct {
    size_t divisor;
    size_t left; /* members that no chain has reached */
} class;

typedef struct {
    size_t last;
    size_t count;
    class *items; /* by divisor */
} classes;

static size_t totient(size_t number)
{
    size_t result = number;
    for (size_t factor = 2; factor * factor <= number; factor++) {
        if (number % factor != 0)
            continue;
        result -= result / factor;
        while (number % factor == 0)
            number /= factor;
    }
    return number > 1 ? result - result / number : result;
}

static int compare_classes(const void *a, const void *b)
{
    const class *x = a;
    const class *y = b;
    return (x->divisor > y->divisor) - (x->divisor < y->divisor);
}

static void add_class(classes *c, size_t divisor)
{
    c->items[c->count++] = (class){divisor, totient(c->last / divisor)};
}

/* `last` itself is no class: its position stays. */
static restride_status find_classes(classes *c, size_t last)
{
    enum { MOST_DIVISORS = 110880 }; /* of a number of 64 bits */
    *c = (classes){.last = last};
    size_t count = 0;
    for (size_t d = 1; d <= last / d; d++)
        count += last % d == 0 ? 2 : 0;
    c->items = count <= MOST_DIVISORS ? calloc(count + 1, sizeof *c->items) : NULL;
    if (c->items == NULL)
        return rs_fail_memory("the cycles of a transposition");
    for (size_t d = 1; d <= last / d; d++) {
        if (last % d != 0)
            continue;
        if (d != last)
            add_class(c, d);
        if (last / d != d && last / d != last)
            add_class(c, last / d);
    }
    qsort(c->items, c->count, sizeof *c->items, compare_classes);
    return RESTRIDE_OK;
}

static class *class_of(const classes *c, size_t position)
{
    const class key = {rs_size_gcd(position, c->last), 0};
    return bsearch(&key, c->items, c->count, sizeof *c->items, compare_classes);
}

static size_t count_left(const classes *c)
{
    size_t left = 0;
    for (size_t i = 0; i < c->count; i++)
        left += c->items[i].left;
    return left;
}

/* ---- walks ---- */

/* Several chains are followed at once, since each step waits for the one before it. */
enum { LANES = 16 };

typedef struct {
    size_t starts[LANES];
    size_t begun[LANES]; /* at which step */
    size_t count;
    size_t next;
    size_t step;
} walk;

static bool begin_chain(walk *w, const rs_host_cycles *cycles, size_t lane)
{
    if (w->next > cycles->starts)
        return false;
    w->starts[lane] = w->next++ * cycles->stride;
    w->begun[lane] = w->step;
    return true;
}

static void end_chain(const walk *w, classes *c, size_t lane)
{
    class_of(c, w->starts[lane])->left -= w->step - w->begun[lane];
}

/* The chains' lengths, for any size of matrix. */
static void measure_chains(const rs_host_cycles *cycles, classes *c, walk *w, size_t *positions)
{
    while (w->count > 0) {
        w->step++;
        for (size_t i = 0; i < w->count; i++) {
            positions[i] = rs_host_source(cycles, positions[i]);
            if (rs_host_chain_at(cycles, positions[i]) == 0)
                continue;
            end_chain(w, c, i);
            if (begin_chain(w, cycles, i)) {
                positions[i] = w->starts[i];
                continue;
            }
            w->count--;
            positions[i] = positions[w->count];
            w->starts[i] = w->starts[w->count];
            w->begun[i] = w->begun[w->count];
            i--;
        }
    }
}

/* What a step takes when positions have no more than 31 bits. */
typedef struct {
    int32_t rows;
    int32_t cols;
    double by_rows;        /* 1 / rows */
    uint32_t inverse;      /* of the stride modulo 2^32 */
    uint32_t most_inverse; /* multiples of the stride, and they alone, times it are no larger */
} short_step;

static short_step make_short_step(const rs_host_cycles *cycles)
{
    uint32_t stride = (uint32_t)cycles->stride;
    uint32_t inverse = stride; /* right in three bits; each round doubles them */
    for (int i = 0; i < 4; i++)
        inverse *= 2 - stride * inverse;
    return (short_step){(int32_t)cycles->rows, (int32_t)cycles->cols, 1.0 / (double)cycles->rows,
                        inverse, UINT32_MAX / stride};
}

/* One step of every lane; whether one of them has come to the end of its chain. */
#define DEFINE_STEP(name, attribute)                                                               \
    attribute static bool name(const short_step *s, int32_t positions[LANES],                      \
                               uint32_t ended[LANES])                                              \
    {                                                                                              \
        uint32_t any = 0;                                                                          \
        for (int i = 0; i < LANES; i++) {                                                          \
            int32_t j = (int32_t)((double)positions[i] * s->by_rows);                              \
            int32_t rest = positions[i] - j * s->rows;                                             \
            /* The product may have been rounded across a whole number. */                         \
            int32_t less = rest < 0;                                                               \
            int32_t more = rest >= s->rows;                                                        \
            j += more - less;                                                                      \
            rest += (less - more) * s->rows;                                                       \
            positions[i] = rest * s->cols + j;                                                     \
            ended[i] = (uint32_t)positions[i] * s->inverse <= s->most_inverse;                     \
            any |= ended[i];                                                                       \
        }                                                                                          \
        return any != 0;                                                                           \
    }

DEFINE_STEP(step_portable, )
#ifdef __x86_64__
DEFINE_STEP(step_avx2, __attribute__((target("avx2"))))
DEFINE_STEP(step_avx512, __attribute__((target("avx512f,avx512dq,prefer-vector-width=512"))))
#endif

typedef bool step_function(const short_step *s, int32_t positions[LANES], uint32_t ended[LANES]);

static step_function *choose_step(void)
{
    step_function *chosen = step_portable;
#ifdef __x86_64__
    if (__builtin_cpu_supports("avx2"))
        chosen = step_avx2;
    if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq"))
        chosen = step_avx512;
#endif
    return chosen;
}

/* Until a lane has no chain to begin. */
static void measure_short_chains(const rs_host_cycles *cycles, classes *c, walk *w,
                                 size_t *positions)
{
    const short_step s = make_short_step(cycles);
    step_function *step = choose_step();
    int32_t lanes[LANES];
    uint32_t ended[LANES];
    for (int i = 0; i < LANES; i++)
        lanes[i] = (int32_t)positions[i];
    while (w->next + LANES <= cycles->starts) {
        w->step++;
        if (!step(&s, lanes, ended))
            continue;
        for (size_t i = 0; i < LANES; i++) {
            if (ended[i] == 0)
                continue;
            end_chain(w, c, i);
            begin_chain(w, cycles, i);
            lanes[i] = (int32_t)w->starts[i];
        }
    }
    for (int i = 0; i < LANES; i++)
        positions[i] = (size_t)lanes[i];
}

static void measure(const rs_host_cycles *cycles, classes *c)
{
    walk w = {.next = 1};
    size_t positions[LANES];
    while (w.count < LANES && begin_chain(&w, cycles, w.count)) {
        positions[w.count] = w.starts[w.count];
        w.count++;
    }
    if (cycles->total <= INT32_MAX && cycles->stride % 2 != 0 && w.count == LANES)
        measure_short_chains(cycles, c, &w, positions);
    measure_chains(cycles, c, &w, positions);
}

/* Marks what the chains reach, where `all` is false only in classes that they do not reach
 * completely.
 */
static void mark_chains(const rs_host_cycles *cycles, const classes *c, uint64_t *seen, bool all)
{
    for (size_t start = cycles->stride; start <= cycles->starts * cycles->stride;
         start += cycles->stride) {
        if (!all && class_of(c, start)->left == 0)
            continue;
        size_t position = start;
        do {
            mark(seen, position);
            position = rs_host_source(cycles, position);
        } while (rs_host_chain_at(cycles, position) == 0);
    }
}

static bool seen_before(const uint64_t *seen, size_t position)
{
    return (seen[position / WORD_BITS] >> (position % WORD_BITS) & 1) != 0;
}

/* A leader for the cycle through a position, unless it stays; returns the cycle's length. */
static size_t lead(rs_host_cycles *cycles, uint64_t *seen, size_t position)
{
    size_t length = 0;
    size_t source = position;
    do {
        mark(seen, source);
        length++;
        source = rs_host_source(cycles, source);
    } while (source != position);
    if (length > 1)
        mark(cycles->leaders, position);
    return length;
}

/* In classes that the chains do not reach completely. */
static void find_leaders(rs_host_cycles *cycles, classes *c, uint64_t *seen)
{
    for (size_t i = 0; i < c->count; i++) {
        class *own = &c->items[i];
        for (size_t position = own->divisor; own->left > 0; position += own->divisor)
            if (!seen_before(seen, position) && rs_size_gcd(position, c->last) == own->divisor)
                own->left -= lead(cycles, seen, position);
    }
}

/* Wherever nothing is marked. */
static void find_all_leaders(rs_host_cycles *cycles, uint64_t *seen)
{
    mark(seen, 0);
    mark(seen, cycles->total - 1);
    for (size_t word = 0; word < cycles->leader_words; word++)
        for (size_t bit = 0; seen[word] != UINT64_MAX && bit < WORD_BITS; bit++) {
            size_t position = word * WORD_BITS + bit;
            if (position < cycles->total && !seen_before(seen, position))
                lead(cycles, seen, position);
        }
}

/* Whether to tell the classes of so many positions costs more than to look at all of them. */
static bool many_left(const classes *c)
{
    size_t looked_at = 0;
    for (size_t i = 0; i < c->count; i++)
        if (c->items[i].left > 0)
            looked_at += c->last / c->items[i].divisor;
    return looked_at > c->last / 16;
}

restride_status rs_host_cycles_create(rs_host_cycles *cycles, size_t rows, size_t cols,
                                      size_t stride)
{
    rs_host_cycles_begin(cycles, rows, cols, stride);
    if (cycles->total <= 2)
        return RESTRIDE_OK;
    classes c;
    restride_status status = find_classes(&c, cycles->total - 1);
    if (status != RESTRIDE_OK)
        return status;
    measure(cycles, &c);
    if (count_left(&c) > 0) {
        cycles->leader_words = (cycles->total - 1) / WORD_BITS + 1;
        uint64_t *seen = calloc(cycles->leader_words, sizeof *seen);
        cycles->leaders = calloc(cycles->leader_words, sizeof *cycles->leaders);
        if (seen == NULL || cycles->leaders == NULL) {
            rs_host_cycles_free(cycles);
            status = rs_fail_memory("the cycles of a transposition");
        } else {
            bool all = many_left(&c);
            mark_chains(cycles, &c, seen, all);
            if (all)
                find_all_leaders(cycles, seen);
            else
                find_leaders(cycles, &c, seen);
        }
        free(seen);
    }
    free(c.items);
    return status;
}

void rs_host_cycles_free(rs_host_cycles *cycles)
{
    free(cycles->leaders);
    cycles->leaders = NULL;
}
