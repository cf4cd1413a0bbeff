/*
 * Layouts: where each element of a logical array lies in memory.
 *
 *     restride_layout *layout;
 *     restride_status status =
 *         restride_layout_parse(&layout, "i:1003 f{ float x; double m; }", "i/32 f i%32");
 *     assert(status == RESTRIDE_OK && restride_layout_bytes(layout) == 1003 * 16);
 *     const size_t index[] = {1002, 2};   // of the leaves x, padding and m the last
 *     assert(restride_layout_offset(layout, index) == 992 * 16 + 11 * 8 + 10 * 8);
 *     restride_layout_destroy(layout);
 *
 * A logical array has named dimensions, slowest first, written with their extents: "i:1000000 f:5".
 * A layout lists terms from slowest to fastest; a term is d, d/T, d%T or d/A%B, and the terms of
 * one dimension cover it exactly once:
 *
 *     i f               array of structures (AoS)
 *     f i               structure of arrays (SoA)
 *     i/32 f i%32       array of structures of tiled arrays (ASTA), tiles of 32
 *     y/32 x/128 e y%32 x%128    a tiled grid (Sung thesis, section 6.3.2)
 *
 * When T does not divide an extent, the last tile is ragged: it is shorter, so the array keeps its
 * size and can be converted in place. "i/32:pad" pads the last tile to full length instead.
 *
 * One dimension may be a record, a C structure whose members have different sizes:
 *
 *     i:1000 f{ float x; float v[3]; char kind; double m; }
 *
 * Members lie as a C compiler would place them (8-byte aligned double, trailing padding). Padding
 * bytes travel with the record as members of their own, so every conversion is exactly invertible.
 * In "f packed{ char kind; double m; }" each member lies right behind the one before it. A member
 * "char[12] name;" is an array that moves as a whole.
 *
 * An array without a record may say the type of its elements, or their size, behind all
 * dimensions: "y:64 x:64 float", "i:1000 f:5 char[12]".
 */
#ifndef RESTRIDE_LAYOUT_H
#define RESTRIDE_LAYOUT_H

#include "restride/status.h"

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct restride_layout restride_layout;

/* Parses a layout of the array `dims`. The caller frees *layout with restride_layout_destroy().
 * After an error *layout is NULL, and the sentence names the character at fault. Thread-safe. */
RESTRIDE_API restride_status restride_layout_parse(restride_layout **layout, const char *dims,
                                                   const char *expression);

/* Frees a layout; NULL is allowed. */
RESTRIDE_API void restride_layout_destroy(restride_layout *layout);

/* The number of dimensions, and the extent of one of them. A record's extent is its number of
 * leaves, padding included. Both are 0 without a layout, and the extent where there is no such
 * dimension. Thread-safe. */
RESTRIDE_API int restride_layout_rank(const restride_layout *layout);
RESTRIDE_API size_t restride_layout_extent(const restride_layout *layout, int dimension);

/* The offset of one element. `index` has restride_layout_rank() entries in the order of `dims`,
 * each below its extent. The offset counts elements, or bytes when a dimension is a record. Thread-
 * safe. */
RESTRIDE_API size_t restride_layout_offset(const restride_layout *layout, const size_t index[]);

/* The size of the whole array, padding included, in the units of restride_layout_offset(). Thread-
 * safe. */
RESTRIDE_API size_t restride_layout_size(const restride_layout *layout);

/* The size of the whole array in bytes, or 0 where the dimensions do not state the size of an
 * element. Thread-safe. */
RESTRIDE_API size_t restride_layout_bytes(const restride_layout *layout);

typedef enum {
    RESTRIDE_DIALECT_C = 0,
    RESTRIDE_DIALECT_OPENCL_C = 1,
    RESTRIDE_DIALECT_CUDA_C = 2,
    RESTRIDE_DIALECT_CPP = 3,     /* a class of C++11: bodies.ref(i).x */
    RESTRIDE_DIALECT_CUDA_CPP = 4 /* the same for the host and devices */
} restride_dialect;

/*
 * Writes the source text of accessors for kernels, with names that begin with `prefix`;
 * docs/layouts.md describes them. They translate addresses as the load and store units of Tseng
 * 2014 do (equations 1 and 2). The caller frees *source with free(). RESTRIDE_INVALID_ARGUMENT: no
 * layout, no `source`, or a prefix that is no C identifier. Thread-safe.
 */
RESTRIDE_API restride_status restride_layout_accessor(const restride_layout *layout,
                                                      restride_dialect dialect, const char *prefix,
                                                      char **source);

typedef enum { RESTRIDE_DRAWING_TEXT = 0, RESTRIDE_DRAWING_SVG = 1 } restride_drawing;

/* Draws where each element lies, as text in UTF-8 or as SVG. Of a large array it draws the
 * beginning. The caller frees *drawing with free(). RESTRIDE_INVALID_ARGUMENT: no layout or no
 * `drawing`. Thread-safe. Since 0.1. */
RESTRIDE_API restride_status restride_layout_draw(const restride_layout *layout,
                                                  restride_drawing form, char **drawing);

#ifdef __cplusplus
}
#endif
#endif
