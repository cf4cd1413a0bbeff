/* How many bytes each process has for each other one. */
#ifndef RS_DISTRIBUTED_COUNTS_H
#define RS_DISTRIBUTED_COUNTS_H

#include "layout/spread.h"

/* More processes are refused: every process looks at all pairs. */
enum { RS_COUNTS_MOST_PROCESSES = 4096 };

/* A run of indices that one coordinate of the other layout has, or, of a record, of bytes. */
typedef struct {
    size_t group; /* that coordinate */
    size_t units;
} rs_split_run;

/*
 * A dimension of a part, cut where the other layout changes hands: `periods` times the same runs,
 * and a rest. Units are indices, and bytes of a record.
 */
typedef struct {
    size_t units;
    size_t periods;
    size_t period_units;
    size_t period_runs;
    size_t tail_runs;
    rs_split_run *runs; /* of a period, then of the rest */
} rs_split;

/* Cuts what a coordinate of `own` has of dimension `d` by the coordinates of `other`.
 * RESTRIDE_UNSUPPORTED when the runs are too many. */
restride_status rs_split_make(rs_split *split, const restride_layout *own,
                              const restride_layout *other, int d, size_t coordinate);
void rs_split_free(rs_split *split);

typedef struct {
    size_t processes[2]; /* that the layouts need: before and afterwards */
    int rank;
    size_t unit;                       /* bytes of one element; 1 with a record */
    size_t *coordinates[2];            /* of each process, `rank` each */
    size_t *units[RS_LAYOUT_MAX_RANK]; /* of each pair of coordinates, the one before first */
    size_t others[RS_LAYOUT_MAX_RANK]; /* coordinates afterwards */
} rs_counts;

/* `unit`: bytes of an element, where no dimension is a record. */
restride_status rs_counts_make(rs_counts *counts, const restride_layout *from,
                               const restride_layout *to, size_t unit);
void rs_counts_free(rs_counts *counts);

/* The bytes that process `p` holds before and process `q` afterwards. */
size_t rs_counts_bytes(const rs_counts *counts, size_t p, size_t q);

#endif
