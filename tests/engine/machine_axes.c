/* Random stages that permute axes, against the definition and against the same stages on the host;
 * see machine.h. */
#include "../transpose/reference.h"
#include "cmocka_all.h"
#include "engine/boxes.h"
#include "machine.h"
#include "restride/restride.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_RANK = 6 };

static restride_engine *host;

typedef struct {
    size_t rank;
    size_t dims[MOST_RANK];
    size_t axes[MOST_RANK]; /* that come one after the other */
    rs_piece pieces[MOST_RANK];
    rs_transpose_task task;
    size_t limit; /* of the scratch memory on the device; 0: none */
} tensor;

static void fail_tensor(const tensor *t, const char *what)
{
    char dims[160];
    int length = 0;
    for (size_t i = 0; i < t->rank; i++)
        length += snprintf(dims + length, sizeof dims - (size_t)length, " %zu(%zu)", t->dims[i],
                           t->axes[i]);
    fail_msg("method %d,%s, %zu bytes, %zu arrays %zu apart from %zu on: %s; %s",
             (int)t->task.method, dims, t->task.unit, t->task.outer, t->task.pitch, t->task.offset,
             what, restride_last_error());
}

/* Runs a stage of the task on a copy of `before`, `bytes` long, on the host where `machine` is
 * NULL.
 */
static void run(const test_machine *machine, const tensor *t, const unsigned char *before,
                unsigned char *after, size_t bytes)
{
    restride_engine *on = machine == NULL ? host : machine->engine;
    const rs_engine_operations *operations = on->operations;
    rs_stage *stage = NULL;
    size_t limit = t->limit != 0 && machine != NULL ? t->limit : SIZE_MAX;
    if (operations->create_transpose(on, &t->task, limit, &stage) != RESTRIDE_OK)
        fail_tensor(t, "not made");
    void *scratch = NULL;
    size_t kept;
    size_t wanted = operations->scratch_bytes(stage, &kept);
    if (wanted != 0)
        assert_int_equal(operations->acquire_scratch(on, wanted, &scratch), RESTRIDE_OK);
    if (machine == NULL) {
        memcpy(after, before, bytes);
        assert_int_equal(operations->run(stage, after, scratch, NULL, NULL), RESTRIDE_OK);
    } else {
        for (int i = 0; i < 2; i++) { /* what a run leaves behind is no matter to the next */
            void *buffer = machine->create(before, bytes);
            if (operations->run(stage, buffer, scratch, NULL, NULL) != RESTRIDE_OK ||
                !machine->read(buffer, after, bytes))
                fail_tensor(t, "not run, or a canary changed");
            machine->destroy(buffer);
        }
    }
    if (wanted != 0)
        operations->release_scratch(on, wanted, scratch);
    operations->destroy_stage(stage);
}

/* Of the arrays, what is before them, and three bytes behind. */
static size_t bytes_of(const rs_transpose_task *task)
{
    return task->offset + (task->outer - 1) * task->pitch + task->rows * task->cols * task->unit +
           3;
}

/* Random bytes, and what they should become. */
static void fill(unsigned char *before, unsigned char *expected, const tensor *t, uint64_t *seed)
{
    const rs_transpose_task *task = &t->task;
    size_t bytes = bytes_of(task);
    for (size_t i = 0; i < bytes; i++)
        before[i] = (unsigned char)test_random(seed, 256);
    memcpy(expected, before, bytes);
    int axes[MOST_RANK];
    for (size_t k = 0; k < t->rank; k++)
        axes[k] = (int)t->axes[k];
    for (size_t i = 0; i < task->outer; i++)
        reference_permute(expected + task->offset + i * task->pitch,
                          before + task->offset + i * task->pitch, (int)t->rank, t->dims, axes,
                          task->unit);
}

static void check(const test_machine *machine, tensor *t, uint64_t *seed)
{
    rs_transpose_task *task = &t->task;
    size_t bytes = bytes_of(task);
    unsigned char *before = malloc(bytes);
    unsigned char *expected = malloc(bytes);
    unsigned char *after = malloc(bytes);
    assert_true(before != NULL && expected != NULL && after != NULL);
    fill(before, expected, t, seed);
    const test_machine *const machines[] = {NULL, machine};
    for (size_t i = 0; i < 2; i++) {
        run(machines[i], t, before, after, bytes);
        if (memcmp(after, expected, bytes) != 0)
            fail_tensor(t, i == 0 ? "wrong elements on the host" : "wrong elements");
    }
    free(before);
    free(expected);
    free(after);
}

