/* Changes of a file through a journal, one for each kind of stage, and the file that they change.
 */
#ifndef RS_TESTS_FILE_CHANGES_H
#define RS_TESTS_FILE_CHANGES_H

#include "engine/stage.h"
#include "restride/status.h"

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { HEADER = 10, MOST_TASKS = 8, CHANGE_COUNT = 22, PATH_BYTES = 64 };

typedef struct {
    const char *name;
    size_t bytes;
    size_t task_count;
    rs_transpose_task tasks[MOST_TASKS];
    size_t step_bytes;
} test_change;

extern const test_change changes[CHANGE_COUNT];

/* In a folder of their own. */
extern char file_path[PATH_BYTES];
extern char journal_path[PATH_BYTES];
int make_folder(void **state);
int remove_folder(void **state);

void write_file(const char *path, const void *bytes, size_t count);

/* A file of `count` bytes; the caller frees them. */
unsigned char *read_file(const char *path, size_t count);

/* The file before a change, without a journal; and that it is as it should be after it. */
void make_file(const test_change *c);
void check_file(const test_change *c, int call);

/* Starts the change, or goes on with it, in this process. */
restride_status run_journaled(const test_change *c, const char *purpose,
                              const volatile sig_atomic_t *stop, bool *found);

/* Runs the change in a child that dies at a call; true when it came to its end before. */
bool run_and_die(const test_change *c, int call, bool power, uint64_t seed);

#endif
