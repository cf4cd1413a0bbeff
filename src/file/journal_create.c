/* Makes a journal, whose first step is in it before it has its name. */
#include "base/text.h"
#include "file/journal_state.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/random.h>
#include <sys/stat.h>
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
    journal->written = contents->content;
    return rs_journal_allocate_step(journal);
}

static restride_status describe(const rs_journal *journal, rs_journal_head *head)
{
    const rs_journal_contents *c = &journal->contents;
    rs_file_identity known;
    restride_status status = rs_file_identify(journal->file, &known);
    *head = (rs_journal_head){.version = RS_JOURNAL_VERSION,
                              .identity = journal->identity,
                              .device = known.device,
                              .inode = known.inode,
                              .birth = known.birth,
                              .file_bytes = journal->file->bytes,
                              .ranges = c->capacity.ranges,
                              .payload = c->capacity.payload,
                              .carried = c->capacity.carried,
                              .stash_bytes = c->stash_bytes,
                              .purpose_bytes = strlen(c->purpose),
                              .plan_bytes = c->plan_bytes};
    return status;
}

static restride_status write_head(rs_journal *journal, rs_journal_head *head)
{
    const rs_journal_contents *c = &journal->contents;
    unsigned char front[RS_JOURNAL_HEAD_BYTES];
    size_t place = RS_JOURNAL_PURPOSE_PLACE;
    rs_journal_put_head(head, front);
    head->checksum =
        rs_journal_head_sum(front, c->purpose, head->purpose_bytes, c->plan, c->plan_bytes);
    rs_journal_put_head(head, front);
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

/* ---- names ---- */

static restride_status fail_making(const rs_journal *journal, int reason)
{
    return rs_fail(RESTRIDE_IO, "The journal %s could not be made: %s; nothing was changed.",
                   journal->path, strerror(reason));
}

/* Where a file system makes no files without names: one that nothing else has. */
static int open_named(rs_journal *journal)
{
    enum { ATTEMPTS = 100 };
    int descriptor = -1;
    for (int i = 0; i < ATTEMPTS && descriptor < 0; i++) {
        rs_text name = RS_TEXT_EMPTY;
        rs_text_format(&name, "%s.%ld-%d.tmp", journal->path, (long)getpid(), i);
        char *temporary = rs_text_take(&name);
        if (temporary == NULL)
            return errno = ENOMEM, -1;
        descriptor = open(temporary, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
        if (descriptor >= 0) {
            journal->temporary = temporary;
            break;
        }
        free(temporary);
        if (errno != EEXIST)
            break;
    }
    return descriptor;
}

/* A journal that never gets its name leaves nothing behind. */
static restride_status open_nameless(rs_journal *journal)
{
    char *folder = rs_file_folder(journal->path);
    if (folder == NULL)
        return rs_fail_memory("the name of a folder");
    journal->log.descriptor = open(folder, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
    free(folder);
    if (journal->log.descriptor < 0 && (errno == EOPNOTSUPP || errno == EISDIR || errno == EINVAL))
        journal->log.descriptor = open_named(journal);
    if (journal->log.descriptor < 0)
        return fail_making(journal, errno);
    (void)flock(journal->log.descriptor, LOCK_EX | LOCK_NB); /* nobody else knows of it */
    return RESTRIDE_OK;
}

/* Fails with EEXIST when there is something of that name. */
static int give_name(const rs_journal *journal)
{
    char number[64];
    if (journal->temporary == NULL) {
        snprintf(number, sizeof number, "/proc/self/fd/%d", journal->log.descriptor);
        return linkat(AT_FDCWD, number, AT_FDCWD, journal->path, AT_SYMLINK_FOLLOW);
    }
    if (link(journal->temporary, journal->path) == 0)
        return unlink(journal->temporary);
    if (errno == EEXIST)
        return -1;
    /* A file system without second names. */
    return renameat2(AT_FDCWD, journal->temporary, AT_FDCWD, journal->path, RENAME_NOREPLACE);
}

restride_status rs_journal_place(rs_journal *journal)
{
    int reason = give_name(journal) == 0 ? 0 : errno;
    if (reason == EEXIST)
        return rs_fail(RESTRIDE_IO,
                       "%s has been made by another run meanwhile, so it cannot be the journal; "
                       "nothing was changed; give another name.",
                       journal->path);
    journal->placed = rs_journal_is_at_path(journal);
    if (!journal->placed)
        return fail_making(journal, reason);
    free(journal->temporary);
    journal->temporary = NULL;
    return rs_file_sync_folder(journal->path);
}

static restride_status create(rs_journal *journal, const rs_journal_contents *contents)
{
    rs_journal_head head;
    if (getrandom(&journal->identity, sizeof journal->identity, 0) != sizeof journal->identity)
        return fail_making(journal, errno);
    restride_status status = copy_contents(journal, contents);
    if (status == RESTRIDE_OK)
        status = describe(journal, &head);
    if (status != RESTRIDE_OK)
        return status;
    if (!rs_journal_find_places(&head, &journal->places))
        return rs_fail(RESTRIDE_OVERFLOW, "The journal %s would have more bytes than a size holds.",
                       journal->path);
    status = open_nameless(journal);
    if (status == RESTRIDE_OK)
        status = reserve(journal);
    return status == RESTRIDE_OK ? write_head(journal, &head) : status;
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
