/* Running a plan on a file through a journal, so that it can be interrupted anywhere and go on. */
#ifndef RS_FILE_JOURNALED_H
#define RS_FILE_JOURNALED_H

#include "file/file.h"
#include "restride/plan.h"

#include <signal.h>

typedef struct {
    rs_file *file;       /* open for writing and not mapped */
    const char *journal; /* the path of the journal; best on another disk, but any will do */
    const char *purpose; /* the change in words; only the same words can resume it */
    size_t step_bytes;   /* moved in a step; 0: 16 MiB. A block of up to 16 of them is one step. */
    restride_run_options run;
    const volatile sig_atomic_t *stop; /* the run ends between two steps when it is not 0 */
} rs_journaled;

/* A change: a plan for the array at a place of the file, and then a new header in front of it. */
typedef struct {
    const restride_plan *plan;
    size_t offset;
    const void *header; /* NULL: none */
    size_t header_bytes;
} rs_journaled_change;

/*
 * Makes the journal and runs the plan. The plan goes into the journal, so that the same one is
 * resumed; what stays of the journal at the end says that the change is complete.
 * RESTRIDE_UNSUPPORTED when it has stages that no steps are known for. After any other error, and
 * after an interruption, rs_journaled_resume() goes on. Scratch: two steps, one bit an element that
 * moves, and the tails of padded matrices.
 */
restride_status rs_journaled_run(const rs_journaled *how, const rs_journaled_change *change);

/*
 * The same steps without a journal, for a file that does not stay in memory: what the next step
 * reads is asked for beforehand, and what it writes leaves as long runs. `journal` and `stop` are
 * not looked at. *possible is false, and nothing has changed, when the plan has stages that cannot
 * be taken in steps of memory alone; an engine runs those.
 */
restride_status rs_journaled_run_straight(const rs_journaled *how,
                                          const rs_journaled_change *change, bool *possible);

typedef enum {
    RS_JOURNALED_NONE,    /* there is no journal */
    RS_JOURNALED_RESUMED, /* the change was interrupted, and is complete now */
    RS_JOURNALED_ALREADY  /* it was complete before */
} rs_journaled_found;

/* Goes on with a change that was interrupted, if there is a journal. */
restride_status rs_journaled_resume(const rs_journaled *how, rs_journaled_found *found);

typedef enum {
    RS_JOURNALED_WHOLE,     /* no change is under way */
    RS_JOURNALED_RUNNING,   /* one is, by another process */
    RS_JOURNALED_HALF_DONE, /* one was interrupted, and can go on */
    RS_JOURNALED_LOST,      /* one was interrupted, and its journal is missing or does not fit */
    RS_JOURNALED_COMPLETE   /* one is complete */
} rs_journaled_state;

typedef struct {
    rs_journaled_state state;
    char *journal; /* NULL: there is none */
    char *purpose; /* of the journal, when it could be read */
    char *reason;  /* why it is lost */
    double part;   /* that is done of a change that is half done */
} rs_journaled_status;

/* What is known of a file, open for reading, by its mark, or by the journal at a path, unless that
 * is NULL. The caller calls rs_journaled_status_free(), after an error too. */
restride_status rs_journaled_examine(const rs_file *file, const char *journal,
                                     rs_journaled_status *found);
void rs_journaled_status_free(rs_journaled_status *status);

#endif
