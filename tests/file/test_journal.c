/*
 * Changes through a journal that are interrupted at every write, resumed, and compared with the
 * change that was not interrupted.
 *
 * The functions that write to disk are replaced (--wrap): they count, and at the chosen call the
 * process ends. To act out a loss of power, what was written since the last fdatasync() of each
 * file is then taken back in random parts: sectors of 512 bytes of the write under way and of all
 * that were not synchronised.
 */
#include "base/status.h"
#include "cmocka_all.h"
#include "file/journal_format.h"
#include "file/journaled.h"
#include "restride/restride.h"
#include "transpose/plan.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

/* NOLINTBEGIN(bugprone-reserved-identifier): the linker asks for these names */
restride_status __real_rs_file_write(const rs_file *file, size_t offset, const void *bytes,
                                     size_t count);
restride_status __wrap_rs_file_write(const rs_file *file, size_t offset, const void *bytes,
                                     size_t count);
int __wrap_fdatasync(int descriptor);
int __wrap_fsync(int descriptor); /* of folders, which are left out here */
/* NOLINTEND(bugprone-reserved-identifier) */

enum { SECTOR = 512, MOST_WRITES = 4096, DIED = 7, NEVER = 1 << 30 };

/* ---- a disk that loses power ---- */

typedef struct {
    int descriptor;
    off_t offset;
    size_t count;
    unsigned char *before;
} unsynced_write;

static struct {
    int calls_left;
    bool power; /* lost, and not only the process ended */
    bool full;  /* the disk, from then on; the process lives */
    uint64_t random;
    unsynced_write writes[MOST_WRITES];
    size_t write_count;
} disk = {.calls_left = NEVER};

static size_t random_below(size_t bound)
{
    disk.random = disk.random * 6364136223846793005u + 1442695040888963407u;
    return (size_t)(disk.random >> 33) % bound;
}

static void put_back(int descriptor, const void *bytes, size_t count, off_t offset)
{
    if (pwrite(descriptor, bytes, count, offset) != (ssize_t)count)
        abort();
}

static void lose_sectors(const unsynced_write *w)
{
    for (size_t i = 0; i < w->count; i += SECTOR) {
        size_t length = w->count - i < SECTOR ? w->count - i : SECTOR;
        if (random_below(2) == 0)
            put_back(w->descriptor, w->before + i, length, w->offset + (off_t)i);
    }
}

/* Shared with the children. */
static int *calls_made;

static void count_call(void)
{
    (*calls_made)++;
    if (disk.calls_left-- > 0)
        return;
    if (disk.power)
        for (size_t i = disk.write_count; i-- > 0;)
            lose_sectors(&disk.writes[i]);
    _exit(DIED);
}

restride_status __wrap_rs_file_write(const rs_file *file, size_t offset, const void *bytes,
                                     size_t count)
{
    if (disk.full && disk.calls_left-- <= 0)
        return rs_fail(RESTRIDE_IO, "%s could not be written: the disk is full.", file->path);
    if (disk.full)
        return __real_rs_file_write(file, offset, bytes, count);
    if (disk.calls_left == NEVER)
        return __real_rs_file_write(file, offset, bytes, count);
    unsynced_write w = {file->descriptor, (off_t)offset, count, calloc(1, count + 1)};
    if (w.before == NULL || disk.write_count == MOST_WRITES)
        abort();
    ssize_t read = pread(file->descriptor, w.before, count, (off_t)offset);
    (void)read;
    /* A process may end in the middle of a write, too. */
    bool half = disk.calls_left == 0 && !disk.power;
    restride_status status = __real_rs_file_write(file, offset, bytes, half ? count / 2 : count);
    disk.writes[disk.write_count++] = w;
    count_call();
    return status;
}

int __wrap_fsync(int descriptor)
{
    (void)descriptor;
    return 0;
}

int __wrap_fdatasync(int descriptor)
{
    if (disk.full || disk.calls_left == NEVER)
        return 0; /* nobody takes power away from the tests themselves */
    count_call();
    size_t kept = 0;
    for (size_t i = 0; i < disk.write_count; i++)
        if (disk.writes[i].descriptor == descriptor)
            free(disk.writes[i].before);
        else
            disk.writes[kept++] = disk.writes[i];
    disk.write_count = kept;
    return 0;
}

