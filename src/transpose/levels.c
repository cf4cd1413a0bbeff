/* See levels.h. */
#include "transpose/levels.h"

#include <string.h>

void rs_levels_add(rs_levels *levels, size_t size)
{
    size_t at = 0;
    while (at < levels->count && levels->sizes[at] < size)
        at++;
    if (at < levels->count && levels->sizes[at] == size)
        return;
    if (levels->count == RS_MOST_LEVELS)
        return;
    memmove(levels->sizes + at + 1, levels->sizes + at,
            (levels->count - at) * sizeof *levels->sizes);
    levels->sizes[at] = size;
    levels->count++;
}

bool rs_levels_nested(const rs_levels *levels)
{
    for (size_t i = 1; i < levels->count; i++)
        if (levels->sizes[i] % levels->sizes[i - 1] != 0)
            return false;
    return true;
}

size_t rs_levels_most_intervals(const rs_levels *levels)
{
    return 2 * levels->count + 1;
}

void rs_levels_cut(const rs_levels *levels, rs_interval *intervals, size_t *count, size_t begin,
                   size_t end, bool padding)
{
    while (begin < end) {
        size_t level = levels->count - 1;
        while (begin % levels->sizes[level] != 0 || end - begin < levels->sizes[level])
            level--;
        size_t border = end;
        if (level + 1 < levels->count) {
            size_t above = levels->sizes[level + 1];
            size_t next = begin / above * above;
            if (end - next > above)
                border = next + above;
        }
        size_t tiles = (border - begin) / levels->sizes[level];
        intervals[(*count)++] = (rs_interval){begin, level, tiles, padding};
        begin += tiles * levels->sizes[level];
    }
}
