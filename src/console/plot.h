/*
 * Plots as SVG: lines, points or bars with axes, grid and legend; readable in light and dark
 * surroundings and in print.
 */
#ifndef RS_CONSOLE_PLOT_H
#define RS_CONSOLE_PLOT_H

#include "base/text.h"

#include <stdbool.h>
#include <stddef.h>

typedef enum { RS_PLOT_LINES, RS_PLOT_POINTS, RS_PLOT_BARS } rs_plot_kind;

/* Values that are not finite are left out. */
typedef struct {
    const char *name;
    size_t count;
    const double *x; /* NULL: 0, 1, 2, ...; always so for bars */
    const double *y;
    bool dashed;  /* a line of reference */
    size_t color; /* 1 to 8, to share one with another series; 0: by order */
} rs_plot_series;

typedef struct {
    rs_plot_kind kind;
    const char *title;
    const char *subtitle; /* below it, smaller; may be NULL */
    const char *x_label;
    const char *y_label;
    bool x_logarithmic;            /* in powers of two; every x is above 0 */
    const char *const *categories; /* names of x = 0, 1, 2, ...; NULL: numbers */
    size_t category_count;
    const rs_plot_series *series;
    size_t series_count;
} rs_plot;

/* Adds a whole SVG document. The axis of y begins at 0, unless a value is below. */
void rs_plot_write(rs_text *svg, const rs_plot *plot);

#endif
