/*
 * What a call that failed says of what it was to change, a buffer, an array or a matrix: that it is
 * unchanged, or that its content is undefined now. Every function of the device's interface fails
 * at each of its calls in turn, and the bytes are compared with the sentence.
 */
#ifndef RS_TESTS_TRANSFER_TORN_H
#define RS_TESTS_TRANSFER_TORN_H

#include "engine/transfer.h"

typedef struct {
    restride_engine *engine;
    const char *const *functions; /* that the calls use; NULL behind the last */
    const char *launch;           /* the one among them that starts a kernel */
    const char *build;            /* what a program is built with */
    /* From now on the n-th call of the function fails; 0: none does. */
    void (*fail_at)(const char *function, size_t n);
    bool (*has_failed)(void); /* since then */
} torn_device;

/* Runs all tests on a device whose engine has built no program yet, and destroys the engine.
 * Returns how many failed. */
int torn_run(const torn_device *device);

#endif
