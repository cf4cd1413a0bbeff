/*
 * A set-associative cache with least recently used lines, of which it knows what is there and what
 * was written, 4 bytes a bit.
 */
#ifndef RS_SIM_CACHE_H
#define RS_SIM_CACHE_H

#include "base/divide.h"
#include "sim/device.h"

#include <stdbool.h>

enum { RS_SIM_WORD = 4 };

typedef struct {
    uint32_t valid;
    uint32_t dirty;
} rs_sim_contents;

/*
 * Sets of `ways` places each. What belongs to a set is side by side: the tags of its places (the
 * line's number / sets + 1, or 0), the order of their use (the last one first), then their
 * contents. Nothing moves when a line is used but its place's number in that order.
 */
typedef struct {
    size_t sets;
    size_t ways;
    rs_divider by_sets;
    size_t stride; /* bytes from set to set */
    size_t order_at;
    size_t lines_at;
    char *memory;
} rs_sim_cache;

/* A line of a cache: its number and what is known of it. */
typedef struct {
    uint64_t number;
    rs_sim_contents contents;
} rs_sim_line;

/* False: there is not enough memory. */
bool rs_sim_cache_make(rs_sim_cache *made, const rs_sim_cache_shape *shape);
void rs_sim_cache_free(rs_sim_cache *cache);

/* Where a line may be. */
typedef struct {
    char *set;
    uint64_t number; /* of the set */
    uint32_t tag;
} rs_sim_place;

static inline rs_sim_place rs_sim_cache_place(const rs_sim_cache *cache, uint64_t line)
{
    uint64_t above = rs_divide_any(&cache->by_sets, line);
    uint64_t set = line - above * cache->sets;
    return (rs_sim_place){cache->memory + set * cache->stride, set, (uint32_t)above + 1};
}

/* The contents of a line that is the one its set used last, as most are; NULL: it is not. */
static inline rs_sim_contents *rs_sim_cache_recent(const rs_sim_cache *cache, uint64_t line)
{
    const rs_sim_place at = rs_sim_cache_place(cache, line);
    const uint32_t *tags = (const uint32_t *)(const void *)at.set;
    uint16_t first = *(const uint16_t *)(const void *)(at.set + cache->order_at);
    rs_sim_contents *lines = (rs_sim_contents *)(void *)(at.set + cache->lines_at);
    return tags[first] == at.tag ? &lines[first] : NULL;
}

/* The contents of any line, to be changed; a new one's are empty. `evicted` gets the line whose
 * place it takes, with nothing dirty where there was none. */
rs_sim_contents *rs_sim_cache_find(rs_sim_cache *cache, uint64_t line, rs_sim_line *evicted);

/* The host's own caches get what a search for this line will need. */
void rs_sim_cache_expect(const rs_sim_cache *cache, uint64_t line);

/* Empties the i-th place, below sets * ways: set by set, what was used last first. */
rs_sim_line rs_sim_cache_drain(rs_sim_cache *cache, size_t i);

#endif
