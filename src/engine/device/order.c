/* Parts into another order; see order.h. */
#include "engine/device/order.h"
#include "base/list.h"
#include "engine/settle.h"

#include <stdlib.h>
#include <string.h>

typedef struct {
    size_t offset;
    size_t bytes;
    size_t place; /* its number afterwards */
    size_t target;
    bool kept;
    bool reversed; /* as it lies there now */
} piece;

/* ---- lists that grow ---- */

static bool add_part(rs_order *order, size_t from, size_t to, size_t bytes)
{
    if (bytes == 0)
        return true;
    const bool room = RS_LIST_GROW(order->parts, order->part_count);
    if (room)
        order->parts[order->part_count++] = (rs_order_part){from, to, bytes};
    return room;
}

/* All parts that were added since the last step. */
static bool add_step(rs_order *order, rs_order_kind kind)
{
    size_t first = 0;
    if (order->step_count > 0) {
        const rs_order_step *last = &order->steps[order->step_count - 1];
        first = last->first + last->count;
    }
    if (first == order->part_count)
        return true;
    const bool room = RS_LIST_GROW(order->steps, order->step_count);
    if (room)
        order->steps[order->step_count++] = (rs_order_step){kind, first, order->part_count - first};
    return room;
}

/* ---- some wait, the others slide ---- */

/* The result is the bytes of the pieces that wait. */
static size_t find_places(piece *pieces, const rs_piece *given, rs_settled *settled, size_t count)
{
    size_t offset = 0;
    size_t waiting = rs_settle(given, count, settled);
    for (size_t i = 0; i < count; i++) {
        pieces[i] = (piece){.offset = offset,
                            .bytes = given[i].count * given[i].unit,
                            .place = given[i].place,
                            .target = settled[i].target,
                            .kept = settled[i].kept};
        offset += pieces[i].bytes;
    }
    return waiting;
}

static bool add_waiting(rs_order *order, const piece *pieces, size_t count, bool save)
{
    size_t place = 0;
    bool added = true;
    for (size_t i = 0; i < count; i++) {
        if (pieces[i].kept)
            continue;
        added = added && (save ? add_part(order, pieces[i].offset, place, pieces[i].bytes)
                               : add_part(order, place, pieces[i].target, pieces[i].bytes));
        place += pieces[i].bytes;
    }
    return added && add_step(order, save ? RS_ORDER_SAVE : RS_ORDER_RESTORE);
}

/* A run of pieces that lie together before and afterwards slides as one. */
static bool slide(rs_order *order, const piece *run, size_t bytes)
{
    bool left = run->target < run->offset;
    size_t begin = left ? run->target : run->offset;
    size_t distance = left ? run->offset - run->target : run->target - run->offset;
    return add_part(order, begin, 0, bytes + distance) && add_step(order, RS_ORDER_REVERSE) &&
           add_part(order, run->target, 0, bytes) && add_step(order, RS_ORDER_REVERSE);
}

typedef struct {
    size_t begin;
    size_t end;
    size_t bytes;
} piece_run;

/* The kept pieces from `begin` on that lie together before and afterwards. */
static piece_run find_run(const piece *pieces, size_t count, size_t begin)
{
    piece_run run = {begin, begin + 1, pieces[begin].bytes};
    while (run.end < count && pieces[run.end].kept &&
           pieces[run.end].target - pieces[begin].target == run.bytes)
        run.bytes += pieces[run.end++].bytes;
    return run;
}

/* Those that move to the left from left to right, and then the others from right to left: a run can
 * reach only where runs before it were that move to the same side. */
static bool add_slides(rs_order *order, const piece *pieces, size_t count)
{
    piece_run *runs = malloc(count * sizeof *runs);
    if (runs == NULL)
        return false;
    size_t run_count = 0;
    for (size_t i = 0; i < count;) {
        if (pieces[i].kept) {
            runs[run_count] = find_run(pieces, count, i);
            i = runs[run_count++].end;
        } else {
            i++;
        }
    }
    bool added = true;
    for (size_t r = 0; r < run_count; r++)
        if (pieces[runs[r].begin].target < pieces[runs[r].begin].offset)
            added = added && slide(order, &pieces[runs[r].begin], runs[r].bytes);
    for (size_t r = run_count; r-- > 0;)
        if (pieces[runs[r].begin].target > pieces[runs[r].begin].offset)
            added = added && slide(order, &pieces[runs[r].begin], runs[r].bytes);
    free(runs);
    return added;
}

/* ---- sorting by halves ---- */

