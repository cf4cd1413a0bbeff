/*
 * A journal: a redo log beside a file that is changed in place, so that a change which was
 * interrupted anywhere, by SIGKILL or by loss of power, can go on with nothing lost.
 *
 * The change is a sequence of steps. A step is the new contents of some ranges of the file, and the
 * cursor from which the next step is made. Each line ends on the disk before the next one begins:
 *
 *     begin    the journal, still without a name, gets its head and step 1
 *              the journal gets its name, which nothing else has (rs_journal_commit)
 *              the file gets its mark (mark.h)
 *     step n   step n goes into the journal (n > 1)
 *              its ranges go into the file
 *     end      the mark goes
 *              the journal says that the change is complete; then it gives its space back
 *
 * Steps take turns between two slots, so that a step which was torn while it was written leaves the
 * one before it whole. Whoever resumes takes the latest whole step. It may be whole in memory
 * alone, so it is written and brought to the disk again, as are the journal's name and the mark,
 * before its ranges are written again, which is harmless. The change goes on from its cursor.
 *
 * A journal is locked (flock) while it is open, and is the one at its path when it is trusted. It
 * knows its file by inode and birth time, and its content by a sum of all that the change may write
 * to, outside the ranges of the latest step. tools/model/journal.pml is checked with kills and cuts
 * of power in any order.
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
    uint64_t content;   /* sum of what the change may write to, before the next step (sum.h) */
} rs_journal_contents;

typedef struct rs_journal rs_journal;

/*
 * Makes the journal that will have its name, `path`, with the first step, for a change of `file`,
 * with all the space on the disk that it will ever need. The file must be mapped for steps.
 */
restride_status rs_journal_create(rs_journal **journal, const char *path, const rs_file *file,
                                  const rs_journal_contents *contents);

/*
 * Opens and locks a journal and reads its latest step, whose ranges lie in the file. Nothing is
 * written yet. *journal is NULL, without an error, when there is no file at `path`. Refused
 * (RESTRIDE_INVALID_ARGUMENT) are a file that is no journal or that others may have written, and a
 * journal of another file, purpose or format, in use, or damaged. `purpose` NULL: any.
 */
restride_status rs_journal_open(rs_journal **journal, const char *path, const rs_file *file,
                                const char *purpose);

/* Whether a journal has its name; before that nothing of the file has changed. */
bool rs_journal_placed(const rs_journal *journal);

/* What the mark of its file holds. */
uint64_t rs_journal_identity(const rs_journal *journal);

/* Whether an opened journal says that its change is complete; it has no step then. */
bool rs_journal_finished(const rs_journal *journal);

/*
 * Makes a journal that keeps nothing: steps go straight into the file, whose owner synchronises it
 * at the end, and an interruption is final. Steps that need a stash cannot go so.
 */
restride_status rs_journal_create_idle(rs_journal **journal, const rs_file *file,
                                       const rs_journal_contents *contents);

const rs_journal_contents *rs_journal_contents_of(const rs_journal *journal);

/* The step that is written next; after rs_journal_open() the latest one. */
rs_journal_step *rs_journal_step_of(rs_journal *journal);

/* Whether the file is as the latest step left it, or as the end did, by the sum of all that the
 * change may write to: RESTRIDE_INVALID_ARGUMENT otherwise, with what to do. */
restride_status rs_journal_check_content(const rs_journal *journal, uint64_t content);

/* Brings the step that was read when the journal was opened to the disk, marks the file, and writes
 * the ranges into it again. */
restride_status rs_journal_repeat(rs_journal *journal);

/* For whoever finds that plan and step do not belong together: RESTRIDE_INVALID_ARGUMENT. */
restride_status rs_journal_fail_damaged(const rs_journal *journal);

/* Commits the step. After an error the journal can still be resumed, if it has its name; without
 * it nothing was changed, and the sentence says so. */
restride_status rs_journal_commit(rs_journal *journal);

/*
 * The stash, or a part of it from `offset` on; on disk when the function returns. What is written
 * at 0 begins a new stash. It may be overwritten when a step of a new stage has been committed.
 */
restride_status rs_journal_write_stash(rs_journal *journal, size_t offset, const void *bytes,
                                       size_t count);
restride_status rs_journal_read_stash(const rs_journal *journal, size_t offset, void *bytes,
                                      size_t count);

/* Whether the first `count` bytes of the stash are what the latest step found there. */
restride_status rs_journal_check_stash(const rs_journal *journal, size_t count);

/* The end, when the change is complete: what stays of the journal is small and says so. */
restride_status rs_journal_finish(rs_journal *journal);

/* Frees a journal and leaves its file as it is, or nothing of it when it never had its name; NULL
 * is allowed. */
void rs_journal_close(rs_journal *journal);

#endif
