/* See copy.h. */
#include "engine/copy.h"

#include <string.h>

static void drop_axis(rs_copy_part *part, size_t axis)
{
    memmove(part->axes + axis, part->axes + axis + 1,
            (part->axis_count - axis - 1) * sizeof part->axes[0]);
    part->axis_count--;
}

static void drop_shared(rs_copy_part *parts, rs_copy_group *group, size_t axis)
{
    for (size_t p = 0; p < group->count; p++)
        drop_axis(&parts[p], axis);
    group->shared--;
}

/* What begins each part's elements goes into the element: its own axes alone, unless the part is
 * alone. */
static bool fold(rs_copy_part *part, size_t first)
{
    for (size_t a = first; a < part->axis_count; a++)
        if (part->axes[a].from == part->unit && part->axes[a].to == part->unit) {
            part->unit *= part->axes[a].extent;
            drop_axis(part, a);
            return true;
        }
    return false;
}

static bool continues(const rs_copy_axis *slow, const rs_copy_axis *fast)
{
    return slow->from == fast->from * fast->extent && slow->to == fast->to * fast->extent;
}

/* In all parts axis `slow` goes on where `fast` ends. */
static bool all_continue(const rs_copy_part *parts, const rs_copy_group *group, size_t slow,
                         size_t fast)
{
    for (size_t p = 0; p < group->count; p++)
        if (!continues(&parts[p].axes[slow], &parts[p].axes[fast]))
            return false;
    return true;
}

static bool merge_shared(rs_copy_part *parts, rs_copy_group *group)
{
    for (size_t slow = 0; slow < group->shared; slow++)
        for (size_t fast = 0; fast < group->shared; fast++) {
            if (slow == fast || !all_continue(parts, group, slow, fast))
                continue;
            for (size_t p = 0; p < group->count; p++)
                parts[p].axes[fast].extent *= parts[p].axes[slow].extent;
            drop_shared(parts, group, slow);
            return true;
        }
    return false;
}

/* Neighbours in both buffers that go the same way. */
static bool are_one(const rs_copy_part *a, const rs_copy_part *b, size_t shared)
{
    return a->axis_count == shared && b->axis_count == shared && b->from == a->from + a->unit &&
           b->to == a->to + a->unit && memcmp(a->axes, b->axes, shared * sizeof a->axes[0]) == 0;
}

static bool join_parts(rs_copy_part *parts, rs_copy_group *group)
{
    for (size_t p = 0; p + 1 < group->count; p++)
        if (are_one(&parts[p], &parts[p + 1], group->shared)) {
            parts[p].unit += parts[p + 1].unit;
            memmove(parts + p + 1, parts + p + 2, (group->count - p - 2) * sizeof *parts);
            group->count--;
            return true;
        }
    return false;
}

static bool drop_ones(rs_copy_part *parts, rs_copy_group *group)
{
    for (size_t a = 0; a < group->shared; a++)
        if (parts[0].axes[a].extent == 1) {
            drop_shared(parts, group, a);
            return true;
        }
    return false;
}

void rs_copy_simplify(rs_copy_part *parts, rs_copy_group *group)
{
    bool changed = true;
    while (changed) {
        if (group->count == 1)
            group->shared = parts[0].axis_count;
        changed = drop_ones(parts, group) || merge_shared(parts, group);
        for (size_t p = 0; p < group->count; p++)
            changed = fold(&parts[p], group->count == 1 ? 0 : group->shared) || changed;
        if (group->count == 1)
            group->shared = parts[0].axis_count;
        changed = join_parts(parts, group) || changed;
    }
}

size_t rs_copy_part_bytes(const rs_copy_part *part)
{
    size_t bytes = part->unit;
    for (size_t a = 0; a < part->axis_count; a++)
        bytes *= part->axes[a].extent;
    return bytes;
}
