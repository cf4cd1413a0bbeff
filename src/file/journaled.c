/* Plans through a journal; see journaled.h, and journal.h for how a step is made safe. */
#include "file/journaled.h"
#include "file/change.h"
#include "file/mark.h"
#include "file/steps.h"
#include "file/sum.h"
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

/* Behind the sentence about what failed: what is left, and what to do. */
static restride_status tell_half_done(const rs_journaled *how, const rs_journal *journal,
                                      restride_status status)
{
    char *reason = NULL;
    if (status != RESTRIDE_OK && rs_journal_placed(journal))
        reason = strdup(restride_last_error());
    if (reason != NULL)
        rs_fail(status,
                "%s %s is between its two layouts, and the same command with the journal %s goes "
                "on.",
                reason, how->file->path, how->journal);
    free(reason);
    return status;
}

static void tell(const run *r)
{
    const restride_run_options *options = &r->how->run;
    if (options->progress != NULL)
        options->progress(options->context, rs_journal_step_of(r->journal)->next.done,
                          r->change->bytes * r->change->task_count);
}

/* The header comes last, in the last step where it has room there; the cursor behind it names the
 * stage after it. */
static void add_header(const run *r)
{
    rs_journal_step *step = rs_journal_step_of(r->journal);
    if (r->change->header_bytes == 0 || !rs_journal_step_fits(step, r->change->header_bytes))
        return;
    memcpy(rs_journal_step_add(step, 0, r->change->header_bytes), r->change->header,
           r->change->header_bytes);
    step->next.stage++;
}

static restride_status run_header(const run *r)
{
    rs_journal_step_clear(rs_journal_step_of(r->journal));
    add_header(r);
    return rs_journal_commit(r->journal);
}

