/*
 * The papers' figures and tables on transposition, as data: what each varies, and which
 * measurements it compares. figures.c measures and draws them; lab/docs/reproduction.md sets them
 * beside the papers.
 */
#ifndef RS_LAB_CLI_FIGURE_TABLE_H
#define RS_LAB_CLI_FIGURE_TABLE_H

#include "console/plot.h"
#include "lab/baselines/baselines.h"
#include "restride/transfer.h"

#include <stdbool.h>
#include <stddef.h>

typedef enum {
    RS_FIGURE_BASELINE, /* a kernel of the papers */
    RS_FIGURE_METHOD,   /* a plan by the name of its method; NULL: the planner's choice */
    RS_FIGURE_3_STAGE,  /* with given tiles */
    RS_FIGURE_HOST,     /* the planner's choice on the host */
    RS_FIGURE_OFFLOAD,  /* a matrix in host memory through the device */
    RS_FIGURE_COPY      /* from buffer to buffer */
} rs_figure_kind;

/* What one value of a figure is measured on. */
typedef struct {
    rs_figure_kind kind;
    rs_baseline_kind baseline;
    const char *method;
    restride_overlap overlap;
    /* Baselines: 010! of `records` x `width` in tiles of `tile` rows; 100! of `width` x (as many as
     * fill the array) super-elements of `tile` words. 0 records: as many as fill the array. */
    size_t records;
    size_t width;
    size_t tile;
    size_t across; /* M' of 100!; 0: as many as fill the array */
    size_t items;
    size_t spreading;
    bool padding;
    bool remapping;
    /* Plans: the matrix, and the tiles of 3-stage transposition. */
    size_t rows;
    size_t cols;
    size_t tile_rows;
    size_t tile_cols;
} rs_figure_point;

typedef struct {
    const char *name;
    rs_figure_point point;
} rs_figure_curve;

/* What x is. */
typedef enum {
    RS_X_SPREADING,
    RS_X_ITEMS,
    RS_X_WIDTH,
    RS_X_TILE,
    RS_X_SIDE,    /* of a square */
    RS_X_PROBLEM, /* one of the sparse matrices of thesis table 5.1, by number */
    RS_X_SHAPE,   /* one of the papers' six shapes, by number */
    RS_X_TILES,   /* all m and n: points by how near the best they are */
    RS_X_PADDING  /* the steps of padding in place */
} rs_figure_x;

enum { RS_FIGURE_MOST_VALUES = 20, RS_FIGURE_MOST_PANELS = 3 };

typedef struct {
    const char *name;  /* thesis-4.16 */
    const char *alias; /* sung-6: the same measurement; NULL: none */
    const char *title;
    const char *x_label;
    rs_figure_x x;
    bool x_logarithmic;
    rs_plot_kind kind;
    size_t values[RS_FIGURE_MOST_VALUES]; /* of x; 0 ends them */
    const rs_figure_curve *curves;
    size_t curve_count;
    size_t tiles[RS_FIGURE_MOST_PANELS]; /* a panel for each tile size; 0: one panel */
    const char *paper;                   /* what the paper reports */
} rs_figure;

extern const rs_figure rs_figures[];
extern const size_t rs_figure_count;

/* Thesis table 5.1: sparse matrices, as arrays of rows x most nonzero columns. */
typedef struct {
    const char *name;
    size_t rows;
    size_t width;
} rs_figure_problem;
enum { RS_FIGURE_PROBLEMS = 6, RS_FIGURE_SHAPES = 6 };
extern const rs_figure_problem rs_figure_problems[RS_FIGURE_PROBLEMS];

/* Thesis table 4.2. */
extern const size_t rs_figure_shapes[RS_FIGURE_SHAPES][2];

#endif
