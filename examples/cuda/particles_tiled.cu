/* The same by hand with particles in tiles of 32, as a mark: see common.h. */
#include "particles.h"

enum { POSITION = 0, VELOCITY = 3, BOUNCES = 7, MARKED = 9, WORDS = 10 };

static __device__ inline int word_at(int i, int word)
{
    return ((i >> 5) * WORDS + word) * 32 + (i & 31);
}

__global__ void advance_tiles(const float *from, float *to, int count, float time)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= count)
        return;
    float p[WORDS];
#pragma unroll
    for (int w = 0; w < WORDS; w++)
        p[w] = from[word_at(i, w)];
#pragma unroll
    for (int axis = 0; axis < 3; axis++)
        if (move_along(p[POSITION + axis], p[VELOCITY + axis], time)) {
            p[BOUNCES] = __int_as_float(__float_as_int(p[BOUNCES]) + 1);
            p[MARKED] = __int_as_float(1);
        }
#pragma unroll
    for (int w = 0; w < WORDS; w++)
        to[word_at(i, w)] = p[w];
}

__global__ void find_bins_tiles(const float *particles, unsigned *keys, int count)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= count)
        return;
    const unsigned x = bin_along(particles[word_at(i, 0)]);
    const unsigned y = bin_along(particles[word_at(i, 1)]);
    const unsigned z = bin_along(particles[word_at(i, 2)]);
    keys[i] = (z * BINS + y) * BINS + x;
}

int main(int argc, char **argv)
{
    return run_particles(
        argc, argv, true,
        [](const Particle *from, Particle *to, int count) {
            advance_tiles<<<(count + 127) / 128, 128>>>((const float *)from, (float *)to, count,
                                                        0.01f);
        },
        [](const Particle *from, unsigned *keys, int count) {
            find_bins_tiles<<<(count + 127) / 128, 128>>>((const float *)from, keys, count);
        });
}
