/* Random stages that plans of transposition do not have, or seldom, against their definitions; see
 * machine.h. */
#include "../transpose/reference.h"
#include "cmocka_all.h"
#include "machine.h"
#include "restride/restride.h"

#include <stdlib.h>
#include <string.h>

enum { MOST_PIECES = 12 };

static void fail_task(const rs_transpose_task *t, const char *what)
{
    fail_msg("method %d, %zu times %zu matrices %zu bytes apart from %zu on, %zu blocks of %zu x "
             "%zu (tail %zu) elements of %zu bytes, %zu pieces: %s; %s",
             (int)t->method, t->repeats, t->outer, t->pitch, t->offset, t->count, t->rows, t->cols,
             t->tail, t->unit, t->piece_count, what, restride_last_error());
}

/* ---- definitions: of one matrix ---- */

static void copy(unsigned char *after, const unsigned char *before, size_t to, size_t from,
                 size_t bytes, bool back)
{
    memcpy(after + (back ? from : to), before + (back ? to : from), bytes);
}

static void reference_unzip(unsigned char *after, const unsigned char *before,
                            const rs_transpose_task *t, bool back)
{
    for (size_t b = 0; b < t->count; b++) {
        size_t block = b * t->rows * t->cols;
        size_t member_start = 0;
        for (size_t p = 0; p < t->piece_count; p++)
            for (size_t m = 0; m < t->pieces[p].count; m++) {
                size_t size = t->pieces[p].unit;
                for (size_t row = 0; row < t->rows; row++)
                    copy(after, before, block + member_start * t->rows + row * size,
                         block + row * t->cols + member_start, size, back);
                member_start += size;
            }
    }
}

static void reference_reorder(unsigned char *after, const unsigned char *before,
                              const rs_transpose_task *t)
{
    size_t to = 0;
    for (size_t place = 0; place < t->piece_count; place++) {
        size_t from = 0;
        for (size_t p = 0; p < t->piece_count; p++) {
            size_t bytes = t->pieces[p].count * t->pieces[p].unit;
            if (t->pieces[p].place == place) {
                memcpy(after + to, before + from, bytes);
                to += bytes;
            }
            from += bytes;
        }
    }
}

static void reference_tails(unsigned char *after, const unsigned char *before,
                            const rs_transpose_task *t, bool join)
{
    size_t width = t->cols + t->tail;
    for (size_t row = 0; row < t->rows; row++)
        for (size_t col = 0; col < width; col++) {
            size_t split = col < t->cols ? row * t->cols + col
                                         : t->rows * t->cols + (col - t->cols) * t->rows + row;
            copy(after, before, (row * width + col) * t->unit, split * t->unit, t->unit, !join);
        }
}

/* Each of the elements, which are matrices, is transposed too. */
static void reference_fused(unsigned char *after, const unsigned char *before,
                            const rs_transpose_task *t)
{
    size_t element = t->inner_rows * t->inner_cols * t->unit;
    for (size_t i = 0; i < t->rows; i++)
        for (size_t j = 0; j < t->cols; j++)
            reference_transpose(after + (j * t->rows + i) * element,
                                before + (i * t->cols + j) * element, 1, t->inner_rows,
                                t->inner_cols, t->unit);
}

static void reference(unsigned char *after, const unsigned char *before, const rs_transpose_task *t)
{
    if (t->method == RS_TRANSPOSE_FUSED) {
        reference_fused(after, before, t);
        return;
    }
    if (t->method == RS_TRANSPOSE_PIPT || t->method == RS_TRANSPOSE_PTTWAC ||
        t->method == RS_TRANSPOSE_REVERSE || t->method == RS_TRANSPOSE_PIPT_PANELS ||
        t->method == RS_TRANSPOSE_PTTWAC_PANELS) {
        reference_transpose(after, before, t->count, t->rows, t->cols, t->unit);
        return;
    }
    if (t->method == RS_TRANSPOSE_REORDER)
        reference_reorder(after, before, t);
    else if (t->method == RS_TRANSPOSE_UNZIP || t->method == RS_TRANSPOSE_ZIP)
        reference_unzip(after, before, t, t->method == RS_TRANSPOSE_ZIP);
    else
        reference_tails(after, before, t, t->method == RS_TRANSPOSE_JOIN);
}

/* ---- one stage ---- */

static size_t matrix_bytes(const rs_transpose_task *task)
{
    size_t element = task->unit;
    if (task->method == RS_TRANSPOSE_FUSED)
        element *= task->inner_rows * task->inner_cols;
    return task->count * task->rows * (task->cols + task->tail) * element;
}

