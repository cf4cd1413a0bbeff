/* What the driver's functions take that copy rows: for programs and for the made-up driver. */
#ifndef COPYING_H
#define COPYING_H

#include <stddef.h>
#include <stdint.h>

/* CUDA_MEMCPY2D. */
typedef struct {
    size_t x, y;
    int type;
    void *host;
    uintptr_t device;
    void *array;
    size_t pitch;
} side;
typedef struct {
    side source, target;
    size_t row_bytes, rows;
} copying_rows;

/* CUDA_MEMCPY3D_PEER. */
typedef struct {
    size_t x, y, z, level;
    int type;
    void *host;
    uintptr_t device;
    void *array, *context;
    size_t pitch, height;
} peer_side;
typedef struct {
    peer_side source, target;
    size_t row_bytes, rows, planes;
} copying_peer;

#endif
