/*
 * Sums and sorting on a device, for rooms that plan there. Numbers have 32 bits.
 *
 * A radix sort from the least digit (D. Merrill and A. Grimshaw, "Revisiting sorting for GPGPU
 * stream architectures", 2010, describe this form), stable; a pass a byte of the greatest key. The
 * kernels are in src/engine/kernels/sort.cl.
 */
#ifndef RS_ENGINE_DEVICE_SORT_H
#define RS_ENGINE_DEVICE_SORT_H

#include "engine/device/device.h"

enum { RS_SORTER_KERNELS = 4, RS_SORTER_LEVELS = 4 };

/* Kernels and tables for one use at a time. */
typedef struct {
    rs_device_engine *engine;
    rs_device_kernel kernels[RS_SORTER_KERNELS];
    rs_device_memory counts;
    rs_device_memory sums[RS_SORTER_LEVELS];
} rs_sorter;

/* Pairs and room for as many; sorting swaps the two. */
typedef struct {
    rs_device_memory keys;
    rs_device_memory values;
    rs_device_memory other_keys;
    rs_device_memory other_values;
} rs_sorter_pairs;

/* RESTRIDE_DEVICE_LIMIT where groups are too small: less than 256 work-items or 24 KiB. */
restride_status rs_sorter_check(const rs_device_engine *engine);

/* For up to `most` numbers, below 2^32. The tables take about 2/5 byte a number. After an error
 * nothing is to be destroyed. */
restride_status rs_sorter_create(rs_sorter *sorter, rs_device_engine *engine, size_t most);
void rs_sorter_destroy(rs_sorter *sorter);

/* Replaces each of the `count` values by the sum of those before it, modulo 2^32. */
void rs_sorter_sum(const rs_sorter *sorter, rs_device_sequence *sequence, rs_device_memory values,
                   size_t count);

/* Waits for the sequence and reads the sum of all values of the last rs_sorter_sum(). */
restride_status rs_sorter_total(const rs_sorter *sorter, rs_device_sequence *sequence, size_t count,
                                size_t *total);

/* Sorts by keys of at most `most_key`; equal keys stay in order. `numbered`: the values are the
 * places of the pairs, 0, 1, ..., and need not be stored. */
void rs_sorter_sort(const rs_sorter *sorter, rs_device_sequence *sequence, rs_sorter_pairs *pairs,
                    size_t count, size_t most_key, bool numbered);

#endif
