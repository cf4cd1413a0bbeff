/*
 * Arrays of structures of a few members; see slim.h. Two kinds of loops:
 *
 * Plain ones, for 2 and 3 members, and 4 of one or two bytes. All but the length is constant, so
 * the compiler makes loads of whole vectors and shuffles of them; it does so best with AVX2.
 *
 * Shuffled ones, for 5 to 7 members. As many structures as a vector has lanes are `count` vectors,
 * and their arrays are as many. Each array takes count - 1 shuffles, which each take lanes of one
 * more vector. That needs an instruction that chooses any lane of two vectors.
 */
#include "engine/host/slim.h"
#include "engine/host/simd.h"

#include <stdint.h>
#include <string.h>

/* ---- plain loops ---- */

#define DEFINE_PLAIN_APART(suffix, attribute, unit, count)                                         \
    attribute static void apart_##suffix(const unsigned char *restrict structures,                 \
                                         unsigned char *restrict arrays, size_t stride,            \
                                         size_t length)                                            \
    {                                                                                              \
        for (size_t i = 0; i < length; i++)                                                        \
            for (size_t j = 0; j < (count); j++)                                                   \
                memcpy(arrays + j * stride + i * (unit), structures + (i * (count) + j) * (unit),  \
                       unit);                                                                      \
    }
#define DEFINE_PLAIN_TOGETHER(suffix, attribute, unit, count)                                      \
    attribute static void together_##suffix(const unsigned char *restrict arrays, size_t stride,   \
                                            unsigned char *restrict structures, size_t length)     \
    {                                                                                              \
        for (size_t i = 0; i < length; i++)                                                        \
            for (size_t j = 0; j < (count); j++)                                                   \
                memcpy(structures + (i * (count) + j) * (unit), arrays + j * stride + i * (unit),  \
                       unit);                                                                      \
    }

#define DEFINE_PLAIN(suffix, attribute, unit, count)                                               \
    DEFINE_PLAIN_APART(suffix, attribute, unit, count)                                             \
    DEFINE_PLAIN_TOGETHER(suffix, attribute, unit, count)

/* ---- shuffled loops ---- */

enum { LANES = 16, WORD = 4 };
typedef uint32_t vector __attribute__((vector_size(WORD * LANES)));

/*
 * Lane t of array j is element p = j + t * count of the structures, in vector p / LANES. The first
 * shuffle takes what is in vectors 0 and 1 (any lane where there is nothing yet), a later one keeps
 * lane t or takes it from vector `from`.
 */
#define APART_FIRST(count, j, t) ((j) + (t) * (count) < 2 * LANES ? (j) + (t) * (count) : 0)
#define APART_LATER(count, j, from, t)                                                             \
    (((j) + (t) * (count)) / LANES == (from) ? LANES + ((j) + (t) * (count)) % LANES : (t))

/* Lane t of vector j of the structures is member p % count of structure p / count, with p = j *
 * LANES + t. */
#define TOGETHER_FIRST(count, j, t)                                                                \
    (((j)*LANES + (t)) % (count) < 2                                                               \
         ? ((j)*LANES + (t)) % (count)*LANES + ((j)*LANES + (t)) / (count)                         \
         : 0)
#define TOGETHER_LATER(count, j, from, t)                                                          \
    (((j)*LANES + (t)) % (count) == (from) ? LANES + ((j)*LANES + (t)) / (count) : (t))

#define LANES_4(lane, t, ...)                                                                      \
    lane(__VA_ARGS__, (t)), lane(__VA_ARGS__, (t) + 1), lane(__VA_ARGS__, (t) + 2),                \
        lane(__VA_ARGS__, (t) + 3)
#define ALL_LANES(lane, ...)                                                                       \
    LANES_4(lane, 0, __VA_ARGS__), LANES_4(lane, 4, __VA_ARGS__), LANES_4(lane, 8, __VA_ARGS__),   \
        LANES_4(lane, 12, __VA_ARGS__)

