/* Arrays one after the other that keep their order in a copy: see rs_copy_slabs_of(). */
#include "engine/copy.h"

#include <string.h>

/* The axis of a part along which slabs lie; axis_count when there is none. */
static size_t slab_axis(const rs_copy_part *part, const rs_copy_slabs *slabs)
{
    size_t axis = 0;
    while (axis < part->axis_count &&
           !(part->axes[axis].extent == slabs->count && part->axes[axis].from == slabs->bytes &&
             part->axes[axis].to == slabs->bytes))
        axis++;
    return axis;
}

static bool have_slabs(const rs_copy_task *task, const rs_copy_slabs *slabs)
{
    for (size_t g = 0; g < task->group_count; g++) {
        const rs_copy_group *group = &task->groups[g];
        const size_t axis = slab_axis(&task->parts[group->first], slabs);
        if (axis >= group->shared)
            return false;
        for (size_t p = 1; p < group->count; p++)
            if (slab_axis(&task->parts[group->first + p], slabs) != axis)
                return false;
    }
    return true;
}

static size_t bytes_of(const rs_copy_task *task)
{
    size_t bytes = 0;
    for (size_t g = 0; g < task->group_count; g++)
        for (size_t p = 0; p < task->groups[g].count; p++)
            bytes += rs_copy_part_bytes(&task->parts[task->groups[g].first + p]);
    return bytes;
}

rs_copy_slabs rs_copy_slabs_of(const rs_copy_task *task)
{
    rs_copy_slabs slabs = {.count = 0};
    const size_t bytes = bytes_of(task);
    if (task->group_count == 0 || bytes != task->from_bytes || bytes != task->to_bytes)
        return slabs;
    const rs_copy_part *first = &task->parts[task->groups[0].first];
    for (size_t a = 0; a < first->axis_count; a++) {
        slabs = (rs_copy_slabs){first->axes[a].extent, first->axes[a].from};
        if (slabs.count * slabs.bytes == bytes && have_slabs(task, &slabs))
            return slabs;
    }
    return (rs_copy_slabs){1, bytes};
}

void rs_copy_take_slabs(rs_copy_task *changed, const rs_copy_task *task, size_t count)
{
    const rs_copy_slabs slabs = rs_copy_slabs_of(task);
    changed->group_count = task->group_count;
    changed->from_bytes = changed->to_bytes = count * slabs.bytes;
    for (size_t g = 0; g < task->group_count; g++) {
        rs_copy_group *group = &changed->groups[g];
        *group = task->groups[g];
        rs_copy_part *parts = changed->parts + group->first;
        memcpy(parts, task->parts + group->first, group->count * sizeof *parts);
        if (count == slabs.count)
            continue;
        for (size_t p = 0; p < group->count; p++)
            parts[p].axes[slab_axis(&parts[p], &slabs)].extent = count;
        rs_copy_simplify(parts, group);
    }
}
