/* Plans through a journal; see journaled.h, and journal.h for how a step is made safe. */
#include "file/journaled.h"
#include "file/steps.h"
#include "transpose/plan.h"

#include <stdlib.h>
#include <string.h>

enum { STEP_BYTES = 16 << 20 };

/* What the journal keeps of a change; behind it come the tasks, their pieces and the header. */
typedef struct {
    size_t offset;
    size_t bytes; /* of the array */
    size_t task_count;
    size_t piece_count;
    size_t header_bytes;
} kept;

typedef struct {
    kept k;
    rs_transpose_task *tasks;
    const unsigned char *header;
} change;

/*
 * The stages of C2R and R2C have no steps of their own, and together they are one transposition,
 * for which the steps of 100! serve. False for a stage that is thereby done.
 */
static bool replace_shuffles(const rs_transpose_task *task, rs_transpose_task *replaced)
{
    *replaced = *task;
    replaced->pieces = NULL;
    switch (task->method) {
    case RS_TRANSPOSE_C2R_ROTATE:
    case RS_TRANSPOSE_C2R_ROWS:
    case RS_TRANSPOSE_R2C_ROTATE:
    case RS_TRANSPOSE_R2C_ROWS:
        return false;
    case RS_TRANSPOSE_C2R_COLUMNS:
        replaced->method = RS_TRANSPOSE_CHAINS;
        return true;
    case RS_TRANSPOSE_R2C_COLUMNS:
        replaced->method = RS_TRANSPOSE_CHAINS;
        replaced->rows = task->cols;
        replaced->cols = task->rows;
        return true;
    default:
        return true;
    }
}

static void *put(char **place, const void *bytes, size_t count)
{
    void *start = *place;
    if (count > 0)
        memcpy(start, bytes, count);
    *place += count;
    return start;
}

static restride_status keep(const rs_journaled_change *given, rs_journal_contents *contents)
{
    const restride_plan *p = given->plan;
    kept k = {given->offset, p->bytes, 0, 0, given->header_bytes};
    rs_transpose_task replaced;
    for (size_t i = 0; i < p->stage_count; i++) {
        k.task_count += replace_shuffles(&p->tasks[i], &replaced);
        k.piece_count += p->tasks[i].piece_count;
    }
    contents->plan_bytes = sizeof k + k.task_count * sizeof replaced +
                           k.piece_count * sizeof(rs_piece) + k.header_bytes;
    contents->plan = malloc(contents->plan_bytes);
    if (contents->plan == NULL)
        return rs_fail_memory("a plan");
    char *place = contents->plan;
    put(&place, &k, sizeof k);
    for (size_t i = 0; i < p->stage_count; i++)
        if (replace_shuffles(&p->tasks[i], &replaced))
            put(&place, &replaced, sizeof replaced);
    for (size_t i = 0; i < p->stage_count; i++)
        put(&place, p->tasks[i].pieces, p->tasks[i].piece_count * sizeof(rs_piece));
    put(&place, given->header, k.header_bytes);
    return RESTRIDE_OK;
}

/* The tasks point to their pieces again, which lie behind them. */
static change find_change(const rs_journal_contents *contents)
{
    change c;
    char *plan = contents->plan;
    memcpy(&c.k, plan, sizeof c.k);
    c.tasks = (rs_transpose_task *)(void *)(plan + sizeof c.k);
    const rs_piece *pieces = (const rs_piece *)(c.tasks + c.k.task_count);
    c.header = (const unsigned char *)(pieces + c.k.piece_count);
    for (size_t i = 0; i < c.k.task_count; i++) {
        c.tasks[i].pieces = pieces;
        pieces += c.tasks[i].piece_count;
    }
    return c;
}

/* ---- the run ---- */

typedef struct {
    const rs_journaled *how;
    rs_journal *journal;
    change change;
    const unsigned char *array;
} run;

static bool stopped(const run *r)
{
    return r->how->stop != NULL && *r->how->stop != 0;
}

static restride_status fail_stopped(const run *r)
{
    return rs_fail(RESTRIDE_IO,
                   "Interrupted; %s is between its two layouts, and the same command with the "
                   "journal %s goes on.",
                   r->how->file->path, r->how->journal);
}