/* ---- changes ---- */

static char folder[] = "/tmp/restride-journal-XXXXXX";
static char file_path[64];
static char journal_path[64];

enum { HEADER = 10, MOST_TASKS = 8 };

typedef struct {
    const char *name;
    size_t bytes;
    size_t task_count;
    rs_transpose_task tasks[MOST_TASKS];
    size_t step_bytes;
} test_change;

static void write_file(const char *path, const void *bytes, size_t count)
{
    int descriptor = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    assert_true(descriptor >= 0);
    assert_int_equal(write(descriptor, bytes, count), count);
    close(descriptor);
}

static unsigned char *read_file(const char *path, size_t count)
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

/* The result, from the engine's own stages. */
static void run_on_engine(const test_change *c, unsigned char *array)
{
    restride_engine *engine;
    restride_plan *plan;
    assert_int_equal(restride_engine_create_host(&engine, 2), RESTRIDE_OK);
    assert_int_equal(rs_plan_create(&plan, engine, c->bytes, "a", "b"), RESTRIDE_OK);
    assert_int_equal(rs_plan_add_transposes(plan, c->tasks, c->task_count, SIZE_MAX), RESTRIDE_OK);
    assert_int_equal(restride_execute(plan, array), RESTRIDE_OK);
    restride_plan_destroy(plan);
    restride_engine_destroy(engine);
}

/* Starts the change, or goes on with it, in this process. */
static restride_status run_journaled(const test_change *c, const char *purpose,
                                     const volatile sig_atomic_t *stop, bool *found)
{
    rs_file file;
    restride_status status = rs_file_open(&file, file_path, true);
    if (status != RESTRIDE_OK)
        return status;
    const rs_journaled how = {.file = &file,
                              .journal = journal_path,
                              .purpose = purpose,
                              .step_bytes = c->step_bytes,
                              .stop = stop};
    status = rs_journaled_resume(&how, found);
    if (status == RESTRIDE_OK && !*found) {
        restride_engine *engine;
        restride_plan *plan;
        assert_int_equal(restride_engine_create_host(&engine, 1), RESTRIDE_OK);
        assert_int_equal(rs_plan_create(&plan, engine, c->bytes, "a", "b"), RESTRIDE_OK);
        assert_int_equal(rs_plan_add_transposes(plan, c->tasks, c->task_count, SIZE_MAX),
                         RESTRIDE_OK);
        const rs_journaled_change change = {plan, HEADER, "new header", HEADER};
        status = rs_journaled_run(&how, &change);
        restride_plan_destroy(plan);
        restride_engine_destroy(engine);
    }
    rs_file_close(&file);
    return status;
}

static void make_file(const test_change *c)
{
    unsigned char *bytes = malloc(HEADER + c->bytes);
    assert_non_null(bytes);
    memcpy(bytes, "old header", HEADER);
    fill(bytes + HEADER, c->bytes);
    write_file(file_path, bytes, HEADER + c->bytes);
    free(bytes);
    unlink(journal_path);
}

static void check_file(const test_change *c, int call)
{
    unsigned char *wanted = malloc(HEADER + c->bytes);
    assert_non_null(wanted);
    memcpy(wanted, "new header", HEADER);
    fill(wanted + HEADER, c->bytes);
    run_on_engine(c, wanted + HEADER);
    unsigned char *found = read_file(file_path, HEADER + c->bytes);
    if (memcmp(found, wanted, HEADER + c->bytes) != 0)
        fail_msg("%s: wrong after an interruption at call %d", c->name, call);
    assert_int_equal(access(journal_path, F_OK), -1);
    free(found);
    free(wanted);
}

