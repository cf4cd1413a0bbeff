/*
 * What stages that all devices share cost, in passes at the speed of a copy: fitted to 600 stages
 * of random tensors on one H200 (lab/docs/performance.md), nine in ten of which are within 25 %.
 */
#include "base/arithmetic.h"
#include "engine/boxes.h"

#include <math.h>
#include <stdint.h>

enum {
    LINE_BYTES = 128,
    LONGEST_WORD = 16,
    LAUNCH_BYTES = 4 << 20,
    SIMD_ITEMS = 32,
    NARROW_WORD = 4,
    MOST_SPLIT = 8,        /* words that a work-item has of an element */
    LONG_SPLIT = 4,        /* of the longest words, of an element that several teams have */
    FEW_SPLIT = 4,         /* more take so many registers that fewer work-items are at work */
    BATCH = 8,             /* elements under way */
    SPLIT_BATCH = 4,       /* of which a work-item has several words */
    FEW_ELEMENTS = 1 << 16 /* whose cycles move whole, all at once */
};

/* The largest word that divides so many bytes and every distance between arrays. */
static size_t word_of(const rs_transpose_task *task, size_t bytes)
{
    size_t all = bytes | task->offset | task->pitch | LONGEST_WORD;
    all |= task->repeats > 1 ? task->repeat_pitch : 0;
    return all & -all; /* the lowest bit */
}

/* Elements that move along the cycles of a permutation, whose places have so many digits. */
typedef struct {
    size_t element_bytes;
    size_t elements; /* of an array */
    size_t digits;
} walk_shape;

/*
 * An element touches lines that it has in part, work-items that have none of its words are idle,
 * and its place is worked out by each of the others. Only what the scratch memory keeps of long
 * cycles moves at the same time.
 */
static double walks_cost(const rs_transpose_task *task, const walk_shape *walk,
                         size_t scratch_limit)
{
    double bytes = (double)walk->element_bytes;
    size_t word = word_of(task, walk->element_bytes);
    size_t words = walk->element_bytes / word;
    size_t split = rs_size_divide_up(words, SIMD_ITEMS);
    split = split <= MOST_SPLIT ? split : word < LONGEST_WORD ? MOST_SPLIT : LONG_SPLIT;
    double crowded = split <= FEW_SPLIT || word < NARROW_WORD ? 0
                     : word < LONGEST_WORD                    ? 0.3
                                                              : 0.12;
    size_t lanes = rs_size_divide_up(words, split);
    size_t used = lanes <= SIMD_ITEMS ? SIMD_ITEMS / lanes * lanes : lanes;
    double idle = (double)(rs_size_divide_up(lanes, SIMD_ITEMS) * SIMD_ITEMS) / (double)used - 1;
    double lines = LINE_BYTES - (double)rs_size_gcd(walk->element_bytes, LINE_BYTES);
    double together = (double)rs_size_smaller(words, SIMD_ITEMS * split) * (double)word;
    double under_way = (double)scratch_limit * (split == 1 ? BATCH : SPLIT_BATCH);
    double waits = walk->elements > FEW_ELEMENTS ? 1.4e6 / under_way : 0;
    double tiny = 2.2e4 / (bytes * bytes * bytes); /* elements of less than a sector */
    return 1.17 + tiny + crowded + 0.66 * lines / together + 0.37 / (double)word + 0.07 * idle +
           1.5 * (double)walk->digits / bytes + waits +
           LAUNCH_BYTES / ((double)task->outer * (double)walk->elements * bytes);
}

double rs_reverse_cost(const rs_transpose_task *task, size_t scratch_limit)
{
    size_t tile = rs_size_larger(task->tile, 1);
    size_t inner = task->method == RS_TRANSPOSE_FUSED ? task->inner_rows * task->inner_cols : 1;
    const walk_shape walk = {task->unit * inner, task->rows * task->cols * tile, tile > 1 ? 3 : 2};
    return walks_cost(task, &walk, scratch_limit);
}

static double slots_cost(const rs_transpose_task *task, size_t scratch_limit)
{
    rs_slots slots;
    if (!rs_slots_of(&slots, task) || slots.axes.elements > UINT32_MAX / 2 ||
        slots.phases[0].count == 0)
        return INFINITY;
    const walk_shape walk = {task->unit * task->tile, slots.axes.elements / slots.slot,
                             slots.phases[0].count + slots.phases[1].count + slots.phases[2].count};
    /* Of few slots less is under way at a time. */
    return walks_cost(task, &walk, scratch_limit) + (walk.elements <= FEW_ELEMENTS ? 0.3 : 0);
}

/* Short runs have lines in common with others, a group waits for each of its boxes, and fewer
 * groups are at work where boxes are large. */
