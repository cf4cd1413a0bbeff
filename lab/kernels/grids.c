/*
 * Structured grids (Sung 2013, chapter 6): one step of the Heat, CFD and LBM programs, as loops
 * over arrays of several dimensions.
 */
enum { NX = 64, NY = 64, NZ = 64, CELL = 20 };
enum { CENTRE, NORTH, SOUTH, EAST, WEST };

/* Heat: Jacobi iteration in three dimensions */
void heat(float from[NZ][NY][NX], float to[NZ][NY][NX], float c0, float c1)
{
    for (int z = 1; z < NZ - 1; z++)
        for (int y = 1; y < NY - 1; y++)
            for (int x = 1; x < NX - 1; x++)
                to[z][y][x] = c0 * from[z][y][x] +
                              c1 * (from[z - 1][y][x] + from[z + 1][y][x] + from[z][y - 1][x] +
                                    from[z][y + 1][x] + from[z][y][x - 1] + from[z][y][x + 1]);
}

/* CFD: the red points of a red-black Gauss-Seidel sweep, every other point of a row */
void cfd_red(float p[NZ][NY][NX], float rhs[NZ][NY][NX], float factor)
{
    for (int z = 1; z < NZ - 1; z++)
        for (int y = 1; y < NY - 1; y++)
            for (int x = 1; x < NX - 1; x += 2)
                p[z][y][x] = factor * (p[z][y][x - 1] + p[z][y][x + 1] - rhs[z][y][x]);
}

/* LBM: five of the distribution functions of a cell move to its neighbours */
void lbm_stream(float from[NZ][NY][NX][CELL], float to[NZ][NY][NX][CELL])
{
    for (int z = 0; z < NZ; z++)
        for (int y = 1; y < NY - 1; y++)
            for (int x = 1; x < NX - 1; x++) {
                to[z][y][x][CENTRE] = from[z][y][x][CENTRE];
                to[z][y + 1][x][NORTH] = from[z][y][x][NORTH];
                to[z][y - 1][x][SOUTH] = from[z][y][x][SOUTH];
                to[z][y][x + 1][EAST] = from[z][y][x][EAST];
                to[z][y][x - 1][WEST] = from[z][y][x][WEST];
            }
}
