/*
 * Six kernels in the manner of published CUDA programs, each in three forms: on an array of
 * structures, with ASTA written by hand, and the first one's own text on restride_pointer. Prints
 * their times and whether all bytes agree. lab/tools/gpu_companion.sh builds and runs it; the
 * accessors of forms.cuh are what Restride's companion writes.
 */
#include "forms.cuh"
#include "forms_accessors.cuh"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

#define CHECK(call)                                                                                \
    do {                                                                                           \
        const cudaError_t e = (call);                                                              \
        if (e != cudaSuccess) {                                                                    \
            fprintf(stderr, "%s: %s\n", #call, cudaGetErrorString(e));                             \
            exit(1);                                                                               \
        }                                                                                          \
    } while (0)

/* ---- arithmetic that all forms share ---- */

__device__ inline unsigned draw(State &s)
{
    const unsigned t = s.v[0] ^ (s.v[0] >> 2);
    s.v[0] = s.v[1], s.v[1] = s.v[2], s.v[2] = s.v[3], s.v[3] = s.v[4];
    s.v[4] = (s.v[4] ^ (s.v[4] << 4)) ^ (t ^ (t << 1));
    return s.v[4] + (s.d += 362437);
}

__device__ inline float draws(State &s)
{
    float sum = 0;
    for (int k = 0; k < 4; k++)
        sum += (float)draw(s) * 2.3e-10f;
    if (s.has_float)
        sum += s.extra_float;
    if (s.has_double)
        sum += (float)s.extra_double;
    s.has_float = sum > 2;
    s.extra_float = sum;
    s.extra_double += 0.5;
    s.has_double ^= 1;
    return sum;
}

struct float3_sum {
    float x, y, z;
};

__device__ inline void attract(float3_sum &a, float x, float y, float z, float ox, float oy,
                               float oz, float mass)
{
    const float dx = ox - x, dy = oy - y, dz = oz - z;
    const float inverse = rsqrtf(dx * dx + dy * dy + dz * dz + 0.01f);
    const float s = mass * inverse * inverse * inverse;
    a.x += dx * s, a.y += dy * s, a.z += dz * s;
}

__device__ inline float2 madd(float2 a, float2 b, float2 c)
{
    return make_float2(c.x + a.x * b.x - a.y * b.y, c.y + a.x * b.y + a.y * b.x);
}

__device__ inline float normal(float x)
{
    return 0.5f * erfcf(-x * 0.70710678f);
}

__device__ inline float price(int type, float strike, float spot, float q, float r, float t,
                              float vol)
{
    const float root = vol * sqrtf(t),
                d1 = (logf(spot / strike) + (r - q + 0.5f * vol * vol) * t) / root;
    const float d2 = d1 - root, a = spot * expf(-q * t), b = strike * expf(-r * t);
    return type ? b * normal(-d2) - a * normal(-d1) : a * normal(d1) - b * normal(d2);
}

/* ---- the programs' own texts, on pointers of any class; GET reads an element as a value ---- */

#define TEXTS(NAME, GET)                                                                           \
    template <class P> __device__ inline void gibbs_##NAME(P p, float *out, int i)                 \
    {                                                                                              \
        State s = p[i] GET;                                                                        \
        out[i] = draws(s);                                                                         \
        p[i] = s;                                                                                  \
    }
TEXTS(raw, )
TEXTS(own, .get())

template <class P>
__device__ inline void dslash(P u, const float2 *__restrict__ in, float2 *__restrict__ out, int i,
                              int n)
{
    float2 sum[3] = {};
    for (int k = 0; k < 4; k++) {
        const int at = (i + (k << 5) + 1) & (n - 1);
        for (int row = 0; row < 3; row++)
            for (int c = 0; c < 3; c++)
                sum[row] = madd(u[4 * i + k].e[row][c], in[3 * at + c], sum[row]);
    }
    for (int row = 0; row < 3; row++)
        out[3 * i + row] = sum[row];
}

template <class P> __device__ inline void shoot(P p, int i)
{
    const float a = p[i].angle * 0.0174532925f, v = p[i].velocity;
    const float s = sinf(a), time = 2 * v * s / 9.8f;
    p[i].time = time;
    p[i].height = v * v * s * s / 19.6f;
    p[i].range = v * time * cosf(a);
}

template <class P> __device__ inline void forces(P p, int i, int n)
{
    float3_sum a = {0, 0, 0};
    const float x = p[i].pos[0], y = p[i].pos[1], z = p[i].pos[2];
    for (int k = 0; k < n; k++)
        attract(a, x, y, z, p[k].pos[0], p[k].pos[1], p[k].pos[2], p[k].mass);
    p[i].acc[0] = a.x;
    p[i].acc[1] = a.y;
    p[i].acc[2] = a.z;
}

template <class P, class Q> __device__ inline void collide(P to, Q from, int i)
{
    float rho = 0;
    for (int k = 0; k < 19; k++)
        rho += from[i].f[k];
    const float rest = from[i].flags & 1 ? 0.5f : 0.9f;
    for (int k = 0; k < 19; k++)
        to[i].f[k] = from[i].f[k] * rest + rho * (1 - rest) / 19;
    to[i].flags = from[i].flags;
}

template <class P> __device__ inline void value(P p, int i)
{
    p[i].value = price(p[i].type, p[i].strike, p[i].spot, p[i].q, p[i].r, p[i].t, p[i].vol);
}

/* ---- ASTA by hand: words of 4 bytes, element i begins at word i + (i & ~31) (S - 1) ---- */

template <int words> __device__ inline int start(int i)
{
    return i + (i & ~31) * (words - 1);
}

__device__ inline void gibbs_hand(unsigned *__restrict__ p, float *out, int i)
{
    unsigned *w = p + start<12>(i);
    double *x = (double *)p + 5 * 32 + i + (i & ~31) * 5;
    State s;
    s.d = w[0];
    for (int k = 0; k < 5; k++)
        s.v[k] = w[32 * (1 + k)];
    s.has_float = (int)w[32 * 6], s.has_double = (int)w[32 * 7];
    s.extra_float = __uint_as_float(w[32 * 8]);
    s.extra_double = *x;
    out[i] = draws(s);
    w[0] = s.d;
    for (int k = 0; k < 5; k++)
        w[32 * (1 + k)] = s.v[k];
    w[32 * 6] = (unsigned)s.has_float, w[32 * 7] = (unsigned)s.has_double;
    w[32 * 8] = __float_as_uint(s.extra_float);
    *x = s.extra_double;
}

__device__ inline void dslash_hand(const float2 *__restrict__ u, const float2 *__restrict__ in,
                                   float2 *__restrict__ out, int i, int n)
{
    float2 sum[3] = {};
    const float2 *site = u + (i & ~31) * 4 * 9 + (i & 31);
    for (int k = 0; k < 4; k++) {
        const int at = (i + (k << 5) + 1) & (n - 1);
        for (int row = 0; row < 3; row++)
            for (int c = 0; c < 3; c++)
                sum[row] = madd(site[(k * 9 + row * 3 + c) * 32], in[3 * at + c], sum[row]);
    }
    for (int row = 0; row < 3; row++)
        out[3 * i + row] = sum[row];
}

__device__ inline void shoot_hand(float *__restrict__ p, int i)
{
    float *w = p + start<5>(i);
    const float a = w[0] * 0.0174532925f, v = w[32];
    const float s = sinf(a), time = 2 * v * s / 9.8f;
    w[3 * 32] = time;
    w[4 * 32] = v * v * s * s / 19.6f;
    w[2 * 32] = v * time * cosf(a);
}

__device__ inline void forces_hand(float *p, int i, int n)
{
    float3_sum a = {0, 0, 0};
    float *w = p + start<10>(i);
    const float x = w[0], y = w[32], z = w[64];
    for (int k = 0; k < n; k++) {
        const float *o = p + start<10>(k);
        attract(a, x, y, z, o[0], o[32], o[64], o[9 * 32]);
    }
    w[6 * 32] = a.x, w[7 * 32] = a.y, w[8 * 32] = a.z;
}

__device__ inline void collide_hand(float *__restrict__ to, const float *__restrict__ from, int i)
{
    const float *w = from + start<20>(i);
    float *o = to + start<20>(i), rho = 0;
    for (int k = 0; k < 19; k++)
        rho += w[32 * k];
    const int flags = __float_as_int(w[32 * 19]);
    const float rest = flags & 1 ? 0.5f : 0.9f;
    for (int k = 0; k < 19; k++)
        o[32 * k] = w[32 * k] * rest + rho * (1 - rest) / 19;
    o[32 * 19] = __int_as_float(flags);
}

__device__ inline void value_hand(float *__restrict__ p, int i)
{
    float *w = p + start<9>(i);
    w[7 * 32] =
        price(__float_as_int(w[0]), w[32], w[2 * 32], w[3 * 32], w[4 * 32], w[5 * 32], w[6 * 32]);
}

/* ---- kernels ---- */

#define I                                                                                          \
    const int i = blockIdx.x * blockDim.x + threadIdx.x;                                           \
    if (i >= n)                                                                                    \
    return

/* KERNEL(name, record, arguments, their types, the text) in its three forms, and for each form of
 * numbers a fourth. */
#define KERNEL(name, R, Q, aos, hand, own)                                                         \
    __global__ void name##_aos(R *__restrict__ p, const R *__restrict__ q,                         \
                               const float *__restrict__ in, float *__restrict__ out, int n)       \
    {                                                                                              \
        I;                                                                                         \
        aos;                                                                                       \
    }                                                                                              \
    __global__ void name##_hand(Q *__restrict__ p, const Q *__restrict__ q,                        \
                                const float *__restrict__ in, float *__restrict__ out, int n)      \
    {                                                                                              \
        I;                                                                                         \
        hand;                                                                                      \
    }                                                                                              \
    template <class F>                                                                             \
    __global__ void name##_own(R *__restrict__ p__, restride_extent e, const R *__restrict__ q__,  \
                               const float *__restrict__ in, float *__restrict__ out, int n)       \
    {                                                                                              \
        const restride_pointer<R, F> p(p__, e);                                                    \
        const restride_pointer<const R, F> q(q__, e);                                              \
        I;                                                                                         \
        own;                                                                                       \
    }
