/* Jacobi iterations on a grid, with what such programs do to pointers: swaps, aliases, helpers. */
#include <stdio.h>
#include <stdlib.h>

static void *new_grid(int nz, int ny, int nx)
{
    return calloc((size_t)nz * ny * nx, sizeof(double));
}

static void start(int nz, int ny, int nx, double grid[nz][ny][nx])
{
    for (int z = 0; z < nz; z++)
        for (int y = 0; y < ny; y++)
            for (int x = 0; x < nx; x++)
                grid[z][y][x] = (z * 31 + y * 7 + x * 3) % 17;
}

static void sweep(int nz, int ny, int nx, double to[nz][ny][nx], double from[nz][ny][nx])
{
    for (int z = 1; z < nz - 1; z++)
        for (int y = 1; y < ny - 1; y++)
            for (int x = 1; x < nx - 1; x++)
                to[z][y][x] = from[z][y][x] +
                              0.1 * (from[z - 1][y][x] + from[z + 1][y][x] + from[z][y - 1][x] +
                                     from[z][y + 1][x] + from[z][y][x - 1] + from[z][y][x + 1] -
                                     6 * from[z][y][x]);
}

static double sum(int nz, int ny, int nx, double any[nz][ny][nx])
{
    double total = 0;
    for (int z = 0; z < nz; z++)
        for (int y = 0; y < ny; y++)
            for (int x = 0; x < nx; x++)
                total += any[z][y][x] * (1 + z + 2 * y + 3 * x);
    return total;
}

int main(int argc, char **argv)
{
    int nz = argc > 1 ? atoi(argv[1]) : 9, ny = argc > 2 ? atoi(argv[2]) : 35,
        nx = argc > 3 ? atoi(argv[3]) : 70;
    double(*now)[ny][nx] = new_grid(nz, ny, nx);
    double(*next)[ny][nx] = (double(*)[ny][nx])malloc(sizeof(double) * nz * ny * nx);
    double(*swap)[ny][nx];
    start(nz, ny, nx, now);
    start(nz, ny, nx, next);
    for (int t = 0; t < 10; t++) {
        sweep(nz, ny, nx, next, now);
        swap = now;
        now = next;
        next = swap;
    }
    double(*last)[ny][nx] = argc % 2 == 1 ? now : next;
    last[0][0][0] += 1; // an access of the host
    printf("%a %a %a\n", sum(nz, ny, nx, now), sum(nz, ny, nx, next), sum(nz, ny, nx, last));
    free(now);
    free(next);
    return 0;
}
