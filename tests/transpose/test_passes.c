/*
 * Which tiles and boxes are compared for axes that are permuted at once: those that the definitions
 * name, each once, and the cheapest of them is the outcome.
 */
#include "cmocka_all.h"
#include "transpose/cost.h"
#include "transpose/passes.h"

#include "../layout/generate.h"

#include <string.h>

enum { MOST = 20000, LEAST_SLOT = 64, MOST_SLOT = 1024, LEAST_ALONE = 16 };

/* What is compared: a method's slot, tiles over `in` and `out` axes, or the parts of a box. */
typedef struct {
    size_t tile, in, out;
    size_t parts[RS_AXES_MOST];
} candidate;

typedef struct {
    candidate list[MOST];
    size_t count;
    size_t cheap; /* the one that costs least; SIZE_MAX: each costs less than the one before */
    size_t stages[RS_TRANSPOSE_METHOD_COUNT];
} comparison;

static candidate candidate_of(const rs_transpose_task *task)
{
    candidate c = {task->tile, task->inner_rows, task->inner_cols, {0}};
    for (size_t i = 0; i < task->piece_count && c.in == 0 && c.out == 0 && c.tile > 1; i++)
        c.parts[i] = task->pieces[i].unit;
    return c;
}

/* BOXES come first and SLOTS behind them, so the list has what the latter are asked for. */
static double price(const void *context, const rs_transpose_task *task)
{
    comparison *c = (comparison *)(uintptr_t)context;
    c->stages[task->method]++;
    if (task->method != RS_TRANSPOSE_SLOTS)
        return task->method == RS_TRANSPOSE_BOXES ? 1 : 1e9;
    assert_true(c->count < MOST);
    c->list[c->count++] = candidate_of(task);
    if (c->cheap == SIZE_MAX)
        return 1e6 - (double)c->count;
    return c->count - 1 == c->cheap ? 1 : 100;
}

/* ---- by definition ---- */

static void expect(comparison *c, size_t tile, size_t in, size_t out, const size_t *parts)
{
    assert_true(c->count < MOST);
    candidate *added = &c->list[c->count++];
    *added = (candidate){tile, in, out, {0}};
    if (parts != NULL)
        memcpy(added->parts, parts, sizeof added->parts);
}

static size_t common(size_t a, size_t b)
{
    return b == 0 ? a : common(b, a % b); /* NOLINT(misc-no-recursion) */
}

static void expect_tiles(comparison *c, const rs_axes *axes, size_t unit, size_t room)
{
    for (size_t in = 1; in < axes->count; in++)
        for (size_t out = 1; out < axes->count; out++) {
            size_t lengths[2] = {1, 1};
            bool apart = true;
            for (size_t axis = 0; axis < axes->count; axis++) {
                const bool is_in = axis >= axes->count - in;
                const bool is_out = axes->places[axis] >= axes->count - out;
                apart = apart && !(is_in && is_out);
                lengths[0] *= is_in ? axes->extents[axis] : 1;
                lengths[1] *= is_out ? axes->extents[axis] : 1;
            }
            for (size_t slot = 2; apart && slot * slot * unit <= room; slot++)
                if (common(lengths[0], lengths[1]) % slot == 0 && slot * unit >= LEAST_SLOT &&
                    (slot * unit <= MOST_SLOT || unit > MOST_SLOT / 4))
                    expect(c, slot, in, out, NULL);
        }
}

/* The elements of a box that are contiguous, in an order of its axes, the fastest first; marks what
 * of each axis they are. */
static size_t run_of(const rs_axes *axes, const size_t parts[], const size_t order[], size_t run[])
{
    size_t length = 1;
    bool open = true;
    for (size_t i = 0; open && i < axes->count; i++) {
        const size_t axis = order[i];
        run[axis] = run[axis] > parts[axis] ? run[axis] : parts[axis];
        length *= parts[axis];
        open = parts[axis] == axes->extents[axis];
    }
    return length;
}

/* Boxes that have nothing but what is contiguous before or afterwards. */
static void expect_boxes(comparison *c, const rs_axes *axes, size_t unit, size_t room)
{
    size_t before[RS_AXES_MOST];
    size_t after[RS_AXES_MOST];
    size_t parts[RS_AXES_MOST] = {0};
    for (size_t i = 0; i < axes->count; i++) {
        before[i] = axes->count - 1 - i;
        after[i] = rs_axes_at(axes, axes->count - 1 - i);
        parts[i] = 1;
    }
    for (size_t axis = 0; axis < axes->count;) {
        size_t run[RS_AXES_MOST] = {1, 1, 1, 1, 1, 1, 1, 1};
        size_t volume = unit;
        bool whole = true; /* not the array as a whole */
        bool divides = true;
        for (size_t i = 0; i < axes->count; i++) {
            volume *= parts[i];
            whole = whole && parts[i] == axes->extents[i];
            divides = divides && axes->extents[i] % parts[i] == 0;
        }
        if (divides && !whole && volume <= room) {
            const size_t in = run_of(axes, parts, before, run);
            const size_t out = run_of(axes, parts, after, run);
            const size_t slot = common(in, out);
            if (slot > 1 && slot * unit >= LEAST_SLOT &&
                memcmp(run, parts, axes->count * sizeof *run) == 0)
                expect(c, slot, 0, 0, parts);
        }
        for (axis = 0; axis < axes->count && ++parts[axis] > axes->extents[axis]; axis++)
            parts[axis] = 1;
    }
}

