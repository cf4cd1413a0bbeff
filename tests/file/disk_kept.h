/* What of a folder is on a disk; see disk.h. */
#ifndef RS_TESTS_FILE_DISK_KEPT_H
#define RS_TESTS_FILE_DISK_KEPT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { DISK_MOST_NAMES = 16 };

/* What may have been written to a file since it was synchronised: a mapping can be everywhere. */
typedef struct {
    uint64_t inode;
    size_t begin;
    size_t end;
} disk_waiting;

/* Of all processes. */
typedef struct {
    int calls;
    int has_stale;     /* a synchronisation has failed */
    int sees_mappings; /* what is written to them is told */
    disk_waiting waits[DISK_MOST_NAMES];
} disk_state;

extern disk_state *disk_shared; /* NULL: no folder is watched */

void disk_open(const char *folder);

/* All that is in the folder, and nothing else, is on the disk. `sees_mappings`: what is written to
 * them is told (disk_count_write); otherwise all of a file may wait for the disk. */
void disk_begin(const char *folder, bool sees_mappings);

/* The calls that have been made since then, by all processes. */
int disk_calls(void);

void disk_lose_power(void);

/* A number below `bound`, from a seed. */
extern uint64_t disk_seed;
size_t disk_random(size_t bound);

/* Brings sectors to the disk: all, or some of those that wait, as a system does at any time. */
void disk_keep_bytes(int descriptor, bool all);
void disk_keep_attribute(int descriptor);
void disk_keep_names(void);

/* A synchronisation has failed: what waited is believed to be on the disk. */
void disk_give_up(int descriptor);

void disk_note_write(int descriptor, size_t offset, size_t count);

/* What a name stood for is about to lose it. The next file may get the same inode. */
void disk_keep_aside(const char *path, uint64_t inode);

#endif
