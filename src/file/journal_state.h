/*
 * What a journal is made of, for the files that create, open and use one; see journal.h, and
 * journal_format.h for its bytes.
 *
 *     head     magic, version, identity of the changed file, sizes, checksum
 *     end      nothing, until the change is complete
 *              purpose, plan
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
    uint64_t outside;   /* of the latest record, as the next one */
    uint64_t written;
    char *temporary; /* its name where it cannot be without one; NULL: none */
    bool placed;     /* it has its name */
    bool finished;
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

/* Gives a journal its name, which must be free. */
restride_status rs_journal_place(rs_journal *journal);

/* Whether the journal that is open is the one at its path. */
bool rs_journal_is_at_path(const rs_journal *journal);

/* The sum of the step's payload at its places. */
uint64_t rs_journal_sum_payload(const rs_journal_step *step);

#endif
