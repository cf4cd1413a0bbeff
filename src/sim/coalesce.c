/* Coalescing; see coalesce.h. */
#include "sim/coalesce.h"

#include "sim/cache.h"

#include <stdlib.h>
#include <string.h>

enum {
    MOST_TOUCHES = 2 * RS_SIM_MOST_LANES,
    WORDS = RS_SIM_LINE / RS_SIM_WORD,
    SHAPES = 16,
    SHAPE_LANES = 64
};

/* How lanes lie to each other, and the lines they touch by the word that the first one begins with.
 */
typedef struct {
    size_t lanes;
    size_t bytes;
    uint64_t distances[SHAPE_LANES]; /* from the first lane, modulo 2^64 */
    uint16_t counts[WORDS];          /* of touches; 0: not known */
    uint16_t sectors[WORDS];
    rs_sim_touch touches[WORDS][2 * SHAPE_LANES];
} shape;

/* Lines that are put together, by their numbers. */
typedef struct {
    rs_sim_touch touches[MOST_TOUCHES];
    size_t count;
    uint64_t highest; /* number of a line, plus 1 */
} lines;

struct rs_sim_coalescer {
    size_t sector_bytes;
    shape shapes[SHAPES];
    lines found;
};

rs_sim_coalescer *rs_sim_coalescer_create(size_t sector_bytes)
{
    rs_sim_coalescer *made = calloc(1, sizeof *made);
    if (made != NULL)
        made->sector_bytes = sector_bytes;
    return made;
}

void rs_sim_coalescer_destroy(rs_sim_coalescer *coalescer)
{
    free(coalescer);
}

/* ---- bits ---- */

/* Bits of the words [begin, end) of a line. */
static uint32_t word_bits(size_t begin, size_t end)
{
    uint64_t below_end = ((uint64_t)1 << end) - 1;
    return (uint32_t)(below_end & ~(((uint64_t)1 << begin) - 1));
}

uint32_t rs_sim_whole_units(uint32_t bits, size_t unit)
{
    size_t words = unit / RS_SIM_WORD;
    uint32_t whole = 0;
    if (bits == 0 || bits == UINT32_MAX)
        return bits;
    for (size_t w = 0; w < WORDS; w += words) {
        uint32_t part = word_bits(w, w + words);
        whole |= (bits & part) != 0 ? part : 0;
    }
    return whole;
}

/* ---- any access ---- */

/* Accesses mostly go to lines one after another, so a line above all others needs no search. */
static void add_touch(lines *found, uint64_t number, uint32_t words)
{
    size_t i = number < found->highest ? found->count : 0;
    while (i > 0 && found->touches[i - 1].distance != number)
        i--;
    if (i > 0) {
        found->touches[i - 1].words |= words;
        return;
    }
    found->touches[found->count++] = (rs_sim_touch){number, words, 0};
    if (number >= found->highest)
        found->highest = number + 1;
}

/* Neighbouring lanes mostly share a line, so the present one is added when another one comes. */
static void find_lines(lines *found, const uint64_t addresses[], size_t lanes, size_t bytes)
{
    uint64_t present = addresses[0] / RS_SIM_LINE;
    uint32_t words = 0;
    found->count = found->highest = 0;
    for (size_t lane = 0; lane < lanes; lane++) {
        uint64_t number = addresses[lane] / RS_SIM_LINE;
        uint64_t last = addresses[lane] + bytes - 1;
        size_t begin_word = addresses[lane] % RS_SIM_LINE / RS_SIM_WORD;
        size_t end_word = last % RS_SIM_LINE / RS_SIM_WORD + 1;
        if (number != present) {
            add_touch(found, present, words);
            present = number;
            words = 0;
        }
        if (last / RS_SIM_LINE == number) {
            words |= word_bits(begin_word, end_word);
        } else {
            add_touch(found, number, words | word_bits(begin_word, WORDS));
            present = number + 1;
            words = word_bits(0, end_word);
        }
    }
    add_touch(found, present, words);
}

static size_t count_bits(uint32_t bits)
{
    size_t count = 0;
    for (; bits != 0; bits &= bits - 1)
        count++;
    return count;
}

/* Numbers become distances; returns the sectors of all. */
static size_t find_sectors(lines *found, uint64_t first, size_t sector_bytes)
{
    size_t words = 0;
    for (size_t i = 0; i < found->count; i++) {
        rs_sim_touch *touch = &found->touches[i];
        touch->distance -= first;
        touch->whole_sectors = rs_sim_whole_units(touch->words, sector_bytes);
        words += count_bits(touch->whole_sectors);
    }
    return words * RS_SIM_WORD / sector_bytes;
}

static rs_sim_touched coalesce_any(rs_sim_coalescer *coalescer, const uint64_t addresses[],
                                   size_t lanes, size_t bytes)
{
    lines *found = &coalescer->found;
    find_lines(found, addresses, lanes, bytes);
    size_t sectors = find_sectors(found, addresses[0] / RS_SIM_LINE, coalescer->sector_bytes);
    return (rs_sim_touched){found->touches, found->count, sectors};
}

/* ---- accesses like those before ---- */

static bool is_shape(const shape *of, const uint64_t addresses[], size_t lanes, size_t bytes)
{
    uint64_t different = (of->lanes ^ lanes) | (of->bytes ^ bytes);
    if (different != 0)
        return false;
    for (size_t lane = 0; lane < lanes; lane++)
        different |= of->distances[lane] ^ (addresses[lane] - addresses[0]);
    return different == 0;
}

static void make_shape(shape *made, const uint64_t addresses[], size_t lanes, size_t bytes)
{
    made->lanes = lanes;
    made->bytes = bytes;
    for (size_t lane = 0; lane < lanes; lane++)
        made->distances[lane] = addresses[lane] - addresses[0];
    memset(made->counts, 0, sizeof made->counts);
}

/* The place that a shape has among those kept. */
static size_t place_of(const uint64_t addresses[], size_t lanes, size_t bytes)
{
    uint64_t key = (addresses[lanes - 1] - addresses[0]) ^ lanes << 20 ^ (uint64_t)bytes << 40;
    return (size_t)(key * 0x9e3779b97f4a7c15U >> 60) % SHAPES;
}

rs_sim_touched rs_sim_coalesce(rs_sim_coalescer *coalescer, const uint64_t addresses[],
                               size_t lanes, size_t bytes)
{
    if (lanes > SHAPE_LANES || addresses[0] % RS_SIM_WORD != 0)
        return coalesce_any(coalescer, addresses, lanes, bytes);
    shape *like = &coalescer->shapes[place_of(addresses, lanes, bytes)];
    if (!is_shape(like, addresses, lanes, bytes))
        make_shape(like, addresses, lanes, bytes);
    size_t word = addresses[0] % RS_SIM_LINE / RS_SIM_WORD;
    if (like->counts[word] == 0) {
        const rs_sim_touched found = coalesce_any(coalescer, addresses, lanes, bytes);
        like->counts[word] = (uint16_t)found.count;
        like->sectors[word] = (uint16_t)found.sectors;
        memcpy(like->touches[word], found.touches, found.count * sizeof *found.touches);
    }
    return (rs_sim_touched){like->touches[word], like->counts[word], like->sectors[word]};
}
