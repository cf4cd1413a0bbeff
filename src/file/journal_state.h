/*
 * What a journal is made of, for the files that create, open and use one; see journal.h, and
 * journal_format.h for its bytes.
 *
 *     head     magic, version, identity of the changed file, sizes, purpose, plan, checksum
 *     slot 0   a record: its head, ranges, payload, carried bytes
 *     slot 1
 *     stash
 */
#ifndef RS_FILE_JOURNAL_STATE_H
#define RS_FILE_JOURNAL_STATE_H

#include "file/journal.h"
#include "file/journal_format.h"

struct rs_journal {
    rs_file log;
    const rs_file *file;
    char *path;
    rs_journal_contents contents;
    rs_journal_places places;
    uint64_t identity;
    uint64_t sequence;  /* of the latest record */
    uint64_t stash_sum; /* of what has been written there */
    rs_journal_step step;
    unsigned char *front; /* of a record: its head and ranges as bytes */
};

/* A journal with nothing but its path and the file that is changed. */
restride_status rs_journal_begin(rs_journal **created, const char *path, const rs_file *file);

/* Returns the status of what came after the beginning; unless that went well, *journal is closed
 * and NULL. */
restride_status rs_journal_begun(rs_journal **journal, restride_status status);

/* Room for the largest step, when the contents are known. */
restride_status rs_journal_allocate_step(rs_journal *journal);

/* By what a file is known again. */
restride_status rs_journal_identify(const rs_file *file, uint64_t *inode);

/* What was renamed or removed is on the disk when its folder is. */
restride_status rs_journal_sync_folder(const char *path);

#endif
