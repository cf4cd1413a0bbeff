/*
 * Files that the layer writes within the program, or has the driver write. Where the program may
 * write no more (RLIMIT_FSIZE), a signal would end it; with these around it, writing just fails.
 */
#ifndef RS_LAYER_FILE_LIMIT_H
#define RS_LAYER_FILE_LIMIT_H

#include <signal.h>

/* Holds the signal back in this thread; and lets it through again, except one from in between. */
void rs_file_limit_ignore(sigset_t *before);
void rs_file_limit_restore(const sigset_t *before);

#endif
