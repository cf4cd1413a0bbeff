/* A journal in use: steps, their commitment, the stash, and the end. */
#include "file/journal_state.h"
#include "file/mark.h"
#include "file/sum.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

restride_status rs_journal_begin(rs_journal **created, const char *path, const rs_file *file)
{
    *created = NULL;
    if (rs_mark_takes_name(path))
        return rs_fail(RESTRIDE_INVALID_ARGUMENT,
                       "%s cannot be a journal: its name is that of a mark (docs/journal.md); name "
                       "another.",
                       path);
    rs_journal *journal = calloc(1, sizeof *journal);
    if (journal == NULL)
        return rs_fail_memory("a journal");
    journal->log.descriptor = -1;
    journal->path = strdup(path);
    journal->log.path = journal->path;
    journal->file = file;
    if (journal->path == NULL) {
        rs_journal_close(journal);
        return rs_fail_memory("a journal");
    }
    *created = journal;
    return RESTRIDE_OK;
}

restride_status rs_journal_begun(rs_journal **journal, restride_status status)
{
    if (status != RESTRIDE_OK) {
        rs_journal_close(*journal);
        *journal = NULL;
    }
    return status;
}

restride_status rs_journal_allocate_step(rs_journal *journal)
{
    const rs_journal_capacity *capacity = &journal->contents.capacity;
    rs_journal_step *step = &journal->step;
    *step = (rs_journal_step){.capacity = *capacity};
    step->ranges = calloc(capacity->ranges + 1, sizeof *step->ranges);
    step->payload = malloc(capacity->payload + 1);
    step->carried = malloc(capacity->carried + 1);
    journal->front = malloc(RS_JOURNAL_RECORD_BYTES + capacity->ranges * RS_JOURNAL_RANGE_BYTES);
    if (step->ranges == NULL || step->payload == NULL || step->carried == NULL ||
        journal->front == NULL)
        return rs_fail_memory("a step of the journal");
    return RESTRIDE_OK;
}

bool rs_journal_is_at_path(const rs_journal *journal)
{
    struct stat open_one;
    struct stat named;
    return fstat(journal->log.descriptor, &open_one) == 0 && lstat(journal->path, &named) == 0 &&
           open_one.st_dev == named.st_dev && open_one.st_ino == named.st_ino;
}

restride_status rs_journal_fail_damaged(const rs_journal *journal)
{
    return rs_fail(RESTRIDE_INVALID_ARGUMENT,
                   "The journal %s is damaged, so the change that it belongs to cannot go on.",
                   journal->path);
}

bool rs_journal_placed(const rs_journal *journal)
{
    return journal->placed;
}

uint64_t rs_journal_identity(const rs_journal *journal)
{
    return journal->identity;
}

bool rs_journal_step_fits(const rs_journal_step *step, size_t length)
{
    return step->range_count < step->capacity.ranges &&
           length <= step->capacity.payload - step->payload_bytes;
}

unsigned char *rs_journal_step_add(rs_journal_step *step, size_t offset, size_t length)
{
    rs_journal_range *last = step->range_count > 0 ? &step->ranges[step->range_count - 1] : NULL;
    if (last != NULL && last->offset + last->length == offset)
        last->length += length;
    else
        step->ranges[step->range_count++] = (rs_journal_range){offset, length};
    unsigned char *place = step->payload + step->payload_bytes;
    step->payload_bytes += length;
    return place;
}

void rs_journal_step_clear(rs_journal_step *step)
{
    step->range_count = 0;
    step->payload_bytes = 0;
}

/* ---- commitment ---- */

static bool idle(const rs_journal *journal)
{
    return journal->log.descriptor < 0;
}

/* The ranges of a step may lie anywhere in the file: those that come soon are asked for. */
static void prefetch(const rs_journal *journal, size_t range)
{
    enum { RANGES_AHEAD = 16 };
    const rs_journal_step *step = &journal->step;
    if (step->range_count - range > RANGES_AHEAD)
        rs_file_prefetch(journal->file, step->ranges[range + RANGES_AHEAD].offset,
                         step->ranges[range + RANGES_AHEAD].length);
}

