/*
 * A made-up CUDA driver, as libcuda.so.1: device memory is the process's own, commands run late and
 * in any order that is allowed (commands.h). Modules are shared libraries: those of the engine's
 * kernels, as the emulated compiler makes them (tests/engine/cuda), and those of the tests'
 * kernels, each with the sizes of its parameters (kernels.c).
 *
 * EMULATED_FAIL=NAME:N lets the N-th call of a function fail (tests/engine/cuda/failing.h).
 * MADE_UP_SEED=N gives another order of commands.
 */
#ifndef MADE_UP_H
#define MADE_UP_H

#include "../../engine/cuda/failing.h"
#include "commands.h"

#include <pthread.h>

typedef int result;
enum {
    SUCCESS = 0,
    INVALID_VALUE = 1,
    OUT_OF_MEMORY = 2,
    NOT_INITIALIZED = 3,
    DEINITIALIZED = 4,
    INVALID_CONTEXT = 201,
    INVALID_HANDLE = 400,
    NOT_FOUND = 500,
    NOT_READY = 600,
    UNKNOWN = 999
};

#define EXPORT __attribute__((visibility("default")))

/* The one lock, which each function has. */
extern pthread_mutex_t device;
result leave(result code);
#define BEGIN                                                                                      \
    do {                                                                                           \
        if (driver_is_lost)                                                                        \
            return NOT_INITIALIZED;                                                                \
        pthread_mutex_lock(&device);                                                               \
        if (failing_now(__func__))                                                                 \
            return leave(UNKNOWN);                                                                 \
        command_finish_some();                                                                     \
    } while (0)

extern bool driver_has_ended, driver_is_lost;

void *current_context(void);
made_up_stream *stream_of(uintptr_t handle, bool is_per_thread);

/* Those from OF_POOL on are given back without a wait. */
typedef enum {
    OF_DEVICE,
    MANAGED,
    OF_HOST,
    MAPPED,
    OF_POOL,
    OF_MANAGED_POOL,
    OF_HOST_POOL
} memory_kind;
result allocate(uintptr_t *address, size_t bytes, memory_kind kind);

/* Whether some of these bytes are of no memory. */
bool is_outside(uintptr_t address, size_t bytes);

/* Whether it is memory of another context than the current one. */
bool is_elsewhere(uintptr_t address);

/* Ends the process if something was written beside the memory. */
void check_all_guards(void);

#endif
