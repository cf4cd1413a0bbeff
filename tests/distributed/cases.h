/* Random redistributions, and where each byte belongs, by the definition of layouts alone. */
#ifndef RS_TESTS_DISTRIBUTED_CASES_H
#define RS_TESTS_DISTRIBUTED_CASES_H

#include "../engine/machine.h"
#include "restride/distributed.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { CASE_TEXT_BYTES = 2048, CASE_MOST_PROCESSES = 9 };
enum { CASE_MIRROR_EACH = 8 }; /* seeds; a multiple is a square matrix, by rows and by columns */

/* Where one element, or one member of a record, lies. */
typedef struct {
    size_t process;
    size_t offset;
} place;

typedef struct {
    int processes;
    char dims[CASE_TEXT_BYTES];
    char layouts[2][CASE_TEXT_BYTES];
    size_t elem_size; /* 0 with a record */
    size_t scratch_bytes;
    size_t count;     /* of elements, or of members of all records */
    size_t *sizes;    /* of each */
    place *places[2]; /* of each, before and afterwards */
    size_t bytes[2][CASE_MOST_PROCESSES];
} redistribution_case;

/* The case of a seed; free_case() frees what it has. */
void make_case(redistribution_case *c, uint64_t seed);
void free_case(redistribution_case *c);

/* What a process holds before, and whether it holds what it should afterwards. */
void fill_part(const redistribution_case *c, size_t process, unsigned char *part);
bool part_is_right(const redistribution_case *c, size_t process, const unsigned char *part);

/* Runs the plan of a process on its part, in a buffer of exactly that size between guards, which
 * is memory of the host, or of a device. NULL: all is as it should be; otherwise what is wrong,
 * valid until the thread's next call of the library. */
const char *run_case(const redistribution_case *c, size_t process, restride_plan *plan,
                     const test_machine *device);

#endif