/* Pass 1 and pass 2, on each engine, and both passes as the host sees them. */
static void check_passes(const test_machine *machine, tensor *t, uint64_t *seed)
{
    rs_transpose_task *task = &t->task;
    size_t bytes = bytes_of(task);
    unsigned char *before = malloc(bytes);
    unsigned char *expected = malloc(bytes);
    unsigned char *half[2] = {malloc(bytes), malloc(bytes)};
    unsigned char *after[2] = {malloc(bytes), malloc(bytes)};
    fill(before, expected, t, seed);
    const test_machine *const machines[] = {NULL, machine};
    for (size_t i = 0; i < 2; i++) {
        task->method = RS_TRANSPOSE_BOXES;
        if (task->tile > 1)
            run(machines[i], t, before, half[i], bytes);
        else
            memcpy(half[i], before, bytes);
        if (memcmp(half[i], half[0], bytes) != 0)
            fail_tensor(t, "wrong elements in boxes");
        task->method = RS_TRANSPOSE_SLOTS;
        run(machines[i], t, half[i], after[i], bytes);
        if (memcmp(after[i], expected, bytes) != 0)
            fail_tensor(t, i == 0 ? "wrong elements on the host" : "wrong elements");
    }
    for (size_t i = 0; i < 2; i++) {
        free(half[i]);
        free(after[i]);
    }
    free(before);
    free(expected);
}

/* No axis that stays last: it would be a part of the element. */
static void shuffle_axes(tensor *t, uint64_t *seed)
{
    do
        for (size_t i = 0; i < t->rank; i++) {
            size_t other = test_random(seed, i + 1);
            t->axes[i] = t->axes[other];
            t->axes[other] = i;
        }
    while (t->axes[t->rank - 1] == t->rank - 1);
    for (size_t k = 0; k < t->rank; k++)
        t->pieces[t->axes[k]] = (rs_piece){t->dims[t->axes[k]], 1, k};
}

static tensor random_tensor(uint64_t *seed, size_t most)
{
    static const size_t units[] = {4, 8, 1, 2, 16, 12, 3, 4, 20, 4, 64, 6};
    tensor t = {.rank = 2 + test_random(seed, MOST_RANK - 1)};
    t.task = (rs_transpose_task){.method = RS_TRANSPOSE_ON_CHIP,
                                 .outer = 1 + test_random(seed, 3) / 2 * test_random(seed, 6),
                                 .count = 1,
                                 .rows = 1,
                                 .cols = 1,
                                 .unit = units[test_random(seed, 12)],
                                 .piece_count = t.rank};
    size_t left = most / t.task.unit / t.task.outer + 1;
    for (size_t i = 0; i < t.rank; i++) {
        size_t longest = i + 1 == t.rank ? left : left / 2 + 1;
        t.dims[i] = 1 + test_random(seed, test_random(seed, 2) == 0 ? longest : longest / 8 + 2);
        left = left / t.dims[i] + 1;
        t.task.rows *= t.dims[i];
    }
    shuffle_axes(&t, seed);
    t.task.pitch = t.task.rows * t.task.unit + t.task.unit * test_random(seed, 3);
    t.task.offset = t.task.unit * test_random(seed, 3);
    return t;
}

static void open_host(void)
{
    if (host == NULL)
        assert_int_equal(restride_engine_create_host(&host, 1), RESTRIDE_OK);
}

static void close_host(void)
{
    restride_engine_destroy(host);
    host = NULL;
}

void machine_test_on_chip(const test_machine *machine, uint64_t seed, size_t count, size_t most,
                          bool (*suits)(restride_engine *engine, const rs_transpose_task *task))
{
    size_t made = 0;
    open_host();
    for (size_t i = 0; i < count; i++) {
        tensor t = random_tensor(&seed, i % 16 == 0 ? most : most / 20 + 60000);
        t.task.pieces = t.pieces;
        if (!suits(machine->engine, &t.task))
            continue;
        made++;
        check(machine, &t, &seed);
    }
    close_host();
    assert_true(4 * made > count);
}

static size_t divisor(size_t number, uint64_t *seed)
{
    size_t d = 1 + test_random(seed, number);
    while (number % d != 0)
        d--;
    return d;
}

static size_t power(size_t base, size_t exponent)
{
    return exponent == 0 ? 1 : base * power(base, exponent - 1);
}

