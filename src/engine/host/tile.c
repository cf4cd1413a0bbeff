/*
 * Tiles of k x k elements, transposed in registers. A tile of k = 2^s rows takes s rounds; in each,
 * row i and row i + k/2 are interleaved into rows 2i and 2i + 1 (a perfect shuffle of the rows'
 * elements moves one bit of the column number into the row number, so s rounds exchange both).
 * Vectors are those of the compiler; each instruction set is one line of the tables below.
 */
#include "engine/host/tile.h"
#include "engine/host/simd.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#ifdef __x86_64__
#include <immintrin.h>
#endif

#define LOW_2(k) 0, (k)
#define LOW_4(k) 0, (k), 1, (k) + 1
#define LOW_8(k) LOW_4(k), 2, (k) + 2, 3, (k) + 3
#define LOW_16(k) LOW_8(k), 4, (k) + 4, 5, (k) + 5, 6, (k) + 6, 7, (k) + 7
#define HIGH_2(k) 1, (k) + 1
#define HIGH_4(k) 2, (k) + 2, 3, (k) + 3
#define HIGH_8(k) 4, (k) + 4, 5, (k) + 5, 6, (k) + 6, 7, (k) + 7
#define HIGH_16(k) HIGH_8_OF_16(k), 12, (k) + 12, 13, (k) + 13, 14, (k) + 14, 15, (k) + 15
#define HIGH_8_OF_16(k) 8, (k) + 8, 9, (k) + 9, 10, (k) + 10, 11, (k) + 11

/* `attribute` is the instruction set that a version needs, empty for the portable one; `store` how
 * it writes a row. */
