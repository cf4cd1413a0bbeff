/* A grid of threads that are coroutines of this process, for the emulated driver. */
#ifndef GRID_H
#define GRID_H

#include <stdbool.h>
#include <stdint.h>

typedef void emulated_kernel(uint64_t, uint64_t, uint64_t, uint64_t, uint64_t, uint64_t, uint64_t,
                             uint64_t, uint64_t, uint64_t, uint64_t, uint64_t, uint64_t, uint64_t,
                             uint64_t, uint64_t, uint64_t, uint64_t, uint64_t, uint64_t, uint64_t,
                             uint64_t, uint64_t, uint64_t);
enum { EMULATED_ARGUMENTS = 24 }; /* of a kernel */

typedef struct {
    unsigned blocks;
    unsigned second_blocks;
    unsigned threads; /* a block */
    unsigned shared;  /* bytes a block */
    bool together;    /* all blocks are resident, as a cooperative launch asks */
} emulated_grid;

/* `seen` is where the kernel's library finds the thread that runs. Ends the process when threads
 * wait at a barrier for ever. */
void emulated_run(emulated_kernel *code, const void **seen, const emulated_grid *grid,
                  void *const *arguments);

#endif
