/* Plans through a journal; see journaled.h, and journal.h for how a step is made safe. */
#include "file/journaled.h"
#include "file/steps.h"
#include "transpose/plan.h"

#include <stdlib.h>
#include <string.h>

enum { STEP_BYTES = 16 << 20 };

/* What the journal keeps of a change; behind it come the tasks and the header. */
typedef struct {
    size_t offset;
    size_t bytes; /* of the array */
    size_t task_count;
    size_t header_bytes;
} kept;

typedef struct {
    kept k;
    const rs_transpose_task *tasks;
    const unsigned char *header;
} change;

static restride_status keep(const rs_journaled_change *given, char **plan, size_t *plan_bytes)
{
    const restride_plan *p = given->plan;
    const kept k = {given->offset, p->bytes, p->stage_count, given->header_bytes};
    size_t task_bytes = p->stage_count * sizeof *p->tasks;
    *plan_bytes = sizeof k + task_bytes + k.header_bytes;
    *plan = malloc(*plan_bytes);
    if (*plan == NULL)
        return rs_fail_memory("a plan");
    memcpy(*plan, &k, sizeof k);
    memcpy(*plan + sizeof k, p->tasks, task_bytes);
    if (k.header_bytes > 0)
        memcpy(*plan + sizeof k + task_bytes, given->header, k.header_bytes);
    return RESTRIDE_OK;
}

static change find_change(const rs_journal_contents *contents)
{
    change c;
    const char *plan = contents->plan;
    memcpy(&c.k, plan, sizeof c.k);
    c.tasks = (const rs_transpose_task *)(const void *)(plan + sizeof c.k);
    c.header = (const unsigned char *)(c.tasks + c.k.task_count);
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

static restride_status measure(const rs_journaled *how, const rs_journaled_change *given,
                               rs_journal_contents *contents)
{
    const restride_plan *plan = given->plan;
    size_t step_bytes = how->step_bytes != 0 ? how->step_bytes : STEP_BYTES;
    contents->capacity = (rs_journal_capacity){1, given->header_bytes + 1, 0};
    for (size_t i = 0; i < plan->stage_count; i++) {
        if (!rs_steps_known(&plan->tasks[i]))
            return rs_fail(RESTRIDE_UNSUPPORTED,
                           "Stage %zu of the plan for %s cannot be taken in steps; leave out the "
                           "journal.",
                           i + 1, how->file->path);
        rs_steps_measure(&plan->tasks[i], step_bytes, &contents->capacity, &contents->stash_bytes);
    }
    return RESTRIDE_OK;
}

restride_status rs_journaled_run(const rs_journaled *how, const rs_journaled_change *given)
{
    rs_journal_contents contents = {.purpose = (char *)(uintptr_t)how->purpose};
    char *plan = NULL;
    restride_status status = measure(how, given, &contents);
    if (status == RESTRIDE_OK)
        status = rs_file_fill_holes(how->file);
    if (status == RESTRIDE_OK)
        status = keep(given, &plan, &contents.plan_bytes);
    contents.plan = plan;
    rs_journal *journal = NULL;
    if (status == RESTRIDE_OK)
        status = rs_journal_create(&journal, how->journal, how->file, &contents);
    free(plan);
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
