/* See panels.h. */
#include "transfer/panels.h"

#include "base/arithmetic.h"

enum { LINE_BYTES = 128, LEAST_ROW_BYTES = 512, MOST_PANELS = 256 };

/*
 * With P panels nothing is sent back until the first has come, 1/P of the time that the bus takes
 * one way. The matrix comes in P^2 / 2 pieces, each of which costs a call, and each of its rows in
 * P runs, which cost more the larger the matrix is. Weights fitted to one H100
 * (lab/docs/reproduction.md).
 */
static size_t best_count(size_t rows, double bytes)
{
    const double bus_bytes_a_second = 55e9;
    const double seconds_a_piece = 5e-6;
    const double large_bytes = 1e9;
    double seconds_a_row = bytes > large_bytes ? 100e-9 : 2e-17 * bytes;
    size_t best = 2;
    double least = 0;
    for (size_t count = 2; count <= MOST_PANELS; count++) {
        double parts = (double)count;
        double seconds = bytes / bus_bytes_a_second / parts + seconds_a_piece * parts * parts / 2 +
                         seconds_a_row * parts * (double)rows;
        if (count == 2 || seconds < least) {
            best = count;
            least = seconds;
        }
    }
    return best;
}

rs_panels rs_panels_cut(size_t rows, size_t cols, size_t unit, size_t wanted)
{
    rs_panels panels = {.rows = rows, .cols = cols, .unit = unit};
    size_t count =
        wanted != 0 ? wanted : best_count(rows, (double)rows * (double)cols * (double)unit);
    count = rs_size_smaller(rs_size_smaller(count, MOST_PANELS), cols);
    size_t width = rs_size_divide_up(cols, count);
    size_t line = LINE_BYTES / rs_size_gcd(LINE_BYTES, unit); /* elements of whole lines */
    if (width >= line)
        width = (width + line - 1) / line * line;
    size_t least = LEAST_ROW_BYTES / unit + 1;
    if (wanted == 0 && width < least)
        width = least;
    panels.width = rs_size_smaller(width, cols);
    panels.count = rs_size_divide_up(cols, panels.width);
    return panels;
}

bool rs_panels_cut_evenly(rs_panels *panels, size_t rows, size_t cols, size_t unit, size_t wanted,
                          size_t alignment)
{
    size_t goal =
        wanted != 0 ? wanted : best_count(rows, (double)rows * (double)cols * (double)unit);
    size_t best = 0;
    for (size_t count = 2; count <= MOST_PANELS && count <= cols; count++) {
        size_t distance = count > goal ? count - goal : goal - count;
        size_t best_distance = best > goal ? best - goal : goal - best;
        if (cols % count == 0 && cols / count * rows * unit % alignment == 0 &&
            (best == 0 || distance < best_distance))
            best = count;
    }
    if (best != 0)
        *panels = (rs_panels){rows, cols, unit, cols / best, best};
    return best != 0;
}

size_t rs_panels_begin(const rs_panels *panels, size_t k)
{
    return k * panels->width;
}

size_t rs_panels_end(const rs_panels *panels, size_t k)
{
    return rs_size_smaller((k + 1) * panels->width, panels->cols);
}

size_t rs_panels_rows_below(const rs_panels *panels, size_t k)
{
    size_t elements = rs_panels_end(panels, k) * panels->rows;
    return rs_size_divide_up(elements, panels->cols);
}
