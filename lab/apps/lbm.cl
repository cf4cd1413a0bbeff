/*
 * One time step of the D3Q19 lattice-Boltzmann method on a box of NX x NY x NZ cells that wraps
 * around: every cell pulls the populations that move into it, collides them (BGK) and stores the
 * result. A cell is a structure of 19 populations and a word of flags.
 */
#pragma OPENCL FP_CONTRACT OFF

/* The 19 directions: C centre; N and S along y, E and W along x, T and B along z. */
enum { C, N, S, E, W, T, B, NE, NW, SE, SW, NT, NB, ST, SB, ET, EB, WT, WB, DIRECTIONS };
enum { FLUID, SOLID, LID };

#ifdef AT
#define CELLS float
#define POPULATION(cells, i, q) AT(cells, i, q)
#define FLAGS(cells, i) AT((__global uint *)(cells), i, DIRECTIONS)
#define CONSTANT_FLAGS(cells, i) AT((__global const uint *)(cells), i, DIRECTIONS)
#else
typedef struct {
    float f[DIRECTIONS];
    uint flags;
} cell;
#define CELLS cell
#define POPULATION(cells, i, q) (cells)[i].f[q]
#define FLAGS(cells, i) (cells)[i].flags
#define CONSTANT_FLAGS FLAGS
#endif

/* X(direction, its opposite, its x, y and z, its product with the velocity) */
#define FOR_EACH_DIRECTION(X)                                                                      \
    X(C, C, 0, 0, 0, 0.0f)                                                                         \
    X(N, S, 0, 1, 0, uy)                                                                           \
    X(S, N, 0, -1, 0, -uy)                                                                         \
    X(E, W, 1, 0, 0, ux)                                                                           \
    X(W, E, -1, 0, 0, -ux)                                                                         \
    X(T, B, 0, 0, 1, uz)                                                                           \
    X(B, T, 0, 0, -1, -uz)                                                                         \
    X(NE, SW, 1, 1, 0, ux + uy)                                                                    \
    X(NW, SE, -1, 1, 0, -ux + uy)                                                                  \
    X(SE, NW, 1, -1, 0, ux - uy)                                                                   \
    X(SW, NE, -1, -1, 0, -ux - uy)                                                                 \
    X(NT, SB, 0, 1, 1, uy + uz)                                                                    \
    X(NB, ST, 0, 1, -1, uy - uz)                                                                   \
    X(ST, NB, 0, -1, 1, -uy + uz)                                                                  \
    X(SB, NT, 0, -1, -1, -uy - uz)                                                                 \
    X(ET, WB, 1, 0, 1, ux + uz)                                                                    \
    X(EB, WT, 1, 0, -1, ux - uz)                                                                   \
    X(WT, EB, -1, 0, 1, -ux + uz)                                                                  \
    X(WB, ET, -1, 0, -1, -ux - uz)

#define CELL(x, y, z) (((size_t)(z) * (size_t)ny + (size_t)(y)) * (size_t)nx + (size_t)(x))

#define PULL(q, opposite, cx, cy, cz, cu)                                                          \
    in[q] = POPULATION(src, CELL(xs[1 - (cx)], ys[1 - (cy)], zs[1 - (cz)]), q);

#define REFLECT(q, opposite, cx, cy, cz, cu) POPULATION(dst, here, q) = in[opposite];

#define COLLIDE(q, opposite, cx, cy, cz, cu)                                                       \
    {                                                                                              \
        const float c_u = (cu);                                                                    \
        const float weight = weights[(cx) * (cx) + (cy) * (cy) + (cz) * (cz)];                     \
        const float equilibrium = weight * rho * (base + 3.0f * c_u + 4.5f * c_u * c_u);           \
        POPULATION(dst, here, q) = in[q] + rate * (equilibrium - in[q]);                           \
    }

__kernel void step_cells(__global const CELLS *src, __global CELLS *dst, ulong count, int nx,
                         int ny, int nz, float omega, float lid_velocity)
{
    const size_t here = get_global_id(0);
    if (here >= (size_t)nx * (size_t)ny * (size_t)nz)
        return;
    const int x = (int)(here % (size_t)nx);
    const int y = (int)(here / (size_t)nx % (size_t)ny);
    const int z = (int)(here / (size_t)nx / (size_t)ny);

    /* The coordinates before, at and after this cell; the lattice wraps around. */
    const int xs[3] = {x > 0 ? x - 1 : nx - 1, x, x + 1 < nx ? x + 1 : 0};
    const int ys[3] = {y > 0 ? y - 1 : ny - 1, y, y + 1 < ny ? y + 1 : 0};
    const int zs[3] = {z > 0 ? z - 1 : nz - 1, z, z + 1 < nz ? z + 1 : 0};

    float in[DIRECTIONS];
    FOR_EACH_DIRECTION(PULL)

    const uint flags = CONSTANT_FLAGS(src, here);
    FLAGS(dst, here) = flags;
    if (flags == SOLID) {
        FOR_EACH_DIRECTION(REFLECT)
        return;
    }

    float rho = in[C];
    for (int q = 1; q < DIRECTIONS; q++)
        rho += in[q];
    float ux =
        (in[E] + in[NE] + in[SE] + in[ET] + in[EB]) - (in[W] + in[NW] + in[SW] + in[WT] + in[WB]);
    float uy =
        (in[N] + in[NE] + in[NW] + in[NT] + in[NB]) - (in[S] + in[SE] + in[SW] + in[ST] + in[SB]);
    float uz =
        (in[T] + in[NT] + in[ST] + in[ET] + in[WT]) - (in[B] + in[NB] + in[SB] + in[EB] + in[WB]);
    ux /= rho;
    uy /= rho;
    uz /= rho;
    float rate = omega;
    if (flags == LID) {
        ux = lid_velocity;
        uy = 0.0f;
        uz = 0.0f;
        rate = 1.0f;
    }

    const float weights[3] = {1.0f / 3.0f, 1.0f / 18.0f, 1.0f / 36.0f};
    const float base = 1.0f - 1.5f * (ux * ux + uy * uy + uz * uz);
    FOR_EACH_DIRECTION(COLLIDE)
}
