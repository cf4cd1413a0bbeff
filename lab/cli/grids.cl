/*
 * The structured-grid programs of Sung's thesis (2013, section 6.4) for `restride-lab grids`: LBM
 * (D3Q19, collide and push), Heat (3D Jacobi) and CFD (red-black Gauss-Seidel on four fields).
 * lab/kernels/grids.cl has the same kernels as their grids would be declared in C99.
 *
 * A group is a row of the grid, a work-item a cell: x is its number in the group, y and z are the
 * group's. The host defines FIELDS and the layout: FIELDS_FIRST for SoA, else the tiles TILE_Z,
 * TILE_Y and TILE_X (1 1 1 is AoS, and rows where there is one field). The extents of the grid are
 * multiples of the tiles, with padding.
 */
typedef struct {
    uint z, y, x;
} extents;

FUNCTION uint place(extents n, uint z, uint y, uint x, uint field)
{
#ifdef FIELDS_FIRST
    return ((field * n.z + z) * n.y + y) * n.x + x;
#else
    uint tile = (z / TILE_Z * (n.y / TILE_Y) + y / TILE_Y) * (n.x / TILE_X) + x / TILE_X;
    uint inside = (z % TILE_Z * TILE_Y + y % TILE_Y) * TILE_X + x % TILE_X;
    return (tile * FIELDS + field) * (TILE_Z * TILE_Y * TILE_X) + inside;
#endif
}

/* Where fields' numbers depend on their place in rows, whatever the layout. */
KERNEL fill_grid(GLOBAL float *grid, uint nz, uint ny, uint nx)
{
    extents n;
    n.z = nz;
    n.y = ny;
    n.x = nx;
    uint x = LOCAL_ID, y = (uint)GROUP_ID, z = (uint)GROUP_ID_2;
    for (uint f = 0; f < FIELDS; f++) {
        uint number = ((z * 8191 + y) * 4093 + x) * 31 + f;
        number = number * 1664525 + 1013904223;
        grid[place(n, z, y, x, f)] = (float)(number >> 16) * (1.0f / 65536);
    }
}

/* Rows from a layout, for comparison. */
KERNEL read_grid(GLOBAL const float *grid, GLOBAL float *rows, uint nz, uint ny, uint nx,
                 uint rows_y)
{
    extents n;
    n.z = nz;
    n.y = ny;
    n.x = nx;
    uint x = LOCAL_ID, y = (uint)GROUP_ID, z = (uint)GROUP_ID_2;
    for (uint f = 0; f < FIELDS; f++)
        rows[((z * rows_y + y) * LOCAL_SIZE + x) * FIELDS + f] = grid[place(n, z, y, x, f)];
}

/* The cells that have all neighbours; `last_*` is the last cell of a dimension. */
#define CELL                                                                                       \
    extents n;                                                                                     \
    n.z = nz;                                                                                      \
    n.y = ny;                                                                                      \
    n.x = nx;                                                                                      \
    uint x = LOCAL_ID, y = (uint)GROUP_ID, z = (uint)GROUP_ID_2;                                   \
    if (x == 0 || y == 0 || z == 0 || x >= last_x || y >= last_y || z >= last_z)                   \
        return;

#if FIELDS == 1
KERNEL step_grid(GLOBAL const float *from, GLOBAL float *to, uint nz, uint ny, uint nx, uint last_z,
                 uint last_y, uint last_x, uint color)
{
    CELL float sum = from[place(n, z - 1, y, x, 0)] + from[place(n, z + 1, y, x, 0)] +
                     from[place(n, z, y - 1, x, 0)] + from[place(n, z, y + 1, x, 0)] +
                     from[place(n, z, y, x - 1, 0)] + from[place(n, z, y, x + 1, 0)];
    to[place(n, z, y, x, 0)] = 0.4f * from[place(n, z, y, x, 0)] + 0.1f * sum;
}
#elif FIELDS == 4
KERNEL step_grid(GLOBAL const float *unused, GLOBAL float *grid, uint nz, uint ny, uint nx,
                 uint last_z, uint last_y, uint last_x, uint color)
{
    CELL if ((x + y + z + color) % 2 != 0) return;
    UNROLL
    for (uint f = 0; f < 4; f++) {
        float sum = grid[place(n, z - 1, y, x, f)] + grid[place(n, z + 1, y, x, f)] +
                    grid[place(n, z, y - 1, x, f)] + grid[place(n, z, y + 1, x, f)] +
                    grid[place(n, z, y, x - 1, f)] + grid[place(n, z, y, x + 1, f)];
        grid[place(n, z, y, x, f)] = 0.5f * grid[place(n, z, y, x, f)] + 0.08f * sum;
    }
}
#elif FIELDS == 19
/* Direction, its weight, and where it goes along x, y and z. */
#define DIRECTIONS(D)                                                                              \
    D(0, 1.0f / 3, 0, 0, 0)                                                                        \
    D(1, 1.0f / 18, 1, 0, 0)                                                                       \
    D(2, 1.0f / 18, -1, 0, 0)                                                                      \
    D(3, 1.0f / 18, 0, 1, 0)                                                                       \
    D(4, 1.0f / 18, 0, -1, 0)                                                                      \
    D(5, 1.0f / 18, 0, 0, 1)                                                                       \
    D(6, 1.0f / 18, 0, 0, -1)                                                                      \
    D(7, 1.0f / 36, 1, 1, 0)                                                                       \
    D(8, 1.0f / 36, -1, 1, 0)                                                                      \
    D(9, 1.0f / 36, 1, -1, 0)                                                                      \
    D(10, 1.0f / 36, -1, -1, 0)                                                                    \
    D(11, 1.0f / 36, 1, 0, 1)                                                                      \
    D(12, 1.0f / 36, -1, 0, 1)                                                                     \
    D(13, 1.0f / 36, 1, 0, -1)                                                                     \
    D(14, 1.0f / 36, -1, 0, -1)                                                                    \
    D(15, 1.0f / 36, 0, 1, 1)                                                                      \
    D(16, 1.0f / 36, 0, -1, 1)                                                                     \
    D(17, 1.0f / 36, 0, 1, -1)                                                                     \
    D(18, 1.0f / 36, 0, -1, -1)
#define LOAD(q, weight, cx, cy, cz)                                                                \
    float f##q = from[place(n, z, y, x, q)];                                                       \
    density += f##q;                                                                               \
    flow_x += (cx)*f##q;                                                                           \
    flow_y += (cy)*f##q;                                                                           \
    flow_z += (cz)*f##q;
#define STORE(q, weight, cx, cy, cz)                                                               \
    {                                                                                              \
        float along = 3 * ((cx)*flow_x + (cy)*flow_y + (cz)*flow_z);                               \
        float rest = (weight)*density * (1 + along + 0.5f * along * along - square);               \
        to[place(n, z + (cz), y + (cy), x + (cx), q)] = 0.4f * f##q + 0.6f * rest;                 \
    }
KERNEL step_grid(GLOBAL const float *from, GLOBAL float *to, uint nz, uint ny, uint nx, uint last_z,
                 uint last_y, uint last_x, uint color)
{
    CELL float density = 0, flow_x = 0, flow_y = 0, flow_z = 0;
    DIRECTIONS(LOAD)
    flow_x /= density;
    flow_y /= density;
    flow_z /= density;
    float square = 1.5f * (flow_x * flow_x + flow_y * flow_y + flow_z * flow_z);
    DIRECTIONS(STORE)
}
#endif
