/* A table from addresses to values. */
#include "base/map.h"

#include <stdint.h>
#include <stdlib.h>

/* The slot of a key, or the free slot where it would go. The table is never full. */
static size_t slot_of(const rs_map *map, const void *key)
{
    uint64_t hash = (uint64_t)(uintptr_t)key * UINT64_C(0x9E3779B97F4A7C15);
    size_t slot = (size_t)(hash >> 20) & (map->capacity - 1);
    while (map->entries[slot].key != NULL && map->entries[slot].key != key)
        slot = (slot + 1) & (map->capacity - 1);
    return slot;
}

void *rs_map_get(const rs_map *map, const void *key)
{
    if (map->count == 0 || key == NULL)
        return NULL;
    return map->entries[slot_of(map, key)].value;
}

static bool grow(rs_map *map)
{
    rs_map larger = {NULL, map->capacity == 0 ? 16 : map->capacity * 2, map->count};
    larger.entries = calloc(larger.capacity, sizeof *larger.entries);
    if (larger.entries == NULL)
        return false;
    for (size_t i = 0; i < map->capacity; i++)
        if (map->entries[i].key != NULL)
            larger.entries[slot_of(&larger, map->entries[i].key)] = map->entries[i];
    free(map->entries);
    *map = larger;
    return true;
}

bool rs_map_set(rs_map *map, const void *key, void *value)
{
    if (map->count * 2 >= map->capacity && !grow(map))
        return false;
    rs_map_entry *entry = &map->entries[slot_of(map, key)];
    if (entry->key == NULL)
        map->count++;
    *entry = (rs_map_entry){key, value};
    return true;
}

void *rs_map_remove(rs_map *map, const void *key)
{
    if (map->count == 0 || key == NULL)
        return NULL;
    size_t slot = slot_of(map, key);
    void *value = map->entries[slot].value;
    if (map->entries[slot].key == NULL)
        return NULL;
    map->entries[slot] = (rs_map_entry){NULL, NULL};
    map->count--;
    /* Entries behind the gap may have been pushed past it: put them back one by one. */
    for (size_t next = (slot + 1) & (map->capacity - 1); map->entries[next].key != NULL;
         next = (next + 1) & (map->capacity - 1)) {
        rs_map_entry moved = map->entries[next];
        map->entries[next] = (rs_map_entry){NULL, NULL};
        map->entries[slot_of(map, moved.key)] = moved;
    }
    return value;
}

void *rs_map_next(const rs_map *map, size_t *position)
{
    while (*position < map->capacity) {
        const rs_map_entry *entry = &map->entries[(*position)++];
        if (entry->key != NULL)
            return entry->value;
    }
    return NULL;
}

void rs_map_free(rs_map *map)
{
    free(map->entries);
    *map = (rs_map)RS_MAP_EMPTY;
}
