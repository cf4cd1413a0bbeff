/* The tests' kernels: functions of the host, with the values that a launch was given. */
#ifndef KERNELS_H
#define KERNELS_H

#include <stddef.h>

typedef void made_up_kernel(unsigned threads, void **values);

typedef struct {
    float x, y, z;
    int id;
    float w[4];
} particle;

typedef struct {
    double d;
    float f;
    unsigned char c[4];
} mixed;

/* Passed by value; it may lead to an array of particles. */
typedef struct {
    char tag; /* so that the address is at an odd place */
    char address[8];
    char more[7];
} packed_pointer;

#endif