static restride_status apply(const rs_journal *journal)
{
    const rs_journal_step *step = &journal->step;
    const unsigned char *contents = step->payload;
    for (size_t i = 0; i < step->range_count; i++) {
        prefetch(journal, i);
        restride_status status =
            rs_file_write(journal->file, step->ranges[i].offset, contents, step->ranges[i].length);
        if (status != RESTRIDE_OK)
            return status;
        contents += step->ranges[i].length;
    }
    if (!idle(journal))
        return rs_file_sync(journal->file);
    rs_file_begin_sync(journal->file);
    return RESTRIDE_OK;
}

const rs_journal_contents *rs_journal_contents_of(const rs_journal *journal)
{
    return &journal->contents;
}

rs_journal_step *rs_journal_step_of(rs_journal *journal)
{
    return &journal->step;
}

uint64_t rs_journal_sum_payload(const rs_journal_step *step)
{
    const unsigned char *contents = step->payload;
    uint64_t sum = 0;
    for (size_t i = 0; i < step->range_count; contents += step->ranges[i].length, i++)
        sum += rs_sum_bytes(step->ranges[i].offset, contents, step->ranges[i].length);
    return sum;
}

/* The ranges of the step are about to change: what lies outside them, and what will be in them. */
static void weigh(rs_journal *journal)
{
    const rs_journal_step *step = &journal->step;
    const unsigned char *map = journal->file->map;
    uint64_t before = 0;
    for (size_t i = 0; i < step->range_count; i++) {
        prefetch(journal, i);
        before += rs_sum_bytes(step->ranges[i].offset, map + step->ranges[i].offset,
                               step->ranges[i].length);
    }
    journal->outside += journal->written - before;
    journal->written = rs_journal_sum_payload(step);
}

/* Of a record: its head and its ranges. */
static size_t front_bytes(const rs_journal_step *step)
{
    return RS_JOURNAL_RECORD_BYTES + step->range_count * RS_JOURNAL_RANGE_BYTES;
}

/* The long part of a record, which the disk begins to take while its sums are worked out. */
static restride_status write_contents(const rs_journal *journal, uint64_t sequence)
{
    const rs_journal_step *step = &journal->step;
    size_t offset = journal->places.slots[sequence % 2] + front_bytes(step);
    restride_status status =
        rs_file_write(&journal->log, offset, step->payload, step->payload_bytes);
    if (status == RESTRIDE_OK)
        status = rs_file_write(&journal->log, offset + step->payload_bytes, step->carried,
                               step->carried_bytes);
    rs_file_begin_sync(&journal->log);
    return status;
}

/* What makes a record whole; waits for the disk. */
static restride_status write_front(rs_journal *journal, uint64_t sequence)
{
    const rs_journal_step *step = &journal->step;
    rs_journal_record r = {.magic = rs_journal_record_magic,
                           .identity = journal->identity,
                           .sequence = sequence,
                           .range_count = step->range_count,
                           .payload_bytes = step->payload_bytes,
                           .carried_bytes = step->carried_bytes,
                           .stash_sum = journal->stash_sum,
                           .outside = journal->outside,
                           .written = journal->written,
                           .next = step->next};
    unsigned char *front = journal->front;
    size_t count = front_bytes(step);
    rs_journal_put_ranges(step->ranges, step->range_count, front + RS_JOURNAL_RECORD_BYTES);
    rs_journal_put_record(&r, front);
    r.checksum = rs_journal_record_sum(front, count, step->carried, step->carried_bytes);
    rs_journal_put_record(&r, front);
    restride_status status =
        rs_file_write(&journal->log, journal->places.slots[sequence % 2], front, count);
    if (status == RESTRIDE_OK)
        status = rs_file_sync(&journal->log);
    journal->sequence = status == RESTRIDE_OK ? sequence : journal->sequence;
    return status;
}

/* With the first step in it the journal gets its name, and then the file its mark. Where that
 * cannot be nothing was changed yet, and nothing stays. */
static restride_status begin(rs_journal *journal)
{
    restride_status status = rs_journal_place(journal);
    if (status == RESTRIDE_OK)
        status = rs_mark_set(journal->file, journal->identity, journal->path);
    if (status == RESTRIDE_OK || !journal->placed ||
        rs_mark_clear(journal->file, NULL) != RESTRIDE_OK || !rs_journal_is_at_path(journal) ||
        unlink(journal->path) != 0)
        return status;
    journal->placed = false;
    return rs_fail_leaving(status, "file", false);
}

