/*
 * What the tiles of two layouts do to one dimension: the sizes of all tiles, its levels, and
 * intervals in which all tiles are whole.
 */
#ifndef RS_TRANSPOSE_LEVELS_H
#define RS_TRANSPOSE_LEVELS_H

#include <stdbool.h>
#include <stddef.h>

enum { RS_MOST_LEVELS = 64 };

typedef struct {
    size_t count;
    size_t sizes[RS_MOST_LEVELS + 1]; /* of the tiles of each level, ascending; the first is 1 */
} rs_levels;

/* An interval of a dimension: `count` tiles of one level. */
typedef struct {
    size_t begin;
    size_t level;
    size_t count;
    bool padding;
} rs_interval;

/* Adds a size of tiles, unless it is there or there are too many. */
void rs_levels_add(rs_levels *levels, size_t size);

/* Whether each size divides the next. */
bool rs_levels_nested(const rs_levels *levels);

/* The most intervals that rs_levels_cut() adds. */
size_t rs_levels_most_intervals(const rs_levels *levels);

/* Adds the fewest intervals that cover [begin, end) to a list; sizes must be nested. */
void rs_levels_cut(const rs_levels *levels, rs_interval *intervals, size_t *count, size_t begin,
                   size_t end, bool padding);

#endif
