/*
 * The kernels of a random program, and the ways to launch one: by a function of a module, by a
 * kernel of a library (CUkernel), or by its function here; by cuLaunchKernel, cuLaunchKernelEx with
 * and without attributes, cuLaunchCooperativeKernel; with much shared memory.
 */
#ifndef STARTS_H
#define STARTS_H

#include "calls.h"

enum { MOVE, MIX, FOLD, INSIDE, PAIRS, OPEN, WEIGH, SCALE, REACH, SAMPLE, KERNELS };

extern _Thread_local bool is_captured;       /* the calling thread's launches are recorded */
extern _Thread_local unsigned long launches; /* without those that were recorded */

/* The kernels of an image, by a library if that is asked for. What was loaded before ends. */
void load_kernels(const void *image, bool by_library);

/* The module of the kernels, if it is no library's. */
void *module_of_kernels(void);

/* In the thread's second context, which is the current one. */
void start_elsewhere(int kernel, size_t threads, pointer stream, void **values);

/* By any of the ways; by cuLaunchKernel; and so that it may begin before the kernel in front of it
 * in the stream has ended. */
void start(int kernel, size_t threads, pointer stream, void **values);
void start_plainly(int kernel, size_t threads, pointer stream, void **values);
void start_early(int kernel, size_t threads, pointer stream, void **values);

#endif
