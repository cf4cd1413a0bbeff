/* Grids whose declarations have `static` and qualifiers in them. */
#include <stdio.h>
#include <stdlib.h>

static void fill(int nz, int ny, int nx, double g[static restrict nz][ny][nx])
{
    for (int z = 0; z < nz; z++)
        for (int y = 0; y < ny; y++)
            for (int x = 0; x < nx; x++)
                g[z][y][x] = z * 131 + y * 17 + x * 3;
}

static double sum(int nz, int ny, int nx, const double g[const restrict nz][ny][nx])
{
    double total = 0;
    for (int z = 0; z < nz; z++)
        for (int y = 0; y < ny; y++)
            for (int x = 0; x < nx; x++)
                total = total * 0.5 + g[z][y][x];
    return total;
}

static double last(int nz, int ny, int nx, double g[restrict static nz][ny][nx])
{
    double(*restrict same)[ny][nx] = g;
    return same[nz - 1][ny - 1][nx - 1];
}

int main(int argc, char **argv)
{
    int nz = argc > 1 ? atoi(argv[1]) : 9, ny = argc > 2 ? atoi(argv[2]) : 35,
        nx = argc > 3 ? atoi(argv[3]) : 70;
    double(*const restrict grid)[ny][nx] = malloc(nz * sizeof *grid);
    fill(nz, ny, nx, grid);
    printf("%a %a\n", sum(nz, ny, nx, grid), last(nz, ny, nx, grid));
    free(grid);
    return 0;
}
