/* See sum.h. */
#include "file/sum.h"

#include <endian.h>
#include <stdlib.h>
#include <string.h>

enum { DIGIT_BYTES = 4, BLOCK_DIGITS = 64, BLOCK_BYTES = 256, PART_BYTES = 256 << 10 };

/* The first hexadecimal digits of pi behind the point. */
static const uint32_t pi[BLOCK_DIGITS] = {
    0x243F6A88, 0x85A308D3, 0x13198A2E, 0x03707344, 0xA4093822, 0x299F31D0, 0x082EFA98, 0xEC4E6C89,
    0x452821E6, 0x38D01377, 0xBE5466CF, 0x34E90C6C, 0xC0AC29B7, 0xC97C50DD, 0x3F84D5B5, 0xB5470917,
    0x9216D5D9, 0x8979FB1B, 0xD1310BA6, 0x98DFB5AC, 0x2FFD72DB, 0xD01ADFB7, 0xB8E1AFED, 0x6A267E96,
    0xBA7C9045, 0xF12C7F99, 0x24A19947, 0xB3916CF7, 0x0801F2E2, 0x858EFC16, 0x636920D8, 0x71574E69,
    0xA458FEA3, 0xF4933D7E, 0x0D95748F, 0x728EB658, 0x718BCD58, 0x82154AEE, 0x7B54A41D, 0xC25A59B5,
    0x9C30D539, 0x2AF26013, 0xC5D1B023, 0x286085F0, 0xCA417918, 0xB8DB38EF, 0x8E79DCB0, 0x603A180E,
    0x6C9E0E8B, 0xB01E8A3E, 0xD71577C1, 0xBD314B27, 0x78AF2FDA, 0x55605C60, 0xE65525F3, 0xAA55AB94,
    0x57489862, 0x63E81440, 0x55CA396A, 0x2AAB10B6, 0xB4CC5C34, 0x1141E8CE, 0xA15486AF, 0x7C72E993,
};

/* Of digits of a block, from the `first` on. Compilers make vectors of this loop. */
static inline uint64_t weigh(size_t block, size_t first, const unsigned char *bytes, size_t count)
{
    uint32_t key = (uint32_t)rs_sum_mix(rs_sum_mix(3, block), 5);
    uint64_t sum = 0;
    for (size_t i = 0; i < count; i++) {
        uint32_t digit;
        memcpy(&digit, bytes + i * DIGIT_BYTES, sizeof digit);
        sum += (uint64_t)le32toh(digit) * (pi[first + i] ^ key);
    }
    return sum;
}

/* Of some bytes of a block, from `within` on; *done of them are one digit or more. The bytes of a
 * digit that are missing count as zeros. */
static uint64_t weigh_part(size_t block, size_t within, const unsigned char *bytes, size_t count,
                           size_t *done)
{
    unsigned char digit[DIGIT_BYTES] = {0};
    size_t skipped = within % DIGIT_BYTES;
    *done = count / DIGIT_BYTES * DIGIT_BYTES;
    if (skipped == 0 && *done > 0)
        return weigh(block, within / DIGIT_BYTES, bytes, count / DIGIT_BYTES);
    *done = DIGIT_BYTES - skipped < count ? DIGIT_BYTES - skipped : count;
    memcpy(digit + skipped, bytes, *done);
    return weigh(block, within / DIGIT_BYTES, digit, 1);
}

uint64_t rs_sum_bytes(size_t place, const void *bytes, size_t count)
{
    const unsigned char *next = bytes;
    uint64_t sum = 0;
    while (count > 0) {
        size_t within = place % BLOCK_BYTES;
        size_t some = BLOCK_BYTES - within < count ? BLOCK_BYTES - within : count;
        sum += some == BLOCK_BYTES ? weigh(place / BLOCK_BYTES, 0, next, BLOCK_DIGITS)
                                   : weigh_part(place / BLOCK_BYTES, within, next, some, &some);
        count -= some;
        next += some;
        place += some;
    }
    return sum;
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
