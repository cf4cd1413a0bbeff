/*
 * A journal: a redo log beside a file that is changed in place, so that a change which was
 * interrupted anywhere, by SIGKILL or by loss of power, can go on with nothing lost.
 *
 * The change is a sequence of steps. A step is the new contents of some ranges of the file, and the
 * cursor from which the next step is made. It is committed so:
 *
 *     1. the step is written into the journal, and the journal is synchronised with its disk
 *     2. the ranges are written into the file, and the file is synchronised
 *
 * Steps take turns between two slots, so that a step which was torn while it was written leaves the
 * one before it whole. Whoever resumes takes the latest whole step, writes its ranges again, which
 * is harmless, and goes on from its cursor. Its successor has not touched the file: that begins
 * when the successor is whole on the disk.
 */
#ifndef RS_FILE_JOURNAL_H
#define RS_FILE_JOURNAL_H

#include "file/file.h"

#include <stdint.h>

/* Where the next step begins; `part`, `leader` and `position` are the stage's own. */
typedef struct {
    uint64_t stage;
    uint64_t part;
    uint64_t leader;
    uint64_t position;
    uint64_t done; /* bytes that have been moved, over all stages */
} rs_journal_cursor;

typedef struct {
    uint64_t offset; /* in the file */
    uint64_t length;
} rs_journal_range;

/* How much a step can hold. */
typedef struct {
    size_t ranges;
    size_t payload; /* bytes */
    size_t carried; /* bytes */
} rs_journal_capacity;

typedef struct {
    rs_journal_capacity capacity;
    size_t range_count;
    rs_journal_range *ranges;
    size_t payload_bytes;
    unsigned char *payload; /* the contents of the ranges, one after the other */
    size_t carried_bytes;
    unsigned char *carried; /* what the next step needs and the file no longer holds */
    rs_journal_cursor next;
} rs_journal_step;

/* Whether one more range of `length` bytes has room. */
bool rs_journal_step_fits(const rs_journal_step *step, size_t length);

/* Adds a range that has room and returns the place for its contents. */
unsigned char *rs_journal_step_add(rs_journal_step *step, size_t offset, size_t length);

/* Empties a step; what is carried stays. */
void rs_journal_step_clear(rs_journal_step *step);

/* What the whole change needs to know to go on; the journal keeps it beside the steps. */
typedef struct {
    char *purpose; /* of the change, in words: another purpose is refused */
    void *plan;
    size_t plan_bytes;
    rs_journal_capacity capacity;
    size_t stash_bytes; /* of an area that a stage may fill before its first step; 0: none */
} rs_journal_contents;

typedef struct rs_journal rs_journal;

/*
 * Makes the journal at `path`, which must not exist, for a change of `file`, with all the space on
 * the disk that it will ever need. Until it is complete nothing lies at `path`.
 */
restride_status rs_journal_create(rs_journal **journal, const char *path, const rs_file *file,
                                  const rs_journal_contents *contents);

/*
 * Opens a journal and reads its latest step, whose ranges lie in the file; a journal without steps
 * gives an empty one. Nothing is written yet. *journal is NULL, without an error, when there is no
 * file at `path`. A file that is no journal, a journal of another file, purpose or format, and one
 * that is damaged are refused (RESTRIDE_INVALID_ARGUMENT).
 */
restride_status rs_journal_open(rs_journal **journal, const char *path, const rs_file *file,
                                const char *purpose);

/*
 * Makes a journal that keeps nothing: steps go straight into the file, whose owner synchronises it
 * at the end, and an interruption is final. What has to pass through a stash cannot.
 */
restride_status rs_journal_create_idle(rs_journal **journal, const rs_file *file,
                                       const rs_journal_contents *contents);

const rs_journal_contents *rs_journal_contents_of(const rs_journal *journal);

/* The step that is written next; after rs_journal_open() the latest one. */
rs_journal_step *rs_journal_step_of(rs_journal *journal);

/* Writes the ranges of the step that was read when the journal was opened into the file again. */
restride_status rs_journal_repeat(const rs_journal *journal);

/* For whoever finds that plan and step do not belong together: RESTRIDE_INVALID_ARGUMENT. */
restride_status rs_journal_fail_damaged(const rs_journal *journal);

/* Commits the step. After an error the journal can still be resumed. */
restride_status rs_journal_commit(rs_journal *journal);

/*
 * The stash, or a part of it from `offset` on, a multiple of 8 as every part's length but the
 * last's; on disk when the function returns. What is written at 0 begins a new stash. It may be
 * overwritten when a step of a new stage has been committed.
 */
restride_status rs_journal_write_stash(rs_journal *journal, size_t offset, const void *bytes,
                                       size_t count);
restride_status rs_journal_read_stash(const rs_journal *journal, size_t offset, void *bytes,
                                      size_t count);

/* Whether the first `count` bytes of the stash are what the latest step found there. */
restride_status rs_journal_check_stash(const rs_journal *journal, size_t count);

/* Removes the journal from the disk, when the change is complete. */
restride_status rs_journal_remove(rs_journal *journal);

/* Frees a journal and leaves its file as it is; NULL is allowed. */
void rs_journal_close(rs_journal *journal);

#endif
