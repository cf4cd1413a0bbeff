/*
 * A disk that ends the process, loses power or is full at the chosen call.
 *
 * The functions that write to disk are replaced (--wrap): they count, and at the chosen call the
 * process ends. To act out a loss of power, what was written since the last fdatasync() of each
 * file is then taken back in random parts: sectors of 512 bytes of the write under way and of all
 * that were not synchronised.
 */
#ifndef RS_TESTS_FILE_DISK_H
#define RS_TESTS_FILE_DISK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

enum { DISK_DIED = 7 /* the exit status */, DISK_NEVER = 1 << 30 };

typedef struct {
    int calls_left;
    bool power; /* lost, and not only the process ended */
    bool full;  /* the disk, from then on; the process lives */
    uint64_t random;
} test_disk;

extern test_disk disk;
extern int *disk_calls; /* that were made; to be set to memory shared with the children */

/* A number below `bound`. */
size_t disk_random(size_t bound);

/* Writes past the disk. */
void disk_put_back(int descriptor, const void *bytes, size_t count, off_t offset);

#endif
