/*
 * Sums by which the content of a file is known again. The sum of some bytes depends on their places
 * in the file, and sums of different bytes add up to the sum of all of them, modulo 2^64. So the
 * sum of an array follows its changes: that of what is overwritten goes, that of the new bytes
 * comes, and nothing else is read.
 *
 * A digit of 4 bytes at place p counts digit * key(p), with keys of 32 bits that look random
 * (multilinear hashing: Lemire and Kaser, "Strongly universal string hashing is fast", 2014). Bytes
 * that are not there count as zeros. Contents that differ have the same sum about once in 2^32
 * times. A sum finds accidents, not what somebody forged.
 */
#ifndef RS_FILE_SUM_H
#define RS_FILE_SUM_H

#include "file/file.h"

#include <stdint.h>

/* Of `count` bytes that lie, or will lie, at `place` of a file. */
uint64_t rs_sum_bytes(size_t place, const void *bytes, size_t count);

/* Of what a file holds there; it is read part by part. */
restride_status rs_sum_file(const rs_file *file, size_t place, size_t count, uint64_t *sum);

/* Scrambles a sum with one more word: for checksums of few bytes, whose order matters too. */
static inline uint64_t rs_sum_mix(uint64_t sum, uint64_t word)
{
    sum = (sum ^ word) * 0x9E3779B97F4A7C15u;
    return sum ^ sum >> 32;
}

#endif
