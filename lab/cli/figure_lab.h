/* Measuring one value of a figure. */
#ifndef RS_LAB_CLI_FIGURE_LAB_H
#define RS_LAB_CLI_FIGURE_LAB_H

#include "engine/transfer.h"
#include "lab/cli/figure_table.h"

/* A device, and memory for all that figures need. */
typedef struct {
    restride_engine *engine;
    restride_engine *host;
    rs_transfer *transfer;
    rs_baselines *baselines; /* NULL with another engine than OpenCL */
    bool full;               /* the papers' sizes */
    size_t repeat;
    size_t array_bytes; /* of arrays whose size a figure leaves open */
    restride_host_memory *memories[2];
    unsigned char *before;
    unsigned char *after;
    size_t bytes; /* of each */
} rs_figure_lab;

/* `device` NULL: the first; `full` negative: on GPUs. */
restride_status rs_figure_lab_open(rs_figure_lab *lab, const char *engine, const char *device,
                                   int full, size_t repeat);
void rs_figure_lab_close(rs_figure_lab *lab);

/*
 * GB/s (2 x bytes / time), every element checked. RESTRIDE_UNSUPPORTED or RESTRIDE_DEVICE_LIMIT
 * when the device cannot do this; RESTRIDE_DEVICE_ERROR for wrong elements too.
 */
restride_status rs_figure_lab_measure(rs_figure_lab *lab, const rs_figure_point *point,
                                      double *rate);

/* Steps of padding 5000 x 4000 to square (a fifth of each side where not full). */
restride_status rs_figure_lab_pad(rs_figure_lab *lab, rs_padding_step *steps, size_t most,
                                  size_t *count, size_t *row_bytes);

/* A side of a matrix as this lab measures it. */
size_t rs_figure_lab_side(const rs_figure_lab *lab, size_t side);

#endif