#define DEFINE_STORED_TILE(name, attribute, element, k, store)                                     \
    attribute static void name(const unsigned char *source, size_t source_stride,                  \
                               unsigned char *target, size_t target_stride)                        \
    {                                                                                              \
        typedef element vector __attribute__((vector_size(sizeof(element) * (k))));                \
        vector rows[k];                                                                            \
        vector next[k];                                                                            \
        _Pragma("GCC unroll 16") for (int i = 0; i < (k); i++)                                     \
            memcpy(&rows[i], source + (size_t)i * source_stride, sizeof(vector));                  \
        _Pragma("GCC unroll 4") for (int round = 1; round < (k); round *= 2)                       \
        {                                                                                          \
            _Pragma("GCC unroll 8") for (int i = 0; i < (k) / 2; i++)                              \
            {                                                                                      \
                next[2 * i] = __builtin_shufflevector(rows[i], rows[i + (k) / 2], LOW_##k(k));     \
                next[2 * i + 1] =                                                                  \
                    __builtin_shufflevector(rows[i], rows[i + (k) / 2], HIGH_##k(k));              \
            }                                                                                      \
            _Pragma("GCC unroll 16") for (int i = 0; i < (k); i++) rows[i] = next[i];              \
        }                                                                                          \
        _Pragma("GCC unroll 16") for (int i = 0; i < (k); i++)                                     \
            store(target + (size_t)i * target_stride, rows[i]);                                    \
    }

#define KEEP(place, row) memcpy(place, &(row), sizeof(row))
#define DEFINE_TILE(name, attribute, element, k)                                                   \
    DEFINE_STORED_TILE(name, attribute, element, k, KEEP)

DEFINE_TILE(move_1_by_8, , uint8_t, 8)
DEFINE_TILE(move_1, , uint8_t, 16)
DEFINE_TILE(move_2_by_4, , uint16_t, 4)
DEFINE_TILE(move_2, , uint16_t, 8)
DEFINE_TILE(move_4, , uint32_t, 4)
DEFINE_TILE(move_8, , uint64_t, 2)
#ifdef __x86_64__
#define AVX512 RS_AVX512("avx512f")
DEFINE_TILE(move_4_avx2, RS_AVX2, uint32_t, 8)
DEFINE_TILE(move_8_avx2, RS_AVX2, uint64_t, 4)
DEFINE_TILE(move_4_avx512, AVX512, uint32_t, 16)
DEFINE_TILE(move_8_avx512, AVX512, uint64_t, 8)
#define STREAM(place, row) _mm512_stream_si512((void *)(place), (__m512i)(row))
DEFINE_STORED_TILE(stream_4_avx512, AVX512, uint32_t, 16, STREAM)
DEFINE_STORED_TILE(stream_8_avx512, AVX512, uint64_t, 8, STREAM)

/*
 * Bytes: 16 columns of 64 rows are 16 vectors. Each is loaded from four rows, whose bytes of one
 * column a permutation brings side by side; then words of four bytes are transposed. Elements of
 * two bytes likewise, 16 columns of 32 rows from two rows each.
 */
#define AVX512_BYTES RS_AVX512("avx512f,avx512bw,avx512vbmi")
#define AVX512_PAIRS RS_AVX512("avx512f,avx512bw")
typedef uint8_t bytes_16 __attribute__((vector_size(16)));
typedef uint8_t bytes_32 __attribute__((vector_size(32)));
typedef uint8_t bytes_64 __attribute__((vector_size(64)));
typedef uint16_t pairs_16 __attribute__((vector_size(32)));
typedef uint16_t pairs_32 __attribute__((vector_size(64)));
#define FOUR(k) (k), (k) + 1, (k) + 2, (k) + 3
#define SIXTEEN(k) FOUR(k), FOUR((k) + 4), FOUR((k) + 8), FOUR((k) + 12)
#define BYTES_OF_COLUMN(c) (c), (c) + 16, (c) + 32, (c) + 48
#define BYTES_OF_COLUMNS(c)                                                                        \
    BYTES_OF_COLUMN(c), BYTES_OF_COLUMN((c) + 1), BYTES_OF_COLUMN((c) + 2), BYTES_OF_COLUMN((c) + 3)

AVX512_BYTES static inline void load_four_rows(const unsigned char *source, size_t source_stride,
                                               unsigned char words[64])
{
    bytes_16 row[4];
    _Pragma("GCC unroll 4") for (size_t i = 0; i < 4; i++)
        memcpy(&row[i], source + i * source_stride, sizeof row[i]);
    bytes_32 upper = __builtin_shufflevector(row[0], row[1], SIXTEEN(0), SIXTEEN(16));
    bytes_32 lower = __builtin_shufflevector(row[2], row[3], SIXTEEN(0), SIXTEEN(16));
    bytes_64 columns =
        __builtin_shufflevector(upper, lower, BYTES_OF_COLUMNS(0), BYTES_OF_COLUMNS(4),
                                BYTES_OF_COLUMNS(8), BYTES_OF_COLUMNS(12));
    memcpy(words, &columns, sizeof columns);
}

AVX512_PAIRS static inline void load_two_rows(const unsigned char *source, size_t source_stride,
                                              unsigned char words[64])
{
    pairs_16 row[2];
    _Pragma("GCC unroll 2") for (size_t i = 0; i < 2; i++)
        memcpy(&row[i], source + i * source_stride, sizeof row[i]);
    pairs_32 columns = __builtin_shufflevector(row[0], row[1], LOW_16(16), HIGH_16(16));
    memcpy(words, &columns, sizeof columns);
}

#define DEFINE_NARROW_TILE(name, attribute, load, rows_of_word, move)                              \
    attribute static void name(const unsigned char *source, size_t source_stride,                  \
                               unsigned char *target, size_t target_stride)                        \
    {                                                                                              \
        enum { UNIT = 4 / (rows_of_word), EDGE = 16 * (rows_of_word) };                            \
        unsigned char words[16][64];                                                               \
        for (size_t col = 0; col < EDGE; col += 16) {                                              \
            const unsigned char *rows = source + col * UNIT;                                       \
            _Pragma("GCC unroll 1") for (size_t i = 0; i < 16; i++)                                \
            {                                                                                      \
                (load)(rows, source_stride, words[i]);                                             \
                rows += (rows_of_word)*source_stride;                                              \
            }                                                                                      \
            (move)(words[0], sizeof words[0], target + col * target_stride, target_stride);        \
        }                                                                                          \
    }

DEFINE_NARROW_TILE(move_1_avx512, AVX512_BYTES, load_four_rows, 4, move_4_avx512)
DEFINE_NARROW_TILE(move_2_avx512, AVX512_PAIRS, load_two_rows, 2, move_4_avx512)
DEFINE_NARROW_TILE(stream_1_avx512, AVX512_BYTES, load_four_rows, 4, stream_4_avx512)
DEFINE_NARROW_TILE(stream_2_avx512, AVX512_PAIRS, load_two_rows, 2, stream_4_avx512)
#endif

typedef struct {
    size_t unit;
    size_t edge;
    const char *name;
    rs_host_tile_move *move;
    rs_host_tile_move *stream; /* or NULL */
} known_tile;

/* Smaller edges first: the last line that fits is taken. */
static const known_tile portable[] = {
    {1, 8, "portable", move_1_by_8, NULL}, {1, 16, "portable", move_1, NULL},
    {2, 4, "portable", move_2_by_4, NULL}, {2, 8, "portable", move_2, NULL},
    {4, 4, "portable", move_4, NULL},      {8, 2, "portable", move_8, NULL},
};

#ifdef __x86_64__
static const known_tile avx2[] = {
    {4, 8, "avx2", move_4_avx2, NULL},
    {8, 4, "avx2", move_8_avx2, NULL},
};

static const known_tile avx512[] = {
    {4, 16, "avx512", move_4_avx512, stream_4_avx512},
    {8, 8, "avx512", move_8_avx512, stream_8_avx512},
};

static const known_tile avx512_pairs[] = {
    {2, 32, "avx512bw", move_2_avx512, stream_2_avx512},
};

static const known_tile avx512_bytes[] = {
    {1, 64, "avx512vbmi", move_1_avx512, stream_1_avx512},
};
#endif

static void overwrite(rs_host_tile *tile, const known_tile *table, size_t count, size_t edge)
{
    for (size_t i = 0; i < count; i++)
        if (table[i].unit == tile->unit && table[i].edge <= edge) {
            tile->edge = table[i].edge;
            tile->name = table[i].name;
            tile->move = table[i].move;
        }
}

#define OVERWRITE(tile, table, edge) overwrite(tile, table, sizeof(table) / sizeof(table)[0], edge)

rs_host_tile rs_host_tile_choose(size_t unit, size_t edge)
{
    rs_host_tile tile = {.unit = unit, .name = "portable"};
    OVERWRITE(&tile, portable, edge);
#ifdef __x86_64__
    if (__builtin_cpu_supports("avx2"))
        OVERWRITE(&tile, avx2, edge);
    if (__builtin_cpu_supports("avx512f"))
        OVERWRITE(&tile, avx512, edge);
    if (__builtin_cpu_supports("avx512bw"))
        OVERWRITE(&tile, avx512_pairs, edge);
    if (__builtin_cpu_supports("avx512vbmi"))
        OVERWRITE(&tile, avx512_bytes, edge);
#endif
    tile.slim = rs_host_slim_choose(unit, edge);
    if (tile.slim.count != 0)
        tile.name = tile.slim.name;
    return tile;
}

/* With a constant `unit` the compiler turns each memcpy into one or two moves. */
static inline void move_singly(const unsigned char *source, size_t source_stride,
                               unsigned char *target, size_t target_stride, size_t rows,
                               size_t cols, size_t unit)
{
    for (size_t j = 0; j < cols; j++)
        for (size_t i = 0; i < rows; i++)
            memcpy(target + j * target_stride + i * unit, source + i * source_stride + j * unit,
                   unit);
}

static void move_rest(const unsigned char *source, size_t source_stride, unsigned char *target,
                      size_t target_stride, size_t rows, size_t cols, size_t unit)
{
#define MOVE_SINGLY(constant)                                                                      \
    case constant:                                                                                 \
        move_singly(source, source_stride, target, target_stride, rows, cols, constant);           \
        return
    switch (unit) {
        MOVE_SINGLY(1);
        MOVE_SINGLY(2);
        MOVE_SINGLY(3);
        MOVE_SINGLY(4);
        MOVE_SINGLY(6);
        MOVE_SINGLY(8);
        MOVE_SINGLY(12);
        MOVE_SINGLY(16);
        MOVE_SINGLY(24);
        MOVE_SINGLY(32);
    default:
        move_singly(source, source_stride, target, target_stride, rows, cols, unit);
    }
#undef MOVE_SINGLY
}

/* Whether the block was dense and slim, and has been moved. */
static bool move_slim(const rs_host_slim *slim, const unsigned char *source, size_t source_stride,
                      unsigned char *target, size_t target_stride, size_t rows, size_t cols)
{
    bool apart = cols == slim->count && rows > cols && source_stride == cols * slim->unit;
    bool together = rows == slim->count && cols > rows && target_stride == rows * slim->unit;
    if ((!apart && !together) || (apart ? rows : cols) < slim->least)
        return false;
    if (apart)
        slim->apart(source, target, target_stride, rows);
    else
        slim->together(source, source_stride, target, cols);
    return true;
}

/* Without tiles, small squares keep the lines of both sides in the first-level cache. */
enum { SINGLE_EDGE = 16 };

void rs_host_tile_transpose(const rs_host_tile *tile, const unsigned char *source,
                            size_t source_stride, unsigned char *target, size_t target_stride,
                            size_t rows, size_t cols)
{
    size_t unit = tile->unit;
    size_t edge = tile->edge != 0 ? tile->edge : SINGLE_EDGE;
    /* A block narrower than a tile has lines enough for long runs along its other side. */
    if (move_slim(&tile->slim, source, source_stride, target, target_stride, rows, cols))
        return;
    if (rows < edge || cols < edge) {
        move_rest(source, source_stride, target, target_stride, rows, cols, unit);
        return;
    }
    /* The outer loop runs along the source's longer side: what is read lies together, and so does
     * what is written. */
    bool tall = rows > cols;
    size_t outer = tall ? rows : cols;
    size_t inner = tall ? cols : rows;
    for (size_t k = 0; k < outer; k += edge)
        for (size_t l = 0; l < inner; l += edge) {
            /* The last tile overlaps the one before rather than be narrower. */
            size_t far = k + edge > outer ? outer - edge : k;
            size_t near = l + edge > inner ? inner - edge : l;
            size_t i = tall ? far : near;
            size_t j = tall ? near : far;
            const unsigned char *from = source + i * source_stride + j * unit;
            unsigned char *to = target + j * target_stride + i * unit;
            if (tile->move != NULL)
                tile->move(from, source_stride, to, target_stride);
            else
                move_rest(from, source_stride, to, target_stride, edge, edge, unit);
        }
}

#ifdef __x86_64__
static rs_host_tile_move *find_stream(const known_tile *table, size_t count,
                                      const rs_host_tile *tile)
{
    for (size_t i = 0; i < count; i++)
        if (table[i].move == tile->move)
            return table[i].stream;
    return NULL;
}

#define FIND_STREAM(table, tile) find_stream(table, sizeof(table) / sizeof(table)[0], tile)
#endif

rs_host_tile_move *rs_host_tile_choose_stream(const rs_host_tile *tile)
{
    rs_host_tile_move *found = NULL;
#ifdef __x86_64__
    found = FIND_STREAM(avx512, tile);
    found = found != NULL ? found : FIND_STREAM(avx512_pairs, tile);
    found = found != NULL ? found : FIND_STREAM(avx512_bytes, tile);
#else
    (void)tile;
#endif
    return found;
}

enum { AHEAD_BYTES = 256 };

/* Along the source, so that hardware sees its rows, and a line of each target row is whole when the
 * next begins. */
void rs_host_tile_stream(const rs_host_tile *tile, rs_host_tile_move *stream,
                         const unsigned char *source, size_t source_stride, unsigned char *target,
                         size_t target_stride, size_t rows, size_t cols)
{
    size_t edge = tile->edge;
    size_t whole = cols < edge ? 0 : rows / edge * edge;
    for (size_t j = 0; whole != 0 && j < cols; j += edge) {
        size_t col = j + edge > cols ? cols - edge : j; /* the last tile overlaps */
        for (size_t i = 0; i < whole; i += edge) {
            const unsigned char *from = source + i * source_stride + col * tile->unit;
            for (size_t row = 0; row < edge; row++)
                __builtin_prefetch(
                    (const void *)((uintptr_t)from + row * source_stride + AHEAD_BYTES), 0, 2);
            stream(from, source_stride, target + col * target_stride + i * tile->unit,
                   target_stride);
        }
    }
    if (whole < rows)
        rs_host_tile_transpose(tile, source + whole * source_stride, source_stride,
                               target + whole * tile->unit, target_stride, rows - whole, cols);
}