#define FIRST(kind, count, j)                                                                      \
    __builtin_shufflevector(in[0], in[1], ALL_LANES(kind##_FIRST, count, j))
#define LATER_3(kind, count, j)                                                                    \
    __builtin_shufflevector(FIRST(kind, count, j), in[2], ALL_LANES(kind##_LATER, count, j, 2))
#define LATER_4(kind, count, j)                                                                    \
    __builtin_shufflevector(LATER_3(kind, count, j), in[3], ALL_LANES(kind##_LATER, count, j, 3))
#define LATER_5(kind, count, j)                                                                    \
    __builtin_shufflevector(LATER_4(kind, count, j), in[4], ALL_LANES(kind##_LATER, count, j, 4))
#define LATER_6(kind, count, j)                                                                    \
    __builtin_shufflevector(LATER_5(kind, count, j), in[5], ALL_LANES(kind##_LATER, count, j, 5))
#define LATER_7(kind, count, j)                                                                    \
    __builtin_shufflevector(LATER_6(kind, count, j), in[6], ALL_LANES(kind##_LATER, count, j, 6))

#define RESULTS_5(result, kind)                                                                    \
    result(kind, 5, 0);                                                                            \
    result(kind, 5, 1);                                                                            \
    result(kind, 5, 2);                                                                            \
    result(kind, 5, 3);                                                                            \
    result(kind, 5, 4)
#define RESULTS_6(result, kind)                                                                    \
    result(kind, 6, 0);                                                                            \
    result(kind, 6, 1);                                                                            \
    result(kind, 6, 2);                                                                            \
    result(kind, 6, 3);                                                                            \
    result(kind, 6, 4);                                                                            \
    result(kind, 6, 5)
#define RESULTS_7(result, kind)                                                                    \
    result(kind, 7, 0);                                                                            \
    result(kind, 7, 1);                                                                            \
    result(kind, 7, 2);                                                                            \
    result(kind, 7, 3);                                                                            \
    result(kind, 7, 4);                                                                            \
    result(kind, 7, 5);                                                                            \
    result(kind, 7, 6)

#define RESULT(kind, count, j) out[j] = LATER_##count(kind, count, j)

/* The last vectors overlap those before rather than be shorter. */
#define DEFINE_SHUFFLED_APART(suffix, attribute, count)                                            \
    attribute static void apart_##suffix(const unsigned char *restrict structures,                 \
                                         unsigned char *restrict arrays, size_t stride,            \
                                         size_t length)                                            \
    {                                                                                              \
        for (size_t k = 0; k < length; k += LANES) {                                               \
            size_t i = k + LANES > length ? length - LANES : k;                                    \
            vector in[count];                                                                      \
            vector out[count];                                                                     \
            _Pragma("GCC unroll 7") for (size_t j = 0; j < (count); j++)                           \
                memcpy(&in[j], structures + (i * (count) + j * LANES) * WORD, sizeof(vector));     \
            RESULTS_##count(RESULT, APART);                                                        \
            _Pragma("GCC unroll 7") for (size_t j = 0; j < (count); j++)                           \
                memcpy(arrays + j * stride + i * WORD, &out[j], sizeof(vector));                   \
        }                                                                                          \
    }
#define DEFINE_SHUFFLED_TOGETHER(suffix, attribute, count)                                         \
    attribute static void together_##suffix(const unsigned char *restrict arrays, size_t stride,   \
                                            unsigned char *restrict structures, size_t length)     \
    {                                                                                              \
        for (size_t k = 0; k < length; k += LANES) {                                               \
            size_t i = k + LANES > length ? length - LANES : k;                                    \
            vector in[count];                                                                      \
            vector out[count];                                                                     \
            _Pragma("GCC unroll 7") for (size_t j = 0; j < (count); j++)                           \
                memcpy(&in[j], arrays + j * stride + i * WORD, sizeof(vector));                    \
            RESULTS_##count(RESULT, TOGETHER);                                                     \
            _Pragma("GCC unroll 7") for (size_t j = 0; j < (count); j++)                           \
                memcpy(structures + (i * (count) + j * LANES) * WORD, &out[j], sizeof(vector));    \
        }                                                                                          \
    }

#define DEFINE_SHUFFLED(suffix, attribute, count)                                                  \
    DEFINE_SHUFFLED_APART(suffix, attribute, count)                                                \
    DEFINE_SHUFFLED_TOGETHER(suffix, attribute, count)

/* ---- eight members ---- */

/*
 * 16 structures of 8 members are 128 elements: three bits of a place tell the vector, four the
 * lane. Apart, the bits r3 r2 r1 | r0 c2 c1 c0 of row and column become c2 c1 c0 | r3 r2 r1 r0.
 * Each round exchanges one bit of the vector for one of the lane, from r3 and c2 on, between
 * vectors that differ in that bit alone; the bits that are left in a lane keep their order.
 */
#define ROUND_LANES(b3, b2, b1, b0, t)                                                             \
    (((t) >> 3 & 1) * (b3) + ((t) >> 2 & 1) * (b2) + ((t) >> 1 & 1) * (b1) + ((t)&1) * (b0))
#define PICK(first, b3, b2, b1, b0)                                                                \
    (first) + ROUND_LANES(b3, b2, b1, b0, 0), (first) + ROUND_LANES(b3, b2, b1, b0, 1),            \
        (first) + ROUND_LANES(b3, b2, b1, b0, 2), (first) + ROUND_LANES(b3, b2, b1, b0, 3),        \
        (first) + ROUND_LANES(b3, b2, b1, b0, 4), (first) + ROUND_LANES(b3, b2, b1, b0, 5),        \
        (first) + ROUND_LANES(b3, b2, b1, b0, 6), (first) + ROUND_LANES(b3, b2, b1, b0, 7),        \
        (first) + ROUND_LANES(b3, b2, b1, b0, 8), (first) + ROUND_LANES(b3, b2, b1, b0, 9),        \
        (first) + ROUND_LANES(b3, b2, b1, b0, 10), (first) + ROUND_LANES(b3, b2, b1, b0, 11),      \
        (first) + ROUND_LANES(b3, b2, b1, b0, 12), (first) + ROUND_LANES(b3, b2, b1, b0, 13),      \
        (first) + ROUND_LANES(b3, b2, b1, b0, 14), (first) + ROUND_LANES(b3, b2, b1, b0, 15)

/* Exchanges bits of places between vectors i and i + bit. Lane bits b3 to b0 of the results come
 * from those of the two vectors. OTHER says which of the two; `leaves` becomes that bit of i. */
enum { OTHER = 16 };
#define EXCHANGE(vectors, bit, leaves, b3, b2, b1, b0)                                             \
    _Pragma("GCC unroll 8") for (int n = 0; n < 8; n++)                                            \
    {                                                                                              \
        if ((n & (bit)) != 0)                                                                      \
            continue;                                                                              \
        vector low = (vectors)[n];                                                                 \
        vector high = (vectors)[n + (bit)];                                                        \
        (vectors)[n] = __builtin_shufflevector(low, high, PICK(0, b3, b2, b1, b0));                \
        (vectors)[n + (bit)] = __builtin_shufflevector(low, high, PICK(leaves, b3, b2, b1, b0));   \
    }

#ifdef __x86_64__
#define AVX512 RS_AVX512("avx512f")

AVX512 static void apart_8_avx512(const unsigned char *restrict structures,
                                  unsigned char *restrict arrays, size_t stride, size_t length)
{
    for (size_t k = 0; k < length; k += LANES) {
        size_t i = k + LANES > length ? length - LANES : k;
        vector v[8];
        _Pragma("GCC unroll 8") for (size_t j = 0; j < 8; j++)
            memcpy(&v[j], structures + (i * 8 + j * LANES) * WORD, sizeof(vector));
        EXCHANGE(v, 4, 4, OTHER, 8, 2, 1) /* r0 c2 c1 c0 to r3 r0 c1 c0 */
        EXCHANGE(v, 2, 2, 8, OTHER, 4, 1) /* to r3 r2 r0 c0 */
        EXCHANGE(v, 1, 1, 8, 4, OTHER, 2) /* to r3 r2 r1 r0 */
        _Pragma("GCC unroll 8") for (size_t j = 0; j < 8; j++)
            memcpy(arrays + j * stride + i * WORD, &v[j], sizeof(vector));
    }
}

AVX512 static void together_8_avx512(const unsigned char *restrict arrays, size_t stride,
                                     unsigned char *restrict structures, size_t length)
{
    for (size_t k = 0; k < length; k += LANES) {
        size_t i = k + LANES > length ? length - LANES : k;
        vector v[8];
        _Pragma("GCC unroll 8") for (size_t j = 0; j < 8; j++)
            memcpy(&v[j], arrays + j * stride + i * WORD, sizeof(vector));
        EXCHANGE(v, 1, 2, 8, 4, 1, OTHER) /* r3 r2 r1 r0 to r3 r2 r0 c0 */
        EXCHANGE(v, 2, 4, 8, 2, OTHER, 1) /* to r3 r0 c1 c0 */
        EXCHANGE(v, 4, 8, 4, OTHER, 2, 1) /* to r0 c2 c1 c0 */
        _Pragma("GCC unroll 8") for (size_t j = 0; j < 8; j++)
            memcpy(structures + (i * 8 + j * LANES) * WORD, &v[j], sizeof(vector));
    }
}
#endif

/* ---- versions ---- */

DEFINE_PLAIN(2, , 4, 2)
DEFINE_PLAIN(3, , 4, 3)
DEFINE_PLAIN(5, , 4, 5)
DEFINE_PLAIN(6, , 4, 6)
DEFINE_PLAIN(7, , 4, 7)
DEFINE_PLAIN(3_of_8, , 8, 3)
#define DEFINE_NARROW(set, attribute)                                                              \
    DEFINE_PLAIN(2_of_1##set, attribute, 1, 2)                                                     \
    DEFINE_PLAIN(3_of_1##set, attribute, 1, 3)                                                     \
    DEFINE_PLAIN(4_of_1##set, attribute, 1, 4)                                                     \
    DEFINE_PLAIN(2_of_2##set, attribute, 2, 2)                                                     \
    DEFINE_PLAIN(3_of_2##set, attribute, 2, 3)                                                     \
    DEFINE_PLAIN(4_of_2##set, attribute, 2, 4)
DEFINE_NARROW(, )
#ifdef __x86_64__
DEFINE_PLAIN(2_avx2, RS_AVX2, 4, 2)
DEFINE_PLAIN(3_avx2, RS_AVX2, 4, 3)
DEFINE_NARROW(_avx2, RS_AVX2)
DEFINE_NARROW(_avx512, RS_AVX512("avx512f,avx512bw,avx512vbmi,avx512vl"))
DEFINE_SHUFFLED(5_avx512, AVX512, 5)
DEFINE_SHUFFLED(6_avx512, AVX512, 6)
DEFINE_SHUFFLED(7_avx512, AVX512, 7)
#endif

#define NARROW_LINES(name, set)                                                                    \
    {1, 2, 1, name, apart_2_of_1##set, together_2_of_1##set},                                      \
        {1, 3, 1, name, apart_3_of_1##set, together_3_of_1##set},                                  \
        {1, 4, 1, name, apart_4_of_1##set, together_4_of_1##set},                                  \
        {2, 2, 1, name, apart_2_of_2##set, together_2_of_2##set},                                  \
        {2, 3, 1, name, apart_3_of_2##set, together_3_of_2##set},                                  \
    {                                                                                              \
        2, 4, 1, name, apart_4_of_2##set, together_4_of_2##set                                     \
    }

static const rs_host_slim portable[] = {
    {4, 2, 1, "portable", apart_2, together_2},
    {4, 3, 1, "portable", apart_3, together_3},
    {4, 5, 1, "portable", apart_5, together_5},
    {4, 6, 1, "portable", apart_6, together_6},
    {4, 7, 1, "portable", apart_7, together_7},
    {8, 3, 1, "portable", apart_3_of_8, together_3_of_8},
    NARROW_LINES("portable", ),
};

#ifdef __x86_64__
static const rs_host_slim avx2[] = {
    {4, 2, 1, "avx2", apart_2_avx2, together_2_avx2},
    {4, 3, 1, "avx2", apart_3_avx2, together_3_avx2},
    NARROW_LINES("avx2", _avx2),
};

static const rs_host_slim avx512[] = {
    {4, 5, LANES, "avx512", apart_5_avx512, together_5_avx512},
    {4, 6, LANES, "avx512", apart_6_avx512, together_6_avx512},
    {4, 7, LANES, "avx512", apart_7_avx512, together_7_avx512},
    {4, 8, LANES, "avx512", apart_8_avx512, together_8_avx512},
};

static const rs_host_slim avx512_bytes[] = {
    NARROW_LINES("avx512vbmi", _avx512),
};
#endif

static void overwrite(rs_host_slim *slim, const rs_host_slim *table, size_t lines, size_t unit,
                      size_t count)
{
    for (size_t i = 0; i < lines; i++)
        if (table[i].unit == unit && table[i].count == count)
            *slim = table[i];
}

#define OVERWRITE(slim, table, unit, count)                                                        \
    overwrite(slim, table, sizeof(table) / sizeof(table)[0], unit, count)

rs_host_slim rs_host_slim_choose(size_t unit, size_t count)
{
    rs_host_slim slim = {0};
    OVERWRITE(&slim, portable, unit, count);
#ifdef __x86_64__
    if (__builtin_cpu_supports("avx2"))
        OVERWRITE(&slim, avx2, unit, count);
    if (__builtin_cpu_supports("avx512f"))
        OVERWRITE(&slim, avx512, unit, count);
    if (__builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vbmi") &&
        __builtin_cpu_supports("avx512vl"))
        OVERWRITE(&slim, avx512_bytes, unit, count);
#endif
    return slim;
}
