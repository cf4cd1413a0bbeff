/*
 * What the verbs that change a file's array in place have in common: their options, the array in
 * the file, the run of a plan on it, and the report.
 */
#ifndef RS_CLI_ARRAY_H
#define RS_CLI_ARRAY_H

#include "console/options.h"
#include "file/file.h"
#include "file/journaled.h"
#include "file/npy.h"
#include <stddef.h>

enum { RS_ARRAY_MAX_RANK = RS_NPY_MAX_RANK };

typedef struct {
    const char *verb;
    const char *path;
    bool raw;          /* the file has no header */
    const char *shape; /* of a raw file; NULL: a layout says it */
    size_t unit;       /* of --dtype; 0: not given */
    struct {
        size_t bytes;
        bool given;
    } offset;
    size_t threads; /* 0: all */
    size_t memory;  /* 0: the planner's own bound */
    bool explain;
    bool json;
    const char *journal; /* NULL: none */
} rs_array_options;

enum { RS_ARRAY_MOST_THREADS = 256 };

bool rs_array_take_offset(const char *value, void *options);
bool rs_array_take_engine(const char *value, void *options);

/* The rows of a table of options for them, which lie in the member `array` of `structure`. */
#define RS_ARRAY_OPTIONS(structure)                                                                \
    {RS_CLI_OWN("dtype", structure, array.unit, rs_cli_take_unit),                                 \
     .takes = "a type (f32 or float32) or a number of bytes"},                                     \
        {RS_CLI_OWN("offset", structure, array, rs_array_take_offset),                             \
         .takes = "a number of bytes"},                                                            \
        {RS_CLI_COUNT("threads", structure, array.threads, 1, RS_ARRAY_MOST_THREADS),              \
         .takes = "a number from 1 to 256"},                                                       \
        {RS_CLI_BYTES("memory", structure, array.memory, 1, SIZE_MAX),                             \
         .takes = "a number of bytes (64M)"},                                                      \
        {RS_CLI_OWN("engine", structure, array, rs_array_take_engine),                             \
         .takes = "\"host\", the engine that converts files"},                                     \
        {RS_CLI_FLAG("explain", structure, array.explain)},                                        \
        {RS_CLI_FLAG("json", structure, array.json)},                                              \
    {                                                                                              \
        RS_CLI_TEXT("journal", structure, array.journal)                                           \
    }

/* Reads a table with these rows, and the one file; the exit status of a wrong command line. */
int rs_array_read_options(rs_array_options *options, int argc, char **argv,
                          const rs_cli_option *table, void *into);

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
 * Changes the array of a file as `change` does and says, which gets `options` back. `purpose` is
 * the change in words, by which alone a journal is resumed. It is freed here; NULL: memory was
 * short. Returns the exit status.
 *
 * The file is opened for changes unless its plan is only explained. When the options name a journal
 * that is there, the change that was interrupted is brought to its end instead. A file that is half
 * done is refused otherwise.
 */
int rs_array_change(const rs_array_options *array, char *purpose,
                    int (*change)(rs_file_array *array, const void *options), const void *options);

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

/* Explains the plan, or runs it and reports; returns the exit status. */
int rs_array_convert(rs_file_array *array, const rs_array_run *run);

/* "3 x 4" */
void rs_array_write_shape(char *text, size_t size, int rank, const size_t shape[]);

/* The machine's memory, or the limit of this process's control group where that is less; SIZE_MAX
 * when neither is known. */
size_t rs_cli_memory(void);

#endif
