/* Plans for irregular references on a device against the host's, whatever the engine. */
#ifndef RS_TESTS_IRREGULAR_DEVICE_CASES_H
#define RS_TESTS_IRREGULAR_DEVICE_CASES_H

#include "restride/engine.h"

#include <stddef.h>
#include <stdint.h>

/* Each fails the test: `count` random cases, with up to `most` numbers or threads. */
void device_test_sums(restride_engine *engine, uint64_t seed, size_t count, size_t most);
void device_test_sorting(restride_engine *engine, uint64_t seed, size_t count, size_t most);
void device_test_plans(restride_engine *engine, uint64_t seed, size_t count, size_t most);
void device_test_bad_input(restride_engine *engine);

#endif
