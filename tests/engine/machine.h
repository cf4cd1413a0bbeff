/* A device of the tests, whatever its interface: an engine, and buffers with canaries behind them.
 */
#ifndef RS_TESTS_ENGINE_MACHINE_H
#define RS_TESTS_ENGINE_MACHINE_H

#include "engine/stage.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct {
    restride_engine *engine;
    /* A buffer of the engine's kind with `size` bytes and a canary behind them. */
    void *(*create)(const unsigned char *bytes, size_t size);
    /* False when the canary changed. */
    bool (*read)(void *buffer, unsigned char *bytes, size_t size);
    void (*destroy)(void *buffer);
    void (*enter)(void); /* first in each other thread that makes buffers; NULL: nothing is to do */
    bool finds_races;    /* among them the one of PTTWAC, whose outcome is thrown away */
} test_machine;

/*
 * Each compares element by element with the definition, and fails the test: `count` random stages
 * of each of UNZIP, ZIP, REORDER, JOIN, SPLIT, FUSED and the baselines; `count` random permutations
 * of axes; `count` random pairs of layouts and, unless `reduced`, a list of chosen ones.
 */
void machine_test_stages(const test_machine *machine, uint64_t seed, size_t count);
void machine_test_permutations(const test_machine *machine, uint64_t seed, size_t count);
void machine_test_conversions(const test_machine *machine, uint64_t seed, size_t count,
                              bool reduced);

/* `count` random pairs of layouts and of orders of axes from one buffer to another, and, unless
 * `reduced`, chosen ones: the source stays as it was. And through scratch memory, in place. */
void machine_test_copies(const test_machine *machine, uint64_t seed, size_t count, bool reduced);

/*
 * BOXES and SLOTS, and ON_CHIP where it suits an array, on the device and on the host; arrays of up
 * to `most` bytes.
 */
void machine_test_slots(const test_machine *machine, uint64_t seed, size_t count, size_t most);
void machine_test_on_chip(const test_machine *machine, uint64_t seed, size_t count, size_t most,
                          bool (*suits)(restride_engine *engine, const rs_transpose_task *task));
void machine_test_matrices_on_chip(const test_machine *machine, uint64_t seed);

/* Tunes one shape and looks for its wisdom; before any other plan of the engine. */
void machine_test_tuning(const test_machine *machine);

#endif
