/* A journal in use: steps, their commitment, the stash, and the end. */
#include "file/journal_state.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

restride_status rs_journal_begin(rs_journal **created, const char *path, const rs_file *file)
{
    *created = NULL;
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

restride_status rs_journal_identify(const rs_file *file, uint64_t *inode)
{
    struct stat status;
    if (fstat(file->descriptor, &status) != 0)
        return rs_fail(RESTRIDE_IO, "%s could not be examined: %s.", file->path, strerror(errno));
    *inode = status.st_ino;
    return RESTRIDE_OK;
}

restride_status rs_journal_sync_folder(const char *path)
{
    const char *slash = strrchr(path, '/');
    char *folder = slash == NULL ? strdup(".") : strndup(path, (size_t)(slash - path) + 1);
    if (folder == NULL)
        return rs_fail_memory("the name of a folder");
    int descriptor = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    free(folder);
    bool synced = descriptor >= 0 && (fsync(descriptor) == 0 || errno == EINVAL);
    int reason = errno;
    if (descriptor >= 0)
        close(descriptor);
    if (!synced)
        return rs_fail(RESTRIDE_IO, "The folder of %s could not be brought to the disk: %s.", path,
                       strerror(reason));
    return RESTRIDE_OK;
}

restride_status rs_journal_fail_damaged(const rs_journal *journal)
{
    return rs_fail(RESTRIDE_INVALID_ARGUMENT,
                   "The journal %s is damaged, so the change that it belongs to cannot go on.",
                   journal->path);
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

static bool idle(const rs_journal *journal)
{
    return journal->log.descriptor < 0;
}

static restride_status apply(const rs_journal *journal)
{
    const rs_journal_step *step = &journal->step;
    const unsigned char *contents = step->payload;
    for (size_t i = 0; i < step->range_count; i++) {
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

restride_status rs_journal_repeat(const rs_journal *journal)
{
    return apply(journal);
}

static restride_status write_record(rs_journal *journal)
{
    const rs_journal_step *step = &journal->step;
    rs_journal_record r = {.magic = rs_journal_record_magic,
                           .identity = journal->identity,
                           .sequence = journal->sequence + 1,
                           .range_count = step->range_count,
                           .payload_bytes = step->payload_bytes,
                           .carried_bytes = step->carried_bytes,
                           .stash_sum = journal->stash_sum,
                           .next = step->next};
    unsigned char *front = journal->front;
    size_t front_bytes = RS_JOURNAL_RECORD_BYTES + step->range_count * RS_JOURNAL_RANGE_BYTES;
    rs_journal_write_ranges(step->ranges, step->range_count, front + RS_JOURNAL_RECORD_BYTES);
    rs_journal_write_record(&r, front);
    r.checksum = rs_journal_record_sum(front, front_bytes, step->payload, step->payload_bytes,
                                       step->carried, step->carried_bytes);
    rs_journal_write_record(&r, front);
    size_t offset = journal->places.slots[r.sequence % 2];
    restride_status status = rs_file_write(&journal->log, offset, front, front_bytes);
    offset += front_bytes;
    if (status == RESTRIDE_OK)
        status = rs_file_write(&journal->log, offset, step->payload, step->payload_bytes);
    offset += step->payload_bytes;
    if (status == RESTRIDE_OK)
        status = rs_file_write(&journal->log, offset, step->carried, step->carried_bytes);
    return status == RESTRIDE_OK ? rs_file_sync(&journal->log) : status;
}

restride_status rs_journal_commit(rs_journal *journal)
{
    if (idle(journal))
        return apply(journal);
    restride_status status = write_record(journal);
    if (status != RESTRIDE_OK)
        return status;
    journal->sequence++;
    return apply(journal);
}

restride_status rs_journal_write_stash(rs_journal *journal, size_t offset, const void *bytes,
                                       size_t count)
{
    if (idle(journal))
        return RESTRIDE_OK;
    if (offset == 0)
        journal->stash_sum = 0;
    journal->stash_sum += rs_journal_stash_sum(offset, bytes, count);
    restride_status status =
        rs_file_write(&journal->log, journal->places.stash + offset, bytes, count);
    return status == RESTRIDE_OK ? rs_file_sync(&journal->log) : status;
}

restride_status rs_journal_read_stash(const rs_journal *journal, size_t offset, void *bytes,
                                      size_t count)
{
    return rs_file_read(&journal->log, journal->places.stash + offset, bytes, count);
}

restride_status rs_journal_check_stash(const rs_journal *journal, size_t count)
{
    enum { PART_BYTES = 64 << 10 };
    unsigned char *part = malloc(PART_BYTES);
    uint64_t sum = 0;
    if (part == NULL)
        return rs_fail_memory("a part of the journal");
    restride_status status = RESTRIDE_OK;
    for (size_t offset = 0; offset < count && status == RESTRIDE_OK; offset += PART_BYTES) {
        size_t bytes = count - offset < PART_BYTES ? count - offset : PART_BYTES;
        status = rs_journal_read_stash(journal, offset, part, bytes);
        sum += status == RESTRIDE_OK ? rs_journal_stash_sum(offset, part, bytes) : 0;
    }
    free(part);
    return status == RESTRIDE_OK && sum != journal->stash_sum ? rs_journal_fail_damaged(journal)
                                                              : status;
}

restride_status rs_journal_remove(rs_journal *journal)
{
    if (idle(journal))
        return RESTRIDE_OK;
    if (unlink(journal->path) != 0)
        return rs_fail(RESTRIDE_IO,
                       "The change is complete, but its journal %s could not be removed: %s; "
                       "remove it yourself.",
                       journal->path, strerror(errno));
    return rs_journal_sync_folder(journal->path);
}

void rs_journal_close(rs_journal *journal)
{
    if (journal == NULL)
        return;
    rs_file_close(&journal->log);
    free(journal->front);
    free(journal->step.ranges);
    free(journal->step.payload);
    free(journal->step.carried);
    free(journal->contents.purpose);
    free(journal->contents.plan);
    free(journal->path);
    free(journal);
}
