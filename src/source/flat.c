/* See flat.h. */
#include "source/flat.h"

#include <stdlib.h>
#include <string.h>

void rs_flat_locate(const rs_flat *flat, size_t offset, const char **file, size_t *line)
{
    *file = "";
    *line = 0;
    size_t low = 0, high = flat->place_count; /* the wanted place is in [low - 1, high - 1] */
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (flat->places[middle].offset <= offset)
            low = middle + 1;
        else
            high = middle;
    }
    if (low == 0)
        return;
    const rs_place *place = &flat->places[low - 1];
    *file = flat->files[place->file];
    *line = place->line;
    for (size_t i = place->offset; i < offset && i < flat->size; i++)
        if (flat->text[i] == '\n')
            (*line)++;
}

void rs_flat_free(rs_flat *flat)
{
    free(flat->text);
    free(flat->shown);
    for (size_t i = 0; i < flat->file_count; i++)
        free(flat->files[i]);
    free(flat->files);
    free(flat->is_read);
    free(flat->places);
    for (size_t i = 0; i < flat->unknown_count; i++)
        free(flat->unknown[i].name);
    free(flat->unknown);
    free(flat->failure);
    free(flat->failure_file);
    memset(flat, 0, sizeof *flat);
}
