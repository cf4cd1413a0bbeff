/* See copy_box.h. */
#include "engine/copy_box.h"
#include "base/arithmetic.h"

static size_t stride_of(const rs_copy_part *part, size_t axis, bool in_target)
{
    return in_target ? part->axes[axis].to : part->axes[axis].from;
}

/* The axis that goes on where a run of `bytes` ends; axis_count when there is none. */
static size_t next_axis(const rs_copy_part *part, size_t bytes, bool in_target)
{
    size_t axis = 0;
    while (axis < part->axis_count && stride_of(part, axis, in_target) != bytes)
        axis++;
    return axis;
}

/* At least `wanted` of an extent, in equal blocks, and of whole lines where that is as good. */
static size_t block_of(size_t extent, size_t wanted, size_t element, size_t line)
{
    if (wanted >= extent)
        return extent;
    size_t step = line / rs_size_gcd(line, element);
    size_t block = wanted;
    if (step <= wanted)
        return rs_size_smaller(rs_size_divide_up(wanted, step) * step, extent);
    size_t blocks = rs_size_divide_up(extent, block);
    return rs_size_divide_up(extent, blocks);
}

/* Takes axes into the box until its runs in one buffer have `goal` bytes. */
static void grow_run(rs_copy_box *box, const rs_copy_part *part, size_t goal, size_t line,
                     bool in_target)
{
    size_t run = part->unit;
    while (run < goal) {
        size_t axis = next_axis(part, run, in_target);
        if (axis == part->axis_count)
            return;
        size_t extent = part->axes[axis].extent;
        size_t wanted = rs_size_divide_up(goal, run);
        size_t block = block_of(extent, wanted, run, line);
        box->blocks[axis] = rs_size_larger(box->blocks[axis], block);
        if (block < extent)
            return;
        run *= extent;
    }
}

static size_t count_elements(const rs_copy_box *box, const rs_copy_part *part)
{
    size_t elements = 1;
    for (size_t a = 0; a < part->axis_count; a++)
        elements *= box->blocks[a];
    return elements;
}

void rs_copy_box_chain(rs_copy_chain *chain, const rs_copy_part *part, const size_t blocks[],
                       bool in_target)
{
    *chain = (rs_copy_chain){.run = 1};
    size_t axis = next_axis(part, part->unit, in_target);
    while (axis < part->axis_count && blocks[axis] > 1) {
        chain->axes[chain->count++] = axis;
        chain->run *= blocks[axis];
        if (blocks[axis] < part->axes[axis].extent)
            return;
        axis = next_axis(part, part->unit * chain->run, in_target);
    }
}

/* The axis that a larger box should have more of: the one that makes runs in the target longer,
 * else in the source, else the fastest in the target. */
static size_t axis_to_grow(const rs_copy_box *box, const rs_copy_part *part)
{
    for (int side = 1; side >= 0; side--) {
        rs_copy_chain chain;
        rs_copy_box_chain(&chain, part, box->blocks, side == 1);
        size_t last = chain.count > 0 ? chain.axes[chain.count - 1] : part->axis_count;
        if (last < part->axis_count && box->blocks[last] < part->axes[last].extent)
            return last;
        size_t next = next_axis(part, part->unit * chain.run, side == 1);
        if (next < part->axis_count && box->blocks[next] < part->axes[next].extent)
            return next;
    }
    size_t best = part->axis_count;
    for (size_t a = 0; a < part->axis_count; a++)
        if (box->blocks[a] < part->axes[a].extent &&
            (best == part->axis_count || part->axes[a].to < part->axes[best].to))
            best = a;
    return best;
}

static void grow_box(rs_copy_box *box, const rs_copy_part *part, const rs_copy_goals *goals)
{
    size_t bytes = count_elements(box, part) * part->unit;
    while (bytes < goals->least) {
        size_t axis = axis_to_grow(box, part);
        if (axis == part->axis_count)
            return;
        size_t before = box->blocks[axis];
        size_t wanted = before * rs_size_divide_up(goals->least, bytes);
        box->blocks[axis] = block_of(part->axes[axis].extent, wanted, part->unit, goals->line);
        if (bytes / before * box->blocks[axis] > goals->most)
            box->blocks[axis] = rs_size_smaller(wanted, part->axes[axis].extent);
        bytes = bytes / before * box->blocks[axis];
        if (box->blocks[axis] == before)
            return;
    }
}

/* Halves the largest block of a box that is too large. */
static void shrink_box(rs_copy_box *box, const rs_copy_part *part, const rs_copy_goals *goals)
{
    while (count_elements(box, part) * part->unit > goals->most) {
        size_t largest = 0;
        for (size_t a = 1; a < part->axis_count; a++)
            if (box->blocks[a] > box->blocks[largest])
                largest = a;
        if (part->axis_count == 0 || box->blocks[largest] == 1)
            return;
        box->blocks[largest] = rs_size_divide_up(box->blocks[largest], 2);
    }
}

void rs_copy_box_choose(rs_copy_box *box, const rs_copy_part *part, const rs_copy_goals *goals)
{
    for (size_t a = 0; a < part->axis_count; a++)
        box->blocks[a] = 1;
    grow_run(box, part, goals->from_run, goals->line, false);
    grow_run(box, part, goals->to_run, goals->line, true);
    shrink_box(box, part, goals);
    grow_box(box, part, goals);
    rs_copy_box_chain(&box->from, part, box->blocks, false);
    rs_copy_box_chain(&box->to, part, box->blocks, true);
    box->elements = count_elements(box, part);
}

/* What a part has of one record. */
static size_t member_bytes(const rs_copy_part *part, size_t shared)
{
    size_t bytes = part->unit;
    for (size_t a = shared; a < part->axis_count; a++)
        bytes *= part->axes[a].extent;
    return bytes;
}

bool rs_copy_is_whole(const rs_copy_part *parts, const rs_copy_group *group, bool in_target,
                      size_t *axis, size_t *start, size_t *bytes)
{
    *bytes = 0;
    *start = (size_t)-1;
    for (size_t p = 0; p < group->count; p++) {
        *bytes += member_bytes(&parts[p], group->shared);
        *start = rs_size_smaller(*start, in_target ? parts[p].to : parts[p].from);
    }
    for (*axis = 0; *axis < group->shared; ++*axis)
        if (stride_of(&parts[0], *axis, in_target) == *bytes)
            break;
    if (*axis == group->shared)
        return false;
    for (size_t p = 0; p < group->count; p++) {
        size_t first = in_target ? parts[p].to : parts[p].from;
        size_t run = parts[p].unit;
        if (stride_of(&parts[p], *axis, in_target) != *bytes || first - *start >= *bytes)
            return false;
        for (size_t a = group->shared; a < parts[p].axis_count; a++) {
            if (stride_of(&parts[p], a, in_target) != run)
                return false;
            run *= parts[p].axes[a].extent;
        }
        if (first - *start + run > *bytes)
            return false;
    }
    return true;
}
