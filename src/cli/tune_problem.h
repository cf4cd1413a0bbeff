/* What restride tune is asked to measure: matrices, a tensor's axes, or a conversion. */
#ifndef RS_CLI_TUNE_PROBLEM_H
#define RS_CLI_TUNE_PROBLEM_H

#include "console/options.h"
#include "restride/restride.h"

#include <jansson.h>
#include <stdbool.h>

/* As given on the command line; NULL: not given. */
typedef struct {
    const char *shapes;
    const char *dims;
    const char *axes;
    const char *from;
    const char *to;
    rs_cli_type type; /* its name is NULL when it is the default */
    size_t batch;
} rs_tune_words;

typedef struct {
    const rs_tune_words *words;
    char name[64]; /* for a line of a table */
    int rank;      /* of `sides`; 0: layouts */
    size_t sides[10];
    int axes[10];
    bool permuted; /* axes are given; else a matrix of sides[0] x sides[1] */
    restride_layout *from;
    restride_layout *to;
} rs_tune_problem;

enum { RS_TUNE_MOST_PROBLEMS = 64 };

/* All of them; *count is 0 when none is given. Prints a sentence and returns RS_EXIT_USAGE when
 * they cannot be read, else RS_EXIT_DONE. Ended by rs_tune_problems_free() in either case. */
int rs_tune_problems_read(const rs_tune_words *words, rs_tune_problem problems[], size_t *count);
void rs_tune_problems_free(rs_tune_problem problems[], size_t count);

restride_status rs_tune_problem_measure(const rs_tune_problem *problem, restride_engine *engine,
                                        const restride_tune_options *options,
                                        restride_tuning *tuning);

/* A new object that says what the problem is; NULL when memory is short. */
json_t *rs_tune_problem_describe(const rs_tune_problem *problem);

#endif
