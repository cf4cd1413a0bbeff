/* Changes of a file through a journal, one for each kind of stage, and the file that they change.
 */
#ifndef RS_TESTS_FILE_CHANGES_H
#define RS_TESTS_FILE_CHANGES_H

#include "disk.h"
#include "engine/stage.h"
#include "file/journaled.h"

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { HEADER = 10, MOST_TASKS = 8, CHANGE_COUNT = 25, PATH_BYTES = 64 };

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

/* The file before a change, without a journal, all of it on the disk. */
void make_file(const test_change *c);

/* Whether the file is as it should be after the change. */
bool is_changed(const test_change *c);

/* That it is, and that the journal says so; `call` names an interruption. */
void check_file(const test_change *c, int call);

/* A plan for the change, of an engine that is destroyed with it. */
restride_plan *make_plan(const test_change *c, restride_engine **engine);

/* Starts the change, or goes on with it, in this process. */
restride_status run_journaled(const test_change *c, const char *purpose,
                              const volatile sig_atomic_t *stop, rs_journaled_found *found);

/* Runs the change in a child that is interrupted at a call; true when it came to its end before.
 * *failed, unless NULL, tells whether it ended with an error, which is not expected otherwise. */
bool run_and_die(const test_change *c, int call, disk_action action, uint64_t seed, bool *failed);

/* What file-status would say, by the mark and by the journal. */
rs_journaled_state state_of_file(const char *journal);

#endif