/* Runs the change in a child that dies at a call; true when it came to its end before. */
static bool run_and_die(const test_change *c, int call, bool power, uint64_t seed)
{
    pid_t child = fork();
    if (child == 0) {
        disk.calls_left = call;
        disk.power = power;
        disk.random = seed;
        bool found;
        restride_status status = run_journaled(c, "test", NULL, &found);
        if (status != RESTRIDE_OK)
            fprintf(stderr, "%s\n", restride_last_error());
        _exit(status == RESTRIDE_OK ? 0 : 1);
    }
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status));
    if (WEXITSTATUS(status) != 0 && WEXITSTATUS(status) != DIED)
        fail_msg("%s: status %d at call %d", c->name, WEXITSTATUS(status), call);
    return WEXITSTATUS(status) == 0;
}

#define TASK(name, at, matrices, apart, blocks, height, width, rest, bytes)                        \
    {                                                                                              \
        .method = RS_TRANSPOSE_##name, .offset = (at), .outer = (matrices), .pitch = (apart),      \
        .count = (blocks), .rows = (height), .cols = (width), .tail = (rest), .unit = (bytes)      \
    }

static const rs_piece pieces[] = {{3, 2, 2}, {1, 4, 0}, {2, 8, 1}};
static const rs_piece long_pieces[] = {{300, 1, 1}, {1, 100, 2}, {500, 2, 0}};

static const test_change changes[] = {
    {"nothing", 12, 0, {{0}}, 0},
    {"blocks", 2 * 3 * 20 * 7 * 2, 1, {TASK(PANELS, 0, 2, 3 * 20 * 7 * 2, 3, 20, 7, 0, 2)}, 300},
    {"elements", 30 * 22 * 3, 1, {TASK(CHAINS, 0, 1, 30 * 22 * 3, 1, 30, 22, 0, 3)}, 100},
    {"batch of elements", 5 * 20 * 16, 1, {TASK(CHAINS, 0, 4, 5 * 5 * 16, 1, 5, 5, 0, 16)}, 64},
    {"long elements", 6 * 150000, 1, {TASK(CHAINS, 0, 1, 6 * 150000, 1, 2, 3, 0, 150000)}, 70000},
    {"square", 2 * 90 * 90 * 128, 1, {TASK(SQUARE, 0, 2, 90 * 90 * 128, 1, 90, 90, 0, 128)}, 1000},
    {"wide squares", 90 * 90 * 128, 1, {TASK(SQUARE, 0, 1, 0, 1, 90, 90, 0, 128)}, 2 << 20},
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
    {"pieces",
     2 * 3 * 20 * 26,
     3,
     {{.method = RS_TRANSPOSE_UNZIP,
       .outer = 2,
       .pitch = 3 * 20 * 26,
       .count = 3,
       .rows = 20,
       .cols = 26,
       .unit = 1,
       .pieces = pieces,
       .piece_count = 3},
      {.method = RS_TRANSPOSE_ZIP,
       .outer = 1,
       .pitch = 6 * 20 * 26,
       .count = 5,
       .rows = 24,
       .cols = 26,
       .unit = 1,
       .pieces = pieces,
       .piece_count = 3},
      {.method = RS_TRANSPOSE_REORDER,
       .outer = 60,
       .pitch = 52,
       .count = 1,
       .rows = 1,
       .cols = 26,
       .unit = 1,
       .pieces = pieces,
       .piece_count = 3}},
     700},
    {"long pieces",
     2 * 3 * 20 * 26,
     3,
     {{.method = RS_TRANSPOSE_UNZIP,
       .outer = 2,
       .pitch = 3 * 20 * 26,
       .count = 3,
       .rows = 20,
       .cols = 26,
       .unit = 1,
       .pieces = pieces,
       .piece_count = 3},
      {.method = RS_TRANSPOSE_ZIP,
       .outer = 1,
       .pitch = 6 * 20 * 26,
       .count = 5,
       .rows = 24,
       .cols = 26,
       .unit = 1,
       .pieces = pieces,
       .piece_count = 3},
      {.method = RS_TRANSPOSE_REORDER,
       .outer = 60,
       .pitch = 52,
       .count = 1,
       .rows = 1,
       .cols = 26,
       .unit = 1,
       .pieces = pieces,
       .piece_count = 3}},
     31},
    {"long rows",
     2 * 1400,
     1,
     {{.method = RS_TRANSPOSE_REORDER,
       .outer = 2,
       .pitch = 1400,
       .count = 1,
       .rows = 1,
       .cols = 1400,
       .unit = 1,
       .pieces = long_pieces,
       .piece_count = 3}},
     40},
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
    {"a part of the array", 1000, 1, {TASK(CHAINS, 100, 1, 600, 1, 20, 30, 0, 1)}, 50},
};
enum { CHANGE_COUNT = sizeof changes / sizeof changes[0] };

