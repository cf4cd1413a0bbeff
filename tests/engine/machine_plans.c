/* Permutations of axes and conversions between layouts on a device; see machine.h. */
#include "../layout/generate.h"
#include "../transpose/reference.h"
#include "cmocka_all.h"
#include "layout/layout.h"
#include "machine.h"
#include "restride/restride.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { MOST_RANK = 6 };

/* Runs a plan on a copy of `before` and reads what comes out; frees the plan. */
static void run_plan(const test_machine *machine, restride_plan *plan, const unsigned char *before,
                     unsigned char *after, size_t size, const char *what)
{
    void *buffer = machine->create(before, size);
    if (restride_execute(plan, buffer) != RESTRIDE_OK)
        fail_msg("%s: %s", what, restride_last_error());
    if (!machine->read(buffer, after, size))
        fail_msg("%s: a canary changed", what);
    machine->destroy(buffer);
    size_t allowed = size / 400 + (1 << 20);
    if (restride_plan_scratch_bytes(plan) > allowed)
        fail_msg("%s: %zu bytes of scratch, %zu allowed", what, restride_plan_scratch_bytes(plan),
                 allowed);
    restride_plan_destroy(plan);
}

/* ---- permutations ---- */

typedef struct {
    int rank;
    size_t dims[MOST_RANK];
    int axes[MOST_RANK];
    size_t unit;
    size_t count;
} tensor;

static tensor random_tensor(uint64_t *seed)
{
    static const size_t units[] = {4, 8, 1, 2, 16, 12, 3, 4};
    tensor t = {.rank = 2 + (int)test_random(seed, MOST_RANK - 1),
                .unit = units[test_random(seed, sizeof units / sizeof units[0])],
                .count = 1};
    size_t left = 1 + test_random(seed, 40000 / t.unit);
    for (int i = 0; i < t.rank; i++) {
        t.dims[i] = 1 + test_random(seed, left > 24 ? 24 : left);
        left = left / t.dims[i] > 0 ? left / t.dims[i] : 1;
        t.count *= t.dims[i];
        int other = (int)test_random(seed, (size_t)i + 1);
        t.axes[i] = t.axes[other];
        t.axes[other] = i;
    }
    return t;
}

void machine_test_permutations(const test_machine *machine, uint64_t seed, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        const tensor t = random_tensor(&seed);
        char what[160];
        int length =
            snprintf(what, sizeof what, "seed %llu, %zu bytes:", (unsigned long long)seed, t.unit);
        for (int k = 0; k < t.rank; k++)
            length += snprintf(what + length, sizeof what - (size_t)length, " %zu(%d)", t.dims[k],
                               t.axes[k]);
        restride_plan *plan;
        if (restride_plan_permute(&plan, machine->engine, t.rank, t.dims, t.axes, t.unit) !=
            RESTRIDE_OK)
            fail_msg("%s: %s", what, restride_last_error());
        size_t size = t.count * t.unit;
        guarded_buffer before = guarded_create(size, 0, seed);
        unsigned char *expected = malloc(size);
        unsigned char *found = malloc(size);
        assert_true(expected != NULL && found != NULL);
        reference_permute(expected, before.bytes, t.rank, t.dims, t.axes, t.unit);
        run_plan(machine, plan, before.bytes, found, size, what);
        if (memcmp(found, expected, size) != 0)
            fail_msg("%s: wrong elements", what);
        free(expected);
        free(found);
        guarded_free(&before);
    }
}

/* ---- conversions ---- */

typedef struct {
    const char *dims;
    const char *from;
    const char *to;
    size_t unit; /* 0 with a record */
} conversion;

static restride_layout *parse(const conversion *c, const char *expression)
{
    restride_layout *layout;
    if (restride_layout_parse(&layout, c->dims, expression) != RESTRIDE_OK)
        fail_msg("%s", restride_last_error());
    return layout;
}

static void convert(const test_machine *machine, const conversion *c, bool back,
                    const unsigned char *before, unsigned char *after, size_t size)
{
    restride_layout *from = parse(c, back ? c->to : c->from);
    restride_layout *to = parse(c, back ? c->from : c->to);
    char what[1024];
    snprintf(what, sizeof what, "\"%s\" %s \"%s\" and \"%s\", %zu bytes", c->dims,
             back ? "back between" : "between", c->from, c->to, c->unit);
    restride_plan *plan;
    const restride_plan_options none = {0};
    if (restride_plan_convert_with(&plan, machine->engine, from, to, c->unit, &none) != RESTRIDE_OK)
        fail_msg("%s: %s", what, restride_last_error());
    run_plan(machine, plan, before, after, size, what);
    if (!reference_converted(from, to, c->unit, before, after))
        fail_msg("%s: wrong elements", what);
    restride_layout_destroy(from);
    restride_layout_destroy(to);
}

/* There and back; padding need not come back as it was. */
static void check(const test_machine *machine, const conversion *c, uint64_t seed)
{
    restride_layout *from = parse(c, c->from);
    restride_layout *to = parse(c, c->to);
    size_t scale = c->unit != 0 ? c->unit : 1;
    size_t from_size = restride_layout_size(from) * scale;
    size_t to_size = restride_layout_size(to) * scale;
    size_t size = from_size > to_size ? from_size : to_size;
    restride_layout_destroy(from);
    restride_layout_destroy(to);
    guarded_buffer before = guarded_create(size, 0, seed);
    unsigned char *there = malloc(size);
    unsigned char *home = malloc(size);
    assert_true(there != NULL && home != NULL);
    convert(machine, c, false, before.bytes, there, size);
    convert(machine, c, true, there, home, size);
    bool padded = strstr(c->from, ":pad") != NULL || strstr(c->to, ":pad") != NULL;
    if (!padded && memcmp(home, before.bytes, size) != 0)
        fail_msg("\"%s\" from \"%s\" to \"%s\" and back is not what it was", c->dims, c->from,
                 c->to);
    free(there);
    free(home);
    guarded_free(&before);
}

