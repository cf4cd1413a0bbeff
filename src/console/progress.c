/* The progress bar; see progress.h. */
#include "console/progress.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { WIDTH = 30 };

void rs_progress_bar_begin(rs_progress_bar *bar)
{
    *bar = (rs_progress_bar){.shown = isatty(STDERR_FILENO) == 1, .started = rs_seconds_now()};
}

static void print_remaining(double seconds)
{
    unsigned long whole = (unsigned long)(seconds + 0.5);
    if (whole >= 3600)
        fprintf(stderr, "%lu:%02lu:%02lu left", whole / 3600, whole / 60 % 60, whole % 60);
    else
        fprintf(stderr, "%lu:%02lu left", whole / 60, whole % 60);
}

static void draw(double part)
{
    char drawn[WIDTH + 1];
    size_t filled = (size_t)(part * WIDTH);
    memset(drawn, '.', WIDTH);
    memset(drawn, '#', filled < WIDTH ? filled : WIDTH);
    drawn[WIDTH] = '\0';
    fprintf(stderr, "\r\033[K%3.0f %% [%s] ", 100 * part, drawn);
}

void rs_progress_bar_tell_part(void *context, double part)
{
    const rs_progress_bar *bar = context;
    if (!bar->shown)
        return;
    draw(part);
    double elapsed = rs_seconds_now() - bar->started;
    if (part > 0)
        print_remaining(elapsed / part * (1 - part));
    fflush(stderr);
}

void rs_progress_bar_tell(void *context, size_t done, size_t total)
{
    rs_progress_bar *bar = context;
    if (!bar->shown || total == 0)
        return;
    if (!bar->begun) {
        bar->begun = true;
        bar->first = done; /* a run that goes on has done a part already */
    }
    draw((double)done / (double)total);
    double elapsed = rs_seconds_now() - bar->started;
    double rate = elapsed > 0 ? (double)(done - bar->first) / elapsed : 0;
    if (rate > 0) {
        fprintf(stderr, "%.2f GB/s ", 2e-9 * rate);
        print_remaining((double)(total - done) / rate);
    }
    fflush(stderr);
}

void rs_progress_bar_end(rs_progress_bar *bar)
{
    if (bar->shown)
        fprintf(stderr, "\r\033[K");
}