static void test_undisturbed(void **state)
{
    (void)state;
    for (size_t i = 0; i < CHANGE_COUNT; i++) {
        bool found;
        make_file(&changes[i]);
        if (run_journaled(&changes[i], "test", NULL, &found) != RESTRIDE_OK)
            fail_msg("%s", restride_last_error());
        assert_false(found);
        check_file(&changes[i], NEVER);
    }
}

/* Interrupted of each change; "all" takes many more. A process forks slowly under sanitizers. */
#ifdef __SANITIZE_ADDRESS__
static int most_calls = 8;
#else
static int most_calls = 25;
#endif

/* Interrupts at calls from the first to the last, and resumes without trouble. */
static void interrupt_everywhere(bool power)
{
    for (size_t i = 0; i < CHANGE_COUNT; i++) {
        const test_change *c = &changes[i];
        make_file(c);
        *calls_made = 0;
        assert_true(run_and_die(c, NEVER - 1, false, 0));
        int calls = *calls_made;
        assert_true(calls > 0);
        int stride = calls / most_calls + 1;
        for (int call = 0; call < calls; call += stride) {
            make_file(c);
            if (!run_and_die(c, call, power, (uint64_t)call))
                run_and_die(c, NEVER - 1, power, 0);
            check_file(c, call);
        }
    }
}

static void test_killed(void **state)
{
    (void)state;
    interrupt_everywhere(false);
}

static void test_power_lost(void **state)
{
    (void)state;
    interrupt_everywhere(true);
}

/* Loses power again and again, while it resumes too. */
static void test_power_lost_often(void **state)
{
    (void)state;
    for (size_t i = 0; i < CHANGE_COUNT; i++)
        for (uint64_t seed = 1; seed <= (uint64_t)most_calls / 8; seed++) {
            const test_change *c = &changes[i];
            make_file(c);
            disk.random = seed;
            int rounds = 0;
            /* Longer and longer runs, so that each comes to an end. */
            while (!run_and_die(c, (int)random_below(6 + (size_t)rounds * 2), true,
                                seed * 1000 + (uint64_t)rounds))
                rounds++;
            check_file(c, rounds);
        }
}

/* A disk that is full at any write leaves a journal, or a file that has not changed. */
static void test_full_disk(void **state)
{
    (void)state;
    const test_change *c = &changes[9];
    bool found;
    restride_status status = RESTRIDE_IO;
    for (int call = 0; status != RESTRIDE_OK; call++) {
        make_file(c);
        unsigned char *before = read_file(file_path, HEADER + c->bytes);
        disk.full = true;
        disk.calls_left = call;
        status = run_journaled(c, "test", NULL, &found);
        disk.full = false;
        disk.calls_left = NEVER;
        if (status != RESTRIDE_OK) {
            assert_int_equal(status, RESTRIDE_IO);
            assert_non_null(strstr(restride_last_error(), "is full"));
            if (access(journal_path, F_OK) != 0) {
                unsigned char *after = read_file(file_path, HEADER + c->bytes);
                assert_memory_equal(before, after, HEADER + c->bytes);
                free(after);
            }
            assert_int_equal(run_journaled(c, "test", NULL, &found), RESTRIDE_OK);
        }
        free(before);
        check_file(c, call);
    }
}

