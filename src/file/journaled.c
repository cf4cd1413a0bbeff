/* Plans through a journal; see journaled.h, and journal.h for how a step is made safe. */
#include "file/journaled.h"
#include "file/change.h"
#include "file/steps.h"
#include "transpose/plan.h"

#include <stdlib.h>
#include <string.h>

enum { STEP_BYTES = 16 << 20 };

/* ---- the run ---- */

typedef struct {
    const rs_journaled *how;
    rs_journal *journal;
    const rs_change *change;
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
                          r->change->bytes * r->change->task_count);
}

static restride_status run_stage(const run *r, size_t stage)
{
    rs_steps steps;
    bool finished = false;
    restride_status status = rs_steps_begin(&steps, &r->change->tasks[stage], r->how->file,
                                            r->array, r->change->offset, r->journal);
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
    memcpy(rs_journal_step_add(step, 0, r->change->header_bytes), r->change->header,
           r->change->header_bytes);
    step->next.stage++;
    return rs_journal_commit(r->journal);
}

/* Whether the step that was read is one of this change. */
static restride_status check_step(const rs_change *change, rs_journal *journal)
{
    const rs_journal_step *latest = rs_journal_step_of(journal);
    const rs_journal_cursor *next = &latest->next;
    if (next->stage < change->task_count && next->done / change->task_count <= change->bytes)
        return rs_steps_check(&change->tasks[next->stage], journal);
    bool complete = next->stage >= change->task_count && next->stage - change->task_count <= 1 &&
                    latest->carried_bytes == 0;
    return complete ? RESTRIDE_OK : rs_journal_fail_damaged(journal);
}

static restride_status run_change(const rs_journaled *how, rs_journal *journal,
                                  const rs_change *change)
{
    run r = {how, journal, change, NULL};
    const rs_journal_cursor *next = &rs_journal_step_of(journal)->next;
    void *array;
    restride_status status = rs_file_map(how->file, change->offset, &array);
    if (status != RESTRIDE_OK)
        return status;
    r.array = array;
    while (status == RESTRIDE_OK && next->stage < change->task_count)
        status = run_stage(&r, next->stage);
    if (status == RESTRIDE_OK && next->stage == change->task_count && change->header_bytes > 0)
        status = run_header(&r);
    return status == RESTRIDE_OK ? rs_journal_remove(journal) : status;
}

/* ---- making and resuming ---- */

static void measure(const rs_journaled *how, const rs_change *change, rs_journal_contents *contents)
{
    size_t step_bytes = how->step_bytes != 0 ? how->step_bytes : STEP_BYTES;
    contents->capacity = (rs_journal_capacity){1, change->header_bytes + 1, 0};
    for (size_t i = 0; i < change->task_count; i++)
        rs_steps_measure(&change->tasks[i], step_bytes, &contents->capacity,
                         &contents->stash_bytes);
}

static bool all_suit(const rs_change *change)
{
    for (size_t i = 0; i < change->task_count; i++)
        if (!rs_steps_suit(&change->tasks[i], change->bytes))
            return false;
    return true;
}

static restride_status check_stages(const rs_journaled *how, const rs_change *change)
{
    for (size_t i = 0; i < change->task_count; i++)
        if (!rs_steps_suit(&change->tasks[i], change->bytes))
            return rs_fail(RESTRIDE_UNSUPPORTED,
                           "Stage %zu of the plan for %s cannot be taken in steps; leave out the "
                           "journal.",
                           i + 1, how->file->path);
    return RESTRIDE_OK;
}

static restride_status make_change(const rs_journaled_change *given, rs_change *change)
{
    restride_status status = rs_change_make(change, given->plan->tasks, given->plan->stage_count);
    change->offset = given->offset;
    change->bytes = given->plan->bytes;
    if (status != RESTRIDE_OK || given->header_bytes == 0)
        return status;
    change->header = malloc(given->header_bytes);
    if (change->header == NULL)
        return rs_fail_memory("a header");
    change->header_bytes = given->header_bytes;
    memcpy(change->header, given->header, given->header_bytes);
    return RESTRIDE_OK;
}