KERNEL(gibbs, State, unsigned, gibbs_raw(p, out, i), gibbs_hand(p, out, i), gibbs_own(p, out, i))
KERNEL(dslash, Matrix, float2, dslash(q, (const float2 *)in, (float2 *)out, i, n),
       dslash_hand(q, (const float2 *)in, (float2 *)out, i, n),
       dslash(q, (const float2 *)in, (float2 *)out, i, n))
KERNEL(projectile, Shot, float, shoot(p, i), shoot_hand(p, i), shoot(p, i))
KERNEL(nbody, Body, float, forces(p, i, n), forces_hand(p, i, n), forces(p, i, n))
KERNEL(lbm, Cell, float, collide(p, q, i), collide_hand(p, q, i), collide(p, q, i))
KERNEL(options, Option, float, value(p, i), value_hand(p, i), value(p, i))

/* ---- layouts ---- */

/* Words, or pairs of them where `pair` says so. */
struct Leaf {
    int at, words;
};

/* Copies records between AoS and tiles of 32 elements of G records. */
__global__ void convert(unsigned *aos, unsigned *asta, const Leaf *leaves, int count, int words,
                        int G, int n, bool back)
{
    I;
    const size_t tile = (size_t)i / (32 * G) * (32 * G), lane = (size_t)i / G % 32;
    unsigned *t = asta + (tile + i % G * 32) * words;
    for (int l = 0; l < count; l++)
        for (int c = 0; c < leaves[l].words; c++) {
            unsigned &a = aos[(size_t)i * words + leaves[l].at + c];
            unsigned &b = t[leaves[l].at * 32 + lane * leaves[l].words + c];
            if (back)
                a = b;
            else
                b = a;
        }
}

