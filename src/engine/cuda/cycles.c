/* The cycles of 100!, cut into chains; see cycles.h. */
#include "engine/cuda/cycles.h"
#include "base/cycles.h"

#include <stdbool.h>
#include <stdlib.h>

enum { WORD_BITS = 64 };

typedef struct {
    size_t family;
    size_t length;
} ranked;

static int longer_first(const void *a, const void *b)
{
    size_t x = ((const ranked *)a)->length;
    size_t y = ((const ranked *)b)->length;
    return (x < y) - (x > y);
}

/* The families, the longest cycles first; NULL when memory is short. */
static ranked *rank_families(const rs_cycles *cycles)
{
    ranked *all = malloc((cycles->family_count + 1) * sizeof *all);
    for (size_t f = 0; all != NULL && f < cycles->family_count; f++)
        all[f] = (ranked){f, cycles->families[f].length};
    if (all != NULL && cycles->family_count > 0)
        qsort(all, cycles->family_count, sizeof *all, longer_first);
    return all;
}

static size_t pieces(size_t length, size_t longest)
{
    return (length - 1) / longest + 1;
}

static size_t count_chains(const rs_cycles *cycles, size_t longest)
{
    size_t chains = 0;
    for (size_t f = 0; f < cycles->family_count; f++)
        if (cycles->families[f].length > longest)
            chains += cycles->families[f].count * pieces(cycles->families[f].length, longest);
    return chains;
}

static bool is_short(size_t length)
{
    return length <= RS_CUDA_SHORT_CYCLE;
}

/* The length beyond which cycles are cut: those without a mark, at least. */
static size_t choose_longest(const rs_cycles *cycles, size_t most_chains)
{
    size_t sum = 0;
    for (size_t f = 0; f < cycles->family_count; f++)
        if (!is_short(cycles->families[f].length))
            sum += cycles->families[f].length * cycles->families[f].count;
    if (most_chains < 2)
        return sum + RS_CUDA_SHORT_CYCLE;
    size_t longest = sum / most_chains + 1;
    longest = longest > RS_CUDA_SHORT_CYCLE ? longest : RS_CUDA_SHORT_CYCLE;
    while (count_chains(cycles, longest) > most_chains)
        longest += longest / 16 + 1;
    return longest;
}

/* The chains of a cycle follow each other against the direction in which elements move. */
static void add_chains(rs_cuda_cycles *result, const rs_cycles *cycles, size_t start, size_t length,
                       size_t count)
{
    size_t longer = length % count;
    size_t jump = rs_number_power(cycles->factor, length / count, cycles->modulus);
    size_t longer_jump = rs_number_multiply(jump, cycles->factor, cycles->modulus);
    size_t position = start;
    for (size_t i = 0; i < count; i++) {
        size_t *ends = &result->ends[2 * result->chain_count++];
        ends[0] = position;
        position = rs_number_multiply(position, i < longer ? longer_jump : jump, cycles->modulus);
        ends[1] = position;
    }
}

static void mark(uint64_t *bits, size_t position)
{
    bits[position / WORD_BITS] |= (uint64_t)1 << (position % WORD_BITS);
}

static void add_family(rs_cuda_cycles *result, const rs_cycles *cycles, size_t number,
                       size_t longest)
{
    const rs_cycle_family *family = &cycles->families[number];
    rs_cycle_cursor cursor;
    rs_cycle_cursor_begin(&cursor, cycles, number, 0);
    for (size_t i = 0; i < family->count; i++, rs_cycle_cursor_next(&cursor)) {
        if (is_short(family->length))
            mark(result->marks, cursor.position);
        else if (family->length <= longest)
            result->whole[result->whole_count++] = cursor.position;
        else
            add_chains(result, cycles, cursor.position, family->length,
                       pieces(family->length, longest));
    }
}

static bool take_memory(rs_cuda_cycles *result, const rs_cycles *cycles, size_t longest)
{
    size_t whole = 0;
    bool marks = false;
    for (size_t f = 0; f < cycles->family_count; f++) {
        bool is_marked = is_short(cycles->families[f].length);
        marks = marks || is_marked;
        if (!is_marked && cycles->families[f].length <= longest)
            whole += cycles->families[f].count;
    }
    result->ends = malloc((2 * count_chains(cycles, longest) + 1) * sizeof *result->ends);
    result->whole = malloc((whole + 1) * sizeof *result->whole);
    if (marks) {
        result->mark_words = (cycles->modulus + 1) / WORD_BITS + 1;
        result->marks = calloc(result->mark_words, sizeof *result->marks);
    }
    return result->ends != NULL && result->whole != NULL && (!marks || result->marks != NULL);
}

restride_status rs_cuda_cycles_create(rs_cuda_cycles *cycles, size_t rows, size_t cols,
                                      size_t most_chains)
{
    *cycles = (rs_cuda_cycles){0};
    rs_cycles families;
    restride_status status = rs_cycles_create(&families, rows, cols);
    if (status != RESTRIDE_OK)
        return status;
    size_t longest = choose_longest(&families, most_chains);
    ranked *order = rank_families(&families);
    bool done = order != NULL && take_memory(cycles, &families, longest);
    for (size_t i = 0; done && i < families.family_count; i++)
        add_family(cycles, &families, order[i].family, longest);
    free(order);
    rs_cycles_free(&families);
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
