/* Particles that fly freely, as one usually writes it: an array of structures of 40 bytes. */
#include "particles.h"

__global__ void advance(const Particle *from, Particle *to, int count, float time)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= count)
        return;
    Particle p = from[i];
    for (int axis = 0; axis < 3; axis++)
        if (move_along(p.position[axis], p.velocity[axis], time)) {
            p.bounces++;
            p.marked = 1;
        }
    to[i] = p;
}

__global__ void find_bins(const Particle *particles, unsigned *keys, int count)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= count)
        return;
    const Particle &p = particles[i];
    keys[i] = (bin_along(p.position[2]) * BINS + bin_along(p.position[1])) * BINS +
              bin_along(p.position[0]);
}

int main(int argc, char **argv)
{
    return run_particles(
        argc, argv, false,
        [](const Particle *from, Particle *to, int count) {
            advance<<<(count + 127) / 128, 128>>>(from, to, count, 0.01f);
        },
        [](const Particle *from, unsigned *keys, int count) {
            find_bins<<<(count + 127) / 128, 128>>>(from, keys, count);
        });
}
