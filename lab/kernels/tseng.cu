/*
 * The kernels of Tseng 2014, in AoS and in ASTA as that paper writes it: a pointer for each field's
 * first tile. lab/sim/tseng.c takes its numbers of instructions from here:
 *
 *     nvcc -arch=sm_75 -ptx tseng.cu -o - | awk '/\.entry/ { name = $3 }
 *         /^\t[a-z@%]/ { count[name]++ } END { for (name in count) print name, count[name] }'
 *
 * A turn of SpMV's loop is what lies between its label and the jump back.
 */
enum { W = 32 };

__device__ int thread()
{
    return blockDim.x * blockIdx.x + threadIdx.x;
}

/* ---- Black-Scholes (CUDA SDK) ---- */

struct option {
    float price, strike, years, call, put;
};

__device__ float normal_distribution(float d)
{
    float k = __fdividef(1.0f, 1.0f + 0.2316419f * fabsf(d));
    float sum =
        k * (0.31938153f +
             k * (-0.356563782f + k * (1.781477937f + k * (-1.821255978f + k * 1.330274429f))));
    float tail = 0.39894228f * __expf(-0.5f * d * d) * sum;
    return d > 0 ? 1.0f - tail : tail;
}

__device__ void value(float price, float strike, float years, float rate, float volatility,
                      float *call, float *put)
{
    float root = __fsqrt_rn(years);
    float d1 = __fdividef(__logf(price / strike) + (rate + 0.5f * volatility * volatility) * years,
                          volatility * root);
    float n1 = normal_distribution(d1), n2 = normal_distribution(d1 - volatility * root);
    float discounted = strike * __expf(-rate * years);
    *call = price * n1 - discounted * n2;
    *put = discounted * (1.0f - n2) - price * (1.0f - n1);
}

extern "C" __global__ void options_aos(option *options, float rate, float volatility, int count)
{
    int i = thread();
    if (i >= count)
        return;
    float call, put;
    value(options[i].price, options[i].strike, options[i].years, rate, volatility, &call, &put);
    options[i].call = call;
    options[i].put = put;
}

extern "C" __global__ void options_asta(const float *price, const float *strike, const float *years,
                                        float *calls, float *puts, float rate, float volatility,
                                        int count)
{
    int i = thread();
    if (i >= count)
        return;
    int at = i / W * (W * 5) + i % W;
    float call, put;
    value(price[at], strike[at], years[at], rate, volatility, &call, &put);
    calls[at] = call;
    puts[at] = put;
}

/* ---- LBM (Parboil): D3Q19, populations are pulled from the neighbours ---- */

enum { NX = 120, NY = 120, DIRECTIONS = 19 };
enum { SOLID = 1, LID = 2 };

/* X(direction, its opposite, its x, y and z) */
#define FOR_EACH_DIRECTION(X)                                                                      \
    X(0, 0, 0, 0, 0)                                                                               \
    X(1, 2, 0, 1, 0)                                                                               \
    X(2, 1, 0, -1, 0)                                                                              \
    X(3, 4, 1, 0, 0)                                                                               \
    X(4, 3, -1, 0, 0)                                                                              \
    X(5, 6, 0, 0, 1)                                                                               \
    X(6, 5, 0, 0, -1)                                                                              \
    X(7, 10, 1, 1, 0)                                                                              \
    X(8, 9, -1, 1, 0)                                                                              \
    X(9, 8, 1, -1, 0)                                                                              \
    X(10, 7, -1, -1, 0)                                                                            \
    X(11, 14, 0, 1, 1)                                                                             \
    X(12, 13, 0, 1, -1)                                                                            \
    X(13, 12, 0, -1, 1)                                                                            \
    X(14, 11, 0, -1, -1)                                                                           \
    X(15, 18, 1, 0, 1)                                                                             \
    X(16, 17, 1, 0, -1)                                                                            \
    X(17, 16, -1, 0, 1)                                                                            \
    X(18, 15, -1, 0, -1)

struct cell {
    float f[DIRECTIONS];
    unsigned flags;
};

