/*
 * Particles that fly freely in a box of unit size: four kernels over one array of structures.
 *
 * The host passes BINS (bins along each side) and GROUP (work-group size of the reduction) with -D.
 */
#ifdef cl_khr_fp64
#pragma OPENCL EXTENSION cl_khr_fp64 : enable
#endif
#pragma OPENCL FP_CONTRACT OFF

#include "particle.h"

/* Moves every particle for one step; walls reflect it and mark it. */
__kernel void advance(__global const particle *from, __global particle *to, uint count,
                      float time_step)
{
    const size_t i = get_global_id(0);
    if (i >= count)
        return;
    particle p = from[i];
    for (int axis = 0; axis < 3; axis++) {
        p.position[axis] += p.velocity[axis] * time_step;
        if (p.position[axis] < 0.0f || p.position[axis] > 1.0f) {
            p.position[axis] =
                p.position[axis] < 0.0f ? -p.position[axis] : 2.0f - p.position[axis];
            p.velocity[axis] = -p.velocity[axis];
            p.bounces++;
            p.marked = 1;
        }
    }
    to[i] = p;
}

static uint bin_along(float position)
{
    return min((uint)(clamp(position, 0.0f, 1.0f) * (float)BINS), (uint)BINS - 1u);
}

/* The bin of each particle, a key to sort by. */
__kernel void find_bins(__global const particle *particles, uint count, __global uint *keys)
{
    const size_t i = get_global_id(0);
    if (i >= count)
        return;
    const uint x = bin_along(particles[i].position[0]);
    const uint y = bin_along(particles[i].position[1]);
    const uint z = bin_along(particles[i].position[2]);
    keys[i] = (z * BINS + y) * BINS + x;
}

static double kinetic_energy(__global const particle *p)
{
    double square = 0.0;
    for (int axis = 0; axis < 3; axis++)
        square += (double)p->velocity[axis] * (double)p->velocity[axis];
    return 0.5 * p->mass * square;
}

/* The energy and the wall contacts of each work-group, added in the same order in every run. */
__kernel void sum_groups(__global const particle *particles, uint count, __global double *energies,
                         __global int *bounces)
{
    __local double group_energy[GROUP];
    __local int group_bounces[GROUP];
    const size_t i = get_global_id(0);
    const size_t lane = get_local_id(0);
    group_energy[lane] = i < count ? kinetic_energy(&particles[i]) : 0.0;
    group_bounces[lane] = i < count ? particles[i].bounces : 0;
    for (size_t half_width = GROUP / 2; half_width > 0; half_width /= 2) {
        barrier(CLK_LOCAL_MEM_FENCE);
        if (lane < half_width) {
            group_energy[lane] += group_energy[lane + half_width];
            group_bounces[lane] += group_bounces[lane + half_width];
        }
    }
    if (lane == 0) {
        energies[get_group_id(0)] = group_energy[0];
        bounces[get_group_id(0)] = group_bounces[0];
    }
}

/* A hash of each particle's bits (FNV-1a over words), without the padding. */
__kernel void fingerprint(__global const particle *particles, uint count, __global uint *hashes)
{
    const size_t i = get_global_id(0);
    if (i >= count)
        return;
    __global const uint *words = (__global const uint *)&particles[i];
    const uint last = sizeof(particle) / 4 - 2; /* the word of `marked` */
    uint hash = 2166136261u;
    for (uint word = 0; word <= last; word++) {
        const uint mask = word == 0 || word == last ? 0xffu : 0xffffffffu;
        hash = (hash ^ (words[word] & mask)) * 16777619u;
    }
    hashes[i] = hash;
}
