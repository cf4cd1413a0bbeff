/* Particles in a box of unit size: the host's side, with or without tiles. */
#ifndef EXAMPLES_CUDA_PARTICLES_H
#define EXAMPLES_CUDA_PARTICLES_H

#include "common.h"

struct Particle {
    float position[3], velocity[3];
    float mass;
    int bounces;
    int kind, marked;
};

enum { BINS = 16 };

/* Moves along one axis; walls reflect. */
static __device__ inline bool move_along(float &position, float &velocity, float time)
{
    position = __fadd_rn(position, __fmul_rn(velocity, time));
    if (position >= 0 && position <= 1)
        return false;
    position = position < 0 ? -position : __fadd_rn(2, -position);
    velocity = -velocity;
    return true;
}

static __device__ inline unsigned bin_along(float position)
{
    return min((unsigned)(fminf(fmaxf(position, 0), 1) * BINS), BINS - 1u);
}

/* The same numbers on every machine (Numerical Recipes, section 7.1). */
static std::vector<Particle> make_particles(size_t count)
{
    std::vector<Particle> particles(count);
    unsigned state = 12345;
    const auto next = [&] {
        state = state * 1664525u + 1013904223u;
        return (float)(state >> 8) / 16777216.f;
    };
    for (size_t i = 0; i < count; i++) {
        Particle &p = particles[i];
        p = Particle();
        p.kind = (int)(i % 2);
        p.mass = p.kind == 0 ? 4.f : 1.f;
        for (int axis = 0; axis < 3; axis++) {
            p.position[axis] = next();
            p.velocity[axis] = next() - 0.5f;
        }
    }
    return particles;
}

/* Runs `advance(from, to, count)` again and again, then `bins(from, keys, count)`. */
template <class Advance, class Bins>
static int run_particles(int argc, char **argv, bool is_tiled, Advance advance, Bins bins)
{
    const int count = atoi(option(argc, argv, "--count", "4000003"));
    const int steps = atoi(option(argc, argv, "--steps", "200"));
    const char *dump = option(argc, argv, "--dump", NULL);
    std::vector<Particle> particles = make_particles(count);
    std::vector<unsigned> keys(count);
    const size_t bytes = tiled_bytes(count, sizeof(Particle));
    std::vector<unsigned> tiled(bytes / 4);
    Particle *arrays[2];
    unsigned *device_keys;
    void *start = particles.data();
    if (is_tiled) {
        convert_words(tiled.data(), (unsigned *)start, count, sizeof(Particle), true);
        start = tiled.data();
    }
    const size_t copied = is_tiled ? bytes : count * sizeof(Particle);
    for (Particle *&array : arrays)
        check(cudaMalloc(&array, bytes), "cudaMalloc");
    check(cudaMalloc(&device_keys, count * sizeof *device_keys), "cudaMalloc");
    check(cudaMemcpy(arrays[0], start, copied, cudaMemcpyHostToDevice), "cudaMemcpy");
    Stopwatch watch;
    watch.start();
    for (int k = 0; k < steps; k++)
        advance(arrays[k % 2], arrays[1 - k % 2], count);
    bins(arrays[steps % 2], device_keys, count);
    const float milliseconds = watch.stop();
    check(cudaGetLastError(), "A launch");
    check(cudaMemcpy(start, arrays[steps % 2], copied, cudaMemcpyDeviceToHost), "cudaMemcpy");
    check(cudaMemcpy(keys.data(), device_keys, count * sizeof *device_keys, cudaMemcpyDeviceToHost),
          "cudaMemcpy");
    if (is_tiled)
        convert_words(tiled.data(), (unsigned *)particles.data(), count, sizeof(Particle), false);
    printf("particles: %d, %d steps: kernels %.3f ms, %.3f ms a step\n", count, steps, milliseconds,
           milliseconds / steps);
    if (dump != NULL) {
        std::vector<char> all((const char *)particles.data(),
                              (const char *)(particles.data() + count));
        all.insert(all.end(), (const char *)keys.data(), (const char *)(keys.data() + count));
        write_file(dump, all.data(), all.size());
    }
    for (Particle *array : arrays)
        check(cudaFree(array), "cudaFree");
    check(cudaFree(device_keys), "cudaFree");
    return 0;
}

#endif
