/*
 * Copies from one buffer to another in another order: what RS_COPY means, for every engine and for
 * whoever checks one.
 *
 * A part is elements in loops, each of which has its stride in both buffers. Parts of a group have
 * their first `shared` axes in common, with strides of their own: the members of a record of
 * several sizes, which lie side by side in one buffer and apart in the other.
 */
#ifndef RS_ENGINE_COPY_H
#define RS_ENGINE_COPY_H

#include <stdbool.h>
#include <stddef.h>

enum { RS_COPY_MOST_AXES = 48 };

typedef struct {
    size_t extent;
    size_t from; /* bytes from one to the next, in the source */
    size_t to;   /* and in the target */
} rs_copy_axis;

typedef struct {
    size_t unit; /* bytes that lie together in both */
    size_t from; /* bytes before the first */
    size_t to;
    size_t axis_count;
    rs_copy_axis axes[RS_COPY_MOST_AXES];
} rs_copy_part;

typedef struct {
    size_t first; /* of the parts */
    size_t count;
    size_t shared;
} rs_copy_group;

typedef struct {
    size_t group_count;
    rs_copy_group *groups;
    rs_copy_part *parts;
    size_t from_bytes; /* of the arrays */
    size_t to_bytes;
} rs_copy_task;

/* Leaves out axes of one, and joins axes and parts that stay together. A group of one part has all
 * its axes shared. */
void rs_copy_simplify(rs_copy_part *parts, rs_copy_group *group);

/* The bytes that a part moves. */
size_t rs_copy_part_bytes(const rs_copy_part *part);

/*
 * Arrays that lie one after the other in both buffers, and keep their order: `count` of `bytes`
 * bytes, along the slowest axis of both. One of all bytes when there is no such axis, and none when
 * the task leaves some bytes out.
 */
typedef struct {
    size_t count;
    size_t bytes;
} rs_copy_slabs;

rs_copy_slabs rs_copy_slabs_of(const rs_copy_task *task);

/* `changed`, whose `parts` have room for those of a task of several slabs, becomes the task of the
 * first `count` of them. */
void rs_copy_take_slabs(rs_copy_task *changed, const rs_copy_task *task, size_t count);

/* What a copy on a device costs whose groups hold `local_bytes`, in passes at the speed of a copy
 * as it is; infinite where it is not known. */
double rs_copy_cost(const rs_copy_task *task, size_t local_bytes);

#endif
