/*
 * Kernels and their second forms, written by hand, for arrays "i/32 f i%32".
 *
 *   move(particle *a, int n, float k)                     each particle by itself
 *   mix(const particle *a, particle *b, mixed *c, int n)  three arrays
 *   fold(const particle *a, float *sums, int n)           an array of structures and another one
 *   inside(particle *a, packed_pointer p, int n)          a pointer in a structure
 *   pairs(particle *a, int n)                             each pair by itself, in tiles of pairs
 *   birth(particle *a, int n)                             writes all but one member, reads none
 *   open(particle *a, int n)                              described, but not closed
 *   weigh(float *p, int n)                                closed, without a second form
 *   scale(float *p, int n)                                not described, as the following
 *   reach(char **table, int n)                            by an address in memory
 *   sample(pointer texture, float *sums, int n)           described, but by a texture
 *
 * Both forms take the microseconds of TIMES, so that policy auto has something to decide by. What
 * is foretold of them (description.c) is right of move, too much of mix and wrong of fold.
 */
#include "kernels.h"
#include "place.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define EXPORT __attribute__((visibility("default")))
#define SIZES(name, ...)                                                                           \
    EXPORT const size_t name##_sizes[] = {__VA_ARGS__, 0};                                         \
    EXPORT made_up_kernel name