/* Of at most as many elements: all cycles have two of them, or one. */
static void reverse_equal_axes(tensor *t)
{
    size_t length = 2;
    while (power(length + 1, t->rank) <= t->task.rows)
        length++;
    t->task.rows = power(length, t->rank);
    for (size_t i = 0; i < t->rank; i++) {
        t->dims[i] = length;
        t->axes[i] = t->rank - 1 - i;
        t->pieces[i] = (rs_piece){length, 1, t->rank - 1 - i};
    }
}

/* Axes with many divisors, often taken together; the rest of the task is as random. */
static tensor random_slots(uint64_t *seed, size_t most)
{
    static const size_t lengths[] = {2, 3, 4, 6, 8, 5, 12, 16, 9, 24, 32, 48, 7, 40};
    tensor t = random_tensor(seed, most);
    size_t left = most / t.task.unit / t.task.outer;
    t.task.rows = 1;
    for (size_t i = 0; i < t.rank; i++) {
        t.dims[i] = lengths[test_random(seed, 14)];
        while (t.dims[i] > 2 && t.dims[i] > left)
            t.dims[i] /= 2;
        left /= t.dims[i];
        left = left < 2 ? 2 : left;
        t.task.rows *= t.dims[i];
    }
    shuffle_axes(&t, seed);
    if (test_random(seed, 4) == 0)
        reverse_equal_axes(&t);
    t.task.pitch = t.task.rows * t.task.unit + t.task.unit * test_random(seed, 3);
    /* With little, short cycles are not listed. */
    t.limit =
        t.task.outer * t.task.rows * t.task.unit / (test_random(seed, 2) == 0 ? 400 : 20) + 4096;
    return t;
}

static void cut_randomly(tensor *t, uint64_t *seed, size_t form)
{
    for (size_t i = 0; i < t->rank; i++)
        t->pieces[i].unit = form == 1 ? divisor(t->dims[i], seed) : 0;
    t->task.inner_rows = form == 0 ? 1 + test_random(seed, t->rank - 1) : 0;
    t->task.inner_cols = form == 0 ? 1 + test_random(seed, t->rank - 1) : 0;
    t->task.tile = form == 2 ? 1 : 2 + test_random(seed, 24);
}

void machine_test_slots(const test_machine *machine, uint64_t seed, size_t count, size_t most)
{
    size_t made[3] = {0};
    open_host();
    for (size_t i = 0; i < 120 * (count + 20); i++) { /* few suit */
        tensor t = random_slots(&seed, i % 64 == 0 ? most : most / 20 + 50000);
        cut_randomly(&t, &seed, i % 3);
        t.task.pieces = t.pieces;
        rs_slots slots;
        rs_box_cut cut;
        if (made[i % 3] >= count || !rs_slots_of(&slots, &t.task) ||
            slots.phases[0].count == 0 || /* one slot alone */
            !rs_boxes_cut(&cut, &slots, &t.task, 40000))
            continue;
        made[i % 3]++;
        check_passes(machine, &t, &seed);
    }
    close_host();
    for (size_t form = 0; form < 3; form++)
        if (3 * made[form] < count)
            fail_msg("only %zu of form %zu", made[form], form);
}

/* Matrices without pieces: one tile and many, in shared memory and in registers, ragged or not. */
void machine_test_matrices_on_chip(const test_machine *machine, uint64_t seed)
{
    static const size_t shapes[][4] = {
        {64, 64, 4, 1},  {150, 131, 4, 1}, {3, 5000, 4, 1}, {5000, 3, 8, 2}, {150, 90, 12, 1},
        {128, 70, 1, 3}, {77, 201, 2, 1},  {41, 60, 16, 5}, {30, 31, 64, 2}, {1, 700, 4, 1}};
    open_host();
    for (size_t i = 0; i < sizeof shapes / sizeof shapes[0]; i++) {
        const size_t *s = shapes[i];
        tensor t = {.rank = 2, .dims = {s[0], s[1]}, .axes = {1, 0}};
        t.task = (rs_transpose_task){.method = RS_TRANSPOSE_ON_CHIP,
                                     .outer = s[3],
                                     .pitch = s[0] * s[1] * s[2],
                                     .count = 1,
                                     .rows = s[0],
                                     .cols = s[1],
                                     .unit = s[2]};
        check(machine, &t, &seed);
    }
    close_host();
}
