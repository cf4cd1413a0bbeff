/* See sum.h. */
#include "file/sum.h"

#include <stdlib.h>
#include <string.h>

enum { WORD_BYTES = 8, BLOCK_WORDS = 8, BLOCK_BYTES = 64, HALF_BITS = 32, PART_BYTES = 256 << 10 };

/* The lowest byte comes first on every machine; compilers make one load of it. */
static uint64_t get_word(const unsigned char *bytes)
{
    return (uint64_t)bytes[0] | (uint64_t)bytes[1] << 8 | (uint64_t)bytes[2] << 16 |
           (uint64_t)bytes[3] << 24 | (uint64_t)bytes[4] << 32 | (uint64_t)bytes[5] << 40 |
           (uint64_t)bytes[6] << 48 | (uint64_t)bytes[7] << 56;
}

/* The key of the word at a place: that of its block, and one of the digits of pi in each. */
static uint64_t key_of_block(size_t place)
{
    return rs_sum_mix(rs_sum_mix(3, place / BLOCK_BYTES), 5);
}

static const uint64_t digits[BLOCK_WORDS] = {
    0x243F6A8885A308D3, 0x13198A2E03707344, 0xA4093822299F31D0, 0x082EFA98EC4E6C89,
    0x452821E638D01377, 0xBE5466CF34E90C6C, 0xC0AC29B7C97C50DD, 0x3F84D5B5B5470917,
};

static uint64_t weigh_with(uint64_t key, uint64_t word)
{
    return (uint32_t)word * key + (word >> HALF_BITS) * (key << HALF_BITS | key >> HALF_BITS);
}

static uint64_t weigh(size_t place, uint64_t word)
{
    return weigh_with(key_of_block(place) ^ digits[place / WORD_BYTES % BLOCK_WORDS], word);
}

static uint64_t weigh_block(size_t place, const unsigned char *bytes)
{
    uint64_t key = key_of_block(place);
    uint64_t sum = 0;
    for (size_t i = 0; i < BLOCK_WORDS; i++)
        sum += weigh_with(key ^ digits[i], get_word(bytes + i * WORD_BYTES));
    return sum;
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
    while (count >= WORD_BYTES) {
        bool whole = place % BLOCK_BYTES == 0 && count >= BLOCK_BYTES;
        size_t some = whole ? BLOCK_BYTES : WORD_BYTES;
        sum += whole ? weigh_block(place, next) : weigh(place, get_word(next));
        count -= some;
        next += some;
        place += some;
    }
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
