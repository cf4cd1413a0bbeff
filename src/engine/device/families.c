/*
 * Pieces of the cycles of a multiplication modulo a number: 100!, 1000! with 0010!, and most column
 * shuffles. Families of cycles are found here (base/cycles.h), and a kernel
 * (src/engine/kernels/families.cl) has a work-item for each piece and each short cycle, so it takes
 * as long for a matrix of any size.
 */
#include "base/cycles.h"
#include "engine/device/chains.h"

#include <stdlib.h>

/* What a cycle is divided into; 0: it stays whole. */
static size_t pieces_of(const rs_cycle_family *family, size_t length)
{
    if (length >= RS_CHAINS_WHOLE || family->length <= RS_CHAINS_SHORT_PIECES * length)
        return 0;
    return rs_size_divide_up(family->length, length);
}

static size_t count_pieces(const rs_chains_plan *plan, const rs_cycles *cycles, size_t length)
{
    size_t pieces = 0;
    for (size_t f = 0; f < cycles->family_count; f++)
        pieces += cycles->families[f].count * pieces_of(&cycles->families[f], length);
    return pieces * plan->fields;
}

static size_t count_leaders(const rs_chains_plan *plan, const rs_cycles *cycles)
{
    size_t leaders = 0;
    for (size_t f = 0; f < cycles->family_count; f++)
        if (pieces_of(&cycles->families[f], plan->piece_length) == 0)
            leaders += cycles->families[f].count;
    return leaders * plan->fields;
}

static void choose_length(const rs_chains_planning *p, const rs_cycles *cycles)
{
    rs_chains_plan *plan = p->plan;
    size_t length = rs_chains_first_length(p, 1);
    size_t pieces = count_pieces(plan, cycles, length);
    while (pieces > rs_chains_most_pieces(p)) {
        length = rs_chains_longer(p, length, pieces);
        pieces = count_pieces(plan, cycles, length);
    }
    plan->piece_length = length;
    plan->short_length =
        length < RS_CHAINS_WHOLE ? (uint32_t)(RS_CHAINS_SHORT_PIECES * length) : UINT32_MAX;
    plan->pieces = plan->piece_room = (uint32_t)pieces;
    plan->leader_count = count_leaders(plan, cycles);
    plan->listed = plan->leader_count <= rs_chains_most_leaders(p);
    plan->leader_room = plan->listed ? (uint32_t)plan->leader_count : 0;
    if (!plan->listed)
        plan->leader_count = plan->shape[0];
}

/* ---- what the kernel wants ---- */

typedef struct {
    uint64_t divisor;
    uint32_t shift;
    uint64_t reciprocal;
} modulus_numbers;

/* floor((2^128 - 1) / divisor) - 2^64 of a divisor with its highest bit, a bit at a time. */
static uint64_t reciprocal_of(uint64_t divisor)
{
    uint64_t quotient = 0;
    uint64_t rest = ~divisor;
    for (int bit = 0; bit < 64; bit++) {
        bool more = rest >> 63 != 0;
        rest = rest << 1 | 1;
        more = more || rest >= divisor;
        rest -= more ? divisor : 0;
        quotient = quotient << 1 | (more ? 1 : 0);
    }
    return quotient;
}

static modulus_numbers numbers_of(size_t modulus)
{
    modulus_numbers m = {modulus, 0, 0};
    for (; m.divisor >> 63 == 0; m.divisor <<= 1)
        m.shift++;
    m.reciprocal = reciprocal_of(m.divisor);
    return m;
}

/* Families that are cut, or those that are not, as rows of the table. */
typedef struct {
    uint32_t first; /* number of the table */
    uint32_t families;
    uint64_t items; /* in each field */
} row_group;

static row_group add_rows(const rs_chains_plan *plan, const rs_cycles *cycles, bool cut,
                          uint64_t *table, size_t *used)
{
    row_group group = {(uint32_t)*used, 0, 0};
    for (size_t f = 0; f < cycles->family_count; f++) {
        const rs_cycle_family *family = &cycles->families[f];
        size_t pieces = pieces_of(family, plan->piece_length);
        if ((pieces != 0) != cut)
            continue;
        table[(*used)++] = group.items;
        table[(*used)++] = family->divisor;
        table[(*used)++] = cut ? pieces : 1;
        for (size_t i = 0; i < cycles->generator_count; i++)
            table[(*used)++] = cycles->powers[f * cycles->generator_count + i];
        group.items += family->count * (cut ? pieces : 1);
        group.families++;
    }
    return group;
}

