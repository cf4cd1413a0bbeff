/* See mark.h. */
#include "file/mark.h"
#include "base/text.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

/* An attribute of a file may have to fit into one block with the others. */
enum { HEXADECIMAL = 16, MOST_BYTES = 1024 };

static const char attribute[] = "user.restride.change";
static const char suffix[] = ".restride-change";

/* Beside the file itself, whatever symbolic link led to it. */
static char *name_beside(const rs_file *file)
{
    rs_text name = RS_TEXT_EMPTY;
    char *real = realpath(file->path, NULL);
    rs_text_add_string(&name, real != NULL ? real : file->path);
    rs_text_add_string(&name, suffix);
    free(real);
    return rs_text_take(&name);
}

bool rs_mark_takes_name(const char *path)
{
    size_t bytes = strlen(path);
    return bytes >= sizeof suffix - 1 && strcmp(path + bytes - (sizeof suffix - 1), suffix) == 0;
}

/* ---- setting ---- */

/* The journal's path from the root on: who reads the mark may be anywhere. */
static char *text_of(uint64_t identity, const char *journal)
{
    rs_text text = RS_TEXT_EMPTY;
    char *folder = rs_file_folder(journal);
    char *whole = folder == NULL ? NULL : realpath(folder, NULL);
    const char *slash = strrchr(journal, '/');
    rs_text_format(&text, "%016" PRIx64 " ", identity);
    if (whole != NULL && strlen(whole) + strlen(journal) < MOST_BYTES / 2)
        rs_text_format(&text, "%s/%s", strcmp(whole, "/") == 0 ? "" : whole,
                       slash == NULL ? journal : slash + 1);
    free(whole);
    free(folder);
    return rs_text_take(&text);
}

static restride_status fail_to_mark(const rs_file *file, int reason)
{
    return rs_fail(RESTRIDE_IO,
                   "%s could not be marked as half done, neither with an extended attribute nor "
                   "with the file %s%s: %s; make its folder writable, or leave out the journal.",
                   file->path, file->path, suffix, strerror(reason));
}

static restride_status set_beside(const rs_file *file, const char *text)
{
    char *name = name_beside(file);
    if (name == NULL)
        return rs_fail_memory("the name of a mark");
    rs_file beside = {
        .path = name,
        .descriptor = open(name, O_WRONLY | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0600)};
    int reason = errno;
    restride_status status = beside.descriptor < 0 ? fail_to_mark(file, reason) : RESTRIDE_OK;
    if (status == RESTRIDE_OK)
        status = rs_file_write(&beside, 0, text, strlen(text));
    /* Not before: a mark that is there already must not be missing meanwhile. */
    if (status == RESTRIDE_OK && ftruncate(beside.descriptor, (off_t)strlen(text)) != 0)
        status = fail_to_mark(file, errno);
    if (status == RESTRIDE_OK)
        status = rs_file_sync_all(&beside);
    rs_file_close(&beside);
    if (status == RESTRIDE_OK)
        status = rs_file_sync_folder(name);
    free(name);
    return status;
}

restride_status rs_mark_set(const rs_file *file, uint64_t identity, const char *journal)
{
    char *text = text_of(identity, journal);
    if (text == NULL)
        return rs_fail_memory("the mark of a file");
    bool kept = fsetxattr(file->descriptor, attribute, text, strlen(text), 0) == 0;
    restride_status status = kept ? rs_file_sync_all(file) : set_beside(file, text);
    free(text);
    return status;
}

/* ---- reading ---- */

