/* Child processes: a program run without a shell, text in, text out; work in a copy of this
 * process; and whether one still runs. */
#ifndef RS_BASE_CHILD_H
#define RS_BASE_CHILD_H

#include "base/text.h"

/*
 * Runs arguments[0], found in PATH, with `input` on its standard input and waits for its end.
 * Standard output and standard error are added to the two texts. RESTRIDE_IO, with a sentence, when
 * it could not be started.
 */
restride_status rs_child_run(char *const arguments[], const char *input, size_t input_size,
                             rs_text *output, rs_text *errors, int *exit_status);

/* Work that may crash or never end; what it returns is lost, but for whether it is RESTRIDE_OK. */
typedef restride_status rs_child_work(void *context, rs_text *output);

/*
 * Does work in a copy of this process, for at most so many seconds, and adds its output.
 * RESTRIDE_UNSUPPORTED, with nothing added, when it did not end as it should. The work must need no
 * thread of this process.
 */
restride_status rs_child_do(rs_child_work *work, void *context, unsigned seconds, rs_text *output);

/* ---- whether a process still runs, told from a later one of the same number ---- */

/* When the process began, in ticks since the machine did, which stays when it becomes another
 * program (exec). 0: it has ended, or there is no /proc. */
unsigned long long rs_process_start(long process);

/* That of this process, and its number as /proc has it: getpid() may be another one's there, in a
 * namespace of processes without a /proc of its own. 0 and getpid(): there is no /proc. */
unsigned long long rs_process_own_start(long *process);

#endif
