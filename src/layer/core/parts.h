/*
 * Parts: a command that touches few bytes of a converted buffer gets them alone, as the program
 * sees them, in a scratch buffer (the on-demand marshaling of Sung's thesis, section 5.5.3). They
 * are copied out of the buffer's layout, used, and, if the command writes, copied back; the buffer
 * itself stays as it is.
 *
 *     rs_part part = {0};
 *     rs_allocation to = rs_part_open(&command, buffer, &offset, size, RS_PART_REPLACE, &part);
 *     error = target->clEnqueueWrite...(to, offset, ...);
 *     error = rs_part_close(&command, &part, event);
 *
 * When the range is large, or the buffer is in the program's layout anyway, the whole buffer is
 * restored and opened itself.
 */
#ifndef RS_LAYER_PARTS_H
#define RS_LAYER_PARTS_H

#include "layer/core/coherence.h"

typedef enum {
    RS_PART_READ,
    RS_PART_REPLACE, /* writes every byte */
    RS_PART_CHANGE   /* writes some of them */
} rs_part_use;

typedef struct {
    rs_allocation scratch; /* NULL: the buffer itself was opened */
    rs_buffer *buffer;
    const rs_device_layout *layout;
    size_t first, end; /* of the buffer */
    rs_part_use use;
} rs_part;

/* What the command is to work on instead of `handle`; *offset becomes the offset there. */
rs_allocation rs_part_open(rs_command *command, rs_allocation handle, size_t *offset, size_t size,
                           rs_part_use use, rs_part *part) RS_LOCKED;

/* The bytes of a rectangle: `offset` of its first, `size` to its last, in lines of `pitch` bytes.
 * Drivers may want no row to go on in the next line, and `room` bytes of buffer from the first on,
 * although the last of them are not used. */
typedef struct {
    size_t offset, size, pitch, room;
} rs_part_lines;

/* The same for a rectangle, whose rows begin at the same place of their lines there. */
rs_allocation rs_part_open_lines(rs_command *command, rs_allocation handle, rs_part_lines *lines,
                                 rs_part_use use, rs_part *part) RS_LOCKED;

/* After the command was enqueued: puts what it wrote back, after `event` of the command (may be
 * NULL for a read), and lets the scratch buffer go. */
int rs_part_close(rs_command *command, rs_part *part, rs_event event) RS_LOCKED;

/* Lets the scratch buffer go, for a command that was not enqueued. */
void rs_part_drop(rs_part *part) RS_LOCKED;

/* ---- maps ---- */

/* Keeps the part of a map until it is unmapped; false when memory is short. */
bool rs_part_keep_mapped(rs_part *part, void *mapped, size_t offset, size_t size,
                         bool writes) RS_LOCKED;

/* Takes the record of a map out of its buffer; NULL when it is not one of a part. The caller frees
 * it and releases its scratch buffer. */
rs_map_part *rs_part_of_map(rs_buffer *buffer, const void *mapped) RS_LOCKED;

#endif