static void run_stage(const test_machine *machine, const rs_transpose_task *task, size_t limit,
                      void *buffer)
{
    const rs_engine_operations *operations = machine->engine->operations;
    rs_stage *stage;
    if (operations->create_transpose(machine->engine, task, limit, &stage) != RESTRIDE_OK)
        fail_task(task, "not made");
    size_t kept;
    size_t bytes = operations->scratch_bytes(stage, &kept);
    if (bytes + kept > limit)
        fail_task(task, "more scratch memory than the limit");
    void *scratch = NULL;
    if (bytes != 0)
        assert_int_equal(operations->acquire_scratch(machine->engine, bytes, &scratch),
                         RESTRIDE_OK);
    if (operations->run(stage, buffer, scratch, NULL, NULL) != RESTRIDE_OK)
        fail_task(task, "not run");
    if (bytes != 0)
        operations->release_scratch(machine->engine, bytes, scratch);
    operations->destroy_stage(stage);
}

static void check(const test_machine *machine, const rs_transpose_task *task, size_t limit,
                  uint64_t seed)
{
    size_t repeats = task->repeats > 1 ? task->repeats : 1;
    size_t matrix = matrix_bytes(task);
    size_t size = task->offset + (repeats - 1) * task->repeat_pitch +
                  (task->outer - 1) * task->pitch + matrix + 5;
    guarded_buffer before = guarded_create(size, 0, seed);
    unsigned char *expected = malloc(size);
    unsigned char *found = malloc(size);
    assert_true(expected != NULL && found != NULL);
    memcpy(expected, before.bytes, size);
    for (size_t r = 0; r < repeats; r++)
        for (size_t o = 0; o < task->outer; o++) {
            size_t place = task->offset + r * task->repeat_pitch + o * task->pitch;
            reference(expected + place, before.bytes + place, task);
        }
    void *buffer = machine->create(before.bytes, size);
    run_stage(machine, task, limit, buffer);
    if (!machine->read(buffer, found, size))
        fail_task(task, "a canary changed");
    if (memcmp(found, expected, size) != 0)
        fail_task(task, "wrong elements");
    machine->destroy(buffer);
    free(expected);
    free(found);
    guarded_free(&before);
}

/* ---- random ones ---- */

/* Distances between matrices: close together or with a gap, and sometimes in two dimensions. */
static void spread(rs_transpose_task *task, size_t grain, uint64_t *seed)
{
    size_t matrix = matrix_bytes(task);
    task->offset = grain * test_random(seed, 3);
    task->outer = 1 + test_random(seed, 3) / 2 * test_random(seed, 4);
    task->pitch = matrix + grain * test_random(seed, 3);
    if (test_random(seed, 4) == 0) {
        task->repeats = 2;
        task->repeat_pitch = task->outer * task->pitch + grain * test_random(seed, 3);
    }
}

static size_t pick_size(uint64_t *seed)
{
    static const size_t sizes[] = {1, 2, 4, 8, 4, 8, 3, 12, 16, 20};
    return sizes[test_random(seed, sizeof sizes / sizeof sizes[0])];
}

static void check_zip(const test_machine *machine, rs_transpose_method method, uint64_t *seed)
{
    rs_piece pieces[MOST_PIECES];
    size_t scale = (size_t)1 << test_random(seed, 4); /* often all sizes have a common divisor */
    rs_transpose_task task = {.method = method,
                              .count = 1 + test_random(seed, 9),
                              .rows = 1 + test_random(seed, 40),
                              .unit = 1,
                              .pieces = pieces,
                              .piece_count = 1 + test_random(seed, 6)};
    for (size_t i = 0; i < task.piece_count; i++) {
        pieces[i] = (rs_piece){1 + test_random(seed, 4) / 3 * 2, scale * pick_size(seed), 0};
        task.cols += pieces[i].count * pieces[i].unit;
    }
    const rs_engine_traits traits = machine->engine->operations->traits(machine->engine);
    while (task.rows > 1 && task.rows * task.cols > traits.group_bytes)
        task.rows /= 2;
    if (task.rows * task.cols > traits.group_bytes)
        return;
    spread(&task, scale, seed);
    check(machine, &task, 1 << 20, *seed);
}

static void check_reorder(const test_machine *machine, uint64_t *seed)
{
    rs_piece pieces[MOST_PIECES];
    size_t scale = (size_t)1 << test_random(seed, 5);
    rs_transpose_task task = {.method = RS_TRANSPOSE_REORDER,
                              .count = 1,
                              .rows = 1,
                              .unit = 1,
                              .pieces = pieces,
                              .piece_count = 1 + test_random(seed, MOST_PIECES)};
    for (size_t i = 0; i < task.piece_count; i++) {
        size_t most = test_random(seed, 3) == 0 ? 2000 : 20;
        pieces[i] = (rs_piece){1 + test_random(seed, most), scale, i};
        task.cols += pieces[i].count * pieces[i].unit;
        size_t other = test_random(seed, i + 1);
        pieces[i].place = pieces[other].place;
        pieces[other].place = i;
    }
    spread(&task, scale, seed);
    size_t tables = 64 * MOST_PIECES * 24;
    check(machine, &task, tables + test_random(seed, 3) * task.outer * task.cols / 4, *seed);
}

