/* The same by hand with cells in tiles of 32, as a mark: see common.h. */
#include "lbm.h"

static __device__ inline int word_at(int cell, int word)
{
    return ((cell >> 5) * (int)(sizeof(Cell) / 4) + word) * 32 + (cell & 31);
}

__global__ void step_tiles(Lattice l, const float *from, float *to)
{
    const int x_of[DIRECTIONS] = X_OF, y_of[DIRECTIONS] = Y_OF, z_of[DIRECTIONS] = Z_OF;
    const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y, z = blockIdx.z;
    if (x >= l.nx)
        return;
    /* The coordinates before, at and after this cell; the lattice wraps around. */
    const int xs[3] = {x > 0 ? x - 1 : l.nx - 1, x, x + 1 < l.nx ? x + 1 : 0};
    const int ys[3] = {y > 0 ? y - 1 : l.ny - 1, y, y + 1 < l.ny ? y + 1 : 0};
    const int zs[3] = {z > 0 ? z - 1 : l.nz - 1, z, z + 1 < l.nz ? z + 1 : 0};
    const int here = cell_at(l, x, y, z);
    float in[DIRECTIONS], out[DIRECTIONS];
#pragma unroll
    for (int q = 0; q < DIRECTIONS; q++)
        in[q] = from[word_at(cell_at(l, xs[1 - x_of[q]], ys[1 - y_of[q]], zs[1 - z_of[q]]), q)];

    const float bits = from[word_at(here, DIRECTIONS)];
    const unsigned flags = __float_as_uint(bits);
    to[word_at(here, DIRECTIONS)] = bits;
    collide(in, out, flags);
#pragma unroll
    for (int q = 0; q < DIRECTIONS; q++)
        to[word_at(here, q)] = flags == SOLID ? in[opposite(q)] : out[q];
}

int main(int argc, char **argv)
{
    return run_lbm(argc, argv, true, [](Lattice l, const Cell *from, Cell *to) {
        step_tiles<<<dim3((l.nx + 127) / 128, l.ny, l.nz), 128>>>(l, (const float *)from,
                                                                  (float *)to);
    });
}