static void launch(const rs_chains_planning *p, rs_device_sequence *sequence,
                   const rs_cycles *cycles, rs_device_memory table, const row_group *group,
                   uint64_t starts, uint64_t ends)
{
    const rs_chains_plan *plan = p->plan;
    const uint64_t all_items = group->items * plan->fields;
    const modulus_numbers m = numbers_of(plan->modulus);
    rs_chains_arguments list = {.count = 0};
    rs_chains_add(&list, RS_ARGUMENT(table));
    rs_chains_add(&list, RS_UINT(cycles->generator_count));
    rs_chains_add(&list, RS_ARGUMENT(group->first));
    rs_chains_add(&list, RS_ARGUMENT(group->families));
    rs_chains_add(&list, RS_ARGUMENT(group->items));
    rs_chains_add(&list, RS_ARGUMENT(all_items));
    rs_chains_add(&list, RS_ULONG(plan->modulus));
    rs_chains_add(&list, RS_ULONG(plan->turn));
    rs_chains_add(&list,
                  RS_ULONG(rs_number_power(plan->factor, plan->piece_length, plan->modulus)));
    rs_chains_add(&list, RS_ARGUMENT(plan->positions));
    rs_chains_add(&list, RS_ARGUMENT(starts));
    rs_chains_add(&list, RS_ARGUMENT(ends));
    rs_chains_add(&list, RS_ARGUMENT(m.divisor));
    rs_chains_add(&list, RS_ARGUMENT(m.shift));
    rs_chains_add(&list, RS_ARGUMENT(m.reciprocal));
    rs_chains_launch(p, sequence, RS_CHAINS_CUT_FAMILIES, &list, (size_t)all_items);
}

static restride_status fill_tables(const rs_chains_planning *p, const rs_cycles *cycles,
                                   const uint64_t *table, size_t used, const row_group *cut,
                                   const row_group *whole)
{
    rs_chains_plan *plan = p->plan;
    rs_device_engine *engine = rs_device_engine_of(p->stage);
    rs_device_memory kept = NULL;
    restride_status status = rs_chains_allocate(p, used, sizeof *table, &kept);
    if (status == RESTRIDE_OK)
        status = engine->device->write(engine, kept, table, used * sizeof *table,
                                       "writing the cycles of a transposition");
    if (status == RESTRIDE_OK)
        status = rs_chains_allocate(p, rs_chains_room(plan->pieces, plan->leader_room),
                                    rs_chains_position_bytes(plan), &plan->positions);
    if (status == RESTRIDE_OK) {
        uint64_t ends = plan->pieces;
        uint64_t leaders = 2 * ends;
        rs_device_sequence sequence = {.engine = engine};
        launch(p, &sequence, cycles, kept, cut, 0, ends);
        if (plan->listed) /* a whole cycle ends where it starts */
            launch(p, &sequence, cycles, kept, whole, leaders, leaders);
        status = rs_device_finish(&sequence, "cutting the cycles of a transposition");
    }
    rs_chains_release(p->stage, kept);
    return status;
}

static restride_status cut_families(const rs_chains_planning *p, const rs_cycles *cycles)
{
    size_t generators = cycles->generator_count;
    uint64_t *table =
        malloc((generators + cycles->family_count * (generators + 3) + 1) * sizeof *table);
    if (table == NULL)
        return rs_fail_memory("the cycles of a transposition");
    size_t used = 0;
    for (; used < generators; used++)
        table[used] = cycles->generators[used];
    row_group cut = add_rows(p->plan, cycles, true, table, &used);
    row_group whole = add_rows(p->plan, cycles, false, table, &used);
    restride_status status = fill_tables(p, cycles, table, used, &cut, &whole);
    free(table);
    return status;
}

restride_status rs_chains_by_families(const rs_chains_planning *p)
{
    rs_cycles cycles;
    restride_status status = rs_cycles_create_modulo(&cycles, p->plan->modulus, p->plan->factor);
    if (status != RESTRIDE_OK)
        return status;
    choose_length(p, &cycles);
    if (p->plan->pieces != 0 || p->plan->leader_room != 0)
        status = cut_families(p, &cycles);
    rs_cycles_free(&cycles);
    return status;
}
