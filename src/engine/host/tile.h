/*
 * Transposition of a block from one place to another: the inner loop of every stage that goes
 * through a buffer. A portable version of each tile, and faster ones that are chosen at run time.
 */
#ifndef RS_ENGINE_HOST_TILE_H
#define RS_ENGINE_HOST_TILE_H

#include "engine/host/slim.h"

#include <stddef.h>

typedef void rs_host_tile_move(const unsigned char *source, size_t source_stride,
                               unsigned char *target, size_t target_stride);

typedef struct {
    size_t unit; /* bytes of an element */
    size_t edge; /* elements along one side of a tile; 0: no tiles for this size */
    const char *name;
    rs_host_tile_move *move;
    rs_host_slim slim; /* for blocks whose shorter side it suits */
} rs_host_tile;

/* The fastest tile on this processor for elements of `unit` bytes in blocks whose shorter side has
 * `edge` elements. Thread-safe. */
rs_host_tile rs_host_tile_choose(size_t unit, size_t edge);

/* target[j][i] = source[i][j] for i < rows, j < cols; strides in bytes. The two must not overlap.
 */
void rs_host_tile_transpose(const rs_host_tile *tile, const unsigned char *source,
                            size_t source_stride, unsigned char *target, size_t target_stride,
                            size_t rows, size_t cols);

/* The same tile past the caches, a line a row of the target; NULL when there is none. */
rs_host_tile_move *rs_host_tile_choose_stream(const rs_host_tile *tile);

/* Transposes by `stream`. The rows of the target must begin with lines and be lines apart. */
void rs_host_tile_stream(const rs_host_tile *tile, rs_host_tile_move *stream,
                         const unsigned char *source, size_t source_stride, unsigned char *target,
                         size_t target_stride, size_t rows, size_t cols);

#endif
