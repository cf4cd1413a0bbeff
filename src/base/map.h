/* A table from addresses (handles) to values. Open addressing with linear probing; grows at half
 * full. */
#ifndef RS_BASE_MAP_H
#define RS_BASE_MAP_H

#include <stdbool.h>
#include <stddef.h>

typedef struct {
    const void *key;
    void *value;
} rs_map_entry;

typedef struct {
    rs_map_entry *entries; /* key NULL: free; capacity is a power of two */
    size_t capacity;
    size_t count;
} rs_map;

#define RS_MAP_EMPTY                                                                               \
    {                                                                                              \
        NULL, 0, 0                                                                                 \
    }

/* The value of a key, or NULL. */
void *rs_map_get(const rs_map *map, const void *key);

/* Sets the value (not NULL) of a key (not NULL). False when memory is short; the map is then
 * unchanged. */
bool rs_map_set(rs_map *map, const void *key, void *value);

/* Removes a key, if it is there, and returns its value. */
void *rs_map_remove(rs_map *map, const void *key);

/* Walks over all values: start with *position = 0; NULL at the end. The map must not change
 * meanwhile. */
void *rs_map_next(const rs_map *map, size_t *position);

void rs_map_free(rs_map *map);

#endif