static ssize_t read_beside(const rs_file *file, char *text, size_t size)
{
    char *name = name_beside(file);
    if (name == NULL)
        return -1;
    int descriptor = open(name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    free(name);
    if (descriptor < 0)
        return errno == ENOENT || errno == ENAMETOOLONG ? 0 : -1;
    ssize_t count = read(descriptor, text, size);
    close(descriptor);
    return count == 0 ? 1 : count; /* an empty one is a mark too */
}

static restride_status take_text(rs_mark *mark, char *text)
{
    enum { DIGITS = 16 };
    char *rest = text;
    mark->found = true;
    mark->identity = strtoull(text, &rest, HEXADECIMAL);
    if (rest != text + DIGITS || *rest != ' ')
        mark->identity = 0; /* a file beside may be torn */
    rest += *rest == ' ' ? 1 : 0;
    for (char *c = rest; *c != '\0'; c++)
        if (iscntrl((unsigned char)*c) != 0)
            *c = '?';
    mark->journal = strdup(rest);
    return mark->journal == NULL ? rs_fail_memory("the mark of a file") : RESTRIDE_OK;
}

restride_status rs_mark_read(const rs_file *file, rs_mark *mark)
{
    char text[MOST_BYTES + 1] = {0};
    *mark = (rs_mark){0};
    ssize_t count = fgetxattr(file->descriptor, attribute, text, MOST_BYTES);
    if (count >= 0 || errno == ERANGE)
        return take_text(mark, text);
    if (errno != ENODATA && errno != EOPNOTSUPP)
        return rs_fail(RESTRIDE_IO, "Whether %s is half done could not be read: %s.", file->path,
                       strerror(errno));
    count = read_beside(file, text, MOST_BYTES);
    if (count < 0)
        return rs_fail(RESTRIDE_IO, "Whether %s is half done could not be read from %s%s: %s.",
                       file->path, file->path, suffix, strerror(errno));
    return count == 0 ? RESTRIDE_OK : take_text(mark, text);
}

void rs_mark_free(rs_mark *mark)
{
    free(mark->journal);
    *mark = (rs_mark){0};
}

restride_status rs_mark_check(const rs_file *file)
{
    rs_mark mark;
    restride_status status = rs_mark_read(file, &mark);
    if (status == RESTRIDE_OK && mark.found)
        status = rs_fail(RESTRIDE_INVALID_ARGUMENT,
                         "%s is half done by a change with the journal %s; give that command again "
                         "with that journal, or bring the file back from a backup and run restride "
                         "file-status --forget.",
                         file->path, mark.journal[0] != '\0' ? mark.journal : "that it was given");
    rs_mark_free(&mark);
    return status;
}

/* ---- clearing ---- */

/* Whether the folder of a name needs no synchronisation: it is that of `synced`, or setting a mark
 * there ends with an error. */
static bool is_settled(const char *name, const char *synced)
{
    struct stat here;
    struct stat there = {0};
    char *folder = rs_file_folder(name);
    char *other = synced == NULL ? NULL : rs_file_folder(synced);
    bool known = folder != NULL && stat(folder, &here) == 0;
    bool same = known && other != NULL && stat(other, &there) == 0 && here.st_dev == there.st_dev &&
                here.st_ino == there.st_ino;
    bool settled = same || (known && access(folder, R_OK) != 0);
    free(other);
    free(folder);
    return settled;
}

static restride_status clear_beside(const rs_file *file, const char *synced)
{
    char *name = name_beside(file);
    if (name == NULL)
        return rs_fail_memory("the name of a mark");
    restride_status status = RESTRIDE_OK;
    int reason = unlink(name) == 0 ? 0 : errno;
    if (reason == 0 || (reason == ENOENT && !is_settled(name, synced)))
        status = rs_file_sync_folder(name);
    else if (reason != ENOENT && reason != ENAMETOOLONG)
        status =
            rs_fail(RESTRIDE_IO, "The mark %s could not be removed: %s.", name, strerror(reason));
    free(name);
    return status;
}

/* Both are synchronised where there is no mark too: one may have been removed in memory alone. */
restride_status rs_mark_clear(const rs_file *file, const char *synced)
{
    restride_status status = RESTRIDE_OK;
    if (fremovexattr(file->descriptor, attribute) == 0 || errno == ENODATA)
        status = rs_file_sync_all(file);
    else if (errno != EOPNOTSUPP)
        status = rs_fail(RESTRIDE_IO, "The mark of %s could not be removed: %s.", file->path,
                         strerror(errno));
    return status == RESTRIDE_OK ? clear_beside(file, synced) : status;
}
