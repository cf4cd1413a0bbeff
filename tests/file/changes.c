/* See changes.h. */
#include "changes.h"
#include "base/status.h"
#include "cmocka_all.h"
#include "file/mark.h"
#include "restride/restride.h"
#include "transpose/plan.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static char folder[PATH_BYTES / 2];
char file_path[PATH_BYTES];
char journal_path[PATH_BYTES];

/* NOLINTBEGIN(bugprone-reserved-identifier): the linker asks for these names */
restride_status __real_rs_file_write(const rs_file *file, size_t offset, const void *bytes,
                                     size_t count);
restride_status __wrap_rs_file_write(const rs_file *file, size_t offset, const void *bytes,
                                     size_t count);
/* NOLINTEND(bugprone-reserved-identifier) */

/* Few bytes go through a mapping, where the disk does not see the call. */
restride_status __wrap_rs_file_write(const rs_file *file, size_t offset, const void *bytes,
                                     size_t count)
{
    disk_count_write(file->descriptor, offset, count);
    return __real_rs_file_write(file, offset, bytes, count);
}

void write_file(const char *path, const void *bytes, size_t count)
{
    int descriptor = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    assert_true(descriptor >= 0);
    assert_int_equal(write(descriptor, bytes, count), count);
    close(descriptor);
}

unsigned char *read_file(const char *path, size_t count)
{
    unsigned char *bytes = malloc(count + 1);
    int descriptor = open(path, O_RDONLY);
    assert_true(descriptor >= 0 && bytes != NULL);
    assert_int_equal(read(descriptor, bytes, count + 1), count);
    close(descriptor);
    return bytes;
}

static void fill(unsigned char *bytes, size_t count)
{
    for (size_t i = 0; i < count; i++)
        bytes[i] = (unsigned char)((i * 2654435761u) >> 13);
}

restride_plan *make_plan(const test_change *c, restride_engine **engine)
{
    restride_plan *plan;
    assert_int_equal(restride_engine_create_host(engine, 1), RESTRIDE_OK);
    assert_int_equal(rs_plan_create(&plan, *engine, c->bytes, "a", "b"), RESTRIDE_OK);
    assert_int_equal(rs_plan_add_transposes(plan, c->tasks, c->task_count, SIZE_MAX), RESTRIDE_OK);
    return plan;
}

/* The result, from the engine's own stages. */
static void run_on_engine(const test_change *c, unsigned char *array)
{
    restride_engine *engine;
    restride_plan *plan = make_plan(c, &engine);
    assert_int_equal(restride_execute(plan, array), RESTRIDE_OK);
    restride_plan_destroy(plan);
    restride_engine_destroy(engine);
}

restride_status run_journaled(const test_change *c, const char *purpose,
                              const volatile sig_atomic_t *stop, rs_journaled_found *found)
{
    rs_file file;
    *found = RS_JOURNALED_NONE;
    restride_status status = rs_file_open(&file, file_path, true);
    if (status != RESTRIDE_OK)
        return status;
    const rs_journaled how = {.file = &file,
                              .journal = journal_path,
                              .purpose = purpose,
                              .step_bytes = c->step_bytes,
                              .stop = stop};
    status = rs_journaled_resume(&how, found);
    if (status == RESTRIDE_OK && *found == RS_JOURNALED_NONE)
        status = rs_mark_check(&file);
    if (status == RESTRIDE_OK && *found == RS_JOURNALED_NONE) {
        restride_engine *engine;
        restride_plan *plan = make_plan(c, &engine);
        const rs_journaled_change change = {plan, HEADER, "new header", HEADER};
        status = rs_journaled_run(&how, &change);
        restride_plan_destroy(plan);
        restride_engine_destroy(engine);
    }
    rs_file_close(&file);
    return status;
}

void make_file(const test_change *c)
{
    unsigned char *bytes = malloc(HEADER + c->bytes);
    assert_non_null(bytes);
    memcpy(bytes, "old header", HEADER);
    fill(bytes + HEADER, c->bytes);
    unlink(file_path);
    unlink(journal_path);
    write_file(file_path, bytes, HEADER + c->bytes);
    free(bytes);
    disk_begin(folder, true);
}

bool is_changed(const test_change *c)
{
    static const test_change *known;
    static unsigned char *wanted;
    if (known != c) {
        free(wanted);
        wanted = malloc(HEADER + c->bytes);
        assert_non_null(wanted);
        memcpy(wanted, "new header", HEADER);
        fill(wanted + HEADER, c->bytes);
        run_on_engine(c, wanted + HEADER);
        known = c;
    }
    unsigned char *found = read_file(file_path, HEADER + c->bytes);
    bool same = memcmp(found, wanted, HEADER + c->bytes) == 0;
    free(found);
    return same;
}

