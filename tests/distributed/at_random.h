/* Random redistributions among threads, against the definition. */
#ifndef RS_TESTS_DISTRIBUTED_AT_RANDOM_H
#define RS_TESTS_DISTRIBUTED_AT_RANDOM_H

#include "../engine/machine.h"

/* `count` of them, from a seed on, in memory of the host (NULL) or of a device. Fails the test. */
size_t redistribute_at_random(const test_machine *device, uint64_t seed, size_t count);

#endif
