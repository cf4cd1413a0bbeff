/* Chains, and the cycles that stay whole; see cycle.h. */
#include "engine/host/cycle.h"

#include <stdlib.h>

void rs_host_cycles_begin(rs_host_cycles *cycles, size_t rows, size_t cols)
{
    *cycles = (rs_host_cycles){
        .rows = rows,
        .middle = 1,
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
    free(cycles->links);
    free(cycles->leaders);
}

static bool is_listed(const rs_host_cycles *cycles)
{
    return cycles->links != NULL;
}

size_t rs_host_cycles_bytes(const rs_host_cycles *cycles)
{
    if (!is_listed(cycles))
        return rs_cycles_bytes(&cycles->cycles);
    return cycles->chains * sizeof *cycles->links + cycles->leader_count * sizeof *cycles->leaders;
}

/* ---- lists ---- */

/* What a walk has seen, a bit a position; it lists a cycle the first time that it meets one. */
typedef struct {
    rs_host_cycles *cycles;
    uint64_t *seen;
} walk;

static bool meet(const walk *w, size_t position)
{
    const uint64_t bit = (uint64_t)1 << position % 64;
    bool known = (w->seen[position / 64] & bit) != 0;
    w->seen[position / 64] |= bit;
    return known;
}

/* A chain for each `length` steps; the last one takes what is left over. A cycle of one position
 * stays where it is. */
static void list_cycle(const walk *w, size_t leader)
{
    rs_host_cycles *c = w->cycles;
    const size_t first = c->chains;
    size_t steps = 0;
    for (size_t at = leader; !meet(w, at); at = rs_host_source(c, at), steps++)
        if (steps % c->length == 0) {
            c->links[c->chains] = (rs_host_link){(uint32_t)at, (uint32_t)c->chains + 1};
            c->chains++;
        }
    if (steps % c->length != 0)
        c->chains--;
    if (c->chains > first + 1) {
        c->links[c->chains - 1].following = (uint32_t)first;
        return;
    }
    c->chains = first;
    if (steps > 1)
        c->leaders[c->leader_count++] = (uint32_t)leader;
}

static restride_status list_cycles(rs_host_cycles *cycles, uint64_t *seen)
{
    const walk w = {cycles, seen};
    if (seen == NULL || cycles->links == NULL || cycles->leaders == NULL)
        return rs_fail_memory("the cycles of a permutation");
    for (size_t position = 0; position < cycles->total; position++)
        if ((seen[position / 64] >> position % 64 & 1) == 0)
            list_cycle(&w, position);
    return RESTRIDE_OK;
}

/* As many bytes as are used; a refusal leaves it as it is. */
static void *shrink(void *table, size_t bytes)
{
    void *smaller = realloc(table, bytes + 1);
    return smaller != NULL ? smaller : table;
}

restride_status rs_host_cycles_list(rs_host_cycles *cycles, size_t rows, size_t middle, size_t cols,
                                    size_t length)
{
    const size_t total = rows * middle * cols;
    *cycles = (rs_host_cycles){.rows = rows,
                               .middle = middle,
                               .cols = cols,
                               .total = total,
                               .by_rows = rs_divider_make(rows, total),
                               .by_middle = rs_divider_make(middle, total),
                               .length = length};
    if (total > UINT32_MAX)
        return rs_fail(RESTRIDE_UNSUPPORTED, "The cycles of %zu positions are too many to list.",
                       total);
    /* No chain is shorter than `length`, but of the cycle that is met one may be for a while. */
    cycles->links = malloc((total / length + 2) * sizeof *cycles->links);
    cycles->leaders = malloc((total / 2 + 1) * sizeof *cycles->leaders);
    uint64_t *seen = calloc(total / 64 + 1, sizeof *seen);
    restride_status status = list_cycles(cycles, seen);
    free(seen);
    if (status != RESTRIDE_OK) {
        rs_host_cycles_free(cycles);
        return status;
    }
    cycles->links = shrink(cycles->links, cycles->chains * sizeof *cycles->links);
    cycles->leaders = shrink(cycles->leaders, cycles->leader_count * sizeof *cycles->leaders);
    return RESTRIDE_OK;
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

static void take_link(rs_host_chain_cursor *cursor)
{
    const rs_host_link *links = cursor->cycles->links;
    cursor->start = links[cursor->number].start;
    cursor->following = links[cursor->number].following;
    cursor->stop = links[cursor->following].start;
}

void rs_host_chain_begin(rs_host_chain_cursor *cursor, const rs_host_cycles *cycles, size_t number)
{
    const rs_cycles *c = &cycles->cycles;
    *cursor = (rs_host_chain_cursor){.cycles = cycles, .number = number};
    if (is_listed(cycles)) {
        take_link(cursor);
        return;
    }
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
    if (is_listed(cycles)) {
        take_link(cursor);
        return;
    }
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

/* All listed cycles are one family here. */
static bool next_listed(rs_host_whole_cursor *cursor)
{
    const rs_host_cycles *c = cursor->cycles;
    if (cursor->next_family++ == 0) {
        const size_t items = c->leader_count * cursor->slices;
        const size_t each = items / cursor->members;
        const size_t more = items % cursor->members;
        cursor->left = each + (cursor->member < more ? 1 : 0);
        cursor->item = each * cursor->member + (cursor->member < more ? cursor->member : more);
    }
    if (cursor->left == 0)
        return false;
    cursor->left--;
    cursor->leader = c->leaders[cursor->item / cursor->slices];
    cursor->slice = cursor->item++ % cursor->slices;
    return true;
}

bool rs_host_whole_next(rs_host_whole_cursor *cursor)
{
    if (is_listed(cursor->cycles))
        return next_listed(cursor);
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
