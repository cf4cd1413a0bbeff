/* Opens a journal: checks that it is whole and of this change, and reads its latest step. */
#include "base/arithmetic.h"
#include "base/owner.h"
#include "file/journal_state.h"
#include "file/sum.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>

static restride_status fail_foreign(const rs_journal *journal)
{
    return rs_fail(RESTRIDE_INVALID_ARGUMENT,
                   "%s exists and is no journal of Restride; give another name.", journal->path);
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
        rs_file_read(&journal->log, RS_JOURNAL_PURPOSE_PLACE, c->purpose, head->purpose_bytes);
    if (status == RESTRIDE_OK)
        status = rs_file_read(&journal->log, RS_JOURNAL_PURPOSE_PLACE + head->purpose_bytes,
                              c->plan, head->plan_bytes);
    return status;
}

/* A journal that is finished has given its slots back, or will. */
static restride_status read_end(rs_journal *journal, uint64_t identity)
{
    unsigned char bytes[RS_JOURNAL_END_BYTES];
    rs_journal_end end;
    if (journal->log.bytes < RS_JOURNAL_END_PLACE + sizeof bytes)
        return rs_journal_fail_damaged(journal);
    restride_status status = rs_file_read(&journal->log, RS_JOURNAL_END_PLACE, bytes, sizeof bytes);
    if (status != RESTRIDE_OK)
        return status;
    rs_journal_get_end(&end, bytes);
    journal->finished = end.magic == rs_journal_end_magic && end.identity == identity &&
                        end.checksum == rs_journal_end_sum(bytes);
    journal->outside = journal->finished ? end.content : 0;
    return RESTRIDE_OK;
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
    if (!rs_journal_get_head(head, front))
        return fail_foreign(journal);
    if (head->version != RS_JOURNAL_VERSION)
        return rs_fail(RESTRIDE_INVALID_ARGUMENT,
                       "The journal %s has format %" PRIu64 ", and this version of Restride reads "
                       "format %d; finish the change with the version that began it, or name "
                       "another journal.",
                       journal->path, head->version, RS_JOURNAL_VERSION);
    status = read_end(journal, head->identity);
    if (status != RESTRIDE_OK)
        return status;
    if (!rs_journal_find_places(head, &journal->places) ||
        journal->log.bytes < (journal->finished ? journal->places.slots[0] : journal->places.end) ||
        journal->log.bytes > journal->places.end)
        return rs_journal_fail_damaged(journal);
    status = read_contents(journal, head);
    const rs_journal_contents *c = &journal->contents;
    if (status == RESTRIDE_OK &&
        head->checksum !=
            rs_journal_head_sum(front, c->purpose, head->purpose_bytes, c->plan, c->plan_bytes))
        status = rs_journal_fail_damaged(journal);
    return status == RESTRIDE_OK && !journal->finished ? rs_journal_allocate_step(journal) : status;
}

static bool is_same(const rs_file_identity *known, const rs_journal_head *head)
{
    bool has_birth = known->birth != 0 && head->birth != 0;
    return known->inode == head->inode &&
           (has_birth ? known->birth == head->birth : known->device == head->device);
}

static restride_status check_file(const rs_journal *journal, const rs_journal_head *head,
                                  const char *purpose)
{
    rs_file_identity known;
    restride_status status = rs_file_identify(journal->file, &known);
    if (status != RESTRIDE_OK)
        return status;
    if (!is_same(&known, head) || journal->file->bytes != head->file_bytes)
        return rs_fail(RESTRIDE_INVALID_ARGUMENT,
                       "The journal %s belongs to another file than %s; nothing was changed; name "
                       "another journal.",
                       journal->path, journal->file->path);
    if (purpose == NULL || strcmp(journal->contents.purpose, purpose) == 0)
        return RESTRIDE_OK;
    return rs_fail(RESTRIDE_INVALID_ARGUMENT,
                   journal->finished
                       ? "The journal %s belongs to a finished \"%s\" of this file; delete it, or "
                         "name another journal."
                       : "The journal %s belongs to an interrupted \"%s\" of this file; finish "
                         "that first, with the same options.",
                   journal->path, journal->contents.purpose);
}

/* What a slot holds; only a record that is whole counts. */
typedef struct {
    uint64_t sequence; /* of a whole record, or 0 */
    uint64_t stash_sum;
    uint64_t outside;
    uint64_t written;
} slot_state;

/* Whether the record's head is plausible, so that the rest may be read. */
static bool plausible(const rs_journal *journal, const rs_journal_record *r, uint64_t slot)
{
    const rs_journal_capacity *capacity = &journal->contents.capacity;
    return r->magic == rs_journal_record_magic && r->identity == journal->identity &&
           r->sequence % 2 == slot && r->range_count <= capacity->ranges &&
           r->payload_bytes <= capacity->payload && r->carried_bytes <= capacity->carried;
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
    rs_journal_get_ranges(step->ranges, status == RESTRIDE_OK ? r->range_count : 0, ranges);
    offset += range_bytes;
    if (status == RESTRIDE_OK)
        status = rs_file_read(&journal->log, offset, step->payload, r->payload_bytes);
    offset += r->payload_bytes;
    if (status == RESTRIDE_OK)
        status = rs_file_read(&journal->log, offset, step->carried, r->carried_bytes);
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
    rs_journal_get_record(&r, journal->front);
    if (!plausible(journal, &r, slot))
        return RESTRIDE_OK;
    status = read_step(journal, &r, offset + RS_JOURNAL_RECORD_BYTES);
    size_t front_bytes = RS_JOURNAL_RECORD_BYTES + r.range_count * RS_JOURNAL_RANGE_BYTES;
    if (status == RESTRIDE_OK &&
        r.checksum ==
            rs_journal_record_sum(journal->front, front_bytes, step->carried, r.carried_bytes) &&
        ranges_fit(journal) && r.written == rs_journal_sum_payload(step))
        *state = (slot_state){r.sequence, r.stash_sum, r.outside, r.written};
    return status;
}

