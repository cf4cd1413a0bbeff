/*
 * Files within the program's limit on their size (RLIMIT_FSIZE). Where the layer itself would write
 * more, a signal would end the program; with these around it, writing just fails. That is no help
 * where a compiler of the driver's cannot write (LLVM in PoCL ends the program itself then): below
 * a limit of 1 GiB the layer begins nothing that needs the compiler. What is in another layout by
 * then is still converted back.
 */
#ifndef RS_LAYER_FILE_LIMIT_H
#define RS_LAYER_FILE_LIMIT_H

#include <signal.h>
#include <stdbool.h>

/* Holds the signal back in this thread; and lets it through again, except one from in between. */
void rs_file_limit_ignore(sigset_t *before);
void rs_file_limit_restore(const sigset_t *before);

/* Whether the limit is such that nothing is to be built; and that as the reason for the report. */
bool rs_file_limit_is_small(void);
extern const char rs_file_limit_reason[];

#endif
