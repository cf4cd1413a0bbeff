/*
 * What a journal keeps of a change: which stages, on which part of the file, and the header that
 * comes last. As bytes it is a list of numbers (lab/docs/journal.md), so that it can be read by
 * another build than the one that wrote it.
 */
#ifndef RS_FILE_CHANGE_H
#define RS_FILE_CHANGE_H

#include "engine/stage.h"

typedef struct {
    size_t offset; /* of the array in the file */
    size_t bytes;  /* of the array */
    size_t task_count;
    rs_transpose_task *tasks;
    rs_piece *pieces; /* of all tasks, which point to them */
    unsigned char *header;
    size_t header_bytes; /* 0: the file's header stays */
} rs_change;

/* The change that runs these stages, in the forms that have steps (steps.h). */
restride_status rs_change_make(rs_change *change, const rs_transpose_task tasks[],
                               size_t task_count);
void rs_change_free(rs_change *change);

/* *bytes is the caller's to free. */
restride_status rs_change_write(const rs_change *change, void **bytes, size_t *count);

/* False: the bytes are no change, or one that does not suit a file of `file_bytes` bytes; or
 * *status is an error. Free it in either case. */
bool rs_change_read(rs_change *change, const void *bytes, size_t count, size_t file_bytes,
                    restride_status *status);

#endif
