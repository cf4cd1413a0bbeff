/* Flow in a box whose lid moves, D3Q19: the host's side, with or without tiles. */
#ifndef EXAMPLES_CUDA_LBM_H
#define EXAMPLES_CUDA_LBM_H

#include "common.h"

enum { DIRECTIONS = 19 };
enum Kind { FLUID, SOLID, LID };

struct Cell {
    float f[DIRECTIONS];
    unsigned flags;
};

/* The centre, then the 18 others, each before its opposite. */
#define X_OF                                                                                       \
    {                                                                                              \
        0, 0, 0, 1, -1, 0, 0, 1, -1, 1, -1, 0, 0, 0, 0, 1, -1, 1, -1                               \
    }
#define Y_OF                                                                                       \
    {                                                                                              \
        0, 1, -1, 0, 0, 0, 0, 1, -1, -1, 1, 1, -1, 1, -1, 0, 0, 0, 0                               \
    }
#define Z_OF                                                                                       \
    {                                                                                              \
        0, 0, 0, 0, 0, 1, -1, 0, 0, 0, 0, 1, -1, -1, 1, 1, -1, -1, 1                               \
    }

struct Lattice {
    int nx, ny, nz;
};

static __host__ __device__ inline int cell_at(Lattice l, int x, int y, int z)
{
    return (z * l.ny + y) * l.nx + x;
}

static __host__ __device__ inline int opposite(int q)
{
    return q == 0 ? 0 : q + (q & 1 ? 1 : -1);
}

/* One cell's new populations; FMA is left out, so that both versions agree to the bit. */
static __device__ inline void collide(const float in[DIRECTIONS], float out[DIRECTIONS],
                                      unsigned flags)
{
    const int x_of[DIRECTIONS] = X_OF, y_of[DIRECTIONS] = Y_OF, z_of[DIRECTIONS] = Z_OF;
    float rho = 0, ux = 0, uy = 0, uz = 0, rate = 1.6f;
#pragma unroll
    for (int q = 0; q < DIRECTIONS; q++) {
        rho = __fadd_rn(rho, in[q]);
        ux = __fadd_rn(ux, __fmul_rn(in[q], x_of[q]));
        uy = __fadd_rn(uy, __fmul_rn(in[q], y_of[q]));
        uz = __fadd_rn(uz, __fmul_rn(in[q], z_of[q]));
    }
    ux = flags == LID ? 0.1f : __fdiv_rn(ux, rho);
    uy = flags == LID ? 0 : __fdiv_rn(uy, rho);
    uz = flags == LID ? 0 : __fdiv_rn(uz, rho);
    rate = flags == LID ? 1 : rate;
    const float square =
        __fadd_rn(__fadd_rn(__fmul_rn(ux, ux), __fmul_rn(uy, uy)), __fmul_rn(uz, uz));
    const float base = __fadd_rn(1, __fmul_rn(-1.5f, square));
#pragma unroll
    for (int q = 0; q < DIRECTIONS; q++) {
        const float u = __fadd_rn(__fadd_rn(__fmul_rn(ux, x_of[q]), __fmul_rn(uy, y_of[q])),
                                  __fmul_rn(uz, z_of[q]));
        const int length = x_of[q] * x_of[q] + y_of[q] * y_of[q] + z_of[q] * z_of[q];
        const float weight = length == 0 ? 1 / 3.f : length == 1 ? 1 / 18.f : 1 / 36.f;
        const float more = __fmul_rn(u, __fadd_rn(3, __fmul_rn(4.5f, u)));
        const float wanted = __fmul_rn(__fmul_rn(weight, rho), __fadd_rn(base, more));
        out[q] = __fadd_rn(in[q], __fmul_rn(rate, __fadd_rn(wanted, -in[q])));
    }
}

static std::vector<Cell> resting_lattice(Lattice l)
{
    static const int x_of[] = X_OF, y_of[] = Y_OF, z_of[] = Z_OF;
    std::vector<Cell> cells((size_t)l.nx * l.ny * l.nz);
    for (int z = 0; z < l.nz; z++)
        for (int y = 0; y < l.ny; y++)
            for (int x = 0; x < l.nx; x++) {
                Cell &here = cells[cell_at(l, x, y, z)];
                for (int q = 0; q < DIRECTIONS; q++) {
                    const int length = abs(x_of[q]) + abs(y_of[q]) + abs(z_of[q]);
                    here.f[q] = length == 0 ? 1 / 3.f : length == 1 ? 1 / 18.f : 1 / 36.f;
                }
                const bool is_wall =
                    x == 0 || x == l.nx - 1 || y == 0 || y == l.ny - 1 || z == 0 || z == l.nz - 1;
                here.flags = is_wall ? SOLID : z == l.nz - 2 ? LID : FLUID;
            }
    return cells;
}

/* Runs `step(from, to)` again and again on two lattices and prints what it took. */
template <class Step> static int run_lbm(int argc, char **argv, bool is_tiled, Step step)
{
    const int size = atoi(option(argc, argv, "--size", "128"));
    const int steps = atoi(option(argc, argv, "--steps", "200"));
    const char *dump = option(argc, argv, "--dump", NULL);
    const Lattice l = {size, size, size};
    std::vector<Cell> cells = resting_lattice(l);
    const size_t bytes = tiled_bytes(cells.size(), sizeof(Cell));
    std::vector<unsigned> tiled(bytes / 4);
    Cell *lattices[2];
    void *start = cells.data();
    if (is_tiled) {
        convert_words(tiled.data(), (unsigned *)cells.data(), cells.size(), sizeof(Cell), true);
        start = tiled.data();
    }
    const size_t copied = is_tiled ? bytes : cells.size() * sizeof(Cell);
    for (Cell *&lattice : lattices)
        check(cudaMalloc(&lattice, bytes), "cudaMalloc");
    check(cudaMemcpy(lattices[0], start, copied, cudaMemcpyHostToDevice), "cudaMemcpy");
    Stopwatch watch;
    watch.start();
    for (int k = 0; k < steps; k++)
        step(l, lattices[k % 2], lattices[1 - k % 2]);
    const float milliseconds = watch.stop();
    check(cudaGetLastError(), "A launch");
    check(cudaMemcpy(start, lattices[steps % 2], copied, cudaMemcpyDeviceToHost), "cudaMemcpy");
    if (is_tiled)
        convert_words(tiled.data(), (unsigned *)cells.data(), cells.size(), sizeof(Cell), false);
    printf("lbm: %d^3 cells, %d steps: kernels %.3f ms, %.3f ms a step\n", size, steps,
           milliseconds, milliseconds / steps);
    if (dump != NULL)
        write_file(dump, cells.data(), cells.size() * sizeof(Cell));
    for (Cell *lattice : lattices)
        check(cudaFree(lattice), "cudaFree");
    return 0;
}

#endif
