/* The cycles of 100!, cut into chains; see cycles.h. */
#include "engine/cuda/cycles.h"

#include <stdbool.h>
#include <stdlib.h>

enum { WORD_BITS = 64 };

typedef struct {
    size_t start;
    size_t length;
} cycle;

typedef struct {
    size_t rows;
    size_t cols;
    size_t total;
    uint64_t *seen;
    cycle *cycles; /* the longer ones */
    size_t count;
    size_t capacity;
    rs_cuda_cycles *result;
} walk;

/* Most of the time goes into this division, and the narrow one takes half as long. */
static size_t source_of(const walk *w, size_t position)
{
    if (w->total <= UINT32_MAX) {
        uint32_t narrow = (uint32_t)position / (uint32_t)w->rows;
        return (position - narrow * w->rows) * w->cols + narrow;
    }
    size_t j = position / w->rows;
    return (position - j * w->rows) * w->cols + j;
}

static bool marked(const uint64_t *bits, size_t position)
{
    return (bits[position / WORD_BITS] >> (position % WORD_BITS) & 1) != 0;
}

static void mark(uint64_t *bits, size_t position)
{
    bits[position / WORD_BITS] |= (uint64_t)1 << (position % WORD_BITS);
}

static bool remember(walk *w, size_t start, size_t length)
{
    if (w->count == w->capacity) {
        size_t capacity = w->capacity * 2 + 64;
        cycle *grown = realloc(w->cycles, capacity * sizeof *grown);
        if (grown == NULL)
            return false;
        w->cycles = grown;
        w->capacity = capacity;
    }
    w->cycles[w->count++] = (cycle){start, length};
    return true;
}

static bool remember_short(walk *w, size_t start)
{
    rs_cuda_cycles *result = w->result;
    if (result->marks == NULL) {
        result->mark_words = w->total / WORD_BITS + 1;
        result->marks = calloc(result->mark_words, sizeof *result->marks);
        if (result->marks == NULL)
            return false;
    }
    mark(result->marks, start);
    return true;
}

static bool find_cycles(walk *w)
{
    for (size_t start = 1; start + 1 < w->total; start++) {
        if (marked(w->seen, start))
            continue;
        size_t length = 0;
        for (size_t at = start; !marked(w->seen, at); at = source_of(w, at)) {
            mark(w->seen, at);
            length++;
        }
        bool kept = length == 1 || (length <= RS_CUDA_SHORT_CYCLE ? remember_short(w, start)
                                                                  : remember(w, start, length));
        if (!kept)
            return false;
    }
    return true;
}

static size_t pieces(size_t length, size_t longest)
{
    return (length - 1) / longest + 1;
}

static size_t count_chains(const walk *w, size_t longest)
{
    size_t chains = 0;
    for (size_t i = 0; i < w->count; i++)
        if (w->cycles[i].length > longest)
            chains += pieces(w->cycles[i].length, longest);
    return chains;
}

/* The length beyond which cycles are cut. */
static size_t choose_longest(const walk *w, size_t most_chains)
{
    size_t sum = 0;
    for (size_t i = 0; i < w->count; i++)
        sum += w->cycles[i].length;
    if (most_chains < 2)
        return sum + 1;
    size_t longest = sum / most_chains + 1;
    while (count_chains(w, longest) > most_chains)
        longest += longest / 16 + 1;
    return longest;
}

/* Its chains follow each other against the direction in which elements move. */
static void cut(const walk *w, const cycle *c, size_t longest)
{
    rs_cuda_cycles *result = w->result;
    size_t count = pieces(c->length, longest);
    size_t position = c->start;
    size_t done = 0;
    for (size_t i = 1; i <= count; i++) {
        size_t until = c->length / count * i + c->length % count * i / count;
        result->ends[2 * result->chain_count] = position;
        for (; done < until; done++)
            position = source_of(w, position);
        result->ends[2 * result->chain_count + 1] = position;
        result->chain_count++;
    }
}

static int longer_first(const void *a, const void *b)
{
    size_t x = ((const cycle *)a)->length;
    size_t y = ((const cycle *)b)->length;
    return (x < y) - (x > y);
}

static bool sort_out(walk *w, size_t most_chains)
{
    rs_cuda_cycles *result = w->result;
    size_t longest = choose_longest(w, most_chains);
    size_t chains = count_chains(w, longest);
    result->ends = malloc((2 * chains + 1) * sizeof *result->ends);
    result->whole = malloc((w->count + 1) * sizeof *result->whole);
    if (result->ends == NULL || result->whole == NULL)
        return false;
    if (w->count > 0)
        qsort(w->cycles, w->count, sizeof *w->cycles, longer_first);
    for (size_t i = 0; i < w->count; i++)
        if (w->cycles[i].length > longest)
            cut(w, &w->cycles[i], longest);
        else
            result->whole[result->whole_count++] = w->cycles[i].start;
    return true;
}

restride_status rs_cuda_cycles_create(rs_cuda_cycles *cycles, size_t rows, size_t cols,
                                      size_t most_chains)
{
    *cycles = (rs_cuda_cycles){0};
    walk w = {.rows = rows, .cols = cols, .total = rows * cols, .result = cycles};
    w.seen = calloc(w.total / WORD_BITS + 1, sizeof *w.seen);
    bool done = w.seen != NULL && find_cycles(&w) && sort_out(&w, most_chains);
    free(w.seen);
    free(w.cycles);
    if (done)
        return RESTRIDE_OK;
    rs_cuda_cycles_free(cycles);
    return rs_fail_memory("the cycles of a transposition");
}

void rs_cuda_cycles_free(rs_cuda_cycles *cycles)
{
    free(cycles->ends);
    free(cycles->whole);
    free(cycles->marks);
    *cycles = (rs_cuda_cycles){0};
}
