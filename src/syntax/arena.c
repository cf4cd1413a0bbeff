/* Chunks of doubling size, each a list's member, so that freeing a tree is one short loop. */
#include "syntax/arena.h"

#include <stdalign.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { FIRST_CHUNK = 1 << 14, LARGEST_CHUNK = 1 << 20 };

typedef struct rs_syntax_chunk {
    struct rs_syntax_chunk *next;
    size_t size, used;
    alignas(max_align_t) unsigned char bytes[];
} chunk;

static chunk *add_chunk(rs_syntax *tree, size_t wanted)
{
    size_t size = tree->chunks == NULL ? FIRST_CHUNK : tree->chunks->size * 2;
    if (size > LARGEST_CHUNK)
        size = LARGEST_CHUNK;
    if (size < wanted)
        size = wanted;
    chunk *added = calloc(1, sizeof *added + size);
    if (added == NULL)
        return NULL;
    added->size = size;
    added->next = tree->chunks;
    tree->chunks = added;
    return added;
}

void *rs_syntax_allocate(rs_syntax *tree, size_t size)
{
    const size_t unit = alignof(max_align_t);
    if (size > SIZE_MAX / 4) {
        tree->out_of_memory = true;
        return NULL;
    }
    size = (size + unit) / unit * unit; /* never 0 */
    chunk *last = tree->chunks;
    if (last == NULL || last->size - last->used < size)
        last = add_chunk(tree, size);
    if (last == NULL) {
        tree->out_of_memory = true;
        return NULL;
    }
    void *given = last->bytes + last->used;
    last->used += size;
    return given;
}

const char *rs_syntax_copy(rs_syntax *tree, const char *string)
{
    if (string == NULL)
        return NULL;
    const size_t size = strlen(string) + 1;
    char *copy = rs_syntax_allocate(tree, size);
    if (copy != NULL)
        memcpy(copy, string, size);
    return copy;
}

void rs_syntax_free_chunks(rs_syntax *tree)
{
    while (tree->chunks != NULL) {
        chunk *next = tree->chunks->next;
        free(tree->chunks);
        tree->chunks = next;
    }
}