static double boxes_cost(const rs_transpose_task *task, size_t box_bytes)
{
    rs_slots slots;
    rs_box_cut cut;
    if (!rs_slots_of(&slots, task) || !rs_boxes_cut(&cut, &slots, task, box_bytes))
        return INFINITY;
    double run = (double)(cut.run * task->unit);
    double access = (double)(cut.vector * cut.word) * (cut.aligned ? 1 : 0.3);
    double narrow = cut.word < NARROW_WORD ? 0.3 : 0;
    return 0.65 + narrow + 18 / run + 3000 / (run * (double)cut.rows) + 3.9 / access +
           (double)cut.local_bytes / 170e3;
}

/* Rows of unequal members pass through local memory, granule by granule; places have 16 bits. */
static double zip_cost(const rs_transpose_task *task, size_t chip_bytes, size_t scratch_limit)
{
    enum { MOST_GRANULES = 65535, MEMBER_BYTES = 8 /* of a granule's entry in a table */ };
    size_t granule = LONGEST_WORD;
    for (size_t i = 0; i < task->piece_count; i++)
        granule = rs_size_gcd(granule, task->pieces[i].unit);
    size_t row = task->cols / granule;
    if (task->cols > chip_bytes / task->rows || row > MOST_GRANULES / task->rows ||
        row * MEMBER_BYTES > scratch_limit)
        return INFINITY;
    return 1.1 + 2 / (double)granule;
}

/* ---- what baselines cost: only the choice of tiles depends on it ---- */

enum { FLAG_BITS = 32, CLAIM_WORD = 8, MOST_CLAIM_WORDS = 64 };

/* Whether a super-element has room on chip, beside the answer to a claim. */
static bool is_held(const rs_transpose_task *task, size_t chip_bytes)
{
    return task->unit + CLAIM_WORD <= chip_bytes;
}

/* Whether a thread can hold an element of a tile. */
static bool is_followed(const rs_transpose_task *task)
{
    size_t word = rs_size_gcd(rs_size_gcd(task->unit, task->offset), CLAIM_WORD);
    if (task->outer > 1)
        word = rs_size_gcd(word, task->pitch);
    return task->unit / word <= MOST_CLAIM_WORDS;
}

static size_t flag_bytes(size_t flags)
{
    return (flags / FLAG_BITS + 1) * sizeof(uint32_t);
}

/* Whether all flags of a tile have room on chip, with one word in 32 more where they are padded. */
static bool has_room_for_flags(const rs_transpose_task *task, size_t chip_bytes)
{
    size_t spreading = task->spreading > 1 ? task->spreading : 1;
    size_t flags = flag_bytes(task->rows * task->cols * spreading);
    return flags + flags / FLAG_BITS + sizeof(uint32_t) <= chip_bytes;
}

static double baseline_cost(const rs_transpose_task *task, size_t chip_bytes, size_t scratch_limit)
{
    double claims = 1000 / (double)task->unit;
    switch (task->method) {
    case RS_TRANSPOSE_PIPT:
        return is_held(task, chip_bytes) ? 40 + claims : INFINITY;
    case RS_TRANSPOSE_PTTWAC:
        return is_held(task, chip_bytes) &&
                       flag_bytes(task->rows * task->cols) <= scratch_limit / task->outer
                   ? 15 + claims
                   : INFINITY;
    case RS_TRANSPOSE_PIPT_PANELS:
        return is_followed(task) ? 40 : INFINITY;
    case RS_TRANSPOSE_PTTWAC_PANELS:
        return is_followed(task) && has_room_for_flags(task, chip_bytes) ? 15 : INFINITY;
    default:
        return INFINITY;
    }
}

/* ---- all of them ---- */

double rs_shared_cost(const rs_transpose_task *task, size_t chip_bytes, size_t box_bytes,
                      size_t scratch_limit)
{
    switch (task->method) {
    case RS_TRANSPOSE_BOXES:
        return boxes_cost(task, box_bytes);
    case RS_TRANSPOSE_SLOTS:
        return slots_cost(task, scratch_limit);
    case RS_TRANSPOSE_REVERSE:
        return rs_reverse_cost(task, scratch_limit);
    case RS_TRANSPOSE_UNZIP:
    case RS_TRANSPOSE_ZIP:
        return zip_cost(task, chip_bytes, scratch_limit);
    default:
        return baseline_cost(task, chip_bytes, scratch_limit);
    }
}

double rs_fused_wait(const rs_transpose_task *task, size_t scratch_limit)
{
    double tile = (double)(task->inner_rows * task->inner_cols * task->unit);
    return 150 * tile / (double)scratch_limit;
}
