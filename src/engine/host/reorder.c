/*
 * REORDER: the parts of a buffer come into another order. Those that keep their order among each
 * other and have the most bytes slide; the others wait in scratch memory meanwhile. When they do
 * not fit there, neighbours change places by swaps, in O(log n) passes for two orders of n parts
 * that have nothing in common.
 *
 * Sliding is safe in two sweeps, those that move to the left from left to right and then the others
 * from right to left: parts do not overlap and keep their order, so one that moves left can reach
 * only where parts before it were that move left too, and likewise to the right.
 *
 * Threads take buffers of their own where there are several. All work on a single one: a part that
 * slides by d bytes moves in blocks of d bytes, each shared out among them. What slides less far,
 * or changes places by swaps, is moved by one.
 */
#include "engine/host/host.h"
#include "engine/settle.h"

#include <stdlib.h>
#include <string.h>

enum { SWAP_BYTES = 4096, LEAST_SHARED_BYTES = 256 << 10 };

static size_t bytes_of(const rs_host_piece *piece)
{
    return piece->count * piece->unit;
}

restride_status rs_host_reorder_prepare(rs_host_stage *stage, size_t scratch_limit)
{
    size_t count = stage->task.piece_count;
    restride_status status = rs_host_pieces_create(stage);
    rs_settled *settled = status == RESTRIDE_OK ? malloc(count * sizeof *settled) : NULL;
    if (settled == NULL) {
        free(stage->pieces);
        return rs_fail_memory("the parts of a buffer");
    }
    size_t waiting = rs_settle(stage->task.pieces, count, settled);
    for (size_t i = 0; i < count; i++) {
        stage->pieces[i].target = settled[i].target;
        stage->pieces[i].kept = settled[i].kept;
    }
    free(settled);
    stage->has_room = waiting <= scratch_limit;
    stage->apart = stage->task.outer > 1;
    if (stage->apart && stage->threads > stage->task.outer)
        stage->threads = stage->task.outer;
    if (!stage->apart && !stage->has_room)
        stage->threads = 1;
    /* Without room the rotations need a copy of the list, which they change. */
    if (!stage->has_room)
        rs_host_fit_threads(stage, 0, count * sizeof *stage->pieces, scratch_limit);
    else if (stage->apart)
        rs_host_fit_threads(stage, 0, waiting, scratch_limit);
    else
        stage->scratch_bytes = waiting;
    return RESTRIDE_OK;
}

/* The member's share of some bytes that do not overlap their places. */
static void copy_share(unsigned char *target, const unsigned char *source, size_t bytes,
                       const rs_host_member *member)
{
    size_t begin;
    size_t end;
    rs_host_team_share(member, bytes, &begin, &end);
    memcpy(target + begin, source + begin, end - begin);
}

static void copy_waiting(const rs_host_stage *stage, unsigned char *row, unsigned char *scratch,
                         bool to_scratch, const rs_host_member *member)
{
    for (size_t i = 0; i < stage->task.piece_count; i++) {
        const rs_host_piece *piece = &stage->pieces[i];
        if (piece->kept)
            continue;
        if (to_scratch)
            copy_share(scratch, row + piece->offset, bytes_of(piece), member);
        else
            copy_share(row + piece->target, scratch, bytes_of(piece), member);
        scratch += bytes_of(piece);
    }
    rs_host_team_wait(member);
}

/* A block must have been moved before the next one is written over it. */
static void slide_piece(const rs_host_piece *piece, unsigned char *row,
                        const rs_host_member *member)
{
    bool left = piece->target < piece->offset;
    size_t bytes = bytes_of(piece);
    size_t far = left ? piece->offset - piece->target : piece->target - piece->offset;
    if (member->count == 1 || far < LEAST_SHARED_BYTES) {
        if (member->index == 0)
            memmove(row + piece->target, row + piece->offset, bytes);
        rs_host_team_wait(member);
        return;
    }
    for (size_t done = 0; done < bytes;) {
        size_t block = bytes - done < far ? bytes - done : far;
        size_t begin = left ? done : bytes - done - block;
        copy_share(row + piece->target + begin, row + piece->offset + begin, block, member);
        rs_host_team_wait(member);
        done += block;
    }
}

static void slide(const rs_host_stage *stage, unsigned char *row, const rs_host_member *member)
{
    const rs_host_piece *pieces = stage->pieces;
    size_t count = stage->task.piece_count;
    for (size_t i = 0; i < count; i++)
        if (pieces[i].kept && pieces[i].target < pieces[i].offset)
            slide_piece(&pieces[i], row, member);
    for (size_t i = count; i-- > 0;)
        if (pieces[i].kept && pieces[i].target > pieces[i].offset)
            slide_piece(&pieces[i], row, member);
}