#define TIME(name, microseconds) EXPORT const double name##_time = (microseconds)
#define TIMES(name, own, second)                                                                   \
    TIME(name, own);                                                                               \
    TIME(name##_full, second);                                                                     \
    TIME(name##_ragged, second);                                                                   \
    TIME(name##_full_large, second);                                                               \
    TIME(name##_ragged_large, second)
#define SECOND(name, form, ...) SIZES(name##_##form, __VA_ARGS__)

#define MEMBER(a, type, i, member)                                                                 \
    (*(__typeof__(((type *)0)->member) *)place(a, sizeof(type), i, offsetof(type, member),         \
                                               sizeof(((type *)0)->member)))

#define VALUE(type, i) (*(type *)values[i])

/* Of a second form the arrays' extents are the values from `from` on. */
static array array_of(void **values, int which, int extent_at)
{
    array a = {VALUE(char *, which), 0, 0, 0};
    if (extent_at >= 0) {
        a.count = (size_t)VALUE(extent, extent_at).count;
        a.first = (size_t)VALUE(extent, extent_at).first;
    }
    return a;
}

/* Forms for full tiles take the last one for full, and begin at a whole one. */
static array second_of(void **values, int which, int extent_at, const char *form)
{
    array a = array_of(values, which, extent_at);
    if (strncmp(form, "full", 4) == 0) {
        a.count = (a.count + TILE - 1) / TILE * TILE;
        a.first -= a.first % TILE;
    }
    return a;
}

/* An index behind the end is one that a kernel does not use. */
static size_t limit(unsigned threads, int n)
{
    return n < (int)threads ? (size_t)n : threads;
}

/* One code for both forms: what they compute of bytes that are no numbers is the same then. */
#define ONCE __attribute__((noinline)) static

TIMES(move, 40e3, 10e3);
TIMES(mix, 30, 20);
TIMES(fold, 300, 320);
TIMES(inside, 300, 300);
TIMES(pairs, 5e3, 2e3);

ONCE void do_move(unsigned threads, void **values, array a)
{
    const float k = VALUE(float, 2);
    for (size_t i = 0; i < limit(threads, VALUE(int, 1)); i++) {
        MEMBER(a, particle, i, x) += k * MEMBER(a, particle, i, y);
        MEMBER(a, particle, i, w[2]) = MEMBER(a, particle, i, z) + (float)i;
        MEMBER(a, particle, i, id) ^= (int)i;
    }
}

ONCE void do_mix(unsigned threads, void **values, array a, array b, array c)
{
    const size_t n = limit(threads, VALUE(int, 3));
    for (size_t i = 0; i < n; i++) {
        const size_t other = n - 1 - i;
        MEMBER(b, particle, i, z) = MEMBER(a, particle, other, x) + (float)MEMBER(c, mixed, i, d);
        MEMBER(c, mixed, i, d) += MEMBER(a, particle, i, w[1]);
        MEMBER(c, mixed, i, f) -= 1;
        MEMBER(c, mixed, i, c[3]) = (unsigned char)(MEMBER(c, mixed, i, c[0]) + 1);
    }
}

ONCE void do_fold(unsigned threads, void **values, array a)
{
    float *sums = VALUE(float *, 1);
    for (size_t i = 0; i < limit(threads, VALUE(int, 2)); i++)
        sums[i] += MEMBER(a, particle, i, x) + (float)MEMBER(a, particle, i, id);
}

ONCE void do_inside(unsigned threads, void **values, array a)
{
    char *behind;
    memcpy(&behind, VALUE(packed_pointer, 1).address, sizeof behind);
    const array b = {behind, 0, 0, 0};
    for (size_t i = 0; i < limit(threads, VALUE(int, 2)); i++)
        MEMBER(a, particle, i, y) += MEMBER(b, particle, i, w[0]) + 1;
}

ONCE void do_pairs(unsigned threads, void **values, array a)
{
    for (size_t i = 0; i + 1 < limit(threads, VALUE(int, 1)); i += 2) {
        const float x = MEMBER(a, particle, i, x);
        MEMBER(a, particle, i, x) = MEMBER(a, particle, i + 1, x);
        MEMBER(a, particle, i + 1, x) = x;
        MEMBER(a, particle, i + 1, w[1]) += MEMBER(a, particle, i, w[3]);
        MEMBER(a, particle, i, id) += (int)i;
    }
}

/* MADE_UP_WRONG=NAME: the second form of that kernel is wrong. MADE_UP_UNSTEADY=NAME: each run of
 * it leaves something else. */
static void spoil(const char *name, array a, unsigned threads, int n, bool is_second)
{
    static float runs;
    const char *wrong = getenv("MADE_UP_WRONG"), *unsteady = getenv("MADE_UP_UNSTEADY");
    const size_t count = limit(threads, n);
    if (count > 0 && is_second && wrong != NULL && strcmp(wrong, name) == 0)
        MEMBER(a, particle, count / 2, y) += 1;
    if (count > 0 && unsteady != NULL && strcmp(unsteady, name) == 0)
        MEMBER(a, particle, 0, z) = ++runs;
}

/* Those for large arrays differ in their names alone. */
#define ALL_FORMS(M, name, ...)                                                                    \
    M(name, full, __VA_ARGS__)                                                                     \
    M(name, ragged, __VA_ARGS__) M(name, full_large, __VA_ARGS__) M(name, ragged_large, __VA_ARGS__)

#define P sizeof(void *)
#define I sizeof(int)
#define E sizeof(extent)

SIZES(move, P, I, sizeof(float));
void move(unsigned threads, void **values)
{
    do_move(threads, values, array_of(values, 0, -1));
    spoil("move", array_of(values, 0, -1), threads, VALUE(int, 1), false);
}
#define MOVE(name, form, ...)                                                                      \
    SECOND(name, form, __VA_ARGS__);                                                               \
    void name##_##form(unsigned threads, void **values)                                            \
    {                                                                                              \
        do_move(threads, values, second_of(values, 0, 3, #form));                                  \
        spoil("move", second_of(values, 0, 3, #form), threads, VALUE(int, 1), true);               \
    }
ALL_FORMS(MOVE, move, P, I, sizeof(float), E)

SIZES(mix, P, P, P, I);
void mix(unsigned threads, void **values)
{
    do_mix(threads, values, array_of(values, 0, -1), array_of(values, 1, -1),
           array_of(values, 2, -1));
}
#define MIX(name, form, ...)                                                                       \
    SECOND(name, form, __VA_ARGS__);                                                               \
    void name##_##form(unsigned threads, void **values)                                            \
    {                                                                                              \
        do_mix(threads, values, second_of(values, 0, 4, #form), second_of(values, 1, 5, #form),    \
               second_of(values, 2, 6, #form));                                                    \
    }
ALL_FORMS(MIX, mix, P, P, P, I, E, E, E)

SIZES(fold, P, P, I);
void fold(unsigned threads, void **values)
{
    do_fold(threads, values, array_of(values, 0, -1));
}
#define FOLD(name, form, ...)                                                                      \
    SECOND(name, form, __VA_ARGS__);                                                               \
    void name##_##form(unsigned threads, void **values)                                            \
    {                                                                                              \
        do_fold(threads, values, second_of(values, 0, 3, #form));                                  \
    }
ALL_FORMS(FOLD, fold, P, P, I, E)

SIZES(inside, P, sizeof(packed_pointer), I);
void inside(unsigned threads, void **values)
{
    do_inside(threads, values, array_of(values, 0, -1));
}
#define INSIDE(name, form, ...)                                                                    \
    SECOND(name, form, __VA_ARGS__);                                                               \
    void name##_##form(unsigned threads, void **values)                                            \
    {                                                                                              \
        do_inside(threads, values, second_of(values, 0, 3, #form));                                \
    }
ALL_FORMS(INSIDE, inside, P, sizeof(packed_pointer), I, E)

SIZES(pairs, P, I);
void pairs(unsigned threads, void **values)
{
    do_pairs(threads, values, array_of(values, 0, -1));
}
static void pairs_second(unsigned threads, void **values)
{
    array a = array_of(values, 0, 2);
    a.group = (a.count | a.first) % (2 * TILE) == 0
                  ? 2
                  : 1; /* else the layer is wrong, and the results */
    do_pairs(threads, values, a);
}
SECOND(pairs, full, P, I, E);
void pairs_full(unsigned threads, void **values)
{
    pairs_second(threads, values);
}
SECOND(pairs, full_large, P, I, E);
void pairs_full_large(unsigned threads, void **values)
{
    pairs_second(threads, values);
}

ONCE void do_birth(unsigned threads, void **values, array a)
{
    for (size_t i = 0; i < limit(threads, VALUE(int, 1)); i++) {
        MEMBER(a, particle, i, x) = (float)i;
        MEMBER(a, particle, i, y) = (float)i + 1;
        MEMBER(a, particle, i, id) = 3 * (int)i;
        for (size_t k = 0; k < 4; k++)
            *(float *)place(a, sizeof(particle), i, offsetof(particle, w) + k * sizeof(float),
                            sizeof(float)) = (float)(i + k + 2);
    }
}

SIZES(birth, P, I);
void birth(unsigned threads, void **values)
{
    do_birth(threads, values, array_of(values, 0, -1));
}
#define BIRTH(name, form, ...)                                                                     \
    SECOND(name, form, __VA_ARGS__);                                                               \
    void name##_##form(unsigned threads, void **values)                                            \
    {                                                                                              \
        do_birth(threads, values, second_of(values, 0, 2, #form));                                 \
    }
ALL_FORMS(BIRTH, birth, P, I, E)

SIZES(open_ended, P, I);
void open_ended(unsigned threads, void **values)
{
    const array a = array_of(values, 0, -1);
    for (size_t i = 0; i < limit(threads, VALUE(int, 1)); i++)
        MEMBER(a, particle, i, w[3]) += 2;
}

SIZES(weigh, P, I);
void weigh(unsigned threads, void **values)
{
    float *p = VALUE(float *, 0);
    for (size_t i = 0; i < limit(threads, VALUE(int, 1)); i++)
        p[i] = p[i] * 0.25f + 3;
}

SIZES(scale, P, I);
void scale(unsigned threads, void **values)
{
    float *p = VALUE(float *, 0);
    for (size_t i = 0; i < limit(threads, VALUE(int, 1)); i++)
        p[i] = p[i] * 0.5f + 1;
}

SIZES(reach, P, I);
void reach(unsigned threads, void **values)
{
    char *const *table = VALUE(char **, 0);
    particle *a = (particle *)table[0];
    for (size_t i = 0; i < limit(threads, VALUE(int, 1)); i++)
        a[i].y += (float)a[i].id + 3;
}

SIZES(sample, P, P, I);
void sample(unsigned threads, void **values)
{
    particle **texture = VALUE(particle **, 0);
    float *sums = VALUE(float *, 1);
    for (size_t i = 0; i < limit(threads, VALUE(int, 2)); i++)
        sums[i] += (*texture)[i].y;
}
