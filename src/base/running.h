/* Whether a process still runs, told from a later one of the same number. */
#ifndef RS_BASE_RUNNING_H
#define RS_BASE_RUNNING_H

/* When the process began, in ticks since the machine did, which stays when it becomes another
 * program (exec). 0: it has ended, or there is no /proc. */
unsigned long long rs_process_start(long process);

/* That of this process, and its number as /proc has it: getpid() may be another one's there, in a
 * namespace of processes without a /proc of its own. 0 and getpid(): there is no /proc. */
unsigned long long rs_process_own_start(long *process);

#endif
