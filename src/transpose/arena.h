/* Memory for what lives as long as a plan is being made: taken piece by piece, freed together. */
#ifndef RS_TRANSPOSE_ARENA_H
#define RS_TRANSPOSE_ARENA_H

#include <stdbool.h>
#include <stddef.h>

typedef struct rs_arena_block rs_arena_block;

typedef struct {
    rs_arena_block *blocks;
    bool failed; /* memory was short once; what was returned then is NULL */
} rs_arena;

/* Zeroed memory for any type; NULL when memory is short. */
void *rs_arena_take(rs_arena *arena, size_t count, size_t size);
void rs_arena_free(rs_arena *arena);

#endif