static void test_stop(void **state)
{
    (void)state;
    const test_change *c = &changes[9];
    volatile sig_atomic_t stop = 1;
    bool found;
    make_file(c);
    assert_int_equal(run_journaled(c, "test", &stop, &found), RESTRIDE_IO);
    assert_non_null(strstr(restride_last_error(), "Interrupted"));
    assert_int_equal(access(journal_path, F_OK), 0);
    assert_int_equal(run_journaled(c, "test", NULL, &found), RESTRIDE_OK);
    assert_true(found);
    check_file(c, 0);
}

/* ---- without a journal ---- */

static bool run_straight(const test_change *c)
{
    rs_file file;
    restride_engine *engine;
    restride_plan *plan;
    bool possible;
    assert_int_equal(rs_file_open(&file, file_path, true), RESTRIDE_OK);
    file.beyond_memory = true;
    const rs_journaled how = {.file = &file, .purpose = "test", .step_bytes = c->step_bytes};
    assert_int_equal(restride_engine_create_host(&engine, 1), RESTRIDE_OK);
    assert_int_equal(rs_plan_create(&plan, engine, c->bytes, "a", "b"), RESTRIDE_OK);
    assert_int_equal(rs_plan_add_transposes(plan, c->tasks, c->task_count, SIZE_MAX), RESTRIDE_OK);
    const rs_journaled_change change = {plan, HEADER, "new header", HEADER};
    if (rs_journaled_run_straight(&how, &change, &possible) != RESTRIDE_OK)
        fail_msg("%s: %s", c->name, restride_last_error());
    restride_plan_destroy(plan);
    restride_engine_destroy(engine);
    rs_file_close(&file);
    return possible;
}

/* Files that do not stay in memory take the steps alone; long blocks need the stash and are left to
 * the engine, untouched. */
static void test_straight(void **state)
{
    (void)state;
    for (size_t i = 0; i < CHANGE_COUNT; i++) {
        const test_change *c = &changes[i];
        bool needs_stash =
            strncmp(c->name, "long ", 5) == 0 && strcmp(c->name, "long elements") != 0;
        make_file(c);
        unsigned char *before = read_file(file_path, HEADER + c->bytes);
        if (run_straight(c) == needs_stash)
            fail_msg("%s", c->name);
        unsigned char *after = read_file(file_path, HEADER + c->bytes);
        if (needs_stash)
            assert_memory_equal(before, after, HEADER + c->bytes);
        else
            check_file(c, NEVER);
        free(before);
        free(after);
    }
}

/* ---- journals that are refused ---- */

static void assert_refused(const test_change *c, const char *purpose, const char *sentence)
{
    bool found;
    unsigned char *before = read_file(file_path, HEADER + c->bytes);
    assert_int_equal(run_journaled(c, purpose, NULL, &found), RESTRIDE_INVALID_ARGUMENT);
    if (strstr(restride_last_error(), sentence) == NULL)
        fail_msg("\"%s\" does not say \"%s\"", restride_last_error(), sentence);
    unsigned char *after = read_file(file_path, HEADER + c->bytes);
    assert_memory_equal(before, after, HEADER + c->bytes);
    free(before);
    free(after);
}

static void interrupt(const test_change *c)
{
    make_file(c);
    run_and_die(c, 20, false, 0);
    assert_int_equal(access(journal_path, F_OK), 0);
}

static void test_wrong_journals(void **state)
{
    (void)state;
    const test_change *c = &changes[9];
    interrupt(c);
    assert_refused(c, "something else", "belongs to an interrupted \"test\"");
    /* The same bytes in another file. */
    char moved[80];
    snprintf(moved, sizeof moved, "%s.moved", file_path);
    rename(file_path, moved);
    unsigned char *bytes = read_file(moved, HEADER + c->bytes);
    write_file(file_path, bytes, HEADER + c->bytes);
    assert_refused(c, "test", "belongs to another file");
    unlink(moved);
    free(bytes);
    /* Not a journal. */
    write_file(journal_path, "some text of mine", 17);
    assert_refused(c, "test", "is no journal");
    write_file(journal_path, "", 0);
    assert_refused(c, "test", "is no journal");
}

