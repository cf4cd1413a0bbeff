/*
 * What the verbs that change a file's array in place have in common: their options, the array in
 * the file, the run of a plan on it, and the report.
 */
#ifndef RS_CLI_ARRAY_H
#define RS_CLI_ARRAY_H

#include "file/file.h"
#include "file/journaled.h"
#include "file/npy.h"
#include "restride/restride.h"

#include <getopt.h>

enum { RS_ARRAY_MAX_RANK = RS_NPY_MAX_RANK };

typedef struct {
    const char *verb;
    const char *path;
    bool raw;          /* the file has no header */
    const char *shape; /* of a raw file; NULL: a layout says it */
    size_t unit;       /* of --dtype; 0: not given */
    size_t offset;
    bool offset_given;
    size_t threads; /* 0: all */
    size_t memory;  /* 0: the planner's own bound */
    bool explain;
    bool json;
    const char *journal; /* NULL: none */
} rs_array_options;

/* The options that all of these verbs know, for getopt_long(), and a description for --help. */
#define RS_ARRAY_LONG_OPTIONS                                                                      \
    {"dtype", required_argument, NULL, 't'}, {"offset", required_argument, NULL, 'o'},             \
        {"threads", required_argument, NULL, 'p'}, {"memory", required_argument, NULL, 'm'},       \
        {"engine", required_argument, NULL, 'e'}, {"explain", no_argument, NULL, 'x'},             \
        {"json", no_argument, NULL, 'j'},                                                          \
    {                                                                                              \
        "journal", required_argument, NULL, 'J'                                                    \
    }

/* Takes one of those options; an exit status other than RS_EXIT_DONE after a sentence was printed.
 */
int rs_array_take_option(rs_array_options *options, int code, const char *value);

/* An array in a file, and what is known about it. */
typedef struct {
    const rs_array_options *options;
    rs_file file;
    bool is_npy;
    rs_npy npy;    /* if so */
    size_t unit;   /* bytes of an element; 0: the layout will say */
    size_t offset; /* of the array in the file */
    int rank;      /* 0: the layout will say */
    size_t shape[RS_ARRAY_MAX_RANK];
    bool fortran_order;
    restride_engine *engine;
    const char *purpose;
    rs_journaled_found found; /* what came of the journal */
} rs_file_array;

/*
 * Opens the file, for changes unless its plan is only explained, and finds its array. When the
 * options name a journal that is there, the change that was interrupted is brought to its end
 * instead: array->found. A file that is half done is refused otherwise. `purpose` is that change in
 * words.
 */
restride_status rs_array_open(rs_file_array *array, const rs_array_options *options,
                              const char *purpose);
void rs_array_close(rs_file_array *array);

/* Whether `bytes` bytes from the array's offset on are what the file holds. */
restride_status rs_array_check_bytes(const rs_file_array *array, size_t bytes);

/* What the planner gets to know of an array of `bytes` bytes in this file. */
restride_plan_options rs_array_plan_options(const rs_file_array *array, size_t bytes);

/* A plan to be run on an array, and what to say about it. */
typedef struct {
    restride_plan *plan;
    size_t bytes;
    const char *from; /* for people: "3 x 4", "i f" */
    const char *to;
    const char *header; /* the new header of a .npy file; NULL: as it was */
    const char *note;   /* one more sentence for the report; NULL: none */
} rs_array_run;

/* What is said, instead of a conversion's report, when the journal has decided. */
int rs_array_report_found(const rs_file_array *array);

/* Explains the plan, or runs it and reports; returns the exit status. */
int rs_array_convert(rs_file_array *array, const rs_array_run *run);

/* "3 x 4" */
void rs_array_write_shape(char *text, size_t size, int rank, const size_t shape[]);

#endif
