/*
 * The kernels of the random programs (../kernels.c) on a GPU, with second forms written by hand:
 * ../description.c describes them. Compile it with -fmad=false: both forms compute the same then.
 */
extern "C" {
#include "../kernels.h"
}
#include "../place.h"

#define MEMBER(a, type, i, member)                                                                 \
    (*(decltype(type::member) *)place(a, sizeof(type), i, offsetof(type, member),                  \
                                      sizeof(type::member)))
/* The entry of an array member. */
#define W(a, i, k)                                                                                 \
    (*(float *)place(a, sizeof(particle), i, offsetof(particle, w) + (k) * sizeof(float),          \
                     sizeof(float)))
#define C(a, i, k) (*(unsigned char *)place(a, sizeof(mixed), i, offsetof(mixed, c) + (k), 1))
#define I size_t(blockIdx.x) * blockDim.x + threadIdx.x

static __device__ array own(const void *p)
{
    return {(char *)p, 0, 0, 0};
}

static __device__ array tiles(const void *p, extent e)
{
    return {(char *)p, size_t(e.count), size_t(e.first), 0};
}

/* Forms for full tiles take the last one for full, and begin at a whole one. */
static __device__ array full(const void *p, extent e)
{
    return {(char *)p, (size_t(e.count) + TILE - 1) / TILE * TILE, size_t(e.first) / TILE * TILE, 0};
}

static __device__ void do_move(array a, int n, float k)
{
    const size_t i = I;
    if (i >= size_t(n))
        return;
    MEMBER(a, particle, i, x) += k * MEMBER(a, particle, i, y);
    W(a, i, 2) = MEMBER(a, particle, i, z) + float(i);
    MEMBER(a, particle, i, id) ^= int(i);
}

static __device__ void do_mix(array a, array b, array c, int n)
{
    const size_t i = I, other = size_t(n) - 1 - i;
    if (i >= size_t(n))
        return;
    MEMBER(b, particle, i, z) = MEMBER(a, particle, other, x) + float(MEMBER(c, mixed, i, d));
    MEMBER(c, mixed, i, d) += W(a, i, 1);
    MEMBER(c, mixed, i, f) -= 1;
    C(c, i, 3) = (unsigned char)(C(c, i, 0) + 1);
}

static __device__ void do_fold(array a, float *sums, int n)
{
    const size_t i = I;
    if (i < size_t(n))
        sums[i] += MEMBER(a, particle, i, x) + float(MEMBER(a, particle, i, id));
}

static __device__ void do_inside(array a, packed_pointer p, int n)
{
    const size_t i = I;
    char *behind;
    memcpy(&behind, p.address, sizeof behind);
    if (i < size_t(n))
        MEMBER(a, particle, i, y) += W(own(behind), i, 0) + 1;
}

static __device__ void do_pairs(array a, int n)
{
    const size_t i = I;
    if (i % 2 != 0 || i + 1 >= size_t(n))
        return;
    const float x = MEMBER(a, particle, i, x);
    MEMBER(a, particle, i, x) = MEMBER(a, particle, i + 1, x);
    MEMBER(a, particle, i + 1, x) = x;
    W(a, i + 1, 1) += W(a, i, 3);
    MEMBER(a, particle, i, id) += int(i);
}

#define KERNEL(name) extern "C" __global__ void name
#define ALL_FORMS(M) M(full, full) M(ragged, tiles) M(full_large, full) M(ragged_large, tiles)

KERNEL(move)(particle *a, int n, float k)
{
    do_move(own(a), n, k);
}
#define MOVE(form, in)                                                                             \
    KERNEL(move_##form)(particle * a, int n, float k, extent e)                                    \
    {                                                                                              \
        do_move(in(a, e), n, k);                                                                   \
    }
ALL_FORMS(MOVE)

KERNEL(mix)(const particle *a, particle *b, mixed *c, int n)
{
    do_mix(own(a), own(b), own(c), n);
}
#define MIX(form, in)                                                                              \
    KERNEL(mix_##form)                                                                             \
    (const particle *a, particle *b, mixed *c, int n, extent e, extent f, extent g)                \
    {                                                                                              \
        do_mix(in(a, e), in(b, f), in(c, g), n);                                                   \
    }
ALL_FORMS(MIX)

KERNEL(fold)(const particle *a, float *sums, int n)
{
    do_fold(own(a), sums, n);
}
#define FOLD(form, in)                                                                             \
    KERNEL(fold_##form)(const particle *a, float *sums, int n, extent e)                           \
    {                                                                                              \
        do_fold(in(a, e), sums, n);                                                                \
    }
ALL_FORMS(FOLD)

KERNEL(inside)(particle *a, packed_pointer p, int n)
{
    do_inside(own(a), p, n);
}
#define INSIDE(form, in)                                                                           \
    KERNEL(inside_##form)(particle * a, packed_pointer p, int n, extent e)                         \
    {                                                                                              \
        do_inside(in(a, e), p, n);                                                                 \
    }
ALL_FORMS(INSIDE)

KERNEL(pairs)(particle *a, int n)
{
    do_pairs(own(a), n);
}
KERNEL(pairs_full)(particle *a, int n, extent e)
{
    do_pairs({(char *)a, size_t(e.count), size_t(e.first), 2}, n);
}
KERNEL(pairs_full_large)(particle *a, int n, extent e)
{
    do_pairs({(char *)a, size_t(e.count), size_t(e.first), 2}, n);
}

KERNEL(open_ended)(particle *a, int n)
{
    const size_t i = I;
    if (i < size_t(n))
        a[i].w[3] += 2;
}

KERNEL(weigh)(float *p, int n)
{
    const int i = (int)(blockIdx.x * blockDim.x + threadIdx.x);
    if (i < n)
        p[i] = p[i] * 0.25f + 3;
}

KERNEL(scale)(float *p, int n)
{
    const size_t i = I;
    if (i < size_t(n))
        p[i] = p[i] * 0.5f + 1;
}

KERNEL(reach)(char **table, int n)
{
    const size_t i = I;
    particle *a = (particle *)table[0];
    if (i < size_t(n))
        a[i].y += float(a[i].id) + 3;
}

KERNEL(sample)(cudaTextureObject_t texture, float *sums, int n)
{
    const int i = (int)(blockIdx.x * blockDim.x + threadIdx.x), words = sizeof(particle) / 4;
    if (i < n)
        sums[i] += tex1Dfetch<float>(texture, i * words + 1);
}
