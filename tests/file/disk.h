/*
 * A disk that keeps what was synchronised, and may lose the rest: beside a folder lies what of it
 * would be there after a loss of power.
 *
 * The calls that write to a disk are replaced by ones that count themselves, and at the chosen call
 * end the process or fail. This works in a program that is linked with disk.c, and in any other
 * when disk.c is preloaded as a library (RESTRIDE_TEST_DISK, see disk.c).
 *
 * A process that is killed leaves everything to the page cache: to the files as they are. After
 * that, or at any other time, disk_lose_power() takes back what was not synchronised: each sector
 * of 512 bytes is old or new, or what it was between, and so are sizes, names and attributes. What
 * was to be synchronised by a call that failed is not written by the next one either, unless it is
 * written to again, as on Linux.
 */
#ifndef RS_TESTS_FILE_DISK_H
#define RS_TESTS_FILE_DISK_H

#include "disk_kept.h"

enum { DISK_DIED = 7 /* the exit status */, DISK_NEVER = 1 << 30 };

typedef enum {
    DISK_DIES,  /* the process ends at the call, in the middle of a write */
    DISK_FAILS, /* the call fails with EIO */
    DISK_FULL,  /* it and all others that take room fail with ENOSPC */
    DISK_SHORT  /* a write ends early */
} disk_action;

typedef struct {
    int calls_left;
    disk_action action;
    bool no_attributes; /* extended ones: the file system has none */
} test_disk;

extern test_disk disk;

/* One more call; for what is written through a mapping. */
void disk_count_write(int descriptor, size_t offset, size_t count);

#endif