restride_status rs_journal_commit(rs_journal *journal)
{
    if (idle(journal))
        return apply(journal);
    restride_status status = write_contents(journal, journal->sequence + 1);
    weigh(journal);
    if (status == RESTRIDE_OK)
        status = write_front(journal, journal->sequence + 1);
    if (status != RESTRIDE_OK && !journal->placed)
        return rs_fail_leaving(status, "file", false);
    if (status == RESTRIDE_OK && !journal->placed)
        status = begin(journal);
    return status == RESTRIDE_OK ? apply(journal) : status;
}

/* The step is whole, but perhaps in memory alone; so are the journal's name and the mark. */
restride_status rs_journal_repeat(rs_journal *journal)
{
    restride_status status = write_contents(journal, journal->sequence);
    if (status == RESTRIDE_OK)
        status = write_front(journal, journal->sequence);
    if (status == RESTRIDE_OK)
        status = rs_file_sync_folder(journal->path);
    if (status == RESTRIDE_OK)
        status = rs_mark_set(journal->file, journal->identity, journal->path);
    return status == RESTRIDE_OK ? apply(journal) : status;
}

/* ---- the stash ---- */

restride_status rs_journal_write_stash(rs_journal *journal, size_t offset, const void *bytes,
                                       size_t count)
{
    if (idle(journal))
        return RESTRIDE_OK;
    if (offset == 0)
        journal->stash_sum = 0;
    size_t place = journal->places.stash + offset;
    journal->stash_sum += rs_sum_bytes(place, bytes, count);
    restride_status status = rs_file_write(&journal->log, place, bytes, count);
    return status == RESTRIDE_OK ? rs_file_sync(&journal->log) : status;
}

restride_status rs_journal_read_stash(const rs_journal *journal, size_t offset, void *bytes,
                                      size_t count)
{
    return rs_file_read(&journal->log, journal->places.stash + offset, bytes, count);
}

restride_status rs_journal_check_stash(const rs_journal *journal, size_t count)
{
    uint64_t sum;
    restride_status status = rs_sum_file(&journal->log, journal->places.stash, count, &sum);
    return status == RESTRIDE_OK && sum != journal->stash_sum ? rs_journal_fail_damaged(journal)
                                                              : status;
}

/* ---- the end ---- */

/* What is left says that the change is complete, and of which content. */
static restride_status write_end(const rs_journal *journal)
{
    unsigned char bytes[RS_JOURNAL_END_BYTES];
    rs_journal_end end = {.magic = rs_journal_end_magic,
                          .identity = journal->identity,
                          .content = journal->outside + journal->written};
    rs_journal_put_end(&end, bytes);
    end.checksum = rs_journal_end_sum(bytes);
    rs_journal_put_end(&end, bytes);
    restride_status status =
        rs_file_write(&journal->log, RS_JOURNAL_END_PLACE, bytes, sizeof bytes);
    return status == RESTRIDE_OK ? rs_file_sync(&journal->log) : status;
}

restride_status rs_journal_finish(rs_journal *journal)
{
    if (idle(journal) || !journal->placed)
        return RESTRIDE_OK;
    /* A run that has written a step has synchronised the journal's name before. */
    const char *synced = journal->finished ? NULL : journal->path;
    restride_status status = rs_mark_clear(journal->file, synced);
    if (status == RESTRIDE_OK)
        status = write_end(journal); /* once more: it may be there in memory alone */
    if (status != RESTRIDE_OK)
        return status;
    journal->finished = true;
    /* A refusal costs space alone. */
    int ignored = ftruncate(journal->log.descriptor, (off_t)journal->places.slots[0]);
    (void)ignored;
    return RESTRIDE_OK;
}

void rs_journal_close(rs_journal *journal)
{
    if (journal == NULL)
        return;
    if (journal->temporary != NULL)
        unlink(journal->temporary);
    rs_file_close(&journal->log);
    free(journal->temporary);
    free(journal->front);
    free(journal->step.ranges);
    free(journal->step.payload);
    free(journal->step.carried);
    free(journal->contents.purpose);
    free(journal->contents.plan);
    free(journal->path);
    free(journal);
}
