/*
 * The calls that disk.h tells of. Preloaded, it takes its orders from RESTRIDE_TEST_DISK: folder,
 * calls left, action, whether there are no attributes, and a number for random ones.
 */
#include "disk.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/xattr.h>
#include <unistd.h>

test_disk disk = {.calls_left = DISK_NEVER};

__attribute__((constructor)) static void take_orders(void)
{
    char folder[256];
    int action;
    int no_attributes;
    const char *orders = getenv("RESTRIDE_TEST_DISK");
    if (orders == NULL || sscanf(orders, "%255s %d %d %d %" SCNu64, folder, &disk.calls_left,
                                 &action, &no_attributes, &disk_seed) != 5)
        return;
    disk.action = (disk_action)action;
    disk.no_attributes = no_attributes != 0;
    disk_open(folder);
}

/* ---- the calls ---- */

/* False: the call has failed, with errno. `room` tells whether it takes any on the disk. */
static bool allow(bool room)
{
    if (disk_shared == NULL)
        return true;
    disk_shared->calls++;
    disk.calls_left--;
    if (disk.calls_left >= 0 || disk.action == DISK_SHORT)
        return true;
    if (disk.action == DISK_DIES)
        _exit(DISK_DIED);
    if (disk.action == DISK_FULL && room)
        return errno = ENOSPC, false;
    return disk.action == DISK_FULL || disk.calls_left != -1 || (errno = EIO, false);
}

static bool watched(int descriptor)
{
    struct stat about;
    return disk_shared != NULL && fstat(descriptor, &about) == 0 && S_ISREG(about.st_mode);
}

void disk_count_write(int descriptor, size_t offset, size_t count)
{
    if (disk_shared == NULL)
        return;
    disk_note_write(descriptor, offset, count);
    if (disk.action == DISK_DIES)
        allow(false);
}

/* NOLINTBEGIN(readability-inconsistent-declaration-parameter-name): in place of the C library's */

ssize_t pwrite(int descriptor, const void *bytes, size_t count, off_t offset)
{
    bool half = disk_shared != NULL && disk.calls_left == 0 &&
                (disk.action == DISK_DIES || disk.action == DISK_SHORT);
    size_t some = half ? (count + 1) / 2 : count;
    if (!half && !allow(true))
        return -1;
    ssize_t written = syscall(SYS_pwrite64, descriptor, bytes, some, offset);
    if (watched(descriptor)) {
        disk_note_write(descriptor, (size_t)offset, some);
        if (disk_random(16) == 0)
            disk_keep_bytes(descriptor, false);
    }
    if (half)
        allow(true);
    return written;
}

int fdatasync(int descriptor)
{
    bool done = allow(false);
    if (watched(descriptor) && done)
        disk_keep_bytes(descriptor, true);
    else if (watched(descriptor))
        disk_give_up(descriptor);
    errno = done ? errno : EIO;
    return done ? 0 : -1;
}

int fsync(int descriptor)
{
    struct stat about;
    if (fstat(descriptor, &about) != 0 || disk_shared == NULL)
        return 0;
    if (!S_ISDIR(about.st_mode)) {
        int status = fdatasync(descriptor);
        if (status == 0)
            disk_keep_attribute(descriptor);
        return status;
    }
    if (!allow(false))
        return -1;
    disk_keep_names();
    return 0;
}

/* The disk may have taken anything when this returns, and nothing. */
int sync_file_range(int descriptor, off_t offset, off_t count, unsigned flags)
{
    (void)offset;
    (void)count;
    (void)flags;
    if (allow(false) && watched(descriptor) && disk_random(2) == 0)
        disk_keep_bytes(descriptor, false);
    return 0;
}

int posix_fallocate(int descriptor, off_t offset, off_t count)
{
    if (!allow(true))
        return errno;
    return syscall(SYS_fallocate, descriptor, 0, offset, count) == 0 ? 0 : errno;
}

int ftruncate(int descriptor, off_t count)
{
    return allow(false) ? (int)syscall(SYS_ftruncate, descriptor, count) : -1;
}

int linkat(int from_folder, const char *from, int to_folder, const char *to, int flags)
{
    return allow(true) ? (int)syscall(SYS_linkat, from_folder, from, to_folder, to, flags) : -1;
}

int unlink(const char *path)
{
    struct stat about;
    if (!allow(false))
        return -1;
    bool there = disk_shared != NULL && lstat(path, &about) == 0;
    int status = (int)syscall(SYS_unlinkat, AT_FDCWD, path, 0);
    if (there && status == 0)
        disk_keep_aside(path, about.st_ino);
    return status;
}

int fsetxattr(int descriptor, const char *name, const void *value, size_t size, int flags)
{
    if (disk.no_attributes)
        return errno = EOPNOTSUPP, -1;
    return allow(true) ? (int)syscall(SYS_fsetxattr, descriptor, name, value, size, flags) : -1;
}

int fremovexattr(int descriptor, const char *name)
{
    if (disk.no_attributes)
        return errno = EOPNOTSUPP, -1;
    return allow(false) ? (int)syscall(SYS_fremovexattr, descriptor, name) : -1;
}

/* NOLINTEND(readability-inconsistent-declaration-parameter-name) */
