/*
 * A regular file whose bytes are changed in place: opened once, for one process at a time, and
 * mapped into memory where its array lies.
 */
#ifndef RS_FILE_FILE_H
#define RS_FILE_FILE_H

#include "base/status.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct {
    const char *path; /* the caller's */
    int descriptor;   /* -1: not open */
    size_t bytes;
    /* Set before mapping when not all of the file stays in memory: the pages around one that is
     * missed are then not read with it, because they would be gone before they are used. */
    bool beyond_memory;
    void *map; /* NULL: not mapped */
    size_t map_bytes;
} rs_file;

/*
 * Opens a file, for reading alone if not `writable`. A writable file is locked (flock) against
 * other runs of this function. RESTRIDE_IO, with the reason, when that cannot be.
 */
restride_status rs_file_open(rs_file *file, const char *path, bool writable);

/* Whether a run of that function has the file open for writing. */
bool rs_file_in_use(const rs_file *file);

/* Exactly `count` bytes at `offset`; RESTRIDE_IO otherwise. */
restride_status rs_file_read(const rs_file *file, size_t offset, void *bytes, size_t count);
/* Few bytes go through the mapping, if there is one: a system call for each would take too long. */
enum { RS_FILE_FEW_BYTES = 4096 };
restride_status rs_file_write(const rs_file *file, size_t offset, const void *bytes, size_t count);

/* Begins to bring to the disk what was written, without waiting: pages that wait for the disk when
 * memory is short hold up everybody who wants one. */
void rs_file_begin_sync(const rs_file *file);

/* Returns when all that was written is on the disk; the second one includes what belongs to the
 * file besides its bytes. */
restride_status rs_file_sync(const rs_file *file);
restride_status rs_file_sync_all(const rs_file *file);

/* What a file is recognised by. The device's number may change when a machine starts. */
typedef struct {
    uint64_t device;
    uint64_t inode;
    uint64_t birth; /* in nanoseconds since 1970; 0: the file system does not know */
} rs_file_identity;

restride_status rs_file_identify(const rs_file *file, rs_file_identity *identity);

/* The folder of a path, to be freed; NULL when memory is short. */
char *rs_file_folder(const char *path);

/* What was named or removed is on the disk when its folder is. */
restride_status rs_file_sync_folder(const char *path);

/* Asks the disk for bytes that will be read soon, without waiting for them. */
void rs_file_want(const rs_file *file, size_t offset, size_t count);

/* Asks the memory for few bytes of the mapping; processors see by themselves that more are coming.
 */
void rs_file_prefetch(const rs_file *file, size_t offset, size_t count);

/* Gives the holes of a sparse file their blocks on the disk, so that none can be missing later. */
restride_status rs_file_fill_holes(const rs_file *file);

/*
 * Maps the file, *data is its byte `offset`, and the pages belong to the file: what is stored there
 * is written by the system at any time. To be called once, after rs_file_fill_holes().
 */
restride_status rs_file_map(rs_file *file, size_t offset, void **data);

void rs_file_close(rs_file *file);

#endif
