/* The rows of `restride-lab judge`: kernels over one array of structures, and what was measured. */
#ifndef RS_LAB_CLI_JUDGE_H
#define RS_LAB_CLI_JUDGE_H

#include "judge/judge.h"

#include <jansson.h>

/* Words are of 4 bytes; the used ones are spread evenly over an element. */
typedef struct {
    const char *name; /* of a program whose accesses these are; "" for a random row */
    rs_judge_lanes lanes;
    int words, used;
    int group;     /* elements of a lane */
    int visits;    /* WALK: elements of a lane; SAME: all elements */
    int work;      /* multiplications and additions for each used word */
    int writes;    /* the used words are stored too */
    int local;     /* bytes of local memory that a work-group takes: it limits resident warps */
    int threads;   /* SAME; else they follow from the elements */
    int megabytes; /* of the array */
} rs_judge_row;

enum { RS_JUDGE_GROUP_ITEMS = 128 };

/* Programs first, then random rows from the seed. The number of all; row `i` into *row. */
size_t rs_judge_rows(size_t random_rows);
rs_judge_row rs_judge_row_at(size_t i, uint32_t seed, int shrink);

int rs_judge_row_elements(const rs_judge_row *row);
int rs_judge_row_threads(const rs_judge_row *row);
int rs_judge_row_layouts(const rs_judge_row *row, rs_judge_layout layouts[RS_JUDGE_MOST_LAYOUTS]);

/* The kernel as the judge takes it: argument 0 is the array. */
void rs_judge_row_kernel(const rs_judge_row *row, rs_judge_kernel *kernel);

json_t *rs_judge_row_json(const rs_judge_row *row);
rs_judge_row rs_judge_row_from(const json_t *object);

/* Foretold beside measured: prints a table and what of it is right, and draws a plot. */
restride_status rs_judge_report(const json_t *measured, const char *device, const char *svg,
                                bool markdown);

#endif
