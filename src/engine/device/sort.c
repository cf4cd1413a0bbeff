/* The host's half of sums and sorting on a device: tables, and the order of launches. */
#include "engine/device/sort.h"

#include <string.h>

/* As in kernels/sort.cl. */
enum { GROUP = 256, EACH = 15, TILE = GROUP * EACH, DIGIT_BITS = 8, DIGITS = 1 << DIGIT_BITS };
enum { ROUND_DIGITS = 16, WORD = sizeof(uint32_t) };

enum { SUM_TILES, ADD_SUMS, COUNT_DIGITS, PLACE_PAIRS };
static const char *const kernel_names[RS_SORTER_KERNELS] = {"sum_tiles", "add_sums", "count_digits",
                                                            "place_pairs"};

enum {
    SUM_BYTES = (TILE + GROUP) * WORD,
    COUNT_BYTES = DIGITS * WORD,
    PLACE_BYTES = (TILE + GROUP) * WORD + ROUND_DIGITS * GROUP * sizeof(uint16_t)
};

restride_status rs_sorter_check(const rs_device_engine *engine)
{
    if (engine->work_items >= GROUP && engine->local_bytes >= PLACE_BYTES)
        return RESTRIDE_OK;
    return rs_fail(RESTRIDE_DEVICE_LIMIT,
                   "Sorting needs groups of %d work-items with %d bytes of local memory, and the "
                   "device has %zu and %zu; use the host.",
                   (int)GROUP, (int)PLACE_BYTES, engine->work_items, engine->local_bytes);
}

/* Numbers, their sums, the sums of those, until one is left. */
static restride_status allocate_tables(rs_sorter *sorter, size_t most)
{
    const rs_device_operations *device = sorter->engine->device;
    size_t digits = rs_size_divide_up(most, TILE) * DIGITS;
    restride_status status = device->allocate(sorter->engine, digits * WORD, &sorter->counts);
    size_t sums = most > digits ? most : digits;
    for (size_t level = 0; status == RESTRIDE_OK && level < RS_SORTER_LEVELS; level++) {
        sums = rs_size_divide_up(sums, TILE);
        status = device->allocate(sorter->engine, sums * WORD, &sorter->sums[level]);
    }
    return status;
}

restride_status rs_sorter_create(rs_sorter *sorter, rs_device_engine *engine, size_t most)
{
    *sorter = (rs_sorter){.engine = engine};
    restride_status status = rs_sorter_check(engine);
    if (status == RESTRIDE_OK)
        status = rs_device_create_kernels(engine, rs_device_sort_kernels, "", kernel_names,
                                          RS_SORTER_KERNELS, sorter->kernels);
    if (status == RESTRIDE_OK)
        status = allocate_tables(sorter, most);
    if (status != RESTRIDE_OK)
        rs_sorter_destroy(sorter);
    return status;
}

void rs_sorter_destroy(rs_sorter *sorter)
{
    if (sorter->counts != NULL)
        sorter->engine->device->release(sorter->engine, sorter->counts);
    for (int i = 0; i < RS_SORTER_LEVELS; i++)
        if (sorter->sums[i] != NULL)
            sorter->engine->device->release(sorter->engine, sorter->sums[i]);
    *sorter = (rs_sorter){0};
}

static void sum_level(const rs_sorter *sorter, rs_device_sequence *sequence,
                      rs_device_memory values, uint64_t count, size_t level)
{
    size_t tiles = rs_size_divide_up((size_t)count, TILE);
    const rs_device_argument summing[] = {RS_ARGUMENT(values), RS_ARGUMENT(count),
                                          RS_ARGUMENT(sorter->sums[level]),
                                          RS_LOCAL_MEMORY(SUM_BYTES)};
    const rs_device_argument adding[] = {summing[0], summing[1], summing[2]};
    rs_device_launch(sequence, sorter->kernels[SUM_TILES], summing, 4, tiles, 1, GROUP);
    if (tiles <= 1)
        return;
    sum_level(sorter, sequence, sorter->sums[level], tiles, level + 1);
    rs_device_launch(sequence, sorter->kernels[ADD_SUMS], adding, 3, tiles, 1, GROUP);
}

void rs_sorter_sum(const rs_sorter *sorter, rs_device_sequence *sequence, rs_device_memory values,
                   size_t count)
{
    sum_level(sorter, sequence, values, count, 0);
}

restride_status rs_sorter_total(const rs_sorter *sorter, rs_device_sequence *sequence, size_t count,
                                size_t *total)
{
    static const char doing[] = "adding up";
    size_t level = 0;
    for (size_t tiles = rs_size_divide_up(count, TILE); tiles > 1;
         tiles = rs_size_divide_up(tiles, TILE))
        level++;
    uint32_t sum = 0;
    restride_status status =
        rs_device_finish_reading(sequence, &sum, sorter->sums[level], sizeof sum, doing);
    *total = sum;
    return status;
}

static void sort_digit(const rs_sorter *sorter, rs_device_sequence *sequence,
                       const rs_sorter_pairs *pairs, uint64_t count, uint32_t shift,
                       uint32_t numbered)
{
    uint64_t tiles = rs_size_divide_up((size_t)count, TILE);
    const rs_device_argument counting[] = {RS_ARGUMENT(pairs->keys), RS_ARGUMENT(count),
                                           RS_ARGUMENT(shift),       RS_ARGUMENT(sorter->counts),
                                           RS_ARGUMENT(tiles),       RS_LOCAL_MEMORY(COUNT_BYTES)};
    const rs_device_argument placing[] = {RS_ARGUMENT(pairs->keys),
                                          RS_ARGUMENT(pairs->values),
                                          RS_ARGUMENT(count),
                                          RS_ARGUMENT(shift),
                                          RS_ARGUMENT(numbered),
                                          RS_ARGUMENT(sorter->counts),
                                          RS_ARGUMENT(tiles),
                                          RS_ARGUMENT(pairs->other_keys),
                                          RS_ARGUMENT(pairs->other_values),
                                          RS_LOCAL_MEMORY(PLACE_BYTES)};
    rs_device_launch(sequence, sorter->kernels[COUNT_DIGITS], counting,
                     sizeof counting / sizeof counting[0], (size_t)tiles, 1, GROUP);
    rs_sorter_sum(sorter, sequence, sorter->counts, (size_t)tiles * DIGITS);
    rs_device_launch(sequence, sorter->kernels[PLACE_PAIRS], placing,
                     sizeof placing / sizeof placing[0], (size_t)tiles, 1, GROUP);
}

void rs_sorter_sort(const rs_sorter *sorter, rs_device_sequence *sequence, rs_sorter_pairs *pairs,
                    size_t count, size_t most_key, bool numbered)
{
    uint32_t shift = 0;
    do { /* also for keys that are all 0: it numbers the values */
        sort_digit(sorter, sequence, pairs, count, shift, numbered && shift == 0);
        *pairs =
            (rs_sorter_pairs){pairs->other_keys, pairs->other_values, pairs->keys, pairs->values};
        shift += DIGIT_BITS;
    } while (shift < 32 && most_key >> shift > 0);
}
