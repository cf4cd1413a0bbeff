/*
 * The stages of a transposition as steps of a journal (journal.h). A step holds the new contents of
 * some ranges, worked out from a file that no step since the last one has changed:
 *
 *     010!       some blocks, or a part of one that is longer than a step and passes through the
 *                stash; likewise zip, unzip and reorder
 *     100!       some elements, one after the other along a cycle of the permutation
 *     square     some pairs of mirror tiles
 *     pad        some rows, last one first; the tails are stashed before
 *     unpad      some rows, first one first; the tails are stashed before
 */
#ifndef RS_FILE_STEPS_H
#define RS_FILE_STEPS_H

#include "engine/stage.h"
#include "file/journal.h"

/* A stage on its way. */
typedef struct {
    const rs_transpose_task *task;
    const rs_file *file;
    const unsigned char *array; /* mapped */
    size_t array_offset;        /* of the array in the file */
    uint64_t *marks;            /* 100!: elements of this matrix that have moved */
    unsigned char *stash;       /* pad and unpad: the tails of this matrix, row by row */
    size_t ahead;               /* 100!: the element of the cycle that was asked for last */
    rs_journal_cursor at;
} rs_steps;

/* Whether a stage can be done in steps, and lies within an array of that size with all its numbers
 * in order. The other functions take only such a stage. */
bool rs_steps_suit(const rs_transpose_task *task, size_t array_bytes);

/* Enlarges *capacity and *stash_bytes to what the steps of this stage need, when steps of about
 * `step_bytes` bytes are wanted. */
void rs_steps_measure(const rs_transpose_task *task, size_t step_bytes,
                      rs_journal_capacity *capacity, size_t *stash_bytes);

/* Whether a journal has room for the steps of a stage. */
bool rs_steps_fit(const rs_transpose_task *task, const rs_journal_capacity *capacity,
                  size_t stash_bytes);

/* Whether they need no stash: the tails of a matrix wait in memory then. */
bool rs_steps_straight(const rs_transpose_task *task, const rs_journal_capacity *capacity);

/* Whether the latest step of a journal is one of this stage, and the stash as it left it:
 * RESTRIDE_INVALID_ARGUMENT otherwise. */
restride_status rs_steps_check(const rs_transpose_task *task, rs_journal *journal);

/* Goes on with a stage at a cursor, from its beginning or after any of its steps. `array` is the
 * byte `array_offset` of the mapped file. The caller calls rs_steps_end(), after an error too. */
restride_status rs_steps_begin(rs_steps *steps, const rs_transpose_task *task, const rs_file *file,
                               const unsigned char *array, size_t array_offset,
                               rs_journal *journal);
void rs_steps_end(rs_steps *steps);

/* Fills the journal's step, whose cursor is then behind it; *finished tells whether the stage is
 * complete with this step. */
restride_status rs_steps_next(rs_steps *steps, rs_journal *journal, bool *finished);

#endif
