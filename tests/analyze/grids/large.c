/* A grid of ints' extents that has more than 2^31 elements; few of its pages are touched. */
#include <stdio.h>
#include <stdlib.h>

static void set(int n, int m, char grid[n][m], int i, int j)
{
    grid[i][j] = (char)(1 + i + j % 100);
}

static int sum(int n, int m, char grid[n][m], int j)
{
    int all = 0;
    for (int i = 0; i < n; i++)
        all += grid[i][j];
    return all;
}

int main(void)
{
    int n = 3, m = 1 << 30;
    char(*grid)[m] = calloc((size_t)n * m, 1);
    if (grid == NULL)
        return 1;
    for (int i = 0; i < n; i++)
        set(n, m, grid, i, 7 * i);
    set(n, m, grid, 2, m - 1);
    printf("%d %d %d %d\n", sum(n, m, grid, 0), sum(n, m, grid, 7), sum(n, m, grid, 14),
           sum(n, m, grid, m - 1));
    free(grid);
    return 0;
}
