/* The records of forms.cu: what published CUDA programs keep in arrays of structures. */
#pragma once

struct State { /* gibbs: a random number generator, 48 bytes */
    unsigned d, v[5];
    int has_float, has_double;
    float extra_float;
    double extra_double;
};
struct Matrix { /* dslash: 72 bytes, 4 of them a site */
    float2 e[3][3];
};
struct Shot { /* projectile: 2 of 5 members are read */
    float angle, velocity, range, time, height;
};
struct Body { /* nbody: 4 of 10 words are read in the inner loop */
    float pos[3], vel[3], acc[3], mass;
};
struct Cell { /* lattice Boltzmann: 19 directions and flags */
    float f[19];
    int flags;
};
struct Option { /* black-scholes: 36 bytes */
    int type;
    float strike, spot, q, r, t, vol, value, tolerance;
};