static const int rounds = 15;
static int wrong = 0;

struct Problem {
    const char *name;
    int words, G, elements, threads, doubles; /* doubles: the word of one; -1: none */
    bool pairs;                               /* all members are float2 */
};

typedef void (*plain_launch)(unsigned *, unsigned *, float *, float *, int, int);
typedef void (*own_launch)(unsigned *, restride_extent, unsigned *, float *, float *, int, int);
enum { FORMS = 6 }; /* AoS, by hand, and accessors with four forms of numbers */

struct Launches {
    plain_launch aos, hand;
    own_launch own[FORMS - 2]; /* nullptr: there is none */
};

/* The arrays of a problem: as they begin, AoS, tiles, tiles that are only read; others. */
struct Arrays {
    unsigned *fresh, *aos, *asta, *second;
    float *in, *out;
    Leaf *leaves;
    int leaf_count;
    size_t bytes, others;
};

static std::vector<unsigned> numbers(const Problem &s)
{
    std::vector<unsigned> start((size_t)s.elements * s.words);
    for (size_t k = 0; k < start.size(); k++) {
        const float x = 0.5f + (float)((k * 2654435761u) >> 12 & 0xffff) / 65536;
        memcpy(&start[k], &x, 4);
        if (s.doubles >= 0 && (int)(k % s.words) == s.doubles - 1)
            start[k] = 0; /* padding */
    }
    return start;
}