rs_journaled_state state_of_file(const char *journal)
{
    rs_file file;
    rs_journaled_status status;
    assert_int_equal(rs_file_open(&file, file_path, false), RESTRIDE_OK);
    if (rs_journaled_examine(&file, journal, &status) != RESTRIDE_OK)
        fail_msg("%s", restride_last_error());
    rs_journaled_state state = status.state;
    rs_journaled_status_free(&status);
    rs_file_close(&file);
    return state;
}

void check_file(const test_change *c, int call)
{
    if (!is_changed(c))
        fail_msg("%s: wrong after an interruption at call %d", c->name, call);
    assert_int_equal(state_of_file(NULL), RS_JOURNALED_WHOLE);
    assert_int_equal(state_of_file(journal_path), RS_JOURNALED_COMPLETE);
}

bool run_and_die(const test_change *c, int call, disk_action action, uint64_t seed, bool *failed)
{
    pid_t child = fork();
    if (child == 0) {
        disk.calls_left = call;
        disk.action = action;
        disk_seed = seed;
        rs_journaled_found found;
        restride_status status = run_journaled(c, "test", NULL, &found);
        if (status != RESTRIDE_OK && failed == NULL)
            fprintf(stderr, "%s\n", restride_last_error());
        _exit(status == RESTRIDE_OK ? 0 : 1);
    }
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status));
    if (failed != NULL)
        *failed = WEXITSTATUS(status) == 1;
    else if (WEXITSTATUS(status) != 0 && WEXITSTATUS(status) != DISK_DIED)
        fail_msg("%s: status %d at call %d", c->name, WEXITSTATUS(status), call);
    return WEXITSTATUS(status) == 0;
}

#define TASK(name, at, matrices, apart, blocks, height, width, rest, bytes)                        \
    {                                                                                              \
        .method = RS_TRANSPOSE_##name, .offset = (at), .outer = (matrices), .pitch = (apart),      \
        .count = (blocks), .rows = (height), .cols = (width), .tail = (rest), .unit = (bytes)      \
    }

