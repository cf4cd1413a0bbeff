/*
 * What copies.c prepares and copy_boxes.c runs: copies from one buffer to another, cut into boxes.
 */
#ifndef RS_ENGINE_HOST_COPIES_H
#define RS_ENGINE_HOST_COPIES_H

#include "engine/copy.h"
#include "engine/host/team.h"
#include "engine/host/tile.h"
#include "engine/stage.h"

enum { RS_HOST_COPY_LONG_UNIT = 512 }; /* bytes; elements that need no buffer */

typedef struct {
    rs_copy_part part;
    rs_host_tile tile;
    rs_host_tile_move *stream; /* of a group that streams */
    size_t rows, cols;         /* the axes that tiles are over; axis_count: none */
    size_t along;              /* without tiles, the axis of the inner loop; axis_count: none */
    size_t strides[RS_COPY_MOST_AXES]; /* in the buffer, or the target */
    size_t begin;                      /* in the buffer */
} rs_host_copied_part;

typedef struct {
    size_t first, count; /* parts */
    size_t axis_count;   /* that a box has blocks of; parts' own axes are whole */
    size_t blocks[RS_COPY_MOST_AXES];
    size_t order[RS_COPY_MOST_AXES]; /* of the boxes: the fastest axis first */
    size_t boxes;
    size_t bytes; /* of a box, at most */
    size_t line;  /* elements of the axis below that a box reads beyond its own; 0: none */
    size_t line_axis;
    bool direct;  /* without a buffer */
    bool streams; /* and past the caches, a line of the target at a time */
    bool whole;   /* records of `record` bytes, side by side in the target from `start` on */
    size_t start, record;
} rs_host_copied_group;

typedef struct {
    rs_stage base;
    size_t group_count;
    rs_host_copied_group *groups;
    /* The same where the target begins with a line; without boxes where that is no other. */
    rs_host_copied_group *aligned;
    size_t part_count;
    rs_host_copied_part *parts;
    size_t threads;
    size_t buffer_bytes; /* of a thread */
    bool beyond;         /* the caches */
} rs_host_copied;

/* A run of a group: what its threads share. */
typedef struct {
    const rs_host_copied *copies;
    const rs_host_copied_group *group;
    const unsigned char *from;
    unsigned char *to;
    unsigned char *buffers;
} rs_host_copy_run;

/* What each of them does. */
void rs_host_copy_boxes(void *context, const rs_host_member *member);

#endif