/* The journal of a change; *journal is NULL after an error. */
static restride_status create(const rs_journaled *how, const rs_change *change,
                              rs_journal **journal)
{
    rs_journal_contents contents = {.purpose = (char *)(uintptr_t)how->purpose};
    *journal = NULL;
    restride_status status = check_stages(how, change);
    if (status != RESTRIDE_OK)
        return status;
    measure(how, change, &contents);
    status = rs_change_write(change, &contents.plan, &contents.plan_bytes);
    if (status == RESTRIDE_OK)
        status = rs_file_fill_holes(how->file);
    if (status == RESTRIDE_OK)
        status = rs_journal_create(journal, how->journal, how->file, &contents);
    free(contents.plan);
    return status;
}

restride_status rs_journaled_run(const rs_journaled *how, const rs_journaled_change *given)
{
    rs_change change;
    rs_journal *journal = NULL;
    restride_status status = make_change(given, &change);
    if (status == RESTRIDE_OK)
        status = create(how, &change, &journal);
    if (status == RESTRIDE_OK)
        status = run_change(how, journal, &change);
    rs_journal_close(journal);
    rs_change_free(&change);
    return status;
}

/* Whether every stage has steps that need nothing but memory. */
static bool goes_straight(const rs_change *change, const rs_journal_capacity *capacity)
{
    for (size_t i = 0; i < change->task_count; i++)
        if (!rs_steps_straight(&change->tasks[i], capacity))
            return false;
    return true;
}

restride_status rs_journaled_run_straight(const rs_journaled *how, const rs_journaled_change *given,
                                          bool *possible)
{
    rs_change change;
    rs_journal *journal = NULL;
    restride_status status = make_change(given, &change);
    rs_journal_contents contents = {.purpose = (char *)(uintptr_t)how->purpose};
    *possible = status == RESTRIDE_OK && all_suit(&change);
    if (*possible) {
        measure(how, &change, &contents);
        *possible = goes_straight(&change, &contents.capacity);
    }
    if (*possible)
        status = rs_journal_create_idle(&journal, how->file, &contents);
    if (*possible && status == RESTRIDE_OK)
        status = run_change(how, journal, &change);
    if (*possible && status == RESTRIDE_OK)
        status = rs_file_sync(how->file);
    rs_journal_close(journal);
    rs_change_free(&change);
    return status;
}

/* Whether the journal has room for its own steps. */
static bool has_room(const rs_journal_contents *contents, const rs_change *change)
{
    for (size_t i = 0; i < change->task_count; i++)
        if (!rs_steps_fit(&change->tasks[i], &contents->capacity, contents->stash_bytes))
            return false;
    return contents->capacity.ranges > 0 && change->header_bytes <= contents->capacity.payload;
}

/* Checks everything that was read before the first byte of the file changes. */
static restride_status resume(const rs_journaled *how, rs_journal *journal)
{
    const rs_journal_contents *contents = rs_journal_contents_of(journal);
    rs_change change;
    restride_status status;
    bool suits =
        rs_change_read(&change, contents->plan, contents->plan_bytes, how->file->bytes, &status) &&
        has_room(contents, &change);
    if (status == RESTRIDE_OK)
        status = suits ? check_step(&change, journal) : rs_journal_fail_damaged(journal);
    if (status == RESTRIDE_OK)
        status = rs_journal_repeat(journal);
    if (status == RESTRIDE_OK)
        status = run_change(how, journal, &change);
    rs_change_free(&change);
    return status;
}

restride_status rs_journaled_resume(const rs_journaled *how, bool *found)
{
    rs_journal *journal;
    restride_status status = rs_journal_open(&journal, how->journal, how->file, how->purpose);
    *found = journal != NULL;
    if (status == RESTRIDE_OK && *found)
        status = resume(how, journal);
    rs_journal_close(journal);
    return status;
}