/* Two matrices of `rows` x `cols`, in tiles of 12 x 12. */
#define TILED(name, height, width, bytes)                                                          \
    {                                                                                              \
        .method = RS_TRANSPOSE_##name, .outer = 2,                                                 \
        .pitch = (size_t)(height) * (width) * (bytes) *                                            \
                 (RS_TRANSPOSE_##name == RS_TRANSPOSE_REVERSE ? 12 : 1),                           \
        .count = 1, .rows = (height), .cols = (width), .unit = (bytes), .tile = 12                 \
    }

static const rs_piece pieces[] = {{3, 2, 2}, {1, 4, 0}, {2, 8, 1}};
static const rs_piece long_pieces[] = {{300, 1, 1}, {1, 100, 2}, {500, 2, 0}};

#define PIECES(NAME, OUTER, PITCH, COUNT, ROWS, COLS, LIST)                                        \
    {                                                                                              \
        .method = RS_TRANSPOSE_##NAME, .outer = (OUTER), .pitch = (PITCH), .count = (COUNT),       \
        .rows = (ROWS), .cols = (COLS), .unit = 1, .pieces = (LIST), .piece_count = 3              \
    }
#define MOVED_PIECES                                                                               \
    {                                                                                              \
        PIECES(UNZIP, 2, 3 * 20 * 26, 3, 20, 26, pieces),                                          \
            PIECES(ZIP, 1, 6 * 20 * 26, 5, 24, 26, pieces),                                        \
            PIECES(REORDER, 60, 52, 1, 1, 26, pieces),                                             \
    }

const test_change changes[CHANGE_COUNT] = {
    {"nothing", 12, 0, {{0}}, 0},
    {"blocks", 2 * 3 * 20 * 7 * 2, 1, {TASK(PANELS, 0, 2, 3 * 20 * 7 * 2, 3, 20, 7, 0, 2)}, 300},
    {"elements", 30 * 22 * 3, 1, {TASK(CHAINS, 0, 1, 30 * 22 * 3, 1, 30, 22, 0, 3)}, 100},
    {"batch of elements", 5 * 20 * 16, 1, {TASK(CHAINS, 0, 4, 5 * 5 * 16, 1, 5, 5, 0, 16)}, 64},
    {"long elements", 6 * 150000, 1, {TASK(CHAINS, 0, 1, 6 * 150000, 1, 2, 3, 0, 150000)}, 70000},
    {"square", 2 * 9 * 9 * 1024, 1, {TASK(SQUARE, 0, 2, 9 * 9 * 1024, 1, 9, 9, 0, 1024)}, 1000},
    {"wide squares", 9 * 9 * 1024, 1, {TASK(SQUARE, 0, 1, 0, 1, 9, 9, 0, 1024)}, 1 << 18},
    {"pad", 2 * 40 * 24 * 2, 1, {TASK(JOIN, 0, 2, 40 * 24 * 2, 1, 40, 21, 3, 2)}, 190},
    {"unpad", 2 * 40 * 24 * 2, 1, {TASK(SPLIT, 0, 2, 40 * 24 * 2, 1, 40, 21, 3, 2)}, 190},
    {"all",
     32 * 50 * 4,
     4,
     {TASK(SPLIT, 0, 1, 0, 1, 32, 48, 2, 4), TASK(PANELS, 0, 1, 0, 8, 4, 48, 0, 4),
      TASK(CHAINS, 0, 1, 0, 1, 8, 48, 0, 16), TASK(JOIN, 0, 1, 0, 1, 48, 32, 1, 4)},
     900},
    {"fused",
     2 * 900 * 4,
     1,
     {{.method = RS_TRANSPOSE_FUSED,
       .outer = 2,
       .pitch = 900 * 4,
       .count = 1,
       .rows = 5,
       .cols = 9,
       .inner_rows = 4,
       .inner_cols = 5,
       .unit = 4}},
     350},
    {"copy", 2 * 900, 1, {TASK(COPY, 0, 2, 900, 1, 10, 30, 0, 3)}, 100},
    {"long blocks", 2 * 900, 1, {TASK(COPY, 0, 2, 900, 1, 10, 30, 0, 3)}, 50},
    {"long batch of blocks", 4 * 900, 1, {TASK(PANELS, 0, 2, 1800, 2, 10, 30, 0, 3)}, 50},
    {"PTTWAC", 900, 1, {TASK(PTTWAC, 0, 1, 900, 1, 10, 30, 0, 3)}, 100},
    {"repeated",
     3 * 500 + 2 * 1700,
     2,
     {{.method = RS_TRANSPOSE_CHAINS,
       .offset = 100,
       .outer = 2,
       .pitch = 450,
       .count = 1,
       .rows = 10,
       .cols = 15,
       .unit = 3,
       .repeats = 3,
       .repeat_pitch = 1700},
      {.method = RS_TRANSPOSE_JOIN,
       .offset = 100,
       .outer = 2,
       .pitch = 450,
       .count = 1,
       .rows = 10,
       .cols = 14,
       .tail = 1,
       .unit = 3,
       .repeats = 3,
       .repeat_pitch = 1700}},
     200},
    {"pieces", 2 * 3 * 20 * 26, 3, MOVED_PIECES, 700},
    {"long pieces", 2 * 3 * 20 * 26, 3, MOVED_PIECES, 31},
    {"long rows", 2 * 1400, 1, {PIECES(REORDER, 2, 1400, 1, 1, 1400, long_pieces)}, 40},
    {"C2R",
     30 * 21 * 4,
     3,
     {TASK(C2R_ROTATE, 0, 1, 30 * 21 * 4, 1, 30, 21, 0, 4),
      TASK(C2R_ROWS, 0, 1, 30 * 21 * 4, 1, 30, 21, 0, 4),
      TASK(C2R_COLUMNS, 0, 1, 30 * 21 * 4, 1, 30, 21, 0, 4)},
     300},
    {"R2C",
     30 * 21 * 4,
     3,
     {TASK(R2C_COLUMNS, 0, 1, 30 * 21 * 4, 1, 30, 21, 0, 4),
      TASK(R2C_ROWS, 0, 1, 30 * 21 * 4, 1, 30, 21, 0, 4),
      TASK(R2C_ROTATE, 0, 1, 30 * 21 * 4, 1, 30, 21, 0, 4)},
     300},
    {"tiles 210!", 2 * 60 * 84 * 3, 2, {TILED(TILES, 60, 84, 3), TILED(REVERSE, 5, 7, 36)}, 300},
    {"tiles 210!, several runs",
     2 * 24 * 36 * 600,
     2,
     {TILED(TILES, 24, 36, 600), TILED(REVERSE, 2, 3, 7200)},
     9000},
    {"one tile", 2 * 12 * 12 * 3, 1, {TILED(TILES, 12, 12, 3)}, 100},
    {"a part of the array", 1000, 1, {TASK(CHAINS, 100, 1, 600, 1, 20, 30, 0, 1)}, 50},
};
_Static_assert(sizeof changes / sizeof changes[0] == CHANGE_COUNT, "the count in changes.h");

int make_folder(void **state)
{
    (void)state;
    const char *parent = getenv("TMPDIR");
    int length =
        snprintf(folder, sizeof folder, "%s/journal-XXXXXX", parent != NULL ? parent : "/tmp");
    if (length >= (int)sizeof folder || mkdtemp(folder) == NULL)
        return -1;
    snprintf(file_path, sizeof file_path, "%s/array", folder);
    snprintf(journal_path, sizeof journal_path, "%s/journal", folder);
    return 0;
}

int remove_folder(void **state)
{
    (void)state;
    char command[160];
    snprintf(command, sizeof command, "rm -r %s %s.disk", folder, folder);
    return system(command);
}
