/* Plans for irregular references on a device against the host's, whatever the engine. */
#ifndef RS_TESTS_IRREGULAR_DEVICE_CASES_H
#define RS_TESTS_IRREGULAR_DEVICE_CASES_H

#include "restride/engine.h"

#include <stddef.h>
#include <stdint.h>

typedef struct {
    restride_engine *engine;
    uint64_t seed;
    size_t count;        /* random cases of each kind */
    size_t most;         /* numbers to add up or to sort */
    size_t most_threads; /* of a plan */
} device_cases;

/* Runs all tests; how many failed. */
int device_cases_run(const device_cases *cases);

#endif
