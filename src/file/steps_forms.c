/* Stages in steps; see steps.h. Each form is a file of its own and a row in the table here. */
#include "file/steps.h"
#include "file/steps_form.h"

#include <stdlib.h>

enum {
    LEAST_RANGES = 1024,
    RANGE_PARTS = 64 /* a step of many ranges has about this many bytes in each */
};

static const rs_steps_form *const forms[] = {
    [RS_TRANSPOSE_PANELS] = &rs_steps_of_blocks,  [RS_TRANSPOSE_CHAINS] = &rs_steps_of_cycles,
    [RS_TRANSPOSE_SQUARE] = &rs_steps_of_squares, [RS_TRANSPOSE_JOIN] = &rs_steps_of_tails,
    [RS_TRANSPOSE_SPLIT] = &rs_steps_of_tails,    [RS_TRANSPOSE_UNZIP] = &rs_steps_of_pieces,
    [RS_TRANSPOSE_ZIP] = &rs_steps_of_pieces,     [RS_TRANSPOSE_REORDER] = &rs_steps_of_reorder,
    [RS_TRANSPOSE_FUSED] = &rs_steps_of_fused,
};
enum { FORM_COUNT = sizeof forms / sizeof forms[0] };

/* The end of the last matrix, when it can be said; none lies where another does. */
static bool find_end(const rs_transpose_task *task, size_t matrix_bytes, size_t array_bytes,
                     size_t *end)
{
    size_t last;
    size_t repeat;
    size_t repeats = task->repeats > 1 ? task->repeats - 1 : 0;
    size_t sum;
    return RS_STEPS_MULTIPLY(&sum, task->outer, repeats + 1, matrix_bytes) && sum <= array_bytes &&
           rs_size_multiply(task->outer - 1, task->pitch, &last) &&
           rs_size_multiply(repeats, task->repeat_pitch, &repeat) &&
           rs_size_add(task->offset, last, end) && rs_size_add(*end, repeat, end) &&
           rs_size_add(*end, matrix_bytes, end);
}

bool rs_steps_suit(const rs_transpose_task *task, size_t array_bytes)
{
    size_t bytes;
    size_t end;
    return task->unit != 0 && (size_t)task->method < FORM_COUNT && forms[task->method] != NULL &&
           forms[task->method]->suits(task, &bytes) && find_end(task, bytes, array_bytes, &end) &&
           end <= array_bytes;
}

void rs_steps_measure(const rs_transpose_task *task, size_t step_bytes,
                      rs_journal_capacity *capacity, size_t *stash_bytes)
{
    size_t ranges = rs_steps_larger(step_bytes / RANGE_PARTS, LEAST_RANGES);
    capacity->ranges = rs_steps_larger(capacity->ranges, ranges);
    capacity->payload = rs_steps_larger(capacity->payload, step_bytes);
    forms[task->method]->measure(task, step_bytes, capacity, stash_bytes);
}

bool rs_steps_fit(const rs_transpose_task *task, const rs_journal_capacity *capacity,
                  size_t stash_bytes)
{
    return capacity->ranges > 0 && forms[task->method]->fits(task, capacity, stash_bytes);
}

bool rs_steps_straight(const rs_transpose_task *task, const rs_journal_capacity *capacity)
{
    return task->tail != 0 || rs_steps_fit(task, capacity, 0);
}

restride_status rs_steps_check(const rs_transpose_task *task, rs_journal *journal)
{
    const rs_steps_form *form = forms[task->method];
    const rs_journal_step *latest = rs_journal_step_of(journal);
    if (!form->resumable(task, latest))
        return rs_journal_fail_damaged(journal);
    size_t stashed = form->stashed == NULL ? 0 : form->stashed(task, latest);
    return stashed == 0 ? RESTRIDE_OK : rs_journal_check_stash(journal, stashed);
}

restride_status rs_steps_begin(rs_steps *steps, const rs_transpose_task *task, const rs_file *file,
                               const unsigned char *array, size_t array_offset, rs_journal *journal)
{
    const rs_journal_step *latest = rs_journal_step_of(journal);
    *steps = (rs_steps){.task = task,
                        .file = file,
                        .array = array,
                        .array_offset = array_offset,
                        .at = latest->next};
    const rs_steps_form *form = forms[task->method];
    return form->begin == NULL ? RESTRIDE_OK : form->begin(steps, journal, latest);
}

void rs_steps_end(rs_steps *steps)
{
    free(steps->marks);
    free(steps->stash);
    *steps = (rs_steps){0};
}

restride_status rs_steps_next(rs_steps *steps, rs_journal *journal, bool *finished)
{
    rs_journal_step *step = rs_journal_step_of(journal);
    rs_journal_step_clear(step);
    *finished = false;
    restride_status status = forms[steps->task->method]->fill(steps, journal, finished);
    step->next = steps->at;
    if (*finished)
        step->next = (rs_journal_cursor){.stage = steps->at.stage + 1, .done = steps->at.done};
    return status;
}
