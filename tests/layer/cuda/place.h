/* Where second forms that are written by hand find members: on the host (kernels.c) and on a GPU
 * (gpu/random.cu). */
#ifndef LAYER_CUDA_PLACE_H
#define LAYER_CUDA_PLACE_H

#include <stddef.h>

#ifdef __CUDACC__
#define ON_BOTH static __device__
#else
#define ON_BOTH static inline
#endif

enum { TILE = 32 };

/* What a second form gets for each array. */
typedef struct {
    long long count, first;
} extent;

/* `count` 0 means the program's own layout. */
typedef struct {
    char *base; /* of the element numbered `first` */
    size_t count, first;
    size_t group; /* 0: none; else full tiles of groups of so many */
} array;

ON_BOTH char *place(array a, size_t record, size_t i, size_t offset, size_t width)
{
    if (a.count == 0)
        return a.base + i * record + offset;
    a.base -= a.first * record;
    i += a.first;
    if (a.group > 0) {
        const size_t g = i / a.group, lane = g % TILE;
        return a.base + (g - lane) * a.group * record + (i % a.group * record + offset) * TILE +
               lane * width;
    }
    const size_t begin = i - i % TILE;
    const size_t span = a.count - begin < TILE ? a.count - begin : TILE;
    return a.base + begin * record + offset * span + i % TILE * width;
}

#endif
