/* The cycle model of transformer.h. In each cycle every register takes its next value at once. */
#include "lab/sim/transformer.h"

#include "base/arithmetic.h"

#include <stdint.h>

restride_status rs_transformer_check(const rs_transformer *t)
{
    size_t tile_bits, chunk_bits;
    if (t->tile == 0 || t->fields == 0 || t->element_bits == 0 || t->bus_bits == 0 ||
        t->bits_per_cycle == 0)
        return rs_fail(RESTRIDE_INVALID_ARGUMENT,
                       "A transformer needs a tile, fields, an element, a bus and a step of 1 or "
                       "more.");
    if (!rs_size_multiply(t->tile, t->element_bits, &tile_bits) ||
        !rs_size_multiply(tile_bits, t->fields, &chunk_bits))
        return rs_fail(RESTRIDE_OVERFLOW,
                       "A chunk of %zu times %zu elements of %zu bits is too "
                       "large for this machine's sizes.",
                       t->tile, t->fields, t->element_bits);
    if (tile_bits % t->bus_bits != 0)
        return rs_fail(RESTRIDE_INVALID_ARGUMENT,
                       "A tile of %zu bits is not made of whole bus words of %zu bits.", tile_bits,
                       t->bus_bits);
    if (t->element_bits % t->bits_per_cycle != 0)
        return rs_fail(RESTRIDE_INVALID_ARGUMENT,
                       "An element of %zu bits cannot be gathered in steps of %zu bits.",
                       t->element_bits, t->bits_per_cycle);
    return RESTRIDE_OK;
}

static size_t tile_words(const rs_transformer *t)
{
    return t->tile * t->element_bits / t->bus_bits;
}

static size_t tile_steps(const rs_transformer *t)
{
    return t->element_bits / t->bits_per_cycle;
}

size_t rs_transformer_words(const rs_transformer *t)
{
    return t->fields * tile_words(t);
}

size_t rs_transformer_array_words(const rs_transformer *t, size_t structures)
{
    size_t bits = structures * t->fields * t->element_bits;
    return bits / t->bus_bits + (bits % t->bus_bits > 0);
}

size_t rs_transformer_bus_cycles(const rs_transformer *t)
{
    return rs_transformer_words(t);
}

size_t rs_transformer_gather_cycles(const rs_transformer *t)
{
    return t->fields * tile_steps(t);
}

size_t rs_transformer_memory_cycles(const rs_transformer *t)
{
    return rs_transformer_words(t);
}

size_t rs_transformer_balanced_bits(const rs_transformer *t)
{
    size_t bits = t->bus_bits / t->tile;
    return bits > 0 && t->bus_bits % t->tile == 0 && t->element_bits % bits == 0 ? bits : 0;
}

static bool ask(bool (*willing)(void *, size_t), const rs_transformer_neighbours *neighbours,
                size_t cycle)
{
    return neighbours == NULL || willing == NULL || willing(neighbours->context, cycle);
}

/*
 * A pipeline of a collector, a shifter and a giver, in both directions: the collector takes words
 * until it has `unit` of them, the shifter makes `steps` steps on each unit and hands something on
 * after every `steps_a_part` of them, the giver gives `words_a_part` words.
 *
 *             collector      shifter            giver
 * forwards    A, a chunk     B to C, K tiles    D, a tile each
 * backwards   D, a tile      C to B, K tiles    A, a chunk after K tiles
 */
typedef struct {
    size_t unit;
    size_t steps;
    size_t steps_a_part;
    size_t words_a_part;
} shape;

typedef struct {
    size_t collected;
    size_t steps_left;
    size_t steps_done; /* of the part */
    bool part_full;
    size_t words_left;
} registers;

/* One cycle. The last word of an array fills its unit. *entered, *left: a word does so in it. */
static registers next(const shape *s, registers now, bool given, bool last, bool taken,
                      bool *entered, bool *left)
{
    registers then = now;
    *left = now.words_left > 0 && taken;
    bool giver_free = now.words_left == 0 || (now.words_left == 1 && *left);
    bool hands_on = now.part_full && giver_free;
    bool steps = now.steps_left > 0 && (!now.part_full || hands_on);
    bool shifter_free = now.steps_left == 0 || (now.steps_left == 1 && steps);
    bool full = now.collected == s->unit;
    bool loads = full && shifter_free;
    *entered = given && (!full || loads);

    then.collected = (loads ? 0 : now.collected) + (*entered ? 1 : 0);
    if (*entered && last)
        then.collected = s->unit;
    if (loads)
        then.steps_left = s->steps;
    else if (steps)
        then.steps_left = now.steps_left - 1;
    bool completes = steps && now.steps_done + 1 == s->steps_a_part;
    if (steps)
        then.steps_done = completes ? 0 : now.steps_done + 1;
    then.part_full = completes || (now.part_full && !hands_on);
    if (hands_on)
        then.words_left = s->words_a_part;
    else if (*left)
        then.words_left = now.words_left - 1;
    return then;
}

static size_t run(const shape *s, size_t words_in, size_t words_out,
                  const rs_transformer_neighbours *neighbours, size_t left_at[])
{
    registers now = {0, 0, 0, false, 0};
    size_t in = 0;
    size_t out = 0;
    size_t cycle = 0;
    for (; out < words_out; cycle++) {
        bool entered, left;
        bool given =
            in < words_in && ask(neighbours == NULL ? NULL : neighbours->gives, neighbours, cycle);
        bool taken = ask(neighbours == NULL ? NULL : neighbours->takes, neighbours, cycle);
        now = next(s, now, given, in + 1 == words_in, taken, &entered, &left);
        in += entered ? 1 : 0;
        if (left && left_at != NULL)
            left_at[out] = cycle;
        out += left ? 1 : 0;
    }
    return cycle;
}

size_t rs_transformer_forward(const rs_transformer *t, size_t structures,
                              const rs_transformer_neighbours *neighbours, size_t left_at[])
{
    const shape s = {rs_transformer_words(t), rs_transformer_gather_cycles(t), tile_steps(t),
                     tile_words(t)};
    size_t chunks = structures / t->tile + (structures % t->tile > 0);
    return run(&s, rs_transformer_array_words(t, structures), chunks * rs_transformer_words(t),
               neighbours, left_at);
}

size_t rs_transformer_backward(const rs_transformer *t, size_t chunks,
                               const rs_transformer_neighbours *neighbours, size_t left_at[])
{
    const shape s = {tile_words(t), tile_steps(t), rs_transformer_gather_cycles(t),
                     rs_transformer_words(t)};
    size_t words = chunks * rs_transformer_words(t);
    return run(&s, words, words, neighbours, left_at);
}

size_t rs_translate_address(size_t address, size_t begin, size_t size, size_t fields, size_t tile)
{
    size_t index = (address - begin) / size;
    size_t within = (address - begin) % size;
    return begin +
           (index / fields % tile + index % fields * tile + index / fields / tile * fields * tile) *
               size +
           within;
}
