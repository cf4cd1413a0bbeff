/*
 * A progress bar on standard error, with the rate and the time that remains; nothing where standard
 * error is no terminal.
 */
#ifndef RS_CONSOLE_PROGRESS_H
#define RS_CONSOLE_PROGRESS_H

#include "base/seconds.h"

#include <stdbool.h>
#include <stddef.h>

typedef struct {
    bool shown;
    double started; /* seconds of the monotonic clock */
    size_t first;   /* bytes that were done before */
    bool begun;
} rs_progress_bar;

void rs_progress_bar_begin(rs_progress_bar *bar);

/* Draws the bar: a restride_run_options.progress whose context is the bar. */
void rs_progress_bar_tell(void *bar, size_t done, size_t total);

/* The same for work that is not counted in bytes: 0 to 1, without a rate. */
void rs_progress_bar_tell_part(void *bar, double part);

/* Removes it again. */
void rs_progress_bar_end(rs_progress_bar *bar);

#endif