static Arrays make(const Problem &s)
{
    Arrays a;
    std::vector<Leaf> leaves;
    for (int k = 0; k < s.words; k += leaves.back().words)
        leaves.push_back({k, s.pairs || k == s.doubles ? 2 : 1});
    a.leaf_count = (int)leaves.size();
    a.bytes = (size_t)s.elements * s.words * 4;
    a.others = (size_t)s.threads * 6 * 4;
    for (unsigned **p : {&a.fresh, &a.aos, &a.asta, &a.second})
        CHECK(cudaMalloc(p, a.bytes));
    CHECK(cudaMalloc(&a.in, a.others));
    CHECK(cudaMalloc(&a.out, a.others));
    CHECK(cudaMalloc(&a.leaves, leaves.size() * sizeof(Leaf)));
    CHECK(
        cudaMemcpy(a.leaves, leaves.data(), leaves.size() * sizeof(Leaf), cudaMemcpyHostToDevice));
    const std::vector<unsigned> start = numbers(s);
    CHECK(cudaMemcpy(a.fresh, start.data(), a.bytes, cudaMemcpyHostToDevice));
    CHECK(cudaMemset(a.in, 0, a.others));
    CHECK(cudaMemcpy(a.in, start.data(), std::min(a.others, a.bytes), cudaMemcpyHostToDevice));
    return a;
}

static void give_back(const Arrays &a)
{
    for (unsigned *p : {a.fresh, a.aos, a.asta, a.second})
        cudaFree(p);
    cudaFree(a.in), cudaFree(a.out), cudaFree(a.leaves);
}

/* Runs one form once; milliseconds. */
static float run(const Problem &s, const Launches &l, const Arrays &a, int form)
{
    const int blocks = (s.threads + 255) / 256, all = (s.elements + 255) / 256;
    const restride_extent extent = {s.elements, 0};
    float ms;
    cudaEvent_t begin, end;
    CHECK(cudaEventCreate(&begin));
    CHECK(cudaEventCreate(&end));
    CHECK(cudaMemset(a.out, 0, a.others));
    CHECK(cudaMemcpy(a.aos, a.fresh, a.bytes, cudaMemcpyDeviceToDevice));
    CHECK(cudaMemcpy(a.second, a.fresh, a.bytes, cudaMemcpyDeviceToDevice));
    if (form > 0)
        for (unsigned *to : {a.asta, a.second})
            convert<<<all, 256>>>(a.fresh, to, a.leaves, a.leaf_count, s.words, s.G, s.elements,
                                  false);
    CHECK(cudaEventRecord(begin));
    if (form == 0)
        l.aos(a.aos, a.second, a.in, a.out, s.threads, blocks);
    else if (form == 1)
        l.hand(a.asta, a.second, a.in, a.out, s.threads, blocks);
    else
        l.own[form - 2](a.asta, extent, a.second, a.in, a.out, s.threads, blocks);
    CHECK(cudaEventRecord(end));
    CHECK(cudaEventSynchronize(end));
    CHECK(cudaEventElapsedTime(&ms, begin, end));
    if (form > 0)
        convert<<<all, 256>>>(a.aos, a.asta, a.leaves, a.leaf_count, s.words, s.G, s.elements,
                              true);
    CHECK(cudaDeviceSynchronize());
    CHECK(cudaEventDestroy(begin));
    CHECK(cudaEventDestroy(end));
    return ms;
}