/* A change of any byte of the head is seen. */
static void test_damaged_head(void **state)
{
    (void)state;
    const test_change *c = &changes[9];
    for (off_t byte = 0; byte < 200; byte += 7) {
        interrupt(c);
        int descriptor = open(journal_path, O_RDWR);
        unsigned char value;
        assert_int_equal(pread(descriptor, &value, 1, byte), 1);
        value ^= 0x10;
        put_back(descriptor, &value, 1, byte);
        close(descriptor);
        assert_refused(c, "test", journal_path);
    }
}

static void write_byte(off_t place, unsigned char value)
{
    int descriptor = open(journal_path, O_RDWR);
    put_back(descriptor, &value, 1, place);
    close(descriptor);
}

static void test_other_version(void **state)
{
    (void)state;
    const test_change *c = &changes[9];
    interrupt(c);
    write_byte(16, RS_JOURNAL_VERSION + 1);
    assert_refused(c, "test", "has format 2, and this version of Restride reads format 1");
}

/* A number that is not what was written, although the checksum fits. */
static void forge(size_t place, uint64_t word)
{
    enum { MOST_HEAD = 8192 };
    unsigned char front[MOST_HEAD];
    rs_journal_head head;
    int descriptor = open(journal_path, O_RDWR);
    assert_true(pread(descriptor, front, sizeof front, 0) > RS_JOURNAL_HEAD_BYTES);
    rs_journal_put_word(front + place, word);
    assert_true(rs_journal_read_head(&head, front));
    head.purpose_bytes = strlen("test");
    unsigned char *plan = front + RS_JOURNAL_HEAD_BYTES + head.purpose_bytes;
    head.checksum = rs_journal_head_sum(front, "test", head.purpose_bytes, plan, head.plan_bytes);
    rs_journal_put_word(front + 24, head.checksum);
    put_back(descriptor, front, sizeof front, 0);
    close(descriptor);
}

/* Counts and sizes of the head and of the plan that lie, one by one. */
static void test_forged_numbers(void **state)
{
    (void)state;
    enum {
        PLAN = RS_JOURNAL_HEAD_BYTES + 4,
        WORD = RS_JOURNAL_WORD_BYTES,
        TASK_AT = PLAN + 4 * WORD
    };
    static const size_t places[] = {
        56,                  /* ranges */
        64,                  /* payload */
        72,                  /* carried */
        80,                  /* stash */
        PLAN,                /* offset of the array */
        PLAN + WORD,         /* its bytes */
        PLAN + 2 * WORD,     /* bytes of the header */
        PLAN + 3 * WORD,     /* stages */
        TASK_AT,             /* method */
        TASK_AT + WORD,      /* offset */
        TASK_AT + 2 * WORD,  /* outer */
        TASK_AT + 4 * WORD,  /* count */
        TASK_AT + 5 * WORD,  /* rows */
        TASK_AT + 6 * WORD,  /* cols */
        TASK_AT + 7 * WORD,  /* tail */
        TASK_AT + 10 * WORD, /* unit */
        TASK_AT + 11 * WORD, /* repeats */
        TASK_AT + 13 * WORD, /* pieces */
    };
    const test_change *c = &changes[9];
    for (size_t i = 0; i < sizeof places / sizeof places[0]; i++)
        for (int bits = 20; bits <= 63; bits += 43) {
            interrupt(c);
            forge(places[i], (uint64_t)1 << bits);
            assert_refused(c, "test", "is damaged");
        }
}

/* Neither of two records that had been written is whole any more. */
static void test_lost_records(void **state)
{
    (void)state;
    const test_change *c = &changes[9];
    interrupt(c);
    unsigned char front[RS_JOURNAL_HEAD_BYTES];
    rs_journal_head head;
    rs_journal_places places;
    int descriptor = open(journal_path, O_RDONLY);
    assert_int_equal(pread(descriptor, front, sizeof front, 0), sizeof front);
    close(descriptor);
    assert_true(rs_journal_read_head(&head, front));
    assert_true(rs_journal_find_places(&head, &places));
    for (int slot = 0; slot < 2; slot++)
        write_byte((off_t)places.slots[slot] + 12, 0xA5);
    assert_refused(c, "test", "is damaged");
}