static void swap(unsigned char *a, unsigned char *b, size_t bytes)
{
    unsigned char held[SWAP_BYTES];
    for (size_t i = 0; i < bytes; i += SWAP_BYTES) {
        size_t width = bytes - i < SWAP_BYTES ? bytes - i : SWAP_BYTES;
        memcpy(held, a + i, width);
        memcpy(a + i, b + i, width);
        memcpy(b + i, held, width);
    }
}

/* The `left` bytes at `middle` - left and the `right` bytes at `middle` change places (Gries and
 * Mills 1981: swap the shorter side with the far end of the other, and go on with what is left). */
static void rotate(unsigned char *middle, size_t left, size_t right)
{
    while (left != 0 && right != 0) {
        if (left <= right) {
            swap(middle - left, middle + (right - left), left);
            right -= left;
        } else {
            swap(middle - left, middle, right);
            left -= right;
        }
    }
}

/* A list of parts one after the other, and where it begins. */
typedef struct {
    rs_host_piece *pieces;
    size_t count;
    unsigned char *bytes;
} part_list;

static size_t list_bytes(const rs_host_piece *pieces, size_t count)
{
    size_t sum = 0;
    for (size_t i = 0; i < count; i++)
        sum += bytes_of(&pieces[i]);
    return sum;
}

static void reverse(rs_host_piece *pieces, size_t count)
{
    for (size_t i = 0; i < count / 2; i++) {
        rs_host_piece held = pieces[i];
        pieces[i] = pieces[count - 1 - i];
        pieces[count - 1 - i] = held;
    }
}

/* Brings the parts whose place is below `border` before the others, keeping the order within both;
 * the result is how many they are. */
static size_t part_at(const part_list *list, size_t border)
{
    if (list->count == 1)
        return list->pieces->place < border;
    size_t half = list->count / 2;
    const part_list left = {list->pieces, half, list->bytes};
    const part_list right = {list->pieces + half, list->count - half,
                             list->bytes + list_bytes(list->pieces, half)};
    size_t left_low = part_at(&left, border);
    size_t right_low = part_at(&right, border);
    rotate(right.bytes, list_bytes(left.pieces + left_low, half - left_low),
           list_bytes(right.pieces, right_low));
    rs_host_piece *first = list->pieces + left_low;
    size_t high = half - left_low;
    reverse(first, high);
    reverse(first + high, right_low);
    reverse(first, high + right_low);
    return left_low + right_low;
}

/* Sorts a list whose places are `first` and following. */
static void sort(const part_list *list, size_t first)
{
    if (list->count < 2)
        return;
    size_t low = part_at(list, first + list->count / 2);
    const part_list lower = {list->pieces, low, list->bytes};
    const part_list upper = {list->pieces + low, list->count - low,
                             list->bytes + list_bytes(list->pieces, low)};
    sort(&lower, first);
    sort(&upper, first + low);
}

static void reorder_row(const rs_host_stage *stage, unsigned char *row, unsigned char *scratch,
                        const rs_host_member *member)
{
    if (stage->has_room) {
        copy_waiting(stage, row, scratch, true, member);
        slide(stage, row, member);
        copy_waiting(stage, row, scratch, false, member);
        return;
    }
    size_t count = stage->task.piece_count;
    rs_host_piece *pieces = (rs_host_piece *)(void *)scratch;
    memcpy(pieces, stage->pieces, count * sizeof *pieces);
    const part_list list = {pieces, count, row};
    sort(&list, 0);
}

void rs_host_reorder_work(void *context, const rs_host_member *member)
{
    const rs_host_run *run = context;
    const rs_host_stage *stage = run->stage;
    const rs_transpose_task *task = &stage->task;
    const rs_host_member alone = {member->team, 0, 1};
    size_t begin = 0;
    size_t end = task->outer;
    unsigned char *scratch = run->scratch;
    if (stage->apart) {
        rs_host_team_share(member, task->outer, &begin, &end);
        scratch += member->index * stage->own_bytes;
    }
    for (size_t o = begin; o < end; o++) {
        reorder_row(stage, run->data + o * task->pitch, scratch, stage->apart ? &alone : member);
        if (stage->apart || member->index == 0)
            rs_host_done(run, task->cols);
    }
}