/* ---- comparisons ---- */

static bool is_among(const comparison *c, const candidate *wanted)
{
    size_t times = 0;
    for (size_t i = 0; i < c->count; i++)
        times += memcmp(&c->list[i], wanted, sizeof *wanted) == 0;
    assert_true(times <= 1);
    return times == 1;
}

static rs_transpose_task random_axes(uint64_t *seed, rs_piece *pieces)
{
    static const size_t units[] = {1, 2, 4, 8, 12, 16, 100, 256, 257, 1024};
    rs_transpose_task task = {.outer = 1, .count = 1, .cols = 1, .rows = 1, .pieces = pieces};
    task.unit = units[made_random(seed, sizeof units / sizeof units[0])];
    task.piece_count = 2 + made_random(seed, 3);
    for (size_t i = 0; i < task.piece_count; i++) {
        const size_t other = made_random(seed, i + 1);
        pieces[i] = (rs_piece){2 + made_random(seed, task.piece_count < 4 ? 60 : 20), 0, i};
        pieces[i].place = pieces[other].place;
        pieces[other].place = i;
        if (other == i)
            pieces[i].place = i;
        task.rows *= pieces[i].count;
    }
    return task;
}

static void test_what_is_compared(void **state)
{
    (void)state;
    static comparison found;
    static comparison expected;
    uint64_t seed = 9;
    size_t boxes = 0;
    size_t tiles = 0;
    for (int n = 0; n < 150; n++) {
        rs_piece pieces[RS_AXES_MOST];
        rs_axes axes;
        const rs_transpose_task task = random_axes(&seed, pieces);
        /* As much as some boxes and tiles take, and any other number. */
        const size_t edge = 1 + made_random(&seed, 30);
        const size_t some = n % 3 == 0 ? edge * edge : pieces[0].count * pieces[1].count;
        const size_t room = n % 3 == 2 ? 64 + made_random(&seed, 20000) : some * task.unit;
        const rs_passes_pricing pricing = {price, &found, room};
        rs_passes best;
        found = (comparison){.cheap = SIZE_MAX};
        rs_passes_find(&best, &pricing, &task);
        assert_true(rs_axes_of(&axes, &task));
        expected.count = 0;
        if (task.unit >= LEAST_ALONE)
            expect(&expected, 1, 0, 0, NULL);
        expect_tiles(&expected, &axes, task.unit, room);
        const size_t before = expected.count;
        if (task.unit < MOST_SLOT)
            expect_boxes(&expected, &axes, task.unit, room);
        tiles += before;
        boxes += expected.count - before;
        for (size_t i = 0; i < expected.count; i++)
            if (!is_among(&found, &expected.list[i]))
                fail_msg("problem %d: no slot of %zu, %zu and %zu axes", n, expected.list[i].tile,
                         expected.list[i].in, expected.list[i].out);
        assert_int_equal(found.count, expected.count);
        assert_int_equal(found.stages[RS_TRANSPOSE_ON_CHIP], 1);
    }
    assert_true(tiles > 100 && boxes > 100);
}

/* The cheapest is what is found, with its own sizes, and in the same order in every search. */
static void test_the_cheapest(void **state)
{
    (void)state;
    static comparison found;
    uint64_t seed = 10;
    for (int n = 0; n < 40; n++) {
        rs_piece pieces[RS_AXES_MOST];
        const rs_transpose_task task = random_axes(&seed, pieces);
        const rs_passes_pricing pricing = {price, &found, 20000};
        rs_passes best;
        found = (comparison){.cheap = SIZE_MAX};
        rs_passes_find(&best, &pricing, &task);
        const size_t count = found.count;
        for (size_t cheap = 0; cheap < count && cheap < 30; cheap++) {
            found = (comparison){.cheap = cheap};
            rs_passes_find(&best, &pricing, &task);
            const bool alone = found.list[cheap].tile == 1;
            assert_int_equal(best.count, alone ? 1 : 2);
            assert_true(best.price == (alone ? 1 : 2));
            for (size_t i = 0; i < best.count; i++) {
                rs_transpose_task stage = best.tasks[i];
                stage.pieces = best.pieces[i];
                const candidate taken = candidate_of(&stage);
                assert_memory_equal(&taken, &found.list[cheap], sizeof taken);
            }
            assert_int_equal(best.tasks[best.count - 1].method, RS_TRANSPOSE_SLOTS);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_what_is_compared),
        cmocka_unit_test(test_the_cheapest),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
