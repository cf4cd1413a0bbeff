/*
 * CUDA C++ on the host: kernels as written and rewritten, compiled together as plain C++ with
 * threads that run one after the other, on the same data; afterwards all members must agree.
 */
#ifndef RS_TESTS_REWRITE_CUDA_HOST_H
#define RS_TESTS_REWRITE_CUDA_HOST_H

#include "base/text.h"

#include <jansson.h>
#include <stdbool.h>

/* Begins a program. */
void cuda_host_begin(rs_text *program);

/* Adds the kernel f(a, b, n) of `source`, whose arrays have elements of the C++ type `type`, and
 * what the reply made of it. False, and nothing added, if both arrays are kept. */
bool cuda_host_add(rs_text *program, const char *title, const char *source, const char *type,
                   const json_t *reply, int number);

/* The compilers that there are: the first comes with -1, the next with its number; -1 at the end.
 * With RESTRIDE_TEST_NVCC it is that program alone, for a card. */
int cuda_host_next(int compiler);

/* Compiles the program of the kernels [0, count), of which `added` says which are there (NULL:
 * all), and runs it; fails the test with what it says. False: it was compiled only, for want of a
 * card. */
bool cuda_host_run(rs_text *program, const bool *added, int count, int compiler);

#endif
