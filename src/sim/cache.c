/* Places, tags and the order of their use; see cache.h. */
#include "sim/cache.h"

#include <stdlib.h>
#include <string.h>

enum { NO_LINE = 0, HOST_LINE = 64 };

static uint32_t *tags_of(char *set)
{
    return (uint32_t *)(void *)set;
}

static uint16_t *order_of(const rs_sim_cache *cache, char *set)
{
    return (uint16_t *)(void *)(set + cache->order_at);
}

static rs_sim_contents *lines_of(const rs_sim_cache *cache, char *set)
{
    return (rs_sim_contents *)(void *)(set + cache->lines_at);
}

static size_t round_up(size_t bytes, size_t step)
{
    return (bytes + step - 1) / step * step;
}

bool rs_sim_cache_make(rs_sim_cache *made, const rs_sim_cache_shape *shape)
{
    made->ways = shape->ways;
    made->sets = shape->bytes / (shape->ways * RS_SIM_LINE);
    made->by_sets = rs_divider_make(made->sets, UINT32_MAX);
    made->order_at = made->ways * sizeof(uint32_t);
    made->lines_at =
        round_up(made->order_at + made->ways * sizeof(uint16_t), sizeof(rs_sim_contents));
    made->stride = round_up(made->lines_at + made->ways * sizeof(rs_sim_contents), HOST_LINE);
    made->memory = aligned_alloc(HOST_LINE, made->sets * made->stride);
    for (size_t i = 0; made->memory != NULL && i < made->sets; i++) {
        char *set = made->memory + i * made->stride;
        memset(set, 0, made->stride);
        for (size_t place = 0; place < made->ways; place++)
            order_of(made, set)[place] = (uint16_t)place;
    }
    return made->memory != NULL;
}

void rs_sim_cache_free(rs_sim_cache *cache)
{
    free(cache->memory);
}

/* Moves the place that stands `at` places behind the first one to the front. */
static void use_place(uint16_t *order, size_t at)
{
    uint16_t place = order[at];
    memmove(order + 1, order, at * sizeof *order);
    order[0] = place;
}

/* Four places at a time, since most searches in a large cache find nothing. */
static size_t find_place(const uint32_t *tags, size_t ways, uint32_t tag)
{
    enum { AT_ONCE = 4 };
    size_t place = 0;
    while (place + AT_ONCE <= ways && ((tags[place] == tag) | (tags[place + 1] == tag) |
                                       (tags[place + 2] == tag) | (tags[place + 3] == tag)) == 0)
        place += AT_ONCE;
    while (place < ways && tags[place] != tag)
        place++;
    return place;
}

static rs_sim_line line_of(const rs_sim_cache *cache, size_t set, uint32_t tag,
                           rs_sim_contents contents)
{
    if (tag == NO_LINE)
        return (rs_sim_line){0, {0, 0}};
    return (rs_sim_line){(uint64_t)(tag - 1) * cache->sets + set, contents};
}

rs_sim_contents *rs_sim_cache_find(rs_sim_cache *cache, uint64_t line, rs_sim_line *evicted)
{
    const rs_sim_place at = rs_sim_cache_place(cache, line);
    uint32_t *tags = tags_of(at.set);
    rs_sim_contents *lines = lines_of(cache, at.set);
    uint16_t *order = order_of(cache, at.set);
    size_t place = find_place(tags, cache->ways, at.tag);
    evicted->contents.dirty = 0;
    if (place < cache->ways) {
        size_t behind = 0;
        while (order[behind] != place)
            behind++;
        use_place(order, behind);
        return &lines[place];
    }
    use_place(order, cache->ways - 1);
    place = order[0];
    *evicted = line_of(cache, at.number, tags[place], lines[place]);
    tags[place] = at.tag;
    lines[place] = (rs_sim_contents){0, 0};
    return &lines[place];
}

void rs_sim_cache_expect(const rs_sim_cache *cache, uint64_t line)
{
    enum { MOST = 4 };
    const char *set = rs_sim_cache_place(cache, line).set;
    for (size_t i = 0; i < cache->stride && i < MOST * HOST_LINE; i += HOST_LINE)
        __builtin_prefetch(set + i, 1);
}

rs_sim_line rs_sim_cache_drain(rs_sim_cache *cache, size_t i)
{
    size_t number = i / cache->ways;
    char *set = cache->memory + number * cache->stride;
    size_t place = order_of(cache, set)[i % cache->ways];
    rs_sim_contents *at = &lines_of(cache, set)[place];
    const rs_sim_line drained = line_of(cache, number, tags_of(set)[place], *at);
    at->dirty = 0;
    return drained;
}
