/* A particle, as the host and the kernels see it. The kernels' compiler has the types below; the
 * host borrows them. */
#ifndef PARTICLE_H
#define PARTICLE_H

#ifndef __OPENCL_VERSION__
#include <CL/cl.h>
#define char cl_char
#define int cl_int
#define float cl_float
#define double cl_double
#endif

typedef struct {
    char kind; /* 0: heavy, 1: light */
    float position[3];
    double mass;
    float velocity[3];
    int bounces;
    char marked; /* has ever touched a wall; seven bytes of padding follow */
} particle;

#ifndef __OPENCL_VERSION__
#undef char
#undef int
#undef float
#undef double
#endif

#endif
