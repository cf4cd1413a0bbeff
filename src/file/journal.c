/*
 * The journal's file; see journal.h. All numbers are those of the machine that wrote it.
 *
 *     head     magic, identity of the changed file, sizes, purpose, plan, checksum
 *     slot 0   a record: its head, ranges, payload, carried bytes
 *     slot 1
 *     stash
 */
#include "file/journal.h"
#include "base/arithmetic.h"
#include "base/text.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { PAGE_BYTES = 4096, MOST_HEAD_BYTES = 16 << 20 };

static const char head_magic[16] = "restride-jrnl-1";
static const uint64_t record_magic = 0x7265636F72642D31;

typedef struct {
    char magic[16];
    uint64_t checksum; /* of what follows, purpose and plan included */
    uint64_t identity; /* of this journal; its records carry it */
    uint64_t inode;    /* of the changed file; device numbers may change when a machine starts */
    uint64_t file_bytes;
    uint64_t ranges;
    uint64_t payload;
    uint64_t carried;
    uint64_t stash_bytes;
    uint64_t purpose_bytes;
    uint64_t plan_bytes;
} head;

typedef struct {
    uint64_t magic;
    uint64_t checksum; /* of all that follows */
    uint64_t identity;
    uint64_t sequence; /* from 1; odd ones lie in slot 1 */
    uint64_t range_count;
    uint64_t payload_bytes;
    uint64_t carried_bytes;
    rs_journal_cursor next;
} record_head;

struct rs_journal {
    rs_file log;
    const rs_file *file;
    char *path;
    rs_journal_contents contents;
    uint64_t identity;
    uint64_t sequence; /* of the latest record */
    rs_journal_step step;
};

/* ---- checksums ---- */

static uint64_t mix(uint64_t sum, uint64_t word)
{
    sum = (sum ^ word) * 0x9E3779B97F4A7C15u;
    return sum ^ sum >> 32;
}

static uint64_t add_to_checksum(uint64_t sum, const void *bytes, size_t count)
{
    const unsigned char *next = bytes;
    uint64_t word;
    sum = mix(sum, count);
    for (; count >= sizeof word; count -= sizeof word, next += sizeof word) {
        memcpy(&word, next, sizeof word);
        sum = mix(sum, word);
    }
    word = 0;
    if (count > 0)
        memcpy(&word, next, count);
    return mix(sum, word);
}

static uint64_t checksum_of_head(const head *h, const char *purpose, const void *plan)
{
    size_t skipped = offsetof(head, identity);
    uint64_t sum = add_to_checksum(1, (const char *)h + skipped, sizeof *h - skipped);
    sum = add_to_checksum(sum, purpose, h->purpose_bytes);
    return add_to_checksum(sum, plan, h->plan_bytes);
}

static uint64_t checksum_of_record(const record_head *h, const rs_journal_step *step)
{
    size_t skipped = offsetof(record_head, identity);
    uint64_t sum = add_to_checksum(2, (const char *)h + skipped, sizeof *h - skipped);
    sum = add_to_checksum(sum, step->ranges, step->range_count * sizeof *step->ranges);
    sum = add_to_checksum(sum, step->payload, step->payload_bytes);
    return add_to_checksum(sum, step->carried, step->carried_bytes);
}

/* ---- steps ---- */

bool rs_journal_step_fits(const rs_journal_step *step, size_t length)
{
    return step->range_count < step->capacity.ranges &&
           length <= step->capacity.payload - step->payload_bytes;
}