#define MIXED "f{ float x; double m; char kind; short v[3]; int id; }"

static const conversion chosen[] = {
    {"i:1003 f:7", "i f", "f i", 4},
    {"i:1003 f:7", "i/32 f i%32", "i/48 f i%48", 4},
    {"i:1003 f:7", "i/32 f i%32", "f i", 8},
    {"r:301 k:33", "k r", "r/32 k r%32", 8},
    {"y:70 x:300 e:5", "y x e", "y/32 x/128 e y%32 x%128", 4},
    {"y:70 x:300 e:5", "y x e", "x/128 y/32 e x%128 y%32", 4},
    {"y:133 x:177", "y/8 x/8 y%8 x%8", "x y", 4},
    {"i:1000 f:3", "i/100 i/10%10 f i%10", "f i", 2},
    {"i:1003 f:3", "i f", "i/32:pad f i%32", 4},
    {"p:2 i:515 g:7 f:9", "p i/256 g f i%256", "p i/256 f g i%256", 4}, /* repeats at odd places */
    {"y:30 x:45 e:3", "y x e", "x/16:pad y/8:pad e x%16 y%8", 4},
    {"i:1007 " MIXED, "i f", "f i", 0},
    {"i:1007 " MIXED, "i f", "i/32 f i%32", 0},
    {"i:1007 " MIXED, "i/48 f i%48", "i/32 f i%32", 0},
    {"i:1007 " MIXED, "i/32 f i%32", "f i", 0},
    {"i:4001 f{ char c[13]; double d; }", "i f", "f i", 0},
    {"y:41 x:43 " MIXED, "y x f", "y/8 x/16 f y%8 x%16", 0},
    {"i:30001 " MIXED, "i f", "f i", 0},
    {"y:61 x:59 " MIXED, "f y x", "y/8 x/16 f y%8 x%16", 0},
};

void machine_test_conversions(const test_machine *machine, uint64_t seed, size_t count,
                              bool reduced)
{
    static const size_t units[] = {1, 2, 4, 8, 12, 3};
    for (size_t i = 0; !reduced && i < sizeof chosen / sizeof chosen[0]; i++)
        check(machine, &chosen[i], i);
    for (size_t i = 0; i < count; i++) {
        made_layout from;
        made_layout to;
        make_layout(&from, &seed);
        make_another(&to, &from, &seed);
        const conversion c = {from.dims, from.expression, to.expression,
                              from.record >= 0 ? 0 : units[made_random(&seed, 6)]};
        check(machine, &c, seed);
    }
}

/* ---- tuning ---- */

static void check_tuned_permutation(const test_machine *machine)
{
    static const size_t dims[] = {60, 70, 80};
    static const int reversed[] = {2, 1, 0};
    const restride_tune_options options = {.seconds = 0.05};
    restride_tuning tuning;
    if (restride_tune_permute(machine->engine, 3, dims, reversed, 4, &options, &tuning) !=
        RESTRIDE_OK)
        fail_msg("%s", restride_last_error());
    assert_true(tuning.kept && tuning.tried > 3 && tuning.best.seconds > 0);
    restride_plan *plan;
    assert_int_equal(restride_plan_permute(&plan, machine->engine, 3, dims, reversed, 4),
                     RESTRIDE_OK);
    char *text = restride_plan_describe(plan);
    assert_non_null(strstr(text, "which steps to take"));
    free(text);
    restride_plan_destroy(plan);
}

/* What was tuned is planned from then on, and the wisdom names the device and its driver. */
void machine_test_tuning(const test_machine *machine)
{
    enum { ROWS = 513, COLS = 640, UNIT = 4 };
    char folder[] = "/tmp/restride-wisdom-XXXXXX", path[64], lock[64];
    assert_non_null(mkdtemp(folder));
    snprintf(path, sizeof path, "%s/wisdom", folder);
    snprintf(lock, sizeof lock, "%s/wisdom.lock", folder);
    setenv("RESTRIDE_WISDOM", path, 1);
    const restride_tune_options options = {.seconds = 0.05};
    restride_tuning tuning;
    if (restride_tune_transpose(machine->engine, ROWS, COLS, UNIT, 1, &options, &tuning) !=
        RESTRIDE_OK)
        fail_msg("%s", restride_last_error());
    assert_true(tuning.kept && tuning.tried > 3 && tuning.best.seconds > 0);
    assert_true(tuning.best.seconds <= tuning.planner.seconds);
    restride_plan *plan;
    assert_int_equal(restride_plan_transpose(&plan, machine->engine, ROWS, COLS, UNIT, 1),
                     RESTRIDE_OK);
    char *text = restride_plan_describe(plan);
    assert_non_null(strstr(text, "Wisdom of a measurement"));
    assert_non_null(strstr(text, ", driver "));
    free(text);
    restride_plan_destroy(plan);
    check_tuned_permutation(machine);
    assert_int_equal(restride_wisdom_forget(machine->engine), RESTRIDE_OK);
    setenv("RESTRIDE_WISDOM", "", 1);
    unlink(path);
    unlink(lock);
    assert_int_equal(rmdir(folder), 0);
}
