/* Opens a journal: whether it is whole and of this change, and its latest step. */
#include "base/arithmetic.h"
#include "file/journal_state.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
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
        return rs_journal_fail_damaged(journal);
    status = read_contents(journal, head);
    const rs_journal_contents *c = &journal->contents;
    if (status == RESTRIDE_OK &&
        head->checksum !=
            rs_journal_head_sum(front, c->purpose, head->purpose_bytes, c->plan, c->plan_bytes))
        status = rs_journal_fail_damaged(journal);
    return status == RESTRIDE_OK ? rs_journal_allocate_step(journal) : status;
}

static restride_status check_owner(const rs_journal *journal, const rs_journal_head *head,
                                   const char *purpose)
{
    uint64_t inode = 0;
    restride_status status = rs_journal_identify(journal->file, &inode);
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
        return states[0].blank ? RESTRIDE_OK : rs_journal_fail_damaged(journal);
    }
    restride_status status = read_slot(journal, latest, &states[latest]);
    if (status == RESTRIDE_OK && (states[latest].sequence == 0 || !ranges_fit(journal)))
        status = rs_journal_fail_damaged(journal);
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
    restride_status status = rs_journal_begin(journal, path, file);
    if (status != RESTRIDE_OK)
        return status;
    int descriptor = open(path, O_RDWR | O_CLOEXEC | O_NONBLOCK);
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
