/* Kernels that run as they were written and rewritten, and must compute the same. */
#ifndef RS_TESTS_BEHAVIOURS_H
#define RS_TESTS_BEHAVIOURS_H

#include "ask.h"
#include "device.h"

/* The records of the cases, with their sizes: plain, mixed with padding, nested, vectors. */
#define RECORDS                                                                                    \
    "typedef struct { float x, y, z; int id; uint next; } P;\n"                                    \
    "struct M { char c; short s; double d; int i; uchar t; };\n"                                   \
    "typedef struct { short a; uchar b; } In;\n"                                                   \
    "struct N { float w; In in; In many[2]; float v[2][3]; uint next; };\n"                        \
    "typedef struct { float4 q; float2 r; float3 s; int k; } V;\n"                                 \
    "enum E { FIRST, SECOND };\n"                                                                  \
    "typedef struct { enum E e; long l; ushort u[3]; } W;\n"                                       \
    "struct L { bool t, u; short s; int k; };\n"                                                   \
    "typedef struct { float4 v; union { float t; int i; struct { short lo, hi; } h; uchar b[4]; "  \
    "}; "                                                                                          \
    "struct { int m; union { uint n; float g; } w[2]; }; union { int4 q; float e[4]; } u; int k; " \
    "} "                                                                                           \
    "U;\n"
enum { P = 20, M = 24, N = 44, V = 64, W = 24, L = 8, U = 64 };

/* Parameters a and b, and the usual beginning. */
#define ONE(T)                                                                                     \
    "kernel void f(global " T " *a, int n) { int i = get_global_id(0); if (i >= n) return; "
#define TWO(T, U)                                                                                  \
    "kernel void f(global " T " *a, global " U " *b, int n) { int i = get_global_id(0); "          \
    "if (i >= n) return; "

/* A kernel f, and what becomes of its arguments. */
typedef struct {
    const char *title, *text;
    size_t sizes[BUFFER_LIMIT]; /* of the elements of a, b, c; 0 ends */
    const char *expected;       /* for each of them: t transformed, k kept */
} behaviour;

/* Runs one kernel of both programs for `n` elements. */
void run_behaviour(const behaviour *b, const char *kernel, cl_program original,
                   cl_program rewritten, const json_t *reply, size_t n);

/* Builds and runs a behaviour in a program of its own; something must be transformed. */
void run_alone(const behaviour *b, const char *options, int tile);

#endif
