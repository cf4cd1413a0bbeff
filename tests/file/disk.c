/* See disk.h. */
#include "disk.h"
#include "base/status.h"
#include "file/file.h"

#include <stdlib.h>
#include <unistd.h>

/* NOLINTBEGIN(bugprone-reserved-identifier): the linker asks for these names */
restride_status __real_rs_file_write(const rs_file *file, size_t offset, const void *bytes,
                                     size_t count);
restride_status __wrap_rs_file_write(const rs_file *file, size_t offset, const void *bytes,
                                     size_t count);
int __wrap_fdatasync(int descriptor);
int __wrap_fsync(int descriptor); /* of folders, which are left out here */
/* NOLINTEND(bugprone-reserved-identifier) */

enum { SECTOR = 512, MOST_WRITES = 4096 };

typedef struct {
    int descriptor;
    off_t offset;
    size_t count;
    unsigned char *before;
} unsynced_write;

static unsynced_write writes[MOST_WRITES];
static size_t write_count;

test_disk disk = {.calls_left = DISK_NEVER};
int *disk_calls;

size_t disk_random(size_t bound)
{
    disk.random = disk.random * 6364136223846793005u + 1442695040888963407u;
    return (size_t)(disk.random >> 33) % bound;
}

void disk_put_back(int descriptor, const void *bytes, size_t count, off_t offset)
{
    if (pwrite(descriptor, bytes, count, offset) != (ssize_t)count)
        abort();
}

static void lose_sectors(const unsynced_write *w)
{
    for (size_t i = 0; i < w->count; i += SECTOR) {
        size_t length = w->count - i < SECTOR ? w->count - i : SECTOR;
        if (disk_random(2) == 0)
            disk_put_back(w->descriptor, w->before + i, length, w->offset + (off_t)i);
    }
}

static void count_call(void)
{
    (*disk_calls)++;
    if (disk.calls_left-- > 0)
        return;
    if (disk.power)
        for (size_t i = write_count; i-- > 0;)
            lose_sectors(&writes[i]);
    _exit(DISK_DIED);
}

restride_status __wrap_rs_file_write(const rs_file *file, size_t offset, const void *bytes,
                                     size_t count)
{
    if (disk.full && disk.calls_left-- <= 0)
        return rs_fail(RESTRIDE_IO, "%s could not be written: the disk is full.", file->path);
    if (disk.full)
        return __real_rs_file_write(file, offset, bytes, count);
    if (disk.calls_left == DISK_NEVER)
        return __real_rs_file_write(file, offset, bytes, count);
    unsynced_write w = {file->descriptor, (off_t)offset, count, calloc(1, count + 1)};
    if (w.before == NULL || write_count == MOST_WRITES)
        abort();
    ssize_t read = pread(file->descriptor, w.before, count, (off_t)offset);
    (void)read;
    /* A process may end in the middle of a write, too. */
    bool half = disk.calls_left == 0 && !disk.power;
    restride_status status = __real_rs_file_write(file, offset, bytes, half ? count / 2 : count);
    writes[write_count++] = w;
    count_call();
    return status;
}

int __wrap_fsync(int descriptor)
{
    (void)descriptor;
    return 0;
}

int __wrap_fdatasync(int descriptor)
{
    if (disk.full || disk.calls_left == DISK_NEVER)
        return 0; /* nobody takes power away from the tests themselves */
    count_call();
    size_t kept = 0;
    for (size_t i = 0; i < write_count; i++)
        if (writes[i].descriptor == descriptor)
            free(writes[i].before);
        else
            writes[kept++] = writes[i];
    write_count = kept;
    return 0;
}
