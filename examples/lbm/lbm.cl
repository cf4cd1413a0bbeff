/*
 * One time step of the D3Q19 lattice-Boltzmann method: every cell pulls the populations that move
 * into it from its 19 neighbours, collides them (BGK) and stores the result.
 *
 * Solid cells return what they receive (bounce-back); cells of the moving lid take its velocity.
 */
#pragma OPENCL FP_CONTRACT OFF

/* The 19 directions: C centre; N and S along y, E and W along x, T and B along z. */
enum { C, N, S, E, W, T, B, NE, NW, SE, SW, NT, NB, ST, SB, ET, EB, WT, WB, DIRECTIONS };
enum { FLUID, SOLID, LID };

/* The host's lbm.c has the same declaration. */
typedef struct {
    float f[DIRECTIONS];
    uint flags;
} cell;

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
    in[q] = src[CELL(xs[1 - (cx)], ys[1 - (cy)], zs[1 - (cz)])].f[q];

#define REFLECT(q, opposite, cx, cy, cz, cu) dst[here].f[q] = in[opposite];

#define COLLIDE(q, opposite, cx, cy, cz, cu)                                                       \
    {                                                                                              \
        const float c_u = (cu);                                                                    \
        const float weight = weights[(cx) * (cx) + (cy) * (cy) + (cz) * (cz)];                     \
        const float equilibrium = weight * rho * (base + 3.0f * c_u + 4.5f * c_u * c_u);           \
        dst[here].f[q] = in[q] + rate * (equilibrium - in[q]);                                     \
    }

__kernel void step_cells(__global const cell *src, __global cell *dst, int nx, int ny, int nz,
                         float omega, float lid_velocity)
{
    const int x = (int)get_global_id(0);
    const int y = (int)get_global_id(1);
    const int z = (int)get_global_id(2);
    if (x >= nx || y >= ny || z >= nz)
        return;

    /* The coordinates before, at and after this cell; the lattice wraps around. */
    const int xs[3] = {x > 0 ? x - 1 : nx - 1, x, x + 1 < nx ? x + 1 : 0};
    const int ys[3] = {y > 0 ? y - 1 : ny - 1, y, y + 1 < ny ? y + 1 : 0};
    const int zs[3] = {z > 0 ? z - 1 : nz - 1, z, z + 1 < nz ? z + 1 : 0};
    const size_t here = CELL(x, y, z);

    float in[DIRECTIONS];
    FOR_EACH_DIRECTION(PULL)

    const uint flags = src[here].flags;
    dst[here].flags = flags;
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