static void tell(const run *r)
{
    const restride_run_options *options = &r->how->run;
    if (options->progress != NULL)
        options->progress(options->context, rs_journal_step_of(r->journal)->next.done,
                          r->change.k.bytes * r->change.k.task_count);
}

static restride_status run_stage(const run *r, size_t stage)
{
    rs_steps steps;
    bool finished = false;
    restride_status status =
        rs_steps_begin(&steps, &r->change.tasks[stage], r->array, r->change.k.offset, r->journal);
    while (status == RESTRIDE_OK && !finished) {
        if (stopped(r)) {
            status = fail_stopped(r);
            break;
        }
        status = rs_steps_next(&steps, r->journal, &finished);
        if (status == RESTRIDE_OK)
            status = rs_journal_commit(r->journal);
        if (status == RESTRIDE_OK)
            tell(r);
    }
    rs_steps_end(&steps);
    return status;
}

/* The header is the last step; the cursor behind it names the stage after it. */
static restride_status run_header(const run *r)
{
    rs_journal_step *step = rs_journal_step_of(r->journal);
    rs_journal_step_clear(step);
    memcpy(rs_journal_step_add(step, 0, r->change.k.header_bytes), r->change.header,
           r->change.k.header_bytes);
    step->next.stage++;
    return rs_journal_commit(r->journal);
}

static restride_status run_change(const rs_journaled *how, rs_journal *journal)
{
    run r = {how, journal, find_change(rs_journal_contents_of(journal)), NULL};
    const rs_journal_cursor *next = &rs_journal_step_of(journal)->next;
    void *array;
    restride_status status = rs_file_map(how->file, r.change.k.offset, &array);
    if (status != RESTRIDE_OK)
        return status;
    r.array = array;
    while (status == RESTRIDE_OK && next->stage < r.change.k.task_count)
        status = run_stage(&r, next->stage);
    if (status == RESTRIDE_OK && next->stage == r.change.k.task_count &&
        r.change.k.header_bytes > 0)
        status = run_header(&r);
    return status == RESTRIDE_OK ? rs_journal_remove(journal) : status;
}

/* ---- making and resuming ---- */

static restride_status measure(const rs_journaled *how, rs_journal_contents *contents)
{
    const change c = find_change(contents);
    size_t step_bytes = how->step_bytes != 0 ? how->step_bytes : STEP_BYTES;
    contents->capacity = (rs_journal_capacity){1, c.k.header_bytes + 1, 0};
    for (size_t i = 0; i < c.k.task_count; i++) {
        if (!rs_steps_known(&c.tasks[i]))
            return rs_fail(RESTRIDE_UNSUPPORTED,
                           "Stage %zu of the plan for %s cannot be taken in steps; leave out the "
                           "journal.",
                           i + 1, how->file->path);
        rs_steps_measure(&c.tasks[i], step_bytes, &contents->capacity, &contents->stash_bytes);
    }
    return RESTRIDE_OK;
}

restride_status rs_journaled_run(const rs_journaled *how, const rs_journaled_change *given)
{
    rs_journal_contents contents = {.purpose = (char *)(uintptr_t)how->purpose};
    rs_journal *journal = NULL;
    restride_status status = keep(given, &contents);
    if (status == RESTRIDE_OK)
        status = measure(how, &contents);
    if (status == RESTRIDE_OK)
        status = rs_file_fill_holes(how->file);
    if (status == RESTRIDE_OK)
        status = rs_journal_create(&journal, how->journal, how->file, &contents);
    free(contents.plan);
    if (status == RESTRIDE_OK)
        status = run_change(how, journal);
    rs_journal_close(journal);
    return status;
}

restride_status rs_journaled_resume(const rs_journaled *how, bool *found)
{
    rs_journal *journal;
    restride_status status = rs_journal_open(&journal, how->journal, how->file, how->purpose);
    *found = journal != NULL;
    if (status == RESTRIDE_OK && *found)
        status = run_change(how, journal);
    rs_journal_close(journal);
    return status;
}