__device__ void collide(const float *in, unsigned flags, float *out)
{
    if (flags & SOLID) {
#define REFLECT(q, opposite, x, y, z) out[q] = in[opposite];
        FOR_EACH_DIRECTION(REFLECT)
        return;
    }
    float rho = 0, ux = 0, uy = 0, uz = 0;
#define ADD(q, opposite, x, y, z)                                                                  \
    rho += in[q];                                                                                  \
    if (x != 0)                                                                                    \
        ux += x * in[q];                                                                           \
    if (y != 0)                                                                                    \
        uy += y * in[q];                                                                           \
    if (z != 0)                                                                                    \
        uz += z * in[q];
    FOR_EACH_DIRECTION(ADD)
    ux = flags & LID ? 0.005f : __fdividef(ux, rho);
    uy = flags & LID ? 0.002f : __fdividef(uy, rho);
    uz = flags & LID ? 0.0f : __fdividef(uz, rho);
    float square = 1.5f * (ux * ux + uy * uy + uz * uz);
    const float omega = 1.95f;
#define RELAX(q, opposite, x, y, z)                                                                \
    {                                                                                              \
        const int distance = x * x + y * y + z * z;                                                \
        const float weight = distance == 0 ? 1.0f / 3 : distance == 1 ? 1.0f / 18 : 1.0f / 36;     \
        float u = x * ux + y * uy + z * uz;                                                        \
        out[q] = (1 - omega) * in[q] +                                                             \
                 weight * omega * rho * (u * (4.5f * u + 3.0f) + 1.0f - square);                   \
    }
    FOR_EACH_DIRECTION(RELAX)
}

#define NEIGHBOUR(i, x, y, z) ((i) - (x)-NX * (y)-NX * NY * (z))

extern "C" __global__ void cells_aos(const cell *from, cell *to)
{
    int i = thread();
    float in[DIRECTIONS], out[DIRECTIONS];
#define PULL(q, opposite, x, y, z) in[q] = from[NEIGHBOUR(i, x, y, z)].f[q];
    FOR_EACH_DIRECTION(PULL)
    unsigned flags = from[i].flags;
    collide(in, flags, out);
#define STORE(q, opposite, x, y, z) to[i].f[q] = out[q];
    FOR_EACH_DIRECTION(STORE)
    to[i].flags = flags;
}

struct read_tiles {
    const float *f[DIRECTIONS];
    const unsigned *flags;
};
struct written_tiles {
    float *f[DIRECTIONS];
    unsigned *flags;
};

__device__ int place(int i)
{
    return i / W * (W * (DIRECTIONS + 1)) + i % W;
}

extern "C" __global__ void cells_asta(read_tiles from, written_tiles to)
{
    int i = thread();
    float in[DIRECTIONS], out[DIRECTIONS];
#define PULL_TILED(q, opposite, x, y, z) in[q] = from.f[q][place(NEIGHBOUR(i, x, y, z))];
    FOR_EACH_DIRECTION(PULL_TILED)
    unsigned flags = from.flags[place(i)];
    collide(in, flags, out);
#define STORE_TILED(q, opposite, x, y, z) to.f[q][place(i)] = out[q];
    FOR_EACH_DIRECTION(STORE_TILED)
    to.flags[place(i)] = flags;
}

/* ---- SpMV (Parboil), jagged diagonals ---- */

struct entry {
    float value;
    int column;
};

extern "C" __global__ void rows_aos(const entry *entries, const int *starts, const int *lengths,
                                    const int *permutation, const float *vector, float *result,
                                    int count)
{
    int row = thread();
    if (row >= count)
        return;
    float sum = 0;
    int length = lengths[row / W];
#pragma unroll 1
    for (int k = 0; k < length; k++) {
        const entry *at = &entries[starts[k] + row];
        sum += at->value * vector[at->column];
    }
    result[permutation[row]] = sum;
}

extern "C" __global__ void rows_asta(const float *values, const int *columns, const int *starts,
                                     const int *lengths, const int *permutation,
                                     const float *vector, float *result, int count)
{
    int row = thread();
    if (row >= count)
        return;
    float sum = 0;
    int length = lengths[row / W];
#pragma unroll 1
    for (int k = 0; k < length; k++) {
        int i = starts[k] + row;
        int at = i / W * (W * 2) + i % W;
        sum += values[at] * vector[columns[at]];
    }
    result[permutation[row]] = sum;
}