unsigned char *rs_journal_step_add(rs_journal_step *step, size_t offset, size_t length)
{
    rs_journal_range *last = step->ranges + step->range_count - 1;
    if (step->range_count > 0 && last->offset + last->length == offset)
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

static restride_status allocate_step(rs_journal_step *step, const rs_journal_capacity *capacity)
{
    *step = (rs_journal_step){.capacity = *capacity};
    step->ranges = calloc(capacity->ranges, sizeof *step->ranges);
    step->payload = malloc(capacity->payload);
    step->carried = malloc(capacity->carried + 1);
    if (step->ranges == NULL || step->payload == NULL || step->carried == NULL)
        return rs_fail_memory("a step of the journal");
    return RESTRIDE_OK;
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
    return rs_file_sync(journal->file);
}

/* ---- places in the journal ---- */

static size_t head_bytes(const rs_journal_contents *contents)
{
    size_t bytes = sizeof(head) + strlen(contents->purpose) + contents->plan_bytes;
    return bytes + (PAGE_BYTES - bytes % PAGE_BYTES) % PAGE_BYTES;
}

static size_t slot_bytes(const rs_journal_contents *contents)
{
    const rs_journal_capacity *c = &contents->capacity;
    size_t bytes =
        sizeof(record_head) + c->ranges * sizeof(rs_journal_range) + c->payload + c->carried;
    return bytes + (PAGE_BYTES - bytes % PAGE_BYTES) % PAGE_BYTES;
}

static size_t slot_offset(const rs_journal *journal, uint64_t sequence)
{
    return head_bytes(&journal->contents) + (sequence % 2) * slot_bytes(&journal->contents);
}

static size_t stash_offset(const rs_journal *journal)
{
    return slot_offset(journal, 1) + slot_bytes(&journal->contents);
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
    return allocate_step(&journal->step, &contents->capacity);
}

static restride_status identify(const rs_file *file, uint64_t *inode)
{
    struct stat status;
    if (fstat(file->descriptor, &status) != 0)
        return rs_fail(RESTRIDE_IO, "%s could not be examined: %s.", file->path, strerror(errno));
    *inode = status.st_ino;
    return RESTRIDE_OK;
}

static restride_status write_head(rs_journal *journal)
{
    const rs_journal_contents *c = &journal->contents;
    head h = {.identity = journal->identity,
              .file_bytes = journal->file->bytes,
              .ranges = c->capacity.ranges,
              .payload = c->capacity.payload,
              .carried = c->capacity.carried,
              .stash_bytes = c->stash_bytes,
              .purpose_bytes = strlen(c->purpose),
              .plan_bytes = c->plan_bytes};
    memcpy(h.magic, head_magic, sizeof h.magic);
    restride_status status = identify(journal->file, &h.inode);
    h.checksum = checksum_of_head(&h, c->purpose, c->plan);
    if (status == RESTRIDE_OK)
        status = rs_file_write(&journal->log, 0, &h, sizeof h);
    if (status == RESTRIDE_OK)
        status = rs_file_write(&journal->log, sizeof h, c->purpose, h.purpose_bytes);
    if (status == RESTRIDE_OK)
        status = rs_file_write(&journal->log, sizeof h + h.purpose_bytes, c->plan, h.plan_bytes);
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
    size_t bytes = stash_offset(journal) + journal->contents.stash_bytes;
    int reason = posix_fallocate(journal->log.descriptor, 0, (off_t)bytes);
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
    unlink(temporary); /* of a process that was killed and had the same number */
    journal->log.descriptor = open(temporary, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (journal->log.descriptor < 0)
        return rs_fail(RESTRIDE_IO, "The journal %s could not be made: %s; nothing was changed.",
                       journal->path, strerror(errno));
    restride_status status = reserve(journal);
    if (status == RESTRIDE_OK)
        status = write_head(journal);
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
    return mix(mix((uint64_t)time.tv_sec, (uint64_t)time.tv_nsec), (uint64_t)getpid());
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

/* ---- opening a journal ---- */

static restride_status fail_foreign(const rs_journal *journal)
{
    return rs_fail(RESTRIDE_INVALID_ARGUMENT,
                   "%s exists and is no journal of Restride; give another name.", journal->path);
}

static restride_status read_contents(rs_journal *journal, const head *h)
{
    const rs_journal_contents contents = {
        .plan_bytes = h->plan_bytes,
        .capacity = {h->ranges, h->payload, h->carried},
        .stash_bytes = h->stash_bytes,
    };
    journal->contents = contents;
    journal->identity = h->identity;
    journal->contents.purpose = calloc(1, h->purpose_bytes + 1);
    journal->contents.plan = calloc(1, h->plan_bytes + 1);
    if (journal->contents.purpose == NULL || journal->contents.plan == NULL)
        return rs_fail_memory("a journal");
    restride_status status =
        rs_file_read(&journal->log, sizeof *h, journal->contents.purpose, h->purpose_bytes);
    if (status == RESTRIDE_OK)
        status = rs_file_read(&journal->log, sizeof *h + h->purpose_bytes, journal->contents.plan,
                              h->plan_bytes);
    return status;
}

static restride_status read_head(rs_journal *journal, head *h)
{
    if (journal->log.bytes < sizeof *h)
        return fail_foreign(journal);
    restride_status status = rs_file_read(&journal->log, 0, h, sizeof *h);
    if (status != RESTRIDE_OK)
        return status;
    if (memcmp(h->magic, head_magic, sizeof h->magic) != 0 || h->purpose_bytes > MOST_HEAD_BYTES ||
        h->plan_bytes > MOST_HEAD_BYTES)
        return fail_foreign(journal);
    status = read_contents(journal, h);
    if (status != RESTRIDE_OK)
        return status;
    if (h->checksum != checksum_of_head(h, journal->contents.purpose, journal->contents.plan))
        return rs_fail(RESTRIDE_INVALID_ARGUMENT,
                       "The journal %s is damaged, so the change that it belongs to cannot go on.",
                       journal->path);
    return allocate_step(&journal->step, &journal->contents.capacity);
}

static restride_status check_owner(const rs_journal *journal, const head *h, const char *purpose)
{
    uint64_t inode = 0;
    restride_status status = identify(journal->file, &inode);
    if (status != RESTRIDE_OK)
        return status;
    if (inode != h->inode || journal->file->bytes != h->file_bytes)
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

/* Whether the record's head is plausible, so that the rest may be read. */
static bool plausible(const rs_journal *journal, const record_head *h, uint64_t slot)
{
    const rs_journal_capacity *capacity = &journal->contents.capacity;
    return h->magic == record_magic && h->identity == journal->identity &&
           h->sequence % 2 == slot && h->range_count <= capacity->ranges &&
           h->payload_bytes <= capacity->payload && h->carried_bytes <= capacity->carried;
}

/* Reads the record of a slot into the step, if it is whole; its sequence, or 0. */
static restride_status read_record(rs_journal *journal, uint64_t slot, uint64_t *sequence)
{
    rs_journal_step *step = &journal->step;
    record_head h;
    size_t offset = slot_offset(journal, slot);
    *sequence = 0;
    restride_status status = rs_file_read(&journal->log, offset, &h, sizeof h);
    if (status != RESTRIDE_OK || !plausible(journal, &h, slot))
        return status;
    step->range_count = h.range_count;
    step->payload_bytes = h.payload_bytes;
    step->carried_bytes = h.carried_bytes;
    step->next = h.next;
    size_t range_bytes = h.range_count * sizeof *step->ranges;
    offset += sizeof h;
    status = rs_file_read(&journal->log, offset, step->ranges, range_bytes);
    offset += range_bytes;
    if (status == RESTRIDE_OK)
        status = rs_file_read(&journal->log, offset, step->payload, h.payload_bytes);
    offset += h.payload_bytes;
    if (status == RESTRIDE_OK)
        status = rs_file_read(&journal->log, offset, step->carried, h.carried_bytes);
    if (status == RESTRIDE_OK && h.checksum == checksum_of_record(&h, step))
        *sequence = h.sequence;
    return status;
}

/* The later of the two records that are whole. */
static restride_status recover(rs_journal *journal)
{
    uint64_t sequences[2];
    for (uint64_t slot = 0; slot < 2; slot++) {
        restride_status status = read_record(journal, slot, &sequences[slot]);
        if (status != RESTRIDE_OK)
            return status;
    }
    uint64_t latest = sequences[1] > sequences[0];
    journal->sequence = sequences[latest];
    if (journal->sequence == 0) {
        rs_journal_step_clear(&journal->step);
        journal->step.carried_bytes = 0;
        journal->step.next = (rs_journal_cursor){0};
        return RESTRIDE_OK;
    }
    restride_status status = read_record(journal, latest, &journal->sequence);
    return status == RESTRIDE_OK ? apply(journal) : status;
}

static restride_status open_file(rs_journal *journal, const char *purpose)
{
    struct stat status;
    if (fstat(journal->log.descriptor, &status) != 0 || !S_ISREG(status.st_mode))
        return fail_foreign(journal);
    journal->log.bytes = (size_t)status.st_size;
    head h;
    restride_status result = read_head(journal, &h);
    if (result == RESTRIDE_OK)
        result = check_owner(journal, &h, purpose);
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

static restride_status write_record(rs_journal *journal)
{
    const rs_journal_step *step = &journal->step;
    record_head h = {.magic = record_magic,
                     .identity = journal->identity,
                     .sequence = journal->sequence + 1,
                     .range_count = step->range_count,
                     .payload_bytes = step->payload_bytes,
                     .carried_bytes = step->carried_bytes,
                     .next = step->next};
    h.checksum = checksum_of_record(&h, step);
    size_t range_bytes = step->range_count * sizeof *step->ranges;
    size_t offset = slot_offset(journal, h.sequence);
    restride_status status = rs_file_write(&journal->log, offset, &h, sizeof h);
    offset += sizeof h;
    if (status == RESTRIDE_OK)
        status = rs_file_write(&journal->log, offset, step->ranges, range_bytes);
    offset += range_bytes;
    if (status == RESTRIDE_OK)
        status = rs_file_write(&journal->log, offset, step->payload, step->payload_bytes);
    offset += step->payload_bytes;
    if (status == RESTRIDE_OK)
        status = rs_file_write(&journal->log, offset, step->carried, step->carried_bytes);
    return status == RESTRIDE_OK ? rs_file_sync(&journal->log) : status;
}

restride_status rs_journal_commit(rs_journal *journal)
{
    restride_status status = write_record(journal);
    if (status != RESTRIDE_OK)
        return status;
    journal->sequence++;
    return apply(journal);
}

restride_status rs_journal_write_stash(rs_journal *journal, const void *bytes, size_t count)
{
    restride_status status = rs_file_write(&journal->log, stash_offset(journal), bytes, count);
    return status == RESTRIDE_OK ? rs_file_sync(&journal->log) : status;
}

restride_status rs_journal_read_stash(const rs_journal *journal, void *bytes, size_t count)
{
    return rs_file_read(&journal->log, stash_offset(journal), bytes, count);
}

restride_status rs_journal_remove(rs_journal *journal)
{
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
    free(journal->step.ranges);
    free(journal->step.payload);
    free(journal->step.carried);
    free(journal->contents.purpose);
    free(journal->contents.plan);
    free(journal->path);
    free(journal);
}