/* What waits in the journal for its turn is not what was put there. */
static void test_damaged_stash(void **state)
{
    (void)state;
    static const char *const names[] = {"pad", "long blocks"};
    for (size_t i = 0; i < CHANGE_COUNT; i++) {
        const test_change *c = &changes[i];
        if (strcmp(c->name, names[0]) != 0 && strcmp(c->name, names[1]) != 0)
            continue;
        interrupt(c);
        unsigned char front[RS_JOURNAL_HEAD_BYTES];
        rs_journal_head head;
        rs_journal_places places;
        int descriptor = open(journal_path, O_RDONLY);
        assert_int_equal(pread(descriptor, front, sizeof front, 0), sizeof front);
        unsigned char value;
        assert_true(rs_journal_read_head(&head, front));
        assert_true(rs_journal_find_places(&head, &places));
        assert_int_equal(pread(descriptor, &value, 1, (off_t)places.stash + 3), 1);
        close(descriptor);
        write_byte((off_t)places.stash + 3, value ^ 1);
        bool found;
        assert_int_equal(run_journaled(c, "test", NULL, &found), RESTRIDE_INVALID_ARGUMENT);
        assert_non_null(strstr(restride_last_error(), "is damaged"));
        assert_int_equal(access(journal_path, F_OK), 0);
    }
}

/* The bytes of a head are those of docs/journal.md on every machine. */
static void test_format(void **state)
{
    (void)state;
    const rs_journal_head head = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 0x0102030405060708};
    unsigned char bytes[RS_JOURNAL_HEAD_BYTES];
    rs_journal_write_head(&head, bytes);
    assert_memory_equal(bytes, "restride-journal", 16);
    for (size_t i = 0; i < 10; i++) {
        assert_int_equal(bytes[16 + 8 * i], i + 1);
        assert_int_equal(bytes[16 + 8 * i + 7], 0);
    }
    assert_memory_equal(bytes + 96, "\x08\x07\x06\x05\x04\x03\x02\x01", 8);
    assert_true(rs_journal_head_sum(bytes, "words", 5, "plan", 4) == 0x72168E832895A1CCU);
}

/* A journal that has no room on its disk, and one where none can be made. */
static void test_no_journal(void **state)
{
    (void)state;
    const test_change *c = &changes[9];
    bool found;
    make_file(c);
    char kept[sizeof journal_path];
    memcpy(kept, journal_path, sizeof kept);
    snprintf(journal_path, sizeof journal_path, "%s/none/journal", folder);
    assert_int_equal(run_journaled(c, "test", NULL, &found), RESTRIDE_IO);
    assert_non_null(strstr(restride_last_error(), "nothing was changed"));
    memcpy(journal_path, kept, sizeof kept);
}

static int set_up(void **state)
{
    (void)state;
    calls_made =
        mmap(NULL, sizeof *calls_made, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (calls_made == MAP_FAILED)
        return -1;
    if (mkdtemp(folder) == NULL)
        return -1;
    snprintf(file_path, sizeof file_path, "%s/array", folder);
    snprintf(journal_path, sizeof journal_path, "%s/journal", folder);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    char command[80];
    snprintf(command, sizeof command, "rm -r %s", folder);
    return system(command);
}

int main(int argc, char **argv)
{
    if (argc > 1 && strcmp(argv[1], "all") == 0)
        most_calls = 1000;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_undisturbed),   cmocka_unit_test(test_killed),
        cmocka_unit_test(test_power_lost),    cmocka_unit_test(test_power_lost_often),
        cmocka_unit_test(test_stop),          cmocka_unit_test(test_wrong_journals),
        cmocka_unit_test(test_damaged_head),  cmocka_unit_test(test_no_journal),
        cmocka_unit_test(test_other_version), cmocka_unit_test(test_forged_numbers),
        cmocka_unit_test(test_lost_records),  cmocka_unit_test(test_damaged_stash),
        cmocka_unit_test(test_format),        cmocka_unit_test(test_straight),
        cmocka_unit_test(test_full_disk),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