static restride_status run_stage(const run *r, size_t stage)
{
    rs_steps steps;
    bool finished = false;
    restride_status status = rs_steps_begin(&steps, &r->change->tasks[stage], r->how->file,
                                            r->array, r->change->offset, r->journal);
    while (status == RESTRIDE_OK && !finished) {
        if (r->how->stop != NULL && *r->how->stop != 0) {
            status = rs_fail(RESTRIDE_IO, rs_journal_placed(r->journal)
                                              ? "Interrupted."
                                              : "Interrupted; nothing was changed.");
            break;
        }
        status = rs_steps_next(&steps, r->journal, &finished);
        if (status == RESTRIDE_OK && finished && stage + 1 == r->change->task_count)
            add_header(r);
        if (status == RESTRIDE_OK)
            status = rs_journal_commit(r->journal);
        if (status == RESTRIDE_OK)
            tell(r);
    }
    rs_steps_end(&steps);
    return status;
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
    return status == RESTRIDE_OK ? rs_journal_finish(journal) : status;
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

/* Of all that the change may write to. */
static restride_status sum_content(const rs_journaled *how, const rs_change *change, uint64_t *sum)
{
    uint64_t header = 0;
    restride_status status = rs_sum_file(how->file, change->offset, change->bytes, sum);
    if (status == RESTRIDE_OK)
        status = rs_sum_file(how->file, 0, change->header_bytes, &header);
    *sum += header;
    return status;
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
        status = sum_content(how, change, &contents.content);
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
        status = tell_half_done(how, journal, run_change(how, journal, &change));
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

/* A journal, the change that it holds, and whether they and the file fit together. */
typedef struct {
    rs_journal *journal; /* NULL: there is none */
    rs_change change;
} found_change;

static restride_status check_mark(const rs_journaled *how, const rs_journal *journal)
{
    rs_mark mark;
    restride_status status = rs_mark_read(how->file, &mark);
    if (status == RESTRIDE_OK && mark.identity != 0 &&
        mark.identity != rs_journal_identity(journal))
        status = rs_mark_check(how->file);
    rs_mark_free(&mark);
    return status;
}

/* Nothing is written to. */
static restride_status find(const rs_journaled *how, found_change *found)
{
    *found = (found_change){0};
    restride_status status =
        rs_journal_open(&found->journal, how->journal, how->file, how->purpose);
    if (status != RESTRIDE_OK || found->journal == NULL)
        return status;
    const rs_journal_contents *contents = rs_journal_contents_of(found->journal);
    const bool suits = rs_change_read(&found->change, contents->plan, contents->plan_bytes,
                                      how->file->bytes, &status) &&
                       has_room(contents, &found->change);
    if (status == RESTRIDE_OK && !suits)
        status = rs_journal_fail_damaged(found->journal);
    if (status == RESTRIDE_OK && !rs_journal_finished(found->journal))
        status = check_step(&found->change, found->journal);
    if (status == RESTRIDE_OK)
        status = check_mark(how, found->journal);
    uint64_t content;
    if (status == RESTRIDE_OK)
        status = sum_content(how, &found->change, &content);
    return status == RESTRIDE_OK ? rs_journal_check_content(found->journal, content) : status;
}

static void forget(found_change *found)
{
    rs_change_free(&found->change);
    rs_journal_close(found->journal);
}

restride_status rs_journaled_resume(const rs_journaled *how, rs_journaled_found *outcome)
{
    found_change found;
    restride_status status = find(how, &found);
    bool finished = found.journal != NULL && rs_journal_finished(found.journal);
    *outcome = found.journal == NULL ? RS_JOURNALED_NONE
               : finished            ? RS_JOURNALED_ALREADY
                                     : RS_JOURNALED_RESUMED;
    if (status == RESTRIDE_OK && finished)
        status = rs_journal_finish(found.journal);
    else if (status == RESTRIDE_OK && found.journal != NULL) {
        status = rs_journal_repeat(found.journal);
        if (status == RESTRIDE_OK)
            status = run_change(how, found.journal, &found.change);
        status = tell_half_done(how, found.journal, status);
    }
    forget(&found);
    return status;
}

/* ---- what is known of a file ---- */

static double part_of(const found_change *found)
{
    double all = (double)found->change.bytes * (double)found->change.task_count;
    return all > 0 ? (double)rs_journal_step_of(found->journal)->next.done / all : 0;
}

static restride_status examine_journal(const rs_file *file, bool marked, rs_journaled_status *told)
{
    rs_file same = *file;
    const rs_journaled how = {.file = &same, .journal = told->journal};
    found_change found = {0};
    restride_status status = find(&how, &found);
    if (found.journal != NULL)
        told->purpose = strdup(rs_journal_contents_of(found.journal)->purpose);
    if (status != RESTRIDE_OK && marked) {
        told->state = RS_JOURNALED_LOST;
        told->reason = strdup(restride_last_error());
        status = RESTRIDE_OK;
    } else if (found.journal == NULL)
        told->state = marked ? RS_JOURNALED_LOST : RS_JOURNALED_WHOLE;
    else if (rs_journal_finished(found.journal))
        told->state = RS_JOURNALED_COMPLETE;
    else {
        told->state = RS_JOURNALED_HALF_DONE;
        told->part = part_of(&found);
    }
    forget(&found);
    return status;
}

restride_status rs_journaled_examine(const rs_file *file, const char *journal,
                                     rs_journaled_status *found)
{
    rs_mark mark;
    *found = (rs_journaled_status){.state = RS_JOURNALED_WHOLE};
    restride_status status = rs_mark_read(file, &mark);
    if (status == RESTRIDE_OK && (journal != NULL || mark.found)) {
        found->journal = strdup(journal != NULL ? journal : mark.journal);
        status = found->journal == NULL ? rs_fail_memory("the name of a journal") : RESTRIDE_OK;
    }
    if (status == RESTRIDE_OK && rs_file_in_use(file))
        found->state = RS_JOURNALED_RUNNING;
    else if (status == RESTRIDE_OK && found->journal != NULL)
        status = examine_journal(file, mark.found, found);
    rs_mark_free(&mark);
    return status;
}

void rs_journaled_status_free(rs_journaled_status *status)
{
    free(status->journal);
    free(status->purpose);
    free(status->reason);
    *status = (rs_journaled_status){0};
}