static void check_tails(const test_machine *machine, rs_transpose_method method, uint64_t *seed)
{
    rs_transpose_task task = {.method = method,
                              .count = 1,
                              .rows = 1 + test_random(seed, test_random(seed, 4) == 0 ? 300 : 30),
                              .cols = 1 + test_random(seed, test_random(seed, 4) == 0 ? 300 : 30),
                              .tail = 1 + test_random(seed, 5),
                              .unit = pick_size(seed)};
    spread(&task, task.unit, seed);
    size_t tails = task.rows * task.tail * task.unit;
    size_t least = 2 * tails + 256;
    check(machine, &task, least + test_random(seed, 3) * tails, *seed);
}

/* Few pieces of chains, or many, or none. */
static void check_fused(const test_machine *machine, uint64_t *seed)
{
    rs_transpose_task task = {.method = RS_TRANSPOSE_FUSED,
                              .count = 1,
                              .rows = 1 + test_random(seed, 40),
                              .cols = 1 + test_random(seed, 40),
                              .inner_rows = 1 + test_random(seed, 9),
                              .inner_cols = 1 + test_random(seed, 9),
                              .unit = pick_size(seed)};
    spread(&task, task.unit, seed);
    size_t bytes = task.outer * matrix_bytes(&task);
    check(machine, &task, 4096 + test_random(seed, 3) * bytes / 4, *seed);
}

static void check_elements(const test_machine *machine, rs_transpose_method method, uint64_t *seed)
{
    rs_transpose_task task = {.method = method,
                              .count = 1,
                              .rows = 1 + test_random(seed, 50),
                              .cols = 1 + test_random(seed, 50),
                              .unit = pick_size(seed) * (1 + test_random(seed, 3) * 7)};
    spread(&task, task.unit, seed);
    check(machine, &task, 4 * task.outer * (task.rows * task.cols / 32 + 1), *seed);
}

/* Elements so long that several teams of work-items have words of each, of every width. */
static void check_long(const test_machine *machine, uint64_t *seed)
{
    static const size_t words[] = {1, 2, 4, 8, 16};
    size_t word = words[test_random(seed, 5)];
    rs_transpose_task task = {.method = RS_TRANSPOSE_REVERSE,
                              .count = 1,
                              .rows = 1 + test_random(seed, 20),
                              .cols = 1 + test_random(seed, 20),
                              .tile = 1,
                              .unit = word * (257 + 2 * test_random(seed, 300))};
    spread(&task, task.unit, seed);
    size_t bytes = task.outer * matrix_bytes(&task);
    check(machine, &task, 8192 + test_random(seed, 3) * bytes / 8, *seed);
}

/* All ways in which the flags may lie. */
static void check_tiles(const test_machine *machine, rs_transpose_method method, uint64_t *seed)
{
    rs_transpose_task task = {.method = method,
                              .count = 1 + test_random(seed, 5),
                              .rows = 1 + test_random(seed, 60),
                              .cols = 1 + test_random(seed, 60),
                              .unit = pick_size(seed),
                              .spreading = (size_t)1 << test_random(seed, 6),
                              .padded = test_random(seed, 2) == 0,
                              .remapped = test_random(seed, 2) == 0};
    spread(&task, task.unit, seed);
    check(machine, &task, 0, *seed);
}

void machine_test_stages(const test_machine *machine, uint64_t seed, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        check_zip(machine, RS_TRANSPOSE_UNZIP, &seed);
        check_zip(machine, RS_TRANSPOSE_ZIP, &seed);
        check_reorder(machine, &seed);
        check_tails(machine, RS_TRANSPOSE_JOIN, &seed);
        check_tails(machine, RS_TRANSPOSE_SPLIT, &seed);
        check_fused(machine, &seed);
        check_elements(machine, RS_TRANSPOSE_PIPT, &seed);
        check_tiles(machine, RS_TRANSPOSE_PIPT_PANELS, &seed);
        check_long(machine, &seed);
        if (machine->finds_races)
            continue;
        check_elements(machine, RS_TRANSPOSE_PTTWAC, &seed);
        check_tiles(machine, RS_TRANSPOSE_PTTWAC_PANELS, &seed);
    }
}
