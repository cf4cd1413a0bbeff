/* How many random cases a test runs and from which seed, from its command line: TEST SEED COUNT. */
#ifndef RS_TESTS_RANDOM_CASES_H
#define RS_TESTS_RANDOM_CASES_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

static inline uint64_t number_or_exit(const char *text)
{
    char *end;
    uint64_t number = strtoull(text, &end, 10);
    if (end == text || *end != '\0') {
        fprintf(stderr, "\"%s\" is not a number; call the test with SEED and COUNT\n", text);
        exit(2);
    }
    return number;
}

/* Whether the seed and the count were given; both stay as they are when not. */
static inline bool random_cases(int argc, char **argv, uint64_t *seed, size_t *count)
{
    if (argc != 3)
        return false;
    *seed = number_or_exit(argv[1]) * 1000003;
    *count = number_or_exit(argv[2]);
    return true;
}

#endif
