#include "engine/settle.h"

static size_t bytes_of(const rs_piece *piece)
{
    return piece->count * piece->unit;
}

static void find_targets(const rs_piece *pieces, size_t count, rs_settled *settled)
{
    for (size_t i = 0; i < count; i++) {
        settled[i] = (rs_settled){.previous = count};
        for (size_t j = 0; j < count; j++)
            if (pieces[j].place < pieces[i].place)
                settled[i].target += bytes_of(&pieces[j]);
    }
}

size_t rs_settle(const rs_piece *pieces, size_t count, rs_settled *settled)
{
    size_t waiting = 0;
    size_t best = 0;
    find_targets(pieces, count, settled);
    for (size_t i = 0; i < count; i++) {
        for (size_t j = 0; j < i; j++)
            if (pieces[j].place < pieces[i].place && settled[j].weight > settled[i].weight) {
                settled[i].weight = settled[j].weight;
                settled[i].previous = j;
            }
        settled[i].weight += bytes_of(&pieces[i]);
        waiting += bytes_of(&pieces[i]);
        if (settled[i].weight > settled[best].weight)
            best = i;
    }
    for (size_t i = best; i < count; i = settled[i].previous) {
        settled[i].kept = true;
        waiting -= bytes_of(&pieces[i]);
    }
    return waiting;
}
