/* Files that are changed in place; see file.h. */
#include "file/file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

enum { LINE_BYTES = 64 };

static restride_status check_kind(rs_file *file)
{
    struct stat status;
    if (fstat(file->descriptor, &status) != 0)
        return rs_fail(RESTRIDE_IO, "%s could not be examined: %s.", file->path, strerror(errno));
    if (!S_ISREG(status.st_mode))
        return rs_fail(RESTRIDE_IO,
                       "%s is not a regular file; only such a file can be changed in place.",
                       file->path);
    file->bytes = (size_t)status.st_size;
    return RESTRIDE_OK;
}

static restride_status lock(const rs_file *file)
{
    if (flock(file->descriptor, LOCK_EX | LOCK_NB) == 0 || errno != EWOULDBLOCK)
        return RESTRIDE_OK; /* a file system without locks is the user's to guard */
    return rs_fail(RESTRIDE_IO, "%s is in use by another restride; wait for its end.", file->path);
}

restride_status rs_file_open(rs_file *file, const char *path, bool writable)
{
    /* O_NONBLOCK: a pipe is refused and not waited for. */
    int flags = (writable ? O_RDWR : O_RDONLY) | O_CLOEXEC | O_NONBLOCK;
    *file = (rs_file){.path = path, .descriptor = open(path, flags)};
    if (file->descriptor < 0)
        return rs_fail(RESTRIDE_IO, "%s could not be opened for %s: %s.", path,
                       writable ? "changing it in place" : "reading", strerror(errno));
    restride_status status = check_kind(file);
    if (status == RESTRIDE_OK && writable)
        status = lock(file);
    if (status != RESTRIDE_OK)
        rs_file_close(file);
    return status;
}

char *rs_file_folder(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash == NULL ? strdup(".") : strndup(path, (size_t)(slash - path) + 1);
}

restride_status rs_file_sync_folder(const char *path)
{
    char *folder = rs_file_folder(path);
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

bool rs_file_in_use(const rs_file *file)
{
    if (flock(file->descriptor, LOCK_SH | LOCK_NB) != 0)
        return errno == EWOULDBLOCK;
    flock(file->descriptor, LOCK_UN);
    return false;
}

restride_status rs_file_read(const rs_file *file, size_t offset, void *bytes, size_t count)
{
    char *to = bytes;
    while (count > 0) {
        ssize_t done = pread(file->descriptor, to, count, (off_t)offset);
        if (done < 0 && errno == EINTR)
            continue;
        if (done < 0)
            return rs_fail(RESTRIDE_IO, "%s could not be read at byte %zu: %s.", file->path, offset,
                           strerror(errno));
        if (done == 0)
            return rs_fail(RESTRIDE_IO, "%s ends at byte %zu, too early.", file->path, offset);
        to += done;
        offset += (size_t)done;
        count -= (size_t)done;
    }
    return RESTRIDE_OK;
}

restride_status rs_file_write(const rs_file *file, size_t offset, const void *bytes, size_t count)
{
    const char *from = bytes;
    if (count < RS_FILE_FEW_BYTES && file->map != NULL) {
        memcpy((char *)file->map + offset, bytes, count);
        return RESTRIDE_OK;
    }
    while (count > 0) {
        ssize_t done = pwrite(file->descriptor, from, count, (off_t)offset);
        if (done < 0 && errno == EINTR)
            continue;
        if (done <= 0)
            return rs_fail(RESTRIDE_IO, "%s could not be written at byte %zu: %s.", file->path,
                           offset, strerror(done < 0 ? errno : ENOSPC));
        from += done;
        offset += (size_t)done;
        count -= (size_t)done;
    }
    return RESTRIDE_OK;
}

void rs_file_begin_sync(const rs_file *file)
{
    /* A refusal costs speed alone. */
    (void)sync_file_range(file->descriptor, 0, 0, SYNC_FILE_RANGE_WRITE);
}

restride_status rs_file_sync(const rs_file *file)
{
    /* On Linux this includes what was stored through the mapping. */
    if (fdatasync(file->descriptor) != 0)
        return rs_fail(RESTRIDE_IO, "%s could not be brought to the disk: %s.", file->path,
                       strerror(errno));
    return RESTRIDE_OK;
}

restride_status rs_file_sync_all(const rs_file *file)
{
    if (fsync(file->descriptor) != 0)
        return rs_fail(RESTRIDE_IO, "%s could not be brought to the disk: %s.", file->path,
                       strerror(errno));
    return RESTRIDE_OK;
}

restride_status rs_file_identify(const rs_file *file, rs_file_identity *identity)
{
    enum { SECOND = 1000000000 };
    struct stat status;
    struct statx more;
    if (fstat(file->descriptor, &status) != 0)
        return rs_fail(RESTRIDE_IO, "%s could not be examined: %s.", file->path, strerror(errno));
    *identity = (rs_file_identity){.device = status.st_dev, .inode = status.st_ino};
    if (statx(file->descriptor, "", AT_EMPTY_PATH, STATX_BTIME, &more) == 0 &&
        (more.stx_mask & STATX_BTIME) != 0)
        identity->birth = (uint64_t)more.stx_btime.tv_sec * SECOND + more.stx_btime.tv_nsec;
    return RESTRIDE_OK;
}

void rs_file_want(const rs_file *file, size_t offset, size_t count)
{
    /* A refusal costs speed alone. */
    (void)posix_fadvise(file->descriptor, (off_t)offset, (off_t)count, POSIX_FADV_WILLNEED);
}

void rs_file_prefetch(const rs_file *file, size_t offset, size_t count)
{
    if (file->map == NULL || count == 0 || count >= RS_FILE_FEW_BYTES)
        return;
    const char *bytes = (const char *)file->map + offset;
    for (size_t i = 0; i < count; i += LINE_BYTES)
        __builtin_prefetch(bytes + i);
    __builtin_prefetch(bytes + count - 1);
}

restride_status rs_file_fill_holes(const rs_file *file)
{
    if (file->bytes == 0 || fallocate(file->descriptor, 0, 0, (off_t)file->bytes) == 0 ||
        errno == EOPNOTSUPP || errno == ENOSYS)
        return RESTRIDE_OK;
    return rs_fail(
        RESTRIDE_IO,
        "%s has holes, and the disk cannot take the bytes that belong there: %s; nothing "
        "was changed.",
        file->path, strerror(errno));
}

restride_status rs_file_map(rs_file *file, size_t offset, void **data)
{
    *data = NULL;
    void *map = mmap(NULL, file->bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file->descriptor, 0);
    if (map == MAP_FAILED)
        return rs_fail(RESTRIDE_IO, "%s could not be mapped into memory: %s; nothing was changed.",
                       file->path, strerror(errno));
    if (file->beyond_memory)
        madvise(map, file->bytes, MADV_RANDOM); /* a refusal costs speed alone */
    file->map = map;
    file->map_bytes = file->bytes;
    *data = (unsigned char *)map + offset;
    return RESTRIDE_OK;
}

void rs_file_close(rs_file *file)
{
    if (file->map != NULL)
        munmap(file->map, file->map_bytes);
    if (file->descriptor >= 0)
        close(file->descriptor);
    *file = (rs_file){.path = file->path, .descriptor = -1};
}
