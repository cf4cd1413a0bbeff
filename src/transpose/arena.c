/* Memory that is freed together; see arena.h. */
#include "transpose/arena.h"
#include "base/arithmetic.h"

#include <stddef.h>
#include <stdlib.h>

enum { BLOCK_BYTES = 16 << 10 };

struct rs_arena_block {
    rs_arena_block *next;
    size_t used;
    size_t size;
    max_align_t bytes[];
};

static rs_arena_block *add_block(rs_arena *arena, size_t bytes)
{
    size_t size = bytes > BLOCK_BYTES ? bytes : BLOCK_BYTES;
    rs_arena_block *block = calloc(1, sizeof *block + size);
    if (block == NULL)
        return NULL;
    block->size = size;
    block->next = arena->blocks;
    arena->blocks = block;
    return block;
}

void *rs_arena_take(rs_arena *arena, size_t count, size_t size)
{
    size_t bytes;
    bool fits = rs_size_multiply(count, size, &bytes) &&
                rs_size_round_up(bytes, sizeof(max_align_t), &bytes);
    rs_arena_block *block = arena->blocks;
    if (fits && (block == NULL || block->size - block->used < bytes))
        block = bytes <= (size_t)-1 - sizeof *block ? add_block(arena, bytes) : NULL;
    if (!fits || block == NULL) {
        arena->failed = true;
        return NULL;
    }
    void *taken = (char *)block->bytes + block->used;
    block->used += bytes;
    return taken;
}

void rs_arena_free(rs_arena *arena)
{
    while (arena->blocks != NULL) {
        rs_arena_block *next = arena->blocks->next;
        free(arena->blocks);
        arena->blocks = next;
    }
}
