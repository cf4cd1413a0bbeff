/*
 * The journal's file; see journal.h, and journal_format.h for its bytes.
 *
 *     head     magic, version, identity of the changed file, sizes, purpose, plan, checksum
 *     slot 0   a record: its head, ranges, payload, carried bytes
 *     slot 1
 *     stash
 */
#include "file/journal.h"
#include "base/arithmetic.h"
#include "base/text.h"
#include "file/journal_format.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

struct rs_journal {
    rs_file log;
    const rs_file *file;
    char *path;
    rs_journal_contents contents;
    rs_journal_places places;
    uint64_t identity;
    uint64_t sequence;  /* of the latest record */
    uint64_t stash_sum; /* of what has been written there */
    rs_journal_step step;
    unsigned char *front; /* of a record: its head and ranges as bytes */
};

/* ---- steps ---- */

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

static restride_status allocate_step(rs_journal *journal)
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

/* ---- making a journal ---- */

static char *copy_bytes(const void *bytes, size_t count)
{
    char *copy = malloc(count + 1);
    if (copy == NULL)
        return NULL;
    if (count > 0)
        memcpy(copy, bytes, count);
    copy[count] = '\0';
    return copy;
}

static restride_status begin_journal(rs_journal **created, const char *path, const rs_file *file)
{
    *created = NULL;
    rs_journal *journal = calloc(1, sizeof *journal);
    if (journal == NULL)
        return rs_fail_memory("a journal");
    journal->log.descriptor = -1;
    journal->path = copy_bytes(path, strlen(path));
    journal->log.path = journal->path;
    journal->file = file;
    if (journal->path == NULL) {
        rs_journal_close(journal);
        return rs_fail_memory("a journal");
    }
    *created = journal;
    return RESTRIDE_OK;
}

static restride_status copy_contents(rs_journal *journal, const rs_journal_contents *contents)
{
    journal->contents = *contents;
    journal->contents.purpose = copy_bytes(contents->purpose, strlen(contents->purpose));
    journal->contents.plan = copy_bytes(contents->plan, contents->plan_bytes);
    if (journal->contents.purpose == NULL || journal->contents.plan == NULL)
        return rs_fail_memory("a journal");
    return allocate_step(journal);
}

static restride_status identify(const rs_file *file, uint64_t *inode)
{
    struct stat status;
    if (fstat(file->descriptor, &status) != 0)
        return rs_fail(RESTRIDE_IO, "%s could not be examined: %s.", file->path, strerror(errno));
    *inode = status.st_ino;
    return RESTRIDE_OK;
}

static restride_status describe(const rs_journal *journal, rs_journal_head *head)
{
    const rs_journal_contents *c = &journal->contents;
    *head = (rs_journal_head){.version = RS_JOURNAL_VERSION,
                              .identity = journal->identity,
                              .file_bytes = journal->file->bytes,
                              .ranges = c->capacity.ranges,
                              .payload = c->capacity.payload,
                              .carried = c->capacity.carried,
                              .stash_bytes = c->stash_bytes,
                              .purpose_bytes = strlen(c->purpose),
                              .plan_bytes = c->plan_bytes};
    return identify(journal->file, &head->inode);
}

static restride_status write_head(rs_journal *journal, rs_journal_head *head)
{
    const rs_journal_contents *c = &journal->contents;
    unsigned char front[RS_JOURNAL_HEAD_BYTES];
    size_t place = sizeof front;
    rs_journal_write_head(head, front);
    head->checksum =
        rs_journal_head_sum(front, c->purpose, head->purpose_bytes, c->plan, c->plan_bytes);
    rs_journal_write_head(head, front);
    restride_status status = rs_file_write(&journal->log, 0, front, sizeof front);
    if (status == RESTRIDE_OK)
        status = rs_file_write(&journal->log, place, c->purpose, head->purpose_bytes);
    place += head->purpose_bytes;
    if (status == RESTRIDE_OK)
        status = rs_file_write(&journal->log, place, c->plan, c->plan_bytes);
    return status;
}