/* All bytes that a form leaves: elements in AoS, and the other array. */
static std::vector<unsigned> bytes_of(const Arrays &a)
{
    std::vector<unsigned> result((a.bytes + a.others) / 4);
    CHECK(cudaMemcpy(result.data(), a.aos, a.bytes, cudaMemcpyDeviceToHost));
    CHECK(cudaMemcpy(result.data() + a.bytes / 4, a.out, a.others, cudaMemcpyDeviceToHost));
    return result;
}

static void measure(const Problem &s, const Launches &l)
{
    const Arrays a = make(s);
    std::vector<double> times[FORMS];
    std::vector<unsigned> first;
    for (int round = 0; round < rounds; round++)
        for (int form = 0; form < FORMS; form++) {
            if (form >= 2 && l.own[form - 2] == nullptr)
                continue;
            times[form].push_back(run(s, l, a, form));
            if (round > 0)
                continue;
            if (form == 0)
                first = bytes_of(a);
            else if (bytes_of(a) != first)
                printf("%s: form %d differs\n", s.name, form), wrong = 1;
        }
    double median[FORMS] = {0};
    for (int form = 0; form < FORMS; form++) {
        std::sort(times[form].begin(), times[form].end());
        median[form] = times[form].empty() ? 0 : times[form][rounds / 2];
    }
    printf("%-11s %9d  %8.4f %8.4f %8.4f  %5.2f %5.3f ", s.name, s.elements, median[0], median[1],
           median[2], median[0] / median[2], median[2] / median[1]);
    for (int form = 3; form < FORMS; form++)
        if (median[form] > 0)
            printf(" %5.3f", median[form] / median[1]);
    printf("\n");
    give_back(a);
}

#define OWN(name, R, F)                                                                            \
    [](unsigned *p, restride_extent e, unsigned *q, float *in, float *out, int n, int blocks) {    \
        name##_own<F><<<blocks, 256>>>((R *)p, e, (const R *)q, in, out, n);                       \
    }
#define MEASURE(name, R, Q, ragged, ragged_large, ...)                                             \
    measure(Problem{#name, __VA_ARGS__},                                                           \
            Launches{[](unsigned *p, unsigned *q, float *in, float *out, int n, int blocks) {      \
                         name##_aos<<<blocks, 256>>>((R *)p, (const R *)q, in, out, n);            \
                     },                                                                            \
                     [](unsigned *p, unsigned *q, float *in, float *out, int n, int blocks) {      \
                         name##_hand<<<blocks, 256>>>((Q *)p, (const Q *)q, in, out, n);           \
                     },                                                                            \
                     {OWN(name, R, restride_full), OWN(name, R, restride_full_large), ragged,      \
                      ragged_large}});
#define ALL(name, R, Q, ...)                                                                       \
    MEASURE(name, R, Q, OWN(name, R, restride_ragged), OWN(name, R, restride_ragged_large),        \
            __VA_ARGS__)

int main(int argc, char *argv[])
{
    const int n = argc > 1 ? atoi(argv[1]) : 4 << 20, bodies = argc > 2 ? atoi(argv[2]) : 16384;
    printf(
        "kernel       elements  ms: AoS, hand, accessors; AoS / accessors; accessors / hand with "
        "numbers of 32 bits, 64 bits, and short tiles\n");
    ALL(gibbs, State, unsigned, 12, 1, n, n, 10, false)
    MEASURE(dslash, Matrix, float2, nullptr, nullptr, 18, 4, n, n / 4, -1, true)
    ALL(projectile, Shot, float, 5, 1, n, n, -1, false)
    ALL(nbody, Body, float, 10, 1, bodies, bodies, -1, false)
    ALL(nbody, Body, float, 10, 1, 4 * bodies, 4 * bodies, -1, false)
    ALL(lbm, Cell, float, 20, 1, n, n, -1, false)
    ALL(options, Option, float, 9, 1, n, n, -1, false)
    return wrong;
}
