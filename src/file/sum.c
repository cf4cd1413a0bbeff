/* See sum.h. */
#include "file/sum.h"

#include <stdlib.h>
#include <string.h>

enum { WORD_BYTES = 8, HALF_BITS = 32, PART_BYTES = 1 << 20 };

/* The lowest byte comes first on every machine; compilers make one load of it. */
static uint64_t get_word(const unsigned char *bytes)
{
    return (uint64_t)bytes[0] | (uint64_t)bytes[1] << 8 | (uint64_t)bytes[2] << 16 |
           (uint64_t)bytes[3] << 24 | (uint64_t)bytes[4] << 32 | (uint64_t)bytes[5] << 40 |
           (uint64_t)bytes[6] << 48 | (uint64_t)bytes[7] << 56;
}

static uint64_t weigh(size_t place, uint64_t word)
{
    uint64_t key = rs_sum_mix(rs_sum_mix(3, place), 5);
    return (uint32_t)word * key + (word >> HALF_BITS) * (key << HALF_BITS | key >> HALF_BITS);
}

/* Some bytes of the word at `place`; the others count as zeros. */
static uint64_t weigh_some(size_t place, size_t within, const unsigned char *bytes, size_t count)
{
    unsigned char word[WORD_BYTES] = {0};
    memcpy(word + within, bytes, count);
    return weigh(place, get_word(word));
}

uint64_t rs_sum_bytes(size_t place, const void *bytes, size_t count)
{
    const unsigned char *next = bytes;
    uint64_t sum = 0;
    size_t within = place % WORD_BYTES;
    if (within != 0 && count > 0) {
        size_t some = WORD_BYTES - within < count ? WORD_BYTES - within : count;
        sum = weigh_some(place - within, within, next, some);
        next += some;
        place += some;
        count -= some;
    }
    for (; count >= WORD_BYTES; count -= WORD_BYTES, next += WORD_BYTES, place += WORD_BYTES)
        sum += weigh(place, get_word(next));
    return count == 0 ? sum : sum + weigh_some(place, 0, next, count);
}

restride_status rs_sum_file(const rs_file *file, size_t place, size_t count, uint64_t *sum)
{
    size_t most = count < PART_BYTES ? count : PART_BYTES;
    unsigned char *part = malloc(most + 1);
    restride_status status = part == NULL ? rs_fail_memory("a part of a file") : RESTRIDE_OK;
    *sum = 0;
    while (status == RESTRIDE_OK && count > 0) {
        size_t bytes = count < most ? count : most;
        status = rs_file_read(file, place, part, bytes);
        *sum += status == RESTRIDE_OK ? rs_sum_bytes(place, part, bytes) : 0;
        place += bytes;
        count -= bytes;
    }
    free(part);
    return status;
}
