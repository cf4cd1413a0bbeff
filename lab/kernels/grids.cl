/*
 * The structured-grid programs of Sung's thesis (2013, section 6.4), as their grids would be
 * declared in C99: LBM (D3Q19, collide and push), Heat (3D Jacobi) and CFD (red-black Gauss-Seidel
 * of four fields). A work-group is a row of the grid, a work-item a cell. `restride-lab grids`
 * runs the same kernels in several layouts.
 */
__kernel void heat(int nz, int ny, int nx, __global const float from[nz][ny][nx],
                   __global float to[nz][ny][nx])
{
    int x = get_local_id(0), y = get_group_id(0), z = get_group_id(1);
    if (x < 1 || y < 1 || z < 1 || x + 1 >= nx || y + 1 >= ny || z + 1 >= nz)
        return;
    to[z][y][x] =
        0.4f * from[z][y][x] + 0.1f * (from[z - 1][y][x] + from[z + 1][y][x] + from[z][y - 1][x] +
                                       from[z][y + 1][x] + from[z][y][x - 1] + from[z][y][x + 1]);
}

__kernel void cfd(int nz, int ny, int nx, int color, __global float grid[nz][ny][nx][4])
{
    int x = get_local_id(0), y = get_group_id(0), z = get_group_id(1);
    if (x < 1 || y < 1 || z < 1 || x + 1 >= nx || y + 1 >= ny || z + 1 >= nz ||
        (x + y + z + color) % 2 != 0)
        return;
    for (int f = 0; f < 4; f++)
        grid[z][y][x][f] =
            0.5f * grid[z][y][x][f] +
            0.08f * (grid[z - 1][y][x][f] + grid[z + 1][y][x][f] + grid[z][y - 1][x][f] +
                     grid[z][y + 1][x][f] + grid[z][y][x - 1][f] + grid[z][y][x + 1][f]);
}

#define LOAD(q, cx, cy, cz)                                                                        \
    float f##q = from[z][y][x][q];                                                                 \
    density += f##q;                                                                               \
    flow_x += (cx)*f##q;                                                                           \
    flow_y += (cy)*f##q;                                                                           \
    flow_z += (cz)*f##q;
#define STORE(q, weight, cx, cy, cz)                                                               \
    {                                                                                              \
        float along = 3 * ((cx)*flow_x + (cy)*flow_y + (cz)*flow_z);                               \
        float rest = (weight)*density * (1 + along + 0.5f * along * along - square);               \
        to[z + (cz)][y + (cy)][x + (cx)][q] = 0.4f * f##q + 0.6f * rest;                           \
    }

__kernel void lbm(int nz, int ny, int nx, __global const float from[nz][ny][nx][19],
                  __global float to[nz][ny][nx][19])
{
    int x = get_local_id(0), y = get_group_id(0), z = get_group_id(1);
    if (x < 1 || y < 1 || z < 1 || x + 1 >= nx || y + 1 >= ny || z + 1 >= nz)
        return;
    float density = 0, flow_x = 0, flow_y = 0, flow_z = 0;
    LOAD(0, 0, 0, 0)
    LOAD(1, 1, 0, 0)
    LOAD(2, -1, 0, 0)
    LOAD(3, 0, 1, 0)
    LOAD(4, 0, -1, 0)
    LOAD(5, 0, 0, 1)
    LOAD(6, 0, 0, -1)
    LOAD(7, 1, 1, 0)
    LOAD(8, -1, 1, 0)
    LOAD(9, 1, -1, 0)
    LOAD(10, -1, -1, 0)
    LOAD(11, 1, 0, 1)
    LOAD(12, -1, 0, 1)
    LOAD(13, 1, 0, -1)
    LOAD(14, -1, 0, -1)
    LOAD(15, 0, 1, 1)
    LOAD(16, 0, -1, 1)
    LOAD(17, 0, 1, -1)
    LOAD(18, 0, -1, -1)
    flow_x /= density;
    flow_y /= density;
    flow_z /= density;
    float square = 1.5f * (flow_x * flow_x + flow_y * flow_y + flow_z * flow_z);
    STORE(0, 1.0f / 3, 0, 0, 0)
    STORE(1, 1.0f / 18, 1, 0, 0)
    STORE(2, 1.0f / 18, -1, 0, 0)
    STORE(3, 1.0f / 18, 0, 1, 0)
    STORE(4, 1.0f / 18, 0, -1, 0)
    STORE(5, 1.0f / 18, 0, 0, 1)
    STORE(6, 1.0f / 18, 0, 0, -1)
    STORE(7, 1.0f / 36, 1, 1, 0)
    STORE(8, 1.0f / 36, -1, 1, 0)
    STORE(9, 1.0f / 36, 1, -1, 0)
    STORE(10, 1.0f / 36, -1, -1, 0)
    STORE(11, 1.0f / 36, 1, 0, 1)
    STORE(12, 1.0f / 36, -1, 0, 1)
    STORE(13, 1.0f / 36, 1, 0, -1)
    STORE(14, 1.0f / 36, -1, 0, -1)
    STORE(15, 1.0f / 36, 0, 1, 1)
    STORE(16, 1.0f / 36, 0, -1, 1)
    STORE(17, 1.0f / 36, 0, 1, -1)
    STORE(18, 1.0f / 36, 0, -1, -1)
}