/* What was renamed or removed is on the disk when its folder is. */
static restride_status sync_folder(const char *path)
{
    const char *slash = strrchr(path, '/');
    char *folder =
        slash == NULL ? copy_bytes(".", 1) : copy_bytes(path, (size_t)(slash - path) + 1);
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

static restride_status reserve(rs_journal *journal)
{
    size_t bytes = journal->places.end;
    int reason =
        bytes > INT64_MAX ? EFBIG : posix_fallocate(journal->log.descriptor, 0, (off_t)bytes);
    if (reason != 0)
        return rs_fail(
            RESTRIDE_IO,
            "The journal %s needs %zu bytes, which its disk cannot give: %s; nothing was "
            "changed.",
            journal->path, bytes, strerror(reason));
    journal->log.bytes = bytes;
    return RESTRIDE_OK;
}

/* Under a name of its own until it is complete. */
static restride_status make_file(rs_journal *journal, const char *temporary)
{
    rs_journal_head head;
    restride_status status = describe(journal, &head);
    if (status != RESTRIDE_OK)
        return status;
    if (!rs_journal_find_places(&head, &journal->places))
        return rs_fail(RESTRIDE_OVERFLOW, "The journal %s would have more bytes than a size holds.",
                       journal->path);
    unlink(temporary); /* of a process that was killed and had the same number */
    journal->log.descriptor = open(temporary, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (journal->log.descriptor < 0)
        return rs_fail(RESTRIDE_IO, "The journal %s could not be made: %s; nothing was changed.",
                       journal->path, strerror(errno));
    status = reserve(journal);
    if (status == RESTRIDE_OK)
        status = write_head(journal, &head);
    if (status == RESTRIDE_OK)
        status = rs_file_sync(&journal->log);
    if (status == RESTRIDE_OK && rename(temporary, journal->path) != 0)
        status = rs_fail(RESTRIDE_IO, "The journal %s could not be made: %s; nothing was changed.",
                         journal->path, strerror(errno));
    if (status != RESTRIDE_OK)
        unlink(temporary);
    return status == RESTRIDE_OK ? sync_folder(journal->path) : status;
}

static uint64_t new_identity(void)
{
    struct timespec time;
    clock_gettime(CLOCK_REALTIME, &time);
    return (uint64_t)time.tv_sec << 32 ^ (uint64_t)time.tv_nsec << 2 ^ (uint64_t)getpid() << 16;
}

restride_status rs_journal_create(rs_journal **journal, const char *path, const rs_file *file,
                                  const rs_journal_contents *contents)
{
    rs_journal *created;
    restride_status status = begin_journal(&created, path, file);
    *journal = NULL;
    if (status != RESTRIDE_OK)
        return status;
    created->identity = new_identity();
    status = copy_contents(created, contents);
    rs_text name = RS_TEXT_EMPTY;
    rs_text_format(&name, "%s.%ld.tmp", path, (long)getpid());
    char *temporary = rs_text_take(&name);
    if (status == RESTRIDE_OK && temporary == NULL)
        status = rs_fail_memory("a file name");
    if (status == RESTRIDE_OK)
        status = make_file(created, temporary);
    free(temporary);
    if (status != RESTRIDE_OK) {
        rs_journal_close(created);
        return status;
    }
    *journal = created;
    return RESTRIDE_OK;
}

restride_status rs_journal_create_idle(rs_journal **journal, const rs_file *file,
                                       const rs_journal_contents *contents)
{
    rs_journal *created;
    *journal = NULL;
    restride_status status = begin_journal(&created, "", file);
    if (status == RESTRIDE_OK)
        status = copy_contents(created, contents);
    if (status == RESTRIDE_OK)
        *journal = created;
    else
        rs_journal_close(created);
    return status;
}

/* ---- opening a journal ---- */

static restride_status fail_foreign(const rs_journal *journal)
{
    return rs_fail(RESTRIDE_INVALID_ARGUMENT,
                   "%s exists and is no journal of Restride; give another name.", journal->path);
}

static restride_status fail_damaged(const rs_journal *journal)
{
    return rs_fail(RESTRIDE_INVALID_ARGUMENT,
                   "The journal %s is damaged, so the change that it belongs to cannot go on.",
                   journal->path);
}

static restride_status read_contents(rs_journal *journal, const rs_journal_head *head)
{
    journal->contents = (rs_journal_contents){
        .plan_bytes = head->plan_bytes,
        .capacity = {head->ranges, head->payload, head->carried},
        .stash_bytes = head->stash_bytes,
    };
    rs_journal_contents *c = &journal->contents;
    journal->identity = head->identity;
    c->purpose = calloc(1, head->purpose_bytes + 1);
    c->plan = calloc(1, head->plan_bytes + 1);
    if (c->purpose == NULL || c->plan == NULL)
        return rs_fail_memory("a journal");
    restride_status status =
        rs_file_read(&journal->log, RS_JOURNAL_HEAD_BYTES, c->purpose, head->purpose_bytes);
    if (status == RESTRIDE_OK)
        status = rs_file_read(&journal->log, RS_JOURNAL_HEAD_BYTES + head->purpose_bytes, c->plan,
                              head->plan_bytes);
    return status;
}

/* The counts must make up the journal's own size, so nothing larger than it is allocated. */
static restride_status read_head(rs_journal *journal, rs_journal_head *head)
{
    unsigned char front[RS_JOURNAL_HEAD_BYTES];
    if (journal->log.bytes < sizeof front)
        return fail_foreign(journal);
    restride_status status = rs_file_read(&journal->log, 0, front, sizeof front);
    if (status != RESTRIDE_OK)
        return status;
    if (!rs_journal_read_head(head, front))
        return fail_foreign(journal);
    if (head->version != RS_JOURNAL_VERSION)
        return rs_fail(RESTRIDE_INVALID_ARGUMENT,
                       "The journal %s has format %" PRIu64 ", and this version of Restride reads "
                       "format %d; finish the change with the version that began it.",
                       journal->path, head->version, RS_JOURNAL_VERSION);
    if (!rs_journal_find_places(head, &journal->places) ||
        journal->places.end != journal->log.bytes)
        return fail_damaged(journal);
    status = read_contents(journal, head);
    const rs_journal_contents *c = &journal->contents;
    if (status == RESTRIDE_OK &&
        head->checksum !=
            rs_journal_head_sum(front, c->purpose, head->purpose_bytes, c->plan, c->plan_bytes))
        status = fail_damaged(journal);
    return status == RESTRIDE_OK ? allocate_step(journal) : status;
}

static restride_status check_owner(const rs_journal *journal, const rs_journal_head *head,
                                   const char *purpose)
{
    uint64_t inode = 0;
    restride_status status = identify(journal->file, &inode);
    if (status != RESTRIDE_OK)
        return status;
    if (inode != head->inode || journal->file->bytes != head->file_bytes)
        return rs_fail(RESTRIDE_INVALID_ARGUMENT,
                       "The journal %s belongs to another file than %s; nothing was changed.",
                       journal->path, journal->file->path);
    if (strcmp(journal->contents.purpose, purpose) != 0)
        return rs_fail(RESTRIDE_INVALID_ARGUMENT,
                       "The journal %s belongs to an interrupted \"%s\" of this file; finish that "
                       "first, with the same options.",
                       journal->path, journal->contents.purpose);
    return RESTRIDE_OK;
}

/* What a slot holds; only a record that is whole counts. */
typedef struct {
    bool blank;        /* never written to */
    uint64_t sequence; /* of a whole record, or 0 */
    uint64_t stash_sum;
} slot_state;

/* Whether the record's head is plausible, so that the rest may be read. */
static bool plausible(const rs_journal *journal, const rs_journal_record *r, uint64_t slot)
{
    const rs_journal_capacity *capacity = &journal->contents.capacity;
    return r->magic == rs_journal_record_magic && r->identity == journal->identity &&
           r->sequence % 2 == slot && r->range_count <= capacity->ranges &&
           r->payload_bytes <= capacity->payload && r->carried_bytes <= capacity->carried;
}

static bool is_blank(const unsigned char *bytes, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (bytes[i] != 0)
            return false;
    return true;
}

/* The rest of a record, into the step. */
static restride_status read_step(rs_journal *journal, const rs_journal_record *r, size_t offset)
{
    rs_journal_step *step = &journal->step;
    size_t range_bytes = r->range_count * RS_JOURNAL_RANGE_BYTES;
    unsigned char *ranges = journal->front + RS_JOURNAL_RECORD_BYTES;
    step->range_count = r->range_count;
    step->payload_bytes = r->payload_bytes;
    step->carried_bytes = r->carried_bytes;
    step->next = r->next;
    restride_status status = rs_file_read(&journal->log, offset, ranges, range_bytes);
    rs_journal_read_ranges(step->ranges, status == RESTRIDE_OK ? r->range_count : 0, ranges);
    offset += range_bytes;
    if (status == RESTRIDE_OK)
        status = rs_file_read(&journal->log, offset, step->payload, r->payload_bytes);
    offset += r->payload_bytes;
    if (status == RESTRIDE_OK)
        status = rs_file_read(&journal->log, offset, step->carried, r->carried_bytes);
    return status;
}

/* Reads the record of a slot into the step, if it is whole. */
static restride_status read_slot(rs_journal *journal, uint64_t slot, slot_state *state)
{
    const rs_journal_step *step = &journal->step;
    rs_journal_record r;
    size_t offset = journal->places.slots[slot];
    *state = (slot_state){0};
    restride_status status =
        rs_file_read(&journal->log, offset, journal->front, RS_JOURNAL_RECORD_BYTES);
    if (status != RESTRIDE_OK)
        return status;
    state->blank = is_blank(journal->front, RS_JOURNAL_RECORD_BYTES);
    rs_journal_read_record(&r, journal->front);
    if (!plausible(journal, &r, slot))
        return RESTRIDE_OK;
    status = read_step(journal, &r, offset + RS_JOURNAL_RECORD_BYTES);
    if (status == RESTRIDE_OK &&
        r.checksum ==
            rs_journal_record_sum(journal->front,
                                  RS_JOURNAL_RECORD_BYTES + r.range_count * RS_JOURNAL_RANGE_BYTES,
                                  step->payload, r.payload_bytes, step->carried, r.carried_bytes))
        *state = (slot_state){.sequence = r.sequence, .stash_sum = r.stash_sum};
    return status;
}

/* Whether the ranges lie in the file and are as long as their contents. */
static bool ranges_fit(const rs_journal *journal)
{
    const rs_journal_step *step = &journal->step;
    size_t sum = 0;
    for (size_t i = 0; i < step->range_count; i++) {
        size_t end;
        const rs_journal_range *range = &step->ranges[i];
        if (!rs_size_add(range->offset, range->length, &end) || end > journal->file->bytes ||
            range->length > step->payload_bytes - sum)
            return false;
        sum += range->length;
    }
    return sum == step->payload_bytes;
}

static void begin_at_first_step(rs_journal *journal)
{
    rs_journal_step_clear(&journal->step);
    journal->step.carried_bytes = 0;
    journal->step.next = (rs_journal_cursor){0};
}

/*
 * The later of the two records that are whole. The first one lies in slot 1: where none is whole
 * and slot 0 has been written to, a record is lost that had been on the disk.
 */
static restride_status recover(rs_journal *journal)
{
    slot_state states[2];
    for (uint64_t slot = 0; slot < 2; slot++) {
        restride_status status = read_slot(journal, slot, &states[slot]);
        if (status != RESTRIDE_OK)
            return status;
    }
    uint64_t latest = states[1].sequence > states[0].sequence;
    if (states[latest].sequence == 0) {
        begin_at_first_step(journal);
        return states[0].blank ? RESTRIDE_OK : fail_damaged(journal);
    }
    restride_status status = read_slot(journal, latest, &states[latest]);
    if (status == RESTRIDE_OK && (states[latest].sequence == 0 || !ranges_fit(journal)))
        status = fail_damaged(journal);
    journal->sequence = states[latest].sequence;
    journal->stash_sum = states[latest].stash_sum;
    return status;
}

static restride_status open_file(rs_journal *journal, const char *purpose)
{
    struct stat status;
    if (fstat(journal->log.descriptor, &status) != 0 || !S_ISREG(status.st_mode))
        return fail_foreign(journal);
    journal->log.bytes = (size_t)status.st_size;
    rs_journal_head head;
    restride_status result = read_head(journal, &head);
    if (result == RESTRIDE_OK)
        result = check_owner(journal, &head, purpose);
    return result == RESTRIDE_OK ? recover(journal) : result;
}

restride_status rs_journal_open(rs_journal **journal, const char *path, const rs_file *file,
                                const char *purpose)
{
    *journal = NULL;
    rs_journal *opened;
    restride_status status = begin_journal(&opened, path, file);
    if (status != RESTRIDE_OK)
        return status;
    opened->log.descriptor = open(path, O_RDWR | O_CLOEXEC | O_NONBLOCK);
    if (opened->log.descriptor < 0 && errno == ENOENT) {
        rs_journal_close(opened);
        return RESTRIDE_OK;
    }
    status = opened->log.descriptor >= 0
                 ? open_file(opened, purpose)
                 : rs_fail(RESTRIDE_IO, "The journal %s could not be opened: %s.", path,
                           strerror(errno));
    if (status != RESTRIDE_OK) {
        rs_journal_close(opened);
        return status;
    }
    *journal = opened;
    return RESTRIDE_OK;
}

/* ---- use ---- */

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

restride_status rs_journal_fail_damaged(const rs_journal *journal)
{
    return fail_damaged(journal);
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
    return status == RESTRIDE_OK && sum != journal->stash_sum ? fail_damaged(journal) : status;
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
    return sync_folder(journal->path);
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
