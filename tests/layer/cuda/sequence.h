/* One random program of calls of the CUDA driver: see program.c. Each thread has its own. */
#ifndef SEQUENCE_H
#define SEQUENCE_H

#include "calls.h"

extern bool by_thread;     /* stream 0 is the thread's */
extern bool calls_unknown; /* a function that nobody knows */
extern bool has_contexts;  /* each thread a second one, now and then */
extern bool forks;

void make_streams(void);
void run_program(unsigned long seed);

/* Launches on pieces of allocations, as allocators hand them out. */
void launch_on_pieces(void);

/* A kernel fills most of a new array (birth.c). What is wrong with it then, or "right". */
const char *check_birth(void *module);

#endif
