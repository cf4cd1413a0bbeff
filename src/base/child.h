/* Child processes: a program run without a shell, text in, text out; and whether one still runs. */
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

/* ---- whether a process still runs, told from a later one of the same number ---- */

/* When the process began, in ticks since the machine did, which stays when it becomes another
 * program (exec). 0: it has ended, or there is no /proc. */
unsigned long long rs_process_start(long process);

/* That of this process, and its number as /proc has it: getpid() may be another one's there, in a
 * namespace of processes without a /proc of its own. 0 and getpid(): there is no /proc. */
unsigned long long rs_process_own_start(long *process);

#endif