/* A reversal, and when: smaller turns first. Those of one turn do not overlap. */
typedef struct {
    size_t turn;
    size_t from;
    size_t bytes;
} reversal;

typedef struct {
    reversal *list;
    size_t count;
    bool failed;
} reversals;

enum { MOST_DEPTH = 64 };

static void add_reversal(reversals *all, size_t turn, size_t from, size_t bytes)
{
    RS_LIST_ADD(all->list, all->count, all->failed, (reversal){turn, from, bytes});
}

static size_t sum_bytes(const piece *pieces, size_t count)
{
    size_t sum = 0;
    for (size_t i = 0; i < count; i++)
        sum += pieces[i].bytes;
    return sum;
}

static void reverse_pieces(piece *pieces, size_t count)
{
    for (size_t i = 0; i < count / 2; i++) {
        piece held = pieces[i];
        pieces[i] = pieces[count - 1 - i];
        pieces[count - 1 - i] = held;
    }
    for (size_t i = 0; i < count; i++)
        pieces[i].reversed = !pieces[i].reversed;
}

/* Brings the pieces whose place is below `border` before the others; the result is how many they
 * are. The order within both is any. */
static size_t part_at(reversals *all, piece *pieces, size_t count, size_t offset, size_t border,
                      size_t level, size_t depth)
{
    if (count == 1)
        return pieces->place < border;
    size_t half = count / 2;
    size_t left = part_at(all, pieces, half, offset, border, level, depth + 1);
    size_t right = part_at(all, pieces + half, count - half, offset + sum_bytes(pieces, half),
                           border, level, depth + 1);
    piece *middle = pieces + left;
    size_t middle_count = half - left + right;
    if (left == half || right == 0)
        return left + right;
    add_reversal(all, level * MOST_DEPTH + (MOST_DEPTH - 1 - depth),
                 offset + sum_bytes(pieces, left), sum_bytes(middle, middle_count));
    reverse_pieces(middle, middle_count);
    return left + right;
}

/* Sorts pieces whose places are `first` and following. */
static void sort(reversals *all, piece *pieces, size_t count, size_t offset, size_t first,
                 size_t level)
{
    if (count < 2)
        return;
    size_t low = part_at(all, pieces, count, offset, first + count / 2, level, 0);
    sort(all, pieces, low, offset, first, level + 1);
    sort(all, pieces + low, count - low, offset + sum_bytes(pieces, low), first + low, level + 1);
}

static int compare_turns(const void *a, const void *b)
{
    const reversal *x = a;
    const reversal *y = b;
    if (x->turn != y->turn)
        return x->turn < y->turn ? -1 : 1;
    return (x->from > y->from) - (x->from < y->from);
}

static bool add_sorting(rs_order *order, piece *pieces, size_t count)
{
    reversals all = {0};
    sort(&all, pieces, count, 0, 0, 0);
    if (all.count > 0)
        qsort(all.list, all.count, sizeof *all.list, compare_turns);
    bool added = !all.failed;
    for (size_t i = 0; added && i < all.count; i++) {
        added = add_part(order, all.list[i].from, 0, all.list[i].bytes);
        if (i + 1 == all.count || all.list[i + 1].turn != all.list[i].turn)
            added = added && add_step(order, RS_ORDER_REVERSE);
    }
    free(all.list);
    size_t offset = 0;
    for (size_t i = 0; added && i < count; i++) {
        if (pieces[i].reversed)
            added = add_part(order, offset, 0, pieces[i].bytes);
        offset += pieces[i].bytes;
    }
    return added && add_step(order, RS_ORDER_REVERSE);
}

/* ---- the whole ---- */

restride_status rs_order_create(rs_order *order, const rs_piece *pieces, size_t count,
                                size_t scratch_limit)
{
    *order = (rs_order){0};
    piece *own = malloc(count * sizeof *own);
    rs_settled *settled = malloc(count * sizeof *settled);
    bool done = own != NULL && settled != NULL;
    if (done) {
        size_t waiting = find_places(own, pieces, settled, count);
        if (waiting <= scratch_limit) {
            order->waiting = waiting;
            done = add_waiting(order, own, count, true) && add_slides(order, own, count) &&
                   add_waiting(order, own, count, false);
        } else {
            done = add_sorting(order, own, count);
        }
    }
    free(own);
    free(settled);
    if (done)
        return RESTRIDE_OK;
    rs_order_free(order);
    return rs_fail_memory("the parts of a buffer");
}

void rs_order_free(rs_order *order)
{
    free(order->parts);
    free(order->steps);
    *order = (rs_order){0};
}
