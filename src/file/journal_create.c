/* Makes a journal: its file is complete before it has its name. */
#include "base/text.h"
#include "file/journal_state.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

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

static restride_status copy_contents(rs_journal *journal, const rs_journal_contents *contents)
{
    journal->contents = *contents;
    journal->contents.purpose = copy_bytes(contents->purpose, strlen(contents->purpose));
    journal->contents.plan = copy_bytes(contents->plan, contents->plan_bytes);
    if (journal->contents.purpose == NULL || journal->contents.plan == NULL)
        return rs_fail_memory("a journal");
    return rs_journal_allocate_step(journal);
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
    return rs_journal_identify(journal->file, &head->inode);
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
    return status == RESTRIDE_OK ? rs_journal_sync_folder(journal->path) : status;
}

static uint64_t new_identity(void)
{
    struct timespec time;
    clock_gettime(CLOCK_REALTIME, &time);
    return (uint64_t)time.tv_sec << 32 ^ (uint64_t)time.tv_nsec << 2 ^ (uint64_t)getpid() << 16;
}

static restride_status create(rs_journal *journal, const rs_journal_contents *contents)
{
    journal->identity = new_identity();
    restride_status status = copy_contents(journal, contents);
    if (status != RESTRIDE_OK)
        return status;
    rs_text name = RS_TEXT_EMPTY;
    rs_text_format(&name, "%s.%ld.tmp", journal->path, (long)getpid());
    char *temporary = rs_text_take(&name);
    status = temporary != NULL ? make_file(journal, temporary) : rs_fail_memory("a file name");
    free(temporary);
    return status;
}

restride_status rs_journal_create(rs_journal **journal, const char *path, const rs_file *file,
                                  const rs_journal_contents *contents)
{
    restride_status status = rs_journal_begin(journal, path, file);
    if (status == RESTRIDE_OK)
        status = create(*journal, contents);
    return rs_journal_begun(journal, status);
}

restride_status rs_journal_create_idle(rs_journal **journal, const rs_file *file,
                                       const rs_journal_contents *contents)
{
    restride_status status = rs_journal_begin(journal, "", file);
    if (status == RESTRIDE_OK)
        status = copy_contents(*journal, contents);
    return rs_journal_begun(journal, status);
}
