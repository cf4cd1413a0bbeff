/* A box with a moving lid as one usually writes it: an array of cells, 80 bytes each. */
#include "lbm.h"

__global__ void step_cells(Lattice l, const Cell *from, Cell *to)
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
        in[q] = from[cell_at(l, xs[1 - x_of[q]], ys[1 - y_of[q]], zs[1 - z_of[q]])].f[q];

    const unsigned flags = from[here].flags;
    to[here].flags = flags;
    collide(in, out, flags);
#pragma unroll
    for (int q = 0; q < DIRECTIONS; q++)
        to[here].f[q] = flags == SOLID ? in[opposite(q)] : out[q];
}

int main(int argc, char **argv)
{
    return run_lbm(argc, argv, false, [](Lattice l, const Cell *from, Cell *to) {
        step_cells<<<dim3((l.nx + 127) / 128, l.ny, l.nz), 128>>>(l, from, to);
    });
}