/* The later of the two records that are whole. One is: the journal got its name with the first. */
static restride_status recover(rs_journal *journal)
{
    slot_state states[2];
    for (uint64_t slot = 0; slot < 2; slot++) {
        restride_status status = read_slot(journal, slot, &states[slot]);
        if (status != RESTRIDE_OK)
            return status;
    }
    uint64_t latest = states[1].sequence > states[0].sequence;
    slot_state *found = &states[latest];
    restride_status status = RESTRIDE_OK;
    if (latest == 0 && found->sequence != 0) /* the step is that of the other slot */
        status = read_slot(journal, latest, found);
    if (status == RESTRIDE_OK && found->sequence == 0)
        status = rs_journal_fail_damaged(journal);
    journal->sequence = found->sequence;
    journal->stash_sum = found->stash_sum;
    journal->outside = found->outside;
    journal->written = found->written;
    return status;
}

/* Checks whom the journal comes from, and that no other run has it. */
static restride_status claim(rs_journal *journal)
{
    struct stat status;
    struct stat changed;
    if (fstat(journal->log.descriptor, &status) != 0 || !S_ISREG(status.st_mode) ||
        fstat(journal->file->descriptor, &changed) != 0 ||
        (status.st_dev == changed.st_dev && status.st_ino == changed.st_ino))
        return fail_foreign(journal);
    if (!rs_owned_alone(journal->log.descriptor, S_IFREG))
        return rs_fail(
            RESTRIDE_INVALID_ARGUMENT,
            "The journal %s belongs to another user, or others may write to it, so it is "
            "not trusted; run the command as its owner, or name another journal.",
            journal->path);
    bool locked = flock(journal->log.descriptor, LOCK_EX | LOCK_NB) == 0 || errno != EWOULDBLOCK;
    if (!locked || !rs_journal_is_at_path(journal))
        return rs_fail(RESTRIDE_IO,
                       "The journal %s is in use by another restride; wait for its end, or name "
                       "another journal.",
                       journal->path);
    journal->placed = true;
    return RESTRIDE_OK;
}

static restride_status open_file(rs_journal *journal, const char *purpose)
{
    rs_journal_head head;
    struct stat about;
    restride_status status = claim(journal);
    if (status != RESTRIDE_OK || fstat(journal->log.descriptor, &about) != 0)
        return status != RESTRIDE_OK ? status : fail_foreign(journal);
    journal->log.bytes = (size_t)about.st_size;
    status = read_head(journal, &head);
    if (status == RESTRIDE_OK)
        status = check_file(journal, &head, purpose);
    return status == RESTRIDE_OK && !journal->finished ? recover(journal) : status;
}

bool rs_journal_finished(const rs_journal *journal)
{
    return journal->finished;
}

/*
 * Sums the file as it will be after the step. Another sum means that somebody else wrote to the
 * file, most likely a backup.
 */
restride_status rs_journal_check_content(const rs_journal *journal, uint64_t content)
{
    const rs_journal_step *step = &journal->step;
    restride_status status = RESTRIDE_OK;
    for (size_t i = 0; i < step->range_count && status == RESTRIDE_OK; i++) {
        uint64_t sum;
        status = rs_sum_file(journal->file, step->ranges[i].offset, step->ranges[i].length, &sum);
        content -= status == RESTRIDE_OK ? sum : 0;
    }
    if (status != RESTRIDE_OK || content == journal->outside)
        return status;
    if (journal->finished)
        return rs_fail(RESTRIDE_INVALID_ARGUMENT,
                       "The change of the journal %s is finished, and %s has changed since; delete "
                       "the journal to make the change once more.",
                       journal->path, journal->file->path);
    return rs_fail(RESTRIDE_INVALID_ARGUMENT,
                   "%s is not as the interrupted change of the journal %s has left it, so that "
                   "cannot go on; if it is whole, from a backup, delete the journal and run "
                   "restride file-status --forget on it.",
                   journal->file->path, journal->path);
}

restride_status rs_journal_open(rs_journal **journal, const char *path, const rs_file *file,
                                const char *purpose)
{
    struct stat about;
    restride_status status = rs_journal_begin(journal, path, file);
    if (status != RESTRIDE_OK)
        return status;
    /* Opening a device may already do something. */
    if (lstat(path, &about) == 0 && !S_ISREG(about.st_mode))
        return rs_journal_begun(journal, fail_foreign(*journal));
    int descriptor = open(path, O_RDWR | O_CLOEXEC | O_NONBLOCK | O_NOFOLLOW);
    (*journal)->log.descriptor = descriptor;
    if (descriptor >= 0)
        return rs_journal_begun(journal, open_file(*journal, purpose));
    if (errno != ENOENT)
        status =
            rs_fail(RESTRIDE_IO, "The journal %s could not be opened: %s.", path, strerror(errno));
    rs_journal_close(*journal);
    *journal = NULL;
    return status;
}
