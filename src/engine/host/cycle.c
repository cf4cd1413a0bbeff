/* Chains, and the cycles that stay whole; see cycle.h. */
#include "engine/host/cycle.h"

void rs_host_cycles_begin(rs_host_cycles *cycles, size_t rows, size_t cols)
{
    *cycles = (rs_host_cycles){
        .rows = rows,
        .cols = cols,
        .total = rows * cols,
        .by_rows = rs_divider_make(rows, rows * cols),
    };
}

/* Into how many chains the cycles of a family are cut; 0: they stay whole. */
static size_t pieces_of(const rs_host_cycles *cycles, size_t family)
{
    size_t pieces = cycles->cycles.families[family].length / cycles->length;
    return pieces < 2 ? 0 : pieces;
}

restride_status rs_host_cycles_create(rs_host_cycles *cycles, size_t rows, size_t cols,
                                      size_t length)
{
    rs_host_cycles_begin(cycles, rows, cols);
    cycles->length = length;
    restride_status status = rs_cycles_create(&cycles->cycles, rows, cols);
    for (size_t f = 0; status == RESTRIDE_OK && f < cycles->cycles.family_count; f++)
        cycles->chains += cycles->cycles.families[f].count * pieces_of(cycles, f);
    return status;
}

void rs_host_cycles_free(rs_host_cycles *cycles)
{
    rs_cycles_free(&cycles->cycles);
}

/* ---- chains ---- */

static void find_stop(rs_host_chain_cursor *cursor)
{
    if (cursor->piece + 1 == cursor->pieces) {
        cursor->stop = cursor->cycle.position;
        cursor->following = cursor->number - cursor->piece;
        return;
    }
    size_t jump = cursor->jumps[cursor->piece < cursor->longer ? 0 : 1];
    cursor->stop = rs_number_multiply(cursor->start, jump, cursor->cycles->cycles.modulus);
    cursor->following = cursor->number + 1;
}

/* The family with chain `number`; the result is the chain's number there. */
static size_t find_family(rs_host_chain_cursor *cursor, size_t number)
{
    const rs_cycles *c = &cursor->cycles->cycles;
    for (;; cursor->family++) {
        cursor->pieces = pieces_of(cursor->cycles, cursor->family);
        size_t chains = c->families[cursor->family].count * cursor->pieces;
        if (number < chains)
            return number;
        number -= chains;
    }
}

void rs_host_chain_begin(rs_host_chain_cursor *cursor, const rs_host_cycles *cycles, size_t number)
{
    const rs_cycles *c = &cycles->cycles;
    *cursor = (rs_host_chain_cursor){.cycles = cycles, .number = number};
    size_t inside = find_family(cursor, number);
    size_t length = c->families[cursor->family].length;
    size_t least = length / cursor->pieces;
    cursor->longer = length % cursor->pieces;
    cursor->jumps[1] = rs_number_power(c->factor, least, c->modulus);
    cursor->jumps[0] = rs_number_multiply(cursor->jumps[1], c->factor % c->modulus, c->modulus);
    cursor->index = inside / cursor->pieces;
    cursor->piece = inside % cursor->pieces;
    rs_cycle_cursor_begin(&cursor->cycle, c, cursor->family, cursor->index);
    size_t steps =
        least * cursor->piece + (cursor->piece < cursor->longer ? cursor->piece : cursor->longer);
    cursor->start = rs_number_multiply(cursor->cycle.position,
                                       rs_number_power(c->factor, steps, c->modulus), c->modulus);
    find_stop(cursor);
}

void rs_host_chain_next(rs_host_chain_cursor *cursor)
{
    const rs_host_cycles *cycles = cursor->cycles;
    if (++cursor->number == cycles->chains)
        return;
    if (++cursor->piece < cursor->pieces) {
        cursor->start = cursor->stop;
    } else if (++cursor->index < cycles->cycles.families[cursor->family].count) {
        rs_cycle_cursor_next(&cursor->cycle);
        cursor->start = cursor->cycle.position;
        cursor->piece = 0;
    } else {
        rs_host_chain_begin(cursor, cycles, cursor->number);
        return;
    }
    find_stop(cursor);
}

/* ---- whole cycles ---- */

void rs_host_whole_begin(rs_host_whole_cursor *cursor, const rs_host_cycles *cycles, size_t slices,
                         size_t member, size_t members, bool backward)
{
    *cursor = (rs_host_whole_cursor){.cycles = cycles,
                                     .slices = slices,
                                     .member = member,
                                     .members = members,
                                     .backward = backward};
}

/* What is left over when a family is shared out goes to another member each time. */
static void enter_family(rs_host_whole_cursor *cursor, size_t family)
{
    const rs_cycles *c = &cursor->cycles->cycles;
    size_t items = c->families[family].count * cursor->slices;
    size_t turn = (cursor->member + family) % cursor->members;
    size_t each = items / cursor->members;
    size_t more = items % cursor->members;
    size_t first = turn * each + (turn < more ? turn : more);
    cursor->left = each + (turn < more ? 1 : 0);
    cursor->slice = first % cursor->slices;
    if (cursor->left > 0)
        rs_cycle_cursor_begin(&cursor->cycle, c, family, first / cursor->slices);
}

static bool enter_next_family(rs_host_whole_cursor *cursor)
{
    size_t families = cursor->cycles->cycles.family_count;
    cursor->left = 0;
    while (cursor->left == 0) {
        if (cursor->next_family == families)
            return false;
        size_t family = cursor->next_family++;
        family = cursor->backward ? families - 1 - family : family;
        if (pieces_of(cursor->cycles, family) == 0)
            enter_family(cursor, family);
    }
    return true;
}

bool rs_host_whole_next(rs_host_whole_cursor *cursor)
{
    if (cursor->left <= 1) {
        if (!enter_next_family(cursor))
            return false;
    } else {
        cursor->left--;
        if (++cursor->slice == cursor->slices) {
            cursor->slice = 0;
            rs_cycle_cursor_next(&cursor->cycle);
        }
    }
    cursor->leader = cursor->cycle.position;
    return true;
}
