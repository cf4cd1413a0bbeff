/*
 * exit() while other threads of the program go on. The C library runs its exit functions one after
 * the other; after that of the device's compiler, a thread inside this compiler crashes. A driver
 * compiles when a program is built, and may compile when a kernel runs for the first time.
 *
 *  1. Once exit() has begun, nothing is built: no program is rewritten, no conversion made.
 *  2. exit() first waits, for a few seconds at most, for what the layer had begun before: builds,
 *     and its commands in the queues. A rewriter that has not answered yet is not waited for. Where
 *     several threads have enqueued commands, buffers that only a kernel which has never run could
 *     restore are restored now.
 *  3. From then on, kernels of the layer are launched only if they have run before. A thread that
 *     needs another one stays in its call until the process is gone. It does not stay for ever, for
 *     an exit function of the program may join it: then its call fails.
 *
 * The thread that ends the process is never held.
 */
#ifndef RS_LAYER_PROCESS_EXIT_H
#define RS_LAYER_PROCESS_EXIT_H

#include "layer/core/state.h"

/* `wait` is called once exit() has begun, without the lock, and waits for what is under way;
 * `has_first_runs`: kernels of the layer were launched for the first time. */
void rs_exit_expect(rs_layer *layer, void (*wait)(rs_layer *layer, bool has_first_runs));

/* Whether exit() has begun. */
bool rs_exit_has_begun(const rs_layer *layer);

/* A compiler is about to work for the layer, or has worked: exit() comes here before it ends that
 * one. Called with the lock. */
void rs_exit_note_compiler(rs_layer *layer) RS_LOCKED;

/* Before a kernel of the layer is launched, which has run before or not: false where it must not be
 * any more. Called with the lock, which it may release for a while. */
bool rs_exit_admits(rs_layer *layer, bool has_run) RS_LOCKED;

#endif
