/*
 * What the forms of stages have in common (steps.h): the table of functions that each of them is,
 * and where the matrices of a task lie.
 */
#ifndef RS_FILE_STEPS_FORM_H
#define RS_FILE_STEPS_FORM_H

#include "base/arithmetic.h"
#include "file/steps.h"

typedef struct {
    /* Whether the fields of a task are in order; *bytes are those of one matrix. */
    bool (*suits)(const rs_transpose_task *task, size_t *bytes);
    void (*measure)(const rs_transpose_task *task, size_t step_bytes, rs_journal_capacity *capacity,
                    size_t *stash_bytes);
    bool (*fits)(const rs_transpose_task *task, const rs_journal_capacity *capacity,
                 size_t stash_bytes);
    bool (*resumable)(const rs_transpose_task *task, const rs_journal_step *latest);
    /* How many bytes of the stash count after a step; NULL: none. */
    size_t (*stashed)(const rs_transpose_task *task, const rs_journal_step *latest);
    /* NULL: nothing is to be done. */
    restride_status (*begin)(rs_steps *steps, const rs_journal *journal,
                             const rs_journal_step *latest);
    /* Makes one step; *finished: the last one of the stage. */
    restride_status (*fill)(rs_steps *steps, rs_journal *journal, bool *finished);
} rs_steps_form;

extern const rs_steps_form rs_steps_of_blocks;  /* 010! */
extern const rs_steps_form rs_steps_of_pieces;  /* zip, unzip */
extern const rs_steps_form rs_steps_of_reorder; /* reorder */
extern const rs_steps_form rs_steps_of_cycles;  /* 100! */
extern const rs_steps_form rs_steps_of_fused;   /* 1000! and 0010! at once */
extern const rs_steps_form rs_steps_of_squares; /* square */
extern const rs_steps_form rs_steps_of_tails;   /* pad, unpad */

/* Matrices are numbered through all repeats. */
static inline size_t rs_steps_matrices_of(const rs_transpose_task *task)
{
    return (task->repeats > 1 ? task->repeats : 1) * task->outer;
}

static inline size_t rs_steps_offset_of(const rs_transpose_task *task, size_t matrix)
{
    return task->offset + matrix / task->outer * task->repeat_pitch +
           matrix % task->outer * task->pitch;
}

static inline size_t rs_steps_row_bytes(const rs_transpose_task *task)
{
    return task->cols * task->unit;
}

static inline size_t rs_steps_tail_bytes(const rs_transpose_task *task)
{
    return task->tail * task->unit;
}

static inline size_t rs_steps_larger(size_t a, size_t b)
{
    return a > b ? a : b;
}

static inline size_t rs_steps_smaller(size_t a, size_t b)
{
    return a < b ? a : b;
}

static inline bool rs_steps_multiply_all(const size_t factors[], size_t count, size_t *product)
{
    *product = 1;
    for (size_t i = 0; i < count; i++)
        if (factors[i] == 0 || !rs_size_multiply(*product, factors[i], product))
            return false;
    return true;
}

#define RS_STEPS_MULTIPLY(product, ...)                                                            \
    rs_steps_multiply_all((const size_t[]){__VA_ARGS__},                                           \
                          sizeof((size_t[]){__VA_ARGS__}) / sizeof(size_t), product)

/* Asks for bytes of the array that are used soon: the disk, where the file does not stay in memory,
 * or else the memory. */
static inline void rs_steps_want(const rs_steps *s, size_t offset, size_t length)
{
    if (s->file->beyond_memory)
        rs_file_want(s->file, s->array_offset + offset, length);
    else
        rs_file_prefetch(s->file, s->array_offset + offset, length);
}

/* The place of the next `length` bytes of new contents, at `offset` of the array. */
static inline unsigned char *rs_steps_add(rs_steps *s, rs_journal_step *step, size_t offset,
                                          size_t length)
{
    s->at.done += length;
    return rs_journal_step_add(step, s->array_offset + offset, length);
}

#endif
